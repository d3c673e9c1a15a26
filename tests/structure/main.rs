//! The structure of the repository itself: imports, names, documents.

mod documents;
mod imports;
mod repository;
mod source_crate;
mod words;

//! The rules of accounts.

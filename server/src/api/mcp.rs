//! The gateway: the computations as tools of the Model Context Protocol.
//!
//! | module | what it holds |
//! |---|---|
//! | `transport` | what a message meets on its way in: host, origin, token, limit, shape |
//! | `bearers` | whom an access token speaks for, remembered for a moment |
//! | `protocol` | the answers to each method, over the official SDK |
//! | `tools` | the tools, made from the generated document; `schema` turns its schemas over |
//! | `calls` | a tool's call, sent through the same endpoint as a REST call |
//! | `directory` | the tools that find and describe tools |
//! | `results` | the envelope of a result, how it is kept, cut and read again |
//!
//! The SDK (`rmcp`) knows both eras of the protocol: which requests need which headers and
//! metadata, which version is answered, how a result looks in each. What it leaves to its user is
//! in `transport`. Nothing here knows a single computation.

mod calls;
mod directory;
mod protocol;
mod results;
mod schema;
mod tools;
mod transport;

pub use transport::Gateway;

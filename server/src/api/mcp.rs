//! The MCP endpoint: the computations as tools of the Model Context Protocol.
//!
//! | module | holds |
//! |---|---|
//! | `transport` | the checks of a message: host, origin, token, rate, form |
//! | `message` | a message in two parts: the arguments of a tool, and the rest |
//! | `context` | the facts of a message that the other modules need |
//! | `protocol` | the methods of the protocol, on top of the official SDK |
//! | `tools` | the tools, made from the generated document; `schema` converts its schemas |
//! | `calls` | the call of a tool, executed by the same stages as a request over REST |
//! | `account_tools` | the tools that read the account |
//! | `directory` | the tools that find and describe tools |
//! | `results` | the envelope of a result: made, stored, shortened and read again |
//!
//! The SDK (`rmcp`) implements the protocol with and without the `initialize` handshake: headers
//! and metadata of requests, the negotiation of versions, and the form of results. `transport` adds
//! the checks that the SDK leaves to its user. No module here names a single computation.

mod account_tools;
mod calls;
mod context;
mod directory;
mod message;
mod protocol;
mod results;
mod schema;
mod tools;
mod transport;

pub use transport::Gateway;

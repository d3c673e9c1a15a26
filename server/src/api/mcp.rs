//! The MCP endpoint: the computations as tools of the Model Context Protocol.
//!
//! | module | holds |
//! |---|---|
//! | `transport` | the checks of a message: host, origin, token, rate, size |
//! | `request_headers` | the credentials and media types of a message |
//! | `message`, `head` | a message in two parts, the arguments of a tool and the rest; its form |
//! | `direct` | a plain tool call, which is answered without the SDK |
//! | `context` | the facts of a message that the other modules need |
//! | `protocol` | the methods of the protocol, on top of the official SDK |
//! | `tools` | the tools, made from the generated document; `schema` converts its schemas |
//! | `gateway_tools` | the descriptions of the tools about tools and results |
//! | `tool_calls`, `batch` | the calls of tools, one or many in a message |
//! | `running` | the calls in progress, which their clients may cancel |
//! | `uninterrupted` | work that goes on where its caller stops waiting |
//! | `calls` | the call of an operation, executed by the same stages as a request over REST |
//! | `account_tools` | the tools that read the account |
//! | `directory`, `search` | the tools that find and describe tools; the ranking for a question |
//! | `prompts` | the prompts, and the completion of their arguments |
//! | `tool_result`, `shape`, `advice` | the result of a call as JSON; that of a success; the text of a failure |
//! | `addresses` | the addresses of stored results and of their charts |
//! | `results` | results that are shortened, listed and read again |
//! | `stored_form` | the form in which a result is stored, and the envelope that its owner reads |
//! | `chart` | the pictures of stored results |
//! | `progress` | the answer of a long call as a stream of events, with its progress |
//!
//! The SDK (`rmcp`) implements the protocol with and without the `initialize` handshake: headers
//! and metadata of requests, the negotiation of versions, and the form of results. `transport` adds
//! the checks that the SDK leaves to its user. No module here names a single computation, except
//! the prompts and the words by which people look for tools; tests compare both with the tools.

mod account_tools;
mod addresses;
mod advice;
mod batch;
mod calls;
mod chart;
mod context;
mod direct;
mod directory;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod gateway_tools;
mod head;
mod message;
mod progress;
mod prompts;
mod protocol;
mod request_headers;
mod results;
mod running;
mod schema;
mod search;
mod shape;
mod stored_form;
mod tool_calls;
mod tool_result;
mod tools;
mod transport;
mod uninterrupted;

pub use transport::Gateway;
pub(super) use transport::routes;

/// The name of the server for people.
const TITLE: &str = "Financial computations";

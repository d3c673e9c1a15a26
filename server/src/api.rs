//! The endpoints: REST, OAuth 2.1, pages for browsers, the MCP gateway and the operator's endpoints.

pub mod account;
pub mod batch;
pub mod batch_catalogue;
mod browser;
pub mod columns;
mod console;
pub mod documented;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod oauth;
pub mod openapi;
pub mod operations;
pub mod ops;
mod own_refusals;
pub mod pages;
pub mod quantlib;
pub mod receipts;
pub mod routes;
pub mod site;
#[cfg(not(feature = "mcp"))]
pub mod without_mcp;

#[cfg(not(feature = "mcp"))]
pub use without_mcp as mcp;

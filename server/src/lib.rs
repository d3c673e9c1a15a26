//! The service: REST adapters over `quant-core` and `account-core`.
//!
//! | module | what it holds |
//! |---|---|
//! | [`routes`] | every route in one list |
//! | [`operations`] | the one table of tiers and costs |
//! | [`http`] | what every request meets: call, guard, body, faults, envelope |
//! | [`identity_provider`] | who vouches for a sign-in elsewhere |
//! | [`quantlib`], [`account`], [`health`], [`figures`], [`mod@reference`] | the endpoints |
//! | [`mod@oauth`], [`pages`] | the OAuth 2.1 server; the built-in pages, and what all share |
//! | [`mcp`] | the same computations as tools of the Model Context Protocol |
//! | [`document`] | the generated OpenAPI document |
//! | [`service`], [`callers`], [`memory`], [`limits`], [`long_work`] | what the handlers share |
//! | [`store`], [`mail`], [`password`] | storage, letters, password hashing |
//! | [`metrics`] | what the service tells its operator about itself |
//! | [`failpoint`] | where a build for the crash harness dies |
//! | [`app`], [`config`], [`command`], [`listener`], [`clock`] | how it all starts |

pub mod account;
pub mod app;
pub mod callers;
pub mod clock;
pub mod command;
pub mod config;
pub mod document;
pub mod failpoint;
pub mod figures;
pub mod health;
pub mod http;
pub mod identity_provider;
pub mod limits;
pub mod listener;
pub mod long_work;
pub mod mail;
pub mod mcp;
pub mod memory;
pub mod metrics;
pub mod oauth;
pub mod operations;
pub mod pages;
pub mod password;
pub mod quantlib;
pub mod reference;
pub mod routes;
pub mod service;
pub mod store;
mod urgency;

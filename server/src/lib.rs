//! The service: REST adapters over `quant-core` and `account-core`.
//!
//! | module | what it holds |
//! |---|---|
//! | [`routes`] | every route in one list |
//! | [`operations`] | the one table of tiers and costs |
//! | [`http`] | what every request meets: call, guard, body, faults, envelope |
//! | [`browser`], [`identity_provider`] | the pages of a sign-in elsewhere, and who vouches for it |
//! | [`quantlib`], [`account`], [`health`], [`figures`], [`mod@reference`] | the endpoints |
//! | [`mod@oauth`], [`pages`] | the OAuth 2.1 server; what all built-in pages share |
//! | [`mcp`] | the same computations as tools of the Model Context Protocol |
//! | [`document`] | the generated OpenAPI document |
//! | [`service`], [`callers`], [`limits`], [`long_work`] | what the handlers share |
//! | [`store`], [`mail`], [`password`] | storage, letters, password hashing |
//! | [`metrics`] | what the service tells its operator about itself |
//! | [`failpoint`] | where a build for the crash harness dies |
//! | [`app`], [`config`], [`command`], [`listener`], [`clock`] | how it all starts |

pub mod account;
pub mod app;
pub mod browser;
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

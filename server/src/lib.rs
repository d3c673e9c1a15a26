//! The service: REST and MCP adapters over `quant-core` and `account-core`.
//!
//! `docs/ARCHITECTURE.md` is the map of these modules, with what each may import.

// A program without the MCP endpoint lacks the other user of several functions.
#![cfg_attr(not(feature = "mcp"), allow(dead_code, unused_imports))]

pub mod api;
pub mod app;
pub mod auth;
pub mod body_memory;
pub mod cli;
pub mod clock;
pub mod compute_pool;
pub mod config;
pub mod email;
pub mod failpoint;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod http;
pub mod jobs;
pub mod limits;
pub mod listener;
pub mod metrics;
pub mod shutdown;
pub mod state;
pub mod store;
pub mod telemetry;
mod thread_priority;

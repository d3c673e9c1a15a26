//! The operator's endpoints: liveness, readiness, metrics, and the reference for clients.

pub mod docs_ui;
pub mod health;
pub mod metrics;

//! The operator's endpoints: liveness, readiness and metrics.

pub mod health;
pub mod metrics;

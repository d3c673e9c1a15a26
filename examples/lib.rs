//! Runnable examples; each prints its figures.
//!
//! - `price_option`: a first price with `quant-core`.
//! - `life.sh`: a life over HTTP, from guest to a metered call, against a service of its own.

//! Servers of the tests' own, started where they are installed and gone with the process.

use std::io::Write;

mod cluster;
mod postgres;
mod redis;

pub use cluster::Cluster;
pub use postgres::Postgres;
pub use redis::Redis;

/// Says in one line what is left out because something is not installed; the captured output of a
/// test that passes would hide it.
///
/// # Panics
///
/// Where `CI_REQUIRE_SERVICES` is 1: there nothing is left out.
fn leave_out(what: &str) {
    let required = std::env::var("CI_REQUIRE_SERVICES").is_ok_and(|value| value == "1");
    assert!(!required, "CI_REQUIRE_SERVICES is 1, but {what}");
    let _ = writeln!(std::io::stderr(), "left out: {what}");
}

//! Private servers for tests, started where the programs are installed, ended with the process.

use std::io::Write;

mod cluster;
mod postgres;
mod redis;

pub use cluster::Cluster;
pub use postgres::Postgres;
pub use redis::Redis;

/// Reports in one line the tests that do not run because a program is not installed. The line goes
/// to standard error directly, since the captured output of a passing test is not shown.
///
/// # Panics
///
/// Panics where `CI_REQUIRE_SERVICES` is 1, so that CI leaves no test out.
fn leave_out(what: &str) {
    let required = std::env::var("CI_REQUIRE_SERVICES").is_ok_and(|value| value == "1");
    assert!(!required, "CI_REQUIRE_SERVICES is 1, but {what}");
    let _ = writeln!(std::io::stderr(), "left out: {what}");
}

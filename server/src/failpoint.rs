//! Named points at which a build for the crash harness aborts on request.
//!
//! Without the feature `failpoints`, which no shipped build has, this module holds only the names.

/// The points: between the guard and the debit, around the commit, after the commit, and around the
/// commit of results that no debit carries.
pub const POINTS: [&str; 10] = [
    "guarded",
    "computed",
    "ledger_taken",
    "ledger_written",
    "ledger_committed",
    "claimed",
    "kept",
    "results_taken",
    "results_committed",
    "answered",
];

/// Aborts at the point that `QS_FAILPOINT` names, as in `ledger_written:17`, at the 17th call.
#[cfg(feature = "failpoints")]
pub fn hit(point: &str) {
    use std::sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    };

    static DEADLY: LazyLock<Option<(String, AtomicU64)>> = LazyLock::new(|| {
        let setting = std::env::var("QS_FAILPOINT").ok()?;
        let (name, times) = setting.split_once(':')?;
        Some((name.to_owned(), AtomicU64::new(times.parse().ok()?)))
    });
    if let Some((name, left)) = &*DEADLY
        && name == point
        && left.fetch_sub(1, Ordering::Relaxed) == 1
    {
        std::process::abort();
    }
}

/// Does nothing: in a build without the feature `failpoints`, no point aborts.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub const fn hit(_point: &str) {}

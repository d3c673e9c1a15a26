//! Named points at which a build for the crash harness dies when it is told to.
//!
//! Without the feature `failpoints`, which no shipped build has, nothing is here but the names.

/// Between the guard and the debit, around the commit, and after it.
pub const POINTS: [&str; 8] = [
    "guarded",
    "computed",
    "ledger_taken",
    "ledger_written",
    "ledger_committed",
    "claimed",
    "kept",
    "answered",
];

/// Dies at the point that `QS_FAILPOINT` names, as in `ledger_written:17`, the so many-th time.
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

/// Nothing, in every build but the harness's.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub const fn hit(_point: &str) {}

//! Work that lets everything else go first.

/// The least urgent that a thread can be, as `nice` counts.
#[cfg(target_os = "linux")]
pub(crate) const LEAST_URGENT: i32 = 19;

/// Lets every other thread go before this one, for good. Elsewhere than on Linux the call would mean
/// the process.
pub(crate) fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, LEAST_URGENT) {
        tracing::warn!(%error, "what can wait is done as urgently as all else");
    }
}

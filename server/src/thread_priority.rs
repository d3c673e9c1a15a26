//! Low priority for threads whose work can wait.

/// The lowest priority of a thread, as a `nice` value.
#[cfg(target_os = "linux")]
pub(crate) const LEAST_URGENT: i32 = 19;

/// Gives this thread the lowest priority for the rest of its life. On other systems than Linux the
/// call would affect the whole process.
pub(crate) fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, LEAST_URGENT) {
        tracing::warn!(%error, "the priority of a thread cannot be lowered");
    }
}

//! Low priority for threads whose work can wait.

/// The lowest priority of a thread, as a `nice` value.
pub(crate) const LEAST_URGENT: i32 = 19;

/// Gives this thread the lowest priority for the rest of its life. On other systems than Linux the
/// call would affect the whole process.
pub(crate) fn lower_priority() {
    lower_priority_to(LEAST_URGENT);
}

/// Gives this thread a priority, as a `nice` value of 0 to 19, for the rest of its life. On other
/// systems than Linux the priority stays.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "the priority stays"))]
pub(crate) fn lower_priority_to(niceness: i32) {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, niceness) {
        tracing::warn!(%error, "the priority of a thread cannot be lowered");
    }
}

//! The clock of the server; no other code reads the system time.

use std::sync::Arc;

use account_core::Timestamp;

/// A source of the time; a test sets its own.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
        Self::from_fn(|| std::time::SystemTime::now().into())
    }

    /// A clock that returns the results of `read`.
    pub fn from_fn(read: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// Returns the time now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

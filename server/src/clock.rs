//! The clock of the server; no other code reads the system time.

use std::sync::Arc;

use account_core::Timestamp;

/// The clock of the system shows a time before 1970.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the clock of the system shows {}, which is before 1970: set it and start again", .shown.format("%Y-%m-%d %H:%M:%S UTC"))]
pub struct ClockError {
    /// The time before 1970 that the clock of the system shows.
    pub shown: Timestamp,
}

/// A source of the time; a test sets its own.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The system's clock. A time before 1970, which no id, header or e-mail can carry, is read as
    /// the first moment of 1970.
    #[must_use]
    pub fn system() -> Self {
        Self::from_fn(|| Self::system_time().max(Timestamp::UNIX_EPOCH))
    }

    /// Refuses a system whose clock shows a time before 1970.
    ///
    /// # Errors
    ///
    /// [`ClockError`] with the time that the clock shows.
    pub fn check_system() -> Result<(), ClockError> {
        let shown = Self::system_time();
        if shown < Timestamp::UNIX_EPOCH { Err(ClockError { shown }) } else { Ok(()) }
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    fn system_time() -> Timestamp {
        std::time::SystemTime::now().into()
    }

    /// Makes a clock that shows what `read` returns.
    pub fn from_fn(read: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// Returns the present time of the clock, in UTC.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

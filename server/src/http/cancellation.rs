//! The cancellation of a call by its client, which charges nothing: possible until the charge begins.

use std::sync::atomic::{AtomicU8, Ordering};

use poem::http::StatusCode;
use tokio::sync::Notify;

use super::error::ApiError;

const RUNNING: u8 = 0;
const CANCELLED: u8 = 1;
const CHARGING: u8 = 2;

/// The state of a call that its client may cancel.
#[derive(Debug, Default)]
pub struct Cancellation {
    state: AtomicU8,
    cancelled: Notify,
}

impl Cancellation {
    /// The status of a cancelled call in usage rows and metrics, as proxies write it.
    const STATUS: u16 = 499;

    /// Cancels the call. Returns false where the charge has begun or the call was cancelled before.
    pub fn cancel(&self) -> bool {
        let cancels = self.change(CANCELLED);
        if cancels {
            self.cancelled.notify_one();
        }
        cancels
    }

    /// Returns once the call is cancelled.
    pub async fn cancelled(&self) {
        self.cancelled.notified().await;
    }

    /// Begins the charge, from which on the call cannot be cancelled.
    ///
    /// # Errors
    ///
    /// The refusal of a call that was cancelled.
    pub(super) fn begin_charge(&self) -> Result<(), ApiError> {
        if self.change(CHARGING) { Ok(()) } else { Err(Self::refusal()) }
    }

    fn change(&self, state: u8) -> bool {
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        self.state.compare_exchange(RUNNING, state, success, failure).is_ok()
    }

    /// Makes the refusal of a cancelled call.
    #[must_use]
    pub fn refusal() -> ApiError {
        let status = StatusCode::from_u16(Self::STATUS).unwrap_or(StatusCode::BAD_REQUEST);
        ApiError::account(status, "Cancelled", "The client cancelled the call.")
    }

    /// Returns whether a status is that of a cancelled call.
    #[must_use]
    pub fn is_status(status: StatusCode) -> bool {
        status.as_u16() == Self::STATUS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_either_cancelled_or_charged() {
        let call = Cancellation::default();
        assert!(call.cancel() && !call.cancel());
        let refusal = call.begin_charge().expect_err("it is cancelled");
        assert!(Cancellation::is_status(refusal.status()));
        let call = Cancellation::default();
        call.begin_charge().expect("nobody has cancelled");
        assert!(!call.cancel());
    }
}

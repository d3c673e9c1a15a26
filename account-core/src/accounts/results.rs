//! Answers that are kept for a day, so that whoever got one cut can read the whole of it.

use chrono::TimeDelta;

use crate::accounts::Accounts;
use crate::identity::AccountId;
use crate::password::PasswordHasher;
use crate::store::{ResultId, Store};
use crate::{Result, Timestamp};

/// How long a result is kept.
pub const KEPT: TimeDelta = TimeDelta::hours(24);

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Reads a result of the last day. Another's is as unknown as one that never was.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store).
    pub async fn kept_result(
        &self,
        owner: AccountId,
        id: ResultId,
        now: Timestamp,
    ) -> Result<Option<String>> {
        Ok(self.store().kept_result(owner, id, now - KEPT).await?)
    }
}

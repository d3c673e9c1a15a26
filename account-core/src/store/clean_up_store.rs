//! Removal of rows that have expired.

use crate::oauth::grant::StaleOauth;
use crate::{StoreError, Timestamp};

/// What may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// Guests that expired before, and who and from where in their usage rows.
    Guests(Timestamp),
    /// Counts of guests made in UTC days before this one, counted from 1970.
    GuestCounts(i64),
    /// Challenges made before.
    Challenges(Timestamp),
    /// Sessions last used before the first moment or begun before the second.
    Sessions(Timestamp, Timestamp),
    /// Unverified forms filled in before.
    Forms(Timestamp),
    /// Counts of tries, the last of them before, and no lock after.
    Lockouts(Timestamp),
    /// Clients that signed in last before.
    Clients(Timestamp),
    /// Login tries made before the first moment, and before the second where they are nobody's.
    Tries(Timestamp, Timestamp),
    /// Answers kept for requests that are sent again, whose day is over.
    Answers,
    /// Results made before.
    Results(Timestamp),
    /// Browsers on their way to a provider, profiles that wait and hand-off codes, made before.
    SignIns(Timestamp),
    /// Changes of address made before, which can no longer be undone.
    EmailUndos(Timestamp),
    /// Notifications written before.
    Notifications(Timestamp),
    /// Who and from where in the usage rows of accounts that were deleted.
    Departed,
    /// Usage rows and tallies of days before this one, counted from 1970. From the first batch on
    /// the audit compares no day before.
    Usage(i64),
}

/// The storage's removal of expired rows, in batches.
pub trait CleanUpStore: Send + Sync {
    /// Removes at most so many rows, as one step, and answers how many. What came to life in the
    /// meantime stays.
    fn remove(
        &self,
        stale: Stale,
        now: Timestamp,
        limit: u32,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Removes at most so many rows, as one step, and answers how many.
    fn reap(
        &self,
        stale: StaleOauth,
        limit: u32,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Forgets sent messages that count no longer ([`SendQuota::since`](crate::outbox::SendQuota::since)).
    fn forget_messages(
        &self,
        before: Timestamp,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;
}

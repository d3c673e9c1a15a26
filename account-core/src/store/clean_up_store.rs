//! Removal of rows that have expired.

use crate::oauth::grant::StaleOauth;
use crate::{StoreError, Timestamp};

/// A kind of expired rows, with the limit of their age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// Guests that expired before this time, and caller and address in their usage rows.
    Guests(Timestamp),
    /// Daily counts of created guests before this UTC day, counted from 1970.
    GuestCounts(i64),
    /// Challenges whose code was made before this time.
    Challenges(Timestamp),
    /// Sessions last used before the first time or begun before the second.
    Sessions(Timestamp, Timestamp),
    /// Unconfirmed registration forms made before this time.
    Forms(Timestamp),
    /// Counters of attempts whose last attempt was before this time, and whose lock has ended by
    /// then.
    Lockouts(Timestamp),
    /// Known clients whose last sign-in was before this time.
    Clients(Timestamp),
    /// Login attempts before the first time, and those without an account before the second.
    Tries(Timestamp, Timestamp),
    /// Sent e-mails and messages written before this time, which no quota counts any more.
    Messages(Timestamp),
    /// Stored answers to idempotent requests, after a day.
    Answers,
    /// Stored results made before this time.
    Results(Timestamp),
    /// The oldest stored results of accounts that have more than
    /// [`MOST_RESULTS`](crate::accounts::results::MOST_RESULTS) or
    /// [`MOST_BYTES`](crate::accounts::results::MOST_BYTES).
    ExcessResults,
    /// Unfinished sign-ins at the provider, incomplete profiles and hand-off codes, made before
    /// this time.
    SignIns(Timestamp),
    /// Changes of address that were made before this time.
    EmailUndos(Timestamp),
    /// Notifications written before this time.
    Notifications(Timestamp),
    /// Caller and address in the usage rows of deleted accounts.
    Departed,
    /// Usage rows and tallies before this day, counted from 1970. From the first batch on, the
    /// audit compares no earlier day.
    Usage(i64),
}

/// The storage's removal of expired rows, in batches.
pub trait CleanUpStore: Send + Sync {
    /// Removes at most `limit` rows, in one transaction, and returns their number. Rows that are no
    /// longer expired stay.
    fn remove(
        &self,
        stale: Stale,
        now: Timestamp,
        limit: u32,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Removes at most `limit` rows, in one transaction, and returns their number.
    fn reap(
        &self,
        stale: StaleOauth,
        limit: u32,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;
}

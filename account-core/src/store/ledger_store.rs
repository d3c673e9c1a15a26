//! The ledger, usage rows, and the answers that are kept with a charge.

use std::net::IpAddr;

use crate::credits::{Audit, Entry, MinuteCount, Settlement, TransactionKind};
use crate::idempotency::{Claim, Claimed, Slot};
use crate::identity::AccountId;
use crate::{StoreError, Timestamp};

/// Which calls a storage looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageFilter {
    /// The first day, counted from 1970.
    pub since: i64,
    /// The last day, counted from 1970.
    pub until: i64,
    /// What the path starts with; everything starts with nothing.
    pub endpoint: String,
    /// The method, in upper case.
    pub method: Option<String>,
}

/// The calls of one account, day and endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageTally {
    /// The day since 1970.
    pub day: i64,
    /// The path.
    pub endpoint: String,
    /// How many calls.
    pub requests: u64,
    /// What they cost.
    pub credits: u64,
    /// How long they took together, in milliseconds.
    pub response_time_ms: u64,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRequest {
    /// Its number.
    pub id: i64,
    /// The path.
    pub endpoint: String,
    /// The method.
    pub method: String,
    /// The status of the answer.
    pub status: u16,
    /// What it cost.
    pub credits: u32,
    /// How long it took, in milliseconds.
    pub response_time_ms: u32,
    /// Where it came from.
    pub ip: IpAddr,
    /// When it was made.
    pub at: Timestamp,
}

/// A change of the balance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Its number.
    pub id: i64,
    /// Why.
    pub kind: TransactionKind,
    /// What was added; negative where it was taken.
    pub credits: i64,
    /// The balance after it; of a day's usage, after its last call.
    pub balance_after: u64,
    /// Why, in words: the endpoint for usage.
    pub description: String,
    /// When; of a day's usage, its first call.
    pub created_at: Timestamp,
}

/// The number of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResultId(pub u128);

/// A result as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResult {
    /// Its number.
    pub id: ResultId,
    /// Who may read it, and nobody else.
    pub owner: AccountId,
    /// What was answered.
    pub body: String,
    /// When.
    pub at: Timestamp,
}

/// The storage of credits: balances, the ledger, usage rows, and the answers that are written in the
/// transaction of their charge.
pub trait LedgerStore: Send + Sync {
    /// Settles a batch in one durable transaction, as [`decide`](crate::credits::decide) says: the balance, the usage row
    /// and the ledger's row of the day change together. Answers are in the order of the batch.
    fn settle(
        &self,
        batch: Vec<Entry>,
    ) -> impl Future<Output = Result<Vec<Settlement>, StoreError>> + Send;

    /// Counts the calls written down since a moment, guests' since a moment of their own, but for
    /// those that a limit refused ([`REFUSED_BY_LIMIT`](crate::credits::REFUSED_BY_LIMIT)): a call that was not let through takes no
    /// place.
    fn calls_per_minute(
        &self,
        since: Timestamp,
        guests_since: Timestamp,
    ) -> impl Future<Output = Result<Vec<MinuteCount>, StoreError>> + Send;

    /// Compares every account's balance with the sum of its ledger, and the ledger's usage of each
    /// day with the day's usage rows, as far back as these are retained.
    fn audit(&self) -> impl Future<Output = Result<Audit, StoreError>> + Send;

    /// Sums calls by day and endpoint.
    fn usage_tallies(
        &self,
        account: AccountId,
        filter: &UsageFilter,
    ) -> impl Future<Output = Result<Vec<UsageTally>, StoreError>> + Send;

    /// Lists calls, newest first.
    fn usage_requests(
        &self,
        account: AccountId,
        filter: &UsageFilter,
        offset: u64,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<UsageRequest>, StoreError>> + Send;

    /// Lists transactions, newest first, and counts them.
    fn transactions(
        &self,
        account: AccountId,
        offset: u64,
        limit: u32,
    ) -> impl Future<Output = Result<(Vec<Transaction>, u64), StoreError>> + Send;

    /// Claims a slot that is free: never taken, past [`KEPT`](crate::idempotency::KEPT), or held past [`HELD`](crate::idempotency::HELD) by a run that
    /// was not heard of again. Of many at once, one gets it.
    fn claim(&self, claim: Claim) -> impl Future<Output = Result<Claimed, StoreError>> + Send;

    /// Whether the slot holds an answer.
    fn is_answered(
        &self,
        slot: Slot,
        now: Timestamp,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Charges for a call and keeps its answer, both or neither, in one durable transaction.
    /// Nothing, and no charge, where the slot is not this run's any more.
    fn settle_and_keep(
        &self,
        claim: Claim,
        entry: Entry,
        body: String,
    ) -> impl Future<Output = Result<Option<Settlement>, StoreError>> + Send;

    /// Gives a slot back that will not be filled.
    fn release(&self, claim: Claim) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Keeps results, as one step. Those of an account that is gone are left out.
    fn keep_results(
        &self,
        results: Vec<StoredResult>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reads the owner's result with this number, if it was made after the moment.
    fn kept_result(
        &self,
        owner: AccountId,
        id: ResultId,
        after: Timestamp,
    ) -> impl Future<Output = Result<Option<String>, StoreError>> + Send;
}

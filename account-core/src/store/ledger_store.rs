//! The ledger, usage rows, and the answers that are stored with a charge.

use std::net::IpAddr;

use crate::credits::{Audit, Entry, MinuteCount, Settlement, TransactionKind};
use crate::idempotency::{Claim, Claimed, Slot};
use crate::identity::AccountId;
use crate::spend_cap::Funds;
use crate::{StoreError, Timestamp};

/// The filter that selects calls of an account in a usage report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageFilter {
    /// The first UTC day, in days since 1970.
    pub since: i64,
    /// The last UTC day, included, in days since 1970.
    pub until: i64,
    /// The prefix of the path; the empty prefix matches every path.
    pub endpoint: String,
    /// The HTTP method, in upper case; `None` for every method.
    pub method: Option<String>,
}

/// The calls of one account, day and endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageTally {
    /// The UTC day, in days since 1970.
    pub day: i64,
    /// The documented path of the endpoint.
    pub endpoint: String,
    /// The number of calls of that day and endpoint.
    pub requests: u64,
    /// The credits that these calls cost.
    pub credits: u64,
    /// The sum of the durations, in milliseconds.
    pub response_time_ms: u64,
}

/// One metered call, as a usage report lists the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRequest {
    /// The number of the usage row.
    pub id: i64,
    /// The documented path of the endpoint.
    pub endpoint: String,
    /// The HTTP method, in upper case.
    pub method: String,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The credits that the call cost.
    pub credits: u32,
    /// The duration of the call, in milliseconds.
    pub response_time_ms: u32,
    /// The network address of the client.
    pub ip: IpAddr,
    /// The time at which the call arrived.
    pub at: Timestamp,
}

/// A change of an account's balance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// The number of the transaction.
    pub id: i64,
    /// The reason for the change, as a kind.
    pub kind: TransactionKind,
    /// The credits that were added; negative for a debit.
    pub credits: i64,
    /// The balance after the change; for a day's usage, after the last call of the day.
    pub balance_after: u64,
    /// The reason for the change, in words; for usage, the endpoint.
    pub description: String,
    /// The time of the change; for a day's usage, of the first call.
    pub created_at: Timestamp,
}

/// The number of a stored result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResultId(pub u128);

/// The result of a call over MCP, which its owner can read later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResult {
    /// The number of the result.
    pub id: ResultId,
    /// The account that may read the result.
    pub owner: AccountId,
    /// The content of the result, as its writer has made it.
    pub body: String,
    /// The time of the call that made the result.
    pub at: Timestamp,
}

/// A stored result in a list, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedResult {
    /// The number of the result.
    pub id: ResultId,
    /// The time of the call that made the result.
    pub at: Timestamp,
    /// The first [`ListedResult::START`] characters of the content.
    pub start: String,
    /// The size of the content, in bytes.
    pub bytes: u64,
}

impl ListedResult {
    /// The number of characters of the content that a list contains.
    pub const START: usize = 256;
}

/// The storage of credits: balances, the ledger, usage rows, and the answers that are written in
/// the transaction of their charge.
pub trait LedgerStore: Send + Sync {
    /// Settles a batch in one durable transaction by the rule of
    /// [`decide_within_caps`](crate::credits::decide_within_caps). Balance, usage row and the day's
    /// row of the ledger change together, with the notices of reached caps. The answers are in the
    /// order of the batch.
    fn settle(
        &self,
        batch: Vec<Entry>,
    ) -> impl Future<Output = Result<Vec<Settlement>, StoreError>> + Send;

    /// Counts the recorded calls by minute, those of accounts and of guests each since a time of
    /// their own. Calls that a limit refused
    /// ([`REFUSED_BY_LIMIT`](crate::credits::REFUSED_BY_LIMIT)) are omitted, because a limit does
    /// not count them.
    fn calls_per_minute(
        &self,
        since: Timestamp,
        guests_since: Timestamp,
    ) -> impl Future<Output = Result<Vec<MinuteCount>, StoreError>> + Send;

    /// Reads an account's balance, and its cap with the credits spent on a day (in days since
    /// 1970); `None` where there is no such account.
    fn funds(
        &self,
        account: AccountId,
        day: i64,
    ) -> impl Future<Output = Result<Option<Funds>, StoreError>> + Send;

    /// Sums the credits that an account has spent on a day, in days since 1970.
    fn spent_credits(
        &self,
        account: AccountId,
        day: i64,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Writes the notice of a cap that has refused a call before the ledger, once a day
    /// ([`Spending::refuse`](crate::spend_cap::Spending::refuse)).
    fn notify_of_refusal(
        &self,
        account: AccountId,
        at: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Compares every account's balance with the sum of its ledger, and the ledger's usage of each
    /// day with the usage rows of that day, for the days whose usage rows are retained.
    fn audit(&self) -> impl Future<Output = Result<Audit, StoreError>> + Send;

    /// Sums calls by day and endpoint.
    fn usage_tallies(
        &self,
        account: AccountId,
        filter: &UsageFilter,
    ) -> impl Future<Output = Result<Vec<UsageTally>, StoreError>> + Send;

    /// Lists the calls of an account that pass the filter, newest first.
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

    /// Claims a free slot of an idempotency key: one that was never taken, is past
    /// [`KEPT`](crate::idempotency::KEPT), or was held past [`HELD`](crate::idempotency::HELD) by a
    /// run that did not conclude. Of simultaneous claims, one succeeds.
    fn claim(&self, claim: Claim) -> impl Future<Output = Result<Claimed, StoreError>> + Send;

    /// Returns whether a request has the slot: its answer is stored, or it still runs.
    fn is_claimed(
        &self,
        slot: Slot,
        now: Timestamp,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Charges for calls of one caller, all of them or none, and stores their common answer under
    /// the claim, in one durable transaction. Returns the balance after the calls, or the balance
    /// that does not suffice for all; `None` where another run has taken the slot of the claim.
    fn settle_together(
        &self,
        entries: Vec<Entry>,
        kept: Option<(Claim, String)>,
    ) -> impl Future<Output = Result<Option<Settlement>, StoreError>> + Send;

    /// Charges for a call and stores its answer, in one durable transaction. Does neither where
    /// another run has taken the slot.
    fn settle_and_keep(
        &self,
        claim: Claim,
        entry: Entry,
        body: String,
    ) -> impl Future<Output = Result<Option<Settlement>, StoreError>> + Send {
        self.settle_together(vec![entry], Some((claim, body)))
    }

    /// Releases a slot that will hold no answer.
    fn release(&self, claim: Claim) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores results, in one transaction. Results of deleted accounts are omitted, and the oldest
    /// results of an account beyond [`MOST_RESULTS`](crate::accounts::results::MOST_RESULTS) and
    /// [`MOST_BYTES`](crate::accounts::results::MOST_BYTES) are removed.
    fn keep_results(
        &self,
        results: Vec<StoredResult>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reads the owner's result with this number, where it was made after this time.
    fn kept_result(
        &self,
        owner: AccountId,
        id: ResultId,
        after: Timestamp,
    ) -> impl Future<Output = Result<Option<StoredResult>, StoreError>> + Send;

    /// Lists the owner's results that were made after this time, the newest first, at most `limit`.
    fn recent_results(
        &self,
        owner: AccountId,
        after: Timestamp,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<ListedResult>, StoreError>> + Send;
}

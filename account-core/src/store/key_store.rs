//! API keys of accounts and guests.

use crate::guest::{CreationLimits, NetworkCount, NewGuest};
use crate::identity::{AccountId, GuestId};
use crate::key::{AccountCaller, GuestCaller, KeyDigest, KeyId, NewKey};
use crate::operation::Operation;
use crate::{StoreError, Timestamp};

/// The storage of API keys, as digests and sealed, and of the guests with guest keys.
pub trait KeyStore: Send + Sync {
    /// Finds the caller of an account key. Revoked and suspended keys, and keys of unverified
    /// accounts, are not found.
    fn account_by_key(
        &self,
        digest: &KeyDigest,
    ) -> impl Future<Output = Result<Option<AccountCaller>, StoreError>> + Send;

    /// Returns the id of the account's key that is not revoked.
    fn current_key(
        &self,
        account: AccountId,
    ) -> impl Future<Output = Result<Option<KeyId>, StoreError>> + Send;

    /// Finds the guest with this key, expired or not.
    fn guest_by_key(
        &self,
        digest: &KeyDigest,
    ) -> impl Future<Output = Result<Option<GuestCaller>, StoreError>> + Send;

    /// Revokes the old key, saves the new one and writes a
    /// [`Notice::KeyRegenerated`](crate::notification::Notice::KeyRegenerated), in one transaction,
    /// with the record of the action where an operator replaces the key. Returns `false`, with
    /// nothing saved, where the old key is not the account's active key.
    fn replace_key(
        &self,
        account: AccountId,
        old: KeyId,
        new: NewKey,
        now: Timestamp,
        operation: Option<Operation>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Counts the guest in each of the [`CreationLimits::counts`] of its UTC day and saves the
    /// guest, in one transaction. Returns `None`, with nothing changed, where one of the counts is
    /// at its limit.
    fn create_guest(
        &self,
        guest: NewGuest,
        limits: CreationLimits,
    ) -> impl Future<Output = Result<Option<GuestId>, StoreError>> + Send;

    /// Counts the calls of guests since this time, by minute and by the
    /// [`network`](crate::guest::network) that created their keys. Calls that a limit refused are
    /// omitted, as in [`calls_per_minute`](crate::store::LedgerStore::calls_per_minute).
    fn guest_calls(
        &self,
        since: Timestamp,
    ) -> impl Future<Output = Result<Vec<NetworkCount>, StoreError>> + Send;
}

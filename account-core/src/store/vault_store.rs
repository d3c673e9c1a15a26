//! Wrapped secrets, and rows with sealed texts.

use crate::StoreError;
use crate::identity::AccountId;
use crate::vault::{Sealed, SealedKind, WrappedSecret};

/// A row with a sealed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedRow {
    /// The account of the row; [`NOBODY`](crate::identity::NOBODY) for an e-mail.
    pub account: AccountId,
    /// The number of the row.
    pub row: u128,
    /// The sealed text that the row holds.
    pub sealed: Sealed,
}

/// A row whose text was sealed again under another data key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resealed {
    /// The number of the row.
    pub row: u128,
    /// The text under the old key.
    pub old: Sealed,
    /// The text under the new key.
    pub new: Sealed,
}

/// The storage of wrapped secrets, and the iteration over the rows that a data key sealed.
pub trait VaultStore: Send + Sync {
    /// Reads all wrapped secrets; none before the first start.
    fn secrets(&self) -> impl Future<Output = Result<Vec<WrappedSecret>, StoreError>> + Send;

    /// Saves the secrets of a new database; `false`, with nothing saved, where secrets are stored
    /// already.
    fn save_secrets(
        &self,
        rows: Vec<WrappedSecret>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Replaces all wrapped secrets, in one transaction.
    fn replace_secrets(
        &self,
        rows: Vec<WrappedSecret>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Lists the rows of a kind beyond this number, in order, without rows whose secret was wiped.
    /// An empty list is the end.
    fn sealed_rows(
        &self,
        kind: SealedKind,
        after: Option<u128>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<SealedRow>, StoreError>> + Send;

    /// Replaces the old sealed text by the new one in each row that still has the old text, in one
    /// transaction. Returns the number of replaced texts.
    fn reseal(
        &self,
        kind: SealedKind,
        rows: Vec<Resealed>,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;
}

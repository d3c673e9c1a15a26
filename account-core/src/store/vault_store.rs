//! Wrapped secrets, and rows that hold something sealed.

use crate::StoreError;
use crate::identity::AccountId;
use crate::vault::{Sealed, SealedKind, WrappedSecret};

/// A row that holds something sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedRow {
    /// Whose it is; [`NOBODY`](crate::identity::NOBODY) for a message.
    pub account: AccountId,
    /// The number of the row.
    pub row: u128,
    /// What is sealed.
    pub sealed: Sealed,
}

/// A row that was sealed anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resealed {
    /// The number of the row.
    pub row: u128,
    /// What was read.
    pub old: Sealed,
    /// What takes its place.
    pub new: Sealed,
}

/// The storage of wrapped secrets, and the walk over the rows that a data key sealed.
pub trait VaultStore: Send + Sync {
    /// Reads all wrapped secrets; none before the first start.
    fn secrets(&self) -> impl Future<Output = Result<Vec<WrappedSecret>, StoreError>> + Send;

    /// Saves the secrets of a new database; `false`, and nothing saved, where there are some.
    fn save_secrets(
        &self,
        rows: Vec<WrappedSecret>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Puts these in place of all that are there, as one step.
    fn replace_secrets(
        &self,
        rows: Vec<WrappedSecret>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Lists rows of a kind beyond this number, in order; those whose secret was wiped are left
    /// out. None are left where there are none.
    fn sealed_rows(
        &self,
        kind: SealedKind,
        after: Option<u128>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<SealedRow>, StoreError>> + Send;

    /// Puts the new in place of the old where the old is still there, as one step; answers how
    /// often it was.
    fn reseal(
        &self,
        kind: SealedKind,
        rows: Vec<Resealed>,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;
}

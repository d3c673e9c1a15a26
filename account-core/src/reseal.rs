//! A new data key for what an old one sealed, while everything goes on.
//!
//! The rows are walked in order of their numbers, in small batches, and each is put back only where
//! it is still as it was read: a key that was replaced meanwhile, or a letter that was sent, stays
//! as it is. A walk that begins after every instance seals with the new key leaves nothing behind
//! under the old one, and one that is cut short is begun again without harm.

use crate::entropy::Entropy;
use crate::identity::AccountId;
use crate::vault::{Sealed, SealedKind, Vault};
use crate::{Result, StoreError};

/// Rows that are read and put back at once.
const BATCH: u32 = 200;

/// A row that holds something sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedRow {
    /// Whose it is; [`NOBODY`](crate::identity::NOBODY) for a letter.
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

/// Where sealed rows are walked over.
pub trait ResealStore: Send + Sync {
    /// Lists rows of a kind beyond this number, in order; those whose secret was wiped are left
    /// out. None are left where there are none.
    fn sealed_rows(
        &self,
        kind: SealedKind,
        after: Option<u128>,
        limit: u32,
    ) -> impl Future<Output = std::result::Result<Vec<SealedRow>, StoreError>> + Send;

    /// Puts the new in place of the old where the old is still there, as one step; answers how
    /// often it was.
    fn reseal(
        &self,
        kind: SealedKind,
        rows: Vec<Resealed>,
    ) -> impl Future<Output = std::result::Result<u64, StoreError>> + Send;
}

/// Seals with the current data key whatever another one sealed; answers how many rows. After each
/// batch `progress` is told how many rows were looked at so far, and how many sealed anew.
///
/// # Errors
///
/// [`Error::Sealed`](crate::Error::Sealed) where a row does not open, which is then left as it is,
/// and all beyond it; [`Error::Store`](crate::Error::Store).
pub async fn reseal_all<S: ResealStore>(
    store: &S,
    vault: &Vault,
    entropy: &dyn Entropy,
    mut progress: impl FnMut(u64, u64),
) -> Result<u64> {
    let (mut looked_at, mut sealed_anew) = (0, 0);
    for kind in SealedKind::STORED {
        let mut after = None;
        loop {
            let rows = store.sealed_rows(kind, after, BATCH).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.row);
            looked_at += rows.len() as u64;
            let outdated = rows.into_iter().filter(|row| row.sealed.data_key != vault.data_key());
            let anew: Vec<Resealed> =
                outdated.map(|row| anew(kind, row, vault, entropy)).collect::<Result<_>>()?;
            if !anew.is_empty() {
                sealed_anew += store.reseal(kind, anew).await?;
            }
            progress(looked_at, sealed_anew);
        }
    }
    Ok(sealed_anew)
}

fn anew(
    kind: SealedKind,
    row: SealedRow,
    vault: &Vault,
    entropy: &dyn Entropy,
) -> Result<Resealed> {
    let plain = vault.unseal(kind, row.account, row.row, &row.sealed)?;
    let new = vault.seal(kind, row.account, row.row, &plain, entropy);
    Ok(Resealed { row: row.row, old: row.sealed, new })
}

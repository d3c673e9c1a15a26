//! A new data key for what an old one sealed, while everything goes on.
//!
//! The rows are walked in order of their numbers, in small batches, and each is put back only where
//! it is still as it was read: a key that was replaced meanwhile, or a message that was sent, stays
//! as it is. A walk that begins after every instance seals with the new key leaves nothing behind
//! under the old one, and one that is cut short is begun again without harm.

use rand::CryptoRng;

use crate::Result;
use crate::store::{Resealed, SealedRow, VaultStore};
use crate::vault::{SealedKind, Vault};

/// Rows that are read and put back at once.
const BATCH: u32 = 200;

/// Seals with the current data key whatever another one sealed; answers how many rows. After each
/// batch `progress` is told how many rows were looked at so far, and how many sealed anew.
///
/// # Errors
///
/// [`Error::Sealed`](crate::Error::Sealed) where a row does not open, which is then left as it is,
/// and all beyond it; [`Error::Store`](crate::Error::Store).
pub async fn reseal_all<S: VaultStore>(
    store: &S,
    vault: &Vault,
    rng: &mut (impl CryptoRng + Send),
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
                outdated.map(|row| anew(kind, row, vault, rng)).collect::<Result<_>>()?;
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
    rng: &mut dyn CryptoRng,
) -> Result<Resealed> {
    let plain = vault.unseal(kind, row.account, row.row, &row.sealed)?;
    let new = vault.seal(kind, row.account, row.row, &plain, rng);
    Ok(Resealed { row: row.row, old: row.sealed, new })
}

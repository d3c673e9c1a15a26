//! The re-encryption of sealed rows under a new data key, while the service runs.
//!
//! The rows are read in the order of their numbers, in small batches. Each row is written back only
//! if its sealed text is unchanged, so that a key that was replaced, or a message that was sent, is
//! not restored. If every instance seals with the new key before the start, no row is left under
//! the old key. An interrupted run can be repeated.

use rand::CryptoRng;

use crate::Result;
use crate::store::{Resealed, SealedRow, VaultStore};
use crate::vault::{SealedKind, Vault};

/// The number of rows that are read and written back together.
const BATCH: u32 = 200;

/// Seals every row of another data key with the current one, and returns their number. After each
/// batch, `progress` is called with the numbers of rows read and of rows sealed so far.
///
/// # Errors
///
/// [`Error::Sealed`](crate::Error::Sealed) where a row cannot be opened; that row and all later
/// ones are unchanged. [`Error::Store`](crate::Error::Store).
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

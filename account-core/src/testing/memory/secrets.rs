//! Wrapped secrets, and rows with sealed texts.

use super::{MemoryStore, State, Stored};
use crate::identity::NOBODY;
use crate::store::{Resealed, SealedRow, VaultStore};
use crate::vault::{Sealed, SealedKind, WrappedSecret};

impl State {
    /// Returns the rows of a kind: number, account and sealed text, including wiped texts.
    fn sealed(
        &mut self,
        kind: SealedKind,
    ) -> Box<dyn Iterator<Item = (u128, crate::AccountId, &mut Sealed)> + '_> {
        match kind {
            SealedKind::Form => Box::new(std::iter::empty()),
            SealedKind::ApiKey => Box::new(
                self.keys.iter_mut().map(|key| (key.key.id.0, key.account, &mut key.key.sealed)),
            ),
            SealedKind::OutboundMessage => Box::new(
                self.messages
                    .iter_mut()
                    .map(|waiting| (waiting.message.id.0, NOBODY, &mut waiting.message.sealed)),
            ),
        }
    }
}

impl VaultStore for MemoryStore {
    async fn secrets(&self) -> Stored<Vec<WrappedSecret>> {
        Ok(self.lock().secrets.clone())
    }

    async fn save_secrets(&self, rows: Vec<WrappedSecret>) -> Stored<bool> {
        let mut state = self.lock();
        let empty = state.secrets.is_empty();
        if empty {
            state.secrets = rows;
        }
        Ok(empty)
    }

    async fn replace_secrets(&self, rows: Vec<WrappedSecret>) -> Stored<()> {
        self.lock().secrets = rows;
        Ok(())
    }

    async fn sealed_rows(
        &self,
        kind: SealedKind,
        after: Option<u128>,
        limit: u32,
    ) -> Stored<Vec<SealedRow>> {
        let mut state = self.lock();
        let beyond = state.sealed(kind).filter(|(row, _, sealed)| {
            !sealed.bytes.is_empty() && after.is_none_or(|after| *row > after)
        });
        let mut rows: Vec<SealedRow> = beyond
            .map(|(row, account, sealed)| SealedRow { account, row, sealed: sealed.clone() })
            .collect();
        rows.sort_by_key(|row| row.row);
        rows.truncate(limit as usize);
        Ok(rows)
    }

    async fn reseal(&self, kind: SealedKind, rows: Vec<Resealed>) -> Stored<u64> {
        let mut state = self.lock();
        let mut changed = 0;
        for Resealed { row, old, new } in rows {
            let found =
                state.sealed(kind).find(|(number, _, sealed)| *number == row && **sealed == old);
            if let Some((_, _, sealed)) = found {
                *sealed = new;
                changed += 1;
            }
        }
        Ok(changed)
    }
}

//! Wrapped secrets in memory.

use super::{MemoryStore, Stored};
use crate::vault::{VaultStore, WrappedSecret};

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
}

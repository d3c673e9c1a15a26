//! A new data key while the service runs, and how a running service hears of it.
//!
//! The new key is staged, and only once every instance has had the time to learn it does one of
//! them seal with it; what the old one sealed is sealed anew, and then the old one is gone. Wherever
//! that is cut short, all keys that anything is sealed under are there, and the next rotation goes
//! on where this one ended.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use account_core::Vault;
use account_core::reseal::reseal_all;
use account_core::store::VaultStore;
use account_core::vault::WrappedSecret;
use rand::CryptoRng;

use super::master_key::{lock_file, open_now, reopen};
use super::{OpenError, Store};

/// How often an instance looks for new data keys.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long a rotation waits until every instance has looked.
pub const EVERYBODY_LOOKED: Duration = Duration::from_secs(3);

/// How far a rotation of the data key has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKeyRotation {
    /// This data key opens, and does not seal yet.
    Staged(u32),
    /// This data key seals what is new.
    Sealing(u32),
    /// So many rows were looked at so far, and so many of them sealed anew.
    Resealed(u64, u64),
    /// This data key is the only one.
    OldKeysGone(u32),
}

impl fmt::Display for DataKeyRotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Staged(key) => write!(f, "data key {key} is staged; every instance learns it"),
            Self::Sealing(key) => write!(f, "data key {key} seals what is new"),
            Self::Resealed(looked_at, anew) => {
                write!(f, "{anew} of {looked_at} rows are sealed anew")
            }
            Self::OldKeysGone(key) => write!(f, "data key {key} is the only one"),
        }
    }
}

/// Seals everything under a new data key, beside running services; goes on with a rotation that was
/// cut short. `everybody_looked` is over once every instance has looked for new keys.
///
/// # Errors
///
/// [`OpenError`]; nothing is lost, and another rotation goes on from there.
pub async fn rotate_data_key(
    store: &Store,
    file: &Path,
    mut rng: impl CryptoRng + Send,
    everybody_looked: impl AsyncFn(),
    mut progress: impl FnMut(DataKeyRotation),
) -> Result<(), OpenError> {
    let _guard = lock_file(file).await?;
    let (master, vault) = reopen(store, file).await?;
    let wrap = |rng: &mut dyn CryptoRng| vault.wrap(&master, rng);
    // With older keys still there a rotation was cut short after its new key began to seal.
    if !vault.has_outdated() {
        vault.stage(&mut rng);
        store.replace_secrets(wrap(&mut rng)).await?;
        progress(DataKeyRotation::Staged(vault.data_key() + 1));
        everybody_looked().await;
        vault.activate();
        store.replace_secrets(wrap(&mut rng)).await?;
    }
    progress(DataKeyRotation::Sealing(vault.data_key()));
    everybody_looked().await;
    let told = |looked_at, anew| progress(DataKeyRotation::Resealed(looked_at, anew));
    reseal_all(store, &vault, &mut rng, told).await.map_err(OpenError::Reseal)?;
    // The second walk finds nothing, or what an instance sealed that did not look in time.
    while reseal_all(store, &vault, &mut rng, |_, _| {}).await.map_err(OpenError::Reseal)? > 0 {}
    vault.retire();
    store.replace_secrets(wrap(&mut rng)).await?;
    progress(DataKeyRotation::OldKeysGone(vault.data_key()));
    Ok(())
}

/// The data keys of a running service, which follow those in the database.
pub struct Keyring {
    store: Store,
    vault: Arc<Vault>,
    file: PathBuf,
    seen: Vec<WrappedSecret>,
}

impl Keyring {
    /// Follows the keys of this vault, which the master key in this file opened.
    #[must_use]
    pub fn new(store: Store, vault: Arc<Vault>, file: PathBuf) -> Self {
        Self { store, vault, file, seen: Vec::new() }
    }

    /// Takes over the data keys where they have changed since the last look.
    ///
    /// # Errors
    ///
    /// [`OpenError`], as while the master key changes: then the keys stay, and the next look sees.
    pub async fn look(&mut self) -> Result<(), OpenError> {
        let mut secrets = self.store.secrets().await?;
        secrets.sort_by_key(|secret| (secret.kind.name(), secret.id));
        if secrets != self.seen {
            self.vault.adopt(open_now(&self.file, &secrets)?);
            self.seen = secrets;
        }
        Ok(())
    }

    /// Looks every now and then, for ever.
    pub async fn follow(mut self) {
        let mut interval = tokio::time::interval(LOOK_EVERY);
        loop {
            interval.tick().await;
            if let Err(error) = self.look().await {
                tracing::warn!(%error, "the data keys cannot be read; the known ones stay");
            }
        }
    }
}

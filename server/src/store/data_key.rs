//! The rotation of the data key beside running services, and the keyring that follows the rotation.
//!
//! A rotation stages the new key and waits until every instance has loaded it. Then the new key
//! encrypts, the rows of the old key are re-encrypted, and the old key is deleted. An interrupted
//! rotation leaves every key that encrypts any row, and the next rotation continues from there.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use account_core::Vault;
use account_core::reseal::reseal_all;
use account_core::store::VaultStore;
use account_core::vault::WrappedSecret;
use rand::CryptoRng;

use super::handle::Store;
use super::master_key::{lock_file, open_now, reopen};
use super::open_error::OpenError;

/// The period at which an instance polls for changed data keys.
pub const DATA_KEY_POLL_PERIOD: Duration = Duration::from_millis(500);
/// The wait of a rotation after each step, in which every instance loads the data keys: six polls.
pub const DATA_KEY_PROPAGATION: Duration = Duration::from_secs(3);

/// The progress of a rotation of the data key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKeyRotation {
    /// The data key with this number decrypts and does not encrypt yet.
    Staged(u32),
    /// The data key with this number encrypts new rows.
    Sealing(u32),
    /// The number of rows read so far, and the number of re-encrypted rows among them.
    Resealed(u64, u64),
    /// The data key with this number is the only one left.
    OldKeysGone(u32),
}

impl fmt::Display for DataKeyRotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Staged(key) => write!(f, "data key {key} is staged; every instance learns it"),
            Self::Sealing(key) => write!(f, "data key {key} seals what is new"),
            Self::Resealed(read, resealed) => {
                write!(f, "{resealed} of {read} rows are re-encrypted")
            }
            Self::OldKeysGone(key) => write!(f, "data key {key} is the only one"),
        }
    }
}

/// Re-encrypts every row under a new data key, beside running services, or continues an interrupted
/// rotation. `propagated` returns once every instance has loaded the data keys.
///
/// # Errors
///
/// [`OpenError`]; no key is lost, and another rotation continues from there.
pub async fn rotate_data_key(
    store: &Store,
    file: &Path,
    mut rng: impl CryptoRng + Send,
    propagated: impl AsyncFn(),
    mut progress: impl FnMut(DataKeyRotation),
) -> Result<(), OpenError> {
    let _guard = lock_file(file).await?;
    let (master, vault) = reopen(store, file).await?;
    let wrap = |rng: &mut dyn CryptoRng| vault.wrap(&master, rng);
    // An older key means that a rotation was interrupted after its new key began to encrypt.
    if !vault.has_outdated() {
        vault.stage(&mut rng);
        store.replace_secrets(wrap(&mut rng)).await?;
        progress(DataKeyRotation::Staged(vault.data_key() + 1));
        propagated().await;
        vault.activate();
        store.replace_secrets(wrap(&mut rng)).await?;
    }
    progress(DataKeyRotation::Sealing(vault.data_key()));
    propagated().await;
    let report = |read, resealed| progress(DataKeyRotation::Resealed(read, resealed));
    reseal_all(store, &vault, &mut rng, report).await.map_err(OpenError::Reseal)?;
    // The second pass finds the rows of an instance that loaded the keys too late, if any.
    while reseal_all(store, &vault, &mut rng, |_, _| {}).await.map_err(OpenError::Reseal)? > 0 {}
    vault.retire();
    store.replace_secrets(wrap(&mut rng)).await?;
    progress(DataKeyRotation::OldKeysGone(vault.data_key()));
    Ok(())
}

/// The data keys of a running service, kept equal to those in the database.
pub struct Keyring {
    store: Store,
    vault: Arc<Vault>,
    file: PathBuf,
    seen: Vec<WrappedSecret>,
}

impl Keyring {
    /// Returns the keyring of a vault that the master key in `file` opened.
    #[must_use]
    pub fn new(store: Store, vault: Arc<Vault>, file: PathBuf) -> Self {
        Self { store, vault, file, seen: Vec::new() }
    }

    /// Loads the data keys where they have changed since the last poll.
    ///
    /// # Errors
    ///
    /// [`OpenError`], for example during a rotation of the master key; the loaded keys stay, and
    /// the next poll tries again.
    pub async fn poll(&mut self) -> Result<(), OpenError> {
        let mut secrets = self.store.secrets().await?;
        secrets.sort_by_key(|secret| (secret.kind.name(), secret.id));
        if secrets != self.seen {
            self.vault.adopt(open_now(&self.file, &secrets)?);
            self.seen = secrets;
        }
        Ok(())
    }

    /// Polls the data keys every [`DATA_KEY_POLL_PERIOD`], until the task is aborted.
    pub async fn follow(mut self) {
        let mut interval = tokio::time::interval(DATA_KEY_POLL_PERIOD);
        loop {
            interval.tick().await;
            if let Err(error) = self.poll().await {
                tracing::warn!(%error, "the data keys cannot be read; the known ones stay");
            }
        }
    }
}

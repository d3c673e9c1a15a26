//! Secrets of the service, wrapped.

use crate::accounts::Store;
use crate::testing::SeededEntropy;
use crate::vault::{MasterKey, Vault};

/// A second start does not overwrite the first one's secrets.
pub async fn secrets_are_saved_once_and_replaced_together<S: Store + Clone>(store: S) {
    let entropy = SeededEntropy::new(8);
    let (master, next) = (MasterKey::generate(&entropy), MasterKey::generate(&entropy));
    let vault = Vault::create(&entropy);
    let rows = vault.wrap(&master, &entropy);
    assert!(store.secrets().await.expect("ok").is_empty());
    assert!(store.save_secrets(rows.clone()).await.expect("ok"));
    let other = Vault::create(&entropy).wrap(&master, &entropy);
    assert!(!store.save_secrets(other).await.expect("ok"));
    assert!(Vault::open(&master, &store.secrets().await.expect("ok")).is_ok());

    store.replace_secrets(vault.wrap(&next, &entropy)).await.expect("ok");
    let stored = store.secrets().await.expect("ok");
    assert_eq!(stored.len(), rows.len());
    assert!(Vault::open(&next, &stored).is_ok() && Vault::open(&master, &stored).is_err());
}

//! Checks of the wrapped secrets.

use crate::store::Store;
use crate::testing::seeded_rng;
use crate::vault::{MasterKey, Vault};

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! secrets_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, secrets;
            secrets_are_saved_once_and_replaced_together,
        );
    };
}

/// Checks that a second start does not overwrite the secrets of the first.
pub async fn secrets_are_saved_once_and_replaced_together<S: Store + Clone>(store: S) {
    let mut rng = seeded_rng(8);
    let (master, next) = (MasterKey::generate(&mut rng), MasterKey::generate(&mut rng));
    let vault = Vault::create(&mut rng);
    let rows = vault.wrap(&master, &mut rng);
    assert!(store.secrets().await.expect("ok").is_empty());
    assert!(store.save_secrets(rows.clone()).await.expect("ok"));
    let other = Vault::create(&mut rng).wrap(&master, &mut rng);
    assert!(!store.save_secrets(other).await.expect("ok"));
    assert!(Vault::open(&master, &store.secrets().await.expect("ok")).is_ok());

    store.replace_secrets(vault.wrap(&next, &mut rng)).await.expect("ok");
    let stored = store.secrets().await.expect("ok");
    assert_eq!(stored.len(), rows.len());
    assert!(Vault::open(&next, &stored).is_ok() && Vault::open(&master, &stored).is_err());
}

//! Checks of the rotation of the data key, and of attacks on sealed rows in the database.

use super::test_service::{PASSWORD, TestService, client, email};
use crate::Result;
use crate::accounts::Login;
use crate::key::ApiKey;
use crate::password::Password;
use crate::reseal::reseal_all;
use crate::store::{Resealed, Store};
use crate::testing::seeded_rng;
use crate::vault::{SealedKind, Vault};

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! reseal_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, reseal;
            a_new_data_key_seals_everything_anew_and_the_old_one_may_go,
            what_changed_since_it_was_read_is_not_put_back,
            ciphertexts_that_were_swapped_or_altered_open_for_nobody,
        );
    };
}

impl<S: Store + Clone> TestService<S> {
    fn vault(&self) -> &Vault {
        &self.outbox.vault
    }

    async fn reseal_all(&self) -> u64 {
        let (store, mut rng) = (self.accounts.store(), seeded_rng(77));
        let mut seen = Vec::new();
        let progress = |looked_at, anew| seen.push((looked_at, anew));
        let anew = reseal_all(store, self.vault(), &mut rng, progress).await.expect("all open");
        assert!(seen.is_sorted(), "progress goes on: {seen:?}");
        assert_eq!(seen.last().map_or(0, |(_, anew)| *anew), anew);
        anew
    }

    async fn sealed(&self, kind: SealedKind) -> Vec<crate::store::SealedRow> {
        let rows = self.accounts.store().sealed_rows(kind, None, 1_000).await;
        rows.expect("the store answers")
    }

    /// Logs in, and returns the key.
    async fn key_at_login(&self, address: &str) -> Result<ApiKey> {
        match self.login(address, PASSWORD).await? {
            Login::SignedIn(signed_in) => Ok(signed_in.api_key),
            Login::MfaRequired { .. } => panic!("no second factor"),
        }
    }
}

/// Checks that keys and waiting e-mails are sealed under the new data key, after which the old key
/// may be retired. Wiped texts stay wiped.
pub async fn a_new_data_key_seals_everything_anew_and_the_old_one_may_go<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let mut keys = Vec::new();
    for number in 0..5 {
        let address = format!("user-{number}@example.com");
        keys.push((service.account(&format!("user-{number}"), &address).await.api_key, address));
    }
    let caller = service.caller(&keys[0].0).await.expect("a good key");
    keys[0].0 = service.accounts.regenerate(&caller, service.now()).await.expect("its own key");
    service.accounts.forgot_password(&email(&keys[1].1), service.now()).await.expect("ok");
    service
        .accounts
        .forgot_password(&email("nobody@example.com"), service.now())
        .await
        .expect("ok");

    assert_eq!(service.reseal_all().await, 0, "one data key, nothing to do");
    service.vault().stage(&mut seeded_rng(78));
    assert_eq!(service.reseal_all().await, 0, "a staged key seals nothing");
    service.vault().activate();
    let caller = service.caller(&keys[2].0).await.expect("a good key");
    keys[2].0 = service.accounts.regenerate(&caller, service.now()).await.expect("its own key");
    assert_eq!(service.reseal_all().await, 4 + 2, "four keys, an e-mail and a decoy");
    assert_eq!(service.reseal_all().await, 0, "nothing is left");
    for kind in SealedKind::STORED {
        for row in service.sealed(kind).await {
            assert_eq!(row.sealed.data_key, 2, "{kind:?}");
        }
    }
    service.vault().retire();
    for (key, address) in &keys {
        let handed_back = service.key_at_login(address).await.expect("the right password");
        assert_eq!(handed_back.expose(), key.expose(), "{address}");
        assert!(service.caller(key).await.is_some());
    }
    let code = service.code(&keys[1].1).await;
    let (address, password) = (email(&keys[1].1), Password::attempt("another one of hers"));
    let now = service.now();
    let reset = service.accounts.reset_password(&address, &code, &password, &client(), now).await;
    reset.expect("the e-mail held its code");
}

/// Checks a key that was replaced, and an e-mail that was sent, between reading and writing.
pub async fn what_changed_since_it_was_read_is_not_put_back<S: Store + Clone>(store: S) {
    let service = TestService::new(store.clone());
    let old = service.account("ada", "ada@example.com").await.api_key;
    service.accounts.forgot_password(&email("ada@example.com"), service.now()).await.expect("ok");
    let (keys, messages) = (
        service.sealed(SealedKind::ApiKey).await,
        service.sealed(SealedKind::OutboundMessage).await,
    );
    assert_eq!((keys.len(), messages.len()), (1, 1));
    let caller = service.caller(&old).await.expect("a good key");
    let key = service.accounts.regenerate(&caller, service.now()).await.expect("its own key");
    service.messages().await;
    for (kind, rows) in [(SealedKind::ApiKey, keys), (SealedKind::OutboundMessage, messages)] {
        let anew = rows.into_iter().map(|row| {
            let new = service.vault().seal(kind, row.account, row.row, b"x", &mut seeded_rng(1));
            Resealed { row: row.row, old: row.sealed, new }
        });
        let anew = anew.collect();
        assert_eq!(store.reseal(kind, anew).await.expect("the store answers"), 0, "{kind:?}");
    }
    assert_eq!(service.sealed(SealedKind::ApiKey).await.len(), 1, "the old key stays wiped");
    assert_eq!(
        service.sealed(SealedKind::OutboundMessage).await.len(),
        0,
        "the message stays wiped"
    );
    let handed_back = service.key_at_login("ada@example.com").await.expect("the right password");
    assert_eq!(handed_back.expose(), key.expose());
}

/// Checks a database that an attacker has changed: the ciphertexts of two accounts exchanged, each
/// byte flipped, an e-mail's ciphertext in place of a key. A login then fails, and never reveals
/// another account's key.
pub async fn ciphertexts_that_were_swapped_or_altered_open_for_nobody<S: Store + Clone>(store: S) {
    let service = TestService::new(store.clone());
    service.account("ada", "ada@example.com").await;
    service.account("bob", "bob@example.com").await;
    service.accounts.forgot_password(&email("ada@example.com"), service.now()).await.expect("ok");
    let kind = SealedKind::ApiKey;
    let [first, second] = &service.sealed(kind).await[..] else { panic!("two keys") };
    let message = service.sealed(SealedKind::OutboundMessage).await.remove(0);
    let put = |row: u128, old: &crate::vault::Sealed, new: &crate::vault::Sealed| {
        let rows = vec![Resealed { row, old: old.clone(), new: new.clone() }];
        let store = store.clone();
        async move { assert_eq!(store.reseal(kind, rows).await.expect("ok"), 1) }
    };
    put(first.row, &first.sealed, &second.sealed).await;
    put(second.row, &second.sealed, &first.sealed).await;
    for address in ["ada@example.com", "bob@example.com"] {
        assert_eq!(service.login_code(address, PASSWORD).await, "sealed", "swapped: {address}");
    }
    put(second.row, &first.sealed, &message.sealed).await;
    put(first.row, &second.sealed, &first.sealed).await;
    let whose = if service.key_at_login("ada@example.com").await.is_ok() { "ada" } else { "bob" };
    let address = format!("{whose}@example.com");
    let mut last = first.sealed.clone();
    for byte in 0..first.sealed.bytes.len() {
        let mut altered = first.sealed.clone();
        altered.bytes[byte] ^= 1;
        put(first.row, &last, &altered).await;
        last = altered;
        assert_eq!(service.login_code(&address, PASSWORD).await, "sealed", "byte {byte}");
    }
    put(first.row, &last, &first.sealed).await;
    assert_eq!(service.login_code(&address, PASSWORD).await, "signed_in");
}

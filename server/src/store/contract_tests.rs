//! The contract of `account-core` that every store must meet, on both engines, and cancellation.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use super::handle::Store;
use super::testing::{on_each_engine, open_again, postgres, sqlite};

mod contract_on_sqlite {
    account_core::store_contract!(super::sqlite);
}

mod contract_on_postgres {
    account_core::store_contract!(super::postgres);
}

on_each_engine!(
    a_cancelled_call_leaves_the_writer_free_and_nothing_half_done,
    another_process_changes_what_this_one_sees_and_moves_its_revision,
);

/// Drops a call after a number of polls, as a request is dropped whose client disconnects.
async fn abandon(call: impl Future, mut steps: u32) {
    let mut call = std::pin::pin!(call);
    poll_fn(|context| {
        if steps == 0 || call.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        steps -= 1;
        Poll::Pending
    })
    .await;
}

async fn a_cancelled_call_leaves_the_writer_free_and_nothing_half_done(
    store: Store,
    _address: String,
) {
    use account_core::AccountId;
    use account_core::store::{AccountStore, LedgerStore, VaultStore};

    for steps in 0..40 {
        abandon(store.next_account_id(), steps).await;
        abandon(store.replace_secrets(Vec::new()), steps).await;
    }
    assert!(store.next_account_id().await.expect("the writer is free") > AccountId(0));
    assert!(store.profile(AccountId(1)).await.expect("the readers are free").is_none());
    assert!(store.audit().await.expect("the readers are free").holds());
}

async fn another_process_changes_what_this_one_sees_and_moves_its_revision(
    store: Store,
    address: String,
) {
    use account_core::testing::{CheapHasher, FixedClock, seeded_rng};
    use account_core::{Accounts, ApiKey, Caller, Email, NewAccount, Tier, Username, Vault};

    let rng = seeded_rng(1);
    let vault = Arc::new(Vault::create(&mut rng.clone()));
    let now = FixedClock::default().now();
    let process =
        |store| Accounts::new(store, CheapHasher::default(), Arc::clone(&vault), rng.clone());
    let service = process(store);
    let command = process(open_again(&address).await);
    let email = Email::parse("ada@example.com").expect("an address");
    let account = NewAccount {
        email: email.clone(),
        username: Username::parse("ada").expect("a name"),
        password: None,
        tier: Tier::Free,
        credits: None,
        hourly_limit: None,
        is_admin: false,
    };
    let key: ApiKey = service.create_account(account, now).await.expect("a new one").api_key;
    let before = service.store().revision().await.expect("ok");

    command.set_tier(&email, Tier::Pro).await.expect("the account is there");
    command.grant(&email, 50, now).await.expect("a grant");

    assert!(service.store().revision().await.expect("ok") > before);
    let Ok(Caller::Account(caller)) = service.authenticate(&key, now).await else {
        panic!("the key is good");
    };
    assert_eq!((caller.tier, caller.credit_balance), (Tier::Pro, 400));
    command.suspend(&email).await.expect("the account is there");
    assert!(service.authenticate(&key, now).await.is_err());
}

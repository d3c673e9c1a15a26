//! Checks of the operator's calls.

use super::test_service::{PASSWORD, TestService, email, fault, username};
use crate::KeyStatus;
use crate::accounts::operator::NewAccount;
use crate::credits::{LARGEST_BALANCE, TransactionKind};
use crate::identity::{AccountId, CallerId};
use crate::key::AuthError;
use crate::operation::{Operation, OperatorAction, Reason};
use crate::outbox::{Content, OutboundMessage};
use crate::password::Password;
use crate::store::{AccountFilter, AccountState, Change, Store};
use crate::tier::Tier;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! operator_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, operator;
            an_operator_makes_an_account_once,
            a_grant_is_positive_and_keeps_the_balance_readable,
            a_tier_brings_its_limit_unless_the_account_has_its_own,
            an_adjustment_may_take_credits_but_no_more_than_there_are,
            an_operator_unlocks_an_address_and_each_change_is_recorded,
            an_operator_replaces_a_key,
            an_operator_deletes_an_account_and_the_record_stays,
            accounts_are_listed_in_pages_and_by_filter,
        );
    };
}

fn reason(text: &str) -> Reason {
    Reason::parse(text).expect("a reason")
}

/// Checks that a created account is verified, has its credits, and has a unique address and name.
pub async fn an_operator_makes_an_account_once<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let account = |name: &str, address: &str, credits| NewAccount {
        email: email(address),
        username: username(name),
        password: Some(Password::attempt(PASSWORD)),
        tier: Tier::Enterprise,
        credits,
        hourly_limit: Some(7),
        is_admin: true,
    };
    service.register("form", "ada@example.com", "a stranger's one").await.expect("a free name");
    let create = |account| service.accounts.create_account(account, service.now());
    let created = create(account("ada", "ada@example.com", None)).await.expect("a free address");
    let caller = service.caller(&created.api_key).await.expect("the key is good");
    assert_eq!((caller.id, caller.credit_balance, caller.hourly_limit), (created.id, 350, 7));
    assert!(caller.is_admin && caller.tier == Tier::Enterprise);
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "signed_in");
    assert_eq!(fault(create(account("eve", "ada@example.com", None)).await), "email_taken");
    assert_eq!(fault(create(account("ADA", "eve@example.com", None)).await), "username_taken");
    let zero = create(account("zero", "zero@example.com", Some(0))).await.expect("a free address");
    assert_eq!(service.balance(zero.id).await, 0);
    let too_many = account("rich", "rich@example.com", Some(LARGEST_BALANCE + 1));
    assert_eq!(fault(create(too_many).await), "credits");
    service.assert_ledger_holds().await;
}

/// Checks that grants are booked, and that invalid ones are refused.
pub async fn a_grant_is_positive_and_keeps_the_balance_readable<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 10).await;
    let grant = |credits| {
        let service = &service;
        async move { service.accounts.grant(&email("ada@example.com"), credits, service.now()).await }
    };
    assert_eq!(grant(90).await.expect("a grant"), 100);
    for credits in [0, -1, i64::MIN, i64::MAX, LARGEST_BALANCE as i64 - 99] {
        assert_eq!(fault(grant(credits).await), "credits", "{credits}");
    }
    assert_eq!(service.balance(ada).await, 100);
    assert_eq!(grant(LARGEST_BALANCE as i64 - 100).await.expect("a grant"), LARGEST_BALANCE);
    let nobody = service.accounts.grant(&email("nobody@example.com"), 5, service.now()).await;
    assert_eq!(fault(nobody), "not_found");
    service.assert_ledger_holds().await;
}

/// Checks that the operator's tier and limit take effect on the next call.
pub async fn a_tier_brings_its_limit_unless_the_account_has_its_own<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let key = service.account("ada", "ada@example.com").await.api_key;
    let ada = email("ada@example.com");
    let seen = || async {
        let caller = service.caller(&key).await.expect("the key is good");
        (caller.tier, caller.hourly_limit)
    };
    assert_eq!(seen().await, (Tier::Free, 500));
    service.accounts.set_tier(&ada, Tier::Pro).await.expect("the account is there");
    assert_eq!(seen().await, (Tier::Pro, 5_000));
    service.accounts.set_hourly_limit(&ada, Some(250_000)).await.expect("the account is there");
    assert_eq!(seen().await, (Tier::Pro, 250_000));
    service.accounts.set_hourly_limit(&ada, None).await.expect("the account is there");
    assert_eq!(seen().await, (Tier::Pro, 5_000));
    service.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    let unverified = service.accounts.set_tier(&email("bob@example.com"), Tier::Pro).await;
    assert_eq!(fault(unverified), "not_found");
}

/// Checks that refunds and adjustments are booked with their reason, and no balance falls below zero.
pub async fn an_adjustment_may_take_credits_but_no_more_than_there_are<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 10).await;
    let book = |kind, credits| {
        let service = &service;
        let (address, reason) = (email("ada@example.com"), reason("ticket 17"));
        async move {
            let (accounts, now) = (&service.accounts, service.now());
            accounts.book_credits(&address, kind, credits, Some(reason), now).await
        }
    };
    use TransactionKind::{Adjustment, AdminGrant, Refund};
    assert_eq!(book(Adjustment, -4).await.expect("there are ten"), 6);
    assert_eq!(book(Refund, 3).await.expect("a refund"), 9);
    assert_eq!(book(Adjustment, 1).await.expect("a correction"), 10);
    assert_eq!(book(AdminGrant, 5).await.expect("a grant"), 15);
    for credits in [-16, i64::MIN] {
        assert_eq!(fault(book(Adjustment, credits).await), "overdrawn", "{credits}");
    }
    for (kind, credits) in [
        (Adjustment, 0),
        (Adjustment, i64::MAX),
        (Refund, 0),
        (Refund, -1),
        (Refund, LARGEST_BALANCE as i64 - 14),
        (AdminGrant, -1),
    ] {
        assert_eq!(fault(book(kind, credits).await), "credits", "{kind:?} {credits}");
    }
    assert_eq!(book(Adjustment, -15).await.expect("down to zero"), 0);
    let listed = service.accounts.transactions(ada, 1, 10).await.expect("a page").transactions;
    let listed: Vec<_> = listed
        .iter()
        .map(|row| (row.kind, row.credits, row.balance_after, row.description.as_str()))
        .collect();
    assert_eq!(
        listed[..5],
        [
            (Adjustment, -15, 0, "ticket 17"),
            (AdminGrant, 5, 15, "ticket 17"),
            (Adjustment, 1, 10, "ticket 17"),
            (Refund, 3, 9, "ticket 17"),
            (Adjustment, -4, 6, "ticket 17"),
        ]
    );
    let overview = service.accounts.overview(&email("ada@example.com"), service.now()).await;
    let operations = overview.expect("the account is there").operations;
    let detail = Some("-15".to_owned());
    let (action, reason) = (OperatorAction::Adjust, Some(reason("ticket 17")));
    assert_eq!(operations[0], Operation { action, detail, reason, at: service.now() });
    assert_eq!(operations.len(), 5, "what was refused is not recorded");
    service.assert_ledger_holds().await;
}

/// Checks that an operator lifts a lock at once, and every change by an operator is recorded.
pub async fn an_operator_unlocks_an_address_and_each_change_is_recorded<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let bob = service.account("bob", "bob@example.com").await;
    let address = email("ada@example.com");
    for _ in 0..5 {
        service.login_code("ada@example.com", "wrong").await;
    }
    let before = service.accounts.overview(&address, service.now()).await.expect("ada is there");
    assert!(before.locked_until.is_some_and(|until| service.now() < until));
    assert_eq!(before.operations, []);

    service.wait(1);
    service.accounts.unlock(&address, reason("she called"), service.now()).await.expect("ada");

    let after = service.accounts.overview(&address, service.now()).await.expect("ada is there");
    assert_eq!(after.locked_until, None);
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "signed_in");
    service.wait(1);
    let change = |change, reason| {
        let (accounts, now) = (&service.accounts, service.now());
        let address = &address;
        async move { accounts.change_account(address, change, reason, now).await }
    };
    change(Change::Tier(Tier::Pro), None).await.expect("ada is there");
    change(Change::Admin(true), Some(reason("on call"))).await.expect("ada is there");
    let caller = service.caller(&ada.api_key).await.expect("the key is good");
    assert!(caller.is_admin && caller.tier == Tier::Pro);
    change(Change::Admin(false), Some(reason("off call"))).await.expect("ada is there");
    assert!(!service.caller(&ada.api_key).await.expect("the key is good").is_admin);

    let recorded = service.accounts.store().operations(ada.account, 9).await.expect("ok");
    let recorded: Vec<_> = recorded
        .iter()
        .map(|operation| {
            let reason = operation.reason.as_ref().map(Reason::as_str);
            (operation.action.name(), operation.detail.as_deref(), reason)
        })
        .collect();
    let expected = [
        ("revoke_admin", None, Some("off call")),
        ("make_admin", None, Some("on call")),
        ("set_tier", Some("pro"), None),
        ("unlock", None, Some("she called")),
    ];
    assert_eq!(recorded, expected);
    assert_eq!(service.accounts.store().operations(bob.account, 9).await.expect("ok"), []);
    let nobody = email("nobody@example.com");
    let unlocked = service.accounts.unlock(&nobody, reason("a slip"), service.now()).await;
    assert_eq!(fault(unlocked), "not_found");
    assert_eq!(fault(service.accounts.overview(&nobody, service.now()).await), "not_found");
}

/// Checks that an operator replaces a key as its owner does, but no suspended one.
pub async fn an_operator_replaces_a_key<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let address = email("ada@example.com");
    let regenerate = || {
        let (accounts, now) = (&service.accounts, service.now());
        let address = &address;
        async move { accounts.regenerate_for(address, reason("it leaked"), now).await }
    };
    let key = regenerate().await.expect("a new key");
    assert!(service.caller(&ada.api_key).await.is_none());
    assert!(service.caller(&key).await.is_some());
    let operations = service.accounts.store().operations(ada.account, 9).await.expect("ok");
    assert_eq!(operations[0].action, OperatorAction::Regenerate);
    service.accounts.suspend(&address).await.expect("ada is there");
    assert_eq!(fault(regenerate().await), "suspended");
    let operations = service.accounts.store().operations(ada.account, 9).await.expect("ok");
    assert_eq!(operations.len(), 1, "what was refused is not recorded");
}

/// Checks that an operator deletes an account without its password, and the record stays.
pub async fn an_operator_deletes_an_account_and_the_record_stays<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let address = email("ada@example.com");
    service.settle(vec![service.entry(CallerId::Account(ada.account), 1, 3, "/a")]).await;
    service.messages().await;
    let delete = || {
        let (accounts, now) = (&service.accounts, service.now());
        let address = &address;
        async move { accounts.delete_for(address, reason("asked in writing"), now).await }
    };

    delete().await.expect("ada is there");

    assert!(matches!(
        service.messages().await[..],
        [OutboundMessage { content: Content::AccountDeleted, .. }]
    ));
    let refusal = service.accounts.authenticate(&ada.api_key, service.now()).await;
    assert!(matches!(refusal, Err(AuthError::Unknown)));
    assert_eq!(fault(delete().await), "not_found");
    let recorded = service.accounts.store().operations(ada.account, 9).await.expect("ok");
    let (action, reason) = (OperatorAction::Delete, Some(reason("asked in writing")));
    assert_eq!(recorded, [Operation { action, detail: None, reason, at: service.now() }]);
    service.assert_ledger_holds().await;
}

/// Checks that accounts are listed in pages that join, and by part of address or name, tier, state.
pub async fn accounts_are_listed_in_pages_and_by_filter<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    for name in ["ada", "bob", "carl", "dora"] {
        service.account(name, &format!("{name}@example.com")).await;
    }
    service.register("eve_x", "eve@example.org", PASSWORD).await.expect("a free name");
    let accounts = &service.accounts;
    accounts.suspend(&email("bob@example.com")).await.expect("bob is there");
    accounts.set_tier(&email("carl@example.com"), Tier::Pro).await.expect("carl is there");
    let admin = Change::Admin(true);
    let dora = email("dora@example.com");
    accounts.change_account(&dora, admin, None, service.now()).await.expect("dora is there");
    let names = |filter: AccountFilter| async move {
        let listed = accounts.list_accounts(&filter, AccountId(0), 9).await.expect("a page");
        assert_eq!(listed.next_after, None);
        let name = |profile: &crate::Profile| profile.username.as_str().to_owned();
        listed.accounts.iter().map(name).collect::<Vec<_>>().join(" ")
    };
    let all = AccountFilter::default;
    let text = |text: &str| AccountFilter { text: text.to_owned(), ..all() };
    let state = |state| AccountFilter { state: Some(state), ..all() };
    assert_eq!(names(all()).await, "ada bob carl dora eve_x");
    assert_eq!(names(text("example.org")).await, "eve_x");
    assert_eq!(names(text("a")).await, "ada bob carl dora eve_x", "example has one");
    assert_eq!(names(text("ar")).await, "carl");
    assert_eq!(names(text("e_x")).await, "eve_x");
    assert_eq!(names(text("_")).await, "eve_x", "no wildcard");
    assert_eq!(names(text("%")).await, "", "no wildcard");
    assert_eq!(names(AccountFilter { tier: Some(Tier::Pro), ..all() }).await, "carl");
    assert_eq!(names(AccountFilter { admins_only: true, ..all() }).await, "dora");
    assert_eq!(names(state(AccountState::Active)).await, "ada carl dora");
    assert_eq!(names(state(AccountState::Suspended)).await, "bob");
    assert_eq!(names(state(AccountState::Unverified)).await, "eve_x");

    let mut after = AccountId(0);
    let mut pages = Vec::new();
    loop {
        let page = accounts.list_accounts(&all(), after, 2).await.expect("a page");
        pages.push(page.accounts.iter().map(|profile| profile.id).collect::<Vec<_>>());
        match page.next_after {
            Some(next) => after = next,
            None => break,
        }
    }
    let lengths: Vec<_> = pages.iter().map(Vec::len).collect();
    assert_eq!(lengths, [2, 2, 1]);
    assert!(pages.concat().is_sorted());
    let eve = accounts.overview(&email("eve@example.org"), service.now()).await;
    let eve = eve.expect("a registration is shown").profile;
    assert_eq!((eve.is_verified, eve.api_key_status), (false, KeyStatus::Revoked));
}

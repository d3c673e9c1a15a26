//! Checks of the operator's calls.

use super::test_service::{PASSWORD, TestService, email, fault, username};
use crate::accounts::operator::NewAccount;
use crate::credits::LARGEST_BALANCE;
use crate::password::Password;
use crate::store::Store;
use crate::tier::Tier;

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

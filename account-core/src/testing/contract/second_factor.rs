//! Checks of the second factor.

use super::recovery::NEW;
use super::test_service::{PASSWORD, TestService, another, fault};
use crate::Result;
use crate::accounts::{Login, SignedIn};
use crate::code::MfaToken;
use crate::identity::AccountId;
use crate::outbox::{Content, OutboundMessage};
use crate::password::Password;
use crate::store::{Deletion, DeletionProof, MfaChange, MfaChanged, Store, TryStatus};
use crate::testing::all;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! second_factor_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, second_factor;
            a_second_factor_is_asked_for_and_its_code_serves_once,
            a_password_replaced_meanwhile_confirms_no_change,
            it_goes_on_at_once_and_one_email_says_so,
            it_goes_off_with_the_right_password_alone,
            a_stranger_burns_no_tries_of_who_has_the_token,
            a_token_has_five_tries_and_repeated_logins_give_no_more,
            an_older_or_forged_token_counts_among_strangers,
            wrong_codes_are_in_the_login_history,
        );
    };
}

impl<S: Store + Clone> TestService<S> {
    /// Logs in up to the second factor.
    pub(super) async fn half_login(&self, address: &str) -> MfaToken {
        match self.login(address, PASSWORD).await {
            Ok(Login::MfaRequired { mfa_token }) => mfa_token,
            Ok(Login::SignedIn(_)) => panic!("no second factor is asked for"),
            Err(error) => panic!("{error}"),
        }
    }

    pub(super) async fn disable(&self, account: AccountId, password: &str) -> Result<()> {
        let password = Password::attempt(password);
        self.accounts.disable_mfa(account, &password, self.now()).await
    }
}

/// Checks that enabling the second factor twice has the same effect as once.
pub async fn it_goes_on_at_once_and_one_email_says_so<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    for _ in 0..2 {
        service
            .accounts
            .enable_mfa(ada.account, service.now())
            .await
            .expect("the account is there");
    }
    let messages = service.messages().await;
    assert!(matches!(messages[..], [OutboundMessage { content: Content::MfaEnabled, .. }]));
    assert!(service.accounts.profile(ada.account).await.expect("it is there").mfa_enabled);
    assert!(service.is_live(&ada).await, "who is in stays in");
    service.half_login("ada@example.com").await;
    let nobody = service.accounts.enable_mfa(AccountId(99), service.now()).await;
    assert_eq!(fault(nobody), "not_found");
}

/// Checks that a key alone cannot disable the second factor, and that unfinished logins end.
pub async fn it_goes_off_with_the_right_password_alone<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account_with_mfa("ada", "ada@example.com").await.account;
    service.half_login("ada@example.com").await;
    let half_done = service.code("ada@example.com").await;
    assert_eq!(fault(service.disable(ada, "wrong").await), "wrong_confirmation");
    assert!(service.accounts.profile(ada).await.expect("it is there").mfa_enabled);
    service.disable(ada, PASSWORD).await.expect("the right password");
    let messages = service.messages().await;
    assert!(matches!(messages[..], [OutboundMessage { content: Content::MfaDisabled, .. }]));
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "signed_in");
    let late = service.complete("ada@example.com", &half_done, None).await;
    assert_eq!(fault(late), "wrong_code");
}

/// Checks that a password which was replaced after its verification removes nothing.
pub async fn a_password_replaced_meanwhile_confirms_no_change<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account_with_mfa("ada", "ada@example.com").await.account;
    let verified = service.password_hash("ada@example.com").await;
    let reset = service.reset_code("ada@example.com").await;
    service.reset_to("ada@example.com", &reset, NEW).await.expect("the right code");
    service.messages().await;

    let store = service.accounts.store();
    let notice = |content| service.sealed_message("ada@example.com", content);
    let change = MfaChange::Disable(verified.clone());
    let changed = store.set_mfa(ada, change, notice(Content::MfaDisabled)).await.expect("ok");
    let deletion = Deletion {
        account: ada,
        recipient: service.recipient("ada@example.com"),
        proof: DeletionProof::Password(verified),
        notice: notice(Content::AccountDeleted),
        at: service.now(),
    };
    let deleted = store.delete_account(deletion).await.expect("ok");

    assert_eq!((changed, deleted), (MfaChanged::OtherPassword, false));
    assert!(service.accounts.profile(ada).await.expect("it is there").mfa_enabled);
    assert!(service.messages().await.is_empty(), "no notice of what did not happen");
    service.disable(ada, NEW).await.expect("the present password");
}

/// Checks that attempts without the password do not use up the attempts of the token's holder.
pub async fn a_stranger_burns_no_tries_of_who_has_the_token<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account_with_mfa("ada", "ada@example.com").await;
    let token = service.half_login("ada@example.com").await;
    let right = service.code("ada@example.com").await;
    let wrong = another(&right);
    let guesses = (0..50).map(|_| service.complete("ada@example.com", &wrong, None));
    assert!(all(guesses).await.into_iter().all(|result| fault(result) == "wrong_code"));
    let without = service.complete("ada@example.com", &right, None).await;
    assert_eq!(fault(without), "wrong_code", "the strangers' tries are used up");
    assert!(service.complete("ada@example.com", &right, Some(&token)).await.is_ok());
}

/// Checks that a code has five attempts, however often the password is sent.
pub async fn a_token_has_five_tries_and_repeated_logins_give_no_more<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account_with_mfa("ada", "ada@example.com").await;
    service.half_login("ada@example.com").await;
    let right = service.code("ada@example.com").await;
    let wrong = another(&right);
    for _ in 0..5 {
        let token = service.half_login("ada@example.com").await;
        let guess = service.complete("ada@example.com", &wrong, Some(&token)).await;
        assert_eq!(fault(guess), "wrong_code");
    }
    let token = service.half_login("ada@example.com").await;
    let sixth = service.complete("ada@example.com", &right, Some(&token)).await;
    assert_eq!(fault(sixth), "wrong_code");
    assert!(service.messages().await.is_empty(), "all within the cooldown of one e-mail");
}

/// Checks that a token is valid for its own challenge alone.
pub async fn an_older_or_forged_token_counts_among_strangers<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account_with_mfa("ada", "ada@example.com").await;
    let older = service.half_login("ada@example.com").await;
    service.code("ada@example.com").await;
    service.wait(60);
    service.half_login("ada@example.com").await;
    let right = service.code("ada@example.com").await;
    let forged = MfaToken::parse(&"A".repeat(43)).expect("well-formed");
    let wrong = another(&right);
    for token in [&older, &forged, &older, &forged, &older] {
        let guess = service.complete("ada@example.com", &wrong, Some(token)).await;
        assert_eq!(fault(guess), "wrong_code");
    }
    let sixth = service.complete("ada@example.com", &right, None).await;
    assert_eq!(fault(sixth), "wrong_code", "they were the strangers' five");

    service.wait(60);
    let older = service.half_login("ada@example.com").await;
    service.wait(60);
    service.half_login("ada@example.com").await;
    let right = service.code("ada@example.com").await;
    let done = service.complete("ada@example.com", &right, Some(&older)).await;
    assert!(done.is_ok(), "the first tab's token with the second tab's code");
}

/// Checks that the owner sees logins with the right password and a wrong code.
pub async fn wrong_codes_are_in_the_login_history<S: Store + Clone>(store: S) {
    use TryStatus::{Failed, Success};
    let service = TestService::new(store);
    let ada = service.account_with_mfa("ada", "ada@example.com").await.account;
    service.half_login("ada@example.com").await;
    let right = service.code("ada@example.com").await;
    let wrong = another(&right);
    assert_eq!(fault(service.complete("ada@example.com", &wrong, None).await), "wrong_code");
    assert!(service.complete("ada@example.com", &right, None).await.is_ok());
    let history = service.accounts.login_history(ada, 10, 0).await.expect("the store answers");
    let statuses: Vec<TryStatus> = history.entries.iter().map(|entry| entry.status).collect();
    assert_eq!(statuses, [Success, Failed]);
}

/// Checks that a right password leads to a code, and the code to the key, once.
pub async fn a_second_factor_is_asked_for_and_its_code_serves_once<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let signed_in = service.account_with_mfa("ada", "ada@example.com").await;
    assert_eq!(service.login_code("ada@example.com", "wrong").await, "wrong_credentials");
    assert!(service.messages().await.is_empty(), "no code without the right password");
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "mfa_required");
    let right = service.code("ada@example.com").await;
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "mfa_required");
    assert!(service.messages().await.is_empty(), "the cooldown holds for these e-mails too");

    let wrong = another(&right);
    assert_eq!(fault(service.complete("ada@example.com", &wrong, None).await), "wrong_code");
    let results = all((0..4).map(|_| service.complete("ada@example.com", &right, None))).await;
    let successes: Vec<SignedIn> = results.into_iter().filter_map(Result::ok).collect();
    let [success] = &successes[..] else { panic!("{} successes", successes.len()) };
    assert_eq!(success.api_key.expose(), signed_in.api_key.expose());
    let live =
        service.accounts.session(&success.session_token, success.account, service.now()).await;
    assert!(live.expect("the store answers"));
}

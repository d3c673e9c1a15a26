//! Checks of sign-in by an identity provider, of incomplete profiles, and of hand-offs.

use chrono::TimeDelta;

use super::test_service::{PASSWORD, TestService, client, email, fault, username};
use crate::Result;
use crate::accounts::SignedIn;
use crate::accounts::external_sign_in::{Completed, IdpLogin, NewProfile, OidcOutcome};
use crate::hand_off::{Destination, LoopbackUrl, SealedForm};
use crate::id_token::ProvenIdentity;
use crate::identity::Contact;
use crate::notification::Notice;
use crate::password::Password;
use crate::store::LoginMethod;
use crate::store::Store;
use crate::testing::all;
use crate::tier::Tier;
use crate::token::{BrowserToken, CompletionToken, HandOffCode, StateToken};

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! external_sign_in_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, external_sign_in;
            a_way_to_the_provider_is_one_browsers_and_serves_once,
            parallel_returns_with_one_state_are_one,
            a_newcomer_completes_a_profile_and_is_known_by_the_subject,
            an_address_that_the_provider_did_not_confirm_opens_nothing,
            an_equal_address_links_only_where_both_sides_confirmed_it,
            an_address_taken_meanwhile_is_told_and_uses_nothing_up,
            a_name_is_chosen_or_made_up,
            a_profile_is_completed_once_and_in_time,
            an_account_of_a_provider_has_no_password_and_ends_by_its_address,
            a_suspended_account_is_refused_everywhere,
            a_hand_off_serves_once_and_within_a_minute,
            a_browser_comes_back_with_a_code_or_to_a_profile,
            sixty_four_parallel_redeems_are_one,
            unfinished_sign_ins_are_cleaned_up,
        );
    };
}

impl<S: Store + Clone> TestService<S> {
    async fn by_idp(&self, identity: &ProvenIdentity) -> Result<IdpLogin> {
        self.accounts.idp_login(identity, &client(), self.now()).await
    }

    /// Signs in an identity that has an account.
    async fn known_by_idp(&self, identity: &ProvenIdentity) -> SignedIn {
        match self.by_idp(identity).await {
            Ok(IdpLogin::SignedIn(signed_in)) => signed_in,
            Ok(IdpLogin::Completion(_)) => panic!("a newcomer"),
            Err(error) => panic!("{error}"),
        }
    }

    /// Signs in an identity without an account, and returns the token of its profile.
    async fn newcomer(&self, identity: &ProvenIdentity) -> CompletionToken {
        match self.by_idp(identity).await {
            Ok(IdpLogin::Completion(token)) => token,
            Ok(IdpLogin::SignedIn(_)) => panic!("no newcomer"),
            Err(error) => panic!("{error}"),
        }
    }

    async fn complete_profile(
        &self,
        token: &CompletionToken,
        name: Option<&str>,
    ) -> Result<Completed> {
        let contact = Contact::parse(Some("+39 1"), Some("Italy"), None).expect("a contact");
        let profile = NewProfile { username: name.map(username), contact };
        self.accounts.complete_profile(token, &profile, &client(), self.now()).await
    }

    pub(super) async fn hand_off(&self, who: &SignedIn) -> HandOffCode {
        let caller = self.caller(&who.api_key).await.expect("an active key");
        self.accounts.hand_off(&caller, self.now()).await.expect("the store answers")
    }

    pub(super) async fn redeem(&self, code: &HandOffCode) -> Result<SignedIn> {
        self.accounts.redeem_hand_off(code, &client(), self.now()).await
    }
}

fn identity(subject: &str, address: Option<&str>) -> ProvenIdentity {
    ProvenIdentity {
        issuer: "https://id.example".to_owned(),
        subject: subject.to_owned(),
        email: address.map(email),
        name: None,
    }
}

/// Checks that a state is valid with its own browser, once, within ten minutes.
pub async fn a_way_to_the_provider_is_one_browsers_and_serves_once<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let desktop = LoopbackUrl::parse("http://127.0.0.1:8123/cb?a=1").expect("the loopback");
    let desktop = Destination::Program(desktop);
    let started = service.accounts.start_idp(desktop.clone(), service.now()).await.expect("ok");
    let other = service.accounts.start_idp(Destination::Login, service.now()).await.expect("ok");
    let finish = async |state: &StateToken, browser: &BrowserToken| {
        service.accounts.finish_idp(state, browser).await
    };
    for (state, browser) in [(&started.state, &other.browser), (&other.state, &started.browser)] {
        assert_eq!(fault(finish(state, browser).await), "wrong_code", "another browser's state");
    }
    let returned = finish(&started.state, &started.browser).await.expect("the same browser");
    assert_eq!((&returned.nonce, &returned.destination), (&started.nonce, &desktop));
    assert_eq!(returned.pkce_verifier, started.pkce_verifier);
    assert_ne!(started.nonce, other.nonce);
    assert!(![&started.nonce, started.state.expose()].contains(&started.pkce_verifier.as_str()));
    assert_eq!(fault(finish(&started.state, &started.browser).await), "wrong_code", "used");
    service.clock.advance(TimeDelta::minutes(10));
    assert_eq!(fault(finish(&other.state, &other.browser).await), "wrong_code", "too late");
}

/// Checks that one of several simultaneous uses of a state succeeds.
pub async fn parallel_returns_with_one_state_are_one<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let started = service.accounts.start_idp(Destination::Login, service.now()).await.expect("ok");
    let returns = (0..32).map(|_| service.accounts.finish_idp(&started.state, &started.browser));
    let returned = all(returns).await;
    assert_eq!(returned.iter().filter(|returned| returned.is_ok()).count(), 1);
}

/// Checks that a profile is completed once, and that the identity is known by issuer and subject
/// from then on, even if its e-mail address changes.
pub async fn a_newcomer_completes_a_profile_and_is_known_by_the_subject<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let token = service.newcomer(&identity("1", Some("ada@example.com"))).await;
    let completed = service.complete_profile(&token, Some("ada")).await.expect("a free name");
    let ada = completed.signed_in;
    assert!(service.is_live(&ada).await && service.caller(&ada.api_key).await.is_some());
    let profile = service.accounts.profile(ada.account).await.expect("there");
    assert_eq!((profile.credit_balance, profile.tier), (350, Tier::Free));
    assert_eq!(profile.contact.country.as_deref(), Some("Italy"));
    assert!(profile.is_verified && profile.email == email("ada@example.com"));
    let inbox = service.accounts.notifications(ada.account, false, 10, 0).await.expect("ok");
    assert_eq!(inbox.entries[0].title, Notice::Welcome.title());
    assert_eq!(fault(service.complete_profile(&token, Some("eve")).await), "wrong_code", "used");

    let moved = service.known_by_idp(&identity("1", Some("ada@elsewhere.example"))).await;
    assert_eq!(moved.account, ada.account, "another address, the same person");
    assert_eq!(moved.api_key.expose(), ada.api_key.expose());
    assert_ne!(moved.session_token.expose(), ada.session_token.expose(), "a session of its own");
    let without = service.known_by_idp(&identity("1", None)).await;
    assert_eq!(without.account, ada.account);
    let other_issuer = ProvenIdentity {
        issuer: "https://other.example".to_owned(),
        ..identity("1", Some("eve@example.com"))
    };
    service.newcomer(&other_issuer).await;
    let tries = service.accounts.login_history(ada.account, 10, 0).await.expect("ok");
    assert!(tries.entries.iter().all(|entry| entry.method == LoginMethod::Idp));
    assert_eq!(tries.successful, 3);
    service.assert_ledger_holds().await;
}

/// Checks that an unconfirmed address neither creates nor links an account.
pub async fn an_address_that_the_provider_did_not_confirm_opens_nothing<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    service.account("ada", "ada@example.com").await;
    assert_eq!(fault(service.by_idp(&identity("9", None)).await), "unconfirmed_identity");
}

/// Checks that an address is linked where both sides confirmed the address, and that the owner is
/// informed. An unconfirmed form of a third party is discarded, and its password gives no access.
pub async fn an_equal_address_links_only_where_both_sides_confirmed_it<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let linked = service.known_by_idp(&identity("1", Some("ada@example.com"))).await;
    assert_eq!(linked.account, ada.account);
    let inbox = service.accounts.notifications(ada.account, false, 10, 0).await.expect("ok");
    assert_eq!(inbox.entries[0].title, Notice::ProviderLinked.title());
    service.known_by_idp(&identity("1", Some("ada@example.com"))).await;
    let inbox = service.accounts.notifications(ada.account, false, 10, 0).await.expect("ok");
    assert_eq!(inbox.total, 2, "told once");
    assert_eq!(service.login_code("ada@example.com", PASSWORD).await, "signed_in", "both ways");

    service.register("squatter", "bob@example.com", "a stranger's one").await.expect("a free name");
    let strangers = service.code("bob@example.com").await;
    let token = service.newcomer(&identity("2", Some("bob@example.com"))).await;
    let bob = service.complete_profile(&token, Some("squatter")).await.expect("his address");
    assert_eq!(
        service.login_code("bob@example.com", "a stranger's one").await,
        "wrong_credentials"
    );
    assert_eq!(fault(service.verify("bob@example.com", &strangers).await), "wrong_code");
    let again = service.known_by_idp(&identity("2", Some("bob@example.com"))).await;
    assert_eq!(again.account, bob.signed_in.account);
}

/// Checks an address that is verified by a form while the profile is being completed.
pub async fn an_address_taken_meanwhile_is_told_and_uses_nothing_up<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let token = service.newcomer(&identity("1", Some("ada@example.com"))).await;
    let second = service.newcomer(&identity("1", Some("ada@example.com"))).await;
    service.account("ada", "ada@example.com").await;
    assert_eq!(fault(service.complete_profile(&token, Some("eve")).await), "email_taken");
    service.known_by_idp(&identity("1", Some("ada@example.com"))).await;
    assert_eq!(fault(service.complete_profile(&token, Some("eve")).await), "wrong_code");
    assert_eq!(fault(service.complete_profile(&second, Some("eve")).await), "wrong_code");
}

/// Checks that a taken name may be corrected, and that a missing name is derived from the address.
pub async fn a_name_is_chosen_or_made_up<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.account("ada", "first@example.com").await;
    let token = service.newcomer(&identity("1", Some("ada@example.com"))).await;
    assert_eq!(fault(service.complete_profile(&token, Some("ADA")).await), "username_taken");
    let made_up = service.complete_profile(&token, None).await.expect("a name like hers");
    let profile = service.accounts.profile(made_up.signed_in.account).await.expect("there");
    assert!(profile.username.as_str().starts_with("ada-"), "{}", profile.username.as_str());
    for (subject, address) in [("2", "x@example.com"), ("3", "+@example.com"), ("4", "_a@b.cd")] {
        let token = service.newcomer(&identity(subject, Some(address))).await;
        service.complete_profile(&token, None).await.expect(address);
    }
}

/// Checks that the token of a profile is valid for fifteen minutes, and that one of several
/// simultaneous uses creates the account.
pub async fn a_profile_is_completed_once_and_in_time<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let late = service.newcomer(&identity("1", Some("ada@example.com"))).await;
    service.clock.advance(TimeDelta::minutes(15));
    assert_eq!(fault(service.complete_profile(&late, None).await), "wrong_code");
    let token = service.newcomer(&identity("1", Some("ada@example.com"))).await;
    service.clock.advance(TimeDelta::minutes(15) - TimeDelta::microseconds(1));
    let names: Vec<String> = (0..32).map(|number| format!("ada{number}")).collect();
    let uses = names.iter().map(|name| service.complete_profile(&token, Some(name)));
    let completed = all(uses).await;
    assert_eq!(completed.iter().filter(|completed| completed.is_ok()).count(), 1);
    service.assert_ledger_holds().await;
}

/// Checks that an account without a password refuses every password, and is deleted by its address.
pub async fn an_account_of_a_provider_has_no_password_and_ends_by_its_address<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let token = service.newcomer(&identity("1", Some("ada@example.com"))).await;
    let ada = service.complete_profile(&token, None).await.expect("ok").signed_in;
    for password in ["", PASSWORD] {
        assert_eq!(service.login_code("ada@example.com", password).await, "wrong_credentials");
    }
    let by_email = crate::Confirmation::Email(email("ada@example.com"));
    service.accounts.delete_account(ada.account, &by_email, service.now()).await.expect("hers");
    assert!(!service.is_live(&ada).await && service.caller(&ada.api_key).await.is_none());
    service.newcomer(&identity("1", Some("ada@example.com"))).await;
}

/// Checks that a suspended account is refused by every method, and that the attempt is in the login
/// history.
pub async fn a_suspended_account_is_refused_everywhere<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    service.known_by_idp(&identity("1", Some("ada@example.com"))).await;
    let code = service.hand_off(&ada).await;
    service.accounts.suspend(&email("ada@example.com")).await.expect("there");
    assert_eq!(fault(service.by_idp(&identity("1", None)).await), "suspended");
    assert_eq!(fault(service.redeem(&code).await), "wrong_code", "ended by the suspension");
    service.accounts.activate(&email("ada@example.com")).await.expect("there");
    assert_eq!(fault(service.redeem(&code).await), "wrong_code", "for good");
    service.known_by_idp(&identity("1", None)).await;
}

/// Checks that a code signs in once, within a minute, in a session of its own, and not after a
/// password reset.
pub async fn a_hand_off_serves_once_and_within_a_minute<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let mint = || service.hand_off(&ada);
    let code = mint().await;
    let redeemed = service.redeem(&code).await.expect("fresh");
    assert_eq!(redeemed.account, ada.account);
    assert_eq!(redeemed.api_key.expose(), ada.api_key.expose());
    assert_ne!(redeemed.session_token.expose(), ada.session_token.expose());
    assert!(service.is_live(&redeemed).await);
    assert_eq!(fault(service.redeem(&code).await), "wrong_code");
    let tries = service.accounts.login_history(ada.account, 1, 0).await.expect("ok");
    assert_eq!(tries.entries[0].method, LoginMethod::Desktop);

    let (late, last) = (mint().await, mint().await);
    service.clock.advance(TimeDelta::seconds(60) - TimeDelta::microseconds(1));
    service.redeem(&last).await.expect("just in time");
    service.clock.advance(TimeDelta::microseconds(1));
    assert_eq!(fault(service.redeem(&late).await), "wrong_code");

    let before_reset = mint().await;
    service.accounts.forgot_password(&email("ada@example.com"), service.now()).await.expect("ok");
    let reset = service.code("ada@example.com").await;
    let (address, new) = (email("ada@example.com"), Password::attempt("another one of hers"));
    let done =
        service.accounts.reset_password(&address, &reset, &new, &client(), service.now()).await;
    done.expect("the code");
    assert_eq!(fault(service.redeem(&before_reset).await), "wrong_code", "ended by the reset");
}

/// Checks that a browser's sign-in results in a code, recorded as the provider's for a page and as
/// a desktop program's for a program. For a new identity, the destination is kept until its profile
/// is complete.
pub async fn a_browser_comes_back_with_a_code_or_to_a_profile<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let program = LoopbackUrl::parse("http://127.0.0.1:8123/cb").expect("the loopback");
    let page = SealedForm::parse("AAAA-_").expect("base64url");
    for (number, place, method) in [
        ("1", Destination::Login, LoginMethod::Idp),
        ("2", Destination::Page(page), LoginMethod::Idp),
        ("3", Destination::Program(program), LoginMethod::Desktop),
    ] {
        let person = identity(number, Some(&format!("ada{number}@example.com")));
        let outcome = service.accounts.sign_in_by_oidc(&person, place.clone(), service.now()).await;
        let Ok(OidcOutcome::Completion(token)) = outcome else { panic!("no newcomer") };
        let completed = service.complete_profile(&token, None).await.expect("ok");
        assert_eq!(completed.destination, place);
        let outcome = service.accounts.sign_in_by_oidc(&person, place.clone(), service.now()).await;
        let Ok(OidcOutcome::HandOff(code)) = outcome else { panic!("a newcomer") };
        service.redeem(&code).await.expect("fresh");
        let account = completed.signed_in.account;
        let tries = service.accounts.login_history(account, 1, 0).await.expect("ok");
        assert_eq!(tries.entries[0].method, method);
    }
    service.accounts.suspend(&email("ada1@example.com")).await.expect("there");
    let ada = identity("1", Some("ada1@example.com"));
    let refused = service.accounts.sign_in_by_oidc(&ada, Destination::Login, service.now()).await;
    assert_eq!(fault(refused), "suspended");
}

/// Checks that one of sixty-four simultaneous redemptions succeeds.
pub async fn sixty_four_parallel_redeems_are_one<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let code = service.hand_off(&ada).await;
    let redeemed = all((0..64).map(|_| service.redeem(&code))).await;
    assert_eq!(redeemed.iter().filter(|redeemed| redeemed.is_ok()).count(), 1);
}

/// Checks that unfinished sign-ins are removed after fifteen minutes.
pub async fn unfinished_sign_ins_are_cleaned_up<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    service.accounts.start_idp(Destination::Login, service.now()).await.expect("ok");
    service.newcomer(&identity("1", Some("new@example.com"))).await;
    service.hand_off(&ada).await;
    service.clock.advance(TimeDelta::minutes(15) - TimeDelta::microseconds(1));
    assert_eq!(service.accounts.clean_up(service.now(), 10, None).await.expect("ok").sign_ins, 0);
    service.clock.advance(TimeDelta::microseconds(1));
    assert!(service.accounts.clean_up(service.now(), 10, None).await.expect("ok").sign_ins > 0);
    assert_eq!(service.accounts.clean_up(service.now(), 10, None).await.expect("ok").sign_ins, 0);
}

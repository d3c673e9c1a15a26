//! The end of credentials after a change of an account's security, cell by cell of the table.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use super::recovery::NEW;
use super::test_service::{PASSWORD, TestService, client, email, fault};
use crate::accounts::{Accounts, Confirmation, SignedIn};
use crate::code::{Code, EmailChangeCodes, MfaToken, Purpose};
use crate::oauth::{AuthorizationCode, RegisteredClient, Tokens};
use crate::outbox::{Content, OutboundMessage};
use crate::password::{Busy, Password, PasswordHash, PasswordHasher, Verification};
use crate::revocation::{Credential, SecurityEvent};
use crate::session::SessionToken;
use crate::store::Store;
use crate::testing::{CheapHasher, seeded_rng};
use crate::token::HandOffCode;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! revocation_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, revocation;
            each_event_ends_what_the_table_says_and_nothing_else,
            a_replaced_or_suspended_key_mints_no_hand_off,
            a_login_that_was_under_way_begins_nothing_after_the_event,
        );
    };
}

/// One credential of each kind.
struct CredentialHolder {
    address: String,
    who: SignedIn,
    /// A second sign-in, whose session may be spared.
    spared: SignedIn,
    hand_off: HandOffCode,
    client: RegisteredClient,
    code: AuthorizationCode,
    tokens: Tokens,
    mfa: Option<(Code, MfaToken)>,
    reset: Code,
    email_change: EmailChangeCodes,
}

impl CredentialHolder {
    /// The address of the pending change.
    fn next_address(&self) -> String {
        self.address.replace("@example.com", "@example.org")
    }
}

impl<S: Store + Clone> TestService<S> {
    async fn holder(
        &self,
        name: &str,
        client: &RegisteredClient,
        has_mfa: bool,
    ) -> CredentialHolder {
        let address = format!("{name}@example.com");
        let who = if has_mfa {
            self.account_with_mfa(name, &address).await
        } else {
            self.account(name, &address).await
        };
        let spared = self.redeem(&self.hand_off(&who).await).await.expect("a fresh code");
        let tokens = self.connected(&who, client).await;
        let code = self.consent(&who, client).await.expect("a live session");
        let reset = self.reset_code(&address).await;
        let next = address.replace("@example.com", "@example.org");
        self.ask_for(who.account, &next, PASSWORD).await.expect("the right password");
        let email_change = self.email_change_codes().await;
        let mfa = if has_mfa {
            let token = self.half_login(&address).await;
            Some((self.code(&address).await, token))
        } else {
            None
        };
        let hand_off = self.hand_off(&who).await;
        let client = client.clone();
        CredentialHolder {
            address,
            who,
            spared,
            hand_off,
            client,
            code,
            tokens,
            mfa,
            reset,
            email_change,
        }
    }

    /// Returns the codes of the change of address that was just requested.
    async fn email_change_codes(&self) -> EmailChangeCodes {
        let (mut new, mut present) = (None, None);
        for message in self.messages().await {
            match message.content {
                Content::EmailChange { code } => new = Some(code),
                Content::EmailChangeRequested { code, .. } => present = code,
                _ => {}
            }
        }
        EmailChangeCodes { new: new.expect("an e-mail to the new address"), present }
    }

    async fn happen(&self, event: SecurityEvent, held: &CredentialHolder, is_on: bool) {
        let (account, now) = (held.who.account, self.now());
        match event {
            SecurityEvent::KeyRegenerated => {
                let caller = self.caller(&held.who.api_key).await.expect("an active key");
                self.accounts.regenerate(&caller, now).await.expect("an active key");
            }
            SecurityEvent::PasswordReset => {
                self.reset(&held.address, &held.reset).await.expect("the right code");
            }
            SecurityEvent::MfaChanged if is_on => {
                self.disable(account, PASSWORD).await.expect("the right password");
            }
            SecurityEvent::MfaChanged => {
                self.accounts.enable_mfa(account, now).await.expect("the account is there");
            }
            SecurityEvent::Suspended => {
                self.accounts.suspend(&email(&held.address)).await.expect("the account is there");
            }
            SecurityEvent::Deleted => {
                let confirmation = Confirmation::Password(Password::attempt(PASSWORD));
                let deleted = self.accounts.delete_account(account, &confirmation, now).await;
                deleted.expect("the right password");
            }
            SecurityEvent::PasswordChanged => {
                self.change(account, PASSWORD, NEW).await.expect("the right password");
            }
            SecurityEvent::EmailChanged => {
                self.confirm_change(held, Some(&held.spared.session_token)).await;
            }
            SecurityEvent::EmailRestored => {
                self.confirm_change(held, None).await;
                let undo = self.messages().await.into_iter().find_map(|sent| match sent.content {
                    Content::EmailChanged { undo, .. } => Some(undo),
                    _ => None,
                });
                self.undo(&undo.expect("an e-mail with it")).await.expect("in time");
            }
            SecurityEvent::SignedOutEverywhere => {
                let spared = Some(&held.spared.session_token);
                self.accounts.end_sessions(account, spared).await.expect("the store answers");
            }
        }
    }

    /// Confirms the pending change of address; the session `kept` stays.
    async fn confirm_change(&self, held: &CredentialHolder, kept: Option<&SessionToken>) {
        let (account, now) = (held.who.account, self.now());
        let (to, codes) = (email(&held.next_address()), &held.email_change);
        let changed =
            self.accounts.confirm_email_change(account, &to, codes, kept, &client(), now).await;
        changed.expect("the right codes");
    }

    /// The kinds of which the credential no longer serves. Those that stay are used up.
    async fn ended(&self, event: SecurityEvent, held: &CredentialHolder) -> Vec<Credential> {
        let mut ended = Vec::new();
        let mut note = |credential, has_ended: bool| ended.extend(has_ended.then_some(credential));
        note(Credential::ApiKey, self.caller(&held.who.api_key).await.is_none());
        note(Credential::Session, !self.is_live(&held.who).await);
        if event == SecurityEvent::Suspended {
            self.accounts.activate(&email(&held.address)).await.expect("the account is there");
        }
        let opens = self.opens(&held.tokens.access).await;
        let refreshed = self.refresh(&held.client, &held.tokens.refresh).await.is_ok();
        assert_eq!(opens, refreshed, "{event:?}: both tokens of a grant, or none");
        note(Credential::Grant, !opens);
        let exchanged = self.exchange(&held.client, &held.code).await;
        note(Credential::AuthorizationCode, exchanged.is_err());
        note(Credential::HandOffCode, self.redeem(&held.hand_off).await.is_err());
        if let Some((code, token)) = &held.mfa {
            let completed = self.complete(&held.address, code, Some(token)).await;
            note(Credential::Code(Purpose::Mfa), completed.is_err());
        }
        let (account, to, now) = (held.who.account, email(&held.next_address()), self.now());
        let codes = &held.email_change;
        let changed =
            self.accounts.confirm_email_change(account, &to, codes, None, &client(), now).await;
        note(Credential::Code(Purpose::EmailChange), changed.is_err());
        let reset = self.reset(&held.address, &held.reset).await;
        note(Credential::Code(Purpose::Reset), reset.is_err());
        ended
    }
}

/// Each event on an account of its own that holds one credential of each kind; the second factor
/// once on and once off.
pub async fn each_event_ends_what_the_table_says_and_nothing_else<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let client = service.oauth_client().await;
    let tested = |has_mfa| {
        move |credential: &Credential| match credential {
            // These belong to an address without an account.
            Credential::Code(
                Purpose::Registration | Purpose::Lock | Purpose::EmailChangeNotice,
            ) => false,
            Credential::Code(Purpose::Mfa) => has_mfa,
            _ => true,
        }
    };
    let bob = service.holder("bob", &client, true).await;
    for (number, event) in SecurityEvent::ALL.into_iter().enumerate() {
        for has_mfa in [true, false] {
            let name = format!("ada{number}{has_mfa}");
            let held = service.holder(&name, &client, has_mfa).await;
            service.happen(event, &held, has_mfa).await;

            let is_spared = !event.ends(Credential::Session) || event.may_spare_a_session();
            assert_eq!(service.is_live(&held.spared).await, is_spared, "{event:?}");
            let expected = Credential::ALL.into_iter().filter(tested(has_mfa));
            let expected: Vec<_> = expected.filter(|one| event.ends(*one)).collect();
            let ended = service.ended(event, &held).await;
            for credential in Credential::ALL {
                let (ends, expected) =
                    (ended.contains(&credential), expected.contains(&credential));
                assert_eq!(ends, expected, "{event:?} {credential:?}, second factor: {has_mfa}");
            }
        }
    }
    assert!(service.is_live(&bob.who).await, "another account's go on");
    assert!(service.opens(&bob.tokens.access).await, "another account's go on");
    assert!(service.redeem(&bob.hand_off).await.is_ok(), "another account's go on");
}

/// An instance believes a remembered key for up to a second; that is no way to the new key.
pub async fn a_replaced_or_suspended_key_mints_no_hand_off<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let caller = service.caller(&ada.api_key).await.expect("an active key");
    let new = service.accounts.regenerate(&caller, service.now()).await.expect("an active key");
    assert_eq!(fault(service.accounts.hand_off(&caller, service.now()).await), "unauthorised");
    let caller = service.caller(&new).await.expect("an active key");
    service.accounts.suspend(&email("ada@example.com")).await.expect("the account is there");
    assert_eq!(fault(service.accounts.hand_off(&caller, service.now()).await), "unauthorised");
}

type BoxedEvent = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A hasher that lets something happen between the look at an account and the verdict on its
/// password.
#[derive(Clone, Default)]
struct InterruptedHasher {
    hasher: CheapHasher,
    event: Arc<Mutex<Option<BoxedEvent>>>,
}

impl PasswordHasher for InterruptedHasher {
    type Permit = ();

    async fn admit(&self) -> Result<(), Busy> {
        self.hasher.admit().await
    }

    async fn hash(&self, permit: (), password: &Password) -> PasswordHash {
        self.hasher.hash(permit, password).await
    }

    async fn verify(
        &self,
        permit: (),
        password: &Password,
        hash: Option<&PasswordHash>,
    ) -> Verification {
        let event = self.event.lock().expect("no panic").take();
        if let Some(event) = event {
            event.await;
        }
        self.hasher.verify(permit, password, hash).await
    }
}

/// Neither a session nor a code of a second factor: what the event ended would live on in them.
pub async fn a_login_that_was_under_way_begins_nothing_after_the_event<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let oauth = service.oauth_client().await;
    let hasher = InterruptedHasher::default();
    let (store, vault) = (service.accounts.store().clone(), Arc::clone(&service.outbox.vault));
    let interrupted = Accounts::new(store, hasher.clone(), vault, seeded_rng(77));
    let events = [
        SecurityEvent::KeyRegenerated,
        SecurityEvent::PasswordReset,
        SecurityEvent::MfaChanged,
        SecurityEvent::Suspended,
        SecurityEvent::Deleted,
    ];
    let service = Arc::new(service);
    for (number, event) in events.into_iter().enumerate() {
        for has_mfa in [false, true] {
            let held = service.holder(&format!("ada{number}{has_mfa}"), &oauth, has_mfa).await;
            let (address, account) = (email(&held.address), held.who.account);
            let before = service.accounts.login_history(account, 1, 0).await.expect("ok");
            // The outbox is empty, and the cooldown of a code is over.
            service.messages().await;
            service.wait(60);
            let during = Arc::clone(&service);
            let happens = async move { during.happen(event, &held, has_mfa).await };
            *hasher.event.lock().expect("no panic") = Some(Box::pin(happens));

            let password = Password::attempt(PASSWORD);
            let login = interrupted.login(&address, &password, &client(), service.now()).await;

            assert_eq!(fault(login), "wrong_credentials", "{event:?}");
            assert!(hasher.event.lock().expect("no panic").is_none(), "it happened");
            let after = service.accounts.login_history(account, 1, 0).await.expect("ok");
            let expected = if event == SecurityEvent::Deleted { 0 } else { before.successful };
            assert_eq!(after.successful, expected, "{event:?}");
            let is_code = |sent: &OutboundMessage| matches!(sent.content, Content::Mfa { .. });
            assert!(!service.messages().await.iter().any(is_code), "{event:?}");
        }
    }
}

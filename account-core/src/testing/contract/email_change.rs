//! Checks of changes of an account's e-mail address.

use chrono::TimeDelta;

use super::recovery::NEW as NEXT;
use super::test_service::{PASSWORD, TestService, another, client, code, email, fault, stranger};
use crate::Result;
use crate::accounts::SignedIn;
use crate::accounts::email_change::UNDO_VALIDITY;
use crate::code::{Code, EmailChangeCodes};
use crate::identity::AccountId;
use crate::outbox::{Content, OutboundMessage};
use crate::password::Password;
use crate::session::SessionToken;
use crate::store::Store;
use crate::testing::all;
use crate::token::EmailUndoToken;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! email_change_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, email_change;
            an_address_changes_by_the_password_and_the_code_of_the_new_mailbox,
            a_code_for_another_address_is_as_short_lived_as_any,
            an_address_that_is_taken_is_told_to_nobody,
            with_a_second_factor_both_mailboxes_confirm_another_address,
            of_many_changes_to_one_address_one_is_made,
            codes_at_the_former_address_end_with_a_change,
            a_new_password_or_a_sign_out_everywhere_cancels_a_change,
            the_former_address_takes_the_account_back,
            the_token_of_an_earlier_change_outlives_the_undoing_of_a_later_one,
            a_change_is_undone_once_and_within_three_days,
            a_suspended_account_stays_suspended_after_an_undone_change,
        );
    };
}

const ADA: &str = "ada@example.com";
const NEW: &str = "ada@example.org";

/// The codes of a change without a second factor.
fn only(new: &Code) -> EmailChangeCodes {
    EmailChangeCodes { new: new.clone(), present: None }
}

impl<S: Store + Clone> TestService<S> {
    /// Requests another address, with this password.
    pub(super) async fn ask_for(&self, account: AccountId, to: &str, password: &str) -> Result<()> {
        let (password, to) = (Password::attempt(password), email(to));
        self.accounts.request_email_change(account, &password, &to, self.now()).await
    }

    /// Confirms another address with one code.
    pub(super) async fn confirm(&self, account: AccountId, to: &str, code: &Code) -> Result<()> {
        self.confirm_with(account, to, &only(code), None).await
    }

    async fn confirm_with(
        &self,
        account: AccountId,
        to: &str,
        codes: &EmailChangeCodes,
        kept: Option<&SessionToken>,
    ) -> Result<()> {
        let (to, now) = (email(to), self.now());
        self.accounts.confirm_email_change(account, &to, codes, kept, &client(), now).await
    }

    /// Requests another address and returns the code from the e-mail to that address.
    async fn code_for(&self, account: AccountId, to: &str) -> Code {
        self.ask_for(account, to, PASSWORD).await.expect("the right password");
        self.code(to).await
    }

    /// Moves an account to another address and returns the token from the e-mail to the former one.
    pub(super) async fn moved(&self, account: AccountId, to: &str) -> EmailUndoToken {
        let code = self.code_for(account, to).await;
        self.confirm(account, to, &code).await.expect("the right code");
        let changed = self.messages().await.into_iter().find_map(|message| match message.content {
            Content::EmailChanged { undo, .. } => Some(undo),
            _ => None,
        });
        changed.expect("a message to the former address")
    }

    pub(super) async fn undo(&self, token: &EmailUndoToken) -> Result<()> {
        self.accounts.undo_email_change(token, self.now()).await
    }

    async fn address_of(&self, account: AccountId) -> String {
        let profile = self.accounts.profile(account).await.expect("the account is there");
        profile.email.as_str().to_owned()
    }

    /// Resets the password by a code to this address, and signs in.
    async fn recovered(&self, address: &str) -> SignedIn {
        let right = self.reset_code(address).await;
        self.reset(address, &right).await.expect("the right code");
        self.signed_in(&client(), address, NEXT).await
    }
}

/// Checks that nothing changes before both proofs, and that other sessions end afterwards.
pub async fn an_address_changes_by_the_password_and_the_code_of_the_new_mailbox<
    S: Store + Clone,
>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", ADA).await;
    let bob = service.account("bob", "bob@example.com").await;
    assert_eq!(fault(service.ask_for(ada.account, NEW, "wrong").await), "wrong_confirmation");
    assert_eq!(fault(service.ask_for(ada.account, ADA, PASSWORD).await), "email_unchanged");
    assert!(service.messages().await.is_empty());

    service.ask_for(ada.account, NEW, PASSWORD).await.expect("the right password");
    let messages = service.messages().await;
    let [
        OutboundMessage { to: first, content: Content::EmailChange { code: right } },
        OutboundMessage { to: second, content: Content::EmailChangeRequested { to, code: None } },
    ] = &messages[..]
    else {
        panic!("{} messages", messages.len());
    };
    assert_eq!([first, second, to], [&email(NEW), &email(ADA), &email(NEW)]);
    let other = service.confirm(ada.account, "eve@example.org", right).await;
    assert_eq!(fault(other), "wrong_code", "another address");
    assert_eq!(fault(service.confirm(bob.account, NEW, right).await), "wrong_code", "bob's");
    assert_eq!(fault(service.confirm(ada.account, NEW, &another(right)).await), "wrong_code");
    assert_eq!(service.address_of(ada.account).await, ADA);
    let other = service.signed_in(&stranger(), ADA, PASSWORD).await;
    assert_eq!(service.login_code(NEW, PASSWORD).await, "wrong_credentials");

    let kept = Some(&ada.session_token);
    let changed = service.confirm_with(ada.account, NEW, &only(right), kept).await;
    changed.expect("the right code");
    assert_eq!(service.address_of(ada.account).await, NEW);
    assert_eq!(service.login_code(ADA, PASSWORD).await, "wrong_credentials");
    let signed_in = service.signed_in(&client(), NEW, PASSWORD).await;
    assert_eq!(signed_in.api_key.expose(), ada.api_key.expose());
    assert!(service.is_live(&ada).await && !service.is_live(&other).await);
    assert!(matches!(
        &service.messages().await[..],
        [OutboundMessage { to, content: Content::EmailChanged { to: new, .. } }]
            if *to == email(ADA) && *new == email(NEW)
    ));
    assert_eq!(fault(service.confirm(ada.account, NEW, right).await), "wrong_code", "used");
    let inbox = service.accounts.notifications(ada.account, false, 10, 0).await.expect("ok");
    assert!(inbox.entries.iter().any(|notice| notice.title == "E-mail address changed"));
    service.wait(60);
    service.account("newcomer", ADA).await;
}

/// Checks the lifetime, the attempts, the replacement and the quota of a code.
pub async fn a_code_for_another_address_is_as_short_lived_as_any<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", ADA).await.account;
    let first = service.code_for(ada, NEW).await;
    service.ask_for(ada, NEW, PASSWORD).await.expect("the same answer");
    service.ask_for(ada, "other@example.org", PASSWORD).await.expect("the same answer");
    assert!(service.messages().await.is_empty(), "within a minute, whatever the address");
    service.wait(60);
    let second = service.code_for(ada, NEW).await;
    if first.expose() != second.expose() {
        assert_eq!(fault(service.confirm(ada, NEW, &first).await), "wrong_code", "replaced");
    } else {
        assert_eq!(fault(service.confirm(ada, NEW, &another(&first)).await), "wrong_code");
    }
    for _ in 0..4 {
        assert_eq!(fault(service.confirm(ada, NEW, &another(&second)).await), "wrong_code");
    }
    assert_eq!(fault(service.confirm(ada, NEW, &second).await), "wrong_code", "the sixth try");
    service.wait(60);
    let third = service.code_for(ada, NEW).await;
    service.wait(600);
    assert_eq!(fault(service.confirm(ada, NEW, &third).await), "wrong_code", "ten minutes old");
    let mut messages = 0;
    for _ in 0..20 {
        service.wait(60);
        service.ask_for(ada, NEW, PASSWORD).await.expect("the same answer");
        messages += service.messages().await.len();
    }
    assert_eq!(messages, 2 * (10 - 3), "ten a day to each of both addresses");
}

/// Checks that a taken address gets no e-mail, and that the requesting account learns nothing.
pub async fn an_address_that_is_taken_is_told_to_nobody<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", ADA).await.account;
    service.account("bob", "bob@example.com").await;
    service.ask_for(ada, "bob@example.com", PASSWORD).await.expect("the same answer");
    let messages = service.messages().await;
    assert!(matches!(
        &messages[..],
        [OutboundMessage { to, content: Content::EmailChangeRequested { .. } }] if *to == email(ADA)
    ));
    for guess in 0..5 {
        let guess = code(&format!("{guess:06}"));
        assert_eq!(fault(service.confirm(ada, "bob@example.com", &guess).await), "wrong_code");
    }

    service.wait(60);
    let right = service.code_for(ada, NEW).await;
    service.register("carl", NEW, PASSWORD).await.expect("a free name");
    let form = service.code(NEW).await;
    service.confirm(ada, NEW, &right).await.expect("a form holds no address");
    assert_eq!(fault(service.verify(NEW, &form).await), "wrong_code");

    service.wait(60);
    let late = "late@example.org";
    let right = service.code_for(ada, late).await;
    service.account("dora", late).await;
    assert_eq!(fault(service.confirm(ada, late, &right).await), "email_taken");
    assert_eq!(service.address_of(ada).await, NEW);
}

/// Checks that a second factor requires the codes of both mailboxes.
pub async fn with_a_second_factor_both_mailboxes_confirm_another_address<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account_with_mfa("ada", ADA).await.account;
    service.ask_for(ada, NEW, PASSWORD).await.expect("the right password");
    let (mut new, mut present) = (None, None);
    for message in service.messages().await {
        match message.content {
            Content::EmailChange { code } if message.to == email(NEW) => new = Some(code),
            Content::EmailChangeRequested { code, .. } if message.to == email(ADA) => {
                present = code;
            }
            _ => panic!("a message to {}", message.to.as_str()),
        }
    }
    let (new, present) = new.zip(present).expect("a code in each mailbox");
    let both = |new: &Code, present: &Code| EmailChangeCodes {
        new: new.clone(),
        present: Some(present.clone()),
    };
    for wrong in
        [only(&new), only(&present), both(&new, &another(&present)), both(&another(&new), &present)]
    {
        assert_eq!(fault(service.confirm_with(ada, NEW, &wrong, None).await), "wrong_code");
    }
    let codes = both(&new, &present);
    service.confirm_with(ada, NEW, &codes, None).await.expect("the right codes");
    assert_eq!(service.address_of(ada).await, NEW);
    assert_eq!(service.login_code(NEW, PASSWORD).await, "mfa_required");
}

/// Checks that a code serves once, and that one account gets the address.
pub async fn of_many_changes_to_one_address_one_is_made<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", ADA).await.account;
    let bob = service.account("bob", "bob@example.com").await.account;
    let of_ada = service.code_for(ada, NEW).await;
    service.wait(60);
    let of_bob = service.code_for(bob, NEW).await;
    let codes = [(ada, of_ada), (bob, of_bob)];
    let calls = (0..8).map(|call| {
        let (account, code) = &codes[call % 2];
        service.confirm(*account, NEW, code)
    });
    let made = all(calls).await.iter().filter(|made| made.is_ok()).count();
    assert_eq!(made, 1);
    let addresses = [service.address_of(ada).await, service.address_of(bob).await];
    assert_eq!(addresses.iter().filter(|address| *address == NEW).count(), 1);
}

/// Checks that a code of a forgotten password ends with the address to which it was sent.
pub async fn codes_at_the_former_address_end_with_a_change<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", ADA).await.account;
    let right = service.code_for(ada, NEW).await;
    let former = service.reset_code(ADA).await;
    service.confirm(ada, NEW, &right).await.expect("the right code");
    for address in [ADA, NEW] {
        assert_eq!(fault(service.reset(address, &former).await), "wrong_code", "{address}");
    }
    assert_eq!(service.login_code(NEW, PASSWORD).await, "signed_in");
}

/// Checks that a new password, and the end of all sessions, cancel a pending change.
pub async fn a_new_password_or_a_sign_out_everywhere_cancels_a_change<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    for (name, how) in [("ada", "reset"), ("bob", "change"), ("eve", "sign-out")] {
        let address = format!("{name}@example.com");
        let new = format!("{name}@example.org");
        let who = service.account(name, &address).await.account;
        let right = service.code_for(who, &new).await;
        match how {
            "reset" => drop(service.recovered(&address).await),
            "change" => service.change(who, PASSWORD, NEXT).await.expect("the right password"),
            _ => {
                let ended = service.accounts.end_sessions(who, None).await.expect("ok");
                assert_eq!(ended, 1);
            }
        }
        assert_eq!(fault(service.confirm(who, &new, &right).await), "wrong_code", "{how}");
        assert_eq!(service.address_of(who).await, address, "{how}");
    }
}

/// Checks the undoing after a thief with password, key and session moved the account twice.
pub async fn the_former_address_takes_the_account_back<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", ADA).await;
    let account = ada.account;
    let undo = service.moved(account, "thief@example.org").await;
    service.wait(60);
    let later = service.moved(account, "thief@example.net").await;
    let thief = service.signed_in(&stranger(), "thief@example.net", PASSWORD).await;
    let hand_off = service.hand_off(&ada).await;
    let reset = service.reset_code("thief@example.net").await;
    service.ask_for(account, "thief@example.com", PASSWORD).await.expect("the right password");
    let change = service.code("thief@example.com").await;

    service.undo(&undo).await.expect("the token of the e-mail");

    let mut told: Vec<String> = service
        .messages()
        .await
        .into_iter()
        .filter(|message| matches!(message.content, Content::EmailRestored { .. }))
        .map(|message| message.to.as_str().to_owned())
        .collect();
    told.sort();
    assert_eq!(told, [ADA, "thief@example.net"]);
    assert_eq!(service.address_of(account).await, ADA);
    assert!(!service.is_live(&ada).await && !service.is_live(&thief).await);
    assert!(service.caller(&ada.api_key).await.is_none(), "the thief has the key");
    let redeemed = service.accounts.redeem_hand_off(&hand_off, &stranger(), service.now()).await;
    assert_eq!(fault(redeemed), "wrong_code");
    for address in [ADA, "thief@example.net"] {
        assert_eq!(service.login_code(address, PASSWORD).await, "wrong_credentials");
        assert_eq!(fault(service.reset(address, &reset).await), "wrong_code", "{address}");
    }
    let moved = service.confirm(account, "thief@example.com", &change).await;
    assert_eq!(fault(moved), "wrong_code");
    for token in [&undo, &later] {
        assert_eq!(fault(service.undo(token).await), "wrong_code");
    }
    service.wait(60);
    let owner = service.recovered(ADA).await;
    assert!(owner.account == account && owner.api_key.expose() != ada.api_key.expose());
    assert!(service.caller(&owner.api_key).await.is_some());
    assert_eq!(service.balance(account).await, 350);
}

/// Checks that a thief who undoes a later change does not invalidate the owner's token.
pub async fn the_token_of_an_earlier_change_outlives_the_undoing_of_a_later_one<
    S: Store + Clone,
>(
    store: S,
) {
    let service = TestService::new(store);
    let account = service.account("ada", ADA).await.account;
    let owners = service.moved(account, "thief@example.org").await;
    service.wait(60);
    let thiefs = service.moved(account, "thief@example.net").await;
    service.undo(&thiefs).await.expect("the token of the e-mail");
    assert_eq!(service.address_of(account).await, "thief@example.org");
    service.undo(&owners).await.expect("the token of the e-mail");
    assert_eq!(service.address_of(account).await, ADA);
}

/// Checks that a token serves once, for three days, and only while the address is free.
pub async fn a_change_is_undone_once_and_within_three_days<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", ADA).await.account;
    let bob = service.account("bob", "bob@example.com").await.account;
    let undo = service.moved(ada, NEW).await;
    assert_eq!(all((0..8).map(|_| service.undo(&undo))).await.iter().flatten().count(), 1);
    assert_eq!(service.address_of(ada).await, ADA);

    service.wait(60);
    let of_bob = service.moved(bob, "bob@example.org").await;
    let newcomer = service.account("carl", "bob@example.com").await;
    assert_eq!(fault(service.undo(&of_bob).await), "email_taken");
    assert_eq!(service.address_of(bob).await, "bob@example.org");
    let password = Password::attempt(PASSWORD);
    let confirmation = crate::Confirmation::Password(password);
    let deleted =
        service.accounts.delete_account(newcomer.account, &confirmation, service.now()).await;
    deleted.expect("the right password");

    let clean_up =
        async || service.accounts.clean_up(service.now(), 10, None).await.expect("ok").email_undos;
    service.clock.advance(UNDO_VALIDITY - TimeDelta::microseconds(1));
    assert_eq!(clean_up().await, 0);
    service.clock.advance(TimeDelta::microseconds(1));
    assert_eq!(fault(service.undo(&of_bob).await), "wrong_code", "three days old");
    assert_eq!((clean_up().await, clean_up().await), (1, 0));
    service.clock.advance(TimeDelta::microseconds(-1));
    assert_eq!(fault(service.undo(&of_bob).await), "wrong_code", "a clock set back");
}

/// Checks that the undoing does not end a suspension.
pub async fn a_suspended_account_stays_suspended_after_an_undone_change<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", ADA).await;
    let undo = service.moved(ada.account, NEW).await;
    service.accounts.suspend(&email(NEW)).await.expect("the account is there");
    service.undo(&undo).await.expect("the token of the e-mail");
    let right = service.reset_code(ADA).await;
    service.reset(ADA, &right).await.expect("the right code");
    assert_eq!(service.login_code(ADA, NEXT).await, "suspended");
    assert!(service.caller(&ada.api_key).await.is_none());
}

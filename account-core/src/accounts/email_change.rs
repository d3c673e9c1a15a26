//! Changes of the e-mail address: a request with the password, a code to the new address, and a
//! token for the former one.
//!
//! A change of address can take an account over, because codes for forgotten passwords go to the new
//! address. So the change requires the password, a code from the new mailbox and, with a second
//! factor, a code from the present mailbox. The present address gets a notice before and after. For
//! [`UNDO_VALIDITY`] the former address can undo the change, which ends every other credential.

use chrono::TimeDelta;

use crate::accounts::Accounts;
use crate::client::Client;
use crate::code::{Challenge, ChallengeId, Code, EmailChangeCodes, Purpose};
use crate::identity::{AccountId, Email};
use crate::outbox::Content;
use crate::password::{Password, PasswordHasher};
use crate::session::SessionToken;
use crate::store::{EmailChange, EmailChangeRequest, EmailChanged, Store, UndoneEmailChange};
use crate::token::EmailUndoToken;
use crate::{Error, Result, Timestamp, random};

/// The time in which the former address can undo a change.
pub const UNDO_VALIDITY: TimeDelta = TimeDelta::hours(72);

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Sends a code to the new address of an account, and a notice to its present address. Nothing
    /// else changes. Answer and work are the same for a new address that has an account already; that
    /// address gets no e-mail.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for the account's own address; [`Error::WrongConfirmation`];
    /// [`Error::Locked`] after five wrong passwords; [`Error::Busy`]; [`Error::NotFound`];
    /// [`Error::Store`].
    pub async fn request_email_change(
        &self,
        account: AccountId,
        password: &Password,
        to: &Email,
        now: Timestamp,
    ) -> Result<()> {
        let profile = self.profile(account).await?;
        if profile.email == *to {
            let requirement = "another address than that of the account";
            return Err(Error::invalid("new_email", requirement, "email_unchanged"));
        }
        self.confirm(&profile.email, password, now).await?;
        let taken = self.store().account_of(to).await?.is_some();
        let mut rng = self.rng();
        let codes = EmailChangeCodes {
            new: Code::generate(&mut rng),
            present: profile.mfa_enabled.then(|| Code::generate(&mut rng)),
        };
        let id = ChallengeId(random::identifier(&mut rng));
        let challenge = Challenge {
            id,
            purpose: Purpose::EmailChange,
            account: Some(account).filter(|_| !taken),
            recipient: self.vault().email_digest(&profile.email),
            digest: self.vault().email_change_digest(account, id, to, &codes),
            created_at: now,
        };
        let EmailChangeCodes { new: code, present } = codes;
        let code = if taken {
            Content::Decoy { purpose: Purpose::EmailChange }
        } else {
            Content::EmailChange { code }
        };
        let requested = Content::EmailChangeRequested { to: to.clone(), code: present };
        let request = EmailChangeRequest {
            account,
            challenge,
            code: self.message(to, code, now),
            notice: self.message(&profile.email, requested, now),
        };
        Ok(self.store().request_email_change(request).await?)
    }

    /// Gives an account the address that the codes were sent for. The key and the session `kept` stay
    /// valid; other sessions and the grants of applications end. The former address gets the token
    /// that undoes the change.
    ///
    /// # Errors
    ///
    /// [`Error::WrongCode`] for codes that are wrong, used, expired, replaced or tried too often,
    /// and for another address than they were sent for; [`Error::EmailTaken`] where the address got
    /// an account meanwhile; [`Error::NotFound`]; [`Error::Store`].
    pub async fn confirm_email_change(
        &self,
        account: AccountId,
        to: &Email,
        codes: &EmailChangeCodes,
        kept: Option<&SessionToken>,
        client: &Client,
        now: Timestamp,
    ) -> Result<()> {
        let from = self.profile(account).await?.email;
        let from_recipient = self.vault().email_digest(&from);
        let attempt = self.store().attempt(from_recipient, Purpose::EmailChange, None, now).await?;
        let attempt = attempt.filter(|attempt| attempt.account == Some(account));
        let attempt = attempt.ok_or(Error::WrongCode)?;
        let challenge = attempt.challenge;
        let offered = self.vault().email_change_digest(account, challenge, to, codes);
        if offered != attempt.digest {
            return Err(Error::WrongCode);
        }
        let undo = EmailUndoToken::generate(&mut self.rng());
        let changed = Content::EmailChanged { to: to.clone(), undo: undo.clone() };
        let change = EmailChange {
            challenge,
            account,
            from_recipient,
            to: to.clone(),
            known: self.known_network(to, client, now),
            kept: kept.map(|token| self.vault().token_digest(token)),
            undo: self.vault().one_time_digest(&undo),
            notice: self.message(&from, changed, now),
            from,
            at: now,
        };
        done(self.store().change_email(change).await?)
    }

    /// Gives an account its former address back. The author of the change may hold password, key and
    /// sessions, so these end too: the owner chooses a password with a code to the restored address.
    ///
    /// # Errors
    ///
    /// [`Error::WrongCode`] for a token that is wrong, used, older than [`UNDO_VALIDITY`], or of a
    /// change after one that was undone; [`Error::EmailTaken`] where another account has the
    /// address by now; [`Error::Busy`]; [`Error::Store`].
    pub async fn undo_email_change(&self, token: &EmailUndoToken, now: Timestamp) -> Result<()> {
        let (undo, since) = (self.vault().one_time_digest(token), now - UNDO_VALIDITY);
        let found = self.store().email_undo(undo, since, now).await?.ok_or(Error::WrongCode)?;
        let permit = self.hasher().admit().await?;
        let unknown = Password::attempt(&random::secret_text(&mut self.rng()));
        let password_hash = self.hasher().hash(permit, &unknown).await;
        let (_, key) = self.new_key(found.account);
        let restored = || Content::EmailRestored { email: found.email.clone() };
        let notices = [&found.email, &found.present].map(|to| self.message(to, restored(), now));
        let undone = UndoneEmailChange {
            undo,
            since,
            account: found.account,
            recipient: self.vault().email_digest(&found.email),
            present_recipient: self.vault().email_digest(&found.present),
            notices,
            email: found.email,
            present: found.present,
            password_hash,
            key,
            at: now,
        };
        done(self.store().undo_email_change(undone).await?)
    }
}

fn done(changed: EmailChanged) -> Result<()> {
    match changed {
        EmailChanged::Done => Ok(()),
        EmailChanged::EmailTaken => Err(Error::EmailTaken),
        EmailChanged::Outdated => Err(Error::WrongCode),
    }
}

//! Registration: a form, a code by e-mail, an account.
//!
//! An unverified form is an account of its own number. Registering the address anew replaces the
//! form, its number and its code together, so a code confirms only the form that it was sent for.

use crate::accounts::sign_in::SignedIn;
use crate::accounts::{Accounts, Store};
use crate::code::{Challenge, ChallengeId, Code, Purpose};
use crate::entropy;
use crate::identity::{AccountId, Contact, Email, Username};
use crate::key::{ApiKey, KeyId, KeyKind, NewKey};
use crate::letter::{Content, Letter, OutboxLetter};
use crate::password::{Password, PasswordHash, PasswordHasher};
use crate::session::{Session, SessionToken};
use crate::tier::SIGNUP_CREDITS;
use crate::vault::{Digest, SealedKind};
use crate::{Error, Result, StoreError, Timestamp};

/// What a newcomer fills in.
#[derive(Clone)]
pub struct Registration {
    /// The name to be known by.
    pub username: Username,
    /// Where the code is sent.
    pub email: Email,
    /// The password to log in with.
    pub password: Password,
    /// How else to be reached.
    pub contact: Contact,
}

/// A form as it is stored, with the two letters of which one will be sent.
pub struct NewRegistration {
    /// The number of the account that it would become.
    pub id: AccountId,
    /// The name to be known by.
    pub username: Username,
    /// Where the code is sent.
    pub email: Email,
    /// The password's hash.
    pub password_hash: PasswordHash,
    /// How else to be reached.
    pub contact: Contact,
    /// The code's challenge.
    pub challenge: Challenge,
    /// The letter with the code.
    pub letter: OutboxLetter,
    /// The letter for an address that has an account.
    pub letter_if_known: OutboxLetter,
    /// When it was filled in.
    pub created_at: Timestamp,
}

/// What became of a form. The caller is told of a taken username alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// Saved, in place of an earlier unverified form of that address, and the code is on its way.
    Saved,
    /// The address has an account; the letter says so.
    Known,
    /// Too many letters lately: nothing was changed, the form included.
    Quiet,
    /// Another account or running registration has the name.
    UsernameTaken,
}

/// A form that waits for its code.
#[derive(Clone)]
pub struct PendingRegistration {
    /// The number of the account that it would become.
    pub account: AccountId,
    /// The name it asks for.
    pub username: Username,
}

/// What a right code makes of a form.
pub struct Confirmation {
    /// The challenge that was met.
    pub challenge: ChallengeId,
    /// Whose it is.
    pub account: AccountId,
    /// The account's first key.
    pub key: NewKey,
    /// The session of whoever sent the code.
    pub session: Session,
    /// The signup grant.
    pub credits: u64,
    /// When.
    pub at: Timestamp,
}

/// Where registrations wait for their code.
pub trait RegistrationStore: Send + Sync {
    /// Hands out a number that no account has or had.
    fn next_account_id(
        &self,
    ) -> impl Future<Output = std::result::Result<AccountId, StoreError>> + Send;

    /// Saves a form, as one step:
    ///
    /// - the name of a verified account, or of another address's form whose code is still live, is
    ///   taken, whatever the address;
    /// - where [`Postage::allows`](crate::letter::Postage::allows) no letter, nothing changes;
    /// - an address with a verified account gets `letter_if_known`;
    /// - else the form, its challenge and its letter take the place of an earlier form of the
    ///   address, and of an expired form with the name.
    fn register(
        &self,
        form: NewRegistration,
    ) -> impl Future<Output = std::result::Result<Registered, StoreError>> + Send;

    /// Finds the form of an address, however old its code.
    fn pending_registration(
        &self,
        email: &Email,
    ) -> impl Future<Output = std::result::Result<Option<PendingRegistration>, StoreError>> + Send;

    /// Saves a letter, and the challenge in place of the form's earlier one, as one step. Changes
    /// nothing where the form is gone or verified, or where the address got too many letters; a
    /// decoy comes without a challenge and is always saved.
    fn resend_code(
        &self,
        challenge: Option<Challenge>,
        letter: OutboxLetter,
    ) -> impl Future<Output = std::result::Result<(), StoreError>> + Send;

    /// Uses the challenge up and makes the form an account with key, session and grant, as one
    /// step; `false`, and nothing changed, where the challenge was used, replaced or has expired.
    fn confirm_registration(
        &self,
        confirmation: Confirmation,
    ) -> impl Future<Output = std::result::Result<bool, StoreError>> + Send;
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Registers a newcomer: the code goes out by e-mail.
    ///
    /// The answer is the same whether the address is new, waits for its code or has an account.
    ///
    /// # Errors
    ///
    /// [`Error::UsernameTaken`]; [`Error::Busy`]; [`Error::Store`].
    pub async fn register(&self, form: Registration, now: Timestamp) -> Result<()> {
        let permit = self.hasher().admit().await?;
        let password_hash = self.hasher().hash(permit, &form.password).await;
        let id = self.store().next_account_id().await?;
        let (challenge, letter) = self.registration_code(id, &form.username, &form.email, now);
        let known = Letter { to: form.email.clone(), content: Content::AccountExists };
        let registered = self
            .store()
            .register(NewRegistration {
                id,
                username: form.username,
                email: form.email,
                password_hash,
                contact: form.contact,
                challenge,
                letter,
                letter_if_known: known.seal(self.vault(), self.entropy(), now),
                created_at: now,
            })
            .await?;
        match registered {
            Registered::UsernameTaken => Err(Error::UsernameTaken),
            Registered::Saved | Registered::Known | Registered::Quiet => Ok(()),
        }
    }

    /// Sends a fresh code to an address that waits for one, and to no other. The answer is the
    /// same for every address.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn resend_registration_code(&self, email: &Email, now: Timestamp) -> Result<()> {
        let pending = self.store().pending_registration(email).await?;
        let (challenge, letter) = if let Some(form) = pending {
            let (challenge, letter) =
                self.registration_code(form.account, &form.username, email, now);
            (Some(challenge), letter)
        } else {
            let decoy = Letter { to: email.clone(), content: Content::Decoy };
            (None, decoy.seal(self.vault(), self.entropy(), now))
        };
        Ok(self.store().resend_code(challenge, letter).await?)
    }

    /// Makes an account of the form that the code was sent for: key, session, signup credits.
    ///
    /// # Errors
    ///
    /// [`Error::WrongCode`] for a code that is wrong, used, expired, replaced or tried too often,
    /// and for an address that waits for none; [`Error::Store`].
    pub async fn verify_registration(
        &self,
        email: &Email,
        code: &Code,
        now: Timestamp,
    ) -> Result<SignedIn> {
        let (challenge, account) =
            self.met_challenge(email, Purpose::Registration, code, now).await?;
        let (api_key, key) = self.new_key(account);
        let (session_token, session) = self.new_session(account, now);
        let credits = SIGNUP_CREDITS;
        let confirmation = Confirmation { challenge, account, key, session, credits, at: now };
        if self.store().confirm_registration(confirmation).await? {
            Ok(SignedIn { account, api_key, session_token })
        } else {
            Err(Error::WrongCode)
        }
    }

    fn registration_code(
        &self,
        account: AccountId,
        username: &Username,
        email: &Email,
        now: Timestamp,
    ) -> (Challenge, OutboxLetter) {
        let (code, challenge) = self.new_challenge(Purpose::Registration, account, email, now);
        let content = Content::Registration { username: username.clone(), code };
        let letter = Letter { to: email.clone(), content };
        (challenge, letter.seal(self.vault(), self.entropy(), now))
    }

    /// Draws a code and what it is compared with.
    pub(super) fn new_challenge(
        &self,
        purpose: Purpose,
        account: AccountId,
        email: &Email,
        now: Timestamp,
    ) -> (Code, Challenge) {
        let id = ChallengeId(entropy::identifier(self.entropy()));
        let code = Code::generate(self.entropy());
        let digest = self.vault().code_digest(purpose, account, id, &code);
        let recipient = self.vault().email_digest(email);
        (code, Challenge { id, purpose, account, recipient, digest, created_at: now })
    }

    /// Counts the try first and compares then, in constant time. Using the challenge up is left to
    /// the storage call that acts on it.
    pub(super) async fn met_challenge(
        &self,
        email: &Email,
        purpose: Purpose,
        code: &Code,
        now: Timestamp,
    ) -> Result<(ChallengeId, AccountId)> {
        let recipient = self.vault().email_digest(email);
        let attempt = self.store().attempt(recipient, purpose, now).await?;
        // Without a challenge the same work is done against a digest that nothing meets.
        let (challenge, account, expected) = attempt
            .map_or((ChallengeId(0), AccountId(0), Digest::from_bytes([0; 32])), |attempt| {
                (attempt.challenge, attempt.account, attempt.digest)
            });
        let offered = self.vault().code_digest(purpose, account, challenge, code);
        if offered == expected && attempt.is_some() {
            Ok((challenge, account))
        } else {
            Err(Error::WrongCode)
        }
    }

    /// Draws a key for an account and seals it.
    pub(super) fn new_key(&self, account: AccountId) -> (ApiKey, NewKey) {
        let key = ApiKey::generate(KeyKind::User, self.entropy());
        let id = KeyId(entropy::identifier(self.entropy()));
        let plain = key.expose().as_bytes();
        let sealed = self.vault().seal(SealedKind::ApiKey, account, id.0, plain, self.entropy());
        let stored = NewKey { id, digest: self.vault().key_digest(&key), sealed };
        (key, stored)
    }

    /// Draws a session for an account.
    pub(super) fn new_session(
        &self,
        account: AccountId,
        now: Timestamp,
    ) -> (SessionToken, Session) {
        let token = SessionToken::generate(self.entropy());
        let digest = self.vault().token_digest(&token);
        (token, Session { digest, account, created_at: now, last_used_at: now })
    }
}

//! Registration: a form, a code by e-mail, an account.
//!
//! An unverified form is an account of its own number. Registering the address anew replaces the
//! form, its number and its code together, so a code confirms only the form that it was sent for.

use crate::accounts::sign_in::SignedIn;
use crate::accounts::{Accounts, Store};
use crate::client::{Client, ClientToken, KnownClient, Marks};
use crate::code::{Attempt, Challenge, ChallengeId, Code, Purpose};
use crate::entropy;
use crate::identity::{AccountId, Contact, Email, NOBODY, Username};
use crate::key::{ApiKey, KeyId, KeyKind, NewKey};
use crate::outbox::{Content, OutboundMessage, SealedMessage};
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
    pub message: SealedMessage,
    /// The letter for an address that has an account.
    pub message_if_known: SealedMessage,
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
pub struct ConfirmedForm {
    /// The challenge that was met.
    pub challenge: ChallengeId,
    /// Whose it is.
    pub account: AccountId,
    /// The account's first key.
    pub key: NewKey,
    /// The session of whoever sent the code.
    pub session: Session,
    /// What whoever sent the code is known by from now on.
    pub client: KnownClient,
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
    /// - where [`SendQuota::allows`](crate::outbox::Postage::allows) no letter, nothing changes;
    /// - an address with a verified account gets `message_if_known`, and the challenge as one that
    ///   nobody can meet;
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

    /// Uses the challenge up and makes the form an account with key, session, grant and a
    /// [`Notice::Welcome`](crate::notification::Notice::Welcome), as one step; `false`, and nothing changed, where the challenge was used, replaced or has expired.
    fn confirm_registration(
        &self,
        form: ConfirmedForm,
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
        let (challenge, message) = self.registration_code(id, &form.username, &form.email, now);
        let message_if_known = self.message(&form.email, Content::AccountExists, now);
        let registered = self
            .store()
            .register(NewRegistration {
                id,
                username: form.username,
                email: form.email,
                password_hash,
                contact: form.contact,
                challenge,
                message,
                message_if_known,
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
        let (challenge, message) = match pending {
            Some(form) => self.registration_code(form.account, &form.username, email, now),
            None => self.decoy_code(Purpose::Registration, email, now),
        };
        Ok(self.store().send_code(challenge, message).await?)
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
        let (client_token, client) = self.new_client(email, None, now);
        let credits = SIGNUP_CREDITS;
        let form = ConfirmedForm { challenge, account, key, session, client, credits, at: now };
        if self.store().confirm_registration(form).await? {
            Ok(SignedIn { account, api_key, session_token, client_token })
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
    ) -> (Challenge, SealedMessage) {
        let (code, challenge) =
            self.new_challenge(Purpose::Registration, Some(account), email, now);
        let content = Content::Registration { username: username.clone(), code };
        (challenge, self.message(email, content, now))
    }

    /// Draws a code and what it is compared with.
    pub(super) fn new_challenge(
        &self,
        purpose: Purpose,
        account: Option<AccountId>,
        email: &Email,
        now: Timestamp,
    ) -> (Code, Challenge) {
        let id = ChallengeId(entropy::identifier(self.entropy()));
        let code = Code::generate(self.entropy());
        let digest = self.vault().code_digest(purpose, account.unwrap_or(NOBODY), id, &code);
        let recipient = self.vault().email_digest(email);
        (code, Challenge { id, purpose, account, recipient, digest, created_at: now })
    }

    /// What stands in for a code where an address gets none: the same rows, never sent, never met.
    pub(super) fn decoy_code(
        &self,
        purpose: Purpose,
        email: &Email,
        now: Timestamp,
    ) -> (Challenge, SealedMessage) {
        let (_, challenge) = self.new_challenge(purpose, None, email, now);
        (challenge, self.message(email, Content::Decoy { purpose }, now))
    }

    /// Seals a letter for the outbox.
    pub(super) fn message(&self, to: &Email, content: Content, now: Timestamp) -> SealedMessage {
        OutboundMessage { to: to.clone(), content }.seal(self.vault(), self.entropy(), now)
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
        let attempt = self.store().attempt(recipient, purpose, None, now).await?;
        self.met(purpose, code, attempt).ok_or(Error::WrongCode)
    }

    /// Compares a code with the challenge of its try, if there is one.
    pub(super) fn met(
        &self,
        purpose: Purpose,
        code: &Code,
        attempt: Option<Attempt>,
    ) -> Option<(ChallengeId, AccountId)> {
        // Without a challenge the same work is done against a digest that nothing meets.
        let (challenge, account, expected) = attempt
            .map_or((ChallengeId(0), None, Digest::from_bytes([0; 32])), |attempt| {
                (attempt.challenge, attempt.account, attempt.digest)
            });
        let offered = self.vault().code_digest(purpose, account.unwrap_or(NOBODY), challenge, code);
        let equal = offered == expected;
        account.filter(|_| equal).map(|account| (challenge, account))
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

    /// Draws a token for a client that proved to be the owner's, in place of the one that it
    /// showed.
    pub(super) fn new_client(
        &self,
        email: &Email,
        client: Option<&Client>,
        now: Timestamp,
    ) -> (ClientToken, KnownClient) {
        let recipient = self.vault().email_digest(email);
        let token = ClientToken::generate(self.entropy());
        let shown = client.map(|client| self.marks(&recipient, client));
        let known = KnownClient {
            recipient,
            replaces: shown.and_then(|marks| marks.token),
            token: Some(self.vault().client_mark(&recipient, &token)),
            network: shown.map(|marks| marks.network),
            at: now,
        };
        (token, known)
    }

    /// What a client may be known by at an address.
    pub(crate) fn marks(&self, recipient: &Digest<Email>, client: &Client) -> Marks {
        let token = client.token.as_ref();
        Marks {
            token: token.map(|token| self.vault().client_mark(recipient, token)),
            network: self.vault().network_mark(recipient, client),
        }
    }
}

//! Registration: a form, a code by e-mail, an account.
//!
//! An unverified form is an account with a number of its own. A second registration of the address
//! replaces the form, its number and its code together, so a code confirms only its own form.

use crate::accounts::Accounts;
use crate::accounts::sign_in::SignedIn;
use crate::client::{Client, ClientToken, KnownClient, Marks};
use crate::code::{Attempt, Challenge, ChallengeId, Code, Purpose};
use crate::digest::Digest;
use crate::identity::{AccountId, Contact, Email, NOBODY, Username};
use crate::key::{ApiKey, KeyId, KeyKind, NewKey};
use crate::outbox::{Content, OutboundMessage, SealedMessage};
use crate::password::{Password, PasswordHasher};
use crate::session::{Session, SessionToken};
use crate::store::{ConfirmedForm, NewRegistration, Registered, Store};
use crate::tier::SIGNUP_CREDITS;
use crate::vault::SealedKind;
use crate::{Error, Result, Timestamp, random};

/// The form of a registration, as the user fills in the form.
#[derive(Clone)]
pub struct Registration {
    /// The user name, which no other account may have.
    pub username: Username,
    /// The e-mail address, to which the code is sent.
    pub email: Email,
    /// The password for later logins, in plain text.
    pub password: Password,
    /// The contact details beside the e-mail address.
    pub contact: Contact,
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Registers a new user, and sends the code by e-mail.
    ///
    /// The answer is the same for an address that is new, awaits its code or has an account.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a password that is the address or the name; [`Error::UsernameTaken`];
    /// [`Error::Busy`]; [`Error::Store`].
    pub async fn register(&self, form: Registration, now: Timestamp) -> Result<()> {
        form.password.refuse_personal("password", &form.email, &form.username)?;
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

    /// Sends a new code to an address that awaits one. The answer is the same for every address.
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

    /// Creates the account of a form from its code: with a key, a session and the sign-up credits.
    ///
    /// # Errors
    ///
    /// [`Error::WrongCode`] for a code that is wrong, used, expired, replaced or tried too often,
    /// and for an address that awaits no code; [`Error::Store`].
    pub async fn verify_registration(
        &self,
        email: &Email,
        code: &Code,
        origin: &Client,
        now: Timestamp,
    ) -> Result<SignedIn> {
        let (challenge, account) = self.met_challenge(email, Purpose::Registration, code).await?;
        let (api_key, key) = self.new_key(account);
        let key_id = key.id;
        let (session_token, session) = self.new_session(account, now);
        let (client_token, client) = self.new_client(email, None, now);
        let credits = SIGNUP_CREDITS;
        let origin = origin.clone();
        let form =
            ConfirmedForm { challenge, account, key, session, client, origin, credits, at: now };
        if self.store().confirm_registration(form).await? {
            Ok(SignedIn { account, api_key, key: key_id, session_token, client_token })
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

    /// Generates a code, and the challenge with its digest.
    pub(super) fn new_challenge(
        &self,
        purpose: Purpose,
        account: Option<AccountId>,
        email: &Email,
        now: Timestamp,
    ) -> (Code, Challenge) {
        let id = ChallengeId(random::identifier(&mut self.rng()));
        let code = Code::generate(&mut self.rng());
        let digest = self.vault().code_digest(purpose, account.unwrap_or(NOBODY), id, &code);
        let recipient = self.vault().email_digest(email);
        (code, Challenge { id, purpose, account, recipient, digest, created_at: now })
    }

    /// Makes the rows of a code for an address that gets none: they are never sent and no code
    /// matches, so that all addresses cost the same.
    pub(super) fn decoy_code(
        &self,
        purpose: Purpose,
        email: &Email,
        now: Timestamp,
    ) -> (Challenge, SealedMessage) {
        let (_, challenge) = self.new_challenge(purpose, None, email, now);
        (challenge, self.message(email, Content::Decoy { purpose }, now))
    }

    /// Seals an e-mail for the outbox.
    pub(super) fn message(&self, to: &Email, content: Content, now: Timestamp) -> SealedMessage {
        OutboundMessage { to: to.clone(), content }.seal(self.vault(), &mut self.rng(), now)
    }

    /// Counts the attempt, then compares the code in constant time. The later storage call consumes
    /// the challenge.
    pub(super) async fn met_challenge(
        &self,
        email: &Email,
        purpose: Purpose,
        code: &Code,
    ) -> Result<(ChallengeId, AccountId)> {
        let recipient = self.vault().email_digest(email);
        let attempt = self.store().attempt(recipient, purpose, None).await?;
        self.met(purpose, code, attempt).ok_or(Error::WrongCode)
    }

    /// Compares a code with the challenge of its attempt, if there is one.
    pub(super) fn met(
        &self,
        purpose: Purpose,
        code: &Code,
        attempt: Option<Attempt>,
    ) -> Option<(ChallengeId, AccountId)> {
        // Without a challenge, the same work is done against a digest that no code matches.
        let (challenge, account, expected) = attempt
            .map_or((ChallengeId(0), None, Digest::from_bytes([0; 32])), |attempt| {
                (attempt.challenge, attempt.account, attempt.digest)
            });
        let offered = self.vault().code_digest(purpose, account.unwrap_or(NOBODY), challenge, code);
        let equal = offered == expected;
        account.filter(|_| equal).map(|account| (challenge, account))
    }

    /// Generates a key for an account and seals the key.
    pub(super) fn new_key(&self, account: AccountId) -> (ApiKey, NewKey) {
        let key = ApiKey::generate(KeyKind::User, &mut self.rng());
        let id = KeyId(random::identifier(&mut self.rng()));
        let plain = key.expose().as_bytes();
        let sealed = self.vault().seal(SealedKind::ApiKey, account, id.0, plain, &mut self.rng());
        let stored = NewKey { id, digest: self.vault().key_digest(&key), sealed };
        (key, stored)
    }

    /// Generates a session for an account.
    pub(super) fn new_session(
        &self,
        account: AccountId,
        now: Timestamp,
    ) -> (SessionToken, Session) {
        let token = SessionToken::generate(&mut self.rng());
        let digest = self.vault().token_digest(&token);
        (token, Session { digest, account, created_at: now, last_used_at: now })
    }

    /// Generates a token for a client that has signed in, which replaces the token that it sent.
    pub(super) fn new_client(
        &self,
        email: &Email,
        client: Option<&Client>,
        now: Timestamp,
    ) -> (ClientToken, KnownClient) {
        let recipient = self.vault().email_digest(email);
        let token = ClientToken::generate(&mut self.rng());
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

    /// Returns a client that an account knows by its network alone.
    pub(super) fn known_network(
        &self,
        email: &Email,
        client: &Client,
        now: Timestamp,
    ) -> KnownClient {
        let recipient = self.vault().email_digest(email);
        let network = Some(self.vault().network_mark(&recipient, client));
        KnownClient { recipient, replaces: None, token: None, network, at: now }
    }

    /// Returns the digests by which an account may know a client.
    pub(crate) fn marks(&self, recipient: &Digest<Email>, client: &Client) -> Marks {
        let token = client.token.as_ref();
        Marks {
            token: token.map(|token| self.vault().client_mark(recipient, token)),
            network: self.vault().network_mark(recipient, client),
        }
    }
}

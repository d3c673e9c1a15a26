//! Sign-in by an identity provider, and the hand-off of a sign-in to another program.

use crate::accounts::Accounts;
use crate::accounts::sign_in::SignedIn;
use crate::client::Client;
use crate::hand_off::Destination;
use crate::id_token::{COMPLETION_VALIDITY, ProvenIdentity, Returned};
use crate::identity::{AccountId, Contact, Email, Username};
use crate::key::{AccountCaller, KeyId};
use crate::password::PasswordHasher;
use crate::store::{
    AccountRow, CompletionRow, Creation, IdpAccount, KnownIdentity, LoginMethod, NewHandOff,
    OpenedSession, StartRow, Store,
};
use crate::tier::{SIGNUP_CREDITS, Tier};
use crate::token::{BrowserToken, CompletionToken, HandOffCode, StateToken};
use crate::{Error, Result, Timestamp, random};

/// The number of user names that are tried for a new account without a chosen name.
const NAMES_TRIED: u32 = 5;

/// A sign-in that was started at the identity provider.
pub struct Started {
    /// The `state` parameter, which the provider returns.
    pub state: StateToken,
    /// The secret of the browser, kept in a cookie.
    pub browser: BrowserToken,
    /// The nonce that the ID token must carry.
    pub nonce: String,
    /// The PKCE verifier, which proves to the provider that the service which requests the token
    /// started the sign-in.
    pub pkce_verifier: String,
}

/// The outcome of a sign-in with a proven identity.
pub enum IdpLogin {
    /// The identity has an account, and a session of the account has begun.
    SignedIn(SignedIn),
    /// The identity is new, and its profile must be completed.
    Completion(CompletionToken),
}

/// The outcome of a browser's sign-in with a proven identity.
pub enum OidcOutcome {
    /// The identity has an account, which the holder of this code signs in to.
    HandOff(HandOffCode),
    /// The identity is new, and its profile must be completed.
    Completion(CompletionToken),
}

/// The data with which a new identity completes its profile.
pub struct NewProfile {
    /// The user name; `None` to derive a name from the e-mail address.
    pub username: Option<Username>,
    /// The contact details beside the e-mail address.
    pub contact: Contact,
}

/// A new account whose profile was completed.
pub struct Completed {
    /// The account with its key and its first session.
    pub signed_in: SignedIn,
    /// The place to which the browser goes after the sign-in.
    pub destination: Destination,
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Starts a sign-in at the identity provider.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn start_idp(&self, destination: Destination, now: Timestamp) -> Result<Started> {
        let state = StateToken::generate(&mut self.rng());
        let browser = BrowserToken::generate(&mut self.rng());
        let row = StartRow {
            state: self.vault().one_time_digest(&state),
            browser: self.vault().one_time_digest(&browser),
            destination,
            at: now,
        };
        self.store().start_idp(row).await?;
        let (nonce, pkce_verifier) = self.vault().idp_secrets(&state);
        Ok(Started { state, browser, nonce, pkce_verifier })
    }

    /// Finishes a browser's return from the provider: in the same browser, once, within ten
    /// minutes.
    ///
    /// # Errors
    ///
    /// [`Error::WrongCode`]; [`Error::Store`].
    pub async fn finish_idp(&self, state: &StateToken, browser: &BrowserToken) -> Result<Returned> {
        let digests = (self.vault().one_time_digest(state), self.vault().one_time_digest(browser));
        let found = self.store().finish_idp(digests.0, digests.1).await?;
        let destination = found.ok_or(Error::WrongCode)?;
        let (nonce, pkce_verifier) = self.vault().idp_secrets(state);
        Ok(Returned { nonce, pkce_verifier, destination })
    }

    /// Signs in the account of a known identity, or begins a profile for a new one.
    ///
    /// # Errors
    ///
    /// [`Error::UnconfirmedIdentity`] for a new identity whose e-mail address the provider did not
    /// confirm; [`Error::Suspended`]; [`Error::Unauthorised`] where the key was replaced in the
    /// meantime; [`Error::Sealed`]; [`Error::Store`].
    pub async fn idp_login(
        &self,
        identity: &ProvenIdentity,
        client: &Client,
        now: Timestamp,
    ) -> Result<IdpLogin> {
        if let KnownIdentity::Account(known) = self.store().known_identity(identity, now).await? {
            let signed_in = self.sign_in_without_password(&known, LoginMethod::Idp, client, now);
            return signed_in.await.map(IdpLogin::SignedIn);
        }
        let token = self.begin_profile(identity, Destination::Login, now).await?;
        Ok(IdpLogin::Completion(token))
    }

    /// Makes a hand-off code for the account of a known identity, or begins a profile for a new
    /// one. The session begins when the code is redeemed.
    ///
    /// # Errors
    ///
    /// [`Error::UnconfirmedIdentity`] for a new identity whose e-mail address the provider did not
    /// confirm; [`Error::Suspended`]; [`Error::Unauthorised`] where the key was replaced in the
    /// meantime; [`Error::Sealed`]; [`Error::Store`].
    pub async fn sign_in_by_oidc(
        &self,
        identity: &ProvenIdentity,
        destination: Destination,
        now: Timestamp,
    ) -> Result<OidcOutcome> {
        let KnownIdentity::Account(known) = self.store().known_identity(identity, now).await?
        else {
            let token = self.begin_profile(identity, destination, now).await?;
            return Ok(OidcOutcome::Completion(token));
        };
        if known.is_suspended {
            return Err(Error::Suspended);
        }
        let key = known.key.as_ref().ok_or(Error::Sealed)?.id;
        let code = self.hand_off_to(&destination, known.account, key, now).await?;
        Ok(OidcOutcome::HandOff(code))
    }

    async fn begin_profile(
        &self,
        identity: &ProvenIdentity,
        destination: Destination,
        now: Timestamp,
    ) -> Result<CompletionToken> {
        let email = identity.email.clone().ok_or(Error::UnconfirmedIdentity)?;
        let token = CompletionToken::generate(&mut self.rng());
        let digest = self.vault().one_time_digest(&token);
        let row = CompletionRow { identity: identity.clone(), email, destination, at: now };
        self.store().save_completion(digest, row).await?;
        Ok(token)
    }

    /// Completes the profile of a new identity: creates an account without a password, and its
    /// first session.
    ///
    /// # Errors
    ///
    /// [`Error::WrongCode`] for a token that is wrong, used or older than fifteen minutes.
    /// [`Error::UsernameTaken`], and [`Error::EmailTaken`] where the address got an account in the
    /// meantime; neither consumes the token. [`Error::Store`].
    pub async fn complete_profile(
        &self,
        token: &CompletionToken,
        profile: &NewProfile,
        client: &Client,
        now: Timestamp,
    ) -> Result<Completed> {
        let digest = self.vault().one_time_digest(token);
        let since = now - COMPLETION_VALIDITY;
        let found = self.store().completion(digest, since).await?;
        let waiting = found.filter(|row| row.at <= now).ok_or(Error::WrongCode)?;
        let mut tried = 0;
        loop {
            let username = match &profile.username {
                Some(username) => username.clone(),
                None => self.made_up_name(&waiting.email, tried),
            };
            let id = self.store().next_account_id().await?;
            let (api_key, key) = self.new_key(id);
            let key_id = key.id;
            let account = AccountRow {
                id,
                email: waiting.email.clone(),
                username,
                password_hash: None,
                tier: Tier::Free,
                credits: SIGNUP_CREDITS,
                granted_by_admin: false,
                hourly_limit: None,
                is_admin: false,
                key,
                created_at: now,
            };
            let (session_token, session) = self.new_session(id, now);
            let (client_token, known) = self.new_client(&waiting.email, Some(client), now);
            let method = LoginMethod::Idp;
            let (client, key) = (client.clone(), key_id);
            let opened = OpenedSession { session, key, known, client, method };
            let contact = profile.contact.clone();
            let created = self.store().complete(digest, account, contact, opened).await?;
            match created.ok_or(Error::WrongCode)? {
                Creation::Done => {
                    let (account, key) = (id, key_id);
                    let signed_in = SignedIn { account, api_key, key, session_token, client_token };
                    return Ok(Completed { signed_in, destination: waiting.destination });
                }
                Creation::EmailTaken => return Err(Error::EmailTaken),
                Creation::UsernameTaken if profile.username.is_none() && tried < NAMES_TRIED => {
                    tried += 1;
                }
                Creation::UsernameTaken => return Err(Error::UsernameTaken),
            }
        }
    }

    /// Makes a code that signs this account in in another program, once, within a minute, and not
    /// after the replacement of the caller's key.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthorised`] where the key was replaced or suspended in the meantime;
    /// [`Error::Store`].
    pub async fn hand_off(&self, caller: &AccountCaller, now: Timestamp) -> Result<HandOffCode> {
        self.mint(caller.id, caller.key_id, LoginMethod::Desktop, now).await
    }

    /// Makes a code that signs this account in at the destination, as [`hand_off`](Self::hand_off)
    /// does. The login history records the method by which the sign-in began. The code ends with
    /// the key.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthorised`] where the key was replaced or suspended in the meantime;
    /// [`Error::Store`].
    pub async fn hand_off_to(
        &self,
        destination: &Destination,
        account: AccountId,
        key: KeyId,
        now: Timestamp,
    ) -> Result<HandOffCode> {
        let method = match destination {
            Destination::Program(_) => LoginMethod::Desktop,
            Destination::Login | Destination::Page(_) => LoginMethod::Idp,
        };
        self.mint(account, key, method, now).await
    }

    async fn mint(
        &self,
        account: AccountId,
        key: KeyId,
        method: LoginMethod,
        created_at: Timestamp,
    ) -> Result<HandOffCode> {
        let code = HandOffCode::generate(&mut self.rng());
        let digest = self.vault().one_time_digest(&code);
        let row = NewHandOff { digest, account, key, method, created_at };
        if self.store().save_hand_off(row).await? { Ok(code) } else { Err(Error::Unauthorised) }
    }

    /// Redeems a hand-off code: returns the account's key and a new session.
    ///
    /// # Errors
    ///
    /// [`Error::WrongCode`] for a code that is wrong, used, revoked or older than a minute;
    /// [`Error::Suspended`]; [`Error::Unauthorised`] where the key was replaced in the meantime;
    /// [`Error::Sealed`]; [`Error::Store`].
    pub async fn redeem_hand_off(
        &self,
        code: &HandOffCode,
        client: &Client,
        now: Timestamp,
    ) -> Result<SignedIn> {
        let digest = self.vault().one_time_digest(code);
        let taken = self.store().take_hand_off(digest).await?;
        let (known, method) = taken.ok_or(Error::WrongCode)?;
        self.sign_in_without_password(&known, method, client, now).await
    }

    async fn sign_in_without_password(
        &self,
        known: &IdpAccount,
        method: LoginMethod,
        client: &Client,
        now: Timestamp,
    ) -> Result<SignedIn> {
        let account = known.account;
        if known.is_suspended {
            return Err(Error::Suspended);
        }
        let sealed = known.key.as_ref().ok_or(Error::Sealed)?;
        let (key, api_key) = (sealed.id, self.open_key(account, sealed)?);
        let (session_token, session) = self.new_session(account, now);
        let (client_token, marks) = self.new_client(&known.email, Some(client), now);
        let opened = OpenedSession { session, key, known: marks, client: client.clone(), method };
        if self.store().open_session(opened).await? {
            Ok(SignedIn { account, api_key, key, session_token, client_token })
        } else {
            Err(Error::Unauthorised)
        }
    }

    /// Returns a user name that is derived from an e-mail address, with more digits after each name
    /// that is taken.
    fn made_up_name(&self, email: &Email, tried: u32) -> Username {
        let local = email.as_str().split('@').next().unwrap_or_default();
        let plain = |one: &char| one.is_ascii_alphanumeric() || matches!(one, '.' | '_' | '-');
        let name: String = local.chars().filter(plain).take(24).collect();
        let name = name.trim_start_matches(['.', '_', '-']);
        let number = random::identifier(&mut self.rng()) % 1_000_000;
        let name = match (tried, name) {
            (_, "") => format!("user{number:06}"),
            (0, name) => name.to_owned(),
            (_, name) => format!("{name}-{number:06}"),
        };
        let padded = format!("{name}{number:03}");
        Username::parse(&name)
            .or_else(|_| Username::parse(&padded))
            .expect("letters and digits in front, and at least three of them, make a name")
    }
}

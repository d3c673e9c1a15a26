//! Login: a password, a second factor where the account asks for it, a session.

use crate::accounts::{Accounts, Store};
use crate::client::{Client, ClientToken, KnownClient, Marks};
use crate::code::{Challenge, ChallengeId, Code, MfaToken, Purpose};
use crate::identity::{AccountId, Email};
use crate::key::{ApiKey, KeyId};
use crate::lockout::{Reservation, Verdict};
use crate::outbox::{Content, SealedMessage};
use crate::password::{Password, PasswordHash, PasswordHasher};
use crate::session::{Session, SessionToken};
use crate::vault::{Digest, Sealed, SealedKind};
use crate::{Error, Result, StoreError, Timestamp};

/// Whoever proved to be the account's owner.
pub struct SignedIn {
    /// The account.
    pub account: AccountId,
    /// Its key.
    pub api_key: ApiKey,
    /// The session that begins.
    pub session_token: SessionToken,
    /// What the client is known by later: its wrong passwords are not counted among strangers'.
    pub client_token: ClientToken,
}

/// Where a right password leads.
pub enum Login {
    /// In.
    SignedIn(SignedIn),
    /// To a code that is on its way by e-mail.
    MfaRequired {
        /// What [`complete_login`](Accounts::complete_login) takes beside the code.
        mfa_token: MfaToken,
    },
}

/// What the storage knows of the account behind an address.
#[derive(Clone)]
pub struct Credentials {
    /// The account.
    pub account: AccountId,
    /// Its password's hash, where it has a password.
    pub password_hash: Option<PasswordHash>,
    /// Whether its address was confirmed.
    pub is_verified: bool,
    /// Whether its key is suspended.
    pub is_suspended: bool,
    /// Whether a second factor is asked for.
    pub mfa_enabled: bool,
    /// Its key, where it has one.
    pub key: Option<SealedKey>,
}

/// A key that can be handed back.
#[derive(Clone)]
pub struct SealedKey {
    /// The number of the key.
    pub id: KeyId,
    /// The key.
    pub sealed: Sealed,
}

/// A try that was reserved, or not.
pub struct ReservedTry {
    /// What a wrong password answers.
    pub verdict: Verdict,
    /// Where it was reserved, and whether the password may be looked at.
    pub reservation: Reservation,
    /// The account behind the address, verified or not.
    pub credentials: Option<Credentials>,
}

/// How a reserved try ended.
pub struct Conclusion {
    /// At whose address it was reserved.
    pub recipient: Digest<Email>,
    /// Where it was reserved.
    pub reservation: Reservation,
    /// The account behind the address.
    pub account: Option<AccountId>,
    /// Who tried.
    pub client: Client,
    /// What it came to.
    pub outcome: Outcome,
    /// When.
    pub at: Timestamp,
}

/// What a try came to.
pub enum Outcome {
    /// No password was looked at.
    NotLooked {
        /// Because of a lock.
        locked: bool,
    },
    /// A wrong password or an unknown address.
    Wrong {
        /// The letter for the owner, where this one sets a lock.
        notice: SealedMessage,
    },
    /// The right password of an account that may not log in.
    Refused,
    /// A session begins.
    SignedIn {
        /// The session.
        session: Session,
        /// What the client is known by from now on.
        known: KnownClient,
        /// The password's hash under today's parameters, where the old one is outdated.
        rehashed: Option<PasswordHash>,
    },
    /// A code goes out.
    MfaRequired {
        /// The code's challenge.
        challenge: Challenge,
        /// The letter with the code.
        message: SealedMessage,
        /// The password's hash under today's parameters, where the old one is outdated.
        rehashed: Option<PasswordHash>,
    },
}

/// How a try is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryStatus {
    /// A session began.
    Success,
    /// A wrong password, or an account that may not log in.
    Failed,
    /// No password was looked at.
    Locked,
}

impl TryStatus {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Success, Self::Failed, Self::Locked];

    /// The name on the wire, as in `success`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Locked => "locked",
        }
    }
}

/// How someone tried to sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginMethod {
    /// With a password, and a second factor where the account asks for it.
    Password,
    /// By the identity provider.
    Idp,
    /// By a hand-off to a desktop program.
    Desktop,
}

impl LoginMethod {
    /// All methods.
    pub const ALL: [Self; 3] = [Self::Password, Self::Idp, Self::Desktop];

    /// The name on the wire, as in `password`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Idp => "idp",
            Self::Desktop => "desktop",
        }
    }
}

/// Where login tries are counted and written down.
pub trait SignInStore: Send + Sync {
    /// Applies [`Tries::reserve`](crate::lockout::Tries::reserve) to the
    /// [`Counters`](crate::lockout::Counters) of the client, by the marks that the account knows
    /// ([`KNOWN_FOR`](crate::client::KNOWN_FOR)), and looks the account up, as one step.
    fn reserve_try(
        &self,
        email: &Email,
        recipient: Digest<Email>,
        marks: Marks,
        now: Timestamp,
    ) -> impl Future<Output = std::result::Result<ReservedTry, StoreError>> + Send;

    /// Concludes a try as one step: the counts at the address
    /// ([`Tries::conclude`](crate::lockout::Tries::conclude)), the login history, and the
    /// session with its known client, or the challenge with its letter, or the notice of a lock
    /// that this try set. A notice too many ([`SendQuota`](crate::outbox::Postage)) is dropped. Where the address got too many
    /// letters, challenge and letter are dropped and the earlier code stands. Answers the challenge
    /// that stands, where a second factor is asked for and there is one. Then the history gets its
    /// row from [`complete_mfa`](Self::complete_mfa).
    ///
    /// An account that has signed in before is told of a session from a network that it does not
    /// know ([`Notice::NewAddress`](crate::notification::Notice::NewAddress)), and of a lock once
    /// ([`Notice::Locked`](crate::notification::Notice::Locked)).
    fn conclude_try(
        &self,
        conclusion: Conclusion,
    ) -> impl Future<Output = std::result::Result<Option<ChallengeId>, StoreError>> + Send;

    /// Uses the challenge up, begins the session and remembers the client, as one step; answers
    /// the account's active key, or `None`, and nothing changed, where the challenge was used,
    /// replaced or has expired.
    fn complete_mfa(
        &self,
        challenge: ChallengeId,
        session: Session,
        known: KnownClient,
        client: &Client,
    ) -> impl Future<Output = std::result::Result<Option<SealedKey>, StoreError>> + Send;

    /// Writes a failed try into the login history; nobody's, where no account is known.
    fn record_failure(
        &self,
        account: Option<AccountId>,
        client: &Client,
        now: Timestamp,
    ) -> impl Future<Output = std::result::Result<(), StoreError>> + Send;
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Logs in with a password and hands the existing key back.
    ///
    /// Known and unknown addresses, locked or not, take one road: the same storage calls and one
    /// hash. Where the password may not be looked at, the hash is compared with nothing.
    ///
    /// # Errors
    ///
    /// [`Error::WrongCredentials`]; [`Error::Locked`] after five wrong passwords; after the right
    /// one [`Error::Unverified`] or [`Error::Suspended`]; [`Error::Busy`]; [`Error::Sealed`];
    /// [`Error::Store`].
    pub async fn login(
        &self,
        email: &Email,
        password: &Password,
        client: &Client,
        now: Timestamp,
    ) -> Result<Login> {
        let recipient = self.vault().email_digest(email);
        let permit = self.hasher().admit().await?;
        let marks = self.marks(&recipient, client);
        let reserved = self.store().reserve_try(email, recipient, marks, now).await?;
        let may_look = reserved.reservation.may_look();
        let known = reserved.credentials.as_ref().filter(|_| may_look);
        let hash = known.and_then(|known| known.password_hash.as_ref());
        let verification = self.hasher().verify(permit, password, hash).await;
        let account = reserved.credentials.as_ref().map(|known| known.account);
        let rehashed = verification.rehashed;
        let (outcome, answer) = match reserved.credentials.as_ref() {
            Some(known) if verification.matches => {
                self.login_outcome(email, known, rehashed, client, now)
            }
            known => self.refused_outcome(email, known, reserved.verdict, may_look, now),
        };
        let conclusion = Conclusion {
            recipient,
            reservation: reserved.reservation,
            account,
            client: client.clone(),
            outcome,
            at: now,
        };
        let limit_status = self.store().conclude_try(conclusion).await?;
        match (answer, limit_status) {
            // The earlier code stands where this one's letter was one too many.
            (Ok(Login::MfaRequired { .. }), Some(challenge)) => {
                Ok(Login::MfaRequired { mfa_token: self.vault().mfa_token(challenge) })
            }
            (answer, _) => answer,
        }
    }

    /// Completes a login with the code of its second step. Whoever sends the token of the first
    /// step along has tries of their own, so that a stranger who guesses burns none of them.
    ///
    /// # Errors
    ///
    /// [`Error::WrongCode`]; [`Error::Sealed`]; [`Error::Store`].
    pub async fn complete_login(
        &self,
        email: &Email,
        code: &Code,
        token: Option<&MfaToken>,
        client: &Client,
        now: Timestamp,
    ) -> Result<SignedIn> {
        let recipient = self.vault().email_digest(email);
        let proof = token.and_then(|token| self.vault().proven_challenge(token));
        let attempt = self.store().attempt(recipient, Purpose::Mfa, proof, now).await?;
        let Some((challenge, account)) = self.met(Purpose::Mfa, code, attempt) else {
            let account = attempt.and_then(|attempt| attempt.account);
            self.store().record_failure(account, client, now).await?;
            return Err(Error::WrongCode);
        };
        let (session_token, session) = self.new_session(account, now);
        let (client_token, known) = self.new_client(email, Some(client), now);
        let key = self.store().complete_mfa(challenge, session, known, client).await?;
        let api_key = self.open_key(account, &key.ok_or(Error::WrongCode)?)?;
        Ok(SignedIn { account, api_key, session_token, client_token })
    }

    /// Tells whether a session of this account is still valid, and counts as its use.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn session(
        &self,
        token: &SessionToken,
        account: AccountId,
        now: Timestamp,
    ) -> Result<bool> {
        let digest = self.vault().token_digest(token);
        let session = self.store().session(&digest).await?;
        let live = session.filter(|session| session.account == account && session.is_live(now));
        if live.is_some_and(|session| session.needs_touch(now)) {
            self.store().touch_session(&digest, now).await?;
        }
        Ok(live.is_some())
    }

    /// Ends a session of this account; `false` where there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn logout(&self, token: &SessionToken, account: AccountId) -> Result<bool> {
        Ok(self.store().end_session(&self.vault().token_digest(token), account).await?)
    }

    /// What a wrong password comes to, and one that may not be looked at: the answer is the same
    /// whoever has an account and whomever it knows.
    fn refused_outcome(
        &self,
        email: &Email,
        known: Option<&Credentials>,
        verdict: Verdict,
        may_look: bool,
        now: Timestamp,
    ) -> (Outcome, Result<Login>) {
        let is_verified = known.is_some_and(|known| known.is_verified);
        let notice = if is_verified {
            Content::AccountLocked
        } else {
            Content::Decoy { purpose: Purpose::Lock }
        };
        // Sealed in any case: the work is the same.
        let notice = self.message(email, notice, now);
        let outcome = if may_look {
            Outcome::Wrong { notice }
        } else {
            Outcome::NotLooked { locked: matches!(verdict, Verdict::Locked { .. }) }
        };
        (outcome, verdict.proceed().and(Err(Error::WrongCredentials)))
    }

    /// Decides what a right password comes to.
    fn login_outcome(
        &self,
        email: &Email,
        known: &Credentials,
        rehashed: Option<PasswordHash>,
        client: &Client,
        now: Timestamp,
    ) -> (Outcome, Result<Login>) {
        if !known.is_verified {
            return (Outcome::Refused, Err(Error::Unverified));
        }
        if known.is_suspended {
            return (Outcome::Refused, Err(Error::Suspended));
        }
        let key = known.key.as_ref().ok_or(Error::Sealed);
        let api_key = match key.and_then(|key| self.open_key(known.account, key)) {
            Ok(api_key) => api_key,
            Err(error) => return (Outcome::Refused, Err(error)),
        };
        if known.mfa_enabled {
            let account = Some(known.account);
            let (code, challenge) = self.new_challenge(Purpose::Mfa, account, email, now);
            let message = self.message(email, Content::Mfa { code }, now);
            let mfa_token = self.vault().mfa_token(challenge.id);
            let required = Login::MfaRequired { mfa_token };
            return (Outcome::MfaRequired { challenge, message, rehashed }, Ok(required));
        }
        let account = known.account;
        let (session_token, session) = self.new_session(account, now);
        let (client_token, known) = self.new_client(email, Some(client), now);
        let signed_in = SignedIn { account, api_key, session_token, client_token };
        (Outcome::SignedIn { session, known, rehashed }, Ok(Login::SignedIn(signed_in)))
    }

    /// Opens an account's sealed key.
    pub(crate) fn open_key(&self, account: AccountId, key: &SealedKey) -> Result<ApiKey> {
        let plain = self.vault().unseal(SealedKind::ApiKey, account, key.id.0, &key.sealed)?;
        std::str::from_utf8(&plain).ok().and_then(ApiKey::parse).ok_or(Error::Sealed)
    }
}

//! Login: a password, a second factor where the account asks for it, a session.

use crate::accounts::{Accounts, Store};
use crate::code::{Challenge, ChallengeId, Code, Purpose};
use crate::identity::{AccountId, Client, Email};
use crate::key::{ApiKey, KeyId};
use crate::letter::{Content, Letter, OutboxLetter};
use crate::lockout::Verdict;
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
}

/// Where a right password leads.
pub enum Login {
    /// In.
    SignedIn(SignedIn),
    /// To a code that is on its way by e-mail.
    MfaRequired,
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
    /// Whether the password may be looked at.
    pub verdict: Verdict,
    /// The account behind the address, verified or not.
    pub credentials: Option<Credentials>,
}

/// How a reserved try ended.
pub struct Conclusion {
    /// At whose address it was reserved.
    pub recipient: Digest<Email>,
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
    /// A wrong password or an unknown address.
    Wrong,
    /// The right password of an account that may not log in.
    Refused,
    /// A session begins.
    SignedIn {
        /// The session.
        session: Session,
        /// The password's hash under today's parameters, where the old one is outdated.
        rehashed: Option<PasswordHash>,
    },
    /// A code goes out.
    MfaRequired {
        /// The code's challenge.
        challenge: Challenge,
        /// The letter with the code.
        letter: OutboxLetter,
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

/// A try as the login history shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginTry {
    /// Its number.
    pub id: i64,
    /// Who tried.
    pub client: Client,
    /// What it came to.
    pub status: TryStatus,
    /// When.
    pub at: Timestamp,
}

/// Where login tries are counted and written down.
pub trait SignInStore: Send + Sync {
    /// Applies [`Lockout::reserve`](crate::lockout::Lockout::reserve) to the address and looks the
    /// account up, as one step. A try at a locked address goes into the login history.
    fn reserve_try(
        &self,
        email: &Email,
        recipient: Digest<Email>,
        client: &Client,
        now: Timestamp,
    ) -> impl Future<Output = std::result::Result<ReservedTry, StoreError>> + Send;

    /// Concludes a try as one step: the count at the address, the login history, and the session
    /// or the challenge with its letter. Where the address got too many letters, challenge and
    /// letter are dropped and the earlier code stands. With a second factor, the history gets its
    /// row from [`complete_mfa`](Self::complete_mfa).
    fn conclude_try(
        &self,
        conclusion: Conclusion,
    ) -> impl Future<Output = std::result::Result<(), StoreError>> + Send;

    /// Uses the challenge up and begins the session, as one step; answers the account's active
    /// key, or `None`, and nothing changed, where the challenge was used, replaced or has expired.
    fn complete_mfa(
        &self,
        challenge: ChallengeId,
        session: Session,
        client: &Client,
    ) -> impl Future<Output = std::result::Result<Option<SealedKey>, StoreError>> + Send;

    /// Lists an account's tries, newest first.
    fn login_history(
        &self,
        account: AccountId,
        limit: u32,
        offset: u32,
    ) -> impl Future<Output = std::result::Result<Vec<LoginTry>, StoreError>> + Send;
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Logs in with a password and hands the existing key back.
    ///
    /// Known and unknown addresses take one road: the same storage calls and one hash.
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
        let reserved = self.store().reserve_try(email, recipient, client, now).await?;
        match reserved.verdict {
            Verdict::Proceed => {}
            Verdict::Locked { until } => return Err(Error::Locked { until }),
            Verdict::Busy { retry_after } => return Err(Error::Busy { retry_after }),
        }
        let hash = reserved.credentials.as_ref().and_then(|known| known.password_hash.as_ref());
        let verification = self.hasher().verify(permit, password, hash).await;
        let account = reserved.credentials.as_ref().map(|known| known.account);
        let credentials = reserved.credentials.filter(|_| verification.matches);

        let (outcome, answer) =
            self.login_outcome(email, credentials.as_ref(), verification.rehashed, now);
        let conclusion =
            Conclusion { recipient, account, client: client.clone(), outcome, at: now };
        self.store().conclude_try(conclusion).await?;
        answer
    }

    /// Completes a login with the code of its second step.
    ///
    /// # Errors
    ///
    /// [`Error::WrongCode`]; [`Error::Sealed`]; [`Error::Store`].
    pub async fn verify_mfa(
        &self,
        email: &Email,
        code: &Code,
        client: &Client,
        now: Timestamp,
    ) -> Result<SignedIn> {
        let (challenge, account) = self.met_challenge(email, Purpose::Mfa, code, now).await?;
        let (session_token, session) = self.new_session(account, now);
        let key = self.store().complete_mfa(challenge, session, client).await?;
        let api_key = self.open_key(account, &key.ok_or(Error::WrongCode)?)?;
        Ok(SignedIn { account, api_key, session_token })
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

    /// Decides what a password comes to; `None` stands for a wrong one.
    fn login_outcome(
        &self,
        email: &Email,
        credentials: Option<&Credentials>,
        rehashed: Option<PasswordHash>,
        now: Timestamp,
    ) -> (Outcome, Result<Login>) {
        let Some(known) = credentials else {
            return (Outcome::Wrong, Err(Error::WrongCredentials));
        };
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
            let (code, challenge) = self.new_challenge(Purpose::Mfa, known.account, email, now);
            let letter = Letter { to: email.clone(), content: Content::Mfa { code } };
            let letter = letter.seal(self.vault(), self.entropy(), now);
            return (Outcome::MfaRequired { challenge, letter, rehashed }, Ok(Login::MfaRequired));
        }
        let (session_token, session) = self.new_session(known.account, now);
        let signed_in = SignedIn { account: known.account, api_key, session_token };
        (Outcome::SignedIn { session, rehashed }, Ok(Login::SignedIn(signed_in)))
    }

    /// Opens an account's sealed key.
    pub(crate) fn open_key(&self, account: AccountId, key: &SealedKey) -> Result<ApiKey> {
        let plain = self.vault().unseal(SealedKind::ApiKey, account, key.id.0, &key.sealed)?;
        std::str::from_utf8(&plain).ok().and_then(ApiKey::parse).ok_or(Error::Sealed)
    }
}

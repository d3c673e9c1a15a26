//! Sign-in attempts, one-time codes and sessions.

use std::net::IpAddr;

use crate::client::{Client, KnownClient, Marks};
use crate::code::{Attempt, Challenge, ChallengeId, Purpose};
use crate::digest::Digest;
use crate::identity::{AccountId, Email};
use crate::key::KeyId;
use crate::lockout::{Reservation, Verdict};
use crate::outbox::SealedMessage;
use crate::password::PasswordHash;
use crate::session::{Session, SessionId, SessionToken};
use crate::vault::Sealed;
use crate::{StoreError, Timestamp};

/// The stored credentials of the account with an e-mail address.
#[derive(Clone)]
pub struct Credentials {
    /// The number of the account.
    pub account: AccountId,
    /// The hash of the password; `None` for an account without one.
    pub password_hash: Option<PasswordHash>,
    /// True if the e-mail address is confirmed.
    pub is_verified: bool,
    /// True if the key is suspended.
    pub is_suspended: bool,
    /// True if a login requires a second factor.
    pub mfa_enabled: bool,
    /// The sealed API key; `None` where the account has none in use.
    pub key: Option<SealedKey>,
}

/// A sealed key that can be opened again.
#[derive(Clone)]
pub struct SealedKey {
    /// The number of the key.
    pub id: KeyId,
    /// The key in its sealed form.
    pub sealed: Sealed,
}

/// The answer to a reservation of an attempt.
pub struct ReservedTry {
    /// The verdict, for the answer to a wrong password.
    pub verdict: Verdict,
    /// The reservation, which states whether the password may be verified.
    pub reservation: Reservation,
    /// The account with the address, verified or not; `None` for an unknown address.
    pub credentials: Option<Credentials>,
}

impl Credentials {
    /// Returns whether an account is unchanged since its password was compared: the same password,
    /// key, suspension and second factor.
    #[must_use]
    pub fn is_as_before(&self, before: &Self) -> bool {
        let hash = |known: &Self| known.password_hash.as_ref().map(|hash| hash.0.clone());
        let key = |known: &Self| known.key.as_ref().map(|key| key.id);
        let state = |known: &Self| (known.is_verified, known.is_suspended, known.mfa_enabled);
        self.account == before.account
            && hash(self) == hash(before)
            && key(self) == key(before)
            && state(self) == state(before)
    }
}

/// The conclusion of a reserved attempt.
pub struct Conclusion {
    /// The digest of the address at which the attempt was reserved.
    pub recipient: Digest<Email>,
    /// The reservation that the attempt got.
    pub reservation: Reservation,
    /// The credentials with which the password was compared.
    pub known: Option<Credentials>,
    /// The client that made the attempt.
    pub client: Client,
    /// The outcome of the attempt.
    pub outcome: Outcome,
}

/// The effect of a conclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concluded {
    /// The outcome is stored. The value is the valid challenge, where a second factor is required.
    Done(Option<ChallengeId>),
    /// The account has changed since its password was compared: there is no session and no code,
    /// and the history has a failed attempt.
    Outdated,
}

/// The outcome of an attempt to log in by password.
pub enum Outcome {
    /// The password was not verified, because the attempt was refused before.
    NotLooked {
        /// True if a lock was the reason.
        locked: bool,
    },
    /// The password was wrong or the address unknown.
    Wrong {
        /// The e-mail for the owner, sent where this attempt causes a lock.
        notice: SealedMessage,
    },
    /// The password was right, but the account may not log in.
    Refused,
    /// The password was right, and the account is signed in.
    SignedIn {
        /// The session that begins with the sign-in.
        session: Session,
        /// The client, which the account knows from now on.
        known: KnownClient,
        /// A new hash of the password, where the stored one has outdated parameters; `None`
        /// otherwise.
        rehashed: Option<PasswordHash>,
    },
    /// A second factor is required, and a code is sent.
    MfaRequired {
        /// The challenge of the second factor's code.
        challenge: Challenge,
        /// The e-mail with the code.
        message: SealedMessage,
        /// A new hash of the password, where the stored one has outdated parameters; `None`
        /// otherwise.
        rehashed: Option<PasswordHash>,
    },
}

impl Outcome {
    /// Returns whether the outcome is a session or the code of a second factor.
    #[must_use]
    pub const fn begins_something(&self) -> bool {
        matches!(self, Self::SignedIn { .. } | Self::MfaRequired { .. })
    }
}

/// The status of an attempt in the login history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryStatus {
    /// The attempt began a session.
    Success,
    /// The password was wrong, or the account may not log in.
    Failed,
    /// The attempt met a lock, and its password was not verified.
    Locked,
}

impl TryStatus {
    /// All states of an attempt.
    pub const ALL: [Self; 3] = [Self::Success, Self::Failed, Self::Locked];

    /// Returns the name on the wire, as in `success`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Locked => "locked",
        }
    }
}

/// The method by which an account signs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginMethod {
    /// A password, with a second factor where the account requires one.
    Password,
    /// A proven identity of the identity provider.
    Idp,
    /// A hand-off to a desktop program.
    Desktop,
}

impl LoginMethod {
    /// All methods of a sign-in.
    pub const ALL: [Self; 3] = [Self::Password, Self::Idp, Self::Desktop];

    /// Returns the name on the wire, as in `password`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Idp => "idp",
            Self::Desktop => "desktop",
        }
    }
}

/// An attempt in the login history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginTry {
    /// The number of the attempt.
    pub id: i64,
    /// The network address of the client.
    pub address: IpAddr,
    /// The client's `User-Agent`, without control characters.
    pub user_agent: String,
    /// The status of the attempt.
    pub status: TryStatus,
    /// The method of the attempt.
    pub method: LoginMethod,
    /// The time at which the attempt was made.
    pub at: Timestamp,
}

/// A part of an account's login history, with counts of the whole history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginHistory {
    /// The latest attempts, newest first.
    pub entries: Vec<LoginTry>,
    /// The number of attempts in the whole history.
    pub total: u64,
    /// The number of attempts that began a session.
    pub successful: u64,
    /// The number of attempts that began no session, including those refused by a lock.
    pub failed: u64,
}

/// A session, as listed for its owner.
#[derive(Clone)]
pub struct ListedSession {
    /// The number of the session.
    pub id: SessionId,
    /// The session.
    pub session: Session,
    /// The address from which the session began.
    pub address: IpAddr,
    /// The `User-Agent` of the client that began the session.
    pub user_agent: String,
}

/// A page of an account's live sessions.
#[derive(Clone)]
pub struct SessionPage {
    /// The sessions of the page, newest first.
    pub sessions: Vec<ListedSession>,
    /// The number of all live sessions.
    pub total: u64,
}

/// The storage of sign-in attempts, their counters and history, one-time codes, and sessions.
pub trait SignInStore: Send + Sync {
    /// Reserves an attempt and looks up the account, in one transaction.
    /// [`Tries::reserve`](crate::lockout::Tries::reserve) is applied to the
    /// [`Counters`](crate::lockout::Counters) of the client, which depend on the marks that the
    /// account knows ([`KNOWN_FOR`](crate::client::KNOWN_FOR)).
    fn reserve_try(
        &self,
        email: &Email,
        recipient: Digest<Email>,
        marks: Marks,
    ) -> impl Future<Output = Result<ReservedTry, StoreError>> + Send;

    /// Concludes an attempt, in one transaction: the counts at the address
    /// ([`Tries::conclude`](crate::lockout::Tries::conclude)), the login history, and the effects
    /// of the outcome. The effects are the session with its known client, the challenge with its
    /// e-mail, or the notice of a lock that this attempt caused. Beyond the
    /// [`SendQuota`](crate::outbox::SendQuota), a notice is dropped, and so is a challenge with its
    /// e-mail; the earlier code then stays valid. Returns the valid challenge where a second factor
    /// is required; [`complete_mfa`](Self::complete_mfa) then writes the history. A right password
    /// has no effect where the account has changed since ([`Credentials::is_as_before`]): an event
    /// that ended credentials in the meantime would otherwise not end this one.
    ///
    /// An account with an earlier sign-in gets a notice of a session from an unknown network
    /// ([`Notice::SignInFromNewAddress`](crate::notification::Notice::SignInFromNewAddress)), and one notice of a lock
    /// ([`Notice::Locked`](crate::notification::Notice::Locked)).
    fn conclude_try(
        &self,
        conclusion: Conclusion,
    ) -> impl Future<Output = Result<Concluded, StoreError>> + Send;

    /// Consumes the challenge, begins the session and stores the client as known, in one
    /// transaction. Returns the account's active key, or `None`, with nothing changed, where the
    /// challenge was used, was replaced or has expired.
    fn complete_mfa(
        &self,
        challenge: ChallengeId,
        session: Session,
        known: KnownClient,
        client: &Client,
    ) -> impl Future<Output = Result<Option<SealedKey>, StoreError>> + Send;

    /// Writes a failed attempt into the login history, without an account where none is known.
    fn record_failure(
        &self,
        account: Option<AccountId>,
        client: &Client,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reserves an attempt in [`Counter::Confirmations`](crate::lockout::Counter::Confirmations)
    /// and looks up the account, in one transaction.
    fn reserve_confirmation(
        &self,
        email: &Email,
        recipient: Digest<Email>,
    ) -> impl Future<Output = Result<ReservedTry, StoreError>> + Send;

    /// Concludes a reserved attempt to confirm a change by a password.
    fn conclude_confirmation(
        &self,
        recipient: Digest<Email>,
        reservation: Reservation,
        right: bool,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Lists login attempts, newest first, and counts all of them.
    fn login_history(
        &self,
        account: AccountId,
        limit: u32,
        offset: u32,
    ) -> impl Future<Output = Result<LoginHistory, StoreError>> + Send;

    /// Saves an e-mail and its challenge, in one transaction, in place of the address's earlier
    /// challenge of the same purpose. Changes nothing beyond the quota
    /// ([`SendQuota::allows`](crate::outbox::SendQuota::allows)), and where the account of the
    /// challenge is in the wrong state: a registration requires an unverified account, every other
    /// purpose a verified one.
    fn send_code(
        &self,
        challenge: Challenge,
        message: SealedMessage,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Counts an attempt at the live challenge of this recipient and purpose, and returns the
    /// attempt. Attempts with a `proof`, the number of that challenge, are counted separately.
    ///
    /// `None`, where there is no challenge, the challenge is used or expired
    /// ([`Challenge::is_live`]), or its [`TRIES`](crate::code::TRIES) are used up. An expired
    /// challenge is invalidated for good, so that a clock that moves backwards does not revive the
    /// challenge.
    fn attempt(
        &self,
        recipient: Digest<Email>,
        purpose: Purpose,
        proof: Option<ChallengeId>,
    ) -> impl Future<Output = Result<Option<Attempt>, StoreError>> + Send;

    /// Finds a session by the digest of its token; `None` for an unknown token.
    fn session(
        &self,
        digest: &Digest<SessionToken>,
    ) -> impl Future<Output = Result<Option<Session>, StoreError>> + Send;

    /// Records a use of a session, unless a later use is recorded already.
    fn touch_session(
        &self,
        digest: &Digest<SessionToken>,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Ends a session of this account; `false` where there is no such session.
    fn end_session(
        &self,
        digest: &Digest<SessionToken>,
        account: AccountId,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Lists an account's live sessions ([`Session::is_live`]), newest first, and counts them.
    fn sessions(
        &self,
        account: AccountId,
        now: Timestamp,
        limit: u32,
        offset: u32,
    ) -> impl Future<Output = Result<SessionPage, StoreError>> + Send;

    /// Ends a session by its number. Returns `false` where the account has no such session.
    fn end_numbered_session(
        &self,
        account: AccountId,
        session: SessionId,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Ends all sessions of an account except `kept`, in one transaction, and returns their number.
    /// Hand-off codes, codes of a second factor and codes of a change of address become invalid.
    fn end_sessions(
        &self,
        account: AccountId,
        kept: Option<&Digest<SessionToken>>,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;
}

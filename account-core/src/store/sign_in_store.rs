//! Sign-in tries, one-time codes and sessions.

use std::net::IpAddr;

use crate::client::{Client, KnownClient, Marks};
use crate::code::{Attempt, Challenge, ChallengeId, Purpose};
use crate::digest::Digest;
use crate::identity::{AccountId, Email};
use crate::key::KeyId;
use crate::lockout::{Reservation, Verdict};
use crate::outbox::SealedMessage;
use crate::password::PasswordHash;
use crate::session::{Session, SessionToken};
use crate::vault::Sealed;
use crate::{StoreError, Timestamp};

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

impl Credentials {
    /// Whether an account is as it was when a password was compared with its hash: the same
    /// password, key, suspension and second factor.
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

/// How a reserved try ended.
pub struct Conclusion {
    /// At whose address it was reserved.
    pub recipient: Digest<Email>,
    /// Where it was reserved.
    pub reservation: Reservation,
    /// The account behind the address, as the password was compared with it.
    pub known: Option<Credentials>,
    /// Who tried.
    pub client: Client,
    /// What it came to.
    pub outcome: Outcome,
}

/// What became of a try that was concluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concluded {
    /// The outcome is stored. The challenge that stands, where a second factor is asked for.
    Done(Option<ChallengeId>),
    /// The account has changed since its password was compared: no session and no code, and a
    /// failed try in the history.
    Outdated,
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
        /// The message for the owner, where this one sets a lock.
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
        /// The message with the code.
        message: SealedMessage,
        /// The password's hash under today's parameters, where the old one is outdated.
        rehashed: Option<PasswordHash>,
    },
}

impl Outcome {
    /// Whether a session or the code of a second factor comes of the try.
    #[must_use]
    pub const fn begins_something(&self) -> bool {
        matches!(self, Self::SignedIn { .. } | Self::MfaRequired { .. })
    }
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

/// A try as the login history shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginTry {
    /// Its number.
    pub id: i64,
    /// Where it came from.
    pub address: IpAddr,
    /// What the client called itself.
    pub user_agent: String,
    /// What it came to.
    pub status: TryStatus,
    /// How it was made.
    pub method: LoginMethod,
    /// When.
    pub at: Timestamp,
}

/// Some of an account's logins, and how many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginHistory {
    /// Newest first.
    pub entries: Vec<LoginTry>,
    /// All tries.
    pub total: u64,
    /// Those that began a session.
    pub successful: u64,
    /// Those that did not, locked ones among them.
    pub failed: u64,
}

/// The storage of sign-in tries, their counters and history, one-time codes, and sessions.
pub trait SignInStore: Send + Sync {
    /// Applies [`Tries::reserve`](crate::lockout::Tries::reserve) to the
    /// [`Counters`](crate::lockout::Counters) of the client, by the marks that the account knows
    /// ([`KNOWN_FOR`](crate::client::KNOWN_FOR)), and looks the account up, as one step.
    fn reserve_try(
        &self,
        email: &Email,
        recipient: Digest<Email>,
        marks: Marks,
    ) -> impl Future<Output = Result<ReservedTry, StoreError>> + Send;

    /// Concludes a try as one step: the counts at the address
    /// ([`Tries::conclude`](crate::lockout::Tries::conclude)), the login history, and the
    /// session with its known client, or the challenge with its message, or the notice of a lock
    /// that this try set. A notice too many ([`SendQuota`](crate::outbox::SendQuota)) is dropped. Where the address got too many
    /// messages, challenge and message are dropped and the earlier code stands. Answers the challenge
    /// that stands, where a second factor is asked for and there is one. Then the history gets its
    /// row from [`complete_mfa`](Self::complete_mfa). A right password begins nothing where the
    /// account is not as it was when the password was compared ([`Credentials::is_as_before`]): what
    /// ended credentials in the meantime would otherwise miss this one.
    ///
    /// An account that has signed in before is told of a session from a network that it does not
    /// know ([`Notice::NewAddress`](crate::notification::Notice::NewAddress)), and of a lock once
    /// ([`Notice::Locked`](crate::notification::Notice::Locked)).
    fn conclude_try(
        &self,
        conclusion: Conclusion,
    ) -> impl Future<Output = Result<Concluded, StoreError>> + Send;

    /// Uses the challenge up, begins the session and remembers the client, as one step; answers
    /// the account's active key, or `None`, and nothing changed, where the challenge was used,
    /// replaced or has expired.
    fn complete_mfa(
        &self,
        challenge: ChallengeId,
        session: Session,
        known: KnownClient,
        client: &Client,
    ) -> impl Future<Output = Result<Option<SealedKey>, StoreError>> + Send;

    /// Writes a failed try into the login history; nobody's, where no account is known.
    fn record_failure(
        &self,
        account: Option<AccountId>,
        client: &Client,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reserves a try at [`Counter::Confirmations`](crate::lockout::Counter::Confirmations) and
    /// looks the account up, as one step.
    fn reserve_confirmation(
        &self,
        email: &Email,
        recipient: Digest<Email>,
    ) -> impl Future<Output = Result<ReservedTry, StoreError>> + Send;

    /// Concludes a reserved confirmation.
    fn conclude_confirmation(
        &self,
        recipient: Digest<Email>,
        reservation: Reservation,
        right: bool,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Lists login tries, newest first, and counts them.
    fn login_history(
        &self,
        account: AccountId,
        limit: u32,
        offset: u32,
    ) -> impl Future<Output = Result<LoginHistory, StoreError>> + Send;

    /// Saves a message, and its challenge in place of the address's earlier one of that purpose, as
    /// one step. Changes nothing where the address got too many messages
    /// ([`SendQuota::allows`](crate::outbox::SendQuota::allows)), or where the account that the
    /// challenge names is not what the purpose asks for: unverified for a registration, verified
    /// for anything else.
    fn send_code(
        &self,
        challenge: Challenge,
        message: SealedMessage,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Counts a try of the one live challenge of this recipient and purpose, and answers it. Tries
    /// with a `proof`, the number of that very challenge, are counted apart from all others.
    ///
    /// `None`, where there is none, it is used or expired ([`Challenge::is_live`]), or its
    /// [`TRIES`](crate::code::TRIES) are used up. One that is found expired is put out of use for good, so that a
    /// clock going back does not revive it.
    fn attempt(
        &self,
        recipient: Digest<Email>,
        purpose: Purpose,
        proof: Option<ChallengeId>,
    ) -> impl Future<Output = Result<Option<Attempt>, StoreError>> + Send;

    /// Finds a session.
    fn session(
        &self,
        digest: &Digest<SessionToken>,
    ) -> impl Future<Output = Result<Option<Session>, StoreError>> + Send;

    /// Writes down that a session was used, unless a later use is written down already.
    fn touch_session(
        &self,
        digest: &Digest<SessionToken>,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Ends a session of this account; `false` where there is none.
    fn end_session(
        &self,
        digest: &Digest<SessionToken>,
        account: AccountId,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

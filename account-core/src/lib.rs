//! The rules of accounts: authentication, limits, credits and sign-in.
//!
//! Nothing in this crate reads a clock, an environment variable or a file, draws random numbers of
//! its own, or names a database. Time ([`Timestamp`]), randomness ([`rand::CryptoRng`]) and secrets
//! ([`Vault`]) are arguments. Storage is a set of traits, one for each aggregate, in [`store`].
//!
//! | module | subject |
//! |---|---|
//! | [`accounts`] | the service on top of all other modules: registration, sign-in, keys, operators' calls |
//! | [`store`] | the storage traits, and the rows that the traits pass |
//! | [`tier`] | tiers, the cost of an endpoint, hourly limits |
//! | [`key`], [`vault`], [`digest`] | API keys, their digests, and their encryption at rest |
//! | [`signing`] | keys that sign statements of the service, and the public keys that verify them |
//! | [`identity`], [`client`], [`password`] | e-mail addresses, names, contact details, known clients, passwords |
//! | [`code`], [`outbox`] | one-time codes; e-mails and chat messages that wait to be sent |
//! | [`oauth`] | clients, consent, codes and tokens of the OAuth 2.1 server |
//! | [`id_token`], [`hand_off`], [`token`] | sign-in by an identity provider, and its hand-off to a program or page |
//! | [`notification`] | notices, broadcasts, preferences |
//! | [`lockout`], [`session`] | counters of wrong passwords; sessions |
//! | [`revocation`] | the credentials that each change of an account's security ends |
//! | [`limit`] | limits over a rolling hour and a UTC day, of one instance or shared by several |
//! | [`credits`] | debits, grants, and the ledger whose sum is the balance |
//! | [`spend_cap`] | the cap of credits a day that an account sets for itself |
//! | [`operation`] | operators' actions on accounts, with their reasons |
//! | [`idempotency`] | repeated requests |
//! | [`guest`] | keys without an account |
//! | [`reseal`] | re-encryption of stored secrets under a new data key |
//! | [`random`] | secrets and identifiers drawn from a generator |

pub mod accounts;
pub mod client;
pub mod code;
pub mod credits;
pub mod digest;
mod error;
pub mod guest;
pub mod hand_off;
pub mod id_token;
pub mod idempotency;
pub mod identity;
pub mod key;
pub mod limit;
pub mod lockout;
pub mod notification;
pub mod oauth;
pub mod operation;
pub mod outbox;
pub mod password;
pub mod random;
pub mod reseal;
pub mod revocation;
pub mod session;
pub mod signing;
pub mod spend_cap;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tier;
pub mod token;
pub mod vault;

pub use accounts::{
    AccountList, AccountOverview, Accounts, Cleaned, Confirmation, Created, DailyUsage,
    EndpointUsage, IdpLogin, Login, NewAccount, NewProfile, OidcOutcome, Page, Registration,
    SignedIn, Transactions, UsageQuery, UsageReport, UsageSummary,
};
pub use client::{Client, ClientToken};
pub use code::{Code, EmailChangeCodes, MfaToken};
pub use credits::{
    Audit, AuditFault, Entry, FaultKind, MinuteCount, ResultTemplate, Settlement, TallyFigure,
    TransactionKind, Usage,
};
pub use digest::Digest;
pub use error::{Error, Result, StoreError};
pub use guest::{Device, GuestIssued};
pub use hand_off::{Destination, LoopbackUrl, SealedForm};
pub use id_token::{Claims, Expected, IdTokenError, ProvenIdentity};
pub use identity::{AccountId, CallerId, Contact, Email, GuestId, Username};
pub use key::{AccountCaller, ApiKey, AuthError, Caller, GuestCaller, KeyDigest, KeyId, KeyKind};
pub use limit::{GuestDay, GuestLimits, LimitDecision, LimitStatus, RollingHour};
pub use notification::{
    Announcement, Channels, ChatId, Notice, NotificationId, PreferenceChanges, Preferences,
};
pub use oauth::{AccessToken, Bearer};
pub use operation::{Operation, OperatorAction, Reason};
pub use password::{Busy, Password, PasswordHash, PasswordHasher};
pub use random::SharedRng;
pub use revocation::SecurityEvent;
pub use session::{SessionId, SessionToken};
pub use spend_cap::{CapMark, CapNotice, CappedDay, Funds, SpendCap, Spending};
pub use store::{
    Inbox, KeyStatus, ListedResult, ListedSession, LoginHistory, LoginMethod, LoginTry,
    Notification, Profile, ProfileChanges, ResultId, SessionPage, Store, StoredResult,
    Subscription, Transaction, TryStatus, UsageRequest,
};
pub use tier::Tier;
pub use token::{BrowserToken, CompletionToken, EmailUndoToken, HandOffCode, StateToken};
pub use vault::{MasterKey, Vault};

/// A time in UTC. Stores keep microseconds, so that finer parts are lost.
pub type Timestamp = chrono::DateTime<chrono::Utc>;

//! The rules of accounts: who may call, how often, and at what cost.
//!
//! Nothing in this crate reads a clock, an environment variable or a file, draws randomness of its
//! own, or knows a database: time ([`Timestamp`]), randomness ([`Entropy`]) and
//! secrets ([`Vault`]) are arguments, and storage is a set of small traits, one per
//! aggregate, gathered in [`Store`].
//!
//! | module | what it rules |
//! |---|---|
//! | [`accounts`] | the service over all of the below: registration, sign-in, keys, operator's calls |
//! | [`tier`] | tiers, what an endpoint costs, hourly limits |
//! | [`key`], [`vault`] | API keys, their digests, and how they are kept |
//! | [`identity`], [`client`], [`password`] | e-mail addresses, names, contact details, known clients, passwords |
//! | [`code`], [`outbox`] | one-time codes and the letters that carry them |
//! | [`oauth`] | clients, consent, codes and tokens of the OAuth 2.1 server |
//! | [`id_token`], [`hand_off`], [`token`] | sign-in elsewhere, and what is handed on of it |
//! | [`notification`] | notices, broadcasts, preferences |
//! | [`lockout`], [`session`] | wrong passwords counted, sign-ins remembered |
//! | [`limit`] | rolling hours and UTC days, alone or shared by several instances |
//! | [`credits`] | debits, grants and the ledger that proves them |
//! | [`idempotency`] | requests that are sent again |
//! | [`guest`] | keys without an account |
//! | [`reseal`] | a new data key for what an old one sealed |
//!
//! A store decides nothing: where a rule and a write must be one step, the store applies the pure
//! function of this crate inside its transaction ([`Lockout::reserve`](lockout::Lockout::reserve),
//! [`SendQuota::allows`](outbox::Postage::allows), [`credits::decide`],
//! [`SharedWindow::lease`](limit::lease::Shared::lease)).

pub mod accounts;
pub mod client;
pub mod code;
pub mod credits;
pub mod entropy;
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
pub mod outbox;
pub mod password;
pub mod reseal;
pub mod session;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tier;
pub mod token;
pub mod vault;

pub use accounts::{
    Accounts, Cleaned, Confirmation, Created, DailyUsage, EndpointUsage, IdpLogin, Inbox,
    KeyStatus, Login, LoginHistory, LoginMethod, LoginTry, NewAccount, NewProfile, Notification,
    OidcOutcome, Page, Profile, ProfileChanges, Registration, ResultId, SignedIn, Store,
    StoredResult, Subscription, Transaction, Transactions, TryStatus, UsageQuery, UsageReport,
    UsageRequest, UsageSummary,
};
pub use client::{Client, ClientToken};
pub use code::{Code, MfaToken};
pub use credits::{
    Audit, AuditFault, CallerId, Entry, FaultKind, Ledger, MinuteCount, ResultTemplate, Settlement,
    TransactionKind, Usage,
};
pub use entropy::Entropy;
pub use error::{Error, Result, StoreError};
pub use guest::{Device, GuestId, GuestIssued};
pub use hand_off::{Destination, LoopbackUrl, SealedForm};
pub use id_token::{Claims, Expected, IdTokenError, ProvenIdentity};
pub use identity::{AccountId, Contact, Email, Username};
pub use key::{AccountCaller, ApiKey, AuthError, Caller, GuestCaller, KeyDigest, KeyId, KeyKind};
pub use limit::{GuestDay, GuestLimits, LimitDecision, LimitStatus, RollingHour};
pub use notification::{
    Announcement, Channels, ChatId, Notice, NotificationId, PreferenceChanges, Preferences,
};
pub use oauth::{AccessToken, Bearer};
pub use password::{Busy, Password, PasswordHash, PasswordHasher};
pub use session::SessionToken;
pub use tier::Tier;
pub use token::{BrowserToken, CompletionToken, HandOffCode, StateToken};
pub use vault::{MasterKey, Vault};

/// A moment in UTC. Stores keep microseconds, so nothing finer survives.
pub type Timestamp = chrono::DateTime<chrono::Utc>;

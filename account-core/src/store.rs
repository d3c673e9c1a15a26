//! The storage behind the rules: one trait for each aggregate, and the rows that the traits pass.
//!
//! A store decides nothing. Where a rule and a write must be one transaction, the store applies the
//! pure function of this crate inside its transaction:
//! [`Tries::reserve`](crate::lockout::Tries::reserve),
//! [`SendQuota::allows`](crate::outbox::SendQuota::allows),
//! [`credits::decide`](crate::credits::decide),
//! [`SharedWindow::lease`](crate::limit::lease::SharedWindow::lease). Each method is one
//! transaction.
//!
//! A rule that compares a stored time with the time now reads the clock of the store
//! ([`Store::with_clock`]), after the transaction holds its locks. The arrival time of a request is
//! stored and never compared: a request that waited for a lock may have arrived before the stored
//! time was written.
//!
//! [`testing::MemoryStore`](crate::testing::MemoryStore) is the reference, and
//! [`store_contract!`](crate::store_contract) makes the tests that every store must pass.

use crate::Timestamp;

mod account_store;
mod clean_up_store;
mod email_change_store;
mod external_identity_store;
mod key_store;
mod lease_store;
mod ledger_store;
mod notification_store;
mod oauth_store;
mod operator_store;
mod sign_in_store;
mod vault_store;

pub use account_store::{
    AccountRow, AccountStore, Change, ConfirmedForm, Creation, Deletion, DeletionProof, KeyStatus,
    MfaChange, MfaChanged, NewRegistration, PasswordChange, PasswordProof, PendingRegistration,
    Profile, ProfileChanges, Registered, Subscription, Updated,
};
pub use clean_up_store::{CleanUpStore, Stale};
pub use email_change_store::{
    EmailChange, EmailChangeRequest, EmailChangeStore, EmailChanged, EmailUndo, UndoneEmailChange,
};
pub use external_identity_store::{
    CompletionRow, ExternalIdentityStore, IdpAccount, KnownIdentity, NewHandOff, OpenedSession,
    StartRow,
};
pub use key_store::KeyStore;
pub use lease_store::LeaseStore;
pub use ledger_store::{
    LedgerStore, ListedResult, ResultId, StoredResult, Transaction, UsageFilter, UsageRequest,
    UsageTally,
};
pub use notification_store::{
    Batch, Inbox, Notification, NotificationStore, Recipient, TEST_COOLDOWN,
};
pub use oauth_store::OauthStore;
pub use operator_store::{AccountFilter, AccountState, Booked, Booking, OperatorStore};
pub use sign_in_store::{
    Concluded, Conclusion, Credentials, ListedSession, LoginHistory, LoginMethod, LoginTry,
    Outcome, ReservedTry, SealedKey, SessionPage, SignInStore, TryStatus,
};
pub use vault_store::{Resealed, SealedRow, VaultStore};

/// The whole storage that [`Accounts`](crate::accounts::Accounts) needs.
///
/// [`LeaseStore`] is separate, because the limits of several instances may be in another storage.
pub trait Store:
    AccountStore
    + CleanUpStore
    + EmailChangeStore
    + ExternalIdentityStore
    + KeyStore
    + LedgerStore
    + NotificationStore
    + OauthStore
    + OperatorStore
    + SignInStore
    + VaultStore
    + 'static
{
    /// Returns the store with another clock, which the store reads under its locks.
    #[must_use]
    fn with_clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self
    where
        Self: Sized;
}

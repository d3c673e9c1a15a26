//! The service: every call that an account, a guest or an operator makes, over the storage traits.
//!
//! The calls are gathered by topic: registration and its codes in [`registration`], login in
//! [`sign_in`], by an identity provider in [`external_sign_in`], forgotten passwords in
//! [`recovery`], keys and guests in [`access`], what an owner changes in [`owner`] and looks at in
//! [`activity`] and [`subscription`], the inbox and broadcasts in [`notifications`], what clients are
//! granted in [`oauth`], what a browser carries in [`browser`], what an operator does in
//! [`operator`], what was answered to a gateway's caller in [`results`], and what goes by itself in
//! [`clean_up`].

use std::sync::Arc;

use crate::code::CodeStore;
use crate::credits::Ledger;
use crate::entropy::Entropy;
use crate::guest::GuestStore;
use crate::idempotency::IdempotencyStore;
use crate::key::KeyStore;
use crate::oauth::{ClientStore, GrantStore};
use crate::outbox::OutboxStore;
use crate::password::PasswordHasher;
use crate::reseal::ResealStore;
use crate::session::SessionStore;
use crate::vault::{Vault, VaultStore};

pub mod access;
pub mod activity;
pub mod browser;
pub mod clean_up;
pub mod external_sign_in;
pub mod notifications;
pub mod oauth;
pub mod operator;
pub mod owner;
pub mod recovery;
pub mod registration;
pub mod results;
pub mod sign_in;
pub mod subscription;

pub use activity::{
    ActivityStore, DailyUsage, EndpointUsage, LoginHistory, LoginTry, Page, Transaction,
    Transactions, UsageQuery, UsageReport, UsageRequest, UsageSummary,
};
pub use clean_up::{CleanUpStore, Cleaned};
pub use external_sign_in::{
    Completed, HandOffStore, IdentityStore, IdpLogin, NewProfile, OidcOutcome,
};
pub use notifications::{BroadcastStore, Inbox, InboxStore, Notification, PreferenceStore};
pub use operator::{AccountStore, Created, KeyStatus, NewAccount, Profile};
pub use owner::{Confirmation, OwnerStore, ProfileChanges};
pub use recovery::RecoveryStore;
pub use registration::{Registration, RegistrationStore};
pub use results::{ResultId, ResultStore, StoredResult};
pub use sign_in::{Login, LoginMethod, ReservedTry, SignInStore, SignedIn, TryStatus};
pub use subscription::{Subscription, SubscriptionStore};

/// Everything that a storage does for accounts: one trait per aggregate.
pub trait Store:
    AccountStore
    + ActivityStore
    + BroadcastStore
    + CleanUpStore
    + ClientStore
    + CodeStore
    + GrantStore
    + GuestStore
    + IdempotencyStore
    + HandOffStore
    + IdentityStore
    + InboxStore
    + KeyStore
    + Ledger
    + OutboxStore
    + OwnerStore
    + PreferenceStore
    + RecoveryStore
    + RegistrationStore
    + ResultStore
    + ResealStore
    + SessionStore
    + SignInStore
    + SubscriptionStore
    + VaultStore
    + 'static
{
}

impl<S> Store for S where
    S: AccountStore
        + ActivityStore
        + BroadcastStore
        + CleanUpStore
        + ClientStore
        + CodeStore
        + GrantStore
        + GuestStore
        + IdempotencyStore
        + HandOffStore
        + IdentityStore
        + InboxStore
        + KeyStore
        + Ledger
        + OutboxStore
        + OwnerStore
        + PreferenceStore
        + RecoveryStore
        + RegistrationStore
        + ResultStore
        + ResealStore
        + SessionStore
        + SignInStore
        + SubscriptionStore
        + VaultStore
        + 'static
{
}

/// The service. A clone is another handle to the same parts.
pub struct Accounts<S, H> {
    parts: Arc<Parts<S, H>>,
}

struct Parts<S, H> {
    store: S,
    hasher: H,
    vault: Arc<Vault>,
    entropy: Arc<dyn Entropy>,
}

impl<S, H> Clone for Accounts<S, H> {
    fn clone(&self) -> Self {
        Self { parts: Arc::clone(&self.parts) }
    }
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Puts the service together.
    #[must_use]
    pub fn new(store: S, hasher: H, vault: Arc<Vault>, entropy: Arc<dyn Entropy>) -> Self {
        Self { parts: Arc::new(Parts { store, hasher, vault, entropy }) }
    }

    /// The storage, for what needs no rule: the ledger, the outbox.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.parts.store
    }

    fn hasher(&self) -> &H {
        &self.parts.hasher
    }

    fn vault(&self) -> &Vault {
        &self.parts.vault
    }

    fn entropy(&self) -> &dyn Entropy {
        &*self.parts.entropy
    }
}

//! The service: every call that an account, a guest or an operator makes, over the storage traits.
//!
//! The calls are grouped by topic: registration and its codes in [`registration`], login in
//! [`sign_in`], sign-in by an identity provider in [`external_sign_in`], forgotten passwords in
//! [`recovery`], keys and guests in [`access`], changes by the owner in [`owner`], changes of the
//! e-mail address in [`email_change`], usage and history in [`activity`], subscriptions in [`subscription`], the inbox and broadcasts in
//! [`notifications`], grants to clients in [`oauth`], the list of sessions in [`sessions`], browser
//! sessions in [`browser`], operators' calls in [`operator`], stored results in [`results`], and
//! removal of expired rows in [`clean_up`].

use std::sync::Arc;

use crate::password::PasswordHasher;
use crate::random::SharedRng;
use crate::store::Store;
use crate::vault::Vault;

pub mod access;
pub mod activity;
pub mod browser;
pub mod clean_up;
pub mod email_change;
pub mod external_sign_in;
pub mod notifications;
pub mod oauth;
pub mod operator;
pub mod owner;
pub mod recovery;
pub mod registration;
pub mod results;
pub mod sessions;
pub mod sign_in;
pub mod subscription;

pub use activity::{
    DailyUsage, EndpointUsage, Page, Transactions, UsageQuery, UsageReport, UsageSummary,
};
pub use clean_up::Cleaned;
pub use external_sign_in::{Completed, IdpLogin, NewProfile, OidcOutcome};
pub use operator::{Created, NewAccount};
pub use owner::Confirmation;
pub use registration::Registration;
pub use sign_in::{Login, SignedIn};

/// The service. A clone is another handle to the same parts.
pub struct Accounts<S, H> {
    parts: Arc<Parts<S, H>>,
}

struct Parts<S, H> {
    store: S,
    hasher: H,
    vault: Arc<Vault>,
    rng: SharedRng,
}

impl<S, H> Clone for Accounts<S, H> {
    fn clone(&self) -> Self {
        Self { parts: Arc::clone(&self.parts) }
    }
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Puts the service together.
    #[must_use]
    pub fn new(store: S, hasher: H, vault: Arc<Vault>, rng: SharedRng) -> Self {
        Self { parts: Arc::new(Parts { store, hasher, vault, rng }) }
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

    fn rng(&self) -> SharedRng {
        self.parts.rng.clone()
    }
}

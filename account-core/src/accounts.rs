//! The service: every call of an account, a guest or an operator, on top of the storage traits.
//!
//! | module | calls |
//! |---|---|
//! | [`registration`] | registration and its codes |
//! | [`sign_in`], [`external_sign_in`] | login; sign-in by an identity provider, and hand-offs |
//! | [`recovery`] | forgotten passwords |
//! | [`access`] | keys and guests |
//! | [`owner`], [`email_change`] | changes by the owner; changes of the e-mail address |
//! | [`activity`], [`results`] | usage and history; stored results |
//! | [`subscription`], [`notifications`] | subscriptions; the inbox and broadcasts |
//! | [`sessions`], [`browser`] | the list of sessions; browser sessions |
//! | [`oauth`] | grants to clients |
//! | [`operator`], [`clean_up`] | operators' calls; removal of expired rows |

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
pub use operator::{AccountList, AccountOverview, Created, NewAccount};
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
    /// Makes the service of its parts.
    #[must_use]
    pub fn new(store: S, hasher: H, vault: Arc<Vault>, rng: SharedRng) -> Self {
        Self { parts: Arc::new(Parts { store, hasher, vault, rng }) }
    }

    /// Returns the store, for calls that need no rule: the ledger, the outbox.
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

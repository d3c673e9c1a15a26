//! The service: every call that an account, a guest or an operator makes, over the storage traits.
//!
//! The calls are gathered by topic: registration and its codes in [`registration`], login in
//! [`sign_in`], keys and guests in [`access`], what an operator does in [`operator`].

use std::sync::Arc;

use crate::code::CodeStore;
use crate::credits::Ledger;
use crate::entropy::Entropy;
use crate::guest::GuestStore;
use crate::key::KeyStore;
use crate::letter::OutboxStore;
use crate::password::PasswordHasher;
use crate::session::SessionStore;
use crate::vault::{Vault, VaultStore};

pub mod access;
pub mod operator;
pub mod registration;
pub mod sign_in;

pub use operator::{AccountStore, Created, KeyStatus, NewAccount, Profile};
pub use registration::{Registration, RegistrationStore};
pub use sign_in::{Login, SignInStore, SignedIn};

/// Everything that a storage does for accounts: one trait per aggregate.
pub trait Store:
    AccountStore
    + CodeStore
    + GuestStore
    + KeyStore
    + Ledger
    + OutboxStore
    + RegistrationStore
    + SessionStore
    + SignInStore
    + VaultStore
    + 'static
{
}

impl<S> Store for S where
    S: AccountStore
        + CodeStore
        + GuestStore
        + KeyStore
        + Ledger
        + OutboxStore
        + RegistrationStore
        + SessionStore
        + SignInStore
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

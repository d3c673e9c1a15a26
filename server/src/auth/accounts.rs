//! The rules of accounts over the store and the password hasher of this server.

use crate::{auth::passwords::Argon2Pool, store::Store};

/// The rules of accounts over the store and the password hasher of this server.
pub type Accounts = account_core::Accounts<Store, Argon2Pool>;

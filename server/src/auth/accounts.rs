//! The rules of accounts over the parts of this server.

use crate::{auth::passwords::Argon2Pool, store::Store};

/// The rules of accounts over this server's store and password hasher.
pub type Accounts = account_core::Accounts<Store, Argon2Pool>;

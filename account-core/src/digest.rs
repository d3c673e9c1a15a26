//! Keyed digests: the stored form of a secret, typed by the secret that it stands for.

use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use subtle::ConstantTimeEq;

/// A keyed digest of a secret of one type; compared in constant time, worthless without the vault.
pub struct Digest<Of> {
    bytes: [u8; 32],
    of: PhantomData<fn() -> Of>,
}

impl<Of> Digest<Of> {
    /// Takes the bytes that a store kept.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self { bytes, of: PhantomData }
    }

    /// The bytes to store and to look up by.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.bytes
    }
}

impl<Of> Clone for Digest<Of> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Of> Copy for Digest<Of> {}

impl<Of> PartialEq for Digest<Of> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes.ct_eq(&other.bytes).into()
    }
}

impl<Of> Eq for Digest<Of> {}

impl<Of> Hash for Digest<Of> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

//! Keyed digests: the stored form of a secret, with the type of the secret as a parameter.

use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use subtle::ConstantTimeEq;

/// A keyed digest of a secret of one type. Comparison takes constant time; without the vault,
/// nobody can compute a digest.
pub struct Digest<Of> {
    bytes: [u8; 32],
    of: PhantomData<fn() -> Of>,
}

impl<Of> Digest<Of> {
    /// Makes a digest of stored bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self { bytes, of: PhantomData }
    }

    /// Returns the bytes, for storage and look-up.
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

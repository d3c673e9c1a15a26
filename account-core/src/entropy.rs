//! Randomness, given from outside.

use zeroize::Zeroizing;

/// A source of unpredictable bytes: the operating system's in service, a seeded one in tests.
pub trait Entropy: Send + Sync {
    /// Fills the whole slice.
    fn fill(&self, destination: &mut [u8]);
}

/// Draws 32 bytes that are wiped after use.
pub(crate) fn secret_bytes(entropy: &dyn Entropy) -> Zeroizing<[u8; 32]> {
    let mut bytes = Zeroizing::new([0; 32]);
    entropy.fill(bytes.as_mut());
    bytes
}

/// Draws an identifier that nobody can guess and that no two rows share.
pub(crate) fn identifier(entropy: &dyn Entropy) -> u128 {
    let mut bytes = [0; 16];
    entropy.fill(&mut bytes);
    u128::from_be_bytes(bytes)
}

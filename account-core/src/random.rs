//! Random secrets and identifiers from a generator that is an argument.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::{CryptoRng, Rng, TryCryptoRng, TryRng};
use zeroize::Zeroizing;

/// Length of 32 bytes in base64url without padding, in characters.
pub(crate) const TEXT_CHARACTERS: usize = 43;

/// A random number generator that several threads share. A clone uses the same generator.
#[derive(Clone)]
pub struct SharedRng(Arc<Mutex<dyn CryptoRng + Send>>);

impl SharedRng {
    /// Makes a shared generator: of the operating system's in the service, of a seeded one in
    /// tests.
    #[must_use]
    pub fn new(rng: impl CryptoRng + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(rng)))
    }

    // A generator that panicked during a draw has only lost numbers that were never used.
    fn lock(&self) -> MutexGuard<'_, dyn CryptoRng + Send + 'static> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TryRng for SharedRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.lock().next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.lock().next_u64())
    }

    fn try_fill_bytes(&mut self, destination: &mut [u8]) -> Result<(), Infallible> {
        self.lock().fill_bytes(destination);
        Ok(())
    }
}

impl TryCryptoRng for SharedRng {}

/// Generates 32 bytes, which are wiped after use.
pub(crate) fn secret_bytes(rng: &mut dyn CryptoRng) -> Zeroizing<[u8; 32]> {
    let mut bytes = Zeroizing::new([0; 32]);
    rng.fill_bytes(bytes.as_mut());
    bytes
}

/// Generates 32 bytes in base64url without padding, which are wiped after use.
pub(crate) fn secret_text(rng: &mut dyn CryptoRng) -> Zeroizing<String> {
    Zeroizing::new(URL_SAFE_NO_PAD.encode(secret_bytes(rng)))
}

/// Returns whether the text is 32 bytes in base64url without padding, in the canonical spelling.
pub(crate) fn is_secret_text(text: &str) -> bool {
    // The decoder requires space for the longest text of this length, which is 33 bytes.
    let mut bytes = Zeroizing::new([0u8; 33]);
    text.len() == TEXT_CHARACTERS
        && URL_SAFE_NO_PAD.decode_slice(text, bytes.as_mut()).is_ok_and(|length| length == 32)
}

/// Generates an identifier of 128 bits, which cannot be guessed and does not repeat.
pub(crate) fn identifier(rng: &mut dyn CryptoRng) -> u128 {
    let mut bytes = [0; 16];
    rng.fill_bytes(&mut bytes);
    u128::from_be_bytes(bytes)
}

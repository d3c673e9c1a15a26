//! The operating system's random number generator.

use account_core::Entropy;

/// The operating system's random number generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, destination: &mut [u8]) {
        getrandom::fill(destination).expect("the operating system has randomness");
    }
}

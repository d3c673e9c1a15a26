//! Keys that sign statements of the service, and the public keys that verify them.
//!
//! Signatures are Ed25519 (RFC 8032). A public key is published as a JSON Web Key (RFC 8037), and
//! its id is the thumbprint of that key (RFC 7638), so that any library finds and checks it.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer, SigningKey as Ed25519Key, VerifyingKey};
use rand::CryptoRng;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::random;

/// A key that signs; wiped after use, without `Debug`.
#[derive(Clone)]
pub struct SigningKey(Ed25519Key);

/// A key that verifies signatures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl SigningKey {
    /// Generates a random key.
    #[must_use]
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        Self::from_bytes(&random::secret_bytes(rng))
    }

    /// Makes the key of a stored secret.
    #[must_use]
    pub(crate) fn from_bytes(secret: &[u8; 32]) -> Self {
        Self(Ed25519Key::from_bytes(secret))
    }

    /// Returns the secret, to be wrapped and stored.
    #[must_use]
    pub(crate) fn expose(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes())
    }

    /// Returns the key that verifies the signatures of this key.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs a message. The signature is in base64url without padding.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(self.0.sign(message).to_bytes())
    }
}

impl PublicKey {
    /// Reads a key from 32 bytes; `None` for bytes that are no point of the curve.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        VerifyingKey::from_bytes(bytes).ok().map(Self)
    }

    /// Reads a key in base64url without padding, as the member `x` of a JSON Web Key has it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        Self::from_bytes(&bytes.try_into().ok()?)
    }

    /// Returns the bytes of the key.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Returns the id of the key: the SHA-256 thumbprint of its JSON Web Key.
    #[must_use]
    pub fn id(&self) -> String {
        // The members that RFC 7638 requires, in its order and without white space.
        let key = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{self}"}}"#);
        URL_SAFE_NO_PAD.encode(Sha256::digest(key))
    }

    /// Returns whether a text is the signature of a message by the owner of this key.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &str) -> bool {
        let bytes = URL_SAFE_NO_PAD.decode(signature).ok();
        let signature = bytes.and_then(|bytes| Signature::from_slice(&bytes).ok());
        // Strict: a key of small order verifies nothing.
        signature.is_some_and(|signature| self.0.verify_strict(message, &signature).is_ok())
    }
}

/// The key in base64url without padding.
impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.as_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::seeded_rng;

    #[test]
    fn a_key_of_the_standard_has_its_published_signature_and_id() {
        // RFC 8037, appendix A: the key of A.1, its thumbprint of A.3 and the signature of A.4.
        let secret = URL_SAFE_NO_PAD.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A");
        let secret: [u8; 32] = secret.expect("base64").try_into().expect("32 bytes");
        let key = SigningKey::from_bytes(&secret);
        let public = key.public();
        assert_eq!(public.to_string(), "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
        assert_eq!(public.id(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        let message = b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
        let signature = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt\
                         9g7sVvpAr_MuM0KAg";
        assert_eq!(key.sign(message), signature);
        assert!(public.verifies(message, signature));
    }

    #[test]
    fn each_changed_bit_of_message_and_signature_is_found() {
        let key = SigningKey::generate(&mut seeded_rng(1));
        let (public, message) = (key.public(), *b"statement");
        let signature = key.sign(&message);
        assert!(public.verifies(&message, &signature));
        for bit in 0..message.len() * 8 {
            let mut changed = message;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(!public.verifies(&changed, &signature), "bit {bit}");
        }
        let bytes = URL_SAFE_NO_PAD.decode(&signature).expect("base64");
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(!public.verifies(&message, &URL_SAFE_NO_PAD.encode(changed)), "bit {bit}");
        }
        let other = SigningKey::generate(&mut seeded_rng(2)).public();
        assert!(!other.verifies(&message, &signature));
        for malformed in ["", "x", "===", &signature[1..]] {
            assert!(!public.verifies(&message, malformed), "{malformed}");
        }
    }

    #[test]
    fn a_public_key_is_read_as_it_is_written() {
        let public = SigningKey::generate(&mut seeded_rng(3)).public();
        assert_eq!(PublicKey::parse(&public.to_string()), Some(public));
        for malformed in ["", "AA", &format!("{public}A")] {
            assert_eq!(PublicKey::parse(malformed), None, "{malformed}");
        }
    }
}

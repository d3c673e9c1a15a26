//! Proof key for code exchange (RFC 7636), method S256: the exchange of a code proves that its
//! client requested the code.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::OauthError;

/// The PKCE challenge of an authorization request, which is the digest of the verifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeChallenge(String);

/// The PKCE verifier of an exchange: a secret, without `Debug`.
#[derive(Clone)]
pub struct CodeVerifier(Zeroizing<String>);

impl CodeChallenge {
    /// Reads a challenge: 43 to 128 letters, digits and `-._~`.
    ///
    /// # Errors
    ///
    /// [`OauthError::InvalidRequest`].
    pub fn parse(text: &str) -> Result<Self, OauthError> {
        if is_unreserved(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(OauthError::InvalidRequest(
                "code_challenge must be 43 to 128 unreserved characters",
            ))
        }
    }

    /// Returns the challenge as the client sent the challenge.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl CodeVerifier {
    /// Reads a verifier: 43 to 128 letters, digits and `-._~`.
    ///
    /// # Errors
    ///
    /// [`OauthError::InvalidRequest`].
    pub fn parse(text: &str) -> Result<Self, OauthError> {
        if is_unreserved(text) {
            Ok(Self(Zeroizing::new(text.to_owned())))
        } else {
            Err(OauthError::InvalidRequest("code_verifier must be 43 to 128 unreserved characters"))
        }
    }

    /// Returns the challenge of this verifier.
    #[must_use]
    pub fn challenge(&self) -> CodeChallenge {
        CodeChallenge(URL_SAFE_NO_PAD.encode(Sha256::digest(self.0.as_bytes())))
    }

    /// Returns whether the verifier has this challenge; the comparison takes constant time.
    #[must_use]
    pub fn meets(&self, challenge: &CodeChallenge) -> bool {
        self.challenge().0.as_bytes().ct_eq(challenge.0.as_bytes()).into()
    }
}

fn is_unreserved(text: &str) -> bool {
    (43..=128).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_example_of_rfc_7636() {
        // RFC 7636, appendix B.
        let verifier = CodeVerifier::parse("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk").unwrap();
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert_eq!(verifier.challenge().as_str(), challenge);
        assert!(verifier.meets(&CodeChallenge::parse(challenge).unwrap()));
        let other = CodeVerifier::parse(&"a".repeat(43)).unwrap();
        assert!(!other.meets(&CodeChallenge::parse(challenge).unwrap()));
    }

    #[test]
    fn both_have_43_to_128_unreserved_characters() {
        for (text, good) in [
            ("a".repeat(42), false),
            ("a".repeat(43), true),
            ("~".repeat(128), true),
            ("a".repeat(129), false),
            (format!("{}=", "a".repeat(43)), false),
            (format!("{} ", "a".repeat(43)), false),
            ("ä".repeat(43), false),
        ] {
            assert_eq!(CodeChallenge::parse(&text).is_ok(), good, "{text}");
            assert_eq!(CodeVerifier::parse(&text).is_ok(), good, "{text}");
        }
    }
}

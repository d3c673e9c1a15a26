//! The signing keys of the identity provider that are used.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openidconnect::JsonWebKey as _;
use openidconnect::core::{CoreJsonWebKey, CoreJsonWebKeySet, CoreJsonWebKeyType};

/// The least size of an RSA key, in bits (NIST SP 800-131A).
const LEAST_RSA_BITS: usize = 2048;

/// Returns the keys of the provider without RSA keys that are too short to be secure.
pub(super) fn strong(keys: &CoreJsonWebKeySet) -> CoreJsonWebKeySet {
    let is_strong = |key: &&CoreJsonWebKey| {
        let bits = rsa_bits(key);
        if let Some(bits) = bits.filter(|bits| *bits < LEAST_RSA_BITS) {
            tracing::warn!(bits, "an RSA key of the identity provider is too short and not used");
        }
        bits.is_none_or(|bits| bits >= LEAST_RSA_BITS)
    };
    CoreJsonWebKeySet::new(keys.keys().iter().filter(is_strong).cloned().collect())
}

/// Returns the size of an RSA key in bits; `None` for a key of another type. The library tells the
/// modulus in the JSON form of a key alone.
fn rsa_bits(key: &CoreJsonWebKey) -> Option<usize> {
    if *key.key_type() != CoreJsonWebKeyType::RSA {
        return None;
    }
    let key = serde_json::to_value(key).ok();
    let modulus = key.as_ref().and_then(|key| key["n"].as_str());
    let modulus = modulus.and_then(|modulus| URL_SAFE_NO_PAD.decode(modulus).ok());
    let modulus = modulus.unwrap_or_default();
    let unused = modulus.iter().take_while(|byte| **byte == 0).count();
    let first = modulus.get(unused).map_or(0, |byte| byte.leading_zeros() as usize);
    Some(8 * (modulus.len() - unused) - first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rsa_keys_below_2048_bits_are_not_used() {
        let exponent = || vec![1, 0, 1];
        let rsa = |modulus: Vec<u8>| CoreJsonWebKey::new_rsa(modulus, exponent(), None);
        let filled = |first: &[u8], length: usize| [first, &vec![0xff; length]].concat();
        for (modulus, bits) in [
            (filled(&[], 128), 1024),
            (filled(&[0x7f], 255), 2047),
            (filled(&[0; 128], 128), 1024),
            (filled(&[], 256), 2048),
            (filled(&[0], 256), 2048),
            (filled(&[], 512), 4096),
            (Vec::new(), 0),
        ] {
            let key = rsa(modulus);
            assert_eq!(rsa_bits(&key), Some(bits));
            let kept = strong(&CoreJsonWebKeySet::new(vec![key]));
            assert_eq!(kept.keys().len(), usize::from(bits >= 2048), "{bits} bits");
        }
        let curve = r#"{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
        let curve: CoreJsonWebKey = serde_json::from_str(curve).expect("the key of RFC 8037");
        let kept = strong(&CoreJsonWebKeySet::new(vec![curve]));
        assert_eq!(kept.keys().len(), 1);
    }
}

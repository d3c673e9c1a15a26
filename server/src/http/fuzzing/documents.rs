//! Canonical JSON and receipts.

use std::sync::LazyLock;

use account_core::{
    Timestamp,
    signing::{PublicKey, SigningKey},
};
use poem_openapi::types::{ParseFromJSON as _, ToJSON as _};
use rand::{rand_core::UnwrapErr, rngs::SysRng};
use serde_json::Value;

use super::super::{
    answer_options::Detail,
    canonical_json::{self, canonical},
    receipt::{AnsweredRequest, Receipt, request_digest},
};

/// Writes a text in the canonical form of RFC 8785, which is its own canonical form, is read as an equal
/// value, and has the same digest.
///
/// # Panics
///
/// Panics where one of these does not hold.
pub fn canonical_json(bytes: &[u8]) {
    let digest = canonical_json::digest(bytes);
    let Ok(text) = canonical(bytes) else {
        assert!(digest.is_err());
        return;
    };
    let written = String::from_utf8_lossy(&text);
    assert_eq!(canonical(&text).ok().as_ref(), Some(&text), "{written}");
    assert_eq!(canonical_json::digest(&text).ok(), digest.ok(), "{written}");
    let read: Value = serde_json::from_slice(&text).expect("a canonical form is JSON");
    // Of two members of one name, the first one may hold what a value of serde_json cannot.
    if let Ok(whole) = serde_json::from_slice::<Value>(bytes) {
        assert!(is_equal(&read, &whole), "{written} of {whole}");
    }
}

/// Returns whether two values are equal, with numbers as doubles.
pub(crate) fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(name, value): (&String, &Value)| {
                other.get(name).is_some_and(|other| is_equal(value, other))
            };
            one.len() == other.len() && one.iter().all(has)
        }
        (one, other) => one == other,
    }
}

/// A key, and a receipt that the key has signed.
static SIGNED: LazyLock<(PublicKey, Value)> = LazyLock::new(|| {
    let key = SigningKey::generate(&mut UnwrapErr(SysRng));
    let answered = AnsweredRequest {
        operation: "price_european_option",
        detail: Detail::Full,
        request_sha256: request_digest(br#"{"spot": 100}"#).expect("a digest"),
        data: r#"{"price": 4.76}"#,
        credits: 5,
        at: Timestamp::UNIX_EPOCH,
    };
    let receipt = Receipt::sign(&key, answered).expect("a receipt");
    (key.public(), receipt.to_json().expect("an object"))
});

/// Checks a receipt in JSON, then a good one whose text is changed at some places: each byte of the input
/// pairs is a place and what is written there. No changed receipt is signed.
///
/// # Panics
///
/// Panics where a changed receipt counts as signed.
pub fn receipt(bytes: &[u8]) {
    let (key, original) = &*SIGNED;
    let is_signed = |value: Value| {
        let receipt = Receipt::parse_from_json(Some(value)).ok()?;
        receipt.is_signed_by(&[*key]).then(|| receipt.to_json().expect("an object"))
    };
    if let Ok(value) = serde_json::from_slice(bytes) {
        assert!(is_signed(value).is_none_or(|found| found == *original));
    }
    let mut text = original.to_string().into_bytes();
    for pair in bytes.chunks_exact(3).take(8) {
        let at = usize::from(u16::from_le_bytes([pair[0], pair[1]])) % text.len();
        text[at] = pair[2];
    }
    if let Ok(value) = serde_json::from_slice::<Value>(&text) {
        let found = is_signed(value);
        assert!(found.is_none_or(|found| found == *original), "{}", String::from_utf8_lossy(&text));
    }
    if let Some(key) = std::str::from_utf8(bytes).ok().and_then(PublicKey::parse) {
        assert_eq!(key.to_string().as_bytes(), bytes, "a key has one spelling");
    }
}

//! The canonical form of JSON (RFC 8785), and its SHA-256 digest.
//!
//! Numbers are doubles, members are sorted, and of two members of one name the last one counts, as
//! for the reader of bodies. Lists of numbers are read without a JSON value for each number.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

/// The deepest nesting that has a canonical form; each level is scanned once for each level above.
const MAX_DEPTH: usize = 64;

/// Returns the digest of a text in JSON, in hexadecimal digits.
///
/// # Errors
///
/// The fault of a text that is not JSON, has a number beyond a double, or is nested too deeply.
pub(crate) fn digest(json: &[u8]) -> serde_json::Result<String> {
    Ok(hex::encode(Sha256::digest(canonical(json)?)))
}

/// Returns the canonical form of a text in JSON.
pub(super) fn canonical(json: &[u8]) -> serde_json::Result<Vec<u8>> {
    let value: &RawValue = serde_json::from_slice(json)?;
    serde_json_canonicalizer::to_vec(&Nested { value, depth: 0 })
}

/// A value at some depth of a text.
struct Nested<'t> {
    value: &'t RawValue,
    depth: usize,
}

impl<'t> Nested<'t> {
    fn inner(&self, value: &'t RawValue) -> Self {
        Self { value, depth: self.depth + 1 }
    }
}

impl Serialize for Nested<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.value.get();
        if self.depth > MAX_DEPTH {
            return Err(S::Error::custom("nested too deeply"));
        }
        match text.as_bytes().first() {
            Some(b'{') => {
                let members: BTreeMap<Cow<'_, str>, &RawValue> = read(text)?;
                serializer
                    .collect_map(members.iter().map(|(name, value)| (name, self.inner(value))))
            }
            Some(b'[') => match serde_json::from_str::<Vec<f64>>(text) {
                Ok(numbers) => serializer.collect_seq(numbers),
                Err(_) => {
                    let items: Vec<&RawValue> = read(text)?;
                    serializer.collect_seq(items.iter().map(|item| self.inner(item)))
                }
            },
            Some(b'"') => serializer.serialize_str(&read::<Cow<'_, str>, _>(text)?),
            Some(b't') => serializer.serialize_bool(true),
            Some(b'f') => serializer.serialize_bool(false),
            Some(b'n') => serializer.serialize_unit(),
            _ => serializer.serialize_f64(read(text)?),
        }
    }
}

fn read<'t, T: serde::Deserialize<'t>, E: serde::ser::Error>(text: &'t str) -> Result<T, E> {
    serde_json::from_str(text).map_err(E::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        let bytes = super::canonical(text.as_bytes()).expect("a canonical form");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn the_example_of_the_standard_has_its_canonical_form() {
        // RFC 8785, section 3.2.2 and 3.2.3.
        let text = r#"{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3,
            0.000000000000000000000000001], "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]}"#;
        let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
        assert_eq!(canonical(text), expected);
    }

    #[test]
    fn spelling_does_not_change_the_digest_and_a_digit_does() {
        let digest = |text: &str| digest(text.as_bytes()).expect("a digest");
        let first = digest(r#"{"spot": 100, "rates": [0.05, [1]], "name": "é"}"#);
        for same in [
            "{ \"name\":\"\\u00e9\", \"rates\" : [5e-2,[1.0]],\"spot\":1e2 }\n",
            r#"{"spot": 7, "name": "é", "spot": 100.0, "rates": [0.05, [1]]}"#,
        ] {
            assert_eq!(digest(same), first, "{same}");
        }
        for other in [
            r#"{"spot": 101, "rates": [0.05, [1]], "name": "é"}"#,
            r#"{"spot": 100, "rates": [0.05, [2]], "name": "é"}"#,
            r#"{"spot": 100, "rates": [[1], 0.05], "name": "é"}"#,
            r#"{"spot": "100", "rates": [0.05, [1]], "name": "é"}"#,
        ] {
            assert_ne!(digest(other), first, "{other}");
        }
    }

    #[test]
    fn a_text_without_a_canonical_form_is_an_error() {
        let deep = format!("{}1{}", "[".repeat(1000), "]".repeat(1000));
        for text in ["", "{", "[1e999]", "1e999", &deep, "{\"a\": 1} 2"] {
            assert!(digest(text.as_bytes()).is_err(), "{}", &text[..text.len().min(20)]);
        }
    }
}

//! Receipts: signed statements that this service gave an answer to a request.
//!
//! A receipt has digests in place of request and data, so that it can be shown without them. The
//! signature is over the canonical JSON (RFC 8785) of the receipt without `signature`.

use account_core::signing::{PublicKey, SigningKey};
use poem_openapi::{
    Enum, Object,
    types::{Example, ToJSON},
};
use quant_core::NUMERIC_VERSION;
use serde_json::Value;

use super::{
    answer_options::Detail,
    canonical_json,
    json_string::{JsonString, Moment, Text, moment},
};

/// A signed statement of an answer.
#[derive(Clone, Debug, Object)]
#[oai(rename = "Receipt", skip_serializing_if_is_none, example)]
pub struct Receipt {
    /// The type of the statement and its version.
    pub format: ReceiptFormat,
    /// The operation's id in the OpenAPI document.
    pub operation: Text,
    /// `full` where the answer has its further fields; absent otherwise.
    pub detail: Option<ReceiptDetail>,
    /// SHA-256 of the request's body in the canonical form of RFC 8785, in hexadecimal digits; of
    /// `{}` for an operation without a body.
    pub request_sha256: Text,
    /// SHA-256 of `data` in the canonical form of RFC 8785, in hexadecimal digits.
    pub data_sha256: Text,
    /// The version of the bits with which the answer was computed.
    pub numeric_version: u32,
    /// The credits that the answer cost.
    pub credits: u32,
    /// The time at which the request arrived.
    pub issued_at: Moment,
    /// The id of the public key: the thumbprint of RFC 7638, as `kid` of
    /// `/.well-known/quant-receipts.json`.
    pub key_id: Text,
    /// The Ed25519 signature of the canonical form of this receipt without this field, in base64url.
    pub signature: Text,
}

/// The type of a statement and its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum ReceiptFormat {
    /// A receipt with the fields of `Receipt`.
    #[oai(rename = "quant-receipt/1")]
    QuantReceipt1,
}

/// The fields of an answer that has more than those of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum ReceiptDetail {
    /// The further fields too.
    Full,
}

impl ReceiptDetail {
    fn of(detail: Detail) -> Option<Self> {
        match detail {
            Detail::Listed => None,
            Detail::Full => Some(Self::Full),
        }
    }
}

impl From<Option<ReceiptDetail>> for Detail {
    fn from(detail: Option<ReceiptDetail>) -> Self {
        detail.map_or(Self::Listed, |ReceiptDetail::Full| Self::Full)
    }
}

/// An answer that a receipt is to state.
pub(crate) struct AnsweredRequest<'a> {
    /// The operation's id.
    pub(crate) operation: &'a str,
    /// The fields of the answer.
    pub(crate) detail: Detail,
    /// The digest of the body, by [`request_digest`].
    pub(crate) request_sha256: String,
    /// The data as JSON.
    pub(crate) data: &'a str,
    /// The credits that the answer costs.
    pub(crate) credits: u32,
    /// The time at which the request arrived.
    pub(crate) at: account_core::Timestamp,
}

impl Receipt {
    /// Signs the statement of one answer.
    ///
    /// # Errors
    ///
    /// The fault of data that have no canonical form.
    pub(crate) fn sign(
        key: &SigningKey,
        answered: AnsweredRequest<'_>,
    ) -> serde_json::Result<Self> {
        let text = |text: &str| JsonString(text.to_owned());
        let mut receipt = Self {
            format: ReceiptFormat::QuantReceipt1,
            operation: text(answered.operation),
            detail: ReceiptDetail::of(answered.detail),
            request_sha256: JsonString(answered.request_sha256),
            data_sha256: JsonString(data_digest(answered.data)?),
            numeric_version: NUMERIC_VERSION,
            credits: answered.credits,
            issued_at: JsonString(answered.at),
            key_id: JsonString(key.public().id()),
            signature: JsonString(String::new()),
        };
        receipt.signature = JsonString(key.sign(&receipt.statement()?));
        Ok(receipt)
    }

    /// Returns whether one of these keys has signed this receipt.
    pub(crate) fn is_signed_by(&self, keys: &[PublicKey]) -> bool {
        let key = keys.iter().find(|key| key.id() == *self.key_id);
        let statement = self.statement().ok();
        key.zip(statement).is_some_and(|(key, statement)| key.verifies(&statement, &self.signature))
    }

    /// Returns whether the key of this receipt is one of these keys.
    pub(crate) fn is_key_known(&self, keys: &[PublicKey]) -> bool {
        keys.iter().any(|key| key.id() == *self.key_id)
    }

    /// Returns the bytes that are signed.
    fn statement(&self) -> serde_json::Result<Vec<u8>> {
        let mut fields = self.to_json().unwrap_or_default();
        if let Value::Object(fields) = &mut fields {
            fields.remove("signature");
        }
        serde_json_canonicalizer::to_vec(&fields)
    }
}

/// Returns the digest of a request's body that a receipt has. An absent body counts as `{}`.
///
/// # Errors
///
/// The fault of a body that has no canonical form.
pub(crate) fn request_digest(body: impl AsRef<[u8]>) -> serde_json::Result<String> {
    let body = body.as_ref();
    canonical_json::digest(if body.is_empty() { b"{}" } else { body })
}

/// Returns the digest of data that a receipt has.
///
/// # Errors
///
/// The fault of data that have no canonical form.
pub(crate) fn data_digest(data: &str) -> serde_json::Result<String> {
    canonical_json::digest(data.as_bytes())
}

impl Example for Receipt {
    fn example() -> Self {
        let text = |text: &str| JsonString(text.to_owned());
        Self {
            format: ReceiptFormat::QuantReceipt1,
            operation: text("price_european_option"),
            detail: None,
            request_sha256: text(&"0f".repeat(32)),
            data_sha256: text(&"a5".repeat(32)),
            numeric_version: NUMERIC_VERSION,
            credits: 5,
            issued_at: moment(1_769_860_800),
            key_id: text("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"),
            signature: text(&"A".repeat(86)),
        }
    }
}

#[cfg(test)]
mod tests {
    use account_core::testing::seeded_rng;
    use poem_openapi::types::ParseFromJSON as _;

    use super::*;

    fn signed(key: &SigningKey) -> Receipt {
        let answered = AnsweredRequest {
            operation: "price_european_option",
            detail: Detail::Full,
            request_sha256: request_digest(br#"{"spot": 100}"#).expect("a digest"),
            data: r#"{"price": 4.76}"#,
            credits: 5,
            at: account_core::Timestamp::UNIX_EPOCH,
        };
        Receipt::sign(key, answered).expect("a receipt")
    }

    #[test]
    fn a_receipt_is_verified_after_its_way_as_json_and_each_changed_character_is_found() {
        let mut rng = seeded_rng(1);
        let key = SigningKey::generate(&mut rng);
        let other = SigningKey::generate(&mut rng).public();
        let written = signed(&key).to_json().expect("an object");
        let read = |value: &Value| Receipt::parse_from_json(Some(value.clone())).ok();
        assert!(read(&written).expect("a receipt").is_signed_by(&[other, key.public()]));
        assert!(!read(&written).expect("a receipt").is_signed_by(&[other]));
        for (name, value) in written.as_object().expect("an object") {
            let mut changed = written.clone();
            changed[name] = match value {
                Value::Number(number) => (number.as_u64().expect("whole") + 1).into(),
                Value::String(text) if name == "issued_at" => text.replace("1970", "1971").into(),
                Value::String(text) => format!("{text}A").into(),
                other => panic!("{name}: {other}"),
            };
            let is_signed = read(&changed).is_some_and(|found| found.is_signed_by(&[key.public()]));
            assert!(!is_signed, "{name}");
        }
    }
}

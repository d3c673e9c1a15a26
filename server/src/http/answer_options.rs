//! The parts of an answer that a caller asks for beside its request: further fields, an explanation,
//! a receipt.
//!
//! REST reads them from the query string. A tool call has `detail` among its arguments, and the
//! others in `_meta`, because they do not change the data.

use std::{borrow::Cow, collections::BTreeMap};

use bytes::Bytes;
use poem::Request;
use serde_json::{Map, Value, json, value::RawValue};

use super::{
    error::ApiError,
    validation::{Fault, Step},
};

/// The name of the level of detail, in the query string and among the arguments of a tool.
const DETAIL: &str = "detail";
/// The only value that the parameter [`DETAIL`] takes.
const FULL: &str = "full";
/// The name of the request for an explanation.
const EXPLAIN: &str = "explain";
/// The name of the request for a receipt.
const RECEIPT: &str = "receipt";

/// The names of the parameters that a tool call has in `_meta`.
pub(crate) const META_NAMES: [&str; 2] = [EXPLAIN, RECEIPT];

/// The fields that a caller asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// The fields of the interface.
    #[default]
    Listed,
    /// The further fields too.
    Full,
}

/// The parts of an answer that a caller asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerOptions {
    /// The fields of `data`.
    pub detail: Detail,
    /// True if the answer has an explanation, as `meta`.
    pub explain: bool,
    /// True if the answer has a signed receipt, as `receipt`.
    pub receipt: bool,
}

impl AnswerOptions {
    /// Reads the parameters of the query string. `detail` is read for a computation that has further
    /// fields.
    pub(super) fn of_query(request: &Request, has_further_fields: bool) -> Result<Self, ApiError> {
        if request.uri().query().is_none() {
            return Ok(Self::default());
        }
        let pairs: Vec<(String, String)> = request.params().unwrap_or_default();
        let sent = |wanted: &str| {
            pairs.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
        };
        let detail = sent(DETAIL).filter(|_| has_further_fields);
        let flag = |name| match sent(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(no_boolean("query", name)),
        };
        Ok(Self {
            detail: detail.map_or(Ok(Detail::Listed), |text| Detail::read("query", text))?,
            explain: flag(EXPLAIN)?,
            receipt: flag(RECEIPT)?,
        })
    }

    /// Reads the members of a message that asks for an explanation or a receipt.
    ///
    /// # Errors
    ///
    /// The fault of a member that is not a boolean.
    pub(crate) fn of_members(members: &Map<String, Value>) -> Result<Self, Fault> {
        let flag = |name| match members.get(name) {
            None | Some(Value::Null | Value::Bool(false)) => Ok(false),
            Some(Value::Bool(true)) => Ok(true),
            Some(_) => Err(no_boolean("_meta", name)),
        };
        Ok(Self { detail: Detail::Listed, explain: flag(EXPLAIN)?, receipt: flag(RECEIPT)? })
    }

    /// Takes the level of detail out of the arguments of a tool whose computation has further fields.
    pub(super) fn with_detail_of(self, arguments: Bytes) -> Result<(Self, Bytes), ApiError> {
        // Arguments that are no JSON object are refused by the reader of bodies.
        let mut members: BTreeMap<Cow<'_, str>, &RawValue> =
            serde_json::from_slice(&arguments).unwrap_or_default();
        let Some(sent) = members.remove(DETAIL) else { return Ok((self, arguments)) };
        let text: String = serde_json::from_str(sent.get()).unwrap_or_default();
        let detail = Detail::read("body", &text)?;
        let rest = serde_json::to_vec(&members).map_err(|_| ApiError::Internal)?;
        Ok((Self { detail, ..self }, rest.into()))
    }

    /// Returns the part of the digest of a request under an `Idempotency-Key`: an answer with further
    /// parts is that of another request. Empty for the answer of the interface.
    pub(super) fn suffix(self) -> String {
        let detail = (self.detail == Detail::Full).then_some("detail=full");
        let explain = self.explain.then_some("explain=true");
        let receipt = self.receipt.then_some("receipt=true");
        let asked: Vec<&str> = [detail, explain, receipt].into_iter().flatten().collect();
        if asked.is_empty() { String::new() } else { format!("?{}", asked.join("&")) }
    }
}

impl From<Detail> for AnswerOptions {
    fn from(detail: Detail) -> Self {
        Self { detail, ..Self::default() }
    }
}

impl Detail {
    fn read(part: &str, text: &str) -> Result<Self, ApiError> {
        if text == FULL {
            return Ok(Self::Full);
        }
        let path = [Step::name(part), Step::name(DETAIL)];
        let message = "value is not a valid enumeration member; permitted: 'full'";
        Err(ApiError::Faults(vec![Fault::new(&path, "type_error.enum", message)]))
    }
}

fn no_boolean(part: &str, name: &str) -> Fault {
    let path = [Step::name(part), Step::name(name)];
    Fault::new(&path, "type_error.bool", "value could not be parsed to a boolean")
}

/// Returns the descriptions of the parameters in the query string of a metered operation.
pub(crate) fn described(has_further_fields: bool) -> Vec<Value> {
    let detail = json!({
        "name": DETAIL,
        "in": "query",
        "required": false,
        "schema": { "type": "string", "enum": [FULL] },
        "description": "`full` adds the further fields to the answer.",
    });
    let flag = |name: &str, description: &str| {
        json!({
            "name": name,
            "in": "query",
            "required": false,
            "schema": { "type": "boolean", "default": false },
            "description": description,
        })
    };
    let explain = flag(
        EXPLAIN,
        "`true` adds `meta` beside `data`: method and source, conventions, defaults that were \
         taken, steps, error, and the version of the bits. The price stays.",
    );
    let receipt = flag(
        RECEIPT,
        "`true` adds `receipt` beside `data`: a signed statement of this answer, which \
         `POST /receipts/verify` and `quant-server verify` check. The price stays.",
    );
    has_further_fields.then_some(detail).into_iter().chain([explain, receipt]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_of_parts_is_another_request() {
        let mut suffixes = Vec::new();
        for detail in [Detail::Listed, Detail::Full] {
            for explain in [false, true] {
                for receipt in [false, true] {
                    suffixes.push(AnswerOptions { detail, explain, receipt }.suffix());
                }
            }
        }
        assert_eq!(suffixes[0], "");
        for (index, suffix) in suffixes.iter().enumerate() {
            assert_eq!(suffixes.iter().position(|other| other == suffix), Some(index), "{suffix}");
        }
    }

    #[test]
    fn a_member_that_is_no_boolean_is_a_fault() {
        let members = |value: Value| value.as_object().cloned().expect("an object");
        let asked = AnswerOptions::of_members(&members(json!({ "receipt": true, "other": 1 })));
        let expected = AnswerOptions { receipt: true, ..AnswerOptions::default() };
        assert_eq!(asked.expect("booleans"), expected);
        for wrong in [json!("true"), json!(1)] {
            let fault = AnswerOptions::of_members(&members(json!({ "explain": wrong })));
            assert_eq!(
                fault.expect_err("no boolean").to_json()["loc"],
                json!(["_meta", "explain"])
            );
        }
    }
}

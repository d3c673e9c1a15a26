//! The answer to a call outside HTTP, and the form in which an idempotency key stores the answer.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer::{AnswerParts, envelope};

/// The answer to a call.
pub struct ExecutedCall {
    /// The data, and what the caller asked for beside them.
    pub parts: AnswerParts,
    /// The id of the call that computed the data, where an earlier call under the same key did.
    pub first_run: Option<uuid::Uuid>,
}

/// The answer that is stored under the idempotency key of a tool call.
#[derive(Deserialize)]
struct StoredCall<'a> {
    /// The id of the call.
    id: &'a str,
    #[serde(borrow)]
    data: &'a RawValue,
    #[serde(borrow)]
    meta: Option<&'a RawValue>,
    #[serde(borrow)]
    receipt: Option<&'a RawValue>,
}

impl ExecutedCall {
    /// Makes the answer to a call that was not answered before.
    #[must_use]
    pub fn new(parts: AnswerParts) -> Self {
        Self { parts, first_run: None }
    }

    /// Writes the answer that is stored under the key of a call.
    pub(super) fn stored(id: uuid::Uuid, parts: &AnswerParts) -> String {
        envelope(&format!(r#""id":"{id}""#), parts)
    }

    /// Reads a stored answer; `current` is the id of the call that is answered.
    pub(super) fn of_stored(body: &str, current: uuid::Uuid) -> Option<Self> {
        let StoredCall { id, data, meta, receipt } = serde_json::from_str(body).ok()?;
        let id: uuid::Uuid = id.parse().ok()?;
        let text = |part: &RawValue| part.get().to_owned();
        let parts =
            AnswerParts { data: text(data), meta: meta.map(text), receipt: receipt.map(text) };
        Some(Self { parts, first_run: Some(id).filter(|id| *id != current) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_answer_names_its_first_run_to_every_later_one() {
        let (first, later) = (uuid::Uuid::from_u128(1), uuid::Uuid::from_u128(2));
        let data = AnswerParts::new(r#"{"price": 1.0}"#.to_owned());
        let all = AnswerParts {
            meta: Some(r#"{"steps":101}"#.to_owned()),
            receipt: Some(r#"{"credits":5}"#.to_owned()),
            ..data.clone()
        };
        for parts in [data, all] {
            let body = ExecutedCall::stored(first, &parts);
            for (current, expected) in [(first, None), (later, Some(first))] {
                let read = ExecutedCall::of_stored(&body, current).expect("a stored answer");
                assert_eq!(read.parts, parts);
                assert_eq!(read.first_run, expected);
            }
        }
        assert!(ExecutedCall::of_stored(r#"{"success":true,"data":{}}"#, first).is_none());
    }
}

//! The data of a call outside HTTP, and the form in which an idempotency key stores the data.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The data of a call.
pub struct ExecutedCall {
    /// The data as JSON.
    pub data: String,
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
}

impl ExecutedCall {
    /// Makes the data of a call that was not answered before.
    #[must_use]
    pub fn new(data: String) -> Self {
        Self { data, first_run: None }
    }

    /// Writes the answer that is stored under the key of a call.
    pub(super) fn stored(id: uuid::Uuid, data: &str) -> String {
        format!(r#"{{"id":"{id}","data":{data}}}"#)
    }

    /// Reads a stored answer; `current` is the id of the call that is answered.
    pub(super) fn of_stored(body: &str, current: uuid::Uuid) -> Option<Self> {
        let StoredCall { id, data } = serde_json::from_str(body).ok()?;
        let id: uuid::Uuid = id.parse().ok()?;
        Some(Self { data: data.get().to_owned(), first_run: Some(id).filter(|id| *id != current) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_answer_names_its_first_run_to_every_later_one() {
        let (first, later) = (uuid::Uuid::from_u128(1), uuid::Uuid::from_u128(2));
        let body = ExecutedCall::stored(first, r#"{"price": 1.0}"#);
        for (current, expected) in [(first, None), (later, Some(first))] {
            let read = ExecutedCall::of_stored(&body, current).expect("a stored answer");
            assert_eq!(read.data, r#"{"price": 1.0}"#);
            assert_eq!(read.first_run, expected);
        }
        assert!(ExecutedCall::of_stored(r#"{"success":true,"data":{}}"#, first).is_none());
    }
}

//! The parameter `detail`, by which a caller asks for further fields of an answer.

use std::{borrow::Cow, collections::BTreeMap};

use bytes::Bytes;
use poem::Request;
use serde_json::{Value, json, value::RawValue};

use super::{
    computation::Computation,
    error::ApiError,
    validation::{Fault, Step},
};

/// The name of the parameter in the query string, and of the argument of a tool.
const NAME: &str = "detail";
/// The only value of the parameter.
const FULL: &str = "full";

/// The fields that a caller asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// The fields of the interface.
    #[default]
    Listed,
    /// The further fields too.
    Full,
}

impl Detail {
    /// Reads the parameter of the query string, for a computation that has further fields.
    pub(super) fn of_query<C: Computation>(request: &Request) -> Result<Self, ApiError> {
        if !C::HAS_FURTHER_FIELDS {
            return Ok(Self::Listed);
        }
        let pairs: Vec<(String, String)> = request.params().unwrap_or_default();
        let sent = pairs.iter().find(|(name, _)| name == NAME).map(|(_, value)| value.as_str());
        sent.map_or(Ok(Self::Listed), |text| Self::read("query", text))
    }

    /// Takes the argument of a tool out of its arguments, for a computation that has further fields.
    pub(super) fn of_arguments<C: Computation>(
        arguments: Bytes,
    ) -> Result<(Self, Bytes), ApiError> {
        if !C::HAS_FURTHER_FIELDS {
            return Ok((Self::Listed, arguments));
        }
        // Arguments that are no JSON object are refused by the reader of bodies.
        let mut members: BTreeMap<Cow<'_, str>, &RawValue> =
            serde_json::from_slice(&arguments).unwrap_or_default();
        let Some(sent) = members.remove(NAME) else { return Ok((Self::Listed, arguments)) };
        let detail = Self::read("body", serde_json::from_str(sent.get()).unwrap_or_default())?;
        let rest = serde_json::to_vec(&members).map_err(|_| ApiError::Internal)?;
        Ok((detail, rest.into()))
    }

    fn read(part: &str, text: &str) -> Result<Self, ApiError> {
        if text == FULL {
            return Ok(Self::Full);
        }
        let path = [Step::name(part), Step::name(NAME)];
        let message = "value is not a valid enumeration member; permitted: 'full'";
        Err(ApiError::Faults(vec![Fault::new(&path, "type_error.enum", message)]))
    }
}

/// Returns the description of the parameter in the query string.
pub(crate) fn described() -> Value {
    json!({
        "name": NAME,
        "in": "query",
        "required": false,
        "schema": { "type": "string", "enum": [FULL] },
        "description": "`full` adds the further fields to the answer.",
    })
}

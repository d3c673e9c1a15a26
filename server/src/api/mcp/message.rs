//! A message in two parts: the arguments of a tool, which stay JSON text until the tool's type is
//! known, and everything else, which is small.
//!
//! Nothing large is ever parsed into a JSON value, which takes up to forty times the bytes.

use std::fmt;

use bytes::Bytes;
use rmcp::model::JsonObject;
use serde::{
    Deserializer,
    de::{DeserializeSeed, Error as _, MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

/// The most bytes of a message without the arguments of its tool, and of the arguments of a tool
/// about tools or the account.
pub(super) const MOST_WITHOUT_ARGUMENTS: usize = 64 * 1024;

/// A message in two parts.
#[derive(Debug)]
pub(super) struct SplitMessage {
    /// The message without the arguments of a tool.
    pub(super) rest: Value,
    /// The arguments of `tools/call` as JSON text, where they are an object.
    pub(super) arguments: Option<Bytes>,
}

/// The reason why a text was not split.
#[derive(Debug)]
pub(super) enum SplitError {
    /// The text is not JSON.
    Syntax(String),
    /// The members beside the one to split off are too large.
    TooLarge,
}

impl From<serde_json::Error> for SplitError {
    fn from(error: serde_json::Error) -> Self {
        Self::Syntax(error.to_string())
    }
}

/// Splits the arguments of `tools/call` off a message. A text that is no JSON object is all rest.
pub(super) fn split(bytes: &Bytes) -> Result<SplitMessage, SplitError> {
    let text = text(bytes)?;
    if !text.trim_ascii_start().starts_with('{') {
        return whole(bytes);
    }
    let Members { small: mut rest, large: params } = Members::of(text, "params")?;
    let Some(params) = params else {
        return Ok(SplitMessage { rest: rest.into(), arguments: None });
    };
    let is_call = rest.get("method").is_some_and(|method| method == "tools/call");
    if !is_call || !params.get().starts_with('{') {
        return whole(bytes);
    }
    let Members { small: mut inner, large: arguments } = Members::of(params.get(), "arguments")?;
    let split = arguments.and_then(|raw| object_text(bytes, raw));
    if let (Some(arguments), None) = (arguments, &split) {
        if arguments.get().len() > MOST_WITHOUT_ARGUMENTS {
            return Err(SplitError::TooLarge);
        }
        inner.insert("arguments".to_owned(), serde_json::from_str(arguments.get())?);
    }
    rest.insert("params".to_owned(), inner.into());
    Ok(SplitMessage { rest: rest.into(), arguments: split })
}

fn whole(bytes: &Bytes) -> Result<SplitMessage, SplitError> {
    if bytes.len() > MOST_WITHOUT_ARGUMENTS {
        return Err(SplitError::TooLarge);
    }
    Ok(SplitMessage { rest: serde_json::from_slice(bytes)?, arguments: None })
}

/// Returns the text of arguments that are an object. Some models write the object as a string, which
/// is read as the object.
pub(super) fn object_text(bytes: &Bytes, arguments: &RawValue) -> Option<Bytes> {
    let text = arguments.get();
    if text.starts_with('{') {
        return Some(bytes.slice_ref(text.as_bytes()));
    }
    let inner: String = serde_json::from_str(text).ok()?;
    inner.trim_ascii_start().starts_with('{').then(|| inner.into())
}

/// Splits the member called `name` off an object: the other members, and that one.
pub(super) fn split_off<'a>(
    bytes: &'a Bytes,
    name: &str,
) -> Result<(JsonObject, Option<&'a RawValue>), SplitError> {
    let Members { small, large } = Members::of(text(bytes)?, name)?;
    Ok((small, large))
}

/// The members of a small object.
pub(super) fn members(bytes: &Bytes) -> Result<JsonObject, SplitError> {
    if bytes.len() > MOST_WITHOUT_ARGUMENTS {
        return Err(SplitError::TooLarge);
    }
    Ok(serde_json::from_slice(bytes)?)
}

fn text(bytes: &Bytes) -> Result<&str, SplitError> {
    std::str::from_utf8(bytes).map_err(|error| SplitError::Syntax(error.to_string()))
}

/// The members of an object: one that may be large, and the others.
struct Members<'a> {
    small: JsonObject,
    large: Option<&'a RawValue>,
}

impl<'a> Members<'a> {
    fn of(text: &'a str, large: &str) -> Result<Self, SplitError> {
        let mut is_too_large = false;
        let mut json = serde_json::Deserializer::from_str(text);
        let is_small = text.len() <= MOST_WITHOUT_ARGUMENTS;
        let seed = MembersSeed { name: large, is_small, is_too_large: &mut is_too_large };
        let members = seed.deserialize(&mut json).and_then(|found| json.end().map(|()| found));
        if is_too_large { Err(SplitError::TooLarge) } else { Ok(members?) }
    }
}

struct MembersSeed<'n, 'f> {
    name: &'n str,
    /// True where the whole object is so small that no member needs to be weighed before it is parsed.
    is_small: bool,
    is_too_large: &'f mut bool,
}

impl<'a> DeserializeSeed<'a> for MembersSeed<'_, '_> {
    type Value = Members<'a>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Members<'a>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for MembersSeed<'_, '_> {
    type Value = Members<'a>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Members<'a>, A::Error> {
        let mut members = Members { small: JsonObject::new(), large: None };
        let mut length = 0;
        // The last of two members of one name holds.
        while let Some(name) = map.next_key::<String>()? {
            if name == self.name {
                members.large = Some(map.next_value()?);
            } else if self.is_small {
                members.small.insert(name, map.next_value()?);
            } else {
                let value: &RawValue = map.next_value()?;
                length += name.len() + value.get().len();
                if length > MOST_WITHOUT_ARGUMENTS {
                    *self.is_too_large = true;
                    return Err(A::Error::custom("the rest is not read"));
                }
                let value = serde_json::from_str(value.get()).map_err(A::Error::custom)?;
                members.small.insert(name, value);
            }
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parts(text: &str) -> (Value, Option<String>) {
        let text_of = |bytes: Bytes| String::from_utf8(bytes.to_vec()).expect("text");
        let SplitMessage { rest, arguments } =
            split(&Bytes::copy_from_slice(text.as_bytes())).expect("a message");
        (rest, arguments.map(text_of))
    }

    #[test]
    fn the_arguments_of_a_call_are_split_off_and_others_stay() {
        let call =
            r#"{"id":1,"params":{"arguments": {"a":[1, 2]},"name":"x"},"method":"tools/call"}"#;
        let rest = json!({ "id": 1, "method": "tools/call", "params": { "name": "x" } });
        assert_eq!(parts(call), (rest.clone(), Some(r#"{"a":[1, 2]}"#.to_owned())));
        let escaped = call.replace("arguments", "argu\\u006dents").replace("tools/", "tools\\/");
        assert_eq!(parts(&escaped).1, Some(r#"{"a":[1, 2]}"#.to_owned()));
        let written = call.replace(r#"{"a":[1, 2]}"#, r#""{\"a\":[1, 2]}""#);
        assert_eq!(
            parts(&written),
            (rest, Some(r#"{"a":[1, 2]}"#.to_owned())),
            "an object in a string"
        );
        for whole in [
            r#"{"method":"prompts/get","params":{"arguments":{"a":1}}}"#,
            r#"{"method":"tools/call","params":{"arguments":null}}"#,
            r#"{"method":"tools/call","params":{"arguments":"a text"}}"#,
            r#"{"method":"tools/call","params":[]}"#,
            r#"{"method":"tools/call"}"#,
            "[]",
        ] {
            let value: Value = serde_json::from_str(whole).expect("JSON");
            assert_eq!(parts(whole), (value, None));
        }
        let nonsense = split(&Bytes::from_static(b"nonsense"));
        assert!(matches!(nonsense, Err(SplitError::Syntax(_))), "{nonsense:?}");
    }

    #[test]
    fn a_message_is_weighed_without_its_arguments() {
        let junk = "0,".repeat(MOST_WITHOUT_ARGUMENTS);
        let large =
            format!(r#"{{"method":"tools/call","params":{{"arguments":{{"x":[{junk}0]}}}}}}"#);
        assert!(parts(&large).0.to_string().len() < 100);
        for refused in [
            format!(r#"{{"method":"ping","params":{{"x":[{junk}0]}}}}"#),
            format!(r#"{{"method":"tools/call","params":{{"x":[{junk}0],"arguments":{{}}}}}}"#),
            format!(r#"{{"x":[{junk}0],"method":"tools/call","params":{{"arguments":{{}}}}}}"#),
            format!("[{junk}0]"),
        ] {
            let refused = split(&Bytes::from(refused));
            assert!(matches!(refused, Err(SplitError::TooLarge)), "{refused:?}");
        }
    }
}

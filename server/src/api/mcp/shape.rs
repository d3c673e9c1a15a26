//! The result of a successful call: the data, a short text for the model, and `_meta`.

use std::{borrow::Cow, fmt};

use account_core::accounts::results::KEPT;
use rmcp::model::Resource;
use serde::{
    Deserialize, Deserializer as _,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    addresses::address,
    calls::Outcome,
    results::{self, INLINE},
    tool_result::{ResultMeta, ToolResult},
};
use crate::http::AnswerParts;

/// The first revision of the protocol with links to resources.
const KNOWS_LINKS: &str = "2025-06-18";
/// The most members of the data that the short text states.
const MOST_STATED: usize = 4;
/// The longest member of the data, in bytes, that the short text states.
const LONGEST_STATED: usize = 60;

/// Makes the result of a success: the data, the same data as text, and a short text.
///
/// `wrap` makes the structured content from the name of the tool and the data.
pub(super) fn result(
    mut outcome: Outcome,
    version: &str,
    wrap: impl FnOnce(&str, String) -> String,
) -> ToolResult {
    let nothing = Ok(AnswerParts::new(String::new()));
    let meta = outcome.meta();
    let Ok(parts) = std::mem::replace(&mut outcome.answer, nothing) else {
        return ToolResult::failed(String::new()).with_meta(meta);
    };
    let (tool, asked) = (outcome.called.tool(), further_text(&parts));
    let length = parts.data.len();
    let (data, short) = if length <= INLINE {
        let short = short_text(&outcome, &parts.data);
        (parts.data, short)
    } else {
        let cut = results::cut(&results::parsed(&parts.data), INLINE).to_string();
        (cut, format!("{} {}", note(&outcome, length), charged(&outcome)))
    };
    let mut result = ToolResult::structured(wrap(tool, data)).with_meta(meta);
    if let Some(asked) = asked {
        result = result.with_text(asked);
    }
    result = result.with_text(short);
    if length > INLINE && outcome.was_kept && version >= KNOWS_LINKS {
        result = result.with_link(link(&outcome));
    }
    result
}

/// Returns the members of an answer beside its data.
pub(super) fn further(parts: &AnswerParts) -> impl Iterator<Item = (&'static str, &str)> {
    parts.members().filter(|(name, _)| *name != "data")
}

/// Returns the explanation and the receipt as a text that a model reads; `None` where the caller
/// asked for neither. The structured content has the data alone, as the output schema says.
fn further_text(parts: &AnswerParts) -> Option<String> {
    let members: Vec<String> =
        further(parts).map(|(name, part)| format!(r#""{name}":{part}"#)).collect();
    (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
}

impl Outcome {
    /// Returns the members of `_meta`.
    pub(super) fn meta(&self) -> ResultMeta {
        let mut meta = ResultMeta::of_credits(self.called.cost, self.balance);
        if let Some((remaining, reset)) = self.limit {
            let limit = format!(r#"{{"remaining":{remaining},"reset":{reset}}}"#);
            meta.add("rate_limit", &limit);
        }
        if self.was_kept {
            meta.add("result", &format!("\"{}\"", address(self.called.id)));
        }
        if self.is_repeat {
            meta.add("idempotent_replayed", "true");
        }
        for (name, part) in self.answer.iter().flat_map(further) {
            meta.add(name, part);
        }
        meta
    }
}

/// Returns the first values of the data, the cost, the balance and the address of the stored
/// result: hosts show the model the content of a result, and not always `_meta`.
fn short_text(outcome: &Outcome, data: &str) -> String {
    let stored = match outcome.was_kept {
        true => {
            let (hours, uri) = (KEPT.num_hours(), address(outcome.called.id));
            format!(" Stored for {hours} hours at {uri}.")
        }
        false => String::new(),
    };
    format!("{}{}{stored}", values(data), charged(outcome))
}

/// Returns the cost and the balance in words.
fn charged(outcome: &Outcome) -> String {
    let (cost, balance) = (outcome.called.cost, outcome.balance);
    let cost = match cost {
        0 if outcome.is_repeat => "Cost 0 credits, because the call was made before".to_owned(),
        1 => "Cost 1 credit".to_owned(),
        cost => format!("Cost {cost} credits"),
    };
    format!("{cost}; balance {balance}.")
}

/// Returns the first plain members of the data, as `price: 4.76, delta: 0.77. `.
fn values(data: &str) -> String {
    let mut json = serde_json::Deserializer::from_str(data);
    let stated = json.deserialize_map(PlainMembers).unwrap_or_default();
    if stated.is_empty() { stated } else { stated + ". " }
}

/// Writes the first plain members of an object, as `price: 4.76, delta: 0.77`.
struct PlainMembers;

/// The name of a member, without a copy where the name has no escape.
#[derive(Deserialize)]
struct MemberName<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Visitor<'a> for PlainMembers {
    type Value = String;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<String, A::Error> {
        let (mut stated, mut count) = (String::new(), 0);
        while let Some((MemberName(name), value)) = map.next_entry::<_, &RawValue>()? {
            let value = value.get();
            let is_plain = value.len() <= LONGEST_STATED && !value.starts_with(['{', '[', 'n']);
            if is_plain && count < MOST_STATED {
                stated.extend([if count == 0 { "" } else { ", " }, &name, ": ", value]);
                count += 1;
            }
        }
        Ok(stated)
    }
}

fn note(outcome: &Outcome, length: usize) -> String {
    if outcome.was_kept {
        let (hours, uri) = (KEPT.num_hours(), address(outcome.called.id));
        return format!(
            "This result was cut: whole it has {length} bytes, and its lists are longer than \
             shown. It is kept for {hours} hours at {uri}; read_result reads it in parts."
        );
    }
    format!(
        "This result was cut: whole it has {length} bytes, which is too much to be kept, and its \
         lists are longer than shown. Ask for less at once."
    )
}

fn link(outcome: &Outcome) -> Resource {
    Resource::new(address(outcome.called.id), "result")
        .with_title(format!("Result of {}", outcome.called.tool()))
        .with_description(format!("The whole result, kept for {} hours.", KEPT.num_hours()))
        .with_mime_type("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_text_has_the_first_plain_members() {
        let data =
            r#"{"price":4.76,"note":null,"legs":[1],"is_par":true,"day":"2026-07-04","a":1,"b":2}"#;
        assert_eq!(values(data), r#"price: 4.76, is_par: true, day: "2026-07-04", a: 1. "#);
        assert_eq!(values(r#"{"points":[{"x":1}]}"#), "");
        assert_eq!(values("[1,2]"), "");
    }
}

//! The form in which a result is stored, and the envelope that its owner reads.
//!
//! A result is written with its charge, so that each of its bytes counts. The stored form has what the
//! call alone knows; the envelope adds what follows from the tool, the id and the time.

use std::borrow::Cow;

use account_core::{
    ListedResult, ResultId, ResultTemplate, StoredResult, Timestamp, accounts::results::KEPT,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{addresses::address, tool_result::quoted, tools::CATALOGUE};
use crate::http::{AnswerParts, json_string::StringFormat as _};

/// A stored result, parsed as far as its envelope needs.
#[derive(Deserialize)]
struct StoredForm<'a> {
    #[serde(borrow)]
    tool: Cow<'a, str>,
    cost: u64,
    /// The explanation of the answer, an object.
    #[serde(borrow, default)]
    meta: Option<&'a RawValue>,
    #[serde(borrow)]
    data: &'a RawValue,
    #[serde(borrow, default)]
    receipt: Option<&'a RawValue>,
    balance: u64,
}

/// Makes the stored form of an answer, with a gap for the balance. [`envelope_size`] reads its first
/// members.
pub(super) fn template(tool: &str, cost: u64, parts: &AnswerParts) -> ResultTemplate {
    let tool = quoted(tool);
    let mut before = String::with_capacity(64 + parts.byte_count());
    before.push_str(&format!(r#"{{"tool":{tool},"cost":{cost}"#));
    let members = [("meta", parts.meta.as_ref()), ("data", Some(&parts.data))];
    let members = members.into_iter().chain([("receipt", parts.receipt.as_ref())]);
    for (name, part) in members.filter_map(|(name, part)| Some((name, part?))) {
        before.extend([",\"", name, "\":", part]);
    }
    before.push_str(r#","balance":"#);
    ResultTemplate { before, after: "}".to_owned() }
}

/// Returns the tool of a result, from the start of its stored form.
pub(super) fn tool(start: &str) -> &str {
    let named = start.strip_prefix(r#"{"tool":""#).and_then(|rest| rest.split_once('"'));
    named.map_or("a tool", |(tool, _)| tool)
}

/// Returns the envelope of a stored result; `None` for a text that is no stored form.
///
/// Successes alone are stored. The explanation of the answer is in `meta`, which has facts of the
/// call in every envelope.
pub(super) fn envelope(result: &StoredResult) -> Option<String> {
    let form: StoredForm<'_> = serde_json::from_str(&result.body).ok()?;
    Some(form.envelope(result.id, result.at))
}

impl StoredForm<'_> {
    fn envelope(&self, id: ResultId, at: Timestamp) -> String {
        let Self { tool, cost, meta, data, receipt, balance } = self;
        let entry = CATALOGUE.find(tool);
        let title = entry.and_then(|entry| entry.tool.title.as_deref()).unwrap_or_default();
        let summary = quoted(&format!("{title}: {cost} credits taken."));
        let (number, uri) = (uuid::Uuid::from_u128(id.0), address(id.0));
        let (at, until) = (at.write(), (at + KEPT).write());
        // The explanation is an object, whose members follow those of the call.
        let explained = meta.and_then(|meta| meta.get().strip_prefix('{'));
        let explained = explained.filter(|members| *members != "}");
        let explained = explained.map_or_else(|| "}".to_owned(), |members| format!(",{members}"));
        let receipt = receipt.map(|receipt| format!(r#","receipt":{receipt}"#)).unwrap_or_default();
        let tool = quoted(tool);
        format!(
            r#"{{"svc":"result/v1","tool":{tool},"status":"ok","summary":{summary},"error":null,"meta":{{"id":"{number}","uri":"{uri}","http_status":200,"created_at":"{at}","expires_at":"{until}"{explained},"data":{data}{receipt},"credits":{{"cost":{cost},"balance":{balance}}}}}"#
        )
    }
}

/// Returns the size of the envelope of a listed result, in bytes. An envelope is larger than its stored
/// form by what the tool, the cost and the presence of an explanation decide.
pub(super) fn envelope_size(result: &ListedResult) -> Option<u64> {
    let rest = result.start.strip_prefix(r#"{"tool":""#)?.split_once(r#"","cost":"#)?.1;
    let (cost, next) = rest.split_once(',')?;
    let meta = next.starts_with(r#""meta""#).then(|| r#"{"of":0}"#.to_owned());
    let parts = AnswerParts { meta, ..AnswerParts::new("0".to_owned()) };
    let body = template(tool(&result.start), cost.parse().ok()?, &parts).with(0);
    let form: StoredForm<'_> = serde_json::from_str(&body).ok()?;
    let larger = form.envelope(result.id, result.at).len().checked_sub(body.len())?;
    Some(result.bytes + larger as u64)
}

#[cfg(test)]
mod tests {
    use account_core::{AccountId, ListedResult};
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn an_envelope_has_all_parts_and_the_size_that_a_list_states() {
        let (id, owner) = (ResultId(7), AccountId(1));
        let at = Timestamp::from_timestamp_micros(1_800_000_000_000_001).expect("a time");
        let meta = Some(r#"{"method":"closed form"}"#.to_owned());
        let receipt = Some(r#"{"credits":5}"#.to_owned());
        let plain = AnswerParts::new(r#"{"price":4.75}"#.to_owned());
        for parts in [
            plain.clone(),
            AnswerParts { meta: meta.clone(), ..plain.clone() },
            AnswerParts { receipt: receipt.clone(), ..plain.clone() },
            AnswerParts { meta, receipt, ..plain },
        ] {
            let body = template("price_european_option", 5, &parts).with(95);
            let (start, bytes) = (body.clone(), body.len() as u64);
            let text = envelope(&StoredResult { id, owner, body, at }).expect("a stored form");
            let size = envelope_size(&ListedResult { id, at, start, bytes });
            assert_eq!(size, Some(text.len() as u64), "{parts:?}");
            let envelope: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(envelope["tool"], "price_european_option");
            assert_eq!(envelope["data"], json!({ "price": 4.75 }));
            assert_eq!(envelope["credits"], json!({ "cost": 5, "balance": 95 }));
            assert_eq!(envelope["meta"]["uri"], address(7));
            let explained = parts.meta.is_some().then_some("closed form");
            assert_eq!(envelope["meta"]["method"].as_str(), explained);
            assert_eq!(envelope["receipt"].is_object(), parts.receipt.is_some());
        }
        let other = StoredResult { id, owner, body: "{}".to_owned(), at };
        assert_eq!(envelope(&other), None);
    }
}

//! The reduction of a result that is too large, and listing and reading of stored ones.

use account_core::{ListedResult, ResultId, StoredResult, accounts::results::KEPT};
use rmcp::model::Resource;
use serde_json::{Value, json};

use super::{
    addresses::address,
    calls::{Called, Outcome, ToolError},
    chart,
    context::McpContext,
    stored_form,
    tools::Target,
};
use crate::http::{echo, json_string::StringFormat as _};

/// The largest size of data in an answer, in bytes.
pub(super) const INLINE: usize = 40 * 1024;
/// The largest size of a stored result, in bytes.
const LARGEST_KEPT: usize = 4 * 1024 * 1024;

/// Draws the chart of an envelope; `None` where its data have no picture.
pub(super) fn chart(envelope: &str) -> Option<String> {
    let envelope: Value = serde_json::from_str(envelope).ok()?;
    chart::draw(envelope["tool"].as_str()?, &envelope["data"])
}

impl Called {
    /// Returns the name of the tool.
    pub(super) fn tool(&self) -> &'static str {
        &self.entry.tool.name
    }
}

impl Outcome {
    /// Returns the result that must be stored apart from the charge, if any. Only results of
    /// computations are stored: refusals and reads of the account cost nothing, and could fill the
    /// database.
    pub(super) fn to_keep(&self, context: &McpContext) -> Option<StoredResult> {
        let parts = self.answer.as_ref().ok()?;
        if self.was_kept || !matches!(self.called.entry.target, Target::Computation(..)) {
            return None;
        }
        let Called { cost, .. } = self.called;
        let body = stored_form::template(self.called.tool(), cost, parts).with(self.balance);
        let (id, owner) = (ResultId(self.called.id), context.caller.id);
        (body.len() <= LARGEST_KEPT).then_some(StoredResult { id, owner, body, at: self.called.at })
    }
}

/// Parses the data of an answer.
pub(super) fn parsed(data: &str) -> Value {
    serde_json::from_str(data).expect("the data of an answer are JSON")
}

/// Makes the entry of a stored result in `resources/list`.
pub(super) fn listed(result: &ListedResult) -> Resource {
    let tool = stored_form::tool(&result.start);
    let (at, until) = (result.at.write(), (result.at + KEPT).write());
    let resource = Resource::new(address(result.id.0), format!("{tool} {at}"))
        .with_title(format!("Result of {tool}"))
        .with_description(format!("The call of {tool} at {at}; kept until {until}."))
        .with_mime_type("application/json");
    match stored_form::envelope_size(result) {
        Some(size) => resource.with_size(size),
        None => resource,
    }
}

/// Shortens every list of `value` to a common length, so that at most `limit` bytes are left. The
/// result matches the same schema.
pub(super) fn cut(value: &Value, limit: usize) -> Value {
    let mut most = longest(value);
    loop {
        let shortened = shorten(value, most);
        if most == 0 || shortened.to_string().len() <= limit {
            return shortened;
        }
        most /= 2;
    }
}

fn longest(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(longest).max().unwrap_or(0).max(items.len()),
        Value::Object(fields) => fields.values().map(longest).max().unwrap_or(0),
        _ => 0,
    }
}

fn shorten(value: &Value, most: usize) -> Value {
    match value {
        Value::Array(items) => items.iter().take(most).map(|item| shorten(item, most)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), shorten(value, most))).collect()
        }
        other => other.clone(),
    }
}

/// Returns a part of a stored result, for `read_result`.
pub(super) fn part(
    id: ResultId,
    body: &str,
    path: &str,
    offset: usize,
    limit: usize,
) -> Result<Value, ToolError> {
    let envelope: Value = serde_json::from_str(body).unwrap_or_default();
    let Some(found) = envelope.pointer(path) else {
        let message = format!(
            "There is nothing at {:?} in this result. A path is a JSON pointer, as /data.",
            echo::value(path)
        );
        return Err(ToolError { code: "invalid_arguments", message });
    };
    let mut part = json!({ "uri": address(id.0), "path": path });
    match found {
        Value::Array(items) => {
            let wanted: Vec<&Value> = items.iter().skip(offset).take(limit).collect();
            let wanted = fitting(&wanted);
            let next = offset.saturating_add(wanted.len());
            part["value"] = wanted.into_iter().cloned().collect();
            part["total"] = items.len().into();
            if next < items.len() && next > offset {
                part["next_offset"] = next.into();
            }
        }
        value => part["value"] = cut(value, INLINE),
    }
    Ok(part)
}

/// Returns the first items that fit into one answer, at least one.
fn fitting<'a>(items: &[&'a Value]) -> Vec<&'a Value> {
    let mut left = INLINE;
    let mut fitting = Vec::new();
    for item in items {
        let length = item.to_string().len() + 1;
        if length > left && !fitting.is_empty() {
            break;
        }
        left = left.saturating_sub(length);
        fitting.push(*item);
    }
    fitting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_the_form_and_shortens_the_lists() {
        let rows: Vec<Value> = (0..1000).map(|n| json!({ "n": n, "pair": [n, n] })).collect();
        let whole = json!({ "count": 1000, "rows": rows, "name": "x" });
        assert_eq!(cut(&whole, 1 << 20), whole);
        let cut = cut(&whole, 2000);
        assert!(cut.to_string().len() <= 2000);
        assert_eq!((&cut["count"], &cut["name"]), (&json!(1000), &json!("x")));
        let rows = cut["rows"].as_array().expect("a list");
        assert!(rows.len() > 20, "{}", rows.len());
        assert_eq!(rows[20], json!({ "n": 20, "pair": [20, 20] }));
    }

    #[test]
    fn parts_of_a_result_join_to_the_whole() {
        let rows: Vec<Value> =
            (0..5000).map(|n| json!({ "number": n, "text": "abcdefgh" })).collect();
        let body = json!({ "data": { "rows": rows } }).to_string();
        let (mut joined, mut offset) = (Vec::new(), 0);
        loop {
            let part = part(ResultId(1), &body, "/data/rows", offset, 900).expect("there it is");
            assert!(part.to_string().len() < INLINE + 500);
            joined.extend(part["value"].as_array().expect("a list").clone());
            let Some(next) = part["next_offset"].as_u64() else { break };
            offset = usize::try_from(next).expect("small");
        }
        assert_eq!(joined, rows);
        assert_eq!(
            part(ResultId(1), &body, "/none", 0, 1).expect_err("nothing there").code,
            "invalid_arguments"
        );
    }
}

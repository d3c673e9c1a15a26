//! The largest bodies, lists and texts of each operation, from the OpenAPI document.

use serde_json::Value;

use super::{operation, schema};
use crate::http::COMMON_BODY_LIMIT;

/// The limits of an operation's request.
pub(super) struct RequestSizes {
    pub(super) operation: &'static str,
    /// The largest body in bytes.
    pub(super) body: u64,
    /// The lists with their largest numbers of items.
    pub(super) lists: String,
    /// The texts with their largest numbers of characters.
    pub(super) texts: String,
}

/// Returns the limits of every operation with a body.
pub(super) fn of_operations() -> impl Iterator<Item = RequestSizes> {
    let with_body = operation::all().iter().filter(|operation| !operation.request.is_empty());
    with_body.map(|operation| {
        let (mut lists, mut texts) = (Vec::new(), Vec::new());
        for field in &operation.request {
            collect(&field.path, field.schema, &mut lists, &mut texts);
        }
        RequestSizes {
            operation: &operation.id,
            body: operation.body_limit.unwrap_or(COMMON_BODY_LIMIT as u64),
            lists: lists.join(", "),
            texts: texts.join(", "),
        }
    })
}

/// Adds the limits of a value, and of the values of a list or of an object with free names. The fields
/// of other objects are values of their own.
fn collect(path: &str, schema: &'static Value, lists: &mut Vec<String>, texts: &mut Vec<String>) {
    let schema = schema::resolved(schema);
    for key in ["maxItems", "maxProperties"] {
        lists.extend(schema[key].as_u64().map(|most| format!("`{path}` {most}")));
    }
    texts.extend(schema["maxLength"].as_u64().map(|most| format!("`{path}` {most}")));
    if !schema["items"].is_null() {
        collect(&format!("{path}[]"), &schema["items"], lists, texts);
    }
    if schema["additionalProperties"].is_object() {
        collect(&format!("{path}.*"), &schema["additionalProperties"], lists, texts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_and_a_list_have_their_limits() {
        let bodies: Vec<_> = of_operations().map(|sizes| sizes.body).collect();
        assert!(bodies.contains(&(COMMON_BODY_LIMIT as u64)), "{bodies:?}");
        assert!(bodies.iter().any(|body| *body > COMMON_BODY_LIMIT as u64), "{bodies:?}");
        assert!(of_operations().any(|sizes| sizes.lists.contains("[]` ")));
    }
}

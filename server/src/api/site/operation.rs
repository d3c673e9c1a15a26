//! The operations of the OpenAPI document, as the pages show them.

use std::sync::LazyLock;

use serde_json::Value;

use super::{
    markdown::html,
    schema::{self, SchemaField},
};
use crate::api::openapi::DOCUMENT;

/// An operation with all that a page shows of it.
pub(super) struct DescribedOperation {
    pub(super) id: String,
    /// The method in capitals.
    pub(super) method: String,
    pub(super) path: String,
    /// The heading under which the operation is listed.
    pub(super) tag: String,
    pub(super) summary: String,
    /// The description as HTML.
    pub(super) description: String,
    /// Tier and credits of a metered operation.
    pub(super) price: Option<OperationPrice>,
    pub(super) needs_key: bool,
    /// The largest body in bytes, where the operation has a limit of its own.
    pub(super) body_limit: Option<u64>,
    pub(super) parameters: Vec<DescribedParameter>,
    pub(super) request: Vec<SchemaField>,
    pub(super) example_request: Option<&'static Value>,
    pub(super) answer: Vec<SchemaField>,
    /// The example of the answer, indented.
    pub(super) example_answer: Option<String>,
    pub(super) refusals: Vec<DescribedRefusal>,
}

/// The tier that reaches an operation, and the credits of a call.
pub(super) struct OperationPrice {
    pub(super) tier: String,
    pub(super) credits: u64,
}

/// A parameter in the path, the query or a header.
pub(super) struct DescribedParameter {
    /// `path`, `query` or `header`.
    pub(super) place: String,
    pub(super) field: SchemaField,
}

/// A status other than success.
pub(super) struct DescribedRefusal {
    pub(super) status: String,
    pub(super) description: String,
}

/// Operations under one heading.
pub(super) struct Group {
    pub(super) tag: String,
    pub(super) description: String,
    pub(super) operations: Vec<&'static DescribedOperation>,
}

static OPERATIONS: LazyLock<Vec<DescribedOperation>> = LazyLock::new(|| {
    let paths = DOCUMENT["paths"].as_object().into_iter().flatten();
    paths
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().into_iter().flatten();
            methods.map(move |(method, operation)| read(path, method, operation))
        })
        .collect()
});

/// Returns all operations in the order of the document.
pub(super) fn all() -> &'static [DescribedOperation] {
    &OPERATIONS
}

/// Returns the operation of an id.
pub(super) fn find(id: &str) -> Option<&'static DescribedOperation> {
    OPERATIONS.iter().find(|operation| operation.id == id)
}

/// Returns the operations that `select` keeps, by heading; headings without an operation are left out.
pub(super) fn groups(select: impl Fn(&DescribedOperation) -> bool) -> Vec<Group> {
    let tags = DOCUMENT["tags"].as_array().into_iter().flatten();
    let groups = tags.map(|tag| {
        let name = tag["name"].as_str().unwrap_or_default();
        let of_tag = |operation: &&DescribedOperation| operation.tag == name && select(operation);
        Group {
            tag: name.to_owned(),
            description: tag["description"].as_str().unwrap_or_default().to_owned(),
            operations: all().iter().filter(of_tag).collect(),
        }
    });
    groups.filter(|group| !group.operations.is_empty()).collect()
}

fn read(path: &str, method: &str, operation: &'static Value) -> DescribedOperation {
    let text = |key: &str| operation[key].as_str().unwrap_or_default();
    let body = &operation["requestBody"]["content"]["application/json"];
    let answer = &operation["responses"]["200"]["content"]["application/json"];
    let shape = schema::resolved(&answer["schema"]);
    // The data are what differs from answer to answer.
    let data =
        if shape["properties"]["data"].is_null() { shape } else { &shape["properties"]["data"] };
    let example = example(answer)
        .map(|value| serde_json::to_string_pretty(value).expect("a JSON value has a text"));
    DescribedOperation {
        id: text("operationId").to_owned(),
        method: method.to_uppercase(),
        path: path.to_owned(),
        tag: operation["tags"][0].as_str().unwrap_or_default().to_owned(),
        summary: text("summary").trim_end_matches('.').to_owned(),
        description: html(text("description")),
        price: operation["x-tier"].as_str().map(|tier| OperationPrice {
            tier: tier.to_owned(),
            credits: operation["x-credits"].as_u64().unwrap_or_default(),
        }),
        body_limit: operation["x-body-limit"].as_u64(),
        needs_key: operation["security"].as_array().is_some_and(|rules| !rules.is_empty()),
        parameters: operation["parameters"]
            .as_array()
            .into_iter()
            .flatten()
            .map(parameter)
            .collect(),
        request: schema::fields(&body["schema"]),
        example_request: example_of_body(body),
        answer: schema::fields(data),
        example_answer: example,
        refusals: refusals(operation),
    }
}

fn example_of_body(body: &'static Value) -> Option<&'static Value> {
    (!body.is_null()).then(|| example(body)).flatten()
}

/// Returns the example of a media type or of its schema.
fn example(media: &'static Value) -> Option<&'static Value> {
    [&media["example"], &schema::resolved(&media["schema"])["example"]]
        .into_iter()
        .find(|value| !value.is_null())
}

fn parameter(parameter: &'static Value) -> DescribedParameter {
    let text = |key: &str| parameter[key].as_str().unwrap_or_default().to_owned();
    let is_required = parameter["required"] == true;
    let field = schema::field(text("name"), &parameter["schema"], is_required, 0);
    // A parameter is described beside its schema.
    let field = SchemaField { description: html(&text("description")), ..field };
    DescribedParameter { place: text("in"), field }
}

fn refusals(operation: &Value) -> Vec<DescribedRefusal> {
    let responses = operation["responses"].as_object().into_iter().flatten();
    let refusals = responses.filter(|(status, _)| !status.starts_with('2'));
    refusals
        .map(|(status, response)| DescribedRefusal {
            status: status.clone(),
            description: response["description"].as_str().unwrap_or_default().to_owned(),
        })
        .collect()
}

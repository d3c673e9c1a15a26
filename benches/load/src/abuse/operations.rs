//! The dearest requests of every metered operation, made from the generated document: its example
//! with every list and every whole number as large as the schema allows.

use quant_server::api::openapi::DOCUMENT;
use serde_json::Value;

use super::{
    bodies::{BARRIER, filled, list},
    document::{example_of, request_of, resolved},
    grown::{Size, grown},
};

/// The sizes that are tried, the largest first: a list may need more than its length to be accepted.
const SIZES: [usize; 7] = [1_000_000, 100_000, 10_000, 1_000, 100, 10, 0];
/// The largest body where the document states none.
const COMMON_BODY_LIMIT: usize = 256 * 1024;

/// A metered operation of the document, or its columns, or the batch of calls.
pub(super) struct Operation {
    pub(super) id: &'static str,
    pub(super) method: String,
    pub(super) path: String,
    /// The credits of a single call; for columns those of `rows_of_a_price` rows.
    pub(super) credits: u64,
    pub(super) rows_of_a_price: Option<u64>,
    body_limit: usize,
    content: Content,
}

/// The part of an operation that its bodies are made from.
enum Content {
    /// No body.
    Nothing,
    /// A body with a schema and an example.
    Single { schema: &'static Value, example: &'static Value },
    /// Columns: the schema of their body, and the example of a single call.
    Columns { schema: &'static Value, example: &'static Value },
    /// A batch of calls.
    Batch,
}

/// A request to try.
pub(super) struct Candidate {
    /// The size of the request, for the table.
    pub(super) what: String,
    pub(super) body: String,
    /// The credits of a success.
    pub(super) credits: u64,
}

impl Operation {
    /// Every metered operation, every operation with columns, and the batch of calls.
    pub(super) fn all() -> Vec<Self> {
        let paths = DOCUMENT["paths"].as_object().into_iter().flatten();
        let operations = paths.flat_map(|(path, methods)| {
            let methods = methods.as_object().into_iter().flatten();
            methods.map(move |(method, operation)| (path, method, operation))
        });
        operations
            .filter_map(|(path, method, operation)| Self::of(path, method, operation))
            .collect()
    }

    fn of(path: &str, method: &str, operation: &'static Value) -> Option<Self> {
        let request = &operation["requestBody"]["content"]["application/json"];
        let schema = resolved(&request["schema"]);
        let columns = &operation["x-columns"];
        let (content, priced) = if path == "/quantlib/batch" {
            (Content::Batch, operation)
        } else if let Some(single) = columns["single"].as_str() {
            let example = example_of(request_of(single)?);
            (Content::Columns { schema, example }, columns)
        } else if operation.get("x-credits").is_none() {
            return None;
        } else if request.is_null() {
            (Content::Nothing, operation)
        } else {
            (Content::Single { schema, example: example_of(request) }, operation)
        };
        let credits = priced.get("x-credits").or_else(|| priced.get("credits"));
        let limit = operation["x-body-limit"].as_u64().and_then(|limit| limit.try_into().ok());
        Some(Self {
            id: operation["operationId"].as_str()?,
            method: method.to_uppercase(),
            path: path.to_owned(),
            credits: credits.and_then(Value::as_u64).unwrap_or_default(),
            rows_of_a_price: columns["rows"].as_u64(),
            body_limit: limit.unwrap_or(COMMON_BODY_LIMIT),
            content,
        })
    }

    /// Returns requests that the operation may accept, the dearest first.
    pub(super) fn accepted(&self) -> Vec<Candidate> {
        let candidates: Vec<Candidate> = match &self.content {
            Content::Nothing => vec![self.candidate("no body".to_owned(), String::new(), 1)],
            Content::Single { schema, example } => SIZES
                .into_iter()
                .flat_map(|most| {
                    [true, false].map(|largest_integers| Size { most, largest_integers })
                })
                .map(|size| {
                    let body = grown(schema, example, size).to_string();
                    self.candidate(size.to_string(), body, 1)
                })
                .collect(),
            Content::Columns { schema, example } => SIZES
                .into_iter()
                .filter(|&rows| rows > 0)
                .map(|rows| {
                    self.candidate(format!("{rows} rows"), columns(schema, example, rows), rows)
                })
                .collect(),
            Content::Batch => [1_000, 100, 10].map(|calls| self.batch(calls)).into(),
        };
        candidates.into_iter().filter(|candidate| candidate.body.len() <= self.body_limit).collect()
    }

    /// Returns requests that the operation refuses: the dearest that is within its limit, with a
    /// fault at its end, and ignored zeros without a required field.
    pub(super) fn refused(&self) -> Vec<Candidate> {
        let zeros = filled("{}", self.body_limit);
        let zeros = Candidate { what: "refused, zeros".to_owned(), body: zeros, credits: 0 };
        let required = match &self.content {
            Content::Nothing => return Vec::new(),
            Content::Single { schema, .. } | Content::Columns { schema, .. } => {
                schema["required"][0].as_str()
            }
            Content::Batch => Some("calls"),
        };
        let dearest = self.accepted().into_iter().next().zip(required);
        let at_its_end = dearest.and_then(|(candidate, required)| {
            // The last of two members with one name holds.
            let body = candidate.body.strip_suffix('}')?;
            let body = format!("{body},\"{required}\":true}}");
            Some(Candidate { what: format!("refused, {}", candidate.what), body, credits: 0 })
        });
        at_its_end.into_iter().chain([zeros]).collect()
    }

    fn candidate(&self, what: String, body: String, rows: usize) -> Candidate {
        let rows = u64::try_from(rows).unwrap_or(u64::MAX);
        let credits = match self.rows_of_a_price {
            Some(of_a_price) => (self.credits * rows).div_ceil(of_a_price.max(1)),
            None => self.credits,
        };
        Candidate { what, body, credits }
    }

    /// A batch of calls of the tree with the most steps.
    fn batch(&self, calls: usize) -> Candidate {
        let path = "/quantlib/pricing/binomial/barrier";
        let call = format!("{{\"path\":\"{path}\",\"body\":{BARRIER}}}");
        let body = format!("{{\"calls\":{}}}", list(&call, calls));
        let credits = 5 * u64::try_from(calls).unwrap_or(u64::MAX);
        Candidate { what: format!("{calls} calls"), body, credits }
    }
}

/// Returns the columns of a single call's example, each with so many equal rows.
fn columns(schema: &Value, example: &Value, rows: usize) -> String {
    let fields = example.as_object().into_iter().flatten().map(|(name, value)| {
        let takes_list = value.is_number() && schema["properties"][name].get("oneOf").is_some();
        let value = value.to_string();
        let value = if takes_list { list(&value, rows) } else { value };
        format!("\"{name}\":{value}")
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

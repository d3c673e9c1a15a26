//! The description of a route: its path, operation and parameters.

use std::sync::Arc;

use poem_openapi::registry::{MetaOperationParam, MetaParamIn, MetaSchemaRef, Registry};
use serde_json::Value;

use super::{
    body_schema::BodySchema,
    echo,
    nearest_name::unknown_name,
    operation::Operation,
    validation::{Fault, MOST_FAULTS, Step, check_value},
};

/// The route that took a request.
pub struct MatchedRoute {
    /// The path as the OpenAPI document has the path, with parameters in braces.
    pub path: Arc<str>,
    /// The line of the table of tiers and costs, where the operation is metered.
    pub operation: Option<&'static Operation>,
    /// The schema of the body, where the operation takes one.
    pub(crate) body: Option<BodySchema>,
    /// The parameters of the query string.
    pub(crate) parameters: Vec<Parameter>,
}

impl MatchedRoute {
    /// Makes a route that the OpenAPI document does not describe.
    pub(crate) fn undocumented(path: &str) -> Self {
        Self { path: path.into(), operation: None, body: None, parameters: Vec::new() }
    }

    /// The name of a parameter of the path, which poem-openapi numbers: `param0` is the first.
    #[must_use]
    pub(super) fn path_parameter<'a>(&'a self, numbered: &'a str) -> &'a str {
        let place = numbered.strip_prefix("param").and_then(|place| place.parse().ok());
        let mut names = self.path.split('/').filter_map(|segment| segment.strip_prefix('{'));
        let name = place.and_then(|place| names.nth(place));
        name.and_then(|name| name.strip_suffix('}')).unwrap_or(numbered)
    }

    /// Returns the names of the parameters of the query string.
    pub(crate) fn parameter_names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|parameter| parameter.name.as_str())
    }

    /// Returns every fault of the parameters among the pairs of a query string.
    #[must_use]
    pub(crate) fn parameter_faults(&self, pairs: &[(String, String)]) -> Vec<Fault> {
        self.parameters.iter().flat_map(|parameter| parameter.faults(pairs)).collect()
    }

    /// Returns a fault for each pair that is no parameter of the route, up to the hundredth.
    #[must_use]
    pub(crate) fn unknown_parameter_faults(&self, pairs: &[(String, String)]) -> Vec<Fault> {
        let known = || self.parameters.iter().map(|parameter| parameter.name.as_str());
        let unknown = pairs.iter().filter(|(name, _)| !known().any(|known| known == name));
        let fault = |(name, _): &(String, String)| {
            let path = [Step::name("query"), Step::name(&echo::value(name))];
            Fault::new(&path, "value_error.extra", unknown_name(name, known()))
        };
        unknown.take(MOST_FAULTS).map(fault).collect()
    }
}

/// A parameter of the query string as the document describes it.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    name: String,
    is_required: bool,
    /// The type of the value in the description.
    kind: &'static str,
    schema: BodySchema,
}

impl Parameter {
    /// Converts a description; none for a parameter that is not in the query string.
    #[must_use]
    pub(crate) fn from_description(described: MetaOperationParam) -> Option<Self> {
        match (described.in_type, described.schema) {
            (MetaParamIn::Query, MetaSchemaRef::Inline(schema)) => Some(Self {
                name: described.name,
                is_required: described.required,
                kind: schema.ty,
                schema: BodySchema::compile(&Registry::new(), &MetaSchemaRef::Inline(schema)),
            }),
            _ => None,
        }
    }

    /// Returns the faults of this parameter among the pairs of a query string.
    fn faults(&self, pairs: &[(String, String)]) -> Vec<Fault> {
        let path = [Step::name("query"), Step::name(&self.name)];
        match pairs.iter().find(|(name, _)| *name == self.name) {
            Some((_, text)) => check_value(&self.schema, &path, read(self.kind, text)),
            None if self.is_required => {
                vec![Fault::new(&path, "value_error.missing", "field required")]
            }
            None => Vec::new(),
        }
    }
}

/// The text of a parameter as a JSON value of the schema's type; a string where it has another.
fn read(kind: &str, text: &str) -> Value {
    let as_text = || Value::from(text);
    match kind {
        "integer" => text.parse::<i64>().map_or_else(|_| as_text(), Value::from),
        "boolean" => text.parse::<bool>().map_or_else(|_| as_text(), Value::from),
        _ => as_text(),
    }
}

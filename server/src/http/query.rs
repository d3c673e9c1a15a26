//! Parameters of the query string, checked like a body: all at once, strictly.

use std::ops::Deref;

use poem::{Request, RequestBody, Result};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaOperationParam, MetaParamIn, MetaSchema, MetaSchemaRef, Registry},
    types::{ParseFromParameter, Type},
};
use serde_json::Value;

use super::{
    ApiError, RequestContext,
    validation::{Fault, Step, check_value},
};

/// A parameter of the query string.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T> Deref for Query<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A parameter as the document describes it.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    name: String,
    is_required: bool,
    schema: MetaSchema,
}

impl Parameter {
    /// The parameter of the query string that `described` describes, if it is one.
    #[must_use]
    pub(crate) fn from_description(described: MetaOperationParam) -> Option<Self> {
        match (described.in_type, described.schema) {
            (MetaParamIn::Query, MetaSchemaRef::Inline(schema)) => Some(Self {
                name: described.name,
                is_required: described.required,
                schema: *schema,
            }),
            _ => None,
        }
    }

    /// What is wrong with this parameter among those that were sent.
    fn faults(&self, sent: &[(String, String)]) -> Vec<Fault> {
        let path = [Step::name("query"), Step::name(&self.name)];
        match sent.iter().find(|(name, _)| *name == self.name) {
            Some((_, text)) => check_value(&self.schema, &path, read(&self.schema, text)),
            None if self.is_required => {
                vec![Fault::new(&path, "value_error.missing", "field required")]
            }
            None => Vec::new(),
        }
    }
}

/// The text of a parameter as the JSON value that its schema asks for, where it is one.
fn read(schema: &MetaSchema, text: &str) -> Value {
    let as_text = || Value::from(text);
    match schema.ty {
        "integer" => text.parse::<i64>().map_or_else(|_| as_text(), Value::from),
        "boolean" => text.parse::<bool>().map_or_else(|_| as_text(), Value::from),
        _ => as_text(),
    }
}

/// The pairs of the query string, decoded.
fn sent(request: &Request) -> Result<Vec<(String, String)>> {
    Ok(request.params()?)
}

/// Refuses the request with every fault of its parameters.
fn check(request: &Request, sent: &[(String, String)]) -> Result<()> {
    let parameters = RequestContext::of(request).parameters();
    let faults: Vec<_> = parameters.iter().flat_map(|one| one.faults(sent)).collect();
    if faults.is_empty() { Ok(()) } else { Err(ApiError::Faults(faults).into_error(request)) }
}

impl<'a, T: ParseFromParameter> ApiExtractor<'a> for Query<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = T::IS_REQUIRED;

    type ParamType = T;
    // None is handed out: poem would check its validators again, and answer in its own words.
    type ParamRawType = <T as Type>::RawValueType;

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Query)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(T::schema_ref())
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        options: ExtractParamOptions<T>,
    ) -> Result<Self> {
        let sent = sent(request)?;
        check(request, &sent)?;
        let mut values =
            sent.iter().filter(|(name, _)| name == options.name).map(|(_, value)| value);
        let first = values.next();
        match (first, options.default_value) {
            (None, Some(default)) => Ok(Self(default())),
            (first, _) => T::parse_from_parameters(first).map(Self).map_err(|error| {
                let path = [Step::name("query"), Step::name(options.name)];
                let fault = Fault::new(&path, "value_error", error.into_message());
                ApiError::Faults(vec![fault]).into_error(request)
            }),
        }
    }
}

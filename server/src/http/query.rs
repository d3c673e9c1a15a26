//! Parameters of the query string, checked like a body: all at once, strictly.

use std::ops::Deref;

use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchemaRef, Registry},
    types::{ParseFromParameter, Type},
};

use super::{
    context::RequestContext,
    echo,
    error::ApiError,
    route::MatchedRoute,
    validation::{Fault, Step},
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

/// Reads one parameter from the pairs of a query string.
pub(crate) fn parse_pair<T: ParseFromParameter>(
    pairs: &[(String, String)],
    name: &str,
    default: Option<fn() -> T>,
) -> Result<T, ApiError> {
    let first = pairs.iter().find(|(found, _)| found == name).map(|(_, value)| value);
    match (first, default) {
        (None, Some(default)) => Ok(default()),
        (first, _) => T::parse_from_parameters(first).map_err(|error| {
            let path = [Step::name("query"), Step::name(name)];
            let message = error.into_message();
            ApiError::Faults(vec![Fault::new(&path, "value_error", echo::message(&message))])
        }),
    }
}

/// Refuses parameters that the route's description finds faulty, with every fault.
pub(crate) fn check_pairs(
    route: &MatchedRoute,
    pairs: &[(String, String)],
) -> Result<(), ApiError> {
    let faults = route.parameter_faults(pairs);
    if faults.is_empty() { Ok(()) } else { Err(ApiError::Faults(faults)) }
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
    ) -> poem::Result<Self> {
        let pairs: Vec<(String, String)> = request.params()?;
        let value = check_pairs(RequestContext::of(request).route(), &pairs)
            .and_then(|()| parse_pair(&pairs, options.name, options.default_value));
        value.map(Self).map_err(|refusal| refusal.into_error(request))
    }
}

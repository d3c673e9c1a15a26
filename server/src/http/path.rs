//! Parameters of the path, checked like a body.

use std::ops::Deref;

use poem::{Request, RequestBody, Result};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchemaRef, Registry},
    types::Type,
};

use super::{
    context::RequestContext,
    error::ApiError,
    validation::{Fault, Step},
};

/// A whole number in the path.
#[derive(Debug)]
pub struct Path<T>(pub T);

impl<T> Deref for Path<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'a> ApiExtractor<'a> for Path<i64> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = true;

    type ParamType = i64;
    type ParamRawType = i64;

    fn register(registry: &mut Registry) {
        i64::register(registry);
    }

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Path)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(i64::schema_ref())
    }

    fn param_raw_type(&self) -> Option<&Self::ParamRawType> {
        Some(&self.0)
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        options: ExtractParamOptions<i64>,
    ) -> Result<Self> {
        let text = request.raw_path_param(options.name).unwrap_or_default();
        text.parse().map(Self).map_err(|_| {
            let name = RequestContext::of(request).route().path_parameter(options.name);
            ApiError::Faults(vec![no_integer(name)]).into_error(request)
        })
    }
}

/// Returns the fault of a parameter of the path that is no whole number.
#[must_use]
pub(crate) fn no_integer(name: &str) -> Fault {
    let path = [Step::name("path"), Step::name(name)];
    Fault::new(&path, "type_error.integer", "value is not a valid integer")
}

//! The body of a request, as JSON, typed.

use std::{error::Error, io, ops::Deref, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited, combinators::BoxBody};
use poem::{Request, RequestBody, Result, http::header};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaMediaType, MetaRequest, Registry},
    types::{ParseFromJSON, Type},
};
use serde_json::Value;

use super::{
    context::RequestContext,
    error::ApiError,
    json_position,
    validation::{self, Fault, Step, Walked},
};

/// A body up to this size is read before the checks, and parsed in place: the parse takes well
/// under a millisecond.
pub(crate) const SMALL: usize = 64 * 1024;
/// The largest body, except that of an account's computation.
pub(super) const BODY_LIMIT_WITHOUT_KEY: usize = 256 * 1024;
/// The longest time between the head of a request and the end of its body.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A typed body. A faulty body is refused with a 422 that lists every fault.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<T> Deref for Body<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'a, T: ParseFromJSON + 'static> ApiExtractor<'a> for Body<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(described::<T>())
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let limit = RequestContext::of(request).state.settings.body_limit;
        let parse = |bytes: &[u8]| parse(bytes).map(Self).map_err(ApiError::Faults);
        let parsed = read_and(request, body, limit.min(BODY_LIMIT_WITHOUT_KEY), parse).await;
        parsed.map_err(|refusal| refusal.into_error(request))
    }
}

/// The description of a JSON body of type `T`.
pub(super) fn described<T: Type>() -> MetaRequest {
    let content = vec![MetaMediaType { content_type: "application/json", schema: T::schema_ref() }];
    MetaRequest { description: None, content, required: true }
}

/// Reads a JSON body and parses it. Few large bodies are read at once, and each is parsed in the
/// compute pool, so that the parse delays no other request.
pub(super) async fn read_and<T: Send + 'static>(
    request: &Request,
    body: &mut RequestBody,
    limit: usize,
    parse: impl FnOnce(&[u8]) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    if announced_length(request).is_some_and(|length| length <= SMALL) {
        return parse(&read(request, body, limit).await?);
    }
    let state = &RequestContext::of(request).state;
    let _place = state.large_bodies.acquire().await;
    let bytes = read(request, body, limit).await?;
    state.compute_pool.run(move || parse(&bytes)).await?
}

/// The length of the body that the request announces; none for a body in chunks.
pub(crate) fn announced_length(request: &Request) -> Option<usize> {
    if request.header(header::TRANSFER_ENCODING).is_some() {
        return None;
    }
    request.header(header::CONTENT_LENGTH).map_or(Some(0), |text| text.parse().ok())
}

/// Reads the body up to `limit`, and refuses a body that is not announced as JSON.
pub(crate) async fn read(
    request: &Request,
    body: &mut RequestBody,
    limit: usize,
) -> Result<Bytes, ApiError> {
    let body = body.take().map_err(|_| ApiError::Internal)?;
    let bytes = receive(body, announced_length(request), limit, PATIENCE).await?;
    if bytes.is_empty() || is_json(request.content_type()) {
        Ok(bytes)
    } else {
        Err(ApiError::MediaType)
    }
}

/// Receives a body of at most `limit` bytes: the one place that refuses a large, slow or broken
/// body. poem's own function keeps a buffer of four kilobytes in the future of every call, which
/// the endpoints then move.
pub(super) async fn receive(
    body: poem::Body,
    announced_length: Option<usize>,
    limit: usize,
    patience: Duration,
) -> Result<Bytes, ApiError> {
    if announced_length.is_some_and(|length| length > limit) {
        return Err(ApiError::BodyTooLarge { limit });
    }
    let body: BoxBody<Bytes, io::Error> = body.into();
    match tokio::time::timeout(patience, Limited::new(body, limit).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) => Err(refusal(error.as_ref(), limit)),
        Err(_) => Err(ApiError::BodyTooSlow),
    }
}

fn refusal(error: &(dyn Error + Send + Sync + 'static), limit: usize) -> ApiError {
    if error.is::<LengthLimitError>() {
        ApiError::BodyTooLarge { limit }
    } else {
        ApiError::BodyBroken
    }
}

/// An absent content type counts as JSON, the only format of the service.
fn is_json(content_type: Option<&str>) -> bool {
    let Some(text) = content_type else { return true };
    text.parse::<mime::Mime>().is_ok_and(|media| {
        media.type_() == mime::APPLICATION
            && (media.subtype() == mime::JSON || media.suffix() == Some(mime::JSON))
    })
}

/// Parses bytes as JSON into a type.
pub(super) fn parse<T: ParseFromJSON>(bytes: &[u8]) -> Result<T, Vec<Fault>> {
    let value = decode(bytes)?;
    // Decoded a second time where it is faulty: a copy would make every good request pay for it.
    parse_or_walk(value, || decode(bytes))
}

/// Parses a JSON value into a type.
pub(super) fn parse_value<T: ParseFromJSON>(value: Value) -> Result<T, Vec<Fault>> {
    let copy = value.clone();
    parse_or_walk(value, || Ok(copy))
}

/// Parses straight into the type; only where that fails does the walk list the faults.
fn parse_or_walk<T: ParseFromJSON>(
    mut value: Value,
    again: impl FnOnce() -> Result<Value, Vec<Fault>>,
) -> Result<T, Vec<Fault>> {
    if !validation::holds_null(&value) {
        if let Ok(parsed) = T::parse_from_json(Some(value)) {
            return Ok(parsed);
        }
        value = again()?;
    }
    match validation::walk::<T>(value) {
        Walked::Faulty(faults) => Err(faults),
        // A fault that the type finds and the walk does not is reported in the type's own words.
        Walked::Sound(value) => T::parse_from_json(Some(value)).map_err(|error| {
            vec![Fault::new(&[Step::name("body")], "value_error", error.into_message())]
        }),
    }
}

fn decode(bytes: &[u8]) -> Result<Value, Vec<Fault>> {
    let body = Step::name("body");
    if bytes.is_empty() {
        return Err(vec![Fault::new(&[body], "value_error.missing", "field required")]);
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Null) => Err(vec![Fault::new(&[body], "value_error.missing", "field required")]),
        Ok(value) => Ok(value),
        Err(error) => {
            let position = json_position::of(bytes, &error);
            let path = [body, Step::Index(position)];
            Err(vec![Fault::new(&path, "value_error.jsondecode", error.to_string())])
        }
    }
}

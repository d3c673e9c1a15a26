//! The body of a request, as JSON, typed.

use std::{error::Error, io, ops::Deref, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited, combinators::BoxBody};
use poem::{Request, RequestBody, Result, http::header};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaMediaType, MetaRequest, Registry},
    types::ParseFromJSON,
};
use serde_json::Value;

use super::{
    context::RequestContext,
    error::ApiError,
    json_position,
    validation::{self, Fault, Step, Walked},
};

/// A body up to this size is read before it is asked for, and parsed in place: it takes well under
/// a millisecond.
pub(crate) const SMALL: usize = 64 * 1024;
/// How long a body may take to arrive.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A typed body. Where it is faulty, the answer is a 422 that lists every fault.
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
        let content =
            vec![MetaMediaType { content_type: "application/json", schema: T::schema_ref() }];
        Some(MetaRequest { description: None, content, required: true })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let call = RequestContext::of(request);
        let limit = call.body_limit();
        let is_large = announced_length(request).is_none_or(|length| length > SMALL);
        let refuse = |refusal: ApiError| refusal.into_error(request);
        if !is_large {
            let bytes = read(request, body, limit).await?;
            call.note_body(&bytes);
            return parse(&bytes).map(Self).map_err(|faults| refuse(ApiError::Faults(faults)));
        }
        // Few large bodies at once, and none of them parsed where others wait for an answer.
        let place = call.state.large_bodies.acquire().await;
        let bytes = read(request, body, limit).await?;
        let noting = call.clone();
        let work = move || {
            noting.note_body(&bytes);
            parse(&bytes)
        };
        let parsed = call.state.compute_pool.run(work).await.map_err(refuse)?;
        drop(place);
        parsed.map(Self).map_err(|faults| refuse(ApiError::Faults(faults)))
    }
}

/// How many bytes the request says that its body holds.
pub(crate) fn announced_length(request: &Request) -> Option<usize> {
    if request.header(header::TRANSFER_ENCODING).is_some() {
        return None;
    }
    request.header(header::CONTENT_LENGTH).map_or(Some(0), |text| text.parse().ok())
}

/// Reads the body up to `limit`, and refuses what is not announced as JSON.
pub(crate) async fn read(request: &Request, body: &mut RequestBody, limit: usize) -> Result<Bytes> {
    let too_large = || ApiError::BodyTooLarge { limit }.into_error(request);
    if announced_length(request).is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let read = tokio::time::timeout(PATIENCE, collect(body.take()?, limit));
    let bytes = match read.await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) if error.is::<LengthLimitError>() => return Err(too_large()),
        Ok(Err(_)) => return Err(ApiError::BodyBroken.into_error(request)),
        Err(_) => return Err(ApiError::BodyTooSlow.into_error(request)),
    };
    if bytes.is_empty() || is_json(request.content_type()) {
        Ok(bytes)
    } else {
        Err(ApiError::MediaType.into_error(request))
    }
}

/// Collects a body of at most `limit` bytes. poem's own way keeps a buffer of four kilobytes in the
/// future of every call, which is then moved from box to box.
pub(in crate::http) async fn collect(
    body: poem::Body,
    limit: usize,
) -> Result<Bytes, Box<dyn Error + Send + Sync>> {
    let body: BoxBody<Bytes, io::Error> = body.into();
    Ok(Limited::new(body, limit).collect().await?.to_bytes())
}

/// An absent content type is taken for JSON, as the service speaks nothing else.
fn is_json(content_type: Option<&str>) -> bool {
    let Some(text) = content_type else { return true };
    text.parse::<mime::Mime>().is_ok_and(|media| {
        media.type_() == mime::APPLICATION
            && (media.subtype() == mime::JSON || media.suffix() == Some(mime::JSON))
    })
}

/// Parses straight into the type; only where that fails are the faults looked for.
fn parse<T: ParseFromJSON>(bytes: &[u8]) -> Result<T, Vec<Fault>> {
    let mut value = decode(bytes)?;
    if !validation::holds_null(&value) {
        if let Ok(parsed) = T::parse_from_json(Some(value)) {
            return Ok(parsed);
        }
        // Read a second time: keeping a copy would make every good request pay for the faulty.
        value = decode(bytes)?;
    }
    match validation::walk::<T>(value) {
        Walked::Faulty(faults) => Err(faults),
        // What the walk lets pass and the type does not is told in the type's own words.
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

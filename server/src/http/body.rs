//! The body of a request: received within its limits, then read as JSON into its type.

use std::{error::Error, io, ops::Deref, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, combinators::BoxBody};
use hyper::body::Body as _;
use poem::{
    Request, RequestBody, Result,
    http::{Version, header},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaMediaType, MetaRequest, Registry},
    types::{ParseFromJSON, Type},
};

use serde_json::Value;

use super::{
    body_schema::BodySchema,
    context::RequestContext,
    echo,
    error::ApiError,
    headers::text,
    unknown_fields::{Handling, UnknownFields},
    validation::{self, Fault, Step},
};
use crate::body_memory::{BodyMemory, HeldBytes, RequestSource};

/// A body up to this size is read before the checks, and parsed in place: the parse takes well
/// under a millisecond.
pub(crate) const SMALL: usize = 64 * 1024;
/// The largest body without a key, of a guest, and of an account of tier FREE.
pub(crate) const COMMON_BODY_LIMIT: usize = 256 * 1024;

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
        let context = RequestContext::of(request);
        let limits = BodyLimits::common(context);
        let reading = context.clone();
        let parse = move |received: &[u8]| parse(&reading, received, reading.handling).map(Self);
        let outcome = async { parsed(context, read(request, body, &limits).await?, parse).await };
        outcome.await.map(|(body, _)| body).map_err(|refusal| refusal.into_error(request))
    }
}

/// The description of a JSON body of type `T`.
pub(super) fn described<T: Type>() -> MetaRequest {
    let content = vec![MetaMediaType { content_type: "application/json", schema: T::schema_ref() }];
    MetaRequest { description: None, content, required: true }
}

/// The length of the body that the request announces; none where the body may have any length.
pub(crate) fn announced_length(request: &Request) -> Option<usize> {
    if request.headers().contains_key(header::TRANSFER_ENCODING) {
        return None;
    }
    match text(request.headers(), &header::CONTENT_LENGTH) {
        Some(length) => length.parse().ok(),
        // Without either header, a request of HTTP/1 has no body; one of HTTP/2 may have one.
        None => (request.version() < Version::HTTP_2).then_some(0),
    }
}

/// The limits of one body, and the source that its memory is attributed to.
pub(crate) struct BodyLimits {
    /// The most bytes of the body.
    pub(crate) bytes: usize,
    /// The source.
    pub(crate) source: RequestSource,
    /// True if the source may send large bodies.
    pub(crate) has_large_bodies: bool,
    /// The memory of all bodies.
    pub(crate) memory: Arc<BodyMemory>,
    /// The longest time between the head of a request and the end of its body.
    pub(crate) patience: Duration,
}

impl BodyLimits {
    /// The limits of every body but that of a computation for a paying account.
    pub(crate) fn common(context: &RequestContext) -> Self {
        Self {
            bytes: COMMON_BODY_LIMIT.min(context.state.settings.body_limit),
            source: context.source(),
            has_large_bodies: false,
            memory: context.state.body_memory.clone(),
            patience: context.state.settings.body_patience,
        }
    }

    /// Refuses a body of more bytes than the limit.
    pub(crate) fn check(&self, length: usize) -> Result<(), ApiError> {
        check_length(length, self.bytes)
    }
}

/// Refuses a body of more than `limit` bytes.
pub(crate) fn check_length(length: usize, limit: usize) -> Result<(), ApiError> {
    if length > limit { Err(ApiError::BodyTooLarge { limit }) } else { Ok(()) }
}

/// A body in memory.
pub(crate) struct Received {
    /// The bytes.
    pub(crate) bytes: Bytes,
    /// The count of the bytes, until they are parsed.
    pub(crate) held: HeldBytes,
}

/// Receives the body within its limits. Refuses a body that is not announced as JSON, or that is
/// compressed: a few kilobytes could unpack to gigabytes.
pub(crate) async fn read(
    request: &Request,
    body: &mut RequestBody,
    limits: &BodyLimits,
) -> Result<Received, ApiError> {
    read_as(request, body, limits, is_json).await
}

/// Receives the body as [`read`] does, where `is_taken` takes its media type.
pub(super) async fn read_as(
    request: &Request,
    body: &mut RequestBody,
    limits: &BodyLimits,
    is_taken: fn(Option<&str>) -> bool,
) -> Result<Received, ApiError> {
    check_encoding(request)?;
    let body = body.take().map_err(|_| ApiError::Internal)?;
    let received = receive(body, announced_length(request), limits).await?;
    if received.bytes.is_empty() || is_taken(request.content_type()) {
        Ok(received)
    } else {
        Err(ApiError::MediaType)
    }
}

/// Receives the body of a request of any media type, of at most `bytes` bytes, within the limits of
/// every body. Refuses a compressed body.
pub(crate) async fn read_any(request: &mut Request, bytes: usize) -> Result<Bytes, ApiError> {
    check_encoding(request)?;
    let limits = BodyLimits { bytes, ..BodyLimits::common(RequestContext::of(request)) };
    let length = announced_length(request);
    receive(request.take_body(), length, &limits).await.map(|received| received.bytes)
}

/// Refuses a body that is announced in another encoding than its own bytes.
fn check_encoding(request: &Request) -> Result<(), ApiError> {
    let lines = request.headers().get_all(header::CONTENT_ENCODING).into_iter();
    let is_encoded = lines.map(|line| line.to_str().unwrap_or("unreadable")).any(|line| {
        let mut codings = line.split(',').map(str::trim);
        codings.any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"))
    });
    if is_encoded { Err(ApiError::ContentEncoding) } else { Ok(()) }
}

/// Receives a body of at most `limits.bytes` bytes within `limits.patience`: the one place that
/// counts the memory of bodies.
///
/// The limits hold for the bytes that arrive, whatever length is announced. The bytes are copied
/// into one buffer, because a frame of a few bytes keeps a whole buffer of its connection alive.
pub(super) async fn receive(
    body: poem::Body,
    announced_length: Option<usize>,
    limits: &BodyLimits,
) -> Result<Received, ApiError> {
    limits.check(announced_length.unwrap_or_default())?;
    let mut body: BoxBody<Bytes, io::Error> = body.into();
    let most = announced_length.filter(|&length| length > 0).unwrap_or(limits.bytes);
    let mut held = limits.memory.body_of(limits.source, limits.has_large_bodies);
    let all = async {
        let mut buffer = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| refusal(&error))?;
            let Ok(bytes) = frame.into_data() else { continue };
            limits.check(buffer.len() + bytes.len())?;
            if buffer.is_empty() && bytes.len() <= SMALL && body.is_end_stream() {
                // Whole at once, as nearly every small body is: nothing unfinished is held.
                return Ok(bytes);
            }
            reserve(&mut buffer, bytes.len(), most, &mut held)?;
            buffer.extend_from_slice(&bytes);
        }
        Ok(Bytes::from(buffer))
    };
    let received = tokio::time::timeout(limits.patience, all).await;
    Ok(Received { bytes: received.unwrap_or(Err(ApiError::BodyTooSlow))?, held })
}

/// Parses a received body: a small one in place, a large one in the compute pool, where the parse
/// delays no other request. The count of its bytes is returned with the result.
pub(crate) async fn parsed<T: Send + 'static>(
    context: &RequestContext,
    received: Received,
    parse: impl FnOnce(&[u8]) -> Result<T, ApiError> + Send + 'static,
) -> Result<(T, HeldBytes), ApiError> {
    let (is_small, source) = (received.bytes.len() <= SMALL, received.held.source());
    let work = move || {
        let Received { bytes, held } = received;
        parse(&bytes).map(|parsed| (parsed, held))
    };
    if is_small {
        return work();
    }
    context.state.compute_pool.run(source, work).await?
}

/// Reads and drops a body of at most `limit` bytes, so that its connection can go on.
pub(super) async fn discard(
    body: poem::Body,
    limit: usize,
    patience: Duration,
) -> Result<(), ApiError> {
    let mut body: BoxBody<Bytes, io::Error> = body.into();
    let all = async {
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| refusal(&error))?;
            length += frame.data_ref().map_or(0, Bytes::len);
            check_length(length, limit)?;
        }
        Ok(())
    };
    tokio::time::timeout(patience, all).await.unwrap_or(Err(ApiError::BodyTooSlow))
}

/// Makes room for `more` bytes: at least twice the room of before, and at most `most` bytes where
/// that suffices. The room is counted before it is taken.
fn reserve(
    buffer: &mut Vec<u8>,
    more: usize,
    most: usize,
    held: &mut HeldBytes,
) -> Result<(), ApiError> {
    let needed = buffer.len() + more;
    if needed <= buffer.capacity() {
        return Ok(());
    }
    let room = needed.max((buffer.capacity() * 2).min(most));
    held.grow(room - buffer.capacity()).map_err(|_| ApiError::busy())?;
    buffer.reserve_exact(room - buffer.len());
    Ok(())
}

fn refusal(error: &(dyn Error + 'static)) -> ApiError {
    tracing::debug!(%error, "a body broke off");
    ApiError::BodyBroken
}

/// An absent content type counts as JSON, the only format of the service.
pub(super) fn is_json(content_type: Option<&str>) -> bool {
    let Some(text) = content_type else { return true };
    // The text that nearly every client sends.
    text == "application/json"
        || text.parse::<mime::Mime>().is_ok_and(|media| {
            media.type_() == mime::APPLICATION
                && (media.subtype() == mime::JSON || media.suffix() == Some(mime::JSON))
        })
}

/// Parses bytes as JSON into the type of the route's body, along the schema of that type.
///
/// # Panics
///
/// Panics where the route has no body; a route whose endpoint takes one is made with its schema.
pub(super) fn parse<T: ParseFromJSON>(
    context: &RequestContext,
    bytes: &[u8],
    handling: Handling,
) -> Result<T, ApiError> {
    let schema = context.route().body.as_ref().expect("an operation with a body has its schema");
    typed(Some(value(schema, context, bytes, handling)?))
}

/// Parses bytes as JSON along the schema of a body. The context keeps the names of unknown fields
/// for the headers of the answer.
pub(super) fn value(
    schema: &BodySchema,
    context: &RequestContext,
    bytes: &[u8],
    handling: Handling,
) -> Result<Value, ApiError> {
    let mut unknown = UnknownFields::new(handling);
    let read = validation::read(schema, bytes, &mut unknown);
    // The headers tell what the caller's own preference led to.
    if handling == context.handling {
        context.keep_unknown_fields(unknown);
    }
    read.map_err(ApiError::Faults)
}

/// Makes the type of a body from a value that the schema of the type allows; `None` stands for no
/// body.
pub(super) fn typed<T: ParseFromJSON>(value: Option<Value>) -> Result<T, ApiError> {
    T::parse_from_json(value).map_err(|error| untyped(&error.into_message()))
}

/// Makes the refusal of a value that a type does not take, though its schema does: the message is
/// the type's own.
fn untyped(message: &str) -> ApiError {
    let message = echo::message(message).into_owned();
    Fault::new(&[Step::name("body")], "value_error", message).into()
}

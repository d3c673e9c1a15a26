//! The extractor of an operation whose cost follows from its body: a caller that the limit has
//! counted, with a body as large as the computations of the caller may have.

use account_core::idempotency::{IdempotencyKey, RequestDigest};
use poem::{Request, RequestBody, Result};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaRequest, Registry},
    types::ParseFromJSON,
};

use super::{
    super::{body, context::stages::AdmittedCall, error::ApiError, idempotency::repeat_key},
    guard::{SCHEME, identify, or_refuse, register_scheme, session},
};
use crate::body_memory::HeldBytes;

/// A type of body with the largest size that its operation takes.
pub trait LimitedBody: ParseFromJSON + Send + 'static {
    /// The largest body of an account above tier FREE, in bytes.
    const BODY_LIMIT: usize;
}

/// A counted call with its typed body.
pub struct Admitted<T> {
    /// The caller and the context.
    pub call: AdmittedCall,
    /// The body.
    pub body: T,
    /// The digest of the bytes of the body.
    pub digest: RequestDigest,
    /// The key under which the request may be sent again; `None` where none was sent.
    pub repeat_key: Option<IdempotencyKey>,
    /// The count of the memory of the request, given back when the value is dropped.
    pub held: HeldBytes,
}

impl<'a, T: LimitedBody> ApiExtractor<'a> for Admitted<T> {
    const TYPES: &'static [ApiExtractorType] =
        &[ApiExtractorType::SecurityScheme, ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        register_scheme(registry);
        T::register(registry);
    }

    fn security_schemes() -> Vec<&'static str> {
        vec![SCHEME]
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(body::described::<T>())
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let (call, repeat_key) = or_refuse(request, body, admit(request).await).await?;
        let (context, limits) = (call.context().clone(), call.body_limits(T::BODY_LIMIT));
        let reading = context.clone();
        let parse = move |bytes: &[u8]| {
            let parsed: T = body::parse(&reading, bytes, reading.handling)?;
            Ok((parsed, RequestDigest::of(bytes)))
        };
        let outcome = async {
            let received = body::read(request, body, &limits).await?;
            body::parsed(&context, received, parse).await
        };
        let outcome = outcome.await.map_err(|refusal: ApiError| refusal.into_error(request));
        let ((body, digest), held) = outcome?;
        Ok(Self { call, body, digest, repeat_key, held })
    }
}

/// Checks everything that the head of the request decides.
async fn admit(request: &Request) -> Result<(AdmittedCall, Option<IdempotencyKey>), ApiError> {
    let (call, _) = identify(request).await?;
    session(request, call.context(), call.caller()).await?;
    let repeat_key = repeat_key(request).map_err(|fault| ApiError::Faults(vec![fault]))?;
    Ok((call, repeat_key))
}

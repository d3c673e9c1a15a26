//! How the framework asks a guard: before the body is read, and with a refusal that leaves the
//! connection usable.

use std::time::Duration;

use poem::{Error, Request, RequestBody, Result, http::header};
use poem_openapi::registry::{MetaSecurityScheme, Registry};

use super::super::{ApiError, RequestContext, body::collect, context::BODY_LIMIT_WITHOUT_KEY};

/// The name of the security scheme in the generated document.
pub(super) const SCHEME: &str = "ApiKey";

/// Whom an operation wants to be called by.
pub(super) trait Guard: Sized {
    /// Judges by the head of the request alone.
    async fn judge(request: &Request) -> Result<Self, ApiError>;

    /// The call of who was let through.
    fn context(&self) -> &RequestContext;
}

/// Makes extractors of guards: the trait is poem's, so that one implementation for all guards
/// cannot be written.
macro_rules! guards {
    ($($guard:ty),+) => {$(
        impl<'a> poem_openapi::ApiExtractor<'a> for $guard {
            const TYPES: &'static [poem_openapi::ApiExtractorType] =
                &[poem_openapi::ApiExtractorType::SecurityScheme];

            type ParamType = ();
            type ParamRawType = ();

            fn register(registry: &mut poem_openapi::registry::Registry) {
                $crate::http::caller::guard::register_scheme(registry);
            }

            fn security_schemes() -> Vec<&'static str> {
                vec![$crate::http::caller::guard::SCHEME]
            }

            async fn from_request(
                request: &'a poem::Request,
                body: &mut poem::RequestBody,
                _options: poem_openapi::ExtractParamOptions<()>,
            ) -> poem::Result<Self> {
                $crate::http::caller::guard::let_in(request, body).await
            }
        }
    )+};
}

pub(super) use guards;

/// Hands on who was let through, or answers the refusal. A body that the operation does not take
/// is read off, so that the connection can go on.
pub(super) async fn let_in<G: Guard>(request: &Request, body: &mut RequestBody) -> Result<G> {
    let guard = match G::judge(request).await {
        Ok(guard) => guard,
        Err(refusal) => return Err(refuse(request, body, refusal).await),
    };
    if guard.context().expects_body() || drain(body).await {
        Ok(guard)
    } else {
        Err(ApiError::BodyTooLarge { limit: BODY_LIMIT_WITHOUT_KEY }.into_error(request))
    }
}

/// A small body is read off first, so that the connection can go on; who waits for a go-ahead gets
/// the refusal at once, and sends nothing.
async fn refuse(request: &Request, body: &mut RequestBody, refusal: ApiError) -> Error {
    let mut response = refusal.into_response(RequestContext::of(request).surface);
    if request.header(header::EXPECT).is_some() || !drain(body).await {
        let close = header::HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    Error::from_response(response)
}

/// Reads off a body that nobody asked for; `false` where it is large or slow.
async fn drain(body: &mut RequestBody) -> bool {
    let Ok(body) = body.take() else { return true };
    let read = tokio::time::timeout(Duration::from_secs(1), collect(body, BODY_LIMIT_WITHOUT_KEY));
    matches!(read.await, Ok(Ok(_)))
}

pub(super) fn register_scheme(registry: &mut Registry) {
    registry.create_security_scheme(
        SCHEME,
        MetaSecurityScheme {
            ty: "apiKey",
            description: Some("The key of an account (`fk_user_…`) or of a guest (`fk_guest_…`)."),
            name: Some("X-API-Key"),
            key_in: Some("header"),
            scheme: None,
            bearer_format: None,
            flows: None,
            openid_connect_url: None,
        },
    );
}

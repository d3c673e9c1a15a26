//! The check of a caller as an extractor: before the body is read, and with a refusal that leaves
//! the connection usable.

use std::time::Duration;

use account_core::{ApiKey, Caller, SessionToken};
use poem::{Error, Request, RequestBody, Result, http::header};
use poem_openapi::registry::{MetaSecurityScheme, Registry};

use super::super::{
    body::{COMMON_BODY_LIMIT, discard},
    context::{RequestContext, stages::AdmittedCall},
    error::ApiError,
    headers::{X_API_KEY, X_SESSION_TOKEN, text},
};
use crate::auth::lookup_error::LookupError;

/// The name of the security scheme in the generated document.
pub(super) const SCHEME: &str = "ApiKey";
/// The longest wait for a body that is read to be dropped.
const DRAIN_PATIENCE: Duration = Duration::from_secs(1);

/// A kind of caller that an operation requires.
pub(super) trait Guard: Sized {
    /// Checks the caller by the head of the request alone.
    async fn judge(request: &Request) -> Result<Self, ApiError>;
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
                $crate::http::caller::guard::extract(request, body).await
            }
        }
    )+};
}

pub(super) use guards;

/// Identifies the caller by its key and counts the call against the caller's limit.
pub(super) async fn identify(request: &Request) -> Result<(AdmittedCall, ApiKey), ApiError> {
    let context = RequestContext::of(request).clone();
    let key = text(request.headers(), &X_API_KEY).and_then(ApiKey::parse).ok_or(ApiError::Key)?;
    let state = &context.state;
    let caller = state.callers.identify(&state.accounts, &key, context.at).await;
    let caller = caller.map_err(|reason| match reason {
        LookupError::Unknown => ApiError::Key,
        LookupError::GuestExpired => ApiError::GuestKeyExpired,
        LookupError::Unavailable => ApiError::busy(),
    })?;
    Ok((AdmittedCall::new(context, caller).await?, key))
}

/// Checks the session token where one is sent; a wrong one is refused.
pub(super) async fn session(
    request: &Request,
    context: &RequestContext,
    caller: &Caller,
) -> Result<Option<SessionToken>, ApiError> {
    let Some(sent) = text(request.headers(), &X_SESSION_TOKEN) else { return Ok(None) };
    let (Some(token), Caller::Account(account)) = (SessionToken::parse(sent), caller) else {
        return Err(ApiError::Session);
    };
    match Box::pin(context.state.accounts.session(&token, account.id, context.at)).await {
        Ok(true) => Ok(Some(token)),
        Ok(false) => Err(ApiError::Session),
        Err(error) => {
            tracing::error!(request_id = %context.id, %error, "no session could be read");
            Err(match error {
                account_core::Error::Store(error) => context.storage_refusal(&error),
                _ => ApiError::busy(),
            })
        }
    }
}

/// Extracts a guard. A body that the operation does not take is read and dropped, so that the
/// connection can go on.
pub(super) async fn extract<G: Guard>(request: &Request, body: &mut RequestBody) -> Result<G> {
    let guard = or_refuse(request, body, G::judge(request).await).await?;
    if RequestContext::of(request).route().body.is_some() {
        return Ok(guard);
    }
    drain(body).await.map(|()| guard).map_err(|refusal| refusal.into_error(request))
}

/// Answers a refusal after it has read and dropped a small body, so that the connection can go on.
/// A client that waits for `100 Continue` gets the refusal at once and sends no body.
pub(super) async fn or_refuse<T>(
    request: &Request,
    body: &mut RequestBody,
    verdict: Result<T, ApiError>,
) -> Result<T> {
    let refusal = match verdict {
        Ok(passed) => return Ok(passed),
        Err(refusal) => refusal,
    };
    let mut response = refusal.into_response(RequestContext::of(request).surface);
    if request.headers().contains_key(header::EXPECT) || drain(body).await.is_err() {
        let close = header::HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    Err(Error::from_response(response))
}

/// Reads and drops a body that no part of the operation takes.
async fn drain(body: &mut RequestBody) -> Result<(), ApiError> {
    let Ok(body) = body.take() else { return Ok(()) };
    discard(body, COMMON_BODY_LIMIT, DRAIN_PATIENCE).await
}

/// Describes the API key in the generated document.
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

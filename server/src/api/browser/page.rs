//! Built-in pages: plain HTML without scripts in one layout.
//!
//! A page is a template that extends `templates/pages/base.html`. A page loads nothing from another
//! host, runs no script, cannot be framed and is not cached.

use account_core::Error;
use askama::Template;
use poem::{
    EndpointExt, Request, Response,
    endpoint::{BoxEndpoint, make, make_sync},
    http::{Method, StatusCode, header},
};

use crate::http::{Anonymous, ApiError, RequestContext};

/// A route for browsers that is not in the OpenAPI document: its path, and the endpoint of each
/// method.
pub(crate) type PageRoute = (&'static str, Vec<(Method, BoxEndpoint<'static>)>);

/// Makes an endpoint of a function that cannot fail.
pub(crate) fn answering<F: Future<Output = Response> + Send + 'static>(
    function: impl Fn(Request) -> F + Send + Sync + 'static,
) -> BoxEndpoint<'static> {
    make(move |request| {
        let answer = function(request);
        async move { Ok::<_, poem::Error>(answer.await) }
    })
    .boxed()
}

/// Makes the endpoint of a page, which is limited by address.
pub(crate) fn anonymous_page<F: Future<Output = Response> + Send + 'static>(
    page: impl Fn(Anonymous, Request) -> F + Send + Sync + 'static,
) -> BoxEndpoint<'static> {
    make(move |request| {
        let answer = Anonymous::admitted(&request).map(|anonymous| page(anonymous, request));
        async move {
            Ok::<_, poem::Error>(match answer {
                Ok(answer) => answer.await,
                Err(refusal) => turned_away(&refusal),
            })
        }
    })
    .boxed()
}

/// Makes the endpoint of a stylesheet, which a browser keeps for an hour.
pub(crate) fn stylesheet(text: &'static str) -> BoxEndpoint<'static> {
    make_sync(move |_| {
        Response::builder()
            .content_type("text/css; charset=utf-8")
            .header(header::CACHE_CONTROL, "public, max-age=3600")
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            .body(text)
    })
    .boxed()
}

/// Makes the response of a page. The forms of the page may lead to this service, and to the origin
/// `leads_to`.
pub(crate) fn render(status: StatusCode, page: &impl Template, leads_to: &str) -> Response {
    let html = page.render().expect("a page that compiles renders into a string");
    let policy = format!(
        "default-src 'none'; style-src 'self'; form-action 'self'{}{leads_to}; base-uri 'none'; \
         frame-ancestors 'none'",
        if leads_to.is_empty() { "" } else { " " }
    );
    Response::builder()
        .status(status)
        .content_type("text/html; charset=utf-8")
        .header(header::CONTENT_SECURITY_POLICY, policy)
        .header(header::REFERRER_POLICY, "no-referrer")
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::X_FRAME_OPTIONS, "DENY")
        .body(html)
}

/// A page of a heading and a sentence.
#[derive(Template)]
#[template(path = "pages/message.html")]
struct MessagePage<'a> {
    title: &'a str,
    text: &'a str,
}

/// Answers a page of a heading and a sentence.
pub(crate) fn message(status: StatusCode, title: &str, text: &str) -> Response {
    render(status, &MessagePage { title, text }, "")
}

/// Answers a form that is expired, or was sealed for another browser.
pub(crate) fn expired() -> Response {
    message(
        StatusCode::BAD_REQUEST,
        "This form has expired",
        "Nothing was changed. Go back to where you came from, and start again. Your browser must \
         accept the cookies of this website.",
    )
}

/// Answers a browser whose address has reached its limit.
pub(crate) fn turned_away(refusal: &ApiError) -> Response {
    let text = "Too many calls came from your address. Try again in a minute.";
    let mut response = message(StatusCode::TOO_MANY_REQUESTS, "Please wait", text);
    if let ApiError::RateLimit { retry_after, .. } = refusal {
        response.headers_mut().insert(header::RETRY_AFTER, (retry_after.as_secs() + 1).into());
    }
    response
}

/// Answers a browser after an internal error.
pub(crate) fn failed(call: &RequestContext, error: &Error) -> Response {
    let refusal = match error {
        Error::Store(cause) => Some(call.storage_refusal(cause)),
        _ => None,
    };
    let text = match refusal {
        Some(ApiError::Storage { fault }) => {
            format!("{} Nothing was changed. Try again later.", fault.reason())
        }
        _ => {
            "The service cannot answer now. Nothing was changed. Try again in a moment.".to_owned()
        }
    };
    let mut response = message(StatusCode::SERVICE_UNAVAILABLE, "Please try again", &text);
    let wait = match error {
        Error::Busy { retry_after } => retry_after.as_secs().max(1),
        error => {
            tracing::error!(request_id = %call.id, %error, "a page failed");
            1
        }
    };
    response.headers_mut().insert(header::RETRY_AFTER, wait.into());
    response
}

/// Redirects the browser, which continues with GET.
pub(crate) fn see_other(location: &str) -> Response {
    Response::builder()
        .status(StatusCode::SEE_OTHER)
        .header(header::LOCATION, location)
        .header(header::REFERRER_POLICY, "no-referrer")
        .finish()
}

//! The built-in pages: plain HTML without scripts, in one house style, and what a browser carries
//! between them.
//!
//! A page is a template that extends `templates/pages/base.html`. Nothing of it comes from another
//! host, nothing runs, nobody may frame it, and no cache keeps it. What a form must bring back is
//! sealed for the one browser that was shown it, so no other website can send it.

use account_core::{AccountId, Error, HandOffCode, SessionToken, SignedIn, Timestamp};
use askama::Template;
use chrono::TimeDelta;
use poem::{
    Endpoint, EndpointExt, Request, Response, Route,
    endpoint::{BoxEndpoint, make, make_sync},
    http::{HeaderValue, Method, StatusCode, header},
};
use rand::{rand_core::UnwrapErr, rngs::SysRng};
use serde_json::{Map, Value};

use crate::{
    api::routes::Methods,
    http::{Anonymous, ApiError, RequestContext, cookie, form::Form},
    state::Settings,
};

mod complete_profile;
mod login;

/// How long a form may be filled in: as long as a newcomer's profile waits.
const FORM_VALIDITY: TimeDelta = account_core::id_token::COMPLETION_VALIDITY;

/// Adds the pages of a sign-in by the identity provider, and the stylesheet of all pages.
pub(crate) fn add_routes(route: Route) -> Route {
    let page = |path, show: BoxEndpoint<'static>, take: BoxEndpoint<'static>| {
        let methods = [(Method::GET, show), (Method::POST, take)];
        Methods::of(path, methods.map(|(method, page)| (method, unless_elsewhere(page).boxed())))
    };
    let (show, take) = (anonymous_page(login::show), anonymous_page(login::sign_in));
    let route = route.at("/login", page("/login", show, take));
    let (show, take) =
        (anonymous_page(complete_profile::show), anonymous_page(complete_profile::complete));
    route
        .at("/complete-profile", page("/complete-profile", show, take))
        .at("/pages.css", Methods::of("/pages.css", [(Method::GET, stylesheet().boxed())]))
}

/// An endpoint of a function that always has an answer.
pub(crate) fn answering<F: Future<Output = Response> + Send + 'static>(
    function: impl Fn(Request) -> F + Send + Sync + 'static,
) -> BoxEndpoint<'static> {
    make(move |request| {
        let answer = function(request);
        async move { Ok::<_, poem::Error>(answer.await) }
    })
    .boxed()
}

/// An endpoint of a page, for visitors who did not come too often from one address.
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

/// A page that is not here where a website has it.
fn unless_elsewhere(page: BoxEndpoint<'static>) -> impl Endpoint<Output = Response> {
    page.around(|page, request| async move {
        let call = RequestContext::of(&request).clone();
        if call.service.settings.website_url.is_some() {
            return Ok(ApiError::NotFound.into_response(call.surface));
        }
        page.call(request).await
    })
}

/// Serves the stylesheet of all pages.
fn stylesheet() -> impl Endpoint<Output = Response> {
    make_sync(|_| {
        Response::builder()
            .content_type("text/css; charset=utf-8")
            .header(header::CACHE_CONTROL, "public, max-age=3600")
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            .body(include_str!("../../templates/pages/pages.css"))
    })
}

/// Answers a page. Its forms may lead to this service, and to where `leads_to` says besides.
pub(crate) fn page(status: StatusCode, page: &impl Template, leads_to: &str) -> Response {
    let html = page.render().expect("a page that compiles renders into a string");
    let policy = format!(
        "default-src 'none'; style-src 'self'; form-action 'self'{}{leads_to}; base-uri 'none'; \
         frame-ancestors 'none'",
        if leads_to.is_empty() { "" } else { " " }
    );
    Response::builder()
        .status(status)
        .content_type("text/html; charset=utf-8")
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::CONTENT_SECURITY_POLICY, policy)
        .header(header::REFERRER_POLICY, "no-referrer")
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::X_FRAME_OPTIONS, "DENY")
        .body(html)
}

/// A page of a heading and a sentence.
#[derive(Template)]
#[template(path = "pages/message.html")]
struct Message<'a> {
    title: &'a str,
    text: &'a str,
}

/// Answers a page of a heading and a sentence.
pub(crate) fn message(status: StatusCode, title: &str, text: &str) -> Response {
    page(status, &Message { title, text }, "")
}

/// Answers a form that came too late, from another browser, or from nowhere.
pub(crate) fn expired() -> Response {
    message(
        StatusCode::BAD_REQUEST,
        "This form has expired",
        "Nothing was changed. Go back to where you came from, and start again. Your browser must \
         accept the cookies of this website.",
    )
}

/// Tells a browser that came too often.
fn turned_away(refusal: &ApiError) -> Response {
    let text = "Too many calls came from your address. Try again in a minute.";
    let mut response = message(StatusCode::TOO_MANY_REQUESTS, "Please wait", text);
    if let ApiError::RateLimit { retry_after, .. } = refusal {
        response.headers_mut().insert(header::RETRY_AFTER, (retry_after.as_secs() + 1).into());
    }
    response
}

/// Tells a browser that it is not its fault.
pub(crate) fn failed(call: &RequestContext, error: &Error) -> Response {
    let text = "The service cannot answer now. Nothing was changed. Try again in a moment.";
    let mut response = message(StatusCode::SERVICE_UNAVAILABLE, "Please try again", text);
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

/// Sends the browser on, by GET.
pub(crate) fn see_other(location: &str) -> Response {
    Response::builder()
        .status(StatusCode::SEE_OTHER)
        .header(header::LOCATION, location)
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::REFERRER_POLICY, "no-referrer")
        .finish()
}

/// The name of a cookie: where clients use HTTPS, one that no other host can have set.
fn cookie_name(settings: &Settings, name: &str) -> String {
    let prefix = if settings.browsers_use_https() { "__Host-" } else { "" };
    format!("{prefix}qs_{name}")
}

fn set_cookie(response: &mut Response, settings: &Settings, name: &str, value: &str) {
    let secure = if settings.browsers_use_https() { "; Secure" } else { "" };
    let ends = if value.is_empty() { "; Max-Age=0" } else { "" };
    let name = cookie_name(settings, name);
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{ends}");
    let cookie = HeaderValue::try_from(cookie).expect("base64url makes a cookie");
    response.headers_mut().append(header::SET_COOKIE, cookie);
}

/// Lets the browser carry the session of whoever signed in.
pub(crate) fn begin_session(response: &mut Response, settings: &Settings, token: &SessionToken) {
    set_cookie(response, settings, "session", token.expose());
}

/// Takes the session from the browser.
pub(crate) fn end_session(response: &mut Response, settings: &Settings) {
    set_cookie(response, settings, "session", "");
}

/// Who signed in in the browser that asks.
pub(crate) async fn signed_in(
    request: &Request,
    call: &RequestContext,
) -> Result<Option<(SessionToken, AccountId)>, Error> {
    let name = cookie_name(&call.service.settings, "session");
    let Some(token) = cookie(request, &name).and_then(SessionToken::parse) else {
        return Ok(None);
    };
    let account = call.service.accounts.browser(&token, call.at).await?;
    Ok(account.map(|account| (token, account)))
}

/// Signs a browser in by the hand-off code that it brought.
pub(crate) async fn redeem(anonymous: &Anonymous, code: &str) -> Result<SignedIn, Error> {
    let call = anonymous.call();
    let code = HandOffCode::parse(code).ok_or(Error::WrongCode)?;
    call.service.accounts.redeem_hand_off(&code, &anonymous.client(), call.at).await
}

/// The browser that asks: what is sealed for it comes back from it alone.
pub(crate) struct Browser {
    /// The secret in its cookie.
    secret: SessionToken,
    is_new: bool,
}

impl Browser {
    /// The browser of a request; one that is seen for the first time gets a secret.
    pub(crate) fn of(request: &Request, settings: &Settings) -> Self {
        let known = cookie(request, &cookie_name(settings, "form")).and_then(SessionToken::parse);
        let is_new = known.is_none();
        Self {
            secret: known.unwrap_or_else(|| SessionToken::generate(&mut UnwrapErr(SysRng))),
            is_new,
        }
    }

    /// Seals what a form must bring back.
    pub(crate) fn seal(&self, call: &RequestContext, mut fields: Map<String, Value>) -> String {
        fields.insert("at".to_owned(), call.at.timestamp_micros().into());
        let plain = Value::Object(fields).to_string();
        call.service.accounts.seal_form(self.secret.expose(), plain.as_bytes())
    }

    /// Opens what a form brought back, in time.
    pub(crate) fn open(&self, call: &RequestContext, text: &str) -> Option<Map<String, Value>> {
        let plain = call.service.accounts.open_form(self.secret.expose(), text)?;
        let Ok(Value::Object(fields)) = serde_json::from_slice(&plain) else { return None };
        let at = Timestamp::from_timestamp_micros(fields.get("at")?.as_i64()?)?;
        (at <= call.at && call.at < at + FORM_VALIDITY).then_some(fields)
    }

    /// Lets a new browser carry its secret.
    pub(crate) fn remember(&self, response: &mut Response, settings: &Settings) {
        if self.is_new {
            set_cookie(response, settings, "form", self.secret.expose());
        }
    }
}

/// The form of this step that was sent, and what was sealed in it for this browser.
pub(crate) async fn returned(
    request: &mut Request,
    call: &RequestContext,
    step: &str,
) -> Option<(Form, Map<String, Value>)> {
    let form = Form::of_body(request).await.ok()?;
    let browser = Browser::of(request, &call.service.settings);
    let sealed = browser.open(call, form.field("form"))?;
    (sealed.get("step")? == step).then_some((form, sealed))
}

/// The fields of what `json!` made of braces.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

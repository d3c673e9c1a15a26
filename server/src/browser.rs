//! The pages of a sign-in by the identity provider, where no website has them: plain forms that
//! work without scripts.

use account_core::accounts::identity_provider::Completed;
use account_core::{CompletionToken, Contact, Error, HandOffCode, NewProfile, SignedIn, Username};
use askama::Template;
use poem::{
    Endpoint, Request, Response, Result,
    endpoint::make,
    http::{Method, StatusCode, header},
};

use crate::account::identity_provider::{LoginError, desktop_redirect};
use crate::http::{Call, Refusal, Visitor};

/// The longest form that is read.
const LONGEST_FORM: usize = 16 * 1024;
/// No scripts, no frames, nothing from elsewhere, and forms to this service alone.
const POLICY: &str = "default-src 'none'; style-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";
const STYLE: &str = include_str!("../templates/browser/sign-in.css");

#[derive(Template)]
#[template(path = "browser/login.html")]
struct Login<'a> {
    error: Option<&'a str>,
    code: Option<&'a str>,
    has_provider: bool,
}

#[derive(Template)]
#[template(path = "browser/complete_profile.html")]
struct CompleteProfile<'a> {
    error: Option<&'a str>,
    token: &'a str,
    fields: Vec<Field>,
}

#[derive(Template)]
#[template(path = "browser/signed_in.html")]
struct InPage<'a> {
    heading: &'a str,
    username: &'a str,
    email: &'a str,
    api_key: &'a str,
    program: Option<&'a str>,
}

/// A field of the form, with what was typed and what is wrong with it.
struct Field {
    name: &'static str,
    label: &'static str,
    kind: &'static str,
    autocomplete: &'static str,
    is_required: bool,
    value: String,
    fault: Option<String>,
}

/// `GET` and `POST /login`: what went wrong, the way to the provider, and the last step back.
pub fn login() -> impl Endpoint<Output = Response> {
    make(|request: Request| page(request, Page::Login))
}

/// `GET` and `POST /complete-profile`: what a newcomer still has to say.
pub fn complete_profile() -> impl Endpoint<Output = Response> {
    make(|request: Request| page(request, Page::CompleteProfile))
}

/// `GET /sign-in.css`: how both look.
pub fn style() -> impl Endpoint<Output = Response> {
    make(|_| async {
        let response = Response::builder().content_type("text/css; charset=utf-8");
        let response = response.header(header::CACHE_CONTROL, "public, max-age=3600");
        Ok::<_, poem::Error>(response.header(header::X_CONTENT_TYPE_OPTIONS, "nosniff").body(STYLE))
    })
}

#[derive(Clone, Copy)]
enum Page {
    Login,
    CompleteProfile,
}

async fn page(mut request: Request, page: Page) -> Result<Response> {
    let call = Call::of(&request).clone();
    let refuse = |refusal: Refusal| poem::Error::from_response(refusal.into_response(call.surface));
    if call.service.settings.website_url.is_some() {
        return Err(refuse(Refusal::NotFound));
    }
    let visitor = Visitor::admitted(&request).map_err(refuse)?;
    let form = if request.method() == Method::POST {
        if !is_own_form(&request) {
            return Ok(to_page(StatusCode::FORBIDDEN, &login_page(&call, Some(LoginError::Stale))));
        }
        let body = request.take_body().into_bytes_limit(LONGEST_FORM).await;
        Form::read(&body.map_err(|_| refuse(Refusal::BodyTooLarge { limit: LONGEST_FORM }))?)
    } else {
        Form::read(request.uri().query().unwrap_or_default().as_bytes())
    };
    let is_sent = request.method() == Method::POST;
    Ok(match (page, is_sent) {
        (Page::Login, false) => show_login(&call, &form),
        (Page::Login, true) => redeem(&visitor, &form).await,
        (Page::CompleteProfile, false) => show_profile(&form),
        (Page::CompleteProfile, true) => complete(&visitor, &form).await,
    })
}

/// Whether a form was sent by a page of this service, as browsers say.
fn is_own_form(request: &Request) -> bool {
    request.header("sec-fetch-site").is_none_or(|site| matches!(site, "same-origin" | "none"))
}

/// The pairs of a form or a query.
struct Form(Vec<(String, String)>);

impl Form {
    fn read(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().collect())
    }

    fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value.trim())
    }
}

/// Says what went wrong in words of this service alone, whatever the address says.
fn show_login(call: &Call, form: &Form) -> Response {
    let told = form.get("error");
    let error = LoginError::ALL.into_iter().find(|error| error.text() == told);
    let error = error.or((!told.is_empty()).then_some(LoginError::Unverified));
    let code = HandOffCode::parse(form.get("code"));
    let page = Login { code: code.as_ref().map(HandOffCode::expose), ..login_page(call, error) };
    to_page(StatusCode::OK, &page)
}

fn login_page<'a>(call: &Call, error: Option<LoginError>) -> Login<'a> {
    Login {
        error: error.map(LoginError::text),
        code: None,
        has_provider: call.service.idp.is_some(),
    }
}

async fn redeem(visitor: &Visitor, form: &Form) -> Response {
    let call = visitor.call();
    let signed_in = match HandOffCode::parse(form.get("code")) {
        Some(code) => {
            call.service.accounts.redeem_hand_off(&code, &visitor.client(), call.at).await
        }
        None => Err(Error::WrongCode),
    };
    match signed_in {
        Ok(signed_in) => show_key(call, "You are signed in", &signed_in, None).await,
        Err(Error::WrongCode) => {
            to_page(StatusCode::BAD_REQUEST, &login_page(call, Some(LoginError::Code)))
        }
        Err(error) => {
            let error = LoginError::of(call, &error);
            to_page(StatusCode::FORBIDDEN, &login_page(call, Some(error)))
        }
    }
}

fn show_profile(form: &Form) -> Response {
    let token = form.get("completion_token");
    to_page(StatusCode::OK, &CompleteProfile { error: None, token, fields: fields(form) })
}

async fn complete(visitor: &Visitor, form: &Form) -> Response {
    let call = visitor.call();
    let (fields, profile) = check(form);
    let token = form.get("completion_token");
    let again = |status, error, fields| {
        to_page(status, &CompleteProfile { error: Some(error), token, fields })
    };
    let Some(profile) = profile else {
        return again(StatusCode::UNPROCESSABLE_ENTITY, "Please look at the fields below.", fields);
    };
    let completed = match CompletionToken::parse(token) {
        Some(token) => {
            let client = visitor.client();
            call.service.accounts.complete_profile(&token, &profile, &client, call.at).await
        }
        None => Err(Error::WrongCode),
    };
    match completed {
        Ok(completed) => show_completed(call, &completed).await,
        Err(Error::UsernameTaken) => {
            let taken = "Another account has this user name. Please choose another one.";
            again(StatusCode::CONFLICT, taken, fields)
        }
        Err(Error::EmailTaken) => {
            let taken = "An account with your e-mail address exists by now. Please sign in again.";
            again(StatusCode::CONFLICT, taken, fields)
        }
        Err(Error::WrongCode) => {
            to_page(StatusCode::BAD_REQUEST, &login_page(call, Some(LoginError::Code)))
        }
        Err(error) => {
            let error = LoginError::of(call, &error);
            to_page(StatusCode::INTERNAL_SERVER_ERROR, &login_page(call, Some(error)))
        }
    }
}

async fn show_completed(call: &Call, completed: &Completed) -> Response {
    match desktop_redirect(call, completed).await {
        Ok(program) => {
            let heading = "Your account is ready";
            show_key(call, heading, &completed.signed_in, program.as_deref()).await
        }
        Err(error) => {
            let error = LoginError::of(call, &error);
            to_page(StatusCode::INTERNAL_SERVER_ERROR, &login_page(call, Some(error)))
        }
    }
}

async fn show_key(
    call: &Call,
    heading: &str,
    signed_in: &SignedIn,
    program: Option<&str>,
) -> Response {
    match call.service.accounts.profile(signed_in.account).await {
        Ok(profile) => to_page(
            StatusCode::OK,
            &InPage {
                heading,
                username: profile.username.as_str(),
                email: profile.email.as_str(),
                api_key: signed_in.api_key.expose(),
                program,
            },
        ),
        Err(error) => {
            let error = LoginError::of(call, &error);
            to_page(StatusCode::INTERNAL_SERVER_ERROR, &login_page(call, Some(error)))
        }
    }
}

/// The fields as they are asked for, with what was typed.
fn fields(form: &Form) -> Vec<Field> {
    let field = |name, label, kind, autocomplete, is_required| Field {
        name,
        label,
        kind,
        autocomplete,
        is_required,
        value: form.get(name).to_owned(),
        fault: None,
    };
    vec![
        field("phone", "Telephone number", "tel", "tel", true),
        field("country", "Country", "text", "country-name", true),
        field("country_code", "Country code", "text", "country", false),
        field("username", "User name", "text", "username", false),
    ]
}

/// Every field by its rule; the profile where all hold.
fn check(form: &Form) -> (Vec<Field>, Option<NewProfile>) {
    let mut fields = fields(form);
    let optional = |name| Some(form.get(name)).filter(|text| !text.is_empty());
    let mut errors = Vec::new();
    let (phone, country) = (optional("phone"), optional("country"));
    let contact = Contact::parse(phone, country, optional("country_code"));
    let contact = contact.map_err(|faults| errors.extend(faults)).ok();
    let username = optional("username").map(Username::parse).transpose();
    let username = username.map_err(|fault| errors.push(fault)).ok();
    for field in &mut fields {
        let fault = errors.iter().find(|error| error.field() == Some(field.name));
        field.fault = match fault {
            Some(Error::Invalid { requirement, .. }) => Some(format!("Must be {requirement}.")),
            _ if field.is_required && field.value.is_empty() => Some("Please fill this in.".into()),
            _ => None,
        };
    }
    let profile = match (contact, username) {
        (Some(contact), Some(username)) => Some(NewProfile { username, contact }),
        _ => None,
    };
    let holds = fields.iter().all(|field| field.fault.is_none());
    (fields, profile.filter(|_| holds))
}

/// A page that nobody keeps and no other site frames, and whose address is told to nobody.
fn to_page(status: StatusCode, page: &impl Template) -> Response {
    let Ok(html) = page.render() else {
        return Refusal::Internal.into_response(crate::http::Surface::Account);
    };
    Response::builder()
        .status(status)
        .content_type("text/html; charset=utf-8")
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::REFERRER_POLICY, "no-referrer")
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .body(html)
}

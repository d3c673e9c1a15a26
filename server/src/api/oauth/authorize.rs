//! The authorization endpoint and the consent of the account's owner (RFC 6749, 7636, 8707, 9207).

use account_core::oauth::grant::GRANT_VALIDITY;
use account_core::oauth::token::REFRESH_VALIDITY;
use account_core::oauth::uri::RedirectTarget;
use account_core::oauth::{
    Authorization, CodeChallenge, OauthError, RedirectUri, RegisteredClient, check_scope,
    is_same_resource,
};
use account_core::{AccountId, Profile};
use askama::Template;
use poem::{Request, Response, http::StatusCode};
use serde_json::json;

use super::clients;
use crate::{
    api::browser::{
        page,
        sealed_form::{self, Browser},
        session, sign_in_page,
    },
    http::{Anonymous, RequestContext, form::Form},
};

/// The longest state that a client gets back.
const LONGEST_STATE: usize = 4_096;

/// An authorization request whose client and parameters are valid.
struct Asked {
    client: RegisteredClient,
    authorization: Authorization,
    state: Option<String>,
}

#[derive(Template)]
#[template(path = "pages/consent.html")]
struct Consent<'a> {
    client: &'a str,
    /// The website that describes the application, where one does.
    website: Option<String>,
    /// True if any program on the device of the browser could be the one that the answer goes to.
    may_be_claimed: bool,
    destination: String,
    username: &'a str,
    email: &'a str,
    /// The days without a use after which the access ends.
    idle_days: i64,
    /// The days after which the access ends in any case.
    most_days: i64,
    form: String,
}

/// An authorization request that is refused.
enum AuthorizationError {
    /// The application or the address of its answer is unknown: the browser is told.
    Browser(Response),
    /// The application is told, once its user has signed in.
    Client(Box<ClientError>),
}

/// An error of a request, for the application that sent it.
struct ClientError {
    client: RegisteredClient,
    redirect_uri: RedirectUri,
    state: Option<String>,
    error: OauthError,
}

/// Answers an authorization request with the sign-in or the consent page.
pub(super) async fn ask(anonymous: Anonymous, request: Request) -> Response {
    let call = anonymous.context();
    let query = request.uri().query().unwrap_or_default();
    let then = format!("/oauth/authorize?{query}");
    let asked = match judge(call, query).await {
        Ok(asked) => asked,
        Err(AuthorizationError::Browser(response)) => return response,
        Err(AuthorizationError::Client(refusal)) => {
            return refuse_after_sign_in(call, &request, &then, &refusal).await;
        }
    };
    let browser = Browser::of(&request, &call.state.settings);
    let mut response = match consenting(&request, call).await {
        Err(response) => return response,
        Ok(None) => {
            let client = Some(asked.client.name.as_str());
            sign_in_page::form(call, &browser, &then, client)
        }
        Ok(Some((account, profile))) => {
            let fields = json!({ "step": "consent", "then": then, "account": account.0 });
            let page = Consent {
                client: asked.client.name.as_str(),
                website: asked.client.id.website(),
                may_be_claimed: !matches!(
                    asked.authorization.redirect_uri.target(),
                    RedirectTarget::Website(_)
                ),
                destination: destination(&asked.authorization.redirect_uri),
                username: profile.username.as_str(),
                email: profile.email.as_str(),
                idle_days: REFRESH_VALIDITY.num_days(),
                most_days: GRANT_VALIDITY.num_days(),
                form: browser.seal(call, sealed_form::object(fields)),
            };
            page::render(StatusCode::OK, &page, &leads_to(&asked.authorization.redirect_uri))
        }
    };
    browser.remember(&mut response, &call.state.settings);
    response
}

/// Refuses an authorization request. Anybody may register an address and send browsers here with a
/// request that is refused, so the redirect follows the sign-in (RFC 9700, section 4.11.2). The
/// sign-in page names the fault and the address.
async fn refuse_after_sign_in(
    call: &RequestContext,
    request: &Request,
    then: &str,
    refusal: &ClientError,
) -> Response {
    match consenting(request, call).await {
        Err(response) => response,
        Ok(Some(_)) => refusal.redirect(call),
        Ok(None) => {
            let browser = Browser::of(request, &call.state.settings);
            let fault = format!(
                "The application asks for something that this service does not grant: {}. After \
                 you sign in, it is told so: the answer goes to {}.",
                refusal.error,
                destination(&refusal.redirect_uri)
            );
            let refused = sign_in_page::RefusedRequest {
                client: refusal.client.name.as_str(),
                fault: &fault,
                leads_to: &leads_to(&refusal.redirect_uri),
            };
            let mut response = sign_in_page::refused(call, &browser, then, &refused);
            browser.remember(&mut response, &call.state.settings);
            response
        }
    }
}

/// Returns the account that is signed in in this browser and may consent.
async fn consenting(
    request: &Request,
    call: &RequestContext,
) -> Result<Option<(AccountId, Profile)>, Response> {
    let failed = |error| page::failed(call, &error);
    let signed_in = session::signed_in(request, call).await.map_err(failed)?;
    let Some((_, account)) = signed_in else { return Ok(None) };
    match call.state.accounts.profile(account).await {
        Ok(profile) => Ok(Some((account, profile))),
        Err(account_core::Error::NotFound) => Ok(None),
        Err(error) => Err(page::failed(call, &error)),
    }
}

/// Takes the owner's decision.
pub(super) async fn decide(anonymous: Anonymous, mut request: Request) -> Response {
    let call = anonymous.context();
    let Some((form, fields)) = sealed_form::returned(&mut request, call, "consent").await else {
        return page::expired();
    };
    let then = fields["then"].as_str().unwrap_or_default();
    let signed_in = match session::signed_in(&request, call).await {
        // The consent is valid for the account that the page showed, not for a later sign-in.
        Ok(Some((token, account))) if fields["account"] == account.0 => (token, account),
        Ok(_) => return page::see_other(then),
        Err(error) => return page::failed(call, &error),
    };
    let query = then.split_once('?').map_or("", |(_, query)| query);
    let asked = match judge(call, query).await {
        Ok(asked) => asked,
        Err(AuthorizationError::Browser(response)) => return response,
        Err(AuthorizationError::Client(refusal)) => return refusal.redirect(call),
    };
    match form.get("decision") {
        Ok(Some("allow")) => allow(call, signed_in, asked).await,
        Ok(Some("deny")) => {
            let denied = OauthError::AccessDenied("the owner of the account said no");
            asked.refused(call, &denied)
        }
        Ok(Some("switch")) => {
            let (token, account) = signed_in;
            if let Err(error) = call.state.accounts.logout(&token, account).await {
                return page::failed(call, &error);
            }
            let mut response = page::see_other(then);
            session::end(&mut response, &call.state.settings);
            response
        }
        _ => page::expired(),
    }
}

async fn allow(
    call: &RequestContext,
    (session, account): (account_core::SessionToken, AccountId),
    asked: Asked,
) -> Response {
    let Asked { client, authorization, state } = asked;
    let redirect_uri = authorization.redirect_uri.clone();
    let accounts = &call.state.accounts;
    let issued = match clients::keep(call, client).await {
        Ok(()) => accounts.issue_code(&session, account, authorization, call.at).await,
        Err(error) => Err(error),
    };
    match issued {
        Ok(Some(code)) => {
            let query = query(call, &[("code", Some(code.expose())), ("state", state.as_deref())]);
            page::see_other(&redirect_uri.with_query(&query))
        }
        // The session ended while the page was shown, for example by a password reset.
        Ok(None) => page::expired(),
        Err(error) => {
            tracing::error!(request_id = %call.id, %error, "no code could be issued");
            redirect_refusal(call, &redirect_uri, state.as_deref(), &error)
        }
    }
}

impl Asked {
    fn refused(&self, call: &RequestContext, error: &OauthError) -> Response {
        let redirect_uri = &self.authorization.redirect_uri;
        redirect_refusal(call, redirect_uri, self.state.as_deref(), error)
    }
}

impl ClientError {
    /// Sends the browser to the application, with the error.
    fn redirect(&self, call: &RequestContext) -> Response {
        redirect_refusal(call, &self.redirect_uri, self.state.as_deref(), &self.error)
    }
}

/// Validates an authorization request. An error is sent to the client, with its state; where client
/// or redirect URI are unknown, the error is sent to the browser.
async fn judge(call: &RequestContext, query: &str) -> Result<Asked, AuthorizationError> {
    let form = Form::of_query(query);
    let known = client_and_redirect(call, &form).await;
    let (client, redirect_uri) = known.map_err(AuthorizationError::Browser)?;
    let state = form.get("state").ok().flatten().filter(|state| state.len() <= LONGEST_STATE);
    let state = state.map(str::to_owned);
    let resource = call.state.settings.mcp_resource();
    match authorization(&resource, &form, &client, &redirect_uri) {
        Ok(authorization) => Ok(Asked { client, authorization, state }),
        Err(error) => Err(AuthorizationError::Client(Box::new(ClientError {
            client,
            redirect_uri,
            state,
            error,
        }))),
    }
}

async fn client_and_redirect(
    call: &RequestContext,
    form: &Form,
) -> Result<(RegisteredClient, RedirectUri), Response> {
    const ELSEWHERE: &str = "The application that sent you here wants the answer sent to an \
                             address that it has not registered. Nothing was sent.";
    let client = clients::of_request(call, form.get("client_id").ok().flatten()).await?;
    let elsewhere = || clients::turned_away(ELSEWHERE);
    let asked = form.get("redirect_uri").map_err(|_| elsewhere())?;
    let redirect_uri = client.redirect_uri(asked).ok_or_else(elsewhere)?;
    Ok((client, redirect_uri))
}

/// Checks the parameters of a request for a token of `resource`, the only one of this server.
pub(super) fn authorization(
    resource: &str,
    form: &Form,
    client: &RegisteredClient,
    redirect_uri: &RedirectUri,
) -> Result<Authorization, OauthError> {
    let one =
        |name| form.get(name).map_err(|_| OauthError::InvalidRequest("a parameter is given twice"));
    if one("state")?.is_some_and(|state| state.len() > LONGEST_STATE) {
        return Err(OauthError::InvalidRequest("state has at most 4096 bytes"));
    }
    match one("response_type")? {
        Some("code") => {}
        Some(_) => return Err(OauthError::UnsupportedResponseType("response_type must be code")),
        None => return Err(OauthError::InvalidRequest("response_type is missing")),
    }
    let challenge = one("code_challenge")?
        .ok_or(OauthError::InvalidRequest("code_challenge is missing: PKCE is required"))?;
    if one("code_challenge_method")? != Some("S256") {
        return Err(OauthError::InvalidRequest("code_challenge_method must be S256"));
    }
    check_scope(one("scope")?)?;
    if !form.all("resource").all(|asked| is_same_resource(asked, resource)) {
        return Err(super::answers::FOREIGN_RESOURCE);
    }
    Ok(Authorization {
        client: client.id.clone(),
        redirect_uri: redirect_uri.clone(),
        challenge: CodeChallenge::parse(challenge)?,
        resource: resource.to_owned(),
    })
}

fn redirect_refusal(
    call: &RequestContext,
    redirect_uri: &RedirectUri,
    state: Option<&str>,
    error: &OauthError,
) -> Response {
    let description = error.to_string();
    let query = query(
        call,
        &[
            ("error", Some(error.code())),
            ("error_description", Some(&description)),
            ("state", state),
        ],
    );
    page::see_other(&redirect_uri.with_query(&query))
}

/// Returns the query of an answer, with the issuer (RFC 9207).
fn query(call: &RequestContext, pairs: &[(&str, Option<&str>)]) -> String {
    answer_query(&call.state.settings.mcp_url, pairs)
}

/// Returns the query of an answer by this issuer.
pub(super) fn answer_query(issuer: &str, pairs: &[(&str, Option<&str>)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in pairs.iter().copied().chain([("iss", Some(issuer))]) {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    query.finish()
}

/// Describes the target of the redirect for the consent page.
pub(super) fn destination(uri: &RedirectUri) -> String {
    match uri.target() {
        RedirectTarget::Website(host) => format!("the website {host}"),
        RedirectTarget::Loopback(host) => format!("a program on this computer ({host})"),
        RedirectTarget::Program(scheme) => {
            format!("the program on this device that opens links of {scheme}:")
        }
    }
}

/// Returns the source expression of a content security policy for the redirect address. Such an
/// expression allows neither addresses in brackets nor underscores.
pub(super) fn leads_to(uri: &RedirectUri) -> String {
    let source = |scheme: &str, host: &str| {
        if host.contains(['[', '_']) { format!("{scheme}:") } else { format!("{scheme}://{host}") }
    };
    match uri.target() {
        RedirectTarget::Website(host) => source("https", host),
        RedirectTarget::Loopback(host) => source("http", host),
        RedirectTarget::Program(scheme) => format!("{scheme}:"),
    }
}

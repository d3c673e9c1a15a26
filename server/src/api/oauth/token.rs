//! The token endpoint (RFC 6749, 7636, 8707) and the revocation of tokens (RFC 7009).

use account_core::oauth::{
    AuthorizationCode, ClientId, CodeVerifier, Exchange, OauthError, Refresh, RefreshToken, SCOPE,
    Tokens, check_scope, is_same_resource,
};
use poem::{
    Request, Response,
    http::{HeaderValue, StatusCode, header},
};
use serde_json::json;

use super::answers::{FOREIGN_RESOURCE, answer, refuse, unfit};
use crate::http::{Anonymous, RequestContext, form::Form};

/// Exchanges a code or a refresh token for tokens.
pub(crate) async fn token(mut request: Request) -> Response {
    let (anonymous, form) = match client_form(&mut request).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    let call = anonymous.context();
    match tokens(call, &form).await {
        Ok(tokens) => answer(
            StatusCode::OK,
            &json!({
                "access_token": tokens.access.expose(),
                "token_type": "Bearer",
                "expires_in": tokens.expires_in.num_seconds(),
                "refresh_token": tokens.refresh.expose(),
                "scope": SCOPE,
            }),
        ),
        Err(error) => refuse(call, &error),
    }
}

/// Revokes a token; an unknown token is answered like a revoked one (RFC 7009, section 2.2).
pub(crate) async fn revoke(mut request: Request) -> Response {
    let (anonymous, form) = match client_form(&mut request).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    let call = anonymous.context();
    match end(call, &form).await {
        Ok(()) => answer(StatusCode::OK, &json!({})),
        Err(error) => refuse(call, &error),
    }
}

/// Reads the form of a client; a request with a client secret is refused, since no client has one.
async fn client_form(request: &mut Request) -> Result<(Anonymous, Form), Response> {
    let anonymous = Anonymous::admitted(request).map_err(|refusal| unfit(&refusal))?;
    let form = Form::of_body(request).await.map_err(|refusal| unfit(&refusal))?;
    let sends_secret = form.all("client_secret").next().is_some();
    let tries_header = request.header(header::AUTHORIZATION).is_some();
    if sends_secret || tries_header {
        let error = OauthError::InvalidClient("clients of this server have no secret");
        let mut response = refuse(anonymous.context(), &error);
        if tries_header {
            let scheme = HeaderValue::from_static("Basic realm=\"oauth\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        return Err(response);
    }
    Ok((anonymous, form))
}

async fn tokens(call: &RequestContext, form: &Form) -> Result<Tokens, OauthError> {
    let accounts = &call.state.accounts;
    let kind = required(form, "grant_type", "grant_type is missing")?;
    if !matches!(kind, "authorization_code" | "refresh_token") {
        return Err(OauthError::UnsupportedGrantType(
            "grant_type must be authorization_code or refresh_token",
        ));
    }
    let client = client(call, form).await?;
    let resource = resource(call, form)?;
    const WRONG: OauthError =
        OauthError::InvalidGrant("the code or token is wrong, used, expired or revoked");
    if kind == "authorization_code" {
        let code = required(form, "code", "code is missing")?;
        let exchange = Exchange {
            code: AuthorizationCode::parse(code).ok_or(WRONG)?,
            client,
            redirect_uri: optional(form, "redirect_uri")?.map(str::to_owned),
            verifier: CodeVerifier::parse(required(
                form,
                "code_verifier",
                "code_verifier is missing",
            )?)?,
            resource,
        };
        return accounts.exchange(exchange).await;
    }
    check_scope(optional(form, "scope")?)?;
    let token = required(form, "refresh_token", "refresh_token is missing")?;
    let token = RefreshToken::parse(token).ok_or(WRONG)?;
    let leeway = call.state.settings.refresh_leeway;
    accounts.refresh(Refresh { token, client, resource, leeway }).await
}

async fn end(call: &RequestContext, form: &Form) -> Result<(), OauthError> {
    let token = required(form, "token", "token is missing")?;
    let client = match optional(form, "client_id")? {
        Some(_) => Some(client(call, form).await?),
        None => None,
    };
    call.state.accounts.revoke_token(token, client.as_ref()).await
}

/// Returns the client that the form names, where it is registered.
async fn client(call: &RequestContext, form: &Form) -> Result<ClientId, OauthError> {
    let id = required(form, "client_id", "client_id is missing")?;
    let id =
        ClientId::parse(id).ok_or(OauthError::InvalidClient("unknown client: register again"))?;
    Ok(call.state.accounts.client(&id).await?.id)
}

/// Returns the canonical name of the resource that tokens are for: the MCP endpoint, the only one.
fn resource(call: &RequestContext, form: &Form) -> Result<String, OauthError> {
    let ours = call.state.settings.mcp_resource();
    if form.all("resource").all(|asked| is_same_resource(asked, &ours)) {
        Ok(ours)
    } else {
        Err(FOREIGN_RESOURCE)
    }
}

fn optional<'a>(form: &'a Form, name: &'static str) -> Result<Option<&'a str>, OauthError> {
    form.get(name).map_err(|_| OauthError::InvalidRequest("a parameter is given twice"))
}

fn required<'a>(
    form: &'a Form,
    name: &'static str,
    missing: &'static str,
) -> Result<&'a str, OauthError> {
    optional(form, name)?.ok_or(OauthError::InvalidRequest(missing))
}

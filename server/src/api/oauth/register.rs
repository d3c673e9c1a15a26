//! Clients that register themselves (RFC 7591).

use account_core::oauth::{ClientMetadata, OauthError, RedirectUri, RegisteredClient, SCOPE};
use poem::{Request, Response, http::StatusCode};
use serde_json::{Value, json};

use super::answers::{answer, refuse, unfit};
use crate::{
    auth::client_metadata,
    http::{Anonymous, read_any},
};

/// Largest registration request, in bytes.
const LARGEST: usize = 64 * 1024;

/// Registers a client.
pub(crate) async fn register(mut request: Request) -> Response {
    let anonymous = match Anonymous::admitted(&request) {
        Ok(anonymous) => anonymous,
        Err(refusal) => return unfit(&refusal),
    };
    let body = match read_any(&mut request, LARGEST).await {
        Ok(body) => body,
        Err(refusal) => return unfit(&refusal),
    };
    let call = anonymous.context();
    let metadata = match read(&body) {
        Ok(metadata) => metadata,
        Err(error) => return refuse(call, &error),
    };
    match call.state.accounts.register_client(&metadata, call.at).await {
        Ok(client) => answer(StatusCode::CREATED, &describe(&client)),
        Err(error) => refuse(call, &error),
    }
}

/// Describes a client, which never has a secret, whatever the registration requested.
pub(super) fn describe(client: &RegisteredClient) -> Value {
    let uris: Vec<&str> = client.redirect_uris.iter().map(RedirectUri::as_str).collect();
    json!({
        "client_id": client.id.as_str(),
        "client_id_issued_at": client.created_at.timestamp(),
        "client_name": client.name.as_str(),
        "redirect_uris": uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": SCOPE,
    })
}

/// Reads the metadata of a client from a registration.
pub(super) fn read(body: &[u8]) -> Result<ClientMetadata, OauthError> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(body) else {
        return Err(OauthError::InvalidClientMetadata("a registration is a JSON object"));
    };
    client_metadata::read(&fields)
}

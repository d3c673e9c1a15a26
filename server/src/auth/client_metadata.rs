//! The JSON of a client's metadata, in a registration (RFC 7591) and in a metadata document.

use account_core::oauth::{ClientMetadata, OauthError};
use serde_json::{Map, Value};

/// Reads the fields that a registration and a document have in common; further fields are ignored.
///
/// # Errors
///
/// [`OauthError::InvalidRedirectUri`] and [`OauthError::InvalidClientMetadata`] for a field of
/// another type.
pub fn read(fields: &Map<String, Value>) -> Result<ClientMetadata, OauthError> {
    let client_name = text(fields, "client_name")
        .map_err(|()| OauthError::InvalidClientMetadata("client_name must be a text"))?;
    let uris = texts(fields, "redirect_uris")
        .map_err(|()| OauthError::InvalidRedirectUri("redirect_uris must be a list of texts"))?;
    let list = |name| {
        texts(fields, name).map_err(|()| {
            OauthError::InvalidClientMetadata(
                "grant_types and response_types must be lists of texts",
            )
        })
    };
    Ok(ClientMetadata {
        redirect_uris: uris.unwrap_or_default(),
        client_name,
        grant_types: list("grant_types")?,
        response_types: list("response_types")?,
    })
}

/// Returns a field that is a text; `None` for an absent field and for null.
pub(super) fn text(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, ()> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(()),
    }
}

fn texts(fields: &Map<String, Value>, name: &str) -> Result<Option<Vec<String>>, ()> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned).ok_or(()));
            texts.collect::<Result<_, _>>().map(Some)
        }
        Some(_) => Err(()),
    }
}

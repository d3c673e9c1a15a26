//! The client of an authorization request: registered here, or described by its metadata document.

use account_core::{
    Error,
    oauth::{ClientId, DocumentUrl, OauthError, OauthResult, RegisteredClient},
};
use poem::{Response, http::StatusCode};

use crate::{
    api::browser::page,
    auth::client_documents::{DocumentError, FETCHES_A_MINUTE},
    http::{ApiError, RequestContext},
};

const UNKNOWN: &str = "The application that sent you here is not known to this service, or no \
                       longer. Remove the connection in the application and add it again.";
const NO_DOCUMENTS: &str = "The application that sent you here names the address of a document as \
                            its id. This service fetches no such documents: the application must \
                            register itself.";

/// Returns the client that a request names, or the page for the browser.
pub(super) async fn of_request(
    call: &RequestContext,
    id: Option<&str>,
) -> Result<RegisteredClient, Response> {
    match id {
        Some(id) if DocumentUrl::is_meant_by(id) => described(call, id).await,
        _ => registered(call, id.and_then(ClientId::parse)).await,
    }
}

/// Answers that an application cannot be connected.
pub(super) fn turned_away(text: &str) -> Response {
    page::message(StatusCode::BAD_REQUEST, "This application cannot be connected", text)
}

/// Stores a described client, before an account gives the client access. A registered client is
/// stored already.
pub(super) async fn keep(call: &RequestContext, client: RegisteredClient) -> OauthResult<()> {
    if client.id.document().is_some() {
        call.state.accounts.keep_described_client(client).await?;
    }
    Ok(())
}

async fn registered(
    call: &RequestContext,
    id: Option<ClientId>,
) -> Result<RegisteredClient, Response> {
    let id = id.ok_or_else(|| turned_away(UNKNOWN))?;
    call.state.accounts.client(&id).await.map_err(|error| match error {
        OauthError::Store(cause) => page::failed(call, &cause.into()),
        _ => turned_away(UNKNOWN),
    })
}

/// Returns the client of a document, from the cache or else from its website. A fetch counts
/// against a limit of the address that asks, because anybody can have any host asked.
async fn described(call: &RequestContext, id: &str) -> Result<RegisteredClient, Response> {
    let Some(documents) = &call.state.client_documents else {
        return Err(turned_away(NO_DOCUMENTS));
    };
    let url = DocumentUrl::parse(id).map_err(|error| unusable(call, None, &error.into()))?;
    if let Some(client) = documents.known(&url, call.at).await {
        return Ok(client);
    }
    call.state.document_fetches.admit(call.address).map_err(|retry_after| {
        let limit = FETCHES_A_MINUTE.get();
        page::turned_away(&ApiError::RateLimit { limit, window: "minute and address", retry_after })
    })?;
    let fetched = documents.fetch(&url, call.at).await;
    fetched.map_err(|error| unusable(call, Some(&url), &error))
}

/// Answers that a document does not describe a client, and why. The text repeats nothing of the
/// document.
fn unusable(call: &RequestContext, url: Option<&DocumentUrl>, error: &DocumentError) -> Response {
    if matches!(error, DocumentError::Busy) {
        let retry_after = std::time::Duration::from_secs(5);
        return page::failed(call, &Error::Busy { retry_after });
    }
    let host = url.map(DocumentUrl::host);
    tracing::info!(request_id = %call.id, host, ?error, "a metadata document cannot be used");
    turned_away(&format!(
        "The application that sent you here names the address of a document as its id, and the \
         document cannot be used: {error}."
    ))
}

//! Requests that may be sent again: the header `Idempotency-Key`.

use account_core::StoreError;
use account_core::idempotency::{BadKey, IdempotencyKey, Slot};
use account_core::store::LedgerStore as _;
use poem::Request;

use super::{
    context::RequestContext,
    error::ApiError,
    headers::IDEMPOTENCY_KEY,
    validation::{Fault, Step},
};

/// Reads the `Idempotency-Key` of the request, if one was sent.
pub(super) fn repeat_key(request: &Request) -> Result<Option<IdempotencyKey>, Fault> {
    let mut sent = request.headers().get_all(IDEMPOTENCY_KEY).into_iter();
    match (sent.next(), sent.next()) {
        (None, _) => Ok(None),
        (Some(key), None) => parse_key(key.as_bytes()).map(Some),
        _ => Err(fault_of_key("value_error.str", "there must be one such header")),
    }
}

/// Reads an idempotency key.
///
/// # Errors
///
/// The fault of a malformed key.
pub(crate) fn parse_key(key: &[u8]) -> Result<IdempotencyKey, Fault> {
    IdempotencyKey::parse(key).map_err(|reason| match reason {
        BadKey::Empty => {
            let text = "ensure this value has at least 1 characters";
            fault_of_key("value_error.any_str.min_length", text)
        }
        BadKey::TooLong => {
            let text = "ensure this value has at most 255 characters";
            fault_of_key("value_error.any_str.max_length", text)
        }
        _ => fault_of_key("value_error.str", "ensure this value has visible ASCII characters only"),
    })
}

fn fault_of_key(kind: &str, text: &str) -> Fault {
    let path = [Step::name("header"), Step::name("Idempotency-Key")];
    Fault::new(&path, kind, text)
}

/// Returns whether an earlier request has the slot, answered or running.
pub(super) async fn is_claimed(
    context: &RequestContext,
    slot: Option<Slot>,
) -> Result<bool, ApiError> {
    let Some(slot) = slot else { return Ok(false) };
    let claimed = Box::pin(context.state.accounts.store().is_claimed(slot, context.at)).await;
    claimed.map_err(|error| unreadable(context, &error))
}

/// The refusal where the store of answers does not answer.
pub(super) fn unreadable(context: &RequestContext, error: &StoreError) -> ApiError {
    tracing::error!(request_id = %context.id, %error, "stored answers cannot be read");
    context.storage_refusal(error)
}

/// The refusal of a key that was sent with another request.
pub(crate) fn other_request() -> ApiError {
    let text = "this key was sent with another request";
    ApiError::Faults(vec![fault_of_key("value_error.idempotency_key", text)])
}

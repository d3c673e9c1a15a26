//! A line in the log for every request.

use account_core::CallerId;
use poem::Request;

use super::RequestContext;

/// The target of the lines, by which a log tells them from others.
pub const ACCESS: &str = "quant_server::access";
/// A longer name of a request is not taken over.
const LONGEST_NAME: usize = 128;

/// Whether anyone reads the lines.
pub(super) fn is_read() -> bool {
    tracing::enabled!(target: "quant_server::access", tracing::Level::INFO)
}

/// What the client calls its request, where that is a name: letters, digits, dots, dashes and
/// underscores. It stands in the log beside our own id, by which alone anything is found.
pub(super) fn name_given(request: &Request) -> Option<String> {
    let is_sound = |name: &&str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_plain)
    };
    request.header("x-request-id").filter(is_sound).map(str::to_owned)
}

/// Writes the line. Neither the path as it was sent, nor its query, nor a header is in it.
pub(super) fn write(call: &RequestContext, status: u16) {
    let caller = match call.caller_id() {
        Some(CallerId::Account(id)) => Some(format!("account:{}", id.0)),
        Some(CallerId::Guest(id)) => Some(format!("guest:{}", id.0)),
        None => None,
    };
    tracing::info!(
        target: "quant_server::access",
        request_id = %call.id,
        client_request_id = call.client_request_id.as_deref(),
        method = call.method_name(),
        route = call.route(),
        status,
        duration_us = u64::try_from(call.elapsed().as_micros()).unwrap_or(u64::MAX),
        caller,
        credits = call.charge().map(|charge| charge.cost),
        address = %call.address,
        "answered",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_name_is_taken_over() {
        let given =
            |name: &str| name_given(&Request::builder().header("x-request-id", name).finish());
        assert_eq!(given("order-17.retry_2").as_deref(), Some("order-17.retry_2"));
        let long = "x".repeat(LONGEST_NAME + 1);
        for name in ["", "a b", "a\"b", "{}", "ä", long.as_str()] {
            assert_eq!(given(name), None, "{name}");
        }
        assert_eq!(name_given(&Request::default()), None);
    }
}

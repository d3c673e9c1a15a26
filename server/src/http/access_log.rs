//! The line of the access log for every request.

use std::{net::IpAddr, time::Duration};

use account_core::CallerId;
use poem::Request;

use super::headers::{X_REQUEST_ID, text};

/// The target of the lines, by which a subscriber separates them from other logs.
pub const ACCESS: &str = "quant_server::access";
/// The most characters of a client's own request id.
const MAX_NAME_LENGTH: usize = 128;

/// The fields of one line. The path as it was sent, its query and the headers are left out.
pub(super) struct AccessLine<'a> {
    pub(super) id: uuid::Uuid,
    pub(super) client_request_id: Option<&'a str>,
    pub(super) method: &'a str,
    pub(super) route: Option<&'a str>,
    pub(super) status: u16,
    pub(super) elapsed: Duration,
    pub(super) caller: Option<CallerId>,
    pub(super) credits: Option<u32>,
    pub(super) address: IpAddr,
}

/// Returns whether a subscriber records the lines.
pub(super) fn is_read() -> bool {
    tracing::enabled!(target: "quant_server::access", tracing::Level::INFO)
}

/// The request id that the client sent, where it holds letters, digits, dots, dashes and underscores
/// alone. The log has it beside the service's own id, which alone is used for look-ups.
pub(super) fn name_given(request: &Request) -> Option<String> {
    let is_sound = |name: &&str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        (1..=MAX_NAME_LENGTH).contains(&name.len()) && name.bytes().all(is_plain)
    };
    text(request.headers(), &X_REQUEST_ID).filter(is_sound).map(str::to_owned)
}

/// Writes the line of one request to the access log.
pub(super) fn write(line: &AccessLine<'_>) {
    let caller = line.caller.map(|caller| match caller {
        CallerId::Account(id) => format!("account:{}", id.0),
        CallerId::Guest(id) => format!("guest:{}", id.0),
    });
    tracing::info!(
        target: "quant_server::access",
        request_id = %line.id,
        client_request_id = line.client_request_id,
        method = line.method,
        route = line.route,
        status = line.status,
        duration_us = u64::try_from(line.elapsed.as_micros()).unwrap_or(u64::MAX),
        caller,
        credits = line.credits,
        address = %line.address,
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
        let long = "x".repeat(MAX_NAME_LENGTH + 1);
        for name in ["", "a b", "a\"b", "{}", "ä", long.as_str()] {
            assert_eq!(given(name), None, "{name}");
        }
        assert_eq!(name_given(&Request::default()), None);
    }
}

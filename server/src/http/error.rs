//! The reasons to refuse a request, with the status, the body and the headers of each.

use std::time::Duration;

use account_core::{Tier, Timestamp};
use poem::{
    Error, Request, Response,
    http::{HeaderMap, HeaderValue, StatusCode, header},
};
use serde_json::{Value, json};

use super::{
    columns::ROWS_OF_A_MARKER,
    validation::{self, Fault},
};
use crate::compute_pool::ComputeError;
use crate::store::StoreFault;

/// The time to wait after a failure of the store or a full queue.
const RETRY_AFTER_BUSY: Duration = Duration::from_secs(1);

/// The seconds to wait before the next attempt, where the database cannot serve a request.
const STORAGE_RETRY_SECONDS: u64 = 5;

/// The two shapes of an error body; the path decides between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// The shape of accounts and of all other paths: `success`, `message` and `detail`.
    Account,
    /// The shape of the computations under `/quantlib/`: `detail` alone.
    Computation,
}

impl Surface {
    /// Returns the error shape that the answers of `path` have.
    #[must_use]
    pub fn of(path: &str) -> Self {
        if path.starts_with("/quantlib/") { Self::Computation } else { Self::Account }
    }
}

/// A reason to refuse a request. The status, the body and the headers of each are functions below.
#[derive(Clone, Debug, PartialEq)]
pub enum ApiError {
    /// The request has no API key, or one that is not valid.
    Key,
    /// The key is that of a guest and has expired.
    GuestKeyExpired,
    /// The session token that was sent is not valid.
    Session,
    /// The hourly or daily limit of the caller is reached.
    RateLimit {
        /// The number of calls that the window allows.
        limit: u32,
        /// The window of the limit, as in "hour".
        window: &'static str,
        /// The time until the limit allows a call.
        retry_after: Duration,
    },
    /// The day's limit of new guest keys is reached.
    TooManyGuests {
        /// The time until the limit allows a new key.
        retry_after: Duration,
    },
    /// A guest called an operation that only accounts may call.
    GuestNotAllowed,
    /// The account's tier is below the one of the operation, which the field names.
    Tier(Tier),
    /// The balance is below the cost of the call.
    Credits {
        /// The credits that a call costs.
        cost: u32,
    },
    /// The call would pass the cap of credits a day that the account has set.
    SpendCap {
        /// The credits that a call costs.
        cost: u32,
        /// The credits that the account may spend on one UTC day.
        per_day: u64,
        /// The end of the day.
        until: Timestamp,
    },
    /// The balance is below the cost of the rows of columns.
    CreditsOfRows {
        /// The credits that the rows cost.
        cost: u32,
        /// The number of rows.
        rows: usize,
        /// The credits of a single call.
        marker: u32,
    },
    /// The body is larger than the caller may send.
    BodyTooLarge {
        /// The largest number of bytes that the caller may send.
        limit: usize,
    },
    /// The body did not arrive within the time for a request.
    BodyTooSlow,
    /// The body ended early, or its framing is wrong.
    BodyBroken,
    /// The head of the request breaks a rule of HTTP, or has a credential twice.
    Malformed {
        /// The rule that the request breaks, for the caller.
        detail: &'static str,
    },
    /// The body is announced as something else than JSON.
    MediaType,
    /// The body is announced as compressed, or in another encoding than its own bytes.
    ContentEncoding,
    /// The parameters or the body have faults, all of which are listed.
    Faults(Vec<Fault>),
    /// No route has the path.
    NotFound,
    /// The path exists, but only for other methods.
    MethodNotAllowed {
        /// The value of the header `Allow`.
        allow: HeaderValue,
    },
    /// Another run of the same request, under one `Idempotency-Key`, has not ended.
    StillRunning,
    /// The service is too busy to answer now, or the limits cannot be read.
    Busy {
        /// The time to wait before the next attempt.
        retry_after: Duration,
    },
    /// The service is not ready for new requests.
    NotReady {
        /// The reason, a sentence for the operator.
        reason: &'static str,
    },
    /// The database is in a state in which it cannot serve the request.
    Storage {
        /// The state of the database, for callers and the operator.
        fault: StoreFault,
    },
    /// A rule of accounts, sessions or the operator's routes refuses the request.
    Account {
        /// The HTTP status of the refusal.
        status: StatusCode,
        /// The reason in a few words, the field `message` of the body.
        message: &'static str,
        /// The explanation with its remedy, the field `detail` of the body.
        detail: String,
    },
    /// A defect, or a part that failed. The log has the cause; the answer does not.
    Internal,
}

impl From<ComputeError> for ApiError {
    fn from(error: ComputeError) -> Self {
        match error {
            ComputeError::Busy { retry_after } => Self::Busy { retry_after },
            ComputeError::Failed => Self::Internal,
        }
    }
}

impl From<Fault> for ApiError {
    fn from(fault: Fault) -> Self {
        Self::Faults(vec![fault])
    }
}

impl ApiError {
    /// Makes the refusal of a service without room for the request.
    #[must_use]
    pub fn busy() -> Self {
        Self::Busy { retry_after: RETRY_AFTER_BUSY }
    }

    /// Makes a refusal by a rule of accounts, sessions or the operator's routes.
    #[must_use]
    pub fn account<T: Into<String>>(status: StatusCode, message: &'static str, detail: T) -> Self {
        Self::Account { status, message, detail: detail.into() }
    }

    /// Returns the refusal as an error of poem, in the error shape of the request's path.
    #[must_use]
    pub fn into_error(self, request: &Request) -> Error {
        let surface = Surface::of(request.original_uri().path());
        Error::from_response(self.into_response(surface))
    }

    /// Returns the response to this refusal: status, body in the given shape, and headers such as
    /// `Retry-After` and `Allow`.
    #[must_use]
    pub fn into_response(self, surface: Surface) -> Response {
        let mut response = Response::builder()
            .status(self.status())
            .content_type("application/json")
            .body(self.body(surface).to_string());
        self.add_headers(response.headers_mut());
        response
    }

    /// Adds the headers that HTTP asks for beside the status.
    pub(crate) fn add_headers(&self, headers: &mut HeaderMap) {
        if let Some(seconds) = self.retry_after_seconds() {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        match self {
            Self::MethodNotAllowed { allow } => {
                headers.insert(header::ALLOW, allow.clone());
            }
            Self::ContentEncoding => {
                // RFC 9110, section 15.5.16: the encodings that would have been accepted.
                headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            }
            Self::BodyTooLarge { .. }
            | Self::BodyTooSlow
            | Self::BodyBroken
            | Self::Malformed { .. } => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
    }

    /// Returns the HTTP status of the refusal.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Key | Self::GuestKeyExpired | Self::Session => StatusCode::UNAUTHORIZED,
            Self::RateLimit { .. } | Self::TooManyGuests { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::GuestNotAllowed | Self::Tier(_) => StatusCode::FORBIDDEN,
            Self::Credits { .. } | Self::CreditsOfRows { .. } | Self::SpendCap { .. } => {
                StatusCode::PAYMENT_REQUIRED
            }
            Self::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::BodyBroken | Self::Malformed { .. } => StatusCode::BAD_REQUEST,
            Self::StillRunning => StatusCode::CONFLICT,
            Self::MediaType | Self::ContentEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Faults(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::Busy { .. } | Self::NotReady { .. } | Self::Storage { .. } => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::Account { status, .. } => *status,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Returns the explanation for people; empty where the refusal is a list of faults.
    #[must_use]
    pub fn detail(&self) -> String {
        self.texts().1
    }

    /// Returns the seconds to wait before the next attempt, the value of `Retry-After`; `None` for a
    /// refusal without this header.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Self::RateLimit { retry_after, .. }
            | Self::TooManyGuests { retry_after }
            | Self::Busy { retry_after } => Some(seconds(*retry_after)),
            Self::NotReady { .. } | Self::StillRunning => Some(1),
            Self::Storage { .. } => Some(STORAGE_RETRY_SECONDS),
            _ => None,
        }
    }

    /// Returns the body. Some refusals happen before a path is known, and have the account shape
    /// always.
    #[must_use]
    pub(crate) fn body(&self, surface: Surface) -> Value {
        match self {
            Self::Faults(faults) => return validation::body(faults),
            Self::Key if surface == Surface::Computation => {
                return json!({ "detail": "Invalid API key" });
            }
            _ => {}
        }
        let (message, detail) = self.texts();
        match (surface, self) {
            (Surface::Computation, computation) if computation.has_both_shapes() => {
                json!({ "detail": detail })
            }
            _ => json!({ "success": false, "message": message, "detail": detail }),
        }
    }

    fn has_both_shapes(&self) -> bool {
        matches!(
            self,
            Self::GuestKeyExpired
                | Self::Session
                | Self::RateLimit { .. }
                | Self::TooManyGuests { .. }
                | Self::GuestNotAllowed
                | Self::Tier(_)
                | Self::Credits { .. }
                | Self::SpendCap { .. }
                | Self::CreditsOfRows { .. }
                | Self::StillRunning
                | Self::Busy { .. }
                | Self::Storage { .. }
        )
    }

    fn texts(&self) -> (&'static str, String) {
        match self {
            Self::Key => ("Invalid or expired API key", "Valid API key required".into()),
            Self::GuestKeyExpired => (
                "Guest API key has expired",
                "Guest API key has expired. Create a new one with POST /guest/create, or register."
                    .into(),
            ),
            Self::Session => ("Session expired", "Session expired. Log in again.".into()),
            Self::RateLimit { limit, window, retry_after } => (
                "Rate limit exceeded",
                format!(
                    "Rate limit exceeded: {limit} requests per {window}. Try again in {} seconds.",
                    seconds(*retry_after)
                ),
            ),
            Self::TooManyGuests { retry_after } => (
                "Too many guest keys",
                format!(
                    "No more guest keys can be made here today. Try again in {} seconds, or \
                     register with POST /user/register.",
                    seconds(*retry_after)
                ),
            ),
            Self::GuestNotAllowed => (
                "Registered account required",
                "Guest keys cannot do this. Register with POST /user/register.".into(),
            ),
            Self::Tier(tier) => {
                ("Insufficient tier", format!("Endpoint requires {} tier or higher", tier.title()))
            }
            Self::Credits { cost } => (
                "Insufficient credits",
                format!("Insufficient credits. This endpoint requires {cost} credits."),
            ),
            Self::SpendCap { cost, per_day, until } => (
                "Daily cap reached",
                format!(
                    "Daily cap reached. This endpoint requires {cost} credits, and the account's cap is \
                     {per_day} credits a day. The day ends at {}.",
                    until.format("%Y-%m-%dT%H:%M:%SZ")
                ),
            ),
            Self::CreditsOfRows { cost, rows, marker } => (
                "Insufficient credits",
                format!(
                    "Insufficient credits. {rows} rows at {marker} credits for {ROWS_OF_A_MARKER} \
                     rows require {cost} credits."
                ),
            ),
            Self::BodyTooLarge { limit } => {
                ("Request body too large", format!("The body may hold at most {limit} bytes."))
            }
            Self::BodyTooSlow => ("Request timeout", "The body took too long to arrive.".into()),
            Self::BodyBroken => ("Bad request", "The body could not be read to its end.".into()),
            Self::Malformed { detail } => ("Bad request", (*detail).into()),
            Self::MediaType => (
                "Unsupported media type",
                "Send the body as JSON, with Content-Type: application/json.".into(),
            ),
            Self::ContentEncoding => (
                "Unsupported content encoding",
                "Send the body without Content-Encoding: compressed bodies are not accepted."
                    .into(),
            ),
            Self::Faults(_) => ("Invalid request", String::new()),
            Self::NotFound => {
                ("Not found", "No such path. See /docs for those that there are.".into())
            }
            Self::MethodNotAllowed { allow } => (
                "Method not allowed",
                format!("This path takes {}.", allow.to_str().unwrap_or_default()),
            ),
            Self::Busy { .. } => (
                "Service busy",
                "The service cannot take this request now. Nothing was charged.".into(),
            ),
            Self::StillRunning => (
                "Request still running",
                "A request with this Idempotency-Key is being answered. Send it again to get its \
                 answer."
                    .into(),
            ),
            Self::NotReady { reason } => ("Not ready", (*reason).into()),
            Self::Storage { fault } => (
                "Storage unavailable",
                format!("{} {} Try again later.", fault.reason(), fault.charge()),
            ),
            Self::Account { message, detail, .. } => (message, detail.clone()),
            Self::Internal => {
                ("Internal error", "Something went wrong on our side. Nothing was charged.".into())
            }
        }
    }
}

/// The whole seconds of `wait`, rounded up, at least one.
fn seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_the_shape_of_its_surface() {
        let refusal = ApiError::Tier(Tier::Pro);
        assert_eq!(
            refusal.body(Surface::Computation),
            json!({ "detail": "Endpoint requires Pro tier or higher" })
        );
        assert_eq!(
            refusal.body(Surface::Account),
            json!({
                "success": false,
                "message": "Insufficient tier",
                "detail": "Endpoint requires Pro tier or higher",
            })
        );
    }

    #[test]
    fn a_wait_is_told_in_whole_seconds_and_never_as_zero() {
        let waits = [(0, 1), (1, 1), (999, 1), (1000, 1), (1001, 2)];
        for (milliseconds, expected) in waits {
            assert_eq!(seconds(Duration::from_millis(milliseconds)), expected);
        }
    }
}

//! Why a request is refused, and how each reason looks on the wire.

use std::time::Duration;

use account_core::Tier;
use poem::{
    Error, IntoResponse, Request, Response,
    http::{HeaderValue, StatusCode, header},
};
use serde_json::{Value, json};

use super::validation::{self, Fault};
use crate::compute_pool::ComputeError;

/// Which of the two error shapes a path speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// `success`, `message` and `detail`.
    Account,
    /// `detail` alone.
    Computation,
}

impl Surface {
    /// The surface that `path` belongs to.
    #[must_use]
    pub fn of(path: &str) -> Self {
        if path.starts_with("/quantlib/") { Self::Computation } else { Self::Account }
    }
}

/// A reason to refuse.
#[derive(Clone, Debug, PartialEq)]
pub enum ApiError {
    /// No key, or one that opens nothing.
    Key,
    /// A guest key past its day.
    GuestKeyExpired,
    /// A session token that is not valid.
    Session,
    /// The hourly or daily limit is reached.
    RateLimit {
        /// How many calls the limit allows.
        limit: u32,
        /// Over which time, as in "hour".
        window: &'static str,
        /// When a call is free again.
        retry_after: Duration,
    },
    /// As many guest keys were made today as may be.
    TooManyGuests {
        /// When there are new ones.
        retry_after: Duration,
    },
    /// A guest asks for what needs an account.
    GuestNotAllowed,
    /// The account's tier is too low.
    Tier(Tier),
    /// The balance is too low.
    Credits {
        /// What the endpoint costs.
        cost: u32,
    },
    /// The body is larger than the caller may send.
    BodyTooLarge {
        /// How many bytes the caller may send.
        limit: usize,
    },
    /// The body came to no end.
    BodyTooSlow,
    /// The body broke off, or its framing is wrong.
    BodyBroken,
    /// The body is announced as something else than JSON.
    MediaType,
    /// Everything that is wrong with the parameters and the body.
    Faults(Vec<Fault>),
    /// No such path.
    NotFound,
    /// The path takes other methods.
    MethodNotAllowed {
        /// Those it takes, as in the header `Allow`.
        allow: HeaderValue,
    },
    /// The same request is being answered.
    StillRunning,
    /// The service cannot answer now.
    Busy {
        /// When to try again.
        retry_after: Duration,
    },
    /// The service had better not be sent new requests now.
    NotReady {
        /// Why, for the operator.
        reason: &'static str,
    },
    /// A rule of the account surface refuses.
    Account {
        /// The status that tells it.
        status: StatusCode,
        /// What happened, shortly.
        message: &'static str,
        /// What the caller can do about it.
        detail: String,
    },
    /// A bug, or a part that failed. What happened is in the log, not in the answer.
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

impl ApiError {
    /// The refusal as poem carries it, in the shape that the request's path speaks.
    #[must_use]
    pub fn into_error(self, request: &Request) -> Error {
        let surface = Surface::of(request.original_uri().path());
        Error::from_response(self.into_response(surface))
    }

    /// The answer that tells this refusal.
    #[must_use]
    pub fn into_response(self, surface: Surface) -> Response {
        let mut response = Response::builder()
            .status(self.status())
            .content_type("application/json")
            .body(self.body(surface).to_string());
        let headers = response.headers_mut();
        match self {
            Self::RateLimit { retry_after, .. }
            | Self::TooManyGuests { retry_after }
            | Self::Busy { retry_after } => {
                headers.insert(header::RETRY_AFTER, seconds(retry_after).into());
            }
            Self::NotReady { .. } | Self::StillRunning => {
                headers.insert(header::RETRY_AFTER, 1.into());
            }
            Self::MethodNotAllowed { allow } => {
                headers.insert(header::ALLOW, allow);
            }
            Self::BodyTooLarge { .. } | Self::BodyTooSlow | Self::BodyBroken => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response.into_response()
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Key | Self::GuestKeyExpired | Self::Session => StatusCode::UNAUTHORIZED,
            Self::RateLimit { .. } | Self::TooManyGuests { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::GuestNotAllowed | Self::Tier(_) => StatusCode::FORBIDDEN,
            Self::Credits { .. } => StatusCode::PAYMENT_REQUIRED,
            Self::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::BodyBroken => StatusCode::BAD_REQUEST,
            Self::StillRunning => StatusCode::CONFLICT,
            Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Faults(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::Busy { .. } | Self::NotReady { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::Account { status, .. } => *status,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Some refusals know no path's shape: they always answer in the account shape.
    fn body(&self, surface: Surface) -> Value {
        match self {
            Self::Faults(faults) => return validation::body(faults),
            Self::Key if surface == Surface::Computation => {
                return json!({ "detail": "Invalid API key" });
            }
            _ => {}
        }
        let (message, detail) = self.words();
        match (surface, self) {
            (Surface::Computation, computation) if computation.speaks_both_shapes() => {
                json!({ "detail": detail })
            }
            _ => json!({ "success": false, "message": message, "detail": detail }),
        }
    }

    fn speaks_both_shapes(&self) -> bool {
        matches!(
            self,
            Self::GuestKeyExpired
                | Self::Session
                | Self::RateLimit { .. }
                | Self::TooManyGuests { .. }
                | Self::GuestNotAllowed
                | Self::Tier(_)
                | Self::Credits { .. }
                | Self::StillRunning
                | Self::Busy { .. }
        )
    }

    fn words(&self) -> (&'static str, String) {
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
            Self::BodyTooLarge { limit } => {
                ("Request body too large", format!("The body may hold at most {limit} bytes."))
            }
            Self::BodyTooSlow => ("Request timeout", "The body took too long to arrive.".into()),
            Self::BodyBroken => ("Bad request", "The body could not be read to its end.".into()),
            Self::MediaType => (
                "Unsupported media type",
                "Send the body as JSON, with Content-Type: application/json.".into(),
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
            Self::Account { message, detail, .. } => (message, detail.clone()),
            Self::Internal => {
                ("Internal error", "Something went wrong on our side. Nothing was charged.".into())
            }
        }
    }
}

/// Whole seconds, rounded up, at least one.
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

//! The quote of a call: what the call would cost and whether it would pass, without the call.

use account_core::LimitStatus;
use poem::{Request, http::HeaderMap};
use serde_json::{Value, json};

use super::{operation::Operation, prefer};

/// The preference, which has no value.
const QUOTE: &str = "quote";

/// The terms of one call. Nothing is computed or charged for a quote.
pub(crate) struct Quote {
    /// The operation of the route.
    pub(super) operation: &'static Operation,
    /// The balance of the account; `None` for a guest.
    pub(super) balance: Option<u64>,
    /// The limit of the caller, which the quote has been counted against.
    pub(super) limit_status: LimitStatus,
    /// The reason why the call would be refused; `None` for a call that would pass.
    pub(super) obstacle: Option<Obstacle>,
}

/// The reason why a call would be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The tier of the caller is too low.
    Tier,
    /// The balance, without the credits of running calls, is below the cost.
    Credits,
    /// The call would pass the account's own cap of credits a day.
    SpendCap,
    /// The quote has used the last call of the limit.
    Limit,
}

impl Obstacle {
    fn name(self) -> &'static str {
        match self {
            Self::Tier => "insufficient_tier",
            Self::Credits => "insufficient_credits",
            Self::SpendCap => "daily_cap_reached",
            Self::Limit => "rate_limited",
        }
    }
}

impl Quote {
    /// Returns whether a request prefers a quote.
    pub(super) fn is_preferred(request: &Request) -> bool {
        let mut preferences = prefer::preferences(request);
        preferences.any(|(name, value)| name.eq_ignore_ascii_case(QUOTE) && value.is_empty())
    }

    /// Tells in the answer that it is a quote.
    pub(super) fn tell(headers: &mut HeaderMap) {
        prefer::tell_applied(headers, QUOTE);
    }

    /// Returns the data of the answer.
    pub(super) fn data(&self) -> Value {
        let limit_status = &self.limit_status;
        json!({
            "operation": self.operation.id,
            "credits_cost": self.operation.cost,
            "balance": self.balance,
            "hourly_limit": limit_status.limit,
            "limit_remaining": limit_status.remaining,
            "would_pass": self.obstacle.is_none(),
            "reason": self.obstacle.map(Obstacle::name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_a_preference_without_a_value() {
        for (prefer, expected) in [
            ("quote", true),
            ("Quote", true),
            ("handling=strict, quote; a=b", true),
            ("quote=\"\"", true),
            ("quote=no", false),
            ("handling=quote", false),
            ("respond-async", false),
        ] {
            let request = Request::builder().header("Prefer", prefer).finish();
            assert_eq!(Quote::is_preferred(&request), expected, "{prefer}");
        }
        assert!(!Quote::is_preferred(&Request::default()));
    }
}

//! The quote of a call: what the call would cost and whether it would pass, without the call.

use account_core::{LimitStatus, Tier};
use poem::{Request, http::HeaderMap};
use serde_json::{Value, json};

use super::prefer;

/// The preference, which has no value.
const QUOTE: &str = "quote";

/// The rule by which the credits of a request follow from its calls or rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PriceRule {
    /// The cost of one call.
    Call,
    /// A tenth for each row.
    Columns,
    /// The sum of the calls.
    Batch,
}

impl PriceRule {
    /// Returns the rule as a sentence.
    fn sentence(self) -> &'static str {
        match self {
            Self::Call => "The cost of one call, which is charged where the call succeeds.",
            Self::Columns => {
                "A tenth of the cost of a single call for each row, all rows together rounded up to \
                 a whole credit; rows that fail are not charged."
            }
            Self::Batch => {
                "The sum of the costs of the accepted calls; in mode `partial` calls that fail are \
                 not charged, and in mode `atomic` one that fails refuses the whole batch."
            }
        }
    }
}

/// The calls of one request whose terms are asked for.
pub(crate) struct QuotedCalls {
    /// The id of the operation that the request is sent to.
    pub(crate) operation: &'static str,
    /// The rule that gives `cost`.
    pub(crate) pricing: PriceRule,
    /// The credits that the calls cost together.
    pub(crate) cost: u32,
    /// The highest tier that a call needs.
    pub(crate) tier: Tier,
    /// The number of calls that the limit counts.
    pub(crate) counted: u32,
}

impl QuotedCalls {
    /// Makes the request of an operation without a call.
    pub(crate) const fn of(operation: &'static str, pricing: PriceRule) -> Self {
        Self { operation, pricing, cost: 0, tier: Tier::Free, counted: 0 }
    }

    /// Adds a call that needs a tier and costs credits.
    pub(crate) fn add(&mut self, tier: Tier, cost: u32) {
        self.cost = self.cost.saturating_add(cost);
        self.tier = self.tier.max(tier);
        self.counted += 1;
    }
}

/// The terms of a request. Nothing is computed or charged for a quote.
pub(super) struct Quote {
    /// The calls of the request.
    pub(super) calls: QuotedCalls,
    /// The balance of the account; `None` for a guest.
    pub(super) balance: Option<u64>,
    /// The limit of the caller, which the quote has been counted against.
    pub(super) limit_status: LimitStatus,
    /// The reason why the call would be refused; `None` for a call that would pass.
    pub(super) obstacle: Option<Obstacle>,
}

/// The reason why a call would be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// The tier of the caller is too low.
    Tier,
    /// The balance, without the credits of running calls, is below the cost.
    Credits,
    /// The call would pass the account's own cap of credits a day.
    SpendCap,
    /// The limit has fewer calls left than the request makes.
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
            "operation": self.calls.operation,
            "credits_cost": self.calls.cost,
            "pricing": self.calls.pricing.sentence(),
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

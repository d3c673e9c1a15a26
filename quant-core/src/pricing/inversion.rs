//! The error of a volatility that was found from a price.

use crate::Result;
use crate::explanation::{ErrorKind, ErrorStatement, Explanation, Method};

/// The number of iterations that gives all bits of a volatility. The error of a first guess is at
/// most a fifth of the range over which the curvature of the functions matters.
pub(super) const STEPS: usize = 2;

/// A volatility that was found from a price.
pub(super) struct Inversion {
    pub(super) price: f64,
    pub(super) volatility: f64,
    /// The price and vega at the volatility; `None` where vega does not exist.
    pub(super) repriced: Option<(f64, f64)>,
}

impl Inversion {
    /// Explains the volatility, with the function that finds the volatility of another price.
    pub(super) fn explain(
        &self,
        method: Method,
        implied: impl Fn(f64) -> Result<f64>,
    ) -> Explanation {
        let residual = self.repriced.map_or(0.0, |(found, vega)| (found - self.price).abs() / vega);
        let residual = if residual.is_finite() { residual } else { 0.0 };
        // At the upper bound no larger price has a volatility.
        let beside = implied(self.price.next_up()).or_else(|_| implied(self.price.next_down()));
        let moved = beside.map_or(self.volatility, |beside| (beside - self.volatility).abs());
        let rounding = LAST_BITS * moved.max(f64::EPSILON * self.volatility);
        let error = ErrorStatement::estimated(
            ErrorKind::Iteration,
            "implied_volatility",
            residual + rounding,
            "residual price over vega, and 12 times the effect of the last bit of the price",
        );
        let steps = if self.volatility > 0.0 { STEPS as u32 } else { 0 };
        let explanation = Explanation::new(method, error).with_steps(steps);
        explanation.with_conventions([
            "The price is taken as exact; a price at the discounted intrinsic value has \
             volatility zero.",
        ])
    }
}

/// The accepted error of an implied volatility in changes by the last bit, which is half of 2⁻⁵² of
/// the price or more.
const LAST_BITS: f64 = 12.0;

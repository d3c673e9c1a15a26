//! The tail of a distribution: the probability beyond a confidence level, and the risk in it.

use crate::arithmetic::decimal::complement_times;
use crate::{Result, check};

/// The two figures of a tail of losses.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct TailRisk {
    /// Loss that is not exceeded with the probability of the confidence.
    pub value_at_risk: f64,
    /// Mean of the losses in the tail.
    pub expected_shortfall: f64,
}

impl TailRisk {
    /// Returns the figures of a position of this value, from those of a position of 1.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for a value that is negative or not finite;
    /// [`Error::Overflow`](crate::Error::Overflow) where a figure exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::risk::historical;
    ///
    /// let fractions = historical(&[-0.02, -0.015, 0.005, 0.01, 0.015, 0.02], 0.95)?.risk;
    /// assert_eq!(fractions.of_value(1e6)?.value_at_risk, 18_750.0);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn of_value(self, portfolio_value: f64) -> Result<Self> {
        check::not_negative("portfolio_value", portfolio_value)?;
        let money = |fraction: f64| check::result("portfolio_value", fraction * portfolio_value);
        Ok(Self {
            value_at_risk: money(self.value_at_risk)?,
            expected_shortfall: money(self.expected_shortfall)?,
        })
    }
}

/// The quantity that explanations state an error of, as a fraction of the position.
pub(super) const FRACTION: &str = "value_at_risk";

/// The sign and the probability of a value at risk, conventions.
pub(super) const LOSSES: [&str; 2] = [
    "Losses are positive: a negative value at risk is a gain even in the tail.",
    "The confidence is the probability that the loss does not exceed the value at risk.",
];

/// Returns the probability beyond a confidence, as the decimal is written: 0.05 for 0.95.
pub(super) fn tail(confidence: f64) -> Result<f64> {
    let is_inside = confidence > 0.5 && confidence < 1.0;
    check::require(is_inside, "confidence", confidence, "above 0.5 and below 1, as in 0.99")?;
    Ok(complement_times(confidence, 1).1)
}

//! The values that define a curve, and their conversion to discount factors.

use crate::named::named;
use crate::{Result, check};

/// The quantity that the values of a curve are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CurveType {
    /// Zero rates, annual, continuously compounded; named `zero`.
    Zero,
    /// Discount factors, the values today of one unit paid at each pillar; named `discount`.
    Discount,
    /// Average forward rates since the pillar before (the reference date for the first), continuously
    /// compounded; named `forward`.
    ContinuousForward,
}

named!(
    CurveType,
    "curve_type",
    Zero = "zero",
    Discount = "discount",
    ContinuousForward = "forward"
);

/// Refuses values outside the range of their type, such as a discount factor of zero.
pub(super) fn require_values(values: &[f64], curve_type: CurveType) -> Result<()> {
    match curve_type {
        CurveType::Zero | CurveType::ContinuousForward => {
            check::each("values", values, check::ANNUAL_RATE, check::is_annual_rate)
        }
        CurveType::Discount => check::each("values", values, "a positive finite number", |value| {
            value.is_finite() && value > 0.0
        }),
    }
}

/// Returns the exponents of the values: minus the logarithm of the discount factor at each tenor.
pub(super) fn exponents(tenors: &[f64], values: &[f64], curve_type: CurveType) -> Vec<f64> {
    let pairs = tenors.iter().zip(values);
    match curve_type {
        CurveType::Zero => pairs.map(|(tenor, rate)| rate * tenor).collect(),
        CurveType::Discount => values.iter().map(|&factor| -libm::log(factor)).collect(),
        CurveType::ContinuousForward => {
            let (mut time, mut exponent) = (0.0, 0.0);
            pairs
                .map(|(&tenor, rate)| {
                    exponent += rate * (tenor - time);
                    time = tenor;
                    exponent
                })
                .collect()
        }
    }
}

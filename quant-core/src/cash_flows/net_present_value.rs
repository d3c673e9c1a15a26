//! Present values of payments at one rate.

use super::{require_payments, times_of};
use crate::arithmetic::{
    double_double::DoubleDouble, exponential::exp, logarithm::ln, scaled::Scaled,
};
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// The logarithm of a factor beyond which every payment overflows or vanishes.
const MOST_LOGARITHM: f64 = 2000.0;

/// The present value of payments, and that of each payment.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct NetPresentValue {
    /// Sum of the present values, rounded once.
    pub net_present_value: f64,
    /// Present value of each payment, in the order of the payments.
    pub present_values: Vec<f64>,
    /// Fall of the net present value per unit of the rate: its negative derivative.
    pub rate_sensitivity: f64,
}

/// Returns the present value of payments at a rate.
///
/// ```text
/// NPV = Σ Cₖ (1 + r)^{−tₖ}
/// ```
///
/// where Cₖ is paid at the time tₖ, and r is the rate of one period. Without `times` the payments are at
/// 0, 1, 2 and so on, so that the first is not discounted. A time may be negative: that payment is
/// compounded to time 0. The sum is in twice the precision, so that it is right where payments cancel.
///
/// # Errors
///
/// [`Error::TooFew`] without payments; [`Error::Shape`] for times of another number;
/// [`Error::Element`] for a payment that is not finite or a time beyond a million periods;
/// [`Error::Domain`] for a rate that is not finite or not above −1;
/// [`Error::Overflow`] for a value that is no double.
///
/// # Examples
///
/// ```
/// use quant_core::cash_flows::net_present_value;
///
/// // 10,000 paid in a year, then 3,000, 4,200 and 6,800 at 10 %: Microsoft's first example of NPV.
/// let found = net_present_value(&[0.0, -10_000.0, 3_000.0, 4_200.0, 6_800.0], None, 0.1)?;
/// assert!((found.net_present_value - 1_188.44).abs() < 0.005);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Brealey, Myers and Allen, "Principles of Corporate Finance", chapter 2.
pub fn net_present_value(
    cashflows: &[f64],
    times: Option<&[f64]>,
    rate: f64,
) -> Result<NetPresentValue> {
    require_payments(cashflows, times)?;
    let requirement = "a finite rate above -1";
    check::require(rate.is_finite() && rate > -1.0, "rate", rate, requirement)?;
    let growth = DoubleDouble::sum(1.0, rate);
    let logarithm = ln(Scaled::from(growth));
    let (mut sum, mut moment) = (Scaled::ZERO, Scaled::ZERO);
    let mut present_values = Vec::with_capacity(cashflows.len());
    for (&amount, time) in cashflows.iter().zip(times_of(cashflows, times)) {
        let value = discounted(amount, -(logarithm * time.into()))?;
        sum = sum + value;
        moment = moment + value * Scaled::from(time);
        present_values.push(check::result("rate", value.to_f64())?);
    }
    Ok(NetPresentValue {
        net_present_value: check::result("rate", sum.to_f64())?,
        present_values,
        rate_sensitivity: check::result("rate", (moment / Scaled::from(growth)).to_f64())?,
    })
}

/// Explains [`net_present_value`].
///
/// # Errors
///
/// The errors of [`net_present_value`].
pub fn explain_net_present_value(
    cashflows: &[f64],
    times: Option<&[f64]>,
    rate: f64,
) -> Result<Explanation> {
    let found = net_present_value(cashflows, times, rate)?;
    let size: f64 = found.present_values.iter().map(|value| value.abs()).sum();
    let method = Method::new("net present value", "Fisher (1930), The Theory of Interest");
    let error = ErrorStatement::rounding_within(
        "npv",
        2.0 * f64::EPSILON * size,
        "largest error against 50 digits in units of the sum of the sizes of all present values",
    );
    let first = match times {
        None => {
            "The first payment is at time 0 and is not discounted; the others follow by a period."
        }
        Some(_) => "Times count periods of the rate; a negative time compounds a payment.",
    };
    let rate = "The rate is compounded once a period, also over parts of a period.";
    Ok(Explanation::new(method, error).with_conventions([first, rate]))
}

/// Returns an amount times the exponential of a number of any size.
fn discounted(amount: f64, logarithm: DoubleDouble) -> Result<Scaled> {
    if amount == 0.0 || logarithm.high < -MOST_LOGARITHM {
        return Ok(Scaled::ZERO);
    }
    if logarithm.high > MOST_LOGARITHM {
        return Err(Error::Overflow { argument: "rate" });
    }
    Ok(Scaled::from(amount) * exp(logarithm))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_payment_is_not_discounted() {
        let found = net_present_value(&[100.0, 110.0], None, 0.1).unwrap();
        assert_eq!(found.present_values[0], 100.0);
        assert!((found.net_present_value - 200.0).abs() < 1e-13);
        let late = net_present_value(&[110.0, 121.0], Some(&[1.0, 2.0]), 0.1).unwrap();
        assert!((late.net_present_value - 200.0).abs() < 1e-13);
    }

    #[test]
    fn payments_that_cancel_leave_their_difference() {
        let found = net_present_value(&[1e17, 1.0, -1e17], Some(&[0.0; 3]), 0.5).unwrap();
        assert_eq!(found.net_present_value, 1.0);
    }

    #[test]
    fn extreme_rates_and_times_are_limits_or_refused() {
        let value = |rate, time| net_present_value(&[1.0], Some(&[time]), rate);
        assert_eq!(value(1e300, 1e6).unwrap().net_present_value, 0.0);
        assert_eq!(value(-1.0 + f64::EPSILON, 1e6).unwrap_err().code(), "overflow");
        assert_eq!(value(0.0, 1e6).unwrap().net_present_value, 1.0);
        assert_eq!(net_present_value(&[0.0], Some(&[-1e6]), 1.0).unwrap().net_present_value, 0.0);
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        let refused = |cashflows: &[f64], times: Option<&[f64]>, rate| {
            let error = net_present_value(cashflows, times, rate).unwrap_err();
            (error.code(), error.argument().unwrap())
        };
        assert_eq!(refused(&[], None, 0.1), ("too_few", "cashflows"));
        assert_eq!(refused(&[f64::NAN], None, 0.1), ("domain", "cashflows"));
        assert_eq!(refused(&[1.0], Some(&[]), 0.1), ("shape", "times"));
        assert_eq!(refused(&[1.0], Some(&[f64::INFINITY]), 0.1), ("domain", "times"));
        assert_eq!(refused(&[1.0], Some(&[1e7]), 0.1), ("domain", "times"));
        assert_eq!(refused(&[1.0], None, -1.0), ("domain", "rate"));
        assert_eq!(refused(&[1.0], None, f64::NAN), ("domain", "rate"));
    }

    proptest! {
        #[test]
        fn the_value_of_an_annuity_is_its_closed_form(count in 1_usize..200, rate in 1e-4_f64..0.5) {
            let mut payments = vec![1.0; count + 1];
            payments[0] = 0.0;
            let found = net_present_value(&payments, None, rate).unwrap().net_present_value;
            let expected = -libm::expm1(-(count as f64) * libm::log1p(rate)) / rate;
            prop_assert!((found - expected).abs() <= 1e-12 * expected, "{found} {expected}");
        }
    }
}

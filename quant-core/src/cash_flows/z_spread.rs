//! The zero-volatility spread: the spread over zero rates at which payments have a price.

use super::roots::{DiscountedPayment, Payments};
use super::{MAX_TIME, nearest, require_payments};
use crate::arithmetic::without_negative_zero;
use crate::curves::Compounding;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// The spread over zero rates, with the sensitivities of the price to the spread.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ZSpread {
    /// Spread over every zero rate, an annual decimal; of several the one nearest to zero.
    pub z_spread: f64,
    /// All spreads at which the payments have the price, in increasing order. Only payments of both
    /// signs have more than one.
    pub all_spreads: Vec<f64>,
    /// Part of the price lost for a rise of the spread, per unit of the spread: in years.
    pub spread_duration: f64,
    /// Money lost for a rise of the spread by a hundredth of a percent.
    pub dv01: f64,
}

/// Returns the spread over zero rates at which payments have a price.
///
/// ```text
/// P = Σ Cₖ D(rₖ + z, tₖ)
/// D(y, t) = e^{−y t} continuously, (1 + y/m)^{−m t} m times a year, 1/(1 + y t) without compounding
/// ```
///
/// where Cₖ is paid at tₖ years, rₖ is the zero rate of that time and z the spread, both in the same
/// compounding. The price is the one that is paid, with accrued interest. The spread is exact to the
/// last bits: the search is that of [`internal_rates`](super::internal_rates), for spreads from −36.7
/// to 709, as far as every discount factor is defined.
///
/// # Errors
///
/// [`Error::Domain`] for a price that is not positive; [`Error::TooFew`] without payments;
/// [`Error::Shape`] for times or rates of another number; [`Error::Element`] for a payment that is not
/// finite, a time that is negative or above a million, or a rate beyond ±2;
/// [`Error::Conflict`] where no payment after time 0 is positive, or no spread gives the price.
///
/// # Examples
///
/// ```
/// use quant_core::{cash_flows::z_spread, curves::Compounding};
///
/// let price = 5.0 * libm::exp(-0.04) + 105.0 * libm::exp(-2.0 * 0.045);
/// let found = z_spread(price, &[5.0, 105.0], &[1.0, 2.0], &[0.03, 0.035], Compounding::Continuous)?;
/// assert!((found.z_spread - 0.01).abs() < 1e-15);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// O'Kane and Sen (2005), "Credit Spreads Explained", Journal of Credit Risk 1.
pub fn z_spread(
    price: f64,
    cashflows: &[f64],
    times: &[f64],
    base_rates: &[f64],
    compounding: Compounding,
) -> Result<ZSpread> {
    let payments = priced_payments(price, cashflows, times, base_rates, compounding)?;
    let spreads = payments.roots()?.into_iter();
    let all_spreads: Vec<f64> = spreads.map(|spread| without_negative_zero(spread.high)).collect();
    let none = Error::Conflict { argument: "price", problem: "is one that no spread gives" };
    let z_spread = nearest(&all_spreads, 0.0).ok_or(none)?;
    let fall = check::result("price", payments.fall(z_spread))?;
    Ok(ZSpread {
        z_spread,
        spread_duration: check::result("price", fall / price)?,
        dv01: check::result("price", 1e-4 * fall)?,
        all_spreads,
    })
}

/// Explains [`z_spread`].
///
/// # Errors
///
/// The errors of [`z_spread`].
pub fn explain_z_spread(
    price: f64,
    cashflows: &[f64],
    times: &[f64],
    base_rates: &[f64],
    compounding: Compounding,
) -> Result<Explanation> {
    let found = z_spread(price, cashflows, times, base_rates, compounding)?;
    let payments = priced_payments(price, cashflows, times, base_rates, compounding)?;
    let (residual, fall, _) = payments.value(found.z_spread.into());
    let rounding = found.z_spread.abs() + 1.0 / found.spread_duration.abs();
    let error = ErrorStatement::solved(
        "z_spread",
        (residual.high, fall),
        4.0 * f64::EPSILON * rounding,
        "the value at the spread less the price, over its derivative, and four roundings of the \
         spread and of the price",
    );
    let method = Method::new(
        "zero-volatility spread, by Newton's method in twice the precision",
        "O'Kane and Sen (2005), Credit Spreads Explained, Journal of Credit Risk 1",
    );
    Ok(Explanation::new(method, error)
        .with_conventions([format!("Zero rates and spread are {}.", compounding.words())])
        .with_conventions([
            "The price is the one that is paid, with accrued interest.",
            "Zero rates are those of the times of the payments: nothing is interpolated.",
            "Of several spreads the answer is the one nearest to zero.",
        ]))
}

/// Returns the payments and, at time 0, the price with the opposite sign.
fn priced_payments(
    price: f64,
    cashflows: &[f64],
    times: &[f64],
    base_rates: &[f64],
    compounding: Compounding,
) -> Result<Payments> {
    check::positive("price", price)?;
    require_payments(cashflows, Some(times))?;
    let requirement = "a number of years from 0 to 1,000,000";
    check::each("times", times, requirement, |time| (0.0..=MAX_TIME).contains(&time))?;
    check::length("base_rates", base_rates.len(), cashflows.len())?;
    check::each("base_rates", base_rates, check::ANNUAL_RATE, check::is_annual_rate)?;
    let payments = cashflows.iter().zip(times).zip(base_rates);
    let terms = payments.map(|((&amount, &time), &rate)| DiscountedPayment {
        amount,
        time: time.into(),
        rate,
    });
    let paid = DiscountedPayment::new(-price, 0.0.into());
    let payments = Payments::new(terms.chain([paid]).collect(), compounding);
    if payments.sign_changes() == 0 {
        let problem = "must have a positive payment after time 0, worth the price";
        return Err(Error::Conflict { argument: "cashflows", problem });
    }
    Ok(payments)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COMPOUNDINGS: [Compounding; 6] = [
        Compounding::Simple,
        Compounding::Annual,
        Compounding::Semiannual,
        Compounding::Quarterly,
        Compounding::Monthly,
        Compounding::Continuous,
    ];

    #[test]
    fn the_price_on_the_curve_has_no_spread() {
        for compounding in COMPOUNDINGS {
            let price = 100.0 / (1.0 + compounding.interest(0.0, 2.0).unwrap());
            let found = z_spread(price, &[100.0], &[2.0], &[0.0], compounding).unwrap();
            assert_eq!(found.z_spread.to_bits(), 0);
        }
    }

    #[test]
    fn negative_payments_may_have_two_spreads() {
        let found =
            z_spread(1_600.0, &[10_000.0, -10_000.0], &[1.0, 2.0], &[0.0; 2], Compounding::Annual);
        let found = found.unwrap();
        assert_eq!(found.all_spreads.len(), 2);
        assert!(
            (found.z_spread - 0.25).abs() < 1e-15 && (found.all_spreads[1] - 4.0).abs() < 1e-14
        );
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        let found = |price, cashflows: &[f64], times: &[f64], rates: &[f64]| {
            let error = z_spread(price, cashflows, times, rates, Compounding::Simple).unwrap_err();
            (error.code(), error.argument().unwrap())
        };
        assert_eq!(found(0.0, &[1.0], &[1.0], &[0.0]), ("domain", "price"));
        assert_eq!(found(1.0, &[], &[], &[]), ("too_few", "cashflows"));
        assert_eq!(found(1.0, &[1.0], &[], &[0.0]), ("shape", "times"));
        assert_eq!(found(1.0, &[1.0], &[-1.0], &[0.0]), ("domain", "times"));
        assert_eq!(found(1.0, &[1.0], &[1.0], &[]), ("shape", "base_rates"));
        assert_eq!(found(1.0, &[1.0], &[1.0], &[3.0]), ("domain", "base_rates"));
        assert_eq!(found(1.0, &[2.0], &[0.0], &[0.0]), ("conflict", "cashflows"));
        assert_eq!(found(1.0, &[-2.0], &[1.0], &[0.0]), ("conflict", "cashflows"));
        assert_eq!(found(1.0, &[1.0, -3.0], &[1.0, 2.0], &[0.0; 2]), ("conflict", "price"));
    }

    proptest! {
        #[test]
        fn the_spread_of_a_price_is_the_one_that_made_it(
            cashflows in proptest::collection::vec(0.1_f64..100.0, 1..20), spread in -0.2_f64..0.9, rate in -0.05..0.1, which in 0_usize..6,
        ) {
            let compounding = COMPOUNDINGS[which];
            let count = cashflows.len();
            let times: Vec<f64> = (1..=count).map(|k| 0.3 * k as f64).collect();
            let rates: Vec<f64> = (0..count).map(|k| rate + 0.002 * k as f64).collect();
            prop_assume!(compounding != Compounding::Simple || (spread + rate) * times[count - 1] > -0.9);
            let value = |spread: f64| -> f64 {
                let factor = |k: usize| 1.0 / (1.0 + compounding.interest(rates[k] + spread, times[k]).unwrap());
                (0..count).map(|k| cashflows[k] * factor(k)).sum()
            };
            let found = z_spread(value(spread), &cashflows, &times, &rates, compounding).unwrap();
            prop_assert_eq!(found.all_spreads.len(), 1);
            prop_assert!((found.z_spread - spread).abs() <= 1e-13 * (1.0 + 1.0 / found.spread_duration), "{found:?}");
            let slope = (value(spread - 1e-6) - value(spread + 1e-6)) / 2e-6;
            prop_assert!((1e4 * found.dv01 - slope).abs() <= 1e-6 * slope);
        }
    }
}

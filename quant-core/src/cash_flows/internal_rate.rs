//! Every internal rate of return of payments.

use chrono::NaiveDate;

use super::roots::{DiscountedPayment, Payments};
use super::{nearest, net_present_value, require_payments, times_of};
use crate::arithmetic::{double_double::DoubleDouble, exponential::exp, without_negative_zero};
use crate::curves::Compounding;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::time::{days_between, require_year};
use crate::{Error, Result, check};

/// The days of a year of dated payments.
const DAYS_A_YEAR: f64 = 365.0;

/// The rates at which payments are worth nothing.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct InternalRates {
    /// All rates above −1, in increasing order; at least one.
    pub rates: Vec<f64>,
    /// Number of times that the payments, in order of time and added up at each time, change their
    /// sign. There are at most so many rates (Descartes' rule), and one where there is one change.
    pub sign_changes: usize,
}

impl InternalRates {
    /// Returns the rate that is nearest to a guess; the lower one of two at the same distance.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a guess that is not finite or not above −1; [`Error::TooFew`] where `rates`
    /// was emptied.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::cash_flows::internal_rates;
    ///
    /// // The pump of Lorie and Savage: 1,600 for another 10,000 earlier pays 25 % and 400 %.
    /// let found = internal_rates(&[-1_600.0, 10_000.0, -10_000.0], None)?;
    /// assert_eq!(found.rates.len(), 2);
    /// assert!((found.nearest(0.1)? - 0.25).abs() < 1e-15);
    /// assert!((found.nearest(3.0)? - 4.0).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn nearest(&self, guess: f64) -> Result<f64> {
        let requirement = "a finite rate above -1";
        check::require(guess.is_finite() && guess > -1.0, "guess", guess, requirement)?;
        let none = Error::TooFew { argument: "rates", needed: 1, found: 0 };
        nearest(&self.rates, guess).ok_or(none)
    }
}

/// Returns every rate at which payments are worth nothing.
///
/// ```text
/// Σ Cₖ (1 + r)^{−tₖ} = 0
/// ```
///
/// where Cₖ is paid at the time tₖ, counted in periods, and r is the rate of one period. Without
/// `times` the payments are at 0, 1, 2 and so on.
///
/// The search covers all r from −1 + 2⁻⁵³ to the largest double. With x = ln(1 + r), positive and
/// negative payments are two sums, whose logarithms are convex functions of x. Their mean times bound
/// the slope of the difference over an interval, and with the slope the number of roots: intervals are
/// halved until each has one root or none. So no rate is missed and no guess is needed. A multiple
/// root is one rate: within 1e-7 or so, two rates cannot be told from one in doubles.
///
/// # Errors
///
/// [`Error::TooFew`] without payments; [`Error::Shape`] for times of another number;
/// [`Error::Element`] for a payment that is not finite or a time beyond a million periods;
/// [`Error::Conflict`] for payments without both signs, or that no rate makes worthless;
/// [`Error::NoConvergence`] where very many payments cancel over long intervals of rates.
///
/// # Examples
///
/// ```
/// use quant_core::cash_flows::internal_rates;
///
/// // 70,000 for five years of income: Microsoft's example of IRR.
/// let payments = [-70_000.0, 12_000.0, 15_000.0, 18_000.0, 21_000.0, 26_000.0];
/// let found = internal_rates(&payments, None)?;
/// assert_eq!(found.rates.len(), 1);
/// assert!((found.rates[0] - 0.087).abs() < 5e-4);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Lorie and Savage (1955), "Three Problems in Rationing Capital"; Laguerre (1883), "Sur la théorie
/// des équations numériques", on the number of roots of sums of exponentials.
pub fn internal_rates(cashflows: &[f64], times: Option<&[f64]>) -> Result<InternalRates> {
    require_payments(cashflows, times)?;
    let times = times_of(cashflows, times);
    let terms = cashflows
        .iter()
        .zip(times)
        .map(|(&amount, time)| DiscountedPayment::new(amount, time.into()));
    rates_of(terms.collect())
}

/// Returns every annual rate at which dated payments are worth nothing.
///
/// The rates are those of [`internal_rates`] with times in years of 365 days from the first date of the
/// list (ACT/365). Dates need no order.
///
/// # Errors
///
/// Those of [`internal_rates`], with [`Error::Shape`] for `dates`; [`Error::Date`] for a date outside
/// the years 1 to 9999.
///
/// # Examples
///
/// ```
/// use quant_core::{cash_flows::dated_internal_rates, time::NaiveDate};
///
/// // Microsoft's example of XIRR.
/// let payments = [-10_000.0, 2_750.0, 4_250.0, 3_250.0, 2_750.0];
/// let dates = ["2008-01-01", "2008-03-01", "2008-10-30", "2009-02-15", "2009-04-01"];
/// let dates = dates.map(|text| text.parse::<NaiveDate>().unwrap());
/// let found = dated_internal_rates(&payments, &dates)?;
/// assert!((found.rates[0] - 0.373_362_535).abs() < 1e-8);
/// # Ok::<(), quant_core::Error>(())
/// ```
pub fn dated_internal_rates(cashflows: &[f64], dates: &[NaiveDate]) -> Result<InternalRates> {
    require_payments(cashflows, None)?;
    check::length("dates", dates.len(), cashflows.len())?;
    for &date in dates {
        require_year("dates", date)?;
    }
    let year = DoubleDouble::from(DAYS_A_YEAR);
    let terms = cashflows.iter().zip(dates).map(|(&amount, &date)| {
        let days = days_between(dates[0], date) as f64;
        DiscountedPayment::new(amount, DoubleDouble::from(days) / year)
    });
    rates_of(terms.collect())
}

/// Explains [`internal_rates`].
///
/// # Errors
///
/// The errors of [`internal_rates`].
pub fn explain_internal_rates(cashflows: &[f64], times: Option<&[f64]>) -> Result<Explanation> {
    let found = internal_rates(cashflows, times)?;
    Ok(found.explained(cashflows, times).with_conventions([match times {
        None => "Payments are a period apart, the first at time 0; the rate is that of a period.",
        Some(_) => "Times count periods, and the rate is that of a period.",
    }]))
}

/// Explains [`dated_internal_rates`].
///
/// # Errors
///
/// The errors of [`dated_internal_rates`].
pub fn explain_dated_internal_rates(cashflows: &[f64], dates: &[NaiveDate]) -> Result<Explanation> {
    let found = dated_internal_rates(cashflows, dates)?;
    let time = |date: &NaiveDate| days_between(dates[0], *date) as f64 / DAYS_A_YEAR;
    let times: Vec<f64> = dates.iter().map(time).collect();
    Ok(found.explained(cashflows, Some(&times)).with_conventions([
        "Years are counted from the first date of the list by ACT/365, also in leap years.",
    ]))
}

impl InternalRates {
    /// Explains these rates of payments.
    fn explained(&self, cashflows: &[f64], times: Option<&[f64]>) -> Explanation {
        let method = Method::new(
            "every root, by bounds of the slope and Newton's method in twice the precision",
            "Lorie and Savage (1955), Three Problems in Rationing Capital; Laguerre (1883), Sur la \
             théorie des équations numériques",
        );
        let distances = self.rates.iter().map(|&rate| distance(cashflows, times, rate));
        let rounding = |rate: &f64| rate.abs().max(1.0 + rate).min(1.0 + rate.abs());
        let largest = self.rates.iter().map(rounding).fold(0.0, f64::max);
        let error = ErrorStatement::solved(
            "all_rates",
            (distances.fold(0.0, f64::max), 1.0),
            4.0 * f64::EPSILON * largest,
            "for the worst of all rates: the net present value over its derivative, at most 1e-7 of 1 \
             plus the rate, where two rates cannot be told from one; and four roundings",
        );
        Explanation::new(method, error).with_conventions([
            "Rates are compounded once a period, also over parts of a period.",
            "All rates above -1 are found; the answer is the one nearest to the guess.",
        ])
    }
}

/// Returns the residual of a rate over its derivative.
fn distance(cashflows: &[f64], times: Option<&[f64]>, rate: f64) -> f64 {
    let Ok(found) = net_present_value(cashflows, times, rate) else { return 0.0 };
    let (value, slope) = (found.net_present_value, found.rate_sensitivity);
    if value == 0.0 { 0.0 } else { (value / slope).abs().min(1e-7 * (1.0 + rate)) }
}

fn rates_of(terms: Vec<DiscountedPayment>) -> Result<InternalRates> {
    let none = |problem| Err(Error::Conflict { argument: "cashflows", problem });
    let payments = Payments::new(terms, Compounding::Continuous);
    let sign_changes = payments.sign_changes();
    if sign_changes == 0 {
        return none("must have a positive and a negative payment, at different times");
    }
    let rates: Vec<f64> = payments.roots()?.into_iter().map(rate_of_logarithm).collect();
    if rates.is_empty() {
        return none("have no internal rate of return: no rate above -1 makes them worth nothing");
    }
    Ok(InternalRates { rates, sign_changes })
}

/// Returns `e^x − 1`.
fn rate_of_logarithm(x: DoubleDouble) -> f64 {
    let rate = exp(x).to_double_double() - DoubleDouble::ONE;
    // The search ends at the logarithm of the largest double, whose rounding may exceed that.
    without_negative_zero(rate.high.min(f64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cash_flows::net_present_value;

    fn rates(cashflows: &[f64]) -> Vec<f64> {
        internal_rates(cashflows, None).unwrap().rates
    }

    #[track_caller]
    fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            let error = (found - expected).abs();
            assert!(error <= tolerance * (1.0 + expected.abs()), "{found} {expected}");
        }
    }

    /// The coefficients of Π (1 − v (1 + r)), with v the discount factor, whose rates are known.
    fn with_rates(rates: &[f64]) -> Vec<f64> {
        let mut payments = vec![1.0];
        for rate in rates {
            payments.push(0.0);
            for k in (1..payments.len()).rev() {
                payments[k] -= payments[k - 1] * (1.0 + rate);
            }
        }
        payments
    }

    #[test]
    fn every_rate_of_a_product_is_found() {
        for expected in [
            vec![0.1],
            vec![-0.5, 0.25],
            vec![-0.9, 0.0, 3.0],
            vec![-0.25, 0.0, 0.5, 1.0, 3.0],
            vec![-0.999, -0.5, 0.0, 9.0, 99.0],
            vec![0.0, 1e6],
        ] {
            assert_near(&rates(&with_rates(&expected)), &expected, 1e-12);
        }
    }

    #[test]
    fn rates_near_minus_one_and_huge_ones_are_found() {
        assert_near(&rates(&[-1e9, 1.0]), &[-1.0 + 1e-9], 1e-16);
        assert_near(&rates(&[-1.0, 1e9]), &[1e9 - 1.0], 1e-15);
        assert_near(&rates(&[-1e-150, 1e150]), &[1e300], 1e-13);
        assert_eq!(internal_rates(&[-1e17, 1.0], None).unwrap_err().code(), "conflict");
        assert_eq!(rates(&[-100.0, 100.0]), [0.0]);
        assert_eq!(rates(&[-1000.0, 500.0, 500.0]), [0.0]);
    }

    #[test]
    fn a_multiple_rate_is_one_rate() {
        assert_near(&rates(&[-1.0, 2.0, -1.0]), &[0.0], 1e-9);
        assert_near(&rates(&[-1.0, 2.2, -1.21]), &[0.1], 1e-8);
        assert_near(&rates(&[-1.0, 3.0, -3.0, 1.0]), &[0.0], 1e-5);
        let tenth = with_rates(&[0.0; 10]);
        assert_near(&rates(&tenth), &[0.0], 0.05);
    }

    #[test]
    fn rates_side_by_side_are_told_apart() {
        let expected = [0.1, 0.100_1];
        assert_near(&rates(&with_rates(&expected)), &expected, 1e-10);
    }

    #[test]
    fn times_need_no_order_and_payments_of_one_time_are_added() {
        let found = internal_rates(&[60.0, -100.0, 50.0], Some(&[1.0, 0.0, 1.0])).unwrap();
        assert_eq!((found.rates.len(), found.sign_changes), (1, 1));
        assert!((found.rates[0] - 0.1).abs() < 1e-16);
        // Half a year at 21 % is 10 %.
        let found = internal_rates(&[-100.0, 110.0], Some(&[-0.25, 0.25])).unwrap();
        assert!((found.rates[0] - 0.21).abs() < 1e-15);
    }

    #[test]
    fn payments_without_a_rate_are_refused() {
        let refused = |cashflows: &[f64], times| internal_rates(cashflows, times).unwrap_err();
        for cashflows in
            [&[1.0, 2.0][..], &[0.0, 0.0], &[-1.0], &[1.0, -2.0, 2.0], &[1.0, -1.0, 1.0]]
        {
            let error = refused(cashflows, None);
            assert_eq!((error.code(), error.argument()), ("conflict", Some("cashflows")));
        }
        assert_eq!(refused(&[-1.0, 1.0], Some(&[1.0, 1.0])).code(), "conflict");
        assert_eq!(refused(&[-1.0, 1.0], Some(&[0.0])).argument(), Some("times"));
        assert_eq!(refused(&[], None).code(), "too_few");
        let found = internal_rates(&[-1.0, 2.0], None).unwrap();
        for guess in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(found.nearest(guess).unwrap_err().argument(), Some("guess"));
        }
    }

    #[test]
    fn times_that_hardly_differ_end() {
        let found = internal_rates(&[-1.0, 1.0], Some(&[1.0, 1.0 + f64::EPSILON]));
        assert!(found.is_err() || found.is_ok_and(|found| found.rates.len() == 1));
    }

    #[test]
    fn dates_are_refused_by_name() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let error = dated_internal_rates(&[-1.0, 1.0], &[day("2024-01-01")]).unwrap_err();
        assert_eq!((error.code(), error.argument()), ("shape", Some("dates")));
        let dates = [day("2024-01-01"), NaiveDate::MAX];
        assert_eq!(dated_internal_rates(&[-1.0, 1.0], &dates).unwrap_err().code(), "date");
        let dates = [day("2024-01-01"), day("2024-12-31")];
        assert_eq!(dated_internal_rates(&[-100.0, 110.0], &dates).unwrap().sign_changes, 1);
    }

    proptest! {
        #[test]
        fn the_payments_are_worth_nothing_at_each_rate_and_no_change_of_sign_is_missed(
            cashflows in proptest::collection::vec(-10.0_f64..10.0, 2..12),
        ) {
            let Ok(found) = internal_rates(&cashflows, None) else { return Ok(()) };
            prop_assert!(found.rates.len() <= found.sign_changes);
            let worth = |rate: f64| net_present_value(&cashflows, None, rate);
            for &rate in &found.rates {
                let Ok(value) = worth(rate) else { continue };
                let size: f64 = value.present_values.iter().map(|value| value.abs()).sum();
                let slip = value.rate_sensitivity.abs() * (1.0 + rate.abs()) * f64::EPSILON;
                prop_assert!(value.net_present_value.abs() <= 1e-13 * size + 4.0 * slip, "{rate}");
            }
            // Between two grid points with values of two signs there is a rate.
            let grid: Vec<f64> = (1..400).map(|k| -0.995 + f64::from(k) * 0.0125).collect();
            for pair in grid.windows(2) {
                let signs = [pair[0], pair[1]].map(|rate| worth(rate).unwrap().net_present_value > 0.0);
                let inside = found.rates.iter().filter(|rate| (pair[0]..=pair[1]).contains(rate)).count();
                prop_assert!(signs[0] == signs[1] || inside % 2 == 1, "{pair:?} {:?}", found.rates);
            }
        }

        #[test]
        fn nothing_makes_it_panic(
            cashflows in proptest::collection::vec(any::<f64>(), 0..8), times in proptest::collection::vec(any::<f64>(), 0..8), small in -50.0..50.0,
        ) {
            let _ = internal_rates(&cashflows, Some(&times));
            if let Ok(found) = internal_rates(&cashflows, None) {
                prop_assert!(found.rates.iter().all(|rate| rate.is_finite() && *rate > -1.0));
            }
            let times: Vec<f64> = (0..cashflows.len()).map(|k| small * k as f64).collect();
            let _ = internal_rates(&cashflows, Some(&times));
        }
    }
}

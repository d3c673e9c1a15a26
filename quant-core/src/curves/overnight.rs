//! The quotes of overnight indexed swaps as instruments of a curve.

use super::instrument::{Instrument, InstrumentKind};
use super::market::Market;
use super::times::tenor_of;
use crate::time::{Frequency, Tenor};
use crate::{Error, Result, check};

/// The usual maturities of overnight indexed swaps, for rates without tenors: the first rate is that
/// of a month, and so on.
pub const STANDARD_OIS_TENORS: [&str; 12] =
    ["1M", "3M", "6M", "1Y", "2Y", "3Y", "5Y", "7Y", "10Y", "15Y", "20Y", "30Y"];

/// Returns the overnight indexed swaps of the given rates.
///
/// `tenors` are years, each read as the nearest number of whole months and days, where a month is a
/// twelfth of a year and a day a 365th. Without tenors the rates are those of the first
/// [`STANDARD_OIS_TENORS`]. With a market the swaps have its conventions; without one they start on the
/// reference date, no date is moved, and the tenor counts the interest, paid once a year.
///
/// # Errors
///
/// [`Error::TooFew`] without rates, [`Error::Shape`] where there are not as many tenors,
/// [`Error::Conflict`] for more rates than standard tenors, [`Error::Element`] for a tenor that is not
/// positive or beyond 10,000 years.
///
/// # Examples
///
/// ```
/// use quant_core::curves::{Curve, Interpolation, overnight_quotes};
/// use quant_core::time::NaiveDate;
///
/// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
/// let quotes = overnight_quotes(Some(&[0.5, 1.0, 2.0]), &[0.041, 0.04, 0.038], None)?;
/// let curve = Curve::bootstrap(today, &quotes, Interpolation::LogLinear)?;
/// assert!((curve.at(1.0)?.discount_factor - 1.0 / 1.04).abs() < 1e-15);
/// # Ok::<(), quant_core::Error>(())
/// ```
pub fn overnight_quotes(
    tenors: Option<&[f64]>,
    rates: &[f64],
    market: Option<Market>,
) -> Result<Vec<Instrument>> {
    if rates.is_empty() {
        return Err(Error::TooFew { argument: "ois_rates", needed: 1, found: 0 });
    }
    let tenors = match tenors {
        Some(tenors) => {
            check::length("tenors", tenors.len(), rates.len())?;
            given(tenors)?
        }
        None => standard(rates.len())?,
    };
    let kind = InstrumentKind::OvernightIndexedSwap;
    let quote = |(tenor, &rate)| Instrument {
        kind,
        tenor,
        rate,
        frequency: market.map_or(Frequency::Annual, |market| market.frequency(kind)),
        conventions: market.map(|market| market.conventions(kind)),
    };
    Ok(tenors.into_iter().zip(rates).map(quote).collect())
}

fn given(tenors: &[f64]) -> Result<Vec<Tenor>> {
    let tenor = |(index, &value): (usize, &f64)| {
        let requirement = "a number of years that is a day or more and below 10,000";
        let refused = Error::Element { argument: "tenors", index, value, requirement };
        tenor_of(value).ok_or(refused)
    };
    tenors.iter().enumerate().map(tenor).collect()
}

fn standard(count: usize) -> Result<Vec<Tenor>> {
    if count > STANDARD_OIS_TENORS.len() {
        let problem = "is needed for more than 12 rates";
        return Err(Error::Conflict { argument: "tenors", problem });
    }
    STANDARD_OIS_TENORS[..count].iter().map(|tenor| tenor.parse()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::curves::{Curve, Interpolation};
    use crate::time::NaiveDate;

    #[test]
    fn years_are_read_as_months_and_days() {
        let tenors = [1.0 / 365.0, 0.0192, 0.083, 0.25, 0.3, 1.0, 1.5, 30.0];
        let quotes = overnight_quotes(Some(&tenors), &[0.03; 8], Some(Market::Dollar)).unwrap();
        let read: Vec<String> = quotes.iter().map(|quote| quote.tenor.to_string()).collect();
        assert_eq!(read, ["1D", "7D", "1M", "3M", "3M18D", "12M", "18M", "360M"]);
        assert_eq!(quotes[0].conventions, Some(Market::Dollar.conventions(quotes[0].kind)));
    }

    #[test]
    fn rates_that_have_no_tenors_are_refused() {
        let refused = |tenors: Option<&[f64]>, count: usize| {
            overnight_quotes(tenors, &vec![0.03; count], None).unwrap_err()
        };
        assert_eq!(refused(None, 0).argument(), Some("ois_rates"));
        assert_eq!(refused(None, 13).argument(), Some("tenors"));
        assert_eq!(refused(Some(&[1.0]), 2).code(), "shape");
        for tenor in [0.0, -1.0, 1e-4, f64::NAN, f64::INFINITY, 1e5] {
            assert_eq!(refused(Some(&[tenor]), 1).index(), Some(0), "{tenor}");
        }
        assert_eq!(overnight_quotes(None, &[0.03; 12], None).unwrap().len(), 12);
    }

    proptest! {
        #[test]
        fn flat_rates_make_a_flat_curve_of_annual_compounding(rate in -0.02..0.1_f64, whole in 1_u32..40) {
            let today = NaiveDate::from_ymd_opt(2024, 2, 29).unwrap();
            let quotes = overnight_quotes(Some(&[1.0, 1.0 + f64::from(whole)]), &[rate; 2], None).unwrap();
            let curve = Curve::bootstrap(today, &quotes, Interpolation::LogLinear).unwrap();
            prop_assert!((curve.pillars()[1].zero_rate - libm::log1p(rate)).abs() <= 1e-15);
        }
    }
}

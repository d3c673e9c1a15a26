//! Value at risk and expected shortfall of a series of returns, without a model.

use super::binomial::BinomialDistribution;
use super::moments::checked;
use super::tail::{FRACTION, LOSSES, TailRisk, tail};
use crate::arithmetic::decimal::complement_times;
use crate::explanation::{ErrorKind, ErrorStatement, Explanation, Method};
use crate::portfolio::symmetric::sum;
use crate::{Result, check};

/// The risk that a series of returns shows, as fractions of the position.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct HistoricalRisk {
    /// Value at risk, the interpolated quantile, and expected shortfall, the mean of the returns at or
    /// below minus the value at risk.
    pub risk: TailRisk,
    /// Expected shortfall of Acerbi and Tasche: the mean of the worst `n·(1 − confidence)` returns, a
    /// fraction of the last one among them. A coherent measure.
    pub coherent_expected_shortfall: f64,
    /// Number of returns that are at most minus the value at risk.
    pub tail_count: usize,
    /// Interval of 95 % confidence for the value at risk, from order statistics.
    pub interval: QuantileInterval,
    /// Standard error of the expected shortfall; zero where the tail has one return or equal ones.
    pub expected_shortfall_error: f64,
}

impl HistoricalRisk {
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
    /// let found = historical(&[-0.02, -0.015, 0.005, 0.01, 0.015, 0.02], 0.95)?;
    /// assert_eq!(found.of_value(1e6)?.coherent_expected_shortfall, 20_000.0);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn of_value(self, portfolio_value: f64) -> Result<Self> {
        check::not_negative("portfolio_value", portfolio_value)?;
        self.times("portfolio_value", portfolio_value)
    }

    /// Returns the figures over so many periods, by the root of their number.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for a horizon that is not a positive finite number;
    /// [`Error::Overflow`](crate::Error::Overflow) where a figure exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::risk::historical;
    ///
    /// let day = historical(&[-0.02, -0.015, 0.005, 0.01, 0.015, 0.02], 0.95)?;
    /// assert_eq!(day.over_horizon(4.0)?.risk.value_at_risk, 0.0375);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn over_horizon(self, horizon: f64) -> Result<Self> {
        check::positive("horizon", horizon)?;
        self.times("horizon", horizon.sqrt())
    }

    /// States the sampling error of the value at risk; `None` where its interval has an open end.
    pub(super) fn sampling_error(&self) -> Option<ErrorStatement> {
        let (lower, upper) = self.interval.lower.zip(self.interval.upper)?;
        let found = self.risk.value_at_risk;
        Some(ErrorStatement::estimated(
            ErrorKind::Sampling,
            FRACTION,
            (upper - found).max(found - lower).max(0.0),
            "larger distance to an end of the interval of 95 % confidence from order statistics",
        ))
    }

    fn times(self, argument: &'static str, factor: f64) -> Result<Self> {
        let figure = |value: f64| check::result(argument, value * factor);
        let end = |value: Option<f64>| value.map(figure).transpose();
        let (risk, interval) = (self.risk, self.interval);
        Ok(Self {
            risk: TailRisk {
                value_at_risk: figure(risk.value_at_risk)?,
                expected_shortfall: figure(risk.expected_shortfall)?,
            },
            coherent_expected_shortfall: figure(self.coherent_expected_shortfall)?,
            tail_count: self.tail_count,
            interval: QuantileInterval {
                lower: end(interval.lower)?,
                upper: end(interval.upper)?,
                coverage: interval.coverage,
            },
            expected_shortfall_error: figure(self.expected_shortfall_error)?,
        })
    }
}

/// A confidence interval of a quantile between two of the observed losses.
///
/// The number of losses beyond the true quantile is binomial, whatever the distribution of the returns.
/// Each end is missed with at most 2.5 %.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct QuantileInterval {
    /// Lower end; `None` where there are too few returns for one.
    pub lower: Option<f64>,
    /// Upper end; `None` where there are too few returns for one, as below 72 at 95 %.
    pub upper: Option<f64>,
    /// Probability that the interval, open where an end is absent, holds the true value.
    pub coverage: f64,
}

/// Returns the risk that a series of returns shows.
///
/// ```text
/// VaR = −((1 − f)·x₍ₖ₎ + f·x₍ₖ₊₁₎),   k + f = (n − 1)·α,   k an integer,  0 ≤ f < 1
/// ES  = −mean{xᵢ : xᵢ ≤ −VaR}
/// ```
///
/// where x₍₀₎ ≤ x₍₁₎ ≤ … are the returns in order and α is 1 − confidence. The quantile is type 7 of Hyndman
/// and Fan, the default of numpy and R. A loss is minus a return: with gains alone the value at risk is
/// negative. k and f are those of the decimals as written.
///
/// # Errors
///
/// [`Error::TooFew`](crate::Error::TooFew) for an empty series;
/// [`Error::Element`](crate::Error::Element) for a return that is not finite;
/// [`Error::Domain`](crate::Error::Domain) for a confidence that is not above 0.5 and below 1;
/// [`Error::Overflow`](crate::Error::Overflow) where a figure exceeds the largest double.
///
/// # Examples
///
/// ```
/// use quant_core::risk::historical;
///
/// let found = historical(&[0.01, -0.02, 0.015, -0.015, 0.005, 0.02], 0.95)?;
/// assert_eq!((found.risk.value_at_risk, found.risk.expected_shortfall), (0.01875, 0.02));
/// assert_eq!(found.tail_count, 1);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Hyndman and Fan (1996), "Sample Quantiles in Statistical Packages"; Acerbi and Tasche (2002), "On the
/// Coherence of Expected Shortfall"; Chen (2008), "Nonparametric Estimation of Expected Shortfall".
pub fn historical(returns: &[f64], confidence: f64) -> Result<HistoricalRisk> {
    checked("returns", returns)?;
    let ranks = Ranks::of(returns.len(), confidence)?;
    let mut losses: Vec<f64> = returns.iter().map(|value| 0.0 - value).collect();
    ranks.worst_first(&mut losses);
    ranks.risk_of(&losses)
}

/// Explains [`historical`] over a horizon, as [`HistoricalRisk::over_horizon`] states it.
///
/// # Errors
///
/// The errors of [`historical`] and of [`HistoricalRisk::over_horizon`].
pub fn explain_historical(returns: &[f64], confidence: f64, horizon: f64) -> Result<Explanation> {
    let found = historical(returns, confidence)?.over_horizon(horizon)?;
    let largest = returns.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let error = found.sampling_error().unwrap_or_else(|| {
        ErrorStatement::rounding_within(
            FRACTION,
            HISTORICAL_ERROR * largest * horizon.sqrt(),
            "rounding given the sample, which is too small for an interval of 95 % confidence; of \
             the largest return, against exact fractions",
        )
    });
    let method = Method::new(
        "Historical simulation, the interpolated quantile of type 7",
        "Hyndman and Fan (1996), Sample Quantiles in Statistical Packages",
    );
    let scaled = "The figures of one period are multiplied by the root of the horizon.";
    Ok(Explanation::new(method, error)
        .with_conventions(LOSSES)
        .with_conventions([
            "Returns have equal weights, whatever their age; the quantile is that of numpy and R.",
            "The expected shortfall is the mean of the returns at or below minus the value at risk.",
        ])
        .with_conventions((horizon != 1.0).then_some(scaled)))
}

/// The error of a figure given the sample, in units of the largest return.
const HISTORICAL_ERROR: f64 = 1e-15;

/// The ranks of the losses that the risk is made of, for a number of returns and a confidence.
#[derive(Clone, Copy)]
pub(super) struct Ranks {
    count: usize,
    tail: f64,
    /// `(n − 1)·α` and `n·α`, whole and fraction.
    quantile: (usize, f64),
    mean: (usize, f64),
    /// The ranks of the ends of the interval, from 1 for the largest loss on; 0 and `count + 1` where
    /// an end is absent.
    upper: usize,
    lower: usize,
    coverage: f64,
}

/// The probability that an end of the interval is missed.
const MISSED: f64 = 0.025;

impl Ranks {
    /// Returns the ranks for so many returns, at least one.
    pub(super) fn of(count: usize, confidence: f64) -> Result<Self> {
        let tail = tail(confidence)?;
        let beyond = BinomialDistribution::new(count, tail);
        let (upper, lower) = (beyond.lower_rank(MISSED), beyond.upper_rank(MISSED).min(count + 1));
        let missed_above = upper.checked_sub(1).map_or(0.0, |rank| beyond.at_most(rank));
        let missed_below = if lower <= count { beyond.at_least(lower) } else { 0.0 };
        Ok(Self {
            count,
            tail,
            quantile: complement_times(confidence, count - 1),
            mean: complement_times(confidence, count),
            upper,
            lower,
            coverage: 1.0 - missed_above - missed_below,
        })
    }

    /// Returns how many of the largest losses the risk depends on.
    pub(super) fn needed(self) -> usize {
        let end = self.lower.max(self.quantile.0 + 2).max(self.mean.0 + 1);
        end.min(self.count)
    }

    /// Sorts the losses that are needed, the largest first, to the front.
    pub(super) fn worst_first(self, losses: &mut [f64]) {
        let needed = self.needed();
        if needed < losses.len() {
            losses.select_nth_unstable_by(needed, |a, b| b.total_cmp(a));
        }
        losses[..needed].sort_unstable_by(|a, b| b.total_cmp(a));
    }

    /// Returns the risk of losses whose needed ones are sorted to the front.
    pub(super) fn risk_of(self, losses: &[f64]) -> Result<HistoricalRisk> {
        let (at, part) = self.quantile;
        let next = losses[(at + 1).min(self.count - 1)];
        // In this form no rounding lifts the quantile above the loss before.
        let value_at_risk =
            if part == 0.0 { losses[at] } else { losses[at] + part * (next - losses[at]) };
        // Equal returns beyond the sorted ones are in the tail as well.
        let beyond: Vec<f64> =
            losses.iter().copied().filter(|&loss| loss >= value_at_risk).collect();
        let tail = if beyond.is_empty() { &losses[..1] } else { &beyond[..] };
        let shortfall = mean(tail.iter().copied(), tail.len() as f64);
        let (whole, rest) = self.mean;
        let worst = losses[..whole].iter().copied();
        let last = losses[whole.min(self.count - 1)];
        let coherent = mean(worst.chain([rest * last]), whole as f64 + rest);
        let excess = shortfall - value_at_risk;
        let spread = mean(
            tail.iter().map(|loss| (loss - shortfall) * (loss - shortfall)),
            tail.len() as f64,
        );
        let variance = spread + (1.0 - self.tail) * excess * excess;
        let error =
            if spread > 0.0 { (variance / (self.count as f64 * self.tail)).sqrt() } else { 0.0 };
        let figure = |value: f64| check::result("returns", value);
        Ok(HistoricalRisk {
            risk: TailRisk {
                value_at_risk: figure(value_at_risk)?,
                expected_shortfall: figure(shortfall)?,
            },
            coherent_expected_shortfall: figure(coherent)?,
            tail_count: tail.len(),
            interval: QuantileInterval {
                lower: (self.lower <= self.count).then(|| losses[self.lower - 1]),
                upper: self.upper.checked_sub(1).map(|rank| losses[rank]),
                coverage: self.coverage,
            },
            expected_shortfall_error: figure(error)?,
        })
    }
}

/// Returns the sum of the values by their count.
fn mean(values: impl Iterator<Item = f64>, count: f64) -> f64 {
    sum(values) / count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hundred_losses_have_the_quantiles_of_numpy() {
        let returns: Vec<f64> = (1..=100).map(|value| -f64::from(value)).collect();
        // numpy.quantile(range(1, 101), 0.95) is 95.05, and the five largest have the mean 98.
        let found = historical(&returns, 0.95).unwrap();
        assert!((found.risk.value_at_risk - 95.05).abs() < 1e-13);
        assert_eq!((found.risk.expected_shortfall, found.tail_count), (98.0, 5));
        assert_eq!(found.coherent_expected_shortfall, 98.0);
        // P(N ≤ 0) = 0.0059, P(N ≤ 1) = 0.037: rank 1; P(N ≥ 11) = 0.0115, P(N ≥ 10) = 0.0282: rank 11.
        let interval = found.interval;
        assert_eq!((interval.lower, interval.upper), (Some(90.0), Some(100.0)));
        assert!((interval.coverage - (1.0 - 0.005_92 - 0.011_47)).abs() < 1e-4, "{interval:?}");
    }

    #[test]
    fn few_returns_have_an_open_interval() {
        let found = historical(&[-0.01], 0.99).unwrap();
        assert_eq!(found.risk.value_at_risk, 0.01);
        assert_eq!((found.risk.expected_shortfall, found.tail_count), (0.01, 1));
        assert_eq!((found.interval.lower, found.interval.upper), (Some(0.01), None));
        let seventy_one: Vec<f64> = (0..71).map(f64::from).collect();
        assert_eq!(historical(&seventy_one, 0.95).unwrap().interval.upper, None);
        let seventy_two: Vec<f64> = (0..72).map(f64::from).collect();
        assert!(historical(&seventy_two, 0.95).unwrap().interval.upper.is_some());
    }

    #[test]
    fn gains_alone_are_a_negative_loss_and_equal_returns_are_all_in_the_tail() {
        let found = historical(&[0.01; 10], 0.95).unwrap();
        assert_eq!((found.risk.value_at_risk, found.tail_count), (-0.01, 10));
        assert_eq!(found.risk.expected_shortfall, -0.01);
        assert_eq!(historical(&[0.0, -0.0], 0.9).unwrap().risk.value_at_risk.to_bits(), 0);
    }

    #[test]
    fn refusals_name_the_argument() {
        assert_eq!(historical(&[], 0.95).unwrap_err().code(), "too_few");
        assert_eq!(historical(&[0.1, f64::NAN], 0.95).unwrap_err().index(), Some(1));
        assert_eq!(historical(&[0.1], 95.0).unwrap_err().argument(), Some("confidence"));
    }

    proptest! {
        #[test]
        fn order_does_not_matter_and_the_shortfall_is_no_less(
            mut returns in prop::collection::vec(-0.1..0.1_f64, 1..200), confidence in 0.51..0.999_f64,
        ) {
            let found = historical(&returns, confidence).unwrap();
            returns.sort_by(f64::total_cmp);
            prop_assert_eq!(historical(&returns, confidence).unwrap(), found);
            prop_assert!(found.risk.expected_shortfall >= found.risk.value_at_risk - 1e-15);
            prop_assert!(found.coherent_expected_shortfall >= found.risk.value_at_risk - 1e-15);
            let upper = found.interval.upper.unwrap_or(f64::MAX);
            let lower = found.interval.lower.unwrap_or(f64::MIN);
            prop_assert!(lower <= upper && found.interval.coverage >= 0.95 - 1e-12);
        }
    }
}

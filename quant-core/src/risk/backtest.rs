//! Tests of value-at-risk estimates against the returns that followed.
//!
//! A return is an exception where its loss exceeds the estimate of its period. A good estimate has
//! exceptions as often as its confidence says, and independent of one another.

use super::binomial::BinomialDistribution;
use super::moments::checked;
use super::tail::tail;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::named::named;
use crate::{Error, Result, check};

/// The zone of the Basel Committee's traffic light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// The exceptions give no reason for doubt.
    Green,
    /// The exceptions are more than an exact model has in 95 % of all series.
    Yellow,
    /// The exceptions are more than an exact model has in 99.99 % of all series.
    Red,
}

named!(Zone, "zone", Green = "green", Yellow = "yellow", Red = "red");

/// The statistic of a likelihood-ratio test, and the probability of one as large for an exact model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct LikelihoodRatio {
    /// Twice the logarithm of the ratio of likelihoods; zero or positive.
    pub statistic: f64,
    /// Probability of a statistic as large under the hypothesis, by the χ² distribution.
    pub p_value: f64,
}

/// The tests of a series of value-at-risk estimates.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Backtest {
    /// Number of returns.
    pub observations: usize,
    /// Positions, from zero, of the returns whose loss exceeds the estimate.
    pub exceptions: Vec<usize>,
    /// Number of exceptions that an exact model has on average.
    pub expected_exceptions: f64,
    /// Mean of loss less estimate over the exceptions; zero where there is none.
    pub mean_excess: f64,
    /// Largest loss less estimate of an exception; zero where there is none.
    pub largest_excess: f64,
    /// Numbers of pairs of neighbouring returns: `transitions[i][j]` where the first is an exception (1)
    /// or not (0), and so the second.
    pub transitions: [[usize; 2]; 2],
    /// Kupiec's test that exceptions are as frequent as the confidence says; one degree of freedom.
    pub kupiec: LikelihoodRatio,
    /// Christoffersen's test that exceptions do not follow each other; one degree of freedom.
    pub independence: LikelihoodRatio,
    /// Christoffersen's test of both; two degrees of freedom.
    pub conditional_coverage: LikelihoodRatio,
    /// Probability that an exact model has at most as many exceptions.
    pub probability_of_at_most: f64,
    /// Probability that an exact model has at least as many exceptions.
    pub probability_of_at_least: f64,
    /// Zone of the traffic light.
    pub zone: Zone,
    /// Increase of the Basel multiplier (1996, from 3); `None` for other than 250 returns at 99 %.
    pub plus_factor: Option<f64>,
}

/// Tests value-at-risk estimates against the returns that followed.
///
/// ```text
/// exceptionₜ: rₜ < −VaRₜ        p = 1 − confidence,  N returns, x exceptions
/// LR_pof = 2 ln[(x/N)ˣ (1 − x/N)^{N−x} / (pˣ (1 − p)^{N−x})]
/// LR_ind = 2 ln[Πᵢ πᵢ^{nᵢ₁} (1 − πᵢ)^{nᵢ₀} / (π^{n₀₁+n₁₁} (1 − π)^{n₀₀+n₁₀})]
/// LR_cc  = LR_pof + LR_ind
/// ```
///
/// where nᵢⱼ are the transitions, πᵢ = nᵢ₁/(nᵢ₀ + nᵢ₁) and π is the same of all pairs; `0⁰` is 1. Values at risk
/// are losses: 0.02 for a return of −2 %. The traffic light is yellow from the count of exceptions on whose
/// `P(X ≤ x)` is 95 % or more, and red from 99.99 %.
///
/// # Errors
///
/// [`Error::TooFew`] without returns; [`Error::Shape`] where there are not as many estimates;
/// [`Error::Element`] for a number that is not finite; [`Error::Conflict`] where all estimates are below
/// zero, as are returns in place of losses; [`Error::Domain`] for a confidence that is not above 0.5
/// and below 1; [`Error::Overflow`] where an excess exceeds the largest double.
///
/// # Examples
///
/// ```
/// use quant_core::risk::{Zone, backtest};
///
/// // Five exceptions in 250 days at 99 %: the first count of the yellow zone.
/// let mut returns = vec![0.001; 250];
/// returns.iter_mut().step_by(50).for_each(|value| *value = -0.03);
/// let found = backtest(&returns, &[0.02; 250], 0.99)?;
/// assert_eq!((found.exceptions.len(), found.zone), (5, Zone::Yellow));
/// assert_eq!(found.plus_factor, Some(0.4));
/// assert!((found.kupiec.statistic - 1.9568).abs() < 5e-5);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Kupiec (1995), "Techniques for Verifying the Accuracy of Risk Measurement Models"; Christoffersen (1998),
/// "Evaluating Interval Forecasts"; Basel Committee (1996), *Supervisory Framework for the Use of
/// "Backtesting" in Conjunction with the Internal Models Approach to Market Risk Capital Requirements*.
pub fn backtest(
    actual_returns: &[f64],
    var_estimates: &[f64],
    confidence: f64,
) -> Result<Backtest> {
    checked("actual_returns", actual_returns)?;
    check::length("var_estimates", var_estimates.len(), actual_returns.len())?;
    checked("var_estimates", var_estimates)?;
    if var_estimates.iter().all(|&estimate| estimate < 0.0) {
        let problem = "are all below zero: a value at risk is a loss, 0.02 for a return of -0.02";
        return Err(Error::Conflict { argument: "var_estimates", problem });
    }
    let tail = tail(confidence)?;
    let is_exception: Vec<bool> = actual_returns
        .iter()
        .zip(var_estimates)
        .map(|(&value, &estimate)| value < -estimate)
        .collect();
    let observations = is_exception.len();
    let exceptions: Vec<usize> = (0..observations).filter(|&at| is_exception[at]).collect();
    let (mean_excess, largest_excess) = excess(actual_returns, var_estimates, &exceptions)?;
    let transitions = transitions(&is_exception);
    let kupiec = kupiec(observations, exceptions.len(), tail);
    let independence = independence(transitions);
    let distribution = BinomialDistribution::new(observations, tail);
    let probability_of_at_most = distribution.at_most(exceptions.len());
    Ok(Backtest {
        observations,
        expected_exceptions: observations as f64 * tail,
        mean_excess,
        largest_excess,
        transitions,
        kupiec: LikelihoodRatio::of_one_degree(kupiec),
        independence: LikelihoodRatio::of_one_degree(independence),
        conditional_coverage: LikelihoodRatio::of_two_degrees(kupiec + independence),
        probability_of_at_most,
        probability_of_at_least: distribution.at_least(exceptions.len()),
        zone: Zone::of(probability_of_at_most),
        plus_factor: plus_factor(observations, confidence, exceptions.len()),
        exceptions,
    })
}

/// Explains [`backtest`](fn@backtest).
///
/// # Errors
///
/// The errors of [`backtest`](fn@backtest).
pub fn explain_backtest(
    actual_returns: &[f64],
    var_estimates: &[f64],
    confidence: f64,
) -> Result<Explanation> {
    let found = backtest(actual_returns, var_estimates, confidence)?;
    let method = Method::new(
        "Likelihood ratios of coverage and independence, and the traffic light",
        "Kupiec (1995), Techniques for Verifying the Accuracy of Risk Measurement Models; \
         Christoffersen (1998), Evaluating Interval Forecasts; Basel Committee (1996), Supervisory \
         Framework for the Use of Backtesting",
    );
    let error = ErrorStatement::rounding_within(
        "every statistic and probability",
        TEST_ERROR * found.conditional_coverage.statistic.max(1.0),
        "given the counts, of 1 or of the largest statistic; largest error against 50 digits",
    );
    let tabled = "The plus factor is that of the table for 250 returns at 99 %.";
    Ok(Explanation::new(method, error)
        .with_conventions([
            "Values at risk are losses, above zero; a return below minus its estimate is an exception.",
            "P-values are those of the asymptotic distribution, which few exceptions meet roughly.",
            "Independence is tested on the pairs of neighbouring returns, one less than the returns.",
            "The traffic light is yellow from the binomial probability of 95 %, red from 99.99 %.",
        ])
        .with_conventions(found.plus_factor.map(|_| tabled)))
}

/// The error of a statistic or a probability.
const TEST_ERROR: f64 = 2e-14;

impl LikelihoodRatio {
    /// The χ² distribution of one degree is that of a squared normal variable.
    fn of_one_degree(statistic: f64) -> Self {
        Self { statistic, p_value: libm::erfc((0.5 * statistic).sqrt()) }
    }

    /// The χ² distribution of two degrees is exponential.
    fn of_two_degrees(statistic: f64) -> Self {
        Self { statistic, p_value: libm::exp(-0.5 * statistic) }
    }
}

impl Zone {
    /// Returns the zone of a count of exceptions, by the probability of at most as many.
    fn of(probability_of_at_most: f64) -> Self {
        match probability_of_at_most {
            probability if probability < 0.95 => Self::Green,
            probability if probability < 0.9999 => Self::Yellow,
            _ => Self::Red,
        }
    }
}

/// Returns the mean and the largest of loss less estimate over the exceptions.
fn excess(returns: &[f64], estimates: &[f64], exceptions: &[usize]) -> Result<(f64, f64)> {
    let (mut sum, mut largest) = (0.0, 0.0_f64);
    for &at in exceptions {
        let excess = check::result("actual_returns", -estimates[at] - returns[at])?;
        sum += excess / exceptions.len() as f64;
        largest = largest.max(excess);
    }
    Ok((check::result("actual_returns", sum)?, largest))
}

fn transitions(is_exception: &[bool]) -> [[usize; 2]; 2] {
    let mut counts = [[0; 2]; 2];
    for pair in is_exception.windows(2) {
        counts[usize::from(pair[0])][usize::from(pair[1])] += 1;
    }
    counts
}

/// Kupiec's statistic.
fn kupiec(observations: usize, exceptions: usize, tail: f64) -> f64 {
    // Both halves of the product are doubles: the counts are far below 2²⁶.
    let expected =
        crate::arithmetic::double_double::DoubleDouble::product(observations as f64, tail);
    let excess = (exceptions as f64 - expected.high) - expected.low;
    deviance(exceptions, observations, tail, 1.0 - tail, excess / observations as f64)
}

/// Christoffersen's statistic of independence: the deviance of each state from the frequency of both.
fn independence([[n00, n01], [n10, n11]]: [[usize; 2]; 2]) -> f64 {
    let (pairs, second) = ((n00 + n01 + n10 + n11) as f64, (n01 + n11) as f64);
    let of_state = |quiet: usize, broken: usize| {
        let trials = quiet + broken;
        if trials == 0 || second == 0.0 || second == pairs {
            return 0.0;
        }
        // Counts are small, and their products are exact.
        let excess = (broken as f64 * pairs - trials as f64 * second) / (trials as f64 * pairs);
        deviance(broken, trials, second / pairs, (pairs - second) / pairs, excess)
    };
    of_state(n00, n01) + of_state(n10, n11)
}

/// Returns `2·[x ln((x/n)/p) + (n − x) ln((1 − x/n)/q)]` for x events in n trials of probability p = 1 − q,
/// given the excess `d = x/n − p` without cancellation.
///
/// With `g(u) = ln(1 + u) − u` it is `2·[n d²/(pq) + x g(d/p) + (n − x) g(−d/q)]`, whose first term is
/// the limit χ² statistic twice.
fn deviance(events: usize, trials: usize, p: f64, q: f64, excess: f64) -> f64 {
    let (count, rest) = (events as f64, (trials - events) as f64);
    let of = |count: f64, change: f64| if count == 0.0 { 0.0 } else { count * log1p_less(change) };
    let quadratic = trials as f64 * excess * excess / (p * q);
    (2.0 * (quadratic + of(count, excess / p) + of(rest, -excess / q))).max(0.0)
}

/// Returns `ln(1 + u) − u` for u above −1.
fn log1p_less(u: f64) -> f64 {
    if u.abs() > 0.1 {
        return libm::log1p(u) - u;
    }
    // Σ −(−u)ᵏ/k from k = 2; 0.1¹⁸ is below the last bit of the first term.
    (2..20).rev().fold(0.0, |sum, k| 1.0 / f64::from(k) - u * sum) * -u * u
}

/// The increases of the multiplier for 5 to 9 exceptions, and from 10 on.
const PLUS_FACTORS: [f64; 6] = [0.40, 0.50, 0.65, 0.75, 0.85, 1.00];

fn plus_factor(observations: usize, confidence: f64, exceptions: usize) -> Option<f64> {
    let is_tabled = observations == 250 && confidence == 0.99;
    let place = exceptions.checked_sub(5).map(|place| place.min(5));
    is_tabled.then(|| place.map_or(0.0, |place| PLUS_FACTORS[place]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use statrs::distribution::{ChiSquared, ContinuousCDF};

    /// A series of `count` returns with exceptions at these positions.
    fn series(count: usize, exceptions: &[usize]) -> Vec<f64> {
        (0..count).map(|at| if exceptions.contains(&at) { -0.03 } else { 0.01 }).collect()
    }

    fn tested(count: usize, exceptions: &[usize], confidence: f64) -> Backtest {
        backtest(&series(count, exceptions), &vec![0.02; count], confidence).unwrap()
    }

    #[test]
    fn kupiecs_regions_of_non_rejection_are_met() {
        // Kupiec (1995), as printed in Jorion (2007), table 6-2: the exceptions N for which a model is not
        // rejected at the 95 % level, exclusive ends.
        #[rustfmt::skip]
        let rows = [
            // p      days   N above  N below
            (0.99,   252,    None,     7),
            (0.99,   510,    Some(1),  11),
            (0.99,   1000,   Some(4),  17),
            (0.975,  252,    Some(2),  12),
            (0.975,  510,    Some(6),  21),
            (0.975,  1000,   Some(15), 36),
            (0.95,   252,    Some(6),  20),
            (0.95,   510,    Some(16), 36),
            (0.95,   1000,   Some(37), 65),
            (0.925,  252,    Some(11), 28),
            (0.90,   1000,   Some(81), 120),
        ];
        for (confidence, days, above, below) in rows {
            let is_rejected = |exceptions: usize| {
                let tail = tail(confidence).unwrap();
                kupiec(days, exceptions, tail) > 3.841_458_820_694_124
            };
            assert!(is_rejected(below) && !is_rejected(below - 1), "{confidence} {days} {below}");
            if let Some(above) = above {
                assert!(
                    is_rejected(above) && !is_rejected(above + 1),
                    "{confidence} {days} {above}"
                );
            }
        }
    }

    #[test]
    fn the_zones_and_factors_are_those_of_the_basel_committee() {
        let factors = [0.0, 0.0, 0.0, 0.0, 0.0, 0.40, 0.50, 0.65, 0.75, 0.85, 1.00, 1.00];
        for (count, factor) in factors.into_iter().enumerate() {
            let positions: Vec<usize> = (0..count).collect();
            let found = tested(250, &positions, 0.99);
            let zone = match count {
                0..=4 => Zone::Green,
                5..=9 => Zone::Yellow,
                _ => Zone::Red,
            };
            assert_eq!((found.zone, found.plus_factor), (zone, Some(factor)), "{count}");
        }
        assert_eq!(tested(251, &[], 0.99).plus_factor, None);
        assert_eq!(tested(250, &[], 0.95).plus_factor, None);
    }

    #[test]
    fn exceptions_as_frequent_as_expected_have_a_p_value_of_one() {
        let found = tested(100, &[50], 0.99);
        assert_eq!(found.kupiec.p_value, 1.0);
        assert!(found.kupiec.statistic < 1e-30);
        assert_eq!(found.transitions, [[97, 1], [1, 0]]);
        let none = tested(250, &[], 0.99);
        // −2·250·ln 0.99.
        assert!((none.kupiec.statistic - 5.025_167_926_750_725).abs() < 1e-13);
        assert_eq!(none.independence.p_value, 1.0);
        assert_eq!((none.mean_excess, none.largest_excess), (0.0, 0.0));
    }

    #[test]
    fn an_equal_loss_is_no_exception_and_one_return_is_enough() {
        assert!(backtest(&[-0.02], &[0.02], 0.99).unwrap().exceptions.is_empty());
        let one = backtest(&[-0.021], &[0.02], 0.99).unwrap();
        assert_eq!((one.exceptions, one.independence.statistic), (vec![0], 0.0));
    }

    #[test]
    fn refusals_name_the_argument() {
        #[rustfmt::skip]
        let rows: [(&[f64], &[f64], f64, &str); 6] = [
            (&[],               &[],            0.99, "actual_returns"),
            (&[0.1],            &[],            0.99, "var_estimates"),
            (&[0.1, f64::NAN],  &[0.1, 0.1],    0.99, "actual_returns"),
            (&[0.1, 0.1],       &[-0.1, -0.2],  0.99, "var_estimates"),
            (&[0.1],            &[0.1],         0.5,  "confidence"),
            (&[-1.7e308, 0.0],  &[-1.7e308, 0.0], 0.99, "actual_returns"),
        ];
        for (returns, estimates, confidence, argument) in rows {
            let refused =
                backtest(returns, estimates, confidence).map_err(|error| error.argument());
            let found = refused.err().flatten().unwrap_or("none");
            assert_eq!(found, argument, "{returns:?}");
        }
    }

    proptest! {
        #[test]
        fn statistics_are_those_of_the_plain_formula(
            exceptions in prop::collection::vec(any::<bool>(), 20..300), confidence in 0.6..0.99_f64,
        ) {
            let positions: Vec<usize> =
                (0..exceptions.len()).filter(|&at| exceptions[at] && at % 3 != 0).collect();
            let found = tested(exceptions.len(), &positions, confidence);
            let likelihood = |quiet: usize, broken: usize, p: f64| {
                let term = |count: usize, p: f64| if count == 0 { 0.0 } else { count as f64 * p.ln() };
                term(quiet, 1.0 - p) + term(broken, p)
            };
            let (n, x) = (exceptions.len(), positions.len());
            let rate = x as f64 / n as f64;
            let expected = 2.0 * (likelihood(n - x, x, rate) - likelihood(n - x, x, 1.0 - confidence));
            prop_assert!((found.kupiec.statistic - expected).abs() <= 1e-10 * (1.0 + expected));
            let [[n00, n01], [n10, n11]] = found.transitions;
            let part = |a: usize, b: usize| b as f64 / ((a + b).max(1)) as f64;
            let apart = likelihood(n00, n01, part(n00, n01)) + likelihood(n10, n11, part(n10, n11));
            let expected = 2.0 * (apart - likelihood(n00 + n10, n01 + n11, part(n00 + n10, n01 + n11)));
            prop_assert!((found.independence.statistic - expected).abs() <= 1e-10 * (1.0 + expected));
            for (ratio, degrees) in [(found.kupiec, 1.0), (found.independence, 1.0), (found.conditional_coverage, 2.0)] {
                let statrs = ChiSquared::new(degrees).unwrap().sf(ratio.statistic);
                prop_assert!((ratio.p_value - statrs).abs() <= 1e-8);
            }
        }
    }
}

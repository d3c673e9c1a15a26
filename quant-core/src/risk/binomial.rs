//! The binomial distribution: how often an event of known probability happens in so many trials.

use crate::arithmetic::without_negative_zero;

/// The probabilities of all counts that are not zero in double precision.
///
/// The ratios of neighbouring probabilities are exact but for rounding, so that no factorial is needed:
/// the probabilities are computed from the mode on both ways, and divided by their sum.
pub(super) struct BinomialDistribution {
    /// The least count with a probability above zero.
    first: usize,
    /// The probability of each count from the least on, times the total.
    weights: Vec<f64>,
    total: f64,
}

impl BinomialDistribution {
    /// Returns the distribution of the number of events, whose probability is above 0 and below 1.
    pub(super) fn new(trials: usize, probability: f64) -> Self {
        let odds = probability / (1.0 - probability);
        let mode = (((trials + 1) as f64 * probability) as usize).min(trials);
        let up = |&(count, weight): &(usize, f64)| {
            let next = weight * odds * ((trials - count) as f64 / (count + 1) as f64);
            (next > 0.0).then_some((count + 1, next))
        };
        let down = |&(count, weight): &(usize, f64)| {
            let next = weight / odds * (count as f64 / (trials - count + 1) as f64);
            (next > 0.0).then_some((count.saturating_sub(1), next))
        };
        let below: Vec<f64> =
            std::iter::successors(Some((mode, 1.0)), down).skip(1).map(|(_, w)| w).collect();
        let above = std::iter::successors(Some((mode, 1.0)), up).map(|(_, weight)| weight);
        let first = mode - below.len();
        let weights: Vec<f64> = below.into_iter().rev().chain(above).collect();
        let total = weights.iter().sum();
        Self { first, weights, total }
    }

    /// Returns the probability of at most so many events.
    pub(super) fn at_most(&self, count: usize) -> f64 {
        if count < self.first {
            return 0.0;
        }
        let end = (count - self.first + 1).min(self.weights.len());
        // From the tail on, the small summands first.
        (self.weights[..end].iter().sum::<f64>() / self.total).min(1.0)
    }

    /// Returns the probability of at least so many events.
    pub(super) fn at_least(&self, count: usize) -> f64 {
        let start = count.saturating_sub(self.first).min(self.weights.len());
        let part = self.weights[start..].iter().rev().sum::<f64>() / self.total;
        without_negative_zero(part).min(1.0)
    }

    /// Returns the largest count that at most so many events fall short of with at most this
    /// probability: the largest r with `P(N < r) ≤ probability`.
    pub(super) fn lower_rank(&self, probability: f64) -> usize {
        let mut sum = 0.0;
        let within = self.weights.iter().take_while(|&&weight| {
            sum += weight;
            sum <= probability * self.total * TIE
        });
        self.first + within.count()
    }

    /// Returns the smallest s with `P(N ≥ s) ≤ probability`.
    pub(super) fn upper_rank(&self, probability: f64) -> usize {
        let mut sum = 0.0;
        let within = self.weights.iter().rev().take_while(|&&weight| {
            sum += weight;
            sum <= probability * self.total * TIE
        });
        self.first + self.weights.len() - within.count()
    }
}

/// A sum that misses the probability by less is equal to it, as for one trial.
const TIE: f64 = 1.0 + 1e-12;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use statrs::distribution::DiscreteCDF;

    #[test]
    fn the_table_of_the_basel_committee_is_met() {
        // Basel Committee (1996), "Supervisory framework for the use of backtesting", table 2: the
        // cumulative probability in per cent for 250 observations at 99 %.
        let printed = [8.11, 28.58, 54.32, 75.81, 89.22, 95.88, 98.63, 99.60, 99.89, 99.97, 99.99];
        let distribution = BinomialDistribution::new(250, 0.01);
        for (count, printed) in printed.into_iter().enumerate() {
            let found = 100.0 * distribution.at_most(count);
            assert!((found - printed).abs() <= 0.005_000_1, "{count}: {found}, printed {printed}");
        }
    }

    #[test]
    fn a_rank_is_where_the_tail_first_exceeds_the_probability() {
        let distribution = BinomialDistribution::new(1000, 0.05);
        let (lower, upper) = (distribution.lower_rank(0.025), distribution.upper_rank(0.025));
        assert!(distribution.at_most(lower - 1) <= 0.025 && distribution.at_most(lower) > 0.025);
        assert!(distribution.at_least(upper) <= 0.025 && distribution.at_least(upper - 1) > 0.025);
        assert_eq!(BinomialDistribution::new(5, 0.05).lower_rank(0.025), 0);
        assert_eq!(BinomialDistribution::new(5, 0.5).upper_rank(0.025), 6);
    }

    proptest! {
        #[test]
        fn both_tails_are_those_of_statrs(trials in 1..2000_usize, probability in 1e-4..0.5_f64, part in 0.0..1.0_f64) {
            let count = (part * 2.0 * probability * trials as f64) as usize;
            let (found, other) = (
                BinomialDistribution::new(trials, probability),
                statrs::distribution::Binomial::new(probability, trials as u64).unwrap(),
            );
            prop_assert!((found.at_most(count) - other.cdf(count as u64)).abs() < 1e-10);
            prop_assert!((found.at_least(count + 1) - other.sf(count as u64)).abs() < 1e-10);
        }
    }
}

//! Sums over the ends of a tree, by the binomial probabilities of reaching them.

use super::lattice::{Climb, Payoff};

/// The probabilities of a binomial variable, without those below 1e-290 or so.
pub(in crate::pricing) struct Binomial {
    /// The number of successes that the first weight belongs to.
    first: usize,
    weights: Vec<f64>,
}

impl Binomial {
    /// `C(n, j)·up^j·down^{n−j}` for each j, from the mode outwards by ratios and scaled to one.
    pub(in crate::pricing) fn new(n: usize, up: f64, down: f64) -> Self {
        if up == 0.0 || down == 0.0 {
            return Self { first: if up == 0.0 { 0 } else { n }, weights: vec![1.0] };
        }
        let mode = (((n + 1) as f64 * up) as usize).min(n);
        let (gain, loss) = (up / down, down / up);
        let mut below = Vec::new();
        let mut weight = 1.0;
        for j in (0..mode).rev() {
            weight *= (j + 1) as f64 / (n - j) as f64 * loss;
            if weight < LEAST {
                break;
            }
            below.push(weight);
        }
        let first = mode - below.len();
        let mut weights: Vec<f64> = below.into_iter().rev().chain([1.0]).collect();
        weight = 1.0;
        for j in mode..n {
            weight *= (n - j) as f64 / (j + 1) as f64 * gain;
            if weight < LEAST {
                break;
            }
            weights.push(weight);
        }
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        Self { first, weights }
    }

    /// The successes and their probabilities, of those in `from..to`.
    pub(in crate::pricing) fn between(
        &self,
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = (usize, f64)> {
        let start = from.saturating_sub(self.first).min(self.weights.len());
        let end = to.saturating_sub(self.first).clamp(start, self.weights.len());
        let first = self.first;
        (start..end).zip(&self.weights[start..end]).map(move |(k, weight)| (first + k, *weight))
    }
}

/// Weights below this, relative to the largest, are left out.
const LEAST: f64 = 1e-290;

/// The expected payment of all paths.
pub(in crate::pricing) fn all(climb: &Climb, payoff: &Payoff) -> f64 {
    let n = climb.steps;
    let (from, to) = payoff.paying(climb);
    let binomial = Binomial::new(n, climb.odds.up, climb.odds.down);
    binomial.between(from, to).map(|(j, weight)| weight * payoff.at(climb.height(n, j))).sum()
}

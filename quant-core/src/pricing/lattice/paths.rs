//! Expectations over the terminal nodes of a tree, by their binomial probabilities.

use super::moves::Lattice;
use super::oriented::{Direction, OrientedLattice, Payoff};
use crate::pricing::black_scholes::{EuropeanOption, OptionType};

/// The probabilities of a binomial variable, without those below about 1e-290 of the largest.
pub(in crate::pricing) struct Binomial {
    /// The number of successes that the first weight belongs to.
    first: usize,
    weights: Vec<f64>,
}

impl Binomial {
    /// Returns `C(n, j)·up^j·down^{n−j}` for each j, from the mode outwards by ratios and scaled to a
    /// sum of one.
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
            if weight < NEGLIGIBLE {
                break;
            }
            below.push(weight);
        }
        let first = mode - below.len();
        let mut weights: Vec<f64> = below.into_iter().rev().chain([1.0]).collect();
        weight = 1.0;
        for j in mode..n {
            weight *= (n - j) as f64 / (j + 1) as f64 * gain;
            if weight < NEGLIGIBLE {
                break;
            }
            weights.push(weight);
        }
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        Self { first, weights }
    }

    /// Returns the numbers of successes in `from..to` and their probabilities.
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
const NEGLIGIBLE: f64 = 1e-290;

/// Returns the value of the European option without a barrier.
pub(in crate::pricing) fn european_value(lattice: &Lattice, option: &EuropeanOption) -> f64 {
    let odds = match option.option_type {
        OptionType::Call => lattice.shares,
        OptionType::Put => lattice.cash,
    };
    let oriented = OrientedLattice::new(lattice, odds, Direction::Down);
    let payoff = Payoff::new(option, Direction::Down, &oriented);
    payoff.unit * expected_payoff(&oriented, &payoff)
}

/// Returns the expected payoff over all paths.
fn expected_payoff(lattice: &OrientedLattice, payoff: &Payoff) -> f64 {
    let n = lattice.steps;
    let (from, to) = payoff.paying(lattice);
    let binomial = Binomial::new(n, lattice.odds.up, lattice.odds.down);
    binomial.between(from, to).map(|(j, weight)| weight * payoff.at(lattice.height(n, j))).sum()
}

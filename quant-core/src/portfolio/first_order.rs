//! The first-order gap of an optimal portfolio: the error that the conditions of the optimum leave.
//!
//! The gradient of the objective, less its projection on the active constraints, is zero for assets
//! between their bounds and points outwards at a bound. A convex objective can fall by no more than
//! the sum of the violations times the moves that they allow.
//!
//! Nocedal and Wright (2006), "Numerical Optimization", chapter 12.

use super::covariance::Covariance;
use super::symmetric::dot;
use crate::explanation::{ErrorKind, ErrorStatement, Explanation};

/// The part of a constraint outside the others, below which the constraint depends on them.
const DEPENDENT: f64 = 1e-10;

/// The assumptions of every optimal portfolio.
const ASSUMPTIONS: [&str; 3] = [
    "Weights are fractions of the money invested and sum to 1.",
    "The covariance is used as it is, without shrinkage; its period is that of every figure.",
    "There are no transaction costs.",
];

/// An optimal portfolio with what holds its weights.
#[derive(Clone, Copy)]
pub(super) struct Optimum<'a> {
    pub(super) weights: &'a [f64],
    pub(super) covariance_matrix: &'a Covariance,
    pub(super) min_weights: Option<&'a [f64]>,
    pub(super) max_weights: Option<&'a [f64]>,
    /// Weights at which the turnover has a kink.
    pub(super) current_weights: Option<&'a [f64]>,
    /// Coefficients of the active constraints beside the budget and the bounds.
    pub(super) constraints: &'a [Vec<f64>],
}

impl<'a> Optimum<'a> {
    /// Returns the optimum of these weights, held by the budget and by bounds alone.
    pub(super) fn new(
        weights: &'a [f64],
        covariance_matrix: &'a Covariance,
        min_weights: Option<&'a [f64]>,
        max_weights: Option<&'a [f64]>,
    ) -> Self {
        let (current_weights, constraints) = (None, &[]);
        Self { weights, covariance_matrix, min_weights, max_weights, current_weights, constraints }
    }
}

impl Optimum<'_> {
    /// Returns the error of the volatility that the gap of the variance and rounding leave.
    pub(super) fn error_of_volatility(&self, volatility: f64) -> f64 {
        let (marginals, power) = self.marginals();
        let gradient: Vec<f64> = marginals.iter().map(|value| 2.0 * value).collect();
        let sizes =
            self.weights.iter().zip(&gradient).map(|(weight, slope)| (weight * slope).abs());
        let variance = self.gap(&gradient) + 2.0 * f64::EPSILON * sizes.sum::<f64>();
        let volatility = libm::scalbn(volatility, -power);
        let error = if volatility > 0.0 { 0.5 * variance / volatility } else { variance.sqrt() };
        libm::scalbn(error, power)
    }

    /// Returns the error of the Sharpe ratio that the gap of its logarithm and rounding leave.
    pub(super) fn error_of_ratio(&self, excess_returns: &[f64], ratio: f64) -> f64 {
        let (marginals, _) = self.marginals();
        let (excess, variance) = (dot(self.weights, excess_returns), dot(self.weights, &marginals));
        let terms = marginals.iter().zip(excess_returns);
        let terms: Vec<[f64; 2]> =
            terms.map(|(marginal, own)| [marginal / variance, own / excess]).collect();
        let gradient: Vec<f64> = terms.iter().map(|[risk, gain]| risk - gain).collect();
        let sizes = self.weights.iter().zip(&terms);
        let size: f64 =
            sizes.map(|(weight, [risk, gain])| weight.abs() * (risk.abs() + gain.abs())).sum();
        (self.gap(&gradient) + 2.0 * f64::EPSILON * size) * ratio.abs()
    }

    /// Half the gradient of the variance, summed in twice the precision, by a power of four that
    /// brings the largest covariance near 1, and that power.
    fn marginals(&self) -> (Vec<f64>, i32) {
        let matrix = self.covariance_matrix.matrix();
        let largest = matrix.iter().fold(0.0, |most: f64, element| most.max(element.abs()));
        // The factor is a double.
        let power = (libm::frexp(largest).1 >> 1).max(-511);
        let factor = libm::scalbn(1.0, -2 * power);
        let rows = matrix.as_slice().chunks(self.weights.len().max(1));
        let marginal = |row: &[f64]| {
            let row: Vec<f64> = row.iter().map(|element| element * factor).collect();
            dot(&row, self.weights)
        };
        (rows.map(marginal).collect(), power)
    }

    /// Returns by how much the objective can fall, to first order.
    fn gap(&self, gradient: &[f64]) -> f64 {
        let size = self.weights.len();
        let is_at = |bounds: Option<&[f64]>, asset: usize| {
            bounds.is_some_and(|bounds| bounds[asset] == self.weights[asset])
        };
        let is_free: Vec<bool> = (0..size)
            .map(|asset| {
                let holds = [self.min_weights, self.max_weights, self.current_weights];
                !holds.into_iter().any(|bounds| is_at(bounds, asset))
            })
            .collect();
        let budget = vec![1.0; size];
        let rows = std::iter::once(&budget).chain(self.constraints);
        let (costs, is_unique) = reduced_costs(gradient, rows, &is_free);
        let violation = |(asset, cost): (usize, &f64)| {
            let [low, high, untraded] = [self.min_weights, self.max_weights, self.current_weights]
                .map(|bounds| is_at(bounds, asset));
            match (low, high) {
                _ if is_free[asset] => cost.abs(),
                // The multipliers are one choice of several, or the bounds fix the weight.
                _ if !is_unique || untraded || low && high => 0.0,
                (true, _) => (-cost).max(0.0),
                _ => cost.max(0.0),
            }
        };
        let largest = self.weights.iter().fold(0.0, |most: f64, weight| most.max(weight.abs()));
        costs.iter().enumerate().map(violation).sum::<f64>() * largest
    }
}

/// Returns the gradient less its projection on the rows, as the free assets see both, and whether the
/// multipliers of the rows are unique.
fn reduced_costs<'r>(
    gradient: &[f64],
    rows: impl Iterator<Item = &'r Vec<f64>>,
    is_free: &[bool],
) -> (Vec<f64>, bool) {
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).zip(is_free).map(|((a, b), free)| if *free { a * b } else { 0.0 }).sum()
    };
    let remove = |from: &mut [f64], row: &[f64]| {
        let part = product(from, row);
        from.iter_mut().zip(row).for_each(|(value, element)| *value -= part * element);
    };
    let (mut costs, mut basis, mut is_unique) = (gradient.to_vec(), Vec::<Vec<f64>>::new(), true);
    for row in rows {
        let size = product(row, row).sqrt();
        let mut row: Vec<f64> = row.iter().map(|element| element / size).collect();
        // Twice is enough for orthogonality.
        for _ in 0..2 {
            basis.iter().for_each(|known| remove(&mut row, known));
        }
        let left = product(&row, &row).sqrt();
        if left > DEPENDENT {
            row.iter_mut().for_each(|element| *element /= left);
            (0..2).for_each(|_| remove(&mut costs, &row));
            basis.push(row);
        } else {
            is_unique = false;
        }
    }
    (costs, is_unique && !basis.is_empty())
}

/// States the error of a volatility that a first-order gap leaves.
pub(super) fn volatility_error(estimate: f64) -> ErrorStatement {
    let how = "first-order gap of the variance, from reduced costs in twice the precision, and \
               rounding of its terms, over twice the volatility";
    ErrorStatement::estimated(ErrorKind::Iteration, "volatility", estimate, how)
}

/// States the error of a Sharpe ratio that a first-order gap leaves.
pub(super) fn ratio_error(estimate: f64) -> ErrorStatement {
    let how = "first-order gap of the logarithm of the ratio, from reduced costs in twice the \
               precision, and rounding of its terms, times the ratio";
    ErrorStatement::estimated(ErrorKind::Iteration, "sharpe_ratio", estimate, how)
}

impl Explanation {
    /// Adds the conventions of an optimal portfolio with bounds or without.
    pub(super) fn of_optimum(self, min: Option<&[f64]>, max: Option<&[f64]>) -> Self {
        let rule = match (min, max) {
            (None, None) => "There are no bounds: short positions of any size are allowed.",
            (None, _) => "There are no lower bounds: short positions of any size are allowed.",
            _ => "A weight at its bound is the bound exactly.",
        };
        self.with_conventions(ASSUMPTIONS).with_conventions([rule])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_of_another_portfolio_than_the_best_bounds_what_is_lost() {
        let covariance_matrix = Covariance::from([[0.01, 0.0], [0.0, 0.03]]);
        let optimum = |weights| Optimum::new(weights, &covariance_matrix, None, None);
        let volatility = |[a, b]: [f64; 2]| (0.01 * a * a + 0.03 * b * b).sqrt();
        let best = volatility([0.75, 0.25]);
        for weights in &[[0.76, 0.24], [0.5, 0.5], [1.0, 0.0]] {
            let (own, lost) = (volatility(*weights), volatility(*weights) - best);
            let stated = optimum(weights).error_of_volatility(own);
            assert!(stated >= lost && stated < 0.2, "{weights:?}: {stated}, lost {lost}");
        }
        assert!(optimum(&[0.75, 0.25]).error_of_volatility(best) < 1e-16);
        // At its upper bound the first asset keeps the second from more.
        let bounded = Optimum { max_weights: Some(&[0.5, 1.0]), ..optimum(&[0.5, 0.5]) };
        assert!(bounded.error_of_volatility(volatility([0.5, 0.5])) < 1e-16);
        let wrong = Optimum { min_weights: Some(&[0.5, 0.0]), ..optimum(&[0.5, 0.5]) };
        assert!(wrong.error_of_volatility(0.1) > 0.01);
    }

    #[test]
    fn a_constraint_explains_the_gradient_along_itself() {
        let covariance_matrix =
            Covariance::from([[0.01, 0.0, 0.0], [0.0, 0.02, 0.0], [0.0, 0.0, 0.04]]);
        let constraint = [vec![1.0, 1.0, 0.0]];
        let weights = [1.0 / 3.0, 1.0 / 6.0, 0.5];
        let without = Optimum::new(&weights, &covariance_matrix, None, None);
        assert!(without.error_of_volatility(0.1) > 1e-3);
        assert!(Optimum { constraints: &constraint, ..without }.error_of_volatility(0.1) < 1e-16);
    }
}

//! Newton steps among the assets that are free to move.
//!
//! Within the free set F the step x and the multiplier λ of the budget solve
//! `Σ_FF x + b = λ1, 1ᵀx = β`. Where Σ_FF is singular but the minimum within F is still unique,
//! one asset, the tail, depends on the others: its column is `Σ_RR q`. The tail is not part of the
//! factor and enters through q, so that a riskless hedge costs no accuracy.

use super::cholesky::Cholesky;
use super::symmetric::{Symmetric, inner, sum};

/// A pivot above this part of its diagonal is no rounding error, whatever the other assets.
const CLEAR_PIVOT: f64 = 1e-8;
/// A pivot below this part of the risk of its combination of assets is rounding error.
const ROUNDING: f64 = 1.776_356_839_400_250_5e-15;
/// A dependent combination of assets whose weights sum to less than this sums to zero.
const NO_BUDGET: f64 = 1e-10;

/// The free assets with the factor of their covariance.
pub(super) struct Face<'a> {
    covariance: &'a Symmetric,
    members: Vec<usize>,
    factor: Cholesky,
    tail: Option<Tail>,
}

/// An asset whose column is that of a combination of the members.
struct Tail {
    asset: usize,
    combination: Vec<f64>,
    /// The part of the budget that one unit of the asset takes, hedged by the combination.
    budget: f64,
}

impl<'a> Face<'a> {
    /// Returns the face without free assets.
    pub(super) fn empty(covariance: &'a Symmetric) -> Self {
        let factor = Cholesky::empty(covariance.size());
        Self { covariance, members: Vec::new(), factor, tail: None }
    }

    /// Returns the face of these assets, given the factor of their covariance.
    pub(super) fn definite(
        covariance: &'a Symmetric,
        members: Vec<usize>,
        factor: Cholesky,
    ) -> Self {
        Self { covariance, members, factor, tail: None }
    }

    /// Returns the free assets, in the order of [`step`](Self::step).
    pub(super) fn assets(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().copied().chain(self.tail.iter().map(|tail| tail.asset))
    }

    pub(super) fn len(&self) -> usize {
        self.members.len() + usize::from(self.tail.is_some())
    }

    /// Frees an asset, unless the minimum would no longer be unique; returns whether the asset is
    /// free.
    pub(super) fn add(&mut self, asset: usize) -> bool {
        let Some((column, pivot)) = self.independent_column(asset) else {
            return self.tail.is_none() && self.add_tail(asset, NO_BUDGET);
        };
        self.factor.push(&column, pivot);
        self.members.push(asset);
        let Some(tail) = self.tail.take() else { return true };
        if self.add_tail(tail.asset, NO_BUDGET) {
            return true;
        }
        self.members.pop();
        self.factor.remove(self.members.len());
        self.tail = Some(tail);
        false
    }

    /// Returns a move of the free assets that keeps variance and budget when an asset moves by
    /// one that depends on them; in the order of [`assets`](Self::assets).
    pub(super) fn null_move(&mut self, asset: usize) -> Vec<f64> {
        let completed = self.completed_tail(asset);
        if let Some(mut combination) = completed {
            let own = combination.pop().expect("the asset itself");
            return combination.iter().map(|q| q / own).chain([-1.0 / own]).collect();
        }
        let mut combination = self.column(asset);
        self.factor.solve(&mut combination);
        let Some(tail) = &self.tail else { return combination.iter().map(|q| -q).collect() };
        let hedges = (1.0 - sum(combination.iter().copied())) / tail.budget;
        let members = combination.iter().zip(&tail.combination).map(|(q, t)| hedges * t - q);
        members.chain([-hedges]).collect()
    }

    /// The combination of the members and an asset that is the tail, where the asset completes it
    /// to one that takes nothing of the budget.
    fn completed_tail(&mut self, asset: usize) -> Option<Vec<f64>> {
        let tail = self.tail.as_ref()?.asset;
        let (column, pivot) = self.independent_column(asset)?;
        self.factor.push(&column, pivot);
        self.members.push(asset);
        let mut combination = self.column(tail);
        self.factor.solve(&mut combination);
        self.members.pop();
        self.factor.remove(self.members.len());
        let budget = 1.0 - combination.iter().sum::<f64>();
        let gross = 1.0 + combination.iter().map(|q| q.abs()).sum::<f64>();
        (budget.abs() <= NO_BUDGET * gross).then_some(combination)
    }

    /// Removes an asset from the free assets, since its weight has reached a bound.
    pub(super) fn remove(&mut self, asset: usize) {
        let tail = self.tail.take().map(|tail| tail.asset);
        if let Some(position) = self.members.iter().position(|&member| member == asset) {
            self.members.remove(position);
            self.factor.remove(position);
        }
        if let Some(tail) = tail.filter(|&tail| tail != asset) {
            // A subset of a face with a unique minimum has a unique minimum, so this cannot fail.
            if let Some((column, pivot)) = self.independent_column(tail) {
                self.factor.push(&column, pivot);
                self.members.push(tail);
            } else {
                self.add_tail(tail, 0.0);
            }
        }
    }

    /// Solves `Σ_FF x + b = λ1, 1ᵀx = budget` for x, in the order of the assets, and λ.
    ///
    /// The gradient holds b at every asset, free or not.
    pub(super) fn step(&self, gradient: &[f64], budget: f64) -> (Vec<f64>, f64) {
        let mut response: Vec<f64> = self.members.iter().map(|&asset| gradient[asset]).collect();
        let hedged = self
            .tail
            .as_ref()
            .map(|tail| (gradient[tail.asset] - inner(&tail.combination, &response)) / tail.budget);
        self.factor.solve(&mut response);
        let mut base = vec![1.0; self.members.len()];
        self.factor.solve(&mut base);
        // The whole budget in the direction that keeps the slopes equal.
        let (unit, at_once) = match &self.tail {
            Some(tail) => {
                let mut unit: Vec<f64> =
                    tail.combination.iter().map(|q| -q / tail.budget).collect();
                unit.push(1.0 / tail.budget);
                (unit, 0.0)
            }
            None => {
                let total = sum(base.iter().copied());
                (base.iter().map(|value| value / total).collect(), 1.0 / total)
            }
        };
        let mut multiplier = hedged.unwrap_or(0.0);
        let mut step: Vec<f64> = base
            .iter()
            .zip(&response)
            .map(|(base, response)| multiplier * base - response)
            .collect();
        step.resize(unit.len(), 0.0);
        // Twice, since the first time may cancel more than it leaves.
        for _ in 0..2 {
            let missing = budget - sum(step.iter().copied());
            multiplier += missing * at_once;
            for (value, unit) in step.iter_mut().zip(&unit) {
                *value += missing * unit;
            }
        }
        (step, multiplier)
    }

    /// The column of the factor and the pivot of an asset that depends on no members; `None` for an
    /// asset that depends on members.
    fn independent_column(&self, asset: usize) -> Option<(Vec<f64>, f64)> {
        let mut column = self.column(asset);
        self.factor.solve_lower(&mut column);
        let variance = self.covariance.diagonal(asset);
        let pivot = variance - inner(&column, &column);
        if pivot <= CLEAR_PIVOT * variance {
            let mut combination = column.clone();
            self.factor.solve_upper(&mut combination);
            let risk = variance.abs().sqrt() + self.gross_risk(&combination);
            if pivot <= ROUNDING * risk * risk {
                return None;
            }
        }
        Some((column, pivot))
    }

    /// Frees an asset that depends on the members, unless the combination has no budget.
    fn add_tail(&mut self, asset: usize, smallest_budget: f64) -> bool {
        let mut combination = self.column(asset);
        self.factor.solve(&mut combination);
        let budget = 1.0 - combination.iter().sum::<f64>();
        let gross = 1.0 + combination.iter().map(|q| q.abs()).sum::<f64>();
        if budget.abs() <= smallest_budget * gross || budget == 0.0 {
            return false;
        }
        self.tail = Some(Tail { asset, combination, budget });
        true
    }

    fn column(&self, asset: usize) -> Vec<f64> {
        let row = self.covariance.row(asset);
        self.members.iter().map(|&member| row[member]).collect()
    }

    fn gross_risk(&self, combination: &[f64]) -> f64 {
        let risk = |(&member, q): (&usize, &f64)| self.covariance.diagonal(member).sqrt() * q.abs();
        self.members.iter().zip(combination).map(risk).sum()
    }
}

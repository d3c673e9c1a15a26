//! Least variance under bounds, by active-set methods.
//!
//! Two methods share the same steps. Block pivoting moves every asset that violates a condition at
//! once and needs few factorisations, but may cycle and needs a definite matrix. The primal method
//! moves one asset at a time from a feasible point and accepts singular matrices; its cycles end,
//! since its tolerance grows.
//!
//! Júdice and Pires (1994), "A block principal pivoting algorithm for large-scale strictly
//! monotone linear complementarity problems"; Nocedal and Wright (2006), "Numerical
//! Optimization", algorithm 16.3.

use super::cholesky::Cholesky;
use super::face::Face;
use super::symmetric::{Symmetric, dot, held_assets, sum};
use crate::{Error, Result};

/// The rounding error of a gradient, in units of the risks involved.
const NOISE: f64 = 8.881_784_197_001_252e-16;
/// The number of iterations of block pivoting without progress before the primal method starts.
const PATIENCE: u32 = 5;

/// A covariance, with its largest variance near 1, and bounds that some portfolio meets.
pub(super) struct Problem<'a> {
    pub(super) covariance: &'a Symmetric,
    /// Standard deviation of each asset, the square root of its variance.
    pub(super) deviations: Vec<f64>,
    /// Lower bounds, −∞ where there is none.
    pub(super) lower: Vec<f64>,
    /// Upper bounds, ∞ where there is none.
    pub(super) upper: Vec<f64>,
    /// Returns for which variance may be traded; `None` where only the variance counts.
    pub(super) returns: Option<Vec<f64>>,
}

/// The status of an asset in the active set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Between its bounds, moved by every step.
    Free,
    /// Held at its lower bound, not moved by a step.
    Lower,
    /// Held at its upper bound, not moved by a step.
    Upper,
    /// Nonbasic at zero between its bounds, not yet moved.
    AtZero,
}

/// A portfolio with its active set and its multipliers.
pub(super) struct Vertex<'a> {
    pub(super) weights: Vec<f64>,
    pub(super) places: Vec<Place>,
    pub(super) face: Face<'a>,
    /// Half the derivative of the least variance by the budget.
    pub(super) multiplier: f64,
    /// Half the derivative of the least variance by the return.
    pub(super) trade_off: f64,
}

impl<'a> Problem<'a> {
    pub(super) fn new(covariance: &'a Symmetric, lower: Vec<f64>, upper: Vec<f64>) -> Self {
        let deviation = |asset| covariance.diagonal(asset).max(0.0).sqrt();
        let deviations = (0..covariance.size()).map(deviation).collect();
        Self { covariance, deviations, lower, upper, returns: None }
    }

    /// Returns whether the bounds of an asset are equal.
    pub(super) fn is_fixed(&self, asset: usize) -> bool {
        self.lower[asset] == self.upper[asset]
    }

    /// The largest rounding error to expect in the gradient at an asset of unit deviation.
    pub(super) fn noise(&self, weights: &[f64]) -> f64 {
        let risks =
            self.deviations.iter().zip(weights).map(|(deviation, weight)| deviation * weight.abs());
        NOISE * risks.sum::<f64>()
    }

    /// Returns a minimum of the variance; the only one where `factor` of the covariance is given.
    pub(super) fn minimise(&self, factor: Option<Cholesky>) -> Result<Vertex<'a>> {
        let mut vertex = match factor.and_then(|factor| self.pivot_in_blocks(factor)) {
            Some(vertex) => vertex,
            None => self.step_from_a_vertex()?,
        };
        self.refine(&mut vertex);
        Ok(vertex)
    }

    /// Moves all assets that violate a condition at once until none does; `None` for a cycle.
    fn pivot_in_blocks(&self, factor: Cholesky) -> Option<Vertex<'a>> {
        let size = self.covariance.size();
        let mut places = vec![Place::Free; size];
        let mut face = Face::definite(self.covariance, (0..size).collect(), factor);
        let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
        loop {
            let mut weights = self.bound_weights(&places);
            let gradient = self.covariance.times(&weights);
            let (step, multiplier) = face.step(&gradient, 1.0 - sum(weights.iter().copied()));
            for (asset, weight) in face.assets().zip(step) {
                weights[asset] = weight;
            }
            if !weights.iter().all(|weight| weight.is_finite()) {
                return None;
            }
            let broken = self.exchange(&weights, &mut places, multiplier);
            if broken == 0 {
                return Some(Vertex { weights, places, face, multiplier, trade_off: 0.0 });
            }
            if broken < fewest {
                (fewest, patience) = (broken, PATIENCE);
            } else if patience == 0 {
                return None;
            } else {
                patience -= 1;
            }
            let members: Vec<usize> =
                (0..size).filter(|&asset| places[asset] == Place::Free).collect();
            if members.is_empty() {
                return None;
            }
            let factor = Cholesky::of(self.covariance, &members, 0.0, 0.0).ok()?;
            face = Face::definite(self.covariance, members, factor);
        }
    }

    /// Returns the weights of the assets at their bounds, zero elsewhere.
    fn bound_weights(&self, places: &[Place]) -> Vec<f64> {
        let weight = |(asset, &place): (usize, &Place)| match place {
            Place::Lower => self.lower[asset],
            Place::Upper => self.upper[asset],
            Place::Free | Place::AtZero => 0.0,
        };
        places.iter().enumerate().map(weight).collect()
    }

    /// Changes the status of every asset that violates a condition, and returns their number.
    fn exchange(&self, weights: &[f64], places: &mut [Place], multiplier: f64) -> usize {
        let gradient = self.covariance.times(weights);
        let noise = self.noise(weights);
        let mut broken = 0;
        for (asset, place) in places.iter_mut().enumerate() {
            let slope = gradient[asset] - multiplier;
            let tolerance = noise * self.deviations[asset];
            let next = match place {
                Place::Free | Place::AtZero if weights[asset] < self.lower[asset] => Place::Lower,
                Place::Free | Place::AtZero if weights[asset] > self.upper[asset] => Place::Upper,
                Place::Lower if slope < -tolerance && !self.is_fixed(asset) => Place::Free,
                Place::Upper if slope > tolerance && !self.is_fixed(asset) => Place::Free,
                _ => continue,
            };
            *place = next;
            broken += 1;
        }
        broken
    }

    /// Iterates from a feasible point, freeing or binding one asset at a time.
    fn step_from_a_vertex(&self) -> Result<Vertex<'a>> {
        let mut vertex = self.first_vertex();
        let mut gradient = self.covariance.times(&vertex.weights);
        let calm = 10 * self.covariance.size() + 20;
        let limit = 5 * calm;
        for iteration in 0..limit {
            let is_blocked = self.move_on_face(&mut vertex, &gradient);
            gradient = self.covariance.times(&vertex.weights);
            // An iteration this long cycles because of rounding: the tolerance grows.
            let tolerance = libm::scalbn(1.0, (iteration / (calm / 10)).saturating_sub(10) as i32);
            if !is_blocked && !self.free_one(&mut vertex, &gradient, tolerance) {
                return Ok(vertex);
            }
        }
        let residual = self.noise(&vertex.weights);
        Err(Error::NoConvergence { method: "active set", iterations: limit as u32, residual })
    }

    /// Steps to the minimum of the face, or to the first bound on the way, which becomes active.
    fn move_on_face(&self, vertex: &mut Vertex<'a>, gradient: &[f64]) -> bool {
        let slopes: Vec<f64> = gradient.iter().map(|slope| slope - vertex.multiplier).collect();
        let (step, correction) =
            vertex.face.step(&slopes, 1.0 - sum(vertex.weights.iter().copied()));
        vertex.multiplier += correction;
        let blocked = self.first_bound(vertex, &step);
        let length = blocked.map_or(1.0, |(_, _, length)| length);
        for (asset, change) in vertex.face.assets().zip(step) {
            vertex.weights[asset] += length * change;
        }
        // The last free asset absorbs the budget: a step past its bound is rounding.
        let Some((asset, place, _)) = blocked.filter(|_| vertex.face.len() > 1) else {
            return false;
        };
        let bounds = if place == Place::Lower { &self.lower } else { &self.upper };
        vertex.weights[asset] = bounds[asset];
        vertex.places[asset] = place;
        vertex.face.remove(asset);
        true
    }

    /// Returns the first bound that a step would pass, and the fraction of the step up to the
    /// bound; `None` where the whole step stays within the bounds.
    fn first_bound(&self, vertex: &Vertex<'a>, step: &[f64]) -> Option<(usize, Place, f64)> {
        let mut first: Option<(usize, Place, f64)> = None;
        for (asset, &change) in vertex.face.assets().zip(step) {
            let weight = vertex.weights[asset];
            let (bound, place) = if weight + change < self.lower[asset] {
                (self.lower[asset], Place::Lower)
            } else if weight + change > self.upper[asset] {
                (self.upper[asset], Place::Upper)
            } else {
                continue;
            };
            let length = ((bound - weight) / change).clamp(0.0, 1.0);
            if first.is_none_or(|(_, _, shortest)| length < shortest) {
                first = Some((asset, place, length));
            }
        }
        first
    }

    /// Frees the asset whose move lowers the variance fastest; returns `false` if there is none.
    fn free_one(&self, vertex: &mut Vertex<'a>, gradient: &[f64], tolerance: f64) -> bool {
        let mut dependent = vec![false; gradient.len()];
        while let Some(asset) = self.entering(vertex, gradient, &dependent, tolerance) {
            if vertex.face.add(asset) {
                vertex.places[asset] = Place::Free;
                return true;
            }
            // The asset moves along a line of equal variance, where a slope is rounding.
            dependent[asset] = true;
        }
        false
    }

    /// Returns the asset outside the face whose move lowers the variance fastest, if there is one.
    fn entering(
        &self,
        vertex: &Vertex<'a>,
        gradient: &[f64],
        dependent: &[bool],
        tolerance: f64,
    ) -> Option<usize> {
        let noise = tolerance * self.noise(&vertex.weights);
        let (mut steepest, mut entering) = (0.0, None);
        for asset in
            (0..self.covariance.size()).filter(|&asset| !dependent[asset] && !self.is_fixed(asset))
        {
            let slope = gradient[asset] - vertex.multiplier;
            let descent = match vertex.places[asset] {
                Place::Free => continue,
                Place::Lower => -slope,
                Place::Upper => slope,
                Place::AtZero => slope.abs(),
            };
            if descent > noise * self.deviations[asset] && descent > steepest {
                (steepest, entering) = (descent, Some(asset));
            }
        }
        entering
    }

    /// Returns a feasible portfolio with one free asset: all weights as near to zero as their bounds
    /// allow, then the assets of least deviation filled.
    fn first_vertex(&self) -> Vertex<'a> {
        let size = self.covariance.size();
        let (mut weights, mut places): (Vec<f64>, Vec<Place>) =
            (0..size).map(|asset| self.nearest_to_zero(asset)).unzip();
        let mut order: Vec<usize> = (0..size).filter(|&asset| !self.is_fixed(asset)).collect();
        order.sort_by(|&a, &b| self.deviations[a].total_cmp(&self.deviations[b]));
        let mut missing = 1.0 - sum(weights.iter().copied());
        let mut last = 0;
        for asset in order {
            last = asset;
            let (bound, place) = if missing > 0.0 {
                (self.upper[asset], Place::Upper)
            } else {
                (self.lower[asset], Place::Lower)
            };
            if (bound - weights[asset]).abs() >= missing.abs() {
                weights[asset] += missing;
                break;
            }
            weights[asset] = bound;
            places[asset] = place;
            missing = 1.0 - sum(weights.iter().copied());
        }
        places[last] = Place::Free;
        let mut face = Face::empty(self.covariance);
        face.add(last);
        Vertex { weights, places, face, multiplier: 0.0, trade_off: 0.0 }
    }

    fn nearest_to_zero(&self, asset: usize) -> (f64, Place) {
        if self.lower[asset] >= 0.0 {
            (self.lower[asset], Place::Lower)
        } else if self.upper[asset] <= 0.0 {
            (self.upper[asset], Place::Upper)
        } else {
            (0.0, Place::AtZero)
        }
    }

    /// Repeats the last step with a gradient in twice the precision until no weight changes.
    pub(super) fn refine(&self, vertex: &mut Vertex<'a>) {
        let mut last = f64::INFINITY;
        for _ in 0..3 {
            let slopes = self.exact_slopes(vertex);
            let missing = 1.0 - sum(vertex.weights.iter().copied());
            let (step, correction) = vertex.face.step(&slopes, missing);
            let largest = step.iter().fold(0.0, |largest: f64, change| largest.max(change.abs()));
            // On a nearly singular face the steps no longer shrink; and a step that a bound cuts
            // off would violate the budget.
            if largest >= 0.5 * last || self.first_bound(vertex, &step).is_some() {
                return;
            }
            last = largest;
            vertex.multiplier += correction;
            let mut has_moved = false;
            for (asset, change) in vertex.face.assets().zip(step) {
                has_moved |= change.abs() > f64::EPSILON * vertex.weights[asset].abs();
                vertex.weights[asset] += change;
            }
            if !has_moved {
                return;
            }
        }
    }

    /// The gradient less the multiplier at the free assets, summed in twice the precision.
    fn exact_slopes(&self, vertex: &Vertex<'a>) -> Vec<f64> {
        let mut slopes = vec![0.0; vertex.weights.len()];
        if let Some(returns) = &self.returns {
            let Vertex { weights, face, multiplier, trade_off, .. } = vertex;
            self.exact_residuals(weights, face, |asset| [-trade_off * returns[asset], -multiplier])
                .for_each(|(asset, slope)| slopes[asset] = slope);
            return slopes;
        }
        let held = held_assets(&vertex.weights);
        let weights: Vec<f64> = held.iter().map(|&asset| vertex.weights[asset]).collect();
        for asset in vertex.face.assets() {
            let row = self.covariance.row(asset);
            let row: Vec<f64> = held.iter().map(|&other| row[other]).collect();
            slopes[asset] = dot(&row, &weights) - vertex.multiplier;
        }
        slopes
    }

    /// The product of the covariance with a vector and what `others` adds to it, at the free
    /// assets, summed in twice the precision.
    pub(super) fn exact_residuals(
        &self,
        vector: &[f64],
        face: &Face<'_>,
        others: impl Fn(usize) -> [f64; 2],
    ) -> impl Iterator<Item = (usize, f64)> {
        let held = held_assets(vector);
        let mut factors: Vec<f64> = held.iter().map(|&asset| vector[asset]).collect();
        factors.extend([1.0, 1.0]);
        face.assets().map(move |asset| {
            let row = self.covariance.row(asset);
            let others = others(asset);
            let row: Vec<f64> = held.iter().map(|&other| row[other]).chain(others).collect();
            (asset, dot(&row, &factors))
        })
    }
}

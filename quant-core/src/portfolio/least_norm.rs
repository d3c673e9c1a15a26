//! The portfolio of least Euclidean norm among the portfolios of least variance.
//!
//! Portfolios of the same least variance differ by combinations d of the assets with zero gradient,
//! where `Σd = 0` and `1ᵀd = 0`. The dual active-set method for a unit Hessian finds the portfolio
//! nearest to the origin inside the bounds. The equalities are an orthonormal basis of the fixed
//! combinations, and every active bound adds a vector to that basis.
//!
//! Goldfarb and Idnani (1983), "A numerically stable dual method for solving strictly convex
//! quadratic programs".

use super::active_set::{Problem, Vertex};
use super::symmetric::{dot, inner, sum};

/// A gradient component below this part of the risks involved may be zero; the rank of the
/// covariance decides.
const MAYBE_LEVEL: f64 = 1e-9;
/// A correlation pivot below this, times the number of assets, is rounding error.
const ROUNDING: f64 = 7.105_427_357_601_002e-15;
/// A vector counts as part of a space where the relative norm of its component outside is below
/// this number.
const INSIDE: f64 = 1e-12;
/// A weight whose distance from a bound or from zero is below this number, in units of the largest
/// weight, is set to the bound or to zero.
const ROUNDED: f64 = 4.440_892_098_500_626e-16;

impl Problem<'_> {
    /// Replaces a portfolio of least variance by the one of least norm among all of least variance.
    pub(super) fn shorten(&self, vertex: &mut Vertex<'_>) {
        self.project(vertex);
        // A weight that belongs on a bound or at zero must not differ by 1e-34, because a riskless
        // portfolio would then have a volatility.
        let largest =
            vertex.weights.iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
        for (asset, weight) in vertex.weights.iter_mut().enumerate() {
            let (lower, upper) = (self.lower[asset], self.upper[asset]);
            let inside = weight.max(lower).min(upper);
            let is_near = |target: &f64| (inside - target).abs() <= ROUNDED * largest;
            let zero = 0.0_f64.max(lower).min(upper);
            *weight = [lower, upper, zero].into_iter().find(is_near).unwrap_or(inside);
        }
    }

    /// Moves the assets with zero gradient, unless the minimum is unique.
    fn project(&self, vertex: &mut Vertex<'_>) {
        let level = self.level_assets(vertex);
        if level.len() <= vertex.face.len() {
            return;
        }
        let basis = self.what_must_not_change(&level);
        if basis.len() == level.len() {
            return;
        }
        let bounds =
            |bounds: &[f64]| level.iter().map(|&asset| bounds[asset]).collect::<Vec<f64>>();
        let start: Vec<f64> = level.iter().map(|&asset| vertex.weights[asset]).collect();
        let projection = Projection::new(basis, &start, bounds(&self.lower), bounds(&self.upper));
        // If rounding makes the search fail, the portfolio of least variance stays unchanged.
        let Some(nearest) = projection.run() else { return };
        let lost = sum(nearest.iter().zip(&start).map(|(nearest, start)| nearest - start));
        if lost.abs() > INSIDE * nearest.iter().map(|weight| weight.abs()).sum::<f64>() {
            return;
        }
        for (&asset, weight) in level.iter().zip(nearest) {
            vertex.weights[asset] = weight;
        }
    }

    /// Returns the assets that can move without a first-order change of the variance.
    fn level_assets(&self, vertex: &Vertex<'_>) -> Vec<usize> {
        let gradient = self.covariance.times(&vertex.weights);
        let held: f64 = vertex.weights.iter().map(|weight| weight.abs()).sum();
        let risks: f64 = self
            .deviations
            .iter()
            .zip(&vertex.weights)
            .map(|(deviation, weight)| deviation * weight.abs())
            .sum();
        let mut level = vec![false; vertex.weights.len()];
        for asset in vertex.face.assets() {
            level[asset] = true;
        }
        for (asset, level) in level.iter_mut().enumerate() {
            let slope = (gradient[asset] - vertex.multiplier).abs();
            // The added ε is for riskless assets: deviations are near 1, and a weight that should
            // be zero may be rounding error.
            let scale = (risks + f64::EPSILON * held) * (self.deviations[asset] + f64::EPSILON);
            *level |= slope <= MAYBE_LEVEL * scale && self.lower[asset] != self.upper[asset];
        }
        (0..level.len()).filter(|&asset| level[asset]).collect()
    }

    /// Returns an orthonormal basis of the combinations whose product with the weights is fixed:
    /// the rows of the covariance, found by pivoting on correlations, and the budget.
    fn what_must_not_change(&self, level: &[usize]) -> Vec<Vec<f64>> {
        let deviations: Vec<f64> = level.iter().map(|&asset| self.deviations[asset]).collect();
        let count = level.len();
        let mut left: Vec<f64> =
            deviations.iter().map(|&deviation| if deviation > 0.0 { 1.0 } else { 0.0 }).collect();
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let mut basis = Vec::new();
        loop {
            let pivot = (1..count).fold(0, |best, p| if left[p] > left[best] { p } else { best });
            if left[pivot] <= ROUNDING * count as f64 {
                break;
            }
            let root = left[pivot].sqrt();
            let mut row = self.correlations(level, pivot);
            for above in &rows {
                subtract(&mut row, above[pivot], above);
            }
            for (element, left) in row.iter_mut().zip(&mut left) {
                *element /= root;
                *left -= *element * *element;
            }
            left[pivot] = 0.0;
            let covariances =
                row.iter().zip(&deviations).map(|(element, deviation)| element * deviation);
            push_orthonormal(&mut basis, covariances.collect());
            rows.push(row);
        }
        push_orthonormal(&mut basis, vec![1.0; count]);
        basis
    }

    /// Returns the correlations of one of these assets with all of them; zero with a riskless
    /// asset.
    fn correlations(&self, level: &[usize], pivot: usize) -> Vec<f64> {
        let row = self.covariance.row(level[pivot]);
        let own = self.deviations[level[pivot]];
        let correlation = |&asset: &usize| match self.deviations[asset] {
            0.0 => 0.0,
            deviation => row[asset] / deviation / own,
        };
        level.iter().map(correlation).collect()
    }
}

/// Adds the part of a vector outside the span of a basis, unless there is none.
fn push_orthonormal(basis: &mut Vec<Vec<f64>>, mut vector: Vec<f64>) {
    let before = norm(&vector);
    orthogonalise(basis, &mut vector);
    let after = norm(&vector);
    if after > INSIDE * before {
        vector.iter_mut().for_each(|element| *element /= after);
        basis.push(vector);
    }
}

/// Subtracts the projection on the span of a basis from a vector, twice against rounding; returns
/// the coefficients of the projection.
fn orthogonalise(basis: &[Vec<f64>], vector: &mut [f64]) -> Vec<f64> {
    let mut coefficients = vec![0.0; basis.len()];
    for _ in 0..2 {
        for (coefficient, direction) in coefficients.iter_mut().zip(basis) {
            let part = inner(direction, vector);
            *coefficient += part;
            subtract(vector, part, direction);
        }
    }
    coefficients
}

/// The search for the shortest vector inside bounds whose products with a basis are given.
struct Projection<'a> {
    /// The equalities, then one vector for each active bound.
    basis: Vec<Vec<f64>>,
    equalities: usize,
    start: &'a [f64],
    lower: Vec<f64>,
    upper: Vec<f64>,
    point: Vec<f64>,
    active: Vec<Active>,
}

/// A bound that holds with equality.
struct Active {
    position: usize,
    is_lower: bool,
    multiplier: f64,
    /// The bound's normal in the basis of the vectors of the active bounds, up to its own vector.
    column: Vec<f64>,
}

impl<'a> Projection<'a> {
    fn new(basis: Vec<Vec<f64>>, start: &'a [f64], lower: Vec<f64>, upper: Vec<f64>) -> Self {
        let mut outside = start.to_vec();
        orthogonalise(&basis, &mut outside);
        let point = start.iter().zip(outside).map(|(start, outside)| start - outside).collect();
        Self { equalities: basis.len(), basis, start, lower, upper, point, active: Vec::new() }
    }

    fn run(mut self) -> Option<Vec<f64>> {
        for _ in 0..20 * self.point.len() + 100 {
            let Some((position, is_lower)) = self.most_violated() else {
                return Some(self.answer());
            };
            if !self.activate(position, is_lower) {
                return None;
            }
        }
        None
    }

    /// Returns the bound with the largest violation beyond rounding; `None` where all bounds hold.
    fn most_violated(&self) -> Option<(usize, bool)> {
        let (mut worst, mut found) = (0.0, None);
        for (position, &weight) in self.point.iter().enumerate() {
            let (is_lower, bound) = if weight < self.lower[position] {
                (true, self.lower[position])
            } else if weight > self.upper[position] {
                (false, self.upper[position])
            } else {
                continue;
            };
            let violation = (weight - bound).abs();
            let is_active = self.active.iter().any(|active| active.position == position);
            if violation > worst
                && violation > 4.0 * f64::EPSILON * bound.abs().max(1.0)
                && !is_active
            {
                (worst, found) = (violation, Some((position, is_lower)));
            }
        }
        found
    }

    /// Makes a violated bound active and releases others where needed; false where the bounds are
    /// inconsistent.
    fn activate(&mut self, position: usize, is_lower: bool) -> bool {
        let (sign, bound) =
            if is_lower { (1.0, self.lower[position]) } else { (-1.0, self.upper[position]) };
        let mut multiplier = 0.0;
        loop {
            let mut direction = vec![0.0; self.point.len()];
            direction[position] = sign;
            let coefficients = orthogonalise(&self.basis, &mut direction);
            let column = &coefficients[self.equalities..];
            let rates = self.multiplier_rates(column);
            let (dual, leaving) = self.first_to_leave(&rates);
            let square = inner(&direction, &direction);
            let full = if square > INSIDE * INSIDE {
                sign * (bound - self.point[position]) / square
            } else {
                f64::INFINITY
            };
            let length = dual.min(full);
            if length == f64::INFINITY {
                return false;
            }
            if full < f64::INFINITY {
                subtract(&mut self.point, -length, &direction);
            }
            for (active, rate) in self.active.iter_mut().zip(&rates) {
                active.multiplier = (active.multiplier - length * rate).max(0.0);
            }
            multiplier += length;
            if let Some(index) = leaving.filter(|_| dual < full) {
                self.release(index);
                continue;
            }
            let root = square.sqrt();
            let mut column = column.to_vec();
            column.push(root);
            self.basis.push(direction.into_iter().map(|element| element / root).collect());
            self.active.push(Active { position, is_lower, multiplier, column });
            return true;
        }
    }

    /// Returns the length of step at which the first multiplier of an active bound becomes zero,
    /// and the index of the bound. `rates` are the falls of the multipliers per unit of length.
    /// Infinity and `None` where no multiplier falls.
    fn first_to_leave(&self, rates: &[f64]) -> (f64, Option<usize>) {
        let (mut length, mut leaving) = (f64::INFINITY, None);
        for (index, (active, &rate)) in self.active.iter().zip(rates).enumerate() {
            if rate > 0.0 && active.multiplier / rate < length {
                (length, leaving) = (active.multiplier / rate, Some(index));
            }
        }
        (length, leaving)
    }

    /// Solves the triangular system of the active bounds: the rates at which their multipliers
    /// fall.
    fn multiplier_rates(&self, column: &[f64]) -> Vec<f64> {
        let mut rates = column.to_vec();
        for index in (0..rates.len()).rev() {
            rates[index] /= self.active[index].column[index];
            let rate = rates[index];
            subtract(&mut rates[..index], rate, &self.active[index].column);
        }
        rates
    }

    /// Releases an active bound, and rotates the vectors of the later bounds.
    fn release(&mut self, index: usize) {
        self.active.remove(index);
        for row in index..self.active.len() {
            let column = &self.active[row].column;
            let (above, below) = (column[row], column[row + 1]);
            let length = (above * above + below * below).sqrt();
            let (cosine, sine) = (above / length, below / length);
            for active in &mut self.active[row..] {
                let (above, below) = (active.column[row], active.column[row + 1]);
                active.column[row] = cosine * above + sine * below;
                active.column[row + 1] = cosine * below - sine * above;
            }
            self.active[row].column.truncate(row + 1);
            let (head, tail) = self.basis.split_at_mut(self.equalities + row + 1);
            for (above, below) in head[self.equalities + row].iter_mut().zip(&mut tail[0]) {
                (*above, *below) =
                    (cosine * *above + sine * *below, cosine * *below - sine * *above);
            }
        }
        self.basis.pop();
    }

    /// Returns the point with its active weights exactly on their bounds, and the others adjusted.
    fn answer(mut self) -> Vec<f64> {
        for _ in 0..2 {
            self.put_active_on_bounds();
            self.restore_equalities();
        }
        self.put_active_on_bounds();
        self.point
    }

    fn put_active_on_bounds(&mut self) {
        for active in &self.active {
            let bounds = if active.is_lower { &self.lower } else { &self.upper };
            self.point[active.position] = bounds[active.position];
        }
    }

    /// Adjusts the weights that are not at a bound, so that the point has its initial products with
    /// the basis.
    fn restore_equalities(&mut self) {
        let missing: Vec<f64> =
            self.start.iter().zip(&self.point).map(|(start, weight)| start - weight).collect();
        let (equalities, bounds) = self.basis.split_at(self.equalities);
        let mut parts: Vec<f64> =
            equalities.iter().map(|direction| dot(direction, &missing)).collect();
        for (index, active) in self.active.iter().enumerate() {
            let sign = if active.is_lower { 1.0 } else { -1.0 };
            let of_equalities: f64 = equalities
                .iter()
                .zip(&parts)
                .map(|(q, part)| sign * q[active.position] * part)
                .sum();
            let earlier = inner(&active.column[..index], &parts[self.equalities..]);
            parts.push(-(of_equalities + earlier) / active.column[index]);
        }
        for (part, direction) in parts.iter().zip(equalities.iter().chain(bounds)) {
            subtract(&mut self.point, -part, direction);
        }
    }
}

/// Subtracts a multiple of one vector from another.
fn subtract(vector: &mut [f64], factor: f64, other: &[f64]) {
    for (element, other) in vector.iter_mut().zip(other) {
        *element -= factor * other;
    }
}

fn norm(vector: &[f64]) -> f64 {
    inner(vector, vector).sqrt()
}

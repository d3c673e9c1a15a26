//! Convex quadratic programmes with linear inequalities, by the dual active-set method.
//!
//! The method starts at the minimum without inequalities and adds the most violated one at a time,
//! so that a programme without a solution is recognised by the inequality that cannot be met. Of a
//! limit of a sum of sizes, one face and its kinks stand for the many faces. Where the matrix is
//! singular, a small multiple of the identity around the last point makes it definite, and the point
//! converges to a minimum.
//!
//! Goldfarb and Idnani (1983), "A numerically stable dual method for solving strictly convex
//! quadratic programs"; Rockafellar (1976), "Monotone operators and the proximal point algorithm".

use super::cholesky::Cholesky;
use super::symmetric::{Symmetric, dot, inner, unit};
use crate::Error;

pub(super) mod level_path;
mod multiplier_limits;

/// The part of a row outside the active rows, below which the row depends on them.
const DEPENDENT: f64 = 1e-12;
/// The pivot, as a part of its variance, above which a matrix counts as definite.
const DEFINITE: f64 = 1e-8;
/// The multiple of the identity that makes a singular matrix definite, in units of the largest
/// element.
const PROXIMITY: f64 = 1e-7;
/// The largest accepted first-order gap, and violation of a row, in units of their terms.
const TOLERANCE: f64 = 1e-13;
/// The number of points around which a singular matrix is made definite.
const MAX_POINTS: u32 = 50;
/// The number of rows added, for each variable, after which the search ends.
const MAX_ROWS: u32 = 20;

/// A condition `normal · x ≥ level`, or `=` where it is an equality.
#[derive(Clone, Debug)]
pub(super) struct ConstraintRow {
    pub(super) normal: Vec<f64>,
    pub(super) level: f64,
    /// The name by which the caller knows the row.
    pub(super) id: usize,
    pub(super) kind: RowKind,
}

/// The part of a row in a limit of a sum of sizes, `Σ|xᵢ − vᵢ| ≤ T`.
///
/// The limit has a face for each choice of signs, and a point with k terms of zero is on `2ᵏ` of
/// them. One face alone is active at a time, with a kink for each such term. The kink holds `xᵢ` at
/// `vᵢ` from the side of the face, with a multiplier between zero and twice that of the face.
/// There the kink and the face are the face of the other sign.
#[derive(Clone, Debug)]
pub(super) enum RowKind {
    /// A row outside such a limit.
    Linear,
    /// The face whose normal has these signs.
    Face(Vec<f64>),
    /// The kink of a variable, whose normal has this sign: the opposite of that of the face.
    Kink { variable: usize, sign: f64 },
}

impl ConstraintRow {
    /// The distance of a point of this norm from the row; zero where it is met, or rounding.
    pub(super) fn violation(&self, point: &[f64], size: f64) -> f64 {
        let own = norm(&self.normal);
        let missing = self.level - inner(&self.normal, point);
        if missing > TOLERANCE * (own * size + self.level.abs()) { missing / own } else { 0.0 }
    }

    fn is(&self, other: &Self) -> bool {
        self.id == other.id && self.normal == other.normal
    }

    pub(super) fn is_kink(&self) -> bool {
        matches!(self.kind, RowKind::Kink { .. })
    }

    /// The signs of a face.
    pub(super) fn face(&self) -> Option<&[f64]> {
        match &self.kind {
            RowKind::Face(signs) => Some(signs),
            _ => None,
        }
    }

    /// The distance of a point from a level of the row, in units of the row.
    fn missing(&self, level: f64, point: &[f64]) -> f64 {
        // Most normals are those of bounds and kinks, with one element that is not zero.
        let terms = self.normal.iter().zip(point).filter(|(normal, _)| **normal != 0.0);
        let terms = terms.map(|(normal, value)| (*normal, -value)).chain([(level, 1.0)]);
        let (normal, point): (Vec<f64>, Vec<f64>) = terms.unzip();
        dot(&normal, &point)
    }
}

pub(super) fn norm(vector: &[f64]) -> f64 {
    inner(vector, vector).sqrt()
}

/// The rows of a programme.
pub(super) trait ConstraintRows {
    /// The equalities, which are always active.
    fn equalities(&self) -> Vec<ConstraintRow>;
    /// Returns the face with these signs of the limit of a sum of sizes.
    fn face(&self, signs: Vec<f64>) -> ConstraintRow;
    /// Returns the most violated inequality at a point; `None` where all are met. Of a limit of a
    /// sum of sizes this is a kink where a face is active, and the face of the point where none is.
    fn worst(&self, point: &[f64], active: &[ConstraintRow]) -> Option<ConstraintRow>;
    /// Returns the inequality that a point along a direction meets first, with the distance; `None`
    /// where the point meets none but the active ones.
    fn first_hit(
        &self,
        point: &[f64],
        way: &[f64],
        active: &[ConstraintRow],
    ) -> Option<(f64, ConstraintRow)>;
}

/// A point that satisfies the first-order conditions, with its active rows.
pub(super) struct Minimum {
    pub(super) point: Vec<f64>,
    pub(super) active: Vec<ConstraintRow>,
}

/// The reason why there is no minimum.
pub(super) enum Failure {
    /// The row that contradicts the others.
    Infeasible(usize),
    /// Rounding or time.
    NoConvergence(Error),
}

/// Returns the minimum of `½ xᵀΣx` under the rows.
pub(super) fn minimise(matrix: &Symmetric, rows: &dyn ConstraintRows) -> Result<Minimum, Failure> {
    let all: Vec<usize> = (0..matrix.size()).collect();
    let (factor, proximity) = match Cholesky::of(matrix, &all, 0.0, DEFINITE) {
        Ok(factor) => (factor, 0.0),
        Err(_) => {
            let shift = PROXIMITY * largest_variance(matrix);
            let factor = Cholesky::of(matrix, &all, shift, 0.0);
            (factor.map_err(|_| not_converged(0, shift))?, shift)
        }
    };
    let (search, gap) = search(matrix, &factor, proximity, rows)?;
    search.finish(gap)
}

/// Returns the finished search for the minimum of `½ xᵀΣx` under the rows, with its gap, given the
/// factor of Σ with a multiple of the identity.
fn search(
    matrix: &Symmetric,
    factor: &Cholesky,
    proximity: f64,
    rows: &dyn ConstraintRows,
) -> Result<(DualSearch, f64), Failure> {
    let inverse = inverse_of(factor, matrix.size());
    let mut centre = vec![0.0; matrix.size()];
    let mut left = MAX_ROWS * (matrix.size() as u32 + 10);
    for point in 1..=MAX_POINTS {
        let mut search = DualSearch::new(factor, &inverse, &centre, proximity);
        search.run(matrix, rows, &mut left)?;
        let gap = search.polish(matrix);
        let is_last = point == MAX_POINTS || !search.is_shifted;
        let is_minimum = || {
            let has_fit_multipliers = gap <= TOLERANCE && search.has_fit_multipliers(matrix);
            has_fit_multipliers && rows.worst(&search.point, &search.active).is_none()
        };
        if is_last || is_minimum() {
            return Ok((search, gap));
        }
        centre = search.point;
    }
    Err(not_converged(MAX_POINTS, f64::INFINITY))
}

/// The largest variance, or 1 where there is none.
fn largest_variance(matrix: &Symmetric) -> f64 {
    let largest = (0..matrix.size()).map(|index| matrix.diagonal(index)).fold(0.0, f64::max);
    if largest > 0.0 { largest } else { 1.0 }
}

fn not_converged(iterations: u32, residual: f64) -> Failure {
    Failure::NoConvergence(Error::NoConvergence { method: "dual active set", iterations, residual })
}

/// The columns of `U⁻¹` for the factor U.
fn inverse_of(factor: &Cholesky, size: usize) -> Vec<Vec<f64>> {
    let column = |index: usize| {
        let mut column = unit(size, index, 1.0);
        factor.solve_upper(&mut column);
        column
    };
    (0..size).map(column).collect()
}

/// The errors of a point and multipliers in the first-order conditions.
struct Residuals {
    /// The gradient less the multiples of the active rows.
    slopes: Vec<f64>,
    /// The distances from the active rows.
    missing: Vec<f64>,
}

/// A limit that the multiplier of an active row reaches, by the index of the row. The index after
/// the last is that of the row that is being added.
#[derive(Clone, Copy, Debug)]
enum MultiplierLimit {
    /// Zero.
    Zero(usize),
    /// Twice the multiplier of the face.
    OfFace(usize),
}

/// A step that raises the multiplier of a further row by its length.
struct DualStep {
    /// The parts of the row in the columns.
    parts: Vec<f64>,
    /// The multiples of the active rows that the row replaces.
    rates: Vec<f64>,
    /// The approach to the row.
    free: f64,
    /// True where the row depends on the active ones, so that the point stays.
    is_dependent: bool,
}

/// A point with its active rows N, and `JᵀN = (R; 0)`, `JᵀHJ = 1`.
struct DualSearch {
    point: Vec<f64>,
    active: Vec<ConstraintRow>,
    multipliers: Vec<f64>,
    /// The number of equalities, which are the first active rows.
    equalities: usize,
    /// True where a multiple of the identity is added to the matrix.
    is_shifted: bool,
    columns: Vec<Vec<f64>>,
    /// The columns of R, each up to its diagonal.
    triangle: Vec<Vec<f64>>,
}

impl DualSearch {
    /// Returns the minimum without rows of `½ xᵀHx − proximity·cᵀx`.
    fn new(factor: &Cholesky, inverse: &[Vec<f64>], centre: &[f64], proximity: f64) -> Self {
        let mut point: Vec<f64> = centre.iter().map(|value| proximity * value).collect();
        factor.solve(&mut point);
        Self {
            point,
            active: Vec::new(),
            multipliers: Vec::new(),
            equalities: 0,
            is_shifted: proximity > 0.0,
            columns: inverse.to_vec(),
            triangle: Vec::new(),
        }
    }

    /// Adds rows until none is violated.
    fn run(
        &mut self,
        matrix: &Symmetric,
        rows: &dyn ConstraintRows,
        left: &mut u32,
    ) -> Result<(), Failure> {
        for row in rows.equalities() {
            let id = row.id;
            if !self.add_equality(row) {
                return Err(Failure::Infeasible(id));
            }
            self.equalities = self.active.len();
        }
        while let Some(row) = rows.worst(&self.point, &self.active) {
            *left = left.checked_sub(1).ok_or_else(|| not_converged(MAX_ROWS, f64::INFINITY))?;
            let id = row.id;
            // Rounding has moved the point away from a row that is active.
            let active = self.active.iter().position(|active| active.is(&row));
            if active.is_some() && !self.is_shifted {
                self.polish(matrix);
                continue;
            }
            let own = active.map_or(0.0, |index| self.drop(index));
            if !self.add(rows, row, own) {
                return Err(Failure::Infeasible(id));
            }
        }
        Ok(())
    }

    /// Moves to the minimum with a row met as an equality; returns `false` where the row contradicts
    /// the active ones.
    fn add_equality(&mut self, row: ConstraintRow) -> bool {
        let step = self.step_to(&row);
        let missing = row.missing(row.level, &self.point);
        if step.is_dependent {
            let terms = row.level.abs() + norm(&row.normal) * norm(&self.point);
            return missing.abs() <= 10.0 * TOLERANCE * terms;
        }
        let length = missing / step.free;
        self.follow(&step, length);
        self.push(row, length, step.parts);
        true
    }

    /// Moves to the minimum with a further row met as an equality, given the multiplier of the row
    /// at the start, and drops rows whose multipliers fall to zero. Returns `false` where the row
    /// contradicts the active ones.
    fn add(&mut self, rows: &dyn ConstraintRows, mut row: ConstraintRow, mut own: f64) -> bool {
        loop {
            let step = self.step_to(&row);
            // On a path an inequality is added where it is met to rounding.
            let missing = row.missing(row.level, &self.point).max(0.0);
            let full = if step.is_dependent { f64::INFINITY } else { missing / step.free };
            let limit = self.first_limit_of_step(&step, &row, own);
            let length = limit.map_or(full, |(length, _)| length.min(full));
            // It is no number where rounding has left no direction.
            if !length.is_finite() {
                return false;
            }
            self.follow(&step, length);
            own += length;
            match limit.filter(|(length, _)| *length < full) {
                Some((_, MultiplierLimit::Zero(index))) => self.release(index),
                Some((_, MultiplierLimit::OfFace(index))) => {
                    (row, own) = self.flip_while_adding(rows, index, row, own);
                }
                None => {
                    self.push(row, own, step.parts);
                    return true;
                }
            }
        }
    }

    /// Returns the step that raises the multiplier of a further row.
    fn step_to(&self, row: &ConstraintRow) -> DualStep {
        let count = self.active.len();
        let parts: Vec<f64> =
            self.columns.iter().map(|column| inner(column, &row.normal)).collect();
        let rates = self.solve_triangle(&parts[..count]);
        let free = inner(&parts[count..], &parts[count..]);
        let is_dependent = free <= DEPENDENT * DEPENDENT * inner(&parts, &parts);
        DualStep { parts, rates, free, is_dependent }
    }

    /// Moves along a step.
    fn follow(&mut self, step: &DualStep, length: f64) {
        let count = self.active.len();
        if !step.is_dependent {
            for (part, column) in step.parts[count..].iter().zip(&self.columns[count..]) {
                add_multiple(&mut self.point, length * part, column);
            }
        }
        add_multiple(&mut self.multipliers, -length, &step.rates);
    }

    /// Adds a row that the point meets to the active ones, given its parts in the columns.
    fn push(&mut self, row: ConstraintRow, multiplier: f64, mut parts: Vec<f64>) {
        self.extend(&mut parts);
        self.active.push(row);
        self.multipliers.push(multiplier);
    }

    /// Solves `Rx = b`.
    fn solve_triangle(&self, values: &[f64]) -> Vec<f64> {
        let mut values = values.to_vec();
        for index in (0..values.len()).rev() {
            let column = &self.triangle[index];
            values[index] /= column[index];
            let value = values[index];
            add_multiple(&mut values[..index], -value, &column[..index]);
        }
        values
    }

    /// Solves `Rᵀx = b`.
    fn solve_transposed(&self, values: &[f64]) -> Vec<f64> {
        let mut solved: Vec<f64> = Vec::with_capacity(values.len());
        for (value, column) in values.iter().zip(&self.triangle) {
            let rest = value - inner(&column[..solved.len()], &solved);
            solved.push(rest / column[solved.len()]);
        }
        solved
    }

    /// Rotates the free columns so that a row has a part in the first of them alone.
    fn extend(&mut self, parts: &mut [f64]) {
        let count = self.active.len();
        for index in (count + 1..parts.len()).rev() {
            let (cosine, sine, length) = rotation(parts[index - 1], parts[index]);
            (parts[index - 1], parts[index]) = (length, 0.0);
            rotate(&mut self.columns, index - 1, cosine, sine);
        }
        self.triangle.push(parts[..=count].to_vec());
    }

    /// Removes an active row; returns its multiplier.
    fn drop(&mut self, index: usize) -> f64 {
        self.active.remove(index);
        self.triangle.remove(index);
        for row in index..self.active.len() {
            let column = &self.triangle[row];
            let (cosine, sine, _) = rotation(column[row], column[row + 1]);
            for column in &mut self.triangle[row..] {
                let (a, b) = (column[row], column[row + 1]);
                (column[row], column[row + 1]) = (cosine * a + sine * b, cosine * b - sine * a);
            }
            self.triangle[row].truncate(row + 1);
            rotate(&mut self.columns, row, cosine, sine);
        }
        self.multipliers.remove(index)
    }

    /// Improves the point by residuals in twice the precision, of the matrix without the multiple
    /// of the identity; returns the gap.
    fn polish(&mut self, matrix: &Symmetric) -> f64 {
        let mut residuals = self.own_residuals(matrix, &self.point, &self.multipliers);
        let mut gap = self.gap(matrix, &residuals, &self.point);
        for _ in 0..60 {
            let (mut point, mut multipliers) = (self.point.clone(), self.multipliers.clone());
            self.correct(&residuals, &mut point, &mut multipliers);
            residuals = self.own_residuals(matrix, &point, &multipliers);
            let next = self.gap(matrix, &residuals, &point);
            if next.is_nan() || next >= gap {
                break;
            }
            (self.point, self.multipliers) = (point, multipliers);
            let is_slow = next > 0.9 * gap;
            gap = next;
            if is_slow {
                break;
            }
        }
        gap
    }

    /// Adds to a point and multipliers what removes their residuals, with the multiple of the
    /// identity.
    fn correct(&self, residuals: &Residuals, point: &mut [f64], multipliers: &mut [f64]) {
        let count = residuals.missing.len();
        let parts: Vec<f64> =
            self.columns.iter().map(|column| -inner(column, &residuals.slopes)).collect();
        let own = self.solve_transposed(&residuals.missing);
        let differences: Vec<f64> = own.iter().zip(&parts).map(|(own, part)| own - part).collect();
        let rates = self.solve_triangle(&differences);
        for (part, column) in own.iter().chain(&parts[count..]).zip(&self.columns) {
            add_multiple(point, *part, column);
        }
        add_multiple(multipliers, 1.0, &rates);
    }

    /// The residuals at the levels of the active rows.
    fn own_residuals(&self, matrix: &Symmetric, point: &[f64], multipliers: &[f64]) -> Residuals {
        let levels: Vec<f64> = self.active.iter().map(|row| row.level).collect();
        self.residuals(matrix, point, multipliers, &levels)
    }

    /// The residuals of a point and multipliers at levels of the active rows, in twice the
    /// precision.
    fn residuals(
        &self,
        matrix: &Symmetric,
        point: &[f64],
        multipliers: &[f64],
        levels: &[f64],
    ) -> Residuals {
        let slope = |index: usize| {
            let terms = self.active.iter().zip(multipliers);
            let terms = terms.map(|(row, multiplier)| (-row.normal[index], *multiplier));
            let (normals, multipliers): (Vec<f64>, Vec<f64>) =
                terms.filter(|(normal, _)| *normal != 0.0).unzip();
            dot(&[matrix.row(index), &normals].concat(), &[point, &multipliers].concat())
        };
        let missing = self.active.iter().zip(levels).map(|(row, &level)| row.missing(level, point));
        Residuals { slopes: (0..point.len()).map(slope).collect(), missing: missing.collect() }
    }

    /// The largest residual: of the gradient in units of the largest variance and of the point, or
    /// of an active row in units of its terms.
    fn gap(&self, matrix: &Symmetric, residuals: &Residuals, point: &[f64]) -> f64 {
        let slopes = residuals.slopes.iter();
        let largest = slopes.fold(0.0, |largest: f64, slope| largest.max(slope.abs()));
        let size = norm(point);
        let missing = self.active.iter().zip(&residuals.missing).map(|(row, missing)| {
            let terms = norm(&row.normal) * size + row.level.abs();
            missing.abs() / terms.max(f64::MIN_POSITIVE)
        });
        missing.fold(largest / size_of_slopes(matrix, point), f64::max)
    }

    fn finish(self, gap: f64) -> Result<Minimum, Failure> {
        if gap.is_nan() || gap > 10.0 * TOLERANCE {
            return Err(not_converged(MAX_POINTS, gap));
        }
        let Self { point, active, .. } = self;
        Ok(Minimum { point, active })
    }
}

/// The largest variance times the size of the point.
fn size_of_slopes(matrix: &Symmetric, point: &[f64]) -> f64 {
    largest_variance(matrix) * norm(point).max(f64::MIN_POSITIVE)
}

fn add_multiple(vector: &mut [f64], factor: f64, other: &[f64]) {
    for (element, other) in vector.iter_mut().zip(other) {
        *element += factor * other;
    }
}

/// Returns cosine, sine and length of the rotation that takes a pair to (length, 0).
fn rotation(a: f64, b: f64) -> (f64, f64, f64) {
    let length = libm::hypot(a, b);
    if length == 0.0 { (1.0, 0.0, 0.0) } else { (a / length, b / length, length) }
}

/// Rotates a column and the next one.
fn rotate(columns: &mut [Vec<f64>], first: usize, cosine: f64, sine: f64) {
    let (above, below) = columns.split_at_mut(first + 1);
    for (a, b) in above[first].iter_mut().zip(&mut below[0]) {
        (*a, *b) = (cosine * *a + sine * *b, cosine * *b - sine * *a);
    }
}

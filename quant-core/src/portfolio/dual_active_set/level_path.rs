//! The minima of a programme as the level of its last equality rises.
//!
//! Between two changes of the active rows the minimum moves along a line. A change is due where a
//! multiplier reaches zero, so that its row is dropped, or where the minimum meets a row, which is
//! added by a step of the dual method. The largest level is reached where a row that is met
//! contradicts the active ones.
//!
//! Where the matrix is singular, a small multiple of the identity is added, so that each level has
//! one minimum: its first-order gap is that multiple.
//!
//! Best (1996), "An algorithm for the solution of the parametric quadratic programming problem".

use std::borrow::Cow;

use super::{
    ConstraintRow, ConstraintRows, DEFINITE, DualSearch, Failure, MultiplierLimit, Residuals,
    TOLERANCE, add_multiple, largest_variance, norm, not_converged, search, size_of_slopes,
};
use crate::portfolio::cholesky::Cholesky;
use crate::portfolio::symmetric::{Symmetric, inner, unit};

/// The change of a multiplier along the path, in units of its terms, that is rounding.
const NO_CHANGE: f64 = 1e-12;
/// The same after corrections in twice the precision, below the multiple of the identity.
const NO_CORRECTED_CHANGE: f64 = 5e-15;
/// The derivative of the minimum by the level, in units of its terms, that is rounding or due to
/// the multiple of the identity.
const NO_PRICE: f64 = 1e-11;
/// The number of these corrections.
const CORRECTIONS: u32 = 2;
/// The move of a point, as a part of its size, that is rounding.
const STANDSTILL: f64 = 2.842_170_943_040_401e-14;
/// The part of a level, and of the terms of a row, that is rounding.
const ROUNDED: f64 = 8.881_784_197_001_252e-16;
/// The distance of a point from a row that is met, in units of the terms of the row.
const MET: f64 = 10.0 * TOLERANCE;
/// The largest move of a point past a row, as a part of the point, that rounding causes.
const NEAR: f64 = 1e-6;
/// The number of changes of the active rows, for each variable, after which the search ends.
const MAX_CHANGES: u32 = 60;
/// The multiple of the identity that is added to a singular matrix, in units of the largest
/// element: above the rounding of a factorisation, below the gap that is accepted.
const RIDGE: f64 = 5e-13;

/// The path of the minima, at one of its corners.
pub(in crate::portfolio) struct LevelPath<'m> {
    matrix: Cow<'m, Symmetric>,
    search: DualSearch,
    /// The number of changes after which the search fails.
    left: u32,
    /// True where no minimum has a larger level.
    is_over: bool,
}

/// A point of the path at which the active rows change.
pub(in crate::portfolio) struct PathCorner {
    pub(in crate::portfolio) point: Vec<f64>,
    /// The names of the rows that the point meets as equalities.
    pub(in crate::portfolio) held: Vec<usize>,
    /// True where the minimum up to the corner does not depend on the level, to rounding.
    pub(in crate::portfolio) is_at_start: bool,
}

/// A step along the path.
pub(in crate::portfolio) enum PathStep {
    /// A line to the next corner.
    Corner(PathCorner),
    /// A ray without end, along a direction.
    Ray(Vec<f64>),
    /// The end: no point has a larger level.
    End,
}

/// The derivatives of point and multipliers by the level.
struct PathMotion {
    way: Vec<f64>,
    rates: Vec<f64>,
}

/// A change of the active rows.
enum Change {
    /// A multiplier is at its limit.
    Limit(MultiplierLimit),
    /// The point meets a row.
    Add(ConstraintRow),
}

impl<'m> LevelPath<'m> {
    /// Returns the path from the minimum under the rows; `None` where the last equality depends on
    /// the others, so that there is one level alone.
    pub(in crate::portfolio) fn from(
        matrix: &'m Symmetric,
        rows: &dyn ConstraintRows,
    ) -> Result<Option<Self>, Failure> {
        let all: Vec<usize> = (0..matrix.size()).collect();
        let (matrix, factor) = match Cholesky::of(matrix, &all, 0.0, DEFINITE) {
            Ok(factor) => (Cow::Borrowed(matrix), factor),
            Err(_) => {
                let ridge = RIDGE * largest_variance(matrix);
                let matrix = matrix.shifted(ridge);
                let factor = Cholesky::of(&matrix, &all, 0.0, 0.0);
                let factor = factor.map_err(|_| not_converged(0, ridge))?;
                (Cow::Owned(matrix), factor)
            }
        };
        let (search, gap) = search(&matrix, &factor, 0.0, rows)?;
        if gap.is_nan() || gap > 10.0 * TOLERANCE {
            return Err(not_converged(0, gap));
        }
        let has_level = search.equalities == rows.equalities().len();
        let left = MAX_CHANGES * (matrix.size() as u32 + 10);
        Ok(has_level.then_some(Self { matrix, search, left, is_over: false }))
    }

    /// Returns the present point.
    pub(in crate::portfolio) fn corner(&self) -> PathCorner {
        let price = self.search.multipliers[self.search.equalities - 1].abs();
        let noise = NO_PRICE * size_of_slopes(&self.matrix, &self.search.point);
        PathCorner {
            point: self.search.point.clone(),
            held: self.search.active.iter().map(|row| row.id).collect(),
            is_at_start: price <= noise,
        }
    }

    /// Advances to the next corner, past all changes that coincide there.
    pub(in crate::portfolio) fn advance(
        &mut self,
        rows: &dyn ConstraintRows,
    ) -> Result<PathStep, Failure> {
        while !self.is_over {
            self.left = self.left.checked_sub(1).ok_or_else(|| self.not_advanced())?;
            let motion = self.motion();
            let Some((distance, change)) = self.next_change(rows, &motion) else {
                return Ok(PathStep::Ray(motion.way));
            };
            let moved = distance * norm(&motion.way);
            if !moved.is_finite() {
                return Err(self.not_advanced());
            }
            self.follow(&motion, distance);
            let has_moved = moved > STANDSTILL * norm(&self.search.point);
            let mut corner = None;
            if has_moved {
                self.polish()?;
                self.meet(&change, &motion)?;
                corner = Some(self.corner());
            }
            let hit = self.apply(rows, change);
            if let Some(mut corner) = corner {
                corner.held.extend(hit);
                return Ok(PathStep::Corner(corner));
            }
        }
        Ok(PathStep::End)
    }

    fn not_advanced(&self) -> Failure {
        not_converged(MAX_CHANGES * (self.search.point.len() as u32 + 10), f64::INFINITY)
    }

    /// Returns whether a multiple of the identity is added to the matrix.
    fn has_ridge(&self) -> bool {
        matches!(self.matrix, Cow::Owned(_))
    }

    /// Returns the derivatives by the level.
    fn motion(&self) -> PathMotion {
        let (size, count) = (self.search.point.len(), self.search.active.len());
        let levels = unit(count, self.search.equalities - 1, 1.0);
        let (mut way, mut rates) = (vec![0.0; size], vec![0.0; count]);
        let residuals = Residuals { slopes: vec![0.0; size], missing: levels.clone() };
        self.search.correct(&residuals, &mut way, &mut rates);
        for _ in 0..if self.has_ridge() { CORRECTIONS } else { 0 } {
            let residuals = self.search.residuals(&self.matrix, &way, &rates, &levels);
            self.search.correct(&residuals, &mut way, &mut rates);
        }
        PathMotion { way, rates }
    }

    /// Returns the next change of the active rows and its distance.
    fn next_change(&self, rows: &dyn ConstraintRows, motion: &PathMotion) -> Option<(f64, Change)> {
        let limit = self.first_limit(motion);
        let hit = rows.first_hit(&self.search.point, &motion.way, &self.search.active);
        match (limit, hit) {
            (Some((distance, limit)), hit) if hit.as_ref().is_none_or(|hit| distance <= hit.0) => {
                Some((distance, Change::Limit(limit)))
            }
            (_, hit) => hit.map(|(distance, row)| (distance, Change::Add(row))),
        }
    }

    /// Returns the limit that a multiplier reaches first, after its distance.
    fn first_limit(&self, motion: &PathMotion) -> Option<(f64, MultiplierLimit)> {
        let part = if self.has_ridge() { NO_CORRECTED_CHANGE } else { NO_CHANGE };
        let noise = part * size_of_slopes(&self.matrix, &motion.way);
        self.search.first_limit_at(&motion.rates, noise)
    }

    /// Removes a row whose multiplier is at its limit from the active ones.
    fn release(&mut self, rows: &dyn ConstraintRows, limit: MultiplierLimit) {
        match limit {
            MultiplierLimit::Zero(index) => self.search.release(index),
            MultiplierLimit::OfFace(kink) => self.search.flip(rows, kink),
        }
    }

    /// Moves along the path.
    fn follow(&mut self, motion: &PathMotion, distance: f64) {
        add_multiple(&mut self.search.point, distance, &motion.way);
        add_multiple(&mut self.search.multipliers, distance, &motion.rates);
        self.search.active[self.search.equalities - 1].level += distance;
    }

    /// Moves to the row that is met from the improved point, which may be past the row.
    ///
    /// Where the variance rises steeply, the rounding of the level alone is a visible move, which an
    /// improvement of the point would take back. A row that is further ahead is left for a further
    /// step, because another row may be met before.
    fn meet(&mut self, change: &Change, motion: &PathMotion) -> Result<(), Failure> {
        let Change::Add(row) = change else { return Ok(()) };
        for is_last in [false, true] {
            let missing = row.missing(row.level, &self.search.point);
            if missing.abs() <= ROUNDED * self.terms(row) {
                break;
            }
            let distance = missing / inner(&row.normal, &motion.way);
            // The path runs along the row.
            if !distance.is_finite() {
                break;
            }
            let is_rounding = missing.abs() <= MET * self.terms(row)
                || distance.abs() <= ROUNDED * self.level().abs();
            let moved = distance.abs() * norm(&motion.way);
            let is_back = distance < 0.0 && moved <= NEAR * norm(&self.search.point);
            if is_rounding || is_back {
                self.follow(motion, distance);
            }
            if is_rounding || is_last || !is_back {
                break;
            }
            self.polish()?;
        }
        Ok(())
    }

    /// The size of the terms of a row at the present point.
    fn terms(&self, row: &ConstraintRow) -> f64 {
        norm(&row.normal) * norm(&self.search.point) + row.level.abs()
    }

    /// The level of the last equality.
    fn level(&self) -> f64 {
        self.search.active[self.search.equalities - 1].level
    }

    /// Improves the point; fails where rounding leaves a gap.
    fn polish(&mut self) -> Result<(), Failure> {
        let gap = self.search.polish(&self.matrix);
        let DualSearch { point, active, multipliers, .. } = &self.search;
        let sizes = active.iter().zip(multipliers).map(|(row, u)| norm(&row.normal) * u.abs());
        let terms = 1.0 + sizes.fold(0.0, f64::max) / size_of_slopes(&self.matrix, point);
        if gap.is_nan() || gap > 10.0 * TOLERANCE * terms {
            return Err(not_converged(MAX_CHANGES, gap));
        }
        Ok(())
    }

    /// Changes the active rows; returns the name of the row that is met.
    ///
    /// A row from which the improved point is away is left for a further step.
    fn apply(&mut self, rows: &dyn ConstraintRows, change: Change) -> Option<usize> {
        match change {
            Change::Limit(limit) => {
                self.release(rows, limit);
                None
            }
            Change::Add(row) => {
                let (id, met) = (row.id, MET * self.terms(&row));
                let missing = row.missing(row.level, &self.search.point);
                if missing < -met {
                    return None;
                }
                self.is_over = !self.search.add(rows, row, 0.0);
                (missing <= met).then_some(id)
            }
        }
    }
}

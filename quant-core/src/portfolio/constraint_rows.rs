//! The conditions on a portfolio as rows of a quadratic programme.

use super::dual_active_set::{ConstraintRow, ConstraintRows, Failure, RowKind, norm};
use super::limits::Limits;
use super::symmetric::{inner, unit};
use super::turnover_faces::{MET, NO_CHANGE, TurnoverFaces, UNTRADED};
use crate::Error;
use crate::arithmetic::without_negative_zero;

/// The distance of a weight from a bound, in units of the largest weight, that is rounding.
const ROUNDED: f64 = 1.776_356_839_400_250_5e-15;

/// The names of rows: of these three, then three of each asset and two of each constraint.
const BUDGET: usize = 0;
pub(super) const RETURN: usize = 1;
const TURNOVER: usize = 2;
const FIRST: usize = 3;

/// The conditions of a problem as rows.
pub(super) struct Conditions<'a> {
    lower: &'a [f64],
    upper: &'a [f64],
    equalities: Vec<ConstraintRow>,
    rows: Vec<ConstraintRow>,
    /// The kinks of the limit of turnover, from both sides.
    kinks: Vec<ConstraintRow>,
    turnover: Option<TurnoverFaces<'a>>,
    /// True where points stand for their multiples: each level is then times the sum of the point.
    is_homogeneous: bool,
}

impl<'a> Conditions<'a> {
    pub(super) fn new(limits: Limits<'a>, lower: &'a [f64], upper: &'a [f64]) -> Self {
        let size = lower.len();
        let at_least = (0..size).map(|asset| (unit(size, asset, 1.0), lower[asset]));
        let at_most = (0..size).map(|asset| (unit(size, asset, -1.0), -upper[asset]));
        let bounds = at_least.chain(at_most).zip(FIRST..);
        let linear = limits.constraints.iter().flat_map(|constraint| {
            let opposite = constraint.coefficients.iter().map(|value| -value).collect();
            let max = constraint.max.map_or(f64::NEG_INFINITY, |max| -max);
            let min = constraint.min.unwrap_or(f64::NEG_INFINITY);
            [(constraint.coefficients.clone(), min), (opposite, max)]
        });
        let all = bounds.chain(linear.zip(FIRST + 3 * size..));
        let finite = all.filter(|((_, level), _)| level.is_finite());
        let rows = finite.map(|((normal, level), id)| linear_row(normal, level, id)).collect();
        let turnover = limits.turnover.map(|limit| TurnoverFaces::new(limit, lower, upper));
        let kinks = turnover.as_ref().map(|turnover| turnover.kinks(FIRST + 2 * size));
        Self {
            lower,
            upper,
            equalities: vec![linear_row(vec![1.0; size], 1.0, BUDGET)],
            rows,
            kinks: kinks.unwrap_or_default(),
            turnover,
            is_homogeneous: false,
        }
    }

    /// Adds the condition that the weighted sum of these returns is the target.
    pub(super) fn require_return(&mut self, returns: Vec<f64>, target: f64) {
        self.equalities.push(linear_row(returns, target, RETURN));
    }

    /// Returns the conditions on multiples of a portfolio whose excess return is 1.
    pub(super) fn homogeneous(&self, excess_returns: Vec<f64>) -> Self {
        let size = excess_returns.len();
        let mut rows: Vec<ConstraintRow> = self.rows.iter().map(homogeneous).collect();
        rows.push(linear_row(vec![1.0; size], 0.0, BUDGET));
        let equalities = vec![linear_row(excess_returns, 1.0, RETURN)];
        let kinks = self.kinks.iter().map(homogeneous).collect();
        let Self { lower, upper, .. } = *self;
        let turnover = self.turnover.clone();
        Self { lower, upper, equalities, rows, kinks, turnover, is_homogeneous: true }
    }

    /// Returns the error of a programme without a solution.
    pub(super) fn refusal(&self, failure: Failure) -> Error {
        let size = self.lower.len();
        let problem = "it contradicts the other constraints".to_owned();
        let (argument, index) = match failure {
            Failure::NoConvergence(error) => return error,
            Failure::Infeasible(TURNOVER) => ("max_turnover", None),
            Failure::Infeasible(RETURN) => ("target_return", None),
            Failure::Infeasible(BUDGET) => ("constraints", None),
            Failure::Infeasible(id) if id < FIRST + size => ("min_weights", Some(id - FIRST)),
            Failure::Infeasible(id) if id < FIRST + 2 * size => {
                ("max_weights", Some(id - FIRST - size))
            }
            Failure::Infeasible(id) if id < FIRST + 3 * size => ("max_turnover", None),
            Failure::Infeasible(id) => ("constraints", Some((id - FIRST - 3 * size) / 2)),
        };
        Error::Infeasible { argument, index, problem }
    }

    /// Returns the weights within their bounds, those at a bound or untraded set to the bound or
    /// current weight. The rows that hold the weights as equalities are given by their names.
    pub(super) fn settled(
        &self,
        mut weights: Vec<f64>,
        held: impl IntoIterator<Item = usize>,
    ) -> Vec<f64> {
        let largest = weights.iter().fold(1.0, |largest: f64, weight| largest.max(weight.abs()));
        let current = self.turnover.as_ref().map_or(&[][..], TurnoverFaces::current_weights);
        for (weight, current) in weights.iter_mut().zip(current) {
            if (*weight - current).abs() <= UNTRADED * largest {
                *weight = *current;
            }
        }
        let size = weights.len();
        for position in held.into_iter().filter_map(|id| id.checked_sub(FIRST)) {
            if let Some(values) = [self.lower, self.upper, current].get(position / size) {
                weights[position % size] = values[position % size];
            }
        }
        let bounds = self.lower.iter().zip(self.upper);
        // What is left of a violation is rounding.
        let inside = |(&weight, (&low, &high)): (&f64, (&f64, &f64))| {
            let near = |bound: &f64| (weight - bound).abs() <= ROUNDED * largest;
            let nearest = [low, high].into_iter().find(near);
            without_negative_zero(nearest.unwrap_or(weight.max(low).min(high)))
        };
        weights.iter().zip(bounds).map(inside).collect()
    }

    /// The rows of the bounds and constraints, and the kinks of the active face.
    fn with_kinks<'s>(
        &'s self,
        face: Option<&'s [f64]>,
    ) -> impl Iterator<Item = &'s ConstraintRow> {
        let kinks = face.into_iter().flat_map(|signs| {
            self.kinks.iter().filter(|row| match row.kind {
                RowKind::Kink { variable, sign } => sign != signs[variable],
                _ => false,
            })
        });
        self.rows.iter().chain(kinks)
    }
}

fn linear_row(normal: Vec<f64>, level: f64, id: usize) -> ConstraintRow {
    ConstraintRow { normal, level, id, kind: RowKind::Linear }
}

/// Returns the signs of the active face.
fn active_face(active: &[ConstraintRow]) -> Option<&[f64]> {
    active.iter().find_map(ConstraintRow::face)
}

/// Returns the condition `(a − b1)ᵀy ≥ 0` on multiples of the weights that `aᵀw ≥ b` allows.
fn homogeneous(row: &ConstraintRow) -> ConstraintRow {
    let normal = row.normal.iter().map(|normal| normal - row.level).collect();
    ConstraintRow { normal, level: 0.0, ..row.clone() }
}

impl ConstraintRows for Conditions<'_> {
    fn equalities(&self) -> Vec<ConstraintRow> {
        self.equalities.clone()
    }

    fn face(&self, signs: Vec<f64>) -> ConstraintRow {
        let turnover = self.turnover.as_ref().expect("a face is one of a limit of turnover");
        let row = turnover.face(signs, TURNOVER);
        if self.is_homogeneous { homogeneous(&row) } else { row }
    }

    fn worst(&self, point: &[f64], active: &[ConstraintRow]) -> Option<ConstraintRow> {
        let signs = active_face(active);
        let total = if self.is_homogeneous { point.iter().sum() } else { 1.0 };
        let nearest = || Some(self.turnover.as_ref()?.signs_at(point, total));
        let face = signs.map(<[f64]>::to_vec).or_else(nearest).map(|signs| self.face(signs));
        let size = norm(point);
        let all = self.with_kinks(signs).chain(&face);
        let violations = all.map(|row| (row.violation(point, size), row));
        let worst = violations.filter(|(violation, _)| *violation > 0.0);
        worst.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, row)| row.clone())
    }

    fn first_hit(
        &self,
        point: &[f64],
        way: &[f64],
        active: &[ConstraintRow],
    ) -> Option<(f64, ConstraintRow)> {
        let (size, length) = (norm(point), norm(way));
        let hit = |row: &'_ ConstraintRow| {
            let (own, rate) = (norm(&row.normal), inner(&row.normal, way));
            if rate >= -NO_CHANGE * own * length || active.iter().any(|other| other.id == row.id) {
                return None;
            }
            let room = inner(&row.normal, point) - row.level;
            let room = if room <= MET * (own * size + row.level.abs()) { 0.0 } else { room };
            Some(room / -rate)
        };
        let face = active_face(active);
        let hits = self.with_kinks(face).filter_map(|row| hit(row).map(|distance| (distance, row)));
        let first = hits.min_by(|(a, _), (b, _)| a.total_cmp(b));
        let first = first.map(|(distance, row)| (distance, row.clone()));
        let turnover = self.turnover.as_ref().filter(|_| face.is_none());
        let hit = turnover.and_then(|turnover| turnover.first_hit(point, way));
        let hit = hit.map(|(distance, signs)| (distance, self.face(signs)));
        let hits = first.into_iter().chain(hit);
        hits.min_by(|(a, _), (b, _)| a.total_cmp(b))
    }
}

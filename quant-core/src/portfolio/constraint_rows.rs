//! The conditions on a portfolio as rows of a quadratic programme.

use super::dual_active_set::{ConstraintRow, ConstraintRows, Failure, RowKind, norm};
use super::limits::{Limits, TurnoverLimit};
use super::symmetric::{dot, inner};
use crate::Error;

/// The distance from a current weight, in units of the largest weight, that is rounding.
const UNTRADED: f64 = 1e-14;
/// The distance of a weight from a bound, in units of the largest weight, that is rounding.
const ROUNDED: f64 = 1.776_356_839_400_250_5e-15;
/// The change of a condition along a direction, as a part of its terms, that is rounding.
const NO_CHANGE: f64 = 1e-12;
/// The distance of a point from a condition, as a part of its terms, that is rounding.
const MET: f64 = 1e-13;

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
    turnover: Option<&'a TurnoverLimit>,
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
        let mut conditions = Self {
            lower,
            upper,
            equalities: vec![linear_row(vec![1.0; size], 1.0, BUDGET)],
            rows,
            kinks: Vec::new(),
            turnover: limits.turnover,
            is_homogeneous: false,
        };
        conditions.kinks = conditions.kinks();
        conditions
    }

    /// Returns the kinks of the limit of turnover: of each asset whose current weight is between the
    /// bounds, so that the asset may be bought and sold.
    fn kinks(&self) -> Vec<ConstraintRow> {
        let Some(turnover) = self.turnover else { return Vec::new() };
        let size = self.lower.len();
        let kink = |variable: usize, sign: f64| ConstraintRow {
            normal: unit(size, variable, sign),
            level: sign * turnover.current_weights[variable],
            id: FIRST + 2 * size + variable,
            kind: RowKind::Kink { variable, sign },
        };
        let assets = (0..size).filter(|&asset| self.only_sign(turnover, asset).is_none());
        assets.flat_map(|asset| [1.0, -1.0].map(|sign| kink(asset, sign))).collect()
    }

    /// The sign of an asset in the faces of the limit of turnover, where the bounds leave one alone.
    fn only_sign(&self, turnover: &TurnoverLimit, asset: usize) -> Option<f64> {
        let current = turnover.current_weights[asset];
        if current <= self.lower[asset] {
            Some(-1.0)
        } else {
            (current >= self.upper[asset]).then_some(1.0)
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
        let Self { lower, upper, turnover, .. } = *self;
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
        if let Some(turnover) = self.turnover {
            for (weight, current) in weights.iter_mut().zip(&turnover.current_weights) {
                if (*weight - current).abs() <= UNTRADED * largest {
                    *weight = *current;
                }
            }
        }
        let size = weights.len();
        let current = self.turnover.map_or(&[][..], |limit| &limit.current_weights);
        for position in held.into_iter().filter_map(|id| id.checked_sub(FIRST)) {
            if let Some(values) = [self.lower, self.upper, current].get(position / size) {
                weights[position % size] = values[position % size];
            }
        }
        let bounds = self.lower.iter().zip(self.upper);
        // What is left of a violation is rounding.
        let inside = |(&weight, (&low, &high)): (&f64, (&f64, &f64))| {
            let near = |bound: &f64| (weight - bound).abs() <= ROUNDED * largest;
            [low, high].into_iter().find(near).unwrap_or(weight.max(low).min(high)) + 0.0
        };
        weights.iter().zip(bounds).map(inside).collect()
    }

    /// The face of the limit of turnover that a point violates most: the one of the signs of its
    /// changes.
    fn face_of(&self, point: &[f64]) -> Option<ConstraintRow> {
        let turnover = self.turnover?;
        let total = if self.is_homogeneous { point.iter().sum() } else { 1.0 };
        let sign = |(asset, value): (usize, &f64)| {
            let is_up = *value >= total * turnover.current_weights[asset];
            self.only_sign(turnover, asset).unwrap_or(if is_up { -1.0 } else { 1.0 })
        };
        Some(self.face(point.iter().enumerate().map(sign).collect()))
    }

    /// The face of the limit of turnover that a point along a direction meets first, with the
    /// distance of that point.
    fn face_hit(&self, point: &[f64], way: &[f64]) -> Option<(f64, ConstraintRow)> {
        let turnover = self.turnover?;
        let largest = point.iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
        let changes = point.iter().zip(&turnover.current_weights);
        let changes: Vec<f64> = changes.map(|(value, current)| value - current).collect();
        let is_kink = |change: f64| change.abs() <= UNTRADED * largest;
        let only_signs: Vec<Option<f64>> =
            (0..way.len()).map(|asset| self.only_sign(turnover, asset)).collect();
        let sign = |asset: usize| {
            let (change, rate) = (changes[asset], way[asset]);
            let is_up = if is_kink(change) { rate >= 0.0 } else { change >= 0.0 };
            only_signs[asset].unwrap_or(if is_up { -1.0 } else { 1.0 })
        };
        let mut signs: Vec<f64> = (0..way.len()).map(sign).collect();
        let gross: f64 = way.iter().map(|rate| rate.abs()).sum();
        let traded: f64 = changes.iter().map(|change| change.abs()).sum();
        let room = turnover.max_turnover - traded;
        let mut room = if room <= MET * (traded + largest) { 0.0 } else { room };
        let mut growth = -inner(&signs, way);
        let crossing = |asset: usize| {
            let (change, rate) = (changes[asset], way[asset]);
            let crosses = only_signs[asset].is_none() && !is_kink(change) && change * rate < 0.0;
            crosses.then(|| (-change / rate, asset))
        };
        let mut crossings: Vec<(f64, usize)> = (0..way.len()).filter_map(crossing).collect();
        crossings.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut reached = 0.0;
        for (next, asset) in crossings.into_iter().chain([(f64::INFINITY, 0)]) {
            if growth > NO_CHANGE * gross && room / growth <= next - reached {
                return Some((reached + room / growth, self.face(signs)));
            }
            if next == f64::INFINITY {
                break;
            }
            room -= growth * (next - reached);
            reached = next;
            growth += 2.0 * way[asset].abs();
            signs[asset] = -signs[asset];
        }
        None
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

/// The vector of this size whose only element that is not zero is `value`.
fn unit(size: usize, position: usize, value: f64) -> Vec<f64> {
    (0..size).map(|index| if index == position { value } else { 0.0 }).collect()
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
        let limit =
            self.turnover.map(|limit| dot(&signs, &limit.current_weights) - limit.max_turnover);
        let level = limit.unwrap_or(f64::NEG_INFINITY);
        let kind = RowKind::Face(signs.clone());
        let row = ConstraintRow { normal: signs, level, id: TURNOVER, kind };
        if self.is_homogeneous { homogeneous(&row) } else { row }
    }

    fn worst(&self, point: &[f64], active: &[ConstraintRow]) -> Option<ConstraintRow> {
        let signs = active_face(active);
        let face =
            signs.map_or_else(|| self.face_of(point), |signs| Some(self.face(signs.to_vec())));
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
        let hits =
            first.into_iter().chain(face.is_none().then(|| self.face_hit(point, way)).flatten());
        hits.min_by(|(a, _), (b, _)| a.total_cmp(b))
    }
}

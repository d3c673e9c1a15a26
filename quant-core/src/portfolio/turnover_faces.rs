//! The faces and kinks of a limit of turnover, `Σ|wᵢ − vᵢ| ≤ T`.
//!
//! The normal of a face has −1 for an asset that is bought, and 1 for one that is sold.

use super::dual_active_set::{ConstraintRow, RowKind};
use super::limits::TurnoverLimit;
use super::symmetric::{dot, inner, unit};

/// The distance from a current weight, in units of the largest weight, that is rounding.
pub(super) const UNTRADED: f64 = 1e-14;
/// The change of a condition along a direction, as a part of its terms, that is rounding.
pub(super) const NO_CHANGE: f64 = 1e-12;
/// The distance of a point from a condition, as a part of its terms, that is rounding.
pub(super) const MET: f64 = 1e-13;

/// A limit of turnover, and the sign of each asset that the bounds allow to be traded one way alone.
#[derive(Clone)]
pub(super) struct TurnoverFaces<'a> {
    limit: &'a TurnoverLimit,
    only_signs: Vec<Option<f64>>,
}

impl<'a> TurnoverFaces<'a> {
    pub(super) fn new(limit: &'a TurnoverLimit, lower: &[f64], upper: &[f64]) -> Self {
        let bounds = lower.iter().zip(upper);
        let only_sign = |(&current, (&lower, &upper)): (&f64, (&f64, &f64))| {
            if current <= lower { Some(-1.0) } else { (current >= upper).then_some(1.0) }
        };
        let only_signs = limit.current_weights.iter().zip(bounds).map(only_sign).collect();
        Self { limit, only_signs }
    }

    pub(super) fn current_weights(&self) -> &'a [f64] {
        &self.limit.current_weights
    }

    /// Returns the kinks of all assets that may be bought and sold, from both sides. Those of the
    /// first asset have the name `first_id`, and so on.
    pub(super) fn kinks(&self, first_id: usize) -> Vec<ConstraintRow> {
        let kink = |variable: usize, sign: f64| {
            let normal = unit(self.only_signs.len(), variable, sign);
            let level = sign * self.limit.current_weights[variable];
            let kind = RowKind::Kink { variable, sign };
            ConstraintRow { normal, level, id: first_id + variable, kind }
        };
        let assets = (0..self.only_signs.len()).filter(|&asset| self.only_signs[asset].is_none());
        assets.flat_map(|asset| [1.0, -1.0].map(|sign| kink(asset, sign))).collect()
    }

    /// Returns the face with these signs.
    pub(super) fn face(&self, signs: Vec<f64>, id: usize) -> ConstraintRow {
        let level = dot(&signs, &self.limit.current_weights) - self.limit.max_turnover;
        ConstraintRow { normal: signs.clone(), level, id, kind: RowKind::Face(signs) }
    }

    /// The signs of the face that a point violates most, given the sum of the point.
    pub(super) fn signs_at(&self, point: &[f64], total: f64) -> Vec<f64> {
        let sign = |(asset, value): (usize, &f64)| {
            self.sign(asset, *value >= total * self.limit.current_weights[asset])
        };
        point.iter().enumerate().map(sign).collect()
    }

    fn sign(&self, asset: usize, is_bought: bool) -> f64 {
        self.only_signs[asset].unwrap_or(if is_bought { -1.0 } else { 1.0 })
    }

    /// The signs of the face that a point along a direction meets first, after the distance of that
    /// point.
    pub(super) fn first_hit(&self, point: &[f64], way: &[f64]) -> Option<(f64, Vec<f64>)> {
        let largest = point.iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
        let changes = point.iter().zip(&self.limit.current_weights);
        let changes: Vec<f64> = changes.map(|(value, current)| value - current).collect();
        let is_kink = |asset: usize| changes[asset].abs() <= UNTRADED * largest;
        let side = |asset: usize| if is_kink(asset) { way[asset] } else { changes[asset] };
        let mut signs: Vec<f64> =
            (0..way.len()).map(|asset| self.sign(asset, side(asset) >= 0.0)).collect();
        let gross: f64 = way.iter().map(|rate| rate.abs()).sum();
        let traded: f64 = changes.iter().map(|change| change.abs()).sum();
        let room = self.limit.max_turnover - traded;
        let mut room = if room <= MET * (traded + largest) { 0.0 } else { room };
        let mut growth = -inner(&signs, way);
        let crossing = |asset: usize| {
            let (change, rate) = (changes[asset], way[asset]);
            let may_cross = self.only_signs[asset].is_none() && !is_kink(asset);
            (may_cross && change * rate < 0.0).then(|| (-change / rate, asset))
        };
        let mut crossings: Vec<(f64, usize)> = (0..way.len()).filter_map(crossing).collect();
        crossings.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut reached = 0.0;
        for (next, asset) in crossings.into_iter().chain([(f64::INFINITY, 0)]) {
            if growth > NO_CHANGE * gross && room / growth <= next - reached {
                return Some((reached + room / growth, signs));
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
}

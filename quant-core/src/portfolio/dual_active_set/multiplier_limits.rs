//! The limits of the multipliers of inequalities, and the change of the active face at them.
//!
//! A multiplier is zero or more, and that of a kink is at most twice that of the face.

use super::{
    ConstraintRow, ConstraintRows, DEPENDENT, DualSearch, DualStep, MultiplierLimit, RowKind,
    TOLERANCE, norm, size_of_slopes,
};
use crate::portfolio::symmetric::Symmetric;

/// A row with its multiplier, and the rate at which that changes.
#[derive(Clone, Copy)]
struct Multiplier<'r> {
    row: &'r ConstraintRow,
    value: f64,
    rate: f64,
}

impl Multiplier<'_> {
    /// Returns what twice the multiplier of the face leaves to that of a kink.
    fn below(self, face: Self) -> Self {
        let (value, rate) = (2.0 * face.value - self.value, 2.0 * face.rate - self.rate);
        Self { value, rate, ..self }
    }

    /// Returns the distance to zero; `None` where the multiplier does not fall, to rounding.
    fn to_zero(self, rounding: f64) -> Option<f64> {
        let falls = self.rate * norm(&self.row.normal) < -rounding;
        falls.then(|| self.value.max(0.0) / -self.rate)
    }
}

impl DualSearch {
    /// Returns the limit that a multiplier reaches first as a row is added, after the length of the
    /// step to there. A rate below the rounding of the row is none.
    pub(super) fn first_limit_of_step(
        &self,
        step: &DualStep,
        row: &ConstraintRow,
        own: f64,
    ) -> Option<(f64, MultiplierLimit)> {
        let rates: Vec<f64> = step.rates.iter().map(|rate| -rate).collect();
        let added = Multiplier { row, value: own, rate: 1.0 };
        self.first_limit(&rates, Some(added), DEPENDENT * norm(&row.normal))
    }

    /// Returns the limit that a multiplier reaches first at these rates, after the distance.
    pub(super) fn first_limit_at(
        &self,
        rates: &[f64],
        rounding: f64,
    ) -> Option<(f64, MultiplierLimit)> {
        self.first_limit(rates, None, rounding)
    }

    fn first_limit(
        &self,
        rates: &[f64],
        added: Option<Multiplier<'_>>,
        rounding: f64,
    ) -> Option<(f64, MultiplierLimit)> {
        let values = self.multipliers.iter().zip(rates);
        let active = self.active.iter().zip(values);
        let active = active.map(|(row, (&value, &rate))| Multiplier { row, value, rate });
        let all: Vec<Multiplier<'_>> = active.chain(added).collect();
        let face = all.iter().position(|one| one.row.face().is_some());
        let limits = |index: usize| {
            let of_face = face.filter(|_| all[index].row.is_kink());
            let of_face = of_face.and_then(|face| all[index].below(all[face]).to_zero(rounding));
            let zero = all[index].to_zero(rounding);
            let of_face = of_face.map(|distance| (distance, MultiplierLimit::OfFace(index)));
            of_face.into_iter().chain(zero.map(|distance| (distance, MultiplierLimit::Zero(index))))
        };
        // At zero the multiplier of the face leaves nothing to the kinks, which go before the face.
        let others = (self.equalities..all.len()).filter(|&index| Some(index) != face);
        others.chain(face).flat_map(limits).min_by(|(a, _), (b, _)| a.total_cmp(b))
    }

    /// Removes a row whose multiplier is zero from the active ones, and all kinks with their face.
    pub(super) fn release(&mut self, index: usize) {
        let is_face = self.active[index].face().is_some();
        for other in (0..self.active.len()).rev() {
            if other == index || is_face && self.active[other].is_kink() {
                self.drop(other);
            }
        }
    }

    /// Replaces the active face and a kink, whose multiplier is at its upper limit, by the face of
    /// the other sign.
    pub(super) fn flip(&mut self, rows: &dyn ConstraintRows, kink: usize) {
        let face = self.position_of_face().expect("a kink has a face");
        let flipped = flipped(rows, &self.active[face], &self.active[kink]);
        self.drop(kink);
        let multiplier = self.drop(if kink < face { face - 1 } else { face });
        let parts = self.step_to(&flipped).parts;
        self.push(flipped, multiplier, parts);
    }

    /// Does the same while a row is added, which may be the face or the kink; returns the row to add
    /// from now on, and its multiplier.
    pub(super) fn flip_while_adding(
        &mut self,
        rows: &dyn ConstraintRows,
        kink: usize,
        row: ConstraintRow,
        own: f64,
    ) -> (ConstraintRow, f64) {
        match (self.active.get(kink), self.position_of_face()) {
            (Some(_), Some(_)) => {
                self.flip(rows, kink);
                (row, own)
            }
            (Some(active), None) => {
                let flipped = flipped(rows, &row, active);
                self.drop(kink);
                (flipped, own)
            }
            (None, face) => {
                let face = face.expect("a kink has a face");
                (flipped(rows, &self.active[face], &row), self.drop(face))
            }
        }
    }

    fn position_of_face(&self) -> Option<usize> {
        self.active.iter().position(|row| row.face().is_some())
    }

    /// Returns whether all multipliers are within their limits, to rounding.
    pub(super) fn has_fit_multipliers(&self, matrix: &Symmetric) -> bool {
        let rounding = TOLERANCE * size_of_slopes(matrix, &self.point);
        let face = self.position_of_face().map_or(0.0, |face| self.multipliers[face]);
        let multipliers = self.active.iter().zip(&self.multipliers).skip(self.equalities);
        multipliers.into_iter().all(|(row, value)| {
            let room = if row.is_kink() { value.min(2.0 * face - value) } else { *value };
            room * norm(&row.normal) >= -rounding
        })
    }
}

/// The face with the other sign of the variable of a kink.
fn flipped(rows: &dyn ConstraintRows, face: &ConstraintRow, kink: &ConstraintRow) -> ConstraintRow {
    let mut signs = face.face().expect("a face has signs").to_vec();
    if let RowKind::Kink { variable, sign } = kink.kind {
        signs[variable] = sign;
    }
    rows.face(signs)
}

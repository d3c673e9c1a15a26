//! Shifts of the zero rates at the pillars of a curve, and the exponents that follow.

use super::curve::Curve;
use super::interpolation::{Interpolant, Interpolation};

/// A shift of the zero rates at the pillars of a curve.
pub(crate) struct ExponentShift<'a> {
    /// The curve before the shift; `None` where the curve is linear in its zero rates.
    before: Option<&'a Interpolant>,
    /// The shifted curve, or the curve through the shifts alone where it is linear in its zero
    /// rates.
    after: Interpolant,
}

impl ExponentShift<'_> {
    /// Returns the rise of the exponent at a time of zero or more, in years: minus the logarithm of
    /// the ratio of the shifted discount factor and the one before.
    pub(crate) fn rise(&self, time: f64) -> f64 {
        let before = self.before.map_or(0.0, |curve| curve.at(time).exponent);
        self.after.at(time).exponent - before
    }
}

impl Curve {
    /// Returns the shift of the curve by `shifts`, one for each pillar, of its zero rates.
    ///
    /// All interpolations but the monotone convex one are linear in the zero rates of the pillars,
    /// so that the curve through the shifts is the exact difference of the two curves.
    pub(crate) fn exponent_shift(&self, shifts: &[f64]) -> ExponentShift<'_> {
        let is_linear = self.interpolant.interpolation() != Interpolation::MonotoneConvex;
        let pillars = self.pillars();
        let times: Vec<f64> = pillars.iter().map(|pillar| pillar.tenor).collect();
        let shifted = pillars.iter().zip(shifts);
        let rates: Vec<f64> = shifted
            .map(|(pillar, shift)| if is_linear { *shift } else { pillar.zero_rate + shift })
            .collect();
        let exponents: Vec<f64> =
            rates.iter().zip(&times).map(|(rate, time)| rate * time).collect();
        ExponentShift {
            before: (!is_linear).then_some(&self.interpolant),
            after: self.interpolant.interpolation().fit(&times, &rates, &exponents),
        }
    }

    /// Returns the rise of the exponent between two times, the second not before the first: minus
    /// the logarithm of the ratio of their discount factors.
    pub(crate) fn exponent_between(&self, start: f64, end: f64) -> f64 {
        self.interpolant.exponent_between(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curves::CurveType;
    use crate::time::NaiveDate;

    #[test]
    fn a_shift_is_the_difference_of_two_curves() {
        let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
        let (tenors, rates) = ([0.5, 2.0, 5.0, 9.0], [0.01, 0.03, 0.025, 0.04]);
        let shifts = [0.01, -0.02, 0.0, 0.03];
        let moved: Vec<f64> = rates.iter().zip(shifts).map(|(rate, shift)| rate + shift).collect();
        for &shape in Interpolation::ALL {
            let curve = |rates: &[f64]| {
                Curve::from_values(today, &tenors, rates, CurveType::Zero, shape).unwrap()
            };
            let (before, after) = (curve(&rates), curve(&moved));
            let shift = before.exponent_shift(&shifts);
            for time in [0.0, 0.2, 0.5, 1.1, 3.3, 8.0, 9.0, 30.0] {
                let exponent = |curve: &Curve| curve.at(time).unwrap().zero_rate * time;
                let expected = exponent(&after) - exponent(&before);
                assert!((shift.rise(time) - expected).abs() < 1e-15, "{shape:?} {time}");
            }
        }
    }
}

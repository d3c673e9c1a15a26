//! Interpolation of a curve between its pillars.

use super::cubic;
use super::monotone_convex::MonotoneConvex;
use super::pillars::pillar_before;
use crate::named::named;

/// `1/√3`: the points of the Gauss–Legendre rule of order two are ± this number.
const GAUSS_POINT: f64 = 0.577_350_269_189_625_8;

/// The method of interpolation between the pillars of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The zero rate is linear between pillars and constant before the first and after the last.
    Linear,
    /// The logarithm of the discount factor is linear, from 0 at the reference date on: the
    /// forward is constant between pillars, and after the last it is that of the last interval.
    LogLinear,
    /// The zero rate is the natural cubic spline through the pillars, and constant before the
    /// first and after the last.
    Cubic,
    /// Hagan and West's monotone convex forwards: continuous, of the sign of the data, and with
    /// the discount factors of the pillars; constant after the last.
    MonotoneConvex,
}

named!(
    Interpolation,
    "interpolation",
    Linear = "linear",
    LogLinear = "log_linear",
    Cubic = "cubic",
    MonotoneConvex = "monotone_convex"
);

/// The values of a curve at one time, in years after the reference date.
pub(super) struct Reading {
    /// The zero rate times the time: minus the logarithm of the discount factor.
    pub(super) exponent: f64,
    pub(super) zero_rate: f64,
    /// The instantaneous forward rate, just after the time where it jumps there.
    pub(super) forward_rate: f64,
}

/// A curve that was fitted to its pillars, for readings at any time in years.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Interpolant {
    times: Vec<f64>,
    shape: Shape,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Shape {
    Linear { zero_rates: Vec<f64> },
    LogLinear { exponents: Vec<f64> },
    Cubic { zero_rates: Vec<f64>, curvatures: Vec<f64> },
    MonotoneConvex(MonotoneConvex),
}

impl Interpolation {
    /// Fits the curve to its pillars, of which there is at least one.
    pub(super) fn fit(self, times: &[f64], zero_rates: &[f64], exponents: &[f64]) -> Interpolant {
        let shape = match self {
            Self::Linear => Shape::Linear { zero_rates: zero_rates.to_vec() },
            Self::LogLinear => Shape::LogLinear { exponents: exponents.to_vec() },
            Self::Cubic => Shape::Cubic {
                zero_rates: zero_rates.to_vec(),
                curvatures: cubic::natural_curvatures(times, zero_rates),
            },
            Self::MonotoneConvex => Shape::MonotoneConvex(MonotoneConvex::fit(times, exponents)),
        };
        Interpolant { times: times.to_vec(), shape }
    }
}

impl Interpolant {
    /// Returns whether the curve has a value between any two pillars. A spline has none where its
    /// pillars are so near that a curvature is no double.
    pub(super) fn is_finite(&self) -> bool {
        match &self.shape {
            Shape::Cubic { curvatures, .. } => curvatures.iter().all(|value| value.is_finite()),
            Shape::Linear { .. } | Shape::LogLinear { .. } | Shape::MonotoneConvex(_) => true,
        }
    }

    /// Returns the method that fitted the curve.
    pub(super) fn interpolation(&self) -> Interpolation {
        match self.shape {
            Shape::Linear { .. } => Interpolation::Linear,
            Shape::LogLinear { .. } => Interpolation::LogLinear,
            Shape::Cubic { .. } => Interpolation::Cubic,
            Shape::MonotoneConvex(_) => Interpolation::MonotoneConvex,
        }
    }

    /// Returns the values of the curve at a time of zero or more, in years.
    pub(super) fn at(&self, time: f64) -> Reading {
        let next = self.times.partition_point(|&pillar| pillar <= time);
        match &self.shape {
            Shape::Linear { zero_rates } => {
                self.by_zero_rate(next, time, zero_rates, |_| (0.0, 0.0))
            }
            Shape::Cubic { zero_rates, curvatures } => {
                self.by_zero_rate(next, time, zero_rates, |weight| {
                    cubic::bend(&self.times[next - 1..=next], &curvatures[next - 1..=next], weight)
                })
            }
            Shape::LogLinear { exponents } => self.by_exponent(next, time, exponents),
            Shape::MonotoneConvex(curve) => {
                let (exponent, forward_rate) = curve.at(&self.times, next, time);
                reading(time, exponent, forward_rate)
            }
        }
    }

    /// Returns the increase of the exponent between two times, the second after the first.
    ///
    /// Whole intervals between pillars are the difference of their exponents; the rest is the
    /// integral of the forward rate, so that a short time costs no digits.
    pub(super) fn exponent_between(&self, start: f64, end: f64) -> f64 {
        let next = self.times.partition_point(|&pillar| pillar <= start);
        let last = self.times.partition_point(|&pillar| pillar < end);
        if next >= last {
            return self.integral(next, start, end);
        }
        let (first_pillar, last_pillar) = (self.times[next], self.times[last - 1]);
        let mut between = 0.0;
        if last - next > 1 {
            between = self.at(last_pillar).exponent - self.at(first_pillar).exponent;
        }
        self.integral(next, start, first_pillar) + between + self.integral(last, last_pillar, end)
    }

    /// The integral of the forward rate over times before the pillar `next` and after the one
    /// before it.
    fn integral(&self, next: usize, start: f64, end: f64) -> f64 {
        let knot = match &self.shape {
            Shape::MonotoneConvex(curve) => curve.knot(next),
            _ => None,
        };
        match knot.filter(|&knot| start < knot && knot < end) {
            Some(knot) => self.smooth_integral(start, knot) + self.smooth_integral(knot, end),
            None => self.smooth_integral(start, end),
        }
    }

    /// Returns the integral by the Gauss–Legendre rule of order two, which is exact for cubics: no
    /// forward rate is of a higher degree.
    fn smooth_integral(&self, start: f64, end: f64) -> f64 {
        let (middle, half) = (0.5 * start + 0.5 * end, 0.5 * (end - start));
        let away = half * GAUSS_POINT;
        let sum = self.at(middle - away).forward_rate + self.at(middle + away).forward_rate;
        half * sum
    }

    /// The straight line between two zero rates and a bend, given with its slope, away from it.
    fn by_zero_rate(
        &self,
        next: usize,
        time: f64,
        zero_rates: &[f64],
        bend: impl Fn(f64) -> (f64, f64),
    ) -> Reading {
        let last = zero_rates.len() - 1;
        if next == 0 || next > last {
            let zero_rate = zero_rates[next.min(last)];
            return Reading { exponent: zero_rate * time, zero_rate, forward_rate: zero_rate };
        }
        let (start, end) = (self.times[next - 1], self.times[next]);
        let rise = (zero_rates[next] - zero_rates[next - 1]) / (end - start);
        let (bend, bend_slope) = bend((time - start) / (end - start));
        let zero_rate = zero_rates[next - 1] + rise * (time - start) + bend;
        let forward_rate = zero_rate + time * (rise + bend_slope);
        Reading { exponent: zero_rate * time, zero_rate, forward_rate }
    }

    fn by_exponent(&self, next: usize, time: f64, exponents: &[f64]) -> Reading {
        let end = next.min(exponents.len() - 1);
        let (time_before, before) = pillar_before(&self.times, exponents, end);
        let forward_rate = (exponents[end] - before) / (self.times[end] - time_before);
        // After the last pillar the line continues from that pillar.
        let (start, from) =
            if next > end { (self.times[end], exponents[end]) } else { (time_before, before) };
        reading(time, from + forward_rate * (time - start), forward_rate)
    }
}

/// A reading whose zero rate at the reference date is its limit, the forward rate.
fn reading(time: f64, exponent: f64, forward_rate: f64) -> Reading {
    let zero_rate = if time == 0.0 { forward_rate } else { exponent / time };
    Reading { exponent, zero_rate, forward_rate }
}

//! The monotone convex forward curve of Hagan and West.
//!
//! In each interval the forward is the interval's average, the discrete forward that the pillars
//! imply, and a deviation from it that starts and ends at given values and integrates to zero.
//! The deviation consists of parabolas and constants so that the forward does not oscillate more than
//! the data, and does not change its sign within an interval.
//!
//! Hagan and West bound the forwards at the pillars so that positive data give positive forwards.
//! Here the bound is mirrored for negative data, and between data of both signs the forward is 0:
//! so negative rates are treated as positive ones are, and the curve depends continuously on a rate
//! that passes zero.
//!
//! Hagan and West (2006), "Interpolation Methods for Curve Construction", Applied Mathematical
//! Finance 13(2), section 6; (2008), "Methods for Constructing a Yield Curve", Wilmott.

use super::pillars::pillar_before;
use crate::arithmetic::without_negative_zero;

/// The forward curve, one interval for each pillar.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct MonotoneConvex {
    intervals: Vec<Interval>,
    /// The forward at the last pillar and after it.
    last_forward: f64,
    /// Minus the logarithm of the discount factor at the last pillar.
    last_exponent: f64,
}

/// The instantaneous forward rates from one pillar to the next.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Interval {
    start: f64,
    width: f64,
    /// Minus the logarithm of the discount factor at the start.
    exponent: f64,
    /// The average of the instantaneous forward rate over the interval, annual.
    average: f64,
    deviation: Deviation,
}

/// A function on [0, 1] whose integral is 0.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Deviation {
    /// The parabola with these values at 0 and at 1.
    Parabola { first: f64, last: f64 },
    /// A constant with a parabola joined to it before the knot, after the knot, or both:
    /// `base + left ((knot − x)₊ / knot)² + right ((x − knot)₊ / (1 − knot))²`.
    Joined { base: f64, left: f64, right: f64, knot: f64 },
}

impl MonotoneConvex {
    /// Fits the forwards to the pillars, of which there is at least one.
    pub(super) fn fit(times: &[f64], exponents: &[f64]) -> Self {
        let width = |i: usize| times[i] - pillar_before(times, exponents, i).0;
        let averages: Vec<f64> = (0..times.len())
            .map(|i| (exponents[i] - pillar_before(times, exponents, i).1) / width(i))
            .map(without_negative_zero)
            .collect();
        let forwards = pillar_forwards(&averages, width);
        let interval = |(i, &average): (usize, &f64)| {
            let (start, exponent) = pillar_before(times, exponents, i);
            let deviation = Deviation::between(forwards[i] - average, forwards[i + 1] - average);
            Interval { start, width: width(i), exponent, average, deviation }
        };
        Self {
            intervals: averages.iter().enumerate().map(interval).collect(),
            last_forward: forwards[times.len()],
            last_exponent: exponents[times.len() - 1],
        }
    }

    /// Returns the time at which the forwards before the pillar `next` change from one parabola to
    /// another, if there is one.
    pub(super) fn knot(&self, next: usize) -> Option<f64> {
        let interval = self.intervals.get(next)?;
        match interval.deviation {
            Deviation::Parabola { .. } => None,
            Deviation::Joined { knot, .. } => Some(interval.start + knot * interval.width),
        }
    }

    /// Minus the logarithm of the discount factor, and the forward, before the pillar `next`.
    pub(super) fn at(&self, times: &[f64], next: usize, time: f64) -> (f64, f64) {
        let Some(interval) = self.intervals.get(next) else {
            let past = time - times[times.len() - 1];
            return (self.last_exponent + self.last_forward * past, self.last_forward);
        };
        let part = (time - interval.start) / interval.width;
        let (deviation, integral) = interval.deviation.at(part);
        let exponent = interval.exponent + interval.width * (interval.average * part + integral);
        (exponent, interval.average + deviation)
    }
}

/// The forwards at the reference date and at the pillars, from the averages of the intervals.
///
/// All of them are computed before any is bounded, as published: a bound beside an end does not move
/// the end.
fn pillar_forwards(averages: &[f64], width: impl Fn(usize) -> f64) -> Vec<f64> {
    let count = averages.len();
    let (first, last) = (averages[0], averages[count - 1]);
    let mut forwards = vec![first; count + 1];
    for i in 1..count {
        let (before, after) = (width(i - 1), width(i));
        forwards[i] = (before * averages[i] + after * averages[i - 1]) / (before + after);
    }
    if count > 1 {
        forwards[0] = first - 0.5 * (forwards[1] - first);
        forwards[count] = last - 0.5 * (forwards[count - 1] - last);
    }
    for (i, forward) in forwards.iter_mut().enumerate() {
        let (before, after) = (averages[i.saturating_sub(1)], averages[i.min(count - 1)]);
        *forward = without_negative_zero(keep_sign(*forward, before, after));
    }
    forwards
}

/// The forward closest to this one with which both intervals keep the sign of their averages.
fn keep_sign(forward: f64, before: f64, after: f64) -> f64 {
    if before >= 0.0 && after >= 0.0 {
        forward.clamp(0.0, 2.0 * before.min(after))
    } else if before <= 0.0 && after <= 0.0 {
        forward.clamp(2.0 * before.max(after), 0.0)
    } else {
        0.0
    }
}

impl Deviation {
    /// The deviation with these ends, in one of the four ways of Hagan and West.
    fn between(first: f64, last: f64) -> Self {
        // Turned over where it starts above, the four cases need to be told apart only once.
        let (below, above) = if first > 0.0 { (first, -last) } else { (-first, last) };
        if above < 0.0 {
            // Both ends on one side: down to a constant level and up again.
            let knot = last / (first + last);
            let base = without_negative_zero(-first * knot);
            Self::Joined { base, left: first - base, right: last - base, knot }
        } else if above > 2.0 * below {
            // A flat start, and a steep end.
            let knot = (last + 2.0 * first) / (last - first);
            Self::Joined { base: first, left: 0.0, right: last - first, knot }
        } else if 2.0 * above < below {
            // A steep start, and a flat end.
            let knot = without_negative_zero(3.0 * last / (last - first));
            Self::Joined { base: last, left: first - last, right: 0.0, knot }
        } else {
            Self::Parabola { first, last }
        }
    }

    /// The deviation at a part of the way, and its integral up to there over the whole width.
    fn at(&self, part: f64) -> (f64, f64) {
        match *self {
            Self::Parabola { first, last } => {
                let rest = 1.0 - part;
                let value = first * rest * (1.0 - 3.0 * part) - last * part * (2.0 - 3.0 * part);
                (value, part * rest * (first * rest - last * part))
            }
            Self::Joined { base, left, right, knot } => {
                let (mut value, mut integral) = (base, base * part);
                if knot > 0.0 {
                    let fall = ((knot - part) / knot).max(0.0);
                    value += left * fall * fall;
                    integral += left * knot * (1.0 - fall * fall * fall) / 3.0;
                }
                if part > knot {
                    let rise = (part - knot) / (1.0 - knot);
                    value += right * rise * rise;
                    integral += right * (part - knot) * rise * rise / 3.0;
                }
                (value, integral)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_of_the_four_cases_has_its_ends_and_no_integral() {
        #[rustfmt::skip]
        let ends = [
            (-1.0, 1.0), (1.0, -1.0), (-1.0, 0.5), (-1.0, 2.0), (-1.0, 3.0), (1.0, -3.0), (-3.0, 1.0),
            (3.0, -1.0), (1.0, 2.0), (-1.0, -2.0), (0.0, 0.0), (-1.0, 1e-9), (-1.0, 1e9),
        ];
        for (first, last) in ends {
            let deviation = Deviation::between(first, last);
            let ((start, nothing), (end, integral)) = (deviation.at(0.0), deviation.at(1.0));
            let size = first.abs().max(last.abs());
            assert!((start - first).abs() <= 1e-15 * size, "{deviation:?}");
            assert!((end - last).abs() <= 1e-15 * size, "{deviation:?}");
            assert_eq!(nothing, 0.0, "{deviation:?}");
            assert!(integral.abs() <= 1e-15 * size, "{deviation:?}: {integral:e}");
        }
    }

    #[test]
    fn an_end_on_the_average_makes_the_forward_jump_at_the_other() {
        // The limit of both cases that meet there: the average all the way.
        for (first, last) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
            let deviation = Deviation::between(first, last);
            for part in [0.0, 1e-9, 0.5, 1.0 - 1e-9, 1.0] {
                assert_eq!(deviation.at(part), (0.0, 0.0), "{deviation:?}");
            }
        }
    }

    #[test]
    fn the_ends_do_not_depend_on_the_bounds_of_their_neighbours() {
        // By hand, in the order of Hagan and West (2006), equations 29 to 31: the forward of the first
        // pillar, 0.060404…, is bounded by 2 · 0.00696, and that of the reference date,
        // 0.0617 − (0.060404… − 0.0617)/2, is not.
        let (times, averages) = ([0.1068, 4.5122, 12.3603], [0.0617_f64, 0.006_96, 0.0153]);
        let mut exponents = [0.0; 3];
        let (mut time, mut exponent) = (0.0, 0.0);
        for i in 0..3 {
            exponent += averages[i] * (times[i] - time);
            (time, exponents[i]) = (times[i], exponent);
        }
        let curve = MonotoneConvex::fit(&times, &exponents);
        let first_pillar: f64 = (0.1068 * 0.006_96 + 4.4054 * 0.0617) / 4.5122;
        let expected: f64 = 0.0617 - 0.5 * (first_pillar - 0.0617);
        assert!((expected - 0.062_35).abs() < 5e-5, "{expected}");
        assert!((curve.at(&times, 0, 0.0).1 - expected).abs() < 1e-16);
        assert!((curve.at(&times, 1, 0.1068).1 - 2.0 * 0.006_96).abs() < 1e-16);
    }

    proptest! {
        #[test]
        fn the_integral_is_that_of_the_deviation(first in -1.0..1.0, last in -1.0..1.0) {
            let deviation = Deviation::between(first, last);
            // Midpoints: the second derivative jumps at the knot, where the error is h³.
            let (count, mut sum) = (2000, 0.0);
            for i in 0..count {
                sum += deviation.at((f64::from(i) + 0.5) / f64::from(count)).0 / f64::from(count);
                let part = f64::from(i + 1) / f64::from(count);
                prop_assert!((deviation.at(part).1 - sum).abs() < 2e-3, "{deviation:?} at {part}");
            }
        }

        #[test]
        fn forwards_have_the_sign_of_the_data(rates in prop::collection::vec(0.0..0.2, 1..8), negative: bool) {
            let sign = if negative { -1.0 } else { 1.0 };
            let times: Vec<f64> = (0..rates.len()).map(|i| (i * i + 1) as f64).collect();
            let mut exponent = 0.0;
            let exponents: Vec<f64> = rates.iter().map(|rate| { exponent += sign * rate; exponent }).collect();
            let curve = MonotoneConvex::fit(&times, &exponents);
            for step in 0..400 {
                let time = f64::from(step) * 0.15;
                let next = times.partition_point(|&pillar| pillar <= time);
                prop_assert!(sign * curve.at(&times, next, time).1 >= -1e-15);
            }
        }
    }
}

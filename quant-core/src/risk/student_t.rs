//! Student's t distribution: density, upper tail and its inverse.
//!
//! The tail is the incomplete beta function by a continued fraction, and by a series near the centre. The
//! error grows with the logarithm of the tail, whose exponential is taken.

use std::f64::consts::PI;

use crate::pricing::normal;

/// A t distribution with so many degrees of freedom, above zero and at most 1e6.
#[derive(Clone, Copy)]
pub(super) struct StudentT {
    degrees: f64,
    /// `Γ(ν/2 + ½)/Γ(ν/2)`.
    ratio: f64,
}

impl StudentT {
    pub(super) fn new(degrees: f64) -> Self {
        Self { degrees, ratio: half_step_ratio(0.5 * degrees) }
    }

    /// Returns the density at `t`.
    ///
    /// ```text
    /// f(t) = Γ(ν/2 + ½) / (Γ(ν/2) √(νπ)) · (1 + t²/ν)^{−(ν + 1)/2}
    /// ```
    pub(super) fn density(self, t: f64) -> f64 {
        let power = -0.5 * (self.degrees + 1.0) * libm::log1p(t * t / self.degrees);
        self.ratio / (self.degrees * PI).sqrt() * libm::exp(power)
    }

    /// Returns the probability of a value above `t`, for t of zero or more.
    pub(super) fn tail(self, t: f64) -> f64 {
        let (half, square) = (0.5 * self.degrees, t * t / self.degrees);
        let y = square / (1.0 + square);
        // y^½ (1 − y)^{ν/2} / B(½, ν/2).
        let power = libm::exp(-half * libm::log1p(square));
        let front = self.ratio / PI.sqrt() * y.sqrt() * power;
        if t * t < CENTRAL {
            0.5 - front * central_series(half, y)
        } else {
            0.5 * front / half / tail_fraction(half, y)
        }
    }

    /// Returns the t of zero or more with this upper tail, for tails from 1e-30 to ½.
    ///
    /// Newton's method for the logarithm of the tail as a function of `ln t`, which is concave: from the
    /// second step on each iterate is above the root and below the one before.
    pub(super) fn upper_quantile(self, tail: f64) -> f64 {
        if tail < 0.4 {
            // The tail of the normal distribution is below this one.
            let mut t = normal::upper_quantile(tail);
            let mut log = libm::log(t);
            for _ in 0..MAX_STEPS {
                let (found, density) = (self.tail(t), self.density(t));
                let step = libm::log(found / tail) * found / (t * density);
                log += step;
                t = libm::exp(log);
                if step.abs() < CONVERGED {
                    break;
                }
            }
            // The last bits, which the logarithm of a large t loses.
            return t + (self.tail(t) - tail) / self.density(t);
        }
        let mut t = (0.5 - tail) / self.density(0.0);
        for _ in 0..MAX_STEPS {
            let step = (self.tail(t) - tail) / self.density(t);
            t += step;
            if step.abs() < CONVERGED * t {
                break;
            }
        }
        t.max(0.0)
    }
}

/// The step below which Newton's next step is below the last bit.
const CONVERGED: f64 = 1e-9;

/// More steps than either search takes.
const MAX_STEPS: usize = 60;

/// Returns `Γ(a + ½)/Γ(a)` for positive a.
///
/// The quotient of two values of the gamma function loses digits for large a; its asymptotic series
/// does not, and `g(a) = g(a + 1)·a/(a + ½)` leads there.
fn half_step_ratio(a: f64) -> f64 {
    let (mut factor, mut shifted) = (1.0, a);
    while shifted < LARGE {
        factor *= shifted / (shifted + 0.5);
        shifted += 1.0;
    }
    let v = 1.0 / (shifted * shifted);
    // ln g(a) = ½ ln a − 1/8a + 1/192a³ − 1/640a⁵ + 17/14336a⁷ − 31/18432a⁹ + …
    let series = -1.0 / 8.0
        + v * (1.0 / 192.0 + v * (-1.0 / 640.0 + v * (17.0 / 14336.0 - v * 31.0 / 18432.0)));
    factor * shifted.sqrt() * libm::exp(series / shifted)
}

/// The argument from which five terms of the series give all bits.
const LARGE: f64 = 32.0;

/// The square of t below which the central probability has more digits than the tail loses.
const CENTRAL: f64 = 2.0;

/// Returns `₂F₁(a + ½, 1; 3/2; y)`, whose terms are all positive.
fn central_series(a: f64, y: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for step in 0..MAX_TERMS {
        let k = f64::from(step);
        term *= y * ((a + 0.5 + k) / (1.5 + k));
        sum += term;
        if term < 0.1 * f64::EPSILON * sum {
            break;
        }
    }
    sum
}

/// Returns the inverse of the continued fraction of the incomplete beta function with the parameters
/// a and ½ at 1 − y, by Lentz's method.
///
/// *NIST Digital Library of Mathematical Functions*, 8.17.22, contracted to its even part with 1 − y in
/// place of x: for a large a nothing cancels, unlike in the fraction as it is printed.
fn tail_fraction(a: f64, y: f64) -> f64 {
    let x = 1.0 - y;
    let even = |m: f64| m * (0.5 - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
    let odd = |m: f64| -(a + m) * (a + 0.5 + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
    // 1 + the odd coefficient.
    let rest = |m: f64| {
        let whole = a * (2.0 * m + 0.5) + m * (3.0 * m + 1.5) + (a + m) * (a + 0.5 + m) * y;
        whole / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
    };
    let mut value = rest(0.0);
    let (mut c, mut d) = (value, 0.0);
    for step in 1..MAX_TERMS {
        let m = f64::from(step);
        let (numerator, denominator) = (-odd(m - 1.0) * even(m), rest(m) + even(m));
        d = 1.0 / (denominator + numerator * d);
        c = denominator + numerator / c;
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    value
}

/// More terms than either takes, about a thousand where both y and a are extreme.
const MAX_TERMS: u32 = 20_000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use statrs::distribution::{ContinuousCDF, StudentsT};

    #[test]
    fn one_and_two_degrees_have_closed_forms() {
        for t in [0.0_f64, 1e-9, 0.3, 1.0, 2.5, 40.0, 1e6] {
            let cauchy = StudentT::new(1.0).tail(t);
            let expected = libm::atan2(1.0, t) / PI;
            assert!((cauchy / expected - 1.0).abs() < 1e-14, "{t}: {cauchy} {expected}");
            let two = StudentT::new(2.0).tail(t);
            let root = (2.0 + t * t).sqrt();
            let expected = 1.0 / (root * (root + t));
            assert!((two / expected - 1.0).abs() < 1e-14, "{t}: {two} {expected}");
        }
    }

    #[test]
    fn a_million_degrees_are_nearly_normal() {
        let normal = normal::upper_quantile(0.01);
        let t = StudentT::new(1e6).upper_quantile(0.01);
        // mpmath at 50 digits.
        assert!((t - 2.326_351_603_120_805_6).abs() < 2e-15, "{t}");
        assert!((t - normal - (normal.powi(3) + normal) / 4e6).abs() < 1e-11, "{t} {normal}");
        assert!((half_step_ratio(0.5) - 1.0 / PI.sqrt()).abs() < 1e-16);
        assert!((half_step_ratio(1.0) - 0.5 * PI.sqrt()).abs() < 1e-15);
        assert!(
            (StudentT::new(2.0).density(0.0) - 0.5 * std::f64::consts::FRAC_1_SQRT_2).abs() < 1e-16
        );
    }

    proptest! {
        #[test]
        fn a_quantile_has_its_tail(degrees in 0.5..300.0_f64, exponent in 0.31..15.0_f64) {
            let (distribution, tail) = (StudentT::new(degrees), libm::exp10(-exponent));
            let t = distribution.upper_quantile(tail);
            // The tail of the last bit of t.
            let bit = f64::EPSILON * t * distribution.density(t) / tail;
            prop_assert!((distribution.tail(t) / tail - 1.0).abs() < 2e-13 + bit, "{t}");
        }

        #[test]
        fn the_tail_is_that_of_statrs(degrees in 1.0..300.0_f64, t in 0.0..8.0_f64) {
            let expected = StudentsT::new(0.0, 1.0, degrees).unwrap().sf(t);
            let found = StudentT::new(degrees).tail(t);
            prop_assert!((found - expected).abs() < 1e-10, "{found} {expected}");
        }
    }
}

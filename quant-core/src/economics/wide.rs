//! Logarithms and exponentials of about 64 correct bits, on numbers of about 106.
//!
//! An exponent of 700 must be known to 1e-17 of itself for its exponential to be known to 1e-14.
//! A [`DoubleDouble`] carries that; a [`Wide`] adds an exponent that does not run out.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};
use std::ops::{Div, Mul};

use crate::numerical::double_double::DoubleDouble;

/// The rest of ln 2 behind its double.
const LN_2_LOW: f64 = 2.319_046_813_846_299_6e-17;

/// `ln(j/16)` for j = 11 to 23, each as a double and what it leaves.
#[rustfmt::skip]
const LOGARITHMS: [(f64, f64); 13] = [
    (-0.3746934494414107, 3.9243112288632396e-18),
    (-0.2876820724517809, -2.607160616442564e-17),
    (-0.2076393647782445, -1.2053243216686129e-17),
    (-0.13353139262452263, 3.664457663660085e-18),
    (-0.06453852113757118, 6.470486661692933e-18),
    (0.0, 0.0),
    (0.06062462181643484, 2.6424025938726934e-18),
    (0.11778303565638346, -1.1971685747593677e-18),
    (0.17185025692665923, -6.0224538210113705e-18),
    (0.22314355131420976, -9.091270597324799e-18),
    (0.27193371548364176, 7.83319637697442e-19),
    (0.3184537311185346, 2.7114779367326236e-17),
    (0.3629054936893685, -2.1492361455310972e-17),
];

/// `exp(j/16)` for j = −6 to 6, each as a double and what it leaves.
#[rustfmt::skip]
const EXPONENTIALS: [(f64, f64); 13] = [
    (0.6872892787909722, -3.7088003061371396e-17),
    (0.7316156289466418, 8.35576468031604e-18),
    (0.7788007830714049, -1.0231869534531498e-17),
    (0.8290291181804004, -2.7604408719539223e-17),
    (0.8824969025845955, -5.224526916735663e-17),
    (0.9394130628134758, -2.152447043447057e-17),
    (1.0, 0.0),
    (1.0644944589178593, 1.0872888143211957e-16),
    (1.1331484530668263, -5.370737708558031e-18),
    (1.2062302494209807, 3.9295715071105525e-17),
    (1.2840254166877414, 8.968972781793724e-17),
    (1.3668379411737963, 5.1449446596411544e-17),
    (1.4549914146182013, 8.517923078996071e-17),
];

/// Returns `ln(1 + x)` for |x| of at most 1/32, keeping the digits of small ones.
pub(super) fn ln_1p(x: DoubleDouble) -> DoubleDouble {
    logarithm_of_ratio(x.over(x.plus(2.0.into())))
}

/// Returns `exp(x) − 1` for |x| of at most 1, keeping the digits of small ones.
pub(super) fn expm1(x: DoubleDouble) -> DoubleDouble {
    if x.high.abs() <= 0.03125 { short_expm1(x) } else { exp(x).narrow().plus((-1.0).into()) }
}

/// Returns `exp(x)`; arguments beyond ±100,000 count as ±100,000, far outside any double.
pub(super) fn exp(x: DoubleDouble) -> Wide {
    let x = if x.high.abs() > 1e5 { x.high.clamp(-1e5, 1e5).into() } else { x };
    let exponent = round(x.high * LOG2_E);
    let doublings = DoubleDouble::product(exponent, LN_2).plus((exponent * LN_2_LOW).into());
    let reduced = x.plus(-doublings);
    let sixteenths = round(16.0 * reduced.high);
    let rest = short_expm1(reduced.plus((-sixteenths / 16.0).into()));
    let (high, low) = EXPONENTIALS[(sixteenths as i32 + 6).clamp(0, 12) as usize];
    let base = DoubleDouble::new(high, low);
    Wide { mantissa: base.plus(base * rest), exponent: exponent as i32 }
}

/// Returns `x · 2^exponent`; infinite or zero outside the range of a double.
fn times_power_of_two(x: DoubleDouble, exponent: i32) -> DoubleDouble {
    if exponent.abs() <= 1000 {
        let factor = power_of_two(exponent);
        DoubleDouble::new(x.high * factor, x.low * factor)
    } else {
        DoubleDouble::new(libm::scalbn(x.high, exponent), libm::scalbn(x.low, exponent))
    }
}

/// A positive number `mantissa · 2^exponent` that neither overflows nor underflows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide {
    mantissa: DoubleDouble,
    exponent: i32,
}

impl From<f64> for Wide {
    fn from(value: f64) -> Self {
        let (mantissa, exponent) = split(value);
        Self { mantissa: mantissa.into(), exponent }
    }
}

impl From<DoubleDouble> for Wide {
    fn from(value: DoubleDouble) -> Self {
        let (_, exponent) = split(value.high);
        Self { mantissa: times_power_of_two(value, -exponent), exponent }
    }
}

impl Wide {
    /// Returns `ln(self)`; relative accuracy holds near 1, where the logarithm vanishes.
    pub(super) fn ln(self) -> DoubleDouble {
        let Self { mantissa, exponent } = self.centred();
        // The nearest sixteenth c leaves ln(m/c) a short series; c = 1 about 1 adds no error.
        let sixteenths = round(16.0 * mantissa.high);
        let nearest = sixteenths / 16.0;
        let (high, low) = LOGARITHMS[(sixteenths as i32 - 11).clamp(0, 12) as usize];
        let (below, above) = (mantissa.plus((-nearest).into()), mantissa.plus(nearest.into()));
        let rest = logarithm_of_ratio(below.over(above));
        let exponent = f64::from(exponent);
        let doublings = DoubleDouble::product(exponent, LN_2).plus((exponent * LN_2_LOW).into());
        doublings.plus(DoubleDouble::new(high, low).plus(rest))
    }

    /// Returns `self · 2^exponent`.
    pub(super) fn times_power_of_two(self, exponent: i32) -> Self {
        Self { exponent: self.exponent + exponent, ..self }
    }

    /// Whether the number exceeds 1.
    pub(super) fn exceeds_one(self) -> bool {
        let Self { mantissa, exponent } = self.centred();
        exponent > 0 || (exponent == 0 && mantissa.high > 1.0)
    }

    /// The number without its exponent; infinite or zero outside the range of a double.
    pub(super) fn narrow(self) -> DoubleDouble {
        times_power_of_two(self.mantissa, self.exponent)
    }

    /// The nearest double; infinite or zero outside the range.
    pub(super) fn to_f64(self) -> f64 {
        self.narrow().high
    }

    /// The same number with its mantissa between √½ and √2.
    fn centred(self) -> Self {
        let (fraction, shift) = split(self.mantissa.high);
        let shift = if fraction < 0.5 * SQRT_2 { shift - 1 } else { shift };
        let mantissa = times_power_of_two(self.mantissa, -shift);
        Self { mantissa, exponent: self.exponent + shift }
    }
}

impl Mul for Wide {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self { mantissa: self.mantissa * other.mantissa, exponent: self.exponent + other.exponent }
    }
}

impl Div for Wide {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let quotient = Self { mantissa: self.mantissa.over(other.mantissa), ..self };
        quotient.times_power_of_two(-other.exponent)
    }
}

/// The whole number nearest to a value below 2⁵¹.
fn round(value: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    (value + SHIFT) - SHIFT
}

/// The fraction, between ½ and 1, and the exponent of a positive number.
fn split(value: f64) -> (f64, i32) {
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = value.to_bits();
    let exponent = (bits >> 52) as i32;
    if exponent == 0 {
        return libm::frexp(value);
    }
    (f64::from_bits((bits & FRACTION) | (1022 << 52)), exponent - 1022)
}

/// `2^exponent` for exponents of at most 1000.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// `ln((1 + s)/(1 − s))` for |s| of at most 1/44: the series, its first term in full.
fn logarithm_of_ratio(s: DoubleDouble) -> DoubleDouble {
    let square = s.high * s.high;
    let tail = 1.0 / 3.0
        + square
            * (0.2
                + square
                    * (1.0 / 7.0
                        + square * (1.0 / 9.0 + square * (1.0 / 11.0 + square * (1.0 / 13.0)))));
    let twice = s.plus(s);
    twice.plus((twice.high * square * tail).into())
}

/// `exp(q) − 1` for |q| of at most 1/32: the series, its first two terms in full.
fn short_expm1(q: DoubleDouble) -> DoubleDouble {
    let x = q.high;
    let tail = 1.0 / 6.0
        + x * (1.0 / 24.0
            + x * (1.0 / 120.0
                + x * (1.0 / 720.0
                    + x * (1.0 / 5040.0
                        + x * (1.0 / 40_320.0 + x * (1.0 / 362_880.0 + x / 3_628_800.0))))));
    let square = q * q;
    let half_square = DoubleDouble::new(0.5 * square.high, 0.5 * square.low);
    q.plus(half_square.plus((x * x * x * tail).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_undoes_the_exponential() {
        for step in -400..=400 {
            let x = f64::from(step) * 1.731;
            let back = exp(x.into()).ln() - x.into();
            assert!(back.high.abs() <= 1e-18 * x.abs().max(1.0), "{x}: {back:?}");
        }
    }

    #[test]
    fn small_arguments_keep_their_digits() {
        for exponent in 1..250 {
            let x = libm::scalbn(1.7, -exponent - 6);
            let back = ln_1p(expm1(x.into())) - x.into();
            assert!(back.high.abs() <= 1e-18 * x, "{x:e}: {back:?}");
        }
    }

    #[test]
    fn known_digits_agree() {
        // ln 10 to 32 digits is 2.3025850929940456840179914546844.
        let ten = Wide::from(10.0).ln();
        assert_eq!(ten.high, std::f64::consts::LN_10);
        assert!((ten.low + 2.170_756_223_382_249_4e-16).abs() < 1e-20, "{ten:?}");
        assert!((exp(1.0.into()).to_f64() - std::f64::consts::E).abs() < 5e-16);
    }

    #[test]
    fn products_leave_no_range() {
        let big = Wide::from(1e300) * Wide::from(1e300) / Wide::from(1e299) / Wide::from(1e299);
        assert!((big.to_f64() - 100.0).abs() < 1e-12);
        assert_eq!((Wide::from(5e-324) * Wide::from(1e300)).to_f64(), 5e-324 * 1e300);
        assert!((Wide::from(1e300) / Wide::from(1e-300)).to_f64().is_infinite());
    }
}

//! Logarithms and exponentials of about 64 correct bits, on numbers of about 106.
//!
//! An exponent of 700 must be known to 1e-17 of itself for its exponential to be known to 1e-14.
//! A [`Twofold`] carries that; a [`Wide`] adds an exponent that does not run out.
//! The error-free sums and products are those of Knuth and Dekker; see Muller et al. (2018),
//! "Handbook of Floating-Point Arithmetic", chapters 4 and 14.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};
use std::ops::{Add, Div, Mul, Neg, Sub};

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

/// An unevaluated sum of a double and what it leaves.
///
/// Products and quotients hold about 100 bits while the factors stay between 1e-290 and 1e290.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Twofold {
    pub(crate) high: f64,
    pub(crate) low: f64,
}

impl From<f64> for Twofold {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl From<(f64, f64)> for Twofold {
    fn from((high, low): (f64, f64)) -> Self {
        Self { high, low }
    }
}

impl Twofold {
    /// Returns `a + b`, exactly.
    pub(crate) fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let of_b = high - a;
        Self { high, low: (a - (high - of_b)) + (b - of_b) }
    }

    /// Returns `a · b`, exactly.
    pub(crate) fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        let (a_top, a_rest) = halves(a);
        let (b_top, b_rest) = halves(b);
        let low = ((a_top * b_top - high) + a_top * b_rest + a_rest * b_top) + a_rest * b_rest;
        Self { high, low }
    }

    /// Brings a pair whose first part dominates into the form of a rounded sum and its rest.
    fn renormalised(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self { high: sum, low: low - (sum - high) }
    }

    fn halved(self) -> Self {
        Self { high: 0.5 * self.high, low: 0.5 * self.low }
    }

    /// Returns `ln(1 + self)` for arguments of at most 1/32, keeping the digits of small ones.
    pub(crate) fn ln_1p(self) -> Self {
        logarithm_of_ratio(self / (self + 2.0))
    }

    /// Returns `exp(self) − 1` for arguments of at most 1, keeping the digits of small ones.
    pub(crate) fn expm1(self) -> Self {
        if self.high.abs() <= 0.03125 { short_expm1(self) } else { self.exp().narrow() + -1.0 }
    }

    /// Returns `exp(self)`; arguments beyond ±100,000 count as ±100,000, far outside any double.
    pub(crate) fn exp(self) -> Wide {
        let argument =
            if self.high.abs() > 1e5 { Self::from(self.high.clamp(-1e5, 1e5)) } else { self };
        let exponent = round(argument.high * LOG2_E);
        let reduced = argument - (Self::product(exponent, LN_2) + exponent * LN_2_LOW);
        let sixteenths = round(16.0 * reduced.high);
        let rest = short_expm1(reduced + -sixteenths / 16.0);
        let base = Self::from(EXPONENTIALS[(sixteenths as i32 + 6).clamp(0, 12) as usize]);
        Wide { mantissa: base + base * rest, exponent: exponent as i32 }
    }

    /// Returns `self · 2^exponent`; infinite or zero outside the range of a double.
    fn times_power_of_two(self, exponent: i32) -> Self {
        if exponent.abs() <= 1000 {
            let factor = power_of_two(exponent);
            Self { high: self.high * factor, low: self.low * factor }
        } else {
            Self { high: libm::scalbn(self.high, exponent), low: libm::scalbn(self.low, exponent) }
        }
    }
}

impl Add<f64> for Twofold {
    type Output = Self;
    fn add(self, other: f64) -> Self {
        let sum = Self::sum(self.high, other);
        Self::renormalised(sum.high, sum.low + self.low)
    }
}

/// Errors are relative to the larger term: where the terms cancel, digits are lost.
impl Add for Twofold {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let sum = Self::sum(self.high, other.high);
        Self::renormalised(sum.high, sum.low + (self.low + other.low))
    }
}

impl Neg for Twofold {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for Twofold {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Twofold {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        let cross = self.high * other.low + self.low * other.high;
        Self::renormalised(product.high, product.low + cross)
    }
}

impl Div for Twofold {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let quotient = self.high / other.high;
        let product = Self::product(quotient, other.high);
        let rest = (self.high - product.high) - product.low + self.low - quotient * other.low;
        Self::renormalised(quotient, rest / other.high)
    }
}

/// A positive number `mantissa · 2^exponent` that neither overflows nor underflows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide {
    mantissa: Twofold,
    exponent: i32,
}

impl From<f64> for Wide {
    fn from(value: f64) -> Self {
        let (mantissa, exponent) = split(value);
        Self { mantissa: Twofold::from(mantissa), exponent }
    }
}

impl From<Twofold> for Wide {
    fn from(value: Twofold) -> Self {
        let (_, exponent) = split(value.high);
        Self { mantissa: value.times_power_of_two(-exponent), exponent }
    }
}

impl Wide {
    /// Returns `ln(self)`; relative accuracy holds near 1, where the logarithm vanishes.
    pub(crate) fn ln(self) -> Twofold {
        let Self { mantissa, exponent } = self.centred();
        // The nearest sixteenth c leaves ln(m/c) a short series; c = 1 about 1 adds no error.
        let sixteenths = round(16.0 * mantissa.high);
        let nearest = sixteenths / 16.0;
        let base = Twofold::from(LOGARITHMS[(sixteenths as i32 - 11).clamp(0, 12) as usize]);
        let rest = logarithm_of_ratio((mantissa + -nearest) / (mantissa + nearest));
        let exponent = f64::from(exponent);
        let doublings = Twofold::product(exponent, LN_2) + exponent * LN_2_LOW;
        doublings + (base + rest)
    }

    /// Returns `self · 2^exponent`.
    pub(crate) fn times_power_of_two(self, exponent: i32) -> Self {
        Self { exponent: self.exponent + exponent, ..self }
    }

    /// Whether the number exceeds 1.
    pub(crate) fn exceeds_one(self) -> bool {
        let Self { mantissa, exponent } = self.centred();
        exponent > 0 || (exponent == 0 && mantissa.high > 1.0)
    }

    /// The number as a twofold; infinite or zero outside the range of a double.
    pub(crate) fn narrow(self) -> Twofold {
        self.mantissa.times_power_of_two(self.exponent)
    }

    /// The nearest double; infinite or zero outside the range.
    pub(crate) fn to_f64(self) -> f64 {
        self.narrow().high
    }

    /// The same number with its mantissa between √½ and √2.
    fn centred(self) -> Self {
        let (fraction, shift) = split(self.mantissa.high);
        let shift = if fraction < 0.5 * SQRT_2 { shift - 1 } else { shift };
        let mantissa = self.mantissa.times_power_of_two(-shift);
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
        Self { mantissa: self.mantissa / other.mantissa, exponent: self.exponent - other.exponent }
    }
}

/// Splits a double into two of at most 26 bits.
fn halves(value: f64) -> (f64, f64) {
    let scaled = 134_217_729.0 * value;
    let top = scaled - (scaled - value);
    (top, value - top)
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
fn logarithm_of_ratio(s: Twofold) -> Twofold {
    let square = s.high * s.high;
    let tail = 1.0 / 3.0
        + square
            * (0.2
                + square
                    * (1.0 / 7.0
                        + square * (1.0 / 9.0 + square * (1.0 / 11.0 + square * (1.0 / 13.0)))));
    let twice = s + s;
    twice + twice.high * square * tail
}

/// `exp(q) − 1` for |q| of at most 1/32: the series, its first two terms in full.
fn short_expm1(q: Twofold) -> Twofold {
    let x = q.high;
    let tail = 1.0 / 6.0
        + x * (1.0 / 24.0
            + x * (1.0 / 120.0
                + x * (1.0 / 720.0
                    + x * (1.0 / 5040.0
                        + x * (1.0 / 40_320.0 + x * (1.0 / 362_880.0 + x / 3_628_800.0))))));
    q + ((q * q).halved() + x * x * x * tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_undoes_the_exponential() {
        for step in -400..=400 {
            let x = f64::from(step) * 1.731;
            let back = Twofold::from(x).exp().ln() - Twofold::from(x);
            assert!(back.high.abs() <= 1e-18 * x.abs().max(1.0), "{x}: {back:?}");
        }
    }

    #[test]
    fn small_arguments_keep_their_digits() {
        for exponent in 1..250 {
            let x = libm::scalbn(1.7, -exponent - 6);
            let back = Twofold::from(x).expm1().ln_1p() - Twofold::from(x);
            assert!(back.high.abs() <= 1e-18 * x, "{x:e}: {back:?}");
        }
    }

    #[test]
    fn known_digits_agree() {
        // ln 10 to 32 digits is 2.3025850929940456840179914546844.
        let ten = Wide::from(10.0).ln();
        assert_eq!(ten.high, std::f64::consts::LN_10);
        assert!((ten.low + 2.170_756_223_382_249_4e-16).abs() < 1e-20, "{ten:?}");
        assert!((Twofold::from(1.0).exp().to_f64() - std::f64::consts::E).abs() < 5e-16);
    }

    #[test]
    fn products_leave_no_range() {
        let big = Wide::from(1e300) * Wide::from(1e300) / Wide::from(1e299) / Wide::from(1e299);
        assert!((big.to_f64() - 100.0).abs() < 1e-12);
        assert_eq!((Wide::from(5e-324) * Wide::from(1e300)).to_f64(), 5e-324 * 1e300);
        assert!((Wide::from(1e300) / Wide::from(1e-300)).to_f64().is_infinite());
    }
}

//! Numbers of 106 significant bits as the unevaluated sum of two doubles.
//!
//! The sums and products without error are those of Knuth and Dekker; see Muller et al. (2018),
//! "Handbook of Floating-Point Arithmetic", chapters 4 and 14, and Joldes, Muller and Popescu
//! (2017), "Tight and Rigorous Error Bounds for Basic Building Blocks of Double-Word Arithmetic".

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Returns `a + b` rounded to a double, and the rounding error (Knuth's TwoSum).
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_taken = sum - a;
    (sum, (a - (sum - b_taken)) + (b - b_taken))
}

/// Returns `a + b` rounded to a double, and the rounding error, for |a| ≥ |b| (Dekker's
/// FastTwoSum).
#[inline(always)]
fn fast_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// Returns `a · b` rounded to a double, and the rounding error (Dekker's product).
///
/// `mul_add` would give the same error, but is slow where the processor has no such instruction.
#[inline(always)]
pub(crate) fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let (a1, a2) = split(a);
    let (b1, b2) = split(b);
    (product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2)
}

/// Splits a double into two of at most 26 bits, whose products are exact (Veltkamp).
#[inline(always)]
fn split(a: f64) -> (f64, f64) {
    let shifted = 134_217_729.0 * a; // 2²⁷ + 1
    let high = shifted - (shifted - a);
    (high, a - high)
}

/// The sum `high + low` of a double and a correction of about its last bit or less.
///
/// There are two families of operations:
///
/// - The operators `+ − · /` return `high` as the sum rounded to a double, with a relative error
///   below 2⁻¹⁰² as long as nothing leaves the normal range; [`Scaled`](super::scaled::Scaled) keeps
///   the numbers there.
/// - [`sum`](Self::sum), [`product`](Self::product), [`plus`](Self::plus), [`times`](Self::times),
///   [`over`](Self::over) and [`sqrt`](Self::sqrt) take between a third and two thirds of the work. A
///   correction that overflows is dropped, since the number itself is still right. The error is
///   about 2⁻¹⁰⁰ of the larger operand, so a difference may lose digits, and `low` may exceed the
///   last bit of `high` slightly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DoubleDouble {
    pub(crate) high: f64,
    pub(crate) low: f64,
}

impl DoubleDouble {
    pub(crate) const ZERO: Self = Self::new(0.0, 0.0);
    pub(crate) const ONE: Self = Self::new(1.0, 0.0);

    /// Returns the number of these two parts, which do not overlap.
    pub(crate) const fn new(high: f64, low: f64) -> Self {
        Self { high, low }
    }

    /// Returns `a + b` without error.
    #[inline(always)]
    pub(crate) fn sum(a: f64, b: f64) -> Self {
        let (high, low) = two_sum(a, b);
        Self { high, low }.without_overflowed_correction()
    }

    /// Returns `a − b` without error.
    #[inline(always)]
    pub(crate) fn difference(a: f64, b: f64) -> Self {
        Self::sum(a, -b)
    }

    /// Returns `a · b` without error, unless the correction leaves the range of a double.
    #[inline(always)]
    pub(crate) fn product(a: f64, b: f64) -> Self {
        let (high, low) = two_product(a, b);
        Self { high, low }.without_overflowed_correction()
    }

    /// Returns `self + other`.
    #[inline(always)]
    pub(crate) fn plus(self, other: impl Into<Self>) -> Self {
        let other = other.into();
        let sum = Self::sum(self.high, other.high);
        Self::sum(sum.high, sum.low + (self.low + other.low))
    }

    /// Returns `self · other`.
    #[inline(always)]
    pub(crate) fn times(self, other: impl Into<Self>) -> Self {
        let other = other.into();
        let (high, low) = two_product(self.high, other.high);
        let cross = self.high * other.low + self.low * other.high;
        Self { high, low: low + cross }.without_overflowed_correction()
    }

    /// Returns `self / other`.
    #[inline(always)]
    pub(crate) fn over(self, other: Self) -> Self {
        let high = self.high / other.high;
        let product = Self::product(high, other.high);
        let rest = ((self.high - product.high) - product.low) + (self.low - high * other.low);
        Self { high, low: rest / other.high }.without_overflowed_correction()
    }

    /// Returns `self²`.
    #[inline(always)]
    pub(crate) fn squared(self) -> Self {
        self.times(self)
    }

    /// Returns the square root of a number of zero or more: one Newton step on that of `high`.
    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        let high = self.high.sqrt();
        let square = Self::product(high, high);
        let rest = ((self.high - square.high) - square.low) + self.low;
        Self { high, low: rest / (2.0 * high) }.without_overflowed_correction()
    }

    /// Returns the same number with `high` as the sum rounded to a double.
    #[inline(always)]
    pub(crate) fn renormalised(self) -> Self {
        let (high, low) = fast_two_sum(self.high, self.low);
        Self { high, low }
    }

    /// Returns `self · 2^exponent`; infinite or zero outside the range of a double.
    #[inline(always)]
    pub(crate) fn times_power_of_two(self, exponent: i32) -> Self {
        if exponent.abs() <= 1000 {
            let factor = f64::from_bits(((1023 + exponent) as u64) << 52);
            Self::new(self.high * factor, self.low * factor)
        } else {
            Self::new(libm::scalbn(self.high, exponent), libm::scalbn(self.low, exponent))
        }
    }

    #[inline(always)]
    fn without_overflowed_correction(self) -> Self {
        if self.low.is_finite() { self } else { Self { high: self.high, low: 0.0 } }
    }
}

/// Returns a finite number as a significand of magnitude ½ to 1 and a power of two.
#[inline(always)]
pub(super) fn significand_and_exponent(value: f64) -> (f64, i32) {
    const EXPONENT: u64 = 0x7ff << 52;
    const HALF: u64 = 1022 << 52;
    if !value.is_normal() {
        return libm::frexp(value);
    }
    let bits = value.to_bits();
    let exponent = ((bits & EXPONENT) >> 52) as i32 - 1022;
    (f64::from_bits((bits & !EXPONENT) | HALF), exponent)
}

/// Returns Σ cₖ xᵏ by Horner's rule.
pub(super) fn power_series(
    x: DoubleDouble,
    coefficients: impl DoubleEndedIterator<Item = DoubleDouble>,
) -> DoubleDouble {
    coefficients.rev().fold(DoubleDouble::ZERO, |sum, coefficient| sum * x + coefficient)
}

impl From<f64> for DoubleDouble {
    fn from(value: f64) -> Self {
        Self::new(value, 0.0)
    }
}

impl Neg for DoubleDouble {
    type Output = Self;

    fn neg(self) -> Self {
        Self::new(-self.high, -self.low)
    }
}

impl Add for DoubleDouble {
    type Output = Self;

    // Both low parts are summed exactly too, so that cancellation costs no relative precision.
    fn add(self, other: Self) -> Self {
        let (high, high_error) = two_sum(self.high, other.high);
        let (low, low_error) = two_sum(self.low, other.low);
        let (high, error) = fast_two_sum(high, high_error + low);
        Self { high, low: error + low_error }.renormalised()
    }
}

impl Sub for DoubleDouble {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self.times(other).renormalised()
    }
}

impl Div for DoubleDouble {
    type Output = Self;

    // Long division, a double of the quotient at a time.
    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * first.into();
        let second = rest.high / other.high;
        let rest = rest - other * second.into();
        let third = rest.high / other.high;
        Self { high: first, low: second }.renormalised() + third.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_product_of_doubles_is_exact() {
        // (1 + 2⁻⁵²)² = 1 + 2⁻⁵¹ + 2⁻¹⁰⁴.
        let square = DoubleDouble::product(1.0 + f64::EPSILON, 1.0 + f64::EPSILON);
        assert_eq!(
            square,
            DoubleDouble::new(1.0 + 2.0 * f64::EPSILON, f64::EPSILON * f64::EPSILON)
        );
    }

    #[test]
    fn a_product_that_overflows_in_its_correction_is_still_the_product() {
        assert_eq!(DoubleDouble::product(1e300, 2.0), DoubleDouble::new(2e300, 0.0));
    }

    #[test]
    fn a_significand_has_the_sign_of_its_number() {
        let rows = [(-3.0, (-0.75, 2)), (1.0, (0.5, 1)), (5e-324, (0.5, -1073)), (0.0, (0.0, 0))];
        for (value, parts) in rows {
            assert_eq!(significand_and_exponent(value), parts, "{value}");
        }
    }

    proptest! {
        #[test]
        fn a_quotient_times_the_divisor_is_the_dividend(a in 0.5..1.0_f64, b in 0.5..1.0_f64, c in -1e-17..1e-17_f64) {
            let (a, b) = (DoubleDouble::sum(a, c), DoubleDouble::sum(b, -c));
            let rest = a / b * b - a;
            prop_assert!(rest.high.abs() < 1e-31, "{rest:?}");
        }

        #[test]
        fn a_root_squared_is_the_number(a in 0.25..1.0_f64, c in -1e-17..1e-17_f64) {
            let a = DoubleDouble::sum(a, c);
            let rest = a.sqrt() * a.sqrt() - a;
            prop_assert!(rest.high.abs() < 1e-31, "{rest:?}");
        }
    }
}

//! Numbers of 106 significant bits as the unevaluated sum of two doubles.
//!
//! The sums and products without error are those of Knuth and Dekker; see Muller et al. (2018),
//! "Handbook of Floating-Point Arithmetic", chapters 4 and 14.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The sum `high + low`, where `high` is the sum rounded to a double.
///
/// Every operation has a relative error below 2⁻¹⁰², as long as nothing leaves the normal range;
/// [`Scaled`](super::scaled::Scaled) keeps it there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DoubleDouble {
    pub(crate) high: f64,
    pub(crate) low: f64,
}

impl DoubleDouble {
    pub(crate) const ZERO: Self = Self::new(0.0, 0.0);
    pub(crate) const ONE: Self = Self::new(1.0, 0.0);

    /// Takes two parts that are already normalised: `high` is their sum rounded.
    pub(crate) const fn new(high: f64, low: f64) -> Self {
        Self { high, low }
    }

    /// `a + b` without any error.
    pub(crate) fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let b_taken = high - a;
        Self { high, low: (a - (high - b_taken)) + (b - b_taken) }
    }

    /// `a + b` without any error, for |a| ≥ |b|.
    pub(crate) fn ordered_sum(a: f64, b: f64) -> Self {
        let high = a + b;
        Self { high, low: b - (high - a) }
    }

    /// `a · b` without any error (Dekker: `mul_add` would be exact too, but slow in software).
    pub(crate) fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        let (a1, a2) = halves(a);
        let (b1, b2) = halves(b);
        Self { high, low: ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2 }
    }

    /// `self + other` in half the work of `+`, with an error relative to the larger of them: where
    /// they cancel, digits are lost.
    pub(crate) fn plus(self, other: Self) -> Self {
        let sum = Self::sum(self.high, other.high);
        Self::ordered_sum(sum.high, sum.low + (self.low + other.low))
    }

    /// `self / other` in a third of the work of `/`, to about 100 bits.
    pub(crate) fn over(self, other: Self) -> Self {
        let quotient = self.high / other.high;
        let product = Self::product(quotient, other.high);
        let rest = (self.high - product.high) - product.low + self.low - quotient * other.low;
        Self::ordered_sum(quotient, rest / other.high)
    }

    /// The square root of a positive number: one Newton step on the double's.
    pub(crate) fn sqrt(self) -> Self {
        let root = self.high.sqrt();
        let rest = self - Self::product(root, root);
        Self::ordered_sum(root, rest.high / (2.0 * root))
    }
}

/// Splits a double into two of at most 26 bits, whose products are exact (Veltkamp).
fn halves(a: f64) -> (f64, f64) {
    let shifted = 134_217_729.0 * a; // 2²⁷ + 1
    let high = shifted - (shifted - a);
    (high, a - high)
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
        let high = Self::sum(self.high, other.high);
        let low = Self::sum(self.low, other.low);
        let partial = Self::ordered_sum(high.high, high.low + low.high);
        Self::ordered_sum(partial.high, partial.low + low.low)
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
        let product = Self::product(self.high, other.high);
        let cross = self.high * other.low + self.low * other.high;
        Self::ordered_sum(product.high, product.low + cross)
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
        Self::ordered_sum(first, second) + third.into()
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

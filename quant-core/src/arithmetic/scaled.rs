//! Double-double numbers of unlimited range.

use std::f64::consts::FRAC_1_SQRT_2;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::double_double::{DoubleDouble, significand_and_exponent};

/// The number `mantissa · 2^exponent`.
///
/// The mantissa's magnitude is from ½ to 1, or the number is zero. Since the exponent is an
/// integer beside it, sums and products of doubles neither overflow nor underflow on the way to
/// a result that fits; [`to_f64`](Self::to_f64) rounds once, at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scaled {
    pub(crate) mantissa: DoubleDouble,
    pub(crate) exponent: i32,
}

/// The difference of exponents at which the smaller summand is far below the last bit of the larger.
const NEGLIGIBLE: i32 = 900;

impl Scaled {
    pub(crate) const ZERO: Self = Self { mantissa: DoubleDouble::ZERO, exponent: 0 };

    /// Returns `mantissa · 2^exponent`, with the mantissa brought into its range.
    pub(crate) fn new(mantissa: DoubleDouble, exponent: i32) -> Self {
        if mantissa.high == 0.0 {
            return Self::ZERO;
        }
        let (high, shift) = significand_and_exponent(mantissa.high);
        let low = DoubleDouble::from(mantissa.low).times_power_of_two(-shift).high;
        Self { mantissa: DoubleDouble::new(high, low), exponent: exponent + shift }
    }

    /// Returns the number times 2^`power`.
    pub(crate) fn times_power_of_two(self, power: i32) -> Self {
        if self.is_zero() { self } else { Self { exponent: self.exponent + power, ..self } }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.mantissa.high == 0.0
    }

    /// Returns the square root of a number of zero or more.
    pub(crate) fn sqrt(self) -> Self {
        if self.is_zero() {
            return self;
        }
        let odd = self.exponent.rem_euclid(2);
        let even = self.mantissa.times_power_of_two(odd);
        Self::new(even.sqrt().renormalised(), (self.exponent - odd) / 2)
    }

    /// Returns `self / other` in a third of the work of `/`, to about 100 bits.
    pub(crate) fn over(self, other: Self) -> Self {
        let quotient = self.mantissa.over(other.mantissa).renormalised();
        Self::new(quotient, self.exponent - other.exponent)
    }

    /// Returns whether the number, which is positive, exceeds 1.
    pub(crate) fn exceeds_one(self) -> bool {
        let (mantissa, exponent) = self.centred();
        exponent > 0 || (exponent == 0 && mantissa.high > 1.0)
    }

    /// Returns a positive number as a mantissa between √½ and √2 and a power of two.
    pub(super) fn centred(self) -> (DoubleDouble, i32) {
        if self.mantissa.high < FRAC_1_SQRT_2 {
            (self.mantissa.times_power_of_two(1), self.exponent - 1)
        } else {
            (self.mantissa, self.exponent)
        }
    }

    /// Returns the nearest double; infinite where the number is too large, zero where too small.
    pub(crate) fn to_f64(self) -> f64 {
        self.to_double_double().high
    }

    /// Returns the number without the extended range: infinite where it is too large for a double,
    /// zero where it is too small.
    pub(crate) fn to_double_double(self) -> DoubleDouble {
        self.mantissa.times_power_of_two(self.exponent)
    }
}

impl From<f64> for Scaled {
    fn from(value: f64) -> Self {
        Self::new(value.into(), 0)
    }
}

impl From<DoubleDouble> for Scaled {
    fn from(value: DoubleDouble) -> Self {
        Self::new(value, 0)
    }
}

impl Neg for Scaled {
    type Output = Self;

    fn neg(self) -> Self {
        Self { mantissa: -self.mantissa, ..self }
    }
}

impl Add for Scaled {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return if self.is_zero() { other } else { self };
        }
        let (large, small) =
            if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let shift = small.exponent - large.exponent;
        if shift < -NEGLIGIBLE {
            return large;
        }
        Self::new(large.mantissa + small.mantissa.times_power_of_two(shift), large.exponent)
    }
}

impl Sub for Scaled {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Scaled {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::new(self.mantissa * other.mantissa, self.exponent + other.exponent)
    }
}

impl Div for Scaled {
    type Output = Self;

    /// Divides by a number that is not zero.
    fn div(self, other: Self) -> Self {
        Self::new(self.mantissa / other.mantissa, self.exponent - other.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_beyond_the_largest_double_comes_back() {
        let (largest, smallest) = (Scaled::from(f64::MAX), Scaled::from(5e-324));
        assert_eq!((largest + largest).to_f64(), f64::INFINITY);
        assert_eq!((largest + largest - largest).to_f64(), f64::MAX);
        assert_eq!((smallest / largest * largest).to_f64(), 5e-324);
    }

    #[test]
    fn a_root_holds_for_odd_and_even_exponents() {
        for value in [5e-324, 0.25, 0.5, 2.0, 4.0, 1e308] {
            assert_eq!(Scaled::from(value).sqrt().to_f64(), value.sqrt());
        }
        assert!(Scaled::ZERO.sqrt().is_zero());
    }

    #[test]
    fn products_leave_no_range() {
        let number = |value: f64| Scaled::from(value);
        let big = (number(1e300) * number(1e300)).over(number(1e299)).over(number(1e299));
        assert!((big.to_f64() - 100.0).abs() < 1e-12);
        assert_eq!((number(5e-324) * number(1e300)).to_f64(), 5e-324 * 1e300);
        assert!(number(1e300).over(number(1e-300)).to_f64().is_infinite());
    }
}

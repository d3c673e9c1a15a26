//! Numbers as the decimals that denote them, for decisions at an exact edge.
//!
//! 0.1 is a tenth to whoever writes it, and a little more to a double. Whether a number reaches an edge
//! is decided on the shortest decimals that denote the doubles, which are those that were written where
//! they had at most 15 digits.

use std::cmp::Ordering;

/// A decimal number, `digits · 10^exponent`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decimal {
    /// The significant digits with their sign, at most 17.
    digits: i128,
    exponent: i32,
}

impl Decimal {
    /// Returns the shortest decimal that denotes a finite double.
    pub(crate) fn of(value: f64) -> Self {
        let text = format!("{value:e}");
        let (number, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let fraction = number.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i32);
        let size = number
            .bytes()
            .filter(u8::is_ascii_digit)
            .fold(0, |digits, digit| 10 * digits + i128::from(digit - b'0'));
        let digits = if value < 0.0 { -size } else { size };
        Self { digits, exponent: exponent.parse().unwrap_or(0) - fraction }
    }

    /// Returns a count times this number, divided by `parts` and rounded to a whole number, halves away
    /// from zero; `None` where the product is out of range. The count is at most 10¹⁹.
    pub(crate) fn share(self, count: i128, parts: u32) -> Option<i128> {
        let product = count * self.digits;
        if self.exponent > 0 {
            let power = 10_i128.checked_pow(self.exponent.unsigned_abs())?;
            return Some(nearest_quotient(product.checked_mul(power)?, i128::from(parts)));
        }
        let power = 10_i128.checked_pow(self.exponent.unsigned_abs());
        let divisor = power.and_then(|power| power.checked_mul(i128::from(parts)));
        // A divisor beyond an i128 is more than twice any product.
        Some(divisor.map_or(0, |divisor| nearest_quotient(product, divisor)))
    }
}

/// Returns `a − b` of the decimals that denote two finite doubles, rounded once; infinite beyond a double.
pub(crate) fn difference(a: f64, b: f64) -> f64 {
    let (a_decimal, b_decimal) = (Decimal::of(a), Decimal::of(b));
    let exponent = a_decimal.exponent.min(b_decimal.exponent);
    let digits = |decimal: Decimal| {
        let power = 10_i128.checked_pow((decimal.exponent - exponent).unsigned_abs())?;
        decimal.digits.checked_mul(power)
    };
    let exact = digits(a_decimal).zip(digits(b_decimal)).and_then(|(a, b)| a.checked_sub(b));
    let parsed = exact.and_then(|digits| format!("{digits}e{exponent}").parse().ok());
    // Where the digits do not fit, one number is below the last digit of the other.
    parsed.unwrap_or(a - b)
}

/// Returns the quotient rounded to a whole number, halves away from zero; the divisor is positive.
fn nearest_quotient(dividend: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (dividend / divisor, dividend % divisor);
    let is_far = rest.unsigned_abs() >= divisor.unsigned_abs() - rest.unsigned_abs();
    if is_far { quotient + dividend.signum() } else { quotient }
}

/// Compares the sum of some decimals, each times a factor of at most 10,000 in size, with zero.
///
/// The sum is exact: the terms are added from the highest power of ten down, until what is left cannot
/// change the sign.
pub(crate) fn sign_of_sum<const N: usize>(mut terms: [(i64, Decimal); N]) -> Ordering {
    terms.sort_by_key(|(_, decimal)| -decimal.exponent);
    let (mut sum, mut exponent) = (0_i128, 0);
    for (factor, decimal) in terms {
        if sum != 0 {
            match lowered(sum, exponent - decimal.exponent) {
                Some(lower) => sum = lower,
                None => break,
            }
        }
        exponent = decimal.exponent;
        sum += i128::from(factor) * decimal.digits;
    }
    sum.cmp(&0)
}

/// Compares two quotients whose denominators are positive, as the decimals that denote the doubles.
pub(crate) fn compare_quotients(one: (f64, f64), other: (f64, f64)) -> Ordering {
    // Two coefficients of 17 digits have a product of at most 10³⁴.
    let product = |a: f64, b: f64| {
        let (a, b) = (Decimal::of(a), Decimal::of(b));
        (a.digits * b.digits, a.exponent + b.exponent)
    };
    let (left, right) = (product(one.0, other.1), product(other.0, one.1));
    let signs = left.0.signum().cmp(&right.0.signum());
    if signs != Ordering::Equal {
        return signs;
    }
    // The number of the higher exponent exceeds the other where it has no room in its units.
    if left.1 >= right.1 {
        let lowered = in_lower_units(left.0, left.1 - right.1);
        lowered.map_or(left.0.cmp(&0), |left| left.cmp(&right.0))
    } else {
        let lowered = in_lower_units(right.0, right.1 - left.1);
        lowered.map_or(0.cmp(&right.0), |right| left.0.cmp(&right))
    }
}

/// Returns a number in units of so many powers of ten less; `None` where it has no room.
fn in_lower_units(digits: i128, powers: i32) -> Option<i128> {
    if digits == 0 {
        return Some(0);
    }
    digits.checked_mul(10_i128.checked_pow(u32::try_from(powers).ok()?)?)
}

/// Returns the sum in units of so many powers of ten less; `None` where it exceeds all terms to come.
fn lowered(sum: i128, powers: i32) -> Option<i128> {
    /// A term is at most 10⁴ · 10¹⁷, and there are fewer than a thousand.
    const ALL_TERMS: i128 = 10_i128.pow(24);
    let power = 10_i128.checked_pow(u32::try_from(powers).ok()?)?;
    sum.checked_mul(power).filter(|sum| sum.abs() <= ALL_TERMS)
}

/// Returns the whole and the fractional part of `count · (1 − fraction)`, where `fraction`, from ½ to 1,
/// is read as its shortest decimal: 5 and 0 for 0.95 and 100.
pub(crate) fn complement_times(fraction: f64, count: usize) -> (usize, f64) {
    let Decimal { digits, exponent } = Decimal::of(fraction);
    // A double of ½ or more has at most 17 decimals, and one of 1 has the exponent 0.
    let scale = 10_i128.pow(exponent.min(0).unsigned_abs());
    let product = count as i128 * (scale - digits).max(0);
    let (whole, rest) = (product / scale, product % scale);
    (usize::try_from(whole).unwrap_or(count), rest as f64 / scale as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_are_added_as_they_are_written() {
        let sign = |terms: [(i64, f64); 3]| {
            sign_of_sum(terms.map(|(factor, value)| (factor, Decimal::of(value))))
        };
        let rows = [
            ([(1, 0.1), (1, 0.2), (-1, 0.3)], Ordering::Equal),
            ([(3, 0.1), (0, 7.0), (-1, 0.3)], Ordering::Equal),
            ([(1, 1e300), (-1, 1e-300), (-1, 1e300)], Ordering::Less),
            ([(1, 1e300), (1, -1e300), (1, 5e-324)], Ordering::Greater),
            ([(-1, 1e300), (1000, 1e297), (1, -0.0)], Ordering::Equal),
            ([(1, 1.7e308), (-10_000, 1.7e304), (-1, 5e-324)], Ordering::Less),
        ];
        for (terms, expected) in rows {
            assert_eq!(sign(terms), expected, "{terms:?}");
        }
    }

    #[test]
    fn quotients_are_compared_as_they_are_written() {
        let rows = [
            ((0.1, 0.3), (0.2, 0.6), Ordering::Equal),
            ((-0.1, 0.3), (-0.2, 0.6), Ordering::Equal),
            ((0.0, 3.0), (-0.0, 5e-324), Ordering::Equal),
            ((1.0, 3.0), (0.333_333_333_333_333_3, 1.0), Ordering::Greater),
            ((1e308, 5e-324), (1.0, 1.0), Ordering::Greater),
            ((-1e308, 5e-324), (-1.0, 1.0), Ordering::Less),
            ((5e-324, 1e308), (1.0, 1.0), Ordering::Less),
            ((-5e-324, 1e308), (-1.0, 1.0), Ordering::Greater),
            ((-1.0, 7.0), (1.0, 7.0), Ordering::Less),
        ];
        for (one, other, expected) in rows {
            assert_eq!(compare_quotients(one, other), expected, "{one:?} {other:?}");
            assert_eq!(compare_quotients(other, one), expected.reverse(), "{other:?} {one:?}");
        }
    }

    #[test]
    fn a_share_is_rounded_as_its_decimals_say() {
        let share = |value, count, parts| Decimal::of(value).share(count, parts);
        let rows = [
            (0.05, 10, 1, Some(1)),
            (0.049, 10, 1, Some(0)),
            (-0.05, 10, 1, Some(-1)),
            (0.06, 20_000_000, 12, Some(100_000)),
            (1e-300, 1 << 60, 1, Some(0)),
            (2e3, 7, 4, Some(3500)),
            (1e300, 7, 4, None),
            (0.0, 7, 3, Some(0)),
        ];
        for (value, count, parts, expected) in rows {
            assert_eq!(share(value, count, parts), expected, "{value} {count} {parts}");
        }
    }

    #[test]
    fn a_difference_is_that_of_the_decimals() {
        let rows = [
            (0.3, 0.1, 0.2),
            (0.0525, 0.04, 0.0125),
            (1e300, 1e-300, 1e300),
            (1e300, 1e300, 0.0),
            (-0.0, 0.0, 0.0),
            (f64::MAX, -f64::MAX, f64::INFINITY),
        ];
        for (a, b, expected) in rows {
            assert_eq!(difference(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn a_complement_is_that_of_the_decimal() {
        let rows = [
            (0.95, 1, (0, 0.05)),
            (0.95, 5, (0, 0.25)),
            (0.99, 250, (2, 0.5)),
            (0.95, 100, (5, 0.0)),
            (0.5, 7, (3, 0.5)),
            (1.0, 7, (0, 0.0)),
            (0.999_999_999_999_999_9, 1, (0, 1e-16)),
        ];
        for (part, count, expected) in rows {
            assert_eq!(complement_times(part, count), expected, "{part} {count}");
        }
    }

    proptest! {
        #[test]
        fn the_sign_is_that_of_whole_numbers(
            digits in prop::array::uniform3(-1_000_000_i64..1_000_000), factors in prop::array::uniform3(-1000_i64..1000),
            places in prop::array::uniform3(0_u32..6),
        ) {
            let read = |digits: i64, places: u32| format!("{digits}e-{places}").parse::<f64>().unwrap();
            let terms = [0, 1, 2].map(|i| (factors[i], Decimal::of(read(digits[i], places[i]))));
            let whole: i64 = (0..3).map(|i| factors[i] * digits[i] * 10_i64.pow(5 - places[i])).sum();
            prop_assert_eq!(sign_of_sum(terms), whole.cmp(&0));
        }
    }
}

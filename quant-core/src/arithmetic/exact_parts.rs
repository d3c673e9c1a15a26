//! Parts of a total whose sum has no rounding error, in any order of summation.

use super::double_double::DoubleDouble;
use super::without_negative_zero;

/// Returns the parts rounded to multiples of one power of two, and their sum.
///
/// The power is at least 2⁻⁵² of the sum of the sizes, so that every partial sum is a double: the
/// parts add up to the total bit for bit, in any order. Each part moves by at most one and a half
/// times that power. The running sum is rounded, and a part is the difference of two neighbours, so
/// that the roundings do not accumulate.
///
/// `None` where the sum of the sizes exceeds half the largest double, or a part is not a number.
pub(crate) fn exact_parts(parts: &[f64]) -> Option<(Vec<f64>, f64)> {
    let size: f64 = parts.iter().map(|part| part.abs()).sum();
    if size.is_nan() || size > 0.5 * f64::MAX {
        return None;
    }
    let (_, exponent) = libm::frexp(size);
    // All doubles are multiples of the smallest.
    let power = (exponent - 52).max(-1074);
    let units = |value: f64| libm::scalbn(value, -power);
    let (mut running, mut rounded) = (DoubleDouble::ZERO, 0.0);
    let part = |&part: &f64| {
        running = running + part.into();
        let before = rounded;
        rounded = libm::rint(units(running.high) + units(running.low));
        // A small loss rounds to nothing, without its sign.
        without_negative_zero(libm::scalbn(rounded - before, power))
    };
    let parts = parts.iter().map(part).collect();
    Some((parts, without_negative_zero(libm::scalbn(rounded, power))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_of_any_size_are_kept() {
        for parts in [vec![], vec![0.0], vec![5e-324, -5e-324], vec![0.1], vec![8e307, -1.0]] {
            let (found, total) = exact_parts(&parts).unwrap();
            assert_eq!(found.iter().sum::<f64>() + 0.0, total, "{parts:?}");
        }
        assert_eq!(exact_parts(&[0.1, 0.0]), Some((vec![0.1, 0.0], 0.1)));
        let (found, _) = exact_parts(&[-1e-320, 1e9]).unwrap();
        assert!(found[0] == 0.0 && found[0].is_sign_positive(), "{found:?}");
        assert_eq!(exact_parts(&[1e308, 1e308]), None);
        assert_eq!(exact_parts(&[f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn the_sum_is_the_total_in_every_order(
            parts in prop::collection::vec(-1e3..1e3_f64, 1..60), small in -1e-9..1e-9_f64,
        ) {
            let parts: Vec<f64> = parts.into_iter().chain([small, 0.0]).collect();
            let (found, total) = exact_parts(&parts).unwrap();
            let size: f64 = parts.iter().map(|part| part.abs()).sum();
            prop_assert_eq!(found.iter().sum::<f64>(), total);
            prop_assert_eq!(found.iter().rev().sum::<f64>(), total);
            let mut sorted = found.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert_eq!(sorted.iter().sum::<f64>(), total);
            for (found, part) in found.iter().zip(&parts) {
                prop_assert!((found - part).abs() <= 3.0 * f64::EPSILON * size);
            }
        }
    }
}

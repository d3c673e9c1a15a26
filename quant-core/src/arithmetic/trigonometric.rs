//! Sine and cosine to about 100 bits, for angles of any size.

use super::constants::{HALF_PI, INVERSE_FACTORIALS};
use super::double_double::{DoubleDouble, power_series};
use super::scaled::Scaled;

/// The largest angle, just under π/4, that needs no reduction.
const REDUCED: f64 = 0.785;

/// Returns the sine of the angle `x + step`.
///
/// A step of 1 beside an x of 1e308 lies a thousand binary places below the leading bit, more than
/// any mantissa here holds, and still changes the sine: so the sum is given as its summands.
pub(crate) fn sin(x: Scaled, step: Scaled) -> Scaled {
    let (quadrant, rest) = reduce(x, step);
    quarter(quadrant, rest)
}

/// Returns the cosine of the angle `x + step`.
pub(crate) fn cos(x: Scaled, step: Scaled) -> Scaled {
    let (quadrant, rest) = reduce(x, step);
    quarter(quadrant + 1, rest)
}

/// Returns `sin(x)/x`; one at zero.
pub(crate) fn sin_ratio(x: Scaled) -> Scaled {
    if x.to_f64().abs() < REDUCED {
        sine_series(x.to_double_double()).into()
    } else {
        sin(x, Scaled::ZERO) / x
    }
}

/// Returns the sine of `quadrant·π/2 + rest`, for a `rest` of at most π/4.
fn quarter(quadrant: u64, rest: Scaled) -> Scaled {
    let plain = rest.to_double_double();
    let size = if quadrant.is_multiple_of(2) {
        rest * sine_series(plain).into()
    } else {
        cosine_series(plain).into()
    };
    if quadrant % 4 < 2 { size } else { -size }
}

/// `sin(x)/x` as Σ (−x²)ᵏ / (2k+1)!, for |x| ≤ π/4.
fn sine_series(x: DoubleDouble) -> DoubleDouble {
    power_series(-(x * x), INVERSE_FACTORIALS.iter().copied().skip(1).step_by(2))
}

/// `cos(x)` as Σ (−x²)ᵏ / (2k)!, for |x| ≤ π/4.
fn cosine_series(x: DoubleDouble) -> DoubleDouble {
    power_series(-(x * x), INVERSE_FACTORIALS.iter().copied().step_by(2))
}

/// Splits the angle `x + step` into quadrants, modulo four, and a remainder of at most half a quadrant.
///
/// Sums of two doubles come as near to a multiple of π/2 as 2⁻¹³⁰, so quadrants are counted in
/// integers of 320 binary places (Payne and Hanek).
fn reduce(x: Scaled, step: Scaled) -> (u64, Scaled) {
    let angle = x + step;
    if angle.to_f64().abs() < REDUCED {
        return (0, angle);
    }
    let mut quadrants = [0; PLACES + 1];
    for summand in [x, step] {
        add(&mut quadrants, &quadrants_of(summand.mantissa.high, summand.exponent));
        add(&mut quadrants, &quadrants_of(summand.mantissa.low, summand.exponent));
    }
    let past_half = quadrants[PLACES - 1] >> 63;
    let quadrant = quadrants[PLACES].wrapping_add(past_half);
    if past_half == 1 {
        negate(&mut quadrants);
    }
    let rest = fraction(&quadrants) * HALF_PI.into();
    (quadrant % 4, if past_half == 1 { -rest } else { rest })
}

/// Words behind the binary point of a [`Quadrants`].
const PLACES: usize = 5;

/// A number of quadrants modulo 2⁶⁴ in units of 2⁻³²⁰, two's complement, lowest word first.
type Quadrants = [u64; PLACES + 1];

/// `part · 2^exponent · 2/π`.
fn quadrants_of(part: f64, exponent: i32) -> Quadrants {
    let (mantissa, shift) = libm::frexp(part);
    let integer = libm::scalbn(mantissa.abs(), 53) as u64;
    // The window of 2/π that weighs 2⁻³²⁰ and more once it is multiplied by 2^(shift − 53).
    let last_place = shift + exponent - 53 + 64 * PLACES as i32;
    let mut quadrants = [0; PLACES + 1];
    let mut carry = 0;
    for (word, place) in quadrants.iter_mut().zip((0..).map(|index| last_place - 64 * index)) {
        let product = u128::from(integer) * u128::from(places_of_two_over_pi(place)) + carry;
        *word = product as u64;
        carry = product >> 64;
    }
    if part < 0.0 {
        negate(&mut quadrants);
    }
    quadrants
}

/// The 64 binary places of 2/π that end with place `last`, the first behind the point being 1.
fn places_of_two_over_pi(last: i32) -> u64 {
    let word = |index: i32| {
        usize::try_from(index).ok().and_then(|index| TWO_OVER_PI.get(index)).copied().unwrap_or(0)
    };
    let (index, offset) = ((last - 1).div_euclid(64), (last - 1).rem_euclid(64));
    let pair = (u128::from(word(index - 1)) << 64) | u128::from(word(index));
    (pair >> (63 - offset)) as u64
}

fn add(quadrants: &mut Quadrants, other: &Quadrants) {
    let mut carry = false;
    for (word, &summand) in quadrants.iter_mut().zip(other) {
        let (sum, first) = word.overflowing_add(summand);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        (*word, carry) = (sum, first || second);
    }
}

fn negate(quadrants: &mut Quadrants) {
    for word in quadrants.iter_mut() {
        *word = !*word;
    }
    add(quadrants, &[1, 0, 0, 0, 0, 0]);
}

/// The fractional part of a number of quadrants, from 0 to 1.
fn fraction(quadrants: &Quadrants) -> Scaled {
    let Some(top) = quadrants[..PLACES].iter().rposition(|&word| word != 0) else {
        return Scaled::ZERO;
    };
    let below = |distance| top.checked_sub(distance).map_or(0, |index| quadrants[index]);
    let lead = quadrants[top].leading_zeros();
    let shifted = |word: u64, next: u64| {
        ((((u128::from(word) << 64) | u128::from(next)) << lead) >> 64) as u64
    };
    let (first, second) = (shifted(quadrants[top], below(1)), shifted(below(1), below(2)));
    // 53 bits and the 53 bits after them, each an exact double.
    let high = (first >> 11) as f64;
    let low = (((first & 0x7ff) << 42) | (second >> 22)) as f64;
    let bits = DoubleDouble::sum(high, libm::scalbn(low, -53));
    let exponent = 64 * (top as i32 + 1 - PLACES as i32) - lead as i32 - 53;
    Scaled::new(bits, exponent)
}

/// The binary places of 2/π, enough for an angle of 2¹⁰²⁵.
const TWO_OVER_PI: [u64; 22] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
    0xf0cf_bc20_9af4_361d,
    0xa9e3_9161_5ee6_1b08,
    0x6599_855f_14a0_6840,
];

#[cfg(test)]
mod tests {
    use super::super::exponential::exp;
    use super::super::logarithm::ln;
    use super::*;
    use std::f64::consts::{E, LN_10};

    /// Returns the distance of two numbers, relative to the second.
    fn distance(found: DoubleDouble, expected: DoubleDouble) -> f64 {
        ((found - expected).high / expected.high).abs()
    }

    #[test]
    fn the_functions_have_a_hundred_bits() {
        // mpmath 1.4.1, 60 digits: exp(1), ln(10), sin(1), cos(1), sin(1)/1 at 1e22.
        let one = Scaled::from(1.0);
        let rows = [
            (exp(DoubleDouble::ONE).to_double_double(), (E, 1.4456468917292502e-16)),
            (ln(Scaled::from(10.0)), (LN_10, -2.1707562233822494e-16)),
            (
                sin(one, Scaled::ZERO).to_double_double(),
                (0.8414709848078965, 1.776845092935536e-18),
            ),
            (
                cos(one, Scaled::ZERO).to_double_double(),
                (0.5403023058681398, -4.760954612604417e-17),
            ),
            (
                sin(Scaled::from(1e22), Scaled::ZERO).to_double_double(),
                (-0.8522008497671888, -6.7806825896773284e-18),
            ),
        ];
        for (found, (high, low)) in rows {
            let error = distance(found, DoubleDouble::new(high, low));
            assert!(error < 1e-30, "{found:?} is {error:e} from {high}");
        }
    }

    #[test]
    fn an_angle_beside_half_of_pi_keeps_its_digits() {
        // cos(π/2 rounded to 106 bits) is the rest of π/2: mpmath 1.4.1, cos(mpf(high) + mpf(low)).
        let cosine = cos(HALF_PI.into(), Scaled::ZERO).to_f64();
        assert_eq!(cosine, -1.4973849048591698e-33);
    }
}

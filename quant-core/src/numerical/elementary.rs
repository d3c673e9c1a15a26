//! Exponential, logarithm and circular functions to about 100 bits.

use std::f64::consts::{FRAC_PI_2, LN_2};

use super::double_double::DoubleDouble;
use super::scaled::Scaled;

const HALF_PI: DoubleDouble = DoubleDouble::new(FRAC_PI_2, 6.123233995736766e-17);
const LN_TWO: DoubleDouble = DoubleDouble::new(LN_2, 2.3190468138462996e-17);

/// The first 40 bits of ln 2, whose product with an exponent is exact, and the rest.
const LN_TWO_HEAD: f64 = 0.6931471805592082;
const LN_TWO_TAIL: DoubleDouble = DoubleDouble::new(7.371002565167799e-13, 1.94704509238075e-31);

/// Below this, (1 − e⁻ʷ)/w is summed as a series; above, one minus the exponential loses a bit.
const SERIES_BOUND: f64 = 0.5;

/// Beyond this, e⁻ʷ is below the last bit of one.
const NO_EXPONENTIAL: f64 = 200.0;

/// Below half a quarter turn an angle needs no reduction.
const REDUCED: f64 = 0.785;

/// The exponential of a number of at most 4,000 in magnitude.
pub(crate) fn exp(x: DoubleDouble) -> Scaled {
    let turns = libm::rint(x.high / LN_2);
    let head = DoubleDouble::sum(x.high, -turns * LN_TWO_HEAD);
    let rest = head + x.low.into() - LN_TWO_TAIL * turns.into();
    // |rest| ≤ 0.35, so that the term of degree 25 is below 2⁻¹²⁰.
    Scaled::new(power_series(rest, INVERSE_FACTORIALS[..26].iter().copied()), turns as i32)
}

/// `(1 − e⁻ʷ)/w` for a positive `w`.
pub(crate) fn exp_decrease_ratio(w: Scaled) -> Scaled {
    let size = w.to_f64();
    if size > NO_EXPONENTIAL {
        return Scaled::from(1.0) / w;
    }
    let plain = w.to_plain();
    if size > SERIES_BOUND {
        return (Scaled::from(1.0) - exp(-plain)) / w;
    }
    // Σ (−w)ᵏ / (k+1)!
    power_series(-plain, INVERSE_FACTORIALS[1..27].iter().copied()).into()
}

/// The natural logarithm of a positive number, to about 100 bits of its larger summand.
pub(crate) fn log(x: Scaled) -> DoubleDouble {
    // One Newton step of y = ln m on the double's logarithm, to the second order.
    let near = libm::log(x.mantissa.high);
    let rest = exp(DoubleDouble::from(-near)).to_plain() * x.mantissa - DoubleDouble::ONE;
    let mantissa =
        DoubleDouble::from(near) + (rest - DoubleDouble::from(0.5 * rest.high * rest.high));
    LN_TWO * f64::from(x.exponent).into() + mantissa
}

/// `artanh(s)/s` for |s| ≤ 1/8; one at zero.
pub(crate) fn artanh_ratio(s: DoubleDouble) -> DoubleDouble {
    // Σ s²ᵏ / (2k+1): the 19th term is below 2⁻¹¹⁸.
    power_series(s * s, (0..19).map(|k| DoubleDouble::ONE / f64::from(2 * k + 1).into()))
}

/// The sine of any angle, `x + step`.
///
/// A step of one lies a thousand binary places below the leading one of 1e308, more than any
/// mantissa here holds, and still turns the angle: so the sum is given as its summands.
pub(crate) fn sin(x: Scaled, step: Scaled) -> Scaled {
    let (quadrant, rest) = reduce(x, step);
    quarter(quadrant, rest)
}

/// The cosine of any angle, `x + step`.
pub(crate) fn cos(x: Scaled, step: Scaled) -> Scaled {
    let (quadrant, rest) = reduce(x, step);
    quarter(quadrant + 1, rest)
}

/// `sin(x)/x`; one at zero.
pub(crate) fn sin_ratio(x: Scaled) -> Scaled {
    if x.to_f64().abs() < REDUCED {
        sine_series(x.to_plain()).into()
    } else {
        sin(x, Scaled::ZERO) / x
    }
}

/// The sine of `quadrant` quarter turns and a `rest` of at most an eighth of one.
fn quarter(quadrant: u64, rest: Scaled) -> Scaled {
    let plain = rest.to_plain();
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

/// Σ cₖ xᵏ by Horner's rule.
fn power_series(
    x: DoubleDouble,
    coefficients: impl DoubleEndedIterator<Item = DoubleDouble>,
) -> DoubleDouble {
    coefficients.rev().fold(DoubleDouble::ZERO, |sum, coefficient| sum * x + coefficient)
}

/// Splits the angle `x + step` into quarter turns, modulo four, and a rest of at most half of one.
///
/// Sums of two doubles come as near to a quarter turn as 2⁻¹³⁰, so the turns are counted in
/// integers of 320 binary places (Payne and Hanek).
fn reduce(x: Scaled, step: Scaled) -> (u64, Scaled) {
    let angle = x + step;
    if angle.to_f64().abs() < REDUCED {
        return (0, angle);
    }
    let mut turns = [0; PLACES + 1];
    for summand in [x, step] {
        add(&mut turns, &quarter_turns(summand.mantissa.high, summand.exponent));
        add(&mut turns, &quarter_turns(summand.mantissa.low, summand.exponent));
    }
    let past_half = turns[PLACES - 1] >> 63;
    let quadrant = turns[PLACES].wrapping_add(past_half);
    if past_half == 1 {
        negate(&mut turns);
    }
    let rest = fraction(&turns) * HALF_PI.into();
    (quadrant % 4, if past_half == 1 { -rest } else { rest })
}

/// Words behind the binary point of a [`Turns`].
const PLACES: usize = 5;

/// A number of quarter turns modulo 2⁶⁴ in units of 2⁻³²⁰, two's complement, lowest word first.
type Turns = [u64; PLACES + 1];

/// `part · 2^exponent · 2/π`.
fn quarter_turns(part: f64, exponent: i32) -> Turns {
    let (mantissa, shift) = libm::frexp(part);
    let integer = libm::scalbn(mantissa.abs(), 53) as u64;
    // The window of 2/π that weighs 2⁻³²⁰ and more once it is multiplied by 2^(shift − 53).
    let last_place = shift + exponent - 53 + 64 * PLACES as i32;
    let mut turns = [0; PLACES + 1];
    let mut carry = 0;
    for (word, place) in turns.iter_mut().zip((0..).map(|index| last_place - 64 * index)) {
        let product = u128::from(integer) * u128::from(places_of_two_over_pi(place)) + carry;
        *word = product as u64;
        carry = product >> 64;
    }
    if part < 0.0 {
        negate(&mut turns);
    }
    turns
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

fn add(turns: &mut Turns, other: &Turns) {
    let mut carry = false;
    for (word, &summand) in turns.iter_mut().zip(other) {
        let (sum, first) = word.overflowing_add(summand);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        (*word, carry) = (sum, first || second);
    }
}

fn negate(turns: &mut Turns) {
    for word in turns.iter_mut() {
        *word = !*word;
    }
    add(turns, &[1, 0, 0, 0, 0, 0]);
}

/// The places behind the point as a number from 0 to 1.
fn fraction(turns: &Turns) -> Scaled {
    let Some(top) = turns[..PLACES].iter().rposition(|&word| word != 0) else {
        return Scaled::ZERO;
    };
    let below = |distance| top.checked_sub(distance).map_or(0, |index| turns[index]);
    let lead = turns[top].leading_zeros();
    let shifted = |word: u64, next: u64| {
        ((((u128::from(word) << 64) | u128::from(next)) << lead) >> 64) as u64
    };
    let (first, second) = (shifted(turns[top], below(1)), shifted(below(1), below(2)));
    // 53 bits and the 53 bits after them, each an exact double.
    let high = (first >> 11) as f64;
    let low = (((first & 0x7ff) << 42) | (second >> 22)) as f64;
    let bits = DoubleDouble::sum(high, libm::scalbn(low, -53));
    let exponent = 64 * (top as i32 + 1 - PLACES as i32) - lead as i32 - 53;
    Scaled::new(bits, exponent)
}

/// 1/k! for k from 0.
const INVERSE_FACTORIALS: [DoubleDouble; 29] = [
    DoubleDouble::new(1.0, 0.0),
    DoubleDouble::new(1.0, 0.0),
    DoubleDouble::new(0.5, 0.0),
    DoubleDouble::new(0.16666666666666666, 9.25185853854297e-18),
    DoubleDouble::new(0.041666666666666664, 2.3129646346357427e-18),
    DoubleDouble::new(0.008333333333333333, 1.1564823173178714e-19),
    DoubleDouble::new(0.001388888888888889, -5.300543954373577e-20),
    DoubleDouble::new(0.0001984126984126984, 1.7209558293420705e-22),
    DoubleDouble::new(2.48015873015873e-05, 2.1511947866775882e-23),
    DoubleDouble::new(2.7557319223985893e-06, -1.858393274046472e-22),
    DoubleDouble::new(2.755731922398589e-07, 2.3767714622250297e-23),
    DoubleDouble::new(2.505210838544172e-08, -1.448814070935912e-24),
    DoubleDouble::new(2.08767569878681e-09, -1.20734505911326e-25),
    DoubleDouble::new(1.6059043836821613e-10, 1.2585294588752098e-26),
    DoubleDouble::new(1.1470745597729725e-11, 2.0655512752830745e-28),
    DoubleDouble::new(7.647163731819816e-13, 7.03872877733453e-30),
    DoubleDouble::new(4.779477332387385e-14, 4.399205485834081e-31),
    DoubleDouble::new(2.8114572543455206e-15, 1.6508842730861433e-31),
    DoubleDouble::new(1.5619206968586225e-16, 1.1910679660273754e-32),
    DoubleDouble::new(8.22063524662433e-18, 2.2141894119604265e-34),
    DoubleDouble::new(4.110317623312165e-19, 1.4412973378659527e-36),
    DoubleDouble::new(1.9572941063391263e-20, -1.3643503830087908e-36),
    DoubleDouble::new(8.896791392450574e-22, -7.911402614872376e-38),
    DoubleDouble::new(3.868170170630684e-23, -8.843177655482344e-40),
    DoubleDouble::new(1.6117375710961184e-24, -3.6846573564509766e-41),
    DoubleDouble::new(6.446950284384474e-26, -1.9330404233703465e-42),
    DoubleDouble::new(2.4795962632247976e-27, -1.2953730964765229e-43),
    DoubleDouble::new(9.183689863795546e-29, 1.4303150396787322e-45),
    DoubleDouble::new(3.279889237069838e-30, 1.5117542744029879e-46),
];

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
    use super::*;
    use std::f64::consts::{E, LN_10};

    /// How far two numbers are apart, relative to the second.
    fn distance(found: DoubleDouble, expected: DoubleDouble) -> f64 {
        ((found - expected).high / expected.high).abs()
    }

    #[test]
    fn the_functions_have_a_hundred_bits() {
        // mpmath 1.4.1, 60 digits: exp(1), ln(10), sin(1), cos(1), sin(1)/1 at 1e22.
        let one = Scaled::from(1.0);
        let rows = [
            (exp(DoubleDouble::ONE).to_plain(), (E, 1.4456468917292502e-16)),
            (log(Scaled::from(10.0)), (LN_10, -2.1707562233822494e-16)),
            (sin(one, Scaled::ZERO).to_plain(), (0.8414709848078965, 1.776845092935536e-18)),
            (cos(one, Scaled::ZERO).to_plain(), (0.5403023058681398, -4.760954612604417e-17)),
            (
                sin(Scaled::from(1e22), Scaled::ZERO).to_plain(),
                (-0.8522008497671888, -6.7806825896773284e-18),
            ),
        ];
        for (found, (high, low)) in rows {
            let error = distance(found, DoubleDouble::new(high, low));
            assert!(error < 1e-30, "{found:?} is {error:e} from {high}");
        }
    }

    #[test]
    fn a_logarithm_undoes_the_exponential() {
        for x in [-700.0, -1.5, -1e-5, 1e-5, 0.1, 3.0, 1000.0] {
            let error = distance(log(exp(x.into())), x.into());
            assert!(error < 1e-24, "{x}: {error:e}");
        }
    }

    #[test]
    fn an_angle_beside_a_quarter_turn_keeps_its_digits() {
        // cos(π/2 rounded to 106 bits) is the rest of π/2: mpmath 1.4.1, cos(mpf(high) + mpf(low)).
        let cosine = cos(HALF_PI.into(), Scaled::ZERO).to_f64();
        assert_eq!(cosine, -1.4973849048591698e-33);
    }
}

//! Logarithms, one for each precision and range that the computations need.
//!
//! | function | argument | result | error |
//! |---|---|---|---|
//! | [`ln`], [`artanh_ratio`] | [`Scaled`], double-double | double-double | 100 bits |
//! | [`ln_64`], [`ln_1p_64`] | [`Scaled`], double-double | double-double | 64 bits |
//! | [`ln_ratio`] | two doubles | double-double | 1e-20, absolute |
//! | [`ln_ratio_double`] | two doubles | double | 52 bits, without a branch or a table |

use super::constants::{FIRST_LOGARITHM, LN_2, LN_2_HEAD, LN_2_TAIL, LOGARITHMS, nearest_integer};
use super::double_double::{DoubleDouble, power_series, significand_and_exponent};
use super::exponential::exp;
use super::scaled::Scaled;

/// Returns the natural logarithm of a positive number, to about 100 bits of its larger summand.
pub(crate) fn ln(x: Scaled) -> DoubleDouble {
    // One Newton step of y = ln m on the double's logarithm, to the second order.
    let near = libm::log(x.mantissa.high);
    let rest = exp(DoubleDouble::from(-near)).to_double_double() * x.mantissa - DoubleDouble::ONE;
    let mantissa =
        DoubleDouble::from(near) + (rest - DoubleDouble::from(0.5 * rest.high * rest.high));
    LN_2 * f64::from(x.exponent).into() + mantissa
}

/// Returns `artanh(s)/s` to 100 bits for |s| ≤ 1/8; one at zero.
pub(crate) fn artanh_ratio(s: DoubleDouble) -> DoubleDouble {
    // Σ s²ᵏ / (2k+1): the 19th term is below 2⁻¹¹⁸.
    power_series(s * s, (0..19).map(|k| DoubleDouble::ONE / f64::from(2 * k + 1).into()))
}

/// Returns `ln x` to 64 bits, relative to the result also near x = 1.
pub(crate) fn ln_64(x: Scaled) -> DoubleDouble {
    let (mantissa, exponent) = x.centred();
    // The nearest sixteenth c leaves ln(m/c) a short series; c = 1 about 1 adds no error.
    let sixteenths = nearest_integer(16.0 * mantissa.high);
    let nearest = sixteenths / 16.0;
    let index = 4 * (sixteenths as i32).clamp(11, 23) as usize - FIRST_LOGARITHM;
    let (high, low) = LOGARITHMS[index];
    let (below, above) = (mantissa.plus(-nearest), mantissa.plus(nearest));
    let rest = twice_artanh(below.over(above).renormalised());
    let exponent = f64::from(exponent);
    let doublings = DoubleDouble::product(exponent, LN_2.high).plus(exponent * LN_2.low);
    doublings.plus(DoubleDouble::new(high, low).plus(rest))
}

/// Returns `ln(1 + x)` to 64 bits for |x| of at most 1/32, with a relative error near zero as well.
pub(crate) fn ln_1p_64(x: DoubleDouble) -> DoubleDouble {
    twice_artanh(x.over(x.plus(2.0)).renormalised())
}

/// Returns `ln((1 + s)/(1 − s))` for |s| of at most 1/44: the series, its first term in full.
fn twice_artanh(s: DoubleDouble) -> DoubleDouble {
    let square = s.high * s.high;
    let tail = 1.0 / 3.0
        + square
            * (0.2
                + square
                    * (1.0 / 7.0
                        + square * (1.0 / 9.0 + square * (1.0 / 11.0 + square * (1.0 / 13.0)))));
    let twice = s.plus(s);
    twice.plus(twice.high * square * tail)
}

/// Returns `ln(a / b)` of two positive numbers to an absolute error near 1e-20; where one of the
/// two numbers is zero or infinite, the limit or NaN.
///
/// With q = a/b = 2ᵏ·c·(1 + r), where c is the multiple of 1/64 next to q/2ᵏ:
/// `ln q = k ln 2 + ln c + (r − r²/2 + r³/3 − …)`, the first two of the series in twice the
/// precision. Near q = 1 only the series is left, so that nothing cancels.
pub(crate) fn ln_ratio(a: f64, b: f64) -> DoubleDouble {
    let ordinary = |number: f64| number > 0.0 && number.is_finite();
    if !ordinary(a) || !ordinary(b) {
        return libm::log(a / b).into();
    }
    let ((a, a_exponent), (b, b_exponent)) =
        (significand_and_exponent(a), significand_and_exponent(b));
    let mut exponent = a_exponent - b_exponent;
    let (mut a, mut ratio) = (a, a / b);
    if ratio > std::f64::consts::SQRT_2 {
        (a, ratio, exponent) = (0.5 * a, 0.5 * ratio, exponent + 1);
    } else if ratio < std::f64::consts::FRAC_1_SQRT_2 {
        (a, ratio, exponent) = (2.0 * a, 2.0 * ratio, exponent - 1);
    }
    let step = (ratio * 64.0 + 0.5).floor();
    let centre = step / 64.0;
    // r = (a − b·c)/(b·c). b·c needs at most 60 bits; the difference is exact in two parts.
    let product = DoubleDouble::product(b, centre);
    let numerator = DoubleDouble::difference(a, product.high).plus(-product.low);
    let rest = numerator.over(product);
    let (high, low) = LOGARITHMS[step as usize - FIRST_LOGARITHM];
    let exponent = f64::from(exponent);
    let doublings = DoubleDouble::sum(exponent * LN_2_HEAD, high);
    doublings.plus(ln_one_plus(rest)).plus(exponent * LN_2_TAIL.high + low)
}

/// Returns `ln(1 + r)` for |r| < 0.012.
fn ln_one_plus(r: DoubleDouble) -> DoubleDouble {
    let x = r.high;
    let square = r.squared();
    let (x2, x4) = (square.high, square.high * square.high);
    let (third, fifth) = (1.0 / 3.0 - 0.25 * x, 0.2 - x / 6.0);
    let (seventh, ninth) = (1.0 / 7.0 - 0.125 * x, 1.0 / 9.0 - 0.1 * x);
    let tail = (third + x2 * fifth) + x4 * (seventh + x2 * (ninth + x2 / 11.0));
    DoubleDouble::sum(x, -0.5 * square.high).plus(r.low - 0.5 * square.low + x2 * x * tail)
}

/// Returns `ln(a/b)` of two positive numbers from 1e-150 to 1e150, without dividing one by the other.
///
/// With k the integer next to log₂(a/b), read off the bits, and b' = 2ᵏb: `ln(a/b) = k ln 2 +
/// 2 artanh f`, `f = (a − b')/(a + b')`, |f| ≤ 0.2005. Where a is near b the difference is exact.
#[inline(always)]
pub(crate) fn ln_ratio_double(a: f64, b: f64) -> f64 {
    let biased = a.to_bits().wrapping_sub(b.to_bits()).wrapping_add(HALF_ABOVE_ONE) >> 52;
    let b = b * f64::from_bits(biased << 52);
    let k = f64::from_bits(biased | INTEGERS) - ZERO_AMONG_INTEGERS;
    let f = (a - b) / (a + b);
    let x = f * f;
    let x2 = x * x;
    let [c0, c1, c2, c3, c4, c5, c6] = ARTANH;
    let tail = ((c0 + c1 * x) + x2 * (c2 + c3 * x)) + x2 * x2 * ((c4 + c5 * x) + x2 * c6);
    k * LN_2_HEAD + (2.0 * f + (f * x * tail + k * LN_2_TAIL.high))
}

/// The bits of √2 or so, with those of the exponent of 1: the term that rounds a difference of
/// logarithms.
const HALF_ABOVE_ONE: u64 = (1023 << 52) + (1 << 51);

/// The bits of 2⁵², whose last are an integer, and the number whose last bits are 1023.
const INTEGERS: u64 = 0x4330_0000_0000_0000;
const ZERO_AMONG_INTEGERS: f64 = 4_503_599_627_371_519.0;

/// `(2 artanh(f)/f − 2)/f²` in f²: Chebyshev interpolation, mpmath at 40 digits.
#[rustfmt::skip]
const ARTANH: [f64; 7] = [
    0.666_666_666_666_669_4, 0.399_999_999_993_211_73, 0.285_714_288_408_289_83, 0.222_221_822_042_250_52,
    0.181_846_408_205_277_14, 0.152_829_588_050_113_15, 0.151_252_362_917_640_02,
];

#[cfg(test)]
mod tests {
    use super::super::exponential::{exp_64, expm1_64};
    use super::*;

    #[test]
    fn the_logarithm_of_a_ratio_keeps_twenty_digits() {
        // mpmath at 50 digits: mp.log(mpf(a)/mpf(b)) less its double.
        #[rustfmt::skip]
        let rows = [
            (100.0, 95.0, 0.051_293_294_387_550_536, -3.068_816_776_313_427_8e-18),
            (1.0, 3.0, -1.098_612_288_668_109_8, 9.071_297_235_001_53e-17),
            (1.000_000_000_000_000_2, 1.0, 2.220_446_049_250_312_8e-16, 3.649_214_750_845_877e-48),
            (1e+308, 3e-308, 1_417.293_804_995_664, 2.729_143_207_232_959e-14),
            (5e-324, 1.7e+308, -1_454.166_908_814_609_5, 3.852_597_305_443_439_4e-14),
            (1.4143, 1.0, 0.346_634_709_044_317_04, -2.387_799_743_969_938_5e-17),
            (0.7072, 1.0, -0.346_441_767_658_703_3, 2.483_815_566_716_944_7e-17),
            (123.456, 123.455, 8.100_084_645_967_514e-06, 3.419_513_035_998_169_7e-22),
            (1.0078, 1.0, 0.007_769_737_264_360_694, 3.524_927_392_556_429_4e-20),
            (1.0079, 1.0, 0.007_868_958_378_695_197, -2.876_221_633_931_245_5e-19),
            (7.0, 7.0, 0.0, 0.0),
        ];
        for (a, b, high, low) in rows {
            let got = ln_ratio(a, b);
            let error = (got.high - high) + (got.low - low);
            let tolerance = 1e-20 + 1e-30 * high.abs();
            assert!(error.abs() <= tolerance, "ln({a}/{b}): {got:?}, off by {error:e}");
        }
    }

    #[test]
    fn the_logarithm_undoes_the_exponential() {
        for step in -400..=400 {
            let x = f64::from(step) * 1.731;
            let back = ln_64(exp_64(x.into())) - x.into();
            assert!(back.high.abs() <= 1e-18 * x.abs().max(1.0), "{x}: {back:?}");
        }
    }

    #[test]
    fn small_arguments_keep_their_digits() {
        for exponent in 1..250 {
            let x = libm::scalbn(1.7, -exponent - 6);
            let back = ln_1p_64(expm1_64(x.into())) - x.into();
            assert!(back.high.abs() <= 1e-18 * x, "{x:e}: {back:?}");
        }
    }

    #[test]
    fn known_digits_agree() {
        // ln 10 to 32 digits is 2.3025850929940456840179914546844.
        let ten = ln_64(Scaled::from(10.0));
        assert_eq!(ten.high, std::f64::consts::LN_10);
        assert!((ten.low + 2.170_756_223_382_249_4e-16).abs() < 1e-20, "{ten:?}");
        assert!((exp_64(1.0.into()).to_f64() - std::f64::consts::E).abs() < 5e-16);
    }

    #[test]
    fn a_logarithm_undoes_the_exponential_of_a_hundred_bits() {
        for x in [-700.0, -1.5, -1e-5, 1e-5, 0.1, 3.0, 1000.0] {
            let rest = ln(exp(x.into())) - x.into();
            assert!((rest.high / x).abs() < 1e-24, "{x}: {rest:?}");
        }
    }
}

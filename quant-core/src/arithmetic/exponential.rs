//! Exponential functions, one for each precision and range that the computations need.
//!
//! | function | argument | result | correct bits |
//! |---|---|---|---|
//! | [`exp`], [`exp_decrease_ratio`] | double-double | [`Scaled`] | 100 |
//! | [`exp_64`], [`expm1_64`] | double-double | [`Scaled`], double-double | 64 |
//! | [`exp_59`] | double-double | double-double | 59 |
//! | [`exp_rounded`] | double-double | double | all, but for the rarest roundings |
//! | [`exp_parts`], [`expm1_double`] | double | double | 52, without a branch or a table |

use std::f64::consts::{LN_2, LOG2_E};

use super::constants::{
    INVERSE_FACTORIALS, LN_2 as LN_2_PAIR, LN_2_HEAD, LN_2_TAIL, ROUNDING_SHIFT, nearest_integer,
};
use super::double_double::{DoubleDouble, power_series};
use super::scaled::Scaled;

/// The argument above which `(1 − e⁻ʷ)/w` is computed from the exponential at a loss of one bit, and
/// below which it is computed from its power series.
const SERIES_BOUND: f64 = 0.5;

/// The w above which e⁻ʷ is below the last bit of 1.
const NEGLIGIBLE_EXPONENTIAL: f64 = 200.0;

/// Returns `e^x` to 100 bits for |x| of at most 4,000.
pub(crate) fn exp(x: DoubleDouble) -> Scaled {
    let doublings = libm::rint(x.high / LN_2);
    let head = DoubleDouble::sum(x.high, -doublings * LN_2_HEAD);
    let rest = head + x.low.into() - LN_2_TAIL * doublings.into();
    // |rest| ≤ 0.35, so that the term of degree 25 is below 2⁻¹²⁰.
    let series = power_series(rest, INVERSE_FACTORIALS[..26].iter().copied());
    Scaled::new(series, doublings as i32)
}

/// Returns `(1 − e⁻ʷ)/w` to 100 bits for a positive `w`.
pub(crate) fn exp_decrease_ratio(w: Scaled) -> Scaled {
    let size = w.to_f64();
    if size > NEGLIGIBLE_EXPONENTIAL {
        return Scaled::from(1.0) / w;
    }
    let plain = w.to_double_double();
    if size > SERIES_BOUND {
        return (Scaled::from(1.0) - exp(-plain)) / w;
    }
    // Σ (−w)ᵏ / (k+1)!
    power_series(-plain, INVERSE_FACTORIALS[1..27].iter().copied()).into()
}

/// Returns `e^x` to 64 bits; arguments beyond ±100,000 count as ±100,000, far outside any double.
pub(crate) fn exp_64(x: DoubleDouble) -> Scaled {
    let x = if x.high.abs() > 1e5 { x.high.clamp(-1e5, 1e5).into() } else { x };
    let exponent = nearest_integer(x.high * LOG2_E);
    let doublings = DoubleDouble::product(exponent, LN_2).plus(exponent * LN_2_PAIR.low);
    let reduced = x.plus(-doublings);
    let sixteenths = nearest_integer(16.0 * reduced.high);
    let rest = short_expm1(reduced.plus(-sixteenths / 16.0));
    let (high, low) = EXPONENTIALS[(sixteenths as i32 + 6).clamp(0, 12) as usize];
    let base = DoubleDouble::new(high, low);
    Scaled::new(base.plus(base * rest), exponent as i32)
}

/// Returns `e^x − 1` to 64 bits for |x| of at most 1, with a relative error near zero as well.
pub(crate) fn expm1_64(x: DoubleDouble) -> DoubleDouble {
    if x.high.abs() <= 0.03125 { short_expm1(x) } else { exp_64(x).to_double_double().plus(-1.0) }
}

/// Returns `e^q − 1` for |q| of at most 1/32: the power series, its first two terms in full.
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
    q.plus(half_square.plus(x * x * x * tail))
}

/// Returns `e^x` rounded to a double.
///
/// With k the integer next to `64·x/ln 2` and r the remainder of x: `e^x = 2^{k/64}·e^r`. The first
/// factor is from a table in twice the precision, the second from its series, |r| < 0.0055.
pub(crate) fn exp_rounded(x: DoubleDouble) -> f64 {
    // Outside this range the result is zero, subnormal or near overflow.
    if x.high.is_nan() || x.high.abs() > 700.0 {
        let value = libm::exp(x.high);
        return if value.is_finite() { value + value * x.low } else { value };
    }
    let (high, low, power) = table_parts(x);
    (high + low) * power
}

/// Returns `e^x` to about 59 bits, for |x| < 700.
pub(crate) fn exp_59(x: DoubleDouble) -> DoubleDouble {
    let (high, low, power) = table_parts(x);
    let sum = DoubleDouble::sum(high, low);
    DoubleDouble::new(sum.high * power, sum.low * power)
}

/// Returns two summands and a power of two whose product with the sum is `e^x`.
#[inline(always)]
fn table_parts(x: DoubleDouble) -> (f64, f64, f64) {
    let k = nearest_integer(x.high * STEPS_PER_UNIT);
    let rest = (x.high - k * STEP.0) - k * STEP.1;
    let r = rest + x.low;
    let square = r * r;
    let series =
        r + square * ((0.5 + r / 6.0) + square * ((1.0 / 24.0 + r / 120.0) + square / 720.0));
    let k = k as i64;
    let (high, low) = POWERS[(k & 63) as usize];
    // Normal, as |k/64| is below 1022.
    let power = f64::from_bits(((1023 + (k >> 6)) as u64) << 52);
    (high, low + high * series, power)
}

/// Returns `e^x − 1` for |x| < 700, in doubles alone.
#[inline(always)]
pub(crate) fn expm1_double(x: f64) -> f64 {
    let (power, series) = exp_parts(x);
    power * series + (power - 1.0)
}

/// Returns a power of two and a number s, small where x is small, with `e^x = power·(1 + s)`.
#[inline(always)]
pub(crate) fn exp_parts(x: f64) -> (f64, f64) {
    let shifted = x * LOG2_E + ROUNDING_SHIFT;
    let k = shifted - ROUNDING_SHIFT;
    let r = (x - k * LN_2_HEAD) - k * LN_2_TAIL.high;
    let r2 = r * r;
    let r4 = r2 * r2;
    let [c0, c1, c2, c3, c4, c5, c6, c7, c8, c9] = SERIES;
    let low = (c0 + c1 * r) + r2 * (c2 + c3 * r);
    let high = ((c4 + c5 * r) + r2 * (c6 + c7 * r)) + r4 * (c8 + c9 * r);
    let series = r + r2 * (low + r4 * high);
    // The integer k is in the last bits of the shifted number.
    (f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52), series)
}

/// `(e^r − 1 − r)/r²`, |r| ≤ ln(2)/2: Chebyshev interpolation, mpmath at 40 digits.
#[rustfmt::skip]
const SERIES: [f64; 10] = [
    0.500_000_000_000_000_1, 0.166_666_666_666_666_69, 0.041_666_666_666_623_824, 0.008_333_333_333_330_039,
    0.001_388_888_891_736_708_1, 0.000_198_412_698_631_715_57, 2.480_152_105_786_820_4e-05,
    2.755_726_827_690_569_6e-06, 2.762_020_159_103_154_7e-07, 2.510_047_250_569_499_6e-08,
];

/// The number of table steps in a unit of the argument, `64/ln 2`.
const STEPS_PER_UNIT: f64 = 92.332_482_616_893_66;

/// `ln 2/64` as a number of 32 bits, whose multiples here are exact, and the remainder.
const STEP: (f64, f64) = (0.010_830_424_693_267_56, 2.981_585_826_985_293_3e-12);

/// `exp(j/16)` for j from −6 to 6, as a double and the remainder; from mpmath at 40 digits.
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

/// `2^{n/64}` for n from 0 to 63, as a double and the remainder; from mpmath at 40 digits.
#[rustfmt::skip]
const POWERS: [(f64, f64); 64] = [
    (1.0, 0.0), (1.010_889_286_051_700_5, -1.523_477_860_336_857_7e-17),
    (1.021_897_148_654_116_6, 5.109_225_028_973_444e-17), (1.033_024_879_021_228_4, 7.600_838_874_027_088e-18),
    (1.044_273_782_427_413_8, 8.551_889_705_537_965e-17), (1.055_645_178_360_557_2, 1.759_325_738_772_092e-18),
    (1.067_140_400_676_823_7, -7.899_853_966_841_582e-17), (1.078_760_797_757_119_9, -6.656_660_436_056_593e-17),
    (1.090_507_732_665_257_7, -3.046_782_079_812_471e-17), (1.102_382_583_307_841, 5.266_036_871_570_694_4e-17),
    (1.114_386_742_595_892_4, 1.041_027_845_684_557_1e-16), (1.126_521_618_608_241_8, 5.165_856_758_795_457e-17),
    (1.138_788_634_756_691_6, 8.912_812_676_025_408e-17), (1.151_189_229_952_982_7, 3.250_710_218_863_827e-17),
    (1.163_724_858_777_577_5, 3.829_204_836_924_093_5e-17), (1.176_396_991_650_281_2, 5.554_203_254_218_079e-17),
    (1.189_207_115_002_721, 3.982_015_231_465_646e-17), (1.202_156_731_452_703, 6.644_981_499_252_301e-17),
    (1.215_247_359_980_469, -7.712_630_692_681_488e-17), (1.228_480_536_106_87, -1.898_781_631_302_53e-17),
    (1.241_857_812_073_484, 4.658_027_591_836_937e-17), (1.255_380_757_024_691, -6.711_389_821_296_878_4e-18),
    (1.269_050_957_191_733_2, 2.667_932_131_342_186e-18), (1.282_870_016_078_778_3, 1.713_594_918_243_561e-17),
    (1.296_839_554_651_009_6, 2.538_250_279_488_831_5e-17), (1.310_961_211_524_764_4, -7.181_536_135_519_454e-17),
    (1.325_236_643_159_741_3, -2.858_731_210_038_861_4e-17), (1.339_667_524_053_303, 8.927_282_594_831_732e-17),
    (1.354_255_546_936_892_7, 7.700_948_379_802_99e-17), (1.369_002_422_974_590_5, 9.593_797_919_118_849e-17),
    (1.383_909_881_963_832, -6.770_511_658_794_786e-17), (1.398_979_672_538_311_2, -9.614_213_209_051_323e-17),
    (std::f64::consts::SQRT_2, -9.667_293_313_452_913e-17), (1.429_613_338_391_97, -1.203_164_248_905_365_5e-17),
    (1.445_180_806_977_046_7, -3.023_758_134_993_987_3e-17), (1.460_917_794_180_647, -5.600_377_186_075_216e-17),
    (1.476_826_145_939_499_3, -3.483_994_556_892_796e-17), (1.492_907_728_291_264_8, 1.419_292_015_428_403_6e-17),
    (1.509_164_427_593_422_8, -1.016_455_327_754_295e-16), (1.525_598_150_744_538_4, -1.102_494_171_234_256_1e-16),
    (1.542_210_825_407_940_7, 7.949_834_809_697_621e-17), (1.559_004_400_237_837, 3.781_207_053_357_527_5e-17),
    (1.575_980_845_107_886_5, -1.013_691_647_127_830_4e-17), (1.593_142_151_342_267, -1.009_440_654_231_196_4e-16),
    (1.610_490_331_949_254_3, 2.470_719_256_979_788_8e-17), (1.628_027_421_857_347_8, -6.712_955_084_707_084e-17),
    (1.645_755_478_153_965, -1.012_567_991_367_477_3e-16), (1.663_676_580_326_736_4, 5.890_992_696_713_1e-17),
    (1.681_792_830_507_429, 8.199_010_020_581_497e-17), (1.700_106_353_718_523_5, -8.023_719_370_397_7e-18),
    (1.718_619_298_122_478, -1.851_380_418_263_111e-17), (1.737_333_835_273_706_2, 3.164_389_299_292_957e-17),
    (1.756_252_160_373_299_5, 2.960_140_695_448_873e-17), (1.775_376_492_526_521_2, 6.429_731_796_556_572e-17),
    (1.794_709_075_003_107_2, 1.822_745_842_791_208_7e-17), (1.814_252_175_500_398_9, -9.969_531_538_920_349e-17),
    (1.834_008_086_409_342_4, 3.283_107_224_245_627e-17), (1.853_979_125_083_385_5, 9.761_887_490_727_594e-17),
    (1.874_167_634_110_3, -6.122_763_413_004_143e-17), (1.894_575_981_586_965_6, 3.403_403_535_216_529_7e-17),
    (1.915_206_561_397_147_4, -1.061_994_605_619_596_3e-16), (1.936_061_793_492_294_3, 1.033_238_596_067_632_6e-16),
    (1.957_144_124_175_400_2, 8.960_767_791_036_668e-17), (1.978_456_026_387_951, 4.038_875_310_927_816_7e-17),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ends_of_the_range_are_zero_and_infinity() {
        assert_eq!(exp_rounded(0.0.into()), 1.0);
        assert_eq!(exp_rounded((-800.0).into()), 0.0);
        assert_eq!(exp_rounded(800.0.into()), f64::INFINITY);
        assert_eq!(exp_rounded(f64::NEG_INFINITY.into()), 0.0);
        assert!(exp_rounded(f64::NAN.into()).is_nan());
    }

    proptest! {
        #[test]
        fn it_is_the_exponential_to_the_last_bit_or_so(x in -745.0..709.0_f64) {
            let (found, expected) = (exp_rounded(x.into()), libm::exp(x));
            prop_assert!((found - expected).abs() <= 1.01 * f64::EPSILON * expected);
        }

        #[test]
        fn the_low_part_counts(x in -50.0..50.0_f64) {
            let (found, expected) = (exp_rounded(DoubleDouble::new(x, 1e-5)), libm::exp(x + 1e-5));
            prop_assert!((found - expected).abs() <= 2e-14 * expected);
        }
    }
}

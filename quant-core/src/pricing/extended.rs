//! Sums, products and logarithms with the rounding error kept beside the result.
//!
//! The price of an option d standard deviations out of the money multiplies the relative error
//! of d by d². At 30 deviations that is a thousand-fold, so d is carried in twice the precision.

use super::exponential;
use crate::numerical::double_double::DoubleDouble;

/// The unevaluated sum of a double and a correction below its last bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extended {
    pub(super) high: f64,
    pub(super) low: f64,
}

impl From<f64> for Extended {
    fn from(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }
}

impl From<DoubleDouble> for Extended {
    fn from(value: DoubleDouble) -> Self {
        Self { high: value.high, low: value.low }.or_rounded()
    }
}

impl Extended {
    /// `a + b` without error.
    pub(super) fn sum(a: f64, b: f64) -> Self {
        DoubleDouble::sum(a, b).into()
    }

    /// `a − b` without error.
    pub(super) fn difference(a: f64, b: f64) -> Self {
        Self::sum(a, -b)
    }

    /// `a · b` without error, unless the correction leaves the range of a double.
    pub(super) fn product(a: f64, b: f64) -> Self {
        DoubleDouble::product(a, b).into()
    }

    /// `ln(a / b)` of two positive numbers to an absolute error near 1e-20; where one
    /// of them is zero or infinite, the limit or NaN.
    ///
    /// With q = a/b = 2ᵏ·c·(1 + r), where c is the multiple of 1/64 next to q/2ᵏ:
    /// `ln q = k ln 2 + ln c + (r − r²/2 + r³/3 − …)`, the first two of the series in twice the
    /// precision. Near q = 1 only the series is left, so that nothing cancels.
    pub(super) fn log_ratio(a: f64, b: f64) -> Self {
        let ordinary = |number: f64| number > 0.0 && number.is_finite();
        if !ordinary(a) || !ordinary(b) {
            return Self::from(libm::log(a / b));
        }
        let ((a, a_exponent), (b, b_exponent)) = (mantissa(a), mantissa(b));
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
        let product = Self::product(b, centre);
        let numerator = Self::difference(a, product.high).add(-product.low);
        let rest = numerator.divide(product);
        let (high, low) = LOGARITHMS[step as usize - FIRST_STEP];
        let exponent = f64::from(exponent);
        Self::sum(exponent * LN_2.0, high).plus(log_one_plus(rest)).add(exponent * LN_2.1 + low)
    }

    /// `self + b`.
    pub(super) fn add(self, b: f64) -> Self {
        let sum = Self::sum(self.high, b);
        Self::sum(sum.high, sum.low + self.low)
    }

    /// `self + other`.
    pub(super) fn plus(self, other: Self) -> Self {
        let sum = Self::sum(self.high, other.high);
        Self::sum(sum.high, sum.low + (self.low + other.low))
    }

    /// `self · b`.
    pub(super) fn times(self, b: f64) -> Self {
        let product = Self::product(self.high, b);
        Self { high: product.high, low: product.low + self.low * b }.or_rounded()
    }

    /// `self · other`.
    pub(super) fn multiply(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        let cross = self.high * other.low + self.low * other.high;
        Self { high: product.high, low: product.low + cross }.or_rounded()
    }

    /// `self / other`.
    pub(super) fn divide(self, other: Self) -> Self {
        let high = self.high / other.high;
        let product = Self::product(high, other.high);
        let rest = ((self.high - product.high) - product.low) + (self.low - high * other.low);
        Self { high, low: rest / other.high }.or_rounded()
    }

    /// `self²`.
    pub(super) fn squared(self) -> Self {
        let square = Self::product(self.high, self.high);
        Self { high: square.high, low: square.low + 2.0 * self.high * self.low }.or_rounded()
    }

    /// The square root of a number that is not negative.
    pub(super) fn square_root(self) -> Self {
        let high = self.high.sqrt();
        let square = Self::product(high, high);
        let rest = ((self.high - square.high) - square.low) + self.low;
        Self { high, low: rest / (2.0 * high) }.or_rounded()
    }

    /// `e^self`.
    pub(super) fn exp(self) -> f64 {
        exponential::exp(self)
    }

    /// `−self`.
    pub(super) fn negated(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }

    /// `self · 2ⁿ`, exact unless it leaves the range of a double.
    pub(super) fn scaled(self, n: i32) -> Self {
        Self { high: libm::scalbn(self.high, n), low: libm::scalbn(self.low, n) }
    }

    /// Drops a correction that overflowed: the number itself is still right.
    fn or_rounded(self) -> Self {
        if self.low.is_finite() { self } else { Self { high: self.high, low: 0.0 } }
    }
}

/// `ln(1 + r)` for |r| < 0.012.
fn log_one_plus(r: Extended) -> Extended {
    let x = r.high;
    let square = r.squared();
    let (x2, x4) = (square.high, square.high * square.high);
    let (third, fifth) = (1.0 / 3.0 - 0.25 * x, 0.2 - x / 6.0);
    let (seventh, ninth) = (1.0 / 7.0 - 0.125 * x, 1.0 / 9.0 - 0.1 * x);
    let tail = (third + x2 * fifth) + x4 * (seventh + x2 * (ninth + x2 / 11.0));
    Extended::sum(x, -0.5 * square.high).add(r.low - 0.5 * square.low + x2 * x * tail)
}

/// A positive number as a mantissa from ½ to 1 and a power of two.
fn mantissa(a: f64) -> (f64, i32) {
    if !a.is_normal() {
        return libm::frexp(a);
    }
    let bits = a.to_bits();
    (f64::from_bits((bits & FRACTION) | HALF), (bits >> 52) as i32 - 1022)
}

/// The bits of the fraction of a double, and those of the exponent of numbers from ½ to 1.
const FRACTION: u64 = (1 << 52) - 1;
const HALF: u64 = 1022 << 52;

/// ln 2 as a number of 40 bits, whose multiples up to 2¹³ are exact, and the rest.
const LN_2: (f64, f64) = (0.693_147_180_559_208_2, 7.371_002_565_167_799e-13);

/// The step of the first of [`LOGARITHMS`].
const FIRST_STEP: usize = 45;

/// `ln(n/64)` for n from 45 to 91, as a double and the rest; from mpmath at 40 digits.
#[rustfmt::skip]
const LOGARITHMS: [(f64, f64); 47] = [
    (-0.352_220_593_589_352_1, -5.723_331_694_918_248_5e-18), (-0.330_241_686_870_576_87, 1.082_832_163_748_385_8e-17),
    (-0.308_735_481_649_613_3, 1.619_918_608_514_810_2e-17), (-0.287_682_072_451_780_9, -2.607_160_616_442_564e-17),
    (-0.267_062_785_249_045_25, 7.328_915_327_320_17e-18), (-0.246_860_077_931_525_78, -1.361_743_371_748_368e-17),
    (-0.227_057_450_635_346_08, -9.551_415_762_738_488e-18), (-0.207_639_364_778_244_5, -1.205_324_321_668_612_9e-17),
    (-0.188_591_169_807_550_03, 7.432_164_219_196_925e-18), (-0.169_899_036_795_397_47, 4.868_008_764_439_071e-19),
    (-0.151_549_898_127_200_93, -5.166_959_368_461_559_4e-18), (-0.133_531_392_624_522_63, 3.664_457_663_660_085e-18),
    (-0.115_831_815_525_121_7, -4.338_484_369_808_096e-18), (-0.098_440_072_813_252_52, 4.439_009_633_675_136e-18),
    (-0.081_345_639_453_952_4, -5.077_076_355_931_17e-18), (-0.064_538_521_137_571_18, 6.470_486_661_692_933e-18),
    (-0.048_009_219_186_360_606, -1.439_090_334_729_220_5e-18), (-0.031_748_698_314_580_3, -3.038_226_308_468_085_8e-18),
    (-0.015_748_356_968_139_168, -1.002_157_863_052_897_4e-18), (0.0, 0.0),
    (0.015_504_186_535_965_254, -3.278_321_022_892_429e-19), (0.030_771_658_666_753_687, 1.043_173_202_900_596_8e-18),
    (0.045_809_536_031_294_2, 1.902_959_866_474_257e-18), (0.060_624_621_816_434_84, 2.642_402_593_872_693_4e-18),
    (0.075_223_421_237_587_53, -5.930_604_196_293_241e-18), (0.089_612_158_689_687_14, -5.426_812_933_664_713_5e-18),
    (0.103_796_793_681_643_56, 5.477_724_157_266_59e-18), (0.117_783_035_656_383_46, -1.197_168_574_759_367_7e-18),
    (0.131_576_357_788_719_26, 1.112_300_087_972_958_8e-17), (0.145_182_009_844_497_9, 8.242_418_783_022_475e-18),
    (0.158_605_030_176_638_57, 1.125_700_387_218_259_2e-17), (0.171_850_256_926_659_23, -6.022_453_821_011_370_5e-18),
    (0.184_922_338_494_012, 3.023_661_415_357_406_4e-18), (0.197_825_743_329_919_87, 1.282_119_437_298_014_2e-17),
    (0.210_564_769_107_349_64, -4.249_405_314_729_895e-18), (0.223_143_551_314_209_76, -9.091_270_597_324_799e-18),
    (0.235_566_071_312_766_9, -2.394_337_149_518_735_5e-18), (0.247_836_163_904_581_27, -1.243_220_957_870_252_3e-17),
    (0.259_957_524_436_926_05, 2.069_806_938_978_935e-17), (0.271_933_715_483_641_76, 7.833_196_376_974_42e-19),
    (0.283_768_173_130_644_6, -2.032_665_581_126_656e-17), (0.295_464_212_893_835_9, -2.164_610_860_405_99e-17),
    (0.307_025_035_294_911_9, -1.231_991_620_010_196_4e-17), (0.318_453_731_118_534_6, 2.711_477_936_732_623_6e-17),
    (0.329_753_286_372_468, 2.122_020_616_196_946e-18), (0.340_926_586_970_593_2, 1.746_713_644_354_474_7e-17),
    (0.351_976_423_157_178_2, -1.295_389_303_019_196_3e-17),
];

#[cfg(test)]
mod tests {
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
            let got = Extended::log_ratio(a, b);
            let error = (got.high - high) + (got.low - low);
            let tolerance = 1e-20 + 1e-30 * high.abs();
            assert!(error.abs() <= tolerance, "ln({a}/{b}): {got:?}, off by {error:e}");
        }
    }

    #[test]
    fn a_product_that_overflows_in_its_correction_is_still_the_product() {
        assert_eq!(Extended::product(1e300, 2.0).high, 2e300);
        assert_eq!(Extended::product(1e300, 2.0).low, 0.0);
    }
}

//! The standard normal distribution, good to the last bits in both tails.
//!
//! All functions use the Mills ratio, the tail divided by the density. The ratio falls slowly from
//! 1.25 to 1/z, so that one polynomial approximates it on the whole half-line. Neither a tail nor a
//! difference of two tails is computed by subtraction from 1.

use crate::arithmetic::double_double::DoubleDouble;
use crate::arithmetic::exponential::exp_rounded;
use crate::{Result, check};

/// Returns the probability that a standard normal variable is at most `x`.
///
/// ```text
/// Φ(x) = ∫_{−∞}^{x} φ(t) dt = φ(x) · M(−x)
/// ```
///
/// where φ is the [density] and M the [Mills ratio](mills_ratio). The relative error is a few
/// units of the last bit for every `x`, also where Φ is 1e-300: write Φ(−x) for 1 − Φ(x). −∞
/// gives 0 and +∞ gives 1.
///
/// # Errors
///
/// [`Error::Domain`](crate::Error::Domain) for NaN.
///
/// # Examples
///
/// ```
/// use quant_core::pricing::normal;
///
/// assert_eq!(normal::probability(0.0)?, 0.5);
/// assert!((normal::probability(1.96)? - 0.975_002_104_851_779_6).abs() < 1e-15);
/// assert!((normal::probability(-37.0)? / 5.725_571_222_524_577e-300 - 1.0).abs() < 1e-14);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Abramowitz and Stegun (1964), *Handbook of Mathematical Functions*, 26.2.
pub fn probability(x: f64) -> Result<f64> {
    require_number("x", x)?;
    Ok(cdf(x))
}

/// Returns the density of the standard normal distribution.
///
/// ```text
/// φ(x) = e^{−x²/2} / √(2π)
/// ```
///
/// The square is taken in twice the precision, so that the far tail keeps its digits.
///
/// # Errors
///
/// [`Error::Domain`](crate::Error::Domain) for NaN.
///
/// # Examples
///
/// ```
/// use quant_core::pricing::normal;
///
/// assert!((normal::density(0.0)? - 0.398_942_280_401_432_7).abs() < 1e-16);
/// assert_eq!(normal::density(f64::NEG_INFINITY)?, 0.0);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Abramowitz and Stegun (1964), *Handbook of Mathematical Functions*, 26.2.1.
pub fn density(x: f64) -> Result<f64> {
    require_number("x", x)?;
    Ok(pdf(x))
}

/// Returns the Mills ratio, the upper tail divided by the density.
///
/// ```text
/// M(z) = Φ(−z) / φ(z) = √(π/2) · erfcx(z/√2)
/// ```
///
/// For large z it approaches 1/z, and for +∞ it is 0.
///
/// # Errors
///
/// [`Error::Domain`](crate::Error::Domain) for NaN; [`Error::Overflow`](crate::Error::Overflow) for z below −37.6, where the
/// ratio exceeds the largest double.
///
/// # Examples
///
/// ```
/// use quant_core::pricing::normal;
///
/// assert!((normal::mills_ratio(0.0)? - 1.253_314_137_315_500_3).abs() < 1e-15);
/// assert!((normal::mills_ratio(1e10)? - 1e-10).abs() < 1e-25);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Mills (1926), "Table of the Ratio: Area to Bounding Ordinate, for Any Portion of Normal Curve".
pub fn mills_ratio(z: f64) -> Result<f64> {
    require_number("z", z)?;
    let ratio = if z == f64::INFINITY {
        0.0
    } else if z < -CENTRE {
        cdf(-z) / pdf(z)
    } else {
        mills(z)
    };
    check::result("z", ratio)
}

fn require_number(argument: &'static str, value: f64) -> Result<()> {
    check::require(!value.is_nan(), argument, value, "a number or an infinity")
}

/// Computes the [probability] for any x but NaN, which the caller excludes.
pub(crate) fn cdf(x: f64) -> f64 {
    if x.is_infinite() {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    if x.abs() < CENTRE {
        // Far from the tails the error function is right to the last bit, and Φ(0) is ½.
        0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
    } else if x > 0.0 {
        1.0 - pdf(x) * mills(x)
    } else {
        pdf(x) * mills(-x)
    }
}

/// Computes the [density] for any x but NaN, which the caller excludes.
pub(crate) fn pdf(x: f64) -> f64 {
    DENSITY_AT_ZERO * exp_rounded(DoubleDouble::product(x, -0.5 * x))
}

/// Returns the z of zero or more that a standard normal variable exceeds with probability `tail`, for
/// tails from 1e-30 to ½.
///
/// Three steps of Halley's method from [`rough_upper_quantile`]; each triples the digits. The relative
/// error is a few units of the last bit; near ½ the error is absolute, 1e-16.
pub(crate) fn upper_quantile(tail: f64) -> f64 {
    let mut z = rough_upper_quantile(libm::log(tail)).max(0.0);
    for _ in 0..3 {
        let newton = (cdf(-z) - tail) / pdf(z);
        z += newton / (1.0 - 0.5 * z * newton);
    }
    z.max(0.0)
}

/// Returns the z at which the upper tail of the normal distribution has this logarithm, by
/// Hastings' formula. The error is at most 5e-4 for tails from 1e-9 to ½, and 0.1 beyond.
///
/// Abramowitz and Stegun (1964), *Handbook of Mathematical Functions*, 26.2.23.
pub(super) fn rough_upper_quantile(log_tail: f64) -> f64 {
    let t = (-2.0 * log_tail).sqrt();
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    t - numerator / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)))
}

/// Minus the least argument of [`mills`] and [`mills_difference`].
pub(super) const CENTRE: f64 = 0.5;

/// The Mills ratio for z ≥ −[`CENTRE`].
///
/// `(y + 3)·M(z)` with `y = z + ½` is smooth in `w = (y − 3)/(y + 3)`, which runs from −1 to 1.
pub(super) fn mills(z: f64) -> f64 {
    let scale = z + (CENTRE + SHIFT);
    let w = 1.0 - 2.0 * SHIFT / scale;
    let w2 = w * w;
    let [p0, p1, p2, p3] = quarters(w2 * w2);
    ((p0 + w * p1) + w2 * (p2 + w * p3)) / scale
}

/// `M(z) − M(z + width)` for z ≥ −[`CENTRE`] and a positive width, without cancellation.
#[inline(always)]
pub(super) fn mills_difference(z: f64, width: f64) -> f64 {
    difference(&COEFFICIENTS, z, width)
}

/// Returns `M(z) − M(z + width)` within 2e-7, in less time.
#[inline(always)]
pub(super) fn rough_mills_difference(z: f64, width: f64) -> f64 {
    difference(&FEW_COEFFICIENTS, z, width)
}

/// `M(z) − M(z + width)` by a table of coefficients.
///
/// With P the polynomial of [`mills`] in w, a = y + 3 and b = y + 3 + width:
/// `M(z) − M(z + width) = width / (a·b) · (P(w_a) − 6/b · P[w_a, w_b])`, where the divided difference
/// `P[w_a, w_b]` is negative: both terms add up.
#[inline(always)]
fn difference<const ROWS: usize>(table: &[[f64; 4]; ROWS], z: f64, width: f64) -> f64 {
    let near = z + (CENTRE + SHIFT);
    let far = near + width;
    let inverse = 1.0 / (near * far);
    let (inverse_near, inverse_far) = (inverse * far, inverse * near);
    let (a, b) = (1.0 - 2.0 * SHIFT * inverse_near, 1.0 - 2.0 * SHIFT * inverse_far);
    let (a2, b2) = (a * a, b * b);
    let ([p0, p1, p2, p3], [s0, s1, s2, s3]) = quarters_with_slopes(table, a2 * a2, b2 * b2);
    let value = (p0 + a * p1) + a2 * (p2 + a * p3);
    // The divided difference of w^k·P_k(w⁴) is that of w^k times P_k(a⁴), and b^k times that of P_k.
    let of_quarters = (s0 + b * s1) + b2 * (s2 + b * s3);
    let of_powers = p1 + (a + b) * p2 + (a2 + a * b + b2) * p3;
    let slope = (a + b) * (a2 + b2) * of_quarters + of_powers;
    (value - 2.0 * SHIFT * inverse_far * slope) * (width * inverse)
}

/// The four polynomials in `x = w⁴` of which that in w consists, `Σ w^k·P_k(w⁴)`.
fn quarters(x: f64) -> [f64; 4] {
    let mut value = [0.0; 4];
    for row in COEFFICIENTS.iter().rev() {
        for (value, coefficient) in value.iter_mut().zip(row) {
            *value = *value * x + coefficient;
        }
    }
    value
}

/// Returns the four polynomials at `a`, and their divided differences between `a` and `b`.
#[inline(always)]
fn quarters_with_slopes<const ROWS: usize>(
    table: &[[f64; 4]; ROWS],
    a: f64,
    b: f64,
) -> ([f64; 4], [f64; 4]) {
    let (mut value, mut slope) = (table[ROWS - 1], [0.0; 4]);
    for row in (0..ROWS - 1).rev() {
        for quarter in 0..4 {
            slope[quarter] = slope[quarter] * b + value[quarter];
            value[quarter] = value[quarter] * a + table[row][quarter];
        }
    }
    (value, slope)
}

/// The density of the normal distribution at zero, `1/√(2π)`.
pub(super) const DENSITY_AT_ZERO: f64 = 0.398_942_280_401_432_7;

/// The constant of the map from z to w in [`mills`]; 3 needs about the fewest terms.
const SHIFT: f64 = 3.0;

/// The coefficients of the polynomial of [`mills`], from the constant on: Chebyshev interpolation,
/// mpmath at 40 digits.
#[rustfmt::skip]
const COEFFICIENTS: [[f64; 4]; 7] = [
    [2.125_590_667_978_762, -1.990_549_312_339_808_1, 1.282_892_878_570_070_4, -0.499_851_666_972_230_1],
    [0.050_054_280_605_716_35, 0.050_336_364_590_915_95, -0.014_766_566_869_760_323, -0.007_206_630_343_730_373],
    [0.002_575_786_976_559_233, 0.001_564_308_385_018_650_4, -0.000_326_669_416_158_942_35, -0.000_396_292_198_156_422_77],
    [-1.516_848_554_796_380_2e-05, 8.970_688_302_515_152e-05, 3.120_689_260_951_146e-05, -1.214_879_384_891_412e-05],
    [-1.280_640_776_804_510_6e-05, -1.949_013_672_981_551_5e-06, 2.804_987_398_251_642e-06, 1.904_271_592_964_59e-06],
    [-6.941_660_324_246_814e-09, -6.255_079_974_153_406e-07, -2.336_054_189_325_388_5e-07, 1.016_287_021_353_615_9e-07],
    [7.861_305_188_028_131e-08, -2.314_336_081_242_491e-09, -9.860_862_377_927_455e-09, -1.312_465_018_089_171_5e-09],
];

/// The coefficients of a lower degree, for z from −½ to about 3,000.
#[rustfmt::skip]
const FEW_COEFFICIENTS: [[f64; 4]; 3] = [
    [2.125_590_654_526_887_7, -1.990_549_336_971_323_4, 1.282_893_846_584_158_2, -0.499_849_838_686_649_34],
    [0.050_043_158_051_860_4, 0.050_314_553_921_141_564, -0.014_720_931_862_142_895, -0.007_110_208_085_040_806],
    [0.002_496_042_931_585_949, 0.001_366_501_657_297_446, -0.000_276_544_657_226_862_4, -0.000_197_938_182_420_325_88],
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Relative, for functions of a few correctly rounded steps.
    const TOLERANCE: f64 = 2e-15;

    #[test]
    fn the_distribution_agrees_with_fifty_digits() {
        // mpmath at 50 digits: mp.ncdf(x).
        #[rustfmt::skip]
        let rows = [
            (-37.5, 4.605_353_009_581_955e-308),
            (-30.0, 4.906_713_927_148_187e-198),
            (-20.0, 2.753_624_118_606_233_7e-89),
            (-10.0, 7.619_853_024_160_525e-24),
            (-5.5, 1.898_956_246_588_771_8e-08),
            (-3.0, 0.001_349_898_031_630_094_6),
            (-1.0, 0.158_655_253_931_457_05),
            (-0.5, 0.308_537_538_725_986_9),
            (-0.1, 0.460_172_162_722_971),
            (0.0, 0.5),
            (0.25, 0.598_706_325_682_923_7),
            (0.5, 0.691_462_461_274_013_1),
            (0.75, 0.773_372_647_623_131_8),
            (1.0, 0.841_344_746_068_542_9),
            (2.5, 0.993_790_334_674_223_8),
            (5.0, 0.999_999_713_348_428_1),
            (8.0, 0.999_999_999_999_999_3),
        ];
        for (x, expected) in rows {
            let got = cdf(x);
            assert!((got / expected - 1.0).abs() <= TOLERANCE, "Φ({x}) is {expected}, got {got}");
        }
    }

    #[test]
    fn quantiles_agree_with_fifty_digits() {
        // mpmath at 50 digits: the root of mp.ncdf(-z) = tail, for the double that the tail is.
        #[rustfmt::skip]
        let rows = [
            (0.05, 1.644_853_626_951_472_7),
            (0.01, 2.326_347_874_040_841),
            (0.025, 1.959_963_984_540_054),
            (0.25, 0.674_489_750_196_081_7),
            (1e-16, 8.222_082_216_130_435),
            (1e-30, 11.464_024_688_443_616),
        ];
        for (tail, expected) in rows {
            let got = upper_quantile(tail);
            assert!((got / expected - 1.0_f64).abs() <= TOLERANCE, "{tail}: {expected}, got {got}");
        }
        assert_eq!(upper_quantile(0.5), 0.0);
    }

    #[test]
    fn the_ends_of_the_line_have_probability_zero_and_one() {
        assert_eq!((cdf(f64::NEG_INFINITY), cdf(f64::INFINITY)), (0.0, 1.0));
        assert_eq!((cdf(-1e300), cdf(1e300)), (0.0, 1.0));
        assert_eq!(mills_ratio(f64::INFINITY), Ok(0.0));
    }

    #[test]
    fn no_function_returns_what_is_not_finite() {
        // mpmath at 50 digits: the largest ratio near the end of the range.
        let ratio = mills_ratio(-37.5).unwrap();
        assert!((ratio / 5.786_254_378_210_513e305 - 1.0).abs() <= TOLERANCE, "{ratio:e}");
        for z in [-38.0, -50.0, f64::NEG_INFINITY] {
            let refused = mills_ratio(z).unwrap_err();
            assert_eq!((refused.code(), refused.argument()), ("overflow", Some("z")));
        }
        for refused in [probability(f64::NAN), density(f64::NAN), mills_ratio(f64::NAN)] {
            assert_eq!(refused.unwrap_err().code(), "domain");
        }
        for x in [f64::NEG_INFINITY, -1e300, 0.0, 1e300, f64::INFINITY] {
            let values = [probability(x).unwrap(), density(x).unwrap()];
            assert!(values.into_iter().all(f64::is_finite), "{values:?}");
        }
    }

    proptest! {
        #[test]
        fn both_tails_add_up_to_one(x in -40.0..40.0_f64) {
            prop_assert!((cdf(x) + cdf(-x) - 1.0).abs() <= f64::EPSILON);
        }

        #[test]
        fn the_distribution_is_that_of_the_error_function(x in -3.0..8.0_f64) {
            let expected = 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
            prop_assert!((cdf(x) / expected - 1.0).abs() <= 4.0 * TOLERANCE);
        }

        #[test]
        fn a_difference_of_ratios_is_their_difference(z in -0.5..40.0_f64, width in 1.0..50.0_f64) {
            let expected = mills(z) - mills(z + width);
            prop_assert!((mills_difference(z, width) / expected - 1.0).abs() <= 100.0 * TOLERANCE);
        }

        // M' = z·M − 1, and M'' lies between 0 and 1.
        #[test]
        fn a_small_difference_of_ratios_is_the_derivative(z in -0.5..1.0_f64) {
            let slope = 1.0 - z * mills(z);
            prop_assert!((mills_difference(z, 1e-15) / 1e-15 / slope - 1.0).abs() <= 10.0 * TOLERANCE);
        }
    }
}

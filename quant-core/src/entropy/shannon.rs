//! Shannon entropy of a discrete distribution.

use std::f64::consts::LN_2;

use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// The largest deviation of the sum of the probabilities from 1.
const TOLERANCE: f64 = 1e-6;

/// Returns the entropy of a distribution, in units of the logarithm's `base`.
///
/// ```text
/// H = −Σ pᵢ log_b pᵢ,   0 · log 0 = 0
/// ```
///
/// where b is `base`: 2 gives bits, e nats, 10 hartleys. A base below one changes the sign of every
/// logarithm, so that the entropy is zero or negative. A certain outcome has entropy zero.
/// `probabilities` are not normalised where their sum differs from one.
///
/// # Errors
///
/// - [`Error::TooFew`] without any outcome.
/// - [`Error::Element`] for the first probability that is not from 0 to 1.
/// - [`Error::Sum`] where the sum of the probabilities differs from 1 by more than 1e-6. The sum is
///   computed without rounding errors. A sum that is exactly on the bound in decimals, such as that
///   of 0.5 and 0.500001, is accepted.
/// - [`Error::Domain`] for a `base` that is not positive and finite, or is one.
///
/// # Examples
///
/// ```
/// use quant_core::entropy::shannon::shannon_entropy;
///
/// assert_eq!(shannon_entropy(&[0.5, 0.25, 0.125, 0.125], 2.0)?, 1.75);
/// assert_eq!(shannon_entropy(&[1.0, 0.0], std::f64::consts::E)?, 0.0);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Shannon (1948), "A Mathematical Theory of Communication", section 6; the example is Cover and
/// Thomas (2006), "Elements of Information Theory", example 2.1.2.
pub fn shannon_entropy(probabilities: &[f64], base: f64) -> Result<f64> {
    if probabilities.is_empty() {
        return Err(Error::TooFew { argument: "probabilities", needed: 1, found: 0 });
    }
    let totals = Totals::of(probabilities);
    if !totals.all_within {
        check::each("probabilities", probabilities, "a number from 0 to 1", is_probability)?;
    }
    distribution(probabilities, totals.probability)?;
    check::positive("base", base)?;
    check::require(base != 1.0, "base", base, "a positive finite number other than 1")?;
    // The sum is in bits first, because logarithms of powers of two are then exact. For a certain
    // outcome or a base below one, the product may be −0, which `result` turns into 0.
    let bits = -totals.information.total();
    check::result("base", bits * (LN_2 / libm::log(base)))
}

/// Explains [`shannon_entropy`].
///
/// # Errors
///
/// The errors of [`shannon_entropy`].
pub fn explain_shannon_entropy(probabilities: &[f64], base: f64) -> Result<Explanation> {
    shannon_entropy(probabilities, base)?;
    let method = Method::new(
        "Shannon entropy of the given distribution",
        "Shannon (1948), A Mathematical Theory of Communication, section 6",
    );
    let error = ErrorStatement::rounding(
        "shannon_entropy",
        1e-15,
        "largest relative error against many digits; the probabilities are taken as exact, so \
         that the error of a sample is not included",
    );
    Ok(Explanation::new(method, error).with_conventions([
        "The unit is that of the base: 2 gives bits, e nats and 10 hartleys.",
        "A probability of zero contributes zero.",
        "The probabilities sum to 1 within 1e-6 and are not normalised.",
        "No correction for the bias of a short sample is applied.",
    ]))
}

fn is_probability(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}

/// Refuses probabilities that do not add up to one.
fn distribution(probabilities: &[f64], rounded_sum: f64) -> Result<()> {
    // Each addition of the rounded sum loses at most ε/2 of a number that is at most 2.
    let lost = f64::EPSILON * (probabilities.len() + STRANDS) as f64;
    if (rounded_sum - 1.0).abs() + lost < TOLERANCE {
        return Ok(());
    }
    let sum = probabilities.iter().fold(Compensated::default(), |sum, &p| sum.add(p));
    // 0.500001 is not a double, so the bound allows for the rounding of decimals.
    let excess = (sum.sum - 1.0) + sum.rest;
    if excess.abs() <= TOLERANCE + f64::EPSILON {
        return Ok(());
    }
    let requirement = "1 within 1e-6";
    Err(Error::Sum { argument: "probabilities", sum: sum.total(), requirement })
}

/// The number of partial sums, which fit vector registers.
const STRANDS: usize = 8;

/// The number of probabilities in a block, whose data stay in the first-level cache.
const BLOCK: usize = 64;

/// The result of one pass over the probabilities.
#[derive(Debug, PartialEq)]
struct Totals {
    /// True if each probability is from 0 to 1.
    all_within: bool,
    /// The sum Σ p, with a rounding error at each addition.
    probability: f64,
    /// The sum Σ p log₂ p.
    information: Compensated,
}

impl Totals {
    /// Runs the pass with the widest registers of the processor.
    ///
    /// The number of partial sums is the same on every machine, and each operation rounds
    /// separately, so that the bits do not depend on the width of the registers.
    fn of(probabilities: &[f64]) -> Self {
        pulp::Arch::new().dispatch(Pass { probabilities })
    }
}

/// One pass over the probabilities, for the widest registers of the processor.
struct Pass<'a> {
    probabilities: &'a [f64],
}

impl pulp::WithSimd for Pass<'_> {
    type Output = Totals;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Totals {
        self.run()
    }
}

impl Pass<'_> {
    #[inline(always)]
    fn run(self) -> Totals {
        let (blocks, rest) = self.probabilities.as_chunks::<BLOCK>();
        let mut strands = Strands::new();
        for block in blocks {
            strands = strands.with(block);
        }
        // Zeros change no sum.
        let mut last = [0.0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        strands.with(&last).totals()
    }
}

/// The partial sums so far; the last two are the parts of a [`Compensated`] sum.
#[derive(Clone, Copy)]
struct Strands {
    lowest: [f64; STRANDS],
    highest: [f64; STRANDS],
    probability: [f64; STRANDS],
    sum: [f64; STRANDS],
    rest: [f64; STRANDS],
}

impl Strands {
    #[inline(always)]
    fn new() -> Self {
        Self {
            lowest: [0.0; STRANDS],
            highest: [1.0; STRANDS],
            probability: [0.0; STRANDS],
            sum: [0.0; STRANDS],
            rest: [0.0; STRANDS],
        }
    }

    #[inline(always)]
    fn with(self, block: &[f64; BLOCK]) -> Self {
        let Self { mut lowest, mut highest, mut probability, mut sum, mut rest } = self;
        for values in block.as_chunks::<STRANDS>().0 {
            for (strand, &p) in values.iter().enumerate() {
                // A NaN is neither lower nor higher; it makes the sum a NaN.
                lowest[strand] = if p < lowest[strand] { p } else { lowest[strand] };
                highest[strand] = if p > highest[strand] { p } else { highest[strand] };
                probability[strand] += p;
            }
        }
        // All terms have the same sign. Adding four without compensation costs at most two more
        // roundings of each term, not of the total, and saves most of the work.
        let terms = terms(block);
        for eight in 0..BLOCK / (4 * STRANDS) {
            for strand in 0..STRANDS {
                let term = |quarter| terms[(4 * eight + quarter) * STRANDS + strand];
                let four = (term(0) + term(1)) + (term(2) + term(3));
                let before = Compensated { sum: sum[strand], rest: rest[strand] };
                let after = before.add(four);
                (sum[strand], rest[strand]) = (after.sum, after.rest);
            }
        }
        Self { lowest, highest, probability, sum, rest }
    }

    fn totals(&self) -> Totals {
        let probability: f64 = self.probability.iter().sum();
        let all_within = !probability.is_nan()
            && self.lowest.iter().all(|&p| p >= 0.0)
            && self.highest.iter().all(|&p| p <= 1.0);
        let parts = self.sum.into_iter().chain(self.rest);
        let information = parts.fold(Compensated::default(), Compensated::add);
        Totals { all_within, probability, information }
    }
}

/// Returns `p log₂ p` of each number from 0 to 1.
///
/// Each loop is one stage for all numbers, and is short enough for the processor to overlap its
/// iterations.
#[inline(always)]
fn terms(block: &[f64; BLOCK]) -> [f64; BLOCK] {
    let (mut exponents, mut slopes) = ([0.0; BLOCK], [0.0; BLOCK]);
    for i in 0..BLOCK {
        (exponents[i], slopes[i]) = split(block[i]);
    }
    let mut terms = [0.0; BLOCK];
    for i in 0..BLOCK {
        terms[i] = block[i] * (exponents[i] + log2_of_ratio(slopes[i]));
    }
    terms
}

/// Returns the k and s of `p = 2ᵏ(1 + s)/(1 − s)`, |s| ≤ 3 − √8.
///
/// For zero, k is a large negative number, whose product with zero is zero. There is no branch and
/// no table, so that the compiler can vectorise the loop.
#[inline(always)]
fn split(p: f64) -> (f64, f64) {
    // The factor makes subnormal numbers normal and is exact for all others.
    const LIFT: f64 = 18_014_398_509_481_984.0;
    // √½, so that the fraction is from √½ to √2 and the logarithm near one keeps its digits.
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    const FRACTION: u64 = 0x000f_ffff_ffff_ffff;
    // The sum of 2⁵² and an integer has the integer in its last bits.
    const TWO_POWER_52: f64 = 4_503_599_627_370_496.0;
    // The bias of a double's exponent and that of the lift.
    const BIAS: f64 = 1023.0 + 54.0;

    let bits = (p * LIFT).to_bits().wrapping_add(ONE - ROOT_HALF);
    let exponent = f64::from_bits((bits >> 52) | TWO_POWER_52.to_bits()) - (TWO_POWER_52 + BIAS);
    let fraction = f64::from_bits((bits & FRACTION) + ROOT_HALF);
    (exponent, (fraction - 1.0) / (fraction + 1.0))
}

/// Returns the binary logarithm of (1 + s)/(1 − s), `2 artanh(s)/ln 2`, for |s| ≤ 3 − √8.
#[inline(always)]
fn log2_of_ratio(s: f64) -> f64 {
    // The coefficients of powers of s², by Chebyshev interpolation for |s| ≤ 3 − √8, with a
    // relative error of 2.0e-17.
    const C: [f64; 8] = [
        2.8853900817779268,
        0.961796693925976,
        0.5770780163541355,
        0.412198583898078,
        0.32059873801756367,
        0.2623236397004895,
        0.221189987214124,
        0.21087079476015172,
    ];
    let z = s * s;
    // Estrin's scheme has half the depth of Horner's, with the same accuracy.
    let z2 = z * z;
    let series =
        (C[1] + C[2] * z) + z2 * ((C[3] + C[4] * z) + z2 * ((C[5] + C[6] * z) + z2 * C[7]));
    s * (C[0] + z * series)
}

/// A sum and the rounding errors of its additions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Compensated {
    sum: f64,
    rest: f64,
}

impl Compensated {
    #[inline(always)]
    fn add(self, value: f64) -> Self {
        let sum = self.sum + value;
        let taken = sum - self.sum;
        let lost = (self.sum - (sum - taken)) + (value - taken);
        Self { sum, rest: self.rest + lost }
    }

    fn total(self) -> f64 {
        self.sum + self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::{E, LN_10};

    #[test]
    fn uniform_distributions_have_the_logarithm_of_their_size() {
        for bits in 0..12_u32 {
            let size = 1_usize << bits;
            let uniform = vec![1.0 / size as f64; size];
            assert_eq!(shannon_entropy(&uniform, 2.0), Ok(f64::from(bits)));
        }
        let ten = shannon_entropy(&[0.1; 10], E).unwrap();
        assert!((ten - LN_10).abs() <= 1e-15 * LN_10, "{ten}");
    }

    #[test]
    fn a_certain_outcome_has_the_positive_zero_in_every_base() {
        for base in [0.5, 2.0, E, 5e-324, f64::MAX] {
            for distribution in [&[1.0][..], &[0.0, 1.0, -0.0]] {
                assert_eq!(shannon_entropy(distribution, base).unwrap().to_bits(), 0);
            }
        }
    }

    #[test]
    fn a_base_below_one_gives_the_negative_of_its_inverse() {
        assert_eq!(shannon_entropy(&[0.5, 0.5], 0.5), Ok(-1.0));
        assert_eq!(shannon_entropy(&[0.25; 4], 0.25), Ok(-1.0));
    }

    #[test]
    fn the_sum_may_be_off_by_a_millionth_as_written() {
        assert!(shannon_entropy(&[0.5, 0.500001], 2.0).is_ok());
        assert!(shannon_entropy(&[0.5, 0.499999], 2.0).is_ok());
        for last in [0.5000010001, 0.4999989999] {
            let error = shannon_entropy(&[0.5, last], 2.0).unwrap_err();
            assert_eq!((error.code(), error.argument()), ("sum", Some("probabilities")));
        }
    }

    #[test]
    fn what_is_no_probability_is_refused_with_its_place() {
        for value in [-1e-300, 1.0000000000000002, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut probabilities = vec![0.0; 20];
            (probabilities[3], probabilities[17]) = (1.0, value);
            let error = shannon_entropy(&probabilities, 2.0).unwrap_err();
            assert_eq!((error.argument(), error.index()), (Some("probabilities"), Some(17)));
        }
        assert_eq!(shannon_entropy(&[], 2.0).unwrap_err().code(), "too_few");
    }

    #[test]
    fn a_base_without_a_logarithm_is_refused() {
        for base in [1.0, 0.0, -2.0, f64::NAN, f64::INFINITY] {
            let error = shannon_entropy(&[1.0], base).unwrap_err();
            assert_eq!((error.code(), error.argument()), ("domain", Some("base")));
        }
    }

    #[test]
    fn the_rarest_outcomes_count() {
        // −p log₂ p = 1074 · 2⁻¹⁰⁷⁴ for the smallest double; the certain outcome beside it adds
        // zero.
        assert_eq!(shannon_entropy(&[1.0, 5e-324], 2.0), Ok(1074.0 * 5e-324));
    }

    #[test]
    fn the_bits_do_not_depend_on_the_width_of_the_registers() {
        for size in [1, 7, 64, 1_000, 4_099] {
            let weights: Vec<f64> =
                (1..=size).map(|k| (f64::from(k) * 2_f64.sqrt()).fract()).collect();
            let sum: f64 = weights.iter().sum();
            let probabilities: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
            let plain = Pass { probabilities: &probabilities }.run();
            assert_eq!(Totals::of(&probabilities), plain);
        }
    }

    proptest! {
        #[test]
        fn entropy_lies_between_zero_and_that_of_the_uniform(weights in prop::collection::vec(0.0..1.0_f64, 1..50)) {
            let sum: f64 = weights.iter().sum();
            prop_assume!(sum > 0.0);
            let distribution: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
            let entropy = shannon_entropy(&distribution, 2.0).unwrap();
            let most = libm::log2(distribution.len() as f64);
            prop_assert!((0.0..=most * (1.0 + 1e-14)).contains(&entropy), "{entropy} of {most}");
        }

        #[test]
        fn the_logarithm_agrees_with_another(p in 1e-300..1.0_f64) {
            let (exponent, s) = split(p);
            let (found, expected) = (exponent + log2_of_ratio(s), libm::log2(p));
            prop_assert!((found - expected).abs() <= 4e-16 * expected.abs(), "{found} {expected}");
        }
    }
}

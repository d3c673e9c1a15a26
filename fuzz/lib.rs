//! The parts that the fuzz targets share: drawn arguments, and the check of a result.

use std::fmt::Debug;

use libfuzzer_sys::arbitrary::{Arbitrary, Result, Unstructured};
use quant_core::time::NaiveDate;

/// A number: any bits at all, an edge, or one as people write them.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub f64);

const EDGES: [f64; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    f64::EPSILON,
    1.0 - f64::EPSILON / 2.0,
    1.0 + f64::EPSILON,
    f64::MIN_POSITIVE,
    5e-324,
    1e-300,
    1e300,
    -1e300,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    709.782_712_893_384,
];

impl Arbitrary<'_> for Number {
    fn arbitrary(bytes: &mut Unstructured<'_>) -> Result<Self> {
        let ordinary = |bytes: &mut Unstructured<'_>| {
            Ok::<_, libfuzzer_sys::arbitrary::Error>(f64::from(i32::arbitrary(bytes)?))
        };
        Ok(Self(match u8::arbitrary(bytes)? % 8 {
            0 => f64::from_bits(u64::arbitrary(bytes)?),
            1 => *bytes.choose(&EDGES)?,
            2 => ordinary(bytes)?,
            // From 0 to 1, as rates, volatilities, weights and probabilities are.
            3 | 4 => f64::from(u32::arbitrary(bytes)?) / f64::from(u32::MAX),
            5 => ordinary(bytes)? / 2f64.powi(31),
            // Prices: positive, around a hundred.
            _ => f64::from(u16::arbitrary(bytes)?) / 256.0 + 1.0 / 256.0,
        }))
    }
}

/// A few numbers of one kind.
#[must_use]
pub fn numbers(drawn: &[Number]) -> Vec<f64> {
    drawn.iter().map(|number| number.0).collect()
}

/// A date: mostly of the last and the next centuries, now and then at the ends of the calendar.
#[derive(Clone, Copy, Debug)]
pub struct Date(pub NaiveDate);

impl Arbitrary<'_> for Date {
    fn arbitrary(bytes: &mut Unstructured<'_>) -> Result<Self> {
        let days = match u8::arbitrary(bytes)? % 16 {
            0 => i32::arbitrary(bytes)? % 96_000_000,
            1 => 1 + i32::arbitrary(bytes)?.rem_euclid(400),
            2 => 3_652_059 - i32::arbitrary(bytes)?.rem_euclid(400),
            // From 1890 to 2210.
            _ => {
                689_946
                    + i32::from(u16::arbitrary(bytes)?)
                    + i32::from(u16::arbitrary(bytes)?) % 51_000
            }
        };
        Ok(Self(NaiveDate::from_num_days_from_ce_opt(days).unwrap_or(NaiveDate::MAX)))
    }
}

/// Checks that no field of an answer is NaN, infinite or a negative zero.
///
/// # Panics
///
/// Panics where a field is.
pub fn check<T: Debug, E>(answer: &std::result::Result<T, E>) {
    if let Ok(value) = answer {
        let text = format!("{value:?}");
        let mut words = text.split(|c: char| !(c.is_alphanumeric() || "+-.".contains(c)));
        let broken = words.find(|word| ["NaN", "inf", "-inf", "-0.0"].contains(word));
        assert!(broken.is_none(), "{broken:?} in {text}");
    }
}

/// One of a few.
#[must_use]
pub fn one<T: Copy>(all: &[T], choice: u8) -> T {
    all[usize::from(choice) % all.len()]
}

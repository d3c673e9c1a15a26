//! Arithmetic beyond the precision and the range of a double.
//!
//! | module | content |
//! |---|---|
//! | [`double_double`] | sums and products without error; numbers of 106 bits |
//! | [`scaled`] | numbers of 106 bits that neither overflow nor underflow |
//! | [`exponential`] | every exponential function of the crate |
//! | [`logarithm`] | every logarithm of the crate |
//! | [`trigonometric`] | sine and cosine of angles of any size |
//! | [`decimal`] | decisions on numbers as they are written |
//! | [`exact_parts`] | parts whose floating-point sum is exact |
//! | [`constants`] | constants and tables of these functions |
//!
//! Where 53 bits are enough, the crate calls `libm`, whose results are the same on every platform.

mod constants;
pub(crate) mod decimal;
pub(crate) mod double_double;
pub(crate) mod exact_parts;
pub(crate) mod exponential;
pub(crate) mod logarithm;
pub(crate) mod scaled;
pub(crate) mod trigonometric;

/// Returns the value with −0 made +0, so that no result prints as "-0.0".
#[inline(always)]
pub(crate) fn without_negative_zero(value: f64) -> f64 {
    // IEEE 754: −0.0 + 0.0 is +0.0.
    value + 0.0
}

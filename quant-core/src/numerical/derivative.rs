//! Difference quotients of eight elementary functions.
//!
//! All three schemes are one: the quotient over the interval of half-width k around its middle m,
//!
//! ```text
//! D = (f(m + k) − f(m − k)) / 2k,
//! ```
//!
//! with (m, k) = (x, h) for the central, (x + h/2, h/2) for the forward and (x − h/2, h/2) for the
//! backward scheme. m, k and both ends of the interval are taken as real numbers, never rounded
//! to a double, so that a step far below the last bit of `x` still counts.

use crate::arithmetic::exponential::{exp, exp_decrease_ratio};
use crate::arithmetic::logarithm::{artanh_ratio, ln};
use crate::arithmetic::scaled::Scaled;
use crate::arithmetic::trigonometric::{cos, sin, sin_ratio};
use crate::explanation::{ErrorKind, ErrorStatement, Explanation, Method};
use crate::named::named;
use crate::{Result, check};

/// A function whose derivative is approximated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// The exponential eˣ.
    Exp,
    /// The natural logarithm, for positive arguments.
    Log,
    /// The sine of an angle in radians.
    Sin,
    /// The cosine of an angle in radians.
    Cos,
    /// The square root, for arguments of zero or more.
    Sqrt,
    /// The tangent of an angle in radians.
    Tan,
    /// The square x².
    Square,
    /// The cube x³.
    Cube,
}

named!(
    Function,
    "function",
    Exp = "exp",
    Log = "log",
    Sin = "sin",
    Cos = "cos",
    Sqrt = "sqrt",
    Tan = "tan",
    Square = "x2",
    Cube = "x3"
);

/// The finite-difference scheme: the two points of the difference quotient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// `(f(x + h) − f(x − h)) / 2h`.
    Central,
    /// `(f(x + h) − f(x)) / h`.
    Forward,
    /// `(f(x) − f(x − h)) / h`.
    Backward,
}

named!(Scheme, "scheme", Central = "central", Forward = "forward", Backward = "backward");

/// Returns the difference quotient of `function` at `x` with step `h`.
///
/// With m the middle and k half the width of the interval between the two points, the quotient is
///
/// ```text
/// eˣ    e^{m+k} · (1 − e^{−2k}) / 2k          √x    1 / (√(m+k) + √(m−k))
/// ln    artanh(k/m) / k                       tan   sin 2k / (2k · cos(m+k) · cos(m−k))
/// sin   cos m · sin k / k                     x²    2m
/// cos   −sin m · sin k / k                    x³    3m² + k²
/// ```
///
/// These are identities: the result is the quotient for this very `h`, within 0.5001 units in the
/// last place (one unit where the result is subnormal), and tends to the derivative as `h` does to
/// zero. A quotient too small for a double is zero.
///
/// The two points are all that is looked at. A quotient of the tangent over one of its poles is
/// the quotient of the two values on either side; no double lies on a pole.
///
/// # Errors
///
/// - [`Error::Domain`](crate::Error::Domain) for an `x` that is not finite, an `h` that is not positive and finite, and
///   where one of the points has no logarithm (zero or below) or no square root (below zero): it
///   names `x` where that point is `x` itself, `h` where the step leads out of the domain.
/// - [`Error::Overflow`](crate::Error::Overflow) where the quotient is too large for a double; it names the larger of `x`
///   and `h`.
///
/// # Examples
///
/// ```
/// use quant_core::numerical::derivative::{Function, Scheme, derivative};
///
/// // ((2 + h)³ − (2 − h)³) / 2h = 12 + h²
/// assert_eq!(derivative(Function::Cube, 2.0, 0.5, Scheme::Central)?, 12.25);
/// // A step far below the last bit of x loses nothing.
/// assert_eq!(derivative(Function::Exp, 1.0, 1e-300, Scheme::Forward)?, std::f64::consts::E);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Abramowitz and Stegun (1964), 4.3.34–4.3.37, 4.5.41 (differences as products). Payne and Hanek
/// (1983), "Radian Reduction for Trigonometric Functions". Dekker (1971), "A Floating-Point
/// Technique for Extending the Available Precision".
pub fn derivative(function: Function, x: f64, h: f64, scheme: Scheme) -> Result<f64> {
    check::finite("x", x)?;
    check::positive("h", h)?;
    within_domain(function, x, h, scheme)?;
    let interval = DifferenceInterval::new(x, h, scheme);
    let quotient = match function {
        Function::Exp => interval.exp(),
        Function::Log => interval.log(),
        Function::Sin => cos(interval.x, interval.middle) * sin_ratio(interval.half_width),
        Function::Cos => -sin(interval.x, interval.middle) * sin_ratio(interval.half_width),
        Function::Sqrt => interval.sqrt(),
        Function::Tan => interval.tan(),
        Function::Square => interval.middle().times_power_of_two(1),
        Function::Cube => interval.cube(),
    };
    check::result(if h > x.abs() { "h" } else { "x" }, quotient.to_f64())
}

/// Returns the derivative itself of `function` at `x`; `None` for the square root at 0, which has none.
///
/// ```text
/// (eˣ)′ = eˣ          (sin x)′ = cos x    (√x)′ = 1 / 2√x       (x²)′ = 2x
/// (ln x)′ = 1/x       (cos x)′ = −sin x   (tan x)′ = 1 / cos² x   (x³)′ = 3x²
/// ```
///
/// The result is the limit of [`derivative`] for steps that tend to zero, within 0.5001 units in the
/// last place; one too small for a double is zero. Angles are in radians.
///
/// # Errors
///
/// - [`Error::Domain`](crate::Error::Domain) for an `x` that is not finite, and where the function has
///   no value: a logarithm at zero or below, a square root below zero.
/// - [`Error::Overflow`](crate::Error::Overflow) where the derivative is too large for a double.
///
/// # Examples
///
/// ```
/// use quant_core::numerical::derivative::{Function, analytic_derivative};
///
/// assert_eq!(analytic_derivative(Function::Cube, 2.0)?, Some(12.0));
/// assert_eq!(analytic_derivative(Function::Exp, 1.0)?, Some(std::f64::consts::E));
/// assert_eq!(analytic_derivative(Function::Sqrt, 0.0)?, None);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Abramowitz and Stegun (1964), 3.3.1, 4.1.46, 4.2.48 and 4.3.105 to 4.3.107.
pub fn analytic_derivative(function: Function, x: f64) -> Result<Option<f64>> {
    check::finite("x", x)?;
    within_domain(function, x, 0.0, Scheme::Forward)?;
    if function == Function::Sqrt && x == 0.0 {
        return Ok(None);
    }
    let (point, one, zero) = (Scaled::from(x), Scaled::from(1.0), Scaled::ZERO);
    let value = match function {
        Function::Exp => exp_of(point),
        Function::Log => one / point,
        Function::Sin => cos(point, zero),
        Function::Cos => -sin(point, zero),
        Function::Sqrt => one / point.sqrt().times_power_of_two(1),
        Function::Tan => {
            let cosine = cos(point, zero);
            one / (cosine * cosine)
        }
        Function::Square => point.times_power_of_two(1),
        Function::Cube => {
            let square = point * point;
            square.times_power_of_two(1) + square
        }
    };
    check::result("x", value.to_f64()).map(Some)
}

/// The exponential of a number, zero or infinite where no double is as small or as large.
fn exp_of(x: Scaled) -> Scaled {
    // The factor beside it in a quotient is from e⁻⁷⁴⁵ to e⁷¹¹: beyond ±4,000 the exponential alone
    // decides.
    const DECIDED: f64 = 4000.0;
    let value = x.to_f64();
    if value < -DECIDED {
        return Scaled::ZERO;
    }
    let clamped = if value > DECIDED { Scaled::from(DECIDED) } else { x };
    exp(clamped.to_double_double())
}

/// Explains [`derivative`].
///
/// # Errors
///
/// The errors of [`derivative`].
pub fn explain_derivative(
    function: Function,
    x: f64,
    h: f64,
    scheme: Scheme,
) -> Result<Explanation> {
    let quotient = derivative(function, x, h, scheme)?;
    let truncation = truncation(function, x, h, scheme, quotient);
    let rounding = f64::EPSILON * quotient.abs();
    let kind = if truncation > rounding { ErrorKind::Discretisation } else { ErrorKind::Rounding };
    let error = ErrorStatement::estimated(
        kind,
        "derivative",
        truncation + rounding,
        "distance to the same quotient with a step 2⁶⁴ times smaller, and two units in the last \
         place",
    );
    let method = match scheme {
        Scheme::Central => "central difference quotient, whose error is of the order of h²",
        Scheme::Forward => "forward difference quotient, whose error is of the order of h",
        Scheme::Backward => "backward difference quotient, whose error is of the order of h",
    };
    let source = "Abramowitz and Stegun (1964), Handbook of Mathematical Functions, chapter 25; \
                  4.3.34–4.3.37 for differences as products";
    Ok(Explanation::new(Method::new(method, source), error).with_conventions([
        "The quotient is that of the function itself: x, h and their sum are real numbers, and no \
         digits cancel.",
        "Angles are in radians; the logarithm is natural.",
    ]))
}

/// Estimates the distance of a quotient to the derivative, by a quotient of a much smaller step.
fn truncation(function: Function, x: f64, h: f64, scheme: Scheme, quotient: f64) -> f64 {
    const REDUCTION: f64 = 1.0 / (1_u128 << 64) as f64;
    let step = (h * REDUCTION).max(f64::from_bits(1));
    // A derivative beyond the largest double is at least so far away.
    derivative(function, x, step, scheme).map_or(f64::MAX, |limit| (limit - quotient).abs())
}

/// Refuses a point at which the function has no value.
fn within_domain(function: Function, x: f64, h: f64, scheme: Scheme) -> Result<()> {
    let step_back = if scheme == Scheme::Forward { 0.0 } else { h };
    match function {
        Function::Log => {
            check::positive("x", x)?;
            let requirement = "below `x`, since the logarithm is taken at x − h";
            check::require(step_back < x, "h", h, requirement)
        }
        Function::Sqrt => {
            check::not_negative("x", x)?;
            let requirement = "at most `x`, since the square root is taken at x − h";
            check::require(step_back <= x, "h", h, requirement)
        }
        _ => Ok(()),
    }
}

/// The interval between the two points of a quotient: where its ends and its middle lie from `x`.
struct DifferenceInterval {
    x: Scaled,
    lower: Scaled,
    middle: Scaled,
    upper: Scaled,
    half_width: Scaled,
}

impl DifferenceInterval {
    fn new(x: f64, h: f64, scheme: Scheme) -> Self {
        let (x, h, zero) = (Scaled::from(x), Scaled::from(h), Scaled::ZERO);
        let half = h.times_power_of_two(-1);
        let (lower, middle, upper, half_width) = match scheme {
            Scheme::Central => (-h, zero, h, h),
            Scheme::Forward => (zero, half, h, half),
            Scheme::Backward => (-h, -half, zero, half),
        };
        Self { x, lower, middle, upper, half_width }
    }

    fn lower(&self) -> Scaled {
        self.x + self.lower
    }

    fn middle(&self) -> Scaled {
        self.x + self.middle
    }

    fn upper(&self) -> Scaled {
        self.x + self.upper
    }

    fn width(&self) -> Scaled {
        self.half_width.times_power_of_two(1)
    }

    fn exp(&self) -> Scaled {
        exp_of(self.upper()) * exp_decrease_ratio(self.width())
    }

    fn log(&self) -> Scaled {
        // Above an eighth, ln(upper/lower) is large enough to be taken as it stands.
        let ratio = self.half_width / self.middle();
        if ratio.to_f64() <= 0.125 {
            Scaled::from(artanh_ratio(ratio.to_double_double())) / self.middle()
        } else {
            Scaled::from(ln(self.upper() / self.lower())) / self.width()
        }
    }

    fn sqrt(&self) -> Scaled {
        Scaled::from(1.0) / (self.upper().sqrt() + self.lower().sqrt())
    }

    fn tan(&self) -> Scaled {
        sin_ratio(self.width()) / (cos(self.x, self.upper) * cos(self.x, self.lower))
    }

    fn cube(&self) -> Scaled {
        let square = self.middle() * self.middle();
        square.times_power_of_two(1) + square + self.half_width * self.half_width
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use Function::{Cos, Cube, Exp, Log, Sin, Sqrt, Square, Tan};
    use Scheme::{Backward, Central, Forward};

    const FUNCTIONS: [Function; 8] = [Exp, Log, Sin, Cos, Sqrt, Tan, Square, Cube];
    const SCHEMES: [Scheme; 3] = [Central, Forward, Backward];

    #[test]
    fn polynomials_are_differenced_exactly() {
        #[rustfmt::skip]
        let rows = [
            // function  x        h       scheme    quotient, by hand
            (Square,     3.0,     0.5,    Central,   6.0),
            (Square,     3.0,     0.5,    Forward,   6.5),
            (Square,     3.0,     0.5,    Backward,  5.5),
            (Square,    -1e308,   1.5e308, Forward, -0.5e308), // 2x alone is beyond a double
            (Cube,       2.0,     1.0,    Central,  13.0),
            (Cube,       2.0,     1.0,    Forward,  19.0),
            (Cube,       2.0,     1.0,    Backward,  7.0),
            (Cube,       0.0,     1e-9,   Central,   1e-18),
            (Sqrt,       4.0,     4.0,    Backward,  0.5),
            (Sqrt,       0.0,     4.0,    Forward,   0.5),
        ];
        for (function, x, h, scheme, expected) in rows {
            let quotient = derivative(function, x, h, scheme).unwrap();
            let error = (quotient - expected).abs() / expected.abs();
            assert!(error <= f64::EPSILON, "{function:?} at {x}, {h}: {quotient}, not {expected}");
        }
    }

    #[test]
    fn the_derivative_is_the_limit_of_the_quotients() {
        for function in FUNCTIONS {
            for x in [1e-300, 0.1, 0.75, 1.0, 3.0, 1e6, 1e22] {
                let limit = derivative(function, x, 1e-320, Forward);
                let Ok(found) = analytic_derivative(function, x) else {
                    assert_eq!(limit.unwrap_err().code(), "overflow", "{function:?} at {x}");
                    continue;
                };
                let (found, limit) = (found.unwrap(), limit.unwrap());
                let error = (found - limit).abs();
                assert!(
                    error <= f64::EPSILON * limit.abs(),
                    "{function:?} at {x}: {found}, not {limit}"
                );
            }
        }
    }

    #[test]
    fn there_is_no_derivative_where_the_function_has_none() {
        assert_eq!(analytic_derivative(Sqrt, 0.0), Ok(None));
        assert_eq!(analytic_derivative(Sqrt, -0.0), Ok(None));
        assert_eq!(analytic_derivative(Square, -0.0).unwrap().unwrap().to_bits(), 0);
        assert_eq!(analytic_derivative(Exp, -1e9), Ok(Some(0.0)));
        for (function, x, code) in [
            (Log, 0.0, "domain"),
            (Sqrt, -1.0, "domain"),
            (Sin, f64::NAN, "domain"),
            (Exp, 710.0, "overflow"),
            (Log, 5e-324, "overflow"),
        ] {
            let error = analytic_derivative(function, x).unwrap_err();
            assert_eq!((error.code(), error.argument()), (code, Some("x")), "{function:?} at {x}");
        }
    }

    #[test]
    fn a_step_that_is_not_positive_is_refused() {
        for h in [0.0, -0.0, -1e-5, f64::NAN, f64::INFINITY] {
            for function in FUNCTIONS {
                let error = derivative(function, 1.0, h, Central).unwrap_err();
                assert_eq!((error.code(), error.argument()), ("domain", Some("h")));
            }
        }
        let error = derivative(Sin, f64::NAN, 1.0, Central).unwrap_err();
        assert_eq!(error.argument(), Some("x"));
    }

    #[test]
    fn a_point_outside_the_domain_is_refused_by_name() {
        #[rustfmt::skip]
        let refused = [
            (Log,   0.0,  0.1, Forward,  "x"),
            (Log,  -1.0,  2.0, Central,  "x"),
            (Log,   1.0,  1.0, Central,  "h"),
            (Log,   1.0,  1.0, Backward, "h"),
            (Sqrt, -1e-9, 1.0, Forward,  "x"),
            (Sqrt,  0.0,  0.1, Central,  "h"),
            (Sqrt,  1.0,  1.1, Backward, "h"),
        ];
        for (function, x, h, scheme, argument) in refused {
            let error = derivative(function, x, h, scheme).unwrap_err();
            assert_eq!((error.code(), error.argument()), ("domain", Some(argument)));
        }
    }

    #[test]
    fn the_root_of_zero_is_a_point_like_any_other() {
        assert_eq!(derivative(Sqrt, 0.0, 0.25, Forward), Ok(2.0));
        assert_eq!(derivative(Sqrt, 0.25, 0.25, Backward), Ok(2.0));
        assert!(derivative(Sqrt, 1.0, 1.0, Central).is_ok());
    }

    #[test]
    fn a_quotient_beyond_a_double_is_an_overflow() {
        for (function, x, h, argument) in [
            (Exp, 800.0, 1e-5, "x"),
            (Exp, 1.0, 800.0, "h"),
            (Exp, f64::MAX, f64::MAX, "x"),
            (Cube, 1e200, 1.0, "x"),
        ] {
            let expected = Err(crate::Error::Overflow { argument });
            assert_eq!(derivative(function, x, h, Forward), expected, "{function:?} at {x}, {h}");
        }
        // Its numerator overflows, the quotient does not: e^1400 / 1e308.
        assert!(derivative(Exp, 1400.0, 1e308, Backward).is_ok());
    }

    #[test]
    fn a_quotient_below_a_double_is_zero_without_a_sign() {
        for (function, x) in [(Exp, -1e5), (Cos, 0.0), (Cube, 0.0)] {
            let quotient = derivative(function, x, 1e-200, Central).unwrap();
            assert_eq!(quotient.to_bits(), 0, "{function:?}");
        }
    }

    #[test]
    fn a_quotient_over_a_pole_of_the_tangent_is_that_of_the_two_values() {
        // (tan 2 − tan 1) / 1, mpmath 1.4.1.
        assert_eq!(derivative(Tan, 1.0, 1.0, Forward), Ok(-3.742447587916421));
    }

    proptest! {
        #[test]
        fn forward_at_the_left_point_is_backward_at_the_right(x in 0.5..100.0_f64, k in 0_u32..20) {
            // Where x + h is a double, both quotients are over the same two points.
            let h = f64::from(k + 1) / 1024.0;
            let right = x + h;
            prop_assume!(right - h == x && right - x == h);
            for function in FUNCTIONS {
                let (a, b) = (derivative(function, x, h, Forward), derivative(function, right, h, Backward));
                prop_assert_eq!(a, b);
            }
        }

        #[test]
        fn any_arguments_give_a_finite_number_or_an_error(x in any::<f64>(), h in any::<f64>()) {
            for function in FUNCTIONS {
                for scheme in SCHEMES {
                    if let Ok(quotient) = derivative(function, x, h, scheme) {
                        prop_assert!(quotient.is_finite() && (quotient != 0.0 || quotient.is_sign_positive()));
                    }
                }
            }
        }
    }
}

//! Finite differences against mpmath: `tests/golden/generate/numerical.py`.

use quant_core::numerical::derivative::{Function, Scheme, derivative, explain_derivative};
use quant_tests::golden::{self, Largest, Statements};

/// The accepted distance in doubles. The rows are correctly rounded, and so is every quotient whose
/// distance to the midpoint of two doubles is more than 2⁻⁵⁰ relative.
const ULPS: f64 = 1.0;

#[test]
fn every_quotient_is_the_double_nearest_to_its_definition() {
    let mut largest = Largest::default();
    for row in golden::rows("numerical", 900) {
        let [function, x, h, scheme, expected] = row.texts();
        let (x, h) = (row.parse(x), row.parse(h));
        let found = derivative(named(function), x, h, scheme_named(scheme));
        let found = found.unwrap_or_else(|error| panic!("{row}: {error}"));
        largest.see(&row, ulps_apart(found, row.parse(expected)) as f64, ULPS, &found);
    }
    println!("largest error in units in the last place: {largest}");
}

/// The exact values are the derivatives in closed form; libm rounds them to a unit in the last
/// place, which the statement's rounding allows for.
#[test]
fn the_stated_error_of_a_quotient_is_no_less_than_its_distance_to_the_derivative() {
    let mut statements = Statements::default();
    for row in golden::rows("numerical", 900) {
        let [function, x, h, scheme, _] = row.texts();
        let (function, scheme) = (named(function), scheme_named(scheme));
        let (x, h) = (row.parse(x), row.parse(h));
        let found = derivative(function, x, h, scheme).expect("a quotient");
        let explanation = explain_derivative(function, x, h, scheme).expect("an explanation");
        let exact = exact_derivative(function, x);
        // The root has no derivative at zero.
        if exact.is_finite() {
            statements.see(&row, &explanation.error, found, exact);
        }
    }
    statements.hold(880);
}

fn exact_derivative(function: Function, x: f64) -> f64 {
    match function {
        Function::Exp => libm::exp(x),
        Function::Log => 1.0 / x,
        Function::Sin => libm::cos(x),
        Function::Cos => -libm::sin(x),
        Function::Sqrt => 0.5 / x.sqrt(),
        Function::Tan => 1.0 / (libm::cos(x) * libm::cos(x)),
        Function::Square => 2.0 * x,
        Function::Cube => 3.0 * x * x,
    }
}

fn named(function: &str) -> Function {
    match function {
        "exp" => Function::Exp,
        "log" => Function::Log,
        "sin" => Function::Sin,
        "cos" => Function::Cos,
        "sqrt" => Function::Sqrt,
        "tan" => Function::Tan,
        "x2" => Function::Square,
        "x3" => Function::Cube,
        _ => panic!("{function}"),
    }
}

fn scheme_named(scheme: &str) -> Scheme {
    match scheme {
        "central" => Scheme::Central,
        "forward" => Scheme::Forward,
        "backward" => Scheme::Backward,
        _ => panic!("{scheme}"),
    }
}

/// The number of doubles between two doubles.
fn ulps_apart(a: f64, b: f64) -> u64 {
    // The bits of a double's magnitude count the doubles from zero up.
    let place = |value: f64| value.abs().to_bits() as i64 * if value < 0.0 { -1 } else { 1 };
    place(a).abs_diff(place(b))
}

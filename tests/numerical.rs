//! `quant_core::numerical` against rows of mpmath.

use quant_core::numerical::derivative::{Function, Scheme, derivative};

const ROWS: &str = include_str!("golden/numerical.csv");

/// The rows are correctly rounded, and so is nearly every quotient: only one that lies within
/// 2⁻⁵⁰ of the middle between two doubles may be the other of the two.
const ULPS: u64 = 1;

#[test]
fn every_quotient_is_the_double_nearest_to_its_definition() {
    let mut largest = (0, "");
    for row in ROWS.lines().skip(2) {
        let fields: Vec<&str> = row.split(',').collect();
        let [function, x, h, scheme, expected] = fields[..] else { panic!("{row}") };
        let found = derivative(named(function), number(x), number(h), scheme_named(scheme));
        let error = found.map_or(u64::MAX, |found| ulps_apart(found, number(expected)));
        if error > largest.0 {
            largest = (error, row);
        }
    }
    println!("largest error: {} units in the last place, {}", largest.0, largest.1);
    assert!(largest.0 <= ULPS, "{largest:?}");
}

fn number(text: &str) -> f64 {
    text.parse().expect("the golden file holds numbers")
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

/// How many doubles lie between two.
fn ulps_apart(a: f64, b: f64) -> u64 {
    // The bits of a double's magnitude count the doubles from zero up.
    let place = |value: f64| value.abs().to_bits() as i64 * if value < 0.0 { -1 } else { 1 };
    place(a).abs_diff(place(b))
}

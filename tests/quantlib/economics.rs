//! Demand and utility against mpmath: `tests/golden/generate/economics.py`.

use quant_core::Error;
use quant_core::economics::{ces::Ces, cobb_douglas::CobbDouglas};
use quant_core::explanation::ErrorStatement;
use quant_tests::golden::{self, Largest, Row, Statements};

/// Largest relative error accepted in a quantity or a utility.
const TOLERANCE: f64 = 1e-14;

/// The error relative to the expected value, or to the spacing of subnormal numbers.
fn error(found: f64, expected: f64) -> f64 {
    let difference = (found - expected).abs();
    if difference <= 5e-324 { 0.0 } else { difference / expected.abs() }
}

#[test]
fn cobb_douglas_agrees_with_many_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("cobb_douglas", 90) {
        let [alpha, income, p1, p2, x1, x2, utility] = row.numbers();
        let consumer = CobbDouglas { alpha, income, prices: [p1, p2] };
        let found = consumer.optimum().expect("an optimum");
        for (value, expected) in [
            (found.demand[0], x1),
            (found.demand[1], x2),
            (found.utility, utility),
            (found.expenditure, income),
        ] {
            largest.see(&row, error(value, expected), TOLERANCE, &(&consumer, value, expected));
        }
    }
    println!("Cobb–Douglas: largest relative error {largest}");
}

#[test]
fn ces_agrees_with_many_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("ces", 600) {
        let [rho, w1, w2, income, p1, p2, x1, x2, utility, elasticity] = row.numbers();
        let consumer = Ces { rho, weights: [w1, w2], income, prices: [p1, p2] };
        let found = consumer.optimum().expect("an optimum");
        for (value, expected) in [
            (found.demand[0], x1),
            (found.demand[1], x2),
            (found.utility, utility),
            (found.elasticity_of_substitution, elasticity),
        ] {
            largest.see(&row, error(value, expected), TOLERANCE, &(&consumer, value, expected));
        }
    }
    println!("CES: largest relative error {largest}");
}

#[test]
fn the_stated_errors_bound_the_errors_of_normal_doubles() {
    let mut statements = Statements::default();
    let mut see = |row: &Row, statement: &ErrorStatement, pairs: &[(f64, f64)]| {
        for &(found, expected) in pairs.iter().filter(|(_, expected)| expected.is_normal()) {
            statements.see(row, statement, found, expected);
        }
    };
    for row in golden::rows("cobb_douglas", 90) {
        let [alpha, income, p1, p2, x1, x2, utility] = row.numbers();
        let consumer = CobbDouglas { alpha, income, prices: [p1, p2] };
        let found = consumer.optimum().expect("an optimum");
        let statement = consumer.explain().expect("an explanation").error;
        let [first, second] = found.demand;
        let utilities = [(found.utility, utility), (found.indirect_utility, utility)];
        see(&row, &statement, &utilities);
        see(&row, &statement, &[(first, x1), (second, x2), (found.expenditure, income)]);
    }
    for row in golden::rows("ces", 600) {
        let [rho, w1, w2, income, p1, p2, x1, x2, utility, elasticity] = row.numbers();
        let consumer = Ces { rho, weights: [w1, w2], income, prices: [p1, p2] };
        let found = consumer.optimum().expect("an optimum");
        let statement = consumer.explain().expect("an explanation").error;
        let [first, second] = found.demand;
        see(&row, &statement, &[(first, x1), (second, x2), (found.utility, utility)]);
        see(&row, &statement, &[(found.elasticity_of_substitution, elasticity)]);
    }
    statements.hold(2_500);
}

#[test]
fn the_limits_join_continuously() {
    let near = |rho: f64, weights: [f64; 2]| {
        Ces { rho, weights, income: 100.0, prices: [2.0, 7.3] }
            .optimum()
            .expect("an optimum")
            .utility
    };
    for weights in [[0.3, 0.7], [0.1, 0.9], [0.5, 0.5]] {
        let cobb_douglas = CobbDouglas { alpha: weights[0], income: 100.0, prices: [2.0, 7.3] };
        let limit = cobb_douglas.optimum().expect("an optimum").utility;
        for rho in [1e-9, -1e-9, 1e-12, -1e-15, 1e-300, 0.0] {
            assert!(error(near(rho, weights), limit) <= rho.abs() + 1e-15, "{rho:e} {weights:?}");
        }
    }
    // The Leontief limit has equal quantities: the income over the sum of the prices.
    assert!(error(near(-1e300, [0.3, 0.7]), 100.0 / 9.3) <= 1e-15);
}

#[test]
fn the_edges_of_the_conventions_hold() {
    let douglas = |alpha, income, prices| CobbDouglas { alpha, income, prices }.optimum();
    assert_eq!(douglas(0.0, 10.0, [0.0, 4.0]).expect("an optimum").demand, [0.0, 2.5]);
    assert_eq!(douglas(0.0, 10.0, [0.0, 4.0]).expect("an optimum").utility, 2.5);
    assert_eq!(douglas(1.0, 10.0, [4.0, 0.0]).expect("an optimum").demand, [2.5, 0.0]);
    assert_eq!(douglas(0.3, 0.0, [1.0, 1.0]).expect("an optimum").utility, 0.0);
    assert_eq!(refused(douglas(0.3, 1.0, [0.0, 1.0])), ("prices", Some(0)));
    assert_eq!(refused(douglas(0.3, 0.0, [1.0, 0.0])), ("prices", Some(1)));
    assert_eq!(refused(douglas(1.1, 1.0, [1.0, 1.0])), ("alpha", None));
    assert_eq!(refused(douglas(f64::NAN, 1.0, [1.0, 1.0])), ("alpha", None));
    assert_eq!(refused(douglas(0.5, 1e300, [1e-300, 1.0])), ("income", None));

    let ces = |rho, weights, income, prices| Ces { rho, weights, income, prices }.optimum();
    assert_eq!(ces(0.5, [2.0, 0.0], 10.0, [4.0, 0.0]).expect("an optimum").demand, [2.5, 0.0]);
    assert_eq!(ces(0.5, [2.0, 0.0], 10.0, [4.0, 0.0]).expect("an optimum").utility, 10.0);
    assert_eq!(ces(0.0, [0.0, 3.0], 10.0, [0.0, 4.0]).expect("an optimum").utility, 2.5);
    assert_eq!(ces(-2.0, [1.0, 3.0], 0.0, [1.0, 4.0]).expect("an optimum").utility, 0.0);
    assert_eq!(refused(ces(1.0, [1.0, 1.0], 1.0, [1.0, 1.0])), ("rho", None));
    assert_eq!(refused(ces(f64::NEG_INFINITY, [1.0, 1.0], 1.0, [1.0, 1.0])), ("rho", None));
    assert_eq!(refused(ces(0.5, [0.0, 0.0], 1.0, [1.0, 1.0])), ("weights", None));
    assert_eq!(refused(ces(0.5, [-1.0, 0.0], 1.0, [1.0, 1.0])), ("weights", Some(0)));
    assert_eq!(refused(ces(0.5, [1.0, 1.0], 1.0, [1.0, 0.0])), ("prices", Some(1)));
    assert_eq!(refused(ces(1e-9, [1.0, 1.0], 1.0, [1.0, 1.0])), ("weights", None));
}

fn refused<T: std::fmt::Debug>(answer: Result<T, Error>) -> (&'static str, Option<usize>) {
    let error = answer.expect_err("refused");
    (error.argument().expect("an argument"), error.index())
}

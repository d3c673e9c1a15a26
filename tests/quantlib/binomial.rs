//! European and American options on trees, and discretely monitored barriers, against mpmath,
//! QuantLib and quadrature: `tests/golden/generate/binomial.py`.

use quant_core::pricing::american;
use quant_core::pricing::barrier::{BarrierOption, Direction, Knock};
use quant_core::pricing::binomial::{Exercise, Tree, price};
use quant_core::pricing::black_scholes::{EuropeanOption, OptionType};
use quant_tests::golden::{self, Largest, Row, Statements};

/// The accepted error relative to the spot, against the same tree at 50 digits.
const TREE_TOLERANCE: f64 = 1e-14;

/// The accepted error relative to the spot: in QuantLib the probabilities of LR lose digits.
const QUANTLIB_TREE_TOLERANCE: f64 = 1e-10;

/// The accepted error relative to the spot: the distance of LR's tree of 2001 steps from its limit.
const LIMIT_TOLERANCE: f64 = 2e-5;

/// The accepted error relative to the spot, times the number of dates: the error of the correction
/// is of the order of 1/dates.
const DATES_TOLERANCE: f64 = 0.07;

/// Returns the option of the row.
fn option(row: &Row) -> EuropeanOption {
    EuropeanOption {
        option_type: if row.text("option_type") == "call" {
            OptionType::Call
        } else {
            OptionType::Put
        },
        spot: row.get("spot"),
        strike: row.get("strike"),
        risk_free_rate: row.get("risk_free_rate"),
        dividend_yield: row.get("dividend_yield"),
        volatility: row.get("volatility"),
        time_to_maturity: row.get("time_to_maturity"),
    }
}

/// Compares the rows of a file with quant-core's trees; the errors are relative to the spot.
fn hold_trees(name: &str, at_least: usize, tolerance: f64) -> Largest {
    let mut largest = Largest::default();
    for row in golden::rows(name, at_least) {
        let tree = match row.text("tree") {
            "CRR" => Tree::CoxRossRubinstein,
            "JR" => Tree::JarrowRudd,
            "LR" => Tree::LeisenReimer,
            "TIAN" => Tree::Tian,
            name => panic!("no tree is called {name}"),
        };
        let exercise = match row.text("exercise") {
            "european" => Exercise::European,
            "american" => Exercise::American,
            name => panic!("no exercise is called {name}"),
        };
        let option = option(&row);
        let found = price(&option, exercise, tree, row.get("n_steps")).expect("a price");
        let error = (found - row.get::<f64>("price")).abs() / option.spot;
        largest.see(&row, error, tolerance, &found);
    }
    largest
}

#[test]
fn trees_agree_with_the_same_trees_in_fifty_digits() {
    let largest = hold_trees("binomial_tree", 150, TREE_TOLERANCE);
    println!("trees: largest error {largest} of the spot");
}

#[test]
fn american_trees_agree_with_quantlib() {
    let largest = hold_trees("binomial_quantlib", 70, QUANTLIB_TREE_TOLERANCE);
    println!("trees against QuantLib: largest error {largest} of the spot");
}

#[test]
fn trees_of_many_steps_lead_to_the_american_price() {
    let mut largest = Largest::default();
    for row in golden::rows("binomial_american", 40) {
        let option = option(&row);
        let found = price(&option, Exercise::American, Tree::LeisenReimer, 2001).expect("a price");
        let error = (found - row.get::<f64>("price")).abs() / option.spot;
        largest.see(&row, error, LIMIT_TOLERANCE, &found);
    }
    println!("LR of 2001 steps against QD+: largest error {largest} of the spot");
}

#[test]
fn the_stated_error_of_an_american_price_is_no_less_than_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("binomial_american", 40) {
        let option = option(&row);
        for (&tree, n_steps) in
            Tree::ALL.iter().flat_map(|tree| [10, 51, 100, 400].map(|n| (tree, n)))
        {
            // A CRR tree of few steps may not exist.
            let Ok(explanation) = american::explain(&option, tree, n_steps) else { continue };
            assert_eq!(explanation.steps, u32::try_from(tree.steps_used(n_steps)).ok());
            let found = price(&option, Exercise::American, tree, n_steps).expect("a price");
            statements.see(&row, &explanation.error, found, row.get("price"));
        }
    }
    statements.hold(600);
}

#[test]
fn the_correction_for_dates_misses_by_the_order_of_one_over_their_number() {
    let (mut largest, mut missed, mut changed) = (Largest::default(), 0.0, 0.0);
    for row in golden::rows("barrier_discrete", 36) {
        let option = BarrierOption {
            option: option(&row),
            barrier: row.get("barrier"),
            direction: match row.text("direction") {
                "down" => Direction::Down,
                _ => Direction::Up,
            },
            knock: Knock::Out,
            rebate: row.get("rebate"),
        };
        let (expected, dates) = (row.get::<f64>("price"), row.get::<usize>("observations"));
        let found = option.price_discrete(dates).expect("a price");
        let always = option.price_continuous().expect("a price");
        let error = (found - expected).abs() / option.option.spot * dates as f64;
        largest.see(&row, error, DATES_TOLERANCE, &found);
        missed += (found - expected).abs();
        changed += (always - expected).abs();
    }
    // The remaining error of the approximation by a continuously monitored barrier.
    assert!(missed < 0.1 * changed, "{missed} of {changed}");
    println!(
        "dates: largest error {largest} of the spot over the dates, {missed} of {changed} left"
    );
}

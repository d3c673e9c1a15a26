//! Options against mpmath and QuantLib: `tests/golden/generate/pricing.py` and those beside it.

use quant_core::pricing::barrier::{BarrierOption, Direction, Knock, Tree};
use quant_core::pricing::black_scholes::{EuropeanOption, OptionType};
use quant_core::pricing::greeks::Greeks;
use quant_core::pricing::implied_volatility::QuotedOption;
use quant_core::pricing::margrabe::ExchangeOption;
use quant_core::pricing::normal;
use quant_tests::golden::{self, Largest, Row, Statements};

/// The accepted relative error: a few roundings.
const NORMAL_TOLERANCE: f64 = 2e-15;

/// The accepted relative error, down to prices of 1e-280.
const CLOSED_FORM_TOLERANCE: f64 = 2e-14;

/// The accepted error in units of 2⁻⁵², or of the volatility's change by such a change of the
/// price.
const IMPLIED_VOLATILITY_BITS: f64 = 6.0;

/// The accepted error relative to the price plus the spot: QuantLib subtracts numbers that nearly
/// cancel.
const CONTINUOUS_TOLERANCE: f64 = 1e-14;

/// The accepted error relative to the price plus a thousandth of the spot, against the same tree at
/// 50 digits.
const TREE_TOLERANCE: f64 = 1e-13;

/// The accepted error relative to the spot: in QuantLib the probabilities of LR lose digits. The
/// barrier is out of reach and has no effect.
const QUANTLIB_TREE_TOLERANCE: f64 = 1e-10;

fn option_type(row: &Row) -> OptionType {
    if row.text("option_type") == "call" { OptionType::Call } else { OptionType::Put }
}

/// The option of the row.
fn european(row: &Row) -> EuropeanOption {
    EuropeanOption {
        option_type: option_type(row),
        spot: row.get("spot"),
        strike: row.get("strike"),
        risk_free_rate: row.get("risk_free_rate"),
        dividend_yield: row.get("dividend_yield"),
        volatility: row.get("volatility"),
        time_to_maturity: row.get("time_to_maturity"),
    }
}

/// The option of the row, with its barrier.
fn barrier(row: &Row) -> BarrierOption {
    BarrierOption {
        option: european(row),
        barrier: row.get("barrier"),
        direction: if row.text("direction") == "down" { Direction::Down } else { Direction::Up },
        knock: if row.text("knock") == "in" { Knock::In } else { Knock::Out },
        rebate: row.get("rebate"),
    }
}

#[test]
fn the_stated_error_of_a_european_price_bounds_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("pricing_european", 250) {
        let option = european(&row);
        let statement = option.explain_price().expect("an explanation").error;
        let price = option.price().expect("a price");
        statements.see(&row, &statement, price, row.get("price"));
    }
    statements.hold(250);
}

#[test]
fn the_stated_error_of_greeks_bounds_their_errors() {
    let mut statements = Statements::default();
    for row in golden::rows("pricing_greeks", 190) {
        let option = european(&row);
        let statement = option.explain_greeks().expect("an explanation").error;
        for (name, value) in by_name(&option.greeks().expect("greeks")) {
            let expected = row.get(name);
            statements.see_by(&row, &statement, value, expected, whole(&row, name));
        }
    }
    statements.hold(190 * 14);
}

#[test]
fn the_stated_error_of_an_implied_volatility_is_no_less_than_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("implied_volatility", 360) {
        let option = quoted(&row);
        let explanation = option.explain().expect("an explanation");
        assert_eq!(explanation.steps, Some(2));
        let found = option.implied_volatility().expect("a volatility");
        statements.see(&row, &explanation.error, found, row.get("volatility"));
    }
    statements.hold(360);
}

#[test]
fn the_stated_error_of_an_exchange_option_bounds_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("pricing_margrabe", 90) {
        let option = exchange(&row);
        let statement = option.explain_prices().expect("an explanation").error;
        let found = option.prices().expect("prices");
        statements.see(&row, &statement, found.call, row.get("call"));
        statements.see(&row, &statement, found.put, row.get("put"));
    }
    statements.hold(180);
}

#[test]
fn the_stated_errors_of_barriers_are_no_less_than_their_errors() {
    let (mut statements, mut on_trees) = (Statements::default(), Statements::default());
    for row in golden::rows("pricing_barrier_continuous", 20) {
        let (option, expected) = (barrier(&row), row.get("price"));
        let statement = option.explain_price_continuous().expect("an explanation").error;
        let found = option.price_continuous().expect("a price");
        statements.see(&row, &statement, found, expected);
        for (&tree, n_steps) in Tree::ALL.iter().flat_map(|tree| [(tree, 24), (tree, 201)]) {
            let explanation = option.explain_price_on_tree(tree, n_steps).expect("an explanation");
            assert_eq!(explanation.steps, u32::try_from(tree.steps_used(n_steps)).ok());
            let found = option.price_on_tree(tree, n_steps).expect("a price");
            on_trees.see(&row, &explanation.error, found, expected);
        }
    }
    statements.hold(20);
    on_trees.hold(160);
}

fn tree(name: &str) -> Tree {
    match name {
        "CRR" => Tree::CoxRossRubinstein,
        "JR" => Tree::JarrowRudd,
        "LR" => Tree::LeisenReimer,
        "TIAN" => Tree::Tian,
        _ => panic!("no tree is called {name}"),
    }
}

/// The price of the row's option on the row's tree.
fn price_on_tree(row: &Row, option: &BarrierOption) -> f64 {
    let (tree, n_steps) = (tree(row.text("tree")), row.get("n_steps"));
    option.price_on_tree(tree, n_steps).expect("a price")
}

/// The distance of two prices as a part of `scale`.
fn error(found: f64, expected: f64, scale: f64) -> f64 {
    let difference = (found - expected).abs();
    if difference == 0.0 { 0.0 } else { difference / scale }
}

#[test]
fn the_normal_distribution_agrees_with_fifty_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("pricing_normal", 100) {
        let [x, cdf, pdf, mills_ratio] = row.numbers();
        let (found_cdf, found_pdf) = (normal::probability(x), normal::density(x));
        for (found, expected) in
            [(found_cdf, cdf), (found_pdf, pdf), (normal::mills_ratio(x), mills_ratio)]
        {
            let found = found.expect("a finite number");
            let error = error(found, expected, expected);
            largest.see(&row, error, NORMAL_TOLERANCE, &found);
        }
    }
    println!("normal distribution: largest relative error {largest}");
}

#[test]
fn european_options_agree_with_fifty_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("pricing_european", 250) {
        let found = european(&row).price().expect("a price");
        let price = row.get("price");
        largest.see(&row, error(found, price, price), CLOSED_FORM_TOLERANCE, &found);
    }
    println!("european options: largest relative error {largest}");
}

#[test]
fn greeks_agree_with_numerical_derivatives_of_four_hundred_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("pricing_greeks", 190) {
        for (name, value) in by_name(&european(&row).greeks().expect("greeks")) {
            let error = error(value, row.get(name), whole(&row, name));
            largest.see(&row, error, CLOSED_FORM_TOLERANCE, &(name, value));
        }
    }
    println!("greeks: largest relative error {largest}");
}

/// The Greeks by the names of their columns.
fn by_name(found: &Greeks) -> [(&'static str, f64); 14] {
    #[rustfmt::skip]
    let values = [
        ("price", found.price), ("delta", found.delta), ("gamma", found.gamma),
        ("vega", found.vega), ("theta", found.theta), ("rho", found.rho),
        ("epsilon", found.epsilon), ("dual_delta", found.dual_delta),
        ("dual_gamma", found.dual_gamma), ("vanna", found.vanna), ("vomma", found.vomma),
        ("charm", found.charm), ("veta", found.veta), ("vera", found.vera),
    ];
    values
}

/// The size by which an error is relative. Three Greeks are sums that may cancel: their errors are
/// those of their largest term.
fn whole(row: &Row, name: &str) -> f64 {
    match name {
        "theta" | "charm" | "veta" => row.get(&format!("{name}_term")),
        _ => row.get::<f64>(name).abs(),
    }
}

/// The option of the row, whose price is known.
fn quoted(row: &Row) -> QuotedOption {
    QuotedOption {
        option_type: option_type(row),
        spot: row.get("spot"),
        strike: row.get("strike"),
        risk_free_rate: row.get("risk_free_rate"),
        dividend_yield: row.get("dividend_yield"),
        price: row.get("price"),
        time_to_maturity: row.get("time_to_maturity"),
    }
}

#[test]
fn implied_volatilities_agree_with_roots_of_four_hundred_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("implied_volatility", 360) {
        let found = quoted(&row).implied_volatility().expect("a volatility");
        let (expected, condition): (f64, f64) = (row.get("volatility"), row.get("condition"));
        let bit = f64::EPSILON * expected * condition.max(1.0);
        largest.see(&row, error(found, expected, bit), IMPLIED_VOLATILITY_BITS, &found);
    }
    println!("implied volatility: largest error in bits that the price determines {largest}");
}

/// The right to exchange of the row.
fn exchange(row: &Row) -> ExchangeOption {
    ExchangeOption {
        spot1: row.get("spot1"),
        spot2: row.get("spot2"),
        dividend_yield1: row.get("dividend_yield1"),
        dividend_yield2: row.get("dividend_yield2"),
        volatility1: row.get("volatility1"),
        volatility2: row.get("volatility2"),
        correlation: row.get("correlation"),
        time_to_maturity: row.get("time_to_maturity"),
    }
}

#[test]
fn exchange_options_agree_with_fifty_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("pricing_margrabe", 90) {
        let (call, put) = (row.get("call"), row.get("put"));
        let found = exchange(&row).prices().expect("prices");
        largest.see(&row, error(found.call, call, call), CLOSED_FORM_TOLERANCE, &found);
        largest.see(&row, error(found.put, put, put), CLOSED_FORM_TOLERANCE, &found);
    }
    println!("exchange options: largest relative error {largest}");
}

#[test]
fn continuously_monitored_barriers_agree_with_quantlib() {
    let mut largest = Largest::default();
    for row in golden::rows("pricing_barrier_continuous", 20) {
        let (option, price) = (barrier(&row), row.get::<f64>("price"));
        let found = option.price_continuous().expect("a price");
        let error = error(found, price, price + option.option.spot);
        largest.see(&row, error, CONTINUOUS_TOLERANCE, &found);
    }
    println!("continuous barriers: largest error {largest} of the spot");
}

#[test]
fn trees_agree_with_the_same_trees_in_fifty_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("pricing_barrier_tree", 100) {
        let (option, price) = (barrier(&row), row.get::<f64>("price"));
        let found = price_on_tree(&row, &option);
        let error = error(found, price, price + 1e-3 * option.option.spot);
        largest.see(&row, error, TREE_TOLERANCE, &found);
    }
    println!("trees: largest error {largest} of price and a thousandth of the spot");
}

#[test]
fn trees_agree_with_quantlib() {
    let mut largest = Largest::default();
    for row in golden::rows("pricing_barrier_tree_quantlib", 90) {
        let (option, price) = (barrier(&row), row.get::<f64>("price"));
        let found = price_on_tree(&row, &option);
        let error = error(found, price, option.option.spot);
        largest.see(&row, error, QUANTLIB_TREE_TOLERANCE, &found);
    }
    println!("trees against QuantLib: largest error {largest} of the spot");
}

#[test]
fn european_options_agree_with_printed_figures() {
    let mut largest = Largest::default();
    for row in golden::rows("published_european", 6) {
        let found = european(&row).price().expect("a price");
        let printed: f64 = row.get("price");
        largest.see(&row, (found - printed).abs(), row.get("printed_to"), &found);
    }
    println!("european options: largest difference from printed figures {largest}");
}

#[test]
fn continuous_barriers_agree_with_printed_figures() {
    let mut largest = Largest::default();
    for row in golden::rows("published_barrier", 12) {
        let found = barrier(&row).price_continuous().expect("a price");
        let printed: f64 = row.get("price");
        largest.see(&row, (found - printed).abs(), row.get("printed_to"), &found);
    }
    println!("continuous barriers: largest difference from printed figures {largest}");
}

#[test]
fn exchange_options_agree_with_printed_figures() {
    let mut largest = Largest::default();
    for row in golden::rows("published_exchange", 18) {
        let option = ExchangeOption {
            spot1: 22.0,
            spot2: 20.0,
            dividend_yield1: 0.06,
            dividend_yield2: 0.04,
            volatility1: 0.20,
            volatility2: row.get("volatility2"),
            correlation: row.get("correlation"),
            time_to_maturity: row.get("time_to_maturity"),
        };
        let found = option.prices().expect("prices").call;
        let printed: f64 = row.get("price");
        largest.see(&row, (found - printed).abs(), row.get("printed_to"), &found);
    }
    println!("exchange options: largest difference from printed figures {largest}");
}

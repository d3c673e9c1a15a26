//! Options on forwards, rates, currencies and spreads, digital options, and American and Bermudan
//! options with their Greeks, against mpmath and QuantLib: `tests/golden/generate/black_family.py`
//! and `options_rest.py`.

use quant_core::Error;
use quant_core::explanation::Explanation;
use quant_core::pricing::{
    Caplet, CurrencyOption, Digital, EuropeanOption, ForwardGreeks, ForwardOption, NormalOption,
    OptionType, SpreadOption, Swaption, Tree, american,
};
use quant_tests::golden::{self, Largest, Row, Statements};

/// Relative, down to prices of 1e-280.
const CLOSED_FORM_TOLERANCE: f64 = 1e-14;

/// In units of 2⁻⁵², or of how far such a change of the price moves the volatility.
const IMPLIED_VOLATILITY_BITS: f64 = 6.0;

/// Relative: QuantLib subtracts what nearly cancels, and its distribution has 1e-15 of 1.
const QUANTLIB_TOLERANCE: f64 = 1e-12;

/// Of the scale of each figure, against the same tree in 60 digits: a difference of node values.
const TREE_TOLERANCE: f64 = 1e-10;

/// Of the first forward: the trapezoidal rule, a sum of a thousand terms.
const QUADRATURE_TOLERANCE: f64 = 1e-13;

fn option_type(row: &Row) -> OptionType {
    row.get("option_type")
}

/// The distance of two numbers as a part of `scale`.
fn error(found: f64, expected: f64, scale: f64) -> f64 {
    let difference = (found - expected).abs();
    if difference == 0.0 { 0.0 } else { difference / scale.abs() }
}

/// Holds all Greeks against a row: relative, and those that may cancel as parts of their largest term.
fn hold_greeks(row: &Row, found: &ForwardGreeks, largest: &mut Largest) {
    for (name, value) in by_name(found) {
        let error = error(value, row.get(name), whole(row, name));
        largest.see(row, error, CLOSED_FORM_TOLERANCE, &(name, value));
    }
}

/// The Greeks by the names of their columns.
fn by_name(found: &ForwardGreeks) -> [(&'static str, f64); 13] {
    [
        ("price", found.price),
        ("delta", found.delta),
        ("gamma", found.gamma),
        ("vega", found.vega),
        ("theta", found.theta),
        ("rho", found.rho),
        ("dual_delta", found.dual_delta),
        ("dual_gamma", found.dual_gamma),
        ("vanna", found.vanna),
        ("vomma", found.vomma),
        ("charm", found.charm),
        ("veta", found.veta),
        ("vera", found.vera),
    ]
}

/// The size by which an error is relative. Three Greeks are sums that may cancel: their errors are
/// those of their largest term.
fn whole(row: &Row, name: &str) -> f64 {
    match name {
        "theta" | "charm" | "veta" => row.get(&format!("{name}_term")),
        _ => row.get(name),
    }
}

/// Holds the statements about a price and its Greeks against a row.
fn hold_statements(
    row: &Row,
    statements: &mut Statements,
    found: &ForwardGreeks,
    [of_price, of_greeks]: [Result<Explanation, Error>; 2],
) {
    let of_price = of_price.expect("an explanation").error;
    statements.see(row, &of_price, found.price, row.get("price"));
    let of_greeks = of_greeks.expect("an explanation").error;
    for (name, value) in by_name(found) {
        statements.see_by(row, &of_greeks, value, row.get(name), whole(row, name));
    }
}

#[test]
fn the_stated_errors_of_options_on_forwards_bound_their_errors() {
    let mut statements = Statements::default();
    for row in golden::rows("black76", 130) {
        let option = forward_option(&row);
        let explanations = [option.explain_price(), option.explain_greeks()];
        hold_statements(&row, &mut statements, &option.greeks().expect("greeks"), explanations);
    }
    statements.hold(130 * 14);
}

#[test]
fn the_stated_error_of_a_volatility_from_a_forward_is_no_less_than_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("black76", 130) {
        let (option, price) = (forward_option(&row), row.get("price"));
        let explanation = option.explain_implied_volatility(price).expect("an explanation");
        let found = option.implied_volatility(price).expect("a volatility");
        // The intrinsic value needs no iteration.
        assert_eq!(explanation.steps, Some(if found > 0.0 { 2 } else { 0 }));
        statements.see(&row, &explanation.error, found, row.get("volatility"));
    }
    statements.hold(130);
}

#[test]
fn the_stated_errors_of_normal_options_bound_their_errors() {
    let mut statements = Statements::default();
    for row in golden::rows("bachelier", 150) {
        let option = normal_option(&row);
        let explanations = [option.explain_price(), option.explain_greeks()];
        hold_statements(&row, &mut statements, &option.greeks().expect("greeks"), explanations);
    }
    statements.hold(150 * 14);
}

#[test]
fn the_stated_error_of_a_normal_volatility_is_no_less_than_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("bachelier_implied", 200) {
        let (option, price) = (normal_option(&row), row.get("price"));
        let statement = option.explain_implied_volatility(price).expect("an explanation").error;
        let found = option.implied_volatility(price).expect("a volatility");
        statements.see(&row, &statement, found, row.get("volatility"));
    }
    statements.hold(200);
}

#[test]
fn the_stated_error_of_an_option_on_a_rate_bounds_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("rate_options", 90) {
        let (caplet, swaption) = (caplet(&row), swaption(&row));
        let found = [(caplet.value(), caplet.explain()), (swaption.value(), swaption.explain())];
        for (value, explanation) in found {
            let (value, statement) = (value.expect("a value"), explanation.expect("one").error);
            let greeks = value.greeks.expect("greeks");
            for (name, value) in [
                ("price", value.price),
                ("time_value", value.time_value),
                ("normal_volatility", value.normal_volatility),
                ("delta", greeks.delta),
                ("gamma", greeks.gamma),
                ("vega", greeks.vega),
                ("theta", greeks.theta),
            ] {
                statements.see(&row, &statement, value, row.get(name));
            }
        }
    }
    statements.hold(90 * 14);
}

#[test]
fn the_stated_error_of_a_currency_option_bounds_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("garman_kohlhagen", 70) {
        let option = currency_option(&row);
        let statement = option.explain().expect("an explanation").error;
        let found = option.greeks().expect("greeks");
        for (name, value) in [
            ("price", option.price().expect("a price")),
            ("forward", option.forward().expect("a forward")),
            ("delta", found.greeks.delta),
            ("forward_delta", found.forward_delta),
            ("premium_adjusted_delta", found.premium_adjusted_delta),
            ("rho_domestic", found.greeks.rho),
            ("rho_foreign", found.greeks.epsilon),
        ] {
            statements.see(&row, &statement, value, row.get(name));
        }
    }
    statements.hold(70 * 7);
}

#[test]
fn the_stated_error_of_a_digital_option_bounds_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("digital", 90) {
        let option = european(&row);
        let statement = option.explain_digital().expect("an explanation").error;
        for (name, value) in digital_by_name(&option.digital().expect("a value")) {
            statements.see_by(&row, &statement, value, row.get(name), digital_whole(&row, name));
        }
    }
    statements.hold(90 * 8);
}

#[test]
fn the_stated_error_of_a_spread_option_is_no_less_than_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("spread", 50) {
        let option = spread_option(&row);
        let explanation = option.explain().expect("an explanation");
        assert!(explanation.steps.is_some_and(|steps| steps >= 1152), "{explanation:?}");
        let found = option.value().expect("a value").price;
        statements.see(&row, &explanation.error, found, row.get("exact_price"));
    }
    statements.hold(50);
}

/// The price of a CRR tree of many steps stands for the exact one, which no closed form gives.
#[test]
fn the_stated_error_of_a_bermudan_price_is_no_less_than_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("bermudan", 36) {
        let (option, times) = (european(&row), row.list(row.text("exercise_times")));
        let (tree, n_steps): (Tree, usize) = (row.get("tree"), row.get("n_steps"));
        let priced = |tree, n_steps| american::evaluate_on_dates(&option, tree, n_steps, &times);
        let found = priced(tree, n_steps).expect("a price").price;
        let exact = priced(Tree::CoxRossRubinstein, 1500).expect("a price").price;
        let explanation = american::explain_on_dates(&option, tree, n_steps, &times);
        statements.see(&row, &explanation.expect("an explanation").error, found, exact);
    }
    statements.hold(36);
}

#[test]
fn options_on_forwards_agree_with_numerical_derivatives_of_four_hundred_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("black76", 130) {
        let greeks = forward_option(&row).greeks().expect("greeks");
        hold_greeks(&row, &greeks, &mut largest);
    }
    println!("options on forwards: largest relative error {largest}");
}

fn forward_option(row: &Row) -> ForwardOption {
    ForwardOption {
        option_type: option_type(row),
        forward: row.get("forward"),
        strike: row.get("strike"),
        risk_free_rate: row.get("risk_free_rate"),
        volatility: row.get("volatility"),
        time_to_maturity: row.get("time_to_maturity"),
    }
}

fn normal_option(row: &Row) -> NormalOption {
    NormalOption {
        option_type: option_type(row),
        forward: row.get("forward"),
        strike: row.get("strike"),
        risk_free_rate: row.get("risk_free_rate"),
        normal_volatility: row.get("volatility"),
        time_to_maturity: row.get("time_to_maturity"),
    }
}

#[test]
fn normal_options_agree_with_numerical_derivatives_of_four_hundred_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("bachelier", 150) {
        let greeks = normal_option(&row).greeks().expect("greeks");
        hold_greeks(&row, &greeks, &mut largest);
    }
    println!("normal options: largest relative error {largest}");
}

#[test]
fn implied_normal_volatilities_agree_with_roots_of_four_hundred_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("bachelier_implied", 200) {
        let found = normal_option(&row).implied_volatility(row.get("price")).expect("a volatility");
        let (expected, condition): (f64, f64) = (row.get("volatility"), row.get("condition"));
        let bit = f64::EPSILON * expected * condition.max(1.0);
        largest.see(&row, error(found, expected, bit), IMPLIED_VOLATILITY_BITS, &found);
    }
    println!("normal volatility: largest error in bits that the price determines {largest}");
}

/// The row's option as one on the rate of a period.
fn caplet(row: &Row) -> Caplet {
    let start_time = row.get("time");
    Caplet {
        option_type: option_type(row),
        forward_rate: row.get("forward"),
        strike: row.get("strike"),
        discount_factor: 0.5,
        volatility: row.get("volatility"),
        start_time,
        end_time: start_time + 2.0,
        notional: row.get("annuity"),
    }
}

/// The row's option as one on the rate of a swap.
fn swaption(row: &Row) -> Swaption {
    Swaption {
        option_type: option_type(row),
        forward_swap_rate: row.get("forward"),
        strike: row.get("strike"),
        annuity: row.get("annuity"),
        volatility: row.get("volatility"),
        time_to_expiry: row.get("time"),
        notional: 1.0,
    }
}

#[test]
fn options_on_rates_agree_with_four_hundred_digits_and_with_quantlib() {
    let (mut largest, mut beside_quantlib) = (Largest::default(), Largest::default());
    for row in golden::rows("rate_options", 90) {
        for found in [caplet(&row).value(), swaption(&row).value()] {
            let found = found.expect("a value");
            let greeks = found.greeks.expect("greeks");
            for (name, value) in [
                ("price", found.price),
                ("time_value", found.time_value),
                ("normal_volatility", found.normal_volatility),
                ("delta", greeks.delta),
                ("gamma", greeks.gamma),
                ("vega", greeks.vega),
                ("theta", greeks.theta),
            ] {
                let expected = row.get(name);
                let error = error(value, expected, expected);
                largest.see(&row, error, CLOSED_FORM_TOLERANCE, &(name, value));
            }
            let (quantlib, notional): (f64, f64) = (row.get("quantlib_price"), row.get("annuity"));
            let error =
                error(found.price, quantlib, quantlib + notional * row.get::<f64>("forward"));
            beside_quantlib.see(&row, error, QUANTLIB_TOLERANCE, &found.price);
        }
    }
    println!(
        "options on rates: largest relative error {largest}, against QuantLib {beside_quantlib}"
    );
}

fn currency_option(row: &Row) -> CurrencyOption {
    CurrencyOption {
        option_type: option_type(row),
        spot: row.get("spot"),
        strike: row.get("strike"),
        domestic_rate: row.get("domestic_rate"),
        foreign_rate: row.get("foreign_rate"),
        volatility: row.get("volatility"),
        time_to_expiry: row.get("time_to_expiry"),
    }
}

#[test]
fn currency_options_agree_with_four_hundred_digits_and_with_quantlib() {
    let (mut largest, mut beside_quantlib) = (Largest::default(), Largest::default());
    for row in golden::rows("garman_kohlhagen", 70) {
        let option = currency_option(&row);
        let found = option.greeks().expect("greeks");
        for (name, value) in [
            ("price", option.price().expect("a price")),
            ("forward", option.forward().expect("a forward")),
            ("delta", found.greeks.delta),
            ("forward_delta", found.forward_delta),
            ("premium_adjusted_delta", found.premium_adjusted_delta),
            ("rho_domestic", found.greeks.rho),
            ("rho_foreign", found.greeks.epsilon),
        ] {
            let expected = row.get(name);
            largest.see(
                &row,
                error(value, expected, expected),
                CLOSED_FORM_TOLERANCE,
                &(name, value),
            );
        }
        for (value, expected, scale) in [
            (found.greeks.price, row.get("quantlib_price"), option.spot),
            (found.greeks.delta, row.get("quantlib_delta"), 1.0),
        ] {
            beside_quantlib.see(&row, error(value, expected, scale), QUANTLIB_TOLERANCE, &value);
        }
    }
    println!(
        "currency options: largest relative error {largest}, against QuantLib {beside_quantlib}"
    );
}

#[test]
fn american_greeks_agree_with_the_same_trees_in_sixty_digits_and_with_quantlib() {
    let (mut largest, mut beside_quantlib) = (Largest::default(), Largest::default());
    for row in golden::rows("american_greeks", 60) {
        let option = european(&row);
        let tree: Tree = row.get("tree");
        let found = american::evaluate(&option, tree, row.get("n_steps")).expect("a price");
        let greeks = found.greeks.expect("greeks");
        for (name, value, scale) in [
            ("price", found.price, option.spot),
            ("delta", greeks.delta, 1.0),
            ("gamma", greeks.gamma, 1.0),
            ("theta", greeks.theta, option.spot),
            ("vega", greeks.vega, option.spot),
            ("rho", greeks.rho, option.spot),
            ("epsilon", greeks.epsilon, option.spot),
        ] {
            let error = error(value, row.get(name), scale);
            largest.see(&row, error, TREE_TOLERANCE, &(name, value));
        }
        for (name, value) in [("quantlib_delta", greeks.delta), ("quantlib_gamma", greeks.gamma)] {
            if !row.text(name).is_empty() {
                let error = error(value, row.get(name), 1.0);
                // In QuantLib the probabilities of LR lose digits.
                beside_quantlib.see(&row, error, TREE_TOLERANCE, &(name, value));
            }
        }
    }
    println!("american Greeks: largest error {largest}, against QuantLib {beside_quantlib}");
}

/// The option on an asset of the row.
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

#[test]
fn bermudan_options_agree_with_the_same_trees_in_sixty_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("bermudan", 36) {
        let (option, times) = (european(&row), row.list(row.text("exercise_times")));
        let (tree, n_steps): (Tree, usize) = (row.get("tree"), row.get("n_steps"));
        let found = american::evaluate_on_dates(&option, tree, n_steps, &times).expect("a price");
        let error = error(found.price, row.get("price"), option.spot);
        largest.see(&row, error, TREE_TOLERANCE, &found.price);
    }
    println!("bermudan options: largest error {largest} of the spot");
}

/// The values of a digital option by the names of their columns.
fn digital_by_name(found: &Digital) -> [(&'static str, f64); 8] {
    [
        ("cash_or_nothing", found.cash_or_nothing),
        ("asset_or_nothing", found.asset_or_nothing),
        ("delta", found.delta),
        ("gamma", found.gamma),
        ("vega", found.vega),
        ("theta", found.theta),
        ("rho", found.rho),
        ("epsilon", found.epsilon),
    ]
}

/// The size by which an error is relative. Two figures are sums that may cancel: their errors are
/// those of their largest term.
fn digital_whole(row: &Row, name: &str) -> f64 {
    match name {
        "theta" | "rho" => row.get(&format!("{name}_term")),
        _ => row.get(name),
    }
}

#[test]
fn digital_options_agree_with_numerical_derivatives_of_four_hundred_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("digital", 90) {
        let found = european(&row).digital().expect("a value");
        for (name, value) in digital_by_name(&found) {
            let error = error(value, row.get(name), digital_whole(&row, name));
            largest.see(&row, error, CLOSED_FORM_TOLERANCE, &(name, value));
        }
    }
    println!("digital options: largest relative error {largest}");
}

fn spread_option(row: &Row) -> SpreadOption {
    SpreadOption {
        option_type: option_type(row),
        forward1: row.get("forward1"),
        forward2: row.get("forward2"),
        strike: row.get("strike"),
        risk_free_rate: row.get("risk_free_rate"),
        volatility1: row.get("volatility1"),
        volatility2: row.get("volatility2"),
        correlation: row.get("correlation"),
        time_to_maturity: row.get("time_to_maturity"),
    }
}

#[test]
fn spread_options_agree_with_quadrature_of_forty_digits() {
    let (mut largest, mut beside_quantlib) = (Largest::default(), Largest::default());
    for row in golden::rows("spread", 50) {
        let option = spread_option(&row);
        let found = option.value().expect("a value");
        for (name, value, scale) in [
            ("price", found.price, option.forward1),
            ("spread_volatility", found.spread_volatility, 1.0),
            ("exact_price", found.exact_price, option.forward1),
        ] {
            let error = error(value, row.get(name), scale);
            largest.see(&row, error, QUADRATURE_TOLERANCE, &(name, value));
        }
        let error = error(found.price, row.get("quantlib_price"), option.forward1);
        beside_quantlib.see(&row, error, QUANTLIB_TOLERANCE, &found.price);
    }
    println!(
        "spread options: largest error {largest} of the forward, against QuantLib {beside_quantlib}"
    );
}

/// Merton's boundary of a put without an end: `K·β/(1 + β)` with `β = 2r/σ²`, without dividends.
#[test]
fn the_boundary_of_a_long_put_is_that_of_a_perpetual_one() {
    let put = EuropeanOption {
        option_type: OptionType::Put,
        spot: 80.0,
        strike: 100.0,
        risk_free_rate: 0.06,
        dividend_yield: 0.0,
        volatility: 0.3,
        time_to_maturity: 120.0,
    };
    let found = american::evaluate(&put, Tree::CoxRossRubinstein, 6000).expect("a price");
    let beta = 2.0 * put.risk_free_rate / (put.volatility * put.volatility);
    let expected = put.strike * beta / (1.0 + beta);
    // The first step with nodes on both sides of the boundary; no tree of this length has more.
    let first = found.boundary.first().expect("a boundary");
    assert!((first.spot / expected - 1.0).abs() < 0.02, "{first:?} {expected}");
}

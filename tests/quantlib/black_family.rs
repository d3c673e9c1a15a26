//! Options on forwards, rates, currencies and spreads, digital options, and American and Bermudan
//! options with their Greeks, against mpmath and QuantLib: `tests/golden/generate/black_family.py`
//! and `options_rest.py`.

use account_core::Tier;
use quant_core::pricing::{
    Caplet, CurrencyOption, EuropeanOption, ForwardGreeks, ForwardOption, NormalOption, OptionType,
    RateOptionValue, SpreadOption, Swaption, Tree, american,
};
use quant_tests::golden::{self, Largest, Row};
use quant_tests::{Answer, App};
use serde_json::{Value, json};

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
    for (name, value) in [
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
    ] {
        let expected: f64 = row.get(name);
        let scale = match name {
            "theta" | "charm" | "veta" => row.get(&format!("{name}_term")),
            _ => expected,
        };
        let error = error(value, expected, scale);
        largest.see(row, error, CLOSED_FORM_TOLERANCE, &(name, value));
    }
}

#[test]
fn options_on_forwards_agree_with_numerical_derivatives_of_four_hundred_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("black76", 130) {
        let option = ForwardOption {
            option_type: option_type(&row),
            forward: row.get("forward"),
            strike: row.get("strike"),
            risk_free_rate: row.get("risk_free_rate"),
            volatility: row.get("volatility"),
            time_to_maturity: row.get("time_to_maturity"),
        };
        hold_greeks(&row, &option.greeks().expect("greeks"), &mut largest);
    }
    println!("options on forwards: largest relative error {largest}");
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

/// The value of the row's option as a caplet and as a swaption.
fn rate_options(row: &Row) -> [RateOptionValue; 2] {
    let (forward_rate, strike, volatility) =
        (row.get("forward"), row.get("strike"), row.get("volatility"));
    let (annuity, time): (f64, f64) = (row.get("annuity"), row.get("time"));
    let caplet = Caplet {
        option_type: option_type(row),
        forward_rate,
        strike,
        discount_factor: 0.5,
        volatility,
        start_time: time,
        end_time: time + 2.0,
        notional: annuity,
    };
    let swaption = Swaption {
        option_type: option_type(row),
        forward_swap_rate: forward_rate,
        strike,
        annuity,
        volatility,
        time_to_expiry: time,
        notional: 1.0,
    };
    [caplet.value().expect("a value"), swaption.value().expect("a value")]
}

#[test]
fn options_on_rates_agree_with_four_hundred_digits_and_with_quantlib() {
    let (mut largest, mut beside_quantlib) = (Largest::default(), Largest::default());
    for row in golden::rows("rate_options", 90) {
        for found in rate_options(&row) {
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

#[test]
fn currency_options_agree_with_four_hundred_digits_and_with_quantlib() {
    let (mut largest, mut beside_quantlib) = (Largest::default(), Largest::default());
    for row in golden::rows("garman_kohlhagen", 70) {
        let option = CurrencyOption {
            option_type: option_type(&row),
            spot: row.get("spot"),
            strike: row.get("strike"),
            domestic_rate: row.get("domestic_rate"),
            foreign_rate: row.get("foreign_rate"),
            volatility: row.get("volatility"),
            time_to_expiry: row.get("time_to_expiry"),
        };
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

#[test]
fn digital_options_agree_with_numerical_derivatives_of_four_hundred_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("digital", 90) {
        let found = european(&row).digital().expect("a value");
        for (name, value) in [
            ("cash_or_nothing", found.cash_or_nothing),
            ("asset_or_nothing", found.asset_or_nothing),
            ("delta", found.delta),
            ("gamma", found.gamma),
            ("vega", found.vega),
            ("theta", found.theta),
            ("rho", found.rho),
            ("epsilon", found.epsilon),
        ] {
            let expected: f64 = row.get(name);
            // These two are sums that may cancel: their errors are those of their largest term.
            let scale = match name {
                "theta" | "rho" => row.get(&format!("{name}_term")),
                _ => expected,
            };
            largest.see(&row, error(value, expected, scale), CLOSED_FORM_TOLERANCE, &(name, value));
        }
    }
    println!("digital options: largest relative error {largest}");
}

#[test]
fn spread_options_agree_with_quadrature_of_forty_digits() {
    let (mut largest, mut beside_quantlib) = (Largest::default(), Largest::default());
    for row in golden::rows("spread", 50) {
        let option = SpreadOption {
            option_type: option_type(&row),
            forward1: row.get("forward1"),
            forward2: row.get("forward2"),
            strike: row.get("strike"),
            risk_free_rate: row.get("risk_free_rate"),
            volatility1: row.get("volatility1"),
            volatility2: row.get("volatility2"),
            correlation: row.get("correlation"),
            time_to_maturity: row.get("time_to_maturity"),
        };
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

async fn asked(app: &App, key: &str, path: &str, body: &Value) -> Answer {
    app.post(path, Some(key), &body.to_string()).await
}

#[tokio::test]
async fn the_recorded_price_is_answered_by_price_and_greeks() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let option = json!({ "spot": 100, "strike": 105, "risk_free_rate": 0.05, "volatility": 0.2,
                         "time_to_maturity": 1.0 });
    for path in ["price", "greeks", "greeks-full"] {
        let answer = asked(&app, &key, &format!("/quantlib/pricing/bs/{path}"), &option).await;
        // The recorded answer of the interface; in fifty digits the price is 8.0213522351431712….
        let error = answer.number("/data/price") / 8.021352235143176 - 1.0;
        assert!(error.abs() <= 1e-15, "{path}: {error:e}");
    }
}

#[tokio::test]
async fn an_implied_volatility_comes_under_both_names_with_the_parts_of_its_price() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let quoted = |price: f64| {
        json!({ "forward": 110, "strike": 105, "risk_free_rate": 0.0, "time_to_maturity": 1,
                "market_price": price })
    };
    for model in ["black76", "bachelier"] {
        let path = format!("/quantlib/pricing/{model}/implied-vol");
        let answer = asked(&app, &key, &path, &quoted(8.0)).await;
        let data = &answer.expect(200)["data"];
        assert_eq!(data["iv"], data["implied_volatility"]);
        assert_eq!((&data["intrinsic_value"], &data["time_value"]), (&json!(5.0), &json!(3.0)));
        assert!(data["vega"].as_f64().is_some_and(|vega| vega > 0.0), "{data}");
        let certain = asked(&app, &key, &path, &quoted(5.0)).await;
        let data = &certain.expect(200)["data"];
        assert_eq!((&data["iv"], &data["vega"]), (&json!(0.0), &Value::Null));
        let refused = asked(&app, &key, &path, &quoted(4.0)).await;
        let fault = &refused.expect(422)["detail"][0];
        assert_eq!(fault["loc"], json!(["body", "market_price"]), "{fault}");
        assert_eq!(fault["type"], "value_error.domain");
    }
}

#[tokio::test]
async fn a_swaption_is_a_payer_unless_either_field_says_otherwise() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let ask = |more: Value| {
        let mut body = json!({ "forward_swap_rate": 0.05, "strike": 0.055, "annuity": 4.5,
                               "volatility": 0.2, "t_expiry": 1.0, "notional": 1000000 });
        body.as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        let (app, key) = (&app, &key);
        async move { asked(app, key, "/quantlib/pricing/black76/swaption", &body).await }
    };
    let (payer, receiver) = (ask(json!({})).await, ask(json!({ "is_payer": false })).await);
    let (payer, receiver) = (payer.expect(200), receiver.expect(200));
    assert_ne!(payer, receiver);
    assert_eq!(ask(json!({ "option_type": "call" })).await.expect(200), payer);
    assert_eq!(ask(json!({ "option_type": "put" })).await.expect(200), receiver);
    assert_eq!(ask(json!({ "option_type": "put", "is_payer": false })).await.expect(200), receiver);
    let refused = ask(json!({ "option_type": "put", "is_payer": true })).await;
    assert_eq!(refused.expect(422)["detail"][0]["loc"], json!(["body", "option_type"]));
}

#[tokio::test]
async fn a_fault_of_the_mathematics_names_the_field_that_was_sent() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let period = json!({ "forward_rate": 0.05, "strike": 0.05, "discount_factor": 0.95,
                         "volatility": 0.2, "t_start": 1.0, "t_end": 1.0 });
    let option = json!({ "spot": 100, "strike": 105, "risk_free_rate": 0.5, "volatility": 0.01,
                         "time_to_maturity": 1.0, "steps": 2 });
    for (path, body, field) in [
        ("/quantlib/pricing/black76/caplet", &period, "t_end"),
        ("/quantlib/pricing/black76/floorlet", &period, "t_end"),
        ("/quantlib/pricing/binomial/american", &option, "steps"),
    ] {
        let refused = asked(&app, &key, path, body).await;
        assert_eq!(refused.expect(422)["detail"][0]["loc"], json!(["body", field]), "{path}");
    }
}

#[tokio::test]
async fn greeks_that_have_no_limit_are_absent_and_the_price_is_there() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let currency = json!({ "spot": 1.25, "strike": 1.25, "domestic_rate": 0.02, "foreign_rate": 0.02,
                           "volatility": 0.1, "time_to_expiry": 0 });
    let due = asked(&app, &key, "/quantlib/instruments/fx/garman-kohlhagen", &currency).await;
    let data = due.expect(200)["data"].as_object().expect("an object");
    assert_eq!((&data["price"], data.contains_key("greeks")), (&json!(0.0), false));
    let american = json!({ "spot": 100, "strike": 105, "risk_free_rate": 0.05, "volatility": 0,
                           "time_to_maturity": 1, "option_type": "put", "method": "LR" });
    let certain = asked(&app, &key, "/quantlib/pricing/binomial/american", &american).await;
    let data = certain.expect(200)["data"].as_object().expect("an object");
    assert_eq!((&data["price"], data.contains_key("greeks")), (&json!(5.0), false));
    assert_eq!((&data["steps_used"], &data["early_exercise_boundary"]), (&json!(101), &json!([])));
}

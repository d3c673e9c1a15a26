//! Options on forwards, rates, currencies and American options over HTTP: fields, defaults and
//! refusals.

use account_core::Tier;
use quant_tests::{Answer, App};
use serde_json::{Value, json};

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

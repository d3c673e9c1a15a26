//! `Prefer: quote`: the terms of a call without the call.

use account_core::Tier;
use poem::{Request, http::Method};
use quant_tests::{
    Answer, App,
    requests::{DATE, OPTION, PRICE, TENOR},
};
use serde_json::{Value, json};

const BATCH: &str = "/quantlib/batch";
const COLUMNS: &str = "/quantlib/pricing/bs/price/columns";
const CAPITAL: &str = "/quantlib/regulatory/basel/capital-ratios";
const RATIOS: &str = r#"{"cet1_capital": 4.5, "tier1_capital": 5, "total_capital": 9,
    "risk_weighted_assets": 100, "total_exposure": 200}"#;

async fn send(app: &App, path: &str, key: &str, body: &str, prefer: &str) -> Answer {
    let request = Request::builder().method(Method::POST).uri_str(path).header("X-API-Key", key);
    let request = request.header("Prefer", prefer).header("Idempotency-Key", "one");
    app.send(request.content_type("application/json").body(body.to_owned())).await
}

async fn quote(app: &App, path: &str, key: &str, body: &str) -> Value {
    let answer = send(app, path, key, body, "quote").await;
    assert_eq!(answer.header("preference-applied"), Some("quote"), "{answer:?}");
    assert_eq!(answer.header("x-credits-cost"), None, "nothing is charged: {answer:?}");
    answer.expect(200)["data"].clone()
}

#[tokio::test]
async fn a_quote_has_the_terms_of_the_call_and_charges_nothing() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    let first = quote(&app, PRICE, &key, OPTION).await;
    let limit = Tier::Pro.hourly_limit();
    let expected = |remaining: u32, balance: u64, reason: Value| {
        json!({
            "operation": "price_european_option", "credits_cost": 5,
            "pricing": "The cost of one call, which is charged where the call succeeds.",
            "balance": balance,
            "hourly_limit": limit, "limit_remaining": remaining,
            "would_pass": reason.is_null(), "reason": reason,
        })
    };
    assert_eq!(first, expected(limit - 1, 5, Value::Null), "a quote counts as a call");
    assert_eq!(quote(&app, PRICE, &key, OPTION).await, expected(limit - 2, 5, Value::Null));
    // The quotes have neither claimed the key nor answered for it.
    let call = send(&app, PRICE, &key, OPTION, "").await;
    assert_eq!(
        (call.header("x-credits-cost"), call.header("x-credits-balance")),
        (Some("5"), Some("0"))
    );
    assert_eq!(call.header("preference-applied"), None);
    let poor = quote(&app, PRICE, &key, OPTION).await;
    assert_eq!(poor, expected(limit - 4, 0, json!("insufficient_credits")));
}

#[tokio::test]
async fn a_quote_says_what_the_call_would_be_refused_for() {
    let app =
        App::start_with(|config| config.service.tier_gate = quant_server::state::TierGate::Tiers)
            .await;
    let key = app.account("ada", Tier::Basic, 100).await;
    let found = quote(&app, CAPITAL, &key, RATIOS).await;
    assert_eq!(
        (&found["would_pass"], &found["reason"]),
        (&json!(false), &json!("insufficient_tier"))
    );
    let guest = app.guest().await;
    let free = quote(&app, TENOR, &guest, DATE).await;
    assert_eq!((&free["credits_cost"], &free["balance"]), (&json!(0), &Value::Null));
    assert_eq!(free["would_pass"], true, "{free}");
    let paid = quote(&app, PRICE, &guest, OPTION).await;
    assert_eq!(paid["reason"], "insufficient_tier", "{paid}");
}

#[tokio::test]
async fn the_request_of_a_quote_is_checked_as_that_of_a_call() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    let faulty = send(&app, PRICE, &key, r#"{"spot": "x"}"#, "quote").await;
    let called = send(&app, PRICE, &key, r#"{"spot": "x"}"#, "").await;
    assert_eq!(faulty.expect(422), called.expect(422));
    let misspelt = OPTION.replace("spot", "spott");
    let both = "handling=strict, quote";
    send(&app, PRICE, &key, &misspelt, both).await.expect(422);
    let strict = send(&app, PRICE, &key, OPTION, both).await;
    assert_eq!(strict.header("preference-applied"), Some(both));
    send(&app, PRICE, "fk_user_unknown", OPTION, "quote").await.expect(401);
}

#[tokio::test]
async fn a_quote_of_columns_has_the_price_of_all_rows() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let body = |rows: usize| {
        let strikes = vec![100; rows];
        json!({
            "spot": 100, "strike": strikes, "risk_free_rate": 0.05, "volatility": 0.2,
            "time_to_maturity": 1,
        })
        .to_string()
    };
    let found = quote(&app, COLUMNS, &key, &body(11)).await;
    assert_eq!(found["operation"], "price_european_option_columns");
    assert!(found["pricing"].as_str().is_some_and(|rule| rule.contains("A tenth")), "{found}");
    // Eleven tenths of five credits, rounded up.
    assert_eq!((&found["credits_cost"], &found["balance"]), (&json!(6), &json!(100)));
    assert_eq!((&found["would_pass"], &found["reason"]), (&json!(true), &Value::Null));
    let dear = quote(&app, COLUMNS, &key, &body(201)).await;
    assert_eq!(dear["credits_cost"], 101);
    assert_eq!(dear["reason"], "insufficient_credits");
    let faulty = body(2).replace("\"spot\":100", "\"spot\":-1");
    let refused = send(&app, COLUMNS, &key, &faulty, "quote").await;
    assert_eq!(refused.expect(422), send(&app, COLUMNS, &key, &faulty, "").await.expect(422));
    let called = send(&app, COLUMNS, &key, &body(11), "").await;
    called.expect(200);
    assert_eq!(called.header("x-credits-cost"), Some("6"), "the call costs what the quote says");
    assert_eq!(called.header("x-credits-balance"), Some("94"), "no quote has cost anything");
}

#[tokio::test]
async fn a_quote_of_a_batch_has_the_price_of_the_calls_that_are_accepted() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 9).await;
    let option: Value = serde_json::from_str(OPTION).expect("JSON");
    let date: Value = serde_json::from_str(DATE).expect("JSON");
    let price = json!({ "path": PRICE, "body": option });
    let (faulty, unknown) = (json!({ "path": PRICE, "body": {} }), json!({ "path": "/none" }));
    let body = |mode: &str, calls: &[&Value]| json!({ "mode": mode, "calls": calls }).to_string();
    let tenor = json!({ "path": TENOR, "body": date });
    let mixed = [&price, &faulty, &unknown, &tenor];
    let found = quote(&app, BATCH, &key, &body("partial", &mixed)).await;
    let limit = Tier::Pro.hourly_limit();
    assert!(found["pricing"].as_str().is_some_and(|rule| rule.contains("sum of the costs")));
    let expected = json!({
        "operation": "run_batch", "credits_cost": 5, "pricing": found["pricing"], "balance": 9, "hourly_limit": limit,
        "limit_remaining": limit - 1, "would_pass": true, "reason": null,
    });
    assert_eq!(found, expected, "a quote counts as one call");
    let refused = send(&app, BATCH, &key, &body("atomic", &mixed), "quote").await;
    let called = send(&app, BATCH, &key, &body("atomic", &mixed), "").await;
    assert_eq!(refused.expect(422), called.expect(422));
    let two = body("atomic", &[&price, &price]);
    let dear = quote(&app, BATCH, &key, &two).await;
    let terms = ["credits_cost", "would_pass", "reason"].map(|name| &dear[name]);
    assert_eq!(terms, [&json!(10), &json!(false), &json!("insufficient_credits")]);
    let called = send(&app, BATCH, &key, &body("partial", &mixed), "").await;
    assert_eq!(called.expect(200)["data"]["credits_cost"], 5);
    assert_eq!(called.header("x-credits-balance"), Some("4"), "no quote has cost anything");
}

#[tokio::test]
async fn a_quote_of_a_batch_needs_a_call_of_the_limit_for_each_of_its_calls() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let date: Value = serde_json::from_str(DATE).expect("JSON");
    let calls = |count: usize| {
        let call = json!({ "path": TENOR, "body": date });
        json!({ "calls": vec![call; count] }).to_string()
    };
    let limit = Tier::Free.hourly_limit() as usize;
    app.post(BATCH, Some(&key), &calls(limit - 4)).await.expect(200);
    let first = quote(&app, BATCH, &key, &calls(3)).await;
    assert_eq!((&first["would_pass"], &first["limit_remaining"]), (&json!(true), &json!(3)));
    let second = quote(&app, BATCH, &key, &calls(3)).await;
    assert_eq!((&second["would_pass"], &second["reason"]), (&json!(false), &json!("rate_limited")));
}

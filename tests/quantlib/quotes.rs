//! `Prefer: quote`: the terms of a call without the call.

use account_core::Tier;
use poem::{Request, http::Method};
use quant_tests::{
    Answer, App,
    requests::{DATE, OPTION, PRICE, TENOR},
};
use serde_json::{Value, json};

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
            "operation": "price_european_option", "credits_cost": 5, "balance": balance,
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

//! The pipeline of a metered request: the order of its checks, the limits, the charge.

use account_core::Tier;
use chrono::TimeDelta;
use poem::{Request, http::Method};
use quant_server::state::TierGate;
use quant_tests::{
    App, START, email,
    requests::{DATE, OPTION, PRICE, TENOR},
};
use serde_json::json;

#[tokio::test]
async fn a_price_costs_what_the_table_says() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 12).await;

    let answer = app.post(PRICE, Some(&key), OPTION).await;

    answer.expect(200);
    // Hull, "Options, Futures, and Other Derivatives", example "Black–Scholes–Merton pricing".
    assert!((answer.number("/data/price") - 4.76).abs() < 0.005, "{answer:?}");
    assert_eq!(answer.header("x-credits-cost"), Some("5"));
    assert_eq!(answer.header("x-credits-balance"), Some("7"));
    assert_eq!(answer.header("x-ratelimit-limit"), Some("5000"));
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("4999"));
    assert!(answer.header("x-request-id").is_some());
}

#[tokio::test]
async fn a_balance_below_the_cost_is_refused_and_unchanged() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 4).await;

    let answer = app.post(PRICE, Some(&key), OPTION).await;

    let detail = "Insufficient credits. This endpoint requires 5 credits.";
    assert_eq!(answer.expect(402), &json!({ "detail": detail }));
    assert_eq!(answer.header("x-credits-cost"), None);
    let profile = app.get("/user/profile", Some(&key)).await;
    assert_eq!(profile.number("/data/credit_balance"), 4.0);
}

#[tokio::test]
async fn a_refused_request_costs_nothing() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;

    app.post(PRICE, Some(&key), "{}").await.expect(422);
    app.post(PRICE, Some(&key), "{").await.expect(422);
    let mathematics = r#"{"spot": 1, "strike": 1, "risk_free_rate": 0, "volatility": 0.01, "barrier": 0.5,
        "time_to_maturity": 1, "n_steps": 1, "is_knock_in": false, "is_down": true, "dividend_yield": 9}"#;
    app.post("/quantlib/pricing/binomial/barrier", Some(&key), mathematics).await.expect(422);

    let profile = app.get("/user/profile", Some(&key)).await;
    assert_eq!(profile.number("/data/credit_balance"), 100.0);
}

#[tokio::test]
async fn parallel_callers_get_exactly_what_the_balance_pays_for() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5 * 20).await;
    let calls = (0..80).map(|_| app.post(PRICE, Some(&key), OPTION));

    let answers = account_core::testing::all(calls).await;

    let paid = answers.iter().filter(|answer| answer.status == 200).count();
    let refused = answers.iter().filter(|answer| answer.status == 402).count();
    assert_eq!((paid, refused), (20, 60));
    assert!(app.accounts().audit().await.expect("the store answers").holds());
}

#[tokio::test]
async fn a_tier_reaches_the_endpoints_up_to_its_own() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Standard, 100).await;

    let answer = app.post(PRICE, Some(&key), OPTION).await;
    assert_eq!(answer.expect(403), &json!({ "detail": "Endpoint requires Pro tier or higher" }));

    app.accounts().set_tier(&email("ada"), Tier::Pro).await.expect("there is such an account");
    app.forget_callers();
    app.post(PRICE, Some(&key), OPTION).await.expect(200);
}

#[tokio::test]
async fn with_the_guests_gate_every_account_may_pay_per_use() {
    let app = App::start_with(|config| config.service.tier_gate = TierGate::Guests).await;
    let key = app.account("ada", Tier::Free, 5).await;

    app.post(PRICE, Some(&key), OPTION).await.expect(200);
    app.post(PRICE, Some(&key), OPTION).await.expect(402);
    let guest = app.guest().await;
    app.post(PRICE, Some(&guest), OPTION).await.expect(403);
}

#[tokio::test]
async fn a_guest_reaches_free_endpoints_only() {
    let app = App::start().await;
    let key = app.guest().await;

    let free = app.post(TENOR, Some(&key), DATE).await;
    assert_eq!(free.expect(200)["data"]["result_date"], "2024-02-29");
    assert_eq!(free.header("x-credits-cost"), Some("0"));
    assert_eq!(free.header("x-credits-balance"), Some("50"));
    let priced = app.post(PRICE, Some(&key), OPTION).await;
    assert_eq!(priced.expect(403), &json!({ "detail": "Endpoint requires Pro tier or higher" }));
}

#[tokio::test]
async fn a_guest_has_fifty_calls_a_day_and_sixty_an_hour() {
    let app = App::start().await;
    let key = app.guest().await;
    for left in (0..50).rev() {
        let answer = app.post(TENOR, Some(&key), DATE).await;
        answer.expect(200);
        assert_eq!(answer.header("x-ratelimit-remaining"), Some(left.to_string().as_str()));
    }

    let refused = app.post(TENOR, Some(&key), DATE).await;

    let detail = refused.expect(429)["detail"].as_str().expect("a text");
    assert!(detail.starts_with("Rate limit exceeded"), "{detail}");
    let wait: i64 = refused.header("retry-after").expect("a wait").parse().expect("seconds");
    assert!((1..=12 * 3600).contains(&wait), "the UTC day ends in twelve hours: {wait}");
    app.clock.advance(TimeDelta::seconds(wait));
    app.post(TENOR, Some(&key), DATE).await.expect(200);
}

#[tokio::test]
async fn a_rolling_hour_admits_no_more_calls_than_the_limit() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    app.accounts().set_hourly_limit(&email("ada"), Some(3)).await.expect("an account");
    for _ in 0..3 {
        app.get("/auth/validate", Some(&key)).await.expect(200);
    }

    let refused = app.get("/auth/validate", Some(&key)).await;

    assert_eq!(refused.expect(429)["message"], "Rate limit exceeded");
    assert_eq!(refused.header("x-ratelimit-remaining"), Some("0"));
    let reset: i64 = refused.header("x-ratelimit-reset").expect("a time").parse().expect("seconds");
    let wait: i64 = refused.header("retry-after").expect("a wait").parse().expect("seconds");
    assert_eq!(reset, START + wait, "both headers name one moment");
    app.clock.advance(TimeDelta::seconds(wait - 1));
    app.get("/auth/validate", Some(&key)).await.expect(429);
    app.clock.advance(TimeDelta::seconds(1));
    app.get("/auth/validate", Some(&key)).await.expect(200);
}

#[tokio::test]
async fn a_restart_forgets_no_call() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    for _ in 0..7 {
        app.get("/auth/validate", Some(&key)).await.expect(200);
    }

    let app = app.restart().await;

    let answer = app.get("/auth/validate", Some(&key)).await;
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("492"));
}

#[tokio::test]
async fn a_restart_counts_no_call_that_the_limit_refused() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    app.accounts().set_hourly_limit(&email("ada"), Some(5)).await.expect("an account");
    for status in [200, 200, 200, 200, 200, 429, 429, 429] {
        app.get("/auth/validate", Some(&key)).await.expect(status);
    }

    let app = app.restart().await;
    app.accounts().set_hourly_limit(&email("ada"), Some(12)).await.expect("an account");

    let answer = app.get("/auth/validate", Some(&key)).await;
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("6"));
}

#[tokio::test]
async fn the_first_failed_check_decides_the_answer() {
    // Each request passes one check more than the request before.
    let app = App::start().await;
    let poor = app.account("poor", Tier::Pro, 4).await;
    let low = app.account("low", Tier::Basic, 4).await;
    let large = format!(r#"{{"spot": "{}"}}"#, "x".repeat(17 << 20));
    let rich = app.account("rich", Tier::Pro, 100).await;

    app.post(PRICE, Some(&rich), r#"{"spot": "x"}"#).await.expect(422);
    app.post(PRICE, Some(&rich), &large).await.expect(413);
    app.post(PRICE, Some(&poor), &large).await.expect(402);
    app.post(PRICE, Some(&low), &large).await.expect(403);
    app.accounts().set_hourly_limit(&email("low"), Some(1)).await.expect("an account");
    app.forget_callers();
    app.post(PRICE, Some(&low), &large).await.expect(429);
    app.post(PRICE, Some("fk_user_x"), &large).await.expect(401);
}

#[tokio::test]
async fn every_answer_to_a_valid_key_tells_the_limit() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Standard, 1).await;
    let requests = [
        (TENOR, DATE, 200),
        (TENOR, "{}", 422),
        (PRICE, OPTION, 403),
        ("/quantlib/curves/build", "{}", 402),
    ];
    for (path, body, status) in requests {
        let answer = app.post(path, Some(&key), body).await;
        answer.expect(status);
        for name in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] {
            assert!(answer.header(name).is_some(), "{name} on {status}");
        }
    }
}

#[tokio::test]
async fn an_invalid_key_is_answered_in_the_shape_of_its_surface() {
    let app = App::start().await;
    let unknown = format!("fk_user_{}", "A".repeat(43));
    for key in [None, Some(""), Some("fk_user_short"), Some(unknown.as_str())] {
        let computation = app.post(PRICE, key, OPTION).await;
        assert_eq!(computation.expect(401), &json!({ "detail": "Invalid API key" }));
        let account = app.get("/auth/validate", key).await;
        let expected = json!({
            "success": false,
            "message": "Invalid or expired API key",
            "detail": "Valid API key required",
        });
        assert_eq!(account.expect(401), &expected);
        assert_eq!(account.header("x-ratelimit-limit"), None);
    }
}

#[tokio::test]
async fn a_guest_key_ends_after_a_day() {
    let app = App::start().await;
    let key = app.guest().await;
    app.clock.advance(TimeDelta::hours(24) - TimeDelta::milliseconds(1));
    app.get("/auth/validate", Some(&key)).await.expect(200);
    app.clock.advance(TimeDelta::milliseconds(1));

    let answer = app.get("/auth/validate", Some(&key)).await;

    assert_eq!(answer.expect(401)["message"], "Guest API key has expired");
}

#[tokio::test]
async fn only_a_key_on_a_computation_lifts_the_common_body_limit() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 100).await;
    let padding = " ".repeat(300 * 1024);

    let computation = format!(r#"{padding}{{"probabilities": [0.5, 0.5], "base": 2}}"#);
    let answer = app.post("/quantlib/physics/entropy/shannon", Some(&key), &computation).await;
    assert_eq!(answer.expect(200)["data"]["shannon_entropy"], 1.0);
    let open = format!(r#"{padding}{{"device_id": "x"}}"#);
    app.post("/guest/create", Some(&key), &open).await.expect(413);
}

#[tokio::test]
async fn an_unknown_route_answers_json() {
    let app = App::start().await;
    let expected = |answer: &quant_tests::Answer, status| {
        let body = answer.expect(status);
        assert_eq!(body["success"], false);
        assert!(body["message"].is_string() && body["detail"].is_string(), "{body}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
    };
    expected(&app.get("/nowhere", None).await, 404);
    let wrong = app.get(PRICE, None).await;
    expected(&wrong, 405);
    assert_eq!(wrong.header("allow"), Some("POST"));
    expected(&app.get("/docs/nowhere", None).await, 404);
    let page = app.post("/openapi.json", None, "{}").await;
    expected(&page, 405);
    assert_eq!(page.header("allow"), Some("GET, HEAD"));
    let head = Request::builder().method(Method::HEAD).uri_str("/health").finish();
    app.send(head).await.expect(200);
    let key = app.account("ada", Tier::Pro, 100).await;
    let form = Request::builder()
        .method(Method::POST)
        .uri_str(PRICE)
        .header("X-API-Key", &key)
        .content_type("application/x-www-form-urlencoded")
        .body("spot=1");
    expected(&app.send(form).await, 415);
}

#[tokio::test]
async fn health_and_readiness_need_no_key() {
    let app = App::start().await;
    assert_eq!(app.get("/health", None).await.expect(200)["data"]["status"], "ok");
    assert_eq!(app.get("/ready", None).await.expect(200)["data"]["status"], "ready");
    assert_eq!(app.get("/openapi.json", None).await.expect(200)["openapi"], "3.0.0");
}

#[tokio::test]
async fn after_a_clock_that_was_a_day_ahead_a_spent_caller_waits_for_an_hour_over_a_restart() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    app.accounts().set_hourly_limit(&email("ada"), Some(3)).await.expect("an account");
    app.forget_callers();
    app.clock.advance(TimeDelta::days(1));
    for _ in 0..3 {
        app.post(PRICE, Some(&key), OPTION).await.expect(200);
    }

    app.clock.advance(TimeDelta::days(-1));

    let refused = app.post(PRICE, Some(&key), OPTION).await;
    refused.expect(429);
    let wait: i64 = refused.header("retry-after").expect("a time").parse().expect("seconds");
    assert!((3_600..=3_700).contains(&wait), "{wait}");
    let app = app.restart().await;
    app.post(PRICE, Some(&key), OPTION).await.expect(429);
    app.clock.advance(TimeDelta::seconds(61));
    app.post(PRICE, Some(&key), OPTION).await.expect(429);
    app.clock.advance(TimeDelta::seconds(3_700));
    app.post(PRICE, Some(&key), OPTION).await.expect(200);
}

//! Batches of calls: order, charges, both modes, repeats and limits.

use account_core::Tier;
use poem::{Request, http::Method};
use quant_tests::{
    Answer, App,
    documented::metered,
    requests::{DATE, OPTION, PRICE, TENOR},
};
use serde_json::{Value, json};

const BATCH: &str = "/quantlib/batch";
const GREEKS: &str = "/quantlib/pricing/bs/greeks";

fn call(path: &str, body: &str) -> Value {
    json!({ "path": path, "body": serde_json::from_str::<Value>(body).expect("JSON") })
}

/// The priced option with another strike.
fn option(strike: f64) -> Value {
    let mut option: Value = serde_json::from_str(OPTION).expect("JSON");
    option["strike"] = strike.into();
    json!({ "path": PRICE, "body": option })
}

async fn run(app: &App, key: &str, calls: &[Value], mode: &str) -> Answer {
    let body = json!({ "calls": calls, "mode": mode }).to_string();
    app.post(BATCH, Some(key), &body).await
}

async fn repeat(app: &App, key: &str, repeat_key: &str, body: &Value) -> Answer {
    let request = Request::builder().method(Method::POST).content_type("application/json");
    let request = request.header("X-API-Key", key).header("Idempotency-Key", repeat_key);
    app.send(request.uri_str(BATCH).body(body.to_string())).await
}

async fn balance(app: &App, key: &str) -> f64 {
    app.get("/user/profile", Some(key)).await.number("/data/credit_balance")
}

async fn assert_ledger_holds(app: &App) {
    use account_core::store::LedgerStore as _;
    let audit = app.accounts().store().audit().await.expect("the store answers");
    assert!(audit.holds(), "{:?}", audit.faults);
}

fn statuses(answer: &Answer) -> Vec<u64> {
    let results = answer.expect(200)["data"]["results"].as_array().expect("a list").iter();
    results.map(|result| result["status"].as_u64().expect("a status")).collect()
}

#[tokio::test]
async fn results_have_the_order_of_the_calls_and_the_bytes_of_single_calls() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 10_000).await;
    let operations = metered();
    let calls: Vec<Value> =
        operations.iter().map(|one| json!({ "path": one.path, "body": one.request })).collect();
    let answer = run(&app, &key, &calls, "partial").await;
    assert_eq!(statuses(&answer), vec![200; operations.len()]);
    let costs: u64 = operations.iter().map(|one| one.credits).sum();
    assert_eq!(answer.body["data"]["credits_cost"], costs);
    assert_eq!(answer.body["data"]["succeeded"], operations.len());
    assert_eq!(answer.header("x-credits-cost"), Some(costs.to_string().as_str()));
    for (position, one) in operations.iter().enumerate() {
        let single = if one.request.is_null() {
            app.get(one.path, Some(&key)).await
        } else {
            app.post(one.path, Some(&key), &one.request.to_string()).await
        };
        let data = &answer.body["data"]["results"][position]["data"];
        assert_eq!(*data, single.expect(200)["data"], "{}", one.path);
    }
    assert_eq!(balance(&app, &key).await, (10_000 - 2 * costs) as f64);
    assert_ledger_holds(&app).await;
}

#[tokio::test]
async fn each_success_is_explained_where_the_batch_asks() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let calls = [option(40.0), call(PRICE, "{}"), call(TENOR, DATE)];
    for mode in ["partial", "atomic"] {
        let sent =
            if mode == "atomic" { vec![&calls[0], &calls[2]] } else { calls.iter().collect() };
        let body = |explain: bool| json!({ "calls": sent, "mode": mode, "explain": explain });
        let plain = app.post(BATCH, Some(&key), &body(false).to_string()).await;
        let answer = app.post(BATCH, Some(&key), &body(true).to_string()).await;
        let results = answer.expect(200)["data"]["results"].as_array().expect("a list");
        for (position, result) in results.iter().enumerate() {
            let unexplained = &plain.expect(200)["data"]["results"][position];
            assert_eq!(unexplained.get("meta"), None, "{unexplained}");
            assert_eq!(result["data"], unexplained["data"]);
            assert_eq!(result["meta"].is_object(), result["status"] == 200, "{result}");
        }
        let single = app.post(&format!("{PRICE}?explain=true"), Some(&key), OPTION).await;
        assert_eq!(results[0]["meta"], single.expect(200)["meta"], "{mode}");
    }
}

#[tokio::test]
async fn a_failure_is_one_result_and_costs_nothing() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let calls = [
        call(PRICE, OPTION),
        call(PRICE, r#"{"spot": -1}"#),
        call("/quantlib/none", "{}"),
        call(BATCH, r#"{"calls": []}"#),
        call("/quantlib/regulatory/basel/capital-ratios", "{}"),
        json!({ "path": PRICE }),
        call(TENOR, DATE),
        option(45.0),
    ];
    let answer = run(&app, &key, &calls, "partial").await;
    assert_eq!(statuses(&answer), [200, 422, 404, 404, 403, 422, 200, 200]);
    let results = &answer.body["data"]["results"];
    let single = app.post(PRICE, Some(&key), r#"{"spot": -1}"#).await;
    assert_eq!(results[1]["detail"], single.expect(422)["detail"]);
    assert_eq!(results[4]["detail"], "Endpoint requires Enterprise tier or higher");
    assert_eq!(results[5]["detail"][0]["loc"], json!(["body"]));
    assert_eq!(answer.body["data"]["failed"], 5);
    assert_eq!(answer.body["data"]["credits_cost"], 10);
    assert_eq!(answer.header("x-credits-balance"), Some("90"));
    assert_eq!(balance(&app, &key).await, 90.0);
}

#[tokio::test]
async fn the_first_calls_are_paid_where_the_balance_does_not_suffice_for_all() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 12).await;
    let calls = [option(40.0), call(PRICE, "{}"), option(41.0), option(42.0), call(TENOR, DATE)];
    let answer = run(&app, &key, &calls, "partial").await;
    assert_eq!(statuses(&answer), [200, 422, 200, 402, 200]);
    assert_eq!(answer.body["data"]["credits_cost"], 10);
    assert_eq!(balance(&app, &key).await, 2.0);
    assert_ledger_holds(&app).await;
}

#[tokio::test]
async fn an_atomic_batch_is_charged_as_a_whole_or_refused() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 17).await;
    let sound = [option(40.0), call(GREEKS, OPTION), call(TENOR, DATE), option(41.0)];
    let faulty = [option(40.0), call(PRICE, r#"{"spot": -1}"#), call("/quantlib/none", "{}")];
    let refused = run(&app, &key, &faulty, "atomic").await;
    let detail = refused.expect(422)["detail"].as_array().expect("faults");
    assert_eq!(detail[0]["loc"], json!(["body", "calls", 1, "body", "spot"]));
    assert_eq!(detail.last().expect("a fault")["loc"], json!(["body", "calls", 2, "path"]));
    // The last arguments pass the schema and are refused by the computation.
    let late = json!({ "path": PRICE, "body": {
        "spot": 1e308, "strike": 1, "risk_free_rate": -1000, "volatility": 0.2,
        "dividend_yield": -1000, "time_to_maturity": 1,
    } });
    let refused = run(&app, &key, &[option(40.0), late], "atomic").await;
    assert_eq!(refused.expect(422)["detail"][0]["loc"][2], 1);
    let dear = [option(40.0), option(41.0), option(42.0), option(43.0)];
    let refused = run(&app, &key, &dear, "atomic").await;
    let detail = refused.expect(402)["detail"].as_str().expect("a text");
    assert!(detail.contains("20 credits"), "{detail}");
    assert_eq!(balance(&app, &key).await, 17.0);

    let answer = run(&app, &key, &sound, "atomic").await;
    assert_eq!(statuses(&answer), [200; 4]);
    assert_eq!(answer.header("x-credits-cost"), Some("15"));
    assert_eq!(answer.header("x-credits-balance"), Some("2"));
    assert_eq!(balance(&app, &key).await, 2.0);
    let usage = app.get("/user/usage?page_size=500", Some(&key)).await;
    let calls = usage.expect(200)["data"]["requests"].as_array().expect("a list").clone();
    let paid = |path: &str| {
        calls.iter().filter(|call| call["endpoint"] == path && call["credits_used"] == 5).count()
    };
    assert_eq!((paid(PRICE), paid(GREEKS)), (2, 1), "each call has its own usage row");
    let transactions = app.get("/user/transactions", Some(&key)).await;
    let transactions = transactions.expect(200)["data"]["transactions"].clone();
    let mut debits: Vec<i64> = transactions
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|row| row["credits"].as_i64())
        .filter(|credits| *credits < 0)
        .collect();
    debits.sort_unstable();
    assert_eq!(debits, [-10, -5], "one ledger entry for each operation");
    assert_ledger_holds(&app).await;
}

#[tokio::test]
async fn a_repeated_batch_charges_nothing() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 20).await;
    let calls = [option(40.0), call(PRICE, "{}"), option(41.0)];
    let partial = json!({ "calls": calls });
    let first = repeat(&app, &key, "k", &partial).await;
    let again = repeat(&app, &key, "k", &partial).await;
    assert_eq!(statuses(&again), [200, 422, 200]);
    assert_eq!(again.body["data"]["results"], first.body["data"]["results"]);
    assert_eq!(again.body["data"]["credits_cost"], 0);
    assert_eq!(balance(&app, &key).await, 10.0);
    // A call of another body under the same key and position is refused.
    let other = json!({ "calls": [option(40.0), option(44.0), option(43.0)] });
    let mixed = repeat(&app, &key, "k", &other).await;
    assert_eq!(statuses(&mixed), [200, 200, 422]);
    assert_eq!(balance(&app, &key).await, 5.0);

    let atomic = json!({ "calls": [option(40.0)], "mode": "atomic" });
    let first = repeat(&app, &key, "a", &atomic).await;
    first.expect(200);
    let again = repeat(&app, &key, "a", &atomic).await;
    assert_eq!(again.body_text, first.body_text);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let other = json!({ "calls": [option(41.0)], "mode": "atomic" });
    repeat(&app, &key, "a", &other).await.expect(422);
    assert_eq!(balance(&app, &key).await, 0.0);
    // A refused batch holds no key.
    repeat(&app, &key, "b", &other).await.expect(402);
    repeat(&app, &key, "b", &other).await.expect(402);
    assert_ledger_holds(&app).await;
}

#[tokio::test]
async fn each_call_counts_against_the_limit() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let limit = Tier::Free.hourly_limit();
    let calls = vec![call(TENOR, DATE); limit as usize - 2];
    let answer = run(&app, &key, &calls, "partial").await;
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("2"));
    let answer = run(&app, &key, &calls[..3], "partial").await;
    assert_eq!(statuses(&answer), [200, 200, 429]);
    run(&app, &key, &calls[..1], "partial").await.expect(429);
}

#[tokio::test]
async fn guests_and_accounts_of_tier_free_run_free_calls_in_small_batches() {
    let app = App::start().await;
    let guest = app.guest().await;
    let answer = run(&app, &guest, &[call(TENOR, DATE), call(PRICE, OPTION)], "partial").await;
    assert_eq!(statuses(&answer), [200, 403]);
    run(&app, &guest, &[call(TENOR, DATE), call(PRICE, OPTION)], "atomic").await.expect(403);
    let large = format!(r#"{{"calls": [{{"path": "{}"}}]}}"#, "x".repeat(300_000));
    app.post(BATCH, Some(&guest), &large).await.expect(413);
    app.post(BATCH, None, "{}").await.expect(401);
}

#[tokio::test]
async fn a_batch_has_1_to_1000_calls() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 0).await;
    for (calls, kind) in [(0, "min_items"), (1001, "max_items")] {
        let answer = run(&app, &key, &vec![call(TENOR, DATE); calls], "partial").await;
        let fault = &answer.expect(422)["detail"][0];
        assert_eq!(fault["type"], format!("value_error.list.{kind}"));
        assert_eq!(fault["loc"], json!(["body", "calls"]));
    }
    for body in [r#"{"calls": [{"path": 1}]}"#, r#"{"calls": [{"path": "/", "body": []}]}"#, "[]"] {
        app.post(BATCH, Some(&key), body).await.expect(422);
    }
    let thousand: Vec<Value> = (0..1000)
        .map(|days| json!({ "path": TENOR, "body": { "start_date": "2024-01-31", "tenor": format!("{days}D") } }))
        .collect();
    let answer = run(&app, &key, &thousand, "atomic").await;
    let results = answer.expect(200)["data"]["results"].as_array().expect("a list");
    assert_eq!(results[999]["data"]["tenor"], "999D");
    assert_eq!(answer.header("x-credits-cost"), Some("0"));
}

//! Requests that are repeated under one `Idempotency-Key`: one answer, one charge.

use account_core::{Tier, idempotency};
use chrono::TimeDelta;
use poem::{Request, http::Method};
use quant_tests::{
    Answer, App,
    documented::metered,
    requests::{DATE, OPTION, PRICE, TENOR},
};
use serde_json::{Value, json};

const MARGRABE: &str = "/quantlib/pricing/margrabe";
const OTHER: &str = r#"{"spot": 43, "strike": 40, "risk_free_rate": 0.1, "volatility": 0.2, "time_to_maturity": 0.5}"#;

async fn send(app: &App, path: &str, key: &str, repeats: &[&str], body: &str) -> Answer {
    let request = Request::builder().method(Method::POST).content_type("application/json");
    let mut request = request.header("X-API-Key", key).uri_str(path);
    for repeat in repeats {
        request = request.header("Idempotency-Key", *repeat);
    }
    app.send(request.body(body.to_owned())).await
}

async fn balance(app: &App, key: &str) -> f64 {
    app.get("/user/profile", Some(key)).await.number("/data/credit_balance")
}

#[tokio::test]
async fn a_repeat_gets_the_first_answer_byte_for_byte_and_costs_nothing() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 12).await;
    let first = send(&app, PRICE, &key, &["order 17"], OPTION).await;
    first.expect(200);
    assert_eq!(first.header("idempotent-replayed"), None);
    let plain = app.post(PRICE, Some(&key), OPTION).await;
    assert_eq!(plain.body_text, first.body_text, "a key changes no answer");

    // The balance of 2 credits does not pay for a second call, and the answer is kept for 24 hours.
    app.clock.advance(TimeDelta::hours(24) - TimeDelta::milliseconds(1));
    let again = send(&app, PRICE, &key, &["order 17"], OPTION).await;

    again.expect(200);
    assert_eq!(again.body_text, first.body_text);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    for name in ["x-credits-cost", "x-credits-balance", "content-type"] {
        assert_eq!(again.header(name), first.header(name), "{name}");
    }
    assert_ne!(again.header("x-request-id"), first.header("x-request-id"));
    assert_eq!(balance(&app, &key).await, 2.0);
    app.clock.advance(TimeDelta::milliseconds(1));
    send(&app, PRICE, &key, &["order 17"], OPTION).await.expect(402);
}

/// The answers of the routes that tell an account what it has paid.
#[derive(PartialEq, Debug)]
struct Account {
    balance: Value,
    transactions: Value,
    /// The metered calls that cost credits, newest first: endpoint and credits.
    paid_calls: Vec<(Value, Value)>,
    credits_used: Value,
}

impl Account {
    async fn of(app: &App, key: &str) -> Self {
        let profile = app.get("/user/profile", Some(key)).await;
        let transactions = app.get("/user/transactions?limit=100", Some(key)).await;
        let usage = app.get("/user/usage?page_size=500", Some(key)).await;
        let usage = &usage.expect(200)["data"];
        let calls = usage["requests"].as_array().expect("a list").iter();
        let paid = calls.filter(|call| call["credits_used"] != 0);
        Self {
            balance: profile.expect(200)["data"]["credit_balance"].clone(),
            transactions: transactions.expect(200)["data"]["transactions"].clone(),
            paid_calls: paid
                .map(|call| (call["endpoint"].clone(), call["credits_used"].clone()))
                .collect(),
            credits_used: usage["summary"]["total_credits_used"].clone(),
        }
    }

    fn balance(&self) -> u64 {
        self.balance.as_u64().expect("a number")
    }
}

#[tokio::test]
async fn each_metered_operation_is_charged_once_where_its_request_is_repeated() {
    let app = App::start().await;
    let operations = metered();
    assert!(!operations.is_empty());
    for (number, operation) in operations.into_iter().enumerate() {
        let key = app.account(&format!("ada{number}"), Tier::Enterprise, 1_000).await;
        let (path, credits) = (operation.path, operation.credits);
        let body = match operation.request {
            Value::Null => String::new(),
            example => example.to_string(),
        };
        let call = async || {
            let request = Request::builder().method(operation.method.clone()).uri_str(path);
            let request = request.header("X-API-Key", &key).header("Idempotency-Key", "order 17");
            app.send(request.content_type("application/json").body(body.clone())).await
        };
        let before = Account::of(&app, &key).await;

        let first = call().await;
        let charged = Account::of(&app, &key).await;
        let second = call().await;

        first.expect(200);
        assert_eq!(first.header("idempotent-replayed"), None, "{path}");
        assert_eq!(before.balance() - charged.balance(), credits, "{path}");
        let new_calls = charged.paid_calls.len() - before.paid_calls.len();
        let expected = if credits == 0 { &[][..] } else { &[(json!(path), json!(credits))] };
        assert_eq!(&charged.paid_calls[..new_calls], expected, "{path}");
        second.expect(200);
        assert_eq!(second.header("idempotent-replayed"), Some("true"), "{path}");
        assert_eq!(second.body_text, first.body_text, "{path}");
        assert_eq!(Account::of(&app, &key).await, charged, "{path}");
    }
    assert!(app.accounts().audit().await.expect("the store answers").holds());
}

#[tokio::test]
async fn an_answer_outlives_a_restart() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    let first = send(&app, PRICE, &key, &["k"], OPTION).await;
    first.expect(200);

    let app = app.restart().await;

    let again = send(&app, PRICE, &key, &["k"], OPTION).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.body_text, first.body_text);
}

#[tokio::test]
async fn a_key_with_another_body_is_refused_as_a_fault_of_the_header() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    send(&app, PRICE, &key, &["k"], OPTION).await.expect(200);

    let refused = send(&app, PRICE, &key, &["k"], OTHER).await;

    let fault = json!({ "detail": [{
        "loc": ["header", "Idempotency-Key"],
        "msg": "this key was sent with another request",
        "type": "value_error.idempotency_key",
    }] });
    assert_eq!(refused.expect(422), &fault);
    assert_eq!(balance(&app, &key).await, 95.0);
}

#[tokio::test]
async fn a_key_belongs_to_one_caller_and_one_endpoint() {
    let app = App::start().await;
    let (ada, bob) =
        (app.account("ada", Tier::Pro, 100).await, app.account("bob", Tier::Pro, 100).await);
    send(&app, PRICE, &ada, &["k"], OPTION).await.expect(200);
    for (path, key, body) in [(PRICE, &bob, OPTION), (TENOR, &ada, DATE)] {
        let answer = send(&app, path, key, &["k"], body).await;
        answer.expect(200);
        assert_eq!(answer.header("idempotent-replayed"), None, "{path}");
    }
    let guest = app.guest().await;
    send(&app, TENOR, &guest, &["k"], DATE).await.expect(200);
    let again = send(&app, TENOR, &guest, &["k"], DATE).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"), "a free call as well");
}

#[tokio::test]
async fn a_refusal_is_not_stored() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    let negative =
        r#"{"S1": 1, "S2": 1, "sigma1": 0.2, "sigma2": 0.2, "rho": 2, "time_to_maturity": 1}"#;
    let sound = negative.replace(r#""rho": 2"#, r#""rho": 0.5"#);
    send(&app, MARGRABE, &key, &["k"], negative).await.expect(422);

    let answer = send(&app, MARGRABE, &key, &["k"], &sound).await;

    answer.expect(200);
    assert_eq!(answer.header("idempotent-replayed"), None);
    send(&app, PRICE, &key, &["l"], OPTION).await.expect(402);
}

#[tokio::test]
async fn sixty_four_calls_at_once_under_one_key_are_one_debit() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 1_000).await;
    let calls = (0..64).map(|_| send(&app, PRICE, &key, &["k"], OPTION));

    let answers = account_core::testing::all(calls).await;

    let answered: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert!(!answered.is_empty());
    for answer in &answers {
        if answer.status != 200 {
            assert_eq!(answer.header("retry-after"), Some("1"));
            let detail = answer.expect(409)["detail"].as_str().expect("a text");
            assert!(detail.contains("is being answered"), "{detail}");
        }
    }
    assert!(answered.iter().all(|answer| answer.body_text == answered[0].body_text));
    let anew = answered.iter().filter(|answer| answer.header("idempotent-replayed").is_none());
    assert_eq!(anew.count(), 1);
    assert_eq!(balance(&app, &key).await, 995.0);
    assert!(app.accounts().audit().await.expect("the store answers").holds());
}

#[tokio::test]
async fn a_crashed_request_releases_its_key() {
    use account_core::{ApiKey, store::LedgerStore};
    use idempotency::{Claim, Claimed, HELD, IdempotencyKey, RequestDigest, Slot};

    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    let api_key = ApiKey::parse(&key).expect("a key");
    let caller = app.accounts().authenticate(&api_key, app.clock.now()).await.expect("a caller");
    let name = IdempotencyKey::parse(b"k").expect("a key");
    let slot = Slot::of(caller.id(), "POST", PRICE, &name);
    let claim = Claim { slot, request: RequestDigest::of(OPTION.as_bytes()), run: 1 };
    let claimed = app.accounts().store().claim(claim).await;
    assert_eq!(claimed.expect("the store answers"), Claimed::Yours);

    send(&app, PRICE, &key, &["k"], OPTION).await.expect(409);
    app.clock.advance(HELD);
    send(&app, PRICE, &key, &["k"], OPTION).await.expect(200);
}

#[tokio::test]
async fn an_invalid_key_is_a_fault_of_the_header() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let long = "x".repeat(256);
    for keys in [&[""][..], &[&long], &["é"], &["a", "b"]] {
        let refused = send(&app, PRICE, &key, keys, OPTION).await;
        assert_eq!(refused.expect(422)["detail"][0]["loc"], json!(["header", "Idempotency-Key"]));
    }
    send(&app, PRICE, &key, &[&long[1..]], OPTION).await.expect(200);
    assert_eq!(balance(&app, &key).await, 95.0);
}

#[tokio::test]
async fn only_metered_calls_use_the_key() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    for _ in 0..2 {
        let request = Request::builder().uri_str("/user/profile").header("X-API-Key", &key);
        let answer = app.send(request.header("Idempotency-Key", "").finish()).await;
        answer.expect(200);
        assert_eq!(answer.header("idempotent-replayed"), None);
    }
}

//! The operator's routes: readiness and metrics.

use account_core::Tier;
use poem::Request;
use quant_server::state::MetricsToken;
use quant_tests::{
    Answer, App, email,
    requests::{OPTION, PRICE},
};

const TOKEN: &str = "0123456789abcdef";

async fn metrics(app: &App, authorization: Option<&str>) -> Answer {
    let request = Request::builder().uri_str("/metrics");
    let request = match authorization {
        Some(text) => request.header("Authorization", text),
        None => request,
    };
    app.send(request.finish()).await
}

#[tokio::test]
async fn a_draining_service_is_not_ready_and_still_answers() {
    let app = App::start().await;
    app.get("/ready", None).await.expect(200);

    app.service().drain();

    let answer = app.get("/ready", None).await;
    assert_eq!(answer.expect(503)["detail"], "The service is stopping.");
    assert_eq!(answer.header("retry-after"), Some("1"));
    app.get("/health", None).await.expect(200);
}

#[tokio::test]
async fn an_unreachable_store_makes_the_service_not_ready() {
    let app = App::start().await;
    app.accounts().store().clone().close().await;

    let answer = app.get("/ready", None).await;

    assert_eq!(answer.expect(503)["detail"], "The store does not answer.");
}

/// On PostgreSQL alone; `server/tests/operator` shows the same of files that cannot grow.
#[tokio::test]
async fn while_the_database_is_read_only_every_writing_call_and_readiness_are_503_with_the_reason()
{
    let app = App::start().await;
    let Some(database) = app.database() else { return };
    let key = app.account("ada", Tier::Pro, 100).await;
    let address = database.address();
    let name = address.split('?').next().and_then(|path| path.rsplit('/').next());
    let name = name.expect("the name of the database");
    let read_only = format!("ALTER DATABASE {name} SET default_transaction_read_only = on");
    database.execute(&read_only).await;
    // The setting is one of new connections.
    let app = app.beside().await;

    for (path, key, body) in [
        ("/user/login", None, r#"{"email": "ada@example.com", "password": "a sentence of hers"}"#),
        ("/guest/create", None, r#"{"device_id": "a phone"}"#),
        ("/user/regenerate-api-key", Some(key.as_str()), ""),
        (PRICE, Some(key.as_str()), OPTION),
    ] {
        let answer = app.post(path, key, body).await;
        let detail = answer.expect(503)["detail"].as_str().expect("a text");
        assert!(detail.starts_with("The database is read-only."), "{path}: {detail}");
        assert_eq!(answer.header("retry-after"), Some("5"), "{path}");
    }
    assert_eq!(app.get("/ready", None).await.expect(503)["detail"], "The database is read-only.");
    app.get("/health", None).await.expect(200);
}

#[tokio::test]
async fn the_metrics_require_their_token() {
    let token = MetricsToken(TOKEN.to_owned());
    let app = App::start_with(|config| config.service.metrics_token = Some(token)).await;
    for wrong in [None, Some(""), Some("Bearer "), Some("Bearer 0123456789abcdeF"), Some(TOKEN)] {
        metrics(&app, wrong).await.expect(404);
    }
    let answer = metrics(&app, Some(&format!("Bearer {TOKEN}"))).await;
    answer.expect(200);
    let media_type = "text/plain; version=0.0.4; charset=utf-8";
    assert_eq!(answer.header("content-type"), Some(media_type));
    assert!(answer.body_text.contains(
        "http_server_request_duration_seconds_count{method=\"GET\",route=\"/metrics\",status=\"4xx\"} 5"
    ));
    assert!(!answer.body_text.contains(TOKEN));
}

#[tokio::test]
async fn without_a_token_the_metrics_are_served_on_the_loopback_only() {
    let app = App::start().await;
    metrics(&app, None).await.expect(404);
}

#[tokio::test]
async fn refused_calls_are_counted_by_the_limit_that_refused_them() {
    let token = MetricsToken(TOKEN.to_owned());
    let app = App::start_with(|config| config.service.metrics_token = Some(token)).await;
    let key = app.account("ada", Tier::Free, 0).await;
    app.accounts().set_hourly_limit(&email("ada"), Some(1)).await.expect("an account");
    app.forget_callers();
    app.get("/auth/validate", Some(&key)).await.expect(200);
    app.get("/auth/validate", Some(&key)).await.expect(429);

    let answer = metrics(&app, Some(&format!("Bearer {TOKEN}"))).await.body_text;

    assert!(answer.contains("quant_limit_refusals_total{limit=\"account\"} 1\n"), "{answer}");
}

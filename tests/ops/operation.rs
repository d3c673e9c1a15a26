//! What an operator asks of a running service: whether it can work, what it is doing.

use account_core::Tier;
use poem::Request;
use quant_server::service::MetricsToken;
use quant_tests::{Answer, App, email};

const TOKEN: &str = "0123456789abcdef";

async fn figures(app: &App, authorization: Option<&str>) -> Answer {
    let request = Request::builder().uri_str("/metrics");
    let request = match authorization {
        Some(text) => request.header("Authorization", text),
        None => request,
    };
    app.send(request.finish()).await
}

#[tokio::test]
async fn a_service_that_stops_is_not_ready_and_serves_on() {
    let app = App::start().await;
    app.get("/ready", None).await.expect(200);

    app.service().drain();

    let told = app.get("/ready", None).await;
    assert_eq!(told.expect(503)["detail"], "The service is stopping.");
    assert_eq!(told.header("retry-after"), Some("1"));
    app.get("/health", None).await.expect(200);
}

#[tokio::test]
async fn a_store_that_is_gone_makes_the_service_not_ready() {
    let app = App::start().await;
    app.accounts().store().clone().close().await;

    let told = app.get("/ready", None).await;

    assert_eq!(told.expect(503)["detail"], "The store does not answer.");
}

#[tokio::test]
async fn the_figures_open_to_the_token_alone() {
    let token = MetricsToken(TOKEN.to_owned());
    let app = App::start_with(|config| config.service.metrics_token = Some(token)).await;
    for wrong in [None, Some(""), Some("Bearer "), Some("Bearer 0123456789abcdeF"), Some(TOKEN)] {
        figures(&app, wrong).await.expect(404);
    }
    let told = figures(&app, Some(&format!("Bearer {TOKEN}"))).await;
    told.expect(200);
    assert!(told.header("content-type").expect("a type").starts_with("text/plain; version=0.0.4"));
    assert!(told.body_text.contains(
        "http_server_request_duration_seconds_count{method=\"GET\",route=\"/metrics\",status=\"4xx\"} 5"
    ));
    assert!(!told.body_text.contains(TOKEN));
}

#[tokio::test]
async fn without_a_token_the_figures_are_for_the_machine_itself() {
    let app = App::start().await;
    figures(&app, None).await.expect(404);
}

#[tokio::test]
async fn what_a_limit_refuses_is_counted_by_whose_limit_it_is() {
    let token = MetricsToken(TOKEN.to_owned());
    let app = App::start_with(|config| config.service.metrics_token = Some(token)).await;
    let key = app.account("ada", Tier::Free, 0).await;
    app.accounts().set_hourly_limit(&email("ada"), Some(1)).await.expect("an account");
    app.forget_callers();
    app.get("/auth/validate", Some(&key)).await.expect(200);
    app.get("/auth/validate", Some(&key)).await.expect(429);

    let told = figures(&app, Some(&format!("Bearer {TOKEN}"))).await.body_text;

    assert!(told.contains("quant_limit_refusals_total{limit=\"account\"} 1\n"), "{told}");
}

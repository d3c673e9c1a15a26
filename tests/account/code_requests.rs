//! Requests for a code to any address: bounded, and answered alike within and beyond the bound.

use std::time::Duration;

use account_core::{
    Tier,
    outbox::{Channel, MessageId},
    store::NotificationStore as _,
    testing::all,
};
use quant_server::config::Config;
use quant_tests::{Answer, App, email};
use serde_json::json;
use tokio::sync::oneshot;

const FORGOT: &str = "/user/forgot-password";
const RESEND: &str = "/user/resend-otp";
/// Requests that wait at most.
const QUEUE: usize = 64;

async fn ask(app: &App, path: &str, name: &str) -> Answer {
    app.post(path, None, &json!({ "email": email(name).as_str() }).to_string()).await
}

/// The parts of an answer that a caller can compare: all but the id of the request.
fn seen(answer: &Answer) -> (u16, Vec<(String, String)>, &str) {
    let headers = answer.headers.iter().filter(|(name, _)| *name != "x-request-id");
    let text = |value: &poem::http::HeaderValue| value.to_str().expect("text").to_owned();
    let headers = headers.map(|(name, value)| (name.to_string(), text(value))).collect();
    (answer.status.as_u16(), headers, &answer.body_text)
}

async fn metrics(app: &App) -> String {
    let request = poem::Request::builder().uri_str("/metrics");
    app.send(request.header("Authorization", "Bearer 0123456789abcdef").finish()).await.body_text
}

fn with_metrics(config: &mut Config) {
    let token = quant_server::state::MetricsToken("0123456789abcdef".to_owned());
    config.service.metrics_token = Some(token);
}

/// The numbers of the messages that wait in the outbox. An address without an account has a row too,
/// which is never sent.
async fn waiting(app: &App) -> Vec<MessageId> {
    let store = app.accounts().store();
    let due = store.due_messages(Channel::Mail, app.clock.now(), 1_000).await;
    due.expect("the store answers").into_iter().map(|message| message.id).collect()
}

#[tokio::test]
async fn beyond_the_bound_of_its_address_a_request_is_answered_alike_and_sends_nothing() {
    let app = App::start_with(|config| {
        config.address_limit = 2.try_into().expect("not zero");
        with_metrics(config);
    })
    .await;
    for name in ["ada", "bob"] {
        app.account(name, Tier::Free, 0).await;
    }
    let known = ask(&app, FORGOT, "ada").await;
    let unknown = ask(&app, FORGOT, "nobody").await;
    assert_eq!(waiting(&app).await.len(), 2);

    let beyond = ask(&app, FORGOT, "bob").await;

    known.expect(200);
    assert_eq!(seen(&unknown), seen(&known));
    assert_eq!(seen(&beyond), seen(&known));
    assert_eq!(waiting(&app).await.len(), 2, "bob gets no e-mail");
    let dropped = "quant_dropped_code_requests_total{bound=\"address\"} 1\n";
    assert!(metrics(&app).await.contains(dropped));
    assert!(app.code("ada").await.is_some());
    // Other calls without a key have a limit of their own.
    app.post("/guest/create", None, r#"{"device_id": "x"}"#).await.expect(200);
}

#[tokio::test]
async fn beyond_the_queue_a_request_is_answered_alike_and_sends_nothing() {
    for path in [FORGOT, RESEND] {
        let app = App::start_with(|config| {
            config.address_limit = 1_000.try_into().expect("not zero");
            with_metrics(config);
        })
        .await;
        let (release, held) = oneshot::channel::<()>();
        let first = app.service().code_requests.run(held);
        let names: Vec<String> = (0..=QUEUE).map(|number| format!("user{number}")).collect();
        let rest = all(names.iter().map(|name| ask(&app, path, name)));
        let release = async {
            let dropped = "quant_dropped_code_requests_total{bound=\"queue\"} 1\n";
            while !metrics(&app).await.contains(dropped) {
                tokio::task::yield_now().await;
            }
            assert!(waiting(&app).await.is_empty(), "{path}: the others wait");
            release.send(()).expect("the first one waits");
        };

        let done = async { tokio::join!(first, rest, release) };
        let (_, answers, ()) =
            tokio::time::timeout(Duration::from_secs(60), done).await.expect("one is dropped");

        answers[0].expect(200);
        for answer in &answers {
            assert_eq!(seen(answer), seen(&answers[0]), "{path}");
        }
        assert_eq!(waiting(&app).await.len(), QUEUE, "{path}");
    }
}

#[tokio::test]
async fn requests_for_codes_leave_no_row_behind() {
    let app = App::start().await;
    app.account("ada", Tier::Free, 0).await;
    for number in 0..20 {
        ask(&app, FORGOT, &format!("nobody{number}")).await.expect(200);
    }
    ask(&app, FORGOT, "ada").await.expect(200);
    let store = app.accounts().store();
    let messages = waiting(&app).await;
    assert_eq!(messages.len(), 21);
    for message in messages {
        store.message_sent(message).await.expect("the store answers");
    }

    app.clock.advance(chrono::TimeDelta::hours(24));

    let cleaned = app.accounts().clean_up(app.clock.now(), 1_000, None).await.expect("ok");
    assert_eq!((cleaned.messages, cleaned.challenges), (21, 21));
}

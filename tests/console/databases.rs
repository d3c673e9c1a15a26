//! The databases in the console, and the subscriptions to them.

use account_core::Tier;
use quant_tests::{App, browser::Browser};

const PATH: &str = "/console/databases";

async fn subscriptions(app: &App, key: &str) -> Vec<String> {
    let answer = app.get("/user/subscriptions", Some(key)).await;
    let list = answer.expect(200)["data"]["subscriptions"].as_array().expect("a list").clone();
    let name = |one: &serde_json::Value| one["database_name"].as_str().expect("a name").to_owned();
    list.iter().map(name).collect()
}

#[tokio::test]
async fn a_database_is_subscribed_and_unsubscribed() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let (mut browser, page) = Browser::signed_in(&app, "ada", PATH).await;
    assert!(page.body_text.contains("name=\"subscribe\" value=\"prices\""), "{page:?}");
    browser.post(PATH, &[("subscribe", "prices")]).await.expect(400);
    let refused = browser.submit(PATH, &page, &[("subscribe", "secrets")]).await;
    refused.expect(400);
    assert!(refused.body_text.contains("no such database"), "{refused:?}");
    assert_eq!(subscriptions(&app, &key).await, [""; 0]);

    let page = browser.submit(PATH, &page, &[("subscribe", "prices")]).await;
    assert!(page.body_text.contains("since 31 January 2026"), "{page:?}");
    assert_eq!(subscriptions(&app, &key).await, ["prices"]);
    let twice = browser.submit(PATH, &page, &[("subscribe", "prices")]).await;
    twice.expect(400);
    assert!(twice.body_text.contains("has this subscription already"), "{twice:?}");

    let page = browser.submit(PATH, &page, &[("unsubscribe", "prices")]).await;
    assert!(page.body_text.contains("name=\"subscribe\" value=\"prices\""), "{page:?}");
    assert_eq!(subscriptions(&app, &key).await, [""; 0]);
}

#[tokio::test]
async fn a_subscription_to_a_database_that_is_gone_can_end() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    let now = app.clock.now();
    let profile = app.get("/user/profile", Some(&key)).await;
    let id = profile.expect(200)["data"]["id"].as_i64().expect("a number");
    app.accounts().subscribe(account_core::AccountId(id), "former", now).await.expect("it begins");
    let (mut browser, page) = Browser::signed_in(&app, "ada", PATH).await;
    assert!(page.body_text.contains("(no longer offered)"), "{page:?}");
    let page = browser.submit(PATH, &page, &[("unsubscribe", "former")]).await;
    assert!(!page.body_text.contains("former"), "{page:?}");
}

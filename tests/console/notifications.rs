//! The inbox of the console, and the preferences beside it.

use account_core::Tier;
use quant_tests::{Answer, App, browser::Browser};
use serde_json::{Value, json};

const PATH: &str = "/console/notifications";

async fn app_with_ada(has_messaging: bool) -> (App, String) {
    let app = App::start_with(|config| config.service.has_messaging = has_messaging).await;
    let key = app.account("ada", Tier::Free, 0).await;
    (app, key)
}

async fn preferences(app: &App, key: &str) -> Value {
    app.get("/user/notifications/preferences", Some(key)).await.expect(200)["data"].clone()
}

fn is_checked(page: &Answer, name: &str) -> bool {
    page.body_text.contains(&format!("name=\"{name}\" value=\"yes\" checked"))
}

#[tokio::test]
async fn a_notification_is_listed_read_and_deleted() {
    let (app, key) = app_with_ada(false).await;
    let (mut browser, _) = Browser::signed_in(&app, "ada", PATH).await;
    app.post("/user/mfa/enable", Some(&key), "").await.expect(200);
    let page = browser.get(PATH).await;
    assert!(page.body_text.contains("Second login step switched on"), "{page:?}");
    let inbox = app.get("/user/notifications", Some(&key)).await.expect(200)["data"].clone();
    let unread = format!("{} unread.", inbox["unread_count"]);
    assert!(page.body_text.contains(&unread), "{unread}: {page:?}");

    let page = browser.submit(PATH, &page, &[("action", "read")]).await;
    assert!(!page.body_text.contains("unread."), "{page:?}");
    for entry in inbox["notifications"].as_array().expect("a list") {
        let id = entry["id"].to_string();
        browser.post(PATH, &[("action", "delete"), ("id", &id)]).await.expect(400);
        browser.submit(PATH, &page, &[("action", "delete"), ("id", &id)]).await.expect(200);
    }
    assert!(browser.get(PATH).await.body_text.contains("The inbox is empty."));
}

#[tokio::test]
async fn the_channels_and_the_chat_are_saved_as_the_form_has_them() {
    let (app, key) = app_with_ada(false).await;
    let (mut browser, page) = Browser::signed_in(&app, "ada", PATH).await;
    assert!(is_checked(&page, "by_email") && is_checked(&page, "in_app"), "{page:?}");
    assert!(!is_checked(&page, "by_messaging"), "{page:?}");

    let pairs = [("action", "preferences"), ("by_messaging", "yes"), ("chat", "@prices_of_ada")];
    let page = browser.submit(PATH, &page, &pairs).await;
    assert!(is_checked(&page, "by_messaging") && !is_checked(&page, "by_email"), "{page:?}");
    assert!(page.body_text.contains("value=\"@prices_of_ada\""), "{page:?}");
    assert_eq!(
        preferences(&app, &key).await,
        json!({
            "notify_email": false, "notify_messaging": true, "notify_in_app": false,
            "messaging_chat_id": "@prices_of_ada", "messaging_connected": false,
        })
    );
    let refused = browser.submit(PATH, &page, &[pairs[0], pairs[1], ("chat", "@a b")]).await;
    refused.expect(400);
    assert!(refused.body_text.contains("The chat must be"), "{refused:?}");
    assert_eq!(preferences(&app, &key).await["messaging_chat_id"], "@prices_of_ada");
    browser.submit(PATH, &page, &[pairs[0], ("in_app", "yes")]).await.expect(200);
    assert_eq!(preferences(&app, &key).await["messaging_chat_id"], Value::Null);
    assert_eq!(preferences(&app, &key).await["notify_in_app"], true);
}

#[tokio::test]
async fn a_chat_can_be_tried_where_the_service_sends_messages() {
    let test = [("action", "test")];
    for has_messaging in [true, false] {
        let (app, _) = app_with_ada(has_messaging).await;
        let (mut browser, page) = Browser::signed_in(&app, "ada", PATH).await;
        let pairs = [("action", "preferences"), ("chat", "42")];
        let page = browser.submit(PATH, &page, &pairs).await;
        assert_eq!(page.body_text.contains("value=\"test\""), has_messaging, "{page:?}");
        let page = browser.submit(PATH, &page, &test).await;
        if !has_messaging {
            page.expect(400);
            continue;
        }
        assert!(page.body_text.contains("A test message is on its way."), "{page:?}");
        browser.submit(PATH, &page, &test).await.expect(400);
    }
}

#[tokio::test]
async fn the_cap_of_credits_is_saved_and_removed() {
    let (app, key) = app_with_ada(false).await;
    let (mut browser, page) = Browser::signed_in(&app, "ada", PATH).await;
    let cap = async || {
        app.get("/user/profile", Some(&key)).await.expect(200)["data"]["spend_cap_per_day"].clone()
    };
    browser.submit(PATH, &page, &[("action", "cap"), ("cap", "20")]).await.expect(200);
    assert_eq!(cap().await, 20);
    browser.submit(PATH, &page, &[("action", "cap"), ("cap", "-1")]).await.expect(400);
    assert_eq!(cap().await, 20);
    browser.submit(PATH, &page, &[("action", "cap")]).await.expect(200);
    assert_eq!(cap().await, Value::Null);
}

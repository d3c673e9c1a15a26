//! Changes on the page of security: key, second factor, e-mail address.

use account_core::{Tier, outbox::Content};
use quant_tests::{Answer, App, browser::Browser, email, requests::PASSWORD};

const PATH: &str = "/console/security";
const NEW: &str = "ada@example.org";

async fn app_with_ada() -> (App, String) {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    (app, key)
}

/// Asserts that a page tells this text in a notice.
fn assert_told(page: &Answer, text: &str) {
    assert!(page.body_text.contains(&format!(">{text}</p>")), "{text}: {page:?}");
}

#[tokio::test]
async fn a_replaced_key_is_shown_once_and_ends_the_old_one_and_the_session() {
    let (app, old) = app_with_ada().await;
    let (mut browser, page) = Browser::signed_in(&app, "ada", PATH).await;
    assert!(!page.body_text.contains(&old), "no page but that of a new key shows a key");
    browser.post(PATH, &[("action", "regenerate")]).await.expect(400);
    app.get("/auth/validate", Some(&old)).await.expect(200);

    let shown = browser.submit(PATH, &page, &[("action", "regenerate")]).await;
    assert_eq!(shown.header("cache-control"), Some("no-store"));
    let (_, key) = shown.body_text.split_once("fk_user_").expect("a key");
    let key = format!("fk_user_{}", key.split('<').next().expect("the key ends"));
    app.get("/auth/validate", Some(&key)).await.expect(200);
    app.get("/auth/validate", Some(&old)).await.expect(401);
    assert!(browser.get(PATH).await.body_text.contains("<h1>Sign in</h1>"));
}

#[tokio::test]
async fn a_second_factor_goes_on_by_a_button_and_off_by_the_password() {
    let (app, _) = app_with_ada().await;
    let (mut browser, page) = Browser::signed_in(&app, "ada", PATH).await;
    let page = browser.submit(PATH, &page, &[("action", "second_factor_on")]).await;
    assert_told(&page, "Each sign-in asks for a code from now on.");

    let mut other = Browser::new(&app);
    let form = other.get("/console").await;
    let second = other.sign_in(&form, "ada", PASSWORD).await;
    let code = app.emailed_code("ada").await;
    assert!(other.get("/console").await.body_text.contains("<h1>Sign in</h1>"));
    let answer = other.submit("/oauth/sign-in", &second, &[("code", &code)]).await;
    assert!(other.follow(&answer).await.body_text.contains("<h1>ada</h1>"));

    let off = |password| [("action", "second_factor_off"), ("password", password)];
    let page = browser.submit(PATH, &page, &off("wrong wrong wrong")).await;
    page.expect(400);
    assert_told(&page, "The password is wrong.");
    let page = browser.submit(PATH, &page, &off(PASSWORD)).await;
    assert_told(&page, "Sign-ins ask for no code any more.");
    Browser::signed_in(&app, "ada", PATH).await;
}

/// The codes of a change of address in all e-mails that wait: those of the new and the present one.
async fn codes(app: &App) -> (String, Option<String>) {
    let mut found = (String::new(), None);
    for message in app.emails().await {
        match message.content {
            Content::EmailChange { code } => found.0 = code.expose().to_owned(),
            Content::EmailChangeRequested { code, .. } => {
                found.1 = code.map(|code| code.expose().to_owned());
            }
            _ => {}
        }
    }
    found
}

async fn address(app: &App, key: &str) -> String {
    app.get("/user/profile", Some(key)).await.text("/data/email")
}

#[tokio::test]
async fn an_address_changes_by_the_password_and_the_code_of_its_mailbox() {
    let (app, key) = app_with_ada().await;
    let (mut other, _) = Browser::signed_in(&app, "ada", PATH).await;
    let (mut browser, page) = Browser::signed_in(&app, "ada", PATH).await;
    let ask = |to, password| [("action", "email"), ("new_email", to), ("password", password)];
    let refusals = [
        (ask("no address", PASSWORD), "The e-mail address must be an e-mail address."),
        (ask(NEW, "wrong wrong wrong"), "The password is wrong."),
        (
            ask("ada@example.com", PASSWORD),
            "The e-mail address must be another address than that of the account.",
        ),
    ];
    for (pairs, text) in refusals {
        let page = browser.submit(PATH, &page, &pairs).await;
        page.expect(400);
        assert_told(&page, text);
    }

    let page = browser.submit(PATH, &page, &ask(NEW, PASSWORD)).await;
    page.expect(200);
    assert!(page.body_text.contains(&format!("value=\"{NEW}\"")), "{page:?}");
    assert_eq!(address(&app, &key).await, email("ada").as_str(), "nothing changes before the code");
    let (code, _) = codes(&app).await;
    let confirm = |to, code| [("action", "confirm_email"), ("new_email", to), ("code", code)];
    // A code is valid for the address that it was sent for alone.
    for (to, code) in [("eve@example.org", code.as_str()), (NEW, "no code")] {
        let page = browser.submit(PATH, &page, &confirm(to, code)).await;
        page.expect(400);
        assert_told(&page, "The code is wrong or has expired.");
    }
    let page = browser.submit(PATH, &page, &confirm(NEW, &code)).await;
    page.expect(200);
    assert_eq!(address(&app, &key).await, NEW);
    assert!(browser.get(PATH).await.body_text.contains(&format!("The address is {NEW}.")));
    assert!(other.get(PATH).await.body_text.contains("<h1>Sign in</h1>"), "other sessions end");
}

#[tokio::test]
async fn with_a_second_factor_the_page_asks_for_the_codes_of_both_mailboxes() {
    let (app, key) = app_with_ada().await;
    let (mut browser, page) = Browser::signed_in(&app, "ada", PATH).await;
    let page = browser.submit(PATH, &page, &[("action", "second_factor_on")]).await;
    app.emails().await;
    let ask = [("action", "email"), ("new_email", NEW), ("password", PASSWORD)];
    let page = browser.submit(PATH, &page, &ask).await;
    assert!(page.body_text.contains("name=\"present_code\""), "{page:?}");
    let (code, present) = codes(&app).await;
    let present = present.expect("a code to the present address");
    let pairs = [("action", "confirm_email"), ("new_email", NEW), ("code", &code)];
    browser.submit(PATH, &page, &pairs).await.expect(400);
    assert_eq!(address(&app, &key).await, email("ada").as_str());
    let pairs = [&pairs[..], &[("present_code", &present)]].concat();
    browser.submit(PATH, &page, &pairs).await.expect(200);
    assert_eq!(address(&app, &key).await, NEW);
}

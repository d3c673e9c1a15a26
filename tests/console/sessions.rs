//! The session of a browser: its end by another sign-in, and the sign-out of every page.

use account_core::Tier;
use quant_tests::{
    Answer, App,
    browser::{Browser, sealed},
    requests::PASSWORD,
};

const PAGES: [&str; 4] =
    ["/console", "/console/activity", "/console/notifications", "/console/security"];

async fn app_with(names: &[&str]) -> App {
    let app = App::start().await;
    for name in names {
        app.account(name, Tier::Free, 0).await;
    }
    app
}

/// Signs in in a new browser, and returns the page.
async fn signed_in<'a>(app: &'a App, name: &str, path: &str) -> (Browser<'a>, Answer) {
    let mut browser = Browser::new(app);
    let form = browser.get(path).await;
    let answer = browser.sign_in(&form, name, PASSWORD).await;
    let page = browser.follow(&answer).await;
    (browser, page)
}

/// Asserts how many sessions of an account are open, that of the browser included.
async fn assert_open(browser: &mut Browser<'_>, sessions: u32) {
    let page = browser.get("/console/security").await;
    let text = format!("{sessions} open, this one included");
    assert!(page.body_text.contains(&text), "{text}: {page:?}");
}

#[tokio::test]
async fn a_sign_in_ends_the_former_session_of_its_browser_alone() {
    let app = app_with(&["ada", "bob"]).await;
    let (mut other, _) = signed_in(&app, "ada", "/console").await;
    let mut browser = Browser::new(&app);
    let form = browser.get("/console").await;
    for name in ["ada", "ada"] {
        browser.sign_in(&form, name, PASSWORD).await;
        assert_open(&mut browser, 2).await;
    }
    // A wrong password ends nothing.
    browser.sign_in(&form, "ada", "wrong wrong wrong").await.expect(403);
    assert_open(&mut browser, 2).await;
    browser.sign_in(&form, "bob", PASSWORD).await;
    assert_open(&mut browser, 1).await;
    assert_open(&mut other, 1).await;
}

#[tokio::test]
async fn every_page_of_the_console_signs_out_without_a_script() {
    let app = app_with(&["ada"]).await;
    for path in PAGES {
        let (mut browser, page) = signed_in(&app, "ada", path).await;
        assert!(page.body_text.contains("name=\"action\" value=\"sign_out\""), "{path}: {page:?}");
        assert!(!page.body_text.contains("<script"), "{path}");
        let (form, action) = (sealed(&page), ("action", "sign_out"));

        let mut eve = Browser::new(&app);
        eve.post("/console/security", &[("form", &form), action]).await.expect(400);
        browser.post("/console/security", &[action]).await.expect(400);
        assert_open(&mut browser, 1).await;

        let answer = browser.post("/console/security", &[("form", &form), action]).await;
        assert_eq!(answer.status.as_u16(), 303, "{path}");
        assert_eq!(answer.header("location"), Some("/"), "{path}");
        // The header makes the browser forget the key that was entered in the playground.
        assert_eq!(answer.header("clear-site-data"), Some("\"storage\""), "{path}");
        assert!(browser.get(path).await.body_text.contains("<h1>Sign in</h1>"), "{path}");
    }
}

//! The session of a browser: its end by another sign-in, the sign-out of every page, and the list.

use account_core::Tier;
use quant_tests::{
    Answer, App,
    browser::{Browser, sealed},
    requests::PASSWORD,
};

const PAGES: [&str; 5] = [
    "/console",
    "/console/activity",
    "/console/notifications",
    "/console/databases",
    "/console/security",
];

async fn app_with(names: &[&str]) -> App {
    let app = App::start().await;
    for name in names {
        app.account(name, Tier::Free, 0).await;
    }
    app
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
    let (mut other, _) = Browser::signed_in(&app, "ada", "/console").await;
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
        let (mut browser, page) = Browser::signed_in(&app, "ada", path).await;
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

/// The values of the buttons that end one session.
fn endings(page: &Answer) -> Vec<String> {
    let buttons = page.body_text.split("name=\"id\" value=\"").skip(1);
    buttons.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_session_of_the_list_ends_alone_or_all_end_at_once() {
    let app = app_with(&["ada", "eve"]).await;
    let path = "/console/security";
    let (mut browser, _) = Browser::signed_in(&app, "ada", path).await;
    let (mut other, _) = Browser::signed_in(&app, "ada", path).await;
    let (mut third, _) = Browser::signed_in(&app, "ada", path).await;
    let (mut eve, evil) = Browser::signed_in(&app, "eve", path).await;

    let page = browser.get(path).await;
    assert!(page.body_text.contains(">this session</td>"), "{page:?}");
    let listed = endings(&page);
    assert_eq!(listed.len(), 2, "a button for each other session: {page:?}");
    // The number of another account's session ends nothing.
    let ending = [("action", "end_session"), ("id", listed[0].as_str())];
    eve.submit(path, &evil, &ending).await.expect(200);
    assert_open(&mut browser, 3).await;
    browser.post(path, &ending).await.expect(400);
    // The newest session is listed first.
    let page = browser.submit(path, &page, &ending).await;
    assert!(page.body_text.contains("The session has ended."), "{page:?}");
    assert_open(&mut browser, 2).await;
    assert!(third.get(path).await.body_text.contains("<h1>Sign in</h1>"));
    assert_open(&mut other, 2).await;

    let left = browser.submit(path, &page, &[("action", "sign_out_everywhere")]).await;
    assert!(left.body_text.contains("You are signed out everywhere"), "{left:?}");
    for ended in [&mut browser, &mut other] {
        assert!(ended.get(path).await.body_text.contains("<h1>Sign in</h1>"));
    }
    assert_open(&mut eve, 1).await;
}

#[tokio::test]
async fn the_page_of_applications_leads_back_to_the_console() {
    let app = app_with(&["ada"]).await;
    let (_, page) = Browser::signed_in(&app, "ada", "/account/applications").await;
    assert!(page.body_text.contains("<a href=\"/console\">"), "{page:?}");
}

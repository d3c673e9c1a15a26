//! A new account and a forgotten password in the console.

use account_core::Tier;
use quant_tests::{
    App,
    browser::{Browser, sealed},
    requests::PASSWORD,
};

const OTHER: &str = "another long and private sentence";

#[tokio::test]
async fn a_registration_shows_the_key_after_the_code_and_not_before() {
    let app = App::start().await;
    let mut browser = Browser::new(&app);
    let page = browser.get("/console/register").await;
    let form = [("username", "ada"), ("email", "ada@example.com"), ("password", "ada@example.com")];
    let refused = browser.submit("/console/register", &page, &form).await;
    refused.expect(400);
    assert!(refused.body_text.contains("The password must be"), "{refused:?}");

    let form = [("username", "ada"), ("email", "ada@example.com"), ("password", PASSWORD)];
    let page = browser.submit("/console/register", &refused, &form).await;
    let code = app.emailed_code("ada").await;
    let wrong = if code == "000000" { "000001" } else { "000000" };
    let refused = browser.submit("/console/verify", &page, &[("code", wrong)]).await;
    refused.expect(400);
    assert!(!refused.body_text.contains("fk_user_"), "{refused:?}");
    let shown = browser.submit("/console/verify", &refused, &[("code", &code)]).await;
    assert_eq!(shown.header("cache-control"), Some("no-store"));
    let (_, key) = shown.body_text.split_once("fk_user_").expect("a key");
    let key = format!("fk_user_{}", key.split('<').next().expect("the key ends"));
    app.get("/auth/validate", Some(&key)).await.expect(200);
    assert!(browser.get("/console").await.body_text.contains("<h1>ada</h1>"));
}

#[tokio::test]
async fn a_forgotten_password_is_chosen_anew_by_the_code_of_the_mailbox() {
    let app = App::start().await;
    app.account("ada", Tier::Free, 0).await;
    let (mut signed_in, _) = Browser::signed_in(&app, "ada", "/console").await;
    let mut browser = Browser::new(&app);
    let form = browser.get("/console/forgot").await;
    let unknown = browser.submit("/console/forgot", &form, &[("email", "eve@example.com")]).await;
    let page = browser.submit("/console/forgot", &form, &[("email", "ada@example.com")]).await;
    let told = |page: &str| page.replace("eve@", "ada@");
    let without_seal =
        |page: &quant_tests::Answer| told(&page.body_text).replace(&sealed(page), "");
    assert_eq!(without_seal(&unknown), without_seal(&page), "the page does not tell who has one");

    let code = app.emailed_code("ada").await;
    let choice = |password| [("code", code.as_str()), ("new_password", password)];
    let mut stranger = Browser::new(&app);
    stranger.submit("/console/reset", &page, &choice(OTHER)).await.expect(400);
    let short = browser.submit("/console/reset", &page, &choice("short")).await;
    short.expect(400);
    assert!(short.body_text.contains("The password must be"), "{short:?}");
    let done = browser.submit("/console/reset", &short, &choice(OTHER)).await;
    assert!(done.body_text.contains("The password is changed"), "{done:?}");
    assert!(signed_in.get("/console").await.body_text.contains("<h1>Sign in</h1>"));
    app.log_in("ada", PASSWORD).await.expect(401);
    app.log_in("ada", OTHER).await.expect(200);
    browser.submit("/console/reset", &page, &choice(PASSWORD)).await.expect(400);
}

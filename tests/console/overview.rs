//! The first page of the console: figures and charts of the account's calls.

use account_core::Tier;
use quant_tests::{App, browser::Browser};

/// The figures that the picture of a title tells readers of screens.
fn figures<'p>(page: &'p str, title: &str) -> &'p str {
    let (_, rest) = page.split_once(&format!("aria-label=\"{title}. ")).expect(title);
    rest.split_once('"').expect("an attribute ends").0
}

#[tokio::test]
async fn every_call_moves_the_charts_of_its_day_and_endpoint() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let (mut browser, page) = Browser::signed_in(&app, "ada", "/console").await;
    assert!(page.body_text.contains("No call in the last 30 days"), "{page:?}");
    let tenor = r#"{"start_date": "2026-01-31", "tenor": "1M"}"#;
    let option = r#"{"spot": 42.0, "strike": 40.0, "risk_free_rate": 0.1, "volatility": 0.2, "time_to_maturity": 0.5}"#;
    for calls in 1..3_u32 {
        app.post("/quantlib/pricing/bs/price", Some(&key), option).await.expect(200);
        let page = browser.get("/console").await.body_text;
        let (path, credits) = ("/quantlib/pricing/bs/price", 5 * calls);
        assert_eq!(figures(&page, "Calls by endpoint"), format!("{path}: {calls}"));
        assert_eq!(figures(&page, "Credits by endpoint"), format!("{path}: {credits}"));
        assert!(figures(&page, "Calls a day").ends_with(&format!("31 Jan: {calls}")));
        assert!(figures(&page, "Credits a day").ends_with(&format!("31 Jan: {credits}")));
        let cells = format!("\"Calls\">{calls}</td><td data-column=\"Credits\">{credits}</td>");
        assert!(page.contains(&cells), "{cells}: {page}");
    }
    app.post("/quantlib/core/types/tenor/add-to-date", Some(&key), tenor).await.expect(200);
    let page = browser.get("/console").await.body_text;
    assert!(figures(&page, "Calls by endpoint").ends_with("/add-to-date: 1"), "{page}");
}

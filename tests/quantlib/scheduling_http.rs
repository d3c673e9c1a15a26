//! Business days, day counts and schedules over HTTP.

use account_core::Tier;
use quant_tests::App;
use serde_json::{Value, json};

const SCHEDULING: &str = "/quantlib/scheduling";

async fn app_with_key() -> (App, String) {
    let app = App::start().await;
    let key = app.account("ada", Tier::Free, 0).await;
    (app, key)
}

async fn data(app: &App, key: &str, path: &str, body: Value) -> Value {
    let answer = app.post(&format!("{SCHEDULING}{path}"), Some(key), &body.to_string()).await;
    answer.expect(200)["data"].clone()
}

async fn fault(app: &App, key: &str, path: &str, body: Value) -> (Value, Value) {
    let answer = app.post(&format!("{SCHEDULING}{path}"), Some(key), &body.to_string()).await;
    let fault = &answer.expect(422)["detail"][0];
    (fault["loc"].clone(), fault["type"].clone())
}

#[tokio::test]
async fn the_lists_are_read_without_a_body_and_free_of_charge() {
    let (app, key) = app_with_key().await;
    let calendars = app.get(&format!("{SCHEDULING}/calendar/list"), Some(&key)).await;
    assert_eq!(calendars.header("x-credits-cost"), Some("0"));
    let list = calendars.expect(200)["data"]["calendars"].as_array().expect("a list").clone();
    assert!(list.iter().any(|calendar| calendar["name"] == "JPY"));
    let conventions = app.get(&format!("{SCHEDULING}/daycount/conventions"), Some(&key)).await;
    assert_eq!(conventions.expect(200)["data"]["default"], "ACT/365");
    app.get(&format!("{SCHEDULING}/calendar/list"), None).await.expect(401);
    app.post(&format!("{SCHEDULING}/calendar/list"), Some(&key), "{}").await.expect(405);
}

#[tokio::test]
async fn a_date_is_a_business_day_of_both_calendars_and_of_none_of_the_holidays() {
    let (app, key) = app_with_key().await;
    let body =
        json!({ "date": "2026-11-26", "calendar": "us + london", "holidays": ["2026-11-27"] });
    let day = data(&app, &key, "/calendar/is-business-day", body).await;
    assert_eq!(day["is_business_day"], false);
    assert_eq!(day["closed_calendars"], json!(["US"]));
    assert_eq!((&day["calendar"], &day["day_of_week"]), (&json!("US+UK"), &json!("Thursday")));
    assert_eq!(day["next_business_day"], "2026-11-30");
    let body = json!({ "date": "2026-11-26", "calendar": "mars" });
    let refused = fault(&app, &key, "/calendar/is-business-day", body).await;
    assert_eq!(refused, (json!(["body", "calendar"]), json!("value_error.text")));
}

#[tokio::test]
async fn business_days_are_added_and_counted() {
    let (app, key) = app_with_key().await;
    let body = json!({ "date": "2026-11-21", "days": 1 });
    let sum = data(&app, &key, "/calendar/add-business-days", body).await;
    assert_eq!((&sum["result_date"], &sum["calendar"]), (&json!("2026-11-23"), &json!("weekends")));
    let body = json!({ "date": "2026-11-21", "days": -1, "calendar": "TARGET" });
    let sum = data(&app, &key, "/calendar/add-business-days", body).await;
    assert_eq!(sum["result_date"], "2026-11-20");
    let body =
        json!({ "start_date": "0001-01-01", "end_date": "9999-12-31", "calendar": "TARGET" });
    let span = data(&app, &key, "/calendar/business-days-between", body).await;
    assert!(span["business_days"].as_i64().is_some_and(|days| days > 2_500_000), "{span}");
    let body = json!({ "date": "9999-12-31", "days": 1 });
    let refused = fault(&app, &key, "/calendar/add-business-days", body).await;
    assert_eq!(refused, (json!(["body", "date"]), json!("value_error.date")));
    let body = json!({ "date": "2026-11-21", "days": 1.5 });
    let refused = fault(&app, &key, "/calendar/add-business-days", body).await;
    assert_eq!(refused, (json!(["body", "days"]), json!("type_error.integer")));
}

#[tokio::test]
async fn dates_are_adjusted_by_the_names_that_clients_use() {
    let (app, key) = app_with_key().await;
    for (adjustment, expected) in [
        ("modified_following", "2026-01-30"),
        ("ModifiedFollowing", "2026-01-30"),
        ("Following", "2026-02-02"),
        ("Unadjusted", "2026-01-31"),
    ] {
        let body = json!({ "date": "2026-01-31", "adjustment": adjustment });
        let adjusted = data(&app, &key, "/adjustment/adjust-date", body).await;
        assert_eq!(adjusted["adjusted_date"], expected, "{adjustment}");
    }
    let body = json!({ "date": "2026-01-31", "adjustment": "sideways" });
    let refused = fault(&app, &key, "/adjustment/adjust-date", body).await;
    assert_eq!(refused.0, json!(["body", "adjustment"]));
}

#[tokio::test]
async fn a_year_fraction_has_its_days() {
    let (app, key) = app_with_key().await;
    let dates = |convention: &str| json!({ "start_date": "2026-01-31", "end_date": "2026-07-31", "convention": convention });
    for (convention, fraction, days) in
        [("30/360", 0.5, 180), ("Actual/360", 181.0 / 360.0, 181), ("ACT/ACT ICMA", 1.0, 181)]
    {
        let mut body = dates(convention);
        if convention == "ACT/ACT ICMA" {
            body["period_start"] = json!("2026-01-31");
            body["period_end"] = json!("2026-07-31");
        }
        let value = data(&app, &key, "/daycount/year-fraction", body).await;
        assert_eq!(value["year_fraction"], fraction, "{convention}");
        assert_eq!((&value["days"], &value["actual_days"]), (&json!(days), &json!(181)));
    }
    let mut body = dates("ACT/360");
    body["period_start"] = json!("2026-01-31");
    let refused = fault(&app, &key, "/daycount/year-fraction", body).await;
    assert_eq!(refused, (json!(["body", "period_end"]), json!("value_error.conflict")));
}

#[tokio::test]
async fn a_schedule_says_which_period_is_a_stub() {
    let (app, key) = app_with_key().await;
    let body = json!({
        "effective_date": "2026-02-10", "termination_date": "2027-01-15", "frequency": "6M",
        "stub": "long_front", "calendar": "US+UK", "day_count": "ACT/360",
    });
    let schedule = data(&app, &key, "/schedule/generate", body).await;
    assert_eq!(schedule["dates"], json!(["2026-02-10", "2027-01-15"]));
    assert_eq!(schedule["periods"][0]["kind"], "long stub");
    assert_eq!(schedule["adjustment"], "modified following");
    let body = json!({ "effective_date": "2026-02-10", "termination_date": "2026-02-10" });
    let refused = fault(&app, &key, "/schedule/generate", body).await;
    assert_eq!(refused, (json!(["body", "termination_date"]), json!("value_error.date")));
}

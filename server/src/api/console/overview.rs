//! The first page of the console: balance, tier, limit, and usage as charts.

use std::collections::HashMap;

use account_core::{Error, Profile, UsageQuery, UsageReport};
use askama::Template;
use chrono::{Days, NaiveDate};
use poem::{Response, http::StatusCode};

use super::{
    chart::{self, Bar},
    visit::{Frame, View, Visit},
};
use crate::api::browser::page;

/// The days of the charts.
const DAYS: u32 = 30;
/// The endpoints that the page lists.
const ENDPOINTS: usize = 12;

#[derive(Template)]
#[template(path = "console/overview.html")]
struct OverviewPage {
    frame: Frame,
    username: String,
    email: String,
    balance: u64,
    tier: &'static str,
    hourly_limit: u32,
    calls: u64,
    credits: u64,
    /// Calls and credits a day as SVG.
    charts: [String; 2],
    /// Calls and credits by endpoint as SVG.
    endpoint_charts: [String; 2],
    endpoints: Vec<EndpointRow>,
}

struct EndpointRow {
    path: String,
    calls: u64,
    credits: u64,
    milliseconds: String,
}

/// Shows the page.
pub(super) async fn show(visit: &Visit) -> Result<Response, Error> {
    let (call, account) = (visit.call(), visit.account);
    let accounts = &call.state.accounts;
    let query = UsageQuery {
        days: DAYS,
        page: 1,
        page_size: 1,
        endpoint_filter: None,
        method_filter: None,
    };
    let (profile, report) =
        (accounts.profile(account).await?, accounts.usage(account, &query, call.at).await?);
    let shown = overview(visit, &profile, report, call.at.date_naive());
    Ok(page::render(StatusCode::OK, &shown, ""))
}

fn overview(
    visit: &Visit,
    profile: &Profile,
    report: UsageReport,
    today: NaiveDate,
) -> OverviewPage {
    let rows = report.endpoints.into_iter().take(ENDPOINTS).map(|usage| EndpointRow {
        path: usage.endpoint,
        calls: usage.request_count,
        credits: usage.credits_used,
        milliseconds: format!("{:.1}", usage.avg_response_time_ms),
    });
    let endpoints: Vec<EndpointRow> = rows.collect();
    let by_endpoint = |title, value: fn(&EndpointRow) -> u64| {
        let bars = endpoints.iter().map(|row| Bar { name: row.path.clone(), value: value(row) });
        chart::rows(title, &bars.collect::<Vec<_>>())
    };
    let days: HashMap<NaiveDate, (u64, u64)> =
        report.daily.iter().map(|day| (day.date, (day.request_count, day.credits_used))).collect();
    OverviewPage {
        frame: visit.frame(View::Overview, None),
        username: profile.username.as_str().to_owned(),
        email: profile.email.as_str().to_owned(),
        balance: profile.credit_balance,
        tier: profile.tier.title(),
        hourly_limit: profile.hourly_limit,
        calls: report.summary.total_requests,
        credits: report.summary.total_credits_used,
        charts: [
            chart::columns(
                "Calls a day",
                &bars(today, |day| days.get(&day).map_or(0, |day| day.0)),
            ),
            chart::columns(
                "Credits a day",
                &bars(today, |day| days.get(&day).map_or(0, |day| day.1)),
            ),
        ],
        endpoint_charts: [
            by_endpoint("Calls by endpoint", |row| row.calls),
            by_endpoint("Credits by endpoint", |row| row.credits),
        ],
        endpoints,
    }
}

/// A bar for each of the last days, also for those without a call.
fn bars(today: NaiveDate, value: impl Fn(NaiveDate) -> u64) -> Vec<Bar> {
    let days =
        (0..u64::from(DAYS)).rev().filter_map(|back| today.checked_sub_days(Days::new(back)));
    days.map(|day| Bar { name: day.format("%-d %b").to_string(), value: value(day) }).collect()
}

//! Checks of usage reports, login history and transactions.

use std::collections::BTreeMap;

use chrono::TimeDelta;

use super::test_service::{TestService, email};
use rand::Rng;

use crate::accounts::{UsageQuery, UsageReport};
use crate::credits::{Entry, TransactionKind};
use crate::identity::{AccountId, CallerId};
use crate::store::Store;
use crate::testing::seeded_rng;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! activity_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, activity;
            a_usage_report_is_what_a_walk_over_all_calls_finds,
            pages_of_calls_join_without_gap_or_repetition,
            usage_is_shown_of_whole_utc_days,
            transactions_tell_where_the_balance_comes_from,
            pages_out_of_range_are_refused_by_name,
        );
    };
}

const ENDPOINTS: [&str; 3] = ["/quantlib/pricing/bs/price", "/quantlib/pricing/tree", "/user/x"];

/// Returns a query for all usage of a year on one page.
pub(super) fn everything() -> UsageQuery {
    UsageQuery { days: 366, page: 1, page_size: 500, endpoint_filter: None, method_filter: None }
}

impl<S: Store + Clone> TestService<S> {
    /// Settles calls of two accounts over several days at irregular times.
    async fn calls_over_days(&self) -> (AccountId, Vec<Entry>) {
        let ada = self.funded("ada", 10_000).await;
        let bob = self.funded("bob", 10_000).await;
        let mut rng = seeded_rng(77);
        let mut calls = Vec::new();
        for id in 0..240u128 {
            let mut bytes = [0; 5];
            rng.fill_bytes(&mut bytes);
            let [whose, endpoint, method, cost, time] = bytes.map(usize::from);
            let caller = CallerId::Account(if whose % 4 == 0 { bob } else { ada });
            let mut entry = self.entry(caller, id, cost as u32 % 6, ENDPOINTS[endpoint % 3]);
            entry.usage.method = if method % 3 == 0 { "GET".into() } else { "POST".into() };
            entry.usage.response_time_ms = time as u32;
            calls.push(entry);
            self.clock.advance(TimeDelta::minutes(40));
        }
        for batch in calls.chunks(7) {
            self.settle(batch.to_vec()).await;
        }
        let adas = calls.into_iter().filter(|call| call.caller == CallerId::Account(ada));
        (ada, adas.collect())
    }

    async fn usage(&self, account: AccountId, query: &UsageQuery) -> UsageReport {
        self.accounts.usage(account, query, self.now()).await.expect("a valid query")
    }
}

/// Checks that a report from tallies equals the sums over the single calls, for every filter.
pub async fn a_usage_report_is_what_a_walk_over_all_calls_finds<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let (ada, calls) = service.calls_over_days().await;
    let today = service.now().timestamp().div_euclid(86_400);
    let day = |entry: &Entry| entry.usage.at.timestamp().div_euclid(86_400);
    for days in [1, 3, 366] {
        for prefix in [None, Some("/quantlib/pricing"), Some(ENDPOINTS[2]), Some("/nothing%")] {
            for method in [None, Some("get"), Some("POST")] {
                let query = UsageQuery {
                    days,
                    endpoint_filter: prefix.map(str::to_owned),
                    method_filter: method.map(str::to_owned),
                    ..everything()
                };
                let report = service.usage(ada, &query).await;
                let mut expected: Vec<&Entry> = calls
                    .iter()
                    .filter(|call| day(call) > today - i64::from(days))
                    .filter(|call| call.usage.endpoint.starts_with(prefix.unwrap_or_default()))
                    .filter(|call| {
                        method.is_none_or(|method| call.usage.method.eq_ignore_ascii_case(method))
                    })
                    .collect();
                expected.reverse();

                let seen: Vec<_> = report
                    .requests
                    .iter()
                    .map(|call| (call.endpoint.as_str(), call.credits, call.at))
                    .collect();
                let calls = expected.iter();
                let calls: Vec<_> = calls
                    .map(|call| (call.usage.endpoint.as_ref(), call.cost, call.usage.at))
                    .collect();
                assert_eq!(seen, calls, "{query:?}");
                let mut by_day = BTreeMap::new();
                let mut by_endpoint = BTreeMap::new();
                for call in &expected {
                    *by_day.entry(call.usage.at.date_naive()).or_insert(0) += u64::from(call.cost);
                    *by_endpoint.entry(call.usage.endpoint.to_string()).or_insert(0) += 1u64;
                }
                let daily: BTreeMap<_, _> =
                    report.daily.iter().map(|day| (day.date, day.credits_used)).collect();
                let endpoints: BTreeMap<_, _> = report
                    .endpoints
                    .iter()
                    .map(|usage| (usage.endpoint.clone(), usage.request_count))
                    .collect();
                assert_eq!((daily, endpoints), (by_day, by_endpoint), "{query:?}");
                assert!(report.daily.is_sorted_by_key(|day| day.date));
                let summary = report.summary;
                assert_eq!(summary.total_requests, expected.len() as u64);
                assert_eq!(report.page.total, summary.total_requests);
                let credits: u64 = expected.iter().map(|call| u64::from(call.cost)).sum();
                assert_eq!(summary.total_credits_used, credits);
                let time: u64 =
                    expected.iter().map(|call| u64::from(call.usage.response_time_ms)).sum();
                let average = time as f64 / expected.len().max(1) as f64;
                assert_eq!(summary.avg_response_time_ms, average);
            }
        }
    }
    let nobody = service.usage(AccountId(99), &everything()).await;
    assert_eq!(nobody.page.total_pages(), 0);
}

/// Checks that the pages of every size together list each call once.
pub async fn pages_of_calls_join_without_gap_or_repetition<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let (ada, calls) = service.calls_over_days().await;
    for page_size in [1, 7, 50] {
        let mut times = Vec::new();
        let mut page = 1;
        loop {
            let report = service.usage(ada, &UsageQuery { page, page_size, ..everything() }).await;
            times.extend(report.requests.iter().map(|call| call.at));
            assert_eq!(report.page.total, calls.len() as u64);
            if u64::from(page) >= report.page.total_pages() {
                break;
            }
            page += 1;
        }
        let expected: Vec<_> = calls.iter().rev().map(|call| call.usage.at).collect();
        assert_eq!(times, expected, "pages of {page_size}");
        for beyond in [page + 1, u32::MAX] {
            let query = UsageQuery { page: beyond, page_size, ..everything() };
            assert!(service.usage(ada, &query).await.requests.is_empty());
        }
    }
}

/// Checks that the first day of a report is as complete as the last.
pub async fn usage_is_shown_of_whole_utc_days<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = CallerId::Account(service.funded("ada", 100).await);
    let CallerId::Account(account) = ada else { panic!("an account") };
    let noon = service.now();
    for (id, hours) in [(1, -13), (2, -12), (3, 0), (4, 11)] {
        let mut entry = service.entry(ada, id, 1, "/a");
        entry.usage.at = noon + TimeDelta::hours(hours);
        service.settle(vec![entry]).await;
    }
    let shown = |days| {
        let query = UsageQuery { days, ..everything() };
        let service = &service;
        async move { service.usage(account, &query).await.summary.total_requests }
    };
    assert_eq!((shown(1).await, shown(2).await), (3, 4));
}

/// Checks the order, newest first, one row for each day and endpoint, and that the rows sum to the
/// balance.
pub async fn transactions_tell_where_the_balance_comes_from<S: Store + Clone>(store: S) {
    use TransactionKind::{AdminGrant, SignupGrant, Usage};
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    let start = service.now();
    let caller = CallerId::Account(ada);
    let calls = [(1, 2, "/a"), (2, 5, "/b"), (3, 2, "/a")];
    service
        .settle(calls.map(|(id, cost, path)| service.entry(caller, id, cost, path)).into())
        .await;
    service.wait(60);
    service.accounts.grant(&email("ada@example.com"), 50, service.now()).await.expect("a grant");
    let all = service.accounts.transactions(ada, 1, 100).await.expect("the store answers");
    let seen: Vec<_> = all
        .transactions
        .iter()
        .map(|row| (row.kind, row.credits, row.description.as_str(), row.created_at))
        .collect();
    assert_eq!(
        seen,
        [
            (AdminGrant, 50, "Granted by the operator", service.now()),
            (Usage, -5, "/b", start),
            (Usage, -4, "/a", start),
            (SignupGrant, 350, "Credits to start with", start),
        ]
    );
    assert_eq!(all.transactions[0].balance_after, 391);
    let sum: i64 = all.transactions.iter().map(|row| row.credits).sum();
    assert_eq!(sum, service.balance(ada).await as i64);
    let second = service.accounts.transactions(ada, 2, 3).await.expect("the store answers");
    assert_eq!(second.transactions, all.transactions[3..]);
    assert_eq!((second.page.total, second.page.total_pages()), (4, 2));
    let far = service.accounts.transactions(ada, u32::MAX, 100).await.expect("the store answers");
    assert!(far.transactions.is_empty());
}

/// Checks that a page beyond the largest size is refused with the name of its parameter.
pub async fn pages_out_of_range_are_refused_by_name<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 0).await;
    for (query, field) in [
        (UsageQuery { days: 0, ..everything() }, "days"),
        (UsageQuery { days: 367, ..everything() }, "days"),
        (UsageQuery { page: 0, ..everything() }, "page"),
        (UsageQuery { page_size: 0, ..everything() }, "page_size"),
        (UsageQuery { page_size: 501, ..everything() }, "page_size"),
    ] {
        let refused = service.accounts.usage(ada, &query, service.now()).await;
        assert_eq!(refused.err().and_then(|error| error.field()), Some(field), "{query:?}");
    }
    for (page, limit, field) in [(0, 10, "page"), (1, 0, "limit"), (1, 101, "limit")] {
        let refused = service.accounts.transactions(ada, page, limit).await;
        assert_eq!(refused.err().and_then(|error| error.field()), Some(field));
    }
}

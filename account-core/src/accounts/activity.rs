//! The activity of an account as its owner reads it: usage, logins and transactions, in bounded
//! pages.
//!
//! Usage is summed from daily tallies, never from the single calls, so that a busy account costs no
//! more than a quiet one. The tallies also give the day on which a page begins.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate};

use crate::accounts::Accounts;
use crate::identity::AccountId;
use crate::password::PasswordHasher;
use crate::store::{LoginHistory, Store, Transaction, UsageFilter, UsageRequest, UsageTally};
use crate::{Error, Result, Timestamp};

/// The largest number of days in a usage report.
pub const MOST_DAYS: u32 = 366;
/// The largest number of calls on one page of usage.
pub const MOST_REQUESTS: u32 = 500;
/// The largest number of logins or transactions on one page.
pub const MOST_ENTRIES: u32 = 100;

const SECONDS_A_DAY: i64 = 86_400;

/// The position of one page in a list of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The number of the page, from 1.
    pub page: u32,
    /// The number of entries on a full page.
    pub page_size: u32,
    /// The number of entries on all pages.
    pub total: u64,
}

impl Page {
    /// Returns the number of pages; zero without entries.
    #[must_use]
    pub fn total_pages(&self) -> u64 {
        self.total.div_ceil(u64::from(self.page_size.max(1)))
    }

    /// Returns the number of entries before the page.
    fn offset(page: u32, page_size: u32) -> u64 {
        u64::from(page - 1) * u64::from(page_size)
    }
}

/// A request for a usage report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageQuery {
    /// The number of UTC days, including today; 1 to [`MOST_DAYS`].
    pub days: u32,
    /// The page of the calls, from 1.
    pub page: u32,
    /// The number of calls on a page; 1 to [`MOST_REQUESTS`].
    pub page_size: u32,
    /// A path or a prefix of paths; `None` for every path.
    pub endpoint_filter: Option<String>,
    /// An HTTP method, in upper or lower case; `None` for every method.
    pub method_filter: Option<String>,
}

/// The usage of a number of days.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageReport {
    /// The sums and averages over all days.
    pub summary: UsageSummary,
    /// The usage of each day, in ascending order; days without calls are omitted.
    pub daily: Vec<DailyUsage>,
    /// The usage of each endpoint, in descending order of calls.
    pub endpoints: Vec<EndpointUsage>,
    /// The calls of the requested page, newest first.
    pub requests: Vec<UsageRequest>,
    /// The position of `requests` among all calls of the report.
    pub page: Page,
}

/// The sums and averages of a number of days. An average without calls is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsageSummary {
    /// The number of calls in the period.
    pub total_requests: u64,
    /// The credits that the calls of the period cost.
    pub total_credits_used: u64,
    /// The average credits of a call.
    pub avg_credits_per_request: f64,
    /// The average duration of a call, in milliseconds.
    pub avg_response_time_ms: f64,
}

/// The usage of one UTC day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DailyUsage {
    /// The UTC day of the calls.
    pub date: NaiveDate,
    /// The number of calls on that day.
    pub request_count: u64,
    /// The credits that the calls of that day cost.
    pub credits_used: u64,
}

/// The usage of one endpoint, over all days of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointUsage {
    /// The documented path of the endpoint, without the method.
    pub endpoint: String,
    /// The number of calls of the endpoint.
    pub request_count: u64,
    /// The credits that the calls of the endpoint cost.
    pub credits_used: u64,
    /// The average duration of a call, in milliseconds.
    pub avg_response_time_ms: f64,
}

/// One page of an account's transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transactions {
    /// The transactions, newest first.
    pub transactions: Vec<Transaction>,
    /// The position of `transactions` among all transactions of the account.
    pub page: Page,
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Reports an account's usage. The filters apply to every part of the report.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for `days`, `page` or `page_size` out of its range; [`Error::Store`].
    pub async fn usage(
        &self,
        account: AccountId,
        query: &UsageQuery,
        now: Timestamp,
    ) -> Result<UsageReport> {
        let filter = query.filter(now)?;
        let tallies = self.store().usage_tallies(account, &filter).await?;
        let totals = Totals::of(&tallies);
        let (page, page_size) = (query.page, query.page_size);
        let requests = match totals.start_of(Page::offset(page, page_size)) {
            Some((until, offset)) => {
                let filter = UsageFilter { until, ..filter };
                self.store().usage_requests(account, &filter, offset, page_size).await?
            }
            None => Vec::new(),
        };
        let page = Page { page, page_size, total: totals.all.requests };
        Ok(totals.report(requests, page))
    }

    /// Lists the login attempts at an account.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a `limit` out of 1 to [`MOST_ENTRIES`]; [`Error::Store`].
    pub async fn login_history(
        &self,
        account: AccountId,
        limit: u32,
        offset: u32,
    ) -> Result<LoginHistory> {
        check_entries(limit)?;
        Ok(self.store().login_history(account, limit, offset).await?)
    }

    /// Lists an account's transactions.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a `page` of zero, and for a `limit` out of 1 to [`MOST_ENTRIES`];
    /// [`Error::Store`].
    pub async fn transactions(
        &self,
        account: AccountId,
        page: u32,
        limit: u32,
    ) -> Result<Transactions> {
        check_page(page)?;
        check_entries(limit)?;
        let offset = Page::offset(page, limit);
        let (transactions, total) = self.store().transactions(account, offset, limit).await?;
        Ok(Transactions { transactions, page: Page { page, page_size: limit, total } })
    }
}

impl UsageQuery {
    fn filter(&self, now: Timestamp) -> Result<UsageFilter> {
        if !(1..=MOST_DAYS).contains(&self.days) {
            return Err(Error::invalid("days", "a number from 1 to 366", "range"));
        }
        check_page(self.page)?;
        if !(1..=MOST_REQUESTS).contains(&self.page_size) {
            return Err(Error::invalid("page_size", "a number from 1 to 500", "range"));
        }
        let until = now.timestamp().div_euclid(SECONDS_A_DAY);
        let method = self.method_filter.as_deref().filter(|method| !method.is_empty());
        Ok(UsageFilter {
            since: until + 1 - i64::from(self.days),
            until,
            endpoint: self.endpoint_filter.clone().unwrap_or_default(),
            method: method.map(str::to_ascii_uppercase),
        })
    }
}

fn check_page(page: u32) -> Result<()> {
    if page == 0 { Err(Error::invalid("page", "a number from 1", "range")) } else { Ok(()) }
}

fn check_entries(limit: u32) -> Result<()> {
    if (1..=MOST_ENTRIES).contains(&limit) {
        Ok(())
    } else {
        Err(Error::invalid("limit", "a number from 1 to 100", "range"))
    }
}

/// The tallies, summed in each way that a report shows.
#[derive(Default)]
struct Totals<'a> {
    all: Sum,
    days: BTreeMap<i64, Sum>,
    endpoints: BTreeMap<&'a str, Sum>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    requests: u64,
    credits: u64,
    response_time_ms: u64,
}

impl Sum {
    fn add(&mut self, tally: &UsageTally) {
        self.requests += tally.requests;
        self.credits += tally.credits;
        self.response_time_ms += tally.response_time_ms;
    }

    fn average(&self, of: u64) -> f64 {
        if self.requests == 0 { 0.0 } else { of as f64 / self.requests as f64 }
    }
}

impl<'a> Totals<'a> {
    fn of(tallies: &'a [UsageTally]) -> Self {
        let mut totals = Self::default();
        for tally in tallies {
            totals.all.add(tally);
            totals.days.entry(tally.day).or_default().add(tally);
            totals.endpoints.entry(&tally.endpoint).or_default().add(tally);
        }
        totals
    }

    /// Returns the day of the call that `offset` newer calls precede, and how many of these are of
    /// that day. Older days need not be read to be skipped. `None` where the account has no such
    /// call.
    fn start_of(&self, mut offset: u64) -> Option<(i64, u64)> {
        for (day, sum) in self.days.iter().rev() {
            if offset < sum.requests {
                return Some((*day, offset));
            }
            offset -= sum.requests;
        }
        None
    }

    fn report(&self, requests: Vec<UsageRequest>, page: Page) -> UsageReport {
        let summary = UsageSummary {
            total_requests: self.all.requests,
            total_credits_used: self.all.credits,
            avg_credits_per_request: self.all.average(self.all.credits),
            avg_response_time_ms: self.all.average(self.all.response_time_ms),
        };
        let daily = self.days.iter().map(|(day, sum)| DailyUsage {
            date: date(*day),
            request_count: sum.requests,
            credits_used: sum.credits,
        });
        let endpoints = self.endpoints.iter().map(|(endpoint, sum)| EndpointUsage {
            endpoint: (*endpoint).to_owned(),
            request_count: sum.requests,
            credits_used: sum.credits,
            avg_response_time_ms: sum.average(sum.response_time_ms),
        });
        let mut endpoints: Vec<EndpointUsage> = endpoints.collect();
        endpoints.sort_by_key(|usage| std::cmp::Reverse(usage.request_count));
        UsageReport { summary, daily: daily.collect(), endpoints, requests, page }
    }
}

fn date(day: i64) -> NaiveDate {
    DateTime::from_timestamp(day.saturating_mul(SECONDS_A_DAY), 0)
        .unwrap_or(DateTime::UNIX_EPOCH)
        .date_naive()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(day: i64, endpoint: &str, requests: u64) -> UsageTally {
        let response_time_ms = 10 * requests;
        UsageTally {
            day,
            endpoint: endpoint.to_owned(),
            requests,
            credits: 2 * requests,
            response_time_ms,
        }
    }

    #[test]
    fn a_page_begins_on_the_day_that_the_tallies_tell() {
        let tallies = [tally(7, "/a", 3), tally(9, "/a", 2), tally(9, "/b", 4)];
        let totals = Totals::of(&tallies);
        for (offset, expected) in [
            (0, Some((9, 0))),
            (5, Some((9, 5))),
            (6, Some((7, 0))),
            (8, Some((7, 2))),
            (9, None),
            (u64::MAX, None),
        ] {
            assert_eq!(totals.start_of(offset), expected, "{offset}");
        }
    }

    #[test]
    fn the_most_called_endpoint_comes_first_and_averages_of_nothing_are_zero() {
        let page = Page { page: 1, page_size: 50, total: 0 };
        let tallies = [tally(0, "/a", 1), tally(1, "/b", 5)];
        let report = Totals::of(&tallies).report(Vec::new(), page);
        assert_eq!(report.endpoints[0].endpoint, "/b");
        assert_eq!(report.daily[0].date, NaiveDate::default());
        assert_eq!(report.summary.avg_credits_per_request, 2.0);
        assert_eq!(report.summary.avg_response_time_ms, 10.0);
        let nothing = Totals::of(&[]).report(Vec::new(), page).summary;
        assert_eq!((nothing.avg_credits_per_request, nothing.avg_response_time_ms), (0.0, 0.0));
    }

    #[test]
    fn the_last_page_may_be_short() {
        let pages = |total| Page { page: 1, page_size: 50, total }.total_pages();
        assert_eq!([0, 1, 50, 51].map(pages), [0, 1, 1, 2]);
    }
}

//! The usage of an account.

use account_core::{self as core, AccountCaller, UsageQuery, UsageReport};
use poem_openapi::{Object, OpenApi, types::Example};

use super::{
    enumerations::AccountType,
    errors::{refusal, refuse_by},
    fields::EXAMPLE_SECOND,
};
use crate::api::own_refusals::{GUEST, OwnRefusals};
use crate::http::{
    AccountHolder, Answer, ApiError, Date, JsonString, Moment, Query, RequestContext, Tag,
    json_string::{date, moment},
    query::parse_pair,
};

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] = &[("get_usage", &[GUEST])];

/// The endpoint of usage.
#[derive(Default)]
pub struct Usages;

#[OpenApi(prefix_path = "/user", tag = "Tag::Usage")]
impl Usages {
    /// Read the account's usage.
    ///
    /// Requests, credits and response times, by day, by endpoint and one by one, newest first. The
    /// filters apply to the whole report. Not for guests.
    #[oai(path = "/usage", method = "get", operation_id = "get_usage")]
    async fn usage(
        &self,
        caller: AccountHolder,
        /// The number of UTC days, including today; 1 to 366.
        #[oai(default = "thirty", validator(minimum(value = "1"), maximum(value = "366")))]
        days: Query<u32>,
        /// The page of `requests`, from 1.
        #[oai(default = "one", validator(minimum(value = "1"), maximum(value = "1000000")))]
        page: Query<u32>,
        /// Requests on a page; 1 to 500.
        #[oai(default = "fifty", validator(minimum(value = "1"), maximum(value = "500")))]
        page_size: Query<u32>,
        /// A path, or a prefix of paths, to filter by.
        endpoint_filter: Query<Option<String>>,
        /// A method to filter by, in upper or lower case.
        method_filter: Query<Option<String>>,
    ) -> poem::Result<Answer<Usage>> {
        let query = UsageQuery {
            days: *days,
            page: *page,
            page_size: *page_size,
            endpoint_filter: endpoint_filter.0,
            method_filter: method_filter.0,
        };
        let context = caller.context();
        let usage = read(context, caller.caller(), &query).await;
        usage.map(Answer::new).map_err(|refusal| refuse_by(context, refusal))
    }
}

/// Reads the usage of an account.
pub(crate) async fn read(
    context: &RequestContext,
    account: &AccountCaller,
    query: &UsageQuery,
) -> Result<Usage, ApiError> {
    let accounts = &context.state.accounts;
    let report = accounts.usage(account.id, query, context.at).await;
    let report = report.map_err(|error| refusal(context, &error))?;
    let profile = accounts.profile(account.id).await.map_err(|error| refusal(context, &error))?;
    Ok(Usage::new(&profile, report))
}

/// Reads the query of [`Usages::usage`] from the pairs of a query string.
pub(crate) fn query_of(pairs: &[(String, String)]) -> Result<UsageQuery, ApiError> {
    Ok(UsageQuery {
        days: parse_pair(pairs, "days", Some(thirty))?,
        page: parse_pair(pairs, "page", Some(one))?,
        page_size: parse_pair(pairs, "page_size", Some(fifty))?,
        endpoint_filter: parse_pair(pairs, "endpoint_filter", None)?,
        method_filter: parse_pair(pairs, "method_filter", None)?,
    })
}

fn thirty() -> u32 {
    30
}

fn one() -> u32 {
    1
}

fn fifty() -> u32 {
    50
}

/// The usage of an account.
#[derive(Clone, Object)]
#[oai(rename = "Usage", example)]
pub struct Usage {
    /// The state of the account.
    pub account: UsageAccount,
    /// The sums and averages of all requests.
    pub summary: UsageSummary,
    /// The usage by day, in ascending order; days without requests are omitted.
    pub daily_usage: Vec<DailyUsage>,
    /// The usage by endpoint, in descending order of requests.
    pub endpoint_breakdown: Vec<EndpointUsage>,
    /// The requests, newest first.
    pub requests: Vec<UsageRequest>,
    /// The position of the page.
    pub pagination: Pagination,
}

/// The state of an account.
#[derive(Clone, Object)]
pub struct UsageAccount {
    /// Credits of the account.
    pub credit_balance: u64,
    /// The account's tier.
    pub account_type: AccountType,
    /// Requests that an hour allows.
    pub rate_limit_per_hour: u32,
}

/// The sums and averages of all requests.
#[derive(Clone, Object)]
pub struct UsageSummary {
    /// The number of requests.
    pub total_requests: u64,
    /// The credits of all requests.
    pub total_credits_used: u64,
    /// The average credits of a request.
    pub avg_credits_per_request: f64,
    /// The average duration of a request, in milliseconds.
    pub avg_response_time_ms: f64,
}

/// The requests of a day.
#[derive(Clone, Object)]
pub struct DailyUsage {
    /// The UTC day.
    pub date: Date,
    /// The number of requests.
    pub request_count: u64,
    /// The credits of all requests.
    pub credits_used: u64,
}

/// The requests of an endpoint.
#[derive(Clone, Object)]
pub struct EndpointUsage {
    /// The endpoint's path.
    pub endpoint: String,
    /// The number of requests.
    pub request_count: u64,
    /// The credits of all requests.
    pub credits_used: u64,
    /// The average duration of a request, in milliseconds.
    pub avg_response_time_ms: f64,
}

/// A request.
#[derive(Clone, Object)]
pub struct UsageRequest {
    /// The request's number.
    pub id: i64,
    /// The endpoint's path.
    pub endpoint: String,
    /// The method.
    pub method: String,
    /// The status of the answer.
    pub status_code: u16,
    /// The credits of the request.
    pub credits_used: u32,
    /// The duration of the request, in milliseconds.
    pub response_time_ms: u32,
    /// The client's address.
    pub ip_address: String,
    /// The time of the request.
    pub created_at: Moment,
}

/// The position of a page in a list.
#[derive(Clone, Object)]
pub struct Pagination {
    /// The page, from 1.
    pub page: u32,
    /// Entries on a page.
    pub page_size: u32,
    /// Entries on all pages.
    pub total: u64,
    /// The number of pages.
    pub total_pages: u64,
}

impl Usage {
    fn new(profile: &core::Profile, report: UsageReport) -> Self {
        let summary = report.summary;
        Self {
            account: UsageAccount {
                credit_balance: profile.credit_balance,
                account_type: profile.tier.into(),
                rate_limit_per_hour: profile.hourly_limit,
            },
            summary: UsageSummary {
                total_requests: summary.total_requests,
                total_credits_used: summary.total_credits_used,
                avg_credits_per_request: summary.avg_credits_per_request,
                avg_response_time_ms: summary.avg_response_time_ms,
            },
            daily_usage: report.daily.into_iter().map(DailyUsage::from).collect(),
            endpoint_breakdown: report.endpoints.into_iter().map(EndpointUsage::from).collect(),
            requests: report.requests.into_iter().map(UsageRequest::from).collect(),
            pagination: Pagination::from(&report.page),
        }
    }
}

impl From<core::DailyUsage> for DailyUsage {
    fn from(day: core::DailyUsage) -> Self {
        Self {
            date: JsonString(day.date),
            request_count: day.request_count,
            credits_used: day.credits_used,
        }
    }
}

impl From<core::EndpointUsage> for EndpointUsage {
    fn from(usage: core::EndpointUsage) -> Self {
        Self {
            endpoint: usage.endpoint,
            request_count: usage.request_count,
            credits_used: usage.credits_used,
            avg_response_time_ms: usage.avg_response_time_ms,
        }
    }
}

impl From<core::UsageRequest> for UsageRequest {
    fn from(request: core::UsageRequest) -> Self {
        Self {
            id: request.id,
            endpoint: request.endpoint,
            method: request.method,
            status_code: request.status,
            credits_used: request.credits,
            response_time_ms: request.response_time_ms,
            ip_address: request.ip.to_string(),
            created_at: JsonString(request.at),
        }
    }
}

impl From<&core::Page> for Pagination {
    fn from(page: &core::Page) -> Self {
        Self {
            page: page.page,
            page_size: page.page_size,
            total: page.total,
            total_pages: page.total_pages(),
        }
    }
}

impl Example for Usage {
    fn example() -> Self {
        let endpoint = "/quantlib/pricing/bs/price".to_owned();
        Self {
            account: UsageAccount {
                credit_balance: 345,
                account_type: AccountType::Pro,
                rate_limit_per_hour: 5000,
            },
            summary: UsageSummary {
                total_requests: 1,
                total_credits_used: 5,
                avg_credits_per_request: 5.0,
                avg_response_time_ms: 1.0,
            },
            daily_usage: vec![DailyUsage {
                date: date(2026, 1, 31),
                request_count: 1,
                credits_used: 5,
            }],
            endpoint_breakdown: vec![EndpointUsage {
                endpoint: endpoint.clone(),
                request_count: 1,
                credits_used: 5,
                avg_response_time_ms: 1.0,
            }],
            requests: vec![UsageRequest {
                id: 1,
                endpoint,
                method: "POST".to_owned(),
                status_code: 200,
                credits_used: 5,
                response_time_ms: 1,
                ip_address: "192.0.2.7".to_owned(),
                created_at: moment(EXAMPLE_SECOND),
            }],
            pagination: Pagination { page: 1, page_size: 50, total: 1, total_pages: 1 },
        }
    }
}

//! The facts of one request, and the record of what its stages decided.
//!
//! | stage | type | adds |
//! |---|---|---|
//! | begun | [`RequestHead`] | id, address, time, method, error shape |
//! | routed | [`RequestContext`] | the route |
//! | authenticated | [`AdmittedCall`](stages::AdmittedCall) | the caller, within its limit |
//! | authorised | [`AuthorisedCall`](stages::AuthorisedCall) | operation and cost |
//! | parsed | [`ParsedCall`](stages::ParsedCall) | typed arguments; the claim on the `Idempotency-Key` |
//! | charged | [`ChargedCall`](stages::ChargedCall) | the answer and its charge |
//!
//! Each type is immutable and is made only from the one above it, which it consumes. The end of the
//! pipeline cannot receive these values, because the framework passes nothing from an extractor to
//! the endpoint around it. So the stages also write [`RequestRecord`], the one cell of a request.
//! Only the functions of `stages` can write that cell, and each of them holds the stage it follows.

use std::{
    net::IpAddr,
    ops::Deref,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use account_core::{CallerId, Entry, LimitStatus, StoreError, Timestamp, Usage};
use poem::{
    Request, Response,
    http::{HeaderMap, HeaderValue, Method},
};

use super::{
    access_log::{self, AccessLine},
    address,
    cancellation::Cancellation,
    error::{ApiError, Surface},
    headers::{
        IDEMPOTENT_REPLAYED, X_CREDITS_BALANCE, X_CREDITS_COST, X_RATELIMIT_LIMIT,
        X_RATELIMIT_REMAINING, X_RATELIMIT_RESET, X_REQUEST_ID,
    },
    quote::Quote,
    route::MatchedRoute,
    unknown_fields::{Handling, UnknownFields},
};
use crate::{
    body_memory::RequestSource, failpoint, metrics::Observed, state::AppState, store::StoreFault,
    telemetry,
};

pub(super) mod stages;

/// The facts of a request that are known before a route is found.
pub struct RequestHead {
    /// The shared state of the service.
    pub state: Arc<AppState>,
    /// The time-ordered id of the request (UUID version 7), the same in the header of the answer,
    /// the log and the usage row. A client cannot choose the id, because two calls could then share
    /// one.
    pub id: uuid::Uuid,
    /// The id that the client gave its request; `None` where the client gave none, or no access log
    /// is kept.
    pub client_request_id: Option<String>,
    /// The network address of the client, behind trusted proxies.
    pub address: IpAddr,
    /// The time at which the head of the request arrived.
    pub at: Timestamp,
    /// The error shape of the request's path.
    pub surface: Surface,
    /// The treatment of unknown fields that the caller prefers.
    pub(super) handling: Handling,
    /// True if the caller prefers a quote to the call of a metered operation.
    pub(super) is_quote_preferred: bool,
    method: Method,
    origin: Origin,
    /// The cancellation of the request by its client; `None` where the client cannot cancel it.
    cancellation: Option<Arc<Cancellation>>,
    started: Instant,
}

/// The way in which a request arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Origin {
    /// As a request over HTTP.
    #[default]
    Http,
    /// As the call of a tool by a message of another protocol.
    ToolCall,
    /// As a call of a batch.
    Batch,
}

/// The facts of a request that a route has taken.
pub struct RequestContext {
    head: Arc<RequestHead>,
    route: Arc<MatchedRoute>,
    record: Mutex<RequestRecord>,
    unknown_fields: OnceLock<UnknownFields>,
    is_quote: AtomicBool,
}

/// The credits that a call took, and the balance after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The credits that the call took.
    pub cost: u32,
    /// The balance after the call.
    pub balance: u64,
}

/// A caller whose call a limit has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The caller that the limit has counted.
    pub caller: CallerId,
    /// The caller's limit after this call.
    pub limit_status: LimitStatus,
}

/// The last stage that a request reached: headers, usage row, metrics and access log follow from
/// this value alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestRecord {
    /// No caller is known: the route needs none, or the caller was refused.
    #[default]
    Anonymous,
    /// The caller is known and counted, also where the limit refused the call.
    Authenticated(Admission),
    /// The ledger has the debit and writes the usage row; its answer has not come.
    Settling(Admission),
    /// The ledger has charged the call and written its usage row.
    Charged(Admission, Charge),
    /// The stored answer of an earlier request went out; nothing is charged a second time.
    Replayed(Admission, Charge),
    /// The calls of the batch have usage rows of their own. The charge is the sum of theirs; `None`
    /// where the ledger charged no call.
    Batched(Admission, Option<Charge>),
}

impl RequestRecord {
    /// The caller and its limit, where a caller is known.
    #[must_use]
    pub fn admission(&self) -> Option<Admission> {
        match *self {
            Self::Anonymous => None,
            Self::Authenticated(admission)
            | Self::Settling(admission)
            | Self::Charged(admission, _)
            | Self::Replayed(admission, _)
            | Self::Batched(admission, _) => Some(admission),
        }
    }

    /// The charge of the answer, where there is one.
    #[must_use]
    pub fn charge(&self) -> Option<Charge> {
        match *self {
            Self::Charged(_, charge) | Self::Replayed(_, charge) => Some(charge),
            Self::Batched(_, charge) => charge,
            _ => None,
        }
    }
}

impl RequestHead {
    /// Returns the refusal where the storage failed: with the reason where the database is in a
    /// state that explains the failure, and [`ApiError::Busy`] otherwise.
    #[must_use]
    pub fn storage_refusal(&self, error: &StoreError) -> ApiError {
        match StoreFault::of(error) {
            Some(fault) => self.storage_fault(fault),
            None => ApiError::busy(),
        }
    }

    /// Returns the refusal in a state of the database, and makes `/ready` check that state.
    #[must_use]
    pub fn storage_fault(&self, fault: StoreFault) -> ApiError {
        self.state.accounts.store().suspect_writes();
        ApiError::Storage { fault }
    }

    /// Reads the head of a request that arrived over HTTP.
    #[must_use]
    pub fn of_request(state: Arc<AppState>, request: &Request) -> Self {
        let is_logged = access_log::is_read();
        Self {
            client_request_id: is_logged.then(|| access_log::name_given(request)).flatten(),
            surface: Surface::of(request.uri().path()),
            handling: Handling::preferred(request),
            is_quote_preferred: Quote::is_preferred(request),
            ..Self::new(
                address::of_request(request, &state.settings.trusted_proxies),
                request.method().clone(),
                state,
            )
        }
    }

    fn new(address: IpAddr, method: Method, state: Arc<AppState>) -> Self {
        let at = state.clock.now();
        Self {
            id: request_id(at),
            client_request_id: None,
            address,
            at,
            surface: Surface::Account,
            handling: Handling::default(),
            is_quote_preferred: false,
            method,
            origin: Origin::default(),
            cancellation: None,
            started: Instant::now(),
            state,
        }
    }

    /// Begins the charge, from which on the client cannot cancel the request.
    fn begin_charge(&self) -> Result<(), ApiError> {
        self.cancellation.as_ref().map_or(Ok(()), |call| call.begin_charge())
    }

    /// Concludes a request that no route took: headers, metrics and access log.
    pub(super) fn finish_unrouted(&self, response: &mut Response) {
        failpoint::hit("answered");
        self.insert_id(response.headers_mut());
        let status = response.status().as_u16();
        self.report(None, RequestRecord::Anonymous, status);
        telemetry::conclude_request(self.method.as_str(), "unknown", status);
    }

    fn insert_id(&self, headers: &mut HeaderMap) {
        let mut text = uuid::Uuid::encode_buffer();
        let id = HeaderValue::from_str(self.id.hyphenated().encode_lower(&mut text));
        headers.insert(X_REQUEST_ID, id.expect("letters, digits and dashes make a header"));
    }

    /// Counts the answered request and writes its line in the access log.
    fn report(&self, route: Option<&str>, record: RequestRecord, status: u16) {
        let (metrics, method, elapsed) =
            (&self.state.metrics, &self.method, self.started.elapsed());
        metrics.observe(&Observed { route, method, status, elapsed });
        let caller = record.admission().map(|admission| admission.caller);
        if status == account_core::credits::REFUSED_BY_LIMIT {
            metrics.count_limit_refusal(match caller {
                Some(CallerId::Account(_)) => "account",
                Some(CallerId::Guest(_)) => "guest",
                None => "address",
            });
        }
        if access_log::is_read() {
            access_log::write(&AccessLine {
                id: self.id,
                client_request_id: self.client_request_id.as_deref(),
                method: self.method.as_str(),
                route,
                status,
                elapsed,
                caller,
                credits: record.charge().map(|charge| charge.cost),
                address: self.address,
            });
        }
    }
}

impl Deref for RequestContext {
    type Target = RequestHead;

    fn deref(&self) -> &RequestHead {
        &self.head
    }
}

impl RequestContext {
    /// Makes the context of a request that `route` took.
    #[must_use]
    pub(super) fn routed(head: Arc<RequestHead>, route: Arc<MatchedRoute>) -> Arc<Self> {
        let (unknown_fields, is_quote) = (OnceLock::new(), AtomicBool::new(false));
        Arc::new(Self { head, route, record: Mutex::default(), unknown_fields, is_quote })
    }

    /// The context of a call of an operation that arrived as a message of another protocol.
    #[must_use]
    pub fn of_tool_call(
        state: Arc<AppState>,
        address: IpAddr,
        method: &Method,
        route: Arc<MatchedRoute>,
        cancellation: Arc<Cancellation>,
    ) -> Arc<Self> {
        let surface = Surface::of(&route.path);
        let head = RequestHead::new(address, method.clone(), state);
        let cancellation = Some(cancellation);
        let head = RequestHead { surface, origin: Origin::ToolCall, cancellation, ..head };
        Self::routed(Arc::new(head), route)
    }

    /// The context of a call of the batch that this request is. `counted` is the admission of the
    /// call, where the limit has counted the call already.
    #[must_use]
    pub fn of_batch_call(
        &self,
        method: &Method,
        route: Arc<MatchedRoute>,
        counted: Option<Admission>,
    ) -> Arc<Self> {
        let surface = Surface::of(&route.path);
        let head = RequestHead::new(self.address, method.clone(), self.state.clone());
        let head = RequestHead {
            surface,
            client_request_id: self.client_request_id.clone(),
            is_quote_preferred: self.is_quote_preferred,
            origin: Origin::Batch,
            ..head
        };
        let context = Self::routed(Arc::new(head), route);
        if let Some(admission) = counted {
            context.set_record(RequestRecord::Authenticated(admission));
        }
        context
    }

    /// The context of `request`.
    ///
    /// # Panics
    ///
    /// Panics where no route took the request; `Methods` stores the context.
    #[must_use]
    pub fn of(request: &Request) -> &Arc<Self> {
        request.data::<Arc<Self>>().expect("a handler runs behind a route, which adds the context")
    }

    /// The name that separates the idempotency keys of this kind of request from others: the method,
    /// or that of tool calls and calls of batches, whose stored answers have another form.
    pub(super) fn idempotency_scope(&self) -> &str {
        match self.origin {
            Origin::Http => self.method.as_str(),
            Origin::ToolCall => "tools/call",
            Origin::Batch => "batch",
        }
    }

    /// Returns whether the request is a call of a batch.
    fn is_of_batch(&self) -> bool {
        self.origin == Origin::Batch
    }

    /// Returns the route that took the request.
    #[must_use]
    pub fn route(&self) -> &Arc<MatchedRoute> {
        &self.route
    }

    /// The source that shared resources attribute the request to: the account where one is known.
    #[must_use]
    pub fn source(&self) -> RequestSource {
        let caller = self.record().admission().map(|admission| admission.caller);
        RequestSource::of(caller, self.address)
    }

    /// Returns the last stage that the request has reached.
    #[must_use]
    pub fn record(&self) -> RequestRecord {
        *self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the unknown fields of the body for the headers of the answer. A request has one body.
    pub(super) fn keep_unknown_fields(&self, unknown: UnknownFields) {
        self.unknown_fields.get_or_init(|| unknown);
    }

    /// Keeps for the headers of the answer that the answer is a quote.
    pub(super) fn keep_quoted(&self) {
        self.is_quote.store(true, Ordering::Relaxed);
    }

    fn set_record(&self, record: RequestRecord) {
        *self.record.lock().unwrap_or_else(PoisonError::into_inner) = record;
    }

    /// Makes the entry with which the ledger records this call.
    fn entry(&self, caller: CallerId, cost: u32, status: u16) -> Entry {
        let elapsed = self.started.elapsed().as_millis();
        let usage = Usage {
            request_id: self.id.as_u128(),
            endpoint: self.route.path.to_string().into(),
            method: self.method.as_str().to_owned().into(),
            status,
            response_time_ms: u32::try_from(elapsed).unwrap_or(u32::MAX),
            ip: self.address,
            at: self.at,
        };
        Entry { caller, cost, usage, kept: None }
    }

    /// Reports the answered request, and writes the usage row of a call that was not settled.
    pub(super) fn conclude(&self, status: u16) -> RequestRecord {
        let record = self.record();
        self.report(Some(&self.route.path), record, status);
        // The ledger writes the usage row of a settled call beside its debit.
        if let RequestRecord::Authenticated(admission) | RequestRecord::Replayed(admission, _) =
            record
        {
            self.state.ledger.record(self.entry(admission.caller, 0, status));
        }
        record
    }

    /// Concludes the request and writes the headers that its record stands for.
    pub(super) fn finish(&self, response: &mut Response) {
        failpoint::hit("answered");
        let status = response.status().as_u16();
        let record = self.conclude(status);
        telemetry::conclude_request(self.method.as_str(), &self.route.path, status);
        let headers = response.headers_mut();
        self.insert_id(headers);
        if let Some(unknown) = self.unknown_fields.get() {
            unknown.tell(headers);
        }
        if self.is_quote.load(Ordering::Relaxed) {
            Quote::tell(headers);
        }
        let Some(Admission { limit_status, .. }) = record.admission() else { return };
        headers.insert(X_RATELIMIT_LIMIT, limit_status.limit.into());
        headers.insert(X_RATELIMIT_REMAINING, limit_status.remaining.into());
        headers.insert(X_RATELIMIT_RESET, seconds_up(limit_status.reset_at).into());
        if let Some(charge) = record.charge() {
            headers.insert(X_CREDITS_COST, charge.cost.into());
            headers.insert(X_CREDITS_BALANCE, charge.balance.into());
        }
        if matches!(record, RequestRecord::Replayed(..)) {
            headers.insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
        }
    }
}

/// The first whole second at or after `instant`, so that a caller that waits for it is not early.
#[must_use]
pub fn seconds_up(instant: Timestamp) -> i64 {
    instant.timestamp() + i64::from(instant.timestamp_subsec_nanos() > 0)
}

/// Returns an id that begins with the time of arrival, as the server's clock shows it: the generator
/// of the library reads the time itself and panics before 1970.
fn request_id(at: Timestamp) -> uuid::Uuid {
    let seconds = u64::try_from(at.timestamp()).unwrap_or_default();
    let at = uuid::Timestamp::from_unix(uuid::NoContext, seconds, at.timestamp_subsec_nanos());
    uuid::Uuid::new_v7(at)
}

//! One request on its way: who calls, what it may do, what it was charged.

use std::{
    net::IpAddr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use account_core::idempotency::{Claim, RequestDigest, Slot, StoredAnswer};
use account_core::store::LedgerStore as _;
use account_core::{
    Caller, CallerId, Entry, LimitStatus, Notice, ResultTemplate, Settlement, Timestamp, Usage,
};
use poem::{
    Request, Response,
    http::{HeaderMap, HeaderName, Method},
};

use super::{ApiError, Identified, Surface, access_log, query::Parameter};
use crate::{
    api::routes::Matched, failpoint, metrics::Observed, operations::Operation, state::AppState,
};

/// The largest body that anyone may send.
pub(super) const BODY_LIMIT_WITHOUT_KEY: usize = 256 * 1024;

/// One request on its way through the service.
pub struct RequestContext {
    /// The service that answers.
    pub service: Arc<AppState>,
    /// A time-ordered id, the same in the answer's header, the log and the usage row. It is ours
    /// alone: one that a client sends could be another call's.
    pub id: uuid::Uuid,
    /// What the client calls the request, where a log is kept that says so.
    pub client_request_id: Option<String>,
    /// The caller's address.
    pub address: IpAddr,
    /// When the request came.
    pub at: Timestamp,
    /// Which of the two error shapes the path speaks.
    pub surface: Surface,
    method: Method,
    path: String,
    started: Instant,
    matched: OnceLock<Matched>,
    caller: OnceLock<(Caller, LimitStatus)>,
    charge: OnceLock<Charge>,
    is_recorded: AtomicBool,
    once: OnceLock<Slot>,
    body_digest: OnceLock<RequestDigest>,
    is_replayed: AtomicBool,
}

/// What a call was charged, and what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The credits taken.
    pub cost: u32,
    /// The balance afterwards.
    pub balance: u64,
}

impl RequestContext {
    /// Begins a call.
    #[must_use]
    pub fn begin(service: Arc<AppState>, request: &Request) -> Self {
        let address = match request.data::<Identified>() {
            Some(identified) => identified.address,
            None => service.address_of(request),
        };
        let path = request.uri().path();
        Self {
            id: uuid::Uuid::now_v7(),
            client_request_id: access_log::is_read()
                .then(|| access_log::name_given(request))
                .flatten(),
            address,
            at: service.clock.now(),
            surface: Surface::of(path),
            method: request.method().clone(),
            path: path.to_owned(),
            started: Instant::now(),
            matched: OnceLock::new(),
            caller: OnceLock::new(),
            charge: OnceLock::new(),
            is_recorded: AtomicBool::new(false),
            once: OnceLock::new(),
            body_digest: OnceLock::new(),
            is_replayed: AtomicBool::new(false),
            service,
        }
    }

    /// The call that `request` belongs to.
    ///
    /// # Panics
    ///
    /// Where the request did not come down the road, which every route does.
    #[must_use]
    pub fn of(request: &Request) -> &Arc<Self> {
        request.data::<Arc<Self>>().expect("every route lies on the road")
    }

    /// Notes the route that took the request.
    pub fn set_matched(&self, matched: Matched) {
        // A request is matched once; a second word would be the same.
        let _ = self.matched.set(matched);
    }

    /// Notes who calls, and how the limit stands.
    pub fn set_caller(&self, caller: Caller, limit_status: LimitStatus) {
        let _ = self.caller.set((caller, limit_status));
    }

    /// The line of the table of tiers and costs, where the route is metered.
    #[must_use]
    pub fn operation(&self) -> Option<&'static Operation> {
        self.matched.get().and_then(|matched| matched.operation)
    }

    /// The path as the route table has it, where a route took the request.
    #[must_use]
    pub fn route(&self) -> Option<&str> {
        self.matched.get().map(|matched| matched.path.as_ref())
    }

    /// Who calls, where a key told.
    #[must_use]
    pub fn caller_id(&self) -> Option<CallerId> {
        self.caller.get().map(|(caller, _)| caller.id())
    }

    /// What was charged, where anything was settled.
    #[must_use]
    pub fn charge(&self) -> Option<Charge> {
        self.charge.get().copied()
    }

    /// The request's method.
    #[must_use]
    pub fn method_name(&self) -> &str {
        self.method.as_str()
    }

    /// How long ago the request came.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Whether the route takes a body.
    #[must_use]
    pub(super) fn expects_body(&self) -> bool {
        self.matched.get().is_some_and(|matched| matched.has_body)
    }

    /// The name of a parameter of the path, by the place that the route counts.
    #[must_use]
    pub(super) fn path_parameter<'a>(&'a self, counted: &'a str) -> &'a str {
        let place = counted.strip_prefix("param").and_then(|place| place.parse().ok());
        let path = self.matched.get().map_or("", |matched| &matched.path);
        let mut names = path.split('/').filter_map(|segment| segment.strip_prefix('{'));
        let name = place.and_then(|place| names.nth(place));
        name.and_then(|name| name.strip_suffix('}')).unwrap_or(counted)
    }

    /// The parameters that the route describes.
    #[must_use]
    pub(super) fn parameters(&self) -> &[Parameter] {
        self.matched.get().map_or(&[], |matched| &matched.parameters)
    }

    /// How many bytes the body may hold: only an account on a computation may send more than
    /// everyone; a guest key is too easily had.
    #[must_use]
    pub fn body_limit(&self) -> usize {
        let is_account = matches!(self.caller.get(), Some((Caller::Account(_), _)));
        if is_account && self.surface == Surface::Computation {
            self.service.settings.body_limit
        } else {
            BODY_LIMIT_WITHOUT_KEY.min(self.service.settings.body_limit)
        }
    }

    /// Takes what the operation costs, durably, and writes the usage row beside it, and what is
    /// kept of the answer.
    ///
    /// # Errors
    ///
    /// [`ApiError::Credits`] where the balance does not reach, [`ApiError::Busy`] where the
    /// ledger cannot be written; nothing is charged then.
    pub async fn settle(
        &self,
        caller: &Caller,
        cost: u32,
        kept: Option<ResultTemplate>,
    ) -> Result<(), ApiError> {
        // Set before the write: whatever comes of it, the row is the ledger's from here on.
        self.is_recorded.store(true, Ordering::Relaxed);
        let entry = Entry { kept, ..self.entry(caller, cost, 200) };
        match self.service.ledger.settle(entry).await {
            Ok(Settlement::Charged { balance }) => {
                let _ = self.charge.set(Charge { cost, balance });
                self.service.metrics.count_debit(cost);
                self.tell_of_debit(caller, u64::from(cost), balance).await;
                Ok(())
            }
            Ok(Settlement::Insufficient { .. }) => {
                self.is_recorded.store(false, Ordering::Relaxed);
                Err(ApiError::Credits { cost })
            }
            Err(error) => {
                tracing::error!(request_id = %self.id, %error, "the ledger did not settle");
                Err(ApiError::Busy { retry_after: Duration::from_secs(1) })
            }
        }
    }

    /// Notes that the request may have come before, and where its answer is kept.
    pub fn set_once(&self, slot: Slot) {
        let _ = self.once.set(slot);
    }

    /// Notes the body, by which a request that comes again is told from another.
    pub(super) fn note_body(&self, bytes: &[u8]) {
        if self.once.get().is_some() {
            let _ = self.body_digest.set(RequestDigest::of(bytes));
        }
    }

    /// What this request claims, where it may have come before.
    pub(super) fn claim(&self) -> Option<Claim> {
        let (slot, request) = (*self.once.get()?, *self.body_digest.get()?);
        Some(Claim { slot, request, run: self.id.as_u128() })
    }

    /// Takes over the answer that went out before: what it cost then is not taken again.
    pub(super) fn replay(&self, kept: &StoredAnswer) {
        self.is_replayed.store(true, Ordering::Relaxed);
        let _ = self.charge.set(Charge { cost: kept.cost, balance: kept.balance });
    }

    /// Charges for the call and keeps its answer, both or neither.
    ///
    /// # Errors
    ///
    /// As [`settle`](Self::settle), and [`ApiError::StillRunning`] where another run of the request
    /// has taken over meanwhile; nothing is charged then.
    pub(super) async fn settle_once(
        &self,
        claim: Claim,
        caller: &Caller,
        cost: u32,
        body: String,
    ) -> Result<(), ApiError> {
        self.is_recorded.store(true, Ordering::Relaxed);
        let entry = self.entry(caller, cost, 200);
        let store = self.service.accounts.store();
        match store.settle_and_keep(claim, entry, body).await {
            Ok(Some(Settlement::Charged { balance })) => {
                let _ = self.charge.set(Charge { cost, balance });
                self.service.metrics.count_debit(cost);
                self.tell_of_debit(caller, u64::from(cost), balance).await;
                Ok(())
            }
            Ok(unpaid) => {
                self.is_recorded.store(false, Ordering::Relaxed);
                Err(unpaid.map_or(ApiError::StillRunning, |_| ApiError::Credits { cost }))
            }
            Err(error) => {
                tracing::error!(request_id = %self.id, %error, "the ledger did not settle");
                Err(ApiError::Busy { retry_after: Duration::from_secs(1) })
            }
        }
    }

    /// Writes the notice of a debit that crossed a mark, which two calls a grant do. The charge
    /// stands whatever comes of it.
    async fn tell_of_debit(&self, caller: &Caller, cost: u64, balance: u64) {
        let Caller::Account(account) = caller else { return };
        let Some(notice) = Notice::of_debit(balance + cost, balance, account.last_grant) else {
            return;
        };
        // Rare, and in a box for it, as all that the common call carries no room for.
        let told = Box::pin(self.service.accounts.add_notice(account.id, &notice, self.at)).await;
        if let Err(error) = told {
            tracing::error!(request_id = %self.id, %error, "a notice of credits was not written");
        }
    }

    fn entry(&self, caller: &Caller, cost: u32, status: u16) -> Entry {
        let endpoint = match self.matched.get() {
            Some(matched) => matched.path.to_string().into(),
            None => self.path.clone().into(),
        };
        let elapsed = self.started.elapsed().as_millis();
        let usage = Usage {
            request_id: self.id.as_u128(),
            endpoint,
            method: self.method.as_str().to_owned().into(),
            status,
            response_time_ms: u32::try_from(elapsed).unwrap_or(u32::MAX),
            ip: self.address,
            at: self.at,
        };
        Entry { caller: caller.id(), cost, usage, kept: None }
    }

    /// Writes the headers that every keyed answer carries, and the usage row of a call that was
    /// not settled.
    pub fn finish(&self, response: &mut Response) {
        failpoint::hit("answered");
        let status = response.status().as_u16();
        let headers = response.headers_mut();
        insert(headers, "x-request-id", &self.id.to_string());
        self.tell(status);
        let Some((caller, limit_status)) = self.caller.get() else { return };
        insert(headers, "x-ratelimit-limit", &limit_status.limit.to_string());
        insert(headers, "x-ratelimit-remaining", &limit_status.remaining.to_string());
        insert(headers, "x-ratelimit-reset", &seconds_up(limit_status.reset_at).to_string());
        if let Some(charge) = self.charge.get() {
            insert(headers, "x-credits-cost", &charge.cost.to_string());
            insert(headers, "x-credits-balance", &charge.balance.to_string());
        }
        if self.is_replayed.load(Ordering::Relaxed) {
            insert(headers, "idempotent-replayed", "true");
        }
        if !self.is_recorded.load(Ordering::Relaxed) {
            self.service.ledger.record(self.entry(caller, 0, status));
        }
    }

    /// Tells the operator: the figures, and the log.
    fn tell(&self, status: u16) {
        let metrics = &self.service.metrics;
        let (route, method, elapsed) = (self.route(), &self.method, self.elapsed());
        metrics.observe(&Observed { route, method, status, elapsed });
        if status == account_core::credits::REFUSED_BY_LIMIT {
            metrics.count_limit_refusal(match self.caller_id() {
                Some(CallerId::Account(_)) => "account",
                Some(CallerId::Guest(_)) => "guest",
                None => "address",
            });
        }
        if access_log::is_read() {
            access_log::write(self, status);
        }
    }
}

/// The second in which `instant` has passed, so that who waits for it does not come too early.
fn seconds_up(instant: Timestamp) -> i64 {
    instant.timestamp() + i64::from(instant.timestamp_subsec_nanos() > 0)
}

fn insert(headers: &mut HeaderMap, name: &'static str, value: &str) {
    let value = value.parse().expect("digits, letters and dashes make a header");
    headers.insert(HeaderName::from_static(name), value);
}

//! The stages of a call after its route is known, each consumed by the next.

mod batch_stages;
mod column_stages;
mod quote_stage;

use std::{pin::pin, sync::Arc};

use account_core::store::LedgerStore as _;
use account_core::{
    AccountCaller, Caller, CapMark, Entry, LimitDecision, Notice, ResultTemplate, Settlement,
    StoreError, Tier, guest,
    idempotency::{Claim, Claimed, IdempotencyKey, RequestDigest, Slot, StoredAnswer},
};
use poem_openapi::types::ToJSON as _;
use tracing::Instrument as _;

use super::{
    super::{
        answer::{AnswerParts, success},
        answer_meta::{AnswerMeta, DefaultsTaken, defaults_taken},
        answer_options::AnswerOptions,
        body::{self, BodyLimits, COMMON_BODY_LIMIT},
        echo,
        error::ApiError,
        evaluation::{Arguments, Evaluator},
        executed_call::ExecutedCall,
        idempotency::{is_claimed, other_request, unreadable},
        operation::Operation,
        quote::PriceRule,
        receipt::{AnsweredRequest, Receipt, request_digest},
        unknown_fields::Handling,
        validation::{Fault, Step},
    },
    Admission, Charge, RequestContext, RequestRecord,
};
use crate::{
    body_memory::RequestSource,
    config::TierGate,
    failpoint,
    limits::{CreditReservation, Price, Unavailable},
    telemetry::SPANS,
};

pub use batch_stages::ComputedCall;

/// An identified caller whose call its limit has counted and granted.
pub struct AdmittedCall {
    context: Arc<RequestContext>,
    caller: Caller,
}

/// A caller that may call the metered operation of its route and can pay for it.
///
/// The stages pass it in a box: each would copy its fields otherwise, as would each future around them.
pub struct AuthorisedCall {
    context: Arc<RequestContext>,
    admission: Admission,
    caller: Caller,
    source: RequestSource,
    operation: &'static Operation,
    /// The credits that the call costs.
    cost: u32,
    slot: Option<Slot>,
    options: AnswerOptions,
}

/// An authorised call with its arguments. Arguments and claim are made from the same bytes.
pub struct ParsedCall {
    call: Box<AuthorisedCall>,
    request: ReadRequest,
    claim: Option<Claim>,
}

/// The arguments of a call, and what its explanation and its receipt need of the body.
struct ReadRequest {
    arguments: Box<dyn Arguments>,
    /// The defaults that were taken; empty where no explanation is asked for.
    defaults: DefaultsTaken,
    /// The digest of the body; `None` where no receipt is asked for.
    request_sha256: Option<String>,
}

/// A call that was computed and charged, or answered from the store of answers.
pub struct ChargedCall {
    /// The answer, computed now or stored before.
    pub content: ChargedContent,
    /// The charge; that of the first run where the answer was stored.
    pub charge: Charge,
}

/// The answer to a charged call: its parts where it was computed now, its whole body where it was stored.
pub enum ChargedContent {
    /// The parts of the answer, as JSON.
    Parts(AnswerParts),
    /// The whole body of an answer, which is stored under its `Idempotency-Key`.
    Envelope(String),
}

/// Makes the result that is stored with the charge from the context, the cost and the answer.
/// Returns none where nothing is to be stored.
pub type Template<'a> =
    Box<dyn FnOnce(&RequestContext, u32, &AnswerParts) -> Option<ResultTemplate> + Send + 'a>;

impl AdmittedCall {
    /// Counts the call of an identified caller against its limit.
    ///
    /// # Errors
    ///
    /// [`ApiError::RateLimit`] where the limit is reached, [`ApiError::Busy`] where the limits
    /// cannot be read.
    pub async fn new(context: Arc<RequestContext>, caller: Caller) -> Result<Self, ApiError> {
        let decision = context.state.limits.admit(&caller, context.at).await;
        let unavailable = |Unavailable(fault)| match fault {
            Some(fault) => context.storage_fault(fault),
            None => ApiError::busy(),
        };
        let (limit_status, retry_after) = match decision.map_err(unavailable)? {
            LimitDecision::Granted(limit_status) => (limit_status, None),
            LimitDecision::Refused { retry_after, limit_status } => {
                (limit_status, Some(retry_after))
            }
        };
        let admission = Admission { caller: caller.id(), limit_status };
        context.set_record(RequestRecord::Authenticated(admission));
        let Some(retry_after) = retry_after else { return Ok(Self { context, caller }) };
        let limit = limit_status.limit;
        // A guest's own day, or the day of all guests of its network.
        let guests = [1, context.state.settings.guests_per_network.get()];
        let is_day =
            |guests: u32| limit == account_core::tier::GUEST_DAILY_LIMIT.saturating_mul(guests);
        let is_daily = matches!(caller, Caller::Guest(_)) && guests.into_iter().any(is_day);
        let window = if is_daily { "day" } else { "hour" };
        Err(ApiError::RateLimit { limit, window, retry_after })
    }

    /// The context and the caller, for a call that is not metered.
    #[must_use]
    pub fn into_parts(self) -> (Arc<RequestContext>, Caller) {
        (self.context, self.caller)
    }

    /// Returns the context of the call.
    #[must_use]
    pub fn context(&self) -> &Arc<RequestContext> {
        &self.context
    }

    /// Returns the caller that the limit has counted.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Checks tier and balance for the metered operation of the route.
    ///
    /// `repeat_key` is the value of the header `Idempotency-Key`, or its fault.
    ///
    /// # Errors
    ///
    /// [`ApiError::Tier`], then [`ApiError::Credits`] or [`ApiError::SpendCap`], then the fault of
    /// the key.
    ///
    /// # Panics
    ///
    /// Panics where the route has no operation; the routes of metered endpoints are made with one.
    pub async fn authorise(
        self,
        repeat_key: Result<Option<IdempotencyKey>, Fault>,
    ) -> Result<Box<AuthorisedCall>, ApiError> {
        let operation = self.operation();
        let Self { context, caller } = self;
        check_tier(context.state.settings.tier_gate, &caller, operation.tier)?;
        let cost = operation.cost;
        let slot = repeat_key.as_ref().ok().and_then(Option::as_ref).map(|key| {
            Slot::of(caller.id(), context.idempotency_scope(), &context.route.path, key)
        });
        // A repeated request is not charged again, whatever balance is left.
        if !can_pay(&context, &caller, cost).await? && !is_claimed(&context, slot).await? {
            return Err(Box::pin(unpaid(&context, &caller, cost)).await);
        }
        repeat_key.map_err(|fault| ApiError::Faults(vec![fault]))?;
        Ok(Self { context, caller }.authorised(slot))
    }

    fn operation(&self) -> &'static Operation {
        self.context.route.operation.expect("a metered endpoint is in the table")
    }

    fn authorised(self, slot: Option<Slot>) -> Box<AuthorisedCall> {
        let operation = self.operation();
        let Self { context, caller } = self;
        let admission = context.record().admission().expect("the caller was admitted");
        let source = context.source();
        let (cost, options) = (operation.cost, AnswerOptions::default());
        Box::new(AuthorisedCall {
            context,
            admission,
            caller,
            source,
            operation,
            cost,
            slot,
            options,
        })
    }
}

impl AuthorisedCall {
    /// Returns the context of the call.
    #[must_use]
    pub fn context(&self) -> &Arc<RequestContext> {
        &self.context
    }

    /// The limits of the body: those of the operation, and for a guest or an account of tier FREE
    /// those of every body, because guest keys and accounts are free to make.
    #[must_use]
    pub(crate) fn body_limits(&self) -> BodyLimits {
        body_limits(&self.context, &self.caller, self.operation.body_limit)
    }

    /// Parses the bytes of the body. They are ignored where the route has no body.
    ///
    /// # Errors
    ///
    /// [`ApiError::Faults`] with every fault of the body.
    pub(crate) fn parse(
        self: Box<Self>,
        evaluator: Evaluator,
        bytes: &[u8],
        handling: Handling,
    ) -> Result<ParsedCall, ApiError> {
        let claim = self.slot.map(|slot| self.claim(slot, bytes));
        let request = self.read(evaluator, bytes, handling)?;
        Ok(ParsedCall { call: self, request, claim })
    }

    fn read(
        &self,
        evaluator: Evaluator,
        bytes: &[u8],
        handling: Handling,
    ) -> Result<ReadRequest, ApiError> {
        // The bytes are no part of the request where the route has no body.
        let sent = self.context.route.body.as_ref().map(|schema| (schema, bytes));
        let read = |(schema, bytes)| body::value(schema, &self.context, bytes, handling);
        let value = sent.map(read).transpose()?;
        let defaults = match (sent, &value) {
            (Some((schema, _)), Some(value)) if self.options.explain => {
                defaults_taken(schema, value)
            }
            _ => DefaultsTaken::new(),
        };
        let arguments = evaluator.arguments(value)?;
        let body = sent.map_or(&b""[..], |(_, bytes)| bytes);
        let request_sha256 = self.options.receipt.then(|| request_digest(body)).transpose();
        let request_sha256 = request_sha256.map_err(|error| no_digest(&error))?;
        Ok(ReadRequest { arguments, defaults, request_sha256 })
    }

    /// Asks for parts of the answer.
    #[must_use]
    pub fn with_options(mut self: Box<Self>, options: AnswerOptions) -> Box<Self> {
        self.options = options;
        self
    }

    fn claim(&self, slot: Slot, bytes: &[u8]) -> Claim {
        let suffix = self.options.suffix();
        let request = if suffix.is_empty() {
            RequestDigest::of(bytes)
        } else {
            RequestDigest::of(&[bytes, suffix.as_bytes()].concat())
        };
        Claim { slot, request, run: self.context.id.as_u128() }
    }

    /// Reserves the cost of the call; `None` for a free call.
    async fn reserve(&self) -> Result<Option<CreditReservation>, ApiError> {
        reserve(&self.context, &self.caller, self.cost).await
    }

    /// Charges the call by `write`, which commits the debit, the usage row and what is stored of
    /// the answer in one transaction. `None` means that another run owns the claim.
    async fn settle(
        &self,
        mut reservation: Option<CreditReservation>,
        write: impl Future<Output = Result<Option<Settlement>, StoreError>>,
    ) -> Result<Charge, ApiError> {
        let (context, admission, cost) = (&self.context, self.admission, self.cost);
        context.begin_charge()?;
        // Set before the write: from here on the ledger writes the usage row, whatever its answer.
        context.set_record(RequestRecord::Settling(admission));
        if let Some(reservation) = &mut reservation {
            reservation.begin_debit();
        }
        let span = tracing::info_span!(target: SPANS, "charge", credits = cost);
        // Pinned here: the span's wrapper would take the future by value.
        let settled = pin!(write).instrument(span).await;
        if let (Some(reservation), Ok(Some(settlement))) = (reservation, &settled) {
            reservation.end_debit(settlement.balance());
        }
        let charge = charge_of(context, admission, cost, settled)?;
        context.set_record(RequestRecord::Charged(admission, charge));
        context.state.metrics.count_debit(cost);
        add_notice_of_debit(context, &self.caller, charge).await;
        Ok(charge)
    }
}

impl ParsedCall {
    /// Returns the context of the call.
    #[must_use]
    pub fn context(&self) -> &Arc<RequestContext> {
        &self.call.context
    }

    /// Returns the terms of the call, as the data of the answer to a caller that prefers a quote.
    ///
    /// # Errors
    ///
    /// The refusal where the balance cannot be read.
    pub(in crate::http) async fn quote(self) -> Result<String, ApiError> {
        let cost = self.call.cost;
        self.call.quote(cost, PriceRule::Call).await
    }

    /// Computes the answer and charges for it, in this order: a crash before the charge costs
    /// nothing, and a crash after it has charged once.
    ///
    /// # Errors
    ///
    /// [`ApiError::Faults`] where the computation refuses its arguments, [`ApiError::Credits`] or
    /// [`ApiError::SpendCap`] where the credits were spent meanwhile, [`ApiError::Busy`] where the
    /// ledger cannot be written. Under an `Idempotency-Key` also [`ApiError::StillRunning`], and a
    /// fault where the key was sent with another body. Nothing is charged in these cases.
    pub async fn execute(self, template: Option<Template<'_>>) -> Result<ChargedCall, ApiError> {
        failpoint::hit("guarded");
        let Self { call, request, claim } = self;
        match claim {
            None => call.run(request, template).await,
            Some(claim) => Box::pin(call.run_once(claim, request, template)).await,
        }
    }
}

impl AuthorisedCall {
    async fn run(
        &self,
        request: ReadRequest,
        template: Option<Template<'_>>,
    ) -> Result<ChargedCall, ApiError> {
        let reservation = self.reserve().await?;
        let parts = self.compute(request).await?;
        failpoint::hit("computed");
        let kept = template.and_then(|template| template(&self.context, self.cost, &parts));
        let entry = Entry { kept, ..self.entry() };
        let ledger = &self.context.state.ledger;
        let settled = async { ledger.settle(entry).await.map(Some) };
        let charge = self.settle(reservation, settled).await?;
        Ok(ChargedCall { content: ChargedContent::Parts(parts), charge })
    }

    /// Answers a request that may have been sent before.
    async fn run_once(
        &self,
        claim: Claim,
        request: ReadRequest,
        template: Option<Template<'_>>,
    ) -> Result<ChargedCall, ApiError> {
        if let Some(stored) = take(&self.context, claim).await? {
            return Ok(self.replay(stored));
        }
        let answered = self.run_claimed(claim, request, template).await;
        if answered.is_err() {
            release(&self.context, claim).await;
        }
        answered
    }

    async fn run_claimed(
        &self,
        claim: Claim,
        request: ReadRequest,
        template: Option<Template<'_>>,
    ) -> Result<ChargedCall, ApiError> {
        // After the claim, so that a repeat finds the claim wherever the credits are reserved.
        let reservation = self.reserve().await?;
        let parts = self.compute(request).await?;
        let (kept, body) = match template {
            None => (None, success(&parts)),
            Some(template) => (
                template(&self.context, self.cost, &parts),
                ExecutedCall::stored(self.context.id, &parts),
            ),
        };
        let store = self.context.state.accounts.store();
        let entry = Entry { kept, ..self.entry() };
        let settled = store.settle_and_keep(claim, entry, body.clone());
        let charge = self.settle(reservation, settled).await?;
        Ok(ChargedCall { content: ChargedContent::Envelope(body), charge })
    }

    /// Answers with the stored answer; its cost is not taken a second time.
    fn replay(&self, stored: StoredAnswer) -> ChargedCall {
        let charge = Charge { cost: stored.cost, balance: stored.balance };
        self.context.set_record(RequestRecord::Replayed(self.admission, charge));
        ChargedCall { content: ChargedContent::Envelope(stored.body), charge }
    }

    /// Computes the answer and writes it as JSON, with the parts that are asked for. All run in the
    /// compute pool where the computation may be long, because the JSON of a long answer takes longer
    /// than the computation, and where it is explained, because an explanation computes more than once.
    async fn compute(&self, request: ReadRequest) -> Result<AnswerParts, ApiError> {
        // A batch has so many short computations that they would delay other requests together.
        let is_long =
            self.options.explain || request.arguments.is_long() || self.context.is_of_batch();
        let (context, operation, options) = (self.context.clone(), self.operation, self.options);
        let work = move || answer_parts(&context, operation, options, request);
        let span = tracing::info_span!(target: SPANS, "compute", operation = self.operation.id);
        if is_long {
            self.context.state.compute_pool.run(self.source, work).instrument(span).await?
        } else {
            span.in_scope(work)
        }
    }

    fn entry(&self) -> Entry {
        self.context.entry(self.admission.caller, self.cost, 200)
    }
}

impl ChargedCall {
    /// Returns the whole body of the answer.
    #[must_use]
    pub fn into_body(self) -> String {
        match self.content {
            ChargedContent::Parts(parts) => success(&parts),
            ChargedContent::Envelope(body) => body,
        }
    }
}

/// Takes a claim; returns the stored answer where an earlier run has answered.
///
/// # Errors
///
/// [`ApiError::StillRunning`], the fault of a key that was sent with another request, and the
/// refusal where the store does not answer.
async fn take(context: &RequestContext, claim: Claim) -> Result<Option<StoredAnswer>, ApiError> {
    let claimed = context.state.accounts.store().claim(claim).await;
    match claimed.map_err(|error| unreadable(context, &error))? {
        Claimed::Yours => {
            failpoint::hit("claimed");
            Ok(None)
        }
        Claimed::Answered(stored) => Ok(Some(stored)),
        Claimed::Running => Err(ApiError::StillRunning),
        Claimed::OtherRequest => Err(other_request()),
    }
}

/// Releases a claim that will hold no answer. A claim that is not released expires by itself.
async fn release(context: &RequestContext, claim: Claim) {
    if let Err(error) = context.state.accounts.store().release(claim).await {
        tracing::warn!(request_id = %context.id, %error, "a slot was not given back");
    }
}

/// Returns the charge that a settlement has made, or the refusal of a call that was not paid.
fn charge_of(
    context: &RequestContext,
    admission: Admission,
    cost: u32,
    settled: Result<Option<Settlement>, StoreError>,
) -> Result<Charge, ApiError> {
    let refusal = match settled {
        Ok(Some(Settlement::Charged { balance })) => return Ok(Charge { cost, balance }),
        Ok(Some(Settlement::OverCap { per_day, .. })) => over_cap(context, cost, per_day),
        Ok(Some(Settlement::Insufficient { .. })) => ApiError::Credits { cost },
        Ok(None) => ApiError::StillRunning,
        Err(error) => {
            tracing::error!(request_id = %context.id, %error, "the ledger did not settle");
            return Err(context.storage_refusal(&error));
        }
    };
    context.set_record(RequestRecord::Authenticated(admission));
    Err(refusal)
}

/// Computes the parts of an answer.
fn answer_parts(
    context: &RequestContext,
    operation: &Operation,
    options: AnswerOptions,
    request: ReadRequest,
) -> Result<AnswerParts, ApiError> {
    let ReadRequest { arguments, defaults, request_sha256 } = request;
    let data = arguments.data(options.detail)?;
    let meta = if options.explain {
        Some(AnswerMeta::new(arguments.explain()?, defaults).to_json_string())
    } else {
        None
    };
    let answered = request_sha256.map(|request_sha256| AnsweredRequest {
        operation: operation.id,
        detail: options.detail,
        request_sha256,
        data: &data,
        credits: operation.cost,
        at: context.at,
    });
    let key = || context.state.vault.signing_key();
    let receipt = answered.map(|answered| Receipt::sign(&key(), answered)).transpose();
    let receipt = receipt.map_err(|error| {
        tracing::error!(request_id = %context.id, %error, "an answer has no canonical form");
        ApiError::Internal
    })?;
    Ok(AnswerParts { data, meta, receipt: receipt.map(|receipt| receipt.to_json_string()) })
}

/// Makes the refusal of a receipt for a body that has no canonical form.
fn no_digest(error: &serde_json::Error) -> ApiError {
    let message = format!("a receipt needs the canonical form of RFC 8785: {error}");
    let message = echo::message(&message).into_owned();
    Fault::new(&[Step::name("body")], "value_error.canonical_form", message).into()
}

/// Guests reach FREE endpoints only, under either gate; accounts by their tier, or all of them.
fn check_tier(gate: TierGate, caller: &Caller, needed: Tier) -> Result<(), ApiError> {
    let is_allowed = match (caller, gate) {
        (Caller::Guest(_), _) => needed == Tier::Free,
        (Caller::Account(_), TierGate::Guests) => true,
        (Caller::Account(account), TierGate::Tiers) => account.tier >= needed,
    };
    if is_allowed { Ok(()) } else { Err(ApiError::Tier(needed)) }
}

/// Writes the notice of a debit that crossed a mark, which two calls in a grant do. The charge
/// stands where the notice cannot be written.
async fn add_notice_of_debit(context: &RequestContext, caller: &Caller, charge: Charge) {
    let Caller::Account(account) = caller else { return };
    let before = charge.balance + u64::from(charge.cost);
    let Some(notice) = Notice::of_debit(before, charge.balance, account.last_grant) else {
        return;
    };
    // Boxed, so that the future of the common call has no room for this rare case.
    let added = Box::pin(context.state.accounts.add_notice(account.id, &notice, context.at)).await;
    if let Err(error) = added {
        tracing::error!(request_id = %context.id, %error, "a notice of credits was not written");
    }
}

/// The limits of a body for a caller: guests and accounts of tier FREE send small bodies alone.
fn body_limits(context: &RequestContext, caller: &Caller, of_operation: usize) -> BodyLimits {
    let state = &context.state;
    let operation = of_operation.min(state.settings.body_limit);
    let has_large_bodies = matches!(caller, Caller::Account(account) if account.tier > Tier::Free);
    BodyLimits {
        bytes: if has_large_bodies { operation } else { operation.min(COMMON_BODY_LIMIT) },
        source: context.source(),
        has_large_bodies,
        memory: state.body_memory.clone(),
        patience: state.settings.body_patience,
    }
}

/// The price of a call; `None` where the call is free, as all calls of guests are.
fn price(caller: &Caller, cost: u32) -> Option<Price> {
    match caller {
        Caller::Account(account) if cost > 0 => {
            // No balance in memory knows what is left of a cap, so the store is read.
            let cached_balance = if account.is_capped { 0 } else { account.credit_balance };
            Some(Price { account: account.id, cost, cached_balance })
        }
        _ => None,
    }
}

/// Returns whether the balance pays for the call beside the running calls of the account.
async fn can_pay(context: &RequestContext, caller: &Caller, cost: u32) -> Result<bool, ApiError> {
    let Some(price) = price(caller, cost) else { return Ok(true) };
    let credits = &context.state.reserved_credits;
    let suffice = credits.suffice(price, || read_balance(context, price)).await;
    suffice.map_err(|error| no_balance(context, &error))
}

/// Reserves the cost of running calls; `None` where they are free.
async fn reserve(
    context: &RequestContext,
    caller: &Caller,
    cost: u32,
) -> Result<Option<CreditReservation>, ApiError> {
    let Some(price) = price(caller, cost) else { return Ok(None) };
    let credits = &context.state.reserved_credits;
    let reserved = credits.reserve(price, || read_balance(context, price)).await;
    match reserved.map_err(|error| no_balance(context, &error))? {
        Some(reservation) => Ok(Some(reservation)),
        None => Err(Box::pin(unpaid(context, caller, cost)).await),
    }
}

/// Reads the credits that the account may spend now; an account that was deleted meanwhile has none.
async fn read_balance(context: &RequestContext, price: Price) -> Result<u64, StoreError> {
    let funds = context.state.accounts.store().funds(price.account, guest::day(context.at)).await;
    Ok(funds?.map_or(0, |funds| funds.available()))
}

/// Makes the refusal of a call that balance or cap do not pay, and notifies the owner of a cap that
/// has refused its first call of the day.
async fn unpaid(context: &RequestContext, caller: &Caller, cost: u32) -> ApiError {
    let refusal = ApiError::Credits { cost };
    let Caller::Account(AccountCaller { id, is_capped: true, .. }) = caller else { return refusal };
    let store = context.state.accounts.store();
    let day = guest::day(context.at);
    let funds = match store.funds(*id, day).await {
        Ok(funds) => funds,
        Err(error) => return no_balance(context, &error),
    };
    let Some(capped) = funds.and_then(|funds| funds.refusing_cap(cost)) else { return refusal };
    // The cap may refuse this call for running calls alone, which may yet pay nothing.
    if capped.left() < cost.into()
        && !capped.cap.is_told(CapMark::Reached, day)
        && let Err(error) = store.notify_of_refusal(*id, context.at).await
    {
        tracing::error!(request_id = %context.id, %error, "a notice of a cap was not written");
    }
    over_cap(context, cost, capped.cap.per_day)
}

/// Makes the refusal of a call that would pass the account's cap.
fn over_cap(context: &RequestContext, cost: u32, per_day: u64) -> ApiError {
    ApiError::SpendCap { cost, per_day, until: guest::end_of_day(context.at) }
}

/// Makes the refusal of a call whose balance cannot be read.
fn no_balance(context: &RequestContext, error: &StoreError) -> ApiError {
    tracing::error!(request_id = %context.id, %error, "a balance cannot be read");
    ApiError::busy()
}

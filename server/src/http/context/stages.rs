//! The stages of a call after its route is known, each consumed by the next.

mod batch;
mod columns;

use std::sync::Arc;

use account_core::store::LedgerStore as _;
use account_core::{
    Caller, Entry, LimitDecision, Notice, ResultTemplate, Settlement, StoreError, Tier,
    idempotency::{Claim, Claimed, IdempotencyKey, RequestDigest, Slot, StoredAnswer},
};
use poem_openapi::types::ToJSON as _;

use super::{
    super::{
        answer::{Answer, envelope},
        body::{BodyLimits, COMMON_BODY_LIMIT, parse},
        computation::Computation,
        detail::Detail,
        echo,
        error::ApiError,
        executed_call::ExecutedCall,
        idempotency::{is_claimed, other_request, unreadable},
        operation::Operation,
        unknown_fields::Handling,
        validation::{Fault, Step},
    },
    Admission, Charge, RETRY_AFTER_BUSY, RequestContext, RequestRecord,
};
use crate::{
    body_memory::RequestSource,
    config::TierGate,
    failpoint,
    limits::{CreditReservation, Price, Unavailable},
};

pub use batch::{ComputedCall, PreparedCall};

/// An identified caller whose call its limit has counted and granted.
pub struct AdmittedCall {
    context: Arc<RequestContext>,
    caller: Caller,
}

/// A caller that may call the metered operation of its route and can pay for it.
pub struct AuthorisedCall {
    context: Arc<RequestContext>,
    admission: Admission,
    caller: Caller,
    source: RequestSource,
    operation: &'static Operation,
    /// The credits that the call costs.
    cost: u32,
    slot: Option<Slot>,
    detail: Detail,
}

/// An authorised call with its typed arguments. Arguments and claim are made from the same bytes.
pub struct ParsedCall<C> {
    call: AuthorisedCall,
    arguments: C,
    claim: Option<Claim>,
}

/// A call that was computed and charged, or answered from the store of answers.
pub struct ChargedCall {
    /// The answer, computed now or stored before.
    pub content: ChargedContent,
    /// The charge; that of the first run where the answer was stored.
    pub charge: Charge,
}

/// The content of the answer to a charged call.
pub enum ChargedContent {
    /// The data of the answer, as JSON.
    Data(String),
    /// The whole body of an answer, which is stored under its `Idempotency-Key`.
    Envelope(String),
}

/// Makes the result that is stored with the charge from the context, the cost and the data as JSON.
/// Returns none where nothing is to be stored.
pub type Template<'a> =
    Box<dyn FnOnce(&RequestContext, u32, &str) -> Option<ResultTemplate> + Send + 'a>;

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
            None => ApiError::Busy { retry_after: RETRY_AFTER_BUSY },
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
    /// [`ApiError::Tier`], then [`ApiError::Credits`], then the fault of the key.
    ///
    /// # Panics
    ///
    /// Panics where the route has no operation; the routes of metered endpoints are made with one.
    pub async fn authorise(
        self,
        repeat_key: Result<Option<IdempotencyKey>, Fault>,
    ) -> Result<AuthorisedCall, ApiError> {
        let Self { context, caller } = self;
        let operation = context.route.operation.expect("a metered endpoint is in the table");
        check_tier(context.state.settings.tier_gate, &caller, operation.tier)?;
        let cost = operation.cost;
        let slot = repeat_key.as_ref().ok().and_then(Option::as_ref).map(|key| {
            Slot::of(caller.id(), context.idempotency_scope(), &context.route.path, key)
        });
        // A repeated request is not charged again, whatever balance is left.
        if !can_pay(&context, &caller, cost).await? && !is_claimed(&context, slot).await? {
            return Err(ApiError::Credits { cost });
        }
        repeat_key.map_err(|fault| ApiError::Faults(vec![fault]))?;
        let admission = context.record().admission().expect("the caller was admitted");
        let source = context.source();
        let detail = Detail::default();
        Ok(AuthorisedCall { context, admission, caller, source, operation, cost, slot, detail })
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
    pub(crate) fn parse<C: Computation>(
        self,
        bytes: &[u8],
        handling: Handling,
    ) -> Result<ParsedCall<C>, ApiError> {
        let claim = self.slot.map(|slot| self.claim(slot, bytes));
        let arguments: C = match &self.context.route.body {
            Some(_) => parse(&self.context, bytes, handling)?,
            None => C::parse_from_json(None).map_err(|_| ApiError::Internal)?,
        };
        let missing: Vec<Fault> =
            arguments.missing_fields().iter().map(|path| missing(path)).collect();
        if !missing.is_empty() {
            return Err(ApiError::Faults(missing));
        }
        Ok(ParsedCall { call: self, arguments, claim })
    }

    /// Asks for the fields of a level of detail.
    #[must_use]
    pub fn in_detail(self, detail: Detail) -> Self {
        Self { detail, ..self }
    }

    fn claim(&self, slot: Slot, bytes: &[u8]) -> Claim {
        // A body with further fields is another request than the body alone.
        let request = match self.detail {
            Detail::Listed => RequestDigest::of(bytes),
            Detail::Full => RequestDigest::of(&[bytes, b"?detail=full"].concat()),
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
        // Set before the write: from here on the ledger writes the usage row, whatever its answer.
        context.set_record(RequestRecord::Settling(admission));
        if let Some(reservation) = &mut reservation {
            reservation.begin_debit();
        }
        let settled = write.await;
        if let (Some(reservation), Ok(Some(settlement))) = (reservation, &settled) {
            reservation.end_debit(settlement.balance());
        }
        match settled {
            Ok(Some(Settlement::Charged { balance })) => {
                let charge = Charge { cost, balance };
                context.set_record(RequestRecord::Charged(admission, charge));
                context.state.metrics.count_debit(cost);
                add_notice_of_debit(context, &self.caller, charge).await;
                Ok(charge)
            }
            Ok(unpaid) => {
                context.set_record(RequestRecord::Authenticated(admission));
                Err(unpaid.map_or(ApiError::StillRunning, |_| ApiError::Credits { cost }))
            }
            Err(error) => {
                tracing::error!(request_id = %context.id, %error, "the ledger did not settle");
                Err(context.storage_refusal(&error))
            }
        }
    }
}

impl<C: Computation> ParsedCall<C> {
    /// Returns the context of the call.
    #[must_use]
    pub fn context(&self) -> &Arc<RequestContext> {
        &self.call.context
    }

    /// Computes the answer and charges for it, in this order: a crash before the charge costs
    /// nothing, and a crash after it has charged once.
    ///
    /// # Errors
    ///
    /// [`ApiError::Faults`] where the computation refuses its arguments, [`ApiError::Credits`]
    /// where the balance was spent meanwhile, [`ApiError::Busy`] where the ledger cannot be
    /// written. Under an `Idempotency-Key` also [`ApiError::StillRunning`], and a fault where the
    /// key was sent with another body. Nothing is charged in these cases.
    pub async fn execute(self, template: Option<Template<'_>>) -> Result<ChargedCall, ApiError> {
        failpoint::hit("guarded");
        let Self { call, arguments, claim } = self;
        match claim {
            None => call.run(arguments, template).await,
            Some(claim) => Box::pin(call.run_once(claim, arguments, template)).await,
        }
    }
}

impl AuthorisedCall {
    async fn run<C: Computation>(
        self,
        arguments: C,
        template: Option<Template<'_>>,
    ) -> Result<ChargedCall, ApiError> {
        let reservation = self.reserve().await?;
        let data = self.compute(arguments).await?;
        failpoint::hit("computed");
        let kept = template.and_then(|template| template(&self.context, self.cost, &data));
        let entry = Entry { kept, ..self.entry() };
        let ledger = &self.context.state.ledger;
        let settled = async { ledger.settle(entry).await.map(Some) };
        let charge = self.settle(reservation, settled).await?;
        Ok(ChargedCall { content: ChargedContent::Data(data), charge })
    }

    /// Answers a request that may have been sent before.
    async fn run_once<C: Computation>(
        self,
        claim: Claim,
        arguments: C,
        template: Option<Template<'_>>,
    ) -> Result<ChargedCall, ApiError> {
        let context = &self.context;
        let store = context.state.accounts.store();
        let claimed = store.claim(claim).await;
        match claimed.map_err(|error| unreadable(context, &error))? {
            Claimed::Yours => failpoint::hit("claimed"),
            Claimed::Answered(stored) => return Ok(self.replay(stored)),
            Claimed::Running => return Err(ApiError::StillRunning),
            Claimed::OtherRequest => return Err(other_request()),
        }
        let answered = self.run_claimed(claim, arguments, template).await;
        if answered.is_err()
            && let Err(error) = store.release(claim).await
        {
            // The claim expires by itself.
            tracing::warn!(request_id = %context.id, %error, "a slot was not given back");
        }
        answered
    }

    async fn run_claimed<C: Computation>(
        &self,
        claim: Claim,
        arguments: C,
        template: Option<Template<'_>>,
    ) -> Result<ChargedCall, ApiError> {
        // After the claim, so that a repeat finds the claim wherever the credits are reserved.
        let reservation = self.reserve().await?;
        let data = self.compute(arguments).await?;
        let (kept, body) = match template {
            None => (None, envelope(&data, None)),
            Some(template) => (
                template(&self.context, self.cost, &data),
                ExecutedCall::stored(self.context.id, &data),
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

    /// Computes the answer and writes it as JSON. Both run in the compute pool where the computation
    /// may be long, because the JSON of a long answer takes longer than the computation.
    async fn compute<C: Computation>(&self, arguments: C) -> Result<String, ApiError> {
        // A batch has so many short computations that they would delay other requests together.
        let is_long = arguments.is_long() || self.context.is_of_batch();
        let detail = self.detail;
        let work = move || {
            let answer = match detail {
                Detail::Listed => arguments.compute(),
                Detail::Full => arguments.compute_in_full(),
            };
            answer.map(|answer| answer.to_json_string())
        };
        let outcome = if is_long {
            self.context.state.compute_pool.run(self.source, work).await?
        } else {
            work()
        };
        outcome.map_err(|error| ApiError::Faults(vec![fault::<C>(&error)]))
    }

    fn entry(&self) -> Entry {
        self.context.entry(self.admission.caller, self.cost, 200)
    }
}

impl<A> From<ChargedCall> for Answer<A> {
    fn from(charged: ChargedCall) -> Self {
        match charged.content {
            ChargedContent::Data(data) => Self::from_body(envelope(&data, None)),
            ChargedContent::Envelope(body) => Self::from_body(body),
        }
    }
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
    }
}

/// The price of a call; `None` where the call is free, as all calls of guests are.
fn price(caller: &Caller, cost: u32) -> Option<Price> {
    match caller {
        Caller::Account(account) if cost > 0 => {
            Some(Price { account: account.id, cost, cached_balance: account.credit_balance })
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
        None => Err(ApiError::Credits { cost }),
    }
}

/// Reads the balance in the store; an account that was deleted meanwhile has none.
async fn read_balance(context: &RequestContext, price: Price) -> Result<u64, StoreError> {
    let balance = context.state.accounts.store().credit_balance(price.account).await;
    balance.map(Option::unwrap_or_default)
}

/// Makes the refusal of a call whose balance cannot be read.
fn no_balance(context: &RequestContext, error: &StoreError) -> ApiError {
    tracing::error!(request_id = %context.id, %error, "a balance cannot be read");
    ApiError::Busy { retry_after: RETRY_AFTER_BUSY }
}

/// The fault of a field that is absent from the body.
pub(in crate::http) fn missing(path: &[&'static str]) -> Fault {
    let steps = std::iter::once(&"body").chain(path).map(|name| Step::name(name));
    Fault::new(&steps.collect::<Vec<_>>(), "value_error.missing", "field required")
}

/// An error of the computation as a fault of the request.
pub(in crate::http) fn fault<C: Computation>(error: &quant_core::Error) -> Fault {
    let kind = format!("value_error.{}", error.code());
    let mut path = vec![Step::name("body")];
    path.extend(error.argument().map(|argument| Step::name(C::wire_name(argument))));
    path.extend(error.index().map(Step::Index));
    Fault::new(&path, kind, echo::error(error))
}

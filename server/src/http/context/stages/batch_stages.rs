//! The stages of the calls of a batch that are charged together or not at all, and of the batch.

use std::sync::Arc;

use account_core::store::LedgerStore as _;
use account_core::{
    Caller, Entry, Tier,
    idempotency::{Claim, IdempotencyKey, RequestDigest, Slot, StoredAnswer},
};

use super::{
    super::{
        super::{answer::AnswerParts, body::BodyLimits, error::ApiError},
        Admission, Charge, RequestContext, RequestRecord,
    },
    AdmittedCall, AuthorisedCall, ParsedCall, add_notice_of_debit, body_limits, can_pay, charge_of,
    release, reserve, take,
};
use crate::limits::CreditReservation;

/// A call whose answer was computed and that is not charged yet.
pub struct ComputedCall(Box<AuthorisedCall>);

impl ParsedCall {
    /// Returns the tier that the call needs.
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.call.operation.tier
    }

    /// Returns the credits that the call costs.
    #[must_use]
    pub fn cost(&self) -> u32 {
        self.call.cost
    }

    /// Computes the parts of the answer, as JSON, and charges nothing.
    ///
    /// # Errors
    ///
    /// [`ApiError::Faults`] where the computation refuses its arguments, [`ApiError::Busy`] where
    /// no thread of the pool came free.
    pub async fn compute(self) -> Result<(AnswerParts, ComputedCall), ApiError> {
        let Self { call, request, .. } = self;
        let parts = call.compute(request).await?;
        Ok((parts, ComputedCall(call)))
    }
}

impl ComputedCall {
    fn cost(&self) -> u32 {
        self.0.cost
    }
}

impl AdmittedCall {
    /// Returns the call where its limit has counted the call already; counts the call otherwise.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub async fn counted_once(
        context: Arc<RequestContext>,
        caller: Caller,
    ) -> Result<Self, ApiError> {
        if context.record().admission().is_some() {
            return Ok(Self { context, caller });
        }
        Self::new(context, caller).await
    }

    /// Returns the caller's limit after this call.
    ///
    /// # Panics
    ///
    /// Never: the limit has counted the call.
    #[must_use]
    pub fn admission(&self) -> Admission {
        self.context.record().admission().expect("the caller was admitted")
    }

    /// The limits of the body of an operation that takes at most so many bytes.
    #[must_use]
    pub(crate) fn body_limits(&self, of_operation: usize) -> BodyLimits {
        body_limits(&self.context, &self.caller, of_operation)
    }

    /// Returns whether the balance pays `cost` beside the running calls of the account.
    ///
    /// # Errors
    ///
    /// [`ApiError::Busy`] where the balance cannot be read.
    pub async fn can_pay(&self, cost: u32) -> Result<bool, ApiError> {
        can_pay(&self.context, &self.caller, cost).await
    }

    /// Reserves credits for calls of the batch; `None` where they are free.
    ///
    /// # Errors
    ///
    /// [`ApiError::Credits`] where the balance does not suffice, [`ApiError::Busy`] where the
    /// balance cannot be read.
    pub async fn reserve(&self, cost: u32) -> Result<Option<CreditReservation>, ApiError> {
        reserve(&self.context, &self.caller, cost).await
    }

    /// Records what the calls of the batch took. `admission` is the caller's limit after them.
    pub fn record_batch(&self, admission: Admission, charge: Option<Charge>) {
        self.context.set_record(RequestRecord::Batched(admission, charge));
    }

    /// Claims the key of the batch for a request with this digest, or returns the stored answer.
    ///
    /// # Errors
    ///
    /// [`ApiError::StillRunning`], a fault where the key was sent with another body, and the
    /// refusal where the store does not answer.
    pub async fn claim(
        &self,
        key: &IdempotencyKey,
        request: RequestDigest,
    ) -> Result<Result<Claim, StoredAnswer>, ApiError> {
        let (context, caller) = (&self.context, self.caller.id());
        let slot = Slot::of(caller, context.idempotency_scope(), &context.route.path, key);
        let claim = Claim { slot, request, run: context.id.as_u128() };
        Ok(take(context, claim).await?.map_or(Ok(claim), Err))
    }

    /// Releases a claim that will hold no answer. A claim that is not released expires by itself.
    pub async fn release(&self, claim: Claim) {
        release(&self.context, claim).await;
    }

    /// Records that the stored answer of an earlier batch goes out, and returns the body.
    #[must_use]
    pub fn replay(&self, stored: StoredAnswer) -> String {
        let charge = Charge { cost: stored.cost, balance: stored.balance };
        self.context.set_record(RequestRecord::Replayed(self.admission(), charge));
        stored.body
    }

    /// Charges for all calls in one transaction, which also stores the body of the answer under a
    /// claim. Nothing is charged where the balance does not suffice for all.
    ///
    /// # Errors
    ///
    /// [`ApiError::Credits`], [`ApiError::StillRunning`] where another run owns the claim, and the
    /// refusal where the ledger cannot be written.
    pub async fn settle_together(
        &self,
        calls: Vec<ComputedCall>,
        mut reservation: Option<CreditReservation>,
        kept: Option<(Claim, String)>,
    ) -> Result<Charge, ApiError> {
        let (context, before) = (&self.context, self.admission());
        let admission = calls.last().map_or(before, |computed| computed.0.admission);
        let cost = calls.iter().map(ComputedCall::cost).sum();
        let entries: Vec<Entry> = calls.iter().map(|computed| computed.0.entry()).collect();
        // Set before the write: from here on the ledger writes the usage rows, whatever its answer.
        self.record_batch(admission, None);
        if let Some(reservation) = &mut reservation {
            reservation.begin_debit();
        }
        let settled = context.state.accounts.store().settle_together(entries, kept).await;
        if let (Some(reservation), Ok(Some(settlement))) = (reservation, &settled) {
            reservation.end_debit(settlement.balance());
        }
        let charge = charge_of(context, admission, cost, settled)?;
        self.record_batch(admission, Some(charge));
        conclude_calls(calls, charge);
        add_notice_of_debit(context, &self.caller, charge).await;
        Ok(charge)
    }
}

/// Concludes calls that were charged together, each with its part of the charge.
fn conclude_calls(calls: Vec<ComputedCall>, charge: Charge) {
    let mut balance = charge.balance + u64::from(charge.cost);
    for computed in calls {
        let (context, cost) = (&computed.0.context, computed.cost());
        balance -= u64::from(cost);
        let of_call = Charge { cost, balance };
        context.set_record(RequestRecord::Charged(computed.0.admission, of_call));
        context.state.metrics.count_debit(cost);
        context.conclude(200);
    }
}

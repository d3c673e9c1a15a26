//! Metered operations: the tier and the credits on the way in, the debit on the way out.

use account_core::idempotency::{Claim, Claimed, Slot};
use account_core::store::LedgerStore as _;
use account_core::{Caller, Tier};
use poem::{Error, Request, Result};
use poem_openapi::types::ToJSON as _;

use super::{
    super::{
        Answer, ApiError, RequestContext,
        answer::envelope,
        validation::{Fault, Step},
    },
    Authenticated, Identified, Keep,
    guard::Guard,
    idempotency::{is_answered, key_of_repeats, other_request, unkept},
};
use crate::{
    api::quantlib::{Computation, wire_name},
    failpoint,
    state::TierGate,
};

/// A caller who may call this metered operation and can pay for it.
pub struct Metered {
    authenticated: Authenticated,
    cost: u32,
    keep: Option<Keep>,
}

impl Guard for Metered {
    async fn judge(request: &Request) -> Result<Self, ApiError> {
        let authenticated = Authenticated::<Caller>::judge(request).await?;
        let operation = authenticated
            .call
            .operation()
            .expect("routes refuses a metered endpoint without a line in the table");
        check_tier(
            authenticated.call.service.settings.tier_gate,
            &authenticated.caller,
            operation.tier,
        )?;
        let cost = operation.cost();
        let key = key_of_repeats(request);
        let slot = key.as_ref().ok().and_then(Option::as_ref).map(|key| {
            let call = &authenticated.call;
            Slot::of(
                authenticated.caller.id(),
                call.method_name(),
                call.route().unwrap_or_default(),
                key,
            )
        });
        // Who has paid for an answer gets it again, whatever is left.
        if authenticated.caller.credit_balance() < u64::from(cost)
            && !is_answered(&authenticated.call, slot).await?
        {
            return Err(ApiError::Credits { cost });
        }
        key.map_err(|fault| ApiError::Faults(vec![fault]))?;
        if let Some(slot) = slot {
            authenticated.call.set_once(slot);
        }
        let keep = request.data().map(|Identified { keep, .. }| keep.clone());
        Ok(Self { authenticated, cost, keep })
    }

    fn call(&self) -> &RequestContext {
        &self.authenticated.call
    }
}

impl Metered {
    /// Computes, takes the credits, answers.
    ///
    /// # Errors
    ///
    /// A 422 where the computation refuses its arguments, a 402 where the credits went
    /// elsewhere meanwhile; nothing is charged then. Under a key of repeats also a 409 while the
    /// same request is being answered, and a 422 where the key is another request's.
    pub async fn run<C: Computation>(self, request: C) -> Result<Answer<C::Answer>> {
        failpoint::hit("guarded");
        let answered = match self.authenticated.call.claim() {
            None => self.run_anew(request).await,
            Some(claim) => Box::pin(self.run_once(claim, request)).await,
        };
        if let (Err(ApiError::Credits { .. }), Some(key)) = (&answered, self.authenticated.key()) {
            // The balance that was remembered is spent: the next call is refused before its work.
            self.authenticated.call.service.callers.forget(key).await;
        }
        answered.map_err(|refusal| {
            Error::from_response(refusal.into_response(self.authenticated.call.surface))
        })
    }

    async fn run_anew<C: Computation>(&self, request: C) -> Result<Answer<C::Answer>, ApiError> {
        let data = self.compute(request).await?;
        failpoint::hit("computed");
        let Authenticated { call, caller, .. } = &self.authenticated;
        let Some(keep) = &self.keep else {
            call.settle(caller, self.cost, None).await?;
            return Ok(Answer::new(data));
        };
        let data = data.to_json_string();
        call.settle(caller, self.cost, keep(call, self.cost, &data)).await?;
        Ok(Answer::around(&data))
    }

    /// Answers a request that may have come before.
    async fn run_once<C: Computation>(
        &self,
        claim: Claim,
        request: C,
    ) -> Result<Answer<C::Answer>, ApiError> {
        let call = &self.authenticated.call;
        let store = call.service.accounts.store();
        let claimed = store.claim(claim, call.at).await.map_err(|error| unkept(call, &error))?;
        match claimed {
            Claimed::Yours => failpoint::hit("claimed"),
            Claimed::Answered(kept) => {
                call.replay(&kept);
                return Ok(Answer::written(kept.body));
            }
            Claimed::Running => return Err(ApiError::StillRunning),
            Claimed::OtherRequest => return Err(other_request()),
        }
        let answered = self.fill(claim, request).await;
        if answered.is_err()
            && let Err(error) = store.release(claim).await
        {
            // It frees itself after a while.
            tracing::warn!(request_id = %call.id, %error, "a slot was not given back");
        }
        answered
    }

    async fn fill<C: Computation>(
        &self,
        claim: Claim,
        request: C,
    ) -> Result<Answer<C::Answer>, ApiError> {
        let body = envelope(&self.compute(request).await?.to_json_string(), None);
        let Authenticated { call, caller, .. } = &self.authenticated;
        call.settle_once(claim, caller, self.cost, body.clone()).await?;
        Ok(Answer::written(body))
    }

    async fn compute<C: Computation>(&self, request: C) -> Result<C::Answer, ApiError> {
        let outcome = if request.is_long() {
            let compute = move || request.compute();
            self.authenticated.call.service.compute_pool.run(compute).await?
        } else {
            request.compute()
        };
        outcome.map_err(|error| ApiError::Faults(vec![fault(&error)]))
    }
}

/// Guests reach FREE endpoints only, whatever the gate; accounts by their tier, or all of them.
fn check_tier(gate: TierGate, caller: &Caller, needed: Tier) -> Result<(), ApiError> {
    let allowed = match (caller, gate) {
        (Caller::Guest(_), _) => needed == Tier::Free,
        (Caller::Account(_), TierGate::Guests) => true,
        (Caller::Account(account), TierGate::Tiers) => account.tier >= needed,
    };
    if allowed { Ok(()) } else { Err(ApiError::Tier(needed)) }
}

/// What only the mathematics could see, as a fault of the request.
fn fault(error: &quant_core::Error) -> Fault {
    let kind = format!("value_error.{}", error.code());
    let mut path = vec![Step::name("body")];
    path.extend(error.argument().map(|argument| Step::name(wire_name(argument))));
    path.extend(error.index().map(Step::Index));
    Fault::new(&path, kind, error.to_string())
}

//! The stage of a quote, in place of the refusals by tier and balance and of the computation.

use account_core::store::LedgerStore as _;
use account_core::{Caller, Funds, guest};

use super::{
    super::super::{
        error::ApiError,
        quote::{Obstacle, PriceRule, Quote, QuotedCalls},
    },
    AdmittedCall, AuthorisedCall, can_pay, check_tier, no_balance,
};

impl AdmittedCall {
    /// Returns whether the caller prefers a quote to the call.
    #[must_use]
    pub(crate) fn is_quote_preferred(&self) -> bool {
        self.context.is_quote_preferred
    }

    /// Returns the call for the reading of its body alone: neither tier nor balance is checked, and no
    /// `Idempotency-Key` is read.
    pub(in crate::http) fn for_quote(self) -> Box<AuthorisedCall> {
        self.authorised(None)
    }

    /// Returns the terms of these calls together, as the data of the answer.
    ///
    /// # Errors
    ///
    /// The refusal where the balance cannot be read.
    pub(crate) async fn quote(&self, calls: QuotedCalls) -> Result<String, ApiError> {
        let (context, limit_status) = (&self.context, self.admission().limit_status);
        let funds = match &self.caller {
            Caller::Account(account) => {
                let store = context.state.accounts.store();
                let funds = store.funds(account.id, guest::day(context.at)).await;
                let funds = funds.map_err(|error| no_balance(context, &error))?;
                Some(funds.unwrap_or(Funds { balance: 0, cap: None }))
            }
            Caller::Guest(_) => None,
        };
        let gate = context.state.settings.tier_gate;
        let obstacle = if check_tier(gate, &self.caller, calls.tier).is_err() {
            Some(Obstacle::Tier)
        } else if !can_pay(context, &self.caller, calls.cost).await? {
            let cap = funds.and_then(|funds| funds.refusing_cap(calls.cost));
            Some(cap.map_or(Obstacle::Credits, |_| Obstacle::SpendCap))
        } else {
            (limit_status.remaining < calls.counted).then_some(Obstacle::Limit)
        };
        let balance = funds.map(|funds| funds.balance);
        context.keep_quoted();
        Ok(Quote { calls, balance, limit_status, obstacle }.data().to_string())
    }
}

impl AuthorisedCall {
    /// Returns the terms of the call at this cost, by this rule, as the data of the answer.
    ///
    /// # Errors
    ///
    /// The refusal where the balance cannot be read.
    pub(in crate::http) async fn quote(
        self,
        cost: u32,
        pricing: PriceRule,
    ) -> Result<String, ApiError> {
        let Self { context, caller, operation, .. } = self;
        let mut calls = QuotedCalls::of(operation.id, pricing);
        calls.add(operation.tier, cost);
        AdmittedCall { context, caller }.quote(calls).await
    }
}

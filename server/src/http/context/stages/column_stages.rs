//! The stages of columns, whose price follows from their rows.

use account_core::idempotency::{Claim, RequestDigest};
use account_core::store::LedgerStore as _;

use super::{super::super::error::ApiError, AuthorisedCall, release, reserve, take};

/// The answer that is stored under the key of columns. A repeat computes the same bits again and is
/// not charged, so that no answer of megabytes is stored.
const KEPT: &str = "{}";

impl AuthorisedCall {
    /// Returns whether the request may be sent again under a key.
    #[must_use]
    pub(crate) fn has_key(&self) -> bool {
        self.slot.is_some()
    }

    /// Reserves `most` credits, does the work, and charges for it what the work says, in one entry
    /// of the ledger. Under a key that was answered before, the work is done and nothing charged.
    ///
    /// # Errors
    ///
    /// The refusal of `unpaid` where the balance does not suffice; the errors of the work, of the
    /// ledger, and of a key that runs or was sent with another body.
    pub(crate) async fn run_priced<T>(
        mut self,
        most: u32,
        unpaid: impl Fn(u32) -> ApiError,
        request: Option<RequestDigest>,
        work: impl Future<Output = Result<(T, u32), ApiError>>,
    ) -> Result<T, ApiError> {
        let worded = |refusal| match refusal {
            ApiError::Credits { cost } => unpaid(cost),
            other => other,
        };
        let (Some(slot), Some(request)) = (self.slot, request) else {
            return self.charge_for(most, None, work).await.map_err(worded);
        };
        let context = self.context.clone();
        let claim = Claim { slot, request, run: context.id.as_u128() };
        if let Some(stored) = take(&context, claim).await? {
            let (answer, _) = work.await?;
            let _ = self.replay(stored);
            return Ok(answer);
        }
        let charged = self.charge_for(most, Some(claim), work).await;
        if charged.is_err() {
            release(&context, claim).await;
        }
        charged.map_err(worded)
    }

    async fn charge_for<T>(
        &mut self,
        most: u32,
        claim: Option<Claim>,
        work: impl Future<Output = Result<(T, u32), ApiError>>,
    ) -> Result<T, ApiError> {
        let reservation = reserve(&self.context, &self.caller, most).await?;
        let (answer, cost) = work.await?;
        self.cost = cost;
        let (entry, state) = (self.entry(), &self.context.state);
        let settled = async {
            match claim {
                None => state.ledger.settle(entry).await.map(Some),
                Some(claim) => {
                    state.accounts.store().settle_and_keep(claim, entry, KEPT.to_owned()).await
                }
            }
        };
        self.settle(reservation, settled).await?;
        Ok(answer)
    }
}

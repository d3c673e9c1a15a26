//! Calls that several instances count together: each lets through what it has leased.

use std::sync::Arc;

use account_core::limit::lease::{Allowance, HeldLease, ReturnedCalls, ahead};
use account_core::store::LeaseStore;
use account_core::{Caller, CallerId, GuestId, LimitDecision, LimitStatus, StoreError, Timestamp};
use chrono::TimeDelta;
use dashmap::DashMap;
use tokio::sync::Mutex;

use super::leases::Leases;

/// What this instance holds of each caller's calls.
pub(super) struct DistributedLimits {
    /// Where all instances lease them.
    pub(super) leases: Leases,
    shares: DashMap<CallerId, Arc<Mutex<HeldLease>>>,
}

impl DistributedLimits {
    /// Holds nothing yet.
    pub(super) fn new(leases: Leases) -> Self {
        Self { leases, shares: DashMap::new() }
    }

    /// Lets a call through that is leased, or leases the next ones. What else must let it through
    /// is asked by `admit_elsewhere`; where that refuses, the leased call is taken back.
    ///
    /// Calls of one caller wait for one lease. One that is given up on the way, with its client or
    /// by the clock, may have leased what nobody uses then: never too many, perhaps too few.
    pub(super) async fn admit(
        &self,
        caller: &Caller,
        now: Timestamp,
        admit_elsewhere: impl FnOnce(LimitStatus) -> LimitDecision + Send,
    ) -> Result<LimitDecision, StoreError> {
        let allowance = allowance(caller);
        let ahead = ahead(caller.id());
        let now = now + ahead;
        let share = self.share(caller);
        let mut share = share.lock().await;
        let decision = loop {
            if let Some(decision) = share.admit(now, &allowance) {
                break decision;
            }
            let ask = share.ask(now, &allowance);
            share.receive(self.leases.lease(caller.id(), ask).await?, &ask);
        };
        let own = match decision {
            LimitDecision::Granted(own) => by_the_clock(own, ahead),
            LimitDecision::Refused { retry_after, limit_status } => {
                let limit_status = by_the_clock(limit_status, ahead);
                return Ok(LimitDecision::Refused { retry_after, limit_status });
            }
        };
        let decision = admit_elsewhere(own);
        if matches!(decision, LimitDecision::Refused { .. }) {
            share.take_back();
        }
        Ok(decision)
    }

    /// How a caller's own limit stands; calls that another instance has leased count as made.
    pub(super) async fn limit_status(
        &self,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<LimitStatus, StoreError> {
        let (share, allowance) = (self.share(caller), allowance(caller));
        let ahead = ahead(caller.id());
        let now = now + ahead;
        let share = share.lock().await;
        let shared = self.leases.shared(caller.id()).await?.limit_status(now, &allowance);
        let remaining = shared.remaining + share.unused(now, &allowance);
        Ok(by_the_clock(LimitStatus { remaining, ..shared }, ahead))
    }

    /// How many calls of a guest all instances have leased today.
    pub(super) async fn requests_today(
        &self,
        guest: GuestId,
        now: Timestamp,
    ) -> Result<u32, StoreError> {
        Ok(self.leases.shared(CallerId::Guest(guest)).await?.requests_today(now))
    }

    /// Gives back what was leased for a cell that is over and not used.
    pub(super) async fn give_back_expired(&self, now: Timestamp) {
        self.give_back(|caller, share| share.give_up_expired(now + ahead(caller))).await;
    }

    /// Gives back everything.
    pub(super) async fn give_back_all(&self) {
        self.give_back(|_, share| share.give_up()).await;
    }

    /// Gives back what `give_up` makes a caller's share give up.
    async fn give_back(&self, give_up: impl Fn(CallerId, &mut HeldLease) -> Option<ReturnedCalls>) {
        let mut given_up = Vec::new();
        self.shares.retain(|caller, share| {
            // Whoever is at it looks at its lease itself.
            let Ok(mut held) = share.try_lock() else { return true };
            given_up.extend(give_up(*caller, &mut held).map(|unused| (*caller, unused)));
            !held.is_empty() || Arc::strong_count(share) > 1
        });
        if let Err(error) = self.leases.give_back_all(&given_up).await {
            // They count as made for an hour: too few are let through, not too many.
            tracing::warn!(%error, "calls that were leased are not given back");
        }
    }

    fn share(&self, caller: &Caller) -> Arc<Mutex<HeldLease>> {
        self.shares.entry(caller.id()).or_default().clone()
    }
}

/// A standing of a caller who is so far ahead of the clock.
fn by_the_clock(limit_status: LimitStatus, ahead: TimeDelta) -> LimitStatus {
    LimitStatus { reset_at: limit_status.reset_at - ahead, ..limit_status }
}

fn allowance(caller: &Caller) -> Allowance {
    match caller {
        Caller::Account(account) => Allowance::hourly(account.hourly_limit),
        Caller::Guest(_) => Allowance::GUEST,
    }
}

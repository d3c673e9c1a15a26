//! Limits that several instances share: each instance grants the calls that it has leased.

use std::sync::Arc;

use account_core::limit::lease::{Allowance, HeldLease, ReturnedCalls, ahead};
use account_core::store::LeaseStore;
use account_core::{Caller, CallerId, GuestId, LimitDecision, LimitStatus, StoreError, Timestamp};
use chrono::TimeDelta;
use dashmap::DashMap;
use tokio::sync::Mutex;

use super::leases::Leases;

/// The leased calls of each caller that this instance holds.
pub(super) struct DistributedLimits {
    /// The store of leases that all instances share.
    pub(super) leases: Leases,
    held: DashMap<CallerId, Arc<Mutex<HeldLease>>>,
}

impl DistributedLimits {
    /// Makes limits that have leased no call.
    pub(super) fn new(leases: Leases) -> Self {
        Self { leases, held: DashMap::new() }
    }

    /// Grants a leased call, or leases further calls first. `admit_elsewhere` decides about a
    /// second limit; where it refuses, the leased call stays unused.
    ///
    /// Concurrent calls of one caller wait for one lease. A cancelled or timed-out call may leave
    /// leased calls unused, so that too few calls are granted, and never too many.
    pub(super) async fn admit(
        &self,
        caller: &Caller,
        now: Timestamp,
        admit_elsewhere: impl FnOnce(LimitStatus) -> LimitDecision + Send,
    ) -> Result<LimitDecision, StoreError> {
        let allowance = allowance(caller);
        let ahead = ahead(caller.id());
        let now = now + ahead;
        let held = self.held_lease(caller);
        let mut held = held.lock().await;
        let decision = loop {
            if let Some(decision) = held.admit(now, &allowance) {
                break decision;
            }
            let ask = held.ask(now, &allowance);
            held.receive(self.leases.lease(caller.id(), ask).await?, &ask);
        };
        let own = match decision {
            LimitDecision::Granted(own) => to_real_clock(own, ahead),
            LimitDecision::Refused { retry_after, limit_status } => {
                let limit_status = to_real_clock(limit_status, ahead);
                return Ok(LimitDecision::Refused { retry_after, limit_status });
            }
        };
        let decision = admit_elsewhere(own);
        if matches!(decision, LimitDecision::Refused { .. }) {
            held.take_back();
        }
        Ok(decision)
    }

    /// Returns the status of a caller's own limit; calls that another instance has leased count as
    /// made.
    pub(super) async fn limit_status(
        &self,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<LimitStatus, StoreError> {
        let (held, allowance) = (self.held_lease(caller), allowance(caller));
        let ahead = ahead(caller.id());
        let now = now + ahead;
        let held = held.lock().await;
        let shared = self.leases.shared(caller.id()).await?.limit_status(now, &allowance);
        let remaining = shared.remaining + held.unused(now, &allowance);
        Ok(to_real_clock(LimitStatus { remaining, ..shared }, ahead))
    }

    /// Returns the number of a guest's calls that all instances have leased today.
    pub(super) async fn requests_today(
        &self,
        guest: GuestId,
        now: Timestamp,
    ) -> Result<u32, StoreError> {
        Ok(self.leases.shared(CallerId::Guest(guest)).await?.requests_today(now))
    }

    /// Returns unused calls that were leased for an expired cell.
    pub(super) async fn give_back_expired(&self, now: Timestamp) {
        self.give_back(|caller, held| held.give_up_expired(now + ahead(caller))).await;
    }

    /// Returns every unused leased call to the store, for a shutdown.
    pub(super) async fn give_back_all(&self) {
        self.give_back(|_, held| held.give_up()).await;
    }

    /// Returns the calls that `give_up` removes from the lease of each caller.
    async fn give_back(&self, give_up: impl Fn(CallerId, &mut HeldLease) -> Option<ReturnedCalls>) {
        let mut given_up = Vec::new();
        self.held.retain(|caller, lease| {
            // A call that holds the lock checks the lease itself.
            let Ok(mut held) = lease.try_lock() else { return true };
            given_up.extend(give_up(*caller, &mut held).map(|unused| (*caller, unused)));
            !held.is_empty() || Arc::strong_count(lease) > 1
        });
        if let Err(error) = self.leases.give_back_all(&given_up).await {
            // The calls count as made for an hour: too few calls are granted, and never too many.
            tracing::warn!(%error, "leased calls could not be returned");
        }
    }

    fn held_lease(&self, caller: &Caller) -> Arc<Mutex<HeldLease>> {
        self.held.entry(caller.id()).or_default().clone()
    }
}

/// Converts a status from a caller's shifted clock, which runs `ahead`, to the real clock.
fn to_real_clock(limit_status: LimitStatus, ahead: TimeDelta) -> LimitStatus {
    LimitStatus { reset_at: limit_status.reset_at - ahead, ..limit_status }
}

fn allowance(caller: &Caller) -> Allowance {
    match caller {
        Caller::Account(account) => Allowance::hourly(account.hourly_limit),
        Caller::Guest(_) => Allowance::GUEST,
    }
}

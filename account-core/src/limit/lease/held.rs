//! The lease of one instance, from which calls are allowed without a query.

use chrono::TimeDelta;

use super::{Allowance, Ask, Lease, ReturnedCalls, cell};
use crate::Timestamp;
use crate::limit::{LimitDecision, LimitStatus};

/// The time for which an instance assumes, without a query, that no calls remain.
const BELIEVED: TimeDelta = TimeDelta::seconds(1);

/// The lease that one instance holds for one caller.
#[derive(Clone, Debug, Default)]
pub struct HeldLease(Option<Held>);

#[derive(Clone, Copy, Debug)]
struct Held {
    /// The lease, with the calls that remain of it.
    lease: Lease,
    allowance: Allowance,
    /// The time at which the lease was requested.
    at: Timestamp,
}

impl Held {
    fn is_good(&self, now: Timestamp, allowance: &Allowance) -> bool {
        self.allowance == *allowance && cell(self.at) == cell(now)
    }

    /// Returns the status that the store sent, plus the remaining calls of the lease.
    fn limit_status(&self, now: Timestamp) -> LimitStatus {
        let told = self.lease.limit_status;
        let remaining = told.remaining.saturating_add(self.lease.calls);
        LimitStatus { remaining, reset_at: told.reset_at.max(now), ..told }
    }
}

impl HeldLease {
    /// Allows a call from the lease, or refuses a call where the store reported a moment ago that
    /// none remain. Returns `None` where the store must be asked.
    pub fn admit(&mut self, now: Timestamp, allowance: &Allowance) -> Option<LimitDecision> {
        let held = self.0.as_mut()?;
        if held.lease.calls > 0 && held.is_good(now, allowance) {
            held.lease.calls -= 1;
            return Some(LimitDecision::Granted(held.limit_status(now)));
        }
        let limit_status = held.limit_status(now);
        let age = now - held.at;
        let is_over = limit_status.remaining == 0
            && held.allowance == *allowance
            && (TimeDelta::zero()..BELIEVED).contains(&age)
            && now < held.lease.limit_status.reset_at;
        is_over.then(|| LimitDecision::refused(limit_status, now))
    }

    /// Returns the number of held calls that may still be allowed.
    #[must_use]
    pub fn unused(&self, now: Timestamp, allowance: &Allowance) -> u32 {
        self.0.filter(|held| held.is_good(now, allowance)).map_or(0, |held| held.lease.calls)
    }

    /// Takes back a call that was allowed here and then refused by another limit.
    pub fn take_back(&mut self) {
        if let Some(held) = &mut self.0 {
            held.lease.calls += 1;
        }
    }

    /// Makes a request for the next lease, which returns the calls of the held one.
    pub fn ask(&mut self, now: Timestamp, allowance: &Allowance) -> Ask {
        Ask { allowance: *allowance, now, unused: self.give_up() }
    }

    /// Stores the lease that the store granted.
    pub fn receive(&mut self, lease: Lease, ask: &Ask) {
        self.0 = Some(Held { lease, allowance: ask.allowance, at: ask.now });
    }

    /// Ends the held lease where its cell is over; returns its unused calls.
    pub fn give_up_expired(&mut self, now: Timestamp) -> Option<ReturnedCalls> {
        let is_over = self.0.is_some_and(|held| cell(held.at) != cell(now));
        if is_over { self.give_up() } else { None }
    }

    /// Ends the held lease; returns its unused calls; `None` where all calls were used.
    pub fn give_up(&mut self) -> Option<ReturnedCalls> {
        let lease = self.0.take()?.lease;
        (lease.calls > 0).then_some(ReturnedCalls { cell: lease.cell, calls: lease.calls })
    }

    /// Returns whether no lease is held.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

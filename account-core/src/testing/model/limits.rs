//! A model of the limits that instances share, as a state machine: leases, their return and their loss.
//!
//! [`LimitsModel`] states in plain numbers which calls of a caller are counted, until when, and what
//! each instance decides about a call. [`LimitsUnderTest`] makes the same calls at instances that
//! hold leases of one store.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::time::Duration;

use chrono::TimeDelta;
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use super::{Home, INSTANCES, OnInstance};
use crate::Timestamp;
use crate::identity::{AccountId, CallerId, GuestId};
use crate::limit::lease::{Allowance, Ask, HeldLease, ReturnedCalls, ahead};
use crate::limit::{LimitDecision, LimitStatus};
use crate::store::LeaseStore;
use crate::testing::FixedClock;

/// The callers of a model.
const CALLERS: [CallerId; 3] =
    [CallerId::Account(AccountId(1)), CallerId::Account(AccountId(2)), CallerId::Guest(GuestId(1))];
/// The milliseconds by which the clock of each caller is ahead.
const AHEAD: [i64; CALLERS.len()] = [9_271, 3_542, 0];
/// The number of the callers that are accounts, whose limits change.
const ACCOUNTS: usize = 2;
/// The hourly limit of an account at the start, and the limits of a guest.
const START: Allowance = Allowance { hourly: 200, daily: None };
const GUEST: Allowance = Allowance { hourly: 60, daily: Some(50) };

/// The length of a cell, in seconds.
const CELL: i64 = 15;
const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;
/// The seconds by which the clocks of instances may differ.
const CLOCKS: i64 = 10;
/// The most seconds for which a call is counted, by whatever clock.
const LONGEST: i64 = 60 + CELL + HOUR + CLOCKS;
/// The seconds after which a clock far ahead of all others is taken for wrong.
const DOUBTED: i64 = 60;
/// The seconds by which a clock may be behind the day of the latest call.
const DAY_SLACK: i64 = 300;

/// An operation on the limits of callers, by number.
#[derive(Clone, Copy, Debug)]
pub enum LimitOperation {
    /// This many calls of a caller in a row.
    Call(usize, u8),
    /// A call of a caller that another limit refuses.
    CallRefusedElsewhere(usize),
    /// A lease for a caller that does not reach the instance.
    LoseLease(usize),
    /// The return of the unused calls of expired leases.
    GiveBackExpired,
    /// A change of the hourly limit of an account, as the instance knows it.
    Limit(usize, u32),
    /// A change of the seconds by which the instance's clock is behind.
    SetClock(i64),
    /// A wait of so many milliseconds.
    Wait(i64),
    /// A restart of the instance, which returns its unused calls.
    Restart,
    /// A crash of the instance, which returns nothing, and its start.
    Crash,
}

/// The calls of one caller that all instances together have leased.
#[derive(Clone, Debug, Default)]
struct ModelWindow {
    /// The number of calls by the second at which their cell ends.
    leased: BTreeMap<i64, u32>,
    /// The latest second of any request.
    latest: i64,
    /// The second since which only clocks far behind the latest second have asked.
    doubted_since: Option<i64>,
    day: i64,
    used_on_day: u32,
}

/// The lease of one caller at one instance.
#[derive(Clone, Copy, Debug)]
struct ModelLease {
    calls: u32,
    /// The second at which the cell ends in which the calls are counted.
    cell_end: i64,
    allowance: Allowance,
    /// The millisecond of the request.
    asked_at: i64,
    /// The state of the limit beside the calls.
    told: LimitStatus,
}

#[derive(Clone, Debug)]
struct ModelInstance {
    /// The seconds by which the clock is behind.
    behind: i64,
    allowances: [Allowance; CALLERS.len()],
    held: [Option<ModelLease>; CALLERS.len()],
}

/// The leased calls of each caller, the leases of each instance, and the latest decisions.
#[derive(Clone, Debug)]
pub struct LimitsModel {
    /// True where the clocks may differ by more than a limit allows for.
    has_wrong_clocks: bool,
    /// The time in milliseconds since 1970.
    now: i64,
    windows: [ModelWindow; CALLERS.len()],
    instances: [ModelInstance; INSTANCES],
    decisions: Vec<LimitDecision>,
}

fn second(milliseconds: i64) -> i64 {
    milliseconds.div_euclid(1_000)
}

fn cell_end(milliseconds: i64) -> i64 {
    (second(milliseconds) / CELL + 1) * CELL
}

fn time(milliseconds: i64) -> Timestamp {
    Timestamp::from_timestamp_millis(milliseconds).expect("a time of this century")
}

impl ModelWindow {
    /// Returns for each counted cell the second from which it is not counted, and its calls.
    fn counted(&self, now: i64) -> Vec<(i64, u32)> {
        let longest = second(now) + LONGEST;
        let leased = self.leased.iter();
        let counted = leased.map(|(end, calls)| ((end + HOUR + CLOCKS).min(longest), *calls));
        counted.filter(|(leaves_at, _)| *leaves_at > second(now)).collect()
    }

    /// Returns the state of the hour; more calls remain from the first end of a cell that frees some.
    fn hour(&self, now: i64, limit: u32) -> LimitStatus {
        let counted = self.counted(now);
        let remaining_after = |second: i64| {
            let later = counted.iter().filter(|(leaves_at, _)| *leaves_at > second);
            limit.saturating_sub(later.map(|(_, calls)| calls).sum())
        };
        let remaining = remaining_after(second(now));
        let mut ends = counted.iter().map(|(leaves_at, _)| *leaves_at);
        let reset_at = match ends.find(|end| remaining_after(*end) > remaining) {
            Some(end) => end * 1_000,
            None if limit == 0 => now + HOUR * 1_000,
            None => now,
        };
        LimitStatus { limit, remaining, reset_at: time(reset_at) }
    }

    /// Returns the day that a call at this time belongs to, and the calls of that day.
    fn day_at(&self, now: i64) -> (i64, u32) {
        let today = second(now) / DAY;
        if self.day < today {
            (today, 0)
        } else if self.day > (second(now) + DAY_SLACK) / DAY {
            (today, self.used_on_day)
        } else {
            (self.day, self.used_on_day)
        }
    }

    fn status(&self, now: i64, allowance: Allowance) -> LimitStatus {
        let hour = self.hour(now, allowance.hourly);
        let Some(limit) = allowance.daily else { return hour };
        let (day, used) = self.day_at(now);
        let reset_at = time((day + 1) * DAY * 1_000);
        let day = LimitStatus { limit, remaining: limit.saturating_sub(used), reset_at };
        if (day.remaining, hour.reset_at) < (hour.remaining, day.reset_at) { day } else { hour }
    }

    /// Counts calls as leased now that a clock far ahead has leased, once that clock is doubted.
    fn correct(&mut self, now: i64) {
        if second(now) >= self.latest - HOUR {
            self.doubted_since = None;
        } else if second(now) - *self.doubted_since.get_or_insert(second(now)) >= DOUBTED {
            let later = self.leased.split_off(&(cell_end(now) + 1));
            let calls: u32 = later.into_values().sum();
            if calls > 0 {
                *self.leased.entry(cell_end(now)).or_default() += calls;
            }
            (self.day, self.used_on_day) = self.day_at(now);
            (self.latest, self.doubted_since) = (second(now), None);
        }
    }

    fn lease(&mut self, asked_at: i64, allowance: Allowance) -> ModelLease {
        self.correct(asked_at);
        let earliest = (self.latest - CLOCKS) * 1_000;
        let is_behind = asked_at < earliest;
        let now = asked_at.max(earliest);
        self.latest = self.latest.max(second(asked_at));
        self.leased.retain(|end, _| end + HOUR + CLOCKS > second(now));
        let seen = if self.doubted_since.is_some() { asked_at } else { now };
        let calls = match self.status(seen, allowance).remaining {
            0 => 0,
            _ if is_behind || allowance.daily.is_some() => 1,
            remaining => (remaining / 16).min(allowance.hourly / 100).max(1),
        };
        let cell_end = cell_end(now);
        if calls > 0 {
            *self.leased.entry(cell_end).or_default() += calls;
            self.count_on_day(now, allowance);
        }
        ModelLease { calls, cell_end, allowance, asked_at, told: self.status(seen, allowance) }
    }

    fn count_on_day(&mut self, now: i64, allowance: Allowance) {
        if let Some(limit) = allowance.daily {
            (self.day, self.used_on_day) = self.day_at(now);
            self.used_on_day += u32::from(self.used_on_day < limit);
        }
    }

    /// Counts the unused calls of a lease no longer, unless their cell is over.
    fn give_back(&mut self, lease: &ModelLease) {
        let Some(calls) = self.leased.get_mut(&lease.cell_end) else { return };
        *calls = calls.saturating_sub(lease.calls);
        if *calls == 0 {
            self.leased.remove(&lease.cell_end);
        }
        if self.day == (lease.cell_end - CELL) / DAY {
            self.used_on_day = self.used_on_day.saturating_sub(lease.calls);
        }
    }
}

impl ModelLease {
    /// Returns the decision on a call; `None` where the store must be asked.
    fn decide(&mut self, now: i64, allowance: Allowance) -> Option<LimitDecision> {
        let is_same = self.allowance == allowance;
        let is_valid = is_same && cell_end(self.asked_at) == cell_end(now);
        let is_granted = is_valid && self.calls > 0;
        self.calls -= u32::from(is_granted);
        let remaining = self.told.remaining + self.calls;
        let reset_at = self.told.reset_at.max(time(now));
        let limit_status = LimitStatus { remaining, reset_at, ..self.told };
        let is_fresh = (0..1_000).contains(&(now - self.asked_at)) && time(now) < reset_at;
        if is_granted {
            Some(LimitDecision::Granted(limit_status))
        } else if is_same && remaining == 0 && is_fresh {
            let retry_after = (reset_at - time(now)).num_milliseconds().unsigned_abs();
            let retry_after = Duration::from_millis(retry_after);
            Some(LimitDecision::Refused { retry_after, limit_status })
        } else {
            None
        }
    }
}

impl LimitsModel {
    fn new(has_wrong_clocks: bool) -> Self {
        let instance = ModelInstance {
            behind: 0,
            allowances: [START, START, GUEST],
            held: [None; CALLERS.len()],
        };
        Self {
            has_wrong_clocks,
            now: FixedClock::default().now().timestamp_millis(),
            windows: Default::default(),
            instances: [instance.clone(), instance],
            decisions: Vec::new(),
        }
    }

    /// Returns the time of an instance's clock for a caller.
    fn clock(&self, instance: usize, caller: usize) -> i64 {
        self.now - self.instances[instance].behind * 1_000 + AHEAD[caller]
    }

    /// Ends the lease of a caller at an instance, and counts its unused calls no longer.
    fn give_up(&mut self, instance: usize, caller: usize) {
        if let Some(lease) = self.instances[instance].held[caller].take()
            && lease.calls > 0
        {
            self.windows[caller].give_back(&lease);
        }
    }

    fn call(&mut self, instance: usize, caller: usize) -> LimitDecision {
        let now = self.clock(instance, caller);
        let allowance = self.instances[instance].allowances[caller];
        let held = self.instances[instance].held[caller].as_mut();
        if let Some(decision) = held.and_then(|held| held.decide(now, allowance)) {
            return decision;
        }
        self.give_up(instance, caller);
        let mut lease = self.windows[caller].lease(now, allowance);
        let decision = lease.decide(now, allowance).expect("the store was asked");
        self.instances[instance].held[caller] = Some(lease);
        decision
    }

    fn operate(&mut self, instance: usize, operation: LimitOperation) {
        match operation {
            LimitOperation::Call(caller, calls) => {
                self.decisions = (0..calls).map(|_| self.call(instance, caller)).collect();
            }
            LimitOperation::CallRefusedElsewhere(caller) => {
                let decision = self.call(instance, caller);
                if let (LimitDecision::Granted(_), Some(lease)) =
                    (decision, &mut self.instances[instance].held[caller])
                {
                    lease.calls += 1;
                }
                self.decisions = vec![decision];
            }
            LimitOperation::LoseLease(caller) => {
                self.give_up(instance, caller);
                let allowance = self.instances[instance].allowances[caller];
                self.windows[caller].lease(self.clock(instance, caller), allowance);
            }
            LimitOperation::GiveBackExpired => {
                for caller in 0..CALLERS.len() {
                    let now = self.clock(instance, caller);
                    let held = self.instances[instance].held[caller];
                    if held.is_some_and(|held| cell_end(held.asked_at) != cell_end(now)) {
                        self.give_up(instance, caller);
                    }
                }
            }
            LimitOperation::Limit(account, hourly) => {
                self.instances[instance].allowances[account].hourly = hourly;
            }
            LimitOperation::SetClock(behind) => self.instances[instance].behind = behind,
            LimitOperation::Wait(milliseconds) => self.now += milliseconds,
            LimitOperation::Restart => {
                (0..CALLERS.len()).for_each(|caller| self.give_up(instance, caller));
            }
            LimitOperation::Crash => self.instances[instance].held = [None; CALLERS.len()],
        }
    }

    /// Returns the state of a caller's limit as an instance reports it.
    fn status(&self, instance: usize, caller: usize) -> LimitStatus {
        let now = self.clock(instance, caller);
        let ModelInstance { allowances, held, .. } = &self.instances[instance];
        let allowance = allowances[caller];
        let is_valid = |held: &&ModelLease| {
            held.allowance == allowance && cell_end(held.asked_at) == cell_end(now)
        };
        let unused = held[caller].as_ref().filter(is_valid).map_or(0, |held| held.calls);
        let told = self.windows[caller].status(now, allowance);
        LimitStatus { remaining: told.remaining + unused, ..told }
    }
}

impl ReferenceStateMachine for LimitsModel {
    type State = Self;
    type Transition = OnInstance<LimitOperation>;

    fn init_state() -> BoxedStrategy<Self> {
        any::<bool>().prop_map(Self::new).boxed()
    }

    fn transitions(state: &Self) -> BoxedStrategy<OnInstance<LimitOperation>> {
        use LimitOperation as Operation;

        let caller = 0..CALLERS.len();
        let limits = prop::sample::select(vec![0, 1, 5, 30, 200, 2_000]);
        let wrong = [0, CLOCKS + 1, 600, 7_200, 7_200];
        let behind = if state.has_wrong_clocks { &wrong[..] } else { &[0, 4, CLOCKS] };
        let behind = prop::sample::select(behind.to_vec());
        #[rustfmt::skip]
        let waits = vec![
            300, 999, 1_000, 14_999, 15_000, 60_000, 60_000, 1_800_000,
            3_599_000, 3_610_000, 3_625_000, 43_200_000,
        ];
        let operation = prop_oneof![
            12 => (caller.clone(), 1u8..24)
                .prop_map(|(caller, calls)| Operation::Call(caller, calls)),
            2 => caller.clone().prop_map(Operation::CallRefusedElsewhere),
            1 => caller.prop_map(Operation::LoseLease),
            3 => Just(Operation::GiveBackExpired),
            2 => (0..ACCOUNTS, limits)
                .prop_map(|(account, hourly)| Operation::Limit(account, hourly)),
            2 => behind.prop_map(Operation::SetClock),
            8 => prop::sample::select(waits).prop_map(Operation::Wait),
            1 => Just(Operation::Restart),
            1 => Just(Operation::Crash),
        ];
        (0..INSTANCES, operation).boxed()
    }

    fn apply(mut state: Self, (instance, operation): &OnInstance<LimitOperation>) -> Self {
        state.decisions.clear();
        state.operate(*instance, *operation);
        state
    }
}

/// An instance of the service, with the leases that it holds.
struct Instance<S> {
    store: S,
    /// The seconds by which the clock is behind.
    behind: i64,
    allowances: [Allowance; CALLERS.len()],
    held: [HeldLease; CALLERS.len()],
}

/// Two instances that lease from one store, and the calls that both granted.
pub struct LimitsUnderTest<H: Home> {
    home: H,
    clock: FixedClock,
    instances: Vec<Instance<H::Store>>,
    /// The time and the hourly limit of each granted call, by caller.
    granted: [Vec<(Timestamp, u32)>; CALLERS.len()],
}

/// The test that compares a store with `LimitsModel`.
pub struct LimitsTest<H>(PhantomData<H>);

impl<S: LeaseStore> Instance<S> {
    fn clock(&self, now: Timestamp, caller: usize) -> Timestamp {
        now - TimeDelta::seconds(self.behind) + ahead(CALLERS[caller])
    }

    /// Decides on a call as the server does: from the held lease, or from the next one.
    async fn call(&mut self, now: Timestamp, caller: usize) -> LimitDecision {
        let (now, allowance) = (self.clock(now, caller), self.allowances[caller]);
        if let Some(decision) = self.held[caller].admit(now, &allowance) {
            return decision;
        }
        let ask = self.held[caller].ask(now, &allowance);
        self.lease(caller, ask).await;
        self.held[caller].admit(now, &allowance).expect("the store was asked")
    }

    async fn lease(&mut self, caller: usize, ask: Ask) {
        let lease = self.store.lease(CALLERS[caller], ask).await.expect("the store answers");
        self.held[caller].receive(lease, &ask);
    }

    async fn give_back(&self, caller: usize, unused: Option<ReturnedCalls>) {
        if let Some(unused) = unused {
            self.store.give_back(CALLERS[caller], unused).await.expect("the store answers");
        }
    }
}

impl<H: Home<Store: LeaseStore>> LimitsUnderTest<H> {
    fn new() -> Self {
        let home = H::create();
        let instance = |_| Instance {
            store: H::run(home.open()),
            behind: 0,
            allowances: [START, START, Allowance::GUEST],
            held: Default::default(),
        };
        let instances = (0..INSTANCES).map(instance).collect();
        Self { home, clock: FixedClock::default(), instances, granted: Default::default() }
    }

    async fn call(&mut self, instance: usize, caller: usize) -> LimitDecision {
        let (now, instance) = (self.clock.now(), &mut self.instances[instance]);
        let decision = instance.call(now, caller).await;
        if matches!(decision, LimitDecision::Granted(_)) {
            self.granted[caller].push((now, instance.allowances[caller].hourly));
        }
        decision
    }

    async fn operate(
        &mut self,
        (number, operation): OnInstance<LimitOperation>,
    ) -> Vec<LimitDecision> {
        let now = self.clock.now();
        let instance = &mut self.instances[number];
        let mut decisions = Vec::new();
        match operation {
            LimitOperation::Call(caller, calls) => {
                for _ in 0..calls {
                    decisions.push(self.call(number, caller).await);
                }
            }
            LimitOperation::CallRefusedElsewhere(caller) => {
                decisions.push(instance.call(now, caller).await);
                if matches!(decisions[..], [LimitDecision::Granted(_)]) {
                    instance.held[caller].take_back();
                }
            }
            LimitOperation::LoseLease(caller) => {
                let (now, allowance) = (instance.clock(now, caller), instance.allowances[caller]);
                let ask = instance.held[caller].ask(now, &allowance);
                instance.store.lease(CALLERS[caller], ask).await.expect("the store answers");
            }
            LimitOperation::GiveBackExpired => {
                for caller in 0..CALLERS.len() {
                    let now = instance.clock(now, caller);
                    let unused = instance.held[caller].give_up_expired(now);
                    instance.give_back(caller, unused).await;
                }
            }
            LimitOperation::Limit(account, hourly) => {
                instance.allowances[account] = Allowance::hourly(hourly);
            }
            LimitOperation::SetClock(behind) => instance.behind = behind,
            LimitOperation::Wait(milliseconds) => {
                self.clock.advance(TimeDelta::milliseconds(milliseconds));
            }
            LimitOperation::Restart => {
                for caller in 0..CALLERS.len() {
                    let unused = instance.held[caller].give_up();
                    instance.give_back(caller, unused).await;
                }
                instance.store = self.home.open().await;
            }
            LimitOperation::Crash => {
                instance.held = Default::default();
                instance.store = self.home.open().await;
            }
        }
        decisions
    }

    /// Compares the state of each limit, which both instances read from one of the two stores.
    async fn check(&self, model: &LimitsModel) {
        let reader = &self.instances[model.decisions.len() % INSTANCES].store;
        for (caller, id) in CALLERS.into_iter().enumerate() {
            let shared = reader.shared(id).await.expect("the store answers");
            for (number, instance) in self.instances.iter().enumerate() {
                let now = instance.clock(self.clock.now(), caller);
                let allowance = &instance.allowances[caller];
                let told = shared.limit_status(now, allowance);
                let remaining = told.remaining + instance.held[caller].unused(now, allowance);
                let found = LimitStatus { remaining, ..told };
                assert_eq!(found, model.status(number, caller), "{id:?} at {number}");
                let (_, used) = model.windows[caller].day_at(model.clock(number, caller));
                assert_eq!(shared.requests_today(now), used, "{id:?} at {number}");
            }
        }
    }

    /// Checks that no hour held more calls of a caller than the largest limit of these calls.
    fn check_hour(&self) {
        let since = self.clock.now() - TimeDelta::seconds(HOUR);
        for (granted, id) in self.granted.iter().zip(CALLERS) {
            let hour = granted.iter().rev().take_while(|(at, _)| *at > since);
            let limit = hour.clone().map(|(_, limit)| *limit).max().unwrap_or_default();
            assert!(hour.count() <= limit as usize, "{id:?} had more than {limit} calls");
        }
    }
}

impl<H: Home<Store: LeaseStore>> StateMachineTest for LimitsTest<H> {
    type SystemUnderTest = LimitsUnderTest<H>;
    type Reference = LimitsModel;

    fn init_test(_: &LimitsModel) -> LimitsUnderTest<H> {
        LimitsUnderTest::new()
    }

    fn apply(
        mut sut: LimitsUnderTest<H>,
        model: &LimitsModel,
        step: OnInstance<LimitOperation>,
    ) -> LimitsUnderTest<H> {
        let found = H::run(sut.operate(step));
        assert_eq!(found, model.decisions, "{step:?}");
        sut
    }

    fn check_invariants(sut: &LimitsUnderTest<H>, model: &LimitsModel) {
        H::run(sut.check(model));
        if !model.has_wrong_clocks {
            sut.check_hour();
        }
    }
}

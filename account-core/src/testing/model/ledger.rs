//! A model of the ledger as a state machine: balances, caps, grants, debits and claims.
//!
//! [`LedgerModel`] states in plain numbers what a store must answer. [`LedgerUnderTest`] sends the same
//! operations to a store.

use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

use chrono::TimeDelta;
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use super::{Home, email, new_account, opened};
use crate::accounts::Accounts;
use crate::credits::{Entry, Settlement, Usage};
use crate::idempotency::{Claim, Claimed, HELD, KEPT, RequestDigest, Slot, StoredAnswer};
use crate::identity::{AccountId, CallerId};
use crate::store::{LedgerStore, ProfileChanges};
use crate::testing::{CheapHasher, FixedClock};
use crate::{Timestamp, guest};

/// The number of accounts of a model.
const ACCOUNTS: usize = 2;
/// The credits of each account at the start.
const START: u64 = 60;
/// The number of idempotency keys of each account.
const KEYS: u8 = 2;
const ENDPOINTS: [&str; 2] = ["/a", "/b"];

/// An operation on the ledger.
#[derive(Clone, Debug)]
pub enum LedgerOperation {
    /// Calls of accounts, by number, with their costs, settled in one batch.
    Debit(Vec<(usize, u32)>),
    /// Credits that an operator grants.
    Grant(usize, u16),
    /// A change of the cap of credits a day.
    Cap(usize, Option<u8>),
    /// The claim of an idempotency key for a request with one of two bodies.
    Claim(usize, u8, bool),
    /// A charged answer under the latest claim of a key.
    Answer(usize, u8, u32),
    /// The release of the latest claim of a key.
    Release(usize, u8),
    /// A wait of so many seconds.
    Wait(u32),
    /// A restart, or the opening of the store by another instance.
    Reopen,
}

/// The result of an operation.
#[derive(Clone, Debug, PartialEq)]
enum LedgerOutcome {
    Settled(Vec<Settlement>),
    Claimed(Claimed),
    Answered(Option<Settlement>),
    Done,
}

#[derive(Clone, Debug)]
struct ModelAccount {
    balance: u64,
    cap: Option<u64>,
    /// The credits spent, by day.
    spent: BTreeMap<i64, u64>,
    /// The days of the latest notices at 80 % and at the cap.
    told: [Option<i64>; 2],
    notices: usize,
}

#[derive(Clone, Debug)]
struct ModelClaim {
    request: bool,
    run: u128,
    claimed_at: Timestamp,
    answer: Option<(u32, u64)>,
}

/// The state that a store must have, and the result that its latest operation must have had.
#[derive(Clone, Debug)]
pub struct LedgerModel {
    now: Timestamp,
    accounts: [ModelAccount; ACCOUNTS],
    claims: HashMap<(usize, u8), ModelClaim>,
    /// The latest run that a key was claimed for.
    runs: HashMap<(usize, u8), u128>,
    /// The number of claims, and of calls, so far.
    claimed: u128,
    called: u128,
    outcome: LedgerOutcome,
}

impl LedgerModel {
    fn new() -> Self {
        let account = ModelAccount {
            balance: START,
            cap: None,
            spent: BTreeMap::new(),
            told: [None; 2],
            notices: 0,
        };
        Self {
            now: FixedClock::default().now(),
            accounts: [account.clone(), account],
            claims: HashMap::new(),
            runs: HashMap::new(),
            claimed: 0,
            called: 0,
            outcome: LedgerOutcome::Done,
        }
    }

    fn settle(&mut self, calls: &[(usize, u32)]) -> Vec<Settlement> {
        self.called += calls.len() as u128;
        let day = guest::day(self.now);
        let mut was_refused = [false; ACCOUNTS];
        let mut settled = Vec::new();
        for &(number, cost) in calls {
            let account = &mut self.accounts[number];
            let spent = account.spent.entry(day).or_default();
            let (cost, balance) = (u64::from(cost), account.balance);
            settled.push(if cost > balance {
                Settlement::Insufficient { balance }
            } else if let Some(per_day) = account.cap.filter(|cap| cost > 0 && *spent + cost > *cap)
            {
                was_refused[number] = true;
                Settlement::OverCap { balance, per_day }
            } else {
                account.balance -= cost;
                *spent += cost;
                Settlement::Charged { balance: account.balance }
            });
        }
        for (number, account) in self.accounts.iter_mut().enumerate() {
            // A call that the balance refuses is not counted against the cap.
            let is_counted = calls.iter().zip(&settled).any(|((whose, cost), settled)| {
                let by_balance = matches!(settled, Settlement::Insufficient { .. });
                *whose == number && *cost > 0 && !by_balance
            });
            if is_counted {
                account.notify(day, was_refused[number]);
            }
        }
        settled
    }

    fn claim(&mut self, slot: (usize, u8), request: bool) -> Claimed {
        self.claimed += 1;
        let held = self.claims.get(&slot).filter(|claim| {
            let is_valid = self.now < claim.claimed_at + KEPT;
            is_valid && (claim.answer.is_some() || self.now < claim.claimed_at + HELD)
        });
        match held {
            Some(claim) if claim.request != request => Claimed::OtherRequest,
            Some(ModelClaim { answer: Some((cost, balance)), .. }) => {
                Claimed::Answered(StoredAnswer {
                    body: "{}".to_owned(),
                    cost: *cost,
                    balance: *balance,
                })
            }
            Some(_) => Claimed::Running,
            None => {
                let (run, claimed_at) = (self.claimed, self.now);
                self.runs.insert(slot, run);
                let claim = ModelClaim { request, run, claimed_at, answer: None };
                self.claims.insert(slot, claim);
                Claimed::Yours
            }
        }
    }

    fn answer(&mut self, slot: (usize, u8), cost: u32) -> Option<Settlement> {
        let run = self.runs.get(&slot)?;
        self.claims.get(&slot).filter(|claim| claim.run == *run && claim.answer.is_none())?;
        // Nothing of a refused answer is stored, no notice either.
        let before = self.accounts.clone();
        let settled = self.settle(&[(slot.0, cost)])[0];
        match (settled, self.claims.get_mut(&slot)) {
            (Settlement::Charged { balance }, Some(claim)) => claim.answer = Some((cost, balance)),
            _ => self.accounts = before,
        }
        Some(settled)
    }
}

impl ModelAccount {
    /// Counts the notice of the mark that the day's spending has reached.
    fn notify(&mut self, day: i64, was_refused: bool) {
        let Some(cap) = self.cap else { return };
        let spent = self.spent.get(&day).copied().unwrap_or_default();
        let is_told = |told: Option<i64>| told.is_some_and(|told| told >= day);
        let is_reached = was_refused || (spent > 0 && spent >= cap);
        let is_near = spent > 0 && 5 * spent >= 4 * cap;
        if is_reached && !is_told(self.told[1]) {
            self.told[1] = Some(day);
            self.notices += 1;
        } else if !is_reached && is_near && !is_told(self.told[0]) && !is_told(self.told[1]) {
            self.told[0] = Some(day);
            self.notices += 1;
        }
    }
}

impl ReferenceStateMachine for LedgerModel {
    type State = Self;
    type Transition = LedgerOperation;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self::new()).boxed()
    }

    fn transitions(_: &Self) -> BoxedStrategy<LedgerOperation> {
        let account = 0..ACCOUNTS;
        let key = 0..KEYS;
        prop_oneof![
            6 => prop::collection::vec((account.clone(), 0u32..9), 1..8)
                .prop_map(LedgerOperation::Debit),
            2 => (account.clone(), 1u16..40).prop_map(|(a, c)| LedgerOperation::Grant(a, c)),
            3 => (account.clone(), prop::option::of(0u8..50))
                .prop_map(|(a, cap)| LedgerOperation::Cap(a, cap)),
            3 => (account.clone(), key.clone(), any::<bool>())
                .prop_map(|(a, k, body)| LedgerOperation::Claim(a, k, body)),
            3 => (account.clone(), key.clone(), 0u32..9)
                .prop_map(|(a, k, cost)| LedgerOperation::Answer(a, k, cost)),
            1 => (account, key).prop_map(|(a, k)| LedgerOperation::Release(a, k)),
            2 => prop::sample::select(vec![1, 89, 90, 43_200, 86_400]).prop_map(LedgerOperation::Wait),
            1 => Just(LedgerOperation::Reopen),
        ]
        .boxed()
    }

    fn apply(mut state: Self, operation: &LedgerOperation) -> Self {
        state.outcome = match *operation {
            LedgerOperation::Debit(ref calls) => LedgerOutcome::Settled(state.settle(calls)),
            LedgerOperation::Claim(account, key, request) => {
                LedgerOutcome::Claimed(state.claim((account, key), request))
            }
            LedgerOperation::Answer(account, key, cost) => {
                LedgerOutcome::Answered(state.answer((account, key), cost))
            }
            LedgerOperation::Grant(account, credits) => {
                state.accounts[account].balance += u64::from(credits);
                LedgerOutcome::Done
            }
            LedgerOperation::Cap(account, cap) => {
                state.accounts[account].cap = cap.map(u64::from);
                LedgerOutcome::Done
            }
            LedgerOperation::Release(account, key) => {
                let slot = (account, key);
                let run = state.runs.get(&slot).copied();
                if state
                    .claims
                    .get(&slot)
                    .is_some_and(|claim| Some(claim.run) == run && claim.answer.is_none())
                {
                    state.claims.remove(&slot);
                }
                LedgerOutcome::Done
            }
            LedgerOperation::Wait(seconds) => {
                state.now += TimeDelta::seconds(seconds.into());
                LedgerOutcome::Done
            }
            LedgerOperation::Reopen => LedgerOutcome::Done,
        };
        state
    }
}

/// A store that gets the operations of a model.
pub struct LedgerUnderTest<H: Home> {
    home: H,
    accounts: Accounts<H::Store, CheapHasher>,
    clock: FixedClock,
    ids: Vec<AccountId>,
    /// The latest run that each key was claimed for.
    runs: HashMap<(usize, u8), Claim>,
    claimed: u128,
    called: u128,
}

/// The test that compares a store with `LedgerModel`.
pub struct LedgerTest<H>(PhantomData<H>);

impl<H: Home> LedgerUnderTest<H> {
    fn new() -> Self {
        let (home, clock) = (H::create(), FixedClock::default());
        let accounts = H::run(opened(&home, &clock, 0));
        let mut sut = Self {
            home,
            accounts,
            clock,
            ids: Vec::new(),
            runs: HashMap::new(),
            claimed: 0,
            called: 0,
        };
        for number in 0..ACCOUNTS {
            let account = new_account(number, None, START);
            let created = sut.accounts.create_account(account, sut.clock.now());
            let created = H::run(created).expect("a new account");
            sut.ids.push(created.id);
        }
        sut
    }

    fn entry(&mut self, account: usize, cost: u32) -> Entry {
        self.called += 1;
        let usage = Usage {
            request_id: self.called,
            endpoint: ENDPOINTS[self.called as usize % ENDPOINTS.len()].into(),
            method: "POST".into(),
            status: 200,
            response_time_ms: 1,
            ip: [192, 0, 2, 1].into(),
            at: self.clock.now(),
        };
        Entry { caller: CallerId::Account(self.ids[account]), cost, usage, kept: None }
    }

    async fn operate(&mut self, operation: LedgerOperation) -> LedgerOutcome {
        match operation {
            LedgerOperation::Debit(calls) => {
                let batch = calls.iter().map(|(account, cost)| self.entry(*account, *cost));
                let batch = batch.collect();
                let settled = self.accounts.store().settle(batch).await;
                LedgerOutcome::Settled(settled.expect("the store answers"))
            }
            LedgerOperation::Grant(account, credits) => {
                let (email, now) = (email(account), self.clock.now());
                let granted = self.accounts.grant(&email, credits.into(), now);
                granted.await.expect("an account");
                LedgerOutcome::Done
            }
            LedgerOperation::Cap(account, cap) => {
                let spend_cap_per_day = Some(cap.map(u64::from));
                let changes = ProfileChanges { spend_cap_per_day, ..ProfileChanges::default() };
                let changed = self.accounts.update_profile(self.ids[account], changes).await;
                changed.expect("an account");
                LedgerOutcome::Done
            }
            LedgerOperation::Claim(account, key, request) => {
                self.claimed += 1;
                let slot = Slot([1 + 16 * account as u8 + key; 32]);
                let request = RequestDigest::of(&[u8::from(request)]);
                let claim = Claim { slot, request, run: self.claimed };
                let claimed = self.accounts.store().claim(claim).await.expect("the store answers");
                if claimed == Claimed::Yours {
                    self.runs.insert((account, key), claim);
                }
                LedgerOutcome::Claimed(claimed)
            }
            LedgerOperation::Answer(account, key, cost) => {
                let Some(claim) = self.runs.get(&(account, key)).copied() else {
                    return LedgerOutcome::Answered(None);
                };
                let entry = self.entry(account, cost);
                let store = self.accounts.store();
                let settled = store.settle_and_keep(claim, entry, "{}".to_owned()).await;
                LedgerOutcome::Answered(settled.expect("the store answers"))
            }
            LedgerOperation::Release(account, key) => {
                if let Some(claim) = self.runs.get(&(account, key)) {
                    self.accounts.store().release(*claim).await.expect("the store answers");
                }
                LedgerOutcome::Done
            }
            LedgerOperation::Wait(seconds) => {
                self.clock.advance(TimeDelta::seconds(seconds.into()));
                LedgerOutcome::Done
            }
            LedgerOperation::Reopen => {
                self.accounts = opened(&self.home, &self.clock, 0).await;
                LedgerOutcome::Done
            }
        }
    }

    async fn check(&self, model: &LedgerModel) {
        let day = guest::day(model.now);
        let audit = self.accounts.audit().await.expect("the store answers");
        assert!(audit.holds(), "{:?}", audit.faults);
        for (id, expected) in self.ids.iter().zip(&model.accounts) {
            let store = self.accounts.store();
            let funds = store.funds(*id, day).await.expect("the store answers");
            let funds = funds.expect("an account");
            assert_eq!(funds.balance, expected.balance);
            assert_eq!(funds.cap.map(|capped| capped.cap.per_day), expected.cap);
            let spent = store.spent_credits(*id, day).await.expect("the store answers");
            assert_eq!(spent, expected.spent.get(&day).copied().unwrap_or_default());
            let inbox = self.accounts.notifications(*id, false, 100, 0).await;
            let entries = inbox.expect("the store answers").entries;
            let notices = entries.iter().filter(|entry| entry.title.starts_with("Daily cap"));
            assert_eq!(notices.count(), expected.notices);
        }
    }
}

impl<H: Home> StateMachineTest for LedgerTest<H> {
    type SystemUnderTest = LedgerUnderTest<H>;
    type Reference = LedgerModel;

    fn init_test(_: &LedgerModel) -> LedgerUnderTest<H> {
        LedgerUnderTest::new()
    }

    fn apply(
        mut sut: LedgerUnderTest<H>,
        model: &LedgerModel,
        operation: LedgerOperation,
    ) -> LedgerUnderTest<H> {
        let shown = format!("{operation:?}");
        let found = H::run(sut.operate(operation));
        assert_eq!(found, model.outcome, "{shown}");
        sut
    }

    fn check_invariants(sut: &LedgerUnderTest<H>, model: &LedgerModel) {
        H::run(sut.check(model));
    }
}

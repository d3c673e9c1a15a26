//! The ledger, usage rows, stored answers of repeated requests, and stored results.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::tables::{Taken, spend};
use super::{Account, Called, LedgerRow, MICROSECONDS_A_MINUTE, MemoryStore, State, Stored, day};
use crate::Timestamp;
use crate::accounts::results::{MOST_BYTES, MOST_RESULTS};
use crate::credits::{
    self, Audit, AuditFault, Entry, FaultKind, MinuteCount, REFUSED_BY_LIMIT, Settlement,
    TransactionKind, Usage,
};
use crate::idempotency::{Claim, Claimed, HELD, KEPT, Slot, StoredAnswer};
use crate::identity::{AccountId, CallerId};
use crate::notification::Notice;
use crate::spend_cap::{CappedDay, Funds, Spending};
use crate::store::{
    LedgerStore, ListedResult, ResultId, StoredResult, Transaction, UsageFilter, UsageRequest,
    UsageTally,
};

impl State {
    /// Records the usage row of a call under the next number.
    pub(super) fn write_down(&mut self, entry: Entry) {
        self.last_call += 1;
        let (id, caller) = (self.last_call, Some(entry.caller));
        self.usage.push(Called { id, caller, entry });
    }

    pub(super) fn book(
        &mut self,
        account: AccountId,
        kind: TransactionKind,
        credits: i64,
        at: Timestamp,
    ) {
        let Some(row) = self.accounts.get_mut(&account).filter(|_| credits != 0) else { return };
        row.balance = row.balance.checked_add_signed(credits).expect("a balance is never below 0");
        let transaction = Transaction {
            id: self.ledger.len() as i64 + 1,
            kind,
            credits,
            balance_after: row.balance,
            description: kind.description().to_owned(),
            created_at: at,
        };
        self.ledger.push(LedgerRow { account, usage_of: None, transaction });
    }

    /// Books the credits of a call, which the balance already contains.
    pub(super) fn book_usage(&mut self, account: AccountId, entry: &Entry, balance_after: u64) {
        let endpoint = entry.usage.endpoint.to_string();
        let usage_of = Some((day(entry.usage.at), endpoint.clone()));
        let cost = i64::from(entry.cost);
        let row =
            self.ledger.iter_mut().find(|row| row.account == account && row.usage_of == usage_of);
        if let Some(row) = row {
            row.transaction.credits -= cost;
            row.transaction.balance_after = balance_after;
        } else {
            let transaction = Transaction {
                id: self.ledger.len() as i64 + 1,
                kind: TransactionKind::Usage,
                credits: -cost,
                balance_after,
                description: endpoint,
                created_at: entry.usage.at,
            };
            self.ledger.push(LedgerRow { account, usage_of, transaction });
        }
    }

    pub(super) fn balance(&mut self, caller: CallerId) -> Option<&mut u64> {
        match caller {
            CallerId::Account(id) => self.accounts.get_mut(&id).map(|account| &mut account.balance),
            CallerId::Guest(id) => self.guests.get_mut(&id).map(|guest| &mut guest.credits),
        }
    }
}

impl LedgerStore for MemoryStore {
    async fn settle(&self, batch: Vec<Entry>) -> Stored<Vec<Settlement>> {
        let mut state = self.lock();
        let (settled, spending) = state.settle(batch);
        state.notify_of_caps(&spending);
        Ok(settled)
    }

    async fn calls_per_minute(
        &self,
        since: Timestamp,
        guests_since: Timestamp,
    ) -> Stored<Vec<MinuteCount>> {
        let state = self.lock();
        let mut counts = BTreeMap::new();
        let counted = |usage: &Usage| usage.status != REFUSED_BY_LIMIT;
        for call in state.usage.iter().filter(|call| counted(&call.entry.usage)) {
            let Some(caller) = call.caller else { continue };
            let since = match caller {
                CallerId::Account(_) => since,
                CallerId::Guest(_) => guests_since,
            };
            if call.entry.usage.at < since {
                continue;
            }
            let minute = call.entry.usage.at.timestamp_micros().div_euclid(MICROSECONDS_A_MINUTE);
            *counts.entry((caller, minute)).or_insert(0) += 1;
        }
        let counts = counts.into_iter();
        Ok(counts.map(|((caller, minute), calls)| MinuteCount { caller, minute, calls }).collect())
    }

    async fn funds(&self, account: AccountId, day: i64) -> Stored<Option<Funds>> {
        let state = self.lock();
        let Some(row) = state.accounts.get(&account) else { return Ok(None) };
        let spent = || state.spent(account, day);
        let cap = row.spend_cap().map(|cap| CappedDay { cap, day, spent: spent() });
        Ok(Some(Funds { balance: row.balance, cap }))
    }

    async fn spent_credits(&self, account: AccountId, day: i64) -> Stored<u64> {
        Ok(self.lock().spent(account, day))
    }

    async fn notify_of_refusal(&self, account: AccountId, at: Timestamp) -> Stored<()> {
        let mut state = self.lock();
        let mut spending = state.spending([(CallerId::Account(account), 1, at)]);
        spending.refuse(account, at);
        state.notify_of_caps(&spending);
        Ok(())
    }

    async fn audit(&self) -> Stored<Audit> {
        let state = self.lock();
        let mut faults = Vec::new();
        let mut check = |caller, kind, expected: i64, found: i64| {
            if expected != found {
                faults.push(AuditFault { caller, kind, expected, found });
            }
        };
        let mut days: BTreeMap<(AccountId, i64), (i64, i64)> = BTreeMap::new();
        let retained = |day: i64| day >= state.usage_since;
        for row in state.ledger.iter().filter(|row| state.accounts.contains_key(&row.account)) {
            if let Some((day, _)) = row.usage_of.as_ref().filter(|(day, _)| retained(*day)) {
                days.entry((row.account, *day)).or_default().0 -= row.transaction.credits;
            }
        }
        for call in state.usage.iter().filter(|call| retained(day(call.entry.usage.at))) {
            if let Some(CallerId::Account(account)) = call.caller {
                let day = day(call.entry.usage.at);
                days.entry((account, day)).or_default().1 += i64::from(call.entry.cost);
            }
        }
        let mut sums: BTreeMap<AccountId, i64> = BTreeMap::new();
        for row in &state.ledger {
            *sums.entry(row.account).or_default() += row.transaction.credits;
        }
        for id in sums.keys().chain(state.accounts.keys()).collect::<BTreeSet<_>>() {
            let sum = sums.get(id).copied().unwrap_or_default();
            // The ledger of a deleted account must sum to zero.
            let balance = state.accounts.get(id).map_or(0, |account| account.balance as i64);
            check(CallerId::Account(*id), FaultKind::Balance, sum, balance);
        }
        for ((account, day), (booked, used)) in days {
            check(CallerId::Account(account), FaultKind::Usage { day }, booked, used);
        }
        Ok(Audit { accounts: state.accounts.len() as u64, faults })
    }

    async fn usage_tallies(
        &self,
        account: AccountId,
        filter: &UsageFilter,
    ) -> Stored<Vec<UsageTally>> {
        let state = self.lock();
        let mut tallies: BTreeMap<(i64, String), UsageTally> = BTreeMap::new();
        for call in state.usage.iter().filter(|call| call.passes(account, filter)) {
            let (day, endpoint) = (day(call.entry.usage.at), call.entry.usage.endpoint.to_string());
            let tally = tallies.entry((day, endpoint.clone())).or_insert(UsageTally {
                day,
                endpoint,
                requests: 0,
                credits: 0,
                response_time_ms: 0,
            });
            tally.requests += 1;
            tally.credits += u64::from(call.entry.cost);
            tally.response_time_ms += u64::from(call.entry.usage.response_time_ms);
        }
        Ok(tallies.into_values().collect())
    }

    async fn usage_requests(
        &self,
        account: AccountId,
        filter: &UsageFilter,
        offset: u64,
        limit: u32,
    ) -> Stored<Vec<UsageRequest>> {
        let state = self.lock();
        let mut calls: Vec<&Called> =
            state.usage.iter().filter(|call| call.passes(account, filter)).collect();
        calls.sort_by_key(|call| Reverse((call.entry.usage.at, call.id)));
        let page = calls.into_iter().skip(offset as usize).take(limit as usize);
        Ok(page.map(Called::request).collect())
    }

    async fn transactions(
        &self,
        account: AccountId,
        offset: u64,
        limit: u32,
    ) -> Stored<(Vec<Transaction>, u64)> {
        let state = self.lock();
        let rows = || state.ledger.iter().rev().filter(|row| row.account == account);
        let page = rows().skip(offset as usize).take(limit as usize);
        Ok((page.map(|row| row.transaction.clone()).collect(), rows().count() as u64))
    }

    async fn claim(&self, claim: Claim) -> Stored<Claimed> {
        let (mut state, now) = self.lock_and_time();
        if let Some(taken) = state.slots.get(&claim.slot).filter(|taken| !taken.is_free(now)) {
            return Ok(match &taken.answer {
                _ if taken.request != claim.request => Claimed::OtherRequest,
                Some(answer) => Claimed::Answered(answer.clone()),
                None => Claimed::Running,
            });
        }
        let Claim { slot, request, run } = claim;
        let (held_until, expires_at) = (now + HELD, now + KEPT);
        state.slots.insert(slot, Taken { request, run, held_until, expires_at, answer: None });
        Ok(Claimed::Yours)
    }

    async fn is_claimed(&self, slot: Slot, now: Timestamp) -> Stored<bool> {
        let state = self.lock();
        Ok(state.slots.get(&slot).is_some_and(|taken| !taken.is_free(now)))
    }

    async fn settle_together(
        &self,
        entries: Vec<Entry>,
        kept: Option<(Claim, String)>,
    ) -> Stored<Option<Settlement>> {
        let mut state = self.lock();
        if let Some((claim, _)) = &kept {
            let own = |taken: &&mut Taken| taken.run == claim.run && taken.answer.is_none();
            if state.slots.get_mut(&claim.slot).filter(own).is_none() {
                return Ok(None);
            }
        }
        let costs: Vec<u32> = entries.iter().map(|entry| entry.cost).collect();
        let asked: Vec<_> = entries.iter().map(Entry::asked).collect();
        let mut balances: HashMap<CallerId, u64> = HashMap::new();
        for entry in &entries {
            if let Some(balance) = state.balance(entry.caller) {
                balances.insert(entry.caller, *balance);
            }
        }
        let mut spending = state.spending(asked.iter().copied());
        let decided = credits::decide_within_caps(&mut balances, &mut spending, asked);
        let settlement = credits::all_or_none(&costs, &decided);
        if let Settlement::Charged { balance } = settlement {
            let (_, spending) = state.settle(entries);
            state.notify_of_caps(&spending);
            if let Some((claim, body)) = kept
                && let Some(taken) = state.slots.get_mut(&claim.slot)
            {
                let cost = costs.iter().sum();
                taken.answer = Some(StoredAnswer { body, cost, balance });
            }
        }
        Ok(Some(settlement))
    }

    async fn release(&self, claim: Claim) -> Stored<()> {
        let mut state = self.lock();
        let own = |taken: &Taken| taken.run == claim.run && taken.answer.is_none();
        if state.slots.get(&claim.slot).is_some_and(own) {
            state.slots.remove(&claim.slot);
        }
        Ok(())
    }

    async fn keep_results(&self, results: Vec<StoredResult>) -> Stored<()> {
        let mut state = self.lock();
        let State { accounts, results: kept, .. } = &mut *state;
        let owned = results.into_iter().filter(|result| accounts.contains_key(&result.owner));
        kept.extend(owned.map(|result| (result.id, result)));
        state.remove_excess_results(u64::MAX);
        Ok(())
    }

    async fn kept_result(
        &self,
        owner: AccountId,
        id: ResultId,
        after: Timestamp,
    ) -> Stored<Option<StoredResult>> {
        let state = self.lock();
        let own = state.results.get(&id).filter(|kept| kept.owner == owner && kept.at > after);
        Ok(own.cloned())
    }

    async fn recent_results(
        &self,
        owner: AccountId,
        after: Timestamp,
        limit: u32,
    ) -> Stored<Vec<ListedResult>> {
        let state = self.lock();
        let own = state.results.values().filter(|kept| kept.owner == owner && kept.at > after);
        let mut own: Vec<&StoredResult> = own.collect();
        own.sort_by_key(|kept| Reverse((kept.at, kept.id)));
        let listed = own.into_iter().take(limit as usize).map(|kept| ListedResult {
            id: kept.id,
            at: kept.at,
            start: kept.body.chars().take(ListedResult::START).collect(),
            bytes: kept.body.len() as u64,
        });
        Ok(listed.collect())
    }
}

impl State {
    /// Removes at most `limit` of the oldest results beyond the quota of their account.
    pub(super) fn remove_excess_results(&mut self, limit: u64) -> u64 {
        let mut kept: HashMap<AccountId, (u32, u64)> = HashMap::new();
        let mut newest: Vec<&StoredResult> = self.results.values().collect();
        newest.sort_by_key(|kept| Reverse((kept.at, kept.id)));
        let mut excess: Vec<ResultId> = Vec::new();
        for result in newest {
            let (results, bytes) = kept.entry(result.owner).or_default();
            *results += 1;
            *bytes += result.body.len() as u64;
            if *results > MOST_RESULTS || *bytes > MOST_BYTES {
                excess.push(result.id);
            }
        }
        excess.reverse();
        excess.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        excess.iter().filter(|id| self.results.remove(id).is_some()).count() as u64
    }
}

impl Called {
    fn passes(&self, account: AccountId, filter: &UsageFilter) -> bool {
        let usage = &self.entry.usage;
        self.caller == Some(CallerId::Account(account))
            && (filter.since..=filter.until).contains(&day(usage.at))
            && usage.endpoint.starts_with(&filter.endpoint)
            && filter.method.as_deref().is_none_or(|method| method == usage.method)
    }

    fn request(&self) -> UsageRequest {
        let usage = &self.entry.usage;
        UsageRequest {
            id: self.id,
            endpoint: usage.endpoint.to_string(),
            method: usage.method.to_string(),
            status: usage.status,
            credits: self.entry.cost,
            response_time_ms: usage.response_time_ms,
            ip: usage.ip,
            at: usage.at,
        }
    }
}

impl State {
    /// Sums the credits that an account has spent on a day.
    fn spent(&self, account: AccountId, day: i64) -> u64 {
        let rows = self.ledger.iter().filter(|row| row.account == account);
        let of_day = rows.filter(|row| row.usage_of.as_ref().is_some_and(|(on, _)| *on == day));
        of_day.map(|row| row.transaction.credits.unsigned_abs()).sum()
    }

    /// Returns the caps of the callers of calls, with the spending of the days of the calls.
    fn spending(
        &self,
        calls: impl IntoIterator<Item = (CallerId, u32, Timestamp)> + Clone,
    ) -> Spending {
        let mut spending = Spending::default();
        for (caller, ..) in calls.clone() {
            let CallerId::Account(account) = caller else { continue };
            if let Some(cap) = self.accounts.get(&account).and_then(Account::spend_cap) {
                spending.add_cap(account, cap);
            }
        }
        for (account, day) in spending.days_of(calls) {
            spending.set_spent(account, day, self.spent(account, day));
        }
        spending
    }

    /// Writes the notices of caps that were reached, and the days of these notices.
    fn notify_of_caps(&mut self, spending: &Spending) {
        for reached in spending.notices() {
            self.notify(reached.account, &Notice::of_cap(&reached), reached.at);
            if let Some(row) = self.accounts.get_mut(&reached.account) {
                row.cap_notices.set_told(reached.mark, reached.day);
            }
        }
    }

    /// Settles a batch by the rule of [`credits::decide_within_caps`].
    fn settle(&mut self, batch: Vec<Entry>) -> (Vec<Settlement>, Spending) {
        let mut balances = HashMap::new();
        for entry in &batch {
            if let Some(balance) = self.balance(entry.caller) {
                balances.insert(entry.caller, *balance);
            }
        }
        let mut spending = self.spending(batch.iter().map(Entry::asked));
        let asked = batch.iter().map(Entry::asked);
        let settled = credits::decide_within_caps(&mut balances, &mut spending, asked);
        for (caller, left) in balances {
            if let Some(balance) = self.balance(caller) {
                *balance = left;
            }
        }
        for (mut entry, settlement) in batch.into_iter().zip(&settled) {
            let Settlement::Charged { balance } = settlement else { continue };
            if let CallerId::Account(account) = entry.caller {
                if entry.cost > 0 {
                    self.book_usage(account, &entry, *balance);
                }
                self.keep(account, &mut entry, *balance);
            }
            self.write_down(entry);
        }
        (settled, spending)
    }

    /// Removes at most `limit` slots without a valid answer or a running request, and returns their
    /// number.
    pub(super) fn remove_slots(&mut self, now: Timestamp, limit: u32) -> u64 {
        let mut left = limit;
        self.slots.retain(|_, taken| !spend(&mut left, taken.expires_at <= now));
        u64::from(limit - left)
    }
}

impl State {
    /// Stores the result of a paid call, where the call has one.
    pub(super) fn keep(&mut self, owner: AccountId, entry: &mut Entry, balance: u64) {
        let Some(kept) = entry.kept.take() else { return };
        let (id, body) = (ResultId(entry.usage.request_id), kept.with(balance));
        self.results.insert(id, StoredResult { id, owner, body, at: entry.usage.at });
    }

    /// Removes at most `limit` results that were made until this time, and returns their number.
    pub(super) fn remove_results(&mut self, made: Timestamp, limit: u32) -> u64 {
        let mut left = limit;
        self.results.retain(|_, kept| !spend(&mut left, kept.at <= made));
        u64::from(limit - left)
    }
}

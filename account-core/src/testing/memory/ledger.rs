//! The ledger in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::{Booked, Called, MICROSECONDS_A_MINUTE, MemoryStore, State, Stored, day};
use crate::Timestamp;
use crate::accounts::activity::Transaction;
use crate::credits::{
    Audit, AuditFault, CallerId, Entry, FaultKind, Ledger, MinuteCount, REFUSED_BY_LIMIT,
    Settlement, TransactionKind, Usage,
};
use crate::identity::AccountId;

impl State {
    /// Writes a call down.
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
        self.ledger.push(Booked { account, usage_of: None, transaction });
    }

    /// Books what a call cost; the balance has it already.
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
            self.ledger.push(Booked { account, usage_of, transaction });
        }
    }

    pub(super) fn balance(&mut self, caller: CallerId) -> Option<&mut u64> {
        match caller {
            CallerId::Account(id) => self.accounts.get_mut(&id).map(|account| &mut account.balance),
            CallerId::Guest(id) => self.guests.get_mut(&id).map(|guest| &mut guest.credits),
        }
    }
}

impl Ledger for MemoryStore {
    async fn settle(&self, batch: Vec<Entry>) -> Stored<Vec<Settlement>> {
        Ok(self.lock().settle(batch))
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
            // Of an account that was deleted nothing may be left in the books.
            let balance = state.accounts.get(id).map_or(0, |account| account.balance as i64);
            check(CallerId::Account(*id), FaultKind::Balance, sum, balance);
        }
        for ((account, day), (booked, used)) in days {
            check(CallerId::Account(account), FaultKind::Usage { day }, booked, used);
        }
        Ok(Audit { accounts: state.accounts.len() as u64, faults })
    }
}

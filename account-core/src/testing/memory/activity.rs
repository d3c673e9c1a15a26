//! What owners look at, in memory.

use std::collections::BTreeMap;

use super::{Called, MemoryStore, Stored, day};
use crate::accounts::activity::{
    ActivityStore, LoginHistory, LoginTry, Transaction, UsageFilter, UsageRequest, UsageTally,
};
use crate::accounts::sign_in::TryStatus;
use crate::credits::CallerId;
use crate::identity::AccountId;

impl ActivityStore for MemoryStore {
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
        calls.sort_by_key(|call| std::cmp::Reverse((call.entry.usage.at, call.id)));
        let page = calls.into_iter().skip(offset as usize).take(limit as usize);
        Ok(page.map(Called::request).collect())
    }

    async fn login_history(
        &self,
        account: AccountId,
        limit: u32,
        offset: u32,
    ) -> Stored<LoginHistory> {
        let state = self.lock();
        let tries = || state.history.iter().rev().filter(|(whose, _)| *whose == Some(account));
        let total = tries().count() as u64;
        let success = |(_, entry): &&(_, LoginTry)| entry.status == TryStatus::Success;
        let successful = tries().filter(success).count() as u64;
        let page = tries().skip(offset as usize).take(limit as usize);
        let entries = page.map(|(_, entry)| entry.clone()).collect();
        Ok(LoginHistory { entries, total, successful, failed: total - successful })
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

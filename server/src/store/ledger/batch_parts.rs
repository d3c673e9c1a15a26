//! The parts of a batch that both engines share: its results, and the daily sums of its calls.

use std::collections::BTreeMap;

use account_core::{AccountId, CallerId, Entry, Settlement, StoreError};

pub(in super::super) const MICROSECONDS_A_DAY: i64 = 86_400_000_000;

/// The results of a batch, one for each call, in the order of the calls.
pub(in super::super) type Settled = Vec<Result<Settlement, StoreError>>;

/// Returns the day since 1970 of a time in microseconds.
pub(super) const fn day(at: i64) -> i64 {
    at.div_euclid(MICROSECONDS_A_DAY)
}

/// Account, day, endpoint and method of calls that are summed.
type TallyKey<'a> = (i64, i64, &'a str, &'a str);

/// Sums the calls of accounts: their number, credits, and milliseconds.
pub(super) fn tallies<'a>(
    calls: impl Iterator<Item = &'a Entry>,
) -> BTreeMap<TallyKey<'a>, (u64, u64, u64)> {
    let mut tallies = BTreeMap::new();
    for Entry { caller, cost, usage, .. } in calls {
        let CallerId::Account(AccountId(account)) = *caller else { continue };
        let day = day(usage.at.timestamp_micros());
        let key = (account, day, usage.endpoint.as_ref(), usage.method.as_ref());
        let (requests, credits, time) = tallies.entry(key).or_insert((0, 0, 0));
        *requests += 1;
        *credits += u64::from(*cost);
        *time += u64::from(usage.response_time_ms);
    }
    tallies
}

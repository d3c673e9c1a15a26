//! Credits: the cost of a call, the debit, and the ledger whose sum is the balance.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::IpAddr;

use crate::Timestamp;
use crate::identity::CallerId;
use crate::spend_cap::Spending;

/// The largest balance, which a client that reads numbers as doubles still reads exactly.
pub const LARGEST_BALANCE: u64 = (1 << 53) - 1;

/// The status of a call that a limit refused.
pub const REFUSED_BY_LIMIT: u16 = 429;

/// An answered call of a metered operation, to be paid and recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The caller, whose balance pays for the call.
    pub caller: CallerId,
    /// The credits that the call costs; zero records the call and charges nothing.
    pub cost: u32,
    /// The usage row of the call.
    pub usage: Usage,
    /// The result that an account can read later by the number of the call
    /// ([`StoredResult`](crate::StoredResult)), stored in the transaction of the charge; `None` for
    /// a call whose result is not stored.
    pub kept: Option<ResultTemplate>,
}

impl Entry {
    /// Returns the parts that decide on the entry: its caller, its cost and its time of arrival.
    #[must_use]
    pub const fn asked(&self) -> (CallerId, u32, Timestamp) {
        (self.caller, self.cost, self.usage.at)
    }
}

/// The body of a stored result, with a gap for the balance after the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultTemplate {
    /// The part of the body before the number of the balance.
    pub before: String,
    /// The part of the body after the number of the balance.
    pub after: String,
}

impl ResultTemplate {
    /// Returns the body with this balance.
    #[must_use]
    pub fn with(&self, balance: u64) -> String {
        format!("{}{balance}{}", self.before, self.after)
    }
}

/// The record of one call, which becomes a usage row.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// The number of the call, by which a lost outcome can be found. Numbers that grow with time
    /// keep the index compact.
    pub request_id: u128,
    /// The documented path of the endpoint.
    pub endpoint: Cow<'static, str>,
    /// The HTTP method, as in `POST`.
    pub method: Cow<'static, str>,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The duration of the call, in milliseconds.
    pub response_time_ms: u32,
    /// The network address of the client.
    pub ip: IpAddr,
    /// The time at which the call arrived.
    pub at: Timestamp,
}

/// The outcome of the settlement of one [`Entry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// The call is paid and recorded.
    Charged {
        /// The balance after the debit, in credits.
        balance: u64,
    },
    /// The balance is too low or the caller does not exist: nothing was paid or recorded.
    Insufficient {
        /// The balance, which is below the cost and stays.
        balance: u64,
    },
    /// The call would pass the cap of the account: nothing was paid or recorded.
    OverCap {
        /// The balance, which stays.
        balance: u64,
        /// The credits that the account may spend on one UTC day.
        per_day: u64,
    },
}

impl Settlement {
    /// Returns the balance after the entry.
    #[must_use]
    pub const fn balance(&self) -> u64 {
        match self {
            Self::Charged { balance }
            | Self::Insufficient { balance }
            | Self::OverCap { balance, .. } => *balance,
        }
    }
}

/// Decides a batch in the order of arrival: each entry is paid where the remaining balance covers
/// its cost. A caller without a balance does not exist. No caller of the batch has a cap;
/// [`decide_within_caps`] is for a batch where some may have one.
///
/// A store calls this function in the transaction that has locked the balances.
///
/// # Examples
///
/// The last credit goes to the first entry. An entry that costs more than the balance does not
/// prevent a later, cheaper one from being paid.
///
/// ```
/// use std::collections::HashMap;
/// use account_core::{AccountId, CallerId, Settlement, credits};
///
/// let ada = CallerId::Account(AccountId(1));
/// let mut balances = HashMap::from([(ada, 6)]);
/// let settled = credits::decide(&mut balances, [(ada, 5), (ada, 5), (ada, 1)]);
/// assert_eq!(settled, [
///     Settlement::Charged { balance: 1 },
///     Settlement::Insufficient { balance: 1 },
///     Settlement::Charged { balance: 0 },
/// ]);
/// ```
pub fn decide(
    balances: &mut HashMap<CallerId, u64>,
    batch: impl IntoIterator<Item = (CallerId, u32)>,
) -> Vec<Settlement> {
    batch.into_iter().map(|(caller, cost)| settle_one(balances, caller, cost, || None)).collect()
}

/// Decides a batch as [`decide`] does, where an entry that the balance covers is also refused if it
/// would pass the cap of its account. Each entry has the time of its arrival, whose UTC day counts.
pub fn decide_within_caps(
    balances: &mut HashMap<CallerId, u64>,
    spending: &mut Spending,
    batch: impl IntoIterator<Item = (CallerId, u32, Timestamp)>,
) -> Vec<Settlement> {
    let settled = batch.into_iter().map(|(caller, cost, at)| {
        settle_one(balances, caller, cost, || spending.take(caller, cost, at))
    });
    settled.collect()
}

/// Pays an entry that the balance covers and that passes no cap; `passed_cap` returns the cap that
/// the entry would pass.
fn settle_one(
    balances: &mut HashMap<CallerId, u64>,
    caller: CallerId,
    cost: u32,
    passed_cap: impl FnOnce() -> Option<u64>,
) -> Settlement {
    let Some(balance) = balances.get_mut(&caller) else {
        return Settlement::Insufficient { balance: 0 };
    };
    let Some(left) = balance.checked_sub(u64::from(cost)) else {
        return Settlement::Insufficient { balance: *balance };
    };
    if let Some(per_day) = passed_cap() {
        return Settlement::OverCap { balance: *balance, per_day };
    }
    *balance = left;
    Settlement::Charged { balance: left }
}

/// Returns the settlement of entries of one caller that are paid together or not at all, from the
/// [decision](decide) on each. A refusal has the balance without any of the debits.
///
/// # Examples
///
/// ```
/// use account_core::{Settlement, credits};
///
/// let (paid, unpaid) = (Settlement::Charged { balance: 1 }, Settlement::Insufficient { balance: 1 });
/// assert_eq!(credits::all_or_none(&[5], &[paid]), paid);
/// assert_eq!(credits::all_or_none(&[5, 5], &[paid, unpaid]), Settlement::Insufficient { balance: 6 });
/// ```
#[must_use]
pub fn all_or_none(costs: &[u32], settled: &[Settlement]) -> Settlement {
    let mut taken = 0;
    for (cost, settlement) in costs.iter().zip(settled) {
        match settlement {
            Settlement::Charged { .. } => taken += u64::from(*cost),
            Settlement::Insufficient { balance } => {
                return Settlement::Insufficient { balance: balance + taken };
            }
            Settlement::OverCap { balance, per_day } => {
                return Settlement::OverCap { balance: balance + taken, per_day: *per_day };
            }
        }
    }
    settled.last().copied().unwrap_or(Settlement::Insufficient { balance: 0 })
}

/// The reason for a change of a balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransactionKind {
    /// The credits of every new account.
    SignupGrant,
    /// Paid calls, in one row for each day and endpoint.
    Usage,
    /// Credits that an operator has granted.
    AdminGrant,
    /// Credits of a call that an operator has given back.
    Refund,
    /// A correction of the balance by an operator, upwards or downwards.
    Adjustment,
}

impl TransactionKind {
    /// All kinds of transactions.
    pub const ALL: [Self; 5] =
        [Self::SignupGrant, Self::Usage, Self::AdminGrant, Self::Refund, Self::Adjustment];

    /// Returns the description of a row that has none of its own; the description of usage is its
    /// endpoint.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::SignupGrant => "Credits to start with",
            Self::Usage => "Paid calls",
            Self::AdminGrant => "Granted by the operator",
            Self::Refund => "Given back",
            Self::Adjustment => "Put right",
        }
    }

    /// Returns the name on the wire, as in `signup_grant`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SignupGrant => "signup_grant",
            Self::Usage => "usage",
            Self::AdminGrant => "admin_grant",
            Self::Refund => "refund",
            Self::Adjustment => "adjustment",
        }
    }
}

/// The number of calls of one caller within one minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinuteCount {
    /// The caller that made the calls.
    pub caller: CallerId,
    /// The minute, counted from 1970 in UTC.
    pub minute: i64,
    /// The number of calls in that minute.
    pub calls: u32,
}

impl MinuteCount {
    /// Returns the same calls, counted in this minute where they were written down later, by a clock
    /// that was ahead.
    #[must_use]
    pub fn not_after(self, now: Timestamp) -> Self {
        Self { minute: self.minute.min(now.timestamp().div_euclid(60)), ..self }
    }
}

/// The report of an audit of all balances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// The number of accounts that the audit examined.
    pub accounts: u64,
    /// The differences that the audit found; empty where all figures agree.
    pub faults: Vec<AuditFault>,
}

impl Audit {
    /// Returns whether the audit found no difference.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.faults.is_empty()
    }
}

/// A difference that an audit found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFault {
    /// The account or guest whose figures differ.
    pub caller: CallerId,
    /// The pair of figures that differ.
    pub kind: FaultKind,
    /// The first figure of the pair, in credits, calls or milliseconds.
    pub expected: i64,
    /// The second figure of the pair, in the same unit.
    pub found: i64,
}

/// A pair of figures that an audit compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The sum of the ledger and the balance.
    Balance,
    /// The usage transactions and the usage rows of a day.
    Usage {
        /// The UTC day, in days since 1970.
        day: i64,
    },
    /// The usage rows of a day, endpoint and method, and their daily sum.
    Tally {
        /// The UTC day, in days since 1970.
        day: i64,
        /// The HTTP method and the documented path.
        endpoint: String,
        /// The figure of the daily sum that differs.
        figure: TallyFigure,
    },
}

/// A figure of a daily sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TallyFigure {
    /// The number of calls of the day.
    Requests,
    /// The credits that the calls of the day cost.
    Credits,
    /// The sum of the response times of the day's calls, in milliseconds.
    ResponseTime,
}

impl TallyFigure {
    /// All figures of a daily sum.
    pub const ALL: [Self; 3] = [Self::Requests, Self::Credits, Self::ResponseTime];
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::identity::{AccountId, GuestId};
    use crate::spend_cap::SpendCap;

    #[test]
    fn a_caller_that_is_gone_pays_nothing_and_gets_nothing() {
        let gone = CallerId::Guest(GuestId(7));
        let settled = decide(&mut HashMap::new(), [(gone, 0), (gone, 1)]);
        assert_eq!(settled, [Settlement::Insufficient { balance: 0 }; 2]);
    }

    #[test]
    fn the_balance_is_asked_before_the_cap_and_a_refused_entry_takes_of_neither() {
        use Settlement::{Charged, Insufficient, OverCap};

        let ada = CallerId::Account(AccountId(1));
        let mut spending = Spending::default();
        spending.add_cap(AccountId(1), SpendCap { per_day: 10, ..SpendCap::default() });
        spending.set_spent(AccountId(1), 0, 4);
        let calls = [(ada, 5), (ada, 5), (ada, 50), (ada, 1), (ada, 0)];
        let calls = calls.map(|(caller, cost)| (caller, cost, Timestamp::UNIX_EPOCH));
        let mut balances = HashMap::from([(ada, 20)]);
        let settled = decide_within_caps(&mut balances, &mut spending, calls);
        let expected = [
            Charged { balance: 15 },
            OverCap { balance: 15, per_day: 10 },
            Insufficient { balance: 15 },
            Charged { balance: 14 },
            Charged { balance: 14 },
        ];
        assert_eq!(settled, expected);
    }

    proptest! {
        #[test]
        fn what_is_charged_is_what_the_balance_lost(
            start in 0u64..50,
            costs in prop::collection::vec(0u32..12, 0..60),
        ) {
            let caller = CallerId::Account(AccountId(1));
            let mut balances = HashMap::from([(caller, start)]);
            let settled = decide(&mut balances, costs.iter().map(|cost| (caller, *cost)));
            let charged: u64 = settled
                .iter()
                .zip(&costs)
                .filter(|(settlement, _)| matches!(settlement, Settlement::Charged { .. }))
                .map(|(_, cost)| u64::from(*cost))
                .sum();
            prop_assert_eq!(start, balances[&caller] + charged);
        }
    }
}

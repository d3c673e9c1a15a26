//! Credits: what a call costs, who pays, and the ledger whose sum is the balance.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::IpAddr;

use crate::Timestamp;
use crate::identity::CallerId;

/// The largest balance: what a client that reads numbers as doubles still reads exactly.
pub const LARGEST_BALANCE: u64 = (1 << 53) - 1;

/// The status of a call that a limit refused.
pub const REFUSED_BY_LIMIT: u16 = 429;

/// A call that was answered, to be paid and written down.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Who pays.
    pub caller: CallerId,
    /// Credits; zero writes the call down and charges nothing.
    pub cost: u32,
    /// The call.
    pub usage: Usage,
    /// What an account is to find again of its answer, under the call's number
    /// ([`StoredResult`](crate::StoredResult)): written with the charge, both or neither.
    pub kept: Option<ResultTemplate>,
}

/// The body of a kept answer, with a gap where the balance stands that the call leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultTemplate {
    /// What stands before the balance.
    pub before: String,
    /// What stands after it.
    pub after: String,
}

impl ResultTemplate {
    /// The body with the balance in its place.
    #[must_use]
    pub fn with(&self, balance: u64) -> String {
        format!("{}{balance}{}", self.before, self.after)
    }
}

/// What is written down of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// A number of its own, by which an outcome that was lost can be looked up. Best ordered by
    /// time, so that its index grows at one end.
    pub request_id: u128,
    /// The path as it is documented.
    pub endpoint: Cow<'static, str>,
    /// The method, as in `POST`.
    pub method: Cow<'static, str>,
    /// The status of the answer.
    pub status: u16,
    /// How long the answer took, in milliseconds.
    pub response_time_ms: u32,
    /// Where the call came from.
    pub ip: IpAddr,
    /// When it was made.
    pub at: Timestamp,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// Paid and written down.
    Charged {
        /// Credits left.
        balance: u64,
    },
    /// Too few credits, or the caller is gone: nothing was paid and nothing written down.
    Insufficient {
        /// Credits there are.
        balance: u64,
    },
}

impl Settlement {
    /// Returns the balance after the entry.
    #[must_use]
    pub const fn balance(&self) -> u64 {
        match self {
            Self::Charged { balance } | Self::Insufficient { balance } => *balance,
        }
    }
}

/// Decides a batch: in the order of arrival, each entry is paid where the balance that is left
/// covers it. Callers without a balance are gone.
///
/// A store calls this inside the transaction in which the balances were read for writing.
///
/// # Examples
///
/// The last credit goes to whoever came first; who needs more than is left does not keep a later
/// and cheaper call from going through.
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
    batch
        .into_iter()
        .map(|(caller, cost)| match balances.get_mut(&caller) {
            None => Settlement::Insufficient { balance: 0 },
            Some(balance) => match balance.checked_sub(u64::from(cost)) {
                None => Settlement::Insufficient { balance: *balance },
                Some(left) => {
                    *balance = left;
                    Settlement::Charged { balance: left }
                }
            },
        })
        .collect()
}

/// Why a balance changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransactionKind {
    /// What every new account gets.
    SignupGrant,
    /// Paid calls: one row a day and endpoint.
    Usage,
    /// Given by an operator.
    AdminGrant,
    /// Given back.
    Refund,
    /// Put right.
    Adjustment,
}

impl TransactionKind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::SignupGrant, Self::Usage, Self::AdminGrant, Self::Refund, Self::Adjustment];

    /// Says why, where the ledger's row does not: usage has its endpoint.
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

    /// The name on the wire, as in `signup_grant`.
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

/// Calls of one caller within one minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinuteCount {
    /// Who called.
    pub caller: CallerId,
    /// The minute since 1970.
    pub minute: i64,
    /// How often.
    pub calls: u32,
}

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// How many accounts were looked at.
    pub accounts: u64,
    /// What does not add up.
    pub faults: Vec<AuditFault>,
}

impl Audit {
    /// Whether everything adds up.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Something that does not add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFault {
    /// Whose books they are.
    pub caller: CallerId,
    /// Which two figures disagree.
    pub kind: FaultKind,
    /// What the ledger says, in credits.
    pub expected: i64,
    /// What is there, in credits.
    pub found: i64,
}

/// Which two figures disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The ledger's sum and the balance.
    Balance,
    /// A day's usage transactions and its usage rows.
    Usage {
        /// The day since 1970.
        day: i64,
    },
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::identity::{AccountId, GuestId};

    #[test]
    fn a_caller_that_is_gone_pays_nothing_and_gets_nothing() {
        let gone = CallerId::Guest(GuestId(7));
        let settled = decide(&mut HashMap::new(), [(gone, 0), (gone, 1)]);
        assert_eq!(settled, [Settlement::Insufficient { balance: 0 }; 2]);
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

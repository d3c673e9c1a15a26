//! The cap of credits a day that an account may set for itself.
//!
//! A day is a UTC day, and a call belongs to the day of its arrival, as its usage row does. The
//! ledger decides: what an account has spent on a day is the sum of its ledger for that day, read
//! under the lock of the balance. A cap below what is spent already refuses every further paid call
//! of the day. A refund gives nothing of the day back. Guests have no cap.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::Timestamp;
use crate::guest::day;
use crate::identity::{AccountId, CallerId};

/// A cap, with the days of its latest notices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpendCap {
    /// The credits that the account may spend on one UTC day.
    pub per_day: u64,
    /// The last day with a notice of [`CapMark::Near`], in days since 1970.
    pub near_on: Option<i64>,
    /// The last day with a notice of [`CapMark::Reached`], in days since 1970.
    pub reached_on: Option<i64>,
}

/// A level of spending that the owner is notified of, once a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapMark {
    /// At least 80 % of the cap are spent.
    Near,
    /// The cap is spent, or a call was refused because of it.
    Reached,
}

impl SpendCap {
    /// Returns whether the owner was notified of a mark on this day, or on a later one.
    #[must_use]
    pub fn is_told(&self, mark: CapMark, day: i64) -> bool {
        let told = match mark {
            CapMark::Near => self.near_on.max(self.reached_on),
            CapMark::Reached => self.reached_on,
        };
        told.is_some_and(|told| told >= day)
    }

    /// Sets the day of the latest notice of a mark.
    pub const fn set_told(&mut self, mark: CapMark, day: i64) {
        match mark {
            CapMark::Near => self.near_on = Some(day),
            CapMark::Reached => self.reached_on = Some(day),
        }
    }

    /// Returns the highest mark that spending of so many credits reaches.
    fn mark(&self, spent: u64, was_refused: bool) -> Option<CapMark> {
        if was_refused || (spent > 0 && spent >= self.per_day) {
            Some(CapMark::Reached)
        } else if u128::from(spent) * 5 >= u128::from(self.per_day) * 4 && spent > 0 {
            Some(CapMark::Near)
        } else {
            None
        }
    }
}

/// The credits that an account may spend now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Funds {
    /// The balance.
    pub balance: u64,
    /// The cap with what is spent of it; `None` for an account without a cap.
    pub cap: Option<CappedDay>,
}

/// The spending of a capped account on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CappedDay {
    /// The cap.
    pub cap: SpendCap,
    /// The day, in days since 1970.
    pub day: i64,
    /// The credits spent on that day.
    pub spent: u64,
}

impl CappedDay {
    /// Returns the credits of the cap that are left.
    #[must_use]
    pub const fn left(&self) -> u64 {
        self.cap.per_day.saturating_sub(self.spent)
    }
}

impl Funds {
    /// Returns the lower of the balance and of what the cap leaves.
    #[must_use]
    pub fn available(&self) -> u64 {
        self.cap.map_or(self.balance, |capped| capped.left().min(self.balance))
    }

    /// Returns the cap where it, and not the balance, refuses a call of this cost beside running
    /// calls.
    #[must_use]
    pub fn refusing_cap(&self, cost: u32) -> Option<CappedDay> {
        let refuses =
            |capped: &CappedDay| self.balance >= u64::from(cost) && capped.left() < self.balance;
        self.cap.filter(refuses)
    }
}

/// The capped accounts of a batch, with their spending on the days of its calls.
///
/// A store fills it under the lock of the balances, and
/// [`decide_within_caps`](crate::credits::decide_within_caps) counts the batch in it.
#[derive(Clone, Debug, Default)]
pub struct Spending {
    caps: HashMap<AccountId, SpendCap>,
    days: BTreeMap<(AccountId, i64), SpentDay>,
}

#[derive(Clone, Copy, Debug, Default)]
struct SpentDay {
    spent: u64,
    /// The time of the batch's latest call of the day.
    at: Option<Timestamp>,
    was_refused: bool,
}

/// A mark that a batch has reached, and that its owner is to be notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapNotice {
    /// The account to notify.
    pub account: AccountId,
    /// The mark.
    pub mark: CapMark,
    /// The day, in days since 1970.
    pub day: i64,
    /// The time of the call that reached the mark.
    pub at: Timestamp,
    /// The credits spent on the day.
    pub spent: u64,
    /// The cap of the account.
    pub per_day: u64,
}

impl Spending {
    /// Adds a capped account.
    pub fn add_cap(&mut self, account: AccountId, cap: SpendCap) {
        self.caps.insert(account, cap);
    }

    /// Returns the accounts and days whose spending a batch needs: those of the paid calls of capped
    /// accounts.
    #[must_use]
    pub fn days_of(
        &self,
        batch: impl IntoIterator<Item = (CallerId, u32, Timestamp)>,
    ) -> BTreeSet<(AccountId, i64)> {
        let paid = batch.into_iter().filter(|(_, cost, _)| *cost > 0);
        let days = paid.filter_map(|(caller, _, at)| match caller {
            CallerId::Account(account) => Some((account, day(at))),
            CallerId::Guest(_) => None,
        });
        days.filter(|(account, _)| self.caps.contains_key(account)).collect()
    }

    /// Sets the credits that an account has spent on a day before the batch.
    pub fn set_spent(&mut self, account: AccountId, day: i64, spent: u64) {
        self.days.entry((account, day)).or_default().spent = spent;
    }

    /// Counts a call that the balance pays; returns the cap where the call would pass it.
    pub(crate) fn take(&mut self, caller: CallerId, cost: u32, at: Timestamp) -> Option<u64> {
        let CallerId::Account(account) = caller else { return None };
        let cap = self.caps.get(&account).filter(|_| cost > 0)?;
        let spent_day = self.days.entry((account, day(at))).or_default();
        spent_day.at = spent_day.at.max(Some(at));
        match spent_day.spent.checked_add(cost.into()).filter(|spent| *spent <= cap.per_day) {
            Some(spent) => {
                spent_day.spent = spent;
                None
            }
            None => {
                let per_day = cap.per_day;
                self.refuse(account, at);
                Some(per_day)
            }
        }
    }

    /// Counts a call that was refused before it reached the ledger.
    pub fn refuse(&mut self, account: AccountId, at: Timestamp) {
        let spent_day = self.days.entry((account, day(at))).or_default();
        spent_day.at = spent_day.at.max(Some(at));
        spent_day.was_refused = true;
    }

    /// Returns the notices that the counted calls cause: of each account and day the highest mark,
    /// unless the owner was notified of it on that day.
    #[must_use]
    pub fn notices(&self) -> Vec<CapNotice> {
        let notice = |(&(account, day), spent_day): (&(AccountId, i64), &SpentDay)| {
            let cap = self.caps.get(&account)?;
            let mark = cap.mark(spent_day.spent, spent_day.was_refused)?;
            let at = spent_day.at.filter(|_| !cap.is_told(mark, day))?;
            let (spent, per_day) = (spent_day.spent, cap.per_day);
            Some(CapNotice { account, mark, day, at, spent, per_day })
        };
        self.days.iter().filter_map(notice).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECONDS_A_DAY: i64 = 86_400;
    const ADA: AccountId = AccountId(1);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).expect("a time")
    }

    fn capped(per_day: u64, spent: u64) -> Spending {
        let mut spending = Spending::default();
        spending.add_cap(ADA, SpendCap { per_day, ..SpendCap::default() });
        spending.set_spent(ADA, 0, spent);
        spending
    }

    fn marks(spending: &Spending) -> Vec<(CapMark, i64)> {
        spending.notices().into_iter().map(|notice| (notice.mark, notice.day)).collect()
    }

    #[test]
    fn a_day_is_capped_by_itself_and_a_cheaper_call_still_fits() {
        let mut spending = capped(10, 4);
        let calls = [(5, 0), (5, 1), (1, 2), (0, 3), (10, SECONDS_A_DAY), (1, SECONDS_A_DAY)];
        let refusals = calls.map(|(cost, second)| {
            spending.take(CallerId::Account(ADA), cost, at(second)).is_some()
        });
        assert_eq!(refusals, [false, true, false, false, false, true]);
        assert_eq!(marks(&spending), [(CapMark::Reached, 0), (CapMark::Reached, 1)]);
    }

    #[test]
    fn a_cap_below_what_is_spent_refuses_every_paid_call_of_the_day() {
        let mut spending = capped(3, 50);
        let refusals = [1, 0].map(|cost| spending.take(CallerId::Account(ADA), cost, at(0)));
        assert_eq!(refusals, [Some(3), None]);
    }

    #[test]
    fn each_mark_is_told_once_a_day_and_the_higher_one_alone() {
        let after = |per_day, before, cost, near_on, reached_on| {
            let mut spending = capped(per_day, before);
            spending.add_cap(ADA, SpendCap { per_day, near_on, reached_on });
            spending.take(CallerId::Account(ADA), cost, at(7));
            marks(&spending)
        };
        use CapMark::{Near, Reached};
        #[rustfmt::skip]
        let rows = [
            // cap  before  cost  near     reached  marks
            (100,   0,      79,   None,    None,    vec![]),
            (100,   0,      80,   None,    None,    vec![(Near, 0)]),
            (100,   80,     5,    Some(0), None,    vec![]),
            (100,   80,     5,    Some(-1), None,   vec![(Near, 0)]),
            (100,   80,     20,   Some(0), None,    vec![(Reached, 0)]),
            (100,   0,      100,  None,    None,    vec![(Reached, 0)]),
            (100,   98,     3,    Some(0), None,    vec![(Reached, 0)]),
            (100,   98,     3,    None,    Some(0), vec![]),
            (200,   100,    60,   None,    Some(0), vec![]),
            (0,     0,      1,    None,    None,    vec![(Reached, 0)]),
        ];
        for (cap, before, cost, near, reached, expected) in rows {
            let found = after(cap, before, cost, near, reached);
            assert_eq!(found, expected, "{cap} {before} {cost} {near:?} {reached:?}");
        }
    }

    #[test]
    fn a_guest_has_no_cap() {
        let guest = CallerId::Guest(crate::identity::GuestId(1));
        assert_eq!(capped(0, 0).take(guest, 5, at(0)), None);
    }

    #[test]
    fn the_cap_and_not_the_balance_is_named_where_it_leaves_less() {
        let funds = |balance, spent| {
            let cap = SpendCap { per_day: 10, ..SpendCap::default() };
            Funds { balance, cap: Some(CappedDay { cap, day: 0, spent }) }
        };
        assert_eq!(funds(100, 4).available(), 6);
        assert_eq!(funds(5, 4).available(), 5);
        assert!(funds(100, 9).refusing_cap(5).is_some());
        assert!(funds(3, 9).refusing_cap(5).is_none(), "no cap makes this balance pay");
        assert!(funds(5, 4).refusing_cap(5).is_none(), "running calls hold the balance");
        assert_eq!(Funds { balance: 7, cap: None }.available(), 7);
    }
}

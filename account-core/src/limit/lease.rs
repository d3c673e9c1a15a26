//! An hourly limit that several instances share by leases.
//!
//! [`SharedWindow`] holds the calls of one caller that all instances together have leased. The
//! store keeps the window, and one instance at a time changes it. An instance leases a block of
//! calls ([`Lease`]) and allows calls from the block without a further query ([`HeldLease`]).
//! Leased calls are counted as made, so that all instances together never allow more than the
//! limit. A lease is valid within its cell of 15 seconds, the blocks shrink with the remaining
//! calls, and unused calls are returned, so that an idle instance holds few calls. Under constant
//! load a call is counted for an hour, a cell and the clock difference, rounded up to a cell: 3,615
//! seconds. The limit therefore allows 0.4 % fewer calls than its number under constant load.
//!
//! If the cells of all callers ended at the same moment, all would request their next lease at that
//! moment. The clock of each account is therefore set [ahead] by a constant of its own.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use chrono::TimeDelta;

use super::{DAY, GuestDay, HOUR, LimitStatus, MINUTE, at_second, hour_status};
use crate::Timestamp;
use crate::credits::MinuteCount;
use crate::identity::{AccountId, CallerId};
use crate::tier::{GUEST_DAILY_LIMIT, GUEST_HOURLY_LIMIT};

mod held;

pub use held::HeldLease;

/// The length of a cell, in seconds, which is also the longest validity of a lease. In cells of a
/// minute, a call would be counted for 3,660 seconds, which is 1.6 % too long.
const CELL: i64 = 15;
/// The largest assumed difference between the clocks of two instances, in seconds, including the
/// time that a request takes from its instance to the store.
const CLOCKS: i64 = 10;
/// The seconds that a clock may be behind the latest second before that second is doubted.
const FAR_BEHIND: i64 = HOUR;
/// The seconds after which a doubted second is taken for the error of a clock, where only clocks far
/// behind that second have asked for calls of the caller in between.
const DOUBTED: i64 = 60;
/// The divisor of the limit that gives the largest block.
const LARGEST_OF_LIMIT: u32 = 100;
/// The divisor of the remaining calls that gives the largest block.
const LARGEST_OF_REST: u32 = 16;

/// Returns the constant by which a caller's times are ahead of the clock in [`HeldLease`] and
/// [`SharedWindow`]; it is shorter than a cell.
#[must_use]
pub const fn ahead(caller: CallerId) -> TimeDelta {
    match caller {
        // The multiples of a cell's golden section are spread evenly over the cell, whatever their
        // number.
        CallerId::Account(AccountId(number)) => {
            TimeDelta::milliseconds(number.rem_euclid(CELL * 1_000) * 9_271 % (CELL * 1_000))
        }
        // A guest leases one call at a time, and the day of all guests ends at midnight.
        CallerId::Guest(_) => TimeDelta::zero(),
    }
}

/// The limits of one caller, in calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The calls in a rolling hour.
    pub hourly: u32,
    /// The calls in a UTC day; `None` for a caller without a daily limit.
    pub daily: Option<u32>,
}

impl Allowance {
    /// The limits of the holder of one guest key.
    pub const GUEST: Self = Self { hourly: GUEST_HOURLY_LIMIT, daily: Some(GUEST_DAILY_LIMIT) };

    /// Returns limits with a rolling hour alone.
    #[must_use]
    pub const fn hourly(hourly: u32) -> Self {
        Self { hourly, daily: None }
    }
}

/// The calls of one caller that all instances together have leased.
///
/// A cell is counted until an hour after its end, and for as long as clocks may differ.
///
/// # Examples
///
/// ```
/// use account_core::limit::lease::{Allowance, Ask, SharedWindow};
/// use account_core::Timestamp;
///
/// let mut shared = SharedWindow::default();
/// let now = Timestamp::UNIX_EPOCH;
/// let ask = |unused| Ask { allowance: Allowance::hourly(1_000), now, unused };
/// let lease = shared.lease(&ask(None));
/// assert_eq!((lease.calls, lease.limit_status.remaining), (10, 990));
/// assert_eq!(shared.to_string().parse(), Ok(shared));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedWindow {
    /// The number of calls by cell since 1970.
    cells: BTreeMap<u32, u32>,
    /// The latest second that any instance has sent.
    latest: i64,
    /// The second of the first request by a clock far behind the latest second, after which no
    /// other clock has asked; `None` while no clock is doubted.
    doubted_since: Option<i64>,
    /// The calls of the UTC day, for callers with a daily limit.
    day: GuestDay,
}

/// The request of an instance for a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The limits of the caller that the lease is for.
    pub allowance: Allowance,
    /// The time of the instance's clock, set [`ahead`] by the caller's constant.
    pub now: Timestamp,
    /// The unused calls of the instance's last lease, which are returned; `None` where none are
    /// left.
    pub unused: Option<ReturnedCalls>,
}

/// The calls that an instance may allow within the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The number of calls; zero where none remain.
    pub calls: u32,
    /// The cell, since 1970, in which the calls are counted.
    pub cell: u32,
    /// The state of the limit beside these calls.
    pub limit_status: LimitStatus,
}

/// Leased calls that were not used and will not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReturnedCalls {
    /// The cell of the lease, since 1970.
    pub cell: u32,
    /// The number of calls that are returned.
    pub calls: u32,
}

/// The error for a text that is not a [`SharedWindow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not what is counted of a shared limit")]
pub struct Malformed;

impl SharedWindow {
    /// Takes back the unused calls and leases the next block.
    pub fn lease(&mut self, ask: &Ask) -> Lease {
        if let Some(unused) = ask.unused {
            self.give_back(unused);
        }
        self.correct_latest(ask.now);
        // A clock that moves backwards frees no calls. Its request is counted at the latest time
        // known, less the clock difference. The lease has one call, since it would not end with its
        // cell.
        let earliest = at_second(self.latest - CLOCKS);
        let is_astray = ask.now < earliest;
        let now = ask.now.max(earliest);
        self.latest = self.latest.max(ask.now.timestamp());
        self.cells.retain(|cell, _| leaves_at(*cell) > now.timestamp());
        let told_for = if self.doubted_since.is_some() { ask.now } else { now };
        let calls = match self.limit_status(told_for, &ask.allowance).remaining {
            0 => 0,
            _ if is_astray || ask.allowance.daily.is_some() => 1,
            left => {
                let largest = (ask.allowance.hourly / LARGEST_OF_LIMIT).max(1);
                (left / LARGEST_OF_REST).clamp(1, largest)
            }
        };
        let cell = cell(now);
        if calls > 0 {
            *self.cells.entry(cell).or_default() += calls;
        }
        if let (1.., Some(daily)) = (calls, ask.allowance.daily) {
            self.day.admit(now, daily);
        }
        Lease { calls, cell, limit_status: self.limit_status(told_for, &ask.allowance) }
    }

    /// Puts the latest moment right where a clock was far ahead: once only clocks far behind it
    /// have asked for a minute, calls that were counted later than now count as leased now.
    ///
    /// The wait keeps the count where one of two instances has a clock that is far behind: while
    /// both ask, the latest moment stands.
    fn correct_latest(&mut self, now: Timestamp) {
        let second = now.timestamp();
        if second >= self.latest - FAR_BEHIND {
            self.doubted_since = None;
            return;
        }
        if second - *self.doubted_since.get_or_insert(second) < DOUBTED {
            return;
        }
        let this_cell = cell(now);
        let later = self.cells.split_off(&this_cell.saturating_add(1));
        let calls = later.into_values().fold(0, u32::saturating_add);
        if calls > 0 {
            let counted = self.cells.entry(this_cell).or_default();
            *counted = counted.saturating_add(calls);
        }
        self.day = self.day.as_of(now);
        (self.latest, self.doubted_since) = (second, None);
    }

    /// Takes back leased calls that will not be used.
    pub fn give_back(&mut self, unused: ReturnedCalls) {
        let Some(calls) = self.cells.get_mut(&unused.cell) else { return };
        *calls = calls.saturating_sub(unused.calls);
        if *calls == 0 {
            self.cells.remove(&unused.cell);
        }
        if self.day.day == i64::from(unused.cell) / (DAY / CELL) {
            self.day.used = self.day.used.saturating_sub(unused.calls);
        }
    }

    /// Returns the state of the limit, with leased calls counted as made.
    #[must_use]
    pub fn limit_status(&self, now: Timestamp, allowance: &Allowance) -> LimitStatus {
        // No call is counted for longer, also where a clock that was ahead counted the call.
        let longest = now.timestamp() + DOUBTED + CELL + HOUR + CLOCKS;
        let cells = self.cells.iter();
        let cells = cells.map(|(cell, calls)| (leaves_at(*cell).min(longest), *calls));
        let live = cells.filter(|(leaves_at, _)| *leaves_at > now.timestamp());
        let used = live.clone().map(|(_, calls)| calls).sum();
        let hour = hour_status(used, live, now, allowance.hourly);
        match allowance.daily {
            Some(daily) => hour.tighter(self.day.limit_status(now, daily)),
            None => hour,
        }
    }

    /// Returns a window made from the recorded calls since [`SharedWindow::looks_back_to`], for a
    /// caller whose window is lost.
    #[must_use]
    pub fn of_calls(counts: &[MinuteCount]) -> Self {
        let mut shared = Self::default();
        for count in counts {
            // The calls may have been made as late as the end of the minute.
            let is_ahead = i64::from(!ahead(count.caller).is_zero());
            let last_cell = (count.minute + 1) * (MINUTE / CELL) - 1 + is_ahead;
            if let Ok(cell) = u32::try_from(last_cell) {
                *shared.cells.entry(cell).or_default() += count.calls;
                shared.day.seed(count.minute, count.calls);
            }
        }
        shared
    }

    /// Returns the time of the earliest call that is still counted now.
    #[must_use]
    pub fn looks_back_to(now: Timestamp, allowance: &Allowance) -> Timestamp {
        let an_hour_ago = now - TimeDelta::seconds(HOUR + CELL + CLOCKS);
        match allowance.daily {
            Some(_) => an_hour_ago.min(at_second(now.timestamp().div_euclid(DAY) * DAY - CLOCKS)),
            None => an_hour_ago,
        }
    }

    /// Returns the time for which the window must be kept: until an hour after the last call stops
    /// counting, so that a clock that moves backwards by an hour frees no calls.
    #[must_use]
    pub fn kept_for(&self) -> Duration {
        let hour = self.cells.last_key_value().map_or(0, |(cell, _)| leaves_at(*cell));
        let day = if self.day.used > 0 { (self.day.day + 1) * DAY + CLOCKS } else { 0 };
        let counts = hour.max(day) - self.latest;
        Duration::from_secs(u64::try_from(counts + HOUR).unwrap_or_default())
    }

    /// Returns the number of calls of this UTC day, for a caller with a daily limit.
    #[must_use]
    pub fn requests_today(&self, now: Timestamp) -> u32 {
        self.day.used(now)
    }
}

/// Returns the cell, since 1970, of a time.
fn cell(now: Timestamp) -> u32 {
    u32::try_from(now.timestamp().div_euclid(CELL)).unwrap_or_default()
}

/// Returns the second since 1970 at which a cell is no longer counted by any instance's clock.
fn leaves_at(cell: u32) -> i64 {
    (i64::from(cell) + 1) * CELL + HOUR + CLOCKS
}

/// The text form: integers separated by spaces. The latest second, the day and its calls come
/// first. Where the latest second is doubted, a slash and the second of the doubt follow it. Each
/// cell follows as its distance from the previous cell and its calls.
impl fmt::Display for SharedWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.latest)?;
        if let Some(since) = self.doubted_since {
            write!(f, "/{since}")?;
        }
        write!(f, " {} {}", self.day.day, self.day.used)?;
        let mut before = 0;
        for (cell, calls) in &self.cells {
            write!(f, " {} {calls}", cell - before)?;
            before = *cell;
        }
        Ok(())
    }
}

impl FromStr for SharedWindow {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        fn next<'a, T: FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Option<T> {
            words.next()?.parse().ok()
        }
        let words = &mut text.split(' ').peekable();
        let told = words.next().ok_or(Malformed)?;
        let (latest, doubted_since) = match told.split_once('/') {
            Some((latest, since)) => (latest, Some(since.parse().map_err(|_| Malformed)?)),
            None => (told, None),
        };
        let latest = latest.parse().map_err(|_| Malformed)?;
        let day = next(words).ok_or(Malformed)?;
        let used = next(words).ok_or(Malformed)?;
        let (mut cells, mut cell) = (BTreeMap::new(), 0u32);
        while words.peek().is_some() {
            cell = next(words).and_then(|after| cell.checked_add(after)).ok_or(Malformed)?;
            cells.insert(cell, next(words).ok_or(Malformed)?);
        }
        Ok(Self { cells, latest, doubted_since, day: GuestDay { day, used } })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use crate::limit::LimitDecision;

    /// Noon of 20 November 2026, a whole minute.
    const NOON: i64 = 1_795_176_000;

    fn at(milliseconds: i64) -> Timestamp {
        at_second(NOON) + TimeDelta::milliseconds(milliseconds)
    }

    /// Instances that share one store, each with a clock of its own.
    struct Instances {
        shared: SharedWindow,
        shares: Vec<(HeldLease, TimeDelta)>,
        allowance: Allowance,
    }

    impl Instances {
        fn new(allowance: Allowance, skews: &[i64]) -> Self {
            let share = |skew: &i64| (HeldLease::default(), TimeDelta::milliseconds(*skew));
            Self {
                shared: SharedWindow::default(),
                shares: skews.iter().map(share).collect(),
                allowance,
            }
        }

        fn call(&mut self, instance: usize, now: Timestamp) -> LimitDecision {
            let (share, skew) = &mut self.shares[instance];
            let now = now + *skew;
            if let Some(decision) = share.admit(now, &self.allowance) {
                return decision;
            }
            let ask = share.ask(now, &self.allowance);
            share.receive(self.shared.lease(&ask), &ask);
            share.admit(now, &self.allowance).expect("the store was asked")
        }

        /// Does the periodic work of each instance: expired leases are returned.
        fn sweep(&mut self, now: Timestamp) {
            for (share, skew) in &mut self.shares {
                if let Some(unused) = share.give_up_expired(now + *skew) {
                    self.shared.give_back(unused);
                }
            }
        }
    }

    fn granted(decision: &LimitDecision) -> bool {
        matches!(decision, LimitDecision::Granted(_))
    }

    /// Returns the largest number of calls in any 3,600 seconds.
    fn most_in_an_hour(calls: &[Timestamp]) -> usize {
        let mut first = 0;
        let mut most = 0;
        for (index, call) in calls.iter().enumerate() {
            while *call >= calls[first] + TimeDelta::seconds(HOUR) {
                first += 1;
            }
            most = most.max(index + 1 - first);
        }
        most
    }

    /// Arrivals at random times and instances, from a seed.
    struct Arrivals(u64);

    impl Arrivals {
        fn below(&mut self, end: u64) -> u64 {
            // Knuth's linear congruential generator, whose upper bits are good.
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((u128::from(self.0) * u128::from(end)) >> 64) as u64
        }

        /// Returns this many times within an hour, in order, each with one of six contexts.
        fn of_an_hour(&mut self, count: u32) -> Vec<(TimeDelta, usize)> {
            let mut hour: Vec<_> = (0..count)
                .map(|_| {
                    let at = TimeDelta::microseconds(self.below(HOUR as u64 * 1_000_000) as i64);
                    (at, self.below(6) as usize)
                })
                .collect();
            hour.sort();
            hour
        }
    }

    /// An exact rolling-hour limit that stores the time of every call.
    #[derive(Default)]
    struct Exact(VecDeque<Timestamp>);

    impl Exact {
        fn admit(&mut self, now: Timestamp, limit: u32) -> bool {
            while self.0.front().is_some_and(|call| *call + TimeDelta::seconds(HOUR) <= now) {
                self.0.pop_front();
            }
            let admits = self.0.len() < limit as usize;
            if admits {
                self.0.push_back(now);
            }
            admits
        }
    }

    /// Checks five hours of constant load. No rolling hour holds more calls than the limit. In the
    /// four hours after the first, at least 99 % of the calls are allowed that an exact limit
    /// allows.
    fn three_instances_admit_what_is_due(limit: u32, tenths: u32, skews: [i64; 3]) {
        let mut instances = Instances::new(Allowance::hourly(limit), &skews);
        let mut exact = Exact::default();
        let mut arrivals = Arrivals(u64::from(limit * tenths));
        let (mut calls, mut due, mut swept) = (Vec::new(), Vec::new(), at(0));
        for hour in 0..5 {
            for (after, context) in arrivals.of_an_hour(limit * tenths / 10) {
                let now = at(hour * HOUR * 1000) + after;
                // The load is uneven: half of the calls go to the first instance, a third to the
                // second.
                let instance = [0, 1, 0, 1, 0, 2][context];
                if now - swept >= TimeDelta::seconds(5) {
                    instances.sweep(now);
                    swept = now;
                }
                if exact.admit(now, limit) {
                    due.push(now);
                }
                if granted(&instances.call(instance, now)) {
                    calls.push(now);
                }
            }
        }
        let load = format!("{limit} an hour, {tenths} tenths of it, clocks {skews:?}");
        let most = most_in_an_hour(&calls);
        assert!(most <= limit as usize, "{most} at {load}");
        let sustained =
            |calls: &[Timestamp]| calls.iter().filter(|call| **call >= at(HOUR * 1000)).count();
        let (calls, due) = (sustained(&calls), sustained(&due));
        assert!(calls * 100 >= due * 99, "{calls} of {due} at {load}");
    }

    #[test]
    fn three_instances_admit_hour_after_hour_99_of_100_due_calls_and_never_more_than_the_limit() {
        for tenths in [9, 10, 11, 15, 20, 50, 100] {
            for skews in [[0, 0, 0], [-5_000, 300, 5_000]] {
                three_instances_admit_what_is_due(500, tenths, skews);
                three_instances_admit_what_is_due(2_000, tenths, skews);
            }
        }
    }

    #[test]
    fn one_instance_has_what_another_one_leased_and_did_not_use() {
        let mut instances = Instances::new(Allowance::hourly(1_000), &[0, 0, 0]);
        for idle in [1, 2] {
            assert!(granted(&instances.call(idle, at(0))));
        }
        let spent = (0..2_000).filter(|_| granted(&instances.call(0, at(14_999)))).count();
        assert_eq!(spent, 1_000 - 20, "two blocks of ten are held elsewhere");
        instances.sweep(at(15_000));
        let spent = (0..2_000).filter(|_| granted(&instances.call(0, at(16_000)))).count();
        assert_eq!(spent, 18, "with the cell what was held comes back");
    }

    #[test]
    fn a_guests_hour_and_day_are_shared_call_by_call() {
        let mut instances = Instances::new(Allowance::GUEST, &[0, 0, 0]);
        for call in 1..=50 {
            let decision = instances.call(call % 3, at(0));
            assert!(granted(&decision), "call {call}");
            assert_eq!(decision.limit_status().remaining as usize, 50 - call);
        }
        let refused = instances.call(0, at(0));
        assert!(!granted(&refused));
        assert_eq!(refused.limit_status().reset_at, at(12 * HOUR * 1000));
        assert_eq!(instances.shared.requests_today(at(0)), 50);
        let day = GUEST_DAILY_LIMIT as usize;
        let tomorrow = at(12 * HOUR * 1000);
        let again = (0..200).filter(|call| granted(&instances.call(call % 3, tomorrow))).count();
        assert_eq!(again, day);
    }

    #[test]
    fn a_refusal_is_believed_for_less_than_a_second_and_for_its_own_limit() {
        let mut instances = Instances::new(Allowance::hourly(1), &[0]);
        assert!(granted(&instances.call(0, at(0))));
        let share = &mut instances.shares[0].0;
        assert!(share.admit(at(999), &Allowance::hourly(1)).is_some());
        assert!(share.admit(at(999), &Allowance::hourly(2)).is_none());
        assert!(share.admit(at(1_000), &Allowance::hourly(1)).is_none());
        assert!(share.admit(at(-1), &Allowance::hourly(1)).is_none());
    }

    #[test]
    fn a_clock_an_hour_back_lets_no_more_through() {
        let mut instances = Instances::new(Allowance::hourly(1_000), &[0, -HOUR * 1000]);
        let spend = |instances: &mut Instances, instance, now| {
            (0..1_100).filter(|_| granted(&instances.call(instance, now))).count()
        };
        assert_eq!(spend(&mut instances, 0, at(0)), 1_000);
        assert_eq!(spend(&mut instances, 1, at(1_000)), 0);
        assert_eq!(spend(&mut instances, 1, at(HOUR * 500)), 0);
        let over = HOUR + CELL + CLOCKS;
        assert_eq!(spend(&mut instances, 0, at(over * 1000 - 1)), 0);
        assert_eq!(spend(&mut instances, 0, at(over * 1000)), 1_000);
    }

    #[test]
    fn after_a_clock_that_was_a_day_ahead_a_spent_caller_waits_for_an_hour() {
        let mut instances = Instances::new(Allowance::hourly(100), &[0]);
        let spend = |instances: &mut Instances, second: i64| {
            (0..150).filter(|_| granted(&instances.call(0, at(second * 1000)))).count()
        };
        assert_eq!(spend(&mut instances, DAY), 100);
        assert_eq!(spend(&mut instances, 0), 0);
        let told = instances.call(0, at(0));
        let longest = DOUBTED + CELL + HOUR + CLOCKS;
        assert_eq!(told.limit_status().reset_at, at(longest * 1000));
        for second in [30, 60, 1_800, 3_600] {
            assert_eq!(spend(&mut instances, second), 0, "second {second}");
        }
        assert_eq!(spend(&mut instances, longest), 100);
    }

    #[test]
    fn after_a_clock_that_was_a_day_ahead_a_guest_waits_for_the_end_of_the_day() {
        let mut instances = Instances::new(Allowance::GUEST, &[0]);
        let spend = |instances: &mut Instances, second: i64| {
            (0..60).filter(|_| granted(&instances.call(0, at(second * 1000)))).count()
        };
        assert_eq!(spend(&mut instances, DAY), 50);
        for second in [0, 60, HOUR] {
            assert_eq!(spend(&mut instances, second), 0, "second {second}");
        }
        assert_eq!(spend(&mut instances, DAY / 2), 50);
    }

    #[test]
    fn while_an_instance_asks_whose_clock_is_a_day_ahead_of_anothers_no_call_is_forgotten() {
        let mut instances = Instances::new(Allowance::hourly(100), &[0, -DAY * 1000]);
        for second in 0..3_000 {
            for instance in [0, 1] {
                if granted(&instances.call(instance, at(second * 1000))) {
                    assert!(second < 100, "{second}");
                }
            }
        }
    }

    #[test]
    fn what_is_shared_is_read_back_as_it_was_written() {
        let mut shared = SharedWindow::default();
        for call in 0..70 {
            let now = at(call * call * 1_000);
            shared.lease(&Ask { allowance: Allowance::GUEST, now, unused: None });
        }
        assert_eq!(shared.to_string().parse().as_ref(), Ok(&shared));
        shared.lease(&Ask { allowance: Allowance::GUEST, now: at(-HOUR * 1000), unused: None });
        assert!(shared.to_string().contains('/'), "its latest moment is doubted");
        assert_eq!(shared.to_string().parse(), Ok(shared));
        for malformed in [
            "",
            "1",
            "1 2",
            "1/ 2 3",
            "/1 2 3",
            "1 2 3 4",
            "1 2 3 4 x",
            "1 2 -3",
            "1 2 3 4294967295 1 1 1",
        ] {
            assert_eq!(malformed.parse::<SharedWindow>(), Err(Malformed), "{malformed}");
        }
    }

    #[test]
    fn what_was_written_down_counts_where_what_was_shared_is_lost() {
        let minute = NOON / MINUTE;
        let counts = [(minute - 61, 7), (minute - 30, 20), (minute, 10)];
        let caller = CallerId::Account(AccountId(0));
        let counts = counts.map(|(minute, calls)| MinuteCount { caller, minute, calls });
        let shared = SharedWindow::of_calls(&counts);
        let left = |now| shared.limit_status(now, &Allowance::hourly(100)).remaining;
        assert_eq!(left(at(5_000)), 63, "what was called in the 61st minute may be an hour old");
        assert_eq!(left(at(10_000)), 70);
        assert_eq!(left(at((HOUR + MINUTE + CLOCKS) * 1000)), 100);
        let hour = SharedWindow::looks_back_to(at(0), &Allowance::hourly(100));
        assert_eq!(hour, at(-(HOUR + CELL + CLOCKS) * 1000));
        let today = SharedWindow::looks_back_to(at(0), &Allowance::GUEST);
        assert_eq!(today, at(-(12 * HOUR + CLOCKS) * 1000));
        assert_eq!(shared.requests_today(at(0)), 37);
    }

    #[test]
    fn what_was_written_down_of_who_is_ahead_counts_as_long_as_what_was_leased() {
        for number in 0..200 {
            let caller = CallerId::Account(AccountId(number));
            let ahead = ahead(caller);
            let last = at(MINUTE * 1000 - 1) + ahead;
            let mut leased = SharedWindow::default();
            let allowance = Allowance::hourly(100);
            leased.lease(&Ask { allowance, now: last, unused: None });
            let minute = NOON / MINUTE;
            let written = SharedWindow::of_calls(&[MinuteCount { caller, minute, calls: 1 }]);
            let left = |shared: &SharedWindow, now| shared.limit_status(now, &allowance).remaining;
            let over = (0..).map(|second| last + TimeDelta::seconds(HOUR + second));
            let over = over.take(60).find(|now| left(&leased, *now) == 100).expect("a cell ends");
            assert_eq!(left(&written, over - TimeDelta::seconds(1)), 99, "{caller:?}");
            let asked = SharedWindow::looks_back_to(last + TimeDelta::seconds(HOUR), &allowance);
            assert!(asked <= last - ahead, "{caller:?}");
        }
    }

    #[test]
    fn a_thousand_callers_ask_for_their_next_leases_evenly() {
        let mut asked = vec![0; CELL as usize];
        for number in 1..=1_000 {
            let ahead = ahead(CallerId::Account(AccountId(number)));
            asked[ahead.num_seconds() as usize] += 1;
        }
        assert!(asked.iter().all(|callers| (60..75).contains(callers)), "{asked:?}");
    }

    #[test]
    fn it_is_kept_until_nothing_counts_not_even_for_a_clock_an_hour_back() {
        let lease = |allowance| {
            let mut shared = SharedWindow::default();
            shared.lease(&Ask { allowance, now: at(0), unused: None });
            shared.kept_for().as_secs() as i64
        };
        assert_eq!(lease(Allowance::hourly(100)), CELL + HOUR + CLOCKS + HOUR);
        assert_eq!(lease(Allowance::GUEST), 12 * HOUR + CLOCKS + HOUR, "until midnight");
    }

    proptest! {
        #[test]
        fn every_rolling_hour_holds_at_most_the_limit_over_all_instances(
            limit in prop_oneof![1u32..40, 100u32..2_000],
            skews in prop::collection::vec(-5_000i64..=5_000, 1..5),
            bursts in prop::collection::vec(
                (
                    prop_oneof![0i64..2_000, 0i64..90_000, 0i64..4_000_000],
                    0usize..4,
                    1usize..300,
                    any::<bool>(),
                ),
                1..120,
            ),
        ) {
            let mut instances = Instances::new(Allowance::hourly(limit), &skews);
            let mut now = at(12_345);
            let mut calls = Vec::new();
            for (gap, instance, burst, sweeps) in bursts {
                now += TimeDelta::milliseconds(gap);
                if sweeps {
                    instances.sweep(now);
                }
                for _ in 0..burst {
                    if granted(&instances.call(instance % skews.len(), now)) {
                        calls.push(now);
                    }
                }
            }
            prop_assert!(most_in_an_hour(&calls) <= limit as usize);
        }

        #[test]
        fn a_client_that_obeys_the_headers_of_one_instance_is_never_refused_by_it(
            limit in 1u32..40,
            gaps in prop::collection::vec(0i64..400_000, 1..200),
        ) {
            let mut instances = Instances::new(Allowance::hourly(limit), &[0]);
            let mut now = at(0);
            for gap in gaps {
                let decision = instances.call(0, now);
                prop_assert!(granted(&decision));
                let limit_status = decision.limit_status();
                now += TimeDelta::milliseconds(gap);
                if limit_status.remaining == 0 {
                    now = now.max(limit_status.reset_at);
                }
            }
        }
    }
}

//! One limit for several instances, which lease shares of it.
//!
//! What all instances together let through of one caller is [`Shared`], kept where all of them
//! reach it and changed by one at a time. An instance takes some calls at once ([`Lease`]) and lets
//! them through without asking again ([`Share`]). All that is leased counts as made, so in sum no
//! more is let through than the limit. A lease is good within its own minute, blocks shrink as the
//! rest does, and what is left of one is given back: so little is held where nobody uses it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use chrono::TimeDelta;

use super::{Admission, DAY, GuestDay, HOUR, MINUTE, Standing, at_second, hour_standing, minute};
use crate::credits::CallerId;
use crate::tier::{GUEST_DAILY_LIMIT, GUEST_HOURLY_LIMIT};
use crate::{StoreError, Timestamp};

/// How many seconds the clocks of two instances are apart at most, with the time that a call takes
/// from its instance to the store.
const CLOCKS: i64 = 10;
/// For how long an instance believes that nothing is left.
const BELIEVED: TimeDelta = TimeDelta::seconds(1);
/// No block is a larger part of the limit,
const LARGEST_OF_LIMIT: u32 = 100;
/// nor of what is left of it.
const LARGEST_OF_REST: u32 = 16;

/// How often a caller may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Calls in a rolling hour.
    pub hourly: u32,
    /// Calls in a UTC day, where they are limited.
    pub daily: Option<u32>,
}

impl Allowance {
    /// What a guest may.
    pub const GUEST: Self = Self { hourly: GUEST_HOURLY_LIMIT, daily: Some(GUEST_DAILY_LIMIT) };

    /// Calls in a rolling hour alone.
    #[must_use]
    pub const fn hourly(hourly: u32) -> Self {
        Self { hourly, daily: None }
    }
}

/// What all instances together have leased of one caller's calls.
///
/// A cell counts until an hour after its minute's end, and for as long as clocks may differ.
///
/// # Examples
///
/// ```
/// use account_core::limit::lease::{Allowance, Ask, Shared};
/// use account_core::Timestamp;
///
/// let mut shared = Shared::default();
/// let now = Timestamp::UNIX_EPOCH;
/// let ask = |unused| Ask { allowance: Allowance::hourly(1_000), now, unused };
/// let lease = shared.lease(&ask(None));
/// assert_eq!((lease.calls, lease.standing.remaining), (10, 990));
/// assert_eq!(shared.to_string().parse(), Ok(shared));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// Calls by the minute since 1970.
    cells: BTreeMap<u32, u32>,
    /// The latest second that any instance told.
    latest: i64,
    /// The day, of who has a daily limit.
    day: GuestDay,
}

/// What an instance asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// How often the caller may call.
    pub allowance: Allowance,
    /// What the instance's clock shows.
    pub now: Timestamp,
    /// What it gives back of its last lease.
    pub unused: Option<Unused>,
}

/// Calls that an instance may let through within the minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// How many; none where nothing is left.
    pub calls: u32,
    /// The minute, since 1970, that they were counted in.
    pub cell: u32,
    /// What is left for everybody beside them.
    pub standing: Standing,
}

/// Leased calls that nobody made, and that nobody will make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unused {
    /// The cell of their lease.
    pub cell: u32,
    /// How many.
    pub calls: u32,
}

/// A text that is no [`Shared`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not what is counted of a shared limit")]
pub struct Malformed;

impl Shared {
    /// Takes back what is unused, and leases the next block.
    pub fn lease(&mut self, ask: &Ask) -> Lease {
        if let Some(unused) = ask.unused {
            self.give_back(unused);
        }
        // A clock that goes back gives nothing back: what it asks for counts as of the latest time
        // told, singly, since such a lease would not end with its cell.
        let earliest = at_second(self.latest - CLOCKS);
        let is_astray = ask.now < earliest;
        let now = ask.now.max(earliest);
        self.latest = self.latest.max(ask.now.timestamp());
        self.cells.retain(|cell, _| leaves_at(*cell) > now.timestamp());
        let calls = match self.standing(now, &ask.allowance).remaining {
            0 => 0,
            _ if is_astray || ask.allowance.daily.is_some() => 1,
            left => {
                let largest = (ask.allowance.hourly / LARGEST_OF_LIMIT).max(1);
                (left / LARGEST_OF_REST).clamp(1, largest)
            }
        };
        let cell = minute(now);
        if calls > 0 {
            *self.cells.entry(cell).or_default() += calls;
        }
        if let (1.., Some(daily)) = (calls, ask.allowance.daily) {
            self.day.admit(now, daily);
        }
        Lease { calls, cell, standing: self.standing(now, &ask.allowance) }
    }

    /// Takes back what was leased and will not be used.
    pub fn give_back(&mut self, unused: Unused) {
        let Some(calls) = self.cells.get_mut(&unused.cell) else { return };
        *calls = calls.saturating_sub(unused.calls);
        if *calls == 0 {
            self.cells.remove(&unused.cell);
        }
        if self.day.day == i64::from(unused.cell) / (DAY / MINUTE) {
            self.day.used = self.day.used.saturating_sub(unused.calls);
        }
    }

    /// Where the caller stands; what is leased counts as made.
    #[must_use]
    pub fn standing(&self, now: Timestamp, allowance: &Allowance) -> Standing {
        let cells = self.cells.iter().map(|(cell, calls)| (leaves_at(*cell), *calls));
        let live = cells.filter(|(leaves_at, _)| *leaves_at > now.timestamp());
        let hour = hour_standing(live, now, allowance.hourly);
        match allowance.daily {
            Some(daily) => hour.tighter(self.day.standing(now, daily)),
            None => hour,
        }
    }

    /// Calls of this UTC day, of who has a daily limit.
    #[must_use]
    pub fn requests_today(&self, now: Timestamp) -> u32 {
        self.day.used(now)
    }
}

/// The second since 1970 from which on a cell counts no longer, whichever clock is asked.
fn leaves_at(cell: u32) -> i64 {
    (i64::from(cell) + 1) * MINUTE + HOUR + CLOCKS
}

/// Whole numbers between spaces: the latest second, the day and its calls, then each cell and its
/// calls.
impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.latest, self.day.day, self.day.used)?;
        self.cells.iter().try_for_each(|(cell, calls)| write!(f, " {cell} {calls}"))
    }
}

impl FromStr for Shared {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        fn next<'a, T: FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Option<T> {
            words.next()?.parse().ok()
        }
        let words = &mut text.split(' ').peekable();
        let latest = next(words).ok_or(Malformed)?;
        let day = next(words).ok_or(Malformed)?;
        let used = next(words).ok_or(Malformed)?;
        let mut cells = BTreeMap::new();
        while words.peek().is_some() {
            let cell = next(words).ok_or(Malformed)?;
            cells.insert(cell, next(words).ok_or(Malformed)?);
        }
        Ok(Self { cells, latest, day: GuestDay { day, used } })
    }
}

/// What one instance holds of one caller's calls.
#[derive(Clone, Debug, Default)]
pub struct Share(Option<Held>);

#[derive(Clone, Copy, Debug)]
struct Held {
    /// With the calls that are left of it.
    lease: Lease,
    allowance: Allowance,
    /// What the instance's clock showed when it asked.
    at: Timestamp,
}

impl Held {
    fn is_good(&self, now: Timestamp, allowance: &Allowance) -> bool {
        self.allowance == *allowance && minute(self.at) == minute(now)
    }

    /// As the store told it, with what is left of the lease.
    fn standing(&self, now: Timestamp) -> Standing {
        let told = self.lease.standing;
        let remaining = told.remaining.saturating_add(self.lease.calls);
        Standing { remaining, reset_at: told.reset_at.max(now), ..told }
    }
}

impl Share {
    /// Lets a call through that was leased, or refuses one where nothing was left a moment ago;
    /// `None` where the store is to be asked.
    pub fn admit(&mut self, now: Timestamp, allowance: &Allowance) -> Option<Admission> {
        let held = self.0.as_mut()?;
        if held.lease.calls > 0 && held.is_good(now, allowance) {
            held.lease.calls -= 1;
            return Some(Admission::Granted(held.standing(now)));
        }
        let standing = held.standing(now);
        let age = now - held.at;
        let is_over = standing.remaining == 0
            && held.allowance == *allowance
            && (TimeDelta::zero()..BELIEVED).contains(&age)
            && now < held.lease.standing.reset_at;
        is_over.then(|| Admission::refused(standing, now))
    }

    /// Calls that are held and may still be let through.
    #[must_use]
    pub fn unused(&self, now: Timestamp, allowance: &Allowance) -> u32 {
        self.0.filter(|held| held.is_good(now, allowance)).map_or(0, |held| held.lease.calls)
    }

    /// Takes back a call that was let through here and then refused elsewhere.
    pub fn take_back(&mut self) {
        if let Some(held) = &mut self.0 {
            held.lease.calls += 1;
        }
    }

    /// What to ask the store for. What is held is no longer.
    pub fn ask(&mut self, now: Timestamp, allowance: &Allowance) -> Ask {
        Ask { allowance: *allowance, now, unused: self.give_up() }
    }

    /// Takes what the store leased.
    pub fn receive(&mut self, lease: Lease, ask: &Ask) {
        self.0 = Some(Held { lease, allowance: ask.allowance, at: ask.now });
    }

    /// Gives up what is held, where its minute is over.
    pub fn give_up_expired(&mut self, now: Timestamp) -> Option<Unused> {
        let is_over = self.0.is_some_and(|held| minute(held.at) != minute(now));
        if is_over { self.give_up() } else { None }
    }

    /// Gives up what is held; answers what is left of it.
    pub fn give_up(&mut self) -> Option<Unused> {
        let lease = self.0.take()?.lease;
        (lease.calls > 0).then_some(Unused { cell: lease.cell, calls: lease.calls })
    }

    /// Whether nothing is held.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// Where what is [`Shared`] is kept. One change of a caller's at a time, whoever makes it.
pub trait LeaseStore: Send + Sync {
    /// Applies [`Shared::lease`].
    fn lease(
        &self,
        caller: CallerId,
        ask: Ask,
    ) -> impl Future<Output = Result<Lease, StoreError>> + Send;

    /// Applies [`Shared::give_back`].
    fn give_back(
        &self,
        caller: CallerId,
        unused: Unused,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reads what is shared of a caller.
    fn shared(&self, caller: CallerId) -> impl Future<Output = Result<Shared, StoreError>> + Send;

    /// Forgets callers of whom nothing was leased since.
    fn forget_shared(
        &self,
        since: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Noon of 20 November 2026, a whole minute.
    const NOON: i64 = 1_795_176_000;

    fn at(milliseconds: i64) -> Timestamp {
        at_second(NOON) + TimeDelta::milliseconds(milliseconds)
    }

    /// Instances with clocks of their own on one store.
    struct Instances {
        shared: Shared,
        shares: Vec<(Share, TimeDelta)>,
        allowance: Allowance,
    }

    impl Instances {
        fn new(allowance: Allowance, skews: &[i64]) -> Self {
            let share = |skew: &i64| (Share::default(), TimeDelta::milliseconds(*skew));
            Self { shared: Shared::default(), shares: skews.iter().map(share).collect(), allowance }
        }

        fn call(&mut self, instance: usize, now: Timestamp) -> Admission {
            let (share, skew) = &mut self.shares[instance];
            let now = now + *skew;
            if let Some(admission) = share.admit(now, &self.allowance) {
                return admission;
            }
            let ask = share.ask(now, &self.allowance);
            share.receive(self.shared.lease(&ask), &ask);
            share.admit(now, &self.allowance).expect("the store was asked")
        }

        /// What each instance does every few seconds.
        fn sweep(&mut self, now: Timestamp) {
            for (share, skew) in &mut self.shares {
                if let Some(unused) = share.give_up_expired(now + *skew) {
                    self.shared.give_back(unused);
                }
            }
        }
    }

    fn granted(admission: &Admission) -> bool {
        matches!(admission, Admission::Granted(_))
    }

    /// The most calls in any 3,600 seconds.
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

    #[test]
    fn three_instances_admit_the_limit_and_not_one_call_more_at_0_9_to_10_times_of_it() {
        const LIMIT: u32 = 5_000;
        for tenths in [9, 10, 11, 15, 20, 50, 100] {
            let mut instances = Instances::new(Allowance::hourly(LIMIT), &[-5_000, 300, 5_000]);
            let offered = LIMIT * tenths / 10;
            let step = HOUR * 1_000_000 / i64::from(offered);
            let mut calls = Vec::new();
            for index in 0..i64::from(offered) * 2 {
                let now = at(0) + TimeDelta::microseconds(index * step);
                // Unevenly spread: half to the first, a third to the second.
                let instance = [0, 1, 0, 1, 0, 2][index as usize % 6];
                if index % 17 == 0 {
                    instances.sweep(now);
                }
                if granted(&instances.call(instance, now)) {
                    calls.push(now);
                }
            }
            let most = most_in_an_hour(&calls);
            assert!(most <= LIMIT as usize, "{most} at {tenths} tenths");
            let first_hour = calls.iter().filter(|call| **call < at(HOUR * 1000)).count();
            let due = LIMIT.min(offered) as usize;
            assert!(first_hour * 100 >= due * 99, "{first_hour} of {due} at {tenths} tenths");
        }
    }

    #[test]
    fn one_instance_has_what_another_one_leased_and_did_not_use() {
        let mut instances = Instances::new(Allowance::hourly(1_000), &[0, 0, 0]);
        for idle in [1, 2] {
            assert!(granted(&instances.call(idle, at(0))));
        }
        let spent = (0..2_000).filter(|_| granted(&instances.call(0, at(59_999)))).count();
        assert_eq!(spent, 1_000 - 20, "two blocks of ten are held elsewhere");
        instances.sweep(at(60_000));
        let spent = (0..2_000).filter(|_| granted(&instances.call(0, at(61_000)))).count();
        assert_eq!(spent, 18, "with the minute what was held comes back");
    }

    #[test]
    fn a_guests_hour_and_day_are_shared_call_by_call() {
        let mut instances = Instances::new(Allowance::GUEST, &[0, 0, 0]);
        for call in 1..=50 {
            let admission = instances.call(call % 3, at(0));
            assert!(granted(&admission), "call {call}");
            assert_eq!(admission.standing().remaining as usize, 50 - call);
        }
        let refused = instances.call(0, at(0));
        assert!(!granted(&refused));
        assert_eq!(refused.standing().reset_at, at(12 * HOUR * 1000));
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
        assert_eq!(spend(&mut instances, 0, at((HOUR + 69) * 1000)), 0);
        assert_eq!(spend(&mut instances, 0, at((HOUR + 70) * 1000)), 1_000);
    }

    #[test]
    fn what_is_shared_is_read_back_as_it_was_written() {
        let mut shared = Shared::default();
        for call in 0..70 {
            let now = at(call * 60_000);
            shared.lease(&Ask { allowance: Allowance::GUEST, now, unused: None });
        }
        assert_eq!(shared.to_string().parse(), Ok(shared));
        for malformed in ["", "1", "1 2", "1 2 3 4", "1 2 3 4 x", "1 2 -3"] {
            assert_eq!(malformed.parse::<Shared>(), Err(Malformed), "{malformed}");
        }
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
                let admission = instances.call(0, now);
                prop_assert!(granted(&admission));
                let standing = admission.standing();
                now += TimeDelta::milliseconds(gap);
                if standing.remaining == 0 {
                    now = now.max(standing.reset_at);
                }
            }
        }
    }
}

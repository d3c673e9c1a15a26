//! Limits on the number of calls of one caller: over a rolling hour, and over a UTC day.

use std::borrow::Cow;
use std::time::Duration;

use chrono::TimeDelta;

use crate::Timestamp;
use crate::tier::{GUEST_DAILY_LIMIT, GUEST_HOURLY_LIMIT};

/// Sixty whole minutes and the current one.
const CELLS: usize = 61;
const MINUTE: i64 = 60;
const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;
/// Minutes by which a clock may go back without a change of what was counted.
const CLOCK_SLACK: u32 = 5;

pub mod lease;

/// The state of a limit for one caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitStatus {
    /// The number of calls that the window allows, used or not.
    pub limit: u32,
    /// Calls that are still allowed at this moment.
    pub remaining: u32,
    /// The moment at which more calls are allowed than now, at least one.
    pub reset_at: Timestamp,
}

impl LimitStatus {
    /// Returns the status with fewer calls remaining; of two equal ones, that with the later reset.
    #[must_use]
    pub fn tighter(self, other: Self) -> Self {
        let rank = |limit_status: &Self| {
            (limit_status.remaining, std::cmp::Reverse(limit_status.reset_at))
        };
        if rank(&other) < rank(&self) { other } else { self }
    }
}

/// The decision of a limit on one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitDecision {
    /// The call is allowed and counted.
    Granted(LimitStatus),
    /// The window is full: the call is refused, and does not count against the limit.
    Refused {
        /// The least time to wait until a call is allowed.
        retry_after: Duration,
        /// The state of the limit, with no call remaining.
        limit_status: LimitStatus,
    },
}

impl LimitDecision {
    fn refused(limit_status: LimitStatus, now: Timestamp) -> Self {
        let retry_after = (limit_status.reset_at - now).to_std().unwrap_or_default();
        Self::Refused { retry_after, limit_status }
    }

    /// Returns the state of the limit after the decision.
    #[must_use]
    pub const fn limit_status(&self) -> &LimitStatus {
        match self {
            Self::Granted(limit_status) | Self::Refused { limit_status, .. } => limit_status,
        }
    }
}

/// The calls of one caller over a rolling hour, counted in cells of one minute.
///
/// No interval of 3,600 seconds holds more allowed calls than the limit. A whole cell is counted
/// until an hour after its last call, rounded up to the second. The count is therefore an upper
/// bound, and is exact for calls in bursts. The value is one pointer, with about 200 bytes on the
/// heap.
///
/// A clock that moves backwards allows no more calls. Up to five minutes back, calls are counted at
/// the latest time seen. Further back, calls that were counted later than now are counted now: after
/// a clock that was a day ahead, a caller waits for an hour and not for a day.
///
/// # Examples
///
/// ```
/// use account_core::{LimitDecision, RollingHour, Timestamp};
///
/// let now = Timestamp::UNIX_EPOCH;
/// let mut hour = RollingHour::new();
/// assert!(matches!(hour.admit(now, 1), LimitDecision::Granted(status) if status.remaining == 0));
/// assert!(matches!(hour.admit(now, 1), LimitDecision::Refused { .. }));
/// ```
#[derive(Clone, Debug, Default)]
pub struct RollingHour(Box<Ring>);

/// The ring of cells. The count of a cell is split into two halves, because few callers need the
/// upper half.
#[derive(Clone, Debug)]
struct Ring {
    /// The minute since 1970 of the newest cell.
    newest: u32,
    total: u32,
    low: [u16; CELLS],
    high: Option<Box<[u16; CELLS]>>,
    /// The second of the minute, rounded up, of the last call of each cell.
    last: [u8; CELLS],
}

impl Default for Ring {
    fn default() -> Self {
        Self { newest: 0, total: 0, low: [0; CELLS], high: None, last: [0; CELLS] }
    }
}

impl RollingHour {
    /// Returns a rolling hour without calls.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows a call and counts it, or refuses the call.
    pub fn admit(&mut self, now: Timestamp, limit: u32) -> LimitDecision {
        let ring = &mut *self.0;
        ring.advance(now);
        if ring.total >= limit {
            return LimitDecision::refused(ring.status(now, limit), now);
        }
        ring.count(now);
        LimitDecision::Granted(ring.status(now, limit))
    }

    /// Returns the state of this limit for the caller.
    #[must_use]
    pub fn limit_status(&self, now: Timestamp, limit: u32) -> LimitStatus {
        let mut ring = Cow::Borrowed(&*self.0);
        if ring.is_far_ahead(now) {
            ring = Cow::Owned(ring.redated(now));
        }
        let live = ring.live_cells(now);
        let used = live.clone().map(|(_, calls)| calls).sum();
        hour_status(used, live, now, limit)
    }

    /// Adds calls of an earlier minute (since 1970), which the store knows after a restart.
    pub fn seed(&mut self, minute: i64, calls: u32) {
        let Ok(minute) = u32::try_from(minute) else { return };
        let ring = &mut *self.0;
        ring.advance_to(minute);
        if ring.newest - minute < CELLS as u32 {
            ring.add(minute, calls, 60);
        }
    }
}

impl Ring {
    /// Removes the cells that are older than an hour.
    fn advance(&mut self, now: Timestamp) {
        if self.is_far_ahead(now) {
            *self = self.redated(now);
        }
        self.advance_to(minute(now));
        // Of the cells in the ring, only the oldest can be older than an hour.
        let Some(oldest) = self.newest.checked_sub(CELLS as u32 - 1) else { return };
        if self.leaves_at(oldest) <= now.timestamp() {
            self.clear(oldest);
        }
    }

    /// Returns the state of the limit now, to which the ring was advanced: every call counts.
    fn status(&self, now: Timestamp, limit: u32) -> LimitStatus {
        hour_status(self.total, self.live_cells(now), now, limit)
    }

    /// Returns true where the newest cell is later than a correct clock allows: the clock was ahead.
    fn is_far_ahead(&self, now: Timestamp) -> bool {
        self.newest > minute(now).saturating_add(CLOCK_SLACK)
    }

    /// The same calls, with those of later minutes counted at the end of this minute.
    fn redated(&self, now: Timestamp) -> Self {
        let this_minute = minute(now);
        let mut redated = Self { newest: this_minute, ..Self::default() };
        for minute in self.newest.saturating_sub(CELLS as u32 - 1)..=self.newest {
            let last = if minute > this_minute { 60 } else { self.last[cell(minute)] };
            match self.calls(minute) {
                0 => {}
                calls => redated.add(minute.min(this_minute), calls, last),
            }
        }
        redated
    }

    fn advance_to(&mut self, minute: u32) {
        let steps = minute.saturating_sub(self.newest).min(CELLS as u32);
        self.newest = self.newest.max(minute);
        for step in 0..steps {
            self.clear(self.newest - step);
        }
    }

    fn clear(&mut self, minute: u32) {
        self.total -= self.calls(minute);
        let cell = cell(minute);
        (self.low[cell], self.last[cell]) = (0, 0);
        if let Some(high) = &mut self.high {
            high[cell] = 0;
        }
    }

    fn count(&mut self, now: Timestamp) {
        let second = now.timestamp().rem_euclid(MINUTE) as u8;
        let rounded_up = second + u8::from(now.timestamp_subsec_nanos() > 0);
        // Where the clock is behind the newest cell, the call may be as late as the end of that
        // cell.
        let last = if minute(now) < self.newest { 60 } else { rounded_up };
        self.add(self.newest, 1, last);
    }

    fn add(&mut self, minute: u32, calls: u32, last: u8) {
        let calls = self.calls(minute).saturating_add(calls);
        self.total = self.total - self.calls(minute) + calls;
        let cell = cell(minute);
        self.low[cell] = calls as u16;
        if calls > u32::from(u16::MAX) {
            self.high.get_or_insert_with(|| Box::new([0; CELLS]))[cell] = (calls >> 16) as u16;
        }
        self.last[cell] = self.last[cell].max(last);
    }

    fn calls(&self, minute: u32) -> u32 {
        let cell = cell(minute);
        let high = self.high.as_ref().map_or(0, |high| u32::from(high[cell]));
        high << 16 | u32::from(self.low[cell])
    }

    /// Returns the second since 1970 at which the cell is no longer counted.
    fn leaves_at(&self, minute: u32) -> i64 {
        i64::from(minute) * MINUTE + i64::from(self.last[cell(minute)]) + HOUR
    }

    /// Returns for each cell with calls, oldest first, the second of its removal and its number of
    /// calls.
    fn live_cells(&self, now: Timestamp) -> impl Iterator<Item = (i64, u32)> + Clone + '_ {
        (self.oldest()..=self.newest)
            .map(|minute| (self.leaves_at(minute), self.calls(minute)))
            .filter(move |(leaves_at, calls)| *calls > 0 && *leaves_at > now.timestamp())
    }

    /// Returns the minute of the oldest cell in use: the cells before it have no calls.
    fn oldest(&self) -> u32 {
        let first = self.newest.saturating_sub(CELLS as u32 - 1);
        if self.high.is_some() {
            return first;
        }
        let (newer, older) = self.low.split_at(cell(first));
        let empty = older.iter().chain(newer).take_while(|calls| **calls == 0).count();
        first + empty as u32
    }
}

/// Returns the state of a limit, given the number of counted calls and their cells: the second of
/// removal and the number of calls of each, oldest first.
fn hour_status(
    used: u32,
    mut live: impl Iterator<Item = (i64, u32)>,
    now: Timestamp,
    limit: u32,
) -> LimitStatus {
    let remaining = limit.saturating_sub(used);
    // A caller with calls remaining gets more when the oldest cell is removed. A caller without any
    // waits until enough cells have been removed for one call.
    let mut left = used;
    let reset = live.find_map(|(leaves_at, calls)| {
        left -= calls;
        (remaining > 0 || left < limit).then_some(leaves_at)
    });
    let reset_at = match reset {
        Some(second) => at_second(second),
        None if limit == 0 => now + TimeDelta::seconds(HOUR),
        None => now,
    };
    LimitStatus { limit, remaining, reset_at }
}

const fn cell(minute: u32) -> usize {
    minute as usize % CELLS
}

fn minute(now: Timestamp) -> u32 {
    u32::try_from(now.timestamp().div_euclid(MINUTE)).unwrap_or_default()
}

fn at_second(second: i64) -> Timestamp {
    Timestamp::from_timestamp(second, 0).unwrap_or(Timestamp::MAX_UTC)
}

/// The calls of one guest, counted over the UTC day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuestDay {
    day: i64,
    used: u32,
}

impl GuestDay {
    /// Returns the count of a guest that has made no call.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows a call and counts it, or refuses the call.
    pub fn admit(&mut self, now: Timestamp, limit: u32) -> LimitDecision {
        *self = self.as_of(now);
        if self.used >= limit {
            return LimitDecision::refused(self.limit_status(now, limit), now);
        }
        self.used += 1;
        LimitDecision::Granted(self.limit_status(now, limit))
    }

    /// Returns the state of this limit for the guest.
    #[must_use]
    pub fn limit_status(&self, now: Timestamp, limit: u32) -> LimitStatus {
        let Self { day, used } = self.as_of(now);
        let reset_at = at_second((day + 1) * DAY);
        LimitStatus { limit, remaining: limit.saturating_sub(used), reset_at }
    }

    /// Returns the number of calls of this UTC day.
    #[must_use]
    pub fn used(&self, now: Timestamp) -> u32 {
        self.as_of(now).used
    }

    /// Adds calls of a minute since 1970, which the store knows after a restart.
    pub fn seed(&mut self, minute: i64, calls: u32) {
        let day = minute.div_euclid(DAY / MINUTE);
        if day > self.day {
            *self = Self { day, used: calls };
        } else if day == self.day {
            self.used = self.used.saturating_add(calls);
        }
    }

    /// Returns the day as counted now. A clock that moves backwards does not reset the day: up to five
    /// minutes back over midnight, the later day continues; further back, its calls count today.
    fn as_of(self, now: Timestamp) -> Self {
        let today = now.timestamp().div_euclid(DAY);
        let latest = (now.timestamp() + i64::from(CLOCK_SLACK) * MINUTE).div_euclid(DAY);
        if self.day > latest {
            Self { day: today, ..self }
        } else if self.day < today {
            Self { day: today, used: 0 }
        } else {
            self
        }
    }
}

/// The hourly and the daily limit of a guest, or of a number of guests together. The reported
/// status is that of the tighter limit.
#[derive(Clone, Debug, Default)]
pub struct GuestLimits {
    /// The calls of the rolling hour.
    pub hour: RollingHour,
    /// The calls of the current UTC day.
    pub day: GuestDay,
}

impl GuestLimits {
    /// Returns the limits of a caller that has made no call.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows a call and counts it in both limits, or refuses the call and counts it in neither.
    /// Each limit is that of one guest times `guests`.
    pub fn admit(&mut self, now: Timestamp, guests: u32) -> LimitDecision {
        let limit_status = self.limit_status(now, guests);
        if limit_status.remaining == 0 {
            return LimitDecision::refused(limit_status, now);
        }
        self.hour.admit(now, GUEST_HOURLY_LIMIT.saturating_mul(guests));
        self.day.admit(now, GUEST_DAILY_LIMIT.saturating_mul(guests));
        LimitDecision::Granted(self.limit_status(now, guests))
    }

    /// Allows a call of a guest and counts it for the guest and for the network that created the
    /// guest's key, or refuses the call and counts it for neither. The network may make the calls
    /// of `guests` guests.
    pub fn admit_both(&mut self, network: &mut Self, now: Timestamp, guests: u32) -> LimitDecision {
        let limit_status = network.limit_status(now, guests);
        if limit_status.remaining == 0 {
            return LimitDecision::refused(limit_status, now);
        }
        match self.admit(now, 1) {
            LimitDecision::Granted(own) => {
                let shared = *network.admit(now, guests).limit_status();
                LimitDecision::Granted(own.tighter(shared))
            }
            refused @ LimitDecision::Refused { .. } => refused,
        }
    }

    /// Returns the status with fewer calls remaining, where each limit is that of one guest times
    /// `guests`.
    #[must_use]
    pub fn limit_status(&self, now: Timestamp, guests: u32) -> LimitStatus {
        let hour = self.hour.limit_status(now, GUEST_HOURLY_LIMIT.saturating_mul(guests));
        hour.tighter(self.day.limit_status(now, GUEST_DAILY_LIMIT.saturating_mul(guests)))
    }

    /// Returns the number of calls of this UTC day.
    #[must_use]
    pub fn requests_today(&self, now: Timestamp) -> u32 {
        self.day.used(now)
    }

    /// Adds calls of an earlier minute (since 1970), which the store knows after a restart.
    pub fn seed(&mut self, minute: i64, calls: u32) {
        self.hour.seed(minute, calls);
        self.day.seed(minute, calls);
    }
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

    fn granted(decision: LimitDecision) -> bool {
        matches!(decision, LimitDecision::Granted(_))
    }

    #[test]
    fn a_burst_before_the_hour_and_one_after_it_do_not_add_up() {
        let mut hour = RollingHour::new();
        let late = at(HOUR * 1000 - 1000);
        assert_eq!((0..600).filter(|_| granted(hour.admit(late, 500))).count(), 500);
        let sharp = at(HOUR * 1000);
        assert_eq!((0..600).filter(|_| granted(hour.admit(sharp, 500))).count(), 0);
        assert!(granted(hour.admit(late + TimeDelta::seconds(HOUR), 500)));
    }

    #[test]
    fn the_wait_after_a_burst_is_an_hour_and_not_more() {
        let mut hour = RollingHour::new();
        for _ in 0..60 {
            assert!(granted(hour.admit(at(17_000), 60)));
        }
        let LimitDecision::Refused { retry_after, limit_status } = hour.admit(at(17_000), 60)
        else {
            panic!("the 61st call was let through");
        };
        assert_eq!(retry_after, Duration::from_secs(3600));
        assert_eq!((limit_status.limit, limit_status.remaining), (60, 0));
        assert!(!granted(hour.admit(limit_status.reset_at - TimeDelta::microseconds(1), 60)));
        assert!(granted(hour.admit(limit_status.reset_at, 60)));
    }

    #[test]
    fn an_hour_of_a_hundred_thousand_fits_into_one_minute() {
        let mut hour = RollingHour::new();
        let count = (0..100_100).filter(|_| granted(hour.admit(at(0), 100_000))).count();
        assert_eq!(count, 100_000);
        assert!(!granted(hour.admit(at(HOUR * 1000 - 1), 100_000)));
        assert!(granted(hour.admit(at(HOUR * 1000), 100_000)));
        assert_eq!(hour.limit_status(at(HOUR * 1000), 100_000).remaining, 99_999);
    }

    #[test]
    fn a_clock_an_hour_back_lets_no_more_through() {
        let mut hour = RollingHour::new();
        for _ in 0..10 {
            assert!(granted(hour.admit(at(0), 10)));
        }
        assert!(!granted(hour.admit(at(-HOUR * 1000), 10)));
        assert!(!granted(hour.admit(at(-HOUR * 2000), 10)));
        assert!(granted(hour.admit(at(HOUR * 1000), 10)));
    }

    #[test]
    fn after_a_clock_that_was_a_day_ahead_a_spent_caller_waits_for_an_hour() {
        for ahead in [6 * 60_000, 30 * 60_000, HOUR * 1000, DAY * 1000, 400 * DAY * 1000] {
            let mut hour = RollingHour::new();
            for _ in 0..10 {
                assert!(granted(hour.admit(at(ahead), 10)));
            }
            let told = hour.limit_status(at(0), 10);
            assert_eq!((told.remaining, told.reset_at), (0, at((HOUR + MINUTE) * 1000)), "{ahead}");
            assert!(!granted(hour.admit(at(0), 10)), "{ahead}");
            assert!(!granted(hour.admit(at(HOUR * 1000), 10)), "{ahead}");
            assert!(granted(hour.admit(at((HOUR + MINUTE) * 1000), 10)), "{ahead}");
        }
    }

    #[test]
    fn a_clock_that_goes_back_a_little_changes_no_count() {
        let mut hour = RollingHour::new();
        for minute in 0..5 {
            assert!(granted(hour.admit(at(minute * MINUTE * 1000), 5)));
        }
        let before = hour.limit_status(at(4 * MINUTE * 1000), 5);
        assert!(!granted(hour.admit(at(0), 5)), "four minutes back");
        assert_eq!(hour.limit_status(at(4 * MINUTE * 1000), 5), before);
    }

    #[test]
    fn of_the_calls_before_a_clock_went_back_the_earlier_ones_end_in_their_own_time() {
        let mut hour = RollingHour::new();
        for minute in [0, 30] {
            assert!(granted(hour.admit(at(minute * MINUTE * 1000), 3)));
        }
        assert!(granted(hour.admit(at(10 * MINUTE * 1000), 3)), "twenty minutes back");
        let left = |minute| hour.limit_status(at(minute * MINUTE * 1000), 3).remaining;
        assert_eq!([left(59), left(60), left(70), left(71)], [0, 1, 1, 3]);
    }

    #[test]
    fn after_a_clock_that_was_a_day_ahead_a_guest_waits_for_the_end_of_the_day() {
        let mut day = GuestDay::new();
        let tomorrow = at(DAY * 1000);
        assert_eq!((0..60).filter(|_| granted(day.admit(tomorrow, 50))).count(), 50);
        let midnight = at(DAY * 500);
        assert_eq!(day.limit_status(at(0), 50).reset_at, midnight);
        assert!(!granted(day.admit(at(0), 50)));
        assert!(granted(day.admit(midnight, 50)));
    }

    #[test]
    fn calls_seen_before_a_restart_still_count() {
        let mut hour = RollingHour::new();
        for minutes_ago in [0, 30, 60, 61, 500] {
            hour.seed(NOON / 60 - minutes_ago, 10);
        }
        assert_eq!(hour.limit_status(at(0), 100).remaining, 70);
        assert_eq!(hour.limit_status(at(60_000), 100).remaining, 80);
    }

    #[test]
    fn a_limit_that_was_lowered_waits_until_enough_calls_have_left() {
        let mut hour = RollingHour::new();
        for minute in 0..10 {
            assert!(granted(hour.admit(at(minute * 60_000), 100)));
        }
        let limit_status = hour.limit_status(at(600_000), 3);
        assert_eq!(limit_status.remaining, 0);
        assert_eq!(limit_status.reset_at, at(7 * 60_000 + HOUR * 1000));
        assert!(granted(hour.admit(limit_status.reset_at, 3)));
        let never = RollingHour::new().admit(at(0), 0);
        assert!(
            matches!(never, LimitDecision::Refused { retry_after, .. } if !retry_after.is_zero())
        );
    }

    #[test]
    fn a_million_callers_fit_into_256_megabytes() {
        // A hash map of 8-byte keys grows to two slots an entry at most, each with one byte of
        // control data. An allocation costs up to 16 bytes beside its size.
        let entry = 2 * (8 + size_of::<RollingHour>() + 1) + size_of::<Ring>() + 16;
        assert!(entry <= 256, "{entry} bytes a caller");
    }

    #[test]
    fn the_guests_day_ends_at_midnight_utc() {
        let midnight = at_second(NOON + DAY / 2);
        let before = midnight - TimeDelta::microseconds(1);
        let mut day = GuestDay::new();
        assert_eq!((0..60).filter(|_| granted(day.admit(before, 50))).count(), 50);
        assert_eq!(day.limit_status(before, 50).reset_at, midnight);
        assert!(granted(day.admit(midnight, 50)));
        assert!(!granted(GuestDay { used: 50, ..day }.admit(before, 50)), "the clock went back");
    }

    #[test]
    fn a_guest_is_told_the_tighter_of_both_limits() {
        let mut limits = GuestLimits::new();
        for call in 1..=50 {
            let decision = limits.admit(at(0), 1);
            assert!(granted(decision), "call {call}");
            assert_eq!(decision.limit_status().remaining, 50 - call);
            assert_eq!(decision.limit_status().limit, GUEST_DAILY_LIMIT);
        }
        let LimitDecision::Refused { retry_after, .. } = limits.admit(at(0), 1) else {
            panic!("the 51st call of the day was let through");
        };
        assert_eq!(retry_after, Duration::from_secs(12 * 3600));
        assert_eq!(limits.requests_today(at(0)), 50);
    }

    #[test]
    fn across_midnight_a_guests_61st_call_in_an_hour_is_refused() {
        let midnight = at_second(NOON + DAY / 2);
        let mut limits = GuestLimits::new();
        let before = midnight - TimeDelta::minutes(10);
        assert_eq!((0..40).filter(|_| granted(limits.admit(before, 1))).count(), 40);
        assert_eq!((0..40).filter(|_| granted(limits.admit(midnight, 1))).count(), 20);
        let limit_status = limits.limit_status(midnight, 1);
        assert_eq!(
            (limit_status.limit, limit_status.reset_at),
            (60, before + TimeDelta::seconds(HOUR))
        );
    }

    #[test]
    fn ten_keys_of_one_network_have_no_ten_budgets() {
        let midnight = at_second(NOON + DAY / 2);
        let mut network = GuestLimits::new();
        let mut spend = |now: Timestamp| {
            let mut keys: Vec<GuestLimits> = (0..10).map(|_| GuestLimits::new()).collect();
            let calls =
                (0..1_000).filter(|call| granted(keys[call % 10].admit_both(&mut network, now, 5)));
            calls.count()
        };
        let before = midnight - TimeDelta::microseconds(1);
        assert_eq!(spend(before), 5 * 50, "ten new keys");
        assert_eq!(spend(before), 0, "ten more");
        assert_eq!(spend(midnight), 5 * 60 - 5 * 50, "the hour goes on over midnight");
        assert_eq!(spend(midnight + TimeDelta::hours(1)), 5 * 50 - 50, "the new day's rest");
    }

    #[test]
    fn what_the_network_may_not_is_not_counted_for_the_guest() {
        let (mut guest, mut network) = (GuestLimits::new(), GuestLimits::new());
        for _ in 0..50 {
            network.admit(at(0), 1);
        }
        let LimitDecision::Refused { limit_status, .. } = guest.admit_both(&mut network, at(0), 1)
        else {
            panic!("the network has nothing left");
        };
        assert_eq!((limit_status.limit, limit_status.remaining), (50, 0));
        assert_eq!(guest.requests_today(at(0)), 0);
    }

    proptest! {
        #[test]
        fn every_rolling_hour_holds_at_most_the_limit(
            limit in 1u32..40,
            gaps in prop::collection::vec(prop_oneof![0i64..2_000, 0i64..90_000, 0i64..4_000_000], 1..400),
        ) {
            let mut hour = RollingHour::new();
            let mut now = at(12_345);
            let mut calls = Vec::new();
            for gap in gaps {
                now += TimeDelta::milliseconds(gap);
                if granted(hour.admit(now, limit)) {
                    calls.push(now);
                }
            }
            for (index, first) in calls.iter().enumerate() {
                let end = *first + TimeDelta::seconds(HOUR);
                let within = calls[index..].iter().filter(|call| **call < end).count();
                prop_assert!(within <= limit as usize);
            }
        }

        #[test]
        fn a_client_that_obeys_the_headers_is_never_refused(
            limit in 1u32..40,
            gaps in prop::collection::vec(0i64..400_000, 1..300),
        ) {
            let mut hour = RollingHour::new();
            let mut now = at(0);
            for gap in gaps {
                let limit_status = hour.limit_status(now, limit);
                if limit_status.remaining == 0 {
                    now = now.max(limit_status.reset_at);
                }
                let decision = hour.admit(now, limit);
                prop_assert!(granted(decision));
                prop_assert_eq!(*decision.limit_status(), hour.limit_status(now, limit));
                now += TimeDelta::milliseconds(gap);
            }
        }
    }
}

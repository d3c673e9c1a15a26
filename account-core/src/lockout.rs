//! Wrong passwords, counted per e-mail address whether it is known or not, and apart for each
//! client that the account knows.
//!
//! A try is reserved before its hash is computed, so that parallel tries cannot beat the limit;
//! only a wrong password counts in the end.
//!
//! What a visitor is told must not say whether the account knows it. A token is a secret of the
//! account's, so whoever shows one may see a count of its own. A network is shared with neighbours:
//! its tries count among strangers', whose count alone decides what a wrong password answers, and
//! where the account knows it, the five that it has of its own show in nothing but a right password
//! being let in.

use std::time::Duration;

use chrono::TimeDelta;

use crate::client::{ClientMark, Marks};
use crate::digest::Digest;
use crate::{Error, Result, Timestamp};

/// Wrong passwords before a lock.
pub const FAILURES: u32 = 5;
/// How long a lock lasts, and after which quiet time failures are forgotten.
pub const LOCK: TimeDelta = TimeDelta::minutes(30);

/// After this time a reserved try that was never concluded counts as wrong: its request was
/// cancelled or its process died.
const LONGEST_TRY: TimeDelta = TimeDelta::seconds(60);

/// Whose tries at one address are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counter {
    /// Those of clients that the account does not know.
    Strangers,
    /// Those of a client that it knows.
    Known(Digest<ClientMark>),
    /// The passwords with which a signed-in owner confirms a change.
    Confirmations,
}

impl Counter {
    /// How it is stored, beside the address.
    #[must_use]
    pub fn key(&self) -> Vec<u8> {
        match self {
            Self::Strangers => vec![0],
            Self::Confirmations => vec![1],
            Self::Known(mark) => mark.as_bytes().to_vec(),
        }
    }
}

/// Where the tries of one visitor are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    /// The count that decides what a wrong password answers.
    pub told: Counter,
    /// The count of the visitor's network, kept whether the account knows it or not.
    pub network: Option<Counter>,
    /// Whether the account knows the network, so that its count has tries of its own.
    pub is_known: bool,
}

impl Counters {
    /// One count and nothing beside it.
    #[must_use]
    pub const fn only(told: Counter) -> Self {
        Self { told, network: None, is_known: false }
    }

    /// The counts of a client, by which of its marks the account knows.
    #[must_use]
    pub fn of(marks: &Marks, is_known: impl Fn(&Digest<ClientMark>) -> bool) -> Self {
        match marks.token.filter(&is_known) {
            Some(token) => Self::only(Counter::Known(token)),
            None => Self {
                told: Counter::Strangers,
                network: Some(Counter::Known(marks.network)),
                is_known: is_known(&marks.network),
            },
        }
    }
}

/// Where a try was reserved; nowhere, where the password may not be looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    /// Among which counts.
    pub counters: Counters,
    told: bool,
    network: bool,
}

impl Reservation {
    /// Whether the password may be looked at.
    #[must_use]
    pub const fn may_look(&self) -> bool {
        self.told || self.network
    }
}

/// The counts of one visitor at one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tries {
    /// The one that decides what a wrong password answers.
    pub told: Lockout,
    /// That of the network, where there is one.
    pub network: Option<Lockout>,
}

impl Tries {
    /// Reserves a try where it can; answers what a wrong password will be told.
    pub fn reserve(&mut self, counters: Counters, now: Timestamp) -> (Verdict, Reservation) {
        let verdict = self.told.reserve(now);
        let told = verdict == Verdict::Proceed;
        let network = self.network.as_mut().filter(|_| told || counters.is_known);
        let network = network.is_some_and(|count| count.reserve(now) == Verdict::Proceed);
        (verdict, Reservation { counters, told, network })
    }

    /// Concludes a reserved try; answers whether it set the lock that is told.
    #[must_use = "the owner is told of a lock"]
    pub fn conclude(&mut self, reserved: &Reservation, right: bool, now: Timestamp) -> bool {
        // A right password forgives the failures of its own network and no stranger's.
        let own = match self.network.as_mut().filter(|_| reserved.network) {
            Some(network) if right => Some(network.succeed()),
            Some(network) => {
                network.fail(now);
                None
            }
            None => None,
        };
        match (reserved.told, right) {
            (false, _) => false,
            (true, false) => self.told.fail(now),
            (true, true) => {
                self.told.forgive(own.unwrap_or(self.told.failures));
                false
            }
        }
    }
}

/// What is known of the tries at one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lockout {
    /// Tries reserved and not given back.
    pub tries: u32,
    /// Tries among them that were wrong.
    pub failures: u32,
    /// When the last one was reserved.
    pub last_try_at: Timestamp,
    /// Until when no password is looked at.
    pub locked_until: Option<Timestamp>,
}

/// Whether a password may be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A try is reserved.
    Proceed,
    /// Locked.
    Locked {
        /// Until then.
        until: Timestamp,
    },
    /// As many tries as may fail are being looked at right now.
    Busy {
        /// When some will be done.
        retry_after: Duration,
    },
}

impl Verdict {
    /// Goes on, or refuses.
    pub(crate) const fn proceed(self) -> Result<()> {
        match self {
            Self::Proceed => Ok(()),
            Self::Locked { until } => Err(Error::Locked { until }),
            Self::Busy { retry_after } => Err(Error::Busy { retry_after }),
        }
    }
}

impl Lockout {
    /// An address without tries.
    #[must_use]
    pub const fn new(now: Timestamp) -> Self {
        Self { tries: 0, failures: 0, last_try_at: now, locked_until: None }
    }

    /// Reserves a try, or says why not.
    #[must_use = "without `Proceed` no password may be looked at"]
    pub fn reserve(&mut self, now: Timestamp) -> Verdict {
        // A clock that was ahead left a lock or a try in the future: neither counts for longer than
        // one that is made now.
        self.last_try_at = self.last_try_at.min(now);
        if let Some(until) = self.locked_until {
            let until = until.min(now + LOCK);
            self.locked_until = Some(until);
            if now < until {
                return Verdict::Locked { until };
            }
            *self = Self::new(now);
        }
        if now - self.last_try_at >= LOCK {
            *self = Self::new(now);
        }
        if self.tries >= FAILURES {
            if now - self.last_try_at < LONGEST_TRY {
                return Verdict::Busy { retry_after: Duration::from_secs(1) };
            }
            let until = self.last_try_at + LOCK;
            self.locked_until = Some(until);
            return Verdict::Locked { until };
        }
        self.tries += 1;
        self.last_try_at = now;
        Verdict::Proceed
    }

    /// Concludes a reserved try with a wrong password; answers whether it set the lock.
    fn fail(&mut self, now: Timestamp) -> bool {
        self.failures += 1;
        let locks = self.failures >= FAILURES && self.locked_until.is_none();
        if locks {
            self.locked_until = Some(now + LOCK);
        }
        locks
    }

    /// Concludes a reserved try with the right password: earlier failures are forgotten, tries
    /// that are still looked at are not, and neither is a lock. Answers how many were forgotten.
    fn succeed(&mut self) -> u32 {
        let failures = self.failures;
        self.forgive(failures);
        failures
    }

    /// Concludes a reserved try with the right password, and forgets so many failures.
    fn forgive(&mut self, failures: u32) {
        self.tries = self.tries.saturating_sub(1 + failures);
        self.failures = self.failures.saturating_sub(failures);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::UNIX_EPOCH;

    fn minutes(minutes: i64) -> Timestamp {
        START + TimeDelta::minutes(minutes)
    }

    fn locked_at_start() -> Lockout {
        let mut lockout = Lockout::new(START);
        for failure in 1..=FAILURES {
            assert_eq!(lockout.reserve(START), Verdict::Proceed);
            assert_eq!(lockout.fail(START), failure == FAILURES);
        }
        lockout
    }

    #[test]
    fn five_wrong_passwords_lock_for_thirty_minutes_and_no_longer() {
        let mut lockout = locked_at_start();
        let until = minutes(30);
        assert_eq!(lockout.reserve(START), Verdict::Locked { until });
        assert_eq!(lockout.reserve(until - TimeDelta::microseconds(1)), Verdict::Locked { until });
        assert_eq!(lockout.reserve(until), Verdict::Proceed);
        assert_eq!(lockout.tries, 1);
    }

    #[test]
    fn a_lock_of_a_clock_that_was_a_day_ahead_lasts_thirty_minutes() {
        let tomorrow = minutes(24 * 60);
        let mut lockout = Lockout::new(tomorrow);
        for _ in 0..FAILURES {
            assert_eq!(lockout.reserve(tomorrow), Verdict::Proceed);
            lockout.fail(tomorrow);
        }
        assert_eq!(lockout.reserve(START), Verdict::Locked { until: minutes(30) });
        assert_eq!(lockout.reserve(minutes(29)), Verdict::Locked { until: minutes(30) });
        assert_eq!(lockout.reserve(minutes(30)), Verdict::Proceed);
    }

    #[test]
    fn tries_that_a_clock_a_day_ahead_never_concluded_count_as_wrong_after_a_minute() {
        let tomorrow = minutes(24 * 60);
        let mut lockout = Lockout::new(tomorrow);
        for _ in 0..FAILURES {
            assert_eq!(lockout.reserve(tomorrow), Verdict::Proceed);
        }
        assert!(matches!(lockout.reserve(START), Verdict::Busy { .. }));
        assert_eq!(lockout.reserve(minutes(1)), Verdict::Locked { until: minutes(30) });
        assert_eq!(lockout.reserve(minutes(30)), Verdict::Proceed);
    }

    #[test]
    fn parallel_tries_cannot_beat_the_limit() {
        let mut lockout = Lockout::new(START);
        let verdicts: Vec<Verdict> = (0..200).map(|_| lockout.reserve(START)).collect();
        let proceed = verdicts.iter().filter(|verdict| **verdict == Verdict::Proceed).count();
        assert_eq!(proceed, 5);
        let locks = (0..5).filter(|_| lockout.fail(START)).count();
        assert_eq!(locks, 1);
        assert_eq!(lockout.reserve(START), Verdict::Locked { until: minutes(30) });
    }

    #[test]
    fn a_right_password_clears_failures_but_no_try_in_flight() {
        let mut lockout = Lockout::new(START);
        for _ in 0..4 {
            assert_eq!(lockout.reserve(START), Verdict::Proceed);
        }
        lockout.fail(START);
        lockout.succeed();
        assert_eq!((lockout.tries, lockout.failures), (2, 0));
    }

    #[test]
    fn a_lock_is_not_opened_by_a_right_password_that_was_in_flight() {
        let mut lockout = locked_at_start();
        lockout.succeed();
        assert_eq!(lockout.reserve(minutes(1)), Verdict::Locked { until: minutes(30) });
    }

    #[test]
    fn failures_are_forgotten_after_thirty_quiet_minutes() {
        let mut lockout = Lockout::new(START);
        for _ in 0..4 {
            assert_eq!(lockout.reserve(START), Verdict::Proceed);
            lockout.fail(START);
        }
        assert_eq!(lockout.reserve(minutes(30)), Verdict::Proceed);
        assert_eq!((lockout.tries, lockout.failures), (1, 0));
    }

    #[test]
    fn tries_that_nobody_concluded_count_as_wrong_after_a_minute() {
        let mut lockout = Lockout::new(START);
        for _ in 0..5 {
            assert_eq!(lockout.reserve(START), Verdict::Proceed);
        }
        assert!(matches!(lockout.reserve(START), Verdict::Busy { .. }));
        assert_eq!(lockout.reserve(minutes(1)), Verdict::Locked { until: minutes(30) });
    }

    #[test]
    fn a_right_password_forgives_its_own_network_and_no_stranger() {
        let network = Some(Counter::Known(Digest::from_bytes([7; 32])));
        let at_home = Counters { told: Counter::Strangers, network, is_known: false };
        let mut tries = Tries { told: Lockout::new(START), network: Some(Lockout::new(START)) };
        // Two of somebody elsewhere, then one wrong and one right at home.
        for _ in 0..2 {
            assert_eq!(tries.told.reserve(START), Verdict::Proceed);
            tries.told.fail(START);
        }
        for right in [false, true] {
            let (verdict, reserved) = tries.reserve(at_home, START);
            assert!(verdict == Verdict::Proceed && !tries.conclude(&reserved, right, START));
        }
        assert_eq!((tries.told.tries, tries.told.failures), (2, 2));
        assert_eq!(tries.network.map(|count| (count.tries, count.failures)), Some((0, 0)));
    }

    #[test]
    fn beside_a_lock_only_a_known_network_has_tries_left() {
        for is_known in [false, true] {
            let network = Some(Counter::Known(Digest::from_bytes([7; 32])));
            let counters = Counters { told: Counter::Strangers, network, is_known };
            let mut tries = Tries { told: locked_at_start(), network: Some(Lockout::new(START)) };
            let (verdict, reserved) = tries.reserve(counters, START);
            assert_eq!(verdict, Verdict::Locked { until: minutes(30) });
            assert_eq!(reserved.may_look(), is_known);
            assert!(!tries.conclude(&reserved, false, START), "the lock was there");
        }
    }

    #[test]
    fn a_clock_going_back_opens_no_lock() {
        let mut lockout = locked_at_start();
        assert!(matches!(lockout.reserve(minutes(-60)), Verdict::Locked { .. }));
    }
}

//! Wrong passwords, counted for each e-mail address, known or unknown, and separately for each
//! client that the account knows.
//!
//! An attempt is reserved before its hash is computed, so that parallel attempts cannot exceed the
//! limit. When it is concluded, only a wrong password stays counted.
//!
//! The answer to a visitor must not reveal whether the account knows the visitor's client. A client
//! token is a secret of the account, so a client that sends its token may see a count of its own. A
//! network has several users, so its attempts count with those of unknown clients, and that count
//! alone decides the answer to a wrong password. Where the account knows the network, the network
//! has five attempts of its own. Only an owner can see the effect of these attempts: a right
//! password is accepted.

use std::time::Duration;

use chrono::TimeDelta;

use crate::client::{ClientMark, Marks};
use crate::digest::Digest;
use crate::{Error, Result, Timestamp};

/// The number of wrong passwords that causes a lock.
pub const FAILURES: u32 = 5;
/// The duration of a lock, and the time without attempts after which failures are forgotten.
pub const LOCK: TimeDelta = TimeDelta::minutes(30);

/// The time after which a reserved attempt without a conclusion counts as wrong, because its
/// request was cancelled or its process has ended.
const LONGEST_TRY: TimeDelta = TimeDelta::seconds(60);

/// A counter of attempts at one e-mail address.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counter {
    /// The attempts of clients that the account does not know.
    Strangers,
    /// The attempts of one client that the account knows.
    Known(Digest<ClientMark>),
    /// The passwords that a signed-in owner sends to confirm a change.
    Confirmations,
}

impl Counter {
    /// Returns the bytes that tell this counter from the other counters of an e-mail address.
    #[must_use]
    pub fn key(&self) -> Vec<u8> {
        match self {
            Self::Strangers => vec![0],
            Self::Confirmations => vec![1],
            Self::Known(mark) => mark.as_bytes().to_vec(),
        }
    }
}

/// The counters of one visitor's attempts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    /// The counter that decides the answer to a wrong password.
    pub told: Counter,
    /// The counter of the visitor's network, kept for known and unknown networks; `None` for an
    /// attempt that counts in one counter alone.
    pub network: Option<Counter>,
    /// True if the account knows the network, which then has attempts of its own.
    pub is_known: bool,
}

impl Counters {
    /// Returns the counters of an attempt that counts in one counter alone.
    #[must_use]
    pub const fn only(told: Counter) -> Self {
        Self { told, network: None, is_known: false }
    }

    /// Returns the counters of a client, by the marks of the client that the account knows.
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

/// The counters in which an attempt is reserved. Without any, the password must not be verified.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    /// The counters in which the attempt was to be reserved.
    pub counters: Counters,
    told: bool,
    network: bool,
}

impl Reservation {
    /// Returns whether the password may be verified.
    #[must_use]
    pub const fn may_look(&self) -> bool {
        self.told || self.network
    }
}

/// The counts of one visitor at one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tries {
    /// The count that decides the answer to a wrong password.
    pub told: Lockout,
    /// The count of the visitor's network, where there is one.
    pub network: Option<Lockout>,
}

impl Tries {
    /// Reserves an attempt where a counter allows it. Returns the verdict for the answer to a wrong
    /// password, and the reservation.
    pub fn reserve(&mut self, counters: Counters, now: Timestamp) -> (Verdict, Reservation) {
        let verdict = self.told.reserve(now);
        let told = verdict == Verdict::Proceed;
        let network = self.network.as_mut().filter(|_| told || counters.is_known);
        let network = network.is_some_and(|count| count.reserve(now) == Verdict::Proceed);
        (verdict, Reservation { counters, told, network })
    }

    /// Concludes a reserved attempt. Returns whether it caused a lock of which the owner is told.
    #[must_use = "the owner is told of a lock"]
    pub fn conclude(&mut self, reserved: &Reservation, right: bool, now: Timestamp) -> bool {
        // A right password forgives the failures of its own network and of no other client.
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

/// The attempts at one address in one counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lockout {
    /// The attempts that are reserved or were wrong.
    pub tries: u32,
    /// The number of wrong attempts, a part of `tries`.
    pub failures: u32,
    /// The time of the last reservation.
    pub last_try_at: Timestamp,
    /// The end of the lock, until which no password is verified; `None` where there is no lock.
    pub locked_until: Option<Timestamp>,
}

/// The decision on one attempt to sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The attempt is reserved, and the password may be verified.
    Proceed,
    /// The address is locked after wrong passwords, and the password must not be verified.
    Locked {
        /// The time at which the lock ends.
        until: Timestamp,
    },
    /// As many attempts as may fail are in progress.
    Busy {
        /// The time after which some attempts will have ended.
        retry_after: Duration,
    },
}

impl Verdict {
    /// Returns the error for a refused attempt.
    pub(crate) const fn proceed(self) -> Result<()> {
        match self {
            Self::Proceed => Ok(()),
            Self::Locked { until } => Err(Error::Locked { until }),
            Self::Busy { retry_after } => Err(Error::Busy { retry_after }),
        }
    }
}

impl Lockout {
    /// Returns a counter that has counted no attempt.
    #[must_use]
    pub const fn new(now: Timestamp) -> Self {
        Self { tries: 0, failures: 0, last_try_at: now, locked_until: None }
    }

    /// Reserves an attempt, or returns the reason for a refusal.
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

    /// Concludes a reserved attempt with a wrong password. Returns whether it caused a lock.
    fn fail(&mut self, now: Timestamp) -> bool {
        self.failures += 1;
        let locks = self.failures >= FAILURES && self.locked_until.is_none();
        if locks {
            self.locked_until = Some(now + LOCK);
        }
        locks
    }

    /// Concludes a reserved attempt with the right password. Earlier failures are forgotten;
    /// attempts in progress and a lock stay. Returns the number of forgotten failures.
    fn succeed(&mut self) -> u32 {
        let failures = self.failures;
        self.forgive(failures);
        failures
    }

    /// Concludes a reserved attempt with the right password and forgets this many failures.
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
        // Two attempts from another network, then a wrong and a right one from the owner's.
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

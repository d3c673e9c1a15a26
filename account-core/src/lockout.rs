//! Wrong passwords, counted per e-mail address whether it is known or not, and apart for each
//! client that the account knows.
//!
//! A try is reserved before its hash is computed, so that parallel tries cannot beat the limit;
//! only a wrong password counts in the end.

use std::time::Duration;

use chrono::TimeDelta;

use crate::client::ClientMark;
use crate::vault::Digest;
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
        if let Some(until) = self.locked_until {
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
    pub fn fail(&mut self, now: Timestamp) -> bool {
        self.failures += 1;
        let locks = self.failures >= FAILURES && self.locked_until.is_none();
        if locks {
            self.locked_until = Some(now + LOCK);
        }
        locks
    }

    /// Concludes a reserved try with the right password: earlier failures are forgotten, tries
    /// that are still looked at are not, and neither is a lock.
    pub fn succeed(&mut self) {
        self.tries = self.tries.saturating_sub(1 + self.failures);
        self.failures = 0;
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
    fn a_clock_going_back_opens_no_lock() {
        let mut lockout = locked_at_start();
        assert!(matches!(lockout.reserve(minutes(-60)), Verdict::Locked { .. }));
    }
}

//! The barrier option and the position of its barrier.

use crate::arithmetic::logarithm::ln_ratio;
use crate::named::named;
use crate::pricing::black_scholes::EuropeanOption;
use crate::pricing::lattice::oriented::Direction;
use crate::{Result, check};

/// The effect of hitting the barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Knock {
    /// Knock-in: the option comes into existence.
    In,
    /// Knock-out: the option ends, and the rebate is paid.
    Out,
}

named!(Knock, "knock", In = "in", Out = "out");

/// A European option that comes into existence or ends at a barrier.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BarrierOption {
    /// The option, and the market it is priced in.
    pub option: EuropeanOption,
    /// Price of the underlying at which the option knocks in or out; zero or positive.
    pub barrier: f64,
    /// The side of the spot on which the barrier lies.
    pub direction: Direction,
    /// The effect of hitting the barrier.
    pub knock: Knock,
    /// Amount paid when the option is knocked out; zero or positive. A knock-in pays none.
    pub rebate: f64,
}

impl BarrierOption {
    /// Refuses arguments outside their documented ranges.
    pub(super) fn validate(&self) -> Result<()> {
        self.option.validate()?;
        check::not_negative("barrier", self.barrier)?;
        check::not_negative("rebate", self.rebate)
    }

    /// Returns whether today's price is at or beyond the barrier.
    pub(super) fn is_hit_today(&self) -> bool {
        match self.direction {
            Direction::Down => self.option.spot <= self.barrier * (1.0 + TOUCH),
            Direction::Up => self.option.spot >= self.barrier * (1.0 - TOUCH),
        }
    }

    /// Returns the logarithm of the barrier over the spot.
    pub(super) fn log_barrier(&self) -> f64 {
        ln_ratio(self.barrier, self.option.spot).high
    }
}

/// The distance from the barrier, relative to the price, within which a price counts as on it.
pub(super) const TOUCH: f64 = 1e-12;

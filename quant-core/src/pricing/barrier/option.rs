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

    /// Returns whether the barrier is hit at the start: today's price is at or beyond the barrier.
    ///
    /// A barrier on the wrong side of the spot is such a one. A knock-out is then worth the rebate, and
    /// a knock-in the option without a barrier.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for the first argument outside its documented range.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::prelude::*;
    ///
    /// let option = EuropeanOption {
    ///     option_type: OptionType::Call,
    ///     spot: 100.0,
    ///     strike: 100.0,
    ///     risk_free_rate: 0.05,
    ///     dividend_yield: 0.0,
    ///     volatility: 0.2,
    ///     time_to_maturity: 1.0,
    /// };
    /// let (direction, knock) = (Direction::Down, Knock::Out);
    /// let above = BarrierOption { option, barrier: 105.0, direction, knock, rebate: 2.0 };
    /// assert!(above.hit_at_start()?);
    /// assert_eq!(above.price_continuous()?, 2.0);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn hit_at_start(&self) -> Result<bool> {
        self.validate()?;
        Ok(self.is_hit_today())
    }

    /// The same for arguments that are known to be in range.
    pub(super) fn is_hit_today(&self) -> bool {
        match self.direction {
            Direction::Down => self.option.spot <= self.barrier * (1.0 + TOUCH),
            Direction::Up => self.option.spot >= self.barrier * (1.0 - TOUCH),
        }
    }

    /// Returns the standard deviation of the logarithm of the price at expiry, σ√T.
    pub(super) fn total_deviation(&self) -> f64 {
        self.option.volatility * self.option.time_to_maturity.sqrt()
    }

    /// Returns the logarithm of the barrier over the spot.
    pub(super) fn log_barrier(&self) -> f64 {
        ln_ratio(self.barrier, self.option.spot).high
    }
}

/// The distance from the barrier, relative to the price, within which a price counts as on it.
pub(super) const TOUCH: f64 = 1e-12;

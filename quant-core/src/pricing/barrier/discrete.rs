//! An approximation for a discretely monitored barrier.

use super::option::BarrierOption;
use crate::pricing::lattice::oriented::Direction;
use crate::{Error, Result, check};

impl BarrierOption {
    /// Returns an approximation of the option's present value under discrete monitoring.
    ///
    /// The barrier is monitored today and on `observations` equally spaced dates, the last of which
    /// is expiry. The approximation is the correction of Broadie, Glasserman and Kou:
    ///
    /// ```text
    /// V(H; m) ≈ V(H e^{±βσ√(T/m)}),   β = −ζ(½)/√(2π) ≈ 0.5826
    /// ```
    ///
    /// where V is the price under [continuous monitoring](Self::price_continuous), m is
    /// `observations`, and the barrier moves away from the spot: up where it lies above, down where
    /// below. A rebate is paid on the date of the monitored hit. The error is of the order of 1/m:
    /// against quadrature from date to date, and on a spot of 100, at most 0.004 on 250 dates, 0.13
    /// on 50 and 0.6 on 5, and a hundred times less where the spot is several deviations of the time
    /// between two dates away from the barrier.
    /// A barrier hit today pays the rebate, or leaves the European option.
    ///
    /// # Errors
    ///
    /// As [`price_continuous`](Self::price_continuous); and
    /// [`Error::TooFew`] for no observations.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::barrier::{BarrierOption, Direction, Knock};
    /// use quant_core::pricing::black_scholes::{EuropeanOption, OptionType};
    ///
    /// let option = EuropeanOption {
    ///     option_type: OptionType::Call,
    ///     spot: 100.0,
    ///     strike: 100.0,
    ///     risk_free_rate: 0.1,
    ///     dividend_yield: 0.0,
    ///     volatility: 0.3,
    ///     time_to_maturity: 0.2,
    /// };
    /// let (direction, knock) = (Direction::Down, Knock::Out);
    /// let barrier = BarrierOption { option, barrier: 95.0, direction, knock, rebate: 0.0 };
    /// // Monitored on fifty trading days, and continuously.
    /// assert!((barrier.price_discrete(50)? - 4.907).abs() < 5e-4);
    /// assert!((barrier.price_continuous()? - 4.398).abs() < 5e-4);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Broadie, Glasserman and Kou (1997), "A Continuity Correction for Discrete Barrier Options";
    /// the example is in table 1. Kou (2003), "On Pricing of Discrete Barrier Options", has the proof
    /// for the payoffs that are not zero at the barrier.
    pub fn price_discrete(&self, observations: usize) -> Result<f64> {
        self.validate()?;
        if observations == 0 {
            return Err(Error::TooFew { argument: "observations", needed: 1, found: 0 });
        }
        if self.is_hit_today() {
            return check::result("spot", self.value_hit_at_once());
        }
        let between = (self.option.time_to_maturity / observations as f64).sqrt();
        let shift = SHIFT * self.option.volatility * between;
        let shift = if self.direction == Direction::Up { shift } else { -shift };
        // A barrier that overflows is never hit.
        let barrier = (self.barrier * libm::exp(shift)).min(f64::MAX);
        Self { barrier, ..*self }.price_continuous()
    }
}

/// `−ζ(½)/√(2π)`: the mean overshoot of a random walk beyond a barrier, in standard deviations of
/// one step.
const SHIFT: f64 = 0.582_597_157_939_010_7;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::barrier::Knock;
    use crate::pricing::black_scholes::{EuropeanOption, OptionType};
    use proptest::prelude::*;

    fn down_and_out(barrier: f64) -> BarrierOption {
        let option = EuropeanOption {
            option_type: OptionType::Call,
            spot: 100.0,
            strike: 100.0,
            risk_free_rate: 0.1,
            dividend_yield: 0.0,
            volatility: 0.3,
            time_to_maturity: 0.2,
        };
        let (direction, knock) = (Direction::Down, Knock::Out);
        BarrierOption { option, barrier, direction, knock, rebate: 0.0 }
    }

    #[test]
    fn no_dates_are_refused() {
        let none = down_and_out(95.0).price_discrete(0);
        assert_eq!(none, Err(Error::TooFew { argument: "observations", needed: 1, found: 0 }));
    }

    #[test]
    fn a_barrier_hit_today_needs_no_further_date() {
        let hit = BarrierOption { rebate: 3.0, ..down_and_out(100.0) };
        assert_eq!(hit.price_discrete(1), Ok(3.0));
        let knock_in = BarrierOption { knock: Knock::In, ..hit };
        assert_eq!(knock_in.price_discrete(1), knock_in.option.price());
    }

    #[test]
    fn extreme_barriers_leave_a_price() {
        for (barrier, volatility) in [(f64::MAX, 5.0), (1e308, 100.0), (101.0, 40.0)] {
            let mut option = BarrierOption { direction: Direction::Up, ..down_and_out(barrier) };
            option.option.volatility = volatility;
            let price = option.price_discrete(1).unwrap();
            assert!((0.0..=100.0).contains(&price), "{option:?}: {price}");
        }
    }

    proptest! {
        #[test]
        fn the_rarer_the_dates_the_likelier_a_knock_out_is_to_survive(
            barrier in 50.0..99.9_f64, volatility in 0.05..0.9_f64, dates in 1_usize..400, put: bool, up: bool,
        ) {
            let mut option = down_and_out(if up { 10_000.0 / barrier } else { barrier });
            option.option.volatility = volatility;
            if up { option.direction = Direction::Up; }
            if put { option.option.option_type = OptionType::Put; }
            let rare = option.price_discrete(dates).unwrap();
            let often = option.price_discrete(2 * dates).unwrap();
            let always = option.price_continuous().unwrap();
            let knock_in = BarrierOption { knock: Knock::In, ..option };
            let sum = rare + knock_in.price_discrete(dates).unwrap();
            prop_assert!(rare >= often - 1e-12 && often >= always - 1e-12);
            prop_assert!((sum - option.option.price().unwrap()).abs() <= 1e-12);
        }
    }
}

//! The closed form of a continuously monitored barrier.

use super::option::{BarrierOption, Knock};
use crate::arithmetic::logarithm::ln_ratio;
use crate::pricing::black_scholes::{OptionType, discount};
use crate::pricing::exchange::positive_part;
use crate::pricing::lattice::oriented::Direction;
use crate::pricing::normal;
use crate::{Result, check};

impl BarrierOption {
    /// Returns the option's present value under continuous monitoring of the barrier.
    ///
    /// ```text
    /// out = V(S; near) − (H/S)^{2μ} V(H²/S; near) + rebate · E
    /// in  = V(S; far)   + (H/S)^{2μ} V(H²/S; near)
    /// E   = (H/S)^{μ+λ} Φ(ηz) + (H/S)^{μ−λ} Φ(ηz − 2ηλσ√T)
    /// z   = ln(H/S)/σ√T + λσ√T,  μ = (r − q)/σ² − ½,  λ = √(μ² + 2r/σ²)
    /// ```
    ///
    /// where V(·; A) is the value of the payoff where the final price is in A, on the near or the
    /// far side of the barrier H, and η is +1 for a barrier below and −1 for one above. The rebate
    /// is paid at the moment of the hit. A barrier hit today pays the rebate, or leaves the European option;
    /// without volatility or time the price moves along its forward. Where a rate below zero makes λ
    /// imaginary, E is the integral that the formula stands for.
    ///
    /// # Errors
    ///
    /// As [`price_on_tree`](Self::price_on_tree), without those of the steps.
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
    ///     strike: 90.0,
    ///     risk_free_rate: 0.08,
    ///     dividend_yield: 0.04,
    ///     volatility: 0.25,
    ///     time_to_maturity: 0.5,
    /// };
    /// let (direction, knock) = (Direction::Down, Knock::Out);
    /// let barrier = BarrierOption { option, barrier: 95.0, direction, knock, rebate: 3.0 };
    /// assert!((barrier.price_continuous()? - 9.0246).abs() < 5e-5);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Reiner and Rubinstein (1991), "Breaking Down the Barriers"; the example is in Haug (2007),
    /// *The Complete Guide to Option Pricing Formulas*, table 4-13.
    pub fn price_continuous(&self) -> Result<f64> {
        self.validate()?;
        if self.is_hit_today() {
            return check::result("spot", self.value_hit_at_once());
        }
        let option = &self.option;
        let deviation = option.volatility * option.time_to_maturity.sqrt();
        if self.barrier == 0.0 || option.spot == 0.0 || deviation == 0.0 {
            return check::result("spot", self.value_on_forward());
        }
        let formula = ReinerRubinstein::new(self);
        let value = match self.knock {
            Knock::In => {
                formula.value(formula.far_side(), false) + formula.value(formula.near_side(), true)
            }
            Knock::Out if self.rebate == 0.0 => formula.survivors(),
            Knock::Out => formula.survivors() + self.rebate * formula.discounted_hit(),
        };
        check::result("spot", value)
    }

    /// Returns the value where the barrier is hit today: the rebate, or the European option.
    pub(super) fn value_hit_at_once(&self) -> f64 {
        match self.knock {
            Knock::Out => self.rebate,
            Knock::In => self.option.value(),
        }
    }

    /// Returns the value where the barrier cannot be hit, or where the price moves without risk.
    fn value_on_forward(&self) -> f64 {
        let option = &self.option;
        let carry = option.risk_free_rate - option.dividend_yield;
        let time = self.log_barrier() / carry;
        // A price of zero, or one that moves away from the barrier, never reaches it.
        let is_hit = option.spot > 0.0 && time >= 0.0 && time <= option.time_to_maturity;
        match (self.knock, is_hit) {
            (Knock::Out, true) => self.rebate * discount(option.risk_free_rate, time),
            (Knock::Out, false) | (Knock::In, true) => option.value(),
            (Knock::In, false) => 0.0,
        }
    }
}

/// The terms of the formula of Reiner and Rubinstein.
struct ReinerRubinstein {
    barrier: BarrierOption,
    /// The logarithm `ln(H/S)` of barrier by spot.
    distance: f64,
    /// The drift of the logarithm of the spot by the variance, `(r − q)/σ² − ½`.
    mu: f64,
    volatility: f64,
    /// The standard deviation `σ√T` of the logarithm of the spot at expiry.
    deviation: f64,
    /// The discounted spot `S e^{−qT}`.
    spot: f64,
    /// The discounted strike `K e^{−rT}`.
    strike: f64,
}

impl ReinerRubinstein {
    fn new(barrier: &BarrierOption) -> Self {
        let option = &barrier.option;
        let (volatility, time) = (option.volatility, option.time_to_maturity);
        let carry = option.risk_free_rate - option.dividend_yield;
        Self {
            barrier: *barrier,
            distance: barrier.log_barrier(),
            mu: carry / (volatility * volatility) - 0.5,
            volatility,
            deviation: volatility * time.sqrt(),
            spot: option.spot * discount(option.dividend_yield, time),
            strike: option.strike * discount(option.risk_free_rate, time),
        }
    }

    /// Returns the value of the paths that never touch the barrier.
    fn survivors(&self) -> f64 {
        positive_part(self.value(self.near_side(), false) - self.value(self.near_side(), true))
    }

    /// Returns the range of final prices with a positive payoff.
    fn paying(&self) -> (f64, f64) {
        match self.barrier.option.option_type {
            OptionType::Call => (self.barrier.option.strike, f64::INFINITY),
            OptionType::Put => (0.0, self.barrier.option.strike),
        }
    }

    /// Returns the least and the greatest price at expiry for which the option pays, on the side of the
    /// barrier where the spot price is.
    fn near_side(&self) -> (f64, f64) {
        let (low, high) = self.paying();
        match self.barrier.direction {
            Direction::Down => (low.max(self.barrier.barrier), high),
            Direction::Up => (low, high.min(self.barrier.barrier)),
        }
    }

    /// Returns the paying final prices on the far side of the barrier.
    fn far_side(&self) -> (f64, f64) {
        let (low, high) = self.paying();
        match self.barrier.direction {
            Direction::Down => (low, high.min(self.barrier.barrier)),
            Direction::Up => (low.max(self.barrier.barrier), high),
        }
    }

    /// Returns the value of the payoff at final prices in a range, from the spot or from its image.
    fn value(&self, (low, high): (f64, f64), image: bool) -> f64 {
        if low >= high {
            return 0.0;
        }
        let (shift, weight) =
            if image { (2.0 * self.distance, 2.0 * self.mu * self.distance) } else { (0.0, 0.0) };
        let d2 = |level: f64| {
            let log = ln_ratio(self.barrier.option.spot, level).high;
            (log + shift) / self.deviation + self.mu * self.deviation
        };
        let (from, to) = (d2(high), d2(low));
        let s = self.deviation;
        let shares = self.spot * weighted_probability(weight + shift, from + s, to + s);
        let cash = self.strike * weighted_probability(weight, from, to);
        let value = match self.barrier.option.option_type {
            OptionType::Call => shares - cash,
            OptionType::Put => cash - shares,
        };
        positive_part(value)
    }

    /// Returns the expected discount factor at the hit, E.
    fn discounted_hit(&self) -> f64 {
        let rate = self.barrier.option.risk_free_rate;
        let square = self.mu * self.mu + 2.0 * rate / (self.volatility * self.volatility);
        if square >= 0.0 {
            self.hit_within(square.sqrt(), self.deviation)
        } else {
            self.integrated_hit()
        }
    }

    /// Returns E for a time in which the standard deviation is `deviation`; with |μ| for λ, E is the
    /// probability of a hit.
    fn hit_within(&self, lambda: f64, deviation: f64) -> f64 {
        let toward = if self.barrier.direction == Direction::Down { 1.0 } else { -1.0 };
        let z = self.distance / deviation + lambda * deviation;
        let far = z - 2.0 * lambda * deviation;
        weighted_cdf((self.mu + lambda) * self.distance, toward * z)
            + weighted_cdf((self.mu - lambda) * self.distance, toward * far)
    }

    /// Returns E for a rate so far below zero that λ is imaginary: with P(t) the probability of a
    /// hit by t, `E = e^{−rT} P(T) + r ∫₀ᵀ e^{−rt} P(t) dt`, by the double exponential rule.
    fn integrated_hit(&self) -> f64 {
        let option = &self.barrier.option;
        let (rate, time) = (option.risk_free_rate, option.time_to_maturity);
        let discounted = |part: f64| {
            let hit = self.hit_within(self.mu.abs(), self.deviation * part.sqrt());
            libm::exp(-rate * time * part) * hit
        };
        let integral: f64 = (-NODES..=NODES)
            .map(|k| {
                let x = f64::from(k) * SPACING;
                let inner = libm::exp(std::f64::consts::PI * libm::sinh(x));
                let part = inner / (1.0 + inner);
                let weight = std::f64::consts::PI * libm::cosh(x) * part / (1.0 + inner);
                weight * SPACING * discounted(part)
            })
            .sum();
        discounted(1.0) + rate * time * integral
    }
}

/// Half the number of nodes of the double exponential rule, and their spacing: x from −3 to 3.
const NODES: i32 = 48;
const SPACING: f64 = 0.0625;

/// Returns `e^{log_weight}·(Φ(to) − Φ(from))`, from the nearer tail.
fn weighted_probability(log_weight: f64, from: f64, to: f64) -> f64 {
    let (from, to) = if from > 0.0 { (-to, -from) } else { (from, to) };
    weighted_cdf(log_weight, to) - weighted_cdf(log_weight, from)
}

/// Returns `e^{log_weight}·Φ(x)`, where the first factor may overflow and the second underflow.
fn weighted_cdf(log_weight: f64, x: f64) -> f64 {
    if x >= 0.0 {
        libm::exp(log_weight) * normal::cdf(x)
    } else if x == f64::NEG_INFINITY {
        0.0
    } else {
        normal::DENSITY_AT_ZERO * libm::exp(log_weight - 0.5 * x * x) * normal::mills(-x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::black_scholes::EuropeanOption;
    use proptest::prelude::*;

    fn option(option_type: OptionType, strike: f64, volatility: f64) -> EuropeanOption {
        EuropeanOption {
            option_type,
            spot: 100.0,
            strike,
            risk_free_rate: 0.08,
            dividend_yield: 0.04,
            volatility,
            time_to_maturity: 0.5,
        }
    }

    #[test]
    fn the_integral_for_an_imaginary_lambda_continues_the_closed_form() {
        // λ² = μ² + 2r/σ² with r = q is ¼ + 2r/σ², zero at r = −0.005 for σ = 0.2.
        let price = |rate: f64| {
            let (risk_free_rate, dividend_yield) = (rate, rate);
            let option = EuropeanOption {
                risk_free_rate,
                dividend_yield,
                ..option(OptionType::Call, 1e9, 0.2)
            };
            let (direction, knock) = (Direction::Down, Knock::Out);
            let option = BarrierOption { option, barrier: 95.0, direction, knock, rebate: 1.0 };
            option.price_continuous().unwrap()
        };
        let (below, at, above) = (price(-0.005_001), price(-0.005), price(-0.004_999));
        assert!((below + above - 2.0 * at).abs() < 1e-13);
        assert!(below > at && at > above);
    }

    proptest! {
        #[test]
        fn in_and_out_without_rebate_are_the_european_option(
            strike in 60.0..150.0_f64, volatility in 0.05..0.9_f64, barrier in 50.0..200.0_f64, put: bool,
        ) {
            let option = option(if put { OptionType::Put } else { OptionType::Call }, strike, volatility);
            let direction = if barrier < 100.0 { Direction::Down } else { Direction::Up };
            let out = BarrierOption { option, barrier, direction, knock: Knock::Out, rebate: 0.0 };
            let knock_in = BarrierOption { knock: Knock::In, ..out };
            let sum = out.price_continuous().unwrap() + knock_in.price_continuous().unwrap();
            prop_assert!((sum - out.option.price().unwrap()).abs() <= 1e-12);
        }
    }
}

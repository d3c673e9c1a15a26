//! European options under Black–Scholes–Merton.
//!
//! The underlying follows geometric Brownian motion with a constant riskless rate, dividend yield
//! and volatility. Not modelled: discrete dividends, term structures, smiles, early exercise.

use super::exchange::{Exchange, Leg};
use super::exchange_double::DoubleExchange;
use crate::arithmetic::double_double::DoubleDouble;
use crate::arithmetic::exponential::exp_rounded;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::named::named;
use crate::{Result, check};

/// The assumptions of the model.
pub(super) const MODEL: [&str; 4] = [
    "The underlying follows geometric Brownian motion.",
    "Riskless rate, dividend yield and volatility are constant; both rates compound continuously.",
    "The option is exercised at expiry only, and settled then without a lag.",
    "Times are in years as given: no day count is applied.",
];

/// The right of the holder: to buy or to sell at expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OptionType {
    /// A call: the right to buy the underlying at the strike.
    Call,
    /// A put: the right to sell the underlying at the strike.
    Put,
}

named!(OptionType, "option_type", Call = "call", Put = "put");

/// A European option and the market it is priced in.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EuropeanOption {
    /// Right of the holder: to buy or to sell.
    pub option_type: OptionType,
    /// Price of the underlying today; zero or positive.
    pub spot: f64,
    /// Price at which the option may be exercised; zero or positive.
    pub strike: f64,
    /// Riskless rate, annual, continuously compounded; of any sign.
    pub risk_free_rate: f64,
    /// Dividend yield, annual, continuously compounded; of any sign.
    pub dividend_yield: f64,
    /// Standard deviation of annual log returns; zero or positive.
    pub volatility: f64,
    /// Time until expiry, in years; zero or positive.
    pub time_to_maturity: f64,
}

impl EuropeanOption {
    /// Returns the option's present value.
    ///
    /// ```text
    /// V = φ · (S e^{−qT} Φ(φ d₁) − K e^{−rT} Φ(φ d₂))
    /// d₁ = ln(S e^{−qT} / K e^{−rT}) / σ√T + σ√T / 2,   d₂ = d₁ − σ√T
    /// ```
    ///
    /// where φ is +1 for a call and −1 for a put. The value is exact to about 1e-14 of itself, also
    /// where it is 1e-280: it is computed as a product and never as that difference.
    ///
    /// Where S, K, σ or T is zero the value is the limit of the formula, that of exercising the
    /// discounted forward: `max(φ·(S e^{−qT} − K e^{−rT}), 0)`. No value is below it.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for a negative spot, strike, volatility or time, or
    /// any number that is not finite; [`Error::Overflow`](crate::Error::Overflow) where the value
    /// exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::black_scholes::{EuropeanOption, OptionType};
    ///
    /// let call = EuropeanOption {
    ///     option_type: OptionType::Call,
    ///     spot: 42.0,
    ///     strike: 40.0,
    ///     risk_free_rate: 0.10,
    ///     dividend_yield: 0.0,
    ///     volatility: 0.20,
    ///     time_to_maturity: 0.5,
    /// };
    /// assert!((call.price()? - 4.76).abs() < 0.005);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Merton (1973), "Theory of Rational Option Pricing"; the example is Hull's. The normalised
    /// form without cancellation follows the idea of Jäckel (2015), "Let's Be Rational".
    pub fn price(&self) -> Result<f64> {
        match self.swap().value() {
            Some(value) => Ok(value),
            None => self.price_beyond_doubles(),
        }
    }

    /// Explains [`price`](Self::price).
    ///
    /// # Errors
    ///
    /// The errors of [`price`](Self::price).
    pub fn explain_price(&self) -> Result<Explanation> {
        self.price()?;
        let method = Method::new(
            "Black–Scholes–Merton formula",
            "Merton (1973), Theory of Rational Option Pricing, equation 21",
        );
        let error = ErrorStatement::rounding(
            "price",
            2e-14,
            "largest relative error against 50 digits, prices from 1e-280 to 1e280",
        );
        Ok(Explanation::new(method, error).with_conventions(MODEL))
    }

    /// Refuses arguments outside their documented ranges.
    pub(super) fn validate(&self) -> Result<()> {
        check::not_negative("spot", self.spot)?;
        check::not_negative("strike", self.strike)?;
        check::finite("risk_free_rate", self.risk_free_rate)?;
        check::finite("dividend_yield", self.dividend_yield)?;
        check::not_negative("volatility", self.volatility)?;
        check::not_negative("time_to_maturity", self.time_to_maturity)
    }

    /// Returns the payoff of exercise today, zero out of the money.
    pub(super) fn exercise_value(&self) -> f64 {
        let sign = if self.option_type == OptionType::Call { 1.0 } else { -1.0 };
        (sign * (self.spot - self.strike)).max(0.0)
    }

    /// Returns the present value without the checks of [`price`](Self::price), for arguments that
    /// the caller has checked.
    #[inline]
    pub(super) fn value(&self) -> f64 {
        self.swap().value().unwrap_or_else(|| self.value_beyond_doubles())
    }

    /// Returns the amounts received and given, the logarithms of their discount factors, and σ√T.
    #[inline(always)]
    pub(super) fn swap(&self) -> DoubleExchange {
        let time = self.time_to_maturity;
        let (asset, cash) = (-self.dividend_yield * time, -self.risk_free_rate * time);
        let (receive, receive_exponent, give, give_exponent) = match self.option_type {
            OptionType::Call => (self.spot, asset, self.strike, cash),
            OptionType::Put => (self.strike, cash, self.spot, asset),
        };
        let deviation = self.volatility * time.sqrt();
        DoubleExchange { receive, receive_exponent, give, give_exponent, deviation }
    }

    /// Returns the price, or the refusal, where doubles do not suffice.
    #[cold]
    #[inline(never)]
    pub(super) fn price_beyond_doubles(&self) -> Result<f64> {
        self.validate()?;
        check::result("spot", self.value_beyond_doubles())
    }

    /// Returns the price of valid arguments of any size.
    fn value_beyond_doubles(&self) -> f64 {
        let time = self.time_to_maturity;
        let receive = Leg::new(self.spot, self.dividend_yield, time);
        let give = Leg::new(self.strike, self.risk_free_rate, time);
        let deviation = || DoubleDouble::from(time).sqrt().times(self.volatility);
        let call = Exchange::new(receive, give, self.volatility * time.sqrt(), deviation);
        match self.option_type {
            OptionType::Call => call.value(),
            OptionType::Put => call.reversed().value(),
        }
    }
}

/// Returns `e^{−rate·time}`, the present value of 1 paid after `time` years.
pub(super) fn discount(rate: f64, time: f64) -> f64 {
    if rate == 0.0 { 1.0 } else { exp_rounded(DoubleDouble::product(-rate, time)) }
}

/// Returns the option of spot, strike, rate, dividend yield, volatility and time, for the tests.
#[cfg(test)]
pub(super) fn option(option_type: OptionType, numbers: [f64; 6]) -> EuropeanOption {
    let [spot, strike, risk_free_rate, dividend_yield, volatility, time_to_maturity] = numbers;
    EuropeanOption {
        option_type,
        spot,
        strike,
        risk_free_rate,
        dividend_yield,
        volatility,
        time_to_maturity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn price(option_type: OptionType, numbers: [f64; 6]) -> f64 {
        option(option_type, numbers).price().unwrap()
    }

    #[test]
    fn without_time_or_volatility_it_is_the_discounted_forward_intrinsic_value() {
        use OptionType::{Call, Put};
        assert_eq!(price(Call, [110.0, 100.0, 0.05, 0.02, 0.2, 0.0]), 10.0);
        assert_eq!(price(Put, [110.0, 100.0, 0.05, 0.02, 0.2, 0.0]), 0.0);
        let forward = 110.0 * discount(0.02, 2.0) - 100.0 * discount(0.05, 2.0);
        let call = price(Call, [110.0, 100.0, 0.05, 0.02, 0.0, 2.0]);
        assert!((call - forward).abs() <= 110.0 * f64::EPSILON);
        assert_eq!(price(Put, [110.0, 100.0, 0.05, 0.02, 0.0, 2.0]), 0.0);
    }

    #[test]
    fn a_worthless_underlying_or_a_free_strike_leaves_one_leg() {
        use OptionType::{Call, Put};
        assert_eq!(price(Call, [0.0, 100.0, 0.05, 0.02, 0.2, 1.0]), 0.0);
        assert_eq!(price(Put, [0.0, 100.0, 0.05, 0.02, 0.2, 1.0]), 100.0 * discount(0.05, 1.0));
        assert_eq!(price(Call, [100.0, 0.0, 0.05, 0.02, 0.2, 1.0]), 100.0 * discount(0.02, 1.0));
        assert_eq!(price(Put, [100.0, 0.0, 0.05, 0.02, 0.2, 1.0]), 0.0);
        assert_eq!(price(Call, [0.0, 0.0, 0.05, 0.02, 0.2, 1.0]), 0.0);
    }

    #[test]
    fn extreme_arguments_give_a_limit_or_a_typed_error() {
        use OptionType::{Call, Put};
        assert_eq!(price(Call, [100.0, 100.0, 0.0, 0.0, 1e200, 1e200]), 100.0);
        assert_eq!(price(Put, [100.0, 100.0, 0.0, 0.0, 1e3, 1.0]), 100.0);
        assert_eq!(price(Call, [100.0, 100.0, 1e200, 0.0, 0.2, 1e200]), 100.0);
        let overflow = option(Call, [1e308, 1.0, 0.0, -10.0, 0.2, 10.0]).price();
        assert_eq!(overflow, Err(crate::Error::Overflow { argument: "spot" }));
        for (position, argument) in
            [(0, "spot"), (1, "strike"), (4, "volatility"), (5, "time_to_maturity")]
        {
            let mut numbers = [100.0, 100.0, 0.05, 0.0, 0.2, 1.0];
            numbers[position] = -1.0;
            let refused = option(Call, numbers).price().unwrap_err();
            assert_eq!((refused.code(), refused.argument()), ("domain", Some(argument)));
        }
    }

    fn numbers() -> impl Strategy<Value = [f64; 6]> {
        (
            50.0..200.0_f64,
            50.0..200.0_f64,
            -0.1..0.2_f64,
            -0.1..0.2_f64,
            0.0..1.5_f64,
            0.0..10.0_f64,
        )
            .prop_map(|(s, k, r, q, v, t)| [s, k, r, q, v, t])
    }

    proptest! {
        #[test]
        fn a_call_less_a_put_is_the_forward(numbers in numbers()) {
            let [spot, strike, rate, dividend_yield, _, time] = numbers;
            let forward = spot * discount(dividend_yield, time) - strike * discount(rate, time);
            let parity = price(OptionType::Call, numbers) - price(OptionType::Put, numbers);
            prop_assert!((parity - forward).abs() <= 1e-15 * (spot + strike) * 10.0);
        }

        #[test]
        fn no_price_is_below_the_intrinsic_value(numbers in numbers()) {
            let mut certain = numbers;
            certain[4] = 0.0;
            for option_type in [OptionType::Call, OptionType::Put] {
                prop_assert!(price(option_type, numbers) >= price(option_type, certain));
            }
        }

        #[test]
        fn a_price_rises_with_volatility(numbers in numbers(), more in 1e-9..0.5_f64) {
            let mut riskier = numbers;
            riskier[4] += more;
            for option_type in [OptionType::Call, OptionType::Put] {
                prop_assert!(price(option_type, riskier) >= price(option_type, numbers));
            }
        }

        #[test]
        fn a_price_is_convex_in_the_spot_and_in_the_strike(numbers in numbers(), apart in 0.01..20.0_f64) {
            let (spot, strike) = (numbers[0], numbers[1]);
            for option_type in [OptionType::Call, OptionType::Put] {
                for position in [0, 1] {
                    let moved = |by: f64| {
                        let mut moved = numbers;
                        moved[position] += by;
                        price(option_type, moved)
                    };
                    let bend = (moved(-apart) - moved(0.0)) + (moved(apart) - moved(0.0));
                    prop_assert!(bend >= -1e-14 * (spot + strike), "{bend:e}");
                }
            }
        }

        #[test]
        fn in_another_unit_of_money_it_is_the_same_price_bit_for_bit(numbers in numbers(), power in -40..40) {
            let [spot, strike, rest @ ..] = numbers;
            let [rate, dividend_yield, volatility, time] = rest;
            let unit = |value: f64| libm::scalbn(value, power);
            let moved = [unit(spot), unit(strike), rate, dividend_yield, volatility, time];
            for option_type in [OptionType::Call, OptionType::Put] {
                let expected = unit(price(option_type, numbers));
                // Subnormal numbers have fewer bits.
                prop_assert!(price(option_type, moved) == expected || expected < 1e-280);
            }
        }

        #[test]
        fn a_call_rises_and_a_put_falls_with_the_spot(numbers in numbers(), more in 1e-9..5.0_f64) {
            let mut higher = numbers;
            higher[0] += more;
            prop_assert!(price(OptionType::Call, higher) >= price(OptionType::Call, numbers));
            prop_assert!(price(OptionType::Put, higher) <= price(OptionType::Put, numbers));
        }
    }
}

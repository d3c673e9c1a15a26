//! The option to exchange one asset for another.
//!
//! Both assets follow geometric Brownian motion. The riskless rate has no effect, since neither leg
//! is money.

use super::black_scholes::discount;
use super::exchange::{Exchange, Leg};
use super::exchange_double::DoubleExchange;
use super::normal;
use crate::arithmetic::double_double::DoubleDouble;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Result, check};

/// Two assets and the time at which one may be exchanged for the other.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ExchangeOption {
    /// Price of the first asset today; zero or positive.
    pub spot1: f64,
    /// Price of the second asset today; zero or positive.
    pub spot2: f64,
    /// Dividend yield of the first asset, annual, continuously compounded; of any sign.
    pub dividend_yield1: f64,
    /// Dividend yield of the second asset, annual, continuously compounded; of any sign.
    pub dividend_yield2: f64,
    /// Standard deviation of the first asset's annual log returns; zero or positive.
    pub volatility1: f64,
    /// Standard deviation of the second asset's annual log returns; zero or positive.
    pub volatility2: f64,
    /// Correlation of the two log returns, from −1 to 1.
    pub correlation: f64,
    /// Time until the exchange, in years; zero or positive.
    pub time_to_maturity: f64,
}

/// The values of the right to exchange in either direction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ExchangePrices {
    /// Present value of `max(S₁ − S₂, 0)`: to receive the first asset for the second.
    pub call: f64,
    /// Present value of `max(S₂ − S₁, 0)`: to receive the second asset for the first.
    pub put: f64,
}

/// The derivatives of the values of both rights to exchange in the prices of the assets.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ExchangeDeltas {
    /// Change of the call's value per unit of the first price.
    pub call1: f64,
    /// Change of the call's value per unit of the second price.
    pub call2: f64,
    /// Change of the put's value per unit of the first price.
    pub put1: f64,
    /// Change of the put's value per unit of the second price.
    pub put2: f64,
    /// Volatility of the ratio of the prices, annual.
    pub volatility: f64,
}

impl ExchangeOption {
    /// Returns the present values of both rights to exchange.
    ///
    /// ```text
    /// call = S₁ e^{−q₁T} Φ(d₁) − S₂ e^{−q₂T} Φ(d₂)
    /// put  = S₂ e^{−q₂T} Φ(−d₂) − S₁ e^{−q₁T} Φ(−d₁)
    /// d₁ = ln(S₁ e^{−q₁T} / S₂ e^{−q₂T}) / σ√T + σ√T / 2,   d₂ = d₁ − σ√T
    /// σ² = (σ₁ − σ₂)² + 2 (1 − ρ) σ₁ σ₂
    /// ```
    ///
    /// where σ is the volatility of the ratio of the two. The usual `σ₁² + σ₂² − 2ρσ₁σ₂` is the
    /// same number, but loses its digits as ρ nears 1; this form keeps 1e-13 of the price up to
    /// ρ = 1 − 1e-12. Where σ or T is zero the values are the discounted intrinsic ones.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for a negative price, volatility or time, a
    /// correlation outside [−1, 1], or any number that is not finite;
    /// [`Error::Overflow`](crate::Error::Overflow) where a value exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::margrabe::ExchangeOption;
    ///
    /// let option = ExchangeOption {
    ///     spot1: 22.0,
    ///     spot2: 20.0,
    ///     dividend_yield1: 0.06,
    ///     dividend_yield2: 0.04,
    ///     volatility1: 0.20,
    ///     volatility2: 0.15,
    ///     correlation: -0.5,
    ///     time_to_maturity: 0.1,
    /// };
    /// assert!((option.prices()?.call - 2.125).abs() < 0.0005);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Margrabe (1978), "The Value of an Option to Exchange One Asset for Another"; the example is
    /// in Haug (2007), *The Complete Guide to Option Pricing Formulas*, 5.4.
    pub fn prices(&self) -> Result<ExchangePrices> {
        if let Some((call, put)) = self.prices_in_doubles() {
            return Ok(ExchangePrices { call, put });
        }
        self.validate()?;
        let (call, put) = self.exchange().both_values();
        Ok(ExchangePrices {
            call: check::result("spot1", call)?,
            put: check::result("spot2", put)?,
        })
    }

    /// Explains [`prices`](Self::prices).
    ///
    /// # Errors
    ///
    /// The errors of [`prices`](Self::prices).
    pub fn explain_prices(&self) -> Result<Explanation> {
        self.prices()?;
        let method = Method::new(
            "Margrabe's formula",
            "Margrabe (1978), The Value of an Option to Exchange One Asset for Another, Journal of \
             Finance 33",
        );
        let error = ErrorStatement::rounding(
            "call and put",
            2e-14,
            "largest relative error against 50 digits, prices from 1e-280, correlations of any \
             size",
        );
        Ok(Explanation::new(method, error).with_conventions([
            "Both prices follow geometric Brownian motion with constant volatilities and \
             correlation.",
            "The dividend yields are constant and compound continuously.",
            "No riskless rate has an effect, since neither side of the exchange is money.",
            "The assets are exchanged at expiry only, one unit for one unit.",
            "Times are in years as given: no day count is applied.",
        ]))
    }

    /// Returns the derivatives of both values in the prices of the assets, and the volatility of the
    /// ratio of the prices.
    ///
    /// ```text
    /// ∂call/∂S₁ = e^{−q₁T} Φ(d₁),     ∂call/∂S₂ = −e^{−q₂T} Φ(d₂)
    /// ∂put/∂S₁ = −e^{−q₁T} Φ(−d₁),    ∂put/∂S₂ = e^{−q₂T} Φ(−d₂)
    /// ```
    ///
    /// with d₁ and d₂ as in [`prices`](Self::prices). Where σ or T is zero these are the derivatives of
    /// the discounted intrinsic values; at the money, where those jump, Φ is 1/2.
    ///
    /// # Errors
    ///
    /// Those of [`prices`](Self::prices).
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::margrabe::ExchangeOption;
    ///
    /// let option = ExchangeOption {
    ///     spot1: 22.0, spot2: 20.0, dividend_yield1: 0.06, dividend_yield2: 0.04,
    ///     volatility1: 0.20, volatility2: 0.15, correlation: -0.5, time_to_maturity: 0.1,
    /// };
    /// // A value is homogeneous in the two prices.
    /// let (deltas, prices) = (option.deltas()?, option.prices()?);
    /// assert!((22.0 * deltas.call1 + 20.0 * deltas.call2 - prices.call).abs() < 1e-14);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn deltas(&self) -> Result<ExchangeDeltas> {
        self.validate()?;
        let volatility = Self { time_to_maturity: 1.0, ..*self }.deviation().high;
        let (ratio, deviation) = (self.log_ratio(), self.deviation().high);
        let d = |half: f64| if ratio == 0.0 { half } else { ratio / deviation + half };
        let (d1, d2) = (d(0.5 * deviation), d(-0.5 * deviation));
        let first = discount(self.dividend_yield1, self.time_to_maturity);
        let second = discount(self.dividend_yield2, self.time_to_maturity);
        let result = |value| check::result("time_to_maturity", value);
        Ok(ExchangeDeltas {
            call1: result(first * normal::cdf(d1))?,
            call2: result(-second * normal::cdf(d2))?,
            put1: result(-first * normal::cdf(-d1))?,
            put2: result(second * normal::cdf(-d2))?,
            volatility: result(volatility)?,
        })
    }

    /// Returns the logarithm of the ratio of the discounted prices; 0 where both are zero.
    fn log_ratio(&self) -> f64 {
        let carry = (self.dividend_yield2 - self.dividend_yield1) * self.time_to_maturity;
        if self.spot1 == self.spot2 {
            return carry;
        }
        libm::log(self.spot1) - libm::log(self.spot2) + carry
    }

    /// The prices near the money; `None` there for arguments outside their range.
    #[inline(always)]
    fn prices_in_doubles(&self) -> Option<(f64, f64)> {
        let Self { volatility1, volatility2, correlation, time_to_maturity, .. } = *self;
        let ordinary = 0.0..1e60;
        if !ordinary.contains(&volatility1)
            || !ordinary.contains(&volatility2)
            || !(-1.0..=1.0).contains(&correlation)
        {
            return None;
        }
        let difference = volatility1 - volatility2;
        let unshared = 2.0 * (1.0 - correlation) * volatility1 * volatility2;
        let swap = DoubleExchange {
            receive: self.spot1,
            receive_exponent: -self.dividend_yield1 * time_to_maturity,
            give: self.spot2,
            give_exponent: -self.dividend_yield2 * time_to_maturity,
            deviation: ((difference * difference + unshared) * time_to_maturity).sqrt(),
        };
        swap.both_values()
    }

    fn validate(&self) -> Result<()> {
        check::not_negative("spot1", self.spot1)?;
        check::not_negative("spot2", self.spot2)?;
        check::finite("dividend_yield1", self.dividend_yield1)?;
        check::finite("dividend_yield2", self.dividend_yield2)?;
        check::not_negative("volatility1", self.volatility1)?;
        check::not_negative("volatility2", self.volatility2)?;
        let related = self.correlation.abs() <= 1.0;
        check::require(related, "correlation", self.correlation, "between -1 and 1")?;
        check::not_negative("time_to_maturity", self.time_to_maturity)
    }

    /// The right to receive the first asset for the second.
    fn exchange(&self) -> Exchange {
        let time = self.time_to_maturity;
        let receive = Leg::new(self.spot1, self.dividend_yield1, time);
        let give = Leg::new(self.spot2, self.dividend_yield2, time);
        let deviation = self.deviation();
        Exchange::new(receive, give, deviation.high, || deviation)
    }

    /// `σ√T`, of volatilities whose squares stay in range: far from 1 they are brought near it.
    fn deviation(&self) -> DoubleDouble {
        let largest = self.volatility1.max(self.volatility2);
        if largest == 0.0 || (1e-60..1e60).contains(&largest) {
            return self.deviation_of(self.volatility1, self.volatility2);
        }
        let (_, exponent) = libm::frexp(largest);
        let scaled = |volatility| libm::scalbn(volatility, -exponent);
        self.deviation_of(scaled(self.volatility1), scaled(self.volatility2))
            .times_power_of_two(exponent)
    }

    fn deviation_of(&self, first: f64, second: f64) -> DoubleDouble {
        let unshared = DoubleDouble::difference(1.0, self.correlation).times(2.0);
        let variance = DoubleDouble::difference(first, second)
            .squared()
            .plus(DoubleDouble::product(first, second).times(unshared));
        variance.times(self.time_to_maturity).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::black_scholes::{EuropeanOption, OptionType};
    use proptest::prelude::*;

    fn option(correlation: f64, time_to_maturity: f64) -> ExchangeOption {
        ExchangeOption {
            spot1: 22.0,
            spot2: 20.0,
            dividend_yield1: 0.06,
            dividend_yield2: 0.04,
            volatility1: 0.20,
            volatility2: 0.15,
            correlation,
            time_to_maturity,
        }
    }

    #[test]
    fn without_risk_or_time_only_the_discounted_difference_is_left() {
        let twins = ExchangeOption { volatility2: 0.20, ..option(1.0, 2.0) };
        let difference = 22.0 * discount(0.06, 2.0) - 20.0 * discount(0.04, 2.0);
        let prices = twins.prices().unwrap();
        assert!((prices.call - difference).abs() <= 22.0 * f64::EPSILON);
        assert_eq!(prices.put, 0.0);
        let due = option(0.3, 0.0);
        assert_eq!(due.prices(), Ok(ExchangePrices { call: 2.0, put: 0.0 }));
    }

    #[test]
    fn a_correlation_beyond_one_is_refused() {
        let refused = option(1.000_001, 1.0).prices().unwrap_err();
        assert_eq!((refused.code(), refused.argument()), ("domain", Some("correlation")));
    }

    #[test]
    fn deltas_at_the_edges_are_those_of_the_intrinsic_value() {
        let deltas = |spot1, spot2, volatility1| {
            let (volatility2, correlation, time_to_maturity) = (0.0, 0.0, 1.0);
            let (dividend_yield1, dividend_yield2) = (0.0, 0.0);
            let option = ExchangeOption {
                spot1,
                spot2,
                dividend_yield1,
                dividend_yield2,
                volatility1,
                volatility2,
                correlation,
                time_to_maturity,
            };
            let found = option.deltas().unwrap();
            [found.call1, found.call2, found.put1, found.put2]
        };
        assert_eq!(deltas(110.0, 100.0, 0.0), [1.0, -1.0, 0.0, 0.0]);
        assert_eq!(deltas(90.0, 100.0, 0.0), [0.0, 0.0, -1.0, 1.0]);
        assert_eq!(deltas(100.0, 100.0, 0.0), [0.5, -0.5, -0.5, 0.5]);
        assert_eq!(deltas(0.0, 100.0, 0.2), [0.0, 0.0, -1.0, 1.0]);
        assert_eq!(deltas(100.0, 0.0, 0.2), [1.0, -1.0, 0.0, 0.0]);
    }

    proptest! {
        #[test]
        fn values_are_the_prices_times_their_deltas(
            spot1 in 50.0..150.0_f64, spot2 in 50.0..150.0_f64, rho in -1.0..1.0_f64, time_to_maturity in 0.0..5.0_f64,
        ) {
            let option = ExchangeOption {
                spot1, spot2, dividend_yield1: 0.02, dividend_yield2: -0.01,
                volatility1: 0.3, volatility2: 0.2, correlation: rho, time_to_maturity,
            };
            let (deltas, prices) = (option.deltas().unwrap(), option.prices().unwrap());
            prop_assert!((spot1 * deltas.call1 + spot2 * deltas.call2 - prices.call).abs() <= 1e-13 * spot1);
            prop_assert!((spot1 * deltas.put1 + spot2 * deltas.put2 - prices.put).abs() <= 1e-13 * spot2);
        }

        #[test]
        fn against_a_riskless_asset_it_is_a_european_option(
            spot in 50.0..200.0_f64, strike in 50.0..200.0_f64, rate in -0.1..0.2_f64,
            volatility in 0.0..1.5_f64, time in 0.0..5.0_f64, correlation in -1.0..1.0_f64,
        ) {
            let european = EuropeanOption {
                option_type: OptionType::Call, spot, strike, risk_free_rate: rate,
                dividend_yield: 0.01, volatility, time_to_maturity: time,
            };
            let exchange = ExchangeOption {
                spot1: spot, spot2: strike, dividend_yield1: 0.01, dividend_yield2: rate,
                volatility1: volatility, volatility2: 0.0, correlation, time_to_maturity: time,
            };
            let (expected, got) = (european.price().unwrap(), exchange.prices().unwrap().call);
            prop_assert!((got - expected).abs() <= 3e-14 * expected);
        }

        #[test]
        fn swapping_the_assets_swaps_the_prices(
            spot1 in 50.0..200.0_f64, correlation in -1.0..1.0_f64, time in 0.0..5.0_f64,
        ) {
            let option = ExchangeOption { spot1, ..option(correlation, time) };
            let swapped = ExchangeOption {
                spot1: option.spot2, spot2: option.spot1,
                dividend_yield1: option.dividend_yield2, dividend_yield2: option.dividend_yield1,
                volatility1: option.volatility2, volatility2: option.volatility1, ..option
            };
            let (prices, swapped) = (option.prices().unwrap(), swapped.prices().unwrap());
            prop_assert!((prices.call - swapped.put).abs() <= 1e-13 * prices.call);
            prop_assert!((prices.put - swapped.call).abs() <= 1e-13 * prices.put);
        }
    }
}

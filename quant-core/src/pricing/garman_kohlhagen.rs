//! European options on exchange rates by Garman and Kohlhagen's formula.
//!
//! A foreign currency is an asset that yields the foreign rate, so that all of
//! [`black_scholes`](super::black_scholes) applies, with its accuracy. Amounts are in domestic
//! currency per unit of foreign currency. Not modelled: smiles, early exercise, days of settlement.

use super::black_scholes::{EuropeanOption, OptionType, discount};
use super::greeks::{EVERY_GREEK, Greeks, UNITS};
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// A European option to buy or sell one unit of a foreign currency, and the market it is priced in.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CurrencyOption {
    /// The right of the holder, to buy or to sell the foreign currency.
    pub option_type: OptionType,
    /// Price of the foreign currency today; zero or positive.
    pub spot: f64,
    /// Price at which the option can be exercised; zero or positive.
    pub strike: f64,
    /// Domestic riskless rate, annual, continuously compounded; of any sign.
    pub domestic_rate: f64,
    /// Foreign riskless rate, annual, continuously compounded; of any sign.
    pub foreign_rate: f64,
    /// Standard deviation of annual log returns of the exchange rate; zero or positive.
    pub volatility: f64,
    /// Time until expiry, in years; zero or positive.
    pub time_to_expiry: f64,
}

/// The derivatives of a currency option's price, with the deltas that the market quotes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CurrencyGreeks {
    /// The derivatives: `delta` is the spot delta, `rho` is by the domestic rate and `epsilon` by the
    /// foreign rate.
    pub greeks: Greeks,
    /// The forward delta, `e^{r_f T}·delta`: units of a forward contract that hedge the option.
    pub forward_delta: f64,
    /// The spot delta less the premium in foreign currency, `delta − V/S`, for a premium that is paid
    /// in foreign currency.
    pub premium_adjusted_delta: f64,
}

impl CurrencyOption {
    /// Returns the option's present value, in domestic currency per unit of foreign currency.
    ///
    /// ```text
    /// V = φ·(S e^{−r_f T} Φ(φ d₁) − K e^{−r_d T} Φ(φ d₂))
    /// d₁ = (ln(S/K) + (r_d − r_f) T) / σ√T + σ√T / 2,   d₂ = d₁ − σ√T
    /// ```
    ///
    /// where φ is +1 for a call and −1 for a put. Accuracy and limits are those of
    /// [`EuropeanOption::price`].
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a negative spot, strike, volatility or time, or any number that is not
    /// finite; [`Error::Overflow`] where the value exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::{OptionType, garman_kohlhagen::CurrencyOption};
    ///
    /// let call = CurrencyOption {
    ///     option_type: OptionType::Call,
    ///     spot: 1.56,
    ///     strike: 1.6,
    ///     domestic_rate: 0.06,
    ///     foreign_rate: 0.08,
    ///     volatility: 0.12,
    ///     time_to_expiry: 0.5,
    /// };
    /// assert!((call.price()? - 0.0291).abs() < 5e-5);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Garman and Kohlhagen (1983), "Foreign Currency Option Values"; the example is in Haug (2007),
    /// *The Complete Guide to Option Pricing Formulas*, 1.1.6.
    pub fn price(&self) -> Result<f64> {
        self.on_asset().price().map_err(in_terms_of_the_currencies)
    }

    /// Returns the forward exchange rate for expiry, `S e^{(r_d − r_f)T}`.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a spot or time that is negative, or any number that is not finite;
    /// [`Error::Overflow`] where the forward exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::{OptionType, garman_kohlhagen::CurrencyOption};
    ///
    /// let call = CurrencyOption {
    ///     option_type: OptionType::Call,
    ///     spot: 1.25,
    ///     strike: 1.25,
    ///     domestic_rate: 0.03,
    ///     foreign_rate: 0.03,
    ///     volatility: 0.1,
    ///     time_to_expiry: 1.0,
    /// };
    /// assert_eq!(call.forward()?, 1.25);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn forward(&self) -> Result<f64> {
        check::not_negative("spot", self.spot)?;
        check::finite("domestic_rate", self.domestic_rate)?;
        check::finite("foreign_rate", self.foreign_rate)?;
        check::not_negative("time_to_expiry", self.time_to_expiry)?;
        let carry = self.domestic_rate - self.foreign_rate;
        check::result("spot", self.spot * discount(-carry, self.time_to_expiry))
    }

    /// Returns the price, its derivatives of first and second order, and the deltas of the market.
    ///
    /// The formulas are those of [`EuropeanOption::greeks`] with r_d for r and r_f for q.
    ///
    /// # Errors
    ///
    /// The errors of [`price`](Self::price); [`Error::Conflict`] where σ or T is zero while the forward
    /// is at the strike, and delta and gamma have no limit; [`Error::Overflow`] where a derivative
    /// exceeds the largest double, and for a spot price of zero, to which no premium can be compared.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::{OptionType, garman_kohlhagen::CurrencyOption};
    ///
    /// let call = CurrencyOption {
    ///     option_type: OptionType::Call,
    ///     spot: 1.25,
    ///     strike: 1.25,
    ///     domestic_rate: 0.03,
    ///     foreign_rate: 0.03,
    ///     volatility: 0.2,
    ///     time_to_expiry: 1.0,
    /// };
    /// // At the forward, the forward delta is Φ(σ√T / 2).
    /// assert!((call.greeks()?.forward_delta - 0.539_827_837_277_029).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Wystup (2006), *FX Options and Structured Products*, 1.2 and 1.3, for the deltas.
    pub fn greeks(&self) -> Result<CurrencyGreeks> {
        let greeks = self.on_asset().greeks().map_err(in_terms_of_the_currencies)?;
        let forward_delta = greeks.delta * discount(-self.foreign_rate, self.time_to_expiry);
        Ok(CurrencyGreeks {
            forward_delta: check::result("foreign_rate", forward_delta)?,
            // V = S·delta + K·dual delta, as the price is homogeneous: no difference is left.
            premium_adjusted_delta: check::result(
                "spot",
                -greeks.dual_delta * self.strike / self.spot,
            )?,
            greeks,
        })
    }

    /// Explains [`price`](Self::price), [`forward`](Self::forward) and [`greeks`](Self::greeks).
    ///
    /// # Errors
    ///
    /// The errors of [`price`](Self::price) and of [`forward`](Self::forward).
    pub fn explain(&self) -> Result<Explanation> {
        self.price()?;
        self.forward()?;
        let method = Method::new(
            "Garman–Kohlhagen formula",
            "Garman and Kohlhagen (1983), Foreign Currency Option Values; Wystup (2006), FX \
             Options and Structured Products, 1.2 and 1.3, for the deltas",
        );
        let error = ErrorStatement::rounding(
            EVERY_GREEK,
            1e-14,
            "largest relative error against 400 digits, strikes within 25 % of the spot",
        );
        let market = [
            "The exchange rate follows geometric Brownian motion of constant volatility.",
            "Prices are in domestic currency per unit of foreign currency; the premium is \
             domestic.",
            "Both riskless rates are constant and compound continuously.",
            "The option is exercised at expiry only; spot and delivery lags of the market are not \
             applied.",
            "Times are in years as given: no day count is applied.",
            "`delta` is the spot delta without an adjustment for the premium.",
        ];
        Ok(Explanation::new(method, error).with_conventions(market).with_conventions(UNITS))
    }

    /// The foreign currency as an asset that yields the foreign rate.
    fn on_asset(&self) -> EuropeanOption {
        EuropeanOption {
            option_type: self.option_type,
            spot: self.spot,
            strike: self.strike,
            risk_free_rate: self.domestic_rate,
            dividend_yield: self.foreign_rate,
            volatility: self.volatility,
            time_to_maturity: self.time_to_expiry,
        }
    }
}

/// The error of an option on an asset, about the option on a currency.
fn in_terms_of_the_currencies(error: Error) -> Error {
    error.renamed(|argument| match argument {
        "risk_free_rate" => "domestic_rate",
        "dividend_yield" => "foreign_rate",
        "time_to_maturity" => "time_to_expiry",
        same => same,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn option(option_type: OptionType, numbers: [f64; 6]) -> CurrencyOption {
        let [spot, strike, domestic_rate, foreign_rate, volatility, time_to_expiry] = numbers;
        CurrencyOption {
            option_type,
            spot,
            strike,
            domestic_rate,
            foreign_rate,
            volatility,
            time_to_expiry,
        }
    }

    #[test]
    fn a_refusal_names_the_rate_of_its_currency() {
        let mut numbers = [1.25, 1.3, 0.05, 0.02, 0.1, 1.0];
        for (position, argument) in
            [(2, "domestic_rate"), (3, "foreign_rate"), (5, "time_to_expiry")]
        {
            let before = numbers[position];
            numbers[position] = f64::INFINITY;
            let refused = option(OptionType::Call, numbers).greeks().unwrap_err();
            assert_eq!((refused.code(), refused.argument()), ("domain", Some(argument)));
            assert_eq!(option(OptionType::Call, numbers).forward().unwrap_err(), refused);
            numbers[position] = before;
        }
    }

    proptest! {
        /// A call on one currency is a put on the other.
        #[test]
        fn the_same_right_seen_from_abroad_has_the_same_value(
            spot in 0.5..2.0_f64, strike in 0.5..2.0_f64, domestic in -0.05..0.1_f64,
            foreign in -0.05..0.1_f64, volatility in 0.01..0.5_f64, time in 0.01..5.0_f64,
        ) {
            let numbers = [spot, strike, domestic, foreign, volatility, time];
            let at_home = option(OptionType::Call, numbers).price().unwrap();
            let numbers = [1.0 / spot, 1.0 / strike, foreign, domestic, volatility, time];
            let abroad = option(OptionType::Put, numbers).price().unwrap() * spot * strike;
            // The reciprocals are rounded, and far out of the money the price magnifies that.
            prop_assert!((at_home - abroad).abs() <= 1e-14 * spot);
        }

        #[test]
        fn the_deltas_are_those_of_a_premium_and_of_a_forward(
            spot in 0.5..2.0_f64, strike in 0.5..2.0_f64, domestic in -0.05..0.1_f64,
            foreign in -0.05..0.1_f64, volatility in 0.01..0.5_f64, time in 0.01..5.0_f64,
            is_call: bool,
        ) {
            let option_type = if is_call { OptionType::Call } else { OptionType::Put };
            let numbers = [spot, strike, domestic, foreign, volatility, time];
            let found = option(option_type, numbers).greeks().unwrap();
            let adjusted = found.greeks.delta - found.greeks.price / spot;
            prop_assert!((found.premium_adjusted_delta - adjusted).abs() <= 1e-14);
            let forward_delta = found.greeks.delta * libm::exp(foreign * time);
            prop_assert!((found.forward_delta - forward_delta).abs() <= 1e-15);
        }
    }
}

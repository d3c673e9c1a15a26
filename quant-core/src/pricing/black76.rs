//! European options on forwards and futures by Black's formula.
//!
//! The forward follows geometric Brownian motion without drift, as an asset does whose dividend yield
//! is the riskless rate, so that all of [`black_scholes`](super::black_scholes) applies, with its
//! accuracy. Not modelled: margining of the option's premium, smiles, early exercise.

use super::black_scholes::{EuropeanOption, OptionType};
use super::forward_greeks::{CONSTANT_FORWARD, CONVENTIONS, ForwardGreeks};
use super::greeks::{EVERY_GREEK, UNITS};
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result};

/// The assumption about the forward.
pub(super) const LOGNORMAL: &str =
    "The forward follows geometric Brownian motion without drift, of constant volatility.";

/// The formula.
pub(super) const METHOD: Method = Method::new(
    "Black's formula",
    "Black (1976), The Pricing of Commodity Contracts, Journal of Financial Economics 3",
);

/// The class of arguments on which the accuracy was tested.
const TESTED: &str =
    "largest relative error against 400 digits, prices from 1e-250, deviations from 0.01";

/// A European option on a forward or a future, and the market it is priced in.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ForwardOption {
    /// The right of the holder, to buy or to sell.
    pub option_type: OptionType,
    /// Forward or futures price for the day of expiry; zero or positive.
    pub forward: f64,
    /// Price at which the option can be exercised; zero or positive.
    pub strike: f64,
    /// Riskless rate, annual, continuously compounded; of any sign.
    pub risk_free_rate: f64,
    /// Standard deviation of annual log returns of the forward; zero or positive.
    pub volatility: f64,
    /// Time until expiry and payment, in years; zero or positive.
    pub time_to_maturity: f64,
}

impl ForwardOption {
    /// Returns the option's present value.
    ///
    /// ```text
    /// V = e^{−rT} φ·(F Φ(φ d₁) − K Φ(φ d₂))
    /// d₁ = ln(F/K) / σ√T + σ√T / 2,   d₂ = d₁ − σ√T
    /// ```
    ///
    /// where φ is +1 for a call and −1 for a put. Accuracy and limits are those of
    /// [`EuropeanOption::price`].
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a negative forward, strike, volatility or time, or any number that is
    /// not finite; [`Error::Overflow`] where the value exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::{OptionType, black76::ForwardOption};
    ///
    /// let put = ForwardOption {
    ///     option_type: OptionType::Put,
    ///     forward: 20.0,
    ///     strike: 20.0,
    ///     risk_free_rate: 0.09,
    ///     volatility: 0.25,
    ///     time_to_maturity: 4.0 / 12.0,
    /// };
    /// assert!((put.price()? - 1.12).abs() < 0.005);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Black (1976), "The Pricing of Commodity Contracts"; the example is in Hull, "Options,
    /// Futures, and Other Derivatives", the chapter on options on futures.
    pub fn price(&self) -> Result<f64> {
        self.with_yield().price().map_err(in_terms_of_the_forward)
    }

    /// Returns the price and its derivatives of first and second order.
    ///
    /// The formulas are those of [`EuropeanOption::greeks`] with F for S and r for q, except
    /// `rho = −TV` and `vera = −T·vega`, the derivatives at a constant forward.
    ///
    /// # Errors
    ///
    /// The errors of [`price`](Self::price); [`Error::Conflict`] where σ or T is zero while the forward
    /// is at the strike, and delta and gamma have no limit; [`Error::Overflow`] where a derivative
    /// exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::{OptionType, black76::ForwardOption};
    ///
    /// let call = ForwardOption {
    ///     option_type: OptionType::Call,
    ///     forward: 100.0,
    ///     strike: 100.0,
    ///     risk_free_rate: 0.0,
    ///     volatility: 0.2,
    ///     time_to_maturity: 1.0,
    /// };
    /// // At the strike and without a rate, delta is Φ(σ√T / 2).
    /// assert!((call.greeks()?.delta - 0.539_827_837_277_029).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Haug (2007), *The Complete Guide to Option Pricing Formulas*, chapter 2.
    pub fn greeks(&self) -> Result<ForwardGreeks> {
        let greeks = self.with_yield().greeks().map_err(in_terms_of_the_forward)?;
        ForwardGreeks::of_spot(&greeks, self.time_to_maturity)
    }

    /// Returns the annual volatility at which [`price`](Self::price) is the given price; the field
    /// `volatility` is without effect.
    ///
    /// See [`QuotedOption::implied_volatility`](super::QuotedOption::implied_volatility) for the
    /// accuracy and the limits.
    ///
    /// # Errors
    ///
    /// The errors of [`QuotedOption::implied_volatility`](super::QuotedOption::implied_volatility).
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::{OptionType, black76::ForwardOption};
    ///
    /// let call = ForwardOption {
    ///     option_type: OptionType::Call,
    ///     forward: 100.0,
    ///     strike: 105.0,
    ///     risk_free_rate: 0.05,
    ///     volatility: 0.0,
    ///     time_to_maturity: 1.0,
    /// };
    /// let volatility = call.implied_volatility(8.0)?;
    /// assert!((ForwardOption { volatility, ..call }.price()? - 8.0).abs() < 1e-14);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn implied_volatility(&self, price: f64) -> Result<f64> {
        self.with_yield().implied_volatility(price).map_err(in_terms_of_the_forward)
    }

    /// Explains [`price`](Self::price).
    ///
    /// # Errors
    ///
    /// The errors of [`price`](Self::price).
    pub fn explain_price(&self) -> Result<Explanation> {
        self.price()?;
        let error = ErrorStatement::rounding("price", 1e-14, TESTED);
        Ok(Explanation::new(METHOD, error)
            .with_conventions([LOGNORMAL])
            .with_conventions(CONVENTIONS))
    }

    /// Explains [`greeks`](Self::greeks).
    ///
    /// # Errors
    ///
    /// The errors of [`greeks`](Self::greeks).
    pub fn explain_greeks(&self) -> Result<Explanation> {
        self.greeks()?;
        let method = Method::new(
            "analytic derivatives of Black's formula",
            "Haug (2007), The Complete Guide to Option Pricing Formulas, chapter 2",
        );
        let error = ErrorStatement::rounding(EVERY_GREEK, 1e-14, TESTED);
        Ok(Explanation::new(method, error)
            .with_conventions([LOGNORMAL])
            .with_conventions(CONVENTIONS)
            .with_conventions(UNITS)
            .with_conventions([CONSTANT_FORWARD]))
    }

    /// Explains [`implied_volatility`](Self::implied_volatility).
    ///
    /// # Errors
    ///
    /// The errors of [`implied_volatility`](Self::implied_volatility).
    pub fn explain_implied_volatility(&self, price: f64) -> Result<Explanation> {
        let found = self.with_yield().explain_implied_volatility(price);
        let Explanation { method, error, steps, .. } = found.map_err(in_terms_of_the_forward)?;
        let explanation = Explanation { steps, ..Explanation::new(method, error) };
        Ok(explanation.with_conventions([LOGNORMAL]).with_conventions(CONVENTIONS))
    }

    /// The forward as an asset that yields the riskless rate.
    fn with_yield(&self) -> EuropeanOption {
        EuropeanOption {
            option_type: self.option_type,
            spot: self.forward,
            strike: self.strike,
            risk_free_rate: self.risk_free_rate,
            dividend_yield: self.risk_free_rate,
            volatility: self.volatility,
            time_to_maturity: self.time_to_maturity,
        }
    }
}

/// The error of an option on an asset, about the option on its forward.
fn in_terms_of_the_forward(error: Error) -> Error {
    error.renamed(|argument| match argument {
        "spot" => "forward",
        "dividend_yield" => "risk_free_rate",
        same => same,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn option(option_type: OptionType, numbers: [f64; 5]) -> ForwardOption {
        let [forward, strike, risk_free_rate, volatility, time_to_maturity] = numbers;
        ForwardOption { option_type, forward, strike, risk_free_rate, volatility, time_to_maturity }
    }

    #[test]
    fn a_refusal_names_the_forward() {
        let refused = option(OptionType::Call, [-1.0, 100.0, 0.05, 0.2, 1.0]).price().unwrap_err();
        assert_eq!((refused.code(), refused.argument()), ("domain", Some("forward")));
        let vast = option(OptionType::Call, [1e308, 1.0, -10.0, 0.2, 10.0]).price().unwrap_err();
        assert_eq!((vast.code(), vast.argument()), ("overflow", Some("forward")));
        let cheap = option(OptionType::Call, [110.0, 100.0, 0.0, 0.2, 1.0]);
        assert_eq!(cheap.implied_volatility(9.0).unwrap_err().argument(), Some("price"));
    }

    #[test]
    fn a_sensitivity_to_the_rate_is_that_at_a_constant_forward() {
        let option = option(OptionType::Call, [100.0, 105.0, 0.05, 0.2, 2.0]);
        let at = |risk_free_rate| ForwardOption { risk_free_rate, ..option }.greeks().unwrap();
        let (up, down, greeks) = (at(0.05 + 1e-4), at(0.05 - 1e-4), at(0.05));
        assert!(((up.price - down.price) / 2e-4 - greeks.rho).abs() < 1e-6 * greeks.rho.abs());
        assert!(((up.vega - down.vega) / 2e-4 - greeks.vera).abs() < 1e-6 * greeks.vera.abs());
    }

    proptest! {
        /// Black's differential equation.
        #[test]
        fn the_price_grows_at_the_riskless_rate(
            numbers in [50.0..200.0_f64, 50.0..200.0, -0.1..0.2, 0.01..1.5, 0.01..10.0],
            is_call: bool,
        ) {
            let option_type = if is_call { OptionType::Call } else { OptionType::Put };
            let greeks = option(option_type, numbers).greeks().unwrap();
            let [forward, _, rate, volatility, _] = numbers;
            let convexity = 0.5 * volatility * volatility * forward * forward * greeks.gamma;
            let rest = greeks.theta + convexity - rate * greeks.price;
            prop_assert!(rest.abs() <= 1e-14 * (convexity + forward), "{rest:e}");
        }

        #[test]
        fn the_implied_volatility_gives_the_price(
            numbers in [50.0..200.0_f64, 50.0..200.0, -0.1..0.2, 0.1..1.5, 0.1..10.0],
        ) {
            let option = option(OptionType::Put, numbers);
            let price = option.price().unwrap();
            let volatility = option.implied_volatility(price).unwrap();
            let found = ForwardOption { volatility, ..option }.price().unwrap();
            prop_assert!((found - price).abs() <= 1e-14 * (price + numbers[0]));
        }
    }
}

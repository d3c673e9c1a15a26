//! Options on the spread of two forwards by Kirk's approximation, with its error.
//!
//! Both forwards follow geometric Brownian motion without drift. The difference of two lognormal
//! amounts is not lognormal, so that no closed form exists; the exact value is an integral.

use super::black_scholes::{OptionType, discount};
use super::black76::ForwardOption;
use super::normal;
use crate::explanation::{ErrorKind, ErrorStatement, Explanation, Method};
use crate::{Result, check};

/// An option on the difference of two forwards, and the market it is priced in.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SpreadOption {
    /// A call pays `max(F₁ − F₂ − K, 0)`, a put `max(K − F₁ + F₂, 0)`.
    pub option_type: OptionType,
    /// Price of the first forward, F₁; positive.
    pub forward1: f64,
    /// Price of the second forward, F₂; positive.
    pub forward2: f64,
    /// Strike of the spread; above `−forward2`.
    pub strike: f64,
    /// Riskless rate, annual, continuously compounded; of any sign.
    pub risk_free_rate: f64,
    /// Standard deviation of the first forward's annual log returns; zero or positive.
    pub volatility1: f64,
    /// Standard deviation of the second forward's annual log returns; zero or positive.
    pub volatility2: f64,
    /// Correlation of the two log returns, from −1 to 1.
    pub correlation: f64,
    /// Time until expiry and payment, in years; zero or positive.
    pub time_to_maturity: f64,
}

/// The value of an option on a spread.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SpreadValue {
    /// Kirk's approximation of the present value.
    pub price: f64,
    /// The volatility of the ratio `F₁/(F₂ + K)` that the approximation uses.
    pub spread_volatility: f64,
    /// The present value by quadrature.
    pub exact_price: f64,
    /// The approximation less the present value by quadrature.
    pub approximation_error: f64,
}

impl SpreadOption {
    /// Returns Kirk's approximation of the value, and the value by quadrature.
    ///
    /// ```text
    /// V ≈ e^{−rT} φ·(F₁ Φ(φ d₁) − (F₂ + K) Φ(φ d₂))
    /// d₁ = ln(F₁/(F₂ + K)) / σ√T + σ√T / 2,   d₂ = d₁ − σ√T
    /// σ² = (σ₁ − wσ₂)² + 2(1 − ρ)σ₁wσ₂,   w = F₂/(F₂ + K)
    /// ```
    ///
    /// where φ is +1 for a call and −1 for a put. At K = 0 the approximation is Margrabe's formula,
    /// and exact. The quadrature is over the second forward, given which the first is lognormal: the
    /// trapezoidal rule, whose error is about 1e-13 of the forwards where `σ₁√((1 − ρ²)T)` is above
    /// 0.05, and grows below as the integrand nears the payoff with its corner.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for the first argument outside its documented range;
    /// [`Error::Overflow`](crate::Error::Overflow) where a value exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::{OptionType, kirk::SpreadOption};
    ///
    /// let call = SpreadOption {
    ///     option_type: OptionType::Call,
    ///     forward1: 28.0,
    ///     forward2: 20.0,
    ///     strike: 7.0,
    ///     risk_free_rate: 0.05,
    ///     volatility1: 0.29,
    ///     volatility2: 0.36,
    ///     correlation: 0.42,
    ///     time_to_maturity: 0.25,
    /// };
    /// assert!((call.value()?.price - 2.1670).abs() < 5e-5);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Kirk (1995), "Correlation in the Energy Markets"; the example is in Haug (2007), *The Complete
    /// Guide to Option Pricing Formulas*, 5.7.
    pub fn value(&self) -> Result<SpreadValue> {
        self.validate()?;
        let weight = self.forward2 / (self.forward2 + self.strike);
        let second = weight * self.volatility2;
        let difference = self.volatility1 - second;
        let unshared = 2.0 * (1.0 - self.correlation) * self.volatility1 * second;
        let spread_volatility = (difference * difference + unshared).sqrt();
        let factor = discount(self.risk_free_rate, self.time_to_maturity);
        let of_ratio = |forward, strike, volatility| {
            let (option_type, time_to_maturity) = (self.option_type, self.time_to_maturity);
            let risk_free_rate = 0.0;
            ForwardOption {
                option_type,
                forward,
                strike,
                risk_free_rate,
                volatility,
                time_to_maturity,
            }
        };
        let approximate =
            of_ratio(self.forward1, self.forward2 + self.strike, spread_volatility).price();
        let approximate = approximate.map_err(|error| error.renamed(|_| "forward1"))?;
        let exact = self.by_quadrature(of_ratio)?;
        let price = check::result("forward1", factor * approximate)?;
        let exact_price = check::result("forward1", factor * exact)?;
        Ok(SpreadValue {
            price,
            spread_volatility: check::result("volatility1", spread_volatility)?,
            exact_price,
            approximation_error: check::result("strike", price - exact_price)?,
        })
    }

    /// Returns the expected payoff, by the trapezoidal rule over the second forward's deviate.
    fn by_quadrature(&self, of_ratio: impl Fn(f64, f64, f64) -> ForwardOption) -> Result<f64> {
        let (s2, shared, unshared) = self.deviations();
        let sign = if self.option_type == OptionType::Call { 1.0 } else { -1.0 };
        let (reach, points) = self.grid();
        let spacing = 2.0 * reach / points;
        let mut sum = 0.0;
        for k in 0..=points as usize {
            let z = -reach + spacing * k as f64;
            let forward1 = self.forward1 * libm::exp(shared * (z - 0.5 * shared));
            let strike = self.forward2 * libm::exp(s2 * (z - 0.5 * s2)) + self.strike;
            let payoff = if strike > 0.0 {
                let option = of_ratio(forward1, strike, unshared);
                option.price().map_err(|error| error.renamed(|_| "volatility1"))?
            } else {
                (sign * (forward1 - strike)).max(0.0)
            };
            sum += normal::pdf(z) * payoff;
        }
        Ok(sum * spacing)
    }

    /// Returns the total deviation of the second forward, that of the first forward with it, and
    /// the volatility of the first forward given the second.
    fn deviations(&self) -> (f64, f64, f64) {
        let root = self.time_to_maturity.sqrt();
        let shared = self.correlation * (self.volatility1 * root);
        let unshared =
            self.volatility1 * ((1.0 - self.correlation) * (1.0 + self.correlation)).sqrt();
        (self.volatility2 * root, shared, unshared)
    }

    /// Returns the largest deviate of the quadrature, and the number of its intervals.
    fn grid(&self) -> (f64, f64) {
        let (s2, shared, _) = self.deviations();
        // The deviates that matter for either forward as the unit of value.
        let reach = REACH + s2.max(shared.abs());
        (reach, (2.0 * reach / SPACING).ceil().min(MAX_POINTS))
    }

    /// Explains [`value`](Self::value).
    ///
    /// # Errors
    ///
    /// The errors of [`value`](Self::value).
    pub fn explain(&self) -> Result<Explanation> {
        let value = self.value()?;
        let (reach, points) = self.grid();
        let (s2, shared, unshared) = self.deviations();
        let is_smooth = unshared * self.time_to_maturity.sqrt() > SMOOTH;
        let spacing = 2.0 * reach / points;
        // The trapezoidal rule at a corner of the integrand misses by the square of the spacing.
        let corner = if is_smooth { 0.0 } else { spacing * spacing * (s2 + shared.abs()) };
        let factor = discount(self.risk_free_rate, self.time_to_maturity);
        let scale = factor * (self.forward1 + self.forward2 + self.strike.abs());
        let error = ErrorStatement::estimated(
            ErrorKind::Discretisation,
            "price",
            value.approximation_error.abs() + scale * (1e-13 + corner),
            "distance of Kirk's approximation to the exact integral by quadrature, and the error \
             of the quadrature; `exact_price` has the latter alone",
        );
        let method = Method::new(
            "Kirk's approximation",
            "Kirk (1995), Correlation in the Energy Markets; Haug (2007), The Complete Guide to \
             Option Pricing Formulas, 5.7",
        );
        let explanation = Explanation::new(method, error).with_steps(points as u32);
        Ok(explanation.with_conventions([
            "Both forwards follow geometric Brownian motion without drift, of constant \
             volatilities and correlation.",
            "The second forward with the strike is taken as lognormal, of a constant volatility.",
            "The payment at expiry is discounted by a constant rate that compounds continuously.",
            "The option is exercised at expiry only; times are in years as given.",
            "The steps are the intervals of the trapezoidal rule for `exact_price`.",
        ]))
    }

    fn validate(&self) -> Result<()> {
        check::positive("forward1", self.forward1)?;
        check::positive("forward2", self.forward2)?;
        let is_above = self.strike.is_finite() && self.strike > -self.forward2;
        check::require(is_above, "strike", self.strike, "finite and above minus `forward2`")?;
        check::finite("risk_free_rate", self.risk_free_rate)?;
        check::not_negative("volatility1", self.volatility1)?;
        check::not_negative("volatility2", self.volatility2)?;
        let related = self.correlation.abs() <= 1.0;
        check::require(related, "correlation", self.correlation, "between -1 and 1")?;
        check::not_negative("time_to_maturity", self.time_to_maturity)
    }
}

/// The deviates beyond which the normal density is below 1e-18 of its largest value.
const REACH: f64 = 9.0;

/// The distance of two points of the quadrature.
const SPACING: f64 = 1.0 / 64.0;

/// The deviation of the first forward given the second, above which the quadrature has 13 digits.
const SMOOTH: f64 = 0.05;

/// The largest number of intervals of the quadrature.
const MAX_POINTS: f64 = 10_000.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::margrabe::ExchangeOption;
    use proptest::prelude::*;

    fn option(option_type: OptionType) -> SpreadOption {
        SpreadOption {
            option_type,
            forward1: 100.0,
            forward2: 95.0,
            strike: 5.0,
            risk_free_rate: 0.05,
            volatility1: 0.2,
            volatility2: 0.18,
            correlation: 0.7,
            time_to_maturity: 1.0,
        }
    }

    #[test]
    fn without_time_it_is_the_intrinsic_value() {
        let due = SpreadOption { time_to_maturity: 0.0, strike: 2.0, ..option(OptionType::Call) };
        let value = due.value().unwrap();
        assert_eq!(value.price, 3.0);
        assert!(value.approximation_error.abs() < 1e-12, "{value:?}");
    }

    #[test]
    fn a_strike_that_uses_up_the_second_forward_is_refused() {
        let refused =
            SpreadOption { strike: -95.0, ..option(OptionType::Put) }.value().unwrap_err();
        assert_eq!((refused.code(), refused.argument()), ("domain", Some("strike")));
    }

    proptest! {
        #[test]
        fn without_a_strike_it_is_an_exchange_option(
            forward1 in 50.0..150.0_f64, correlation in -0.95..0.95_f64, time in 0.1..5.0_f64,
        ) {
            let spread = SpreadOption {
                forward1, strike: 0.0, correlation, time_to_maturity: time, ..option(OptionType::Call)
            };
            let exchange = ExchangeOption {
                spot1: forward1, spot2: 95.0, dividend_yield1: 0.05, dividend_yield2: 0.05,
                volatility1: 0.2, volatility2: 0.18, correlation, time_to_maturity: time,
            };
            let (found, expected) = (spread.value().unwrap(), exchange.prices().unwrap().call);
            prop_assert!((found.price - expected).abs() <= 1e-13 * forward1, "{found:?} {expected}");
            prop_assert!((found.exact_price - expected).abs() <= 1e-12 * forward1, "{found:?}");
        }

        #[test]
        fn a_call_less_a_put_is_the_forward_spread(
            forward1 in 50.0..150.0_f64, strike in -20.0..20.0_f64, correlation in -0.95..0.95_f64,
        ) {
            let of = |option_type| {
                SpreadOption { forward1, strike, correlation, ..option(option_type) }.value().unwrap()
            };
            let (call, put) = (of(OptionType::Call), of(OptionType::Put));
            let expected = (forward1 - 95.0 - strike) * discount(0.05, 1.0);
            prop_assert!((call.price - put.price - expected).abs() <= 1e-12 * forward1);
            prop_assert!((call.exact_price - put.exact_price - expected).abs() <= 1e-12 * forward1);
        }
    }
}

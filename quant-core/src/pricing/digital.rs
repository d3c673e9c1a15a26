//! Digital European options: a fixed payment (cash-or-nothing), or the underlying (asset-or-nothing),
//! where the option ends in the money.
//!
//! The two halves of the formula of Black, Scholes and Merton, with its accuracy. Not modelled: smiles,
//! to whose slope digital options are exposed.

use super::black_scholes::{EuropeanOption, MODEL, OptionType};
use super::exchange::{Exchange, Leg};
use super::greeks::UNITS;
use crate::arithmetic::double_double::DoubleDouble;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// The values of both digital options, with the derivatives of the one that pays 1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Digital {
    /// Present value of 1 unit of money where the option ends in the money.
    pub cash_or_nothing: f64,
    /// Present value of the underlying where the option ends in the money.
    pub asset_or_nothing: f64,
    /// `∂D/∂S`, with D the value of 1 unit of money.
    pub delta: f64,
    /// `∂²D/∂S²`, per unit of the spot squared.
    pub gamma: f64,
    /// `∂D/∂σ`, per unit of volatility.
    pub vega: f64,
    /// `∂D/∂t`, per year that passes.
    pub theta: f64,
    /// `∂D/∂r`, per unit of the riskless rate.
    pub rho: f64,
    /// `∂D/∂q`, per unit of the dividend yield.
    pub epsilon: f64,
}

impl EuropeanOption {
    /// Returns the values of the digital options with this strike: a call pays above the strike, a put
    /// below.
    ///
    /// ```text
    /// D = e^{−rT} Φ(φ d₂)             A = S e^{−qT} Φ(φ d₁)        n = e^{−rT} φ(d₂)
    /// delta = φn/Ss                   vega = −φn d₁/σ              rho = −TD + φn√T/σ
    /// gamma = −φn d₁/S²s²             theta = rD − φn·((r − q)/s − d₁/2T)
    /// epsilon = −φn√T/σ
    /// ```
    ///
    /// where D pays 1 unit of money and A the underlying, s is σ√T, φ(d) is the normal density, and φ
    /// before a term is +1 for a call and −1 for a put. Where S, K, σ or T is zero they are the
    /// limits.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a negative spot, strike, volatility or time, or any number that is not
    /// finite; [`Error::Conflict`] where σ or T is zero while the forward is at the strike, since the
    /// payment is then undecided; [`Error::Overflow`] where a result exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::{EuropeanOption, OptionType};
    ///
    /// let put = EuropeanOption {
    ///     option_type: OptionType::Put,
    ///     spot: 100.0,
    ///     strike: 80.0,
    ///     risk_free_rate: 0.06,
    ///     dividend_yield: 0.06,
    ///     volatility: 0.35,
    ///     time_to_maturity: 0.75,
    /// };
    /// assert!((10.0 * put.digital()?.cash_or_nothing - 2.6710).abs() < 5e-5);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Reiner and Rubinstein (1991), "Unscrambling the Binary Code"; the example is in Haug (2007),
    /// *The Complete Guide to Option Pricing Formulas*, 4.19.2.
    pub fn digital(&self) -> Result<Digital> {
        self.validate()?;
        let deviation = DoubleDouble::from(self.time_to_maturity).sqrt().times(self.volatility);
        let is_certain = deviation.high == 0.0 || self.spot == 0.0 || self.strike == 0.0;
        let digital = if is_certain { self.certain()? } else { self.uncertain(deviation) };
        Ok(Digital {
            cash_or_nothing: check::result("risk_free_rate", digital.cash_or_nothing)?,
            asset_or_nothing: check::result("spot", digital.asset_or_nothing)?,
            delta: check::result("spot", digital.delta)?,
            gamma: check::result("spot", digital.gamma)?,
            vega: check::result("volatility", digital.vega)?,
            theta: check::result("time_to_maturity", digital.theta)?,
            rho: check::result("risk_free_rate", digital.rho)?,
            epsilon: check::result("dividend_yield", digital.epsilon)?,
        })
    }

    /// Explains [`digital`](Self::digital).
    ///
    /// # Errors
    ///
    /// The errors of [`digital`](Self::digital).
    pub fn explain_digital(&self) -> Result<Explanation> {
        self.digital()?;
        let method = Method::new(
            "formula of Reiner and Rubinstein for binary options",
            "Reiner and Rubinstein (1991), Unscrambling the Binary Code",
        );
        let error = ErrorStatement::rounding(
            "every field; theta and rho relative to their largest term",
            1e-14,
            "largest relative error against 400 digits, values from 1e-250",
        );
        let paid = [
            "The payment is 1 unit of money, or the underlying, at expiry.",
            "No smile: the slope of the volatility by the strike adds to the value in the market.",
        ];
        let explanation = Explanation::new(method, error).with_conventions(MODEL);
        Ok(explanation.with_conventions(paid).with_conventions(UNITS))
    }

    /// The values of positive amounts under a positive deviation.
    fn uncertain(&self, deviation: DoubleDouble) -> Digital {
        let (rate, yielded) = (self.risk_free_rate, self.dividend_yield);
        let (time, volatility) = (self.time_to_maturity, self.volatility);
        let asset = Leg::new(self.spot, yielded, time);
        let cash = Leg::new(self.strike, rate, time);
        let call = Exchange::precise(asset, cash, deviation);
        let (sign, asset, cash) = match self.option_type {
            OptionType::Call => {
                let (asset, cash) = call.exercised_legs();
                (1.0, asset, cash)
            }
            OptionType::Put => {
                let (cash, asset) = call.reversed().exercised_legs();
                (-1.0, asset, cash)
            }
        };
        let n = sign * call.density() / self.strike;
        // Without a density d₁ and the pull only multiply zero, and may be infinite.
        let d1 = if n == 0.0 { 0.0 } else { call.distances().0 };
        let (s, value) = (deviation.high, cash / self.strike);
        let pull = if n == 0.0 { 0.0 } else { (rate - yielded) / s };
        let by_carry = n * time.sqrt() / volatility;
        Digital {
            cash_or_nothing: value,
            asset_or_nothing: asset,
            delta: n / self.spot / s,
            gamma: -n / self.spot / s * d1 / self.spot / s,
            vega: -n * d1 / volatility,
            theta: rate * value - n * (pull - 0.5 * d1 / time),
            rho: by_carry - time * value,
            epsilon: -by_carry,
        }
    }

    /// Returns the values where the spot at expiry is known, for a volatility or time of zero.
    fn certain(&self) -> Result<Digital> {
        let (rate, time) = (self.risk_free_rate, self.time_to_maturity);
        let asset = Leg::new(self.spot, self.dividend_yield, time);
        let Some(is_above) = asset.exceeds(&Leg::new(self.strike, rate, time)) else {
            return Err(Error::Conflict {
                argument: "volatility",
                problem: "and time must be positive where the forward is at the strike",
            });
        };
        let pays = is_above == (self.option_type == OptionType::Call);
        let value = if pays { Leg::new(1.0, rate, time).value() } else { 0.0 };
        Ok(Digital {
            cash_or_nothing: value,
            asset_or_nothing: if pays { asset.value() } else { 0.0 },
            delta: 0.0,
            gamma: 0.0,
            vega: 0.0,
            theta: rate * value,
            rho: -time * value,
            epsilon: 0.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::black_scholes::{discount, option};
    use proptest::prelude::*;

    #[test]
    fn without_risk_it_pays_or_not() {
        let numbers = [110.0, 100.0, 0.05, 0.02, 0.0, 2.0];
        let call = option(OptionType::Call, numbers).digital().unwrap();
        assert_eq!(call.cash_or_nothing, discount(0.05, 2.0));
        assert_eq!(call.asset_or_nothing, 110.0 * discount(0.02, 2.0));
        let put = option(OptionType::Put, numbers).digital().unwrap();
        assert_eq!((put.cash_or_nothing, put.asset_or_nothing, put.theta), (0.0, 0.0, 0.0));
        let due = option(OptionType::Call, [100.0, 100.0, 0.05, 0.02, 0.2, 0.0]);
        assert_eq!(due.digital().unwrap_err().code(), "conflict");
    }

    proptest! {
        #[test]
        fn a_call_and_a_put_pay_together_for_certain_and_make_up_the_option(
            numbers in [50.0..200.0_f64, 50.0..200.0, -0.1..0.2, -0.1..0.2, 0.05..1.5, 0.05..10.0],
        ) {
            let [spot, strike, rate, dividend_yield, _, time] = numbers;
            let call = option(OptionType::Call, numbers).digital().unwrap();
            let put = option(OptionType::Put, numbers).digital().unwrap();
            let certain = call.cash_or_nothing + put.cash_or_nothing;
            prop_assert!((certain - discount(rate, time)).abs() <= 1e-15 * certain * 4.0);
            let asset = call.asset_or_nothing + put.asset_or_nothing;
            prop_assert!((asset - spot * discount(dividend_yield, time)).abs() <= 4e-15 * asset);
            let price = option(OptionType::Call, numbers).price().unwrap();
            let difference = call.asset_or_nothing - strike * call.cash_or_nothing;
            prop_assert!((difference - price).abs() <= 1e-14 * (spot + strike));
            prop_assert!((call.delta + put.delta).abs() <= 1e-15);
        }

        /// The differential equation of Black and Scholes.
        #[test]
        fn the_value_grows_at_the_riskless_rate(
            numbers in [50.0..200.0_f64, 50.0..200.0, -0.1..0.2, -0.1..0.2, 0.05..1.5, 0.05..10.0],
            is_call: bool,
        ) {
            let option_type = if is_call { OptionType::Call } else { OptionType::Put };
            let digital = option(option_type, numbers).digital().unwrap();
            let [spot, _, rate, dividend_yield, volatility, _] = numbers;
            let drift = (rate - dividend_yield) * spot * digital.delta;
            let convexity = 0.5 * volatility * volatility * spot * spot * digital.gamma;
            let rest = digital.theta + drift + convexity - rate * digital.cash_or_nothing;
            let scale = digital.theta.abs() + drift.abs() + convexity.abs() + 1.0;
            prop_assert!(rest.abs() <= 1e-14 * scale, "{rest:e}");
        }

        #[test]
        fn a_digital_is_the_slope_of_the_option_in_the_strike(
            numbers in [50.0..200.0_f64, 50.0..200.0, -0.1..0.2, -0.1..0.2, 0.05..1.5, 0.05..10.0],
            is_call: bool,
        ) {
            let option_type = if is_call { OptionType::Call } else { OptionType::Put };
            let option = option(option_type, numbers);
            let (digital, greeks) = (option.digital().unwrap(), option.greeks().unwrap());
            let slope = greeks.dual_delta.abs();
            prop_assert!((digital.cash_or_nothing - slope).abs() <= 1e-14 * slope);
            let rate = |risk_free_rate| EuropeanOption { risk_free_rate, ..option }.digital().unwrap();
            let (up, down) = (rate(numbers[2] + 1e-5), rate(numbers[2] - 1e-5));
            let rho = (up.cash_or_nothing - down.cash_or_nothing) / 2e-5;
            prop_assert!((digital.rho - rho).abs() <= 1e-5 * (1.0 + rho.abs()));
        }
    }
}

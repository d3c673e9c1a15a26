//! The derivatives of a European option's price.
//!
//! All of first and second order in the price of the underlying, the strike, the volatility and
//! time, and those in the rates, from one call. Not given: third orders and beyond.

use super::black_scholes::{EuropeanOption, MODEL, OptionType};
use super::exchange::{Exchange, Leg};
use crate::arithmetic::double_double::DoubleDouble;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// The units of all derivatives.
pub(super) const UNITS: [&str; 2] = [
    "Derivatives by a volatility or a rate are per 1.00: a hundredth is that per point.",
    "Derivatives by time are per year that passes: a 365th is that per calendar day.",
];

/// The fields of a tested relative bound of derivatives.
pub(super) const EVERY_GREEK: &str =
    "every field; theta, charm and veta relative to their largest term";

/// The derivatives of an option's price by its arguments.
///
/// Rates, yields and volatility count in units, so that 1 is 100 %: divide by 100 for a change per
/// point. Times are in years; the derivatives in time are those of its passing, against expiry.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Greeks {
    /// The present value, V; that of [`EuropeanOption::price`].
    pub price: f64,
    /// `∂V/∂S`, in units of the underlying.
    pub delta: f64,
    /// `∂²V/∂S²`, in delta per unit of money.
    pub gamma: f64,
    /// `∂V/∂σ`, in money per unit of volatility.
    pub vega: f64,
    /// `∂V/∂t`, in money per year that passes.
    pub theta: f64,
    /// `∂V/∂r`, in money per unit of the riskless rate.
    pub rho: f64,
    /// `∂V/∂q`, in money per unit of the dividend yield; also called psi or dividend rho.
    pub epsilon: f64,
    /// `∂V/∂K`, with K the strike.
    pub dual_delta: f64,
    /// `∂²V/∂K²`; with the riskless growth, the density of the price at expiry.
    pub dual_gamma: f64,
    /// `∂²V/∂S∂σ`, in delta per unit of volatility.
    pub vanna: f64,
    /// `∂²V/∂σ²`, in vega per unit of volatility; also called volga.
    pub vomma: f64,
    /// `∂²V/∂S∂t`, in delta per year that passes.
    pub charm: f64,
    /// `∂²V/∂σ∂t`, in vega per year that passes.
    pub veta: f64,
    /// `∂²V/∂r∂σ`, in rho per unit of volatility; also called rhova.
    pub vera: f64,
}

impl EuropeanOption {
    /// Returns the price and its derivatives of first and second order.
    ///
    /// ```text
    /// n = S e^{−qT} φ(d₁) = K e^{−rT} φ(d₂),  N₁ = S e^{−qT} Φ(θd₁),  N₂ = K e^{−rT} Φ(θd₂),  s = σ√T
    /// delta = θN₁/S             dual delta = −θN₂/K         theta = −nσ/2√T + θ(qN₁ − rN₂)
    /// gamma = n/S²s             dual gamma = n/K²s          charm = θqN₁/S − n/S·((r − q)/s − d₂/2T)
    /// vega  = n√T               vomma = n√T d₁d₂/σ          veta  = n√T (q + (r − q)d₁/s − (1 + d₁d₂)/2T)
    /// rho   = θTN₂              vanna = −n d₂/Sσ            vera  = −nT d₁/σ
    /// epsilon = −θTN₁
    /// ```
    ///
    /// where θ is +1 for a call and −1 for a put, and d₁, d₂ are those of the
    /// [price](Self::price). Each is exact to about 1e-14 of itself, also where it is 1e-280;
    /// theta, charm and veta of their largest term, as these may cancel.
    ///
    /// Where S, K, σ or T is zero they are the limits: those of the discounted forward in the
    /// money, and zeros out of it.
    ///
    /// # Errors
    ///
    /// Those of [`price`](Self::price); [`Error::Conflict`] where σ or T is zero while the forward
    /// is at the strike, and delta and gamma have no limit; [`Error::Overflow`] where a derivative
    /// exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::black_scholes::{EuropeanOption, OptionType};
    ///
    /// let call = EuropeanOption {
    ///     option_type: OptionType::Call,
    ///     spot: 49.0,
    ///     strike: 50.0,
    ///     risk_free_rate: 0.05,
    ///     dividend_yield: 0.0,
    ///     volatility: 0.20,
    ///     time_to_maturity: 0.3846,
    /// };
    /// let greeks = call.greeks()?;
    /// assert!((greeks.delta - 0.522).abs() < 5e-4);
    /// assert!((greeks.gamma - 0.066).abs() < 5e-4);
    /// assert!((greeks.vega - 12.1).abs() < 5e-2);
    /// assert!((greeks.theta - -4.31).abs() < 5e-3);
    /// assert!((greeks.rho - 8.91).abs() < 5e-3);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Haug (2007), *The Complete Guide to Option Pricing Formulas*, chapter 2; the example is in
    /// Hull, "Options, Futures, and Other Derivatives", the chapter on the Greek letters.
    pub fn greeks(&self) -> Result<Greeks> {
        let price = self.price()?;
        let deviation = DoubleDouble::from(self.time_to_maturity).sqrt().times(self.volatility);
        let greeks = if deviation.high == 0.0 || self.spot == 0.0 || self.strike == 0.0 {
            self.limits(price)?
        } else {
            self.greeks_under(deviation, price)
        };
        greeks.finite()
    }

    /// Explains [`greeks`](Self::greeks).
    ///
    /// # Errors
    ///
    /// The errors of [`greeks`](Self::greeks).
    pub fn explain_greeks(&self) -> Result<Explanation> {
        self.greeks()?;
        let method = Method::new(
            "analytic derivatives of the Black–Scholes–Merton formula",
            "Haug (2007), The Complete Guide to Option Pricing Formulas, chapter 2",
        );
        let error = ErrorStatement::rounding(
            EVERY_GREEK,
            2e-14,
            "largest relative error against 400 digits, prices from 1e-280, deviations from 1e-6",
        );
        Ok(Explanation::new(method, error).with_conventions(MODEL).with_conventions(UNITS))
    }

    /// The Greeks of positive amounts under a positive deviation.
    fn greeks_under(&self, deviation: DoubleDouble, price: f64) -> Greeks {
        let (time, volatility) = (self.time_to_maturity, self.volatility);
        let (rate, yielded) = (self.risk_free_rate, self.dividend_yield);
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
        let density = call.density();
        let (s, root) = (deviation.high, time.sqrt());
        // Without a density d₁, d₂ and the pull only multiply zero, and may be infinite.
        let (d1, d2) = if density == 0.0 { (0.0, 0.0) } else { call.distances() };
        let pull = if density == 0.0 { 0.0 } else { (rate - yielded) / s };
        let (per_spot, per_strike) = (density / self.spot, density / self.strike);
        let vega = density * root;
        Greeks {
            price,
            delta: sign * asset / self.spot,
            gamma: per_spot / s / self.spot,
            vega,
            theta: sign * (yielded * asset - rate * cash) - 0.5 * density * volatility / root,
            rho: sign * time * cash,
            epsilon: -sign * time * asset,
            dual_delta: -sign * cash / self.strike,
            dual_gamma: per_strike / s / self.strike,
            vanna: -per_spot * d2 / volatility,
            vomma: vega * d1 * d2 / volatility,
            charm: sign * yielded * (asset / self.spot) - per_spot * (pull - 0.5 * d2 / time),
            veta: vega * (yielded + pull * d1 - 0.5 * (1.0 + d1 * d2) / time),
            vera: -density * time * d1 / volatility,
        }
    }

    /// Returns the limits without uncertainty: those of a forward, or zeros.
    fn limits(&self, price: f64) -> Result<Greeks> {
        let (time, rate, yielded) =
            (self.time_to_maturity, self.risk_free_rate, self.dividend_yield);
        let asset = Leg::new(self.spot, yielded, time);
        let cash = Leg::new(self.strike, rate, time);
        let Some(is_call) = asset.exceeds(&cash) else {
            return Err(Error::Conflict {
                argument: "volatility",
                problem: "and time must be positive where the forward is at the strike",
            });
        };
        let mut greeks = Greeks::NONE;
        greeks.price = price;
        if is_call == (self.option_type == OptionType::Call) {
            let sign = if is_call { 1.0 } else { -1.0 };
            greeks.delta = sign * Leg::new(1.0, yielded, time).value();
            greeks.dual_delta = -sign * Leg::new(1.0, rate, time).value();
            let (asset, cash) = (self.spot * greeks.delta, -self.strike * greeks.dual_delta);
            greeks.theta = yielded * asset - rate * cash;
            (greeks.rho, greeks.epsilon) = (time * cash, -time * asset);
            greeks.charm = yielded * greeks.delta;
        }
        Ok(greeks)
    }
}

impl Greeks {
    /// The Greeks of an option that is worthless.
    const NONE: Self = Self {
        price: 0.0,
        delta: 0.0,
        gamma: 0.0,
        vega: 0.0,
        theta: 0.0,
        rho: 0.0,
        epsilon: 0.0,
        dual_delta: 0.0,
        dual_gamma: 0.0,
        vanna: 0.0,
        vomma: 0.0,
        charm: 0.0,
        veta: 0.0,
        vera: 0.0,
    };

    /// Refuses derivatives that are not finite, and makes −0 zero.
    fn finite(mut self) -> Result<Self> {
        for (argument, value) in [
            ("spot", &mut self.delta),
            ("spot", &mut self.gamma),
            ("volatility", &mut self.vega),
            ("time_to_maturity", &mut self.theta),
            ("risk_free_rate", &mut self.rho),
            ("dividend_yield", &mut self.epsilon),
            ("strike", &mut self.dual_delta),
            ("strike", &mut self.dual_gamma),
            ("volatility", &mut self.vanna),
            ("volatility", &mut self.vomma),
            ("time_to_maturity", &mut self.charm),
            ("time_to_maturity", &mut self.veta),
            ("volatility", &mut self.vera),
        ] {
            *value = check::result(argument, *value)?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::black_scholes::option;
    use proptest::prelude::*;

    #[test]
    fn without_risk_it_is_a_forward_or_nothing() {
        let numbers = [110.0, 100.0, 0.05, 0.02, 0.0, 2.0];
        let call = option(OptionType::Call, numbers).greeks().unwrap();
        let put = option(OptionType::Put, numbers).greeks().unwrap();
        assert_eq!(put, Greeks::NONE);
        let (asset, cash) = (libm::exp(-0.04), libm::exp(-0.1));
        assert!((call.delta - asset).abs() < 1e-15 && (call.dual_delta + cash).abs() < 1e-15);
        assert!((call.rho - 200.0 * cash).abs() < 1e-13);
        assert!((call.theta - (2.2 * asset - 5.0 * cash)).abs() < 1e-14);
        assert_eq!((call.gamma, call.vega, call.vomma), (0.0, 0.0, 0.0));
    }

    #[test]
    fn at_the_strike_without_time_there_is_no_limit() {
        let due = option(OptionType::Call, [100.0, 100.0, 0.05, 0.02, 0.2, 0.0]);
        assert_eq!(due.greeks().unwrap_err().code(), "conflict");
    }

    proptest! {
        /// Euler's theorem for a price that is homogeneous in spot and strike.
        #[test]
        fn spot_and_strike_make_up_the_price(
            numbers in [50.0..200.0_f64, 50.0..200.0, -0.1..0.2, -0.1..0.2, 0.01..1.5, 0.01..10.0],
            is_call: bool,
        ) {
            let option_type = if is_call { OptionType::Call } else { OptionType::Put };
            let greeks = option(option_type, numbers).greeks().unwrap();
            let [spot, strike, ..] = numbers;
            let sum = spot * greeks.delta + strike * greeks.dual_delta;
            prop_assert!((sum - greeks.price).abs() <= 1e-14 * (spot + strike));
            let curvature = spot * spot * greeks.gamma - strike * strike * greeks.dual_gamma;
            prop_assert!(curvature.abs() <= 1e-14 * spot * spot * greeks.gamma);
        }

        /// Black and Scholes' differential equation.
        #[test]
        fn the_price_grows_at_the_riskless_rate(
            numbers in [50.0..200.0_f64, 50.0..200.0, -0.1..0.2, -0.1..0.2, 0.01..1.5, 0.01..10.0],
            is_call: bool,
        ) {
            let option_type = if is_call { OptionType::Call } else { OptionType::Put };
            let greeks = option(option_type, numbers).greeks().unwrap();
            let [spot, _, rate, dividend_yield, volatility, _] = numbers;
            let drift = (rate - dividend_yield) * spot * greeks.delta;
            let convexity = 0.5 * volatility * volatility * spot * spot * greeks.gamma;
            let rest = greeks.theta + drift + convexity - rate * greeks.price;
            let scale = greeks.theta.abs() + drift.abs() + convexity + greeks.price + spot;
            prop_assert!(rest.abs() <= 1e-14 * scale, "{rest:e}");
        }
    }
}

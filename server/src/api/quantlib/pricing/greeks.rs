//! European options on an asset: Greeks and implied volatility.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    explanation::Explanation,
    pricing::{EuropeanOption, QuotedOption},
};

use super::{European, OptionType};
use crate::{
    api::quantlib::{Computation, RequestFor, SharedComputation},
    http::{Answer, Metered, Tag, without_negative_zero},
};

/// The REST endpoints of the Greeks of European options.
#[derive(Default)]
pub struct EuropeanGreeks;

#[OpenApi(prefix_path = "/quantlib/pricing/bs", tag = "Tag::Pricing")]
impl EuropeanGreeks {
    /// Compute the Greeks of a European option.
    ///
    /// The five derivatives that are quoted most, by Black–Scholes–Merton with a continuous dividend
    /// yield. They count in units: vega is per 1.00 of volatility, rho per 1.00 of the rate, theta
    /// per year.
    #[oai(path = "/greeks", method = "post", operation_id = "compute_european_greeks")]
    async fn greeks(&self, call: Metered<RequestFor<UsualGreeks>>) -> Result<Answer<QuotedGreeks>> {
        call.run().await
    }

    /// Compute all Greeks of a European option of first and second order.
    ///
    /// Black–Scholes–Merton with a continuous dividend yield. The Greeks count in units, and those
    /// that markets quote per point, per day or per basis point come in that unit too.
    #[oai(path = "/greeks-full", method = "post", operation_id = "compute_all_european_greeks")]
    async fn all_greeks(&self, call: Metered<RequestFor<AllGreeks>>) -> Result<Answer<FullGreeks>> {
        call.run().await
    }

    /// Find the volatility that the price of a European option implies.
    ///
    /// The inverse of Black–Scholes–Merton, to the last bits that the price determines. A price at
    /// the discounted intrinsic value implies a volatility of zero; a price that no volatility gives
    /// is refused.
    #[oai(path = "/implied-vol", method = "post", operation_id = "imply_european_volatility")]
    async fn implied(&self, call: Metered<QuotedEuropean>) -> Result<Answer<ImpliedVolatility>> {
        call.run().await
    }
}

/// The Greeks of a European option that are quoted most.
pub struct UsualGreeks;

impl SharedComputation for UsualGreeks {
    type Request = European;
    type Answer = QuotedGreeks;

    fn compute(request: &European) -> quant_core::Result<QuotedGreeks> {
        let option: EuropeanOption = (*request).into();
        let greeks = option.greeks()?;
        Ok(QuotedGreeks {
            price: greeks.price,
            delta: greeks.delta,
            gamma: greeks.gamma,
            vega: greeks.vega,
            theta: greeks.theta,
            rho: greeks.rho,
        })
    }

    fn explain(request: &European) -> quant_core::Result<Explanation> {
        let option: EuropeanOption = (*request).into();
        option.explain_greeks()
    }
}

/// The price of a European option and the derivatives that are quoted most.
#[derive(Clone, Debug, Object)]
#[oai(rename = "EuropeanGreeks")]
pub struct QuotedGreeks {
    /// Present value, in the currency of the spot price.
    pub price: f64,
    /// Change of the price per unit of the spot price.
    pub delta: f64,
    /// Change of delta per unit of the spot price.
    pub gamma: f64,
    /// Change of the price per 1.00 of volatility; a hundredth is that per point.
    pub vega: f64,
    /// Change of the price per year that passes.
    pub theta: f64,
    /// Change of the price per 1.00 of the riskless rate; a hundredth is that per point.
    pub rho: f64,
}

/// All Greeks of a European option.
pub struct AllGreeks;

impl SharedComputation for AllGreeks {
    type Request = European;
    type Answer = FullGreeks;

    fn compute(request: &European) -> quant_core::Result<FullGreeks> {
        let option: EuropeanOption = (*request).into();
        let greeks = option.greeks()?;
        let elasticity = greeks.delta * option.spot / greeks.price;
        Ok(FullGreeks {
            price: greeks.price,
            delta: greeks.delta,
            gamma: greeks.gamma,
            vega: greeks.vega,
            theta: greeks.theta,
            rho: greeks.rho,
            epsilon: greeks.epsilon,
            dual_delta: greeks.dual_delta,
            dual_gamma: greeks.dual_gamma,
            vanna: greeks.vanna,
            vomma: greeks.vomma,
            charm: greeks.charm,
            veta: greeks.veta,
            vera: greeks.vera,
            elasticity: elasticity.is_finite().then_some(elasticity),
            vega_per_point: greeks.vega / 100.0,
            theta_per_day: greeks.theta / 365.0,
            rho_per_basis_point: greeks.rho / 10_000.0,
        })
    }

    fn explain(request: &European) -> quant_core::Result<Explanation> {
        let option: EuropeanOption = (*request).into();
        option.explain_greeks()
    }
}

/// The price of a European option and all its derivatives of first and second order.
#[derive(Clone, Debug, Object)]
#[oai(rename = "AllEuropeanGreeks")]
pub struct FullGreeks {
    /// Present value, in the currency of the spot price.
    pub price: f64,
    /// Change of the price per unit of the spot price.
    pub delta: f64,
    /// Change of delta per unit of the spot price.
    pub gamma: f64,
    /// Change of the price per 1.00 of volatility.
    pub vega: f64,
    /// Change of the price per year that passes.
    pub theta: f64,
    /// Change of the price per 1.00 of the riskless rate.
    pub rho: f64,
    /// Change of the price per 1.00 of the dividend yield; also called psi.
    pub epsilon: f64,
    /// Change of the price per unit of the strike.
    pub dual_delta: f64,
    /// Second derivative of the price by the strike.
    pub dual_gamma: f64,
    /// Change of delta per 1.00 of volatility.
    pub vanna: f64,
    /// Change of vega per 1.00 of volatility; also called volga.
    pub vomma: f64,
    /// Change of delta per year that passes.
    pub charm: f64,
    /// Change of vega per year that passes.
    pub veta: f64,
    /// Change of rho per 1.00 of volatility; also called rhova.
    pub vera: f64,
    /// Relative change of the price per relative change of the spot price, also called lambda; absent
    /// where the price is zero.
    #[oai(skip_serializing_if_is_none)]
    pub elasticity: Option<f64>,
    /// Vega per percentage point of volatility.
    pub vega_per_point: f64,
    /// Theta per calendar day, a 365th of a year.
    pub theta_per_day: f64,
    /// Rho per basis point of the riskless rate.
    pub rho_per_basis_point: f64,
}

/// A European option whose price is known and whose volatility is not.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "QuotedEuropeanOptionRequest", remote = "QuotedOption", example)]
pub struct QuotedEuropean {
    /// Price of the option today, in the currency of the spot price.
    #[oai(rename = "market_price")]
    pub price: f64,
    /// Price of the underlying today; above zero.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub spot: f64,
    /// Price at which the right may be used; above zero.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub strike: f64,
    /// Riskless rate, an annual decimal, continuously compounded; of any sign.
    pub risk_free_rate: f64,
    /// Dividend yield, an annual decimal, continuously compounded.
    #[oai(default)]
    pub dividend_yield: f64,
    /// Time until the right may be used, in years; above zero.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub time_to_maturity: f64,
    /// The right of the holder: to buy or to sell.
    #[oai(default)]
    pub option_type: OptionType,
}

/// The volatility that an option's price implies.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ImpliedVolatility")]
pub struct ImpliedVolatility {
    /// The volatility, annual: a decimal for a lognormal model, in the unit of the forward for a
    /// normal one.
    pub implied_volatility: f64,
    /// The same volatility.
    pub iv: f64,
    /// Value of exercising the discounted forward, the least that the price can be.
    pub intrinsic_value: f64,
    /// The market price less the intrinsic value.
    pub time_value: f64,
    /// Change of the price per unit of this volatility; absent where the volatility is zero.
    #[oai(skip_serializing_if_is_none)]
    pub vega: Option<f64>,
}

impl ImpliedVolatility {
    /// The answer for a price, with the least price and the vega at the volatility.
    pub(super) fn new(volatility: f64, price: f64, least: f64, vega: Option<f64>) -> Self {
        Self {
            implied_volatility: volatility,
            iv: volatility,
            intrinsic_value: least,
            // Both are rounded, so that the difference may be below zero.
            time_value: without_negative_zero((price - least).max(0.0)),
            vega: vega.filter(|_| volatility > 0.0),
        }
    }
}

impl Computation for QuotedEuropean {
    type Answer = ImpliedVolatility;

    fn compute(&self) -> quant_core::Result<ImpliedVolatility> {
        let quoted: QuotedOption = (*self).into();
        let volatility = quoted.implied_volatility()?;
        let at = |volatility| EuropeanOption {
            option_type: quoted.option_type,
            spot: quoted.spot,
            strike: quoted.strike,
            risk_free_rate: quoted.risk_free_rate,
            dividend_yield: quoted.dividend_yield,
            volatility,
            time_to_maturity: quoted.time_to_maturity,
        };
        let vega = at(volatility).greeks().ok().map(|greeks| greeks.vega);
        Ok(ImpliedVolatility::new(volatility, self.price, at(0.0).price()?, vega))
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let option: QuotedOption = (*self).into();
        option.explain()
    }

    fn wire_name(argument: &'static str) -> &'static str {
        quoted_name(argument)
    }
}

impl Example for QuotedEuropean {
    fn example() -> Self {
        Self {
            price: 8.0,
            spot: 100.0,
            strike: 105.0,
            risk_free_rate: 0.05,
            dividend_yield: 0.0,
            time_to_maturity: 1.0,
            option_type: OptionType::Call,
        }
    }
}

/// Returns the wire name of an argument of an option whose price is sent.
pub(super) fn quoted_name(argument: &'static str) -> &'static str {
    if argument == "price" { "market_price" } else { argument }
}

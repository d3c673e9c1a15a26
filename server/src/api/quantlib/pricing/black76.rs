//! Options on forwards and futures by Black's formula.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{explanation::Explanation, pricing};

use super::{
    OptionType,
    greeks::{ImpliedVolatility, quoted_name},
};
use crate::{
    api::quantlib::{RequestFor, SharedComputation},
    http::{Answer, Metered, Tag},
};

/// The REST endpoints of options on forwards.
#[derive(Default)]
pub struct Black76;

#[OpenApi(prefix_path = "/quantlib/pricing/black76", tag = "Tag::Pricing")]
impl Black76 {
    /// Price a European option on a forward or a future.
    ///
    /// Black's formula of 1976, discounted from expiry. Where volatility or time is zero the value is
    /// the discounted intrinsic value.
    #[oai(path = "/price", method = "post", operation_id = "price_forward_option")]
    async fn price(&self, call: Metered<RequestFor<Black76Price>>) -> Result<Answer<ForwardPrice>> {
        call.run().await
    }

    /// Compute all Greeks of an option on a forward or a future.
    ///
    /// All derivatives of first and second order of Black's formula. Rho and theta are those at a
    /// constant forward.
    #[oai(path = "/greeks", method = "post", operation_id = "compute_forward_greeks")]
    async fn greeks(
        &self,
        call: Metered<RequestFor<Black76Greeks>>,
    ) -> Result<Answer<ForwardGreeks>> {
        call.run().await
    }

    /// Find the volatility that the price of an option on a forward implies.
    ///
    /// The inverse of Black's formula, to the last bits that the price determines. A price that no
    /// volatility gives is refused.
    #[oai(path = "/implied-vol", method = "post", operation_id = "imply_forward_volatility")]
    async fn implied(
        &self,
        call: Metered<RequestFor<Black76Volatility>>,
    ) -> Result<Answer<ImpliedVolatility>> {
        call.run().await
    }
}

/// An option on a forward and the market it is priced in.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "ForwardOptionRequest", remote = "pricing::ForwardOption", example)]
pub struct Forward {
    /// Forward or futures price for the day of expiry; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub forward: f64,
    /// Price at which the right may be used; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub strike: f64,
    /// Riskless rate, an annual decimal, continuously compounded; of any sign.
    pub risk_free_rate: f64,
    /// Standard deviation of annual log returns of the forward; 0.2 is 20 %; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub volatility: f64,
    /// Time until expiry and payment, in years; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub time_to_maturity: f64,
    /// The right of the holder: to buy or to sell.
    #[oai(default)]
    pub option_type: OptionType,
}

impl Example for Forward {
    fn example() -> Self {
        Self {
            forward: 100.0,
            strike: 105.0,
            risk_free_rate: 0.05,
            volatility: 0.2,
            time_to_maturity: 1.0,
            option_type: OptionType::Call,
        }
    }
}

/// The price of an option on a forward.
pub struct Black76Price;

impl SharedComputation for Black76Price {
    type Request = Forward;
    type Answer = ForwardPrice;

    fn compute(request: &Forward) -> quant_core::Result<ForwardPrice> {
        let option: pricing::ForwardOption = (*request).into();
        Ok(ForwardPrice { price: option.price()?, option_type: request.option_type })
    }

    fn explain(request: &Forward) -> quant_core::Result<Explanation> {
        let option: pricing::ForwardOption = (*request).into();
        option.explain_price()
    }
}

/// The price of an option on a forward.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ForwardOptionPrice")]
pub struct ForwardPrice {
    /// Present value, in the currency of the forward price.
    pub price: f64,
    /// The right of the holder: to buy or to sell.
    pub option_type: OptionType,
}

/// The Greeks of an option on a forward.
pub struct Black76Greeks;

impl SharedComputation for Black76Greeks {
    type Request = Forward;
    type Answer = ForwardGreeks;

    fn compute(request: &Forward) -> quant_core::Result<ForwardGreeks> {
        let option: pricing::ForwardOption = (*request).into();
        Ok(option.greeks()?.into())
    }

    fn explain(request: &Forward) -> quant_core::Result<Explanation> {
        let option: pricing::ForwardOption = (*request).into();
        option.explain_greeks()
    }
}

/// The price of an option on a forward and all its derivatives of first and second order.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ForwardOptionGreeks", remote = "pricing::ForwardGreeks")]
pub struct ForwardGreeks {
    /// Present value, in the currency of the forward price.
    pub price: f64,
    /// Change of the price per unit of the forward price.
    pub delta: f64,
    /// Change of delta per unit of the forward price.
    pub gamma: f64,
    /// Change of the price per unit of the volatility: 1.00 of a lognormal one, 1 of the forward's
    /// unit of a normal one.
    pub vega: f64,
    /// Change of the price per year that passes.
    pub theta: f64,
    /// Change of the price per 1.00 of the riskless rate, at a constant forward.
    pub rho: f64,
    /// Change of the price per unit of the strike.
    pub dual_delta: f64,
    /// Second derivative of the price by the strike.
    pub dual_gamma: f64,
    /// Change of delta per unit of the volatility.
    pub vanna: f64,
    /// Change of vega per unit of the volatility; also called volga.
    pub vomma: f64,
    /// Change of delta per year that passes.
    pub charm: f64,
    /// Change of vega per year that passes.
    pub veta: f64,
    /// Change of rho per unit of the volatility.
    pub vera: f64,
}

/// The volatility that the price of an option on a forward implies.
pub struct Black76Volatility;

impl SharedComputation for Black76Volatility {
    type Request = QuotedForward;
    type Answer = ImpliedVolatility;

    fn compute(request: &QuotedForward) -> quant_core::Result<ImpliedVolatility> {
        let price = request.market_price;
        let at = |volatility| request.lognormal(volatility);
        let volatility = at(0.0).implied_volatility(price)?;
        let vega = at(volatility).greeks().ok().map(|greeks| greeks.vega);
        Ok(ImpliedVolatility::new(volatility, price, at(0.0).price()?, vega))
    }

    fn explain(request: &QuotedForward) -> quant_core::Result<Explanation> {
        request.lognormal(0.0).explain_implied_volatility(request.market_price)
    }

    fn wire_name(argument: &'static str) -> &'static str {
        quoted_name(argument)
    }
}

/// An option on a forward whose price is known and whose volatility is not.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "QuotedForwardOptionRequest", example)]
pub struct QuotedForward {
    /// Price of the option today, in the currency of the forward price.
    pub market_price: f64,
    /// Forward or futures price for the day of expiry; above zero for a lognormal model, of any sign
    /// for a normal one.
    pub forward: f64,
    /// Price at which the right may be used; above zero for a lognormal model, of any sign for a
    /// normal one.
    pub strike: f64,
    /// Riskless rate, an annual decimal, continuously compounded; of any sign.
    pub risk_free_rate: f64,
    /// Time until the right may be used, in years; above zero.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub time_to_maturity: f64,
    /// The right of the holder: to buy or to sell.
    #[oai(default)]
    pub option_type: OptionType,
}

impl QuotedForward {
    /// Returns the option with a volatility, in the lognormal model.
    fn lognormal(&self, volatility: f64) -> pricing::ForwardOption {
        pricing::ForwardOption {
            option_type: self.option_type.into(),
            forward: self.forward,
            strike: self.strike,
            risk_free_rate: self.risk_free_rate,
            volatility,
            time_to_maturity: self.time_to_maturity,
        }
    }
}

impl Example for QuotedForward {
    fn example() -> Self {
        Self {
            market_price: 8.0,
            forward: 100.0,
            strike: 105.0,
            risk_free_rate: 0.05,
            time_to_maturity: 1.0,
            option_type: OptionType::Call,
        }
    }
}

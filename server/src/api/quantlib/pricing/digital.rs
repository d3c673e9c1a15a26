//! Digital European options.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    explanation::Explanation,
    pricing::{EuropeanOption, OptionType},
};

use crate::{
    api::quantlib::{RequestFor, SharedComputation},
    http::{Answer, Metered, Tag},
};

/// The REST endpoints of digital options.
#[derive(Default)]
pub struct DigitalOptions;

#[OpenApi(prefix_path = "/quantlib/pricing/bs", tag = "Tag::Pricing")]
impl DigitalOptions {
    /// Price a digital call.
    ///
    /// Pays 1 where the underlying ends above the strike, by Black–Scholes–Merton; beside it the option
    /// that pays the underlying there.
    #[oai(path = "/digital-call", method = "post", operation_id = "price_digital_call")]
    async fn call(&self, call: Metered<RequestFor<DigitalCall>>) -> Result<Answer<DigitalPrice>> {
        call.run().await
    }

    /// Price a digital put.
    ///
    /// Pays 1 where the underlying ends below the strike, by Black–Scholes–Merton; beside it the option
    /// that pays the underlying there.
    #[oai(path = "/digital-put", method = "post", operation_id = "price_digital_put")]
    async fn put(&self, call: Metered<RequestFor<DigitalPut>>) -> Result<Answer<DigitalPrice>> {
        call.run().await
    }
}

/// A digital option and the market it is priced in.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "DigitalOptionRequest", example)]
pub struct Digital {
    /// Price of the underlying today; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub spot: f64,
    /// Price that decides the payment at expiry; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub strike: f64,
    /// Riskless rate, an annual decimal, continuously compounded; of any sign.
    pub risk_free_rate: f64,
    /// Dividend yield, an annual decimal, continuously compounded.
    #[oai(default)]
    pub dividend_yield: f64,
    /// Standard deviation of annual log returns; 0.2 is 20 %; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub volatility: f64,
    /// Time until expiry, in years; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub time_to_maturity: f64,
}

impl Digital {
    fn option(&self, option_type: OptionType) -> EuropeanOption {
        EuropeanOption {
            option_type,
            spot: self.spot,
            strike: self.strike,
            risk_free_rate: self.risk_free_rate,
            dividend_yield: self.dividend_yield,
            volatility: self.volatility,
            time_to_maturity: self.time_to_maturity,
        }
    }

    fn price(&self, option_type: OptionType) -> quant_core::Result<DigitalPrice> {
        let digital = self.option(option_type).digital()?;
        Ok(DigitalPrice {
            price: digital.cash_or_nothing,
            asset_or_nothing: digital.asset_or_nothing,
            delta: digital.delta,
            gamma: digital.gamma,
            vega: digital.vega,
            theta: digital.theta,
            rho: digital.rho,
            epsilon: digital.epsilon,
        })
    }
}

impl Example for Digital {
    fn example() -> Self {
        Self {
            spot: 100.0,
            strike: 105.0,
            risk_free_rate: 0.05,
            dividend_yield: 0.0,
            volatility: 0.2,
            time_to_maturity: 1.0,
        }
    }
}

/// The price of a digital call.
pub struct DigitalCall;

impl SharedComputation for DigitalCall {
    type Request = Digital;
    type Answer = DigitalPrice;

    fn compute(request: &Digital) -> quant_core::Result<DigitalPrice> {
        request.price(OptionType::Call)
    }

    fn explain(request: &Digital) -> quant_core::Result<Explanation> {
        request.option(OptionType::Call).explain_digital()
    }
}

/// The price of a digital put.
pub struct DigitalPut;

impl SharedComputation for DigitalPut {
    type Request = Digital;
    type Answer = DigitalPrice;

    fn compute(request: &Digital) -> quant_core::Result<DigitalPrice> {
        request.price(OptionType::Put)
    }

    fn explain(request: &Digital) -> quant_core::Result<Explanation> {
        request.option(OptionType::Put).explain_digital()
    }
}

/// The values of a digital option.
#[derive(Clone, Debug, Object)]
#[oai(rename = "DigitalOptionPrice")]
pub struct DigitalPrice {
    /// Present value of 1 where the option ends in the money: cash or nothing.
    pub price: f64,
    /// Present value of the underlying where the option ends in the money.
    pub asset_or_nothing: f64,
    /// Change of `price` per unit of the spot price.
    pub delta: f64,
    /// Change of delta per unit of the spot price.
    pub gamma: f64,
    /// Change of `price` per 1.00 of volatility; a hundredth is that per point.
    pub vega: f64,
    /// Change of `price` per year that passes.
    pub theta: f64,
    /// Change of `price` per 1.00 of the riskless rate.
    pub rho: f64,
    /// Change of `price` per 1.00 of the dividend yield.
    pub epsilon: f64,
}

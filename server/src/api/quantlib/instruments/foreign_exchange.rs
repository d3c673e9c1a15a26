//! Options on exchange rates.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::pricing::CurrencyOption;

use crate::{
    api::quantlib::{Computation, pricing::OptionType},
    http::{Answer, Metered, Tag},
};

/// The REST endpoints of currency options.
#[derive(Default)]
pub struct ForeignExchange;

#[OpenApi(prefix_path = "/quantlib/instruments/fx", tag = "Tag::Instruments")]
impl ForeignExchange {
    /// Price a European option on an exchange rate.
    ///
    /// Garman and Kohlhagen's formula, with all Greeks and the deltas that the market quotes. Amounts
    /// are in domestic currency per unit of foreign currency.
    #[oai(path = "/garman-kohlhagen", method = "post", operation_id = "price_currency_option")]
    async fn currency_option(&self, call: Metered<Currency>) -> Result<Answer<CurrencyPrice>> {
        call.run().await
    }
}

/// An option on an exchange rate and the market it is priced in.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "CurrencyOptionRequest", remote = "CurrencyOption", example)]
pub struct Currency {
    /// Price of a unit of the foreign currency today; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub spot: f64,
    /// Price at which the right may be used; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub strike: f64,
    /// Domestic riskless rate, an annual decimal, continuously compounded; of any sign.
    pub domestic_rate: f64,
    /// Foreign riskless rate, an annual decimal, continuously compounded; of any sign.
    pub foreign_rate: f64,
    /// Standard deviation of annual log returns of the exchange rate; 0.2 is 20 %; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub volatility: f64,
    /// Time until the right may be used, in years; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub time_to_expiry: f64,
    /// Whether the holder may buy or sell the foreign currency.
    #[oai(default)]
    pub option_type: OptionType,
}

/// The price of an option on an exchange rate.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CurrencyOptionPrice")]
pub struct CurrencyPrice {
    /// Present value, in domestic currency per unit of foreign currency.
    pub price: f64,
    /// Whether the holder may buy or sell the foreign currency.
    pub option_type: OptionType,
    /// Forward exchange rate for the time of expiry.
    pub forward: f64,
    /// The derivatives; absent where volatility or time is zero and the forward is the strike, and
    /// where the spot price is zero.
    #[oai(skip_serializing_if_is_none)]
    pub greeks: Option<CurrencyGreeks>,
}

/// The derivatives of a currency option's price.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CurrencyOptionGreeks")]
pub struct CurrencyGreeks {
    /// Spot delta: change of the price per unit of the spot price.
    pub delta: f64,
    /// Forward delta: units of a forward contract that hedge the option.
    pub forward_delta: f64,
    /// Spot delta less the premium in foreign currency, for a premium paid in foreign currency.
    pub premium_adjusted_delta: f64,
    /// Change of delta per unit of the spot price.
    pub gamma: f64,
    /// Change of the price per 1.00 of volatility; a hundredth is that per point.
    pub vega: f64,
    /// Change of the price per year that passes.
    pub theta: f64,
    /// Change of the price per 1.00 of the domestic rate.
    pub rho_domestic: f64,
    /// Change of the price per 1.00 of the foreign rate.
    pub rho_foreign: f64,
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
    /// Change of `rho_domestic` per 1.00 of volatility.
    pub vera: f64,
}

impl Computation for Currency {
    type Answer = CurrencyPrice;

    fn compute(&self) -> quant_core::Result<CurrencyPrice> {
        let option: CurrencyOption = (*self).into();
        let greeks = option.greeks().ok().map(|found| CurrencyGreeks {
            delta: found.greeks.delta,
            forward_delta: found.forward_delta,
            premium_adjusted_delta: found.premium_adjusted_delta,
            gamma: found.greeks.gamma,
            vega: found.greeks.vega,
            theta: found.greeks.theta,
            rho_domestic: found.greeks.rho,
            rho_foreign: found.greeks.epsilon,
            dual_delta: found.greeks.dual_delta,
            dual_gamma: found.greeks.dual_gamma,
            vanna: found.greeks.vanna,
            vomma: found.greeks.vomma,
            charm: found.greeks.charm,
            veta: found.greeks.veta,
            vera: found.greeks.vera,
        });
        let (price, forward) = (option.price()?, option.forward()?);
        Ok(CurrencyPrice { price, option_type: self.option_type, forward, greeks })
    }
}

impl Example for Currency {
    fn example() -> Self {
        Self {
            spot: 1.56,
            strike: 1.6,
            domestic_rate: 0.06,
            foreign_rate: 0.08,
            volatility: 0.12,
            time_to_expiry: 0.5,
            option_type: OptionType::Call,
        }
    }
}

//! Options and forwards on exchange rates.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{explanation::Explanation, instruments::CurrencyForward, pricing::CurrencyOption};

use crate::{
    api::quantlib::{Computation, curves::Compounding, pricing::OptionType},
    http::{Answer, Metered, Tag, json_string::Text},
};

/// The REST endpoints of currency options and forwards.
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

    /// Value a currency forward.
    ///
    /// The forward rate by covered interest parity, its points, and the value of the notional in
    /// both currencies; with `contract_rate` also that of the contract.
    #[oai(path = "/forward", method = "post", operation_id = "value_currency_forward")]
    async fn forward(&self, call: Metered<PairForward>) -> Result<Answer<PairForwardValue>> {
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
    /// The right of the holder: to buy or to sell the foreign currency.
    #[oai(default)]
    pub option_type: OptionType,
}

/// The price of an option on an exchange rate.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CurrencyOptionPrice")]
pub struct CurrencyPrice {
    /// Present value, in domestic currency per unit of foreign currency.
    pub price: f64,
    /// The right of the holder: to buy or to sell the foreign currency.
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

    fn explain(&self) -> quant_core::Result<Explanation> {
        let option: CurrencyOption = (*self).into();
        option.explain()
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

/// A forward contract on a currency, and its market.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CurrencyForwardRequest", example)]
pub struct PairForward {
    /// Price today of a unit of the base currency in the quote currency; above zero.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub spot_rate: f64,
    /// Riskless rate of the base currency, an annual decimal; from -2 to 2 (200 %).
    pub base_rate: f64,
    /// Riskless rate of the quote currency, an annual decimal; from -2 to 2 (200 %).
    pub quote_rate: f64,
    /// Time to the delivery in years; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub time_to_maturity: f64,
    /// Amount of the base currency that is bought; above zero.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub notional: f64,
    /// The base and the quote currency, as in `EURUSD` or `EUR/USD`.
    #[oai(default = "euro_in_dollars", validator(max_length = 7))]
    pub pair: Text,
    /// Compounding of both rates.
    #[oai(default = "continuous")]
    pub compounding: Compounding,
    /// Rate of a contract, above zero; where absent, the contract is at the forward rate.
    #[oai(nullable, skip_serializing_if_is_none, validator(minimum(value = "0", exclusive)))]
    pub contract_rate: Option<f64>,
}

/// The forward rate of a pair and the value of a contract.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CurrencyForwardValue")]
pub struct PairForwardValue {
    /// Price, agreed today, of a unit of the base currency at the delivery.
    pub forward_rate: f64,
    /// Forward rate less spot rate, in units of the rate.
    pub forward_points: f64,
    /// Forward points in pips of `pip_size`.
    pub forward_points_pips: f64,
    /// Size of a pip: 0.01 for a price in yen, else 0.0001.
    pub pip_size: f64,
    /// The pair in capitals.
    pub pair: String,
    /// The currency that is bought.
    pub base_currency: String,
    /// The currency of the price.
    pub quote_currency: String,
    /// Compounding of both rates.
    pub compounding: Compounding,
    /// Value today of 1 of the base currency paid at the delivery.
    pub base_discount_factor: f64,
    /// Value today of 1 of the quote currency paid at the delivery.
    pub quote_discount_factor: f64,
    /// Amount of the quote currency for the notional at the forward rate.
    pub quote_amount: f64,
    /// Value today, in the base currency, of the notional paid at the delivery.
    pub base_present_value: f64,
    /// Value today, in the quote currency, of the notional paid at the delivery.
    pub quote_present_value: f64,
    /// Value today of the contract to the buyer of the base currency, in the quote currency; 0
    /// without `contract_rate`.
    pub npv: f64,
    /// The same in the base currency.
    pub npv_base: f64,
}

impl PairForward {
    /// Returns the contract of `quant-core`.
    fn forward(&self) -> quant_core::Result<CurrencyForward> {
        Ok(CurrencyForward {
            pair: self.pair.parse()?,
            spot_rate: self.spot_rate,
            base_rate: self.base_rate,
            quote_rate: self.quote_rate,
            compounding: self.compounding.into(),
            time_to_maturity: self.time_to_maturity,
            notional: self.notional,
            contract_rate: self.contract_rate,
        })
    }
}

impl Computation for PairForward {
    type Answer = PairForwardValue;

    fn compute(&self) -> quant_core::Result<PairForwardValue> {
        let forward = self.forward()?;
        let pair = forward.pair;
        let value = forward.value()?;
        Ok(PairForwardValue {
            forward_rate: value.forward_rate,
            forward_points: value.forward_points,
            forward_points_pips: value.forward_pips,
            pip_size: 1.0 / pair.pips(),
            pair: pair.to_string(),
            base_currency: pair.base(),
            quote_currency: pair.quote(),
            compounding: self.compounding,
            base_discount_factor: value.base_discount_factor,
            quote_discount_factor: value.quote_discount_factor,
            quote_amount: value.quote_amount,
            base_present_value: value.base_present_value,
            quote_present_value: value.quote_present_value,
            npv: value.npv_quote,
            npv_base: value.npv_base,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.forward()?.explain()
    }
}

fn euro_in_dollars() -> Text {
    "EURUSD".into()
}

fn continuous() -> Compounding {
    Compounding::Continuous
}

impl Example for PairForward {
    fn example() -> Self {
        Self {
            spot_rate: 1.1,
            base_rate: 0.03,
            quote_rate: 0.05,
            time_to_maturity: 1.0,
            notional: 1_000_000.0,
            pair: euro_in_dollars(),
            compounding: continuous(),
            contract_rate: None,
        }
    }
}

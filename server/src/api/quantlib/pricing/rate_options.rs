//! Caplets, floorlets and swaptions by Black's formula.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    Error,
    explanation::Explanation,
    pricing::{self, rate_option},
};

use super::OptionType;
use crate::{
    api::quantlib::{Computation, RequestFor, SharedComputation},
    http::{Answer, Metered, Tag},
};

/// The REST endpoints of options on interest rates.
#[derive(Default)]
pub struct RateOptions;

#[OpenApi(prefix_path = "/quantlib/pricing/black76", tag = "Tag::Pricing")]
impl RateOptions {
    /// Price a caplet.
    ///
    /// The right to be paid the excess of a simple forward rate over the strike for one period, fixed
    /// at its start and paid at its end, by Black's formula.
    #[oai(path = "/caplet", method = "post", operation_id = "price_caplet")]
    async fn caplet(&self, call: Metered<RequestFor<Caplet>>) -> Result<Answer<RateOptionPrice>> {
        call.run().await
    }

    /// Price a floorlet.
    ///
    /// The right to be paid the excess of the strike over a simple forward rate for one period, fixed
    /// at its start and paid at its end, by Black's formula.
    #[oai(path = "/floorlet", method = "post", operation_id = "price_floorlet")]
    async fn floorlet(
        &self,
        call: Metered<RequestFor<Floorlet>>,
    ) -> Result<Answer<RateOptionPrice>> {
        call.run().await
    }

    /// Price a European swaption.
    ///
    /// The right to enter a swap as payer or receiver of the strike, by Black's formula with the
    /// annuity of the fixed leg as the unit of value.
    #[oai(path = "/swaption", method = "post", operation_id = "price_swaption")]
    async fn swaption(&self, call: Metered<Swaption>) -> Result<Answer<RateOptionPrice>> {
        call.run().await
    }
}

/// A caplet or floorlet and the market it is priced in.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "CapletRequest", example)]
pub struct Period {
    /// Forward rate of the period, simple, an annual decimal; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub forward_rate: f64,
    /// Rate of the cap or floor, an annual decimal; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub strike: f64,
    /// Present value of 1 paid at the end of the period; above zero.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub discount_factor: f64,
    /// Standard deviation of annual log changes of the rate; 0.2 is 20 %; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub volatility: f64,
    /// Time until the rate is fixed and the period starts, in years; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub t_start: f64,
    /// Time until the period ends and is paid, in years; after `t_start`.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub t_end: f64,
    /// Amount on which interest is paid; zero or more.
    #[oai(default = "one", validator(minimum(value = "0")))]
    pub notional: f64,
}

fn one() -> f64 {
    1.0
}

impl Period {
    fn option(&self, option_type: pricing::OptionType) -> rate_option::Caplet {
        rate_option::Caplet {
            option_type,
            forward_rate: self.forward_rate,
            strike: self.strike,
            discount_factor: self.discount_factor,
            volatility: self.volatility,
            start_time: self.t_start,
            end_time: self.t_end,
            notional: self.notional,
        }
    }

    fn wire_name(argument: &'static str) -> &'static str {
        match argument {
            "start_time" => "t_start",
            "end_time" => "t_end",
            same => same,
        }
    }
}

impl Example for Period {
    fn example() -> Self {
        Self {
            forward_rate: 0.05,
            strike: 0.048,
            discount_factor: 0.95,
            volatility: 0.2,
            t_start: 1.0,
            t_end: 1.25,
            notional: 1e6,
        }
    }
}

/// The computation of the price of a caplet.
pub struct Caplet;

impl SharedComputation for Caplet {
    type Request = Period;
    type Answer = RateOptionPrice;

    fn compute(request: &Period) -> quant_core::Result<RateOptionPrice> {
        Ok(request.option(pricing::OptionType::Call).value()?.into())
    }

    fn explain(request: &Period) -> quant_core::Result<Explanation> {
        request.option(pricing::OptionType::Call).explain()
    }

    fn wire_name(argument: &'static str) -> &'static str {
        Period::wire_name(argument)
    }
}

/// The computation of the price of a floorlet.
pub struct Floorlet;

impl SharedComputation for Floorlet {
    type Request = Period;
    type Answer = RateOptionPrice;

    fn compute(request: &Period) -> quant_core::Result<RateOptionPrice> {
        Ok(request.option(pricing::OptionType::Put).value()?.into())
    }

    fn explain(request: &Period) -> quant_core::Result<Explanation> {
        request.option(pricing::OptionType::Put).explain()
    }

    fn wire_name(argument: &'static str) -> &'static str {
        Period::wire_name(argument)
    }
}

/// A swaption and the market it is priced in.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "SwaptionRequest", example)]
pub struct Swaption {
    /// Forward par rate of the swap, an annual decimal; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub forward_swap_rate: f64,
    /// Fixed rate of the swap, an annual decimal; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub strike: f64,
    /// Present value of 1 a year paid on the fixed leg's dates; above zero.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub annuity: f64,
    /// Standard deviation of annual log changes of the swap rate; 0.2 is 20 %; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub volatility: f64,
    /// Time until expiry, in years; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub t_expiry: f64,
    /// True: the right to pay the strike. False: the right to receive the strike. True where neither
    /// this field nor `option_type` is sent.
    #[oai(skip_serializing_if_is_none)]
    pub is_payer: Option<bool>,
    /// Another way to say the same: `call` is a payer, `put` a receiver. Refused where `is_payer` says
    /// otherwise.
    #[oai(skip_serializing_if_is_none)]
    pub option_type: Option<OptionType>,
    /// Amount on which interest is paid; zero or more.
    #[oai(default = "one", validator(minimum(value = "0")))]
    pub notional: f64,
}

impl Swaption {
    /// Returns the swaption, and refuses fields that contradict each other.
    fn option(&self) -> quant_core::Result<rate_option::Swaption> {
        let named = self.option_type.map(|option_type| option_type == OptionType::Call);
        if matches!((self.is_payer, named), (Some(is_payer), Some(is_call)) if is_payer != is_call)
        {
            let problem = "contradicts `is_payer`: a call is a payer swaption";
            return Err(Error::Conflict { argument: "option_type", problem });
        }
        let is_payer = self.is_payer.or(named).unwrap_or(true);
        Ok(rate_option::Swaption {
            option_type: if is_payer { OptionType::Call } else { OptionType::Put }.into(),
            forward_swap_rate: self.forward_swap_rate,
            strike: self.strike,
            annuity: self.annuity,
            volatility: self.volatility,
            time_to_expiry: self.t_expiry,
            notional: self.notional,
        })
    }
}

impl Computation for Swaption {
    type Answer = RateOptionPrice;

    fn compute(&self) -> quant_core::Result<RateOptionPrice> {
        Ok(self.option()?.value()?.into())
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.option()?.explain()
    }

    fn wire_name(argument: &'static str) -> &'static str {
        if argument == "time_to_expiry" { "t_expiry" } else { argument }
    }
}

impl Example for Swaption {
    fn example() -> Self {
        Self {
            forward_swap_rate: 0.05,
            strike: 0.055,
            annuity: 4.5,
            volatility: 0.2,
            t_expiry: 1.0,
            is_payer: Some(true),
            option_type: None,
            notional: 1e6,
        }
    }
}

/// The value of an option on an interest rate.
#[derive(Clone, Debug, Object)]
#[oai(rename = "RateOptionPrice")]
pub struct RateOptionPrice {
    /// Present value, in the currency of the notional.
    pub price: f64,
    /// Present value of a payment of the rate 1, which multiplies Black's value of the option.
    pub annuity: f64,
    /// Present value of the payments that the forward rate itself would give.
    pub intrinsic_value: f64,
    /// The price less the intrinsic value.
    pub time_value: f64,
    /// Annual volatility, in units of the rate, at which Bachelier's formula gives the same price.
    pub normal_volatility: f64,
    /// The derivatives at a constant annuity; absent where volatility or time is zero and the forward
    /// rate is the strike.
    #[oai(skip_serializing_if_is_none)]
    pub greeks: Option<RateGreeks>,
}

/// The derivatives of the price of an option on a rate, in the currency of the notional.
#[derive(Clone, Debug, Object)]
#[oai(rename = "RateOptionGreeks", remote = "rate_option::RateGreeks")]
pub struct RateGreeks {
    /// Change of the price per 1.00 of the forward rate; divided by 10,000, the change per basis point.
    pub delta: f64,
    /// Change of delta per 1.00 of the forward rate.
    pub gamma: f64,
    /// Change of the price per 1.00 of volatility; a hundredth is that per point.
    pub vega: f64,
    /// Change of the price per year that passes.
    pub theta: f64,
    /// Change of the price per 1.00 of the strike.
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
}

impl From<rate_option::RateOptionValue> for RateOptionPrice {
    fn from(value: rate_option::RateOptionValue) -> Self {
        Self {
            price: value.price,
            annuity: value.annuity,
            intrinsic_value: value.intrinsic_value,
            time_value: value.time_value,
            normal_volatility: value.normal_volatility,
            greeks: value.greeks.map(RateGreeks::from),
        }
    }
}

//! American and Bermudan options on binomial trees.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    explanation::Explanation,
    pricing::{EuropeanOption, american},
};

use super::{OptionType, Tree};
use crate::{
    api::quantlib::Computation,
    http::{Answer, Metered, Numbers, Tag, without_negative_zero},
};

/// Above so many steps a tree may take over a millisecond.
const LONG_FROM_STEPS: u32 = 300;

/// The REST endpoints of options with early exercise.
#[derive(Default)]
pub struct AmericanOptions;

#[OpenApi(prefix_path = "/quantlib/pricing/binomial", tag = "Tag::Pricing")]
impl AmericanOptions {
    /// Price an American option on a binomial tree.
    ///
    /// The plain tree of exactly `steps` steps, with exercise at every step, today and expiry
    /// included; LR takes one step more where the count is even. With the Greeks, the value of the
    /// European option on the same tree, and the boundary of early exercise.
    #[oai(path = "/american", method = "post", operation_id = "price_american_option")]
    async fn american(&self, call: Metered<American>) -> Result<Answer<AmericanPrice>> {
        call.run().await
    }

    /// Price a Bermudan option on a binomial tree.
    ///
    /// The plain tree of exactly `steps` steps, with exercise at the given times, each moved to the
    /// nearest step, and at expiry. With the Greeks, the value of the European option on the same
    /// tree, and the boundary of early exercise.
    #[oai(path = "/bermudan", method = "post", operation_id = "price_bermudan_option")]
    async fn bermudan(&self, call: Metered<Bermudan>) -> Result<Answer<BermudanPrice>> {
        call.run().await
    }
}

/// An American option, the market it is priced in, and the tree to price it on.
#[derive(Clone, Debug, Object)]
#[oai(rename = "AmericanOptionRequest", example)]
pub struct American {
    /// Price of the underlying today; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub spot: f64,
    /// Price at which the right may be used; zero or more.
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
    /// Time until the right ends, in years; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub time_to_maturity: f64,
    /// Number of tree steps; 2 to 10,000.
    #[oai(default = "hundred", validator(minimum(value = "2"), maximum(value = "10000")))]
    pub steps: u32,
    /// The right of the holder: to buy or to sell.
    #[oai(default)]
    pub option_type: OptionType,
    /// The family of binomial trees.
    #[oai(default)]
    pub method: Tree,
}

fn hundred() -> u32 {
    100
}

/// The price of an American option.
#[derive(Clone, Debug, Object)]
#[oai(rename = "AmericanOptionPrice")]
pub struct AmericanPrice {
    /// Present value, in the currency of the spot price.
    pub price: f64,
    /// Value of the European option on the same tree.
    pub european_price: f64,
    /// Value of the right to exercise before expiry: the difference of the two.
    pub early_exercise_premium: f64,
    /// Steps of the tree that was used.
    pub steps_used: u32,
    /// The family of binomial trees that was used.
    pub method: Tree,
    /// The derivatives of the price on the tree; absent where volatility or time is zero.
    #[oai(skip_serializing_if_is_none)]
    pub greeks: Option<AmericanGreeks>,
    /// The prices at which early exercise begins to be optimal, at up to 250 steps of the tree in the
    /// order of time; empty where early exercise is never optimal.
    pub early_exercise_boundary: Vec<BoundaryPoint>,
}

/// The derivatives of an American option's price on a tree.
#[derive(Clone, Debug, Object)]
#[oai(rename = "AmericanOptionGreeks", remote = "american::AmericanGreeks")]
pub struct AmericanGreeks {
    /// Change of the price per unit of the spot price.
    pub delta: f64,
    /// Change of delta per unit of the spot price.
    pub gamma: f64,
    /// Change of the price per 1.00 of volatility; a hundredth is that per point.
    pub vega: f64,
    /// Change of the price per year that passes.
    pub theta: f64,
    /// Change of the price per 1.00 of the riskless rate.
    pub rho: f64,
    /// Change of the price per 1.00 of the dividend yield.
    pub epsilon: f64,
}

/// The boundary of early exercise at one time.
#[derive(Clone, Debug, Object)]
#[oai(rename = "EarlyExercisePoint", remote = "american::BoundaryPoint")]
pub struct BoundaryPoint {
    /// Time from today, in years.
    pub time: f64,
    /// Price at which waiting and exercising are worth the same: below it a put is exercised, above it
    /// a call.
    pub spot: f64,
    /// The other end of the region of exercise; present where negative rates bound the region.
    #[oai(skip_serializing_if_is_none)]
    pub far_spot: Option<f64>,
}

impl American {
    fn option(&self) -> EuropeanOption {
        EuropeanOption {
            option_type: self.option_type.into(),
            spot: self.spot,
            strike: self.strike,
            risk_free_rate: self.risk_free_rate,
            dividend_yield: self.dividend_yield,
            volatility: self.volatility,
            time_to_maturity: self.time_to_maturity,
        }
    }
}

impl Computation for American {
    type Answer = AmericanPrice;

    fn compute(&self) -> quant_core::Result<AmericanPrice> {
        let found = american::evaluate(&self.option(), self.method.into(), self.steps as usize)?;
        Ok(AmericanPrice {
            price: found.price,
            european_price: found.european_price,
            early_exercise_premium: without_negative_zero(found.price - found.european_price),
            steps_used: found.steps as u32,
            method: self.method,
            greeks: found.greeks.map(AmericanGreeks::from),
            early_exercise_boundary: found.boundary.into_iter().map(BoundaryPoint::from).collect(),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        american::explain(&self.option(), self.method.into(), self.steps as usize)
    }

    fn is_long(&self) -> bool {
        self.steps > LONG_FROM_STEPS
    }

    fn wire_name(argument: &'static str) -> &'static str {
        if argument == "n_steps" { "steps" } else { argument }
    }
}

impl Example for American {
    fn example() -> Self {
        Self {
            spot: 100.0,
            strike: 105.0,
            risk_free_rate: 0.05,
            dividend_yield: 0.0,
            volatility: 0.2,
            time_to_maturity: 1.0,
            steps: 20,
            option_type: OptionType::Put,
            method: Tree::LeisenReimer,
        }
    }
}

/// A Bermudan option, the market it is priced in, and the tree to price it on.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BermudanOptionRequest", example)]
pub struct Bermudan {
    /// Price of the underlying today; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub spot: f64,
    /// Price at which the right may be used; zero or more.
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
    /// Time until the right ends, in years; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub time_to_maturity: f64,
    /// Times from today at which the right may be used, in years, above zero and up to expiry; 1 to
    /// 1,000. Expiry is always one.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub exercise_dates: Numbers,
    /// Number of tree steps; 2 to 10,000.
    #[oai(default = "hundred", validator(minimum(value = "2"), maximum(value = "10000")))]
    pub steps: u32,
    /// The right of the holder: to buy or to sell.
    #[oai(default)]
    pub option_type: OptionType,
    /// The family of binomial trees.
    #[oai(default)]
    pub method: Tree,
}

/// The price of a Bermudan option.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BermudanOptionPrice")]
pub struct BermudanPrice {
    /// Present value, in the currency of the spot price.
    pub price: f64,
    /// Value of the European option on the same tree.
    pub european_price: f64,
    /// Value of the right to exercise before expiry: the difference of the two.
    pub early_exercise_premium: f64,
    /// Times of exercise on the tree in years, in order.
    pub exercise_times: Vec<f64>,
    /// Steps of the tree that was used.
    pub steps_used: u32,
    /// The family of binomial trees that was used.
    pub method: Tree,
    /// The derivatives of the price on the tree; absent where volatility or time is zero.
    #[oai(skip_serializing_if_is_none)]
    pub greeks: Option<AmericanGreeks>,
    /// The prices at which exercise begins to be optimal at its times before expiry.
    pub early_exercise_boundary: Vec<BoundaryPoint>,
}

impl Bermudan {
    fn option(&self) -> EuropeanOption {
        EuropeanOption {
            option_type: self.option_type.into(),
            spot: self.spot,
            strike: self.strike,
            risk_free_rate: self.risk_free_rate,
            dividend_yield: self.dividend_yield,
            volatility: self.volatility,
            time_to_maturity: self.time_to_maturity,
        }
    }
}

impl Computation for Bermudan {
    type Answer = BermudanPrice;

    fn compute(&self) -> quant_core::Result<BermudanPrice> {
        let (tree, steps) = (self.method.into(), self.steps as usize);
        let found = american::evaluate_on_dates(&self.option(), tree, steps, &self.exercise_dates)?;
        Ok(BermudanPrice {
            price: found.price,
            european_price: found.european_price,
            early_exercise_premium: without_negative_zero(found.price - found.european_price),
            exercise_times: found.exercise_times,
            steps_used: found.steps as u32,
            method: self.method,
            greeks: found.greeks.map(AmericanGreeks::from),
            early_exercise_boundary: found.boundary.into_iter().map(BoundaryPoint::from).collect(),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let (tree, steps) = (self.method.into(), self.steps as usize);
        american::explain_on_dates(&self.option(), tree, steps, &self.exercise_dates)
    }

    fn is_long(&self) -> bool {
        self.steps > LONG_FROM_STEPS
    }

    fn wire_name(argument: &'static str) -> &'static str {
        match argument {
            "n_steps" => "steps",
            "exercise_times" => "exercise_dates",
            same => same,
        }
    }
}

impl Example for Bermudan {
    fn example() -> Self {
        Self {
            spot: 100.0,
            strike: 105.0,
            risk_free_rate: 0.05,
            dividend_yield: 0.0,
            volatility: 0.2,
            time_to_maturity: 1.0,
            exercise_dates: vec![0.5, 1.0].into(),
            steps: 100,
            option_type: OptionType::Put,
            method: Tree::CoxRossRubinstein,
        }
    }
}

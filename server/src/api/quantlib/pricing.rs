//! Option prices.

pub mod american;
pub mod bachelier;
pub mod black76;
pub mod digital;
pub mod greeks;
pub mod kirk;
pub mod rate_options;

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    Error,
    explanation::Explanation,
    pricing::{barrier, black_scholes, margrabe},
};

use super::{Computation, example_answer};
use crate::http::{Answer, Metered, Tag, without_negative_zero};

/// The largest `n_steps` of a request.
const MAX_STEPS: usize = 100_000;
/// Above so many steps a tree may take over a millisecond.
const LONG_FROM_STEPS: u32 = 500;

/// The REST endpoints of European, barrier and exchange options.
#[derive(Default)]
pub struct Pricing;

#[OpenApi(prefix_path = "/quantlib/pricing", tag = "Tag::Pricing")]
impl Pricing {
    /// Price a European option.
    ///
    /// Black–Scholes–Merton value with a continuous dividend yield. Where volatility or time is
    /// zero the value is the discounted intrinsic value of the forward. `compute_european_greeks`
    /// has the Greeks, `compute_all_european_greeks` those of second order too.
    #[oai(path = "/bs/price", method = "post", operation_id = "price_european_option")]
    async fn european(&self, call: Metered<European>) -> Result<Answer<EuropeanPrice>> {
        call.run().await
    }

    /// Price a barrier option on a binomial tree or in closed form.
    ///
    /// The plain tree of exactly `n_steps` steps; the barrier is monitored at every step, at the
    /// start and at expiry, and a price equal to the barrier hits it. With
    /// `"barrier_monitoring": "continuous"` the exact closed form of a continuously monitored
    /// barrier instead. The rebate is paid when the option is knocked out; a knock-in ignores it.
    #[oai(path = "/binomial/barrier", method = "post", operation_id = "price_barrier_option")]
    async fn barrier(&self, call: Metered<Barrier>) -> Result<Answer<BarrierPrice>> {
        call.run().await
    }

    /// Price an option to exchange one asset for another.
    ///
    /// Margrabe's formula. The call pays `max(S1 - S2, 0)`, the put `max(S2 - S1, 0)`.
    #[oai(path = "/margrabe", method = "post", operation_id = "price_exchange_option")]
    async fn margrabe(&self, call: Metered<Exchange>) -> Result<Answer<ExchangePrice>> {
        call.run().await
    }
}

/// The right of the holder: to buy or to sell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase", remote = "black_scholes::OptionType")]
pub enum OptionType {
    /// To buy at the strike.
    #[default]
    Call,
    /// To sell at the strike.
    Put,
}

/// A European option and the market it is priced in.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "EuropeanOptionRequest", remote = "black_scholes::EuropeanOption", example)]
pub struct European {
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
    /// Time until the right may be used, in years; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub time_to_maturity: f64,
    /// The right of the holder: to buy or to sell.
    #[oai(default = "call")]
    pub option_type: OptionType,
}

/// The price of a European option.
#[derive(Clone, Debug, Object)]
#[oai(rename = "EuropeanOptionPrice", example)]
pub struct EuropeanPrice {
    /// Present value, in the currency of the spot price.
    pub price: f64,
    /// The right of the holder: to buy or to sell.
    pub option_type: OptionType,
}

impl Computation for European {
    type Answer = EuropeanPrice;

    fn compute(&self) -> quant_core::Result<EuropeanPrice> {
        let option: black_scholes::EuropeanOption = (*self).into();
        Ok(EuropeanPrice { price: option.price()?, option_type: self.option_type })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let option: black_scholes::EuropeanOption = (*self).into();
        option.explain_price()
    }
}

/// The family of binomial trees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
#[oai(rename = "BinomialTree", remote = "barrier::Tree")]
pub enum Tree {
    /// Cox, Ross and Rubinstein.
    #[default]
    #[oai(rename = "CRR")]
    CoxRossRubinstein,
    /// Jarrow and Rudd, equal probabilities.
    #[oai(rename = "JR")]
    JarrowRudd,
    /// Leisen and Reimer, Peizer–Pratt 2; an even step count takes one more.
    #[oai(rename = "LR")]
    LeisenReimer,
    /// Tian's moment-matched tree.
    #[oai(rename = "TIAN")]
    Tian,
}

/// The times at which the barrier is monitored: `tree`, at every step of the tree, or `continuous`,
/// by the exact closed form of Reiner and Rubinstein with the rebate paid at the hit. With
/// `continuous` the fields `method` and `n_steps` are without effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum BarrierMonitoring {
    /// At every step of the tree.
    Tree,
    /// Continuously, by the closed form of Reiner and Rubinstein.
    Continuous,
}

/// A barrier option, the market it is priced in, and the tree to price it on.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BarrierOptionRequest", example)]
pub struct Barrier {
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
    /// Time until the right may be used, in years; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub time_to_maturity: f64,
    /// Number of tree steps; 1 to 100,000. Without effect where the monitoring is continuous.
    #[oai(default = "hundred", validator(minimum(value = "1"), maximum(value = "100000")))]
    pub n_steps: u32,
    /// The right of the holder: to buy or to sell.
    #[oai(default = "call")]
    pub option_type: OptionType,
    /// Level of the barrier; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub barrier: f64,
    /// True: the option begins to exist at the barrier. False: it ends there.
    pub is_knock_in: bool,
    /// True: the barrier lies below the spot price. False: above.
    pub is_down: bool,
    /// Paid when the option is knocked out, in the currency of the spot price; zero or more.
    #[oai(default, validator(minimum(value = "0")))]
    pub rebate: f64,
    /// The family of binomial trees. Without effect where the monitoring is continuous.
    #[oai(default = "crr")]
    pub method: Tree,
    /// The times at which the barrier is monitored. With `continuous` the fields `method` and
    /// `n_steps` are without effect.
    #[oai(default = "tree")]
    pub barrier_monitoring: BarrierMonitoring,
}

/// The price of a barrier option.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BarrierOptionPrice", example)]
pub struct BarrierPrice {
    /// Present value, in the currency of the spot price.
    pub price: f64,
    /// Level of the barrier.
    pub barrier: f64,
    /// True if the option begins to exist at the barrier.
    pub is_knock_in: bool,
    /// True if the barrier lies below the spot price.
    pub is_down: bool,
    /// Steps of the tree: one more than `n_steps` where that is even and the method LR. With
    /// `detail=full` where the price is that of a tree.
    #[oai(skip_serializing_if_is_none)]
    pub steps_used: Option<u32>,
    /// True if the spot price has reached the barrier at the start. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub hit_at_start: Option<bool>,
    /// Price under continuous monitoring, in closed form. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub continuous_price: Option<f64>,
}

impl Barrier {
    fn option(&self) -> barrier::BarrierOption {
        barrier::BarrierOption {
            option: black_scholes::EuropeanOption {
                option_type: self.option_type.into(),
                spot: self.spot,
                strike: self.strike,
                risk_free_rate: self.risk_free_rate,
                dividend_yield: self.dividend_yield,
                volatility: self.volatility,
                time_to_maturity: self.time_to_maturity,
            },
            barrier: self.barrier,
            direction: if self.is_down { barrier::Direction::Down } else { barrier::Direction::Up },
            knock: if self.is_knock_in { barrier::Knock::In } else { barrier::Knock::Out },
            rebate: self.rebate,
        }
    }
}

impl Computation for Barrier {
    type Answer = BarrierPrice;

    const HAS_FURTHER_FIELDS: bool = true;

    fn compute(&self) -> quant_core::Result<BarrierPrice> {
        let option = self.option();
        let price = match self.barrier_monitoring {
            BarrierMonitoring::Tree => option
                .price_on_tree(self.method.into(), self.n_steps as usize)
                .map_err(within_reach)?,
            BarrierMonitoring::Continuous => option.price_continuous()?,
        };
        Ok(BarrierPrice {
            price,
            barrier: without_negative_zero(self.barrier),
            is_knock_in: self.is_knock_in,
            is_down: self.is_down,
            steps_used: None,
            hit_at_start: None,
            continuous_price: None,
        })
    }

    fn compute_in_full(&self) -> quant_core::Result<BarrierPrice> {
        let listed = self.compute()?;
        let (option, method) = (self.option(), barrier::Tree::from(self.method));
        let is_on_tree = self.barrier_monitoring == BarrierMonitoring::Tree;
        let steps = || u32::try_from(method.steps_used(self.n_steps as usize)).ok();
        Ok(BarrierPrice {
            steps_used: is_on_tree.then(steps).flatten(),
            hit_at_start: Some(option.hit_at_start()?),
            continuous_price: Some(option.price_continuous()?),
            ..listed
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        match self.barrier_monitoring {
            BarrierMonitoring::Tree => self
                .option()
                .explain_price_on_tree(self.method.into(), self.n_steps as usize)
                .map_err(within_reach),
            BarrierMonitoring::Continuous => self.option().explain_price_continuous(),
        }
    }

    fn is_long(&self) -> bool {
        self.barrier_monitoring == BarrierMonitoring::Tree && self.n_steps > LONG_FROM_STEPS
    }
}

/// Two assets that may be exchanged at the end.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ExchangeOptionRequest", example)]
pub struct Exchange {
    /// Price of asset 1 today; zero or more.
    #[oai(rename = "S1", validator(minimum(value = "0")))]
    pub spot1: f64,
    /// Price of asset 2 today; zero or more.
    #[oai(rename = "S2", validator(minimum(value = "0")))]
    pub spot2: f64,
    /// Dividend yield of asset 1, an annual decimal, continuously compounded.
    #[oai(rename = "q1", default)]
    pub dividend_yield1: f64,
    /// Dividend yield of asset 2, an annual decimal, continuously compounded.
    #[oai(rename = "q2", default)]
    pub dividend_yield2: f64,
    /// Volatility of asset 1, an annual decimal; zero or more.
    #[oai(rename = "sigma1", validator(minimum(value = "0")))]
    pub volatility1: f64,
    /// Volatility of asset 2, an annual decimal; zero or more.
    #[oai(rename = "sigma2", validator(minimum(value = "0")))]
    pub volatility2: f64,
    /// Correlation between the assets' log returns; from -1 to 1.
    #[oai(rename = "rho", validator(minimum(value = "-1"), maximum(value = "1")))]
    pub correlation: f64,
    /// Time until the exchange, in years; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub time_to_maturity: f64,
}

/// The prices of both exchange options.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ExchangeOptionPrice", example)]
pub struct ExchangePrice {
    /// Value of the right to receive asset 1 for asset 2.
    pub margrabe_call: f64,
    /// Value of the right to receive asset 2 for asset 1.
    pub margrabe_put: f64,
    /// Change of the call's value per unit of S1. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub call_delta1: Option<f64>,
    /// Change of the call's value per unit of S2. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub call_delta2: Option<f64>,
    /// Change of the put's value per unit of S1. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub put_delta1: Option<f64>,
    /// Change of the put's value per unit of S2. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub put_delta2: Option<f64>,
    /// Volatility of the ratio of the prices, an annual decimal. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub spread_volatility: Option<f64>,
}

impl Exchange {
    fn option(&self) -> margrabe::ExchangeOption {
        margrabe::ExchangeOption {
            spot1: self.spot1,
            spot2: self.spot2,
            dividend_yield1: self.dividend_yield1,
            dividend_yield2: self.dividend_yield2,
            volatility1: self.volatility1,
            volatility2: self.volatility2,
            correlation: self.correlation,
            time_to_maturity: self.time_to_maturity,
        }
    }
}

impl Computation for Exchange {
    type Answer = ExchangePrice;

    const HAS_FURTHER_FIELDS: bool = true;

    fn compute(&self) -> quant_core::Result<ExchangePrice> {
        let prices = self.option().prices()?;
        Ok(ExchangePrice {
            margrabe_call: prices.call,
            margrabe_put: prices.put,
            call_delta1: None,
            call_delta2: None,
            put_delta1: None,
            put_delta2: None,
            spread_volatility: None,
        })
    }

    fn compute_in_full(&self) -> quant_core::Result<ExchangePrice> {
        let deltas = self.option().deltas()?;
        Ok(ExchangePrice {
            call_delta1: Some(deltas.call1),
            call_delta2: Some(deltas.call2),
            put_delta1: Some(deltas.put1),
            put_delta2: Some(deltas.put2),
            spread_volatility: Some(deltas.volatility),
            ..self.compute()?
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let explanation = self.option().explain_prices()?;
        Ok(explanation.with_quantity("margrabe_call and margrabe_put"))
    }

    fn wire_name(argument: &'static str) -> &'static str {
        match argument {
            "spot1" => "S1",
            "spot2" => "S2",
            "dividend_yield1" => "q1",
            "dividend_yield2" => "q2",
            "volatility1" => "sigma1",
            "volatility2" => "sigma2",
            "correlation" => "rho",
            same => same,
        }
    }
}

/// The requirement on the step count in the terms of this service, whose limit is lower than that of
/// `quant-core`.
fn within_reach(error: Error) -> Error {
    match error {
        Error::TooFew { argument: "n_steps", needed, .. } if needed > MAX_STEPS => {
            Error::Conflict {
                argument: "method",
                problem: "CRR would need more than 100,000 steps here: LR and TIAN work",
            }
        }
        error => error,
    }
}

fn call() -> OptionType {
    OptionType::Call
}

fn hundred() -> u32 {
    100
}

fn crr() -> Tree {
    Tree::CoxRossRubinstein
}

fn tree() -> BarrierMonitoring {
    BarrierMonitoring::Tree
}

impl Example for European {
    fn example() -> Self {
        Self {
            spot: 42.0,
            strike: 40.0,
            risk_free_rate: 0.1,
            dividend_yield: 0.0,
            volatility: 0.2,
            time_to_maturity: 0.5,
            option_type: OptionType::Call,
        }
    }
}

impl Example for EuropeanPrice {
    fn example() -> Self {
        example_answer::<European>()
    }
}

impl Example for Barrier {
    fn example() -> Self {
        Self {
            spot: 100.0,
            strike: 100.0,
            risk_free_rate: 0.05,
            dividend_yield: 0.02,
            volatility: 0.25,
            time_to_maturity: 1.0,
            n_steps: 200,
            option_type: OptionType::Call,
            barrier: 85.0,
            is_knock_in: false,
            is_down: true,
            rebate: 0.0,
            method: Tree::CoxRossRubinstein,
            barrier_monitoring: BarrierMonitoring::Tree,
        }
    }
}

impl Example for BarrierPrice {
    fn example() -> Self {
        example_answer::<Barrier>()
    }
}

impl Example for Exchange {
    fn example() -> Self {
        Self {
            spot1: 100.0,
            spot2: 95.0,
            dividend_yield1: 0.02,
            dividend_yield2: 0.01,
            volatility1: 0.3,
            volatility2: 0.2,
            correlation: 0.5,
            time_to_maturity: 1.0,
        }
    }
}

impl Example for ExchangePrice {
    fn example() -> Self {
        example_answer::<Exchange>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuous_monitoring_is_the_closed_form_whatever_the_tree() {
        let request = Barrier {
            barrier: 95.0,
            rebate: 3.0,
            strike: 90.0,
            risk_free_rate: 0.08,
            dividend_yield: 0.04,
            time_to_maturity: 0.5,
            barrier_monitoring: BarrierMonitoring::Continuous,
            ..Barrier::example()
        };
        let price = request.compute().unwrap().price;
        // Haug (2007), *The Complete Guide to Option Pricing Formulas*, table 4-13.
        assert!((price - 9.0246).abs() < 5e-5, "{price}");
        let other_tree = Barrier { n_steps: 1, method: Tree::JarrowRudd, ..request };
        assert_eq!(other_tree.compute().unwrap().price, price);
        assert!(!other_tree.is_long());
    }
}

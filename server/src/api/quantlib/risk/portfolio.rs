//! Value at risk and expected shortfall of weights under a covariance.

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    Error,
    portfolio::{Covariance, risk_contributions},
    risk::{HistoricalRisk, MonteCarlo, ParametricRisk, TailRisk, historical},
};

use super::{LONG_FROM, ReturnDistribution, five, ninety_five, one};
use crate::{
    api::quantlib::{RequestFor, SharedComputation},
    http::{Answer, Metered, Numbers, Tag},
};

/// The REST endpoints of the risk of a portfolio's tail.
#[derive(Default)]
pub struct PortfolioTailRisk;

#[OpenApi(prefix_path = "/quantlib/portfolio/risk", tag = "Tag::Portfolio")]
impl PortfolioTailRisk {
    /// Find the value at risk of a portfolio.
    ///
    /// `parametric` from weights and covariance; `historical` from a series of the portfolio's returns;
    /// `monte_carlo` from simulated returns, with their sampling error. Losses are positive.
    #[oai(path = "/var", method = "post", operation_id = "find_portfolio_var")]
    async fn var(&self, call: Metered<RequestFor<PortfolioVar>>) -> Result<Answer<PortfolioTail>> {
        call.run().await
    }

    /// Find the expected shortfall of a portfolio.
    ///
    /// The mean loss beyond the value at risk, by the same methods, and the value at risk beside it.
    #[oai(path = "/cvar", method = "post", operation_id = "find_portfolio_cvar")]
    async fn cvar(
        &self,
        call: Metered<RequestFor<PortfolioCvar>>,
    ) -> Result<Answer<PortfolioTail>> {
        call.run().await
    }
}

/// The method that finds the risk of a portfolio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
#[oai(rename = "PortfolioRiskMethod", rename_all = "snake_case")]
pub enum TailMethod {
    /// From the covariance, by a distribution.
    #[default]
    Parametric,
    /// From a series of returns.
    Historical,
    /// From simulated returns with the covariance and the distribution.
    MonteCarlo,
}

/// A portfolio, the covariance of its assets, and the tail to measure.
#[derive(Clone, Debug, Object)]
#[oai(rename = "PortfolioTailRiskRequest", example)]
pub struct TailRequest {
    /// Weight of each asset, of any sign and sum; 1 to 1,000 assets.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub weights: Numbers,
    /// Covariance of the returns of `period_days` days, a row per asset; symmetric, positive
    /// semi-definite.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub covariance_matrix: Vec<Numbers<1000>>,
    /// Probability that the loss does not exceed the value at risk; above 0.5 and below 1.
    #[oai(
        default = "ninety_five",
        validator(minimum(value = "0.5", exclusive), maximum(value = "1", exclusive))
    )]
    pub confidence: f64,
    /// Number of days, above zero. The volatility grows with its root.
    #[oai(default = "one", validator(minimum(value = "0", exclusive)))]
    pub horizon: f64,
    /// Number of days that the covariance covers: 1 for that of daily returns, 252 for an annual one.
    #[oai(default = "one", validator(minimum(value = "0", exclusive)))]
    pub period_days: f64,
    /// Value of the portfolio, in money; zero or more. With 1 the figures are fractions.
    #[oai(default = "one", validator(minimum(value = "0")))]
    pub portfolio_value: f64,
    /// Method that finds the risk.
    #[oai(default)]
    pub method: TailMethod,
    /// Daily returns of the portfolio, needed for `historical`; 1 to 100,000.
    #[oai(nullable, validator(min_items = 1, max_items = 100000))]
    pub returns: Option<Numbers>,
    /// Distribution of the portfolio's return, for `parametric` and `monte_carlo`.
    #[oai(default)]
    pub distribution: ReturnDistribution,
    /// Degrees of freedom of `student_t`, above 2 and up to 1,000,000.
    #[oai(
        default = "five",
        validator(minimum(value = "2", exclusive), maximum(value = "1000000"))
    )]
    pub degrees_of_freedom: f64,
    /// Skewness for `cornish_fisher`, from -100 to 100.
    #[oai(default, validator(minimum(value = "-100"), maximum(value = "100")))]
    pub skewness: f64,
    /// Kurtosis less 3 for `cornish_fisher`; at least the square of the skewness less 2.
    #[oai(default, validator(maximum(value = "10000")))]
    pub excess_kurtosis: f64,
    /// Number of simulated returns of `monte_carlo`.
    #[oai(
        default = "hundred_thousand",
        validator(minimum(value = "100"), maximum(value = "1000000"))
    )]
    pub simulations: u32,
    /// Number that the random numbers of `monte_carlo` follow from: the same seed gives the same answer.
    #[oai(default = "forty_two", validator(minimum(value = "0"), maximum(value = "4294967295")))]
    pub seed: u32,
}

fn hundred_thousand() -> u32 {
    100_000
}

fn forty_two() -> u32 {
    42
}

/// The risk of a portfolio's tail. Losses are positive.
#[derive(Clone, Debug, Object)]
#[oai(rename = "PortfolioTailRisk")]
pub struct PortfolioTail {
    /// Value at risk, in money: the loss that is not exceeded with the probability of the confidence.
    #[oai(rename = "VaR")]
    pub value_at_risk: f64,
    /// The value at risk again.
    pub var: f64,
    /// Value at risk as a fraction of the portfolio's value.
    pub var_fraction: f64,
    /// Mean loss in the tail, in money.
    pub expected_shortfall: f64,
    /// The expected shortfall again.
    pub cvar: f64,
    /// Expected shortfall as a fraction.
    pub expected_shortfall_fraction: f64,
    /// Standard deviation of the portfolio's return of `period_days` days, from the covariance.
    pub portfolio_volatility: f64,
    /// Lower end of an interval that holds the true value at risk with at least 95 %, in money; absent for
    /// `parametric`, and where there are too few returns.
    #[oai(skip_serializing_if_is_none)]
    pub var_lower: Option<f64>,
    /// Upper end of the interval, in money; absent as the lower end.
    #[oai(skip_serializing_if_is_none)]
    pub var_upper: Option<f64>,
    /// Standard error of the expected shortfall, in money; absent for `parametric`.
    #[oai(skip_serializing_if_is_none)]
    pub expected_shortfall_error: Option<f64>,
    /// Number of returns in the tail; absent for `parametric`.
    #[oai(skip_serializing_if_is_none)]
    pub tail_count: Option<u32>,
    /// The method.
    pub method: TailMethod,
    /// The confidence.
    pub confidence: f64,
    /// The horizon, in days.
    pub horizon: f64,
    /// The value of the portfolio.
    pub portfolio_value: f64,
}

impl TailRequest {
    fn position(&self, volatility: f64) -> ParametricRisk {
        let (degrees, skewness) = (self.degrees_of_freedom, self.skewness);
        ParametricRisk {
            mean: 0.0,
            volatility,
            distribution: self.distribution.with(degrees, skewness, self.excess_kurtosis),
            confidence: self.confidence,
            horizon: self.horizon / self.period_days,
        }
    }

    /// Returns the risk as fractions, with the sampling error where there is one.
    fn risk(&self, volatility: f64) -> quant_core::Result<(TailRisk, Option<HistoricalRisk>)> {
        let position = self.position(volatility);
        let (simulations, seed) = (self.simulations as usize, self.seed.into());
        let sampled = match self.method {
            TailMethod::Parametric => return Ok((position.evaluate()?, None)),
            TailMethod::MonteCarlo => MonteCarlo { position, simulations, seed }.evaluate()?,
            TailMethod::Historical => {
                let problem = "is needed where `method` is historical";
                let missing = Error::Conflict { argument: "returns", problem };
                let returns = self.returns.as_deref().ok_or(missing)?;
                historical(returns, self.confidence)?.over_horizon(self.horizon)?
            }
        };
        Ok((sampled.risk, Some(sampled)))
    }

    fn is_long(&self) -> bool {
        let returns = self.returns.as_ref().map_or(0, |returns| returns.len());
        let is_simulated = self.method == TailMethod::MonteCarlo;
        self.weights.len() > LONG_FROM[0] || returns > LONG_FROM[1] || is_simulated
    }

    fn answer(&self) -> quant_core::Result<PortfolioTail> {
        let covariance = Covariance::from_rows(&self.covariance_matrix)?;
        let volatility = risk_contributions(&self.weights, &covariance)?.volatility;
        let (fraction, sampled) = self.risk(volatility)?;
        let money = fraction.of_value(self.portfolio_value)?;
        let sampled = sampled.map(|found| found.of_value(self.portfolio_value)).transpose()?;
        Ok(PortfolioTail {
            value_at_risk: money.value_at_risk,
            var: money.value_at_risk,
            var_fraction: fraction.value_at_risk,
            expected_shortfall: money.expected_shortfall,
            cvar: money.expected_shortfall,
            expected_shortfall_fraction: fraction.expected_shortfall,
            portfolio_volatility: volatility,
            var_lower: sampled.and_then(|found| found.interval.lower),
            var_upper: sampled.and_then(|found| found.interval.upper),
            expected_shortfall_error: sampled.map(|found| found.expected_shortfall_error),
            tail_count: sampled.map(|found| found.tail_count as u32),
            method: self.method,
            confidence: self.confidence,
            horizon: self.horizon,
            portfolio_value: self.portfolio_value,
        })
    }
}

impl Example for TailRequest {
    fn example() -> Self {
        Self {
            weights: vec![0.6, 0.4].into(),
            covariance_matrix: vec![vec![0.0004, 0.0001].into(), vec![0.0001, 0.0009].into()],
            confidence: 0.95,
            horizon: 10.0,
            period_days: 1.0,
            portfolio_value: 1e6,
            method: TailMethod::Parametric,
            returns: None,
            distribution: ReturnDistribution::Normal,
            degrees_of_freedom: 5.0,
            skewness: 0.0,
            excess_kurtosis: 0.0,
            simulations: 100_000,
            seed: 42,
        }
    }
}

/// The value at risk of a portfolio.
pub struct PortfolioVar;

/// The expected shortfall of a portfolio.
pub struct PortfolioCvar;

impl SharedComputation for PortfolioVar {
    type Request = TailRequest;
    type Answer = PortfolioTail;

    fn compute(request: &TailRequest) -> quant_core::Result<PortfolioTail> {
        request.answer()
    }

    fn is_long(request: &TailRequest) -> bool {
        request.is_long()
    }
}

impl SharedComputation for PortfolioCvar {
    type Request = TailRequest;
    type Answer = PortfolioTail;

    fn compute(request: &TailRequest) -> quant_core::Result<PortfolioTail> {
        request.answer()
    }

    fn is_long(request: &TailRequest) -> bool {
        request.is_long()
    }
}

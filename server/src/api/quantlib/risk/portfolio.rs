//! Value at risk and expected shortfall of weights under a covariance.

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    Error,
    explanation::Explanation,
    portfolio::{Covariance, risk_contributions},
    risk::{
        HistoricalRisk, MonteCarlo, ParametricRisk, TailRisk, explain_historical,
        explain_portfolio_risk, historical,
    },
};

use super::{DistributionShape, LONG_FROM, Losses, ReturnDistribution, ninety_five, one};
use crate::{
    api::quantlib::Computation,
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
    async fn var(&self, call: Metered<TailRequest>) -> Result<Answer<PortfolioTail>> {
        call.run().await
    }

    /// Find the expected shortfall of a portfolio.
    ///
    /// The mean loss beyond the value at risk, by the same methods, and the value at risk beside it.
    #[oai(path = "/cvar", method = "post", operation_id = "find_portfolio_cvar")]
    async fn cvar(&self, call: Metered<TailRequest>) -> Result<Answer<PortfolioTail>> {
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
    /// The parameters of the distribution.
    #[oai(flatten)]
    pub shape: DistributionShape,
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
    /// The losses.
    #[oai(flatten)]
    pub losses: Losses,
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
        ParametricRisk {
            mean: 0.0,
            volatility,
            distribution: self.shape.of(self.distribution),
            confidence: self.confidence,
            horizon: self.horizon / self.period_days,
        }
    }

    /// Returns the risk as fractions, with the sampling error where there is one.
    fn volatility(&self) -> quant_core::Result<f64> {
        let covariance = Covariance::from_rows(&self.covariance_matrix)?;
        Ok(risk_contributions(&self.weights, &covariance)?.volatility)
    }

    fn series(&self) -> quant_core::Result<&[f64]> {
        let problem = "is needed where `method` is historical";
        self.returns.as_deref().ok_or(Error::Conflict { argument: "returns", problem })
    }

    fn risk(&self, volatility: f64) -> quant_core::Result<(TailRisk, Option<HistoricalRisk>)> {
        let position = self.position(volatility);
        let (simulations, seed) = (self.simulations as usize, self.seed.into());
        let sampled = match self.method {
            TailMethod::Parametric => return Ok((position.evaluate()?, None)),
            TailMethod::MonteCarlo => MonteCarlo { position, simulations, seed }.evaluate()?,
            TailMethod::Historical => {
                historical(self.series()?, self.confidence)?.over_horizon(self.horizon)?
            }
        };
        Ok((sampled.risk, Some(sampled)))
    }
}

impl Computation for TailRequest {
    type Answer = PortfolioTail;

    fn compute(&self) -> quant_core::Result<PortfolioTail> {
        let volatility = self.volatility()?;
        let (fraction, sampled) = self.risk(volatility)?;
        let losses = Losses::new(fraction, self.portfolio_value)?;
        let sampled = sampled.map(|found| found.of_value(self.portfolio_value)).transpose()?;
        Ok(PortfolioTail {
            losses,
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

    fn explain(&self) -> quant_core::Result<Explanation> {
        let position = self.position(self.volatility()?);
        let (simulations, seed) = (self.simulations as usize, self.seed.into());
        let explanation = match self.method {
            TailMethod::Parametric => {
                let covariance = Covariance::from_rows(&self.covariance_matrix)?;
                explain_portfolio_risk(&position, &self.weights, &covariance)?
            }
            TailMethod::MonteCarlo => MonteCarlo { position, simulations, seed }.explain()?,
            TailMethod::Historical => {
                explain_historical(self.series()?, self.confidence, self.horizon)?
            }
        };
        let source = match self.method {
            TailMethod::Historical => {
                "The quantile is that of `returns`; weights and covariance give only the volatility."
            }
            _ => "The volatility is that of the weights under the covariance, the mean is zero.",
        };
        Ok(explanation.with_conventions([source]).with_quantity("var_fraction"))
    }

    fn is_long(&self) -> bool {
        let returns = self.returns.as_ref().map_or(0, |returns| returns.len());
        let is_simulated = self.method == TailMethod::MonteCarlo;
        self.weights.len() > LONG_FROM[0] || returns > LONG_FROM[1] || is_simulated
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
            shape: DistributionShape::example(),
            simulations: 100_000,
            seed: 42,
        }
    }
}

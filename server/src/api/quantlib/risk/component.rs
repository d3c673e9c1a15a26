//! Contributions of factors to the value at risk.

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    explanation::Explanation,
    risk::{self, ComponentRisk},
};

use super::{five, million, ninety_nine};
use crate::{
    api::quantlib::Computation,
    http::{Answer, Metered, Numbers, Record, Tag},
};

/// The most factors, which bounds the time that a shrunk covariance takes.
const MOST_FACTORS: usize = 200;
/// Above so many numbers the covariance may take over a millisecond.
const LONG_FROM_NUMBERS: usize = 20_000;

/// The REST endpoint of component value at risk.
#[derive(Default)]
pub struct ComponentVar;

#[OpenApi(prefix_path = "/quantlib/risk/var", tag = "Tag::Risk")]
impl ComponentVar {
    /// Divide the value at risk of a portfolio among its factors.
    ///
    /// By the delta-normal method, or with a Student-t distribution; the mean counts as zero. The components
    /// add up to the total bit for bit, in any order. Up to 200 factors with 10,000 returns.
    #[oai(path = "/component", method = "post", operation_id = "divide_var")]
    async fn component(&self, call: Metered<FactorReturns>) -> Result<Answer<VarComponents>> {
        call.run().await
    }
}

/// The distribution of a portfolio whose risk can be divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
#[oai(rename_all = "snake_case")]
pub enum EllipticalDistribution {
    /// The normal distribution.
    #[default]
    Normal,
    /// Student's t distribution, scaled to the volatility.
    StudentT,
}

/// The estimate of a covariance from returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
#[oai(rename_all = "snake_case", remote = "risk::CovarianceEstimator")]
pub enum CovarianceEstimator {
    /// The sample covariance (divisor n - 1).
    #[default]
    Sample,
    /// That of Ledoit and Wolf (2004), shrunk towards a multiple of the identity.
    LedoitWolf,
}

/// Factors with their returns and weights, and the tail to measure.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ComponentVarRequest", example)]
pub struct FactorReturns {
    /// Daily returns of each factor, by name: 1 to 200 names of 1 to 100 characters, with 2 to 10,000
    /// returns, as many for each.
    pub returns_by_factor: Record<Numbers<10000>, MOST_FACTORS>,
    /// Weight of each factor, by name: its exposure as a fraction of the portfolio's value. The names are
    /// those of `returns_by_factor`.
    pub weights: Record<f64, MOST_FACTORS>,
    /// Probability that the loss does not exceed the value at risk; above 0.5 and below 1.
    #[oai(
        default = "ninety_nine",
        validator(minimum(value = "0.5", exclusive), maximum(value = "1", exclusive))
    )]
    pub confidence: f64,
    /// Value of the portfolio, in money; zero or more.
    #[oai(default = "million", validator(minimum(value = "0")))]
    pub portfolio_value: f64,
    /// Distribution of the portfolio's return.
    #[oai(default)]
    pub distribution: EllipticalDistribution,
    /// Degrees of freedom of `student_t`, above 2 and up to 1,000,000.
    #[oai(
        default = "five",
        validator(minimum(value = "2", exclusive), maximum(value = "1000000"))
    )]
    pub degrees_of_freedom: f64,
    /// Estimate of the covariance of the factors.
    #[oai(default)]
    pub covariance_estimator: CovarianceEstimator,
}

/// The value at risk of a portfolio with the contributions of its factors. Losses are positive.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ComponentVar")]
pub struct VarComponents {
    /// Value at risk of the portfolio, in money.
    #[oai(rename = "VaR")]
    pub value_at_risk: f64,
    /// The value at risk again.
    pub var: f64,
    /// The value at risk again: what the components add up to.
    pub total_var: f64,
    /// Mean loss in the tail, in money.
    pub expected_shortfall: f64,
    /// Standard deviation of the portfolio's return, per day.
    pub volatility: f64,
    /// Contributions, in the order of the request.
    pub components: Vec<FactorVar>,
    /// Sum of the standalone values at risk.
    pub undiversified_var: f64,
    /// The effect of diversification: the undiversified value at risk less the value at risk.
    pub diversification_benefit: f64,
    /// Weight of the target of Ledoit and Wolf; zero for the sample covariance.
    pub shrinkage: f64,
    /// The confidence.
    pub confidence: f64,
    /// The value of the portfolio.
    pub portfolio_value: f64,
}

/// The contribution of a factor to the value at risk, in money.
#[derive(Clone, Debug, Object)]
#[oai(rename = "VarComponent")]
pub struct FactorVar {
    /// Name of the factor.
    pub factor: String,
    /// Weight of the factor.
    pub weight: f64,
    /// Standard deviation of the factor's return, per day.
    pub volatility: f64,
    /// Change of the value at risk per unit of the weight.
    pub marginal_var: f64,
    /// Part of the value at risk; negative for a hedge.
    pub component_var: f64,
    /// Part as a fraction of the value at risk; zero where that is zero.
    pub percentage: f64,
    /// Value at risk of the factor's position alone.
    pub standalone_var: f64,
    /// Value at risk less that of the portfolio without the factor.
    pub incremental_var: f64,
}

impl From<risk::Component> for FactorVar {
    fn from(part: risk::Component) -> Self {
        Self {
            factor: part.factor,
            weight: part.weight,
            volatility: part.volatility,
            marginal_var: part.marginal,
            component_var: part.component,
            percentage: part.share,
            standalone_var: part.standalone,
            incremental_var: part.incremental,
        }
    }
}

impl FactorReturns {
    fn portfolio(&self) -> ComponentRisk {
        let degrees_of_freedom = self.degrees_of_freedom;
        let returns = self.returns_by_factor.iter();
        ComponentRisk {
            returns_by_factor: returns
                .map(|(name, series)| (name.clone(), series.to_vec()))
                .collect(),
            weights: self.weights.to_vec(),
            distribution: match self.distribution {
                EllipticalDistribution::Normal => risk::Distribution::Normal,
                EllipticalDistribution::StudentT => {
                    risk::Distribution::StudentT { degrees_of_freedom }
                }
            },
            covariance_estimator: self.covariance_estimator.into(),
            confidence: self.confidence,
            portfolio_value: self.portfolio_value,
        }
    }
}

impl Computation for FactorReturns {
    type Answer = VarComponents;

    fn compute(&self) -> quant_core::Result<VarComponents> {
        let found = self.portfolio().contributions()?;
        Ok(VarComponents {
            value_at_risk: found.risk.value_at_risk,
            var: found.risk.value_at_risk,
            total_var: found.risk.value_at_risk,
            expected_shortfall: found.risk.expected_shortfall,
            volatility: found.volatility,
            components: found.components.into_iter().map(FactorVar::from).collect(),
            undiversified_var: found.undiversified,
            diversification_benefit: found.undiversified - found.risk.value_at_risk,
            shrinkage: found.shrinkage,
            confidence: self.confidence,
            portfolio_value: self.portfolio_value,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.portfolio().explain().map(|explanation| explanation.with_quantity("var"))
    }

    fn is_long(&self) -> bool {
        let numbers: usize = self.returns_by_factor.iter().map(|(_, series)| series.len()).sum();
        numbers > LONG_FROM_NUMBERS
    }
}

impl Example for FactorReturns {
    fn example() -> Self {
        Self {
            returns_by_factor: Record::from([
                ("equity", vec![0.012, -0.021, 0.008, -0.004, 0.015].into()),
                ("rates", vec![-0.002, 0.004, -0.001, 0.001, -0.003].into()),
            ]),
            weights: Record::from([("equity", 0.6), ("rates", 0.4)]),
            confidence: 0.99,
            portfolio_value: 1e6,
            distribution: EllipticalDistribution::Normal,
            degrees_of_freedom: 5.0,
            covariance_estimator: CovarianceEstimator::Sample,
        }
    }
}

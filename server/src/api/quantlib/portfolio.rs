//! Portfolio selection.

pub mod black_litterman;
pub mod constraint;
pub mod contribution;
pub mod optimal;
pub mod performance;
pub mod risk_parity;

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    Error,
    explanation::Explanation,
    portfolio::{
        self, Covariance,
        constrained::{ConstrainedProblem, Goal},
        min_variance,
    },
};

use self::constraint::WeightLimits;
use super::{Computation, example_answer};
use crate::http::{Answer, Metered, Numbers, OptionalNumbers, Tag};

/// Above so many assets the solver may take over a millisecond.
const LONG_FROM_ASSETS: usize = 64;

/// The REST endpoints of portfolio selection.
#[derive(Default)]
pub struct Portfolio;

#[OpenApi(prefix_path = "/quantlib/portfolio/optimize", tag = "Tag::Portfolio")]
impl Portfolio {
    /// Find the minimum-variance portfolio.
    ///
    /// Minimises `w'Σw` over weights that sum to 1, within optional bounds per asset. A weight
    /// at its bound is the bound, to the last bit; a singular covariance is welcome. Up to 1,000
    /// assets; with so many, write numbers with at most 13 characters, or the body exceeds 16 MiB.
    #[oai(path = "/min-variance", method = "post", operation_id = "find_min_variance_portfolio")]
    async fn min_variance(
        &self,
        call: Metered<MinVariance>,
    ) -> Result<Answer<MinVariancePortfolio>> {
        call.run().await
    }
}

/// Assets to choose among.
#[derive(Clone, Debug, Object)]
pub struct Assets {
    /// Expected return of each asset, annual decimals; 1 to 1,000 assets.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub expected_returns: Numbers,
    /// Covariance of annual returns, a row per asset; symmetric, positive semi-definite.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub covariance_matrix: Vec<Numbers<1000>>,
}

/// Bounds on the weights of assets.
#[derive(Clone, Debug, Object)]
pub struct WeightBounds {
    /// Smallest weight of each asset (0 for long-only), null for an asset without one; absent means
    /// unbounded.
    #[oai(nullable, validator(min_items = 1, max_items = 1000))]
    pub min_weights: Option<OptionalNumbers>,
    /// Largest weight of each asset, null for an asset without one; absent means unbounded.
    #[oai(nullable, validator(min_items = 1, max_items = 1000))]
    pub max_weights: Option<OptionalNumbers>,
}

impl Assets {
    fn covariance(&self) -> quant_core::Result<Covariance> {
        Covariance::from_rows(&self.covariance_matrix)
    }
}

/// Returns the problem of reaching a goal with these assets within bounds alone.
fn problem(
    assets: &Assets,
    risk_free_rate: f64,
    bounds: &WeightBounds,
    goal: Goal,
) -> quant_core::Result<ConstrainedProblem> {
    Ok(ConstrainedProblem {
        expected_returns: assets.expected_returns.to_vec(),
        covariance_matrix: assets.covariance()?,
        risk_free_rate,
        min_weights: bounds.min_weights(),
        max_weights: bounds.max_weights(),
        constraints: Vec::new(),
        turnover: None,
        goal,
    })
}

impl WeightBounds {
    fn min_weights(&self) -> Option<Vec<f64>> {
        self.min_weights.as_ref().map(|bounds| bounds.or(f64::NEG_INFINITY))
    }

    fn max_weights(&self) -> Option<Vec<f64>> {
        self.max_weights.as_ref().map(|bounds| bounds.or(f64::INFINITY))
    }
}

impl Example for Assets {
    fn example() -> Self {
        Self { expected_returns: vec![0.08, 0.12, 0.10].into(), covariance_matrix: three_assets() }
    }
}

/// The covariance of the examples.
fn three_assets() -> Vec<Numbers<1000>> {
    vec![
        vec![0.04, 0.01, 0.02].into(),
        vec![0.01, 0.09, 0.03].into(),
        vec![0.02, 0.03, 0.0625].into(),
    ]
}

impl Example for WeightBounds {
    fn example() -> Self {
        Self { min_weights: Some(vec![0.0, 0.0, 0.0].into()), max_weights: None }
    }
}

/// Assets to choose among, and the bounds on their weights.
#[derive(Clone, Debug, Object)]
#[oai(rename = "MinVarianceRequest", example)]
pub struct MinVariance {
    /// The assets.
    #[oai(flatten)]
    pub assets: Assets,
    /// Risk-free rate for the Sharpe ratio, an annual decimal.
    #[oai(default)]
    pub rf_rate: f64,
    /// The bounds on the weights.
    #[oai(flatten)]
    pub bounds: WeightBounds,
    /// The limits beside the bounds.
    #[oai(flatten)]
    pub limits: WeightLimits,
}

/// The portfolio of least variance.
#[derive(Clone, Debug, Object)]
#[oai(rename = "MinVariancePortfolio", example)]
pub struct MinVariancePortfolio {
    /// Weight of each asset, in the order of the request; they sum to 1.
    pub weights: Vec<f64>,
    /// Expected return of the portfolio, an annual decimal.
    pub expected_return: f64,
    /// Standard deviation of the annual return.
    pub volatility: f64,
    /// Excess return over the risk-free rate per unit of volatility; null where the volatility
    /// is zero.
    #[oai(nullable)]
    pub sharpe_ratio: Option<f64>,
    /// The bound at which each weight lies. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub binding_bounds: Option<Vec<BindingBound>>,
    /// The limit at which the weighted sum of each of `constraints` lies. With `detail=full`, where there
    /// are constraints or a limit of turnover.
    #[oai(skip_serializing_if_is_none)]
    pub binding_constraints: Option<Vec<BindingBound>>,
    /// True if the changes of the weights use the whole `max_turnover`. With `detail=full`, where there
    /// is one.
    #[oai(skip_serializing_if_is_none)]
    pub is_turnover_binding: Option<bool>,
    /// The part of the volatility of each asset; they add up to it. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub risk_contributions: Option<Vec<f64>>,
    /// Change of the least variance per unit of the sum of the weights. With `detail=full`, unless every
    /// weight is at a bound or there are constraints or a limit of turnover.
    #[oai(skip_serializing_if_is_none)]
    pub budget_multiplier: Option<f64>,
    /// Change of the least variance per unit of each weight's bound: zero or more at a lower bound, zero
    /// or less at an upper one. With `detail=full`, unless every weight is at a bound or there are
    /// constraints or a limit of turnover.
    #[oai(skip_serializing_if_is_none)]
    pub bound_multipliers: Option<Vec<f64>>,
}

/// A bound at which a weight, or a weighted sum of weights, lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase", remote = "min_variance::BindingBound")]
pub enum BindingBound {
    /// None: the weight is between its bounds.
    None,
    /// The lower bound.
    Lower,
    /// The upper bound.
    Upper,
}

impl MinVariance {
    fn problem(&self) -> quant_core::Result<min_variance::MinVariance> {
        let Assets { expected_returns, covariance_matrix } = &self.assets;
        let (expected, found) = (expected_returns.len(), covariance_matrix.len());
        if found != expected {
            return Err(Error::Shape { argument: "covariance_matrix", expected, found });
        }
        Ok(min_variance::MinVariance {
            covariance_matrix: self.assets.covariance()?,
            min_weights: self.bounds.min_weights(),
            max_weights: self.bounds.max_weights(),
        })
    }

    fn answer(
        &self,
        portfolio: min_variance::MinVariancePortfolio,
    ) -> quant_core::Result<MinVariancePortfolio> {
        Ok(portfolio.with_returns(&self.assets.expected_returns, self.rf_rate)?.into())
    }

    /// Returns the problem with the limits of the request; `None` where it has bounds alone.
    fn limited_problem(&self) -> quant_core::Result<Option<ConstrainedProblem>> {
        let Some(limits) = self.limits.read()? else { return Ok(None) };
        let problem = problem(&self.assets, self.rf_rate, &self.bounds, Goal::MinVariance)?;
        Ok(Some(limits.added_to(problem)))
    }
}

impl From<portfolio::Portfolio> for MinVariancePortfolio {
    fn from(found: portfolio::Portfolio) -> Self {
        Self {
            weights: found.weights,
            expected_return: found.expected_return,
            volatility: found.volatility,
            sharpe_ratio: found.sharpe_ratio,
            binding_bounds: None,
            binding_constraints: None,
            is_turnover_binding: None,
            risk_contributions: None,
            budget_multiplier: None,
            bound_multipliers: None,
        }
    }
}

impl Computation for MinVariance {
    type Answer = MinVariancePortfolio;

    const HAS_FURTHER_FIELDS: bool = true;

    fn compute(&self) -> quant_core::Result<MinVariancePortfolio> {
        match self.limited_problem()? {
            Some(problem) => Ok(problem.solve()?.into()),
            None => self.answer(self.problem()?.solve()?),
        }
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        match self.limited_problem()? {
            Some(problem) => problem.explain(),
            None => self.problem()?.explain(),
        }
    }

    fn compute_in_full(&self) -> quant_core::Result<MinVariancePortfolio> {
        if let Some(problem) = self.limited_problem()? {
            return limited_in_full(&problem);
        }
        let problem = self.problem()?;
        let portfolio = problem.solve()?;
        let detail = problem.detail(&portfolio)?;
        Ok(MinVariancePortfolio {
            binding_bounds: Some(named(detail.binding_bounds)),
            risk_contributions: Some(detail.risk_contributions),
            budget_multiplier: detail.budget_multiplier,
            bound_multipliers: detail.bound_multipliers,
            ..self.answer(portfolio)?
        })
    }

    fn is_long(&self) -> bool {
        self.assets.expected_returns.len() > LONG_FROM_ASSETS || self.limits.are_slow()
    }
}

/// Returns the portfolio of a problem with limits, with its further fields.
fn limited_in_full(problem: &ConstrainedProblem) -> quant_core::Result<MinVariancePortfolio> {
    let portfolio = problem.solve()?;
    let detail = problem.detail(&portfolio)?;
    Ok(MinVariancePortfolio {
        binding_bounds: Some(named(detail.binding_bounds)),
        binding_constraints: Some(named(detail.binding_constraints)),
        is_turnover_binding: detail.is_turnover_binding,
        risk_contributions: Some(detail.risk_contributions),
        ..portfolio.into()
    })
}

fn named(bounds: Vec<min_variance::BindingBound>) -> Vec<BindingBound> {
    bounds.into_iter().map(Into::into).collect()
}

impl Example for MinVariance {
    fn example() -> Self {
        let max_weights = Some(vec![0.6, 0.6, 0.6].into());
        Self {
            assets: Assets::example(),
            rf_rate: 0.03,
            bounds: WeightBounds { max_weights, ..WeightBounds::example() },
            limits: WeightLimits::default(),
        }
    }
}

impl Example for MinVariancePortfolio {
    fn example() -> Self {
        example_answer::<MinVariance>()
    }
}

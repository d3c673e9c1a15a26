//! Portfolios along the efficient frontier.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    Error,
    portfolio::{
        self, Covariance,
        constrained::{ConstrainedProblem, Goal},
    },
};

use super::{
    LONG_FROM_ASSETS,
    constraint::{Constraint, limits},
};
use crate::{
    api::quantlib::Computation,
    http::{Answer, Metered, Numbers, Tag},
};

/// Above so many assets a frontier of many points may take over a millisecond.
const LONG_FRONTIER_FROM_ASSETS: usize = 16;
/// Above so many assets the answer has no corner portfolios, of which there may be as many.
const CORNERS_UP_TO_ASSETS: usize = 250;

/// The REST endpoints of portfolios along the efficient frontier.
#[derive(Default)]
pub struct OptimalPortfolios;

#[OpenApi(prefix_path = "/quantlib/portfolio/optimize", tag = "Tag::Portfolio")]
impl OptimalPortfolios {
    /// Find the portfolio of the largest Sharpe ratio.
    ///
    /// The tangency portfolio: weights that sum to 1, within optional bounds per asset. Refused
    /// where no portfolio returns more than the risk-free rate, and where the ratio grows without
    /// end.
    #[oai(path = "/max-sharpe", method = "post", operation_id = "find_max_sharpe_portfolio")]
    async fn max_sharpe(&self, call: Metered<MaxSharpe>) -> Result<Answer<OptimalPortfolio>> {
        call.run().await
    }

    /// Find the portfolio of least variance with a given return.
    ///
    /// The return is met as an equality, so that a target below the return of the minimum-variance
    /// portfolio gives an inefficient one. Refused where the bounds exclude the return.
    #[oai(path = "/target-return", method = "post", operation_id = "find_target_return_portfolio")]
    async fn target_return(&self, call: Metered<TargetReturn>) -> Result<Answer<OptimalPortfolio>> {
        call.run().await
    }

    /// Trace the efficient frontier.
    ///
    /// Portfolios at equal distances in return, from the one of least variance to the largest
    /// return, with the corner portfolios, between which all others are mixtures, and the tangency
    /// portfolio.
    #[oai(path = "/efficient-frontier", method = "post", operation_id = "trace_efficient_frontier")]
    async fn efficient_frontier(
        &self,
        call: Metered<EfficientFrontier>,
    ) -> Result<Answer<FrontierPortfolios>> {
        call.run().await
    }
}

/// Assets to choose among, and the bounds on their weights.
#[derive(Clone, Debug, Object)]
#[oai(rename = "MaxSharpeRequest", example)]
pub struct MaxSharpe {
    /// Expected return of each asset, annual decimals; 1 to 1,000 assets.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub expected_returns: Numbers,
    /// Covariance of annual returns, a row per asset; symmetric, positive semi-definite.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub covariance_matrix: Vec<Numbers<1000>>,
    /// Risk-free rate, an annual decimal.
    #[oai(default)]
    pub rf_rate: f64,
    /// Smallest weight of each asset (0 for long-only); absent means unbounded.
    #[oai(nullable, validator(min_items = 1, max_items = 1000))]
    pub min_weights: Option<Numbers>,
    /// Largest weight of each asset; absent means unbounded.
    #[oai(nullable, validator(min_items = 1, max_items = 1000))]
    pub max_weights: Option<Numbers>,
    /// Conditions on weighted sums of the weights, as limits of groups; up to 100. With conditions
    /// or a limit of turnover there are at most 250 assets.
    #[oai(nullable, validator(max_items = 100))]
    pub constraints: Option<Vec<Constraint>>,
    /// Weight of each asset today; needed where `max_turnover` is present.
    #[oai(nullable, validator(min_items = 1, max_items = 250))]
    pub current_weights: Option<Numbers>,
    /// Largest sum of the sizes of all changes of weights, purchases and sales; zero or more.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub max_turnover: Option<f64>,
}

/// Assets to choose among, the bounds on their weights, and the return to be had.
#[derive(Clone, Debug, Object)]
#[oai(rename = "TargetReturnRequest", example)]
pub struct TargetReturn {
    /// Expected return of each asset, annual decimals; 1 to 1,000 assets.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub expected_returns: Numbers,
    /// Covariance of annual returns, a row per asset; symmetric, positive semi-definite.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub covariance_matrix: Vec<Numbers<1000>>,
    /// Expected return of the portfolio, an annual decimal.
    pub target_return: f64,
    /// Risk-free rate for the Sharpe ratio, an annual decimal.
    #[oai(default)]
    pub rf_rate: f64,
    /// Smallest weight of each asset (0 for long-only); absent means unbounded.
    #[oai(nullable, validator(min_items = 1, max_items = 1000))]
    pub min_weights: Option<Numbers>,
    /// Largest weight of each asset; absent means unbounded.
    #[oai(nullable, validator(min_items = 1, max_items = 1000))]
    pub max_weights: Option<Numbers>,
    /// Conditions on weighted sums of the weights, as limits of groups; up to 100. With conditions
    /// or a limit of turnover there are at most 250 assets.
    #[oai(nullable, validator(max_items = 100))]
    pub constraints: Option<Vec<Constraint>>,
    /// Weight of each asset today; needed where `max_turnover` is present.
    #[oai(nullable, validator(min_items = 1, max_items = 250))]
    pub current_weights: Option<Numbers>,
    /// Largest sum of the sizes of all changes of weights, purchases and sales; zero or more.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub max_turnover: Option<f64>,
}

/// Assets to choose among, the bounds on their weights, and the number of portfolios.
#[derive(Clone, Debug, Object)]
#[oai(rename = "EfficientFrontierRequest", example)]
pub struct EfficientFrontier {
    /// Expected return of each asset, annual decimals; 1 to 1,000 assets.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub expected_returns: Numbers,
    /// Covariance of annual returns, a row per asset; symmetric, positive semi-definite.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub covariance_matrix: Vec<Numbers<1000>>,
    /// Number of portfolios, 2 to 500.
    #[oai(default = "fifty", validator(minimum(value = "2"), maximum(value = "500")))]
    pub n_points: u32,
    /// Risk-free rate for the Sharpe ratios and the tangency portfolio, an annual decimal.
    #[oai(default)]
    pub rf_rate: f64,
    /// Smallest weight of each asset (0 for long-only); absent means unbounded.
    #[oai(nullable, validator(min_items = 1, max_items = 1000))]
    pub min_weights: Option<Numbers>,
    /// Largest weight of each asset; absent means unbounded.
    #[oai(nullable, validator(min_items = 1, max_items = 1000))]
    pub max_weights: Option<Numbers>,
    /// Return of a further efficient portfolio, an annual decimal.
    #[oai(nullable)]
    pub at_return: Option<f64>,
}

fn fifty() -> u32 {
    50
}

/// A portfolio on the frontier.
#[derive(Clone, Debug, Object)]
#[oai(rename = "OptimalPortfolio")]
pub struct OptimalPortfolio {
    /// Weight of each asset, in the order of the request; they sum to 1.
    pub weights: Vec<f64>,
    /// Expected return of the portfolio, an annual decimal.
    pub expected_return: f64,
    /// The expected return again.
    pub portfolio_return: f64,
    /// Standard deviation of the annual return.
    pub volatility: f64,
    /// The volatility again.
    pub portfolio_volatility: f64,
    /// Excess return over the risk-free rate per unit of volatility; null where the volatility is
    /// zero.
    #[oai(nullable)]
    pub sharpe_ratio: Option<f64>,
    /// The risk-free rate of the Sharpe ratio.
    pub rf_rate: f64,
}

/// A portfolio of a list along the frontier.
#[derive(Clone, Debug, Object)]
#[oai(rename = "FrontierPoint")]
pub struct FrontierPoint {
    /// Expected return of the portfolio, an annual decimal.
    pub expected_return: f64,
    /// Standard deviation of the annual return.
    pub volatility: f64,
    /// Excess return over the risk-free rate per unit of volatility; null where the volatility is
    /// zero.
    #[oai(nullable)]
    pub sharpe: Option<f64>,
    /// Weight of each asset, in the order of the request; they sum to 1.
    pub weights: Vec<f64>,
}

/// Portfolios along the efficient frontier.
#[derive(Clone, Debug, Object)]
#[oai(rename = "EfficientFrontierPortfolios")]
pub struct FrontierPortfolios {
    /// Portfolios at equal distances in return; one where the frontier is a single portfolio.
    pub frontier: Vec<FrontierPoint>,
    /// Volatility of the first portfolio, the least of all.
    pub min_volatility: f64,
    /// Volatility of the last portfolio.
    pub max_volatility: f64,
    /// Whether the frontier goes on beyond the list, since the weights have no bounds. The list
    /// then ends at the largest expected return of an asset, or above it where the first portfolio
    /// returns as much.
    pub is_unbounded: bool,
    /// The corner portfolios: all others of the frontier are mixtures of two neighbours. Absent
    /// above 250 assets.
    #[oai(skip_serializing_if_is_none)]
    pub corners: Option<Vec<FrontierPoint>>,
    /// The portfolio of the largest Sharpe ratio; null where there is none.
    #[oai(nullable)]
    pub tangency: Option<FrontierPoint>,
    /// The efficient portfolio with the return `at_return`, where one was sent.
    #[oai(skip_serializing_if_is_none)]
    pub at_return: Option<FrontierPoint>,
    /// The number of portfolios that was asked for.
    pub n_points: u32,
    /// The risk-free rate of the Sharpe ratios.
    pub rf_rate: f64,
}

impl OptimalPortfolio {
    fn new(found: portfolio::Portfolio, rf_rate: f64) -> Self {
        Self {
            weights: found.weights,
            expected_return: found.expected_return,
            portfolio_return: found.expected_return,
            volatility: found.volatility,
            portfolio_volatility: found.volatility,
            sharpe_ratio: found.sharpe_ratio,
            rf_rate,
        }
    }
}

impl From<portfolio::Portfolio> for FrontierPoint {
    fn from(found: portfolio::Portfolio) -> Self {
        Self {
            expected_return: found.expected_return,
            volatility: found.volatility,
            sharpe: found.sharpe_ratio,
            weights: found.weights,
        }
    }
}

impl Computation for MaxSharpe {
    type Answer = OptimalPortfolio;

    fn compute(&self) -> quant_core::Result<OptimalPortfolio> {
        let expected_returns = self.expected_returns.to_vec();
        let covariance_matrix = Covariance::from_rows(&self.covariance_matrix)?;
        let risk_free_rate = self.rf_rate;
        let min_weights = self.min_weights.as_ref().map(Numbers::to_vec);
        let max_weights = self.max_weights.as_ref().map(Numbers::to_vec);
        let constraints = self.constraints.as_deref();
        let found = match limits(constraints, self.current_weights.as_ref(), self.max_turnover)? {
            None => portfolio::MaxSharpe {
                expected_returns,
                covariance_matrix,
                risk_free_rate,
                min_weights,
                max_weights,
            }
            .solve()?,
            Some((constraints, turnover)) => ConstrainedProblem {
                expected_returns,
                covariance_matrix,
                risk_free_rate,
                min_weights,
                max_weights,
                constraints,
                turnover,
                goal: Goal::MaxSharpe,
            }
            .solve()?,
        };
        Ok(OptimalPortfolio::new(found, self.rf_rate))
    }

    fn is_long(&self) -> bool {
        self.expected_returns.len() > LONG_FROM_ASSETS
            || is_limited(self.constraints.as_deref(), self.max_turnover)
    }

    fn wire_name(argument: &'static str) -> &'static str {
        wire_name(argument)
    }
}

impl Computation for TargetReturn {
    type Answer = OptimalPortfolio;

    fn compute(&self) -> quant_core::Result<OptimalPortfolio> {
        let expected_returns = self.expected_returns.to_vec();
        let covariance_matrix = Covariance::from_rows(&self.covariance_matrix)?;
        let risk_free_rate = self.rf_rate;
        let min_weights = self.min_weights.as_ref().map(Numbers::to_vec);
        let max_weights = self.max_weights.as_ref().map(Numbers::to_vec);
        let constraints = self.constraints.as_deref();
        let found = match limits(constraints, self.current_weights.as_ref(), self.max_turnover)? {
            None => portfolio::TargetReturn {
                expected_returns,
                covariance_matrix,
                risk_free_rate,
                min_weights,
                max_weights,
                target_return: self.target_return,
            }
            .solve()?,
            Some((constraints, turnover)) => ConstrainedProblem {
                expected_returns,
                covariance_matrix,
                risk_free_rate,
                min_weights,
                max_weights,
                constraints,
                turnover,
                goal: Goal::TargetReturn(self.target_return),
            }
            .solve()?,
        };
        Ok(OptimalPortfolio::new(found, self.rf_rate))
    }

    fn is_long(&self) -> bool {
        self.expected_returns.len() > LONG_FROM_ASSETS
            || is_limited(self.constraints.as_deref(), self.max_turnover)
    }

    fn wire_name(argument: &'static str) -> &'static str {
        wire_name(argument)
    }
}

impl Computation for EfficientFrontier {
    type Answer = FrontierPortfolios;

    fn compute(&self) -> quant_core::Result<FrontierPortfolios> {
        let problem = portfolio::EfficientFrontier {
            expected_returns: self.expected_returns.to_vec(),
            covariance_matrix: Covariance::from_rows(&self.covariance_matrix)?,
            risk_free_rate: self.rf_rate,
            min_weights: self.min_weights.as_ref().map(Numbers::to_vec),
            max_weights: self.max_weights.as_ref().map(Numbers::to_vec),
        };
        let found = problem.points(self.n_points as usize)?;
        let at_return = self.at_return.map(|target| problem.at_return(target)).transpose()?;
        let points: Vec<FrontierPoint> = found.points.into_iter().map(Into::into).collect();
        let volatility =
            |point: Option<&FrontierPoint>| point.map_or(0.0, |point| point.volatility);
        let has_corners = self.expected_returns.len() <= CORNERS_UP_TO_ASSETS;
        let corners = has_corners.then_some(found.frontier.corners);
        Ok(FrontierPortfolios {
            min_volatility: volatility(points.first()),
            max_volatility: volatility(points.last()),
            is_unbounded: found.frontier.ray.is_some(),
            corners: corners.map(|corners| corners.into_iter().map(Into::into).collect()),
            tangency: tangency(problem)?,
            at_return: at_return.map(Into::into),
            frontier: points,
            n_points: self.n_points,
            rf_rate: self.rf_rate,
        })
    }

    fn is_long(&self) -> bool {
        self.expected_returns.len() > LONG_FRONTIER_FROM_ASSETS
    }

    fn wire_name(argument: &'static str) -> &'static str {
        match argument {
            "count" => "n_points",
            "target_return" => "at_return",
            other => wire_name(other),
        }
    }
}

/// Returns the portfolio of the largest Sharpe ratio, where there is one.
fn tangency(problem: portfolio::EfficientFrontier) -> quant_core::Result<Option<FrontierPoint>> {
    let problem = portfolio::MaxSharpe {
        expected_returns: problem.expected_returns,
        covariance_matrix: problem.covariance_matrix,
        risk_free_rate: problem.risk_free_rate,
        min_weights: problem.min_weights,
        max_weights: problem.max_weights,
    };
    match problem.solve() {
        Ok(found) => Ok(Some(found.into())),
        Err(Error::Conflict { argument: "risk_free_rate", .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Constraints take the method that is slower than that of bounds alone.
fn is_limited(constraints: Option<&[Constraint]>, max_turnover: Option<f64>) -> bool {
    max_turnover.is_some() || constraints.is_some_and(|constraints| !constraints.is_empty())
}

fn wire_name(argument: &'static str) -> &'static str {
    if argument == "risk_free_rate" { "rf_rate" } else { argument }
}

/// The covariance of the examples.
pub(super) fn three_assets() -> Vec<Numbers<1000>> {
    vec![
        vec![0.04, 0.01, 0.02].into(),
        vec![0.01, 0.09, 0.03].into(),
        vec![0.02, 0.03, 0.0625].into(),
    ]
}

impl Example for MaxSharpe {
    fn example() -> Self {
        Self {
            expected_returns: vec![0.08, 0.12, 0.10].into(),
            covariance_matrix: three_assets(),
            rf_rate: 0.03,
            min_weights: Some(vec![0.0, 0.0, 0.0].into()),
            max_weights: None,
            constraints: None,
            current_weights: None,
            max_turnover: None,
        }
    }
}

impl Example for TargetReturn {
    fn example() -> Self {
        let MaxSharpe { expected_returns, covariance_matrix, rf_rate, min_weights, .. } =
            MaxSharpe::example();
        let group =
            Constraint { coefficients: vec![0.0, 1.0, 1.0].into(), min: None, max: Some(0.75) };
        Self {
            expected_returns,
            covariance_matrix,
            target_return: 0.095,
            rf_rate,
            min_weights,
            max_weights: None,
            constraints: Some(vec![group]),
            current_weights: None,
            max_turnover: None,
        }
    }
}

impl Example for EfficientFrontier {
    fn example() -> Self {
        let MaxSharpe { expected_returns, covariance_matrix, rf_rate, min_weights, .. } =
            MaxSharpe::example();
        Self {
            expected_returns,
            covariance_matrix,
            n_points: 5,
            rf_rate,
            min_weights,
            max_weights: None,
            at_return: Some(0.1),
        }
    }
}

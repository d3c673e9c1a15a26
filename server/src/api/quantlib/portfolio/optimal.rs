//! Portfolios along the efficient frontier.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    Error,
    explanation::Explanation,
    portfolio::{
        self,
        constrained::{ConstrainedProblem, Goal},
    },
};

use super::{
    Assets, LONG_FROM_ASSETS, WeightBounds,
    constraint::{Constraint, WeightLimits},
    problem,
};
use crate::{
    api::quantlib::Computation,
    http::{Answer, Metered, Tag},
};

/// Above so many assets a frontier of many points may take over a millisecond.
const LONG_FRONTIER_FROM_ASSETS: usize = 16;
/// The most assets of one portfolio and of a frontier: the work grows with their third power.
const MOST_ASSETS: (usize, &str) = (400, "at most 400 assets");
const MOST_ASSETS_OF_FRONTIER: (usize, &str) = (300, "at most 300 assets on a frontier");
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
    /// end. At most 400 assets.
    #[oai(path = "/max-sharpe", method = "post", operation_id = "find_max_sharpe_portfolio")]
    async fn max_sharpe(&self, call: Metered<MaxSharpe>) -> Result<Answer<OptimalPortfolio>> {
        call.run().await
    }

    /// Find the portfolio of least variance with a given return.
    ///
    /// The return is met as an equality, so that a target below the return of the minimum-variance
    /// portfolio gives an inefficient one. Refused where the bounds exclude the return. At most
    /// 400 assets.
    #[oai(path = "/target-return", method = "post", operation_id = "find_target_return_portfolio")]
    async fn target_return(&self, call: Metered<TargetReturn>) -> Result<Answer<OptimalPortfolio>> {
        call.run().await
    }

    /// Trace the efficient frontier.
    ///
    /// Portfolios at equal distances in return, from the one of least variance to the largest
    /// return, with the corner portfolios, between which all others are mixtures, and the tangency
    /// portfolio. All of them keep the bounds, `constraints` and `max_turnover`. At most 300
    /// assets.
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
    /// The assets.
    #[oai(flatten)]
    pub assets: Assets,
    /// Risk-free rate, an annual decimal.
    #[oai(default)]
    pub rf_rate: f64,
    /// The bounds on the weights.
    #[oai(flatten)]
    pub bounds: WeightBounds,
    /// The limits beside the bounds.
    #[oai(flatten)]
    pub limits: WeightLimits,
}

/// Assets to choose among, the bounds on their weights, and the return to be had.
#[derive(Clone, Debug, Object)]
#[oai(rename = "TargetReturnRequest", example)]
pub struct TargetReturn {
    /// The assets.
    #[oai(flatten)]
    pub assets: Assets,
    /// Expected return of the portfolio, an annual decimal.
    pub target_return: f64,
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

/// Assets to choose among, the bounds on their weights, and the number of portfolios.
#[derive(Clone, Debug, Object)]
#[oai(rename = "EfficientFrontierRequest", example)]
pub struct EfficientFrontier {
    /// The assets.
    #[oai(flatten)]
    pub assets: Assets,
    /// Number of portfolios, 2 to 500.
    #[oai(default = "fifty", validator(minimum(value = "2"), maximum(value = "500")))]
    pub n_points: u32,
    /// Risk-free rate for the Sharpe ratios and the tangency portfolio, an annual decimal.
    #[oai(default)]
    pub rf_rate: f64,
    /// The bounds on the weights.
    #[oai(flatten)]
    pub bounds: WeightBounds,
    /// The limits beside the bounds.
    #[oai(flatten)]
    pub limits: WeightLimits,
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
    /// True if the frontier goes on beyond the list, since the weights have no bounds. The list
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

/// A portfolio to find under the limits of a request, or within its bounds alone.
enum GoalProblem<B> {
    WithinBounds(B),
    Limited(ConstrainedProblem),
}

/// Refuses more assets than the most, with the requirement in words.
fn check_number(
    assets: &Assets,
    (most, requirement): (usize, &'static str),
) -> quant_core::Result<()> {
    let (argument, number) = ("expected_returns", assets.expected_returns.len());
    let value = number as f64;
    if number > most { Err(Error::Domain { argument, value, requirement }) } else { Ok(()) }
}

/// Reads the problem of a goal: with the limits of the request where it has some, else `within_bounds`.
fn goal_problem<B>(
    assets: &Assets,
    risk_free_rate: f64,
    bounds: &WeightBounds,
    limits: &WeightLimits,
    goal: Goal,
    within_bounds: impl FnOnce(ConstrainedProblem) -> B,
) -> quant_core::Result<GoalProblem<B>> {
    check_number(assets, MOST_ASSETS)?;
    let problem = problem(assets, risk_free_rate, bounds, goal)?;
    Ok(match limits.read()? {
        None => GoalProblem::WithinBounds(within_bounds(problem)),
        Some(limits) => GoalProblem::Limited(limits.added_to(problem)),
    })
}

impl MaxSharpe {
    fn problem(&self) -> quant_core::Result<GoalProblem<portfolio::MaxSharpe>> {
        let Self { assets, rf_rate, bounds, limits } = self;
        goal_problem(assets, *rf_rate, bounds, limits, Goal::MaxSharpe, max_sharpe)
    }
}

/// Returns the search for the largest Sharpe ratio within the bounds of a problem.
fn max_sharpe(problem: ConstrainedProblem) -> portfolio::MaxSharpe {
    portfolio::MaxSharpe {
        expected_returns: problem.expected_returns,
        covariance_matrix: problem.covariance_matrix,
        risk_free_rate: problem.risk_free_rate,
        min_weights: problem.min_weights,
        max_weights: problem.max_weights,
    }
}

impl Computation for MaxSharpe {
    type Answer = OptimalPortfolio;

    fn compute(&self) -> quant_core::Result<OptimalPortfolio> {
        let found = match self.problem()? {
            GoalProblem::WithinBounds(problem) => problem.solve()?,
            GoalProblem::Limited(problem) => problem.solve()?,
        };
        Ok(OptimalPortfolio::new(found, self.rf_rate))
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        match self.problem()? {
            GoalProblem::WithinBounds(problem) => problem.explain(),
            GoalProblem::Limited(problem) => problem.explain(),
        }
    }

    fn is_long(&self) -> bool {
        self.assets.expected_returns.len() > LONG_FROM_ASSETS || self.limits.are_slow()
    }

    fn wire_name(argument: &'static str) -> &'static str {
        wire_name(argument)
    }
}

impl TargetReturn {
    fn problem(&self) -> quant_core::Result<GoalProblem<portfolio::TargetReturn>> {
        let Self { assets, target_return, rf_rate, bounds, limits } = self;
        let (target_return, goal) = (*target_return, Goal::TargetReturn(*target_return));
        goal_problem(assets, *rf_rate, bounds, limits, goal, |problem| portfolio::TargetReturn {
            expected_returns: problem.expected_returns,
            covariance_matrix: problem.covariance_matrix,
            risk_free_rate: problem.risk_free_rate,
            min_weights: problem.min_weights,
            max_weights: problem.max_weights,
            target_return,
        })
    }
}

impl Computation for TargetReturn {
    type Answer = OptimalPortfolio;

    fn compute(&self) -> quant_core::Result<OptimalPortfolio> {
        let found = match self.problem()? {
            GoalProblem::WithinBounds(problem) => problem.solve()?,
            GoalProblem::Limited(problem) => problem.solve()?,
        };
        Ok(OptimalPortfolio::new(found, self.rf_rate))
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        match self.problem()? {
            GoalProblem::WithinBounds(problem) => problem.explain(),
            GoalProblem::Limited(problem) => problem.explain(),
        }
    }

    fn is_long(&self) -> bool {
        self.assets.expected_returns.len() > LONG_FROM_ASSETS || self.limits.are_slow()
    }

    fn wire_name(argument: &'static str) -> &'static str {
        wire_name(argument)
    }
}

impl EfficientFrontier {
    fn problem(&self) -> quant_core::Result<portfolio::ConstrainedFrontier> {
        check_number(&self.assets, MOST_ASSETS_OF_FRONTIER)?;
        let assets = portfolio::EfficientFrontier {
            expected_returns: self.assets.expected_returns.to_vec(),
            covariance_matrix: self.assets.covariance()?,
            risk_free_rate: self.rf_rate,
            min_weights: self.bounds.min_weights(),
            max_weights: self.bounds.max_weights(),
        };
        let (constraints, turnover) = self.limits.read()?.unwrap_or_default().into_parts();
        Ok(portfolio::ConstrainedFrontier { assets, constraints, turnover })
    }
}

impl Computation for EfficientFrontier {
    type Answer = FrontierPortfolios;

    fn compute(&self) -> quant_core::Result<FrontierPortfolios> {
        let problem = self.problem()?;
        let found = problem.points(self.n_points as usize)?;
        let at_return = self.at_return.map(|target| problem.at_return(target)).transpose()?;
        let points: Vec<FrontierPoint> = found.points.into_iter().map(Into::into).collect();
        let volatility =
            |point: Option<&FrontierPoint>| point.map_or(0.0, |point| point.volatility);
        let has_corners = self.assets.expected_returns.len() <= CORNERS_UP_TO_ASSETS;
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

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.problem()?.explain()
    }

    fn is_long(&self) -> bool {
        self.assets.expected_returns.len() > LONG_FRONTIER_FROM_ASSETS || self.limits.are_slow()
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
fn tangency(frontier: portfolio::ConstrainedFrontier) -> quant_core::Result<Option<FrontierPoint>> {
    let is_limited = !frontier.constraints.is_empty() || frontier.turnover.is_some();
    let problem = frontier.with_goal(Goal::MaxSharpe);
    let found = if is_limited { problem.solve() } else { max_sharpe(problem).solve() };
    match found {
        Ok(found) => Ok(Some(found.into())),
        Err(Error::Conflict { argument: "risk_free_rate", .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn wire_name(argument: &'static str) -> &'static str {
    if argument == "risk_free_rate" { "rf_rate" } else { argument }
}

impl Example for MaxSharpe {
    fn example() -> Self {
        Self {
            assets: Assets::example(),
            rf_rate: 0.03,
            bounds: WeightBounds::example(),
            limits: WeightLimits::default(),
        }
    }
}

impl Example for TargetReturn {
    fn example() -> Self {
        let group =
            Constraint { coefficients: vec![0.0, 1.0, 1.0].into(), min: None, max: Some(0.75) };
        Self {
            assets: Assets::example(),
            target_return: 0.095,
            rf_rate: 0.03,
            bounds: WeightBounds::example(),
            limits: WeightLimits { constraints: Some(vec![group]), ..WeightLimits::default() },
        }
    }
}

impl Example for EfficientFrontier {
    fn example() -> Self {
        Self {
            assets: Assets::example(),
            n_points: 5,
            rf_rate: 0.03,
            bounds: WeightBounds::example(),
            limits: WeightLimits::default(),
            at_return: Some(0.1),
        }
    }
}

//! The risk of a portfolio in one answer.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    Error,
    explanation::Explanation,
    portfolio::{Covariance, ReturnSeries, performance, risk_contributions},
    risk::{Distribution, HistoricalRisk, ParametricRisk, explain_portfolio_risk, historical},
};

use super::{LONG_FROM, ninety_five};
use crate::{
    api::quantlib::Computation,
    http::{Answer, Metered, Numbers, Tag},
};

/// The REST endpoint of a portfolio's risk in one answer.
#[derive(Default)]
pub struct PortfolioOverview;

#[OpenApi(prefix_path = "/quantlib/portfolio/risk", tag = "Tag::Portfolio")]
impl PortfolioOverview {
    /// Measure the risk of a portfolio.
    ///
    /// Volatility, contributions, value at risk and expected shortfall from weights and covariance. With a
    /// series of the portfolio's returns also ratios, drawdown and historical risk; with a benchmark also beta
    /// and tracking error. A figure without its series, or with a divisor of zero, is null.
    #[oai(path = "/comprehensive", method = "post", operation_id = "measure_portfolio_risk")]
    async fn comprehensive(
        &self,
        call: Metered<Comprehensive>,
    ) -> Result<Answer<PortfolioFigures>> {
        call.run().await
    }
}

/// A portfolio, the covariance of its assets, and its returns.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ComprehensiveRiskRequest", example)]
pub struct Comprehensive {
    /// Weight of each asset, of any sign and sum; 1 to 1,000 assets.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub weights: Numbers,
    /// Covariance of annual returns, a row per asset; symmetric, positive semi-definite.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub covariance_matrix: Vec<Numbers<1000>>,
    /// Simple return of the portfolio in each period, a decimal of at least -1; 2 to 100,000 periods.
    #[oai(nullable, validator(min_items = 2, max_items = 100000))]
    pub returns: Option<Numbers>,
    /// Returns of a benchmark in the same periods; needs `returns`.
    #[oai(nullable, validator(min_items = 2, max_items = 100000))]
    pub benchmark_returns: Option<Numbers>,
    /// Risk-free rate for the ratios, an annual decimal.
    #[oai(default)]
    pub rf_rate: f64,
    /// Number of periods of the returns in a year: 252 for daily ones, 12 for monthly ones; above zero.
    #[oai(default = "daily", validator(minimum(value = "0", exclusive)))]
    pub periods_per_year: f64,
    /// Probability that the loss does not exceed the value at risk; above 0.5 and below 1.
    #[oai(
        default = "ninety_five",
        validator(minimum(value = "0.5", exclusive), maximum(value = "1", exclusive))
    )]
    pub confidence: f64,
}

fn daily() -> f64 {
    252.0
}

/// The risk of a portfolio. Losses are positive; all figures are fractions of the portfolio's value.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ComprehensiveRisk")]
pub struct PortfolioFigures {
    /// Standard deviation of the annual return, from weights and covariance.
    pub volatility: f64,
    /// Mean excess return by the standard deviation of the series, annual; null without returns that vary.
    #[oai(nullable)]
    pub sharpe_ratio: Option<f64>,
    /// Mean excess return by the deviation below the risk-free rate, annual; null without returns below it.
    #[oai(nullable)]
    pub sortino_ratio: Option<f64>,
    /// Compounded annual return by the largest drawdown; null without a drawdown.
    #[oai(nullable)]
    pub calmar_ratio: Option<f64>,
    /// Contribution of each asset to the volatility; they sum to it.
    pub risk_contributions: Vec<f64>,
    /// Part of the volatility that each asset contributes; null where the volatility is zero.
    #[oai(nullable)]
    pub percentages: Option<Vec<f64>>,
    /// Volatilities of the assets, weighted by the size of the weights, by the portfolio's; null where the
    /// volatility is zero.
    #[oai(nullable)]
    pub diversification_ratio: Option<f64>,
    /// Value at risk of a year from the covariance, normal with mean zero.
    #[oai(rename = "VaR")]
    pub value_at_risk: f64,
    /// The value at risk again.
    pub var: f64,
    /// Mean loss beyond the value at risk, by the same distribution.
    pub expected_shortfall: f64,
    /// The expected shortfall again.
    pub cvar: f64,
    /// Value at risk of one period from the returns; null without returns.
    #[oai(nullable)]
    pub historical_var: Option<f64>,
    /// Expected shortfall of one period from the returns; null without returns.
    #[oai(nullable)]
    pub historical_expected_shortfall: Option<f64>,
    /// Standard deviation of the series, annual; null without returns.
    #[oai(nullable)]
    pub realised_volatility: Option<f64>,
    /// Compounded annual return of the series; null without returns.
    #[oai(nullable)]
    pub annual_return: Option<f64>,
    /// Largest loss from an earlier peak, as a part of it; null without returns.
    #[oai(nullable)]
    pub max_drawdown: Option<f64>,
    /// Covariance with the benchmark by its variance; null without a benchmark that varies.
    #[oai(nullable)]
    pub beta: Option<f64>,
    /// Standard deviation of the return beyond the benchmark's, annual; null without a benchmark.
    #[oai(nullable)]
    pub tracking_error: Option<f64>,
    /// Mean return beyond the benchmark's by tracking error, annual; null without a tracking error.
    #[oai(nullable)]
    pub information_ratio: Option<f64>,
    /// The confidence.
    pub confidence: f64,
    /// The risk-free rate, annual.
    pub rf_rate: f64,
    /// The number of periods in a year.
    pub periods_per_year: f64,
}

/// What the series of returns says.
type SeriesFigures = (performance::PerformanceRatios, HistoricalRisk);

impl Comprehensive {
    fn series(&self) -> Option<ReturnSeries> {
        Some(ReturnSeries {
            returns: self.returns.as_ref()?.to_vec(),
            benchmark_returns: self.benchmark_returns.as_ref().map(Numbers::to_vec),
            risk_free_rate: self.rf_rate,
            target_return: None,
            periods_per_year: self.periods_per_year,
        })
    }

    /// The return over the period of the covariance.
    fn position(&self, volatility: f64) -> ParametricRisk {
        let (confidence, distribution) = (self.confidence, Distribution::Normal);
        ParametricRisk { mean: 0.0, volatility, distribution, confidence, horizon: 1.0 }
    }

    fn of_series(&self) -> quant_core::Result<Option<SeriesFigures>> {
        let Some((returns, series)) = self.returns.as_ref().zip(self.series()) else {
            let problem = "is needed where `benchmark_returns` is given";
            let missing = Error::Conflict { argument: "returns", problem };
            return if self.benchmark_returns.is_some() { Err(missing) } else { Ok(None) };
        };
        Ok(Some((series.ratios()?, historical(returns, self.confidence)?)))
    }
}

/// Returns the mean volatility of the assets by that of the portfolio; `None` for a riskless portfolio.
fn diversification(weights: &[f64], covariance: &Covariance, volatility: f64) -> Option<f64> {
    let variances = covariance.matrix().diagonal();
    let sizes = weights.iter().zip(variances.iter()).map(|(weight, v)| weight.abs() * v.sqrt());
    Some(sizes.sum::<f64>() / volatility).filter(|ratio| ratio.is_finite() && volatility > 0.0)
}

impl Computation for Comprehensive {
    type Answer = PortfolioFigures;

    fn compute(&self) -> quant_core::Result<PortfolioFigures> {
        let covariance = Covariance::from_rows(&self.covariance_matrix)?;
        let parts = risk_contributions(&self.weights, &covariance)?;
        let volatility = parts.volatility;
        let risk = self.position(volatility).evaluate()?;
        let (ratios, tail) = self.of_series()?.unzip();
        let benchmark = ratios.and_then(|found| found.benchmark);
        Ok(PortfolioFigures {
            volatility,
            sharpe_ratio: ratios.and_then(|found| found.sharpe),
            sortino_ratio: ratios.and_then(|found| found.sortino),
            calmar_ratio: ratios.and_then(|found| found.calmar),
            risk_contributions: parts.contributions,
            percentages: parts.shares,
            diversification_ratio: diversification(&self.weights, &covariance, volatility),
            value_at_risk: risk.value_at_risk,
            var: risk.value_at_risk,
            expected_shortfall: risk.expected_shortfall,
            cvar: risk.expected_shortfall,
            historical_var: tail.map(|found| found.risk.value_at_risk),
            historical_expected_shortfall: tail.map(|found| found.risk.expected_shortfall),
            realised_volatility: ratios.map(|found| found.volatility),
            annual_return: ratios.map(|found| found.annual_return),
            max_drawdown: ratios.map(|found| found.max_drawdown),
            beta: benchmark.and_then(|found| found.beta),
            tracking_error: benchmark.map(|found| found.tracking_error),
            information_ratio: benchmark.and_then(|found| found.information),
            confidence: self.confidence,
            rf_rate: self.rf_rate,
            periods_per_year: self.periods_per_year,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.of_series()?;
        let covariance = Covariance::from_rows(&self.covariance_matrix)?;
        let volatility = risk_contributions(&self.weights, &covariance)?.volatility;
        let of_series = self.series().map(|series| series.explain()).transpose()?;
        let position = self.position(volatility);
        Ok(explain_portfolio_risk(&position, &self.weights, &covariance)?
            .with_quantity("var")
            .with_conventions([
                "Volatility and value at risk are those of the weights under the covariance, with a \
                 mean of zero; ratios and the historical figures are those of `returns`.",
            ])
            .with_conventions(of_series.into_iter().flat_map(|series| series.conventions)))
    }

    fn is_long(&self) -> bool {
        let returns = self.returns.as_ref().map_or(0, |returns| returns.len());
        self.weights.len() > LONG_FROM[0] || returns > LONG_FROM[1]
    }

    fn wire_name(argument: &'static str) -> &'static str {
        if argument == "risk_free_rate" { "rf_rate" } else { argument }
    }
}

impl Example for Comprehensive {
    fn example() -> Self {
        Self {
            weights: vec![0.6, 0.4].into(),
            covariance_matrix: vec![vec![0.04, 0.01].into(), vec![0.01, 0.09].into()],
            returns: Some(vec![0.021, -0.013, 0.034, 0.008, -0.006, 0.017].into()),
            benchmark_returns: Some(vec![0.015, -0.01, 0.022, 0.011, -0.004, 0.009].into()),
            rf_rate: 0.02,
            periods_per_year: 12.0,
            confidence: 0.95,
        }
    }
}

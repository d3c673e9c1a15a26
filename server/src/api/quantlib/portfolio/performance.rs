//! Ratios of return to risk of a series of returns.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{Error, explanation::Explanation, portfolio::ReturnSeries};

use crate::{
    api::quantlib::Computation,
    http::{Answer, Metered, Numbers, Tag},
};

/// Above so many returns the ratios may take over a millisecond.
const LONG_FROM_RETURNS: usize = 10_000;

/// The REST endpoints of performance ratios.
#[derive(Default)]
pub struct Performance;

#[OpenApi(prefix_path = "/quantlib/portfolio/risk", tag = "Tag::Portfolio")]
impl Performance {
    /// Compute the ratios of return to risk of a series of returns.
    ///
    /// Sharpe, Sortino, Calmar, Omega and drawdown; against a benchmark also beta, alpha,
    /// information and Treynor ratios. Annual, from simple returns of `periods_per_year` periods. A
    /// series without variation, a return below the target or a drawdown is refused, since a ratio
    /// is then undefined.
    #[oai(path = "/ratios", method = "post", operation_id = "compute_performance_ratios")]
    async fn ratios(&self, call: Metered<Ratios>) -> Result<Answer<PerformanceRatios>> {
        call.run().await
    }
}

/// Returns of a portfolio, period by period, and what they are measured by.
#[derive(Clone, Debug, Object)]
#[oai(rename = "PerformanceRatiosRequest", example)]
pub struct Ratios {
    /// Simple return of each period, a decimal of at least -1; 2 to 100,000 periods.
    #[oai(validator(min_items = 2, max_items = 100000))]
    pub returns: Numbers,
    /// Risk-free rate, an annual decimal; that of a period is the rate by `periods_per_year`.
    #[oai(default)]
    pub rf_rate: f64,
    /// Returns of a benchmark in the same periods.
    #[oai(nullable, validator(min_items = 2, max_items = 100000))]
    pub benchmark_returns: Option<Numbers>,
    /// Return below which one is a loss for the Sortino and Omega ratios, an annual decimal; absent
    /// means the risk-free rate.
    #[oai(nullable)]
    pub target_return: Option<f64>,
    /// Number of periods in a year: 252 for daily returns, 12 for monthly ones; above zero.
    #[oai(default = "daily", validator(minimum(value = "0", exclusive)))]
    pub periods_per_year: f64,
}

fn daily() -> f64 {
    252.0
}

/// The return and risk of a series of returns, in annual figures.
#[derive(Clone, Debug, Object)]
#[oai(rename = "PerformanceRatios")]
pub struct PerformanceRatios {
    /// Mean excess return over the risk-free rate by the standard deviation (divisor n - 1).
    pub sharpe: f64,
    /// Mean return beyond the target by the downside deviation (divisor n).
    pub sortino: f64,
    /// Compounded annual return by the largest drawdown.
    pub calmar: f64,
    /// Sum of the gains beyond the target by the sum of the losses below.
    #[oai(nullable)]
    pub omega: Option<f64>,
    /// Standard error of the Sharpe ratio, for independent returns of a normal distribution.
    #[oai(nullable)]
    pub sharpe_standard_error: Option<f64>,
    /// Largest loss from an earlier peak of the compounded value, as a part of it; 0.2 is 20 %.
    pub max_drawdown: f64,
    /// Return over all periods, compounded.
    pub total_return: f64,
    /// Compounded return of a year.
    pub annual_return: f64,
    /// Mean return times the number of periods in a year.
    pub mean_return: f64,
    /// Standard deviation.
    pub volatility: f64,
    /// Root of the mean square of the shortfalls below the target.
    pub downside_deviation: f64,
    /// Mean return beyond the benchmark's; null without a benchmark.
    #[oai(nullable)]
    pub active_return: Option<f64>,
    /// Standard deviation of the return beyond the benchmark's; null without a benchmark.
    #[oai(nullable)]
    pub tracking_error: Option<f64>,
    /// Active return by tracking error; null without a benchmark, or a tracking error.
    #[oai(nullable)]
    pub information: Option<f64>,
    /// Covariance with the benchmark by its variance; null without a benchmark that varies.
    #[oai(nullable)]
    pub beta: Option<f64>,
    /// Mean excess return beyond beta times the benchmark's; null without beta.
    #[oai(nullable)]
    pub jensen_alpha: Option<f64>,
    /// Mean excess return by beta; null where beta is absent or zero.
    #[oai(nullable)]
    pub treynor: Option<f64>,
    /// Correlation with the benchmark; null without a benchmark that varies.
    #[oai(nullable)]
    pub correlation: Option<f64>,
    /// The number of returns.
    pub periods: u32,
    /// The number of periods in a year.
    pub periods_per_year: f64,
    /// The risk-free rate, annual.
    pub rf_rate: f64,
    /// The target, annual.
    pub target_return: f64,
}

/// Returns a ratio that clients rely on; refuses the series that leaves the ratio undefined.
fn defined(ratio: Option<f64>, problem: &'static str) -> quant_core::Result<f64> {
    ratio.ok_or(Error::Conflict { argument: "returns", problem })
}

impl Ratios {
    fn series(&self) -> ReturnSeries {
        ReturnSeries {
            returns: self.returns.to_vec(),
            benchmark_returns: self.benchmark_returns.as_ref().map(Numbers::to_vec),
            risk_free_rate: self.rf_rate,
            target_return: self.target_return,
            periods_per_year: self.periods_per_year,
        }
    }
}

impl Computation for Ratios {
    type Answer = PerformanceRatios;

    fn compute(&self) -> quant_core::Result<PerformanceRatios> {
        let found = self.series().ratios()?;
        let benchmark = found.benchmark;
        Ok(PerformanceRatios {
            sharpe: defined(found.sharpe, "do not vary, so that the Sharpe ratio is undefined")?,
            sortino: defined(
                found.sortino,
                "are never below the target, so that the Sortino ratio is undefined",
            )?,
            calmar: defined(
                found.calmar,
                "have no drawdown, so that the Calmar ratio is undefined",
            )?,
            omega: found.omega,
            sharpe_standard_error: found.sharpe_standard_error,
            max_drawdown: found.max_drawdown,
            total_return: found.total_return,
            annual_return: found.annual_return,
            mean_return: found.mean_return,
            volatility: found.volatility,
            downside_deviation: found.downside_deviation,
            active_return: benchmark.map(|ratios| ratios.active_return),
            tracking_error: benchmark.map(|ratios| ratios.tracking_error),
            information: benchmark.and_then(|ratios| ratios.information),
            beta: benchmark.and_then(|ratios| ratios.beta),
            jensen_alpha: benchmark.and_then(|ratios| ratios.jensen_alpha),
            treynor: benchmark.and_then(|ratios| ratios.treynor),
            correlation: benchmark.and_then(|ratios| ratios.correlation),
            periods: self.returns.len() as u32,
            periods_per_year: self.periods_per_year,
            rf_rate: self.rf_rate,
            target_return: self.target_return.unwrap_or(self.rf_rate),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.series().explain()
    }

    fn is_long(&self) -> bool {
        self.returns.len() > LONG_FROM_RETURNS
    }

    fn wire_name(argument: &'static str) -> &'static str {
        if argument == "risk_free_rate" { "rf_rate" } else { argument }
    }
}

impl Example for Ratios {
    fn example() -> Self {
        Self {
            returns: vec![0.021, -0.013, 0.034, 0.008, -0.006, 0.017].into(),
            rf_rate: 0.02,
            benchmark_returns: Some(vec![0.015, -0.01, 0.022, 0.011, -0.004, 0.009].into()),
            target_return: Some(0.0),
            periods_per_year: 12.0,
        }
    }
}

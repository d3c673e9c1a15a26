//! Tests of value-at-risk estimates.

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{explanation::Explanation, risk};

use super::ninety_nine;
use crate::{
    api::quantlib::Computation,
    http::{Answer, Metered, Numbers, Tag},
};

/// Above so many returns the tests may take over a millisecond.
const LONG_FROM_RETURNS: usize = 10_000;

/// The REST endpoint of backtests.
#[derive(Default)]
pub struct Backtests;

#[OpenApi(prefix_path = "/quantlib/risk", tag = "Tag::Risk")]
impl Backtests {
    /// Test value-at-risk estimates against the returns that followed.
    ///
    /// Kupiec's test of the frequency of exceptions, Christoffersen's of their independence and of both, and
    /// the traffic light of the Basel Committee. An estimate is a loss: 0.02 for a return of -2 %.
    #[oai(path = "/backtest", method = "post", operation_id = "backtest_var")]
    async fn backtest(&self, call: Metered<VarEstimates>) -> Result<Answer<BacktestReport>> {
        call.run().await
    }
}

/// Returns, and the value at risk that was estimated for each.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BacktestRequest", example)]
pub struct VarEstimates {
    /// Return of each day, a decimal; 1 to 100,000.
    #[oai(validator(min_items = 1, max_items = 100000))]
    pub actual_returns: Numbers,
    /// Value at risk estimated for the same day, as a loss and a fraction: 0.02 for a return of -2 %.
    #[oai(validator(min_items = 1, max_items = 100000))]
    pub var_estimates: Numbers,
    /// Confidence of the estimates; above 0.5 and below 1.
    #[oai(
        default = "ninety_nine",
        validator(minimum(value = "0.5", exclusive), maximum(value = "1", exclusive))
    )]
    pub confidence: f64,
}

/// The zone of the Basel Committee's traffic light.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase", remote = "risk::Zone")]
pub enum TrafficLight {
    /// No reason for doubt.
    Green,
    /// More exceptions than an exact model has in 95 % of all series.
    Yellow,
    /// More exceptions than an exact model has in 99.99 % of all series.
    Red,
}

/// The tests of a series of value-at-risk estimates.
#[derive(Clone, Debug, Object)]
#[oai(rename = "Backtest")]
pub struct BacktestReport {
    /// Number of returns whose loss exceeds the estimate.
    pub breaches: u32,
    /// The number again.
    pub exceptions: u32,
    /// Positions of these returns, from zero; the first 1,000.
    pub breach_indices: Vec<u32>,
    /// Number of returns.
    pub observations: u32,
    /// Number of exceptions that an exact model has on average.
    pub expected_exceptions: f64,
    /// Exceptions by observations.
    pub exception_rate: f64,
    /// Mean of loss less estimate over the exceptions, a fraction; zero without exceptions.
    pub mean_excess: f64,
    /// Largest loss less estimate, a fraction; zero without exceptions.
    pub largest_excess: f64,
    /// Kupiec's likelihood ratio of the frequency of exceptions; χ² with one degree of freedom.
    pub kupiec_statistic: f64,
    /// Probability of a ratio as large for an exact model.
    pub kupiec_p_value: f64,
    /// Christoffersen's likelihood ratio of independence; χ² with one degree of freedom.
    pub independence_statistic: f64,
    /// Probability of a ratio as large for independent exceptions.
    pub independence_p_value: f64,
    /// Christoffersen's likelihood ratio of conditional coverage, the sum of both; χ² with two degrees of
    /// freedom.
    pub conditional_coverage_statistic: f64,
    /// Probability of a ratio as large for an exact model.
    pub conditional_coverage_p_value: f64,
    /// Numbers of neighbouring pairs: no exception then none, none then one, one then none, one then one.
    pub transitions: Vec<u32>,
    /// Zone of the traffic light.
    pub traffic_light: TrafficLight,
    /// Probability that an exact model has at most as many exceptions; the traffic light is by it.
    pub cumulative_probability: f64,
    /// Probability that an exact model has at least as many exceptions.
    pub exceedance_probability: f64,
    /// Increase of the Basel multiplier of 1996 from 3; absent for other than 250 returns at 99 %.
    #[oai(skip_serializing_if_is_none)]
    pub plus_factor: Option<f64>,
    /// The confidence.
    pub confidence: f64,
}

/// The most positions in an answer.
const MOST_POSITIONS: usize = 1_000;

impl Computation for VarEstimates {
    type Answer = BacktestReport;

    fn compute(&self) -> quant_core::Result<BacktestReport> {
        let found = risk::backtest(&self.actual_returns, &self.var_estimates, self.confidence)?;
        let count = found.exceptions.len();
        let positions = found.exceptions.iter().take(MOST_POSITIONS);
        Ok(BacktestReport {
            breaches: count as u32,
            exceptions: count as u32,
            breach_indices: positions.map(|&position| position as u32).collect(),
            observations: found.observations as u32,
            expected_exceptions: found.expected_exceptions,
            exception_rate: count as f64 / found.observations as f64,
            mean_excess: found.mean_excess,
            largest_excess: found.largest_excess,
            kupiec_statistic: found.kupiec.statistic,
            kupiec_p_value: found.kupiec.p_value,
            independence_statistic: found.independence.statistic,
            independence_p_value: found.independence.p_value,
            conditional_coverage_statistic: found.conditional_coverage.statistic,
            conditional_coverage_p_value: found.conditional_coverage.p_value,
            transitions: found.transitions.iter().flatten().map(|&count| count as u32).collect(),
            traffic_light: found.zone.into(),
            cumulative_probability: found.probability_of_at_most,
            exceedance_probability: found.probability_of_at_least,
            plus_factor: found.plus_factor,
            confidence: self.confidence,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        risk::explain_backtest(&self.actual_returns, &self.var_estimates, self.confidence)
    }

    fn is_long(&self) -> bool {
        self.actual_returns.len() > LONG_FROM_RETURNS
    }
}

impl Example for VarEstimates {
    fn example() -> Self {
        Self {
            actual_returns: vec![0.004, -0.025, 0.011, -0.007, 0.002, -0.031].into(),
            var_estimates: vec![0.02, 0.02, 0.022, 0.022, 0.021, 0.021].into(),
            confidence: 0.99,
        }
    }
}

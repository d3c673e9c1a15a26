//! Stress scenarios.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{explanation::Explanation, risk};

use super::million;
use crate::{
    api::quantlib::Computation,
    http::{Answer, Metered, Record, Tag, Text},
};

/// The most factors of a scenario.
const MOST_FACTORS: usize = 1000;

/// The REST endpoint of stress scenarios.
#[derive(Default)]
pub struct StressScenarios;

#[OpenApi(prefix_path = "/quantlib/risk/stress", tag = "Tag::Risk")]
impl StressScenarios {
    /// Find the profit or loss of a portfolio in a scenario.
    ///
    /// Portfolio value times the sum of exposure times shock. Without `exposures` each is 1, as for shocks
    /// that are already changes of the portfolio. The parts add up to the total bit for bit, in any order.
    #[oai(path = "/scenario", method = "post", operation_id = "run_stress_scenario")]
    async fn scenario(&self, call: Metered<Scenario>) -> Result<Answer<ScenarioResult>> {
        call.run().await
    }
}

/// A scenario, and the portfolio that it hits.
#[derive(Clone, Debug, Object)]
#[oai(rename = "StressScenarioRequest", example)]
pub struct Scenario {
    /// Name of the scenario; 1 to 200 characters.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub name: Text,
    /// Change of each factor, by name: -0.2 for a fall by 20 %. 1 to 1,000 names of 1 to 100 characters.
    pub factor_shocks: Record<f64, MOST_FACTORS>,
    /// Description of the scenario; up to 2,000 characters.
    #[oai(default, validator(max_length = 2000))]
    pub description: Text,
    /// Change of the portfolio's value, as a fraction, per unit of each factor, by name; absent means 1 for
    /// each factor. An exposure to a factor without a shock has no effect.
    #[oai(nullable)]
    pub exposures: Option<Record<f64, MOST_FACTORS>>,
    /// Value of the portfolio, in money; zero or more.
    #[oai(default = "million", validator(minimum(value = "0")))]
    pub portfolio_value: f64,
}

/// The effect of a scenario. Losses are below zero.
#[derive(Clone, Debug, Object)]
#[oai(rename = "StressScenario")]
pub struct ScenarioResult {
    /// The name of the scenario.
    pub name: String,
    /// The description.
    pub description: String,
    /// Effect of each shock, in the order of the request.
    pub impacts: Vec<ShockImpact>,
    /// Profit, or a loss below zero, in money: the sum of the impacts.
    pub total_pnl: f64,
    /// The same as a fraction of the portfolio's value.
    pub portfolio_return: f64,
    /// Loss, in money: minus the profit, zero for a gain.
    pub loss: f64,
    /// Value of the portfolio after the shocks.
    pub stressed_value: f64,
    /// Factor with the largest loss; null where no factor loses.
    #[oai(nullable)]
    pub worst_factor: Option<String>,
    /// The value of the portfolio before.
    pub portfolio_value: f64,
}

/// The effect of one shock.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ShockImpact")]
pub struct ShockImpact {
    /// Name of the factor.
    pub factor: String,
    /// Change of the factor.
    pub shock: f64,
    /// Change of the portfolio's value, as a fraction, per unit of the factor.
    pub exposure: f64,
    /// Profit, or a loss below zero, in money.
    pub pnl: f64,
}

impl Computation for Scenario {
    type Answer = ScenarioResult;

    fn compute(&self) -> quant_core::Result<ScenarioResult> {
        let value = self.portfolio_value;
        let found = risk::stress(&self.factor_shocks, self.exposures.as_deref(), value)?;
        let worst_factor = found.worst.map(|worst| found.impacts[worst].factor.clone());
        let impacts = found.impacts.into_iter().map(|impact| ShockImpact {
            factor: impact.factor,
            shock: impact.shock,
            exposure: impact.exposure,
            pnl: impact.profit_and_loss,
        });
        Ok(ScenarioResult {
            name: self.name.to_string(),
            description: self.description.to_string(),
            impacts: impacts.collect(),
            total_pnl: found.profit_and_loss,
            portfolio_return: found.portfolio_return,
            loss: (0.0 - found.profit_and_loss).max(0.0),
            stressed_value: found.stressed_value,
            worst_factor,
            portfolio_value: value,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let (exposures, value) = (self.exposures.as_deref(), self.portfolio_value);
        let explanation = risk::explain_stress(&self.factor_shocks, exposures, value)?;
        Ok(explanation.with_quantity("total_pnl"))
    }
}

impl Example for Scenario {
    fn example() -> Self {
        Self {
            name: "Equity crash".into(),
            factor_shocks: Record::from([("equity", -0.2), ("rates", 0.01), ("credit", 0.005)]),
            description: "A fall of shares with rising rates.".into(),
            exposures: Some(Record::from([("equity", 0.6), ("rates", -4.0), ("credit", -2.0)])),
            portfolio_value: 1e6,
        }
    }
}

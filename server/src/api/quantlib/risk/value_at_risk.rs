//! Value at risk of a series of returns, and of a known volatility.

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    explanation::Explanation,
    risk::{self, ParametricRisk, SeriesMethod},
};

use super::{
    DistributionShape, LONG_FROM, Losses, ReturnDistribution, five, million, ninety_nine, one,
};
use crate::{
    api::quantlib::Computation,
    http::{Answer, Metered, Numbers, Tag},
};

/// The REST endpoints of value at risk.
#[derive(Default)]
pub struct ValueAtRisk;

#[OpenApi(prefix_path = "/quantlib/risk/var", tag = "Tag::Risk")]
impl ValueAtRisk {
    /// Find the value at risk that a series of returns shows.
    ///
    /// By default the interpolated quantile of the returns (type 7, as numpy's), and as expected shortfall
    /// the mean of the returns at or below it; with `method` also by a distribution with the moments of
    /// the series. Losses are positive.
    #[oai(path = "/historical", method = "post", operation_id = "find_historical_var")]
    async fn historical(&self, call: Metered<HistoricalVar>) -> Result<Answer<SeriesVar>> {
        call.run().await
    }

    /// Find the value at risk of a known volatility.
    ///
    /// Quantile times volatility times the root of the horizon, less the mean over the horizon. Losses are
    /// positive.
    #[oai(path = "/parametric", method = "post", operation_id = "find_parametric_var")]
    async fn parametric(&self, call: Metered<ParametricVar>) -> Result<Answer<VolatilityVar>> {
        call.run().await
    }
}

/// The method that finds the risk of a series: `historical`, by its order statistics; `normal`, `student_t`
/// and `cornish_fisher`, by its moments; `ewma`, by its exponentially weighted volatility.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
#[oai(rename = "SeriesRiskMethod", rename_all = "snake_case")]
pub enum RiskMethod {
    /// Order statistics.
    #[default]
    Historical,
    /// Normal distribution.
    Normal,
    /// Student's t distribution.
    StudentT,
    /// The expansion of Cornish and Fisher.
    CornishFisher,
    /// Exponentially weighted volatility.
    Ewma,
}

/// A series of returns, and the tail to measure.
#[derive(Clone, Debug, Object)]
#[oai(rename = "HistoricalVarRequest", example)]
pub struct HistoricalVar {
    /// Return of each day, a decimal, the newest last; 1 to 100,000.
    #[oai(validator(min_items = 1, max_items = 100000))]
    pub returns: Numbers,
    /// Probability that the loss does not exceed the value at risk; above 0.5 and below 1.
    #[oai(
        default = "ninety_nine",
        validator(minimum(value = "0.5", exclusive), maximum(value = "1", exclusive))
    )]
    pub confidence: f64,
    /// Value of the portfolio, in money; zero or more.
    #[oai(default = "million", validator(minimum(value = "0")))]
    pub portfolio_value: f64,
    /// Number of days, above zero. Volatilities and quantiles grow with its root.
    #[oai(default = "one", validator(minimum(value = "0", exclusive)))]
    pub horizon: f64,
    /// Method that finds the risk.
    #[oai(default)]
    pub method: RiskMethod,
    /// Degrees of freedom of `student_t`, above 2 and up to 1,000,000.
    #[oai(
        default = "five",
        validator(minimum(value = "2", exclusive), maximum(value = "1000000"))
    )]
    pub degrees_of_freedom: f64,
    /// Decay factor of `ewma`, above 0 and up to 1.
    #[oai(
        default = "risk_metrics",
        validator(minimum(value = "0", exclusive), maximum(value = "1"))
    )]
    pub decay: f64,
}

/// The decay factor of RiskMetrics for daily returns.
fn risk_metrics() -> f64 {
    0.94
}

/// The risk of a series of returns. Losses are positive.
#[derive(Clone, Debug, Object)]
#[oai(rename = "HistoricalVar")]
pub struct SeriesVar {
    /// The losses.
    #[oai(flatten)]
    pub losses: Losses,
    /// Mean of the worst `n (1 - confidence)` returns, with a fraction of the last (Acerbi and Tasche), in
    /// money; null for other than the historical method.
    #[oai(nullable)]
    pub coherent_expected_shortfall: Option<f64>,
    /// Lower end of an interval that holds the true value at risk with at least 95 %, in money, from order
    /// statistics; absent where there are too few returns, and for other than the historical method.
    #[oai(skip_serializing_if_is_none)]
    pub var_lower: Option<f64>,
    /// Upper end of the interval, in money; absent as the lower end.
    #[oai(skip_serializing_if_is_none)]
    pub var_upper: Option<f64>,
    /// Probability that the interval, open where an end is absent, holds the true value; null for other than
    /// the historical method.
    #[oai(nullable)]
    pub interval_coverage: Option<f64>,
    /// Number of returns in the tail; absent for other than the historical method.
    #[oai(skip_serializing_if_is_none)]
    pub tail_count: Option<u32>,
    /// Number of returns.
    pub observations: u32,
    /// Mean return of a day.
    pub mean: f64,
    /// Standard deviation of the returns of a day (divisor n - 1); zero for a single return.
    pub volatility: f64,
    /// Volatility of a day that the method used: the weighted one for `ewma`.
    pub volatility_used: f64,
    /// Skewness of the returns.
    pub skewness: f64,
    /// Kurtosis of the returns less 3.
    pub excess_kurtosis: f64,
    /// False where an expansion of Cornish and Fisher does not fall all the way into the tail, and its
    /// figures are doubtful.
    pub is_monotone: bool,
    /// The method.
    pub method: RiskMethod,
    /// The confidence.
    pub confidence: f64,
    /// The horizon, in days.
    pub horizon: f64,
    /// The value of the portfolio.
    pub portfolio_value: f64,
}

impl HistoricalVar {
    fn series_method(&self) -> SeriesMethod {
        let degrees_of_freedom = self.degrees_of_freedom;
        match self.method {
            RiskMethod::Historical => SeriesMethod::Historical,
            RiskMethod::Normal => SeriesMethod::Normal,
            RiskMethod::StudentT => SeriesMethod::StudentT { degrees_of_freedom },
            RiskMethod::CornishFisher => SeriesMethod::CornishFisher,
            RiskMethod::Ewma => SeriesMethod::Ewma { decay: self.decay },
        }
    }
}

impl Computation for HistoricalVar {
    type Answer = SeriesVar;

    fn compute(&self) -> quant_core::Result<SeriesVar> {
        let method = self.series_method();
        let found = risk::series_risk(&self.returns, method, self.confidence, self.horizon)?;
        let losses = Losses::new(found.risk, self.portfolio_value)?;
        let empirical =
            found.historical.map(|found| found.of_value(self.portfolio_value)).transpose()?;
        Ok(SeriesVar {
            losses,
            coherent_expected_shortfall: empirical.map(|found| found.coherent_expected_shortfall),
            var_lower: empirical.and_then(|found| found.interval.lower),
            var_upper: empirical.and_then(|found| found.interval.upper),
            interval_coverage: empirical.map(|found| found.interval.coverage),
            tail_count: empirical.map(|found| found.tail_count as u32),
            observations: self.returns.len() as u32,
            mean: found.moments.mean,
            volatility: found.moments.volatility,
            volatility_used: found.volatility,
            skewness: found.moments.skewness,
            excess_kurtosis: found.moments.excess_kurtosis,
            is_monotone: found.is_monotone,
            method: self.method,
            confidence: self.confidence,
            horizon: self.horizon,
            portfolio_value: self.portfolio_value,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let method = self.series_method();
        risk::explain_series_risk(&self.returns, method, self.confidence, self.horizon)
            .map(|explanation| explanation.with_quantity("var_fraction"))
    }

    fn is_long(&self) -> bool {
        self.returns.len() > LONG_FROM[1]
    }
}

impl Example for HistoricalVar {
    fn example() -> Self {
        Self {
            returns: vec![0.01, -0.02, 0.015, -0.015, 0.005, 0.02].into(),
            confidence: 0.95,
            portfolio_value: 1e6,
            horizon: 1.0,
            method: RiskMethod::Historical,
            degrees_of_freedom: 5.0,
            decay: 0.94,
        }
    }
}

/// A position with a known volatility, and the tail to measure.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ParametricVarRequest", example)]
pub struct ParametricVar {
    /// Value of the portfolio, in money; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub portfolio_value: f64,
    /// Standard deviation of the return of `period_days` days, a decimal; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub volatility: f64,
    /// Probability that the loss does not exceed the value at risk; above 0.5 and below 1.
    #[oai(
        default = "ninety_nine",
        validator(minimum(value = "0.5", exclusive), maximum(value = "1", exclusive))
    )]
    pub confidence: f64,
    /// Number of days, above zero. The volatility grows with its root.
    #[oai(default = "one", validator(minimum(value = "0", exclusive)))]
    pub horizon: f64,
    /// Number of days that the volatility and the mean cover: 1 for daily ones, 252 for annual ones.
    #[oai(default = "one", validator(minimum(value = "0", exclusive)))]
    pub period_days: f64,
    /// Mean return of `period_days` days.
    #[oai(default)]
    pub mean: f64,
    /// Distribution of the return over the horizon.
    #[oai(default)]
    pub distribution: ReturnDistribution,
    /// The parameters of the distribution.
    #[oai(flatten)]
    pub shape: DistributionShape,
}

/// The risk of a position with a known volatility. Losses are positive.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ParametricVar")]
pub struct VolatilityVar {
    /// The losses.
    #[oai(flatten)]
    pub losses: Losses,
    /// Standard deviation of the return over the horizon.
    pub horizon_volatility: f64,
    /// Value at risk of a position of 1 with a volatility of 1 and a mean of 0 over a horizon of one
    /// period.
    pub quantile: f64,
    /// False where an expansion of Cornish and Fisher does not fall all the way into the tail, and its
    /// figures are doubtful.
    pub is_monotone: bool,
    /// The distribution.
    pub distribution: ReturnDistribution,
    /// The confidence.
    pub confidence: f64,
    /// The horizon, in days.
    pub horizon: f64,
    /// The value of the portfolio.
    pub portfolio_value: f64,
}

impl ParametricVar {
    fn position(&self) -> ParametricRisk {
        ParametricRisk {
            mean: self.mean,
            volatility: self.volatility,
            distribution: self.shape.of(self.distribution),
            confidence: self.confidence,
            horizon: self.horizon / self.period_days,
        }
    }
}

impl Computation for ParametricVar {
    type Answer = VolatilityVar;

    fn compute(&self) -> quant_core::Result<VolatilityVar> {
        let position = self.position();
        let fraction = position.evaluate()?;
        let losses = Losses::new(fraction, self.portfolio_value)?;
        let unit = ParametricRisk { mean: 0.0, volatility: 1.0, horizon: 1.0, ..position };
        Ok(VolatilityVar {
            losses,
            horizon_volatility: position.deviation()?,
            quantile: unit.evaluate()?.value_at_risk,
            is_monotone: position.distribution.is_monotone(self.confidence)?,
            distribution: self.distribution,
            confidence: self.confidence,
            horizon: self.horizon,
            portfolio_value: self.portfolio_value,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let explanation = self.position().explain()?;
        Ok(explanation.with_quantity("var_fraction"))
    }
}

impl Example for ParametricVar {
    fn example() -> Self {
        Self {
            portfolio_value: 1e7,
            volatility: 0.02,
            confidence: 0.99,
            horizon: 10.0,
            period_days: 1.0,
            mean: 0.0,
            distribution: ReturnDistribution::Normal,
            shape: DistributionShape::example(),
        }
    }
}

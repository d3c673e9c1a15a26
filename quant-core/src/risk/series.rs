//! The risk of a series of returns, by order statistics or by a distribution with the moments of the series.

use super::historical::{HistoricalRisk, historical};
use super::moments::{Moments, ewma_volatility};
use super::parametric::{Distribution, ParametricRisk};
use super::tail::TailRisk;
use crate::Result;

/// The method that finds the risk of a series of returns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SeriesMethod {
    /// The order statistics of the returns.
    #[default]
    Historical,
    /// A normal distribution with mean and volatility of the series.
    Normal,
    /// A Student-t distribution with mean and volatility of the series.
    StudentT {
        /// Degrees of freedom, above 2 and at most 1,000,000.
        degrees_of_freedom: f64,
    },
    /// The expansion of Cornish and Fisher with the four moments of the series.
    CornishFisher,
    /// A normal distribution with mean zero and the exponentially weighted volatility.
    Ewma {
        /// Decay factor, above 0 and at most 1; 0.94 is RiskMetrics' for daily returns.
        decay: f64,
    },
}

/// The risk of a series of returns, as fractions of the position.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SeriesRisk {
    /// Value at risk and expected shortfall over the horizon.
    pub risk: TailRisk,
    /// Interval, tail and coherent shortfall; `None` for other than the historical method.
    pub historical: Option<HistoricalRisk>,
    /// Moments of the returns of one period.
    pub moments: Moments,
    /// Volatility of one period that the method used.
    pub volatility: f64,
    /// False where an expansion of Cornish and Fisher is doubtful; see [`Distribution::is_monotone`].
    pub is_monotone: bool,
}

/// Returns the risk of a series of returns over a number of periods.
///
/// Volatility grows with the root of the horizon and the mean with the horizon; a historical quantile
/// grows with the root.
///
/// # Errors
///
/// The errors of [`historical`], [`Moments::of`], [`ewma_volatility`] and [`ParametricRisk::evaluate`].
///
/// # Examples
///
/// ```
/// use quant_core::risk::{SeriesMethod, series_risk};
///
/// let returns = [0.01, -0.02, 0.015, -0.015, 0.005, 0.02];
/// let historical = series_risk(&returns, SeriesMethod::Historical, 0.95, 1.0)?;
/// assert_eq!(historical.risk.value_at_risk, 0.01875);
/// let weighted = series_risk(&returns, SeriesMethod::Ewma { decay: 0.94 }, 0.95, 1.0)?;
/// assert!((weighted.risk.value_at_risk / weighted.volatility - 1.645).abs() < 5e-4);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Jorion (2007), *Value at Risk*, chapters 5 and 10.
pub fn series_risk(
    returns: &[f64],
    method: SeriesMethod,
    confidence: f64,
    horizon: f64,
) -> Result<SeriesRisk> {
    let moments = Moments::of(returns)?;
    let (distribution, mean, volatility) = match method {
        SeriesMethod::Historical => {
            let found = historical(returns, confidence)?.over_horizon(horizon)?;
            let (risk, volatility) = (found.risk, moments.volatility);
            let historical = Some(found);
            return Ok(SeriesRisk { risk, historical, moments, volatility, is_monotone: true });
        }
        SeriesMethod::Normal => (Distribution::Normal, moments.mean, moments.volatility),
        SeriesMethod::StudentT { degrees_of_freedom } => {
            let distribution = Distribution::StudentT { degrees_of_freedom };
            (distribution, moments.mean, moments.volatility)
        }
        SeriesMethod::CornishFisher => {
            let Moments { mean, volatility, skewness, excess_kurtosis } = moments;
            (Distribution::CornishFisher { skewness, excess_kurtosis }, mean, volatility)
        }
        SeriesMethod::Ewma { decay } => {
            (Distribution::Normal, 0.0, ewma_volatility(returns, decay)?)
        }
    };
    let position = ParametricRisk { mean, volatility, distribution, confidence, horizon };
    let is_monotone = distribution.is_monotone(confidence)?;
    Ok(SeriesRisk {
        risk: position.evaluate()?,
        historical: None,
        moments,
        volatility,
        is_monotone,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const METHODS: [SeriesMethod; 5] = [
        SeriesMethod::Historical,
        SeriesMethod::Normal,
        SeriesMethod::StudentT { degrees_of_freedom: 5.0 },
        SeriesMethod::CornishFisher,
        SeriesMethod::Ewma { decay: 0.94 },
    ];

    #[test]
    fn one_return_and_equal_returns_are_no_obstacle() {
        for method in METHODS {
            for series in [vec![-0.01], vec![-0.01; 9]] {
                let found = series_risk(&series, method, 0.99, 1.0).unwrap();
                assert!(found.risk.value_at_risk >= 0.01, "{method:?} {found:?}");
            }
        }
    }

    #[test]
    fn refusals_name_the_argument() {
        let argument = |method, confidence, horizon| {
            series_risk(&[0.1, -0.1], method, confidence, horizon).unwrap_err().argument()
        };
        for method in METHODS {
            assert_eq!(argument(method, 95.0, 1.0), Some("confidence"), "{method:?}");
            assert_eq!(argument(method, 0.95, 0.0), Some("horizon"), "{method:?}");
        }
        assert_eq!(argument(SeriesMethod::Ewma { decay: 2.0 }, 0.95, 1.0), Some("decay"));
        let t = SeriesMethod::StudentT { degrees_of_freedom: 2.0 };
        assert_eq!(argument(t, 0.95, 1.0), Some("degrees_of_freedom"));
    }

    proptest! {
        #[test]
        fn every_method_answers_every_series(
            returns in prop::collection::vec(-0.2..0.2_f64, 2..60), confidence in 0.51..0.999_f64,
        ) {
            for method in METHODS {
                let found = series_risk(&returns, method, confidence, 1.0).unwrap();
                prop_assert!(found.risk.value_at_risk.is_finite());
                let longer = series_risk(&returns, method, confidence, 4.0).unwrap();
                let drift = if found.historical.is_some() { 0.0 } else { 2.0 * found.moments.mean };
                let expected = match method {
                    SeriesMethod::Ewma { .. } => 2.0 * found.risk.value_at_risk,
                    _ => 2.0 * found.risk.value_at_risk - drift,
                };
                prop_assert!((longer.risk.value_at_risk - expected).abs() < 1e-12, "{:?}", method);
            }
        }
    }
}

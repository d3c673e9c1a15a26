//! The risk of a series of returns, by order statistics or by a distribution with the moments of the series.

use super::historical::{HistoricalRisk, explain_historical, historical};
use super::moments::{Moments, ewma_volatility, volatility_distance};
use super::parametric::{Distribution, ParametricRisk, SCALING};
use super::tail::{FRACTION, LOSSES, TailRisk};
use crate::Result;
use crate::explanation::{ErrorKind, ErrorStatement, Explanation, STANDARD_ERRORS};

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
    let Some((distribution, mean, volatility)) = fitted(returns, method, moments)? else {
        let found = historical(returns, confidence)?.over_horizon(horizon)?;
        let (risk, volatility) = (found.risk, moments.volatility);
        let historical = Some(found);
        return Ok(SeriesRisk { risk, historical, moments, volatility, is_monotone: true });
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

/// Returns the distribution that a method fits to a series, with mean and volatility; `None` for the
/// historical method.
fn fitted(
    returns: &[f64],
    method: SeriesMethod,
    moments: Moments,
) -> Result<Option<(Distribution, f64, f64)>> {
    let Moments { mean, volatility, skewness, excess_kurtosis } = moments;
    Ok(Some(match method {
        SeriesMethod::Historical => return Ok(None),
        SeriesMethod::Normal => (Distribution::Normal, mean, volatility),
        SeriesMethod::StudentT { degrees_of_freedom } => {
            (Distribution::StudentT { degrees_of_freedom }, mean, volatility)
        }
        SeriesMethod::CornishFisher => {
            (Distribution::CornishFisher { skewness, excess_kurtosis }, mean, volatility)
        }
        SeriesMethod::Ewma { decay } => {
            (Distribution::Normal, 0.0, ewma_volatility(returns, decay)?)
        }
    }))
}

/// Explains [`series_risk`].
///
/// # Errors
///
/// The errors of [`series_risk`].
pub fn explain_series_risk(
    returns: &[f64],
    method: SeriesMethod,
    confidence: f64,
    horizon: f64,
) -> Result<Explanation> {
    let found = series_risk(returns, method, confidence, horizon)?;
    let Some((distribution, mean, volatility)) = fitted(returns, method, found.moments)? else {
        return explain_historical(returns, confidence, horizon);
    };
    let multiple = found.risk.value_at_risk + mean * horizon;
    let error = match variance_of_volatility(method, returns.len()) {
        Some(variance) => {
            let drift = match method {
                SeriesMethod::Ewma { .. } => 0.0,
                _ => horizon * volatility / (returns.len() as f64).sqrt(),
            };
            let of_volatility = multiple * volatility_distance(variance);
            let estimate = libm::hypot(of_volatility, STANDARD_ERRORS * drift);
            let how = "1.96 standard errors, which 95 of 100 samples do not exceed, from those of the mean \
                       and of the logarithm of the volatility of independent returns";
            ErrorStatement::estimated(ErrorKind::Sampling, FRACTION, estimate, how)
        }
        None => {
            let size = found.risk.value_at_risk.abs().max(volatility * horizon.sqrt());
            let how = "rounding of moments and quantile given the sample: this method or sample \
                       has no formula for a standard error";
            ErrorStatement::estimated(ErrorKind::Rounding, FRACTION, SERIES_ERROR * size, how)
        }
    };
    let moments = match method {
        SeriesMethod::Ewma { .. } => {
            "The mean is taken as zero, and the last return is the newest of the weighted squares."
        }
        _ => "The volatility of the sample has the divisor n - 1, higher moments n.",
    };
    Ok(Explanation::new(distribution.method(), error)
        .with_conventions(LOSSES)
        .with_conventions([moments])
        .with_conventions(SCALING)
        .with_conventions(distribution.conventions(confidence)?))
}

/// The rounding of a figure with estimated moments, in units of it or of the deviation.
const SERIES_ERROR: f64 = 1e-13;

/// Returns the variance of the estimated volatility by its square, for returns of the method's
/// distribution; `None` where there is no formula, or no finite variance.
///
/// It is `(κ + 2)/4n` with the excess kurtosis κ, that of Student's t being `6/(ν − 4)`; and half the
/// sum of the squared weights of an exponentially weighted volatility.
fn variance_of_volatility(method: SeriesMethod, count: usize) -> Option<f64> {
    let degrees = (count as f64 - 1.0).max(0.0);
    match method {
        _ if degrees == 0.0 => None,
        SeriesMethod::Normal => Some(0.5 / degrees),
        SeriesMethod::StudentT { degrees_of_freedom: nu } if nu > 4.0 => {
            Some((0.5 + 1.5 / (nu - 4.0)) / degrees)
        }
        SeriesMethod::Ewma { decay } => {
            let (mut weight, mut sum, mut squares) = (1.0, 0.0, 0.0);
            for _ in 0..count {
                sum += weight;
                squares += weight * weight;
                weight *= decay;
            }
            Some(0.5 * squares / (sum * sum))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::philox::uniforms;
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

    /// Returns how many of 300 samples of normal returns have their value at risk within the stated
    /// error of the true one.
    fn covered(method: SeriesMethod, count: usize) -> u32 {
        // An exponentially weighted volatility takes the mean as zero.
        let mean = if matches!(method, SeriesMethod::Ewma { .. }) { 0.0 } else { 0.001 };
        let (volatility, distribution) = (0.02, Distribution::Normal);
        let position =
            ParametricRisk { mean, volatility, distribution, confidence: 0.95, horizon: 1.0 };
        let exact = position.evaluate().unwrap().value_at_risk;
        let is_covered = |seed: u64| {
            let draws = uniforms(seed).take(count);
            let returns: Vec<f64> =
                draws.map(|u| mean - volatility * distribution.loss_quantile(u).unwrap()).collect();
            let stated = explain_series_risk(&returns, method, 0.95, 1.0).unwrap().error;
            assert_eq!((stated.kind, stated.is_bound), (ErrorKind::Sampling, false));
            let found = series_risk(&returns, method, 0.95, 1.0).unwrap().risk.value_at_risk;
            u32::from((found - exact).abs() <= stated.estimate)
        };
        (1..=300).map(is_covered).sum()
    }

    #[test]
    fn the_stated_sampling_error_of_a_quantile_is_that_of_95_samples_in_100() {
        let covered = covered(SeriesMethod::Historical, 250);
        assert!(covered >= 285, "{covered} of 300");
    }

    #[test]
    fn the_stated_sampling_error_of_a_fit_is_that_of_95_samples_in_100() {
        let normal = covered(SeriesMethod::Normal, 250);
        let equal = covered(SeriesMethod::Ewma { decay: 1.0 }, 250);
        let newest = covered(SeriesMethod::Ewma { decay: 0.97 }, 250);
        for covered in [normal, equal, newest] {
            assert!(covered >= 285, "{normal} {equal} {newest} of 300");
        }
    }

    #[test]
    fn methods_without_a_standard_error_state_their_rounding() {
        let heavy = SeriesMethod::StudentT { degrees_of_freedom: 4.0 };
        for method in [heavy, SeriesMethod::CornishFisher] {
            let stated = explain_series_risk(&[0.01, -0.02, 0.015], method, 0.95, 1.0).unwrap();
            assert_eq!(stated.error.kind, ErrorKind::Rounding, "{method:?}");
        }
        let short = explain_series_risk(&[0.01, -0.02], SeriesMethod::Historical, 0.95, 1.0);
        assert_eq!(short.unwrap().error.kind, ErrorKind::Rounding);
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

//! Portfolios of the largest Sharpe ratio.
//!
//! The tangency portfolio of the efficient frontier: with borrowing and lending at the riskless rate,
//! no other portfolio of the assets has a larger return at the same risk.

use super::active_set::Problem;
use super::assets::{Assets, Checked, Portfolio, accepted, only_portfolio, variance};
use super::covariance::Covariance;
use super::critical_line::{CriticalLine, Step, between, centred, way};
use super::first_order::{Optimum, ratio_error};
use super::symmetric::{dot, held_assets, inner};
use crate::explanation::{Explanation, Method};
use crate::{Error, Result};

/// The scale of a Sharpe ratio, a convention.
pub(super) const RATIO_AS_GIVEN: &str =
    "The Sharpe ratio is in the period of returns, rate and covariance; it is not annualised.";

/// Assets, their risks and returns, and the bounds on their weights.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MaxSharpe {
    /// Expected return of each asset, annual.
    pub expected_returns: Vec<f64>,
    /// Covariance of the returns, annual: symmetric, positive semi-definite.
    pub covariance_matrix: Covariance,
    /// Return of the riskless asset, annual.
    pub risk_free_rate: f64,
    /// Smallest weight of each asset, −∞ for an asset without a bound; `None` where no asset has one.
    pub min_weights: Option<Vec<f64>>,
    /// Largest weight of each asset, ∞ for an asset without a bound; `None` where no asset has one.
    pub max_weights: Option<Vec<f64>>,
}

impl MaxSharpe {
    /// Returns the portfolio of the largest ratio of excess return to volatility, within the
    /// bounds.
    ///
    /// ```text
    /// maximise (Σμᵢwᵢ − r) / √(wᵀΣw)   subject to   Σwᵢ = 1,   lᵢ ≤ wᵢ ≤ uᵢ
    /// ```
    ///
    /// where μ are the expected returns, r is the riskless rate, Σ is the covariance, and l and u
    /// are the bounds.
    ///
    /// - A weight at its bound is the bound, bit for bit.
    /// - Σ times a constant has the same portfolio.
    /// - Where several portfolios have the largest ratio, the result is one of them.
    ///
    /// # Errors
    ///
    /// Those of [`MinVariance::solve`](crate::portfolio::MinVariance::solve); [`Error::Conflict`] naming `risk_free_rate` where no
    /// portfolio within the bounds returns more than it, where a portfolio without risk does, and
    /// where the ratio grows without end, as without bounds and with a portfolio of least variance
    /// that returns no more than it.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::max_sharpe::MaxSharpe;
    ///
    /// let portfolio = MaxSharpe {
    ///     expected_returns: vec![0.06, 0.10],
    ///     covariance_matrix: [[0.01, 0.0], [0.0, 0.04]].into(),
    ///     risk_free_rate: 0.02,
    ///     min_weights: Some(vec![0.0, 0.0]),
    ///     max_weights: None,
    /// }
    /// .solve()?;
    /// // In proportion to excess return by variance: 4 to 2.
    /// assert!((portfolio.weights[0] - 2.0 / 3.0).abs() < 1e-15);
    /// assert!((portfolio.sharpe_ratio.unwrap() - 0.32_f64.sqrt()).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Sharpe (1966), "Mutual Fund Performance"; Tobin (1958), "Liquidity Preference as Behavior
    /// Towards Risk".
    pub fn solve(&self) -> Result<Portfolio> {
        let assets = self.assets();
        let Checked { lower, upper, covariance, exponent, factor } = assets.check()?;
        let weights = if let Some(only) = only_portfolio(&lower, &upper) {
            self.last(only)?
        } else {
            let mut problem = Problem::new(&covariance, lower, upper);
            let vertex = problem.minimise(factor)?;
            problem.returns = Some(centred(&self.expected_returns));
            self.walk(&problem, CriticalLine::from(&problem, vertex))?
        };
        let portfolio = assets.describe(accepted(weights)?, &covariance, exponent)?;
        // A risk that is rounding of its terms is none, here as there.
        if portfolio.sharpe_ratio.is_none() { Err(riskless()) } else { Ok(portfolio) }
    }

    /// Explains [`solve`](Self::solve).
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve).
    pub fn explain(&self) -> Result<Explanation> {
        let found = self.solve()?;
        let Assets { covariance_matrix, min_weights, max_weights, .. } = self.assets();
        let optimum = Optimum::new(&found.weights, covariance_matrix, min_weights, max_weights);
        let method = Method::new(
            "Tangency portfolio, by the critical line",
            "Markowitz and Todd (2000), Mean–Variance Analysis in Portfolio Choice and Capital \
             Markets, chapters 7 and 8; Tobin (1958), Liquidity Preference as Behavior Towards Risk",
        );
        let ratio = found.sharpe_ratio.unwrap_or_default();
        let error = ratio_error(optimum.error_of_ratio(&self.excess_returns(), ratio));
        Ok(Explanation::new(method, error)
            .of_optimum(min_weights, max_weights)
            .with_conventions([RATIO_AS_GIVEN]))
    }

    fn assets(&self) -> Assets<'_> {
        Assets {
            expected_returns: &self.expected_returns,
            covariance_matrix: &self.covariance_matrix,
            risk_free_rate: self.risk_free_rate,
            min_weights: self.min_weights.as_deref(),
            max_weights: self.max_weights.as_deref(),
        }
    }

    fn excess_returns(&self) -> Vec<f64> {
        excess_returns(&self.expected_returns, self.risk_free_rate)
    }

    /// Follows the efficient frontier until the ratio falls.
    fn walk(&self, problem: &Problem<'_>, mut walk: CriticalLine<'_, '_>) -> Result<Vec<f64>> {
        let excess = self.excess_returns();
        loop {
            let is_at_start = walk.is_at_start();
            let step = walk.advance()?;
            let (Step::Corner { from, .. } | Step::Ray { from, .. } | Step::End(from)) = &step;
            let is_riskless = is_at_start && variance(from, problem.covariance) == 0.0;
            if is_riskless && dot(from, &excess) > 0.0 {
                return Err(riskless());
            }
            match step {
                // At constant least variance a larger return is a larger ratio.
                Step::Corner { .. } if walk.is_at_start() => {}
                Step::Corner { from, to } => {
                    let segment = Segment::new(problem, &excess, &from, way(&from, &to));
                    if dot(&to, &excess) > 0.0 && segment.steepness(&to) < 0.0 {
                        return Ok(segment.top(1.0));
                    }
                }
                Step::Ray { from, way, is_free } => {
                    let segment = Segment::new(problem, &excess, &from, way);
                    if !is_free && segment.bend() < 0.0 {
                        return Ok(segment.top(f64::INFINITY));
                    }
                    let problem = "leaves the ratio to grow without end, with no bounds to hold it";
                    return Err(refusal(problem));
                }
                Step::End(last) => return self.last(last),
            }
        }
    }

    /// The last portfolio of the frontier, if it returns more than the riskless rate.
    fn last(&self, weights: Vec<f64>) -> Result<Vec<f64>> {
        if dot(&weights, &self.excess_returns()) > 0.0 {
            Ok(weights)
        } else {
            Err(refusal("is not below the return of any portfolio within the bounds"))
        }
    }
}

/// Returns the returns beyond the riskless rate, divided by a power of two to be near 1.
pub(super) fn excess_returns(expected_returns: &[f64], risk_free_rate: f64) -> Vec<f64> {
    let returns = expected_returns.iter();
    let largest = returns.fold(risk_free_rate.abs(), |largest, value| largest.max(value.abs()));
    let (_, exponent) = libm::frexp(largest);
    let scaled = |value| libm::scalbn(value, -exponent);
    let rate = scaled(risk_free_rate);
    expected_returns.iter().map(|&value| scaled(value) - rate).collect()
}

pub(super) fn riskless() -> Error {
    refusal("is below the return of a portfolio without risk")
}

pub(super) fn refusal(problem: &'static str) -> Error {
    Error::Conflict { argument: "risk_free_rate", problem }
}

/// A straight part of the frontier.
struct Segment<'s, 'a> {
    problem: &'s Problem<'a>,
    excess: &'s [f64],
    from: &'s [f64],
    way: Vec<f64>,
}

impl<'s, 'a> Segment<'s, 'a> {
    fn new(problem: &'s Problem<'a>, excess: &'s [f64], from: &'s [f64], way: Vec<f64>) -> Self {
        Self { problem, excess, from, way }
    }

    /// The derivative of the ratio along the way, times the cube of the deviation:
    /// `(eᵀd)(wᵀΣw) − (eᵀw)(dᵀΣw)` for the excess returns e, the weights w and the way d.
    ///
    /// The steepness is linear along the segment, since the terms of second order cancel.
    fn steepness(&self, weights: &[f64]) -> f64 {
        let gradient = self.problem.covariance.times(weights);
        inner(&self.way, self.excess) * inner(weights, &gradient)
            - inner(weights, self.excess) * inner(&self.way, &gradient)
    }

    /// Returns the steepness at these weights, summed in twice the precision.
    fn exact_steepness(&self, weights: &[f64]) -> f64 {
        let held = held_assets(weights);
        let amounts: Vec<f64> = held.iter().map(|&asset| weights[asset]).collect();
        let slope = |asset| {
            let row = self.problem.covariance.row(asset);
            let row: Vec<f64> = held.iter().map(|&other| row[other]).collect();
            dot(&row, &amounts)
        };
        let gradient: Vec<f64> = (0..weights.len()).map(slope).collect();
        let left = [dot(&self.way, self.excess), -dot(weights, self.excess)];
        dot(&left, &[dot(weights, &gradient), dot(&self.way, &gradient)])
    }

    /// Returns the derivative of the steepness along the segment.
    fn bend(&self) -> f64 {
        let gradient = self.problem.covariance.times(&self.way);
        inner(&self.way, self.excess) * inner(self.from, &gradient)
            - inner(self.from, self.excess) * inner(&self.way, &gradient)
    }

    /// Returns the weights of the segment at which the steepness is zero.
    fn top(&self, end: f64) -> Vec<f64> {
        let bend = self.bend();
        // The order of max and min makes 0 of 0 by 0.
        let mut part = (-self.steepness(self.from) / bend).max(0.0).min(end);
        for _ in 0..2 {
            let weights = between(self.problem, self.from, &self.way, part);
            let next = part - self.exact_steepness(&weights) / bend;
            if next.is_finite() {
                part = next.clamp(0.0, end);
            }
        }
        between(self.problem, self.from, &self.way, part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(
        returns: &[f64],
        rate: f64,
        covariance: &[Vec<f64>],
        lower: Option<&[f64]>,
    ) -> Result<Portfolio> {
        MaxSharpe {
            expected_returns: returns.to_vec(),
            covariance_matrix: Covariance::from_rows(covariance)?,
            risk_free_rate: rate,
            min_weights: lower.map(<[f64]>::to_vec),
            max_weights: None,
        }
        .solve()
    }

    fn variances(variances: [f64; 2]) -> Vec<Vec<f64>> {
        vec![vec![variances[0], 0.0], vec![0.0, variances[1]]]
    }

    #[test]
    fn independent_assets_are_held_by_excess_return_over_variance() {
        let found = solve(&[0.06, 0.03], 0.02, &variances([0.04, 0.01]), None).unwrap();
        for (weight, expected) in found.weights.iter().zip([0.5, 0.5]) {
            assert!((weight - expected).abs() < 1e-15, "{found:?}");
        }
        // An asset that returns less than the riskless one is sold, or not held.
        let short = solve(&[0.06, 0.01], 0.02, &variances([0.04, 0.04]), None).unwrap();
        assert!((short.weights[1] + 1.0 / 3.0).abs() < 1e-15, "{short:?}");
        let long = solve(&[0.06, 0.01], 0.02, &variances([0.04, 0.04]), Some(&[0.0; 2])).unwrap();
        assert_eq!(long.weights, [1.0, 0.0]);
    }

    #[test]
    fn scaling_the_covariance_changes_no_weight() {
        let of = |scale: f64| {
            let covariance = [vec![0.04 * scale, 0.01 * scale], vec![0.01 * scale, 0.09 * scale]];
            solve(&[0.06, 0.09], 0.01, &covariance, Some(&[0.0; 2])).unwrap().weights
        };
        assert_eq!(of(libm::scalbn(1.0, -600)), of(1.0));
        assert_eq!(of(libm::scalbn(1.0, 600)), of(1.0));
    }

    #[test]
    fn what_has_no_largest_ratio_is_refused() {
        let refused = |found: Result<Portfolio>| found.unwrap_err().to_string();
        let long_only: Option<&[f64]> = Some(&[0.0; 2]);
        for rate in [0.06, 0.07] {
            assert_eq!(
                refused(solve(&[0.06, 0.03], rate, &variances([0.04, 0.01]), long_only)),
                "`risk_free_rate` is not below the return of any portfolio within the bounds"
            );
            assert_eq!(
                refused(solve(&[0.06, 0.03], rate, &variances([0.04, 0.01]), None)),
                "`risk_free_rate` leaves the ratio to grow without end, with no bounds to hold it"
            );
        }
        for lower in [None, long_only] {
            assert_eq!(
                refused(solve(&[0.06, 0.03], 0.02, &variances([0.04, 0.0]), lower)),
                "`risk_free_rate` is below the return of a portfolio without risk"
            );
        }
        // A riskless asset that returns no more than the riskless rate is only not held.
        let found = solve(&[0.06, 0.01], 0.02, &variances([0.04, 0.0]), long_only).unwrap();
        assert_eq!(found.weights, [1.0, 0.0]);
    }

    #[test]
    fn one_asset_is_all_there_is() {
        assert_eq!(solve(&[0.05], 0.0, &[vec![0.04]], None).unwrap().weights, [1.0]);
        assert!(solve(&[0.05], 0.05, &[vec![0.04]], None).is_err());
    }
}

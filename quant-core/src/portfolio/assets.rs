//! The arguments that all portfolio computations share, and the figures of a portfolio.

use super::cholesky::Cholesky;
use super::covariance::Covariance;
use super::symmetric::{Symmetric, dot, sum};
use crate::{Error, Result, check};
use bounds::bounds;
use scaled_covariance::scaled;

pub(super) use bounds::only_portfolio;
pub(super) use scaled_covariance::{semi_definite, variance};

mod bounds;
mod scaled_covariance;

/// The largest deviation of the sum of weights from 1 that is accepted, as a part of their size.
const BUDGET: f64 = 1e-10;

/// A portfolio of assets with known expected returns.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Portfolio {
    /// Weight of each asset, in the order of the input; they sum to 1.
    pub weights: Vec<f64>,
    /// Expected return of the portfolio, annual.
    pub expected_return: f64,
    /// Standard deviation of the return, annual.
    pub volatility: f64,
    /// Return beyond the riskless rate by volatility; `None` where the volatility is zero.
    pub sharpe_ratio: Option<f64>,
}

/// Assets with expected returns, and a riskless rate.
#[derive(Clone, Copy)]
pub(super) struct Assets<'a> {
    pub(super) expected_returns: &'a [f64],
    pub(super) covariance_matrix: &'a Covariance,
    pub(super) risk_free_rate: f64,
    pub(super) min_weights: Option<&'a [f64]>,
    pub(super) max_weights: Option<&'a [f64]>,
}

/// The bounds and the covariance of a portfolio problem, checked, with the covariance scaled.
pub(super) struct Checked {
    /// Lower bounds, −∞ where there is none.
    pub(super) lower: Vec<f64>,
    /// Upper bounds, ∞ where there is none.
    pub(super) upper: Vec<f64>,
    /// The covariance times `2^−exponent`, its largest variance near 1.
    pub(super) covariance: Symmetric,
    pub(super) exponent: i32,
    /// The Cholesky factor of the scaled covariance; `None` unless the covariance is clearly
    /// positive definite.
    pub(super) factor: Option<Cholesky>,
}

/// Refuses a covariance without assets.
pub(super) fn at_least_one(covariance_matrix: &Covariance) -> Result<()> {
    if covariance_matrix.size() > 0 {
        return Ok(());
    }
    Err(Error::TooFew { argument: "covariance_matrix", needed: 1, found: 0 })
}

impl Checked {
    /// Checks the bounds and the covariance and scales the covariance.
    pub(super) fn new(
        covariance_matrix: &Covariance,
        min_weights: Option<&[f64]>,
        max_weights: Option<&[f64]>,
    ) -> Result<Self> {
        let (lower, upper) = bounds(covariance_matrix.size(), min_weights, max_weights)?;
        let (covariance, exponent) = scaled(covariance_matrix)?;
        let factor = semi_definite(&covariance)?;
        Ok(Self { lower, upper, covariance, exponent, factor })
    }
}

impl Assets<'_> {
    /// Checks lengths, returns, rate, bounds and covariance.
    pub(super) fn check(&self) -> Result<Checked> {
        let size = self.expected_returns.len();
        if size == 0 {
            return Err(Error::TooFew { argument: "expected_returns", needed: 1, found: 0 });
        }
        check::each("expected_returns", self.expected_returns, "a finite number", f64::is_finite)?;
        check::length("covariance_matrix", self.covariance_matrix.size(), size)?;
        check::finite("risk_free_rate", self.risk_free_rate)?;
        Checked::new(self.covariance_matrix, self.min_weights, self.max_weights)
    }

    /// Returns the portfolio of these weights, with its return, volatility and Sharpe ratio.
    pub(super) fn describe(
        &self,
        weights: Vec<f64>,
        covariance: &Symmetric,
        exponent: i32,
    ) -> Result<Portfolio> {
        let expected_return = expected_return(&weights, self.expected_returns)?;
        let volatility = volatility(&weights, covariance, exponent)?;
        let sharpe_ratio = sharpe_ratio(expected_return, volatility, self.risk_free_rate)?;
        Ok(Portfolio { weights, expected_return, volatility, sharpe_ratio })
    }
}

/// Returns the expected return of a portfolio, annual: the weighted sum of the assets' returns.
pub(super) fn expected_return(weights: &[f64], expected_returns: &[f64]) -> Result<f64> {
    let exact = dot(weights, expected_returns);
    let plain = || weights.iter().zip(expected_returns).map(|(weight, value)| weight * value).sum();
    // The exact products need room above the largest return; the plain ones do not.
    let expected_return = if exact.is_finite() { exact } else { plain() };
    check::result("expected_returns", expected_return)
}

/// Returns the volatility of a portfolio under a covariance that is scaled by `2^−exponent`.
pub(super) fn volatility(weights: &[f64], covariance: &Symmetric, exponent: i32) -> Result<f64> {
    // The root takes an even power of two.
    let variance = libm::scalbn(variance(weights, covariance), exponent & 1);
    let deviation = libm::scalbn(variance.sqrt(), exponent >> 1);
    check::result("covariance_matrix", deviation)
}

/// Returns the Sharpe ratio; `None` where the volatility is zero.
pub(super) fn sharpe_ratio(
    expected_return: f64,
    volatility: f64,
    risk_free_rate: f64,
) -> Result<Option<f64>> {
    if volatility > 0.0 {
        let excess = check::result("expected_returns", expected_return - risk_free_rate)?;
        Ok(Some(check::result("expected_returns", excess / volatility)?))
    } else {
        Ok(None)
    }
}

/// Returns the weights where they are finite and sum to 1, else an error.
pub(super) fn accepted(weights: Vec<f64>) -> Result<Vec<f64>> {
    // Only covariances that are singular to the last bit, unbounded, come near this.
    let residual = (1.0 - sum(weights.iter().copied())).abs();
    let size: f64 = weights.iter().map(|weight| weight.abs()).sum();
    if residual.is_nan() || residual > BUDGET * size {
        return Err(Error::NoConvergence { method: "refinement", iterations: 3, residual });
    }
    weights.into_iter().map(|weight| check::result("covariance_matrix", weight)).collect()
}

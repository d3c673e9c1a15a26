//! The division of a portfolio's risk, in scales in which nothing overflows.

use crate::portfolio::assets::{Checked, at_least_one, variance};
use crate::portfolio::covariance::Covariance;
use crate::portfolio::symmetric::{Symmetric, dot};
use crate::{Result, check};

/// The risk of weights near 1 under a covariance near 1, and the derivatives by the weights.
pub(super) struct Parts {
    /// The weights times `2^−size`.
    pub(super) weights: Vec<f64>,
    pub(super) size: i32,
    /// The covariance times `2^−exponent`.
    pub(super) covariance: Symmetric,
    pub(super) exponent: i32,
    /// The odd power of two of the exponent, since the root takes an even one.
    pub(super) odd: f64,
    pub(super) deviation: f64,
    /// Derivatives of the deviation.
    pub(super) marginal: Vec<f64>,
}

impl Parts {
    /// Checks and scales the arguments, and divides the risk.
    pub(super) fn new(weights: &[f64], covariance_matrix: &Covariance) -> Result<Self> {
        at_least_one(covariance_matrix)?;
        check::length("weights", weights.len(), covariance_matrix.size())?;
        check::each("weights", weights, "a finite number", f64::is_finite)?;
        let Checked { covariance, exponent, .. } = Checked::new(covariance_matrix, None, None)?;
        let largest = weights.iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
        let (_, size) = libm::frexp(largest);
        let weights: Vec<f64> = weights.iter().map(|weight| libm::scalbn(*weight, -size)).collect();
        let odd = libm::scalbn(1.0, exponent & 1);
        let deviation = (variance(&weights, &covariance) * odd).sqrt();
        let derivative = |asset| match deviation {
            0.0 => 0.0,
            _ => dot(covariance.row(asset), &weights) * odd / deviation,
        };
        let marginal = (0..weights.len()).map(derivative).collect();
        Ok(Self { weights, size, covariance, exponent, odd, deviation, marginal })
    }

    /// The contributions in the scale of the deviation, before one absorbs the rounding of the sum.
    pub(super) fn products(&self) -> impl Iterator<Item = f64> {
        self.weights.iter().zip(&self.marginal).map(|(weight, slope)| weight * slope)
    }

    /// Returns a number in the scale of the deviation in the unit of the volatility.
    pub(super) fn unscaled(&self, value: f64) -> f64 {
        libm::scalbn(value, (self.exponent >> 1) + self.size)
    }
}

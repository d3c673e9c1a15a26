//! Bounds of the rounding of a portfolio's volatility and of its contributions.
//!
//! The variance is `wᵀg` with `g = Σw`, each a sum of products with an error of at most
//! `u|aᵀb| + γ²|a|ᵀ|b|` (Ogita, Rump and Oishi 2005, "Accurate Sum and Dot Product", theorem 5.4),
//! where u is half the distance of 1 to the next double and γ is n·u. The variance then differs by
//! at most `E = u(σ² + Σ|wᵢgᵢ|) + 2γ²Σ|wᵢΣᵢⱼwⱼ|`, and its root by `E/(σ̂ + σ)`. The bounds divide
//! by σ̂ alone: the factor of two covers the rounding of the bounds themselves.

use super::parts::Parts;
use crate::portfolio::covariance::Covariance;

/// The relative error of one rounding.
const UNIT: f64 = 0.5 * f64::EPSILON;
/// The part of the terms of a variance below which it counts as zero, and the rounding of both.
const ZERO_VARIANCE: f64 = 3.0 * f64::EPSILON;

/// Bounds of errors, in the scale of the deviation of the parts.
pub(super) struct Rounding {
    /// Bound of the error of the volatility.
    pub(super) volatility: f64,
    /// Bound of the error of every contribution, before one absorbs the rounding of the sum.
    pub(super) contribution: f64,
}

impl Rounding {
    /// Returns the bounds for the parts of the risk under a covariance.
    pub(super) fn of(parts: &Parts, given: &Covariance) -> Self {
        let deviation = parts.deviation;
        let Terms { gross, left_out } = Terms::of(parts, given);
        if deviation == 0.0 {
            let variance = (ZERO_VARIANCE * gross + left_out) * parts.odd;
            let volatility = variance.sqrt();
            return Self { volatility, contribution: volatility.max(standalone(parts)) };
        }
        let gamma = (parts.weights.len() as f64 + 8.0) * UNIT;
        let rest = (2.0 * gamma * gamma * gross + left_out) * parts.odd / deviation;
        let (mut sum, mut largest) = (0.0, 0.0_f64);
        for part in parts.products() {
            sum += part.abs();
            largest = largest.max(part.abs());
        }
        let volatility = UNIT * (2.0 * deviation + sum) + rest;
        let contribution = largest * (volatility / deviation + 4.0 * UNIT) + 2.0 * rest;
        Self { volatility, contribution }
    }
}

/// The sizes of the terms of a variance.
struct Terms {
    /// The sum of the sizes of all terms.
    gross: f64,
    /// The part of the given covariance's variance that the symmetric covariance leaves out:
    /// rounding of the means of mirror images, and negligible variances.
    left_out: f64,
}

impl Terms {
    fn of(parts: &Parts, given: &Covariance) -> Self {
        let given = given.matrix();
        let scaled = |row, column| libm::scalbn(given[(row, column)], -parts.exponent);
        let mut terms = Self { gross: 0.0, left_out: 0.0 };
        for (row, first) in parts.weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
            for (column, (second, used)) in
                parts.weights.iter().zip(parts.covariance.row(row)).enumerate()
            {
                let size = (first * second).abs();
                let change = (scaled(row, column) - used) + (scaled(column, row) - used);
                terms.gross += size * used.abs();
                terms.left_out += 0.5 * size * change.abs();
            }
        }
        terms
    }
}

/// Returns the largest deviation of an asset's position alone, which no contribution exceeds.
fn standalone(parts: &Parts) -> f64 {
    let variance = |asset| (parts.covariance.diagonal(asset) * parts.odd).sqrt();
    let sizes = parts.weights.iter().enumerate();
    sizes.fold(0.0, |most, (asset, weight)| most.max(weight.abs() * variance(asset)))
}

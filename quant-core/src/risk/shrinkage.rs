//! Covariance matrices of many assets and few observations, shrunk towards the identity.

use super::moments::{centred, checked};
use crate::portfolio::Covariance;
use crate::portfolio::symmetric::dot;
use crate::{Result, check};

/// A covariance matrix and how far it was shrunk.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Shrinkage {
    /// The shrunk covariance of the returns, per period.
    pub covariance: Covariance,
    /// Weight of the target, from 0 (the sample covariance) to 1 (the target).
    pub intensity: f64,
}

/// Returns the covariance of Ledoit and Wolf of some series of returns, one for each asset.
///
/// ```text
/// Σ = (1 − s)·S + s·m·I       m = tr S / p
/// s = min(b², d²) / d²        d² = ‖S − mI‖² / p,   b² = Σₜ ‖xₜxₜᵀ − S‖² / (p n²)
/// ```
///
/// where S is the sample covariance with n in the denominator, xₜ the deviations from the mean at time t,
/// p the number of assets and ‖·‖ the Frobenius norm. The target is a multiple of the identity. Where S is
/// such a multiple already, s is 0.
///
/// # Errors
///
/// [`Error::TooFew`](crate::Error::TooFew) without series or with an empty one;
/// [`Error::Shape`](crate::Error::Shape) for series of different lengths;
/// [`Error::Element`](crate::Error::Element) for a return that is not finite;
/// [`Error::Overflow`](crate::Error::Overflow) where a figure exceeds the largest double.
///
/// # Examples
///
/// ```
/// use quant_core::risk::ledoit_wolf;
///
/// let found = ledoit_wolf(&[vec![0.01, -0.02, 0.03], vec![0.02, 0.01, -0.01]])?;
/// assert!((0.0..=1.0).contains(&found.intensity));
/// // The trace is that of the sample covariance.
/// let trace = found.covariance.matrix().trace();
/// assert!((trace - (3.8 + 1.4) * 1e-3 / 9.0).abs() < 1e-15);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Ledoit and Wolf (2004), "A Well-Conditioned Estimator for Large-Dimensional Covariance Matrices".
pub fn ledoit_wolf(returns: &[Vec<f64>]) -> Result<Shrinkage> {
    let deviations = deviations("returns", returns)?;
    let (assets, count) = (deviations.len(), deviations[0].len() as f64);
    // Deviations near 1, whose fourth powers are doubles.
    let largest = deviations.iter().flatten().fold(0.0_f64, |most, value| most.max(value.abs()));
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let scaled: Vec<Vec<f64>> = deviations
        .iter()
        .map(|series| series.iter().map(|value| value / scale).collect())
        .collect();
    let mut sample: Vec<Vec<f64>> = vec![vec![0.0; assets]; assets];
    for row in 0..assets {
        for column in row..assets {
            sample[row][column] = dot(&scaled[row], &scaled[column]) / count;
            sample[column][row] = sample[row][column];
        }
    }
    let intensity = intensity(&scaled, &sample);
    let mean = trace(&sample) / assets as f64;
    for (row, elements) in sample.iter_mut().enumerate() {
        elements.iter_mut().for_each(|element| *element *= 1.0 - intensity);
        elements[row] += intensity * mean;
        for element in elements {
            *element = check::result("returns", *element * scale * scale)?;
        }
    }
    Ok(Shrinkage { covariance: Covariance::from_rows(&sample)?, intensity })
}

fn trace(matrix: &[Vec<f64>]) -> f64 {
    matrix.iter().enumerate().map(|(row, elements)| elements[row]).sum()
}

/// Returns the weight of the target; `Σₜ ‖xₜxₜᵀ − S‖² = Σₜ ‖xₜ‖⁴ − n‖S‖²`.
fn intensity(deviations: &[Vec<f64>], sample: &[Vec<f64>]) -> f64 {
    let (assets, count) = (sample.len() as f64, deviations[0].len() as f64);
    let mean = trace(sample) / assets;
    let squares: f64 = sample.iter().map(|row| dot(row, row)).sum();
    let distance: f64 = sample
        .iter()
        .enumerate()
        .map(|(row, elements)| {
            let off: f64 = elements.iter().map(|value| value * value).sum();
            off - elements[row] * elements[row] + (elements[row] - mean) * (elements[row] - mean)
        })
        .sum();
    if distance <= 8.0 * f64::EPSILON * squares {
        return 0.0;
    }
    let fourth: f64 = (0..deviations[0].len())
        .map(|time| {
            let square: f64 = deviations.iter().map(|series| series[time] * series[time]).sum();
            square * square
        })
        .sum();
    let error = ((fourth / count - squares) / count).max(0.0);
    (error / distance).min(1.0)
}

/// Returns the deviations of each series from its mean. Refuses series of different lengths.
pub(super) fn deviations(argument: &'static str, returns: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
    let expected = returns.first().map_or(0, Vec::len);
    if returns.is_empty() {
        return Err(crate::Error::TooFew { argument, needed: 1, found: 0 });
    }
    let series = returns.iter().map(|series| {
        checked(argument, series)?;
        check::length(argument, series.len(), expected)?;
        let (mean, deviations) = centred(series);
        check::result(argument, mean)?;
        deviations.into_iter().map(|value| check::result(argument, value)).collect()
    });
    series.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portfolio::risk_contributions;
    use proptest::prelude::*;

    #[test]
    fn a_multiple_of_the_identity_is_not_shrunk() {
        let found = ledoit_wolf(&[vec![1.0, -1.0, 0.0, 0.0], vec![0.0, 0.0, 1.0, -1.0]]).unwrap();
        assert_eq!(found.intensity, 0.0);
        let one = ledoit_wolf(&[vec![0.01, 0.03]]).unwrap();
        assert_eq!(one.intensity, 0.0);
        assert!((one.covariance.matrix()[(0, 0)] - 1e-4).abs() < 1e-19);
        assert_eq!(ledoit_wolf(&[vec![0.1; 5], vec![0.2; 5]]).unwrap().intensity, 0.0);
    }

    #[test]
    fn refusals_name_the_argument() {
        assert_eq!(ledoit_wolf(&[]).unwrap_err().code(), "too_few");
        assert_eq!(ledoit_wolf(&[vec![]]).unwrap_err().code(), "too_few");
        assert_eq!(ledoit_wolf(&[vec![0.1], vec![0.1, 0.2]]).unwrap_err().code(), "shape");
        assert_eq!(ledoit_wolf(&[vec![f64::NAN]]).unwrap_err().code(), "domain");
        let vast = ledoit_wolf(&[vec![1e200, -1e200]]).unwrap_err();
        assert_eq!((vast.code(), vast.argument()), ("overflow", Some("returns")));
    }

    proptest! {
        #[test]
        fn the_trace_is_kept_and_the_matrix_definite(
            series in prop::collection::vec(prop::collection::vec(-0.1..0.1_f64, 4), 2..9),
        ) {
            let found = ledoit_wolf(&series).unwrap();
            prop_assert!((0.0..=1.0).contains(&found.intensity));
            let deviations = deviations("returns", &series).unwrap();
            let trace: f64 = deviations.iter().map(|series| dot(series, series) / 4.0).sum();
            prop_assert!((found.covariance.matrix().trace() - trace).abs() <= 1e-15);
            let weights = vec![1.0; series.len()];
            prop_assert!(risk_contributions(&weights, &found.covariance).is_ok());
        }
    }
}

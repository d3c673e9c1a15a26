//! The check of a covariance matrix: scaled, symmetric, positive semi-definite.

use nalgebra::DMatrix;

use crate::portfolio::cholesky::Cholesky;
use crate::portfolio::covariance::Covariance;
use crate::portfolio::symmetric::{Symmetric, dot, held_assets};
use crate::{Error, Result};

/// The largest difference of mirror images, as a part of the larger element.
const SYMMETRY: f64 = 1e-12;
/// The largest difference of mirror images, as a part of the product of the two deviations.
const ROUNDING: f64 = 8.881_784_197_001_252e-16;
/// The most negative eigenvalue that is accepted, in units of the largest variance.
const SEMI_DEFINITE: f64 = 1e-10;
/// The deviation below which an asset is riskless, as a part of the largest.
const NEGLIGIBLE: f64 = 6.223_015_277_861_142e-61;
/// The pivot, as a part of its variance, above which the minimum is certainly unique.
const DEFINITE: f64 = 1e-11;

/// Returns the covariance times `2^−exponent`, its largest variance between ½ and 1, and the exponent.
pub(super) fn scaled(covariance: &Covariance) -> Result<(Symmetric, i32)> {
    let (matrix, size) = (covariance.matrix(), covariance.size());
    if !matrix.as_slice().iter().all(|element| element.is_finite()) {
        return Err(first_fault(matrix));
    }
    let largest = (0..size).map(|asset| matrix[(asset, asset)]).fold(0.0, f64::max);
    let (_, exponent) = libm::frexp(largest);
    // In two halves, since the inverse of the smallest double is no double.
    let half = libm::scalbn(1.0, -exponent / 2);
    let other = libm::scalbn(1.0, -exponent - -exponent / 2);
    let scaled = |element: &f64| element * half * other;
    // By columns, which are the rows of a symmetric matrix.
    let mut elements: Vec<f64> = matrix.as_slice().iter().map(scaled).collect();
    symmetrise(size, &mut elements)?;
    drop_negligible(size, &mut elements);
    Ok((Symmetric::from_elements(size, elements), exponent))
}

/// Returns the refusal of the first row with an element that is not finite. The matrix is stored by
/// columns, so that a search by rows is slow.
fn first_fault(matrix: &DMatrix<f64>) -> Error {
    let mut faults = matrix.row_iter().enumerate().filter_map(|(index, row)| {
        row.iter().find(|element| !element.is_finite()).map(|&value| (index, value))
    });
    let (index, value) = faults.next().expect("an element is not finite");
    let requirement = "a row of finite numbers";
    Error::Element { argument: "covariance_matrix", index, value, requirement }
}

/// Makes mirror images equal, or refuses where they differ by more than rounding.
fn symmetrise(size: usize, elements: &mut [f64]) -> Result<()> {
    for row in 0..size {
        for column in row + 1..size {
            let (above, below) = (elements[row * size + column], elements[column * size + row]);
            if above == below {
                continue;
            }
            let deviations =
                (elements[row * size + row].abs() * elements[column * size + column].abs()).sqrt();
            let allowed = (SYMMETRY * above.abs().max(below.abs())).max(ROUNDING * deviations);
            if (above - below).abs() > allowed {
                return Err(Error::Asymmetric { argument: "covariance_matrix", row, column });
            }
            let mean = 0.5 * above + 0.5 * below;
            elements[row * size + column] = mean;
            elements[column * size + row] = mean;
        }
    }
    Ok(())
}

/// Sets negligible variances to zero, so that inverses stay within the range of a double.
///
/// Their covariances, at most the root of that part of the largest variance, go with them; where
/// they are larger, the matrix is not semi-definite and stays as it is to be refused.
fn drop_negligible(size: usize, elements: &mut [f64]) {
    for asset in 0..size {
        let row = &elements[asset * size..(asset + 1) * size];
        let is_small = row[asset].abs() < NEGLIGIBLE * NEGLIGIBLE;
        if is_small && row.iter().all(|element| element.abs() <= 2.0 * NEGLIGIBLE) {
            elements[asset * size..(asset + 1) * size].fill(0.0);
            (0..size).for_each(|other| elements[other * size + asset] = 0.0);
        }
    }
}

/// Refuses a matrix with a negative eigenvalue; returns its factor where it is clearly definite.
pub(in crate::portfolio) fn semi_definite(covariance: &Symmetric) -> Result<Option<Cholesky>> {
    let assets: Vec<usize> = (0..covariance.size()).collect();
    if let Ok(factor) = Cholesky::of(covariance, &assets, 0.0, DEFINITE) {
        return Ok(Some(factor));
    }
    let largest = assets.iter().map(|&asset| covariance.diagonal(asset)).fold(0.0, f64::max);
    if largest == 0.0
        && assets.iter().all(|&asset| covariance.row(asset).iter().all(|&value| value == 0.0))
    {
        return Ok(None);
    }
    match Cholesky::of(covariance, &assets, SEMI_DEFINITE * largest, 0.0) {
        Ok(_) => Ok(None),
        Err(pivot) => Err(Error::NotPositiveSemiDefinite { argument: "covariance_matrix", pivot }),
    }
}

/// Returns the variance of a portfolio; zero where it is rounding of its terms.
pub(in crate::portfolio) fn variance(weights: &[f64], covariance: &Symmetric) -> f64 {
    let held = held_assets(weights);
    let weights: Vec<f64> = held.iter().map(|&asset| weights[asset]).collect();
    let (mut gradient, mut gross) = (Vec::with_capacity(held.len()), 0.0);
    for (&asset, weight) in held.iter().zip(&weights) {
        let row = covariance.row(asset);
        let row: Vec<f64> = held.iter().map(|&other| row[other]).collect();
        gradient.push(dot(&row, &weights));
        gross += weight.abs()
            * row
                .iter()
                .zip(&weights)
                .map(|(element, weight)| (element * weight).abs())
                .sum::<f64>();
    }
    let variance = dot(&weights, &gradient);
    if variance > 2.0 * f64::EPSILON * gross { variance } else { 0.0 }
}

//! Covariance matrices, as callers hand them over.

use nalgebra::{DMatrix, SMatrix};

use crate::{Error, Result, check};

/// A square matrix of covariances.
///
/// Any square matrix can be held; the computations refuse one that is not finite, symmetric and
/// positive semi-definite. With the feature `serde` it is serialised as its rows.
///
/// # Examples
///
/// ```
/// use quant_core::portfolio::Covariance;
///
/// let from_array = Covariance::from([[0.04, 0.01], [0.01, 0.09]]);
/// let rows = vec![vec![0.04, 0.01], vec![0.01, 0.09]];
/// assert_eq!(Covariance::from_rows(&rows)?, from_array);
/// let matrix = nalgebra::DMatrix::from_row_slice(2, 2, &[0.04, 0.01, 0.01, 0.09]);
/// assert_eq!(Covariance::try_from(matrix)?, from_array);
/// # Ok::<(), quant_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<Vec<f64>>", into = "Vec<Vec<f64>>"))]
pub struct Covariance(DMatrix<f64>);

impl Covariance {
    /// Returns the covariance with these rows.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] where a row has another length than there are rows.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self> {
        let size = rows.len();
        for row in rows {
            check::length("covariance_matrix", row.as_ref().len(), size)?;
        }
        let elements = rows.iter().flat_map(|row| row.as_ref().iter().copied());
        Ok(Self(DMatrix::from_row_iterator(size, size, elements)))
    }

    /// Returns the number of assets, which is that of rows.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.nrows()
    }

    /// Returns the matrix, not checked for symmetry or definiteness.
    #[must_use]
    pub fn matrix(&self) -> &DMatrix<f64> {
        &self.0
    }
}

impl<const N: usize> From<[[f64; N]; N]> for Covariance {
    fn from(rows: [[f64; N]; N]) -> Self {
        Self(DMatrix::from_row_iterator(N, N, rows.into_iter().flatten()))
    }
}

impl<const N: usize> From<SMatrix<f64, N, N>> for Covariance {
    fn from(matrix: SMatrix<f64, N, N>) -> Self {
        Self(DMatrix::from_column_slice(N, N, matrix.as_slice()))
    }
}

impl TryFrom<DMatrix<f64>> for Covariance {
    type Error = Error;

    fn try_from(matrix: DMatrix<f64>) -> Result<Self> {
        check::length("covariance_matrix", matrix.ncols(), matrix.nrows())?;
        Ok(Self(matrix))
    }
}

impl<R: AsRef<[f64]>> TryFrom<&[R]> for Covariance {
    type Error = Error;

    fn try_from(rows: &[R]) -> Result<Self> {
        Self::from_rows(rows)
    }
}

impl TryFrom<Vec<Vec<f64>>> for Covariance {
    type Error = Error;

    fn try_from(rows: Vec<Vec<f64>>) -> Result<Self> {
        Self::from_rows(&rows)
    }
}

impl From<Covariance> for Vec<Vec<f64>> {
    fn from(covariance: Covariance) -> Self {
        covariance.0.row_iter().map(|row| row.iter().copied().collect()).collect()
    }
}

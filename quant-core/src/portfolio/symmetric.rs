//! Symmetric matrices, and sums of products in twice the precision.

use nalgebra::DMatrix;

use crate::arithmetic::double_double::{two_product, two_sum};

/// A symmetric matrix, stored in full: its columns are its rows.
#[derive(Clone)]
pub(super) struct Symmetric(DMatrix<f64>);

impl Symmetric {
    /// Returns the matrix of this size with the given elements, row by row.
    pub(super) fn from_elements(size: usize, elements: Vec<f64>) -> Self {
        Self(DMatrix::from_vec(size, size, elements))
    }

    pub(super) fn size(&self) -> usize {
        self.0.nrows()
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.0.as_slice()[row * self.size()..(row + 1) * self.size()]
    }

    pub(super) fn diagonal(&self, row: usize) -> f64 {
        self.0[(row, row)]
    }

    /// Returns the matrix with a number added to its diagonal.
    pub(super) fn shifted(&self, by: f64) -> Self {
        let mut shifted = self.0.clone();
        (0..self.size()).for_each(|index| shifted[(index, index)] += by);
        Self(shifted)
    }

    /// Returns the product with a vector, most of whose elements may be zero.
    pub(super) fn times(&self, vector: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.size()];
        for (row, &factor) in vector.iter().enumerate() {
            if factor != 0.0 {
                for (sum, element) in product.iter_mut().zip(self.row(row)) {
                    *sum += factor * element;
                }
            }
        }
        product
    }
}

/// Returns the vector of this size whose only element that is not zero is `value`.
pub(super) fn unit(size: usize, position: usize, value: f64) -> Vec<f64> {
    (0..size).map(|index| if index == position { value } else { 0.0 }).collect()
}

/// Returns `Σ aᵢbᵢ`, summed in eight lanes that the processor can work on at once.
pub(super) fn inner(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (b + f)) + ((c + g) + (d + h)) + rest
}

/// Returns `Σ aᵢbᵢ` as if in twice the precision, rounded at the end.
///
/// Ogita, Rump and Oishi (2005), "Accurate Sum and Dot Product", algorithm 5.3, in four lanes.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (mut sums, mut rests) = ([0.0; 4], [0.0; 4]);
    let (a_chunks, b_chunks) = (a.chunks_exact(4), b.chunks_exact(4));
    let remainder = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(&a, &b)| [a, b]);
    let add = |sum: &mut f64, rest: &mut f64, a: f64, b: f64| {
        let (product, product_error) = two_product(a, b);
        let (total, sum_error) = two_sum(*sum, product);
        *sum = total;
        *rest += sum_error + product_error;
    };
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..4 {
            add(&mut sums[lane], &mut rests[lane], a[lane], b[lane]);
        }
    }
    for (lane, [a, b]) in remainder.enumerate() {
        add(&mut sums[lane], &mut rests[lane], a, b);
    }
    sum(sums.into_iter().chain(rests))
}

/// Returns the sum as if in twice the precision, rounded at the end.
pub(crate) fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut rest) = (0.0, 0.0);
    for value in values {
        let (total, error) = two_sum(sum, value);
        sum = total;
        rest += error;
    }
    sum + rest
}

/// Returns the assets whose weight is not zero.
pub(super) fn held_assets(weights: &[f64]) -> Vec<usize> {
    (0..weights.len()).filter(|&asset| weights[asset] != 0.0).collect()
}

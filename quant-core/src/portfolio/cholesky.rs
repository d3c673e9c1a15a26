//! Cholesky factors that are updated when a row is added or removed.

use std::ops::Range;

use super::symmetric::{Symmetric, inner};

/// The number of rows that are eliminated together, and of columns that fit into the first-level
/// cache.
const PANEL: usize = 8;
const STRIP: usize = 256;

/// The factor U of `UᵀU = A`, upper triangular, row by row.
///
/// The factorisation of `nalgebra` sums in another order, so that the bits would differ, has no floor
/// for the pivots, and takes 1.3 to 1.5 times as long for 200 to 500 rows.
pub(super) struct Cholesky {
    order: usize,
    stride: usize,
    elements: Vec<f64>,
}

impl Cholesky {
    /// Returns an empty factor with room for `capacity` rows.
    pub(super) fn empty(capacity: usize) -> Self {
        Self { order: 0, stride: capacity, elements: vec![0.0; capacity * capacity] }
    }

    /// Factors the rows and columns `members` of a matrix, with `shift` added to the diagonal.
    ///
    /// Fails with the position of the first pivot that is at most `floor` of its diagonal.
    pub(super) fn of(
        matrix: &Symmetric,
        members: &[usize],
        shift: f64,
        floor: f64,
    ) -> Result<Self, usize> {
        let order = members.len();
        let mut elements = vec![0.0; order * order];
        for (position, &member) in members.iter().enumerate() {
            let row = matrix.row(member);
            let target = &mut elements[position * order + position..(position + 1) * order];
            for (element, &other) in target.iter_mut().zip(&members[position..]) {
                *element = row[other];
            }
            target[0] += shift;
        }
        let mut factor = Self { order, stride: order, elements };
        factor.eliminate(floor)?;
        Ok(factor)
    }

    /// Turns the upper triangle of a matrix into its factor, a panel of rows at a time.
    fn eliminate(&mut self, floor: f64) -> Result<(), usize> {
        let (order, stride) = (self.order, self.stride);
        let diagonal: Vec<f64> = (0..order).map(|row| self.elements[row * (stride + 1)]).collect();
        for first in (0..order).step_by(PANEL) {
            let (done, rest) = self.elements.split_at_mut(first * stride);
            let panel = &mut rest[..PANEL.min(order - first) * stride];
            for strip in (first..order).step_by(STRIP) {
                subtract_products(panel, done, first, strip..order.min(strip + STRIP), stride);
            }
            for row in 0..panel.len() / stride {
                let (above, below) = panel.split_at_mut(row * stride);
                let position = first + row;
                let row = &mut below[position..order];
                for above in above.chunks_exact(stride) {
                    subtract_product(row, &above[position..order], above[position]);
                }
                let pivot = row[0];
                if pivot.is_nan() || pivot <= floor * diagonal[position] {
                    return Err(position);
                }
                let root = pivot.sqrt();
                row.iter_mut().for_each(|element| *element /= root);
                row[0] = root;
            }
        }
        Ok(())
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.elements[row * self.stride + row..row * self.stride + self.order]
    }

    /// Solves `Uᵀy = b` in place.
    pub(super) fn solve_lower(&self, vector: &mut [f64]) {
        for row in 0..self.order {
            let elements = self.row(row);
            let (head, tail) = vector[row..].split_at_mut(1);
            head[0] /= elements[0];
            for (value, element) in tail.iter_mut().zip(&elements[1..]) {
                *value -= head[0] * element;
            }
        }
    }

    /// Solves `Ux = y` in place.
    pub(super) fn solve_upper(&self, vector: &mut [f64]) {
        for row in (0..self.order).rev() {
            let elements = self.row(row);
            let (head, tail) = vector[row..].split_at_mut(1);
            head[0] = (head[0] - inner(&elements[1..], tail)) / elements[0];
        }
    }

    /// Solves `Ax = b` in place.
    pub(super) fn solve(&self, vector: &mut [f64]) {
        self.solve_lower(vector);
        self.solve_upper(vector);
    }

    /// Adds a row and column to A, given `Uᵀy = a` for its new column and the new pivot.
    pub(super) fn push(&mut self, column: &[f64], pivot: f64) {
        if self.order == self.stride {
            self.make_room();
        }
        for (row, &element) in column.iter().enumerate() {
            self.elements[row * self.stride + self.order] = element;
        }
        self.elements[self.order * self.stride + self.order] = pivot.sqrt();
        self.order += 1;
    }

    /// Lays the rows out with room for as many again.
    fn make_room(&mut self) {
        let stride = 2 * self.stride + 4;
        let mut elements = vec![0.0; stride * stride];
        for row in 0..self.order {
            elements[row * stride + row..row * stride + self.order].copy_from_slice(self.row(row));
        }
        (self.stride, self.elements) = (stride, elements);
    }

    /// Takes the row and column at `position` out of A.
    pub(super) fn remove(&mut self, position: usize) {
        let (stride, order) = (self.stride, self.order);
        for row in 0..order {
            let start = row * stride;
            self.elements.copy_within(start + position + 1..start + order, start + position);
        }
        // The rows from `position` on now have one element left of the diagonal: rotate each
        // into the row above.
        for row in position..order - 1 {
            let (above, below) = self.elements.split_at_mut((row + 1) * stride);
            rotate(
                &mut above[row * stride + row..row * stride + order - 1],
                &mut below[row..order - 1],
            );
        }
        self.order -= 1;
    }
}

/// Subtracts the contribution of the finished rows from a strip of columns of a panel.
///
/// Elements left of the diagonal, which are never read, are written as well.
fn subtract_products(
    panel: &mut [f64],
    done: &[f64],
    first: usize,
    columns: Range<usize>,
    stride: usize,
) {
    for above in done.chunks(4 * stride) {
        for (offset, row) in panel.chunks_exact_mut(stride).enumerate() {
            let row = &mut row[columns.clone()];
            let strip = |index: usize| &above[index * stride..][columns.clone()];
            let factor = |index: usize| above[index * stride + first + offset];
            if above.len() < 4 * stride {
                for index in 0..above.len() / stride {
                    subtract_product(row, strip(index), factor(index));
                }
                continue;
            }
            let [a, b, c, d] = [0, 1, 2, 3].map(strip);
            let [fa, fb, fc, fd] = [0, 1, 2, 3].map(factor);
            for ((((value, a), b), c), d) in row.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *value -= (fa * a + fb * b) + (fc * c + fd * d);
            }
        }
    }
}

/// Subtracts a multiple of one row from another.
fn subtract_product(row: &mut [f64], above: &[f64], factor: f64) {
    for (value, element) in row.iter_mut().zip(above) {
        *value -= factor * element;
    }
}

/// Rotates two rows so that the first element of the lower one becomes zero.
fn rotate(upper: &mut [f64], lower: &mut [f64]) {
    let length = (upper[0] * upper[0] + lower[0] * lower[0]).sqrt();
    let (cosine, sine) = (upper[0] / length, lower[0] / length);
    for (upper, lower) in upper.iter_mut().zip(lower) {
        (*upper, *lower) = (cosine * *upper + sine * *lower, cosine * *lower - sine * *upper);
    }
}

//! Linear least squares with a handful of columns.

/// The part of a column outside the span of the columns before it, below which it is dependent.
const DEPENDENT: f64 = 1e-11;

/// Returns the coefficients of the linear combination of columns nearest to a target, and the
/// residual.
///
/// The method is Gram and Schmidt's, each column orthogonalised twice. A column that depends on the
/// columns before it has the coefficient 0.
pub(super) fn least_squares<const N: usize>(
    columns: [Vec<f64>; N],
    target: &[f64],
) -> ([f64; N], Vec<f64>) {
    let (mut triangle, mut parts) = ([[0.0; N]; N], [0.0; N]);
    let mut basis: [Vec<f64>; N] = columns;
    let mut rest = target.to_vec();
    for column in 0..N {
        let (before, after) = basis.split_at_mut(column);
        let vector = &mut after[0];
        let size = squares(vector).sqrt();
        for _ in 0..2 {
            for (row, direction) in before.iter().enumerate() {
                triangle[row][column] += take_out(direction, vector);
            }
        }
        let left = squares(vector).sqrt();
        if left > DEPENDENT * size {
            vector.iter_mut().for_each(|element| *element /= left);
            triangle[column][column] = left;
            parts[column] = take_out(vector, &mut rest);
        } else {
            vector.fill(0.0);
        }
    }
    // The components along the basis that rounding left in the remainder.
    for (part, direction) in parts.iter_mut().zip(&basis) {
        *part += take_out(direction, &mut rest);
    }
    for row in (0..N).rev() {
        let known: f64 = (row + 1..N).map(|column| triangle[row][column] * parts[column]).sum();
        let pivot = triangle[row][row];
        parts[row] = if pivot > 0.0 { (parts[row] - known) / pivot } else { 0.0 };
    }
    (parts, rest)
}

/// Returns the fall of the root of the mean squared residual that a linear step along the columns
/// promises: the first-order gap, zero at a minimum.
pub(super) fn first_order_gap<const N: usize>(columns: [Vec<f64>; N], residuals: &[f64]) -> f64 {
    let (_, rest) = least_squares(columns, residuals);
    let fall = squares(residuals).sqrt() - squares(&rest).sqrt();
    fall.max(0.0) / (residuals.len() as f64).sqrt()
}

/// Subtracts the component of a vector along a unit direction, and returns its size.
fn take_out(direction: &[f64], vector: &mut [f64]) -> f64 {
    let part: f64 = direction.iter().zip(vector.iter()).map(|(a, b)| a * b).sum();
    for (element, along) in vector.iter_mut().zip(direction) {
        *element -= part * along;
    }
    part
}

/// Returns the sum of the squares of the elements.
pub(super) fn squares(vector: &[f64]) -> f64 {
    vector.iter().map(|element| element * element).sum()
}

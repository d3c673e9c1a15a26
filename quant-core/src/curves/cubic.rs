//! The natural cubic spline, which interpolates zero rates between pillars.

/// Returns the second derivatives of the natural cubic spline at its knots, which are 0 at both ends.
///
/// The tridiagonal system is diagonally dominant, so elimination needs no pivots (Press et al.
/// 2007, "Numerical Recipes", section 3.3).
pub(super) fn natural_curvatures(knots: &[f64], values: &[f64]) -> Vec<f64> {
    let count = knots.len();
    let mut curvatures = vec![0.0; count];
    // The coefficient of the next unknown in each row after elimination.
    let mut carried = vec![0.0; count];
    let slope = |i: usize| (values[i + 1] - values[i]) / (knots[i + 1] - knots[i]);
    for i in 1..count.saturating_sub(1) {
        let (before, after) = (knots[i] - knots[i - 1], knots[i + 1] - knots[i]);
        let pivot = 2.0 * (before + after) - before * carried[i - 1];
        carried[i] = after / pivot;
        curvatures[i] = (6.0 * (slope(i) - slope(i - 1)) - before * curvatures[i - 1]) / pivot;
    }
    for i in (1..count.saturating_sub(1)).rev() {
        curvatures[i] -= carried[i] * curvatures[i + 1];
    }
    curvatures
}

/// Returns the distance of the spline from the straight line between two knots, and the slope of
/// that distance, at the fraction `weight` of the way from the first knot to the second.
pub(super) fn bend(knots: &[f64], curvatures: &[f64], weight: f64) -> (f64, f64) {
    let width = knots[1] - knots[0];
    let rest = 1.0 - weight;
    let [first, second] = [curvatures[0] / 6.0, curvatures[1] / 6.0];
    let distance =
        first * (rest * rest * rest - rest) + second * (weight * weight * weight - weight);
    let slope = first * (1.0 - 3.0 * rest * rest) + second * (3.0 * weight * weight - 1.0);
    (distance * width * width, slope * width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_has_no_curvature() {
        assert_eq!(natural_curvatures(&[1.0, 2.0, 4.0, 8.0], &[0.25, 0.5, 1.0, 2.0]), [0.0; 4]);
        assert_eq!(natural_curvatures(&[1.0, 2.0], &[0.25, 0.5]), [0.0; 2]);
        assert_eq!(natural_curvatures(&[1.0], &[0.25]), [0.0]);
    }

    #[test]
    fn the_spline_through_a_peak_is_that_worked_by_hand() {
        // Through (0, 0), (1, 1), (2, 0): 4 M = 6 (−1 − 1), so M = −3 and s(½) = 11/16.
        let curvatures = natural_curvatures(&[0.0, 1.0, 2.0], &[0.0, 1.0, 0.0]);
        assert_eq!(curvatures, [0.0, -3.0, 0.0]);
        let (distance, slope) = bend(&[0.0, 1.0], &curvatures[..2], 0.5);
        assert_eq!((0.5 + distance, 1.0 + slope), (0.6875, 1.125));
    }
}

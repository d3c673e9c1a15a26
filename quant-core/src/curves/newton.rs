//! Newton's method for several unknowns, with damped steps.

/// The number of Newton steps after which the search is given up.
const MAX_STEPS: u32 = 60;

/// A step below this part of an unknown and of 1 is the last. The slopes are differences, good to
/// about seven digits, so the next step would be below 10⁻¹⁶.
const STEP_TOLERANCE: f64 = 1e-9;

/// The largest residual of an equation that counts as rounding.
const VALUE_TOLERANCE: f64 = 1e-12;

/// The distance over which slopes are taken: about the root of a rounding.
const DIFFERENCE: f64 = 1.5e-8;

/// The shortest part of a step that is tried.
const SHORTEST_PART: f64 = 1e-4;

/// Systems beyond this are not tried, so that no request runs for seconds.
const MOST_UNKNOWNS: usize = 100;

/// Returns the unknowns at which all `equations` are 0, sought from `start`, and the number of steps;
/// `None` where the search does not come to an end.
pub(super) fn solve(
    start: &[f64],
    equations: impl Fn(&[f64]) -> Vec<f64>,
) -> Option<(Vec<f64>, u32)> {
    if start.len() > MOST_UNKNOWNS {
        return None;
    }
    let mut unknowns = start.to_vec();
    let mut values = equations(&unknowns);
    for steps in 1..=MAX_STEPS {
        let mut step = values.clone();
        eliminate(slopes(&unknowns, &values, &equations), &mut step)?;
        let size = unknowns.iter().zip(&step).map(|(x, d)| d.abs() / (1.0 + x.abs()));
        if size.fold(0.0, f64::max) <= STEP_TOLERANCE {
            let last = moved(&unknowns, &step, 1.0);
            if largest(&equations(&last)) <= VALUE_TOLERANCE {
                return Some((last, steps));
            }
        }
        (unknowns, values) = shorten(&unknowns, &values, &step, &equations)?;
    }
    None
}

/// Shortens a Newton step to the whole, its half, its quarter and so on, whichever first makes the
/// largest residual of the equations smaller. Returns the unknowns after the step and their
/// residuals; `None` where even [`SHORTEST_PART`] of the step does not.
fn shorten(
    unknowns: &[f64],
    values: &[f64],
    step: &[f64],
    equations: impl Fn(&[f64]) -> Vec<f64>,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let mut part = 1.0;
    while part >= SHORTEST_PART {
        let next = moved(unknowns, step, part);
        let next_values = equations(&next);
        if largest(&next_values) < largest(values) {
            return Some((next, next_values));
        }
        part *= 0.5;
    }
    None
}

fn moved(unknowns: &[f64], step: &[f64], part: f64) -> Vec<f64> {
    unknowns.iter().zip(step).map(|(x, d)| x - part * d).collect()
}

/// Returns the largest absolute value; infinity where a value is not a number.
fn largest(values: &[f64]) -> f64 {
    let size = |value: &f64| if value.is_nan() { f64::INFINITY } else { value.abs() };
    values.iter().map(size).fold(0.0, f64::max)
}

/// The slope of each equation (row) in each unknown (column), by differences.
fn slopes(
    unknowns: &[f64],
    values: &[f64],
    equations: impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; unknowns.len()]; values.len()];
    let mut near = unknowns.to_vec();
    for column in 0..unknowns.len() {
        near[column] = unknowns[column] + DIFFERENCE * (1.0 + unknowns[column].abs());
        let distance = near[column] - unknowns[column];
        for (row, (after, before)) in rows.iter_mut().zip(equations(&near).iter().zip(values)) {
            row[column] = (after - before) / distance;
        }
        near[column] = unknowns[column];
    }
    rows
}

/// Solves a linear system in place of its right side, by elimination with partial pivoting;
/// `None` where it is singular.
fn eliminate(mut rows: Vec<Vec<f64>>, right: &mut [f64]) -> Option<()> {
    let count = right.len();
    for pivot in 0..count {
        let best = (pivot..count)
            .max_by(|&i, &j| rows[i][pivot].abs().total_cmp(&rows[j][pivot].abs()))?;
        rows.swap(pivot, best);
        right.swap(pivot, best);
        let (head, tail) = rows.split_at_mut(pivot + 1);
        let row = &head[pivot];
        if !(row[pivot].abs() > 0.0 && row[pivot].is_finite()) {
            return None;
        }
        for (offset, lower) in tail.iter_mut().enumerate() {
            let factor = lower[pivot] / row[pivot];
            for (below, above) in lower[pivot..].iter_mut().zip(&row[pivot..]) {
                *below -= factor * above;
            }
            right[pivot + 1 + offset] -= factor * right[pivot];
        }
    }
    for pivot in (0..count).rev() {
        let known: f64 = (pivot + 1..count).map(|j| rows[pivot][j] * right[j]).sum();
        right[pivot] = (right[pivot] - known) / rows[pivot][pivot];
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_system_is_solved_and_a_singular_one_refused() {
        let mut right = [5.0, 2.0, 4.0];
        let rows = vec![vec![0.0, 2.0, 1.0], vec![1.0, 0.0, 0.0], vec![0.0, 0.0, 4.0]];
        assert_eq!(eliminate(rows, &mut right), Some(()));
        assert_eq!(right, [2.0, 2.0, 1.0]);
        assert_eq!(eliminate(vec![vec![1.0, 2.0], vec![2.0, 4.0]], &mut [1.0, 1.0]), None);
    }

    #[test]
    fn a_step_that_goes_too_far_is_shortened() {
        // Newton's method for the arc tangent swings ever further from a start beyond 1.39.
        let (root, _) = solve(&[3.0, 2.0], |x| vec![libm::atan(x[0]), x[0] + x[1] - 1.0]).unwrap();
        assert!(root[0].abs() < 1e-15 && (root[1] - 1.0).abs() < 1e-15, "{root:?}");
    }

    #[test]
    fn equations_without_a_root_are_given_up() {
        assert_eq!(solve(&[0.5], |x| vec![x[0] * x[0] + 1.0]), None);
        assert_eq!(solve(&[0.5; 101], <[f64]>::to_vec), None);
    }
}

//! The nodes near the likely paths, and one step of backward induction over them.

use super::oriented::OrientedLattice;

/// Replaces each value but the last by its weighted mean with the next value.
///
/// The loop runs on the widest registers that the processor has. Each mean rounds by itself, so that
/// the bits do not depend on the width.
pub(in crate::pricing) fn step_back(values: &mut [f64], up: f64, down: f64) {
    pulp::Arch::new().dispatch(StepBack { values, up, down });
}

struct StepBack<'a> {
    values: &'a mut [f64],
    up: f64,
    down: f64,
}

impl pulp::WithSimd for StepBack<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { values, up, down } = self;
        for j in 0..values.len() - 1 {
            values[j] = down * values[j] + up * values[j + 1];
        }
    }
}

/// The nodes near the straight line from the start to a terminal node.
pub(in crate::pricing) struct Band {
    slope: f64,
    variance: f64,
}

impl Band {
    /// Returns the band that leads to the most likely of the terminal nodes `ends`.
    pub(in crate::pricing) fn new(lattice: &OrientedLattice, ends: (usize, usize)) -> Self {
        let n = lattice.steps as f64;
        let slope = lattice.odds.up.clamp(ends.0 as f64 / n, (ends.1 - 1) as f64 / n);
        Self { slope, variance: slope * (1.0 - slope) }
    }

    /// Returns the nodes of step `i` above the `beyond` lowest, as the first and one past the last;
    /// the range may be empty.
    pub(in crate::pricing) fn row(&self, i: usize, beyond: usize) -> (usize, usize) {
        let steps = i as f64;
        // Bernstein's and Hoeffding's bounds on a binomial tail: with either width it is below
        // e^{−w²/2}.
        let bernstein = WIDTH * (self.variance * steps).sqrt() + WIDTH * WIDTH / 3.0;
        let width = bernstein.min(WIDTH * (0.25 * steps).sqrt());
        let first = (self.slope * steps - width).max(0.0) as usize;
        let last = (self.slope * steps + width) as usize;
        let from = first.max(beyond).min(i + 1);
        (from, (last + 1).min(i + 1).max(from))
    }
}

/// Half the width of the band, in standard deviations.
const WIDTH: f64 = 8.5;

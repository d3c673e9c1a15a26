//! The nodes near the likely paths, and one step of backward induction over them.

use std::ops::Range;

use super::oriented::OrientedLattice;

/// The number of values that are computed together: a multiple of the values of every register.
const LANES: usize = 8;

/// Returns zeros for the values of a step, with the room that [`step_back`] needs.
pub(in crate::pricing) fn values_of_step(steps: usize) -> Vec<f64> {
    vec![0.0; steps + 1 + LANES]
}

/// Replaces each value of a range of nodes by its weighted mean with the next node's value.
///
/// Up to seven values beyond the range are overwritten too, so that no value is left for a loop of its
/// own: the caller never reads them before it has set them. The loop runs on the widest registers that
/// the processor has. Each mean rounds by itself, so that the bits do not depend on the width.
///
/// # Panics
///
/// Panics where `values` is shorter than [`values_of_step`] makes it for a lattice with these nodes.
pub(in crate::pricing) fn step_back(values: &mut [f64], nodes: Range<usize>, up: f64, down: f64) {
    let rounded_up = nodes.len().next_multiple_of(LANES);
    let values = &mut values[nodes.start..=nodes.start + rounded_up];
    pulp::Arch::new().dispatch(StepBack { values, up, down });
}

struct StepBack<'a> {
    /// A multiple of [`LANES`] values, and one more.
    values: &'a mut [f64],
    up: f64,
    down: f64,
}

impl pulp::WithSimd for StepBack<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let (up, down) = (simd.splat_f64s(self.up), simd.splat_f64s(self.down));
        let mut values = self.values;
        while values.len() > S::F64_LANES {
            let above = S::as_simd_f64s(&values[1..=S::F64_LANES]).0[0];
            let (round, rest) = values.split_at_mut(S::F64_LANES);
            let now = &mut S::as_mut_simd_f64s(round).0[0];
            *now = simd.add_f64s(simd.mul_f64s(down, *now), simd.mul_f64s(up, above));
            values = rest;
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

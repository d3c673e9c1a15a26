//! Backward induction over the nodes near the likely paths.
//!
//! Of the nodes of step i only those within 8.5 standard deviations of the line to the most likely
//! paying terminal node are visited: all paths through the others contribute less than 1e-15 of the
//! value. The number of visited nodes is of the order n^1.5 instead of n².

use std::ops::Range;

use super::edge::Edge;
use crate::pricing::lattice::band::{Band, step_back};
use crate::pricing::lattice::oriented::OrientedLattice;

/// A lattice with an absorbing edge, and the terminal nodes to start from.
pub(super) struct AbsorbingInduction<'a> {
    pub(super) lattice: &'a OrientedLattice,
    pub(super) edge: &'a Edge,
    /// The terminal nodes whose value is not zero, as the first and one past the last.
    pub(super) ends: (usize, usize),
}

impl AbsorbingInduction<'_> {
    /// Returns the expected value at the start, given the value of each node of step `last` and the
    /// value that the edge absorbs at each step.
    pub(super) fn run(
        &self,
        last: usize,
        end: impl Fn(usize) -> f64,
        absorbed: impl Fn(usize) -> f64,
    ) -> f64 {
        if self.ends.0 >= self.ends.1 {
            return 0.0;
        }
        let band = Band::new(self.lattice, self.ends);
        let mut values = vec![0.0; last + 2];
        let mut beyond = self.edge.nodes_beyond(last);
        let mut row = band.row(last, beyond);
        for (j, value) in (row.0..row.1).zip(&mut values[row.0..row.1]) {
            *value = end(j);
        }
        for i in (0..last).rev() {
            let next_beyond = beyond;
            beyond = self.edge.nodes_beyond(i);
            let wanted = band.row(i, beyond);
            if wanted.0 < next_beyond {
                fill(&mut values, wanted.0..next_beyond, absorbed(i + 1));
            }
            // Nodes that the band of row i + 1 left out.
            fill(&mut values, wanted.0.max(next_beyond)..row.0, 0.0);
            fill(&mut values, row.1.max(wanted.0)..wanted.1 + 1, 0.0);
            step_back(
                &mut values[wanted.0..=wanted.1],
                self.lattice.odds.up,
                self.lattice.odds.down,
            );
            row = wanted;
        }
        values[0]
    }
}

/// Fills a range that is empty in most calls; the comparison is faster than the call of `fill`.
fn fill(values: &mut [f64], range: Range<usize>, value: f64) {
    if range.start < range.end {
        values[range].fill(value);
    }
}

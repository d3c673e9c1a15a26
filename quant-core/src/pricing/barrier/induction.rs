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
    /// Returns the expected value at the start, given the value of each terminal node and the value
    /// that the edge absorbs at each step.
    pub(super) fn run(&self, end: impl Fn(usize) -> f64, absorbed: impl Fn(usize) -> f64) -> f64 {
        if self.ends.0 >= self.ends.1 {
            return 0.0;
        }
        let mut rows = Rows::new(self.lattice, self.edge, self.ends, end);
        for i in (0..self.lattice.steps).rev() {
            rows.step_back(i, |_| absorbed(i + 1));
        }
        rows.values[0]
    }

    /// Returns the expected value at the start of the paths that touch the edge, given the value of
    /// each terminal node.
    ///
    /// The edge absorbs the value of the node without an edge, found by a second induction beside the
    /// first. So nothing is subtracted, and the value is exactly zero where no path touches the edge.
    pub(super) fn run_touching(&self, end: impl Fn(usize) -> f64) -> f64 {
        if self.ends.0 >= self.ends.1 {
            return 0.0;
        }
        let mut all = Rows::new(self.lattice, &Edge::NONE, self.ends, end);
        let mut touching = Rows::new(self.lattice, self.edge, self.ends, |_| 0.0);
        for i in (0..self.lattice.steps).rev() {
            touching.step_back(i, |j| all.value(j));
            all.step_back(i, |_| 0.0);
        }
        touching.values[0]
    }
}

/// The values of one step of a lattice.
struct Rows<'a> {
    lattice: &'a OrientedLattice,
    edge: &'a Edge,
    band: Band,
    values: Vec<f64>,
    /// The visited nodes of the step above the edge, as the first and one past the last.
    visited: (usize, usize),
    /// The number of nodes of the step at and beyond the edge.
    beyond: usize,
}

impl<'a> Rows<'a> {
    /// Starts the backward induction with the values at expiry, which `end` gives for each node.
    fn new(
        lattice: &'a OrientedLattice,
        edge: &'a Edge,
        ends: (usize, usize),
        end: impl Fn(usize) -> f64,
    ) -> Self {
        let last = lattice.steps;
        let band = Band::new(lattice, ends);
        let mut values = vec![0.0; last + 2];
        let beyond = edge.nodes_beyond(last);
        let visited = band.row(last, beyond);
        for (j, value) in (visited.0..visited.1).zip(&mut values[visited.0..visited.1]) {
            *value = end(j);
        }
        Self { lattice, edge, band, values, visited, beyond }
    }

    /// Returns the value of a node; zero where no likely path visits the node.
    fn value(&self, j: usize) -> f64 {
        if (self.visited.0..self.visited.1).contains(&j) { self.values[j] } else { 0.0 }
    }

    /// Goes back to step `i`, given the value that the edge absorbs at a node of the step after.
    fn step_back(&mut self, i: usize, absorbed: impl Fn(usize) -> f64) {
        let beyond = self.edge.nodes_beyond(i);
        let wanted = self.band.row(i, beyond);
        for j in wanted.0..self.beyond {
            self.values[j] = absorbed(j);
        }
        // Nodes that the band of the step after left out.
        fill(&mut self.values, wanted.0.max(self.beyond)..self.visited.0);
        fill(&mut self.values, self.visited.1.max(wanted.0)..wanted.1 + 1);
        let odds = self.lattice.odds;
        step_back(&mut self.values[wanted.0..=wanted.1], odds.up, odds.down);
        (self.visited, self.beyond) = (wanted, beyond);
    }
}

/// Fills a range with zeros; in most calls it is empty, and the comparison is faster than the call of
/// `fill`.
fn fill(values: &mut [f64], range: Range<usize>) {
    if range.start < range.end {
        values[range].fill(0.0);
    }
}

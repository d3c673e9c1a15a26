//! Backward induction over the nodes near the likely paths.
//!
//! Of the nodes of step i only those within 8.5 standard deviations of the line to the most likely
//! paying terminal node are visited: all paths through the others contribute less than 1e-15 of the
//! value. The number of visited nodes is of the order n^1.5 instead of n².

use std::ops::Range;

use super::edge::Edge;
use crate::pricing::lattice::band::{Band, step_back, values_of_step};
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
    nodes: VisitedNodes<'a>,
    values: Vec<f64>,
    /// The nodes of the step.
    now: StepNodes,
    /// The nodes of the step before.
    before: StepNodes,
}

/// The nodes of one step.
#[derive(Clone, Copy)]
struct StepNodes {
    /// The visited nodes above the edge, as the first and one past the last.
    visited: (usize, usize),
    /// The number of nodes at and beyond the edge.
    beyond: usize,
}

/// The rule that says which nodes of a step are visited.
struct VisitedNodes<'a> {
    edge: &'a Edge,
    band: Band,
}

impl VisitedNodes<'_> {
    fn of(&self, step: usize) -> StepNodes {
        let beyond = self.edge.nodes_beyond(step);
        StepNodes { visited: self.band.row(step, beyond), beyond }
    }
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
        let nodes = VisitedNodes { edge, band: Band::new(lattice, ends) };
        let mut values = values_of_step(last);
        let (now, before) = (nodes.of(last), nodes.of(last.saturating_sub(1)));
        let (from, to) = now.visited;
        for (j, value) in (from..to).zip(&mut values[from..to]) {
            *value = end(j);
        }
        Self { lattice, nodes, values, now, before }
    }

    /// Returns the value of a node; zero where no likely path visits the node.
    fn value(&self, j: usize) -> f64 {
        let (from, to) = self.now.visited;
        if (from..to).contains(&j) { self.values[j] } else { 0.0 }
    }

    /// Goes back to step `i`, given the value that the edge absorbs at a node of the step after.
    fn step_back(&mut self, i: usize, absorbed: impl Fn(usize) -> f64) {
        let (StepNodes { visited: (from, to), .. }, after) = (self.before, self.now);
        for j in from..after.beyond {
            self.values[j] = absorbed(j);
        }
        // Nodes that the band of the step after left out.
        fill(&mut self.values, from.max(after.beyond)..after.visited.0);
        fill(&mut self.values, after.visited.1.max(from)..to + 1);
        // The next step's nodes are found here and not there, so that the processor works on their
        // square root beside the values of this step.
        (self.now, self.before) = (self.before, self.nodes.of(i.saturating_sub(1)));
        let odds = self.lattice.odds;
        step_back(&mut self.values, from..to, odds.up, odds.down);
    }
}

/// Fills a range with zeros; in most calls it is empty, and the comparison is faster than the call of
/// `fill`.
fn fill(values: &mut [f64], range: Range<usize>) {
    if range.start < range.end {
        values[range].fill(0.0);
    }
}

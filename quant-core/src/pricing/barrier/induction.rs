//! Backward induction over the nodes that matter.
//!
//! Of the nodes of step i only those within 8.5 standard deviations of the line to the terminal
//! node that matters most are visited: the paths through the others weigh less than 1e-15 of the
//! value together. That is n^1.5 nodes instead of n².

use std::ops::Range;

use super::edge::Edge;
use crate::pricing::binomial::band::{Band, step_back};
use crate::pricing::binomial::lattice::Climb;

/// What a tree with an absorbing edge is worth.
pub(super) struct Induction<'a> {
    pub(super) climb: &'a Climb,
    pub(super) edge: &'a Edge,
    /// The nodes of the last step that matter, as the first and one past the last.
    pub(super) ends: (usize, usize),
    pub(super) barrier: Barrier,
}

/// Where the value that the edge absorbs is taken to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Barrier {
    /// At the first node at or beyond the edge.
    OnNode,
    /// At the edge itself, between the nodes.
    BetweenNodes,
}

impl Induction<'_> {
    /// The expected value at the start, given that of the nodes of step `last` and the absorbed
    /// value of each step.
    pub(super) fn run(
        &self,
        last: usize,
        end: impl Fn(usize) -> f64,
        absorbed: impl Fn(usize) -> f64,
    ) -> f64 {
        if self.ends.0 >= self.ends.1 {
            return 0.0;
        }
        let band = Band::new(self.climb, self.ends);
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
                let absorbed = absorbed(i + 1);
                fill(&mut values, wanted.0..next_beyond, absorbed);
                if self.barrier == Barrier::BetweenNodes && row.0 == next_beyond {
                    let depth = self.edge.depth_of_node(i + 1, next_beyond - 1);
                    values[next_beyond - 1] = beyond_edge(absorbed, &values[row.0..row.1], depth);
                }
            }
            // Nodes outside the band that row i + 1 left out.
            fill(&mut values, wanted.0.max(next_beyond)..row.0, 0.0);
            fill(&mut values, row.1.max(wanted.0)..wanted.1 + 1, 0.0);
            step_back(&mut values[wanted.0..=wanted.1], self.climb.odds.up, self.climb.odds.down);
            row = wanted;
        }
        values[0]
    }
}

/// Fills a range that is empty as a rule, which is told faster here than by the library.
fn fill(values: &mut [f64], range: Range<usize>, value: f64) {
    if range.start < range.end {
        values[range].fill(value);
    }
}

/// Continues the values above the edge to a node `depth` below it, where the value at the edge itself
/// is known: the cubic through the edge and three nodes, or as many as there are.
///
/// A node that nearly touches the edge is left out, as it would be divided by its distance.
fn beyond_edge(at_edge: f64, above: &[f64], depth: f64) -> f64 {
    let skipped = usize::from(1.0 - depth < NEAREST);
    let first = 1.0 - depth + skipped as f64;
    let nodes = &above[skipped.min(above.len())..above.len().min(skipped + 3)];
    let place = |k: usize| first + k as f64;
    // Lagrange, with x = 0 at the edge and x = −depth at the node.
    let mut value = at_edge;
    for k in 0..nodes.len() {
        value *= (depth + place(k)) / place(k);
    }
    for (k, node) in nodes.iter().enumerate() {
        let mut weight = -depth / place(k);
        for other in (0..nodes.len()).filter(|&other| other != k) {
            weight *= (-depth - place(other)) / (place(k) - place(other));
        }
        value += weight * node;
    }
    value
}

/// Nodes nearer to the edge than this part of a layer are left out of the cubic.
const NEAREST: f64 = 0.25;

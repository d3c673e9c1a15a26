//! The nodes of a lattice at and beyond the barrier.

use super::option::TOUCH;
use crate::pricing::lattice::oriented::OrientedLattice;
use crate::pricing::lattice::tree::Tree;

/// The nodes at and beyond the barrier: at step i, those reached by at most `offset + rate·i` moves
/// away from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    offset: f64,
    rate: f64,
}

impl Edge {
    /// No edge: no node is beyond.
    pub(super) const NONE: Self = Self { offset: f64::NEG_INFINITY, rate: 0.0 };

    /// Returns the edge of a barrier at a logarithmic `depth` below the start.
    ///
    /// On a CRR tree the layers are level: the edge is the highest layer at or beyond the barrier.
    pub(super) fn at_depth(lattice: &OrientedLattice, tree: Tree, depth: f64) -> Self {
        if tree == Tree::CoxRossRubinstein {
            Self::at_layer(layer_at(depth, lattice.up))
        } else {
            let touch = (TOUCH / lattice.spacing()).min(MAX_ROUNDING);
            let offset = touch - depth / lattice.spacing();
            Self { offset, rate: -lattice.down / lattice.spacing() }
        }
    }

    /// Returns the edge at a level layer of a CRR tree, `layer` moves below the start.
    pub(super) fn at_layer(layer: f64) -> Self {
        Self { offset: -0.5 * layer, rate: 0.5 }
    }

    /// Returns the number of nodes at step `i` that are at or beyond the barrier.
    pub(super) fn nodes_beyond(&self, i: usize) -> usize {
        let highest = self.offset + self.rate * i as f64;
        if highest < 0.0 { 0 } else { (highest as usize).min(i) + 1 }
    }
}

/// Returns the highest layer of a CRR tree at or beyond a depth, in moves from the start.
pub(super) fn layer_at(depth: f64, move_size: f64) -> f64 {
    let touch = TOUCH.min(MAX_ROUNDING * move_size);
    ((depth - touch) / move_size).ceil().max(1.0)
}

/// The largest part of the distance of two layers that counts as rounding.
const MAX_ROUNDING: f64 = 0.01;

//! Where on a lattice the barrier lies.

use super::TOUCH;
use crate::pricing::binomial::Tree;
use crate::pricing::binomial::lattice::Climb;

/// The nodes at and beyond the barrier: those with at most `offset + rate·i` moves away from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) offset: f64,
    pub(super) rate: f64,
}

impl Edge {
    /// The edge of a barrier at a logarithmic `depth` below the start.
    ///
    /// On a CRR tree the layers are level: the edge is the highest layer at or beyond the barrier.
    pub(super) fn at_depth(climb: &Climb, tree: Tree, depth: f64) -> Self {
        if tree == Tree::Crr {
            Self::at_layer(layer_at(depth, climb.up))
        } else {
            Self::between_layers(climb, depth)
        }
    }

    /// The edge of a barrier at a logarithmic `depth` below the start, wherever the layers are.
    pub(super) fn between_layers(climb: &Climb, depth: f64) -> Self {
        let touch = (TOUCH / climb.spacing()).min(MOST_ROUNDING);
        Self { offset: touch - depth / climb.spacing(), rate: -climb.down / climb.spacing() }
    }

    /// The edge at a level layer of a CRR tree, `layer` moves below the start.
    pub(super) fn at_layer(layer: f64) -> Self {
        Self { offset: -0.5 * layer, rate: 0.5 }
    }

    /// The number of nodes at step `i` that are at or beyond the barrier.
    pub(super) fn nodes_beyond(&self, i: usize) -> usize {
        let highest = self.offset + self.rate * i as f64;
        if highest < 0.0 { 0 } else { (highest as usize).min(i) + 1 }
    }

    /// How far below the edge node `j` of step `i` lies, in layers.
    pub(super) fn depth_of_node(&self, i: usize, j: usize) -> f64 {
        self.offset + self.rate * i as f64 - j as f64
    }
}

/// The highest layer of a CRR tree at or beyond a depth, in moves from the start.
pub(super) fn layer_at(depth: f64, move_size: f64) -> f64 {
    let touch = TOUCH.min(MOST_ROUNDING * move_size);
    ((depth - touch) / move_size).ceil().max(1.0)
}

/// The most of a layer that counts as rounding.
const MOST_ROUNDING: f64 = 0.01;

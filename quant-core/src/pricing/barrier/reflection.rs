//! The count of paths that touch a level layer, by the reflection principle.
//!
//! Of the `C(n, j)` paths that end j moves up, as many touch the layer L below the start as there
//! are paths to the mirror image of their end: `C(n, j + L)`.

use super::edge::Edge;
use crate::pricing::lattice::oriented::{OrientedLattice, Payoff};
use crate::pricing::lattice::paths::Binomial;

/// A CRR tree with a layer of it as the barrier.
pub(super) struct Reflection<'a> {
    lattice: &'a OrientedLattice,
    layer: usize,
    binomial: Binomial,
}

impl<'a> Reflection<'a> {
    /// Returns the tree with its barrier `layer` moves below the start, 1 or more.
    pub(super) fn new(lattice: &'a OrientedLattice, layer: usize) -> Self {
        let binomial = Binomial::new(lattice.steps, lattice.odds.up, lattice.odds.down);
        Self { lattice, layer, binomial }
    }

    /// Returns the expected payoff of the paths that never touch the layer.
    pub(super) fn untouched(&self, payoff: &Payoff) -> f64 {
        self.above(payoff, |kept, _| kept)
    }

    /// Returns the expected payoff of the paths that touch the layer.
    pub(super) fn touched(&self, payoff: &Payoff) -> f64 {
        let n = self.lattice.steps;
        let (from, to) = payoff.paying(self.lattice);
        let beyond = Edge::at_layer(self.layer as f64).nodes_beyond(n);
        let ended_beyond: f64 = self
            .binomial
            .between(from, to.min(beyond))
            .map(|(j, weight)| weight * payoff.at(self.lattice.height(n, j)))
            .sum();
        ended_beyond + self.above(payoff, |_, touched| touched)
    }

    /// Returns the expected payoff at the terminal nodes above the layer, over the fraction of the
    /// paths to each node that `part` selects of (untouched, touched).
    fn above(&self, payoff: &Payoff, part: impl Fn(f64, f64) -> f64) -> f64 {
        let n = self.lattice.steps;
        let (from, to) = payoff.paying(self.lattice);
        let mut fractions = PathFractions::new(n, self.layer);
        let first = fractions.node;
        self.binomial
            .between(from.max(first), to)
            .map(|(j, weight)| {
                let (untouched, touched) = fractions.at(j);
                weight * part(untouched, touched) * payoff.at(self.lattice.height(n, j))
            })
            .sum()
    }

    /// Returns the probability of touching the layer.
    fn probability(&self) -> f64 {
        let mut fractions = PathFractions::new(self.lattice.steps, self.layer);
        let beyond = fractions.node;
        let ended_beyond: f64 = self.binomial.between(0, beyond).map(|(_, weight)| weight).sum();
        let returned: f64 = self
            .binomial
            .between(beyond, self.lattice.steps + 1)
            .map(|(j, weight)| weight * fractions.at(j).1)
            .sum();
        ended_beyond + returned
    }

    /// Returns the expected value of `e^{−rate·t}` at the first touch, over the paths that touch.
    ///
    /// The first touch is at step i with a probability proportional to
    /// `(L/i)·C(i, (i − L)/2)·(up·down)^{(i−L)/2}`. The result is the mean of the discount factors
    /// under these weights times the total probability, so that the scale of the weights cancels.
    pub(super) fn discounted_touch(&self, rate: f64, step: f64) -> f64 {
        let (n, layer) = (self.lattice.steps, self.layer);
        let odds = self.lattice.odds.up * self.lattice.odds.down;
        let (mut weight, mut total, mut discounted) = (1.0, 0.0, 0.0);
        let discount = |steps: usize| libm::exp(-rate * (steps as f64 * step));
        let later: [f64; STRIDE] = std::array::from_fn(|k| discount(2 * k));
        let mut stride = 1.0;
        for (k, i) in (layer..=n).step_by(2).enumerate() {
            if k % STRIDE == 0 {
                stride = discount(i);
            }
            total += weight;
            discounted += weight * (stride * later[k % STRIDE]);
            let (time, risen) = (i as f64, ((i - layer) / 2 + 1) as f64);
            weight *= odds * time * (time + 1.0) / (risen * (risen + layer as f64));
            if weight > LARGEST {
                (weight, total, discounted) =
                    (weight / LARGEST, total / LARGEST, discounted / LARGEST);
            }
        }
        if total == 0.0 { 0.0 } else { self.probability() * (discounted / total) }
    }
}

/// The number of discount factors that one call of the exponential serves.
const STRIDE: usize = 16;

/// The weight above which all weights are scaled down.
const LARGEST: f64 = 1e250;

/// The fractions of the paths to each terminal node above a layer that never touch the layer, and
/// that do.
///
/// `touched(j) = C(n, j + L)/C(n, j)`, by its ratio from one end to the next. The untouched
/// fraction grows by sums of positive terms, so that no digits are lost where it is small.
struct PathFractions {
    n: f64,
    layer: f64,
    node: usize,
    untouched: f64,
    touched: f64,
}

impl PathFractions {
    /// Returns the fractions at the first terminal node above the layer.
    fn new(n: usize, layer: usize) -> Self {
        let beyond = Edge::at_layer(layer as f64).nodes_beyond(n);
        let (n_, layer_) = (n as f64, layer as f64);
        let start = Self { n: n_, layer: layer_, node: beyond, untouched: 1.0, touched: 0.0 };
        if layer > n {
            return start;
        }
        if (n - layer) % 2 == 1 {
            let touched = (n_ - layer_ + 1.0) / (n_ + layer_ + 1.0);
            return Self { untouched: 2.0 * layer_ / (n_ + layer_ + 1.0), touched, ..start };
        }
        // The node before lies on the layer itself: all of its paths touch the layer.
        let mut on_layer = Self { node: beyond - 1, untouched: 0.0, touched: 1.0, ..start };
        on_layer.advance();
        on_layer
    }

    /// Returns the fractions at terminal node `j`; calls are in ascending order of `j`.
    fn at(&mut self, j: usize) -> (f64, f64) {
        while self.node < j {
            self.advance();
        }
        (self.untouched, self.touched)
    }

    fn advance(&mut self) {
        let (n, layer, j) = (self.n, self.layer, self.node as f64);
        let divisor = (j + layer + 1.0) * (n - j);
        self.untouched += self.touched * (layer * (n + 1.0) / divisor);
        self.touched *= (n - j - layer).max(0.0) * (j + 1.0) / divisor;
        self.node += 1;
    }
}

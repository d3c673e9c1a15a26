//! Counting paths that touch a level layer, by the reflection principle.
//!
//! Of the `C(n, j)` paths that end j moves up, those that touch the layer L below the start are as
//! many as the paths to the mirror image of their end: `C(n, j + L)`.

use super::edge::Edge;
use crate::pricing::binomial::lattice::{Climb, Payoff};
use crate::pricing::binomial::paths::Binomial;

/// A CRR tree with a layer of it as the barrier.
pub(super) struct Reflection<'a> {
    climb: &'a Climb,
    layer: usize,
    binomial: Binomial,
}

impl<'a> Reflection<'a> {
    /// The barrier lies `layer` moves below the start, 1 or more.
    pub(super) fn new(climb: &'a Climb, layer: usize) -> Self {
        let binomial = Binomial::new(climb.steps, climb.odds.up, climb.odds.down);
        Self { climb, layer, binomial }
    }

    /// The expected payment of the paths that never touch the layer.
    pub(super) fn untouched(&self, payoff: &Payoff) -> f64 {
        self.above(payoff, |kept, _| kept)
    }

    /// The expected payment of the paths that touch the layer.
    pub(super) fn touched(&self, payoff: &Payoff) -> f64 {
        let n = self.climb.steps;
        let (from, to) = payoff.paying(self.climb);
        let beyond = Edge::at_layer(self.layer as f64).nodes_beyond(n);
        let ended_beyond: f64 = self
            .binomial
            .between(from, to.min(beyond))
            .map(|(j, weight)| weight * payoff.at(self.climb.height(n, j)))
            .sum();
        ended_beyond + self.above(payoff, |_, touched| touched)
    }

    /// The expected payment at the ends above the layer, of the part of the paths to each that `part`
    /// chooses of (untouched, touched).
    fn above(&self, payoff: &Payoff, part: impl Fn(f64, f64) -> f64) -> f64 {
        let n = self.climb.steps;
        let (from, to) = payoff.paying(self.climb);
        let mut shares = Shares::new(n, self.layer);
        let first = shares.node;
        self.binomial
            .between(from.max(first), to)
            .map(|(j, weight)| {
                let (untouched, touched) = shares.at(j);
                weight * part(untouched, touched) * payoff.at(self.climb.height(n, j))
            })
            .sum()
    }

    /// The probability of touching the layer.
    fn probability(&self) -> f64 {
        let mut shares = Shares::new(self.climb.steps, self.layer);
        let beyond = shares.node;
        let ended_beyond: f64 = self.binomial.between(0, beyond).map(|(_, weight)| weight).sum();
        let returned: f64 = self
            .binomial
            .between(beyond, self.climb.steps + 1)
            .map(|(j, weight)| weight * shares.at(j).1)
            .sum();
        ended_beyond + returned
    }

    /// The expected value of `e^{−rate·t}` at the first touch, of the paths that touch.
    ///
    /// The first touch comes at step i with a probability in proportion to
    /// `(L/i)·C(i, (i − L)/2)·(up·down)^{(i−L)/2}`: a mean of the discount factors under the total
    /// that the reflection gives, so that the scale of the proportions never matters.
    pub(super) fn discounted_touch(&self, rate: f64, step: f64) -> f64 {
        let (n, layer) = (self.climb.steps, self.layer);
        let odds = self.climb.odds.up * self.climb.odds.down;
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

/// One exponential serves so many steps of discounting.
const STRIDE: usize = 16;

/// Proportions above this are brought down.
const LARGEST: f64 = 1e250;

/// The shares of the paths to each end above a layer that never touch it, and that do.
///
/// `touched(j) = C(n, j + L)/C(n, j)`, by its ratio from one end to the next. The untouched share
/// grows by sums of positive terms, so that no digits are lost where it is small.
struct Shares {
    n: f64,
    layer: f64,
    node: usize,
    untouched: f64,
    touched: f64,
}

impl Shares {
    /// Starts at the first end above the layer.
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
        // The end before is on the layer itself: all of its paths touch.
        let mut on_layer = Self { node: beyond - 1, untouched: 0.0, touched: 1.0, ..start };
        on_layer.advance();
        on_layer
    }

    /// The shares at end `j`, which never goes back.
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

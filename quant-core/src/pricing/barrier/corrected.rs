//! The continuously watched barrier, estimated on a tree.
//!
//! A plain tree knocks at the first layer at or beyond the barrier, which is an error of the order of
//! a layer, 1/√n, that jumps with n. Three things remove it, on the tree as it stands:
//!
//! - at every step the values are continued to the first node beyond the barrier such that the value
//!   *at the barrier* is what a knock pays, wherever it lies between the layers;
//! - the last √n steps, in which the strike and the knock leave a kink and a step that no lattice of
//!   this spacing resolves, are the closed form of that short time;
//! - the error left is smooth in 1/n, and the tree of half the steps tells how large it is
//!   (Richardson).

use super::continuous::Passage;
use super::edge::Edge;
use super::induction::{Barrier, Induction};
use super::{BarrierOption, Direction, Knock, Tree};
use crate::pricing::binomial::lattice::{Climb, Lattice};
use crate::pricing::black_scholes::{OptionType, discount};
use crate::pricing::lognormal::positive_part;

impl BarrierOption {
    /// The estimate on a tree whose start the barrier does not touch.
    pub(super) fn corrected_value_on(&self, lattice: &Lattice) -> f64 {
        let european = self.option.value();
        let survivors =
            self.extrapolated(lattice, |lattice| self.survivors_between_layers(lattice));
        let survivors = within(survivors, european);
        if self.knock == Knock::In {
            return european - survivors;
        }
        let dearest = discount(self.option.risk_free_rate, self.option.time_to_maturity).max(1.0);
        let rebates = self.extrapolated(lattice, |lattice| self.rebates_between_layers(lattice));
        survivors + within(rebates, self.rebate * dearest)
    }

    /// The limit that the tree and that of half the steps point to, by an error in proportion to 1/n.
    fn extrapolated(&self, lattice: &Lattice, value: impl Fn(&Lattice) -> f64) -> f64 {
        let whole = value(lattice);
        let half = lattice.steps / 2;
        let half = if lattice.tree == Tree::Lr { half | 1 } else { half };
        if lattice.steps < FEWEST {
            return whole;
        }
        // Half the steps may be too few for the drift of a CRR tree.
        let Ok(coarse) = Lattice::new(&self.option, lattice.tree, half) else { return whole };
        let (n, half) = (lattice.steps as f64, half as f64);
        (n * whole - half * value(&coarse)) / (n - half)
    }

    /// The value of the paths that never touch the barrier.
    fn survivors_between_layers(&self, lattice: &Lattice) -> f64 {
        let (climb, payoff) = self.climb(lattice);
        let (last, rest) = self.last_step(lattice);
        let lost = climb.odds.log_miss * (lattice.steps - last) as f64;
        let unit = payoff.unit * libm::exp(-lost);
        let passage = |j| self.passage(climb.height(last, j), rest);
        let end = |j| {
            let passage = passage(j);
            passage.survivors() / passage.numeraire(self.option.option_type)
        };
        let edge = Edge::between_layers(&climb, self.depth());
        let (from, to) = payoff.paying(&climb);
        // The nodes that matter at expiry, brought back to the step where the closed form stands.
        let scale = last as f64 / lattice.steps as f64;
        let ends =
            ((from as f64 * scale) as usize, ((to as f64 * scale) as usize + 1).min(last + 1));
        let ends = (ends.0.max(edge.nodes_beyond(last)), ends.1);
        let barrier = Barrier::BetweenNodes;
        unit * Induction { climb: &climb, edge: &edge, ends, barrier }.run(last, end, |_| 0.0)
    }

    /// The value of the rebate.
    fn rebates_between_layers(&self, lattice: &Lattice) -> f64 {
        if self.rebate == 0.0 {
            return 0.0;
        }
        let climb = Climb::new(lattice, lattice.cash, self.direction);
        let (last, rest) = self.last_step(lattice);
        let (rate, step) = (self.option.risk_free_rate, self.step(lattice));
        let discount = |i: usize| libm::exp(-rate * (i as f64 * step));
        let edge = Edge::between_layers(&climb, self.depth());
        let beyond = edge.nodes_beyond(last);
        let later = discount(last);
        let end = |j| later * self.passage(climb.height(last, j), rest).discounted_hit();
        let barrier = Barrier::BetweenNodes;
        let ends = (0, (beyond + 1).min(last + 1));
        self.rebate
            * Induction { climb: &climb, edge: &edge, ends, barrier }.run(last, end, discount)
    }

    /// The last step that is taken on the tree, and the time left from there.
    fn last_step(&self, lattice: &Lattice) -> (usize, f64) {
        let left = (lattice.steps as f64).sqrt().ceil() as usize;
        (lattice.steps - left, self.step(lattice) * left as f64)
    }

    /// The closed form from a node, of the time left there.
    fn passage(&self, height: f64, time: f64) -> Passage {
        let height = if self.direction == Direction::Down { height } else { -height };
        let mut there = self.clone();
        there.option.spot *= libm::exp(height);
        there.option.time_to_maturity = time;
        Passage::new(&there)
    }
}

/// The estimate, or the bound of 0 and `most` that it oversteps.
fn within(estimate: f64, most: f64) -> f64 {
    if estimate > most { most } else { positive_part(estimate) }
}

/// Trees of fewer steps are not extrapolated.
const FEWEST: usize = 8;

impl Passage {
    /// The present value of what the payoff is counted in.
    fn numeraire(&self, option_type: OptionType) -> f64 {
        match option_type {
            OptionType::Call => self.spot,
            OptionType::Put => self.strike,
        }
    }
}

//! A lattice oriented so that its barrier or its region of early exercise lies below.

use super::moves::{Lattice, Odds, log_moneyness};
use crate::named::named;
use crate::pricing::black_scholes::{EuropeanOption, OptionType, discount};

/// The side of the spot on which the barrier lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Below the spot: a price at or under the barrier hits it.
    Down,
    /// Above the spot: a price at or over the barrier hits it.
    Up,
}

named!(Direction, "direction", Down = "down", Up = "up");

/// A lattice oriented so that the barrier or the region of early exercise lies below, with the
/// probabilities of the claim's numeraire.
#[derive(Clone, Copy, Debug)]
pub(in crate::pricing) struct OrientedLattice {
    pub(in crate::pricing) steps: usize,
    /// The logarithm of a move away from the region below.
    pub(in crate::pricing) up: f64,
    /// The logarithm of a move towards the region below.
    pub(in crate::pricing) down: f64,
    /// The probabilities of a move up and of a move down.
    pub(in crate::pricing) odds: Odds,
}

impl OrientedLattice {
    /// Orients the lattice, with the probabilities of one numeraire.
    pub(in crate::pricing) fn new(lattice: &Lattice, odds: Odds, direction: Direction) -> Self {
        let steps = lattice.steps;
        match direction {
            Direction::Down => Self { steps, up: lattice.up, down: lattice.down, odds },
            Direction::Up => {
                let mirrored = Odds { up: odds.down, down: odds.up, ..odds };
                Self { steps, up: -lattice.down, down: -lattice.up, odds: mirrored }
            }
        }
    }

    /// Returns the logarithmic distance of two neighbouring nodes.
    pub(in crate::pricing) fn spacing(&self) -> f64 {
        self.up - self.down
    }

    /// Returns the logarithmic height over the start of the node that `j` of `i` moves away from the
    /// region below lead to.
    pub(in crate::pricing) fn height(&self, i: usize, j: usize) -> f64 {
        i as f64 * self.down + j as f64 * self.spacing()
    }
}

/// The payoff at expiry, in units of its numeraire: `1 − e^{−m}` where the moneyness m is positive.
///
/// The numeraire of a call is the underlying, payoff `1 − K/S`, and that of a put the strike, payoff
/// `1 − S/K`: both payoffs are between 0 and 1 however wide the tree is.
#[derive(Clone, Copy, Debug)]
pub(in crate::pricing) struct Payoff {
    /// The moneyness at the start of the lattice.
    intercept: f64,
    /// The derivative of the moneyness by the height, ±1.
    slope: f64,
    /// The present value of a unit of the numeraire.
    pub(in crate::pricing) unit: f64,
}

impl Payoff {
    /// Returns the payoff of an option on an oriented lattice.
    pub(in crate::pricing) fn new(
        option: &EuropeanOption,
        direction: Direction,
        lattice: &OrientedLattice,
    ) -> Self {
        let time = option.time_to_maturity;
        let (sign, unit) = match option.option_type {
            OptionType::Call => (1.0, option.spot * discount(option.dividend_yield, time)),
            OptionType::Put => (-1.0, option.strike * discount(option.risk_free_rate, time)),
        };
        let orientation = if direction == Direction::Down { 1.0 } else { -1.0 };
        let unit = unit * libm::exp(lattice.odds.log_miss * lattice.steps as f64);
        Self { intercept: sign * log_moneyness(option), slope: sign * orientation, unit }
    }

    /// Returns the moneyness at a height over the start.
    pub(in crate::pricing) fn moneyness(&self, height: f64) -> f64 {
        self.intercept + self.slope * height
    }

    /// Returns the payoff at a height over the start.
    pub(in crate::pricing) fn at(&self, height: f64) -> f64 {
        let moneyness = self.moneyness(height);
        if moneyness > 0.0 { -libm::expm1(-moneyness) } else { 0.0 }
    }

    /// Returns the nodes of the last step with a positive payoff, as the first and one past the last.
    pub(in crate::pricing) fn paying(&self, lattice: &OrientedLattice) -> (usize, usize) {
        let strike = -self.intercept * self.slope;
        let lowest = lattice.height(lattice.steps, 0);
        // One more node on the strike's side is harmless: the payoff there is zero.
        let node = ((strike - lowest) / lattice.spacing()).clamp(-1.0, lattice.steps as f64 + 1.0);
        if self.slope > 0.0 {
            (node.floor().max(0.0) as usize, lattice.steps + 1)
        } else {
            (0, ((node + 2.0) as usize).min(lattice.steps + 1))
        }
    }
}

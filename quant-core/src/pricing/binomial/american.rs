//! Early exercise: backward induction that skips the nodes at which exercise is optimal.
//!
//! Values are in units of the option's numeraire: the strike paid at expiry for a put, the underlying
//! held until expiry for a call. The lattice is oriented so that the nodes in the money are the
//! lowest. With g the growth rate of the numeraire in a step, and h that of the other leg, exercising
//! at step i is worth `e^{g(n−i)}(1 − e^{−m})`, where m is the moneyness.
//!
//! - g ≤ 0 and h ≥ g: early exercise is never optimal, and the option is European.
//! - g ≥ 0: the value is convex in the price and equals the exercise value at the lowest price, so
//!   exercise is optimal at all nodes up to a boundary. The continuation value does not fall with the
//!   time to expiry, so the boundary does not rise backwards in time. One node is tested, and the
//!   next below where exercise is not optimal there.
//! - else the nodes of exercise may have a lower boundary as well, and every node is tested.

use crate::pricing::black_scholes::{EuropeanOption, OptionType};
use crate::pricing::lattice::band::{Band, step_back, values_of_step};
use crate::pricing::lattice::moves::Lattice;
use crate::pricing::lattice::oriented::{Direction, OrientedLattice, Payoff};
use crate::pricing::lattice::paths::european_value;

/// Returns the value of an option with early exercise on a lattice, for checked arguments.
pub(super) fn value(option: &EuropeanOption, lattice: &Lattice) -> f64 {
    let step = option.time_to_maturity / lattice.steps as f64;
    let cash = option.risk_free_rate * step;
    // JR's underlying misses its forward, as if it paid so much more dividend.
    let shares = option.dividend_yield * step - lattice.shares.log_miss;
    let (odds, direction, growth, other) = match option.option_type {
        OptionType::Call => (lattice.shares, Direction::Up, shares, cash),
        OptionType::Put => (lattice.cash, Direction::Down, cash, shares),
    };
    if growth <= 0.0 && other >= growth {
        return european_value(lattice, option);
    }
    let oriented = OrientedLattice::new(lattice, odds, direction);
    let payoff = Payoff::new(option, direction, &oriented);
    let induction = Induction { lattice: oriented, payoff, growth, other };
    let waiting = if growth >= 0.0 { induction.above_boundary() } else { induction.everywhere() };
    // Rounding must not make the value less than that of exercising today.
    waiting.map_or(0.0, |value| payoff.unit * value).max(option.exercise_value())
}

/// An option with early exercise on a lattice whose lowest nodes are in the money.
struct Induction {
    lattice: OrientedLattice,
    payoff: Payoff,
    /// The growth g of the numeraire in a step.
    growth: f64,
    /// The growth h of the other leg in a step.
    other: f64,
}

/// The values of a step: those of exercising up to the boundary, then those of a range of nodes.
struct Row {
    /// One past the index of the last node at which early exercise is optimal.
    exercised: usize,
    from: usize,
    to: usize,
}

impl Induction {
    /// The value of waiting at the start, where all nodes of exercise lie below a boundary; `None`
    /// where it is worth more to exercise at once.
    fn above_boundary(&self) -> Option<f64> {
        let n = self.lattice.steps;
        let paying = self.payoff.paying(&self.lattice).1;
        let exercised = (0..paying)
            .rev()
            .find(|&j| self.payoff.at(self.lattice.height(n, j)) > 0.0)
            .map_or(0, |j| j + 1);
        let band = Band::new(&self.lattice, (0, paying.max(1)));
        let mut values = values_of_step(n);
        let mut row = Row { exercised, from: exercised, to: exercised };
        for i in (0..n).rev() {
            let exercised = self.exercised(i, &row, &values);
            let (from, to) = band.row(i, exercised);
            // A node beyond the paying terminal nodes is worthless unless a path leads back to them.
            let to = to.min(paying.max(exercised + self.lift())).max(from);
            for (j, value) in (from..).zip(&mut values[from..=to]) {
                if j < row.exercised {
                    *value = self.exercise(i + 1, j);
                } else if j < row.from {
                    *value = 0.0;
                } else {
                    break;
                }
            }
            let end = row.to.max(row.exercised).clamp(from, to + 1);
            values[end..=to].fill(0.0);
            step_back(&mut values, from..to, self.lattice.odds.up, self.lattice.odds.down);
            row = Row { exercised, from, to };
        }
        (row.exercised == 0).then(|| values[0])
    }

    /// Returns one past the last node of step `i` with optimal exercise, given the next step.
    fn exercised(&self, i: usize, after: &Row, values: &[f64]) -> usize {
        let child = |j: usize| {
            if j < after.exercised {
                self.exercise(i + 1, j)
            } else if (after.from..after.to).contains(&j) {
                values[j]
            } else {
                0.0
            }
        };
        let odds = self.lattice.odds;
        let highest = (after.exercised + self.lift()).min(i + 1);
        (0..highest)
            .rev()
            .find(|&j| {
                // No likely path reaches a node below the range, so the boundary may be anywhere.
                let is_unlikely = j >= after.exercised && j + 1 < after.from;
                let is_better = || {
                    let waiting = odds.down * child(j) + odds.up * child(j + 1);
                    self.exercise(i, j) >= waiting
                };
                is_unlikely
                    || if j + 1 < after.exercised { self.pays_at_once(i, j) } else { is_better() }
            })
            .map_or(0, |j| j + 1)
    }

    /// By how many nodes the boundary may rise going back a step: none, unless even the move towards
    /// it leads away from it.
    fn lift(&self) -> usize {
        (self.lattice.down / self.lattice.spacing()).ceil().max(0.0) as usize
    }

    /// Returns whether exercising now is worth no less than exercising in the next step, on any path.
    fn pays_at_once(&self, i: usize, j: usize) -> bool {
        let price = libm::exp(-self.payoff.moneyness(self.lattice.height(i, j)));
        libm::expm1(-self.growth) <= price * libm::expm1(-self.other)
    }

    /// Returns the value of exercising at a node, negative out of the money.
    fn exercise(&self, i: usize, j: usize) -> f64 {
        let moneyness = self.payoff.moneyness(self.lattice.height(i, j));
        self.numeraire(i) * -libm::expm1(-moneyness)
    }

    /// The units of the numeraire that one unit is worth at step `i`.
    fn numeraire(&self, i: usize) -> f64 {
        libm::exp(self.growth * (self.lattice.steps - i) as f64)
    }

    /// The value at the start, where every node is tested.
    fn everywhere(&self) -> Option<f64> {
        let n = self.lattice.steps;
        let paying = self.payoff.paying(&self.lattice).1;
        let band = Band::new(&self.lattice, (0, paying.max(1)));
        let mut values = values_of_step(n);
        let mut row = band.row(n, 0);
        for (j, value) in (row.0..row.1).zip(&mut values[row.0..row.1]) {
            *value = self.payoff.at(self.lattice.height(n, j));
        }
        let rises: Vec<f64> =
            (0..row.1 - row.0 + 1).map(|k| libm::exp(k as f64 * self.lattice.spacing())).collect();
        for i in (0..n).rev() {
            let wanted = band.row(i, 0);
            values[wanted.0..row.0.max(wanted.0)].fill(0.0);
            values[row.1.max(wanted.0)..row.1.max(wanted.1 + 1)].fill(0.0);
            let odds = self.lattice.odds;
            step_back(&mut values, wanted.0..wanted.1, odds.up, odds.down);
            let unit = self.numeraire(i);
            let lowest = self.payoff.moneyness(self.lattice.height(i, wanted.0));
            let lowest = unit * libm::exp(-lowest);
            for (value, rise) in values[wanted.0..wanted.1].iter_mut().zip(&rises) {
                *value = value.max(unit - lowest * rise);
            }
            row = wanted;
        }
        Some(values[0])
    }
}

//! The moves of a binomial tree, in logarithms, and where on it the strike lies.

use super::super::barrier::Direction;
use super::super::black_scholes::{EuropeanOption, OptionType, discount};
use super::super::extended::Extended;
use super::{MOST_STEPS, Tree, paths};
use crate::{Error, Result};

/// A recombining tree. At step i, after j up moves, the price is `S·e^{i·down + j·(up − down)}`.
#[derive(Clone, Copy, Debug)]
pub(in crate::pricing) struct Lattice {
    pub(in crate::pricing) tree: Tree,
    pub(in crate::pricing) steps: usize,
    /// The logarithm of the up move.
    pub(in crate::pricing) up: f64,
    /// The logarithm of the down move.
    pub(in crate::pricing) down: f64,
    /// The odds of a move where values are counted in money.
    pub(in crate::pricing) cash: Odds,
    /// The odds where values are counted in units of the underlying.
    pub(in crate::pricing) shares: Odds,
}

/// The probabilities of one step, and what the numeraire loses in it.
#[derive(Clone, Copy, Debug)]
pub(in crate::pricing) struct Odds {
    pub(in crate::pricing) up: f64,
    pub(in crate::pricing) down: f64,
    /// The logarithm of the factor by which the tree misses the forward in one step; only JR does.
    pub(in crate::pricing) log_miss: f64,
}

impl Odds {
    fn new(up: f64, down: f64) -> Self {
        Self { up, down, log_miss: 0.0 }
    }
}

impl Lattice {
    /// The tree of exactly `steps` steps for an option with a positive spot, volatility and time.
    pub(in crate::pricing) fn new(
        option: &EuropeanOption,
        tree: Tree,
        steps: usize,
    ) -> Result<Self> {
        let lattice = match tree {
            Tree::Crr => Self::cox_ross_rubinstein(option, steps)?,
            Tree::Jr => Self::jarrow_rudd(option, steps),
            Tree::Lr => Self::leisen_reimer(option, steps),
            Tree::Tian => Self::tian(option, steps),
        };
        // A single step may be too wide for doubles; then no answer of this tree means anything.
        let parts = [lattice.up, lattice.down, lattice.cash.up, lattice.shares.up];
        if parts.iter().all(|part| part.is_finite()) && lattice.up > lattice.down {
            Ok(lattice)
        } else {
            Err(Error::Overflow { argument: "volatility" })
        }
    }

    fn cox_ross_rubinstein(option: &EuropeanOption, steps: usize) -> Result<Self> {
        refuse_impossible_odds(option, steps)?;
        let (drift, up) = moves(option, steps);
        let odds = |drift: f64| {
            let width = 2.0 * libm::sinh(up);
            Odds::new(
                ((libm::expm1(drift) - libm::expm1(-up)) / width).clamp(0.0, 1.0),
                ((libm::expm1(up) - libm::expm1(drift)) / width).clamp(0.0, 1.0),
            )
        };
        // In shares the roles of up and down, and the sign of the drift, are exchanged.
        let shares = odds(-drift);
        let shares = Odds::new(shares.down, shares.up);
        Ok(Self { tree: Tree::Crr, steps, up, down: -up, cash: odds(drift), shares })
    }

    fn jarrow_rudd(option: &EuropeanOption, steps: usize) -> Self {
        let (drift, deviation) = moves(option, steps);
        let middle = drift - 0.5 * deviation * deviation;
        // ½(u + d) = e^{middle}·cosh σ√Δt falls short of e^{drift}.
        let half = libm::sinh(0.5 * deviation);
        let log_miss = libm::log1p(2.0 * half * half) - 0.5 * deviation * deviation;
        let up = 1.0 / (1.0 + libm::exp(-2.0 * deviation));
        Self {
            tree: Tree::Jr,
            steps,
            up: middle + deviation,
            down: middle - deviation,
            cash: Odds::new(0.5, 0.5),
            shares: Odds { up, down: 1.0 - up, log_miss },
        }
    }

    fn tian(option: &EuropeanOption, steps: usize) -> Self {
        let (drift, deviation) = moves(option, steps);
        // u, d = M·V·e^{±a} with cosh a = (V + 1)/2, so that with w = V − 1:
        // sinh a = √(w + w²/4) and e^a = 1 + w/2 + sinh a.
        let variance = deviation * deviation;
        let w = libm::expm1(variance);
        let sinh = (w + 0.25 * w * w).sqrt();
        let angle = 2.0 * libm::asinh(0.5 * w.sqrt());
        // p = (M − d)/(u − d), cleared of its cancellation; in shares p is p·u/M.
        let growth = 1.0 + 0.5 * w + sinh;
        let up = w / (growth * (0.5 * w + sinh) * 2.0 * sinh * (1.0 + w));
        let shares_up = w / ((0.5 * w + sinh) * 2.0 * sinh);
        Self {
            tree: Tree::Tian,
            steps,
            up: drift + variance + angle,
            down: drift + variance - angle,
            cash: Odds::new(up, 1.0 - up),
            shares: Odds::new(shares_up, 1.0 - shares_up),
        }
    }

    fn leisen_reimer(option: &EuropeanOption, steps: usize) -> Self {
        let (drift, _) = moves(option, steps);
        let deviation = option.volatility * option.time_to_maturity.sqrt();
        let log_forward = log_moneyness(option) + drift * steps as f64;
        let d1 = log_forward / deviation + 0.5 * deviation;
        let cash = PeizerPratt::new(d1 - deviation, steps);
        let shares = PeizerPratt::new(d1, steps);
        // What both exponents share: (d₁² − d₂²)/scale, from d₁² − d₂² = 2·ln(F/K).
        let excess = 2.0 * log_forward * PeizerPratt::scale(steps);
        Self {
            tree: Tree::Lr,
            steps,
            up: drift + shares.log_up_over(&cash, excess),
            down: drift + shares.log_down_over(&cash, excess),
            cash: cash.odds(),
            shares: shares.odds(),
        }
    }

    /// The value of the option without a barrier.
    pub(in crate::pricing) fn vanilla(&self, option: &EuropeanOption) -> f64 {
        let odds = match option.option_type {
            OptionType::Call => self.shares,
            OptionType::Put => self.cash,
        };
        let climb = Climb::new(self, odds, Direction::Down);
        let payoff = Payoff::new(option, Direction::Down, &climb);
        payoff.unit * paths::all(&climb, &payoff)
    }
}

/// The carry of one step and the deviation of one step.
fn moves(option: &EuropeanOption, steps: usize) -> (f64, f64) {
    let carry = option.risk_free_rate - option.dividend_yield;
    let time = option.time_to_maturity / steps as f64;
    (carry * time, option.volatility * time.sqrt())
}

/// `ln(S/K)`.
fn log_moneyness(option: &EuropeanOption) -> f64 {
    Extended::log_ratio(option.spot, option.strike).high
}

/// Refuses a CRR tree whose drift outruns its moves, and names the steps that it would need.
fn refuse_impossible_odds(option: &EuropeanOption, steps: usize) -> Result<()> {
    let possible = |steps: usize| {
        let (drift, deviation) = moves(option, steps);
        drift.abs() <= deviation
    };
    if possible(steps) {
        return Ok(());
    }
    let carry = (option.risk_free_rate - option.dividend_yield).abs();
    let ratio = carry / option.volatility;
    let bound = (option.time_to_maturity * ratio * ratio).ceil();
    if bound >= MOST_STEPS as f64 || bound.is_nan() {
        return Err(Error::Domain {
            argument: "volatility",
            value: option.volatility,
            requirement: "larger beside the rates for a CRR tree of at most 1,000,000 steps",
        });
    }
    // The bound is exact but for its rounding.
    let mut needed = (bound as usize).max(steps + 1);
    while !possible(needed) {
        needed += 1;
    }
    Err(Error::TooFew { argument: "n_steps", needed, found: steps })
}

/// The binomial probability that Peizer and Pratt give to a normal deviate z:
/// `h(z) = ½ + sign(z)·√(¼ − ¼·e^{−y})` with `y = z²·scale`.
#[derive(Clone, Copy, Debug)]
struct PeizerPratt {
    positive: bool,
    /// y.
    exponent: f64,
    /// `1 + √(1 − e^{−y})`, twice the larger of h and 1 − h.
    larger: f64,
}

impl PeizerPratt {
    fn new(z: f64, steps: usize) -> Self {
        let exponent = z * z * Self::scale(steps);
        let root = (-libm::expm1(-exponent)).sqrt();
        Self { positive: z >= 0.0, exponent, larger: 1.0 + root }
    }

    /// `(n + 1/6) / (n + 1/3 + 0.1/(n + 1))²`.
    fn scale(steps: usize) -> f64 {
        let n = steps as f64;
        let divisor = n + 1.0 / 3.0 + 0.1 / (n + 1.0);
        (n + 1.0 / 6.0) / (divisor * divisor)
    }

    fn odds(&self) -> Odds {
        // (1 − √(1 − e^{−y}))/2 = e^{−y} / 2(1 + √(1 − e^{−y})), without cancellation.
        let (larger, smaller) = (0.5 * self.larger, 0.5 * libm::exp(-self.exponent) / self.larger);
        if self.positive { Odds::new(larger, smaller) } else { Odds::new(smaller, larger) }
    }

    /// `ln(h(self)/h(other))`, where `excess` is y of self less y of other.
    fn log_up_over(&self, other: &Self, excess: f64) -> f64 {
        let ratio = libm::log(self.larger / other.larger);
        match (self.positive, other.positive) {
            (true, true) => ratio,
            // Both are the smaller part, e^{−y}/2·larger: the exponents nearly cancel.
            (false, false) => -excess - ratio,
            _ => self.log_up() - other.log_up(),
        }
    }

    /// `ln((1 − h(self))/(1 − h(other)))`.
    fn log_down_over(&self, other: &Self, excess: f64) -> f64 {
        self.mirrored().log_up_over(&other.mirrored(), excess)
    }

    fn mirrored(self) -> Self {
        Self { positive: !self.positive, ..self }
    }

    /// `ln h`.
    fn log_up(&self) -> f64 {
        if self.positive {
            libm::log(0.5 * self.larger)
        } else {
            -self.exponent - libm::log(2.0 * self.larger)
        }
    }
}

/// A lattice turned so that the barrier lies below, with the claim counted in its numeraire.
#[derive(Clone, Copy, Debug)]
pub(in crate::pricing) struct Climb {
    pub(in crate::pricing) steps: usize,
    /// The logarithm of a move away from the barrier.
    pub(in crate::pricing) up: f64,
    /// The logarithm of a move towards it.
    pub(in crate::pricing) down: f64,
    /// The probability of a move away.
    pub(in crate::pricing) odds: Odds,
}

impl Climb {
    /// Turns the lattice, with the odds of one numeraire.
    pub(in crate::pricing) fn new(lattice: &Lattice, odds: Odds, direction: Direction) -> Self {
        let steps = lattice.steps;
        match direction {
            Direction::Down => Self { steps, up: lattice.up, down: lattice.down, odds },
            Direction::Up => {
                let turned = Odds { up: odds.down, down: odds.up, ..odds };
                Self { steps, up: -lattice.down, down: -lattice.up, odds: turned }
            }
        }
    }

    /// The logarithmic distance of two neighbouring nodes.
    pub(in crate::pricing) fn spacing(&self) -> f64 {
        self.up - self.down
    }

    /// The height of a node over the start, after `j` of `i` moves away from the barrier.
    pub(in crate::pricing) fn height(&self, i: usize, j: usize) -> f64 {
        i as f64 * self.down + j as f64 * self.spacing()
    }
}

/// What the option pays at expiry, in its numeraire: `1 − e^{−m}` where the moneyness m is positive.
///
/// A call is counted in units of the underlying, `1 − K/S`, and a put in units of the strike,
/// `1 − S/K`: both are between 0 and 1 however wide the tree is.
#[derive(Clone, Copy, Debug)]
pub(in crate::pricing) struct Payoff {
    /// m at the start.
    intercept: f64,
    /// m's change with height, ±1.
    slope: f64,
    /// The present value of a unit of the numeraire.
    pub(in crate::pricing) unit: f64,
}

impl Payoff {
    pub(in crate::pricing) fn new(
        option: &EuropeanOption,
        direction: Direction,
        climb: &Climb,
    ) -> Self {
        let time = option.time_to_maturity;
        let (sign, unit) = match option.option_type {
            OptionType::Call => (1.0, option.spot * discount(option.dividend_yield, time)),
            OptionType::Put => (-1.0, option.strike * discount(option.risk_free_rate, time)),
        };
        let turn = if direction == Direction::Down { 1.0 } else { -1.0 };
        let unit = unit * libm::exp(climb.odds.log_miss * climb.steps as f64);
        Self { intercept: sign * log_moneyness(option), slope: sign * turn, unit }
    }

    /// m at a height over the start.
    pub(in crate::pricing) fn moneyness(&self, height: f64) -> f64 {
        self.intercept + self.slope * height
    }

    /// The payment at a height over the start.
    pub(in crate::pricing) fn at(&self, height: f64) -> f64 {
        let moneyness = self.moneyness(height);
        if moneyness > 0.0 { -libm::expm1(-moneyness) } else { 0.0 }
    }

    /// The nodes of the last step at which it pays, as the first and one past the last.
    pub(in crate::pricing) fn paying(&self, climb: &Climb) -> (usize, usize) {
        let strike = -self.intercept * self.slope;
        let lowest = climb.height(climb.steps, 0);
        // A node more on the strike's side costs nothing: the payment there is zero.
        let node = ((strike - lowest) / climb.spacing()).clamp(-1.0, climb.steps as f64 + 1.0);
        if self.slope > 0.0 {
            (node.floor().max(0.0) as usize, climb.steps + 1)
        } else {
            (0, ((node + 2.0) as usize).min(climb.steps + 1))
        }
    }
}

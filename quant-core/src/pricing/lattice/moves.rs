//! The moves of a binomial tree, in logarithms, and their probabilities.

use super::tree::{MAX_STEPS, Tree};
use crate::arithmetic::logarithm::ln_ratio;
use crate::pricing::black_scholes::EuropeanOption;
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
    /// The probabilities of the moves with money as the numeraire.
    pub(in crate::pricing) cash: Odds,
    /// The probabilities of the moves with the underlying as the numeraire.
    pub(in crate::pricing) shares: Odds,
}

/// The probabilities of one step, and the error of its expected growth.
#[derive(Clone, Copy, Debug)]
pub(in crate::pricing) struct Odds {
    pub(in crate::pricing) up: f64,
    pub(in crate::pricing) down: f64,
    /// The logarithm of the factor by which the tree misses the forward in one step; zero but for JR.
    pub(in crate::pricing) log_miss: f64,
}

impl Odds {
    fn new(up: f64, down: f64) -> Self {
        Self { up, down, log_miss: 0.0 }
    }
}

impl Lattice {
    /// Returns the tree of exactly `steps` steps for an option with a positive spot, volatility and time.
    pub(in crate::pricing) fn new(
        option: &EuropeanOption,
        tree: Tree,
        steps: usize,
    ) -> Result<Self> {
        let lattice = match tree {
            Tree::CoxRossRubinstein => Self::cox_ross_rubinstein(option, steps)?,
            Tree::JarrowRudd => Self::jarrow_rudd(option, steps),
            Tree::LeisenReimer => Self::leisen_reimer(option, steps),
            Tree::Tian => Self::tian(option, steps),
        };
        // A single step may leave the range of a double; then no result of this tree is meaningful.
        let parts = [lattice.up, lattice.down, lattice.cash.up, lattice.shares.up];
        if parts.iter().all(|part| part.is_finite()) && lattice.up > lattice.down {
            Ok(lattice)
        } else {
            Err(Error::Overflow { argument: "volatility" })
        }
    }

    /// Returns the standard deviation of the logarithm of the price at expiry.
    pub(in crate::pricing) fn deviation(&self) -> f64 {
        let odds = self.steps as f64 * self.cash.up * self.cash.down;
        odds.sqrt() * (self.up - self.down)
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
        // With the underlying as numeraire up, down and the sign of the drift are exchanged.
        let shares = odds(-drift);
        let shares = Odds::new(shares.down, shares.up);
        Ok(Self { tree: Tree::CoxRossRubinstein, steps, up, down: -up, cash: odds(drift), shares })
    }

    fn jarrow_rudd(option: &EuropeanOption, steps: usize) -> Self {
        let (drift, deviation) = moves(option, steps);
        let middle = drift - 0.5 * deviation * deviation;
        // ½(u + d) = e^{middle}·cosh σ√Δt falls short of e^{drift}.
        let half = libm::sinh(0.5 * deviation);
        let log_miss = libm::log1p(2.0 * half * half) - 0.5 * deviation * deviation;
        let up = 1.0 / (1.0 + libm::exp(-2.0 * deviation));
        Self {
            tree: Tree::JarrowRudd,
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
        // p = (M − d)/(u − d) without its cancellation; with the underlying as numeraire, p·u/M.
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
        // The difference of both exponents, (d₁² − d₂²)·scale, by d₁² − d₂² = 2·ln(F/K).
        let excess = 2.0 * log_forward * PeizerPratt::scale(steps);
        Self {
            tree: Tree::LeisenReimer,
            steps,
            up: drift + shares.log_up_over(&cash, excess),
            down: drift + shares.log_down_over(&cash, excess),
            cash: cash.odds(),
            shares: shares.odds(),
        }
    }
}

/// Returns the drift and the standard deviation of one step.
fn moves(option: &EuropeanOption, steps: usize) -> (f64, f64) {
    let carry = option.risk_free_rate - option.dividend_yield;
    let time = option.time_to_maturity / steps as f64;
    (carry * time, option.volatility * time.sqrt())
}

/// Returns the logarithm `ln(S/K)` of spot by strike.
pub(super) fn log_moneyness(option: &EuropeanOption) -> f64 {
    ln_ratio(option.spot, option.strike).high
}

/// Refuses a CRR tree whose drift exceeds its moves, and names the number of steps that suffices.
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
    if bound >= MAX_STEPS as f64 || bound.is_nan() {
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

/// The binomial probability of a normal deviate z by Peizer and Pratt:
/// `h(z) = ½ + sign(z)·√(¼ − ¼·e^{−y})` with `y = z²·scale`.
#[derive(Clone, Copy, Debug)]
struct PeizerPratt {
    positive: bool,
    /// The exponent y of the formula.
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

    /// Returns `(n + 1/6) / (n + 1/3 + 0.1/(n + 1))²`.
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

    /// Returns `ln(h(self)/h(other))`, where `excess` is y of self less y of other.
    fn log_up_over(&self, other: &Self, excess: f64) -> f64 {
        let ratio = libm::log(self.larger / other.larger);
        match (self.positive, other.positive) {
            (true, true) => ratio,
            // Both are the smaller part, e^{−y}/2·larger: the exponents nearly cancel.
            (false, false) => -excess - ratio,
            _ => self.log_up() - other.log_up(),
        }
    }

    /// Returns `ln((1 − h(self))/(1 − h(other)))`.
    fn log_down_over(&self, other: &Self, excess: f64) -> f64 {
        self.mirrored().log_up_over(&other.mirrored(), excess)
    }

    fn mirrored(self) -> Self {
        Self { positive: !self.positive, ..self }
    }

    /// Returns the logarithm `ln h` of the probability.
    fn log_up(&self) -> f64 {
        if self.positive {
            libm::log(0.5 * self.larger)
        } else {
            -self.exponent - libm::log(2.0 * self.larger)
        }
    }
}

//! The choice of a binomial tree and of its number of steps.

use crate::explanation::Method;
use crate::named::named;
use crate::pricing::black_scholes::EuropeanOption;
use crate::{Error, Result, check};

/// The choice of the up and down moves of a binomial tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tree {
    /// Cox, Ross and Rubinstein: `u = e^{σ√Δt}`, `d = 1/u`.
    CoxRossRubinstein,
    /// Jarrow and Rudd: up and down moves of equal probability.
    JarrowRudd,
    /// Leisen and Reimer: centred on the strike, by the second inversion of Peizer and Pratt.
    LeisenReimer,
    /// Tian: the first three moments of the price matched.
    Tian,
}

named!(
    Tree,
    "tree",
    CoxRossRubinstein = "CRR",
    JarrowRudd = "JR",
    LeisenReimer = "LR",
    Tian = "TIAN",
);

impl Tree {
    /// Returns the number of steps that the tree takes where `n_steps` are asked for: one more where
    /// the count is even for Leisen and Reimer, and else as many.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::Tree;
    ///
    /// assert_eq!(Tree::LeisenReimer.steps_used(100), 101);
    /// assert_eq!(Tree::Tian.steps_used(100), 100);
    /// ```
    #[must_use]
    pub fn steps_used(self, n_steps: usize) -> usize {
        if self == Self::LeisenReimer { n_steps | 1 } else { n_steps }
    }

    /// Returns the assumptions of an explanation: those of every tree, and those of this one.
    pub(in crate::pricing) fn conventions(self) -> [&'static str; 5] {
        let own = match self {
            Self::CoxRossRubinstein => {
                "The moves are inverse to each other: u = e^{σ√Δt}, d = 1/u."
            }
            Self::JarrowRudd => {
                "Both probabilities are 1/2; the mean of the tree misses the forward a little."
            }
            Self::LeisenReimer => {
                "The tree is centred on the strike; an even number of steps takes one more."
            }
            Self::Tian => "The first three moments of the price in a step are matched.",
        };
        let [paths, rates, times, plain] = CONVENTIONS;
        [paths, rates, times, plain, own]
    }

    /// Returns the method with its source.
    pub(in crate::pricing) const fn method(self) -> Method {
        match self {
            Self::CoxRossRubinstein => Method::new(
                "binomial tree of Cox, Ross and Rubinstein",
                "Cox, Ross and Rubinstein (1979), Option Pricing: A Simplified Approach",
            ),
            Self::JarrowRudd => Method::new(
                "binomial tree of Jarrow and Rudd with equal probabilities",
                "Jarrow and Rudd (1983), Option Pricing",
            ),
            Self::LeisenReimer => Method::new(
                "binomial tree of Leisen and Reimer with the second inversion of Peizer and Pratt",
                "Leisen and Reimer (1996), Binomial Models for Option Valuation: Examining and \
                 Improving Convergence",
            ),
            Self::Tian => Method::new(
                "binomial tree of Tian",
                "Tian (1993), A Modified Lattice Approach to Option Pricing",
            ),
        }
    }
}

/// The assumptions of every tree.
const CONVENTIONS: [&str; 4] = [
    "The underlying follows geometric Brownian motion, approximated by a recombining tree of equal \
     steps.",
    "Riskless rate, dividend yield and volatility are constant; both rates compound continuously.",
    "Times are in years as given: no day count and no settlement lag are applied.",
    "The plain tree: no smoothing, no control variate and no extrapolation.",
];

/// The largest number of steps of a tree.
pub const MAX_STEPS: usize = 1_000_000;

/// Returns the number of steps that the tree takes where `n_steps` are asked for.
pub(in crate::pricing) fn steps(tree: Tree, n_steps: usize) -> Result<usize> {
    if n_steps == 0 {
        return Err(Error::TooFew { argument: "n_steps", needed: 1, found: 0 });
    }
    let asked = n_steps as f64;
    check::require(n_steps <= MAX_STEPS, "n_steps", asked, "at most 1,000,000")?;
    Ok(tree.steps_used(n_steps))
}

/// Returns whether the price moves along its forward without risk, to the last bit.
///
/// A CRR tree with a drift instead refuses any volatility that is too small for the drift.
pub(in crate::pricing) fn is_riskless(option: &EuropeanOption, tree: Tree) -> bool {
    let deviation = option.volatility * option.time_to_maturity.sqrt();
    let carry = option.risk_free_rate - option.dividend_yield;
    let lost = NEGLIGIBLE_DEVIATION * (carry * option.time_to_maturity).abs();
    option.spot == 0.0
        || deviation < f64::MIN_POSITIVE.sqrt()
        || (tree != Tree::CoxRossRubinstein && deviation < lost)
        || (tree == Tree::LeisenReimer && option.strike == 0.0)
}

/// A total deviation below this part of the total drift is lost in its rounding.
const NEGLIGIBLE_DEVIATION: f64 = 1e-13;

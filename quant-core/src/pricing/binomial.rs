//! European and American options on binomial trees.
//!
//! | exercise | method | cost |
//! |---|---|---|
//! | European | the terminal nodes, by their binomial probabilities | √n |
//! | American | backward induction from the boundary of early exercise over the likely nodes | below n^1.5 |
//!
//! The four trees are those of [`barrier`](super::barrier). As the number of steps grows all of them
//! lead to one price: that of [`black_scholes`](super::black_scholes), or the American one.
//!
//! Not modelled: discrete dividends, exercise on some days only, Greeks off the tree.

use super::black_scholes::{EuropeanOption, discount};
use super::lattice::{moves::Lattice, paths::european_value, tree};
use crate::named::named;
use crate::{Result, check};

pub use super::lattice::tree::{MAX_STEPS, Tree};

mod american;
#[cfg(test)]
pub(in crate::pricing) mod reference;

/// The times at which the holder may exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exercise {
    /// At expiry alone; a European option.
    European,
    /// At every step of the tree, today and expiry included.
    American,
}

named!(Exercise, "exercise", European = "european", American = "american");

/// Returns the present value of a call or a put on a binomial tree of `n_steps` steps.
///
/// The moves of each tree are those of
/// [`BarrierOption::price_on_tree`](super::barrier::BarrierOption::price_on_tree). At every node
///
/// ```text
/// V = e^{−rΔt} (p V_up + (1 − p) V_down)                   European
/// V = max(φ (S − K), e^{−rΔt} (p V_up + (1 − p) V_down))   American
/// ```
///
/// where φ is +1 for a call and −1 for a put. `n_steps` is from 1 to [`MAX_STEPS`]; LR takes one
/// more where it is even. An American option is worth no less than exercising it now, and no less
/// than the European one on the same tree; where waiting never costs anything (a call without
/// dividends, a put without interest) it is that one. Where spot, volatility or time is zero (and,
/// for LR, the strike) the price moves along its forward without risk, and so the tree does.
///
/// Rates may have any sign: with negative rates early exercise may be optimal between two prices
/// only.
///
/// # Errors
///
/// [`Error::Domain`](crate::Error::Domain) for a negative spot, strike, volatility or time, any number that is not finite,
/// or more steps than [`MAX_STEPS`]; [`Error::TooFew`](crate::Error::TooFew) for no steps, and where a CRR probability
/// would lie outside [0, 1], with a number of steps that works; [`Error::Overflow`](crate::Error::Overflow) where a number
/// leaves the range of a double.
///
/// # Examples
///
/// ```
/// use quant_core::pricing::binomial::{Exercise, Tree, price};
/// use quant_core::pricing::black_scholes::{EuropeanOption, OptionType};
///
/// // Hull, "Options, Futures, and Other Derivatives", figure "American put": 4.49 in five steps.
/// let put = EuropeanOption {
///     option_type: OptionType::Put,
///     spot: 50.0,
///     strike: 50.0,
///     risk_free_rate: 0.10,
///     dividend_yield: 0.0,
///     volatility: 0.40,
///     time_to_maturity: 5.0 / 12.0,
/// };
/// assert!((price(&put, Exercise::American, Tree::CoxRossRubinstein, 5)? - 4.49).abs() < 0.005);
/// // And 4.278 with infinitely many steps.
/// assert!((price(&put, Exercise::American, Tree::LeisenReimer, 2001)? - 4.2842).abs() < 0.0002);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Cox, Ross and Rubinstein (1979); Jarrow and Rudd (1983); Leisen and Reimer (1996); Tian (1993).
/// That the boundary of early exercise moves one way is used as in Curran (1995), "Accelerating
/// American Option Pricing in Lattices", and Kim and Byun (1994).
pub fn price(
    option: &EuropeanOption,
    exercise: Exercise,
    tree: Tree,
    n_steps: usize,
) -> Result<f64> {
    option.validate()?;
    let n = tree::steps(tree, n_steps)?;
    let value = match exercise {
        Exercise::European if tree::is_riskless(option, tree) => along_forward(option, 1.0),
        Exercise::European => european_value(&Lattice::new(option, tree, n)?, option),
        Exercise::American if tree::is_riskless(option, tree) => best_along_forward(option, n),
        Exercise::American => american::value(option, &Lattice::new(option, tree, n)?),
    };
    check::result("spot", value)
}

/// Returns the present value of exercising on the forward, after this part of the time.
fn along_forward(option: &EuropeanOption, part: f64) -> f64 {
    let time = option.time_to_maturity * part;
    let forward = EuropeanOption {
        spot: option.spot * discount(option.dividend_yield, time),
        strike: option.strike * discount(option.risk_free_rate, time),
        ..*option
    };
    forward.exercise_value()
}

/// Returns the largest present value of exercising on the forward at one of `n` steps.
///
/// `S e^{−qt} − K e^{−rt}` turns at most once, where `q S e^{−qt} = r K e^{−rt}`: the most is at an end
/// or at a step beside that moment.
fn best_along_forward(option: &EuropeanOption, n: usize) -> f64 {
    let (rate, dividend_yield) = (option.risk_free_rate, option.dividend_yield);
    let ratio = (dividend_yield * option.spot) / (rate * option.strike);
    let moment = libm::log(ratio) / (dividend_yield - rate);
    let step = (moment / option.time_to_maturity * n as f64).floor();
    let steps = [step, step + 1.0].into_iter().filter(|step| (0.0..n as f64).contains(step));
    let at_steps = steps.map(|step| along_forward(option, step / n as f64));
    at_steps.fold(option.exercise_value().max(along_forward(option, 1.0)), f64::max)
}

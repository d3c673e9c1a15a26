//! Explanations of American and Bermudan prices on trees.

use super::{evaluate, evaluate_on_dates};
use crate::Result;
use crate::explanation::{ErrorKind, ErrorStatement, Explanation};
use crate::pricing::binomial::{self, Exercise, Tree};
use crate::pricing::black_scholes::EuropeanOption;

/// The conventions of the Greeks.
const GREEKS: [&str; 2] = [
    "Delta, gamma and theta are from the nodes of the first two steps.",
    "Vega, rho and epsilon are difference quotients over 1 % of the volatility and over a basis \
     point.",
];

/// Explains [`evaluate`].
///
/// # Errors
///
/// The errors of [`evaluate`].
pub fn explain(option: &EuropeanOption, tree: Tree, n_steps: usize) -> Result<Explanation> {
    let found = evaluate(option, tree, n_steps)?;
    let coarse = binomial::price(option, Exercise::American, tree, found.steps / 2);
    let error = error(option, found.price, found.european_price, coarse);
    let explanation = Explanation::new(tree.method(), error).with_steps(found.steps as u32);
    let exercise = "The option may be exercised at every step, today and expiry included.";
    Ok(explanation
        .with_conventions(tree.conventions())
        .with_conventions([exercise])
        .with_conventions(GREEKS))
}

/// Explains [`evaluate_on_dates`].
///
/// # Errors
///
/// The errors of [`evaluate_on_dates`].
pub fn explain_on_dates(
    option: &EuropeanOption,
    tree: Tree,
    n_steps: usize,
    exercise_times: &[f64],
) -> Result<Explanation> {
    let found = evaluate_on_dates(option, tree, n_steps, exercise_times)?;
    let coarse = evaluate_on_dates(option, tree, found.steps / 2, exercise_times);
    let coarse = coarse.map(|coarse| coarse.price);
    let error = error(option, found.price, found.european_price, coarse);
    let explanation = Explanation::new(tree.method(), error).with_steps(found.steps as u32);
    let exercise = [
        "The option may be exercised at the given times, each moved to the nearest step.",
        "Expiry is a time of exercise; today is none.",
    ];
    Ok(explanation
        .with_conventions(tree.conventions())
        .with_conventions(exercise)
        .with_conventions(GREEKS))
}

/// Estimates the distance of a price to that of infinitely many steps.
///
/// The closed form shows the error of the European option on the same tree, and half the steps that
/// of the right to exercise early.
fn error(
    option: &EuropeanOption,
    price: f64,
    european_price: f64,
    coarse: Result<f64>,
) -> ErrorStatement {
    // A tree of half the steps may not exist, and the closed form may exceed a double.
    let coarse = coarse.unwrap_or(european_price);
    let european_error = (european_price - option.price().unwrap_or(0.0)).abs();
    let rounding = 1e-12 * price + 1e-12 * option.spot;
    ErrorStatement::estimated(
        ErrorKind::Discretisation,
        "price",
        european_error + MARGIN * (price - coarse).abs() + rounding,
        "distance of the European option on the same tree to its closed form, and one and a \
         half times the change of the price from half the steps",
    )
}

/// The factor by which the change from half the steps is taken: twice the steps halve an error of
/// first order, so that the change is the error, and terms of higher order add to it.
const MARGIN: f64 = 1.5;

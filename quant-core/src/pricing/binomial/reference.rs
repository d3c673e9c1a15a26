//! The tree by its definition, node by node, as a reference for the fast methods.

use super::{Exercise, Tree, price};
use crate::pricing::black_scholes::{EuropeanOption, OptionType, option};
use crate::pricing::lattice::tree::steps;
use proptest::prelude::*;

/// Agreement of two ways that round differently, relative to the spot and the strike. Most of it is
/// the rounding of the probabilities here, which grows with the steps.
const TOLERANCE: f64 = 1e-12;

/// The up move, the down move and the probability of the first, as the definitions give them.
pub(in crate::pricing) fn moves(option: &EuropeanOption, tree: Tree, n: usize) -> (f64, f64, f64) {
    let (sigma, time) = (option.volatility, option.time_to_maturity);
    let carry = option.risk_free_rate - option.dividend_yield;
    let dt = time / n as f64;
    let growth = libm::exp(carry * dt);
    let root = sigma * dt.sqrt();
    match tree {
        Tree::CoxRossRubinstein => {
            let (u, d) = (libm::exp(root), libm::exp(-root));
            (u, d, (growth - d) / (u - d))
        }
        Tree::JarrowRudd => {
            let drift = (carry - 0.5 * sigma * sigma) * dt;
            (libm::exp(drift + root), libm::exp(drift - root), 0.5)
        }
        Tree::Tian => {
            let v = libm::exp(sigma * sigma * dt);
            // V² + 2V − 3 is (V − 1)(V + 3).
            let spread = (libm::expm1(sigma * sigma * dt) * (v + 3.0)).sqrt();
            let u = 0.5 * growth * v * (v + 1.0 + spread);
            let d = 0.5 * growth * v * (v + 1.0 - spread);
            (u, d, (growth - d) / (u - d))
        }
        Tree::LeisenReimer => {
            let s = sigma * time.sqrt();
            let d1 = (libm::log(option.spot / option.strike) + carry * time) / s + 0.5 * s;
            let n = n as f64;
            let h = |z: f64| {
                let ratio = z / (n + 1.0 / 3.0 + 0.1 / (n + 1.0));
                // ¼ − ¼·e^{−y}, whose cancellation would be all that the comparison sees.
                let inner = -0.25 * libm::expm1(-ratio * ratio * (n + 1.0 / 6.0));
                0.5 + z.signum() * inner.sqrt()
            };
            let p = h(d1 - s);
            let u = growth * h(d1) / p;
            (u, (growth - p * u) / (1.0 - p), p)
        }
    }
}

/// The value by all nodes of each step, from the last to the first, in O(n²).
fn by_nodes(option: &EuropeanOption, exercise: Exercise, tree: Tree, n_steps: usize) -> f64 {
    let n = steps(tree, n_steps).unwrap();
    let (u, d, p) = moves(option, tree, n);
    let discount = libm::exp(-option.risk_free_rate * option.time_to_maturity / n as f64);
    let (log_u, log_d) = (libm::log(u), libm::log(d));
    let sign = if option.option_type == OptionType::Call { 1.0 } else { -1.0 };
    let paid = |i: usize, j: usize| {
        let price = option.spot * libm::exp(j as f64 * log_u + (i - j) as f64 * log_d);
        sign * (price - option.strike)
    };
    let mut values: Vec<f64> = (0..=n).map(|j| paid(n, j).max(0.0)).collect();
    for i in (0..n).rev() {
        for j in 0..=i {
            values[j] = discount * (p * values[j + 1] + (1.0 - p) * values[j]);
            if exercise == Exercise::American {
                values[j] = values[j].max(paid(i, j));
            }
        }
    }
    values[0]
}

const TREES: [Tree; 4] =
    [Tree::CoxRossRubinstein, Tree::JarrowRudd, Tree::LeisenReimer, Tree::Tian];

fn assert_agrees(option: &EuropeanOption, tree: Tree, n: usize) {
    for exercise in [Exercise::European, Exercise::American] {
        let expected = by_nodes(option, exercise, tree, n);
        let got = price(option, exercise, tree, n).unwrap();
        assert!(
            (got - expected).abs() <= TOLERANCE * (option.spot + option.strike),
            "{exercise:?} {option:?} on {tree:?} with {n} steps: got {got}, expected {expected}"
        );
    }
}

#[test]
fn leaving_out_nodes_changes_nothing() {
    use OptionType::{Call, Put};
    #[rustfmt::skip]
    let rows = [
        //      spot   strike  rate  yield   vol  years
        (Put,  [100.0, 100.0,  0.08,  0.04, 0.25, 0.5]),
        (Put,  [100.0, 160.0,  0.05,  0.00, 0.20, 1.0]),
        (Put,  [100.0,  60.0,  0.05,  0.00, 0.20, 1.0]),
        (Put,  [100.0, 100.0,  0.02,  0.08, 0.40, 3.0]),
        (Call, [100.0, 100.0,  0.02,  0.08, 0.40, 3.0]),
        (Call, [100.0,  70.0,  0.05,  0.07, 0.15, 2.0]),
        (Call, [100.0, 100.0,  0.08,  0.00, 0.25, 0.5]),
        // Rates at or below zero: no exercise, exercise at all prices, and within two boundaries.
        (Put,  [100.0, 110.0,  0.00, -0.04, 0.25, 1.0]),
        (Put,  [100.0, 110.0, -0.02,  0.01, 0.25, 1.0]),
        (Put,  [ 80.0, 100.0, -0.01, -0.03, 0.15, 5.0]),
        (Call, [120.0, 100.0, -0.03, -0.01, 0.15, 5.0]),
    ];
    for (option_type, numbers) in rows {
        let option = option(option_type, numbers);
        for tree in TREES {
            for n in [1, 2, 3, 10, 101, 1500] {
                if price(&option, Exercise::American, tree, n).is_ok() {
                    assert_agrees(&option, tree, n);
                }
            }
        }
    }
}

#[test]
fn a_boundary_that_rises_going_back_in_time_is_found() {
    // Even the lower move leads up. (The odds of CRR would be impossible, and those of LR are lost
    // in the reference's roundings.)
    let put = option(OptionType::Put, [100.0, 110.0, 0.9, 0.0, 0.02, 1.0]);
    let call = option(OptionType::Call, [100.0, 90.0, 0.0, 0.9, 0.02, 1.0]);
    for tree in [Tree::JarrowRudd, Tree::Tian] {
        for n in [1, 2, 3, 10, 101, 1500] {
            assert_agrees(&put, tree, n);
            assert_agrees(&call, tree, n);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn the_fast_ways_agree_on_any_market(
        spot in 40.0..250.0_f64, rate in -0.1..0.2_f64, dividend_yield in -0.1..0.2_f64,
        volatility in 0.05..0.8_f64, time in 0.05..5.0_f64, n in 1_usize..200, choice in 0_usize..8,
    ) {
        let tree = TREES[choice % 4];
        let option_type = if choice & 4 == 0 { OptionType::Call } else { OptionType::Put };
        let option = option(option_type, [spot, 100.0, rate, dividend_yield, volatility, time]);
        if let Err(refused) = price(&option, Exercise::American, tree, n) {
            prop_assert_eq!((refused.code(), tree), ("too_few", Tree::CoxRossRubinstein));
        } else {
            assert_agrees(&option, tree, n);
        }
    }
}

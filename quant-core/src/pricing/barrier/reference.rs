//! The tree by its definition, node by node, as a reference for the fast methods.

use super::{BarrierOption, Direction, Knock, Tree};
use crate::pricing::binomial::reference::moves;
use crate::pricing::black_scholes::{OptionType, option};
use crate::pricing::lattice::tree::steps;
use proptest::prelude::*;

/// Agreement of two ways that round differently, relative to the option without a barrier. Most of
/// it is the rounding of the probabilities here, which grows with the steps.
const TOLERANCE: f64 = 1e-12;

/// The values of all nodes of each step, from the last to the first, in O(n²).
fn by_nodes(barrier: &BarrierOption, tree: Tree, n_steps: usize) -> f64 {
    let n = steps(tree, n_steps).unwrap();
    let option = &barrier.option;
    let (u, d, p) = moves(option, tree, n);
    let discount = libm::exp(-option.risk_free_rate * option.time_to_maturity / n as f64);
    let price =
        |i: usize, j: usize| option.spot * libm::pow(u, j as f64) * libm::pow(d, (i - j) as f64);
    let payoff = |price: f64| match option.option_type {
        OptionType::Call => (price - option.strike).max(0.0),
        OptionType::Put => (option.strike - price).max(0.0),
    };
    let is_hit = |price: f64| match barrier.direction {
        Direction::Down => price <= barrier.barrier * (1.0 + 1e-11),
        Direction::Up => price >= barrier.barrier * (1.0 - 1e-11),
    };
    let rebate = if barrier.knock == Knock::Out { barrier.rebate } else { 0.0 };
    let mut vanilla: Vec<f64> = (0..=n).map(|j| payoff(price(n, j))).collect();
    let mut out: Vec<f64> = vanilla.clone();
    for i in (0..=n).rev() {
        for j in 0..=i {
            if i < n {
                vanilla[j] = discount * (p * vanilla[j + 1] + (1.0 - p) * vanilla[j]);
                out[j] = discount * (p * out[j + 1] + (1.0 - p) * out[j]);
            }
            if is_hit(price(i, j)) {
                out[j] = rebate;
            }
        }
    }
    if barrier.knock == Knock::Out { out[0] } else { vanilla[0] - out[0] }
}

fn barrier(
    option_type: OptionType,
    numbers: [f64; 6],
    (direction, knock, barrier, rebate): (Direction, Knock, f64, f64),
) -> BarrierOption {
    let option = option(option_type, numbers);
    BarrierOption { option, barrier, direction, knock, rebate }
}

const TREES: [Tree; 4] =
    [Tree::CoxRossRubinstein, Tree::JarrowRudd, Tree::LeisenReimer, Tree::Tian];

fn assert_agrees(option: &BarrierOption, tree: Tree, n: usize) {
    let expected = by_nodes(option, tree, n);
    let got = option.price_on_tree(tree, n).unwrap();
    let scale = option.option.price().unwrap() + option.rebate;
    assert!(
        (got - expected).abs() <= TOLERANCE * scale,
        "{option:?} on {tree:?} with {n} steps: got {got}, expected {expected}"
    );
}

#[test]
fn the_fast_ways_agree_with_the_tree_node_by_node() {
    use Direction::{Down, Up};
    use OptionType::{Call, Put};
    let market = [100.0, 100.0, 0.08, 0.04, 0.25, 0.5];
    for tree in TREES {
        for n in [1, 2, 3, 4, 5, 10, 51, 100] {
            for option_type in [Call, Put] {
                for (direction, level) in [
                    (Down, 99.9),
                    (Down, 95.0),
                    (Down, 70.0),
                    (Up, 100.1),
                    (Up, 105.0),
                    (Up, 150.0),
                ] {
                    for (knock, rebate) in [(Knock::Out, 0.0), (Knock::Out, 3.0), (Knock::In, 3.0)]
                    {
                        let option =
                            barrier(option_type, market, (direction, knock, level, rebate));
                        assert_agrees(&option, tree, n);
                    }
                }
            }
        }
    }
}

#[test]
fn leaving_out_the_nodes_far_away_changes_nothing() {
    use Direction::{Down, Up};
    use OptionType::{Call, Put};
    #[rustfmt::skip]
    let rows = [
        (Call, [100.0, 100.0, 0.08, 0.04, 0.25, 0.5], (Down, Knock::Out,  95.0, 3.0)),
        (Put,  [100.0, 110.0, 0.02, 0.04, 0.40, 2.0], (Up,   Knock::Out, 130.0, 3.0)),
        (Call, [100.0, 160.0, 0.05, 0.00, 0.20, 0.5], (Down, Knock::Out,  90.0, 0.0)),
        (Put,  [100.0,  60.0, 0.05, 0.00, 0.20, 0.5], (Down, Knock::In,   70.0, 0.0)),
    ];
    for (option_type, market, knock) in rows {
        for tree in TREES {
            assert_agrees(&barrier(option_type, market, knock), tree, 1001);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn the_fast_ways_agree_on_any_market(
        spot in 60.0..150.0_f64, rate in -0.05..0.15_f64, dividend_yield in -0.05..0.1_f64,
        volatility in 0.1..0.8_f64, time in 0.05..3.0_f64, distance in 0.001..0.6_f64,
        n in 1_usize..150, choice in 0_usize..32,
    ) {
        let tree = TREES[choice % 4];
        let option_type = if choice & 4 == 0 { OptionType::Call } else { OptionType::Put };
        let direction = if choice & 8 == 0 { Direction::Down } else { Direction::Up };
        let knock = if choice & 16 == 0 { Knock::Out } else { Knock::In };
        let level = spot * libm::exp(if direction == Direction::Up { distance } else { -distance });
        let numbers = [spot, 100.0, rate, dividend_yield, volatility, time];
        let option = barrier(option_type, numbers, (direction, knock, level, 2.5));
        if let Err(refused) = option.price_on_tree(tree, n) {
            // A CRR tree of too few steps for its drift, or an LR tree of too few for its strike.
            let expected = match tree {
                Tree::LeisenReimer => ("domain", Some("strike")),
                _ => ("too_few", Some("n_steps")),
            };
            prop_assert_eq!((refused.code(), refused.argument()), expected);
            prop_assert!(matches!(tree, Tree::CoxRossRubinstein | Tree::LeisenReimer));
        } else {
            assert_agrees(&option, tree, n);
        }
    }
}

//! The growth of the time of a computation with its size: the fitted exponent of time against size.
//!
//! `cargo run --release -p quant-examples --example growth`, with `-- 1000000` for trees of up to a
//! million steps, series of ten million points and two thousand assets, which takes a minute.

use std::{hint::black_box, time::Instant};

use quant_core::{
    entropy::{shannon::shannon_entropy, transfer::transfer_entropy},
    portfolio::{Covariance, MinVariance},
    pricing::{
        barrier::{BarrierOption, Direction, Knock},
        binomial::{self, Exercise, Tree},
        black_scholes::{EuropeanOption, OptionType},
    },
};

/// The least time of some runs, in seconds: what else the machine does only adds to it.
fn seconds<T>(mut run: impl FnMut() -> T) -> f64 {
    let started = Instant::now();
    let mut least = f64::INFINITY;
    // At least three runs, and more of the short ones.
    for count in 0.. {
        let start = Instant::now();
        black_box(run());
        least = least.min(start.elapsed().as_secs_f64());
        if count >= 2 && started.elapsed().as_secs_f64() > 0.1 {
            break;
        }
    }
    least
}

/// Prints the times of the sizes and the slope of the line through their logarithms.
fn growth(name: &str, sizes: &[usize], mut time: impl FnMut(usize) -> f64) {
    let points: Vec<(f64, f64)> = sizes.iter().map(|&size| (size as f64, time(size))).collect();
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let logs = || points.iter().map(|(size, time)| (size.ln(), time.ln()));
    let (x, y) = (mean(logs().map(|log| log.0).collect()), mean(logs().map(|log| log.1).collect()));
    let covariance: f64 = logs().map(|log| (log.0 - x) * (log.1 - y)).sum();
    let variance: f64 = logs().map(|log| (log.0 - x) * (log.0 - x)).sum();
    let times: Vec<String> =
        points.iter().map(|(size, time)| format!("{size} {:.4} ms", 1e3 * time)).collect();
    println!("{name:<28} n^{:.2}   {}", covariance / variance, times.join(", "));
}

/// Numbers in [0, 1) that repeat in every run (a linear congruence of 64 bits).
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed;
    let draw = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    std::iter::repeat_with(draw).take(count).collect()
}

fn trees(steps: &[usize]) {
    let option = EuropeanOption {
        option_type: OptionType::Put,
        spot: 100.0,
        strike: 105.0,
        risk_free_rate: 0.05,
        dividend_yield: 0.02,
        volatility: 0.25,
        time_to_maturity: 1.0,
    };
    let (direction, knock) = (Direction::Up, Knock::Out);
    let barrier = BarrierOption { option, barrier: 120.0, direction, knock, rebate: 3.0 };
    for (name, tree) in [
        ("CRR", Tree::CoxRossRubinstein),
        ("JR", Tree::JarrowRudd),
        ("LR", Tree::LeisenReimer),
        ("TIAN", Tree::Tian),
    ] {
        growth(&format!("{name}, barrier and rebate"), steps, |n| {
            seconds(|| barrier.price_on_tree(tree, n))
        });
        growth(&format!("{name}, American"), steps, |n| {
            seconds(|| binomial::price(&option, Exercise::American, tree, n))
        });
        growth(&format!("{name}, European"), steps, |n| {
            seconds(|| binomial::price(&option, Exercise::European, tree, n))
        });
    }
}

fn entropies(points: &[usize]) {
    growth("Shannon", points, |n| {
        let draws = numbers(4, n);
        let total: f64 = draws.iter().sum();
        let probabilities: Vec<f64> = draws.iter().map(|draw| draw / total).collect();
        seconds(|| shannon_entropy(&probabilities, 2.0))
    });
    for bins in [8, 128] {
        growth(&format!("transfer, {bins} bins"), points, |n| {
            let (source, target) = (numbers(5, n), numbers(6, n));
            seconds(|| transfer_entropy(&source, &target, 1, bins))
        });
    }
    let (source, target) = (numbers(5, points[2]), numbers(6, points[2]));
    growth("transfer, against the bins", &[2, 5, 10, 30, 100, 300, 1_000], |bins| {
        seconds(|| transfer_entropy(&source, &target, 1, bins))
    });
}

/// Assets of five common factors and noise of their own, long only.
fn min_variance(assets: &[usize]) {
    growth("minimum variance", assets, |n| {
        let (loadings, noise) = (numbers(7, 5 * n), numbers(8, n));
        let entry = |i: usize, j: usize| {
            let common: f64 =
                (0..5).map(|k| (loadings[5 * i + k] - 0.3) * (loadings[5 * j + k] - 0.3)).sum();
            0.04 * common + if i == j { 0.01 + 0.02 * noise[i] } else { 0.0 }
        };
        let covariance: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
        let problem = MinVariance {
            covariance_matrix: Covariance::from_rows(&covariance).expect("a square matrix"),
            min_weights: Some(vec![0.0; n]),
            max_weights: None,
        };
        seconds(|| problem.solve())
    });
}

fn main() {
    let far = std::env::args().nth(1).is_some_and(|most| most == "1000000");
    trees(if far { &[100, 1_000, 10_000, 100_000, 1_000_000] } else { &[100, 1_000, 10_000] });
    entropies(if far {
        &[10_000, 100_000, 1_000_000, 10_000_000]
    } else {
        &[10_000, 100_000, 1_000_000]
    });
    min_variance(if far {
        &[10, 20, 50, 100, 200, 500, 1_000, 2_000]
    } else {
        &[10, 20, 50, 100, 200]
    });
}

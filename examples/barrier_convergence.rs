//! A down-and-out call on trees of more and more steps: the price on the tree oscillates about the
//! closed form of the continuously monitored barrier, and converges slowly.
//!
//! `cargo run --release -p quant-examples --example barrier_convergence`

use quant_core::pricing::{
    barrier::{BarrierOption, Direction, Knock, Tree},
    black_scholes::{EuropeanOption, OptionType},
};
use quant_examples::{Chart, Line, SeriesLabelPosition};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let option = BarrierOption {
        option: EuropeanOption {
            option_type: OptionType::Call,
            spot: 100.0,
            strike: 100.0,
            time_to_maturity: 1.0,
            risk_free_rate: 0.05,
            dividend_yield: 0.02,
            volatility: 0.25,
        },
        barrier: 90.0,
        direction: Direction::Down,
        knock: Knock::Out,
        rebate: 0.0,
    };
    let exact = option.price_continuous()?;
    println!("closed form (Reiner and Rubinstein)  {exact:.9}\n");
    println!("{:>7}  {:>14}  {:>9}", "steps", "tree", "error");
    for n_steps in [50, 100, 500, 1_000, 5_000, 100_000, 1_000_000] {
        let price = option.price_on_tree(Tree::CoxRossRubinstein, n_steps)?;
        println!("{n_steps:>7}  {price:>14.9}  {:>9.1e}", price - exact);
    }

    let steps = || (20..=600).step_by(2);
    let point = |n| Ok((n as f64, option.price_on_tree(Tree::CoxRossRubinstein, n)?));
    let points = steps().map(point).collect::<quant_core::Result<_>>()?;
    let closed = steps().map(|n| (n as f64, exact)).collect();
    Chart {
        title: "Down-and-out call on a Cox–Ross–Rubinstein tree",
        x: "steps",
        y: "price",
        legend: SeriesLabelPosition::UpperRight,
        lines: &[Line { name: "tree", points }, Line { name: "closed form", points: closed }],
        marks: &[],
    }
    .save("barrier_convergence")
}

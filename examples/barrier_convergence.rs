//! A down-and-out call on trees of ever more steps: the plain tree saws around the price of the
//! continuously watched barrier, the corrected one goes straight to it.
//!
//! `cargo run --release -p quant-examples --example barrier_convergence`

use quant_core::pricing::{
    barrier::{BarrierOption, Direction, Handling, Knock, Tree},
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
    let exact = option.price_watched_continuously()?;
    println!("closed form (Reiner and Rubinstein)  {exact:.9}\n");
    println!(
        "{:>7}  {:>14}  {:>9}  {:>14}  {:>9}",
        "steps", "plain", "error", "corrected", "error"
    );
    for n_steps in [50, 100, 500, 1_000, 5_000, 100_000, 1_000_000] {
        let plain = option.price_on_tree(Tree::Crr, n_steps, Handling::Plain)?;
        let corrected = option.price_on_tree(Tree::Crr, n_steps, Handling::Corrected)?;
        println!(
            "{n_steps:>7}  {plain:>14.9}  {:>9.1e}  {corrected:>14.9}  {:>9.1e}",
            plain - exact,
            corrected - exact,
        );
    }

    let steps = || (20..=600).step_by(2);
    let line = |name, handling| -> quant_core::Result<Line> {
        let point = |n| Ok((n as f64, option.price_on_tree(Tree::Crr, n, handling)?));
        Ok(Line { name, points: steps().map(point).collect::<quant_core::Result<_>>()? })
    };
    let closed = steps().map(|n| (n as f64, exact)).collect();
    Chart {
        title: "Down-and-out call on a Cox–Ross–Rubinstein tree",
        x: "steps",
        y: "price",
        legend: SeriesLabelPosition::UpperRight,
        lines: &[
            line("plain", Handling::Plain)?,
            line("corrected", Handling::Corrected)?,
            Line { name: "closed form", points: closed },
        ],
    }
    .save("barrier_convergence")
}

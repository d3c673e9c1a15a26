//! The efficient frontier of five assets by its corner portfolios, with the portfolios of least
//! variance and of highest Sharpe ratio on it.
//!
//! `cargo run --release -p quant-examples --example efficient_frontier`

use std::array::from_fn;

use quant_core::portfolio::{Covariance, EfficientFrontier, MaxSharpe, Portfolio, TargetReturn};
use quant_examples::{Chart, Line, Mark, SeriesLabelPosition};

const ASSETS: [&str; 5] = ["bonds", "gold", "property", "shares", "emerging"];
const RETURNS: [f64; 5] = [0.025, 0.035, 0.05, 0.07, 0.09];
const VOLATILITIES: [f64; 5] = [0.05, 0.16, 0.12, 0.17, 0.24];
const CORRELATIONS: [[f64; 5]; 5] = [
    [1.0, 0.2, 0.15, -0.1, 0.0],
    [0.2, 1.0, 0.1, 0.0, 0.15],
    [0.15, 0.1, 1.0, 0.6, 0.5],
    [-0.1, 0.0, 0.6, 1.0, 0.75],
    [0.0, 0.15, 0.5, 0.75, 1.0],
];
const RISK_FREE_RATE: f64 = 0.015;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let covariance = |i: usize, j: usize| CORRELATIONS[i][j] * VOLATILITIES[i] * VOLATILITIES[j];
    let rows: [[f64; 5]; 5] = from_fn(|i| from_fn(|j| covariance(i, j)));
    let covariance_matrix = Covariance::from(rows);
    let (min_weights, max_weights) = (Some(vec![0.0; 5]), Some(vec![0.6; 5]));
    let frontier = EfficientFrontier {
        expected_returns: RETURNS.to_vec(),
        covariance_matrix: covariance_matrix.clone(),
        risk_free_rate: RISK_FREE_RATE,
        min_weights: min_weights.clone(),
        max_weights: max_weights.clone(),
    }
    .solve()?;
    let tangency = MaxSharpe {
        expected_returns: RETURNS.to_vec(),
        covariance_matrix: covariance_matrix.clone(),
        risk_free_rate: RISK_FREE_RATE,
        min_weights: min_weights.clone(),
        max_weights: max_weights.clone(),
    }
    .solve()?;

    println!("weights from 0 to 60 %, {} corners\n", frontier.corners.len());
    println!(
        "{:>7} {:>10}  {}",
        "return",
        "volatility",
        ASSETS.map(|name| format!("{name:>9}")).join("")
    );
    frontier.corners.iter().for_each(print);
    println!("\nhighest Sharpe ratio: {:.4}", tangency.sharpe_ratio.unwrap_or_default());
    print(&tangency);

    // Between two corners the portfolios are mixtures; the volatility of a mixture is no mixture.
    let ends = [&frontier.corners[0], &frontier.corners[frontier.corners.len() - 1]];
    let [low, high] = ends.map(|corner| corner.expected_return);
    let efficient = (0..=200).map(|step| {
        let portfolio = TargetReturn {
            expected_returns: RETURNS.to_vec(),
            covariance_matrix: covariance_matrix.clone(),
            risk_free_rate: RISK_FREE_RATE,
            min_weights: min_weights.clone(),
            max_weights: max_weights.clone(),
            target_return: (low + (high - low) * f64::from(step) / 200.0).clamp(low, high),
        }
        .solve()?;
        Ok((percent(portfolio.volatility), percent(portfolio.expected_return)))
    });
    let slope = tangency.sharpe_ratio.unwrap_or_default();
    let capital_line = [0.0, 1.6 * tangency.volatility]
        .map(|volatility| (percent(volatility), percent(RISK_FREE_RATE + slope * volatility)));
    let asset =
        |i: usize| Mark { name: ASSETS[i], point: (percent(VOLATILITIES[i]), percent(RETURNS[i])) };
    let best = (percent(tangency.volatility), percent(tangency.expected_return));
    let marks: Vec<Mark> =
        (0..5).map(asset).chain([Mark { name: "tangency", point: best }]).collect();
    Chart {
        title: "Efficient frontier, weights from 0 to 60 %",
        x: "volatility (% a year)",
        y: "expected return (% a year)",
        legend: SeriesLabelPosition::UpperLeft,
        lines: &[
            Line {
                name: "efficient frontier",
                points: efficient.collect::<quant_core::Result<_>>()?,
            },
            Line { name: "capital market line", points: capital_line.to_vec() },
        ],
        marks: &marks,
    }
    .save("efficient_frontier")
}

fn percent(value: f64) -> f64 {
    100.0 * value
}

fn print(portfolio: &Portfolio) {
    let weights: String =
        portfolio.weights.iter().map(|weight| format!("{:>8.2}%", percent(*weight))).collect();
    println!(
        "{:>6.3}% {:>9.3}%  {weights}",
        percent(portfolio.expected_return),
        percent(portfolio.volatility),
    );
}

//! Inputs that the benches share: fixed, so that two runs measure the same work.

use quant_core::portfolio::Covariance;
use quant_core::pricing::{
    barrier::{BarrierOption, Direction, Knock},
    black_scholes::{EuropeanOption, OptionType},
};

/// A call near the money with a year to expiry.
#[must_use]
pub fn european_call() -> EuropeanOption {
    EuropeanOption {
        option_type: OptionType::Call,
        spot: 100.0,
        strike: 105.0,
        risk_free_rate: 0.05,
        dividend_yield: 0.02,
        volatility: 0.25,
        time_to_maturity: 1.0,
    }
}

/// Calls and puts, alternating, over many strikes, rates, volatilities and times.
#[must_use]
pub fn european_options(count: usize) -> Vec<EuropeanOption> {
    let types = [OptionType::Call, OptionType::Put].into_iter().cycle();
    let option = |(draws, option_type): (&[f64], OptionType)| EuropeanOption {
        option_type,
        spot: 100.0,
        strike: 60.0 + 100.0 * draws[0],
        risk_free_rate: 0.05 * draws[1],
        dividend_yield: 0.03 * draws[2],
        volatility: 0.1 + 0.5 * draws[3],
        time_to_maturity: 0.1 + 2.0 * draws[4],
    };
    numbers(3, 5 * count).chunks(5).zip(types).map(option).collect()
}

/// A down-and-out call with its barrier between the layers of most trees.
#[must_use]
pub fn down_and_out_call() -> BarrierOption {
    BarrierOption {
        option: european_call(),
        barrier: 85.0,
        direction: Direction::Down,
        knock: Knock::Out,
        rebate: 0.0,
    }
}

/// Returns `count` numbers in [0, 1), the same in every run.
#[must_use]
pub fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed;
    let draw = || {
        // SplitMix64 (Steele, Lea and Flood, 2014): small, and good enough to fill an array.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    };
    std::iter::repeat_with(draw).take(count).collect()
}

/// Returns the covariance of `assets` assets from a few common factors and a specific variance of
/// each.
///
/// # Panics
///
/// Never panics, because there are as many rows as columns.
#[must_use]
pub fn covariance(assets: usize) -> Covariance {
    let factors = 5;
    let loadings = numbers(7, assets * factors);
    let noise = numbers(8, assets);
    let row = |i: usize| &loadings[i * factors..(i + 1) * factors];
    let entry = |i: usize, j: usize| {
        let common: f64 = row(i).iter().zip(row(j)).map(|(a, b)| (a - 0.3) * (b - 0.3)).sum();
        0.04 * common + if i == j { 0.01 + 0.02 * noise[i] } else { 0.0 }
    };
    let rows: Vec<Vec<f64>> =
        (0..assets).map(|i| (0..assets).map(|j| entry(i, j)).collect()).collect();
    Covariance::from_rows(&rows).expect("a square matrix")
}

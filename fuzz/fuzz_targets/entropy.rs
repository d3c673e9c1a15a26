//! Entropies of distributions and of series.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quant_core::entropy::{
    shannon::{explain_shannon_entropy, shannon_entropy},
    transfer::{explain_transfer_entropy, transfer_entropy},
};
use quant_fuzz::{Number, check, numbers};

fuzz_target!(|drawn: (Vec<Number>, Vec<Number>, Number, u8, u16)| {
    let (x, y, base, lag, n_bins) = drawn;
    let (mut x, mut y) = (numbers(&x), numbers(&y));
    check(&shannon_entropy(&x, base.0));
    check(&transfer_entropy(&x, &y, lag.into(), n_bins.into()));
    // As long as each other, and summing to one: what is computed, not only what is refused.
    let length = x.len().min(y.len());
    x.truncate(length);
    y.truncate(length);
    let (lag, n_bins) = (usize::from(lag % 4) + 1, usize::from(n_bins % 64) + 2);
    check(&transfer_entropy(&x, &y, lag, n_bins));
    check(&explain_transfer_entropy(&x, &y, lag, n_bins));
    let sum: f64 = x.iter().map(|value| value.abs()).sum();
    let probabilities: Vec<f64> = x.iter().map(|value| value.abs() / sum).collect();
    check(&shannon_entropy(&probabilities, base.0));
    check(&explain_shannon_entropy(&probabilities, base.0));
});

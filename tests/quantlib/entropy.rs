//! Entropies against mpmath: `tests/golden/generate/entropy.py`.

use quant_core::entropy::shannon::{explain_shannon_entropy, shannon_entropy};
use quant_core::entropy::transfer::{explain_transfer_entropy, transfer_entropy};
use quant_tests::golden::{self, Largest, Row, Statements};

/// The accepted relative error. The errors of the terms neither cancel nor add up.
const SHANNON_TOLERANCE: f64 = 1e-15;

/// The accepted relative error. Zero transfer must be exactly zero, although the sums of c ln c
/// cancel.
const TRANSFER_TOLERANCE: f64 = 2.5e-16;

#[test]
fn shannon_entropies_agree_in_every_base() {
    let mut largest = Largest::default();
    for row in golden::rows("shannon", 270) {
        let found = shannon_entropy(&distribution(&row), row.get("base")).unwrap();
        largest.see(&row, error(found, row.get("entropy")), SHANNON_TOLERANCE, &found);
    }
    println!("largest relative error: {largest}");
}

#[test]
fn transfer_entropies_agree_to_the_last_bit_or_two() {
    let mut largest = Largest::default();
    for row in golden::rows("transfer", 300) {
        let (x, y) = pair(&row);
        let found = transfer_entropy(&x, &y, row.get("lag"), row.get("n_bins")).unwrap();
        let error = error(found, row.get("transfer_entropy"));
        largest.see(&row, error, TRANSFER_TOLERANCE, &found);
    }
    println!("largest relative error: {largest}");
}

#[test]
fn the_stated_error_of_a_shannon_entropy_bounds_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("shannon", 270) {
        let (probabilities, base) = (distribution(&row), row.get("base"));
        let statement = explain_shannon_entropy(&probabilities, base).unwrap().error;
        let found = shannon_entropy(&probabilities, base).unwrap();
        statements.see(&row, &statement, found, row.get("entropy"));
    }
    statements.hold(270);
}

/// The source of each series is independent noise: back, from the target to the source, nothing is
/// transferred.
#[test]
fn the_stated_error_of_a_transfer_entropy_is_no_less_than_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("transfer", 300) {
        let (x, y) = pair(&row);
        let (lag, n_bins) = (row.get("lag"), row.get("n_bins"));
        let statement = explain_transfer_entropy(&x, &y, lag, n_bins).unwrap().error;
        let found = transfer_entropy(&x, &y, lag, n_bins).unwrap();
        let is_noise =
            row.text("x_history").starts_with("coupled ") && row.text("y_history") == "back";
        let expected = if is_noise { 0.0 } else { row.get("transfer_entropy") };
        statements.see(&row, &statement, found, expected);
    }
    statements.hold(300);
}

/// The error relative to the expected value; for an expected zero, to the smallest normal double.
fn error(found: f64, expected: f64) -> f64 {
    let scale = if expected == 0.0 { f64::MIN_POSITIVE } else { expected.abs() };
    (found - expected).abs() / scale
}

/// The probabilities of a row: written out, or in proportion to 1, 2, …, N.
fn distribution(row: &Row) -> Vec<f64> {
    let text = row.text("probabilities");
    let Some(count) = text.strip_prefix("ramp ") else { return row.list(text) };
    let count: u32 = row.parse(count);
    let whole = f64::from(count) * f64::from(count + 1) / 2.0;
    (1..=count).map(|index| f64::from(index) / whole).collect()
}

/// The series of a row: written out, or made by the rule of `golden/generate/entropy.py`.
fn pair(row: &Row) -> (Vec<f64>, Vec<f64>) {
    let (x, y) = (row.text("x_history"), row.text("y_history"));
    let Some(rule) = x.strip_prefix("coupled ") else { return (row.list(x), row.list(y)) };
    let (count, seed) = rule.split_once(' ').expect("a rule has a length and a seed");
    let (source, target) = coupled(row.parse(count), row.parse(seed));
    if y == "forth" { (source, target) } else { (target, source) }
}

fn coupled(count: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut state = seed;
    let mut next = || {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        state as f64
    };
    let (mut x, mut y): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let before = x.last().copied().unwrap_or(0.0);
        x.push(next() / 2_147_483_648.0);
        y.push(0.5 * next() / 2_147_483_648.0 + 0.25 * before);
    }
    (x, y)
}

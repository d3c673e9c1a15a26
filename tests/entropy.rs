//! `quant_core::entropy` against rows of mpmath.

use quant_core::entropy::shannon::shannon_entropy;
use quant_core::entropy::transfer::transfer_entropy;

const SHANNON: &str = include_str!("golden/shannon.csv");
const TRANSFER: &str = include_str!("golden/transfer.csv");

/// Relative. The errors of the terms do not cancel, and neither do they add up.
const SHANNON_TOLERANCE: f64 = 1e-15;

/// Relative, and where there is no transfer at all it must be zero: nothing is lost though the
/// sums of c ln c cancel.
const TRANSFER_TOLERANCE: f64 = 2.5e-16;

#[test]
fn shannon_entropies_agree_in_every_base() {
    let rows = SHANNON.lines().skip(2).map(|row| {
        let fields: Vec<&str> = row.split(',').collect();
        let [probabilities, base, entropy] = fields[..] else { panic!("{row}") };
        let found = shannon_entropy(&distribution(probabilities), number(base));
        (row, found.unwrap(), number(entropy))
    });
    within(SHANNON_TOLERANCE, rows);
}

#[test]
fn transfer_entropies_agree_to_the_last_bit_or_two() {
    let rows = TRANSFER.lines().skip(2).map(|row| {
        let fields: Vec<&str> = row.split(',').collect();
        let [x, y, lag, n_bins, entropy] = fields[..] else { panic!("{row}") };
        let (x, y) = pair(x, y);
        let found = transfer_entropy(&x, &y, lag.parse().unwrap(), n_bins.parse().unwrap());
        (row, found.unwrap(), number(entropy))
    });
    within(TRANSFER_TOLERANCE, rows);
}

/// Asserts the largest relative error of (row, found, expected), and reports it.
fn within<'a>(tolerance: f64, rows: impl Iterator<Item = (&'a str, f64, f64)>) {
    let mut largest = (0.0, String::new());
    for (row, found, expected) in rows {
        let scale = if expected == 0.0 { f64::MIN_POSITIVE } else { expected.abs() };
        let error = (found - expected).abs() / scale;
        if error > largest.0 {
            let end: String =
                row.chars().rev().take(80).collect::<Vec<_>>().into_iter().rev().collect();
            largest = (error, format!("…{end}: found {found:e}"));
        }
    }
    println!("largest relative error: {:e}, {}", largest.0, largest.1);
    assert!(largest.0 <= tolerance, "{largest:?}");
}

fn number(text: &str) -> f64 {
    text.parse().expect("the golden file holds numbers")
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(';').map(number).collect()
}

/// Probabilities that are written out, or in proportion to 1, 2, …, N.
fn distribution(text: &str) -> Vec<f64> {
    let Some(count) = text.strip_prefix("ramp ") else { return numbers(text) };
    let count: u32 = count.parse().expect("a ramp has a length");
    let whole = f64::from(count) * f64::from(count + 1) / 2.0;
    (1..=count).map(|index| f64::from(index) / whole).collect()
}

/// Series that are written out, or made by the rule of `golden/generate/entropy.py`.
fn pair(x: &str, y: &str) -> (Vec<f64>, Vec<f64>) {
    let Some(rule) = x.strip_prefix("coupled ") else { return (numbers(x), numbers(y)) };
    let (count, seed) = rule.split_once(' ').expect("a rule has a length and a seed");
    let (source, target) = coupled(number(count) as usize, number(seed) as u64);
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

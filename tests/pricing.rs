//! Options against mpmath and QuantLib: `tests/golden/generate/pricing.py`.

use quant_core::pricing::barrier::{BarrierOption, Direction, Handling, Knock, Tree};
use quant_core::pricing::black_scholes::{EuropeanOption, OptionType};
use quant_core::pricing::margrabe::ExchangeOption;
use quant_core::pricing::normal;

/// Relative: a few roundings.
const NORMAL_TOLERANCE: f64 = 2e-15;

/// Relative, down to prices of 1e-280.
const CLOSED_FORM_TOLERANCE: f64 = 2e-14;

/// Of the price and the spot: QuantLib subtracts what nearly cancels.
const CONTINUOUS_TOLERANCE: f64 = 1e-14;

/// Of the price and a thousandth of the spot, against the same tree in 50 digits.
const TREE_TOLERANCE: f64 = 1e-13;

/// Of the spot: in QuantLib the probabilities of LR lose digits. It never sees the barrier, which is out of reach.
const QUANTLIB_TREE_TOLERANCE: f64 = 1e-10;

/// The rows of a golden file, taken apart at the commas.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(2).map(|line| line.split(',').collect())
}

fn numbers<const N: usize>(fields: &[&str]) -> [f64; N] {
    let numbers: Vec<f64> = fields.iter().map(|field| field.parse().expect("a number")).collect();
    numbers.try_into().expect("as many numbers as the header names")
}

fn european(fields: &[&str]) -> EuropeanOption {
    let [spot, strike, risk_free_rate, dividend_yield, volatility, time_to_maturity] =
        numbers(&fields[1..7]);
    EuropeanOption {
        option_type: if fields[0] == "call" { OptionType::Call } else { OptionType::Put },
        spot,
        strike,
        risk_free_rate,
        dividend_yield,
        volatility,
        time_to_maturity,
    }
}

/// The option of a row from its type on, and its price.
fn barrier(fields: &[&str]) -> (BarrierOption, f64) {
    let [barrier, rebate, price] = numbers(&fields[9..12]);
    let option = BarrierOption {
        option: european(fields),
        barrier,
        direction: if fields[7] == "down" { Direction::Down } else { Direction::Up },
        knock: if fields[8] == "in" { Knock::In } else { Knock::Out },
        rebate,
    };
    (option, price)
}

fn tree(name: &str) -> Tree {
    match name {
        "CRR" => Tree::Crr,
        "JR" => Tree::Jr,
        "LR" => Tree::Lr,
        "TIAN" => Tree::Tian,
        _ => panic!("no tree is called {name}"),
    }
}

/// The largest error seen, held against a tolerance as it grows.
struct Largest(f64);

impl Largest {
    fn see(
        &mut self,
        found: f64,
        expected: f64,
        scale: f64,
        tolerance: f64,
        what: &dyn std::fmt::Debug,
    ) {
        let difference = (found - expected).abs();
        let error = if difference == 0.0 { 0.0 } else { difference / scale };
        assert!(error <= tolerance, "{what:?}: {found:e}, expected {expected:e}, error {error:e}");
        self.0 = self.0.max(error);
    }
}

#[test]
fn the_normal_distribution_agrees_with_fifty_digits() {
    let mut largest = Largest(0.0);
    for row in rows(include_str!("golden/pricing_normal.csv")) {
        let [x, cdf, pdf, mills_ratio] = numbers(&row);
        for (found, expected) in
            [(normal::cdf(x), cdf), (normal::pdf(x), pdf), (normal::mills_ratio(x), mills_ratio)]
        {
            largest.see(found, expected, expected, NORMAL_TOLERANCE, &x);
        }
    }
    println!("normal distribution: largest relative error {:e}", largest.0);
}

#[test]
fn european_options_agree_with_fifty_digits() {
    let mut largest = Largest(0.0);
    for row in rows(include_str!("golden/pricing_european.csv")) {
        let (option, [price]) = (european(&row), numbers(&row[7..]));
        let found = option.price().expect("a price");
        largest.see(found, price, price, CLOSED_FORM_TOLERANCE, &option);
    }
    println!("european options: largest relative error {:e}", largest.0);
}

#[test]
fn exchange_options_agree_with_fifty_digits() {
    let mut largest = Largest(0.0);
    for row in rows(include_str!("golden/pricing_margrabe.csv")) {
        let [
            spot1,
            spot2,
            dividend_yield1,
            dividend_yield2,
            volatility1,
            volatility2,
            correlation,
            time_to_maturity,
            call,
            put,
        ] = numbers(&row);
        let option = ExchangeOption {
            spot1,
            spot2,
            dividend_yield1,
            dividend_yield2,
            volatility1,
            volatility2,
            correlation,
            time_to_maturity,
        };
        let found = option.prices().expect("prices");
        largest.see(found.call, call, call, CLOSED_FORM_TOLERANCE, &option);
        largest.see(found.put, put, put, CLOSED_FORM_TOLERANCE, &option);
    }
    println!("exchange options: largest relative error {:e}", largest.0);
}

#[test]
fn continuously_watched_barriers_agree_with_quantlib() {
    let mut largest = Largest(0.0);
    for row in rows(include_str!("golden/pricing_barrier_continuous.csv")) {
        let (option, price) = barrier(&row);
        let found = option.price_watched_continuously().expect("a price");
        largest.see(found, price, price + option.option.spot, CONTINUOUS_TOLERANCE, &option);
    }
    println!("continuous barriers: largest error {:e} of the spot", largest.0);
}

#[test]
fn trees_agree_with_the_same_trees_in_fifty_digits() {
    let mut largest = Largest(0.0);
    for row in rows(include_str!("golden/pricing_barrier_tree.csv")) {
        let (option, price) = barrier(&row[2..]);
        let n_steps = row[1].parse().expect("a count");
        let found = option.price_on_tree(tree(row[0]), n_steps, Handling::Plain).expect("a price");
        let scale = price + 1e-3 * option.option.spot;
        largest.see(found, price, scale, TREE_TOLERANCE, &(row[0], n_steps, &option));
    }
    println!("trees: largest error {:e} of price and a thousandth of the spot", largest.0);
}

#[test]
fn trees_agree_with_quantlib() {
    let mut largest = Largest(0.0);
    for row in rows(include_str!("golden/pricing_barrier_tree_quantlib.csv")) {
        let (option, price) = barrier(&row[2..]);
        let n_steps = row[1].parse().expect("a count");
        let found = option.price_on_tree(tree(row[0]), n_steps, Handling::Plain).expect("a price");
        let what = (row[0], n_steps, &option);
        largest.see(found, price, option.option.spot, QUANTLIB_TREE_TOLERANCE, &what);
    }
    println!("trees against QuantLib: largest error {:e} of the spot", largest.0);
}

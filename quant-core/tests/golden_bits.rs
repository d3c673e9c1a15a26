//! The same bits on every machine: each line of `golden_bits.txt` is a computation, its input and
//! the bits of what it answers.
//!
//! A change of bits is a change of the results that people have kept, and belongs in the
//! changelog. To write the table anew: `GOLDEN_BITS=write cargo test -p quant-core --test golden_bits`.

use std::fmt::Debug;

use quant_core::economics::{ces::Ces, cobb_douglas::CobbDouglas};
use quant_core::entropy::{shannon::shannon_entropy, transfer::transfer_entropy};
use quant_core::numerical::derivative::{Function, Scheme, derivative};
use quant_core::pricing::barrier::{BarrierOption, Direction, Handling, Knock, Tree};
use quant_core::pricing::binomial::{self, Exercise};
use quant_core::pricing::black_scholes::{EuropeanOption, OptionType};
use quant_core::pricing::{margrabe::ExchangeOption, normal};

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden_bits.txt");

/// The lines of the table as they are computed now.
#[derive(Default)]
struct Lines(Vec<String>);

impl Lines {
    fn add(&mut self, name: &str, input: impl Debug, values: &[f64]) {
        let bits: Vec<String> =
            values.iter().map(|value| format!("{:016x}", value.to_bits())).collect();
        self.0.push(format!("{name} {input:?}: {}", bits.join(" ")));
    }
}

/// Near the money, on both sides of it; far from it; volatile; certain; with a tiny deviation.
const EUROPEAN: [[f64; 6]; 8] = [
    [100.0, 105.0, 0.05, 0.02, 0.25, 1.0],
    [100.0, 80.0, 0.01, 0.03, 0.4, 0.3],
    [100.0, 100.0, 0.0, 0.0, 0.2, 0.5],
    [100.0, 400.0, 0.03, 0.01, 0.2, 0.5],
    [100.0, 5000.0, 0.03, 0.01, 0.15, 0.5],
    [100.0, 120.0, 0.02, 0.0, 1.5, 8.0],
    [100.0, 90.0, 0.05, 0.02, 0.0, 2.0],
    [100.0, 100.000_001, 0.0, 0.0, 1e-7, 1.0],
];

fn european(option_type: OptionType, numbers: [f64; 6]) -> EuropeanOption {
    let [spot, strike, risk_free_rate, dividend_yield, volatility, time_to_maturity] = numbers;
    EuropeanOption {
        option_type,
        spot,
        strike,
        risk_free_rate,
        dividend_yield,
        volatility,
        time_to_maturity,
    }
}

fn pricing(lines: &mut Lines) {
    for x in [-38.0, -9.5, -1.0, -0.3, 0.0, 0.7, 4.2, 12.0] {
        lines.add("normal", x, &[normal::cdf(x), normal::pdf(x), normal::mills_ratio(x)]);
    }
    for numbers in EUROPEAN {
        for option_type in [OptionType::Call, OptionType::Put] {
            let option = european(option_type, numbers);
            let greeks = option.greeks().expect("greeks");
            let all = [
                greeks.price,
                greeks.delta,
                greeks.gamma,
                greeks.vega,
                greeks.theta,
                greeks.rho,
                greeks.epsilon,
                greeks.dual_delta,
                greeks.dual_gamma,
                greeks.vanna,
                greeks.vomma,
                greeks.charm,
                greeks.veta,
                greeks.vera,
            ];
            lines.add("black_scholes", (option_type, numbers), &all);
        }
    }
    for correlation in [-0.5, 0.3, 1.0 - 1e-12] {
        let option = ExchangeOption {
            spot1: 22.0,
            spot2: 20.0,
            dividend_yield1: 0.06,
            dividend_yield2: 0.04,
            volatility1: 0.2,
            volatility2: 0.2,
            correlation,
            time_to_maturity: 0.5,
        };
        let prices = option.prices().expect("prices");
        lines.add("margrabe", correlation, &[prices.call, prices.put]);
    }
    for tree in [Tree::Crr, Tree::Jr, Tree::Lr, Tree::Tian] {
        let put = european(OptionType::Put, EUROPEAN[0]);
        let american = binomial::price(&put, Exercise::American, tree, 101).expect("a price");
        let barrier = BarrierOption {
            option: put,
            barrier: 88.0,
            direction: Direction::Down,
            knock: Knock::Out,
            rebate: 1.5,
        };
        let on_tree = |handling| barrier.price_on_tree(tree, 101, handling).expect("a price");
        let watched = barrier.price_watched_continuously().expect("a price");
        let found = [american, on_tree(Handling::Plain), on_tree(Handling::Corrected), watched];
        lines.add("trees and barriers", tree, &found);
    }
}

fn economics(lines: &mut Lines) {
    for rho in [-1e300, -3.0, -1e-9, 0.0, 0.5, 1.0 - 1e-9] {
        let consumer = Ces { rho, weights: [0.4, 0.6], income: 100.0, prices: [2.0, 5.0] };
        let found = consumer.optimum().expect("an optimum");
        lines.add("ces", rho, &[found.demand[0], found.demand[1], found.utility]);
    }
    let consumer = CobbDouglas { alpha: 0.3, income: 100.0, prices: [2.0, 7.0] };
    let found = consumer.optimum().expect("an optimum");
    lines.add("cobb_douglas", 0.3, &[found.demand[0], found.demand[1], found.utility]);
}

fn others(lines: &mut Lines) {
    for h in [1e-300, 1e-8, 0.5] {
        for function in [Function::Exp, Function::Log, Function::Sin, Function::Tan, Function::Cube]
        {
            let value = derivative(function, 1.3, h, Scheme::Central).expect("a quotient");
            lines.add("derivative", (function, h), &[value]);
        }
    }
    let probabilities = [0.1, 0.2, 0.3, 0.15, 0.25];
    let found = [2.0, 10.0].map(|base| shannon_entropy(&probabilities, base).expect("an entropy"));
    lines.add("shannon", probabilities, &found);
    // Long enough for every vector register to be filled, and not a multiple of any.
    let ramp: Vec<f64> = (1..=999).map(|k| f64::from(k) / 499_500.0).collect();
    let found = shannon_entropy(&ramp, 2.0).expect("an entropy");
    lines.add("shannon", "1, 2, …, 999 over their sum", &[found]);
    let series = |step: u32| (0..200).map(|i| f64::from(i * step % 37)).collect::<Vec<_>>();
    let found = transfer_entropy(&series(5), &series(11), 1, 8).expect("an entropy");
    lines.add("transfer", "i·5 and i·11 modulo 37", &[found]);
}

#[test]
fn every_machine_computes_the_same_bits() {
    let mut lines = Lines::default();
    pricing(&mut lines);
    economics(&mut lines);
    others(&mut lines);
    let found = lines.0.join("\n") + "\n";
    if std::env::var_os("GOLDEN_BITS").is_some_and(|value| value == "write") {
        std::fs::write(TABLE, &found).expect("the table can be written");
    }
    let expected = std::fs::read_to_string(TABLE).expect("the table can be read");
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(
            found, expected,
            "to accept: GOLDEN_BITS=write cargo test -p quant-core --test golden_bits"
        );
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "lines of the table");
}

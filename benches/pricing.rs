//! Option prices: the hot path of every pricing endpoint.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use quant_benches::{down_and_out_call, european_call, european_options, numbers};
use quant_core::pricing::{
    barrier::Tree,
    batch,
    binomial::{self, Exercise},
    black_scholes::{EuropeanOption, OptionType},
    implied_volatility::QuotedOption,
    margrabe::ExchangeOption,
};

/// One price, which every other pricing bench depends on.
fn black_scholes(c: &mut Criterion) {
    let option = european_call();
    c.bench_function("black_scholes/price", |b| b.iter(|| black_box(&option).price()));
}

/// A chain of strikes from deep in to far out of the money, so that no single branch dominates.
fn chain(c: &mut Criterion) {
    let mut group = c.benchmark_group("black_scholes/chain");
    for count in [100, 10_000] {
        let chain: Vec<EuropeanOption> = numbers(1, count)
            .iter()
            .map(|draw| EuropeanOption { strike: 40.0 + 160.0 * draw, ..european_call() })
            .collect();
        group.throughput(Throughput::Elements(count as u64));
        group.bench_with_input(BenchmarkId::from_parameter(count), &chain, |b, chain| {
            b.iter(|| chain.iter().filter_map(|option| option.price().ok()).sum::<f64>());
        });
    }
}

/// Fourteen numbers at once, to be compared with fourteen prices.
fn greeks(c: &mut Criterion) {
    let option = european_call();
    c.bench_function("black_scholes/greeks", |b| b.iter(|| black_box(&option).greeks()));
}

/// An option near the money, and a thousand quotes from deep in to far out of the money.
fn implied_volatility(c: &mut Criterion) {
    let quote = |option: &EuropeanOption| QuotedOption {
        option_type: option.option_type,
        spot: option.spot,
        strike: option.strike,
        risk_free_rate: option.risk_free_rate,
        dividend_yield: option.dividend_yield,
        price: option.price().expect("a price"),
        time_to_maturity: option.time_to_maturity,
    };
    let quoted = quote(&european_call());
    c.bench_function("implied_volatility/one", |b| {
        b.iter(|| black_box(&quoted).implied_volatility());
    });
    let quotes: Vec<QuotedOption> = european_options(1000).iter().map(quote).collect();
    let mut group = c.benchmark_group("implied_volatility/chain");
    group.throughput(Throughput::Elements(1000));
    group.bench_with_input(BenchmarkId::from_parameter(1000), &quotes, |b, quotes| {
        b.iter(|| quotes.iter().filter_map(|quote| quote.implied_volatility().ok()).sum::<f64>());
    });
}

/// A million options of all kinds on one core.
fn of_many(c: &mut Criterion) {
    let mut group = c.benchmark_group("black_scholes/batch");
    group.sample_size(20);
    for count in [100, 1_000_000] {
        let options = european_options(count);
        let mut prices = vec![0.0; count];
        group.throughput(Throughput::Elements(count as u64));
        group.bench_with_input(BenchmarkId::from_parameter(count), &options, |b, options| {
            b.iter(|| batch::prices(options, &mut prices));
        });
    }
}

/// Growth with the number of steps, for each tree: CRR by reflection, the others by a band.
fn barrier(c: &mut Criterion) {
    let option = down_and_out_call();
    let trees = [
        ("crr", Tree::CoxRossRubinstein),
        ("jr", Tree::JarrowRudd),
        ("lr", Tree::LeisenReimer),
        ("tian", Tree::Tian),
    ];
    for (name, tree) in trees {
        let mut group = c.benchmark_group(format!("barrier/{name}"));
        group.sample_size(20);
        for steps in [100, 1_000, 5_000] {
            group.bench_with_input(BenchmarkId::from_parameter(steps), &steps, |b, &steps| {
                b.iter(|| black_box(&option).price_on_tree(tree, steps));
            });
        }
    }
}

/// Early exercise: only nodes between its boundary and the end of the likely range are visited.
fn american(c: &mut Criterion) {
    let put = EuropeanOption { option_type: OptionType::Put, ..european_call() };
    let trees = [
        ("crr", Tree::CoxRossRubinstein),
        ("jr", Tree::JarrowRudd),
        ("lr", Tree::LeisenReimer),
        ("tian", Tree::Tian),
    ];
    for (name, tree) in trees {
        let mut group = c.benchmark_group(format!("american/{name}"));
        group.sample_size(20);
        for steps in [100, 1_000, 5_000] {
            group.bench_with_input(BenchmarkId::from_parameter(steps), &steps, |b, &steps| {
                b.iter(|| binomial::price(black_box(&put), Exercise::American, tree, steps));
            });
        }
    }
}

/// The barrier monitored on the trading days of a year.
fn discrete(c: &mut Criterion) {
    let option = down_and_out_call();
    c.bench_function("barrier/discrete", |b| {
        b.iter(|| black_box(&option).price_discrete(black_box(252)));
    });
}

/// The closed form of the continuously monitored barrier.
fn continuous(c: &mut Criterion) {
    let option = down_and_out_call();
    c.bench_function("barrier/continuous", |b| b.iter(|| black_box(&option).price_continuous()));
}

/// Both exchange options at once.
fn margrabe(c: &mut Criterion) {
    let option = ExchangeOption {
        spot1: 100.0,
        spot2: 95.0,
        dividend_yield1: 0.02,
        dividend_yield2: 0.01,
        volatility1: 0.3,
        volatility2: 0.2,
        correlation: 0.5,
        time_to_maturity: 1.0,
    };
    c.bench_function("margrabe/prices", |b| b.iter(|| black_box(&option).prices()));
}

criterion_group!(
    benches,
    black_scholes,
    chain,
    greeks,
    implied_volatility,
    of_many,
    barrier,
    american,
    discrete,
    continuous,
    margrabe
);
criterion_main!(benches);

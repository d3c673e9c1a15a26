//! Option prices: the hot path of every pricing endpoint.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use quant_benches::{down_and_out_call, european_call, european_options, numbers};
use quant_core::pricing::{
    Caplet, CurrencyOption, ForwardOption, NormalOption, SpreadOption, Swaption,
    american as american_greeks,
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

/// The faces of the same formula, and Bachelier's: what each adds to `black_scholes/price`.
fn black_family(c: &mut Criterion) {
    let (option_type, time_to_maturity) = (OptionType::Call, 1.0);
    let forward = ForwardOption {
        option_type,
        forward: 100.0,
        strike: 105.0,
        risk_free_rate: 0.05,
        volatility: 0.2,
        time_to_maturity,
    };
    c.bench_function("black76/price", |b| b.iter(|| black_box(&forward).price()));
    c.bench_function("black76/greeks", |b| b.iter(|| black_box(&forward).greeks()));
    c.bench_function("black76/implied", |b| b.iter(|| black_box(&forward).implied_volatility(8.0)));
    let normal = NormalOption {
        option_type,
        forward: 100.0,
        strike: 105.0,
        risk_free_rate: 0.05,
        normal_volatility: 5.0,
        time_to_maturity,
    };
    c.bench_function("bachelier/price", |b| b.iter(|| black_box(&normal).price()));
    c.bench_function("bachelier/greeks", |b| b.iter(|| black_box(&normal).greeks()));
    c.bench_function("bachelier/implied", |b| {
        b.iter(|| black_box(&normal).implied_volatility(5.0));
    });
    let caplet = Caplet {
        option_type,
        forward_rate: 0.05,
        strike: 0.048,
        discount_factor: 0.95,
        volatility: 0.2,
        start_time: 1.0,
        end_time: 1.25,
        notional: 1e6,
    };
    c.bench_function("rate_option/caplet", |b| b.iter(|| black_box(&caplet).value()));
    let swaption = Swaption {
        option_type,
        forward_swap_rate: 0.05,
        strike: 0.048,
        annuity: 4.3,
        volatility: 0.2,
        time_to_expiry: 1.0,
        notional: 1e6,
    };
    c.bench_function("rate_option/swaption", |b| b.iter(|| black_box(&swaption).value()));
    let currency = CurrencyOption {
        option_type,
        spot: 1.56,
        strike: 1.6,
        domestic_rate: 0.06,
        foreign_rate: 0.08,
        volatility: 0.12,
        time_to_expiry: 0.5,
    };
    c.bench_function("garman_kohlhagen/price", |b| b.iter(|| black_box(&currency).price()));
    c.bench_function("garman_kohlhagen/greeks", |b| b.iter(|| black_box(&currency).greeks()));
    let european = european_call();
    c.bench_function("digital/value", |b| b.iter(|| black_box(&european).digital()));
    let spread = SpreadOption {
        option_type,
        forward1: 100.0,
        forward2: 95.0,
        strike: 5.0,
        risk_free_rate: 0.05,
        volatility1: 0.2,
        volatility2: 0.18,
        correlation: 0.7,
        time_to_maturity,
    };
    c.bench_function("kirk/value", |b| b.iter(|| black_box(&spread).value()));
}

/// Greeks and boundary: every node of one tree, and six prices on trees beside it.
fn greeks_on_trees(c: &mut Criterion) {
    let put = EuropeanOption { option_type: OptionType::Put, ..european_call() };
    let mut group = c.benchmark_group("american/evaluate");
    group.sample_size(20);
    for steps in [100, 1_000, 5_000] {
        group.bench_with_input(BenchmarkId::from_parameter(steps), &steps, |b, &steps| {
            b.iter(|| american_greeks::evaluate(black_box(&put), Tree::LeisenReimer, steps));
        });
        let id = BenchmarkId::new("bermudan", steps);
        group.bench_with_input(id, &steps, |b, &steps| {
            let (tree, dates) = (Tree::LeisenReimer, [0.25, 0.5]);
            b.iter(|| american_greeks::evaluate_on_dates(black_box(&put), tree, steps, &dates));
        });
    }
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
    black_family,
    of_many,
    barrier,
    american,
    greeks_on_trees,
    discrete,
    continuous,
    margrabe
);
criterion_main!(benches);

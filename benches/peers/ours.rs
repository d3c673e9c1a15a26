//! This project's side of the comparison, and the two other libraries from crates.io.
//!
//! Each row is one line: `time`, the row, the library, nanoseconds, the result; or `error`, the
//! row, the library, the largest error on the golden rows, its unit.

use std::{
    cell::RefCell,
    env, fs,
    hint::black_box,
    path::{Path, PathBuf},
};

use clarabel::{
    algebra::CscMatrix,
    solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT},
};
use implied_vol::{DefaultSpecialFn, ImpliedBlackVolatility, PriceBlackScholes};
use quant_core::{
    curves::{Curve, Instrument, InstrumentKind, Interpolation},
    economics::{ces::Ces, cobb_douglas::CobbDouglas},
    entropy::{shannon::shannon_entropy, transfer::transfer_entropy},
    instruments::fixed_bond::FixedBond,
    numerical::derivative::{Function, Scheme, derivative},
    portfolio::{Covariance, MinVariance},
    pricing::{
        barrier::{BarrierOption, Direction, Knock},
        batch,
        binomial::{self, Exercise, Tree},
        black_scholes::{EuropeanOption, OptionType},
        implied_volatility::QuotedOption,
        margrabe::ExchangeOption,
    },
    regulatory::capital_ratios::Capital,
    time::{
        NaiveDate,
        calendar::{BusinessDayConvention, Calendar},
        day_count::DayCount,
        schedule::Frequency,
        schedule_rule::Stub,
        tenor::Tenor,
    },
};

mod measure;

use measure::measure;

fn main() {
    let folder = PathBuf::from(env::args().nth(1).expect("the folder of the inputs"));
    let golden = PathBuf::from(env::args().nth(2).expect("the folder of the golden rows"));
    options(&folder);
    trees();
    portfolios(&folder);
    series(&folder);
    dates();
    curves();
    small();
    errors(&golden);
}

fn numbers(folder: &Path, name: &str) -> Vec<f64> {
    let bytes = fs::read(folder.join(name).with_extension("f64")).expect("the inputs are written");
    bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}

fn read_options(folder: &Path, name: &str) -> Vec<EuropeanOption> {
    let rows = numbers(folder, name);
    let option = |row: &[f64; 6]| EuropeanOption {
        option_type: OptionType::Call,
        spot: row[0],
        strike: row[1],
        time_to_maturity: row[2],
        risk_free_rate: row[3],
        dividend_yield: row[4],
        volatility: row[5],
    };
    rows.as_chunks().0.iter().map(option).collect()
}

fn options(folder: &Path) {
    let options = read_options(folder, "options");
    let sum = |total: &f64| *total;
    let each = |price: &dyn Fn(&EuropeanOption) -> f64| options.iter().map(price).sum::<f64>();
    measure("bs_1000", "quant-core", || each(&|option| option.price().expect("valid")), sum);
    measure("bs_1000", "implied-vol", || each(&implied_vol_price), sum);
    let prices: Vec<f64> = options.iter().map(|option| option.price().expect("valid")).collect();
    let quoted: Vec<QuotedOption> =
        options.iter().zip(&prices).map(|(option, price)| quoted(option, *price)).collect();
    let all = || quoted.iter().map(|o| o.implied_volatility().expect("valid")).sum::<f64>();
    measure("implied_volatility_1000", "quant-core", all, sum);
    let all = || quoted.iter().map(implied_vol_volatility).sum::<f64>();
    measure("implied_volatility_1000", "implied-vol", all, sum);
    let greeks = |option: &EuropeanOption| option.greeks().expect("valid").gamma;
    measure("greeks_1000", "quant-core", || each(&greeks), sum);
    let chain = read_options(folder, "chain");
    let prices = RefCell::new(vec![0.0; chain.len()]);
    let work = || batch::prices(&chain, &mut prices.borrow_mut()).expect("valid");
    measure("bs_batch", "quant-core", work, |()| prices.borrow().iter().sum());
}

fn quoted(option: &EuropeanOption, price: f64) -> QuotedOption {
    QuotedOption {
        option_type: option.option_type,
        spot: option.spot,
        strike: option.strike,
        risk_free_rate: option.risk_free_rate,
        dividend_yield: option.dividend_yield,
        price,
        time_to_maturity: option.time_to_maturity,
    }
}

fn implied_vol_volatility(option: &QuotedOption) -> f64 {
    let growth = ((option.risk_free_rate - option.dividend_yield) * option.time_to_maturity).exp();
    let discount = (-option.risk_free_rate * option.time_to_maturity).exp();
    ImpliedBlackVolatility::builder()
        .option_price(option.price / discount)
        .forward(option.spot * growth)
        .strike(option.strike)
        .expiry(option.time_to_maturity)
        .is_call(option.option_type == OptionType::Call)
        .build()
        .and_then(|option| option.calculate::<DefaultSpecialFn>())
        .unwrap_or(f64::NAN)
}

fn implied_vol_price(option: &EuropeanOption) -> f64 {
    let growth = ((option.risk_free_rate - option.dividend_yield) * option.time_to_maturity).exp();
    let discount = (-option.risk_free_rate * option.time_to_maturity).exp();
    let undiscounted = PriceBlackScholes::builder()
        .forward(option.spot * growth)
        .strike(option.strike)
        .volatility(option.volatility)
        .expiry(option.time_to_maturity)
        .is_call(option.option_type == OptionType::Call)
        .build();
    undiscounted.map_or(f64::NAN, |price| discount * price.calculate::<DefaultSpecialFn>())
}

fn trees() {
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
    let trees = [
        ("crr", Tree::CoxRossRubinstein),
        ("jr", Tree::JarrowRudd),
        ("lr", Tree::LeisenReimer),
        ("tian", Tree::Tian),
    ];
    let price = |tree, n| option.price_on_tree(tree, n).expect("valid");
    for (name, tree) in trees {
        for n in [100, 1_000, 5_000] {
            let work = || price(tree, n);
            measure(&format!("barrier_{name}_{n}"), "quant-core", work, |price| *price);
        }
    }
    let put = EuropeanOption { option_type: OptionType::Put, ..option.option };
    for (name, tree) in trees {
        for n in [100, 1_000, 5_000] {
            let work = || binomial::price(&put, Exercise::American, tree, n).expect("valid");
            measure(&format!("american_{name}_{n}"), "quant-core", work, |price| *price);
        }
    }
    let work = || price(Tree::CoxRossRubinstein, 1_000_000);
    measure("barrier_crr_1000000", "quant-core", work, |price| *price);
    let work = || option.price_continuous().expect("valid");
    measure("barrier_continuous", "quant-core", work, |price| *price);
}

fn portfolios(folder: &Path) {
    for n in [10, 50, 200, 500] {
        let covariance: Vec<Vec<f64>> =
            numbers(folder, &format!("covariance_{n}")).chunks(n).map(<[f64]>::to_vec).collect();
        let problem = MinVariance {
            covariance_matrix: Covariance::from_rows(&covariance).expect("square"),
            min_weights: Some(vec![0.0; n]),
            max_weights: Some(vec![1.0; n]),
        };
        let row = format!("min_variance_{n}");
        let ours = || problem.solve().expect("feasible").weights;
        let variance = |weights: &Vec<f64>| quadratic(&covariance, weights);
        measure(&row, "quant-core", ours, variance);
        print_gap(&row, "quant-core", &covariance, &ours());
        let theirs = || clarabel(&covariance);
        measure(&row, "Clarabel (Rust)", theirs, variance);
        print_gap(&row, "Clarabel (Rust)", &covariance, &theirs());
    }
}

fn quadratic(covariance: &[Vec<f64>], weights: &[f64]) -> f64 {
    covariance.iter().zip(weights).map(|(row, weight)| weight * dot(row, weights)).sum()
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// Prints the distance of the weights from the first-order conditions, relative to the variance,
/// and from their bounds.
fn print_gap(row: &str, who: &str, covariance: &[Vec<f64>], weights: &[f64]) {
    let slopes: Vec<f64> = covariance.iter().map(|row| dot(row, weights)).collect();
    let least = slopes.iter().copied().fold(f64::INFINITY, f64::min);
    let gap = (dot(&slopes, weights) - least) / dot(&slopes, weights);
    let outside = weights.iter().map(|weight| -weight).fold(0.0, f64::max);
    println!("error\t{row}\t{who}\t{}\tfirst-order gap", gap.abs());
    println!("error\t{row}\t{who}\t{outside}\toutside bounds");
}

fn clarabel(covariance: &[Vec<f64>]) -> Vec<f64> {
    let n = covariance.len();
    let upper = covariance.iter().enumerate().map(|(row, values)| {
        let mut values = values.clone();
        values[..row].fill(0.0);
        values
    });
    let quadratic = CscMatrix::from(&upper.collect::<Vec<_>>());
    let rows = std::iter::once(vec![1.0; n]);
    let identity = |sign: f64| {
        (0..n).map(move |row| (0..n).map(|column| if row == column { sign } else { 0.0 }).collect())
    };
    let constraints = rows.chain(identity(-1.0)).chain(identity(1.0)).collect::<Vec<Vec<f64>>>();
    let constraints = CscMatrix::from(&constraints);
    let bounds: Vec<f64> = [1.0].into_iter().chain(vec![0.0; n]).chain(vec![1.0; n]).collect();
    let cones = [SupportedConeT::ZeroConeT(1), SupportedConeT::NonnegativeConeT(2 * n)];
    let settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
    let linear = vec![0.0; n];
    let solver = DefaultSolver::new(&quadratic, &linear, &constraints, &bounds, &cones, settings);
    let mut solver = solver.expect("a well-formed problem");
    solver.solve();
    solver.solution.x
}

fn series(folder: &Path) {
    let (x, y) = (numbers(folder, "x"), numbers(folder, "y"));
    for bins in [8, 128] {
        let work = || transfer_entropy(&x, &y, 1, bins).expect("valid");
        measure(&format!("transfer_entropy_{bins}"), "quant-core", work, |entropy| *entropy);
    }
    let probabilities = numbers(folder, "probabilities");
    let work = || shannon_entropy(&probabilities, 2.0).expect("valid");
    measure("shannon", "quant-core", work, |entropy| *entropy);
}

fn day(year: i32, month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).expect("a date")
}

fn dates() {
    let bond = FixedBond {
        issue_date: day(2020, 1, 15),
        maturity_date: day(2050, 1, 15),
        coupon_rate: 0.05,
        face_value: 100.0,
        frequency: Frequency::Semiannual,
        day_count: DayCount::Thirty360BondBasis,
        end_of_month: false, stub: Stub::ShortFront,
        calendar: Calendar::Target,
        convention: BusinessDayConvention::Following,
    };
    let work = || bond.cash_flows(None).expect("valid");
    let paid = |flows: &quant_core::instruments::fixed_bond::CashFlows| {
        flows.cashflows.iter().map(|flow| flow.amount).sum()
    };
    measure("bond_flows", "quant-core", work, paid);
    let tenor: Tenor = "1Y6M".parse().expect("a tenor");
    let start = black_box(day(2024, 8, 31));
    let number = |date: &NaiveDate| f64::from(chrono_days(*date));
    measure("tenor", "quant-core", || black_box(&tenor).add_to(start).expect("valid"), number);
}

fn chrono_days(date: NaiveDate) -> i32 {
    i32::try_from(date.signed_duration_since(day(1970, 1, 1)).num_days()).expect("a near date")
}

fn curves() {
    let quotes: Vec<Instrument> = [("1M", 0.0388), ("3M", 0.0385), ("6M", 0.0375), ("1Y", 0.0352)]
        .map(|quote| (InstrumentKind::Deposit, quote))
        .into_iter()
        .chain(
            [
                ("2Y", 0.0322),
                ("3Y", 0.0310),
                ("4Y", 0.0306),
                ("5Y", 0.0303),
                ("7Y", 0.0306),
                ("10Y", 0.0315),
                ("12Y", 0.0321),
                ("15Y", 0.0327),
                ("20Y", 0.0328),
                ("30Y", 0.0312),
            ]
            .map(|quote| (InstrumentKind::Swap, quote)),
        )
        .map(|(kind, (tenor, rate))| Instrument {
            kind,
            tenor: tenor.parse().expect("a tenor"),
            rate,
            frequency: Frequency::Annual,
            conventions: None,
        })
        .collect();
    let kinds = [
        ("log_linear", Interpolation::LogLinear),
        ("linear", Interpolation::Linear),
        ("cubic", Interpolation::Cubic),
        ("monotone_convex", Interpolation::MonotoneConvex),
    ];
    for (name, interpolation) in kinds {
        let work = || Curve::bootstrap(day(2026, 1, 30), &quotes, interpolation).expect("quotes");
        let last = |curve: &Curve| curve.at(30.0).expect("on the curve").discount_factor;
        measure(&format!("bootstrap_{name}"), "quant-core", work, last);
    }
}

fn small() {
    let exchange = ExchangeOption {
        spot1: 100.0,
        spot2: 95.0,
        dividend_yield1: 0.02,
        dividend_yield2: 0.01,
        volatility1: 0.3,
        volatility2: 0.2,
        correlation: 0.5,
        time_to_maturity: 1.0,
    };
    measure("margrabe", "quant-core", || black_box(&exchange).prices().expect("valid"), |p| p.call);
    let ces = Ces { rho: 0.5, weights: [0.4, 0.6], income: 100.0, prices: [2.0, 3.0] };
    measure("ces", "quant-core", || black_box(&ces).optimum().expect("valid"), |o| o.utility);
    let extreme = Ces { rho: -1e6, ..ces };
    let optimum = || black_box(&extreme).optimum().expect("valid");
    measure("ces_extreme", "quant-core", optimum, |o| o.utility);
    let cobb_douglas = CobbDouglas { alpha: 0.3, income: 100.0, prices: [2.0, 3.0] };
    let optimum = || black_box(&cobb_douglas).optimum().expect("valid");
    measure("cobb_douglas", "quant-core", optimum, |o| o.utility);
    let quotient =
        || derivative(black_box(Function::Exp), 1.0, 1e-8, Scheme::Central).expect("valid");
    measure("derivative", "quant-core", quotient, |value| *value);
}

/// Returns the fields of each row of a golden file.
fn golden(folder: &Path, name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.join(name).with_extension("csv")).expect("golden rows");
    let fields = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().skip(2).map(fields).collect()
}

fn number(text: &str) -> f64 {
    text.parse().expect("a number")
}

fn largest(row: &str, who: &str, errors: impl Iterator<Item = f64>, unit: &str) {
    println!("error\t{row}\t{who}\t{:e}\t{unit}", errors.fold(0.0, f64::max));
}

/// Returns the relative error; NaN counts as an infinite error.
fn relative(found: f64, expected: f64) -> f64 {
    let error = if expected == 0.0 { found.abs() } else { (found / expected - 1.0).abs() };
    if error.is_nan() { f64::INFINITY } else { error }
}

fn errors(folder: &Path) {
    let european: Vec<(EuropeanOption, f64)> = golden(folder, "pricing_european")
        .iter()
        .map(|row| {
            let option = EuropeanOption {
                option_type: if row[0] == "call" { OptionType::Call } else { OptionType::Put },
                spot: number(&row[1]),
                strike: number(&row[2]),
                risk_free_rate: number(&row[3]),
                dividend_yield: number(&row[4]),
                volatility: number(&row[5]),
                time_to_maturity: number(&row[6]),
            };
            (option, number(&row[7]))
        })
        .collect();
    let ours = european.iter().map(|(option, price)| {
        option.price().map_or(f64::INFINITY, |found| relative(found, *price))
    });
    largest("bs_1000", "quant-core", ours, "relative");
    let theirs = european.iter().map(|(option, price)| relative(implied_vol_price(option), *price));
    largest("bs_1000", "implied-vol", theirs, "relative");

    let implied: Vec<(QuotedOption, f64, f64)> = golden(folder, "implied_volatility")
        .iter()
        .map(|row| {
            let option = QuotedOption {
                option_type: if row[0] == "call" { OptionType::Call } else { OptionType::Put },
                spot: number(&row[1]),
                strike: number(&row[2]),
                risk_free_rate: number(&row[3]),
                dividend_yield: number(&row[4]),
                price: number(&row[5]),
                time_to_maturity: number(&row[6]),
            };
            (option, number(&row[7]), f64::EPSILON * number(&row[8]).max(1.0))
        })
        .collect();
    let ours = implied.iter().map(|(option, volatility, bit)| {
        option.implied_volatility().map_or(f64::INFINITY, |found| relative(found, *volatility))
            / bit
    });
    largest("implied_volatility_1000", "quant-core", ours, "bits of the price's");
    let theirs = implied.iter().map(|(option, volatility, bit)| {
        relative(implied_vol_volatility(option), *volatility) / bit
    });
    largest("implied_volatility_1000", "implied-vol", theirs, "bits of the price's");

    let exchange = golden(folder, "pricing_margrabe");
    let ours = exchange.iter().flat_map(|row| {
        let option = ExchangeOption {
            spot1: number(&row[0]),
            spot2: number(&row[1]),
            dividend_yield1: number(&row[2]),
            dividend_yield2: number(&row[3]),
            volatility1: number(&row[4]),
            volatility2: number(&row[5]),
            correlation: number(&row[6]),
            time_to_maturity: number(&row[7]),
        };
        let prices = option.prices().expect("valid");
        [relative(prices.call, number(&row[8])), relative(prices.put, number(&row[9]))]
    });
    largest("margrabe", "quant-core", ours, "relative");

    let ces = golden(folder, "ces");
    let ours = ces.iter().map(|row| {
        let row: Vec<f64> = row.iter().map(|field| number(field)).collect();
        let problem = Ces {
            rho: row[0],
            weights: [row[1], row[2]],
            income: row[3],
            prices: [row[4], row[5]],
        };
        problem.optimum().map_or(f64::INFINITY, |found| relative(found.utility, row[8]))
    });
    largest("ces", "quant-core", ours, "relative");

    let rows = golden(folder, "capital_ratios");
    let misjudged = rows.iter().filter(|row| {
        let capital = number(&row[0]);
        let given = Capital {
            cet1_capital: capital,
            tier1_capital: capital,
            total_capital: capital,
            risk_weighted_assets: number(&row[1]),
            total_exposure: Some(number(&row[2])),
        };
        given.ratios().map_or(true, |found| found.cet1_adequate != (row[5] == "1"))
    });
    println!("error\tcapital_ratios\tquant-core\t{}\tmisjudged", misjudged.count());
}

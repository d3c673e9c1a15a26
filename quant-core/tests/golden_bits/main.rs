//! The same bits on every machine: each line of `golden_bits.txt` is a computation, its input and
//! the bits of what it answers.
//!
//! A change of bits is a change of the results that people have kept, and belongs in the changelog
//! with a raised [`NUMERIC_VERSION`](quant_core::NUMERIC_VERSION), to which [`versions`] holds the
//! table. To write the table anew: `GOLDEN_BITS=write cargo test -p quant-core --test golden_bits`.

mod analysis;
mod bonds_and_time_value;
mod curve_readings;
mod lines;
mod portfolio_risk;
mod risk;
mod scheduling;
mod versions;

use quant_core::curves::{
    Curve, CurveType, Instrument, InstrumentKind, Interpolation, NelsonSiegelSvensson,
};
use quant_core::economics::{ces::Ces, cobb_douglas::CobbDouglas};
use quant_core::entropy::{shannon_entropy, transfer_entropies, transfer_entropy};
use quant_core::instruments::bond_yield::YieldConvention;
use quant_core::instruments::fixed_bond::FixedBond;
use quant_core::instruments::treasury_bill::{Quote, TreasuryBill};
use quant_core::numerical::{Function, Scheme, analytic_derivative, derivative};
use quant_core::portfolio::{Covariance, EfficientFrontier, MaxSharpe, MinVariance, TargetReturn};
use quant_core::pricing::barrier::{BarrierOption, Direction, Knock, Tree};
use quant_core::pricing::binomial::{self, Exercise};
use quant_core::pricing::black_scholes::{EuropeanOption, OptionType};
use quant_core::pricing::implied_volatility::QuotedOption;
use quant_core::pricing::{
    Caplet, CurrencyOption, ForwardGreeks, ForwardOption, NormalOption, SpreadOption, Swaption,
    american,
};
use quant_core::pricing::{margrabe::ExchangeOption, normal};
use quant_core::regulatory::capital_ratios::Capital;
use quant_core::time::calendar::{BusinessDayConvention, Calendar};
use quant_core::time::day_count::{DayCount, Reference};
use quant_core::time::schedule::Frequency;
use quant_core::time::schedule_rule::Stub;

mod swaps;

use lines::{Lines, day};

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden_bits.txt");

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
    for x in [-37.5, -9.5, -1.0, -0.3, 0.0, 0.7, 4.2, 12.0] {
        let values = [normal::probability(x), normal::density(x), normal::mills_ratio(x)];
        lines.add("normal", x, &values.map(|value| value.expect("a number")));
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
    // The edges, and each of the ways that the two first guesses and the steps take.
    for (strike, price) in [
        (105.0, 9.5),
        (90.0, 11.0),
        (100.0, 1e-6),
        (100.0, 60.0),
        (130.0, 1e-3),
        (400.0, 1e-30),
        (400.0, 20.0),
        (400.0, 99.0),
    ] {
        let option = QuotedOption {
            option_type: OptionType::Call,
            spot: 100.0,
            strike,
            risk_free_rate: 0.01,
            dividend_yield: 0.01,
            price,
            time_to_maturity: 0.75,
        };
        let found = option.implied_volatility().expect("a volatility");
        lines.add("implied volatility", (strike, price), &[found]);
    }
    black_family(lines);
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
        let deltas = option.deltas().expect("deltas");
        let values = [deltas.call1, deltas.call2, deltas.put1, deltas.put2, deltas.volatility];
        lines.add("margrabe deltas", correlation, &values);
    }
    for tree in [Tree::CoxRossRubinstein, Tree::JarrowRudd, Tree::LeisenReimer, Tree::Tian] {
        let put = european(OptionType::Put, EUROPEAN[0]);
        let american = binomial::price(&put, Exercise::American, tree, 101).expect("a price");
        let barrier = BarrierOption {
            option: put,
            barrier: 88.0,
            direction: Direction::Down,
            knock: Knock::Out,
            rebate: 1.5,
        };
        let on_tree = barrier.price_on_tree(tree, 101).expect("a price");
        let continuous = barrier.price_continuous().expect("a price");
        lines.add("trees and barriers", tree, &[american, on_tree, continuous]);
    }
    let call = BarrierOption {
        option: european(OptionType::Call, EUROPEAN[0]),
        barrier: 130.0,
        direction: Direction::Up,
        knock: Knock::Out,
        rebate: 0.0,
    };
    for observations in [1, 12, 252] {
        let found = call.price_discrete(observations).expect("a price");
        lines.add("barrier monitored on dates", observations, &[found]);
    }
}

/// Options on forwards, rates and currencies, and American Greeks.
fn black_family(lines: &mut Lines) {
    let of = |greeks: ForwardGreeks| {
        [
            greeks.price,
            greeks.delta,
            greeks.gamma,
            greeks.vega,
            greeks.theta,
            greeks.rho,
            greeks.dual_delta,
            greeks.dual_gamma,
            greeks.vanna,
            greeks.vomma,
            greeks.charm,
            greeks.veta,
            greeks.vera,
        ]
    };
    for [forward, strike, volatility] in [[100.0, 105.0, 0.2], [0.03, 0.2, 0.3], [50.0, 50.0, 0.8]]
    {
        let (option_type, risk_free_rate, time_to_maturity) = (OptionType::Put, 0.05, 1.5);
        let option = ForwardOption {
            option_type,
            forward,
            strike,
            risk_free_rate,
            volatility,
            time_to_maturity,
        };
        lines.add("black76", (forward, strike), &of(option.greeks().expect("greeks")));
    }
    // Near the strike, far from it on both sides, and at it.
    for [forward, strike, price] in
        [[100.0, 105.0, 5.0], [0.01, 0.12, 1e-12], [3.0, -1.0, 4.5], [-0.01, -0.01, 0.002]]
    {
        let (option_type, risk_free_rate, time_to_maturity) = (OptionType::Call, 0.05, 1.5);
        let mut option = NormalOption {
            option_type,
            forward,
            strike,
            risk_free_rate,
            normal_volatility: 0.0,
            time_to_maturity,
        };
        option.normal_volatility = option.implied_volatility(price).expect("a volatility");
        let mut values = of(option.greeks().expect("greeks")).to_vec();
        values.push(option.normal_volatility);
        lines.add("bachelier", (forward, strike, price), &values);
    }
    for option_type in [OptionType::Call, OptionType::Put] {
        let (strike, volatility) = (0.048, 0.2);
        let caplet = Caplet {
            option_type,
            forward_rate: 0.05,
            strike,
            discount_factor: 0.95,
            volatility,
            start_time: 1.0,
            end_time: 1.25,
            notional: 1e6,
        };
        let swaption = Swaption {
            option_type,
            forward_swap_rate: 0.05,
            strike,
            annuity: 4.5,
            volatility,
            time_to_expiry: 1.0,
            notional: 1e6,
        };
        let [caplet, swaption] =
            [caplet.value(), swaption.value()].map(|value| value.expect("a value"));
        for (name, value) in [("caplet", caplet), ("swaption", swaption)] {
            let vega = value.greeks.expect("greeks").vega;
            let values = [value.price, value.time_value, value.normal_volatility, vega];
            lines.add(name, option_type, &values);
        }
        let currency = CurrencyOption {
            option_type,
            spot: 1.56,
            strike: 1.6,
            domestic_rate: 0.06,
            foreign_rate: 0.08,
            volatility: 0.12,
            time_to_expiry: 0.5,
        };
        let found = currency.greeks().expect("greeks");
        let forward = currency.forward().expect("a forward");
        let values =
            [found.greeks.price, forward, found.forward_delta, found.premium_adjusted_delta];
        lines.add("garman_kohlhagen", option_type, &values);
    }
    for &tree in Tree::ALL {
        let put = european(OptionType::Put, EUROPEAN[0]);
        let found = american::evaluate(&put, tree, 101).expect("a price");
        let greeks = found.greeks.expect("greeks");
        let first = found.boundary.first().expect("a boundary");
        let values = [
            found.price,
            found.european_price,
            greeks.delta,
            greeks.gamma,
            greeks.theta,
            greeks.vega,
            greeks.rho,
            greeks.epsilon,
            first.time,
            first.spot,
        ];
        lines.add("american", tree, &values);
        let bermudan = american::evaluate_on_dates(&put, tree, 101, &[0.25, 0.5]).expect("a price");
        lines.add("bermudan", tree, &[bermudan.price, bermudan.greeks.expect("greeks").vega]);
    }
    for numbers in EUROPEAN {
        let found = european(OptionType::Call, numbers).digital().expect("a value");
        let values = [
            found.cash_or_nothing,
            found.asset_or_nothing,
            found.delta,
            found.gamma,
            found.vega,
            found.theta,
            found.rho,
            found.epsilon,
        ];
        lines.add("digital", numbers, &values);
    }
    for strike in [-5.0, 0.0, 20.0] {
        let spread = SpreadOption {
            option_type: OptionType::Call,
            forward1: 100.0,
            forward2: 95.0,
            strike,
            risk_free_rate: 0.05,
            volatility1: 0.2,
            volatility2: 0.18,
            correlation: 0.7,
            time_to_maturity: 1.0,
        };
        let found = spread.value().expect("a value");
        lines.add("kirk", strike, &[found.price, found.spread_volatility, found.exact_price]);
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
    for &function in Function::ALL {
        let value = analytic_derivative(function, 1.3).expect("a number").expect("a derivative");
        lines.add("analytic derivative", function, &[value]);
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
    let found = transfer_entropies(&series(5), &series(11), 2, 6).expect("entropies");
    lines.add("transfer both ways", "i·5 and i·11 modulo 37", &[found.forward, found.reverse]);
}

fn portfolios(lines: &mut Lines) {
    let covariance_matrix =
        Covariance::from([[0.04, 0.006, -0.002], [0.006, 0.01, 0.001], [-0.002, 0.001, 0.0225]]);
    let expected_returns = vec![0.09, 0.05, 0.07];
    let (risk_free_rate, min_weights, max_weights) = (0.02, Some(vec![0.0; 3]), Some(vec![0.6; 3]));
    let problem = MinVariance {
        covariance_matrix: covariance_matrix.clone(),
        min_weights: min_weights.clone(),
        max_weights: max_weights.clone(),
    };
    let target = TargetReturn {
        expected_returns: expected_returns.clone(),
        covariance_matrix: covariance_matrix.clone(),
        risk_free_rate,
        min_weights: min_weights.clone(),
        max_weights: max_weights.clone(),
        target_return: 0.075,
    };
    let sharpe = MaxSharpe {
        expected_returns: expected_returns.clone(),
        covariance_matrix: covariance_matrix.clone(),
        risk_free_rate,
        min_weights: min_weights.clone(),
        max_weights: max_weights.clone(),
    };
    let frontier = EfficientFrontier {
        expected_returns: expected_returns.clone(),
        covariance_matrix: covariance_matrix.clone(),
        risk_free_rate,
        min_weights: min_weights.clone(),
        max_weights: max_weights.clone(),
    };
    let least = problem.solve().and_then(|least| least.with_returns(&expected_returns, 0.02));
    let mut found = vec![
        ("minimum variance", least.expect("a portfolio")),
        ("target return", target.solve().expect("a portfolio")),
        ("maximum Sharpe ratio", sharpe.solve().expect("a portfolio")),
    ];
    let corners = frontier.solve().expect("a frontier").corners;
    found.extend(corners.into_iter().map(|corner| ("corner", corner)));
    for (name, portfolio) in found {
        let mut values = portfolio.weights;
        values.extend([portfolio.expected_return, portfolio.volatility]);
        values.extend(portfolio.sharpe_ratio);
        lines.add(name, "three assets", &values);
    }
}

const DAY_COUNTS: [DayCount; 4] =
    [DayCount::ActActIcma, DayCount::ActActIsda, DayCount::Thirty360BondBasis, DayCount::Act365];

fn bonds(lines: &mut Lines) {
    for day_count in DAY_COUNTS {
        let bond = FixedBond {
            issue_date: day(2021, 8, 31),
            maturity_date: day(2033, 2, 28),
            coupon_rate: 0.0375,
            face_value: 100.0,
            frequency: Frequency::Semiannual,
            day_count,
            end_of_month: true,
            stub: Stub::ShortFront,
            calendar: Calendar::Target,
            convention: BusinessDayConvention::ModifiedFollowing,
        };
        let settled = day(2026, 11, 20);
        let flows = bond.cash_flows(Some(settled)).expect("flows").cashflows;
        let amounts: Vec<f64> = flows.iter().map(|flow| flow.amount).collect();
        lines.add("cash flows", day_count, &amounts);
        for convention in [YieldConvention::Street, YieldConvention::Treasury] {
            let found = bond.measures(settled, 0.041, convention).expect("measures");
            let implied = bond.yield_to_maturity(settled, found.clean_price, convention);
            let values = [
                found.clean_price,
                found.dirty_price,
                found.accrued_interest,
                found.macaulay_duration,
                found.modified_duration,
                found.convexity,
                found.dv01,
                implied.expect("a yield"),
            ];
            lines.add("bond", (day_count, convention), &values);
        }
    }
    for quote in
        [Quote::DiscountRate(0.0425), Quote::Price(97.123), Quote::BondEquivalentYield(0.0437)]
    {
        let bill = TreasuryBill {
            settlement_date: day(2026, 1, 22),
            maturity_date: day(2026, 12, 31),
            face_value: 100.0,
            quote,
        };
        let found = bill.value().expect("a value");
        let values = [
            found.price,
            found.bond_equivalent_yield,
            found.discount_rate,
            found.money_market_yield,
            found.discount_amount,
        ];
        lines.add("treasury bill", quote, &values);
    }
}

fn curves(lines: &mut Lines) {
    let today = day(2026, 1, 30);
    let quotes: Vec<Instrument> = [
        (InstrumentKind::Deposit, "3M", 0.0385),
        (InstrumentKind::Deposit, "1Y", 0.0352),
        (InstrumentKind::Swap, "2Y", 0.0322),
        (InstrumentKind::Swap, "5Y", 0.0303),
        (InstrumentKind::Swap, "10Y", 0.0315),
        (InstrumentKind::Swap, "30Y", 0.0312),
    ]
    .map(|(kind, tenor, rate)| Instrument {
        kind,
        tenor: tenor.parse().expect("a tenor"),
        rate,
        frequency: Frequency::Annual,
        conventions: None,
    })
    .into();
    let mut fitted = None;
    for interpolation in [
        Interpolation::Linear,
        Interpolation::LogLinear,
        Interpolation::Cubic,
        Interpolation::MonotoneConvex,
    ] {
        let curve = Curve::bootstrap(today, &quotes, interpolation).expect("a curve");
        let values: Vec<f64> = [0.1, 0.7, 1.5, 4.2, 7.5, 22.0]
            .iter()
            .flat_map(|&tenor| {
                let point = curve.at(tenor).expect("a point");
                [point.discount_factor, point.zero_rate, point.instantaneous_forward_rate]
            })
            .collect();
        lines.add("bootstrap", interpolation, &values);
        let (tenors, rates): (Vec<f64>, Vec<f64>) =
            curve.pillars().iter().map(|pillar| (pillar.tenor, pillar.zero_rate)).unzip();
        let values = Curve::from_values(today, &tenors, &rates, CurveType::Zero, interpolation);
        let period = values.expect("a curve").between(0.4, 6.3).expect("a period");
        lines.add(
            "forward",
            interpolation,
            &[period.simple_forward_rate, period.continuous_forward_rate],
        );
        fitted = Some(NelsonSiegelSvensson::fit(&tenors, &rates).expect("a fit"));
    }
    let curve = fitted.expect("the last of four");
    let point = curve.at(8.0).expect("a point");
    let values = [
        curve.level,
        curve.slope,
        curve.curvature,
        curve.second_curvature,
        curve.decay_time,
        curve.second_decay_time,
        point.zero_rate,
        point.instantaneous_forward_rate,
        point.discount_factor,
    ];
    lines.add("nelson_siegel_svensson", "six rates", &values);
}

fn dates_and_ratios(lines: &mut Lines) {
    let (start, end) = (day(2024, 1, 31), day(2026, 11, 20));
    let reference = Reference {
        period_start: start,
        period_end: day(2027, 1, 31),
        frequency: Frequency::Annual,
        maturity_date: day(2030, 1, 31),
        calendar: Calendar::Target,
    };
    for day_count in [
        DayCount::Thirty360BondBasis,
        DayCount::ThirtyE360,
        DayCount::ThirtyE360Isda,
        DayCount::Act360,
        DayCount::Act365,
        DayCount::ActActIcma,
        DayCount::ActActIsda,
        DayCount::Bus252,
    ] {
        let found = day_count.year_fraction(start, end, &reference).expect("a fraction");
        lines.add("year fraction", day_count, &[found]);
    }
    let capital = Capital {
        cet1_capital: 4.5,
        tier1_capital: 6.1,
        total_capital: 8.3,
        risk_weighted_assets: 97.3,
        total_exposure: Some(201.7),
    };
    let found = capital.ratios().expect("ratios");
    let mut values = vec![found.cet1_ratio, found.tier1_ratio, found.total_capital_ratio];
    values.extend(found.leverage_ratio);
    lines.add("capital ratios", 97.3, &values);
    let found = capital.surplus().expect("a surplus");
    let mut values = vec![found.cet1, found.tier1, found.total];
    values.extend(found.leverage);
    lines.add("capital surplus", 97.3, &values);
}

#[test]
fn every_machine_computes_the_same_bits() {
    let mut lines = Lines::default();
    pricing(&mut lines);
    economics(&mut lines);
    others(&mut lines);
    portfolios(&mut lines);
    bonds(&mut lines);
    curves(&mut lines);
    dates_and_ratios(&mut lines);
    scheduling::lines(&mut lines);
    analysis::lines(&mut lines);
    bonds_and_time_value::lines(&mut lines);
    swaps::lines(&mut lines);
    portfolio_risk::lines(&mut lines);
    risk::lines(&mut lines);
    curve_readings::lines(&mut lines);
    let found = lines.0.join("\n") + "\n";
    if std::env::var_os("GOLDEN_BITS").is_some_and(|value| value == "write") {
        versions::write(&found);
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
    versions::check(&expected);
}

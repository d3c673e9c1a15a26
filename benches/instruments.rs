//! Bonds, bills, swaps, deposits and forwards.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use quant_core::{
    curves::{Compounding, Curve, CurveType, InstrumentKind, Interpolation, Market},
    instruments::{
        CurrencyForward, Deposit, ForwardRateAgreement, InterestRateSwap, LegTerms,
        LevelCouponBond, OvernightIndex, OvernightSwap, SwapCurves, SwapSide, ZeroCouponBond,
        bond_yield::YieldConvention,
        fixed_bond::FixedBond,
        g_spread,
        treasury_bill::{Quote, TreasuryBill},
    },
    time::{
        NaiveDate,
        calendar::{BusinessDayConvention, Calendar},
        day_count::DayCount,
        schedule::Frequency,
        schedule_rule::Stub,
    },
};

fn day(year: i32, month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).expect("a day of the calendar")
}

/// Thirty years of half-yearly flows, unadjusted and adjusted.
fn thirty_years(c: &mut Criterion) {
    let calendars = [
        ("unadjusted", Calendar::None, BusinessDayConvention::Unadjusted),
        ("target", Calendar::Target, BusinessDayConvention::ModifiedFollowing),
    ];
    for (name, calendar, convention) in calendars {
        let bond = FixedBond {
            issue_date: day(2024, 1, 15),
            maturity_date: day(2054, 1, 15),
            coupon_rate: 0.04,
            face_value: 100.0,
            frequency: Frequency::from_count(2).expect("half-yearly"),
            day_count: DayCount::ActActIcma,
            end_of_month: false,
            stub: Stub::ShortFront,
            calendar,
            convention,
        };
        c.bench_function(&format!("fixed_bond/cash_flows/{name}"), |b| {
            b.iter(|| black_box(&bond).cash_flows(None));
        });
    }
}

/// A bill beyond half a year, where the yield solves a quadratic.
fn bill(c: &mut Criterion) {
    let bill = TreasuryBill {
        settlement_date: day(2024, 3, 7),
        maturity_date: day(2025, 2, 20),
        face_value: 100.0,
        quote: Quote::DiscountRate(0.05),
    };
    c.bench_function("treasury_bill/value", |b| b.iter(|| black_box(&bill).value()));
}

/// A thirty-year bond between coupons: its measures at a yield, and the yield of its price.
fn yields(c: &mut Criterion) {
    let bond = FixedBond {
        issue_date: day(2024, 1, 15),
        maturity_date: day(2054, 1, 15),
        coupon_rate: 0.04,
        face_value: 100.0,
        frequency: Frequency::from_count(2).expect("half-yearly"),
        day_count: DayCount::ActActIcma,
        end_of_month: false,
        stub: Stub::ShortFront,
        calendar: Calendar::None,
        convention: BusinessDayConvention::Unadjusted,
    };
    let (settlement, street) = (day(2024, 3, 7), YieldConvention::Street);
    c.bench_function("bond_yield/clean_price", |b| {
        b.iter(|| black_box(&bond).clean_price(settlement, black_box(0.05), street));
    });
    c.bench_function("bond_yield/measures", |b| {
        b.iter(|| black_box(&bond).measures(settlement, black_box(0.05), street));
    });
    let tenors = [0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 20.0, 30.0];
    c.bench_function("bond_yield/key_rate_dv01s", |b| {
        b.iter(|| black_box(&bond).key_rate_dv01s(settlement, black_box(0.05), street, &tenors));
    });
    c.bench_function("bond_yield/yield_to_maturity", |b| {
        b.iter(|| black_box(&bond).yield_to_maturity(settlement, black_box(85.0), street));
    });
}

/// The same bond by its years, its key rates, and its asset swap.
fn by_years(c: &mut Criterion) {
    let frequency = Frequency::Semiannual;
    let bond = LevelCouponBond { coupon_rate: 0.04, maturity: 29.9, face_value: 100.0, frequency };
    c.bench_function("level_coupon_bond/measures", |b| {
        b.iter(|| black_box(&bond).measures(black_box(0.05)));
    });
    let (zero, shape) = (CurveType::Zero, Interpolation::Linear);
    let curve = Curve::from_values(day(2026, 1, 15), &[1.0, 30.0], &[0.03, 0.04], zero, shape);
    let curve = curve.expect("a curve");
    c.bench_function("level_coupon_bond/asset_swap_spread", |b| {
        b.iter(|| black_box(&bond).asset_swap_spread(85.0, &curve, Frequency::Quarterly));
    });
    let bond = ZeroCouponBond {
        issue_date: day(2024, 1, 15),
        maturity_date: day(2054, 1, 15),
        face_value: 100.0,
        day_count: DayCount::Act365,
        calendar: Calendar::None,
    };
    c.bench_function("zero_coupon_bond/value", |b| {
        b.iter(|| black_box(&bond).value(day(2024, 3, 7), 0.04, Compounding::Annual));
    });
    c.bench_function("g_spread", |b| b.iter(|| g_spread(black_box(0.0525), black_box(0.04))));
}

/// A thirty-year swap on a curve of twelve pillars: its value, and its risk by pillar.
fn swaps(c: &mut Criterion) {
    let tenors = [0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0];
    let rates = tenors.map(|tenor| 0.03 + 0.0005 * tenor);
    let (today, shape) = (day(2024, 1, 15), Interpolation::Linear);
    let curve =
        Curve::from_values(today, &tenors, &rates, CurveType::Zero, shape).expect("a curve");
    let curves = SwapCurves::single(&curve);
    let terms = LegTerms::unadjusted(Frequency::Semiannual, DayCount::Act365);
    let swap = InterestRateSwap {
        side: SwapSide::Payer,
        notional: 1e6,
        effective_date: today,
        maturity_date: day(2054, 1, 15),
        fixed_rate: 0.035,
        floating_spread: 0.0,
        fixed_terms: terms,
        floating_terms: terms,
        current_fixing: None,
    };
    c.bench_function("interest_rate_swap/value", |b| b.iter(|| black_box(&swap).value(&curves)));
    c.bench_function("interest_rate_swap/par_rate", |b| {
        b.iter(|| black_box(&swap).par_rate(&curves));
    });
    c.bench_function("interest_rate_swap/dv01", |b| b.iter(|| black_box(&swap).dv01(&curves)));
    let overnight = OvernightSwap {
        side: SwapSide::Payer,
        notional: 1e6,
        effective_date: today,
        maturity_date: day(2034, 1, 15),
        fixed_rate: 0.035,
        floating_spread: 0.0,
        index: OvernightIndex::Sofr,
        terms: LegTerms::unadjusted(Frequency::Annual, DayCount::Act360),
        current_fixing: None,
    };
    c.bench_function("overnight_swap/value", |b| b.iter(|| black_box(&overnight).value(&curves)));
}

/// The money market: one agreement, one deposit, one currency forward.
fn money_market(c: &mut Criterion) {
    let (today, shape) = (day(2024, 1, 15), Interpolation::Linear);
    let curve = Curve::from_values(today, &[1.0, 2.0], &[0.03, 0.035], CurveType::Zero, shape);
    let curve = curve.expect("a curve");
    let agreement = ForwardRateAgreement {
        side: SwapSide::Payer,
        notional: 1e6,
        fixed_rate: 0.03,
        trade_date: today,
        start_months: 3,
        end_months: 6,
        conventions: Market::Euro.conventions(InstrumentKind::Deposit),
    };
    c.bench_function("forward_rate_agreement/value", |b| {
        b.iter(|| black_box(&agreement).value(&SwapCurves::single(&curve)));
    });
    c.bench_function("forward_rate_agreement/dv01", |b| {
        b.iter(|| black_box(&agreement).dv01(&SwapCurves::single(&curve)));
    });
    let deposit = Deposit {
        start_date: today,
        maturity_date: day(2024, 4, 15),
        notional: 1e6,
        rate: 0.05,
        day_count: DayCount::Act360,
        calendar: Calendar::None,
        convention: BusinessDayConvention::Unadjusted,
    };
    c.bench_function("deposit/value", |b| b.iter(|| black_box(&deposit).value()));
    let forward = CurrencyForward {
        pair: "EURUSD".parse().expect("a pair"),
        spot_rate: 1.1,
        base_rate: 0.03,
        quote_rate: 0.05,
        compounding: Compounding::Continuous,
        time_to_maturity: 1.0,
        notional: 1e6,
        contract_rate: None,
    };
    c.bench_function("currency_forward/value", |b| b.iter(|| black_box(&forward).value()));
}

criterion_group!(benches, thirty_years, bill, yields, by_years, swaps, money_market);
criterion_main!(benches);

//! Bonds and bills.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use quant_core::{
    instruments::{
        bond_yield::YieldConvention,
        fixed_bond::FixedBond,
        treasury_bill::{Quote, TreasuryBill},
    },
    time::{
        NaiveDate,
        calendar::{BusinessDayConvention, Calendar},
        day_count::DayCount,
        schedule::Frequency,
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
    c.bench_function("bond_yield/yield_to_maturity", |b| {
        b.iter(|| black_box(&bond).yield_to_maturity(settlement, black_box(85.0), street));
    });
}

criterion_group!(benches, thirty_years, bill, yields);
criterion_main!(benches);

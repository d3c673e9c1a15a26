//! Company value and scores.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use quant_core::analysis::{
    AltmanZ, BeneishAccounts, BeneishM, DiscountedCashFlow, PiotroskiAccounts, PiotroskiF,
    growing_cash_flows,
};

/// Ten years of flows, as an analyst projects them.
fn value(c: &mut Criterion) {
    let firm = DiscountedCashFlow {
        fcff: growing_cash_flows(220.0, 0.04, 10).expect("flows"),
        wacc: 0.09,
        terminal_growth: 0.02,
        shares_outstanding: 50.0,
        net_debt: 700.0,
    };
    c.bench_function("discounted_cash_flow/value", |b| b.iter(|| black_box(&firm).value()));
}

/// The three scores of one firm, which a screen computes for each firm of a market.
fn scores(c: &mut Criterion) {
    let firm = AltmanZ {
        working_capital: 200.0,
        total_assets: 2000.0,
        retained_earnings: 400.0,
        ebit: 200.0,
        market_cap: 2000.0,
        total_liabilities: 1200.0,
        revenue: 1000.0,
    };
    c.bench_function("altman_z/score", |b| b.iter(|| black_box(&firm).score()));
    let year = PiotroskiAccounts {
        net_income: Some(150.0),
        total_assets: Some(2000.0),
        operating_cash_flow: Some(220.0),
        long_term_debt: Some(600.0),
        current_assets: Some(500.0),
        current_liabilities: Some(300.0),
        current_ratio: None,
        shares_outstanding: Some(50.0),
        gross_profit: Some(400.0),
        revenue: Some(1000.0),
    };
    let years = PiotroskiF { current: year, prior: year };
    c.bench_function("piotroski_f/score", |b| b.iter(|| black_box(&years).score()));
    let year = BeneishAccounts {
        revenue: Some(1000.0),
        receivables: Some(100.0),
        gross_profit: Some(400.0),
        current_assets: Some(500.0),
        ppe: Some(1200.0),
        total_assets: Some(2000.0),
        depreciation: Some(50.0),
        sga: Some(180.0),
        long_term_debt: Some(600.0),
        current_liabilities: Some(300.0),
        net_income: Some(150.0),
        operating_cash_flow: Some(220.0),
        cash: None,
    };
    let years = BeneishM { current: year, prior: year };
    c.bench_function("beneish_m/score", |b| b.iter(|| black_box(&years).score()));
}

criterion_group!(benches, value, scores);
criterion_main!(benches);

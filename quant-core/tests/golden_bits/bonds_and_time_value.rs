//! The time value of money, spreads, and bonds by years.

use quant_core::cash_flows::{
    Loan, dated_internal_rates, internal_rates, net_present_value, z_spread,
};
use quant_core::curves::{Compounding, Curve, CurveType, Interpolation};
use quant_core::instruments::bond_yield::YieldConvention;
use quant_core::instruments::{BondMeasures, FixedBond, LevelCouponBond, ZeroCouponBond, g_spread};
use quant_core::time::{BusinessDayConvention, Calendar, DayCount, Frequency, NaiveDate, Stub};

use crate::lines::Lines;

fn day(year: i32, month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).expect("a date")
}

pub(super) fn lines(lines: &mut Lines) {
    rates(lines);
    loans_and_spreads(lines);
    bonds(lines);
}

fn rates(lines: &mut Lines) {
    let rows: [&[f64]; 6] = [
        &[-70_000.0, 12_000.0, 15_000.0, 18_000.0, 21_000.0, 26_000.0],
        &[-1_600.0, 10_000.0, -10_000.0],
        &[1.0, -6.0, 11.0, -6.0],
        &[-1.0, 1e-9],
        &[-1.0, 2.2, -1.21],
        &[-100.0, 30.0, 40.0, -10.0, 50.0, 20.0],
    ];
    for cashflows in rows {
        let found = internal_rates(cashflows, None).expect("rates");
        lines.add("internal rates", cashflows, &found.rates);
        let value = net_present_value(cashflows, None, 0.07).expect("a value");
        let values = [value.net_present_value, value.rate_sensitivity];
        lines.add("net present value", cashflows, &values);
    }
    let dates = [day(2008, 1, 1), day(2008, 3, 1), day(2008, 10, 30), day(2009, 2, 15)];
    let found = dated_internal_rates(&[-10_000.0, 2_750.0, 4_250.0, 6_000.0], &dates);
    lines.add("dated internal rates", 2008, &found.expect("rates").rates);
}

fn loans_and_spreads(lines: &mut Lines) {
    for (principal, annual_rate, n_periods, frequency) in
        [(10_000.0, 0.08, 10, 12), (250_000.55, 0.0375, 780, 26), (100.0, 0.0, 3, 4)]
    {
        let loan = Loan { principal, annual_rate, n_periods, frequency };
        let table = loan.amortization().expect("a table");
        let sums = [table.exact_payment, table.last_payment, table.total_interest];
        lines.add("loan", loan, &[sums[0], sums[1], sums[2], table.effective_annual_rate]);
    }
    let (cashflows, times, rates) = ([4.0, 4.0, 104.0], [0.7, 1.7, 2.7], [0.03, 0.032, 0.034]);
    for compounding in [Compounding::Simple, Compounding::Semiannual, Compounding::Continuous] {
        let found = z_spread(98.0, &cashflows, &times, &rates, compounding).expect("a spread");
        let values = [found.z_spread, found.spread_duration, found.dv01];
        lines.add("z-spread", compounding, &values);
    }
    let found = g_spread(0.0525, 0.0417).expect("a spread");
    lines.add("g-spread", 0.0525, &[found.spread, found.basis_points]);
}

fn measures(found: &BondMeasures) -> [f64; 5] {
    let BondMeasures { clean_price, dirty_price, macaulay_duration, convexity, dv01, .. } = *found;
    [clean_price, dirty_price, macaulay_duration, convexity, dv01]
}

fn bonds(lines: &mut Lines) {
    let frequency = Frequency::Semiannual;
    let today = day(2026, 1, 15);
    let curve = Curve::from_values(
        today,
        &[1.0, 3.0, 5.0],
        &[0.03, 0.032, 0.035],
        CurveType::Zero,
        Interpolation::Linear,
    );
    let curve = curve.expect("a curve");
    for maturity in [5.0, 2.25, 0.1] {
        let bond = LevelCouponBond { coupon_rate: 0.045, maturity, face_value: 100.0, frequency };
        let found = bond.measures(0.05).expect("measures");
        lines.add("level-coupon bond", maturity, &measures(&found));
        let swap = bond.asset_swap_spread(98.0, &curve, Frequency::Quarterly).expect("a spread");
        let values = [swap.par_spread, swap.market_value_spread, swap.curve_value, swap.annuity];
        lines.add("asset swap", maturity, &values);
    }
    let bond = FixedBond {
        issue_date: day(2024, 1, 15),
        maturity_date: day(2034, 1, 15),
        coupon_rate: 0.04,
        face_value: 100.0,
        frequency,
        day_count: DayCount::Act365,
        end_of_month: false,
        stub: Stub::ShortFront,
        calendar: Calendar::None,
        convention: BusinessDayConvention::Unadjusted,
    };
    let (settlement, street) = (day(2024, 10, 15), YieldConvention::Street);
    let parts = bond.key_rate_dv01s(settlement, 0.045, street, &[1.0, 2.0, 5.0, 10.0]);
    lines.add("key rates", settlement, &parts.expect("parts"));
    for stub in [Stub::LongFront, Stub::ShortBack, Stub::LongBack] {
        let (maturity_date, day_count) = (day(2027, 9, 20), DayCount::ActActIcma);
        let bond = FixedBond { stub, maturity_date, day_count, ..bond };
        let found = bond.measures(settlement, 0.045, street).expect("measures");
        lines.add("stub", stub, &measures(&found));
        let rate = bond.yield_to_maturity(settlement, 99.0, street).expect("a yield");
        lines.add("yield with a stub", stub, &[rate]);
    }
    for day_count in [DayCount::Act365, DayCount::ActActIcma, DayCount::ActActIsda] {
        let (issue_date, maturity_date) = (day(2024, 1, 15), day(2029, 7, 20));
        let calendar = Calendar::None;
        let bond =
            ZeroCouponBond { issue_date, maturity_date, face_value: 100.0, day_count, calendar };
        let found = bond.value(issue_date, 0.04, Compounding::Semiannual).expect("a price");
        lines.add("zero-coupon bond", day_count, &[found.price, found.time_to_maturity]);
    }
}

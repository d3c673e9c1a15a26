//! Bonds, also on a curve, bills, swaps, deposits and forwards.

#![no_main]

use libfuzzer_sys::{
    arbitrary::{self, Arbitrary},
    fuzz_target,
};
use quant_core::{
    curves::{Compounding, Conventions, Curve, CurveType, Interpolation},
    instruments::{
        CurrencyForward, CurrencyPair, Deposit, ForwardRateAgreement, InterestRateSwap, LegTerms,
        LevelCouponBond, OvernightIndex, OvernightSwap, SwapCurves, SwapSide, ZeroCouponBond,
        bond_yield::YieldConvention,
        explain_g_spread,
        fixed_bond::FixedBond,
        g_spread,
        treasury_bill::{Quote, TreasuryBill},
    },
    time::{
        calendar::{BusinessDayConvention, Calendar},
        day_count::DayCount,
        schedule::Frequency,
        schedule_rule::Stub,
    },
};
use quant_fuzz::{Date, Number, check, one};

const CONVENTIONS: [BusinessDayConvention; 3] = [
    BusinessDayConvention::Unadjusted,
    BusinessDayConvention::ModifiedFollowing,
    BusinessDayConvention::Preceding,
];
const COMPOUNDINGS: [Compounding; 4] =
    [Compounding::Simple, Compounding::Annual, Compounding::Monthly, Compounding::Continuous];

#[derive(Arbitrary, Debug)]
struct Drawn {
    issue: Date,
    maturity: Date,
    settlement: Date,
    coupon_rate: Number,
    face_value: Number,
    given: Number,
    frequency: u8,
    day_count: u8,
    calendar: u8,
    convention: u8,
    end_of_month: bool,
    stub: u8,
    is_price: bool,
    lag: u8,
    months: [u16; 2],
    pair: [u8; 6],
}

fuzz_target!(|drawn: Drawn| {
    let Some(frequency) = Frequency::from_count(u32::from(drawn.frequency % 13)) else { return };
    let bond = FixedBond {
        issue_date: drawn.issue.0,
        maturity_date: drawn.maturity.0,
        coupon_rate: drawn.coupon_rate.0,
        face_value: drawn.face_value.0,
        frequency,
        day_count: one(DayCount::ALL, drawn.day_count),
        end_of_month: drawn.end_of_month,
        stub: one(Stub::ALL, drawn.stub),
        calendar: one(Calendar::ALL, drawn.calendar),
        convention: one(&CONVENTIONS, drawn.convention),
    };
    let settlement = drawn.settlement.0;
    let level = LevelCouponBond {
        coupon_rate: drawn.coupon_rate.0,
        maturity: drawn.given.0,
        face_value: drawn.face_value.0,
        frequency,
    };
    check(&bond.cash_flows(Some(settlement)));
    check(&bond.explain(Some(settlement)));
    check(&bond.accrued_interest(settlement));
    let convention =
        if drawn.is_price { YieldConvention::Street } else { YieldConvention::Treasury };
    check(&bond.measures(settlement, drawn.given.0, convention));
    check(&bond.dirty_price(settlement, drawn.given.0, convention));
    check(&bond.clean_price(settlement, drawn.given.0, convention));
    check(&bond.yield_to_maturity(settlement, drawn.given.0, convention));
    check(&bond.explain_price(settlement, drawn.given.0, convention));
    check(&bond.explain_measures(settlement, drawn.given.0, convention));
    check(&bond.explain_yield(settlement, drawn.given.0, convention));
    let tenors = [drawn.coupon_rate.0, drawn.face_value.0];
    check(&bond.key_rate_dv01s(settlement, drawn.given.0, convention, &tenors));
    check(&g_spread(drawn.given.0, drawn.coupon_rate.0));
    check(&explain_g_spread(drawn.given.0, drawn.coupon_rate.0));
    let zero_rates = [drawn.given.0, drawn.coupon_rate.0];
    let shape = Interpolation::Linear;
    let curve = Curve::from_values(settlement, &[1.0, 30.0], &zero_rates, CurveType::Zero, shape);
    if let Ok(curve) = curve {
        check(&bond.present_value(&curve));
        check(&level.asset_swap_spread(drawn.face_value.0, &curve, frequency));
        check(&level.explain_asset_swap_spread(drawn.face_value.0, &curve, frequency));
        swaps(&drawn, &curve, frequency);
    }
    check(&level.measures(drawn.given.0));
    check(&level.explain_measures(drawn.given.0));
    check(&level.accrued_interest());
    let zero_coupon = ZeroCouponBond {
        issue_date: drawn.issue.0,
        maturity_date: drawn.maturity.0,
        face_value: drawn.face_value.0,
        day_count: one(DayCount::ALL, drawn.day_count),
        calendar: one(Calendar::ALL, drawn.calendar),
    };
    let compounding = one(&COMPOUNDINGS, drawn.convention);
    check(&zero_coupon.value(settlement, drawn.given.0, compounding));
    check(&zero_coupon.explain(settlement, drawn.given.0, compounding));
    contracts(&drawn);
    let given = drawn.given.0;
    for quote in
        [Quote::Price(given), Quote::DiscountRate(given), Quote::BondEquivalentYield(given)]
    {
        let bill = TreasuryBill {
            settlement_date: settlement,
            maturity_date: drawn.maturity.0,
            face_value: drawn.face_value.0,
            quote,
        };
        check(&bill.value());
        check(&bill.explain());
    }
});

/// Swaps and an agreement, on one curve and on two.
fn swaps(drawn: &Drawn, curve: &Curve, frequency: Frequency) {
    let zero_rates = [drawn.coupon_rate.0 / 2.0];
    let shape = one(Interpolation::ALL, drawn.convention);
    let start = curve.reference_date();
    let other = Curve::from_values(start, &[2.0], &zero_rates, CurveType::Zero, shape);
    let other = other.unwrap_or_else(|_| curve.clone());
    let Ok(dual) = SwapCurves::dual(&other, curve) else { return };
    let side = if drawn.is_price { SwapSide::Payer } else { SwapSide::Receiver };
    let terms = LegTerms {
        frequency,
        day_count: one(DayCount::ALL, drawn.day_count),
        calendar: one(Calendar::ALL, drawn.calendar),
        convention: one(&CONVENTIONS, drawn.convention),
        end_of_month: drawn.end_of_month,
        payment_lag: u32::from(drawn.lag % 33),
    };
    let current_fixing = drawn.end_of_month.then_some(drawn.coupon_rate.0);
    let swap = InterestRateSwap {
        side,
        notional: drawn.face_value.0,
        effective_date: drawn.issue.0,
        maturity_date: drawn.maturity.0,
        fixed_rate: drawn.given.0,
        floating_spread: drawn.coupon_rate.0 / 4.0,
        fixed_terms: terms,
        floating_terms: LegTerms { day_count: DayCount::Act360, ..terms },
        current_fixing,
    };
    let overnight = OvernightSwap {
        side,
        notional: swap.notional,
        effective_date: swap.effective_date,
        maturity_date: swap.maturity_date,
        fixed_rate: swap.fixed_rate,
        floating_spread: swap.floating_spread,
        index: one(OvernightIndex::ALL, drawn.lag),
        terms,
        current_fixing,
    };
    let agreement = ForwardRateAgreement {
        side,
        notional: swap.notional,
        fixed_rate: swap.fixed_rate,
        trade_date: drawn.issue.0,
        start_months: u32::from(drawn.months[0]),
        end_months: u32::from(drawn.months[1]),
        conventions: Conventions {
            day_count: terms.day_count,
            compounding: Compounding::Simple,
            calendar: terms.calendar,
            convention: terms.convention,
            settlement_days: terms.payment_lag,
            end_of_month: terms.end_of_month,
        },
    };
    for curves in [dual, SwapCurves::single(curve)] {
        check(&swap.value(&curves));
        check(&swap.par_rate(&curves));
        check(&swap.dv01(&curves));
        check(&swap.explain_value(&curves));
        check(&swap.explain_par_rate(&curves));
        check(&swap.explain_dv01(&curves));
        check(&overnight.value(&curves));
        check(&overnight.par_rate(&curves));
        check(&overnight.dv01(&curves));
        check(&overnight.explain_value(&curves));
        check(&agreement.value(&curves));
        check(&agreement.dv01(&curves));
        check(&agreement.explain_value(&curves));
        check(&agreement.explain_break_even(&curves));
    }
}

/// A deposit and a currency forward.
fn contracts(drawn: &Drawn) {
    let deposit = Deposit {
        start_date: drawn.issue.0,
        maturity_date: drawn.maturity.0,
        notional: drawn.face_value.0,
        rate: drawn.coupon_rate.0,
        day_count: one(DayCount::ALL, drawn.day_count),
        calendar: one(Calendar::ALL, drawn.calendar),
        convention: one(&CONVENTIONS, drawn.convention),
    };
    check(&deposit.value());
    check(&deposit.explain());
    let text = String::from_utf8_lossy(&drawn.pair);
    let pair: Result<CurrencyPair, _> = text.parse();
    let Ok(pair) = pair.or_else(|_| "EURUSD".parse()) else { return };
    let forward = CurrencyForward {
        pair,
        spot_rate: drawn.face_value.0,
        base_rate: drawn.coupon_rate.0,
        quote_rate: drawn.given.0,
        compounding: one(Compounding::ALL, drawn.convention),
        time_to_maturity: f64::from(drawn.months[0]) / 365.0,
        notional: drawn.face_value.0,
        contract_rate: drawn.is_price.then_some(drawn.given.0),
    };
    check(&forward.value());
    check(&forward.explain());
}

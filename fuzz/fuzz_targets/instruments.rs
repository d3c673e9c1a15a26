//! Bonds, also on a curve, and bills.

#![no_main]

use libfuzzer_sys::{
    arbitrary::{self, Arbitrary},
    fuzz_target,
};
use quant_core::{
    curves::{Compounding, Curve, CurveType, Interpolation},
    instruments::{
        LevelCouponBond, ZeroCouponBond,
        bond_yield::YieldConvention,
        fixed_bond::FixedBond,
        g_spread,
        treasury_bill::{Quote, TreasuryBill},
    },
    time::{
        calendar::{BusinessDayConvention, Calendar},
        day_count::DayCount,
        schedule::Frequency,
    },
};
use quant_fuzz::{Date, Number, check, one};

const CALENDARS: [Calendar; 3] = [Calendar::None, Calendar::Target, Calendar::UnitedStates];
const CONVENTIONS: [BusinessDayConvention; 3] = [
    BusinessDayConvention::Unadjusted,
    BusinessDayConvention::ModifiedFollowing,
    BusinessDayConvention::Preceding,
];
const COMPOUNDINGS: [Compounding; 4] = [
    Compounding::Simple,
    Compounding::Annual,
    Compounding::Monthly,
    Compounding::Continuous,
];
const DAY_COUNTS: [DayCount; 8] = [
    DayCount::Thirty360BondBasis,
    DayCount::ThirtyE360,
    DayCount::ThirtyE360Isda,
    DayCount::Act360,
    DayCount::Act365,
    DayCount::ActActIcma,
    DayCount::ActActIsda,
    DayCount::Bus252,
];

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
    is_price: bool,
}

fuzz_target!(|drawn: Drawn| {
    let Some(frequency) = Frequency::from_count(u32::from(drawn.frequency % 13)) else { return };
    let bond = FixedBond {
        issue_date: drawn.issue.0,
        maturity_date: drawn.maturity.0,
        coupon_rate: drawn.coupon_rate.0,
        face_value: drawn.face_value.0,
        frequency,
        day_count: one(&DAY_COUNTS, drawn.day_count),
        end_of_month: drawn.end_of_month,
        calendar: one(&CALENDARS, drawn.calendar),
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
    check(&bond.accrued_interest(settlement));
    let convention =
        if drawn.is_price { YieldConvention::Street } else { YieldConvention::Treasury };
    check(&bond.measures(settlement, drawn.given.0, convention));
    check(&bond.dirty_price(settlement, drawn.given.0, convention));
    check(&bond.clean_price(settlement, drawn.given.0, convention));
    check(&bond.yield_to_maturity(settlement, drawn.given.0, convention));
    let tenors = [drawn.coupon_rate.0, drawn.face_value.0];
    check(&bond.key_rate_dv01s(settlement, drawn.given.0, convention, &tenors));
    check(&g_spread(drawn.given.0, drawn.coupon_rate.0));
    let zero_rates = [drawn.given.0, drawn.coupon_rate.0];
    let shape = Interpolation::Linear;
    let curve = Curve::from_values(settlement, &[1.0, 30.0], &zero_rates, CurveType::Zero, shape);
    if let Ok(curve) = curve {
        check(&bond.present_value(&curve));
        check(&level.asset_swap_spread(drawn.face_value.0, &curve, frequency));
    }
    check(&level.measures(drawn.given.0));
    check(&level.accrued_interest());
    let zero_coupon = ZeroCouponBond {
        issue_date: drawn.issue.0,
        maturity_date: drawn.maturity.0,
        face_value: drawn.face_value.0,
        day_count: one(&DAY_COUNTS, drawn.day_count),
        calendar: one(&CALENDARS, drawn.calendar),
    };
    let compounding = one(&COMPOUNDINGS, drawn.convention);
    check(&zero_coupon.value(settlement, drawn.given.0, compounding));
    let quote = if drawn.is_price {
        Quote::Price(drawn.given.0)
    } else {
        Quote::DiscountRate(drawn.given.0)
    };
    let bill = TreasuryBill {
        settlement_date: settlement,
        maturity_date: drawn.maturity.0,
        face_value: drawn.face_value.0,
        quote,
    };
    check(&bill.value());
});

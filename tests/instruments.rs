//! Bonds against QuantLib, bills against mpmath: `tests/golden/generate/instruments.py`.

use quant_core::{
    instruments::{
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

/// A few roundings of the product of face value, rate and year fraction; relative.
const BOND_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// QuantLib's accrued interest goes by the price per 100 and compounds 1 + cτ; part of the face.
const ACCRUED_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// A few roundings against 50 digits; relative to the larger of the figure and what it is made of.
const BILL_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// The rows of a golden file, taken apart at the commas.
fn rows<const N: usize>(name: &str) -> Vec<[String; N]> {
    let path = format!("{}/golden/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a golden file");
    let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<[String; N]> =
        text.lines().skip(2).map(|line| fields(line).try_into().expect("fields")).collect();
    assert!(rows.len() >= 100, "{name} has {} rows", rows.len());
    rows
}

fn date(text: &str) -> NaiveDate {
    text.parse().expect("a date")
}

fn number(text: &str) -> f64 {
    text.parse().expect("a number")
}

fn calendar(name: &str) -> Calendar {
    match name {
        "weekends" => Calendar::Weekends,
        "target" => Calendar::Target,
        "us" => Calendar::UnitedStates,
        "uk" => Calendar::UnitedKingdom,
        other => panic!("calendar {other}"),
    }
}

fn convention(name: &str) -> BusinessDayConvention {
    match name {
        "unadjusted" => BusinessDayConvention::Unadjusted,
        "following" => BusinessDayConvention::Following,
        "modified_following" => BusinessDayConvention::ModifiedFollowing,
        "preceding" => BusinessDayConvention::Preceding,
        "modified_preceding" => BusinessDayConvention::ModifiedPreceding,
        other => panic!("convention {other}"),
    }
}

fn day_count(name: &str) -> DayCount {
    match name {
        "30/360" => DayCount::Thirty360BondBasis,
        "30E/360" => DayCount::ThirtyE360,
        "30E/360 ISDA" => DayCount::ThirtyE360Isda,
        "ACT/360" => DayCount::Act360,
        "ACT/365" => DayCount::Act365,
        "ACT/ACT ICMA" => DayCount::ActActIcma,
        "ACT/ACT ISDA" => DayCount::ActActIsda,
        "BUS/252" => DayCount::Bus252,
        other => panic!("day count {other}"),
    }
}

/// How far apart two figures are, as a part of `size`.
fn distance(found: f64, expected: f64, size: f64) -> f64 {
    (found - expected).abs() / size
}

#[test]
fn bonds_pay_and_accrue_as_in_quantlib() {
    let (mut largest, mut largest_accrued): (f64, f64) = (0.0, 0.0);
    for row in rows("instruments_bonds") {
        let [
            issue,
            maturity,
            rate,
            face,
            count,
            kind,
            sticky,
            name,
            rule,
            settlement,
            accrued,
            flows,
        ] = &row;
        let bond = FixedBond {
            issue_date: date(issue),
            maturity_date: date(maturity),
            coupon_rate: number(rate),
            face_value: number(face),
            frequency: Frequency::from_count(count.parse().expect("a count")).expect("a frequency"),
            day_count: day_count(kind),
            end_of_month: sticky == "true",
            calendar: calendar(name),
            convention: convention(rule),
        };
        let found = bond.cash_flows(None).expect("cash flows").cashflows;
        let expected: Vec<&str> = flows.split(' ').collect();
        assert_eq!(found.len(), expected.len() / 3, "{row:?}");
        for (flow, expected) in found.iter().zip(expected.chunks(3)) {
            assert_eq!(flow.date.to_string(), expected[0], "{row:?}");
            let [fraction, amount] = [number(expected[1]), number(expected[2])];
            // QuantLib makes its amounts of (1 + cτ) − 1, which is absolute in the face value.
            let error = distance(flow.year_fraction, fraction, fraction.abs().max(1.0))
                .max(distance(flow.amount, amount, amount.abs().max(bond.face_value)));
            assert!(error <= BOND_TOLERANCE, "{row:?}: {flow:?}: {error:e}");
            largest = largest.max(error);
        }
        let settled = bond.cash_flows(Some(date(settlement))).expect("cash flows");
        let later = found.into_iter().filter(|flow| flow.date > date(settlement));
        assert_eq!(settled.cashflows, later.collect::<Vec<_>>(), "{row:?}");
        if !accrued.is_empty() {
            let found = settled.accrued_interest.expect("interest at a settlement");
            let error = distance(found, number(accrued), bond.face_value);
            assert!(error <= ACCRUED_TOLERANCE, "{row:?}: {found}: {error:e}");
            largest_accrued = largest_accrued.max(error);
        }
    }
    println!("largest error of a payment: {largest:e}, of accrued interest: {largest_accrued:e}");
}

#[test]
fn bills_agree_with_fifty_digits() {
    let (mut largest, mut largest_by_price): (f64, f64) = (0.0, 0.0);
    for row in rows("instruments_bills") {
        let [settlement, maturity, face, rate, days, price, bond, money, discount] = &row;
        let [face_value, rate, price, bond, money, discount] =
            [face, rate, price, bond, money, discount].map(|text| number(text));
        let bill = |quote| TreasuryBill {
            settlement_date: date(settlement),
            maturity_date: date(maturity),
            face_value,
            quote,
        };
        let found = bill(Quote::DiscountRate(rate)).value().expect("a valuation");
        assert_eq!(found.days_to_maturity.to_string(), *days, "{row:?}");
        // Near the price zero the rounding of the face value less the discount grows.
        let size = face_value / price;
        let error = distance(found.price, price, face_value)
            .max(distance(found.discount_amount, discount, discount.abs().max(1e-300)))
            .max(distance(found.bond_equivalent_yield, bond, bond.abs().max(1e-300) * size))
            .max(distance(found.money_market_yield, money, money.abs().max(1e-300) * size));
        assert!(error <= BILL_TOLERANCE, "{row:?}: {found:?}: {error:e}");
        largest = largest.max(error);
        let found = bill(Quote::Price(price)).value().expect("a valuation");
        // A price has the rounding of its last digit, which the short day of a year makes large.
        let per_year = size * 366.0 / found.days_to_maturity as f64;
        let error = distance(found.bond_equivalent_yield, bond, per_year).max(distance(
            found.discount_rate,
            rate,
            per_year,
        ));
        assert!(error <= BILL_TOLERANCE, "{row:?}: {found:?}: {error:e}");
        largest_by_price = largest_by_price.max(error);
    }
    println!("largest error by discount rate: {largest:e}, by price: {largest_by_price:e}");
}

//! Prices, yields and durations of bonds: `tests/golden/generate/bond_yields.py`.

use quant_core::{
    instruments::{bond_yield::YieldConvention, fixed_bond::FixedBond},
    time::{
        NaiveDate,
        calendar::{BusinessDayConvention, Calendar},
        day_count::DayCount,
        schedule::Frequency,
    },
};

/// A few roundings against 50 digits, in units of the dirty price and for a measure of itself.
const PRICE_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// The same for durations and convexities.
const MEASURE_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// The same for the yield of a price, in units of itself and of the move that a rounding of the
/// dirty price makes.
const YIELD_TOLERANCE: f64 = 4.0 * f64::EPSILON;

/// QuantLib sums plain powers, and its yields stop at a step of 1e-14.
const QUANTLIB_TOLERANCE: f64 = 1e-12;

struct Row {
    bond: FixedBond,
    settlement: NaiveDate,
    convention: YieldConvention,
    rate: f64,
    /// Clean price, dirty price, accrued interest, Macaulay and modified duration, convexity.
    measures: [f64; 6],
    quoted: f64,
    rate_of_quoted: f64,
}

fn day_count(name: &str) -> DayCount {
    match name {
        "30/360" => DayCount::Thirty360BondBasis,
        "30E/360" => DayCount::ThirtyE360,
        "ACT/360" => DayCount::Act360,
        "ACT/365" => DayCount::Act365,
        "ACT/ACT ICMA" => DayCount::ActActIcma,
        other => panic!("day count {other}"),
    }
}

fn row(line: &str) -> Row {
    let fields: Vec<&str> = line.split(',').collect();
    let number = |index: usize| fields[index].parse::<f64>().expect("a number");
    let date = |index: usize| fields[index].parse::<NaiveDate>().expect("a date");
    let count = fields[4].parse().expect("a count");
    Row {
        bond: FixedBond {
            issue_date: date(0),
            maturity_date: date(1),
            coupon_rate: number(2),
            face_value: number(3),
            frequency: Frequency::from_count(count).expect("a frequency"),
            day_count: day_count(fields[5]),
            end_of_month: fields[6] == "true",
            calendar: Calendar::None,
            convention: BusinessDayConvention::Unadjusted,
        },
        settlement: date(7),
        convention: match fields[8] {
            "street" => YieldConvention::Street,
            "treasury" => YieldConvention::Treasury,
            other => panic!("convention {other}"),
        },
        rate: number(9),
        measures: [10, 11, 12, 13, 14, 15].map(number),
        quoted: number(16),
        rate_of_quoted: number(17),
    }
}

/// The largest errors of the prices, of the measures and of the yield.
fn errors(row: &Row) -> [f64; 3] {
    let Row { bond, settlement, convention, rate, measures, quoted, rate_of_quoted } = row;
    let found = bond.measures(*settlement, *rate, *convention).expect("measures");
    let [clean, dirty, accrued, macaulay, modified, convexity] = *measures;
    let part = |found: f64, expected: f64, size: f64| (found - expected).abs() / size;
    let prices = part(found.clean_price, clean, dirty)
        .max(part(found.dirty_price, dirty, dirty))
        .max(part(found.accrued_interest, accrued, dirty));
    let moves = part(found.macaulay_duration, macaulay, macaulay)
        .max(part(found.modified_duration, modified, modified))
        .max(part(found.convexity, convexity, convexity))
        .max(part(found.dv01, 1e-4 * modified * dirty, 1e-4 * modified * dirty));
    assert_eq!(bond.clean_price(*settlement, *rate, *convention), Ok(found.clean_price));
    assert_eq!(bond.dirty_price(*settlement, *rate, *convention), Ok(found.dirty_price));
    let solved = bond.yield_to_maturity(*settlement, *quoted, *convention).expect("a yield");
    let rounding = quoted.abs().max(accrued) / dirty / modified;
    [prices, moves, part(solved, *rate_of_quoted, rate_of_quoted.abs() + rounding)]
}

fn check(name: &str, text: &str, tolerances: [f64; 3]) {
    let mut largest = [0.0_f64; 3];
    for line in text.lines().skip(2) {
        let found = errors(&row(line));
        for ((error, tolerance), largest) in found.into_iter().zip(tolerances).zip(&mut largest) {
            assert!(error <= tolerance, "{line}: {found:?}");
            *largest = largest.max(error);
        }
    }
    println!("{name}: largest errors of prices, measures and yields {largest:?}");
}

#[test]
fn prices_and_yields_agree_with_fifty_digits() {
    let tolerances = [PRICE_TOLERANCE, MEASURE_TOLERANCE, YIELD_TOLERANCE];
    check("mpmath", include_str!("golden/bond_yields.csv"), tolerances);
}

#[test]
fn prices_and_yields_agree_with_quantlib() {
    check("QuantLib", include_str!("golden/bond_yields_quantlib.csv"), [QUANTLIB_TOLERANCE; 3]);
}

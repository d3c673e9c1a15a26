//! Prices, yields and durations of bonds against mpmath and QuantLib: `tests/golden/generate/bond_yields.py`.

use quant_core::{
    instruments::{bond_yield::YieldConvention, fixed_bond::FixedBond},
    time::{
        NaiveDate,
        calendar::{BusinessDayConvention, Calendar},
        schedule::Frequency,
        schedule_rule::Stub,
    },
};
use quant_tests::golden::{self, Largest, Row, Statements};
use quant_tests::names::day_count;

/// The accepted error of a price in units of the dirty price, of a measure in units of itself: a few
/// roundings.
const PRICE_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// The accepted error of durations and convexities.
const MEASURE_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// The accepted error of the yield of a price, in units of the yield and of the change that a
/// rounding of the dirty price makes.
const YIELD_TOLERANCE: f64 = 4.0 * f64::EPSILON;

/// The accepted errors against QuantLib, which sums plain powers and stops its yields at 1e-14.
const QUANTLIB_TOLERANCE: f64 = 1e-12;

fn bond(row: &Row) -> FixedBond {
    FixedBond {
        issue_date: row.get("issue_date"),
        maturity_date: row.get("maturity_date"),
        coupon_rate: row.get("coupon_rate"),
        face_value: row.get("face_value"),
        frequency: Frequency::from_count(row.get("frequency")).expect("a frequency"),
        day_count: day_count(row.text("day_count")),
        end_of_month: row.get("end_of_month"),
        stub: Stub::ShortFront,
        calendar: Calendar::None,
        convention: BusinessDayConvention::Unadjusted,
    }
}

fn convention(name: &str) -> YieldConvention {
    match name {
        "street" => YieldConvention::Street,
        "treasury" => YieldConvention::Treasury,
        other => panic!("convention {other}"),
    }
}

/// The largest errors of the prices, of the measures and of the yield.
fn errors(row: &Row) -> [f64; 3] {
    let (bond, convention) = (bond(row), convention(row.text("convention")));
    let (settlement, rate): (NaiveDate, f64) = (row.get("settlement_date"), row.get("yield"));
    let found = bond.measures(settlement, rate, convention).expect("measures");
    let [clean, dirty, accrued] =
        ["clean_price", "dirty_price", "accrued_interest"].map(|name| row.get(name));
    let [macaulay, modified, convexity] =
        ["macaulay_duration", "modified_duration", "convexity"].map(|name| row.get(name));
    let part = |found: f64, expected: f64, size: f64| (found - expected).abs() / size;
    let prices = part(found.clean_price, clean, dirty)
        .max(part(found.dirty_price, dirty, dirty))
        .max(part(found.accrued_interest, accrued, dirty));
    let moves = part(found.macaulay_duration, macaulay, macaulay)
        .max(part(found.modified_duration, modified, modified))
        .max(part(found.convexity, convexity, convexity))
        .max(part(found.dv01, 1e-4 * modified * dirty, 1e-4 * modified * dirty));
    assert_eq!(bond.clean_price(settlement, rate, convention), Ok(found.clean_price), "{row}");
    assert_eq!(bond.dirty_price(settlement, rate, convention), Ok(found.dirty_price), "{row}");
    let [quoted, rate_of_quoted]: [f64; 2] =
        ["quoted_price", "yield_of_quoted"].map(|name| row.get(name));
    let solved = bond.yield_to_maturity(settlement, quoted, convention).expect("a yield");
    let rounding = quoted.abs().max(accrued) / dirty / modified;
    [prices, moves, part(solved, rate_of_quoted, rate_of_quoted.abs() + rounding)]
}

fn check(name: &str, file: &str, tolerances: [f64; 3]) {
    let mut largest = [(); 3].map(|()| Largest::default());
    for row in golden::rows(file, 100) {
        let found = errors(&row);
        for ((error, tolerance), largest) in found.into_iter().zip(tolerances).zip(&mut largest) {
            largest.see(&row, error, tolerance, &found);
        }
    }
    let [prices, measures, yields] = largest;
    println!("{name}: largest errors of prices {prices}, measures {measures} and yields {yields}");
}

#[test]
fn prices_and_yields_agree_with_fifty_digits() {
    let tolerances = [PRICE_TOLERANCE, MEASURE_TOLERANCE, YIELD_TOLERANCE];
    check("mpmath", "bond_yields", tolerances);
}

#[test]
fn the_stated_errors_of_bonds_hold() {
    let mut statements = Statements::default();
    for row in golden::rows("bond_yields", 200) {
        let (bond, convention) = (bond(&row), convention(row.text("convention")));
        let (settlement, rate): (NaiveDate, f64) = (row.get("settlement_date"), row.get("yield"));
        let found = bond.measures(settlement, rate, convention).expect("measures");
        let price = bond.explain_price(settlement, rate, convention).expect("an explanation");
        statements.see(&row, &price.error, found.clean_price, row.get("clean_price"));
        let measures = bond.explain_measures(settlement, rate, convention).expect("an explanation");
        let expected = row.get("modified_duration");
        statements.see(&row, &measures.error, found.modified_duration, expected);
        let quoted = row.get("quoted_price");
        let solved = bond.yield_to_maturity(settlement, quoted, convention).expect("a yield");
        let explained = bond.explain_yield(settlement, quoted, convention).expect("an explanation");
        assert!(explained.steps.is_some_and(|steps| (1..=40).contains(&steps)), "{explained:?}");
        statements.see(&row, &explained.error, solved, row.get("yield_of_quoted"));
    }
    statements.hold(600);
}

#[test]
fn prices_and_yields_agree_with_quantlib() {
    check("QuantLib", "bond_yields_quantlib", [QUANTLIB_TOLERANCE; 3]);
}

#[test]
fn the_treasury_s_own_notes_agree() {
    /// The digits that the regulation prints: six of a price, four of a yield.
    const PRINTED: f64 = 5e-7;
    const PRINTED_YIELD: f64 = 1e-8;
    let mut largest = Largest::default();
    for row in golden::rows("published_notes", 3) {
        let note = FixedBond {
            issue_date: row.get("issue_date"),
            maturity_date: row.get("maturity_date"),
            coupon_rate: row.get("coupon_rate"),
            face_value: 100.0,
            frequency: Frequency::Semiannual,
            day_count: day_count("ACT/ACT ICMA"),
            end_of_month: row.get("end_of_month"),
            stub: Stub::ShortFront,
            calendar: Calendar::None,
            convention: BusinessDayConvention::Unadjusted,
        };
        let (settlement, rate) = (row.get("settlement_date"), row.get("yield"));
        let (price, accrued): (f64, f64) = (row.get("price"), row.get("accrued_interest"));
        let found = note.measures(settlement, rate, YieldConvention::Treasury).expect("measures");
        largest.see(&row, (found.clean_price - price).abs(), PRINTED, &found);
        largest.see(&row, (found.accrued_interest - accrued).abs(), PRINTED, &found);
        let back = note.yield_to_maturity(settlement, price, YieldConvention::Treasury);
        let back = back.expect("a yield");
        largest.see(&row, (back - rate).abs(), PRINTED_YIELD, &back);
    }
    println!("treasury notes: largest difference from printed figures {largest}");
}

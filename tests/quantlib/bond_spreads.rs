//! Bonds by years, key rates, zero-coupon bonds, z-spreads and asset swaps against mpmath and QuantLib:
//! `tests/golden/generate/bond_spreads.py`.

use quant_core::{
    cash_flows::{explain_z_spread, z_spread},
    curves::{Compounding, Curve, CurveType, Interpolation},
    explanation::ErrorStatement,
    instruments::{
        FixedBond, LevelCouponBond, ZeroCouponBond, bond_yield::YieldConvention, explain_g_spread,
        g_spread, level_coupon_bond::AssetSwapSpread,
    },
    time::{
        NaiveDate,
        calendar::{BusinessDayConvention, Calendar},
        day_count::DayCount,
        schedule::Frequency,
    },
};
use quant_tests::golden::{self, Largest, Row, Statements};

/// The accepted error of prices and measures in twice the precision: a few roundings, and that of a
/// maturity in hundredths of a year.
const MEASURE_TOLERANCE: f64 = 1e-13;

/// The accepted error of a price with one exponential in doubles.
const ZERO_COUPON_TOLERANCE: f64 = 1e-13;

/// The accepted error of a spread in units of the spread and of the change that a rounding of the price
/// makes.
const SPREAD_TOLERANCE: f64 = 4.0 * f64::EPSILON;

/// The accepted error of asset-swap spreads, in units of the spread and of a rounding of the prices.
const ASSET_SWAP_TOLERANCE: f64 = 32.0 * f64::EPSILON;

/// The accepted error against QuantLib, whose z-spread is solved to 1e-14.
const QUANTLIB_TOLERANCE: f64 = 1e-12;

fn list(row: &Row, name: &str) -> Vec<f64> {
    row.list(row.text(name))
}

fn part(found: f64, expected: f64) -> f64 {
    if expected == 0.0 { found.abs() } else { (found - expected).abs() / expected.abs() }
}

fn day_count(name: &str) -> DayCount {
    match name {
        "30/360" => DayCount::Thirty360BondBasis,
        "30E/360" => DayCount::ThirtyE360,
        "ACT/360" => DayCount::Act360,
        "ACT/365" => DayCount::Act365,
        "ACT/ACT ISDA" => DayCount::ActActIsda,
        other => panic!("day count {other}"),
    }
}

fn compounding(name: &str) -> Compounding {
    match name {
        "simple" => Compounding::Simple,
        "annual" => Compounding::Annual,
        "semiannual" => Compounding::Semiannual,
        "quarterly" => Compounding::Quarterly,
        "monthly" => Compounding::Monthly,
        "continuous" => Compounding::Continuous,
        other => panic!("compounding {other}"),
    }
}

fn frequency(row: &Row, name: &str) -> Frequency {
    Frequency::from_count(row.get(name)).expect("a frequency")
}

fn level_bond(row: &Row, face_value: f64) -> LevelCouponBond {
    LevelCouponBond {
        coupon_rate: row.get("coupon"),
        maturity: row.get("maturity"),
        face_value,
        frequency: frequency(row, "frequency"),
    }
}

#[test]
fn bonds_by_years_agree_with_fifty_digits() {
    let mut largest = Largest::default();
    let [mut durations, mut convexities, mut dv01s] = [(); 3].map(|()| Statements::default());
    for row in golden::rows("level_bonds", 150) {
        let bond = level_bond(&row, row.get("face"));
        let found = bond.measures(row.get("ytm")).expect("measures");
        let statement = bond.explain_measures(row.get("ytm")).expect("an explanation").error;
        let [price, accrued, modified, macaulay, convexity]: [f64; 5] =
            ["price", "accrued", "modified", "macaulay", "convexity"].map(|name| row.get(name));
        durations.see(&row, &statement, found.modified_duration, modified);
        durations.see(&row, &statement, found.macaulay_duration, macaulay);
        convexities.see(&row, &statement, found.convexity, convexity);
        dv01s.see(&row, &statement, found.dv01, 1e-4 * modified * price);
        let errors = [
            part(found.dirty_price, price),
            (found.clean_price - (price - accrued)).abs() / price,
            (found.accrued_interest - accrued).abs() / price,
            part(found.modified_duration, modified),
            part(found.macaulay_duration, macaulay),
            part(found.convexity, convexity),
            part(found.dv01, 1e-4 * modified * price),
        ];
        let error = errors.into_iter().fold(0.0, f64::max);
        largest.see(&row, error, MEASURE_TOLERANCE, &found);
    }
    durations.hold(400);
    convexities.hold(200);
    dv01s.hold(200);
    println!("bonds by years: largest error {largest}");
}

#[test]
fn key_rate_dv01s_agree_with_numerical_derivatives() {
    const TENORS: [f64; 10] = [0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 20.0, 30.0];
    let mut largest = Largest::default();
    for row in golden::rows("key_rates", 60) {
        let bond = FixedBond {
            issue_date: row.get("issue_date"),
            maturity_date: row.get("maturity_date"),
            coupon_rate: row.get("coupon_rate"),
            face_value: 100.0,
            frequency: frequency(&row, "frequency"),
            day_count: DayCount::ActActIcma,
            end_of_month: false,
            calendar: Calendar::None,
            convention: BusinessDayConvention::Unadjusted,
        };
        let (settlement, rate): (NaiveDate, f64) = (row.get("settlement_date"), row.get("yield"));
        let street = YieldConvention::Street;
        let found = bond.key_rate_dv01s(settlement, rate, street, &TENORS).expect("parts");
        let expected = list(&row, "dv01s");
        let whole: f64 = expected.iter().sum();
        for (found, expected) in found.iter().zip(&expected) {
            largest.see(&row, (found - expected).abs() / whole, MEASURE_TOLERANCE, &found);
        }
    }
    println!("key rates: largest error, as a part of the whole DV01, {largest}");
}

#[test]
fn zero_coupon_bonds_agree_with_fifty_digits() {
    let (mut largest, mut statements) = (Largest::default(), Statements::default());
    for row in golden::rows("zero_coupon_bonds", 150) {
        let bond = ZeroCouponBond {
            issue_date: row.get("issue_date"),
            maturity_date: row.get("maturity_date"),
            face_value: row.get("face"),
            day_count: day_count(row.text("day_count")),
            calendar: Calendar::None,
        };
        let compounding = compounding(row.text("compounding"));
        let (settlement, rate) = (row.get("settlement_date"), row.get("yield"));
        let found = bond.value(settlement, rate, compounding).expect("a price");
        let explained = bond.explain(settlement, rate, compounding).expect("an explanation");
        statements.see(&row, &explained.error, found.price, row.get("price"));
        let errors = [
            part(found.time_to_maturity, row.get("time")),
            part(found.price, row.get("price")),
            part(found.modified_duration, row.get("modified")),
            part(found.convexity, row.get("convexity")),
        ];
        let error = errors.into_iter().fold(0.0, f64::max);
        largest.see(&row, error, ZERO_COUPON_TOLERANCE, &found);
    }
    statements.hold(150);
    println!("zero-coupon bonds: largest error {largest}");
}

#[test]
fn g_spreads_are_the_differences_of_decimals() {
    let mut statements = Statements::default();
    for row in golden::rows("g_spreads", 200) {
        let [bond, government, expected] = row.numbers();
        let found = g_spread(bond, government).expect("a spread").spread;
        assert_eq!(found, expected, "{row}");
        let explained = explain_g_spread(bond, government).expect("an explanation");
        statements.see(&row, &explained.error, found, expected);
    }
    statements.hold(200);
}

#[test]
fn z_spreads_agree_with_fifty_digits() {
    let (mut spreads, mut falls) = (Largest::default(), Largest::default());
    let mut statements = Statements::default();
    for row in golden::rows("z_spreads", 150) {
        let (price, kind): (f64, _) = (row.get("price"), compounding(row.text("compounding")));
        let (cashflows, times, rates) =
            (list(&row, "cashflows"), list(&row, "times"), list(&row, "base_rates"));
        let found = z_spread(price, &cashflows, &times, &rates, kind).expect("a spread");
        let (expected, fall): (f64, f64) = (row.get("z_spread"), row.get("fall"));
        let explained = explain_z_spread(price, &cashflows, &times, &rates, kind);
        let statement = explained.expect("an explanation").error;
        statements.see(&row, &statement, found.z_spread, expected);
        let size = expected.abs() + price / fall;
        spreads.see(&row, (found.z_spread - expected).abs() / size, SPREAD_TOLERANCE, &found);
        falls.see(&row, part(found.dv01, 1e-4 * fall), MEASURE_TOLERANCE, &found);
        assert_eq!(found.all_spreads, [found.z_spread], "{row}");
    }
    statements.hold(150);
    println!("z-spreads: largest error {spreads}, of the DV01 {falls}");
}

#[test]
fn z_spreads_agree_with_quantlib() {
    let mut largest = Largest::default();
    for row in golden::rows("z_spreads_quantlib", 60) {
        let (cashflows, times, rates) =
            (list(&row, "cashflows"), list(&row, "times"), list(&row, "base_rates"));
        let price = row.get("price");
        let found = z_spread(price, &cashflows, &times, &rates, Compounding::Continuous);
        let found = found.expect("a spread").z_spread;
        let expected: f64 = row.get("z_spread");
        largest.see(&row, (found - expected).abs(), QUANTLIB_TOLERANCE, &found);
    }
    println!("z-spreads as in QuantLib: largest error {largest}");
}

fn asset_swap(
    row: &Row,
    bond: &LevelCouponBond,
    floating: Frequency,
) -> (AssetSwapSpread, ErrorStatement) {
    let start = NaiveDate::from_ymd_opt(2026, 1, 15).expect("a date");
    let (times, rates) = (list(row, "base_times"), list(row, "base_rates"));
    let shape = Interpolation::Linear;
    let curve = Curve::from_values(start, &times, &rates, CurveType::Zero, shape).expect("a curve");
    let price = row.get("price");
    let explained = bond.explain_asset_swap_spread(price, &curve, floating);
    let found = bond.asset_swap_spread(price, &curve, floating).expect("a spread");
    (found, explained.expect("an explanation").error)
}

#[test]
fn asset_swaps_agree_with_fifty_digits() {
    let (mut largest, mut statements) = (Largest::default(), Statements::default());
    for row in golden::rows("asset_swaps", 150) {
        let face: f64 = row.get("face");
        let bond = level_bond(&row, face);
        let (found, statement) = asset_swap(&row, &bond, frequency(&row, "floating_frequency"));
        statements.see(&row, &statement, found.par_spread, row.get("par_spread"));
        let [par, market, value, annuity]: [f64; 4] =
            ["par_spread", "market_value_spread", "curve_value", "annuity"]
                .map(|name| row.get(name));
        let rounding = (value + row.get::<f64>("price")) / (face * annuity);
        let errors = [
            (found.par_spread - par).abs() / (par.abs() + rounding),
            (found.market_value_spread - market).abs() / (market.abs() + rounding),
            part(found.curve_value, value),
            part(found.annuity, annuity),
        ];
        let error = errors.into_iter().fold(0.0, f64::max);
        largest.see(&row, error, ASSET_SWAP_TOLERANCE, &found);
    }
    statements.hold(150);
    println!("asset swaps: largest error {largest}");
}

#[test]
fn asset_swaps_agree_with_quantlib() {
    let mut largest = Largest::default();
    for row in golden::rows("asset_swaps_quantlib", 100) {
        let (found, _) = asset_swap(&row, &level_bond(&row, 100.0), Frequency::Semiannual);
        let found = if row.get("is_par") { found.par_spread } else { found.market_value_spread };
        let expected: f64 = row.get("spread");
        largest.see(&row, (found - expected).abs(), QUANTLIB_TOLERANCE, &found);
    }
    println!("asset swaps as in QuantLib: largest error {largest}");
}

//! Yield curves against 50 digits: `tests/golden/generate/curves.py`.

use quant_core::{
    curves::{Curve, CurveType, Instrument, InstrumentKind, Interpolation},
    time::{NaiveDate, schedule::Frequency},
};
use quant_tests::golden::{self, Largest, Row};

/// The accepted absolute error of rates: a few roundings below 1, divided by the shortest time.
const RATE_TOLERANCE: f64 = 4e-15;

/// The accepted error of a discount factor, relative to the factor times 1 plus its logarithm.
const FACTOR_TOLERANCE: f64 = 4e-15;

/// The accepted error of a zero rate from par rates: the roundings of a sum of up to 120 payments.
const BOOTSTRAP_TOLERANCE: f64 = 1e-15;

fn today() -> NaiveDate {
    "2026-11-20".parse().expect("a date")
}

fn interpolation(name: &str) -> Interpolation {
    match name {
        "linear" => Interpolation::Linear,
        "log_linear" => Interpolation::LogLinear,
        "cubic" => Interpolation::Cubic,
        "monotone_convex" => Interpolation::MonotoneConvex,
        other => panic!("interpolation {other}"),
    }
}

fn curve_type(name: &str) -> CurveType {
    match name {
        "zero" => CurveType::Zero,
        "discount" => CurveType::Discount,
        "forward" => CurveType::ContinuousForward,
        other => panic!("curve type {other}"),
    }
}

fn instrument(row: &Row, spelled: &str) -> Instrument {
    let parts: Vec<&str> = spelled.split(':').collect();
    Instrument {
        kind: if parts[0] == "swap" { InstrumentKind::Swap } else { InstrumentKind::Deposit },
        tenor: row.parse(parts[1]),
        rate: row.parse(parts[2]),
        frequency: Frequency::from_count(row.parse(parts[3])).expect("a frequency"),
    }
}

#[test]
fn curves_through_values_agree_with_fifty_digits() {
    let [mut zero_rate, mut forward_rate, mut discount_factor] =
        [(); 3].map(|()| Largest::default());
    for row in golden::rows("curves_values", 250) {
        let [shape, kind, tenors, values, query, zero, factor, forward] = row.texts();
        let [tenors, values] = [tenors, values].map(|text| row.list::<f64>(text));
        let curve =
            Curve::from_values(today(), &tenors, &values, curve_type(kind), interpolation(shape));
        let point = curve.expect("a curve").at(row.parse(query)).expect("a point");
        // A discount factor is given to 2⁻⁵³, which a short pillar turns into a rate.
        let size = 1.0 + 0.01 / tenors[0];
        let [zero, forward, factor]: [f64; 3] = [zero, forward, factor].map(|text| row.parse(text));
        let error = (point.zero_rate - zero).abs() / size;
        zero_rate.see(&row, error, RATE_TOLERANCE, &point);
        let error = (point.instantaneous_forward_rate - forward).abs() / size;
        forward_rate.see(&row, error, RATE_TOLERANCE, &point);
        let error = (point.discount_factor / factor - 1.0).abs() / (1.0 + factor.ln().abs());
        discount_factor.see(&row, error, FACTOR_TOLERANCE, &point);
    }
    println!(
        "largest error of zero rate {zero_rate}, forward rate {forward_rate}, discount factor {discount_factor}"
    );
}

#[test]
fn bootstrapped_curves_agree_with_fifty_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("curves_bootstraps", 40) {
        let [shape, instruments, zero_rates] = row.texts();
        let instruments: Vec<Instrument> =
            instruments.split(' ').map(|spelled| instrument(&row, spelled)).collect();
        let curve = Curve::bootstrap(today(), &instruments, interpolation(shape)).expect("a curve");
        let zero_rates = row.list::<f64>(zero_rates);
        assert_eq!(curve.pillars().len(), zero_rates.len(), "{row}");
        for (pillar, expected) in curve.pillars().iter().zip(zero_rates) {
            let error = (pillar.zero_rate - expected).abs();
            largest.see(&row, error, BOOTSTRAP_TOLERANCE, pillar);
        }
    }
    println!("largest error of a bootstrapped zero rate: {largest}");
}

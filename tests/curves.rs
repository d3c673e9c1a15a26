//! Yield curves against 50 digits: `tests/golden/generate/curves.py`.

use quant_core::{
    curves::{Curve, CurveType, Instrument, InstrumentKind, Interpolation},
    time::{NaiveDate, schedule::Frequency},
};

/// A few roundings of rates below 1, which the shortest time divides; absolute.
const RATE_TOLERANCE: f64 = 4e-15;

/// The same for a discount factor; relative, and as a part of 1 and its logarithm, of which the
/// exponential makes the factor.
const FACTOR_TOLERANCE: f64 = 4e-15;

/// A zero rate from par rates: the roundings of a sum of up to 120 payments.
const BOOTSTRAP_TOLERANCE: f64 = 1e-15;

/// The rows of a golden file, taken apart at the commas.
fn rows<const N: usize>(name: &str) -> Vec<[String; N]> {
    let path = format!("{}/golden/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a golden file");
    let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<[String; N]> =
        text.lines().skip(2).map(|line| fields(line).try_into().expect("fields")).collect();
    assert!(rows.len() >= 40, "{name} has {} rows", rows.len());
    rows
}

fn number(text: &str) -> f64 {
    text.parse().expect("a number")
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(' ').map(number).collect()
}

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
        "forward" => CurveType::Forward,
        other => panic!("curve type {other}"),
    }
}

fn instrument(spelled: &str) -> Instrument {
    let parts: Vec<&str> = spelled.split(':').collect();
    Instrument {
        kind: if parts[0] == "swap" { InstrumentKind::Swap } else { InstrumentKind::Deposit },
        tenor: parts[1].parse().expect("a tenor"),
        rate: number(parts[2]),
        frequency: Frequency::from_count(parts[3].parse().expect("a count")).expect("a frequency"),
    }
}

#[test]
fn curves_through_values_agree_with_fifty_digits() {
    let mut largest: [f64; 3] = [0.0; 3];
    for row in rows("curves_values") {
        let [shape, kind, tenors, values, query, zero, factor, forward] = &row;
        let (tenors, values) = (numbers(tenors), numbers(values));
        let curve =
            Curve::from_values(today(), &tenors, &values, curve_type(kind), interpolation(shape));
        let point = curve.expect("a curve").at(number(query)).expect("a point");
        // A discount factor is given to 2⁻⁵³, which a short pillar turns into a rate.
        let size = 1.0 + 0.01 / tenors[0];
        let factor = number(factor);
        let errors = [
            (point.zero_rate - number(zero)).abs() / size,
            (point.forward_rate - number(forward)).abs() / size,
            (point.discount_factor / factor - 1.0).abs() / (1.0 + factor.ln().abs()),
        ];
        assert!(errors[0] <= RATE_TOLERANCE, "{row:?}: {point:?}: {errors:?}");
        assert!(errors[1] <= RATE_TOLERANCE, "{row:?}: {point:?}: {errors:?}");
        assert!(errors[2] <= FACTOR_TOLERANCE, "{row:?}: {point:?}: {errors:?}");
        for (largest, error) in largest.iter_mut().zip(errors) {
            *largest = largest.max(error);
        }
    }
    println!("largest error of zero rate, forward rate and discount factor: {largest:?}");
}

#[test]
fn bootstrapped_curves_agree_with_fifty_digits() {
    let mut largest: f64 = 0.0;
    for row in rows("curves_bootstraps") {
        let [shape, instruments, zero_rates] = &row;
        let instruments: Vec<Instrument> = instruments.split(' ').map(instrument).collect();
        let curve = Curve::bootstrap(today(), &instruments, interpolation(shape)).expect("a curve");
        let zero_rates = numbers(zero_rates);
        assert_eq!(curve.pillars().len(), zero_rates.len(), "{row:?}");
        for (pillar, expected) in curve.pillars().iter().zip(zero_rates) {
            let error = (pillar.zero_rate - expected).abs();
            assert!(error <= BOOTSTRAP_TOLERANCE, "{row:?}: {pillar:?}: {error:e}");
            largest = largest.max(error);
        }
    }
    println!("largest error of a bootstrapped zero rate: {largest:e}");
}

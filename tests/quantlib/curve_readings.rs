//! Rates read off curves, shifts, and Nelson–Siegel fits: `tests/golden/generate/curve_readings.py`.

use quant_core::curves::{
    Curve, CurveType, Instrument, InstrumentKind, Interpolation, Market, NelsonSiegel,
    NelsonSiegelSvensson, RateConventions, ShiftSpace, overnight_quotes,
};
use quant_core::explanation::ErrorStatement;
use quant_core::time::{Calendar, Frequency, NaiveDate};
use quant_tests::golden::{self, Largest, Row, Statements};

/// The accepted error of a discount factor, relative to the factor times 1 plus its logarithm.
const FACTOR_TOLERANCE: f64 = 1e-15;

/// The accepted error of a rate: of 1e-15 of the rate, and of a rounding of the numbers that it is
/// computed from. A discount factor is given to 2⁻⁵³, which a short period turns into a rate.
const RATE_TOLERANCE: f64 = 1e-15;

/// The accepted error of a zero rate after a shift.
const SHIFT_TOLERANCE: f64 = 1e-15;

/// Of a zero rate over at least a year, found by Newton's method for all pillars.
const PAR_SHIFT_TOLERANCE: f64 = 1e-12;

/// The accepted excess of the root of the mean squared residual over the least one, in units of the
/// largest rate or parameter: a rounding or two.
const MISFIT_TOLERANCE: f64 = 4e-16;

/// The accepted relative excess of a residual over that of an evolution in double precision.
const SVENSSON_TOLERANCE: f64 = 1e-7;

/// The accepted relative error of a discount factor that Newton's method finds for all pillars at once.
const OVERNIGHT_TOLERANCE: f64 = 1e-13;

/// The accepted residual of an instrument on its curve, per unit of principal.
const REPRICING_TOLERANCE: f64 = 1e-14;

fn curve(row: &Row, reference_date: &str, interpolation: Interpolation) -> Curve {
    let [tenors, values] = ["tenors", "values"].map(|name| row.list::<f64>(row.text(name)));
    let curve_type: CurveType = row.get("curve_type");
    let reference_date: NaiveDate = row.parse(reference_date);
    let curve = Curve::from_values(reference_date, &tenors, &values, curve_type, interpolation);
    curve.unwrap_or_else(|refused| panic!("{row}: {refused}"))
}

fn conventions(row: &Row) -> RateConventions {
    let day_count = row.text("day_count");
    RateConventions {
        compounding: row.get("compounding"),
        day_count: (!day_count.is_empty()).then(|| row.parse(day_count)),
        calendar: Calendar::None,
    }
}

/// The error of a rate over some years, less what a rounding of the curve's numbers makes.
fn error_of_rate(row: &Row, found: f64, expected: f64, tenor: f64, years: f64) -> f64 {
    let values = row.list::<f64>(row.text("values"));
    let size = if row.text("curve_type") == "discount" {
        1.0
    } else {
        values.iter().fold(0.0, |size: f64, value| size.max(value.abs())) * tenor.max(1.0)
    };
    ((found - expected).abs() - f64::EPSILON * size / years).max(0.0) / expected.abs()
}

#[test]
fn rates_of_any_compounding_and_day_count_agree_with_fifty_digits() {
    let [mut factors, mut zero_rates, mut forward_rates, mut par_rates] =
        [(); 4].map(|()| Largest::default());
    for row in golden::rows("curve_readings", 300) {
        let curve = curve(&row, row.text("reference_date"), row.get("interpolation"));
        let conventions = conventions(&row);
        let [start, end] = ["start", "end"].map(|name| row.get::<f64>(name));
        let zero = curve.zero_reading(start, &conventions).expect("a reading");
        let forward = curve.forward_reading(start, end, &conventions).expect("a reading");
        let frequency = Frequency::from_count(row.get("par_frequency")).expect("a frequency");
        let par = curve.par_rate(start, frequency).expect("a rate");
        let factor: f64 = row.get("discount_factor");
        let error = (zero.point.discount_factor / factor - 1.0).abs() / (1.0 + factor.ln().abs());
        factors.see(&row, error, FACTOR_TOLERANCE, &zero);
        let error = error_of_rate(&row, zero.zero_rate, row.get("zero_rate"), start, zero.years);
        zero_rates.see(&row, error, RATE_TOLERANCE, &zero);
        let expected = row.get("forward_rate");
        let error = error_of_rate(&row, forward.forward_rate, expected, end, forward.years);
        forward_rates.see(&row, error, RATE_TOLERANCE, &forward);
        let error = error_of_rate(&row, par, row.get("par_rate"), start, start);
        par_rates.see(&row, error, 4.0 * RATE_TOLERANCE, &par);
    }
    println!(
        "largest error of factor {factors}, zero rate {zero_rates}, forward rate {forward_rates}, par rate {par_rates}"
    );
}

#[test]
fn the_stated_errors_of_readings_bound_their_errors() {
    let (mut zero_rates, mut forward_rates) = (Statements::default(), Statements::default());
    for row in golden::rows("curve_readings", 300) {
        let curve = curve(&row, row.text("reference_date"), row.get("interpolation"));
        let conventions = conventions(&row);
        let [start, end] = ["start", "end"].map(|name| row.get::<f64>(name));
        let factor = curve.at(start).expect("a point").discount_factor;
        let explained = curve.explain_zero_reading(start, &conventions).expect("an explanation");
        zero_rates.see(&row, &explained.error, factor, row.get("discount_factor"));
        let rate = curve.forward_reading(start, end, &conventions).expect("a rate").forward_rate;
        let explained = curve.explain_forward_reading(start, end, &conventions);
        let statement = explained.expect("an explanation").error;
        forward_rates.see(&row, &statement, rate, row.get("forward_rate"));
    }
    zero_rates.hold(300);
    forward_rates.hold(300);
}

#[test]
fn the_stated_error_of_points_bounds_their_errors() {
    let mut statements = Statements::default();
    for row in golden::rows("curves_values", 250) {
        let curve = curve(&row, "2026-11-20", row.get("interpolation"));
        let tenor = row.get("query_tenor");
        let statement = curve.explain_points(&[tenor]).expect("an explanation").error;
        let factor = curve.at(tenor).expect("a point").discount_factor;
        statements.see(&row, &statement, factor, row.get("discount_factor"));
    }
    statements.hold(250);
}

#[test]
fn the_stated_errors_of_fits_hold() {
    let mut statements = Statements::default();
    for row in golden::rows("nelson_siegel", 80) {
        let [tenors, rates] = ["tenors", "rates"].map(|name| row.list::<f64>(row.text(name)));
        let found = NelsonSiegel::fit(&tenors, &rates).expect("a fit");
        let found = found.quality(&tenors, &rates).expect("figures").root_mean_square;
        let least = (row.get::<f64>("misfit") / tenors.len() as f64).sqrt();
        let explained = NelsonSiegel::explain_fit(&tenors, &rates).expect("an explanation");
        assert_eq!(explained.steps, Some(257));
        statements.see(&row, &explained.error, found.max(least), least);
    }
    statements.hold(80);
}

#[test]
fn the_stated_errors_of_fits_with_two_humps_hold() {
    let mut statements = Statements::default();
    for row in golden::rows("svensson", 24) {
        let [tenors, rates] = ["tenors", "rates"].map(|name| row.list::<f64>(row.text(name)));
        let found = NelsonSiegelSvensson::fit(&tenors, &rates).expect("a fit");
        let found = found.quality(&tenors, &rates).expect("figures").root_mean_square;
        let least: f64 = row.get("root_mean_square");
        let explained = NelsonSiegelSvensson::explain_fit(&tenors, &rates);
        let statement = explained.expect("an explanation").error;
        statements.see(&row, &statement, found.max(least), least);
    }
    statements.hold(24);
}

#[test]
fn the_stated_errors_of_bootstraps_hold() {
    let mut statements = Statements::default();
    for row in golden::rows("curve_conventions", 60) {
        let market: Market = row.get("market");
        let spelled = row.text("instruments").split(' ');
        let instruments: Vec<Instrument> =
            spelled.map(|spelled| instrument(&row, market, spelled)).collect();
        let (start, shape) = (row.get("reference_date"), row.get("interpolation"));
        let curve = Curve::bootstrap(start, &instruments, shape).expect("a curve");
        let explained = Curve::explain_bootstrap(start, &instruments, shape);
        let explained = explained.expect("an explanation");
        let report = Curve::bootstrap_with_report(start, &instruments, shape).expect("a report");
        assert_eq!(explained.steps, Some(report.iterations), "{row}");
        for conventions in instruments.iter().filter_map(|instrument| instrument.conventions) {
            let is_stated = |text: &str| text.contains(conventions.day_count.name());
            assert!(explained.conventions.iter().any(|text| is_stated(text)), "{row}");
        }
        let rates = row.list::<f64>(row.text("zero_rates"));
        for (pillar, rate) in curve.pillars().iter().zip(rates) {
            let expected = libm::exp(-rate * pillar.tenor);
            statements.see(&row, &explained.error, pillar.discount_factor, expected);
        }
    }
    statements.hold(300);
}

#[test]
fn curves_of_overnight_rates_agree_with_fifty_digits() {
    let (mut largest, mut statements) = (Largest::default(), Statements::default());
    for row in golden::rows("overnight_curves", 48) {
        let market = match row.text("market") {
            "none" => None,
            market => Some(row.parse(market)),
        };
        let [tenors, rates, zero_rates] =
            ["tenors", "rates", "zero_rates"].map(|name| row.list::<f64>(row.text(name)));
        let quotes = overnight_quotes(Some(&tenors), &rates, market).expect("quotes");
        let (start, shape) = (row.get("reference_date"), row.get("interpolation"));
        let curve = Curve::bootstrap(start, &quotes, shape).expect("a curve");
        let explained = Curve::explain_bootstrap(start, &quotes, shape).expect("an explanation");
        for (pillar, rate) in curve.pillars().iter().zip(zero_rates) {
            let expected = libm::exp(-rate * pillar.tenor);
            statements.see(&row, &explained.error, pillar.discount_factor, expected);
            let error = (pillar.discount_factor / expected - 1.0).abs();
            largest.see(&row, error, OVERNIGHT_TOLERANCE, pillar);
        }
    }
    statements.hold(192);
    println!("largest error of a discount factor of overnight rates {largest}");
}

/// The curve of a row of shifts, the explanation of the shift, and the shifted curve.
fn shifted(row: &Row) -> (Curve, ErrorStatement) {
    let curve = curve(row, "2026-11-20", Interpolation::Linear);
    let shift = row.get::<f64>("basis_points") / 10_000.0;
    let space = row.text("space");
    let (shifted, explained) = if space == "key_rate" {
        let (tenor, width) = (row.get("tenor"), row.get("width"));
        let explained = curve.explain_key_rate_shift(tenor, shift, width);
        (curve.key_rate_shift(tenor, shift, width), explained)
    } else {
        let space = row.parse::<ShiftSpace>(space);
        (curve.parallel_shift(shift, space), curve.explain_parallel_shift(shift, space))
    };
    (shifted.expect("a shifted curve").curve, explained.expect("an explanation").error)
}

#[test]
fn shifted_curves_agree_with_fifty_digits() {
    let mut largest = Largest::default();
    let mut statements = Statements::default();
    for row in golden::rows("curve_shifts", 100) {
        let (shifted, statement) = shifted(&row);
        let expected = row.list::<f64>(row.text("zero_rates"));
        assert_eq!(shifted.pillars().len(), expected.len(), "{row}");
        for (pillar, expected) in shifted.pillars().iter().zip(expected) {
            // A discount factor is given to 2⁻⁵³, which a short pillar turns into a rate.
            let error = (pillar.zero_rate - expected).abs() * pillar.tenor.min(1.0);
            largest.see(&row, error, SHIFT_TOLERANCE, pillar);
            statements.see(&row, &statement, pillar.zero_rate, expected);
        }
    }
    statements.hold(300);
    println!("largest error of a shifted zero rate {largest}");
}

#[test]
fn curves_with_shifted_par_rates_agree_with_fifty_digits() {
    let (mut largest, mut statements) = (Largest::default(), Statements::default());
    for row in golden::rows("curve_par_shifts", 60) {
        let curve = curve(&row, "2026-11-20", row.get("interpolation"));
        let shift = row.get::<f64>("basis_points") / 10_000.0;
        let space = ShiftSpace::ParRate;
        let shifted = curve.parallel_shift(shift, space).expect("a shifted curve").curve;
        let explanation = curve.explain_parallel_shift(shift, space).expect("an explanation");
        let expected = row.list::<f64>(row.text("zero_rates"));
        for (pillar, expected) in shifted.pillars().iter().zip(expected) {
            let error = (pillar.zero_rate - expected).abs() * pillar.tenor.min(1.0);
            largest.see(&row, error, PAR_SHIFT_TOLERANCE, pillar);
            statements.see(&row, &explanation.error, pillar.zero_rate, expected);
        }
    }
    statements.hold(200);
    println!("largest error of a zero rate after a shift of par rates {largest}");
}

#[test]
fn nelson_siegel_fits_are_as_good_as_those_of_differential_evolution() {
    let [mut misfits, mut r_squared] = [(); 2].map(|()| Largest::default());
    for row in golden::rows("nelson_siegel", 80) {
        let [tenors, rates] = ["tenors", "rates"].map(|name| row.list::<f64>(row.text(name)));
        let found = NelsonSiegel::fit(&tenors, &rates).expect("a fit");
        let quality = found.quality(&tenors, &rates).expect("figures");
        let least = (row.get::<f64>("misfit") / tenors.len() as f64).sqrt();
        let size = [found.level, found.slope, found.curvature];
        let size = rates.iter().chain(&size).fold(0.0, |size: f64, rate| size.max(rate.abs()));
        let excess = (quality.root_mean_square - least) / size;
        misfits.see(&row, excess, MISFIT_TOLERANCE, &found);
        let error = (quality.r_squared - row.get::<f64>("r_squared")).abs();
        r_squared.see(&row, error, 1e-13, &quality);
    }
    println!("largest excess of the misfit {misfits}, error of r squared {r_squared}");
}

#[test]
fn svensson_fits_are_as_good_as_those_of_differential_evolution() {
    let mut largest = Largest::default();
    for row in golden::rows("svensson", 24) {
        let [tenors, rates] = ["tenors", "rates"].map(|name| row.list::<f64>(row.text(name)));
        let found = NelsonSiegelSvensson::fit(&tenors, &rates).expect("a fit");
        let quality = found.quality(&tenors, &rates).expect("figures");
        let excess = quality.root_mean_square / row.get::<f64>("root_mean_square") - 1.0;
        largest.see(&row, excess, SVENSSON_TOLERANCE, &found);
    }
    println!("largest excess of the residual {largest}");
}

#[test]
fn svensson_fits_are_no_worse_than_those_with_one_hump() {
    for row in golden::rows("nelson_siegel", 80) {
        let [tenors, rates] = ["tenors", "rates"].map(|name| row.list::<f64>(row.text(name)));
        let Ok(found) = NelsonSiegelSvensson::fit(&tenors, &rates) else {
            assert!(tenors.len() < 6, "{row}");
            continue;
        };
        let rmse = found.quality(&tenors, &rates).expect("figures").root_mean_square;
        let misfit = rmse * rmse * tenors.len() as f64;
        assert!(misfit <= row.get::<f64>("misfit") * (1.0 + 1e-9) + 1e-32, "{row}: {found:?}");
    }
}

#[test]
fn every_quote_of_a_market_is_repriced_through_the_public_instrument() {
    let (mut values, mut errors) = (Largest::default(), Largest::default());
    for row in golden::rows("curve_conventions", 60) {
        let market: Market = row.get("market");
        let spelled = row.text("instruments").split(' ');
        let instruments: Vec<Instrument> =
            spelled.map(|spelled| instrument(&row, market, spelled)).collect();
        let (reference_date, shape) = (row.get("reference_date"), row.get("interpolation"));
        let report = Curve::bootstrap_with_report(reference_date, &instruments, shape);
        let report = report.expect("a curve");
        values.see(&row, report.residual, REPRICING_TOLERANCE, &report.iterations);
        for (instrument, repricing) in instruments.iter().zip(&report.repricings) {
            assert_eq!(&report.curve.reprice(instrument).expect("a value"), repricing, "{row}");
            // The rate of a day turns a rounding of the value into 360 of them.
            let error = repricing.error.abs() * repricing.annuity.min(1.0);
            errors.see(&row, error, REPRICING_TOLERANCE, repricing);
        }
    }
    println!("largest value of a quote {values}, error of an implied rate {errors}");
}

/// An instrument of a market, spelled as kind, tenor, rate, start and convexity.
fn instrument(row: &Row, market: Market, spelled: &str) -> Instrument {
    let parts: Vec<&str> = spelled.split(':').collect();
    let kind = match parts[0] {
        "deposit" => InstrumentKind::Deposit,
        "fra" => InstrumentKind::ForwardRateAgreement { start: row.parse(parts[3]) },
        "future" => InstrumentKind::Future {
            start_date: row.parse(parts[3]),
            convexity: row.parse(parts[4]),
        },
        "ois" => InstrumentKind::OvernightIndexedSwap,
        other => {
            assert_eq!(other, "swap", "{row}");
            InstrumentKind::Swap
        }
    };
    Instrument {
        kind,
        tenor: row.parse(parts[1]),
        rate: row.parse(parts[2]),
        frequency: market.frequency(kind),
        conventions: Some(market.conventions(kind)),
    }
}

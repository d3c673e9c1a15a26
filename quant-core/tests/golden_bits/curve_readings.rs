//! Readings of a curve by conventions, shifts, repriced instruments, and a fit with one hump.

use quant_core::curves::{
    Compounding, Curve, CurveType, InstrumentKind, Interpolation, Market, NelsonSiegel,
    RateConventions, ShiftSpace, overnight_quotes,
};
use quant_core::prelude::*;

use crate::lines::{Lines, day};

const TENORS: [f64; 6] = [0.25, 1.0, 2.0, 5.0, 10.0, 30.0];
const RATES: [f64; 6] = [0.0385, 0.0352, 0.0322, 0.0303, 0.0315, 0.0312];

pub(super) fn lines(lines: &mut Lines) {
    let today = day(2026, 1, 30);
    for &interpolation in Interpolation::ALL {
        let curve = Curve::from_values(today, &TENORS, &RATES, CurveType::Zero, interpolation);
        readings(lines, &curve.expect("a curve"), interpolation);
    }
    let quotes = overnight_quotes(Some(&TENORS), &RATES, Some(Market::Dollar)).expect("quotes");
    let report = Curve::bootstrap_with_report(today, &quotes, Interpolation::MonotoneConvex);
    let values: Vec<f64> = report
        .expect("a curve")
        .repricings
        .iter()
        .flat_map(|repricing| [repricing.annuity, repricing.implied_rate])
        .collect();
    lines.add("repriced", "six overnight swaps", &values);
    let found = NelsonSiegel::fit(&TENORS, &RATES).expect("a fit");
    let quality = found.quality(&TENORS, &RATES).expect("figures");
    let mut values = vec![found.level, found.slope, found.curvature, found.decay_time];
    values.extend([quality.r_squared, quality.root_mean_square]);
    lines.add("nelson_siegel", "six rates", &values);
}

fn readings(lines: &mut Lines, curve: &Curve, interpolation: Interpolation) {
    for &compounding in Compounding::ALL {
        let day_count = Some(DayCount::Act360);
        let conventions = RateConventions { compounding, day_count, calendar: Calendar::None };
        let zero = curve.zero_reading(7.3, &conventions).expect("a reading");
        let forward = curve.forward_reading(1.3, 7.3, &conventions).expect("a reading");
        let values = [zero.zero_rate, zero.years, forward.forward_rate, forward.years];
        lines.add("reading", (interpolation, compounding), &values);
    }
    let mut values = vec![curve.par_rate(7.3, Frequency::Semiannual).expect("a rate")];
    use ShiftSpace::{DiscountFactor, ParRate, SimpleForwardRate, ZeroRate};
    let shifted = |space| {
        let shifted = curve.parallel_shift(0.0025, space).expect("a curve").curve;
        shifted.at(7.3).expect("a point").zero_rate
    };
    values.extend([ZeroRate, SimpleForwardRate, DiscountFactor].map(shifted));
    lines.add("shifted par rate", interpolation, &[shifted(ParRate)]);
    let shifted = curve.key_rate_shift(7.0, 0.0025, 4.0).expect("a curve").curve;
    values.push(shifted.at(7.3).expect("a point").zero_rate);
    let swap = Instrument {
        kind: InstrumentKind::Swap,
        tenor: "7Y".parse().expect("a tenor"),
        rate: 0.03,
        frequency: Frequency::Annual,
        conventions: None,
    };
    values.push(curve.reprice(&swap).expect("a value").present_value);
    lines.add("par rate, shifts, swap", interpolation, &values);
}

//! Curves: from values, from quotes, from parameters, and every look-up on them.

#![no_main]

use libfuzzer_sys::{
    arbitrary::{self, Arbitrary},
    fuzz_target,
};
use quant_core::{
    curves::{
        Compounding, Curve, CurveType, Instrument, InstrumentKind, Interpolation, Market,
        NelsonSiegel, NelsonSiegelSvensson, RateConventions, ShiftSpace, overnight_quotes,
    },
    time::{Calendar, DayCount, schedule::Frequency},
};
use quant_fuzz::{Date, Number, check, numbers, one};

#[derive(Arbitrary, Debug)]
struct Quote<'a> {
    kind: u8,
    start: &'a str,
    start_date: Date,
    convexity: Number,
    market: Option<u8>,
    tenor: &'a str,
    months: u8,
    rate: Number,
    frequency: u8,
}

#[derive(Arbitrary, Debug)]
struct Drawn<'a> {
    reference_date: Date,
    tenors: Vec<Number>,
    values: Vec<Number>,
    quotes: Vec<Quote<'a>>,
    date: Date,
    at: [Number; 2],
    curve_type: u8,
    interpolation: u8,
    parameters: [Number; 6],
    compounding: u8,
    day_count: Option<u8>,
    calendar: u8,
    space: u8,
}

fn look_up(curve: &Curve, drawn: &Drawn<'_>) {
    check(&Ok::<_, ()>(curve.pillars()));
    let [start, end] = drawn.at.map(|number| number.0);
    check(&curve.at(start));
    check(&curve.between(start, end));
    check(&curve.tenor(drawn.date.0));
    check(&curve.at_date(drawn.date.0));
    check(&curve.date(start));
    let conventions = RateConventions {
        compounding: one(Compounding::ALL, drawn.compounding),
        day_count: drawn.day_count.map(|count| one(DayCount::ALL, count)),
        calendar: one(Calendar::ALL, drawn.calendar),
    };
    check(&curve.zero_reading(start, &conventions));
    check(&curve.forward_reading(start, end, &conventions));
    check(&curve.explain_zero_reading(start, &conventions));
    check(&curve.explain_forward_reading(start, end, &conventions));
    check(&curve.explain_points(&[start, end]));
    check(&curve.par_rate(start, one(Frequency::ALL, drawn.calendar)));
    let shift = drawn.parameters[0].0;
    check(&curve.parallel_shift(shift, one(ShiftSpace::ALL, drawn.space)));
    check(&curve.key_rate_shift(start, shift, end));
    check(&curve.explain_parallel_shift(shift, one(ShiftSpace::ALL, drawn.space)));
    check(&curve.explain_key_rate_shift(start, shift, end));
    for instrument in drawn.quotes.iter().take(4).filter_map(instrument) {
        check(&curve.reprice(&instrument));
    }
}

fn instrument(quote: &Quote<'_>) -> Option<Instrument> {
    let months = format!("{}M", u32::from(quote.months) + 1);
    let tenor = quote.tenor.parse().or_else(|_| months.parse()).ok()?;
    let kind = match quote.kind % 5 {
        0 => InstrumentKind::Deposit,
        1 => InstrumentKind::ForwardRateAgreement { start: quote.start.parse().ok()? },
        2 => {
            InstrumentKind::Future { start_date: quote.start_date.0, convexity: quote.convexity.0 }
        }
        3 => InstrumentKind::OvernightIndexedSwap,
        _ => InstrumentKind::Swap,
    };
    let frequency = Frequency::from_count(u32::from(quote.frequency % 13))?;
    let conventions = quote.market.map(|market| one(Market::ALL, market).conventions(kind));
    Some(Instrument { kind, tenor, rate: quote.rate.0, frequency, conventions })
}

fuzz_target!(|drawn: Drawn<'_>| {
    let interpolation = one(Interpolation::ALL, drawn.interpolation);
    let (mut tenors, values) = (numbers(&drawn.tenors), numbers(&drawn.values));
    tenors.sort_by(f64::total_cmp);
    tenors.truncate(values.len());
    let curve_type = one(CurveType::ALL, drawn.curve_type);
    let values = &values[..tenors.len()];
    let reference_date = drawn.reference_date.0;
    let curve = Curve::from_values(reference_date, &tenors, values, curve_type, interpolation);
    curve.iter().for_each(|curve| look_up(curve, &drawn));
    let instruments: Vec<Instrument> =
        drawn.quotes.iter().take(12).filter_map(instrument).collect();
    let curve = Curve::bootstrap(reference_date, &instruments, interpolation);
    curve.iter().for_each(|curve| look_up(curve, &drawn));
    check(&Curve::explain_bootstrap(reference_date, &instruments, interpolation));
    let [level, slope, curvature, second_curvature, decay_time, second_decay_time] =
        drawn.parameters.map(|number| number.0);
    let model = NelsonSiegelSvensson {
        level,
        slope,
        curvature,
        second_curvature,
        decay_time,
        second_decay_time,
    };
    check(&model.at(drawn.at[0].0));
    check(&model.quality(&tenors, values));
    let market = one(Market::ALL, drawn.space);
    let quotes = overnight_quotes(Some(&tenors), values, Some(market)).unwrap_or_default();
    check(&Curve::bootstrap_with_report(
        reference_date,
        &quotes[..quotes.len().min(12)],
        interpolation,
    ));
    if tenors.len() <= 12 {
        check(&NelsonSiegelSvensson::fit(&tenors, values));
        check(&NelsonSiegel::fit(&tenors, values));
        check(&NelsonSiegel::explain_fit(&tenors, values));
        check(&NelsonSiegelSvensson::explain_fit(&tenors, values));
    }
});

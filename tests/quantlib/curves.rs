//! Yield curves against 50 digits: `tests/golden/generate/curves.py`.

use account_core::Tier;
use quant_core::{
    curves::{Curve, CurveType, Instrument, InstrumentKind, Interpolation, Market},
    time::{NaiveDate, schedule::Frequency},
};
use quant_tests::App;
use quant_tests::golden::{self, Largest, Row, Statements};

/// The accepted absolute error of rates: a few roundings below 1, divided by the shortest time.
const RATE_TOLERANCE: f64 = 4e-15;

/// The accepted error of a discount factor, relative to the factor times 1 plus its logarithm.
const FACTOR_TOLERANCE: f64 = 4e-15;

/// The accepted relative error of a discount factor by market conventions: the pillars of a curve that
/// bends are solved until they move by four roundings, and each moves those around it.
const MARKET_TOLERANCE: f64 = 2e-14;

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

/// An instrument of a market, spelled as kind, tenor, rate, start and convexity.
fn quoted(row: &Row, market: Market, spelled: &str) -> Instrument {
    let [kind, tenor, rate, start, convexity] =
        spelled.split(':').collect::<Vec<_>>().try_into().expect("five parts");
    let kind = match kind {
        "deposit" => InstrumentKind::Deposit,
        "fra" => InstrumentKind::ForwardRateAgreement { start: row.parse(start) },
        "future" => {
            InstrumentKind::Future { start_date: row.parse(start), convexity: row.parse(convexity) }
        }
        "ois" => InstrumentKind::OvernightIndexedSwap,
        "swap" => InstrumentKind::Swap,
        other => panic!("kind {other}"),
    };
    Instrument {
        kind,
        tenor: row.parse(tenor),
        rate: row.parse(rate),
        frequency: market.frequency(kind),
        conventions: Some(market.conventions(kind)),
    }
}

fn instrument(row: &Row, spelled: &str) -> Instrument {
    let parts: Vec<&str> = spelled.split(':').collect();
    Instrument {
        kind: if parts[0] == "swap" { InstrumentKind::Swap } else { InstrumentKind::Deposit },
        tenor: row.parse(parts[1]),
        rate: row.parse(parts[2]),
        frequency: Frequency::from_count(row.parse(parts[3])).expect("a frequency"),
        conventions: None,
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
fn curves_of_market_conventions_have_the_dates_of_quantlib_and_fifty_digits() {
    let mut largest = Largest::default();
    for row in golden::rows("curve_conventions", 60) {
        let [reference_date, market, shape, instruments, dates, zero_rates] = row.texts();
        let market = row.parse(market);
        let instruments: Vec<Instrument> =
            instruments.split(' ').map(|spelled| quoted(&row, market, spelled)).collect();
        let curve = Curve::bootstrap(row.parse(reference_date), &instruments, interpolation(shape));
        let curve = curve.expect("a curve");
        let found: Vec<String> =
            curve.pillars().iter().map(|pillar| pillar.date.to_string()).collect();
        assert_eq!(found.join(" "), dates, "{row}");
        for (pillar, expected) in curve.pillars().iter().zip(row.list::<f64>(zero_rates)) {
            let error = (pillar.zero_rate - expected).abs() * pillar.tenor;
            largest.see(&row, error, MARKET_TOLERANCE, pillar);
        }
    }
    println!("largest relative error of a discount factor by market conventions: {largest}");
}

#[test]
fn bootstrapped_curves_agree_with_fifty_digits() {
    let (mut largest, mut statements) = (Largest::default(), Statements::default());
    for row in golden::rows("curves_bootstraps", 40) {
        let [shape, instruments, zero_rates] = row.texts();
        let instruments: Vec<Instrument> =
            instruments.split(' ').map(|spelled| instrument(&row, spelled)).collect();
        let shape = interpolation(shape);
        let curve = Curve::bootstrap(today(), &instruments, shape).expect("a curve");
        let explained = Curve::explain_bootstrap(today(), &instruments, shape);
        let statement = explained.expect("an explanation").error;
        let zero_rates = row.list::<f64>(zero_rates);
        assert_eq!(curve.pillars().len(), zero_rates.len(), "{row}");
        for (pillar, expected) in curve.pillars().iter().zip(zero_rates) {
            let error = (pillar.zero_rate - expected).abs();
            largest.see(&row, error, BOOTSTRAP_TOLERANCE, pillar);
            let factor = libm::exp(-expected * pillar.tenor);
            statements.see(&row, &statement, pillar.discount_factor, factor);
        }
    }
    statements.hold(100);
    println!("largest error of a bootstrapped zero rate: {largest}");
}

#[tokio::test]
async fn a_curve_is_built_by_the_conventions_of_a_market_or_by_those_sent() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let body = r#"{"reference_date": "2024-01-31", "market": "EUR", "interpolation": "log_linear",
        "query_tenors": [0.25], "instruments": [
            {"type": "deposit", "tenor": "3M", "rate": 0.0372},
            {"type": "fra", "start": "3M", "tenor": "6M", "rate": 0.036},
            {"type": "future", "start_date": "2024-09-18", "tenor": "3M", "rate": 0.035, "convexity": 0.00001},
            {"type": "ois", "tenor": "2Y", "rate": 0.033},
            {"type": "swap", "tenor": "5Y", "rate": 0.031}]}"#;
    let answer = app.post("/quantlib/curves/build", Some(&key), body).await;
    answer.expect(200);
    let dates: Vec<String> =
        (0..5).map(|index| answer.text(&format!("/data/pillars/{index}/date"))).collect();
    // Settled on 2 February 2024, two TARGET days later; none of the ends is a holiday.
    assert_eq!(dates, ["2024-05-02", "2024-08-02", "2024-12-18", "2026-02-02", "2029-02-02"]);
    for (list, name) in
        [("pillars", "simple_forward_rate"), ("points", "instantaneous_forward_rate")]
    {
        let [found, old] =
            [name, "forward_rate"].map(|name| answer.number(&format!("/data/{list}/0/{name}")));
        assert_eq!(found, old, "{name}");
    }
    // 92 days at 3.72 % by ACT/360.
    let body = r#"{"reference_date": "2024-01-31", "instruments": [
        {"type": "deposit", "tenor": "92D", "rate": 0.0372, "day_count": "ACT/360"}]}"#;
    let answer = app.post("/quantlib/curves/build", Some(&key), body).await;
    let factor = answer.number("/data/pillars/0/discount_factor");
    assert!((factor * (1.0 + 0.0372 * 92.0 / 360.0) - 1.0).abs() < 1e-15, "{answer:?}");
}

#[tokio::test]
async fn instruments_that_say_too_little_or_a_percentage_are_refused() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    for (instrument, reason) in [
        (r#"{"type": "fra", "tenor": "6M", "rate": 0.03}"#, "`start`"),
        (r#"{"type": "future", "tenor": "3M", "rate": 0.03}"#, "`start_date`"),
        (r#"{"type": "swap", "tenor": "3Y", "rate": 0.03, "start": "3M"}"#, "`start`"),
        (r#"{"type": "deposit", "tenor": "3M", "rate": 3.72}"#, "200 %"),
    ] {
        let body = format!(r#"{{"reference_date": "2024-01-31", "instruments": [{instrument}]}}"#);
        let answer = app.post("/quantlib/curves/build", Some(&key), &body).await;
        let told = answer.expect(422).to_string();
        assert!(told.contains(reason), "{told}");
    }
}

#[tokio::test]
async fn a_curve_has_the_par_rates_of_its_swaps() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let body = r#"{"reference_date": "2024-01-31", "interpolation": "log_linear",
        "query_tenors": [2, 2.5, 150], "query_dates": ["2026-01-31"], "instruments": [
            {"type": "deposit", "tenor": "1Y", "rate": 0.03},
            {"type": "swap", "tenor": "2Y", "rate": 0.031},
            {"type": "swap", "tenor": "3Y", "rate": 0.032}]}"#;
    let answer = app.post("/quantlib/curves/build", Some(&key), body).await;
    let data = &answer.expect(200)["data"];
    for (index, quote) in [0.03, 0.031, 0.032].into_iter().enumerate() {
        let found = answer.number(&format!("/data/pillars/{index}/par_rate"));
        assert!((found - quote).abs() < 1e-15, "{found}");
    }
    let points = &data["points"];
    assert_eq!(points[0]["par_rate"], data["pillars"][1]["par_rate"]);
    assert_eq!(points[3]["par_rate"], points[0]["par_rate"]);
    assert!(points[1]["par_rate"].is_number() && points[2].get("par_rate").is_none(), "{points}");
}

//! The curves, bonds and swaps, under the paths of their endpoints.

use std::hint::black_box;

use quant_core::{
    cash_flows::z_spread,
    curves::{
        Compounding, Curve, CurveType, Instrument, InstrumentKind, Interpolation, Market,
        NelsonSiegel, NelsonSiegelSvensson, RateConventions, ShiftSpace, overnight_quotes,
    },
    instruments::{
        FixedBond, ForwardRateAgreement, InterestRateSwap, LegTerms, LevelCouponBond,
        OvernightIndex, OvernightSwap, SwapCurves, SwapSide, YieldConvention, ZeroCouponBond,
        g_spread,
    },
    time::{BusinessDayConvention, Calendar, DayCount, Frequency, Stub},
};

use crate::{date, itself, ours, payments};

/// Measures every one of them.
pub fn rates() {
    readings();
    fits();
    bonds();
    spreads();
    swaps();
}

const TENORS: [f64; 12] = [0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0];

/// Zero rates that rise by half a basis point a year and bend.
fn zero_rates() -> Vec<f64> {
    TENORS.iter().map(|tenor| 0.03 + 0.0005 * tenor - 0.01 / (1.0 + tenor)).collect()
}

fn curve() -> Curve {
    let (zero, shape) = (CurveType::Zero, Interpolation::Linear);
    Curve::from_values(date("2024-01-15"), &TENORS, &zero_rates(), zero, shape).expect("a curve")
}

fn readings() {
    let curve = curve();
    let plain = RateConventions::default();
    let path = |name: &str| format!("/quantlib/curves/{name}");
    let at = || curve.at(black_box(7.3)).expect("a point");
    ours(&path("discount-factor"), at, |found| found.discount_factor);
    let zero = || curve.zero_reading(black_box(7.3), &plain).expect("a rate");
    ours(&path("zero-rate"), zero, |found| found.zero_rate);
    let forward = || curve.forward_reading(black_box(2.25), 7.3, &plain).expect("a rate");
    ours(&path("forward-rate"), forward, |found| found.forward_rate);
    let tenors: Vec<f64> = (1..=50).map(|half| 0.5 * f64::from(half)).collect();
    let points = || tenors.iter().map(|&tenor| curve.at(tenor).expect("a point").zero_rate).sum();
    ours(&path("curve-points"), points, itself);
    let shift = || curve.parallel_shift(black_box(1e-4), ShiftSpace::ZeroRate).expect("a curve");
    let seven = |curve: &Curve| curve.at(7.3).expect("a point").zero_rate;
    ours(&path("parallel-shift"), shift, |found| seven(&found.curve));
    let shift = || curve.key_rate_shift(black_box(5.0), 1e-4, 2.0).expect("a curve");
    let six = |curve: &Curve| curve.at(5.0).expect("a point").zero_rate;
    ours(&path("key-rate-shift"), shift, |found| six(&found.curve));
}

fn fits() {
    let rates = zero_rates();
    let fit = || NelsonSiegel::fit(black_box(&TENORS), &rates).expect("a fit");
    let quality =
        |found: &NelsonSiegel| found.quality(&TENORS, &rates).expect("a quality").root_mean_square;
    ours("/quantlib/curves/nelson-siegel/fit", fit, quality);
    let fit = || NelsonSiegelSvensson::fit(black_box(&TENORS), &rates).expect("a fit");
    let quality = |found: &NelsonSiegelSvensson| {
        found.quality(&TENORS, &rates).expect("a quality").root_mean_square
    };
    ours("/quantlib/curves/nss/fit", fit, quality);
    let quote = |(tenor, rate): (&str, f64)| Instrument {
        kind: if tenor.ends_with('M') { InstrumentKind::Deposit } else { InstrumentKind::Swap },
        tenor: tenor.parse().expect("a tenor"),
        rate,
        frequency: Frequency::Annual,
        conventions: None,
    };
    let quotes = [("6M", 0.032), ("1Y", 0.0325), ("2Y", 0.033), ("3Y", 0.0335), ("5Y", 0.034)];
    let quotes = quotes.map(quote);
    let (start, shape) = (date("2024-01-15"), Interpolation::LogLinear);
    let build = || Curve::bootstrap_with_report(start, black_box(&quotes), shape).expect("fits");
    let three = |curve: &Curve| curve.at(3.0).expect("a point").discount_factor;
    ours("/quantlib/solver/bootstrap/curve", build, |found| three(&found.curve));
    let rates = [0.03, 0.0305, 0.031, 0.0315, 0.032, 0.0325, 0.033, 0.0335];
    let quotes = overnight_quotes(Some(&[0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0]), &rates, None);
    let quotes = quotes.expect("quotes");
    let build = || Curve::bootstrap_with_report(start, black_box(&quotes), shape).expect("fits");
    ours("/quantlib/instruments/ois/build-curve", build, |found| three(&found.curve));
}

fn bonds() {
    let bond = FixedBond {
        issue_date: date("2024-01-15"),
        maturity_date: date("2054-01-15"),
        coupon_rate: 0.04,
        face_value: 100.0,
        frequency: Frequency::Semiannual,
        day_count: DayCount::ActActIcma,
        end_of_month: false,
        stub: Stub::ShortFront,
        calendar: Calendar::None,
        convention: BusinessDayConvention::Unadjusted,
    };
    let (settlement, street) = (date("2024-03-07"), YieldConvention::Street);
    let path = |name: &str| format!("/quantlib/instruments/bond/{name}");
    let price = || black_box(&bond).clean_price(settlement, 0.05, street).expect("valid");
    ours(&path("fixed/price"), price, itself);
    let rate = || black_box(&bond).yield_to_maturity(settlement, 85.0, street).expect("valid");
    ours(&path("fixed/yield"), rate, itself);
    let measures = || black_box(&bond).measures(settlement, 0.05, street).expect("valid");
    ours(&path("fixed/analytics"), measures, |found| found.modified_duration);
    let bond = ZeroCouponBond {
        issue_date: date("2024-01-15"),
        maturity_date: date("2054-01-15"),
        face_value: 100.0,
        day_count: DayCount::Act365,
        calendar: Calendar::None,
    };
    let value = || black_box(&bond).value(settlement, 0.04, Compounding::Annual).expect("valid");
    ours(&path("zero-coupon/price"), value, |found| found.price);
    let bond = LevelCouponBond {
        coupon_rate: 0.04,
        maturity: 10.0,
        face_value: 100.0,
        frequency: Frequency::Semiannual,
    };
    let measures = || black_box(&bond).measures(0.05).expect("valid");
    let path = |name: &str| format!("/quantlib/solver/finance/{name}");
    ours(&path("duration"), measures, |found| found.modified_duration);
    ours(&path("convexity"), measures, |found| found.convexity);
    ours(&path("dv01"), measures, |found| found.dv01);
    let curve = curve();
    let quarterly = Frequency::Quarterly;
    let spread = || black_box(&bond).asset_swap_spread(95.0, &curve, quarterly).expect("valid");
    ours(&path("asw-spread"), spread, |found| found.par_spread);
}

fn spreads() {
    let payments = payments();
    let times: Vec<f64> = (1..31).map(f64::from).collect();
    let rates: Vec<f64> = times.iter().map(|time| 0.03 + 0.0005 * time).collect();
    let path = |name: &str| format!("/quantlib/solver/finance/{name}");
    let continuous = Compounding::Continuous;
    let spread = || z_spread(black_box(93.0), &payments[1..], &times, &rates, continuous);
    ours(&path("z-spread"), || spread().expect("a spread"), |found| found.z_spread);
    let spread = || g_spread(black_box(0.0525), black_box(0.04)).expect("a spread");
    ours(&path("g-spread"), spread, |found| found.basis_points);
}

fn swaps() {
    let curve = curve();
    let curves = SwapCurves::single(&curve);
    let terms = LegTerms::unadjusted(Frequency::Semiannual, DayCount::Act365);
    let swap = InterestRateSwap {
        side: SwapSide::Payer,
        notional: 1e6,
        effective_date: date("2024-01-15"),
        maturity_date: date("2034-01-15"),
        fixed_rate: 0.035,
        floating_spread: 0.0,
        fixed_terms: terms,
        floating_terms: terms,
        current_fixing: None,
    };
    let path = |name: &str| format!("/quantlib/instruments/swap/irs/{name}");
    ours(&path("value"), || black_box(&swap).value(&curves).expect("valid"), |found| found.npv);
    ours(&path("par-rate"), || black_box(&swap).par_rate(&curves).expect("valid"), itself);
    ours(&path("dv01"), || black_box(&swap).dv01(&curves).expect("valid"), |found| found.dv01);
    let swap = OvernightSwap {
        side: SwapSide::Payer,
        notional: 1e6,
        effective_date: date("2024-01-15"),
        maturity_date: date("2034-01-15"),
        fixed_rate: 0.035,
        floating_spread: 0.0,
        index: OvernightIndex::Sofr,
        terms: LegTerms::unadjusted(Frequency::Annual, DayCount::Act360),
        current_fixing: None,
    };
    let value = || black_box(&swap).value(&curves).expect("valid");
    ours("/quantlib/instruments/ois/value", value, |found| found.npv);
    let agreement = ForwardRateAgreement {
        side: SwapSide::Payer,
        notional: 1e6,
        fixed_rate: 0.03,
        trade_date: date("2024-01-15"),
        start_months: 3,
        end_months: 6,
        conventions: Market::Euro.conventions(InstrumentKind::Deposit),
    };
    let value = || black_box(&agreement).value(&curves).expect("valid");
    let path = |name: &str| format!("/quantlib/instruments/fra/{name}");
    ours(&path("value"), value, |found| found.npv);
    ours(&path("break-even"), value, |found| found.break_even_rate);
}

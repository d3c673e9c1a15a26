//! Swaps, forward rate agreements, deposits and currency forwards against mpmath and QuantLib:
//! `tests/golden/generate/swaps.py`.

use std::str::FromStr;

use quant_core::{
    curves::{Compounding, Conventions, Curve, CurveType, Interpolation},
    explanation::Explanation,
    instruments::{
        CurrencyForward, Deposit, ForwardRateAgreement, InterestRateSwap, LegTerms, OvernightSwap,
        RateRisk, SwapCurves, SwapSide, SwapValue,
    },
    time::{
        NaiveDate,
        calendar::{BusinessDayConvention, Calendar},
        day_count::DayCount,
        schedule::Frequency,
    },
};
use quant_tests::golden::{self, Largest, Row, Statements};

/// The accepted error of the value of a swap, as a part of the values of both legs and the
/// notional: a few roundings of each coupon.
const VALUE_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// The accepted error of par rates, annuities and break-even rates, relative.
const RATE_TOLERANCE: f64 = 32.0 * f64::EPSILON;

/// The accepted error of a change for a basis point, as a part of the largest of all pillars and of
/// the parallel one: the shifts are exact, and the sum of the coupons cancels at inner pillars.
const RISK_TOLERANCE: f64 = 256.0 * f64::EPSILON;

/// The accepted error of deposits and currency forwards, relative.
const CLOSED_FORM_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// The accepted error against QuantLib, whose curves interpolate and whose forward rates are
/// differences of discount factors; as [`VALUE_TOLERANCE`].
const QUANTLIB_TOLERANCE: f64 = 1e-13;

fn parsed<T: FromStr>(row: &Row, name: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    row.text(name).parse().unwrap_or_else(|error| panic!("{row}: {name}: {error:?}"))
}

fn frequency(row: &Row, name: &str) -> Frequency {
    Frequency::from_count(row.get(name)).expect("a frequency")
}

/// The curve through zero rates of two columns; `None` where they are empty.
fn curve(row: &Row, tenors: &str, rates: &str) -> Option<Curve> {
    if row.text(rates).is_empty() {
        return None;
    }
    let (reference, shape) = (row.get("reference"), parsed::<Interpolation>(row, "interpolation"));
    let tenors: Vec<f64> = row.list(row.text(tenors));
    let rates: Vec<f64> = row.list(row.text(rates));
    let curve = Curve::from_values(reference, &tenors, &rates, CurveType::Zero, shape);
    Some(curve.unwrap_or_else(|error| panic!("{row}: {error}")))
}

/// The value, the par rate and the risk of the swap of a row.
fn valued(row: &Row) -> (SwapValue, f64, RateRisk) {
    on_curves(row, |swap, curves| match swap {
        Swap::Overnight(swap) => (
            swap.value(curves).expect("a value"),
            swap.par_rate(curves).expect("a rate"),
            swap.dv01(curves).expect("a risk"),
        ),
        Swap::InterestRate(swap) => (
            swap.value(curves).expect("a value"),
            swap.par_rate(curves).expect("a rate"),
            swap.dv01(curves).expect("a risk"),
        ),
    })
}

/// The explanations of the value and, of an interest rate swap, of the par rate and the risk.
fn explained(row: &Row) -> Vec<Explanation> {
    let explained = on_curves(row, |swap, curves| match swap {
        Swap::Overnight(swap) => vec![swap.explain_value(curves)],
        Swap::InterestRate(swap) => {
            let (value, par_rate) = (swap.explain_value(curves), swap.explain_par_rate(curves));
            vec![value, par_rate, swap.explain_dv01(curves)]
        }
    });
    explained.into_iter().map(|found| found.expect("an explanation")).collect()
}

/// A swap of either kind.
enum Swap {
    Overnight(OvernightSwap),
    InterestRate(InterestRateSwap),
}

/// The result of `find` for the swap of a row on its curves.
fn on_curves<T>(row: &Row, find: impl Fn(Swap, &SwapCurves<'_>) -> T) -> T {
    let projection = curve(row, "tenors", "rates").expect("a curve");
    let discount = curve(row, "discount_tenors", "discount_rates");
    let curves = match &discount {
        None => SwapCurves::single(&projection),
        Some(discount) => SwapCurves::dual(&projection, discount).expect("one reference date"),
    };
    let (side, notional) = (parsed::<SwapSide>(row, "side"), row.get("notional"));
    let (effective_date, maturity_date) = (row.get("effective"), row.get("maturity"));
    let (fixed_rate, floating_spread) = (row.get("fixed_rate"), row.get("floating_spread"));
    let fixing = row.text("fixing");
    let current_fixing = (!fixing.is_empty()).then(|| row.parse(fixing));
    let terms = LegTerms {
        calendar: parsed::<Calendar>(row, "calendar"),
        convention: parsed::<BusinessDayConvention>(row, "convention"),
        payment_lag: row.get("payment_lag"),
        ..LegTerms::unadjusted(frequency(row, "frequency"), parsed::<DayCount>(row, "day_count"))
    };
    if row.text("kind") == "ois" {
        let index = parsed(row, "index");
        let swap = OvernightSwap {
            side,
            notional,
            effective_date,
            maturity_date,
            fixed_rate,
            floating_spread,
            index,
            terms,
            current_fixing,
        };
        return find(Swap::Overnight(swap), &curves);
    }
    let floating_terms = LegTerms {
        frequency: frequency(row, "floating_frequency"),
        day_count: parsed(row, "floating_day_count"),
        ..terms
    };
    let swap = InterestRateSwap {
        side,
        notional,
        effective_date,
        maturity_date,
        fixed_rate,
        floating_spread,
        fixed_terms: terms,
        floating_terms,
        current_fixing,
    };
    find(Swap::InterestRate(swap), &curves)
}

/// The size of a swap's figures: the notional and the values of both legs.
fn size(row: &Row, value: &SwapValue) -> f64 {
    let legs = value.fixed_leg.present_value.abs() + value.floating_leg.present_value.abs();
    row.get::<f64>("notional") + legs
}

fn relative(found: f64, expected: f64) -> f64 {
    if found == expected { 0.0 } else { (found - expected).abs() / expected.abs() }
}

#[test]
fn swaps_have_the_values_and_the_risk_of_fifty_digits() {
    let (mut values, mut rates, mut risks) = <(Largest, Largest, Largest)>::default();
    for row in golden::rows("swaps", 160) {
        let (value, par_rate, risk) = valued(&row);
        let size = size(&row, &value);
        let legs = [
            (value.npv, row.get::<f64>("npv")),
            (value.fixed_leg.present_value, row.get("fixed_value")),
            (value.floating_leg.present_value, row.get("floating_value")),
        ];
        let error = legs.iter().map(|(found, expected)| (found - expected).abs() / size);
        values.see(&row, error.fold(0.0, f64::max), VALUE_TOLERANCE, &legs);
        let notional: f64 = row.get("notional");
        let unit = size / (notional * value.annuity);
        let error = (par_rate - row.get::<f64>("par_rate")).abs() / unit;
        let error = error.max(relative(value.annuity, row.get("annuity")));
        rates.see(&row, error, RATE_TOLERANCE, &par_rate);

        let buckets: Vec<f64> = row.list(row.text("buckets"));
        assert_eq!(buckets.len(), risk.buckets.len(), "{row}");
        let parallel: f64 = row.get("dv01");
        let scale = buckets.iter().fold(parallel.abs(), |scale, bucket| scale.max(bucket.abs()));
        let pairs = risk.buckets.iter().map(|bucket| bucket.dv01).zip(buckets);
        let error = pairs.chain([(risk.dv01, parallel)]);
        let error = error.map(|(found, expected)| (found - expected).abs() / scale);
        risks.see(&row, error.fold(0.0, f64::max), RISK_TOLERANCE, &risk.dv01);
    }
    println!("largest error of a value: {values}, of a rate: {rates}, of a risk: {risks}");
}

#[test]
fn the_stated_errors_of_swaps_bound_their_errors() {
    let mut statements = Statements::default();
    for row in golden::rows("swaps", 160) {
        let (value, par_rate, risk) = valued(&row);
        let found = [value.npv, par_rate, risk.dv01].into_iter().zip(["npv", "par_rate", "dv01"]);
        for (explained, (found, name)) in explained(&row).iter().zip(found) {
            assert_eq!(explained.error.quantity, name, "{row}");
            statements.see(&row, &explained.error, found, row.get(name));
        }
    }
    statements.hold(300);
}

#[test]
fn swaps_have_the_values_of_quantlib() {
    let mut largest = Largest::default();
    for row in golden::rows("swaps_quantlib", 100) {
        let (value, par_rate, _) = valued(&row);
        let size = size(&row, &value);
        let unit = size / (row.get::<f64>("notional") * value.annuity);
        let error = ((value.npv - row.get::<f64>("npv")).abs() / size)
            .max((par_rate - row.get::<f64>("par_rate")).abs() / unit)
            .max(relative(value.annuity, row.get("annuity")));
        largest.see(&row, error, QUANTLIB_TOLERANCE, &(value.npv, par_rate, value.annuity));
    }
    println!("largest error against QuantLib: {largest}");
}

#[test]
fn forward_rate_agreements_have_the_values_of_fifty_digits() {
    let (mut values, mut risks) = <(Largest, Largest)>::default();
    let mut statements = Statements::default();
    for row in golden::rows("forward_rate_agreements", 120) {
        let projection = curve(&row, "tenors", "rates").expect("a curve");
        let discount = curve(&row, "tenors", "discount_rates");
        let curves = match &discount {
            None => SwapCurves::single(&projection),
            Some(discount) => SwapCurves::dual(&projection, discount).expect("one reference date"),
        };
        let notional: f64 = row.get("notional");
        let agreement = ForwardRateAgreement {
            side: parsed(&row, "side"),
            notional,
            fixed_rate: row.get("fixed_rate"),
            trade_date: row.get("trade_date"),
            start_months: row.get("start_months"),
            end_months: row.get("end_months"),
            conventions: Conventions {
                day_count: parsed(&row, "day_count"),
                compounding: Compounding::Simple,
                calendar: parsed(&row, "calendar"),
                convention: parsed(&row, "convention"),
                settlement_days: row.get("settlement_days"),
                end_of_month: false,
            },
        };
        let found = agreement.value(&curves).unwrap_or_else(|error| panic!("{row}: {error}"));
        let dates: [NaiveDate; 2] = [row.get("start_date"), row.get("end_date")];
        assert_eq!([found.start_date, found.end_date], dates, "{row}");
        let forward: f64 = row.get("break_even_rate");
        let interest =
            (found.year_fraction * (forward.abs() + agreement.fixed_rate.abs())).max(1e-3);
        let error = [
            (found.npv - row.get::<f64>("npv")).abs() / (notional * interest),
            (found.settlement_amount - row.get::<f64>("settlement_amount")).abs()
                / (notional * interest),
            (found.break_even_rate - forward).abs() / (interest / found.year_fraction),
        ];
        values.see(&row, error.into_iter().fold(0.0, f64::max), RATE_TOLERANCE, &found);
        let statement = agreement.explain_value(&curves).expect("an explanation").error;
        statements.see(&row, &statement, found.npv, row.get("npv"));
        let statement = agreement.explain_break_even(&curves).expect("an explanation").error;
        statements.see(&row, &statement, found.break_even_rate, forward);
        let risk = agreement.dv01(&curves).expect("a risk");
        let error = (risk.dv01 - row.get::<f64>("dv01")).abs() / found.pv01;
        risks.see(&row, error, RISK_TOLERANCE, &risk.dv01);
    }
    statements.hold(240);
    println!("largest error of an agreement: {values}, of its risk: {risks}");
}

#[test]
fn deposits_earn_what_fifty_digits_say() {
    let (mut largest, mut statements) = (Largest::default(), Statements::default());
    for row in golden::rows("deposits", 100) {
        let deposit = Deposit {
            start_date: row.get("start_date"),
            maturity_date: row.get("maturity_date"),
            notional: row.get("notional"),
            rate: row.get("rate"),
            day_count: parsed(&row, "day_count"),
            calendar: Calendar::None,
            convention: BusinessDayConvention::Unadjusted,
        };
        let found = deposit.value().unwrap_or_else(|error| panic!("{row}: {error}"));
        let statement = deposit.explain().expect("an explanation").error;
        statements.see(&row, &statement, found.interest, row.get("interest"));
        let figures = [
            (found.year_fraction, "year_fraction"),
            (found.interest, "interest"),
            (found.maturity_value, "maturity_value"),
            (found.discount_factor, "discount_factor"),
            (found.continuous_rate, "continuous_rate"),
            (found.effective_annual_rate, "effective_annual_rate"),
        ];
        let error = figures.map(|(found, name)| relative(found, row.get(name)));
        largest.see(&row, error.into_iter().fold(0.0, f64::max), CLOSED_FORM_TOLERANCE, &found);
    }
    statements.hold(100);
    println!("largest error of a deposit: {largest}");
}

#[test]
fn currency_forwards_have_the_rates_of_fifty_digits() {
    let (mut largest, mut statements) = (Largest::default(), Statements::default());
    for row in golden::rows("currency_forwards", 160) {
        let contract = row.text("contract_rate");
        let (spot_rate, notional): (f64, f64) = (row.get("spot_rate"), row.get("notional"));
        let forward = CurrencyForward {
            pair: parsed(&row, "pair"),
            spot_rate,
            base_rate: row.get("base_rate"),
            quote_rate: row.get("quote_rate"),
            compounding: parsed(&row, "compounding"),
            time_to_maturity: row.get("time_to_maturity"),
            notional,
            contract_rate: (!contract.is_empty()).then(|| row.parse(contract)),
        };
        let found = forward.value().unwrap_or_else(|error| panic!("{row}: {error}"));
        let statement = forward.explain().expect("an explanation").error;
        statements.see(&row, &statement, found.forward_rate, row.get("forward_rate"));
        let figures = [
            (found.forward_rate, "forward_rate"),
            (found.forward_points, "forward_points"),
            (found.base_discount_factor, "base_discount_factor"),
            (found.quote_discount_factor, "quote_discount_factor"),
        ];
        let error = figures.map(|(found, name)| relative(found, row.get(name)));
        let expected: f64 = row.get("npv_quote");
        let size = spot_rate.max(found.forward_rate) * notional * found.quote_discount_factor;
        let error = error.into_iter().fold((found.npv_quote - expected).abs() / size, f64::max);
        largest.see(&row, error, CLOSED_FORM_TOLERANCE, &found);
    }
    statements.hold(160);
    println!("largest error of a currency forward: {largest}");
}

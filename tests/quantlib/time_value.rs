//! Net present values, internal rates and loans against mpmath and fractions:
//! `tests/golden/generate/time_value.py`.

use quant_core::{
    cash_flows::{
        Loan, dated_internal_rates, explain_dated_internal_rates, explain_internal_rates,
        explain_net_present_value, internal_rates, net_present_value,
    },
    explanation::Explanation,
    time::NaiveDate,
};
use quant_tests::golden::{self, Largest, Row, Statements};

/// The accepted error of a rate: a few roundings of 1 + r, and of r where it is below 1.
const RATE_TOLERANCE: f64 = 4.0 * f64::EPSILON;

/// The accepted error of a net present value in units of the sum of the sizes of present values.
const VALUE_TOLERANCE: f64 = 2.0 * f64::EPSILON;

/// The accepted error of the sensitivity, whose terms are weighted by their times of up to 60.
const SENSITIVITY_TOLERANCE: f64 = 4.0 * f64::EPSILON;

/// The accepted error of a payment by the formula: that of one logarithm and one exponential.
const PAYMENT_TOLERANCE: f64 = 1e-13;

fn list<T: std::str::FromStr>(row: &Row, name: &str) -> Vec<T> {
    row.list(row.text(name))
}

/// Holds all rates of a row to the expected ones.
fn see_rates(largest: &mut Largest, row: &Row, found: &[f64]) {
    let expected: Vec<f64> = list(row, "rates");
    assert_eq!(found.len(), expected.len(), "{row}: {found:?}");
    for (rate, expected) in found.iter().zip(expected) {
        let size = expected.abs().max(1.0 + expected).min(1.0 + expected.abs());
        largest.see(row, (rate - expected).abs() / size, RATE_TOLERANCE, &found);
    }
}

#[test]
fn every_internal_rate_is_found() {
    let (mut largest, mut several) = (Largest::default(), 0);
    for row in golden::rows("internal_rates", 150) {
        let (cashflows, times): (Vec<f64>, Vec<f64>) =
            (list(&row, "cashflows"), list(&row, "times"));
        let found = internal_rates(&cashflows, Some(&times)).expect("a rate");
        see_rates(&mut largest, &row, &found.rates);
        several += usize::from(found.rates.len() > 1);
        if times.iter().enumerate().all(|(number, time)| *time == number as f64) {
            assert_eq!(internal_rates(&cashflows, None), Ok(found), "{row}");
        }
    }
    assert!(several >= 30, "{several} rows of several rates");
    println!("internal rates: largest error {largest}");
}

/// Holds the stated error against all rates of a row.
fn see_statement(statements: &mut Statements, row: &Row, found: &[f64], explained: &Explanation) {
    for (rate, expected) in found.iter().zip(list::<f64>(row, "rates")) {
        statements.see(row, &explained.error, *rate, expected);
    }
}

#[test]
fn the_stated_errors_of_internal_rates_hold() {
    let mut statements = Statements::default();
    for row in golden::rows("internal_rates", 150) {
        let (payments, times): (Vec<f64>, Vec<f64>) =
            (list(&row, "cashflows"), list(&row, "times"));
        let found = internal_rates(&payments, Some(&times)).expect("a rate").rates;
        let explained = explain_internal_rates(&payments, Some(&times)).expect("an explanation");
        see_statement(&mut statements, &row, &found, &explained);
    }
    statements.hold(200);
}

#[test]
fn the_stated_errors_of_dated_internal_rates_hold() {
    let mut statements = Statements::default();
    for row in golden::rows("dated_internal_rates", 50) {
        let (payments, dates): (Vec<f64>, Vec<NaiveDate>) =
            (list(&row, "cashflows"), list(&row, "dates"));
        let found = dated_internal_rates(&payments, &dates).expect("a rate").rates;
        let explained = explain_dated_internal_rates(&payments, &dates).expect("an explanation");
        see_statement(&mut statements, &row, &found, &explained);
    }
    statements.hold(60);
}

#[test]
fn every_rate_of_dated_payments_is_found() {
    let mut largest = Largest::default();
    for row in golden::rows("dated_internal_rates", 50) {
        let (cashflows, dates): (Vec<f64>, Vec<NaiveDate>) =
            (list(&row, "cashflows"), list(&row, "dates"));
        let found = dated_internal_rates(&cashflows, &dates).expect("a rate");
        see_rates(&mut largest, &row, &found.rates);
    }
    println!("dated internal rates: largest error {largest}");
}

#[test]
fn net_present_values_agree_with_fifty_digits() {
    let (mut values, mut slopes) = (Largest::default(), Largest::default());
    let mut statements = Statements::default();
    for row in golden::rows("net_present_values", 150) {
        let (cashflows, times): (Vec<f64>, Vec<f64>) =
            (list(&row, "cashflows"), list(&row, "times"));
        let rate: f64 = row.get("rate");
        let found = net_present_value(&cashflows, Some(&times), rate).expect("a value");
        let [value, slope, size]: [f64; 3] =
            ["npv", "sensitivity", "size"].map(|name| row.get(name));
        let explained = explain_net_present_value(&cashflows, Some(&times), rate);
        let statement = explained.expect("an explanation").error;
        statements.see(&row, &statement, found.net_present_value, value);
        let error = (found.net_present_value - value).abs() / size;
        values.see(&row, error, VALUE_TOLERANCE, &found);
        let longest = times.iter().fold(1.0, |most: f64, time| most.max(time.abs()));
        let size = size * longest / (1.0 + rate);
        slopes.see(
            &row,
            (found.rate_sensitivity - slope).abs() / size,
            SENSITIVITY_TOLERANCE,
            &found,
        );
    }
    statements.hold(150);
    println!("net present values: largest errors {values}, of the sensitivity {slopes}");
}

#[test]
fn loans_agree_with_fractions_to_the_cent() {
    let (mut largest, mut statements) = (Largest::default(), Statements::default());
    for row in golden::rows("loans", 150) {
        let loan = Loan {
            principal: row.get("principal"),
            annual_rate: row.get("annual_rate"),
            n_periods: row.get("n_periods"),
            frequency: row.get("frequency"),
        };
        let table = loan.amortization().expect("a table");
        let cents = |amount: f64| (amount * 100.0).round() as i64;
        let weighted: i64 =
            table.schedule.iter().map(|row| i64::from(row.period) * cents(row.balance)).sum();
        let found = [table.payment, table.last_payment, table.total_interest].map(cents);
        let names = ["payment_cents", "last_payment_cents", "interest_cents"];
        assert_eq!(found, names.map(|name| row.get::<i64>(name)), "{row}");
        assert_eq!(weighted, row.get::<i64>("weighted_balance_cents"), "{row}");
        let exact: f64 = row.get("exact_payment");
        let explained = loan.explain().expect("an explanation");
        assert_eq!(explained.steps, Some(loan.n_periods), "{row}");
        statements.see(&row, &explained.error, table.exact_payment, exact);
        let error = (table.exact_payment - exact).abs() / exact;
        largest.see(&row, error, PAYMENT_TOLERANCE, &table.exact_payment);
    }
    statements.hold(150);
    println!("loans: no cent differs, largest error of the exact payment {largest}");
}

#[test]
fn published_examples_agree() {
    // Half a unit of the last printed digit.
    let half = |printed: &str| {
        let places = printed.split_once('.').map_or(0, |(_, places)| places.len() as i32);
        0.5 * 10.0_f64.powi(-places) * (1.0 + 1e-9)
    };
    let mut largest = Largest::default();
    for row in golden::rows("published_time_value", 8) {
        let cashflows: Vec<f64> = list(&row, "cashflows");
        let found = match row.text("function") {
            "irr" => internal_rates(&cashflows, None)
                .expect("rates")
                .nearest(row.get("given"))
                .expect("a rate"),
            "npv" => {
                net_present_value(&cashflows, None, row.get("given"))
                    .expect("a value")
                    .net_present_value
            }
            "xirr" => {
                let dates: Vec<NaiveDate> = list(&row, "dates");
                dated_internal_rates(&cashflows, &dates).expect("rates").rates[0]
            }
            other => panic!("function {other}"),
        };
        let printed = row.text("printed");
        let error = (found - row.parse::<f64>(printed)).abs() / half(printed);
        largest.see(&row, error, 1.0, &found);
    }
    println!("published: largest error in units of the printed half digit {largest}");
}

//! Bonds against QuantLib, bills against mpmath: `tests/golden/generate/instruments.py`.

use account_core::Tier;
use quant_core::{
    instruments::{
        fixed_bond::FixedBond,
        treasury_bill::{Quote, TreasuryBill},
    },
    time::{NaiveDate, Stub, schedule::Frequency},
};
use quant_tests::App;
use quant_tests::golden::{self, Largest, Row, Statements};
use quant_tests::names::{calendar, convention, day_count};

/// The accepted relative error: a few roundings of face value times rate times year fraction.
const BOND_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// The accepted error against QuantLib's accrued interest, which is made of a price per 100 and of
/// 1 + cτ; as a part of the face value.
const ACCRUED_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// The accepted error against 50 digits: a few roundings, relative to the larger of the figure and
/// its terms.
const BILL_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// The distance of two figures as a part of `size`.
fn distance(found: f64, expected: f64, size: f64) -> f64 {
    (found - expected).abs() / size
}

#[test]
fn bonds_pay_and_accrue_as_in_quantlib() {
    let (mut largest, mut largest_accrued) = (Largest::default(), Largest::default());
    let mut statements = Statements::default();
    for row in golden::rows("instruments_bonds", 100) {
        let bond = FixedBond {
            issue_date: row.get("issue_date"),
            maturity_date: row.get("maturity_date"),
            coupon_rate: row.get("coupon_rate"),
            face_value: row.get("face_value"),
            frequency: Frequency::from_count(row.get("frequency")).expect("a frequency"),
            day_count: day_count(row.text("day_count")),
            end_of_month: row.get("end_of_month"),
            stub: Stub::ShortFront,
            calendar: calendar(row.text("calendar")),
            convention: convention(row.text("convention")),
        };
        let found = bond.cash_flows(None).expect("cash flows").cashflows;
        let explained = bond.explain(None).expect("an explanation");
        assert!(explained.conventions[1].contains(bond.day_count.name()), "{row}");
        let expected: Vec<&str> = row.text("cashflows").split(' ').collect();
        assert_eq!(found.len(), expected.len() / 3, "{row}");
        for (flow, expected) in found.iter().zip(expected.chunks(3)) {
            assert_eq!(flow.date.to_string(), expected[0], "{row}");
            let [fraction, amount] = [row.parse::<f64>(expected[1]), row.parse(expected[2])];
            // QuantLib computes amounts as (1 + cτ) − 1, whose error is absolute in the face value.
            let error = distance(flow.year_fraction, fraction, fraction.abs().max(1.0))
                .max(distance(flow.amount, amount, amount.abs().max(bond.face_value)));
            largest.see(&row, error, BOND_TOLERANCE, flow);
            statements.see(&row, &explained.error, flow.amount, amount);
        }
        let settlement: NaiveDate = row.get("settlement_date");
        let settled = bond.cash_flows(Some(settlement)).expect("cash flows");
        let later = found.into_iter().filter(|flow| flow.date > settlement);
        assert_eq!(settled.cashflows, later.collect::<Vec<_>>(), "{row}");
        let accrued = row.text("accrued_interest");
        if !accrued.is_empty() {
            let found = settled.accrued_interest.expect("interest at a settlement");
            let error = distance(found, row.parse(accrued), bond.face_value);
            largest_accrued.see(&row, error, ACCRUED_TOLERANCE, &found);
        }
    }
    statements.hold(1_000);
    println!("largest error of a payment: {largest}, of accrued interest: {largest_accrued}");
}

#[test]
fn bills_agree_with_fifty_digits() {
    let (mut largest, mut largest_by_price) = (Largest::default(), Largest::default());
    let mut statements = Statements::default();
    let mut see = |row: &Row, bill: TreasuryBill, expected: f64| {
        let value = bill.value().expect("a valuation");
        let statement = bill.explain().expect("an explanation").error;
        let is_yield = matches!(bill.quote, Quote::Price(_));
        assert_eq!(statement.quantity, if is_yield { "yield" } else { "price" }, "{row}");
        let found = if is_yield { value.bond_equivalent_yield } else { value.price };
        statements.see(row, &statement, found, expected);
    };
    for row in golden::rows("instruments_bills", 100) {
        let [settlement, maturity, face, rate, days, price, bond, money, discount] = row.texts();
        let [face_value, rate, price, bond, money, discount] =
            [face, rate, price, bond, money, discount].map(|text| row.parse::<f64>(text));
        let bill = |quote| TreasuryBill {
            settlement_date: row.parse(settlement),
            maturity_date: row.parse(maturity),
            face_value,
            quote,
        };
        see(&row, bill(Quote::DiscountRate(rate)), price);
        // Larger yields follow from a price, and are refused as a quote.
        if bond.abs() <= 2.0 {
            see(&row, bill(Quote::BondEquivalentYield(bond)), price);
        }
        see(&row, bill(Quote::Price(price)), bond);
        let found = bill(Quote::DiscountRate(rate)).value().expect("a valuation");
        assert_eq!(found.days_to_maturity.to_string(), days, "{row}");
        // Near a price of zero the rounding of face value minus discount dominates.
        let size = face_value / price;
        let error = distance(found.price, price, face_value)
            .max(distance(found.discount_amount, discount, discount.abs().max(1e-300)))
            .max(distance(found.bond_equivalent_yield, bond, bond.abs().max(1e-300) * size))
            .max(distance(found.money_market_yield, money, money.abs().max(1e-300) * size));
        largest.see(&row, error, BILL_TOLERANCE, &found);
        let found = bill(Quote::Price(price)).value().expect("a valuation");
        // The rounding of a price in its last digit is large in a rate over one day.
        let per_year = size * 366.0 / found.days_to_maturity as f64;
        let error = distance(found.bond_equivalent_yield, bond, per_year).max(distance(
            found.discount_rate,
            rate,
            per_year,
        ));
        largest_by_price.see(&row, error, BILL_TOLERANCE, &found);
    }
    statements.hold(300);
    println!("largest error by discount rate: {largest}, by price: {largest_by_price}");
}

#[test]
fn the_treasury_s_own_bills_agree() {
    let mut largest = Largest::default();
    for row in golden::rows("published_bills", 6) {
        let quote = row.get("quote");
        let bill = TreasuryBill {
            settlement_date: row.get("settlement_date"),
            maturity_date: row.get("maturity_date"),
            face_value: 100.0,
            quote: match row.text("quoted") {
                "price" => Quote::Price(quote),
                _ => Quote::DiscountRate(quote),
            },
        };
        let value = bill.value().expect("a value");
        let found = match row.text("result") {
            "price" => value.price,
            "discount_rate" => value.discount_rate,
            _ => value.bond_equivalent_yield,
        };
        let printed: f64 = row.get("value");
        largest.see(&row, (found - printed).abs(), row.get("printed_to"), &found);
    }
    println!("treasury bills: largest difference from printed figures {largest}");
}

#[tokio::test]
async fn a_bill_is_valued_by_its_yield_and_within_a_year_alone() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let bill = |maturity: &str, quote: &str| {
        format!(r#"{{"settlement_date": "1990-06-07", "maturity_date": "{maturity}", {quote}}}"#)
    };
    let path = "/quantlib/instruments/money-market/tbill";
    // 31 CFR 356, appendix B, section VI.D.2.
    let answer = app.post(path, Some(&key), &bill("1991-06-06", r#""yield": 0.082373244"#)).await;
    answer.expect(200);
    assert!((answer.number("/data/price") - 92.265).abs() < 5e-7, "{answer:?}");
    assert_eq!(answer.number("/data/yield"), 0.082_373_244);
    for (maturity, quote, reason) in [
        ("1991-06-10", r#""price": 92.265"#, "366 days"),
        ("1991-06-06", r#""price": 92.265, "yield": 0.08"#, "exactly one"),
        ("1991-06-06", r#""discount_rate": 2.5"#, "200 %"),
        ("1991-06-06", r#""face_value": 100"#, "`yield`"),
    ] {
        let answer = app.post(path, Some(&key), &bill(maturity, quote)).await;
        let told = answer.expect(422).to_string();
        assert!(told.contains(reason), "{told}");
    }
}

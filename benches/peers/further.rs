//! A representative call of each further computation, under the path of its endpoint.
//!
//! The lines are those of ours.rs. further.py does the same work with other libraries or formulas.

use std::hint::black_box;

use quant_core::{
    analysis::{
        AltmanZ, BeneishAccounts, BeneishM, DiscountedCashFlow, PiotroskiAccounts, PiotroskiF,
    },
    cash_flows::{Loan, dated_internal_rates, internal_rates, net_present_value},
    curves::Compounding,
    instruments::{CurrencyForward, Deposit},
    time::{
        Accrual, BusinessDayConvention, Calendar, DayCount, Frequency, JointCalendar, NaiveDate,
        PeriodLength, RollConvention, ScheduleRule, ScheduledPeriod, Stub,
    },
};

mod further_options;
mod further_portfolios;
mod further_rates;
mod measure;

/// Measures one computation of this project.
fn ours<T>(path: &str, work: impl FnMut() -> T, value: impl Fn(&T) -> f64) {
    measure::measure(path, "quant-core", work, value);
}

fn main() {
    further_options::options();
    scheduling();
    company();
    further_rates::rates();
    time_value();
    money_market();
    further_portfolios::portfolios();
}

fn itself(value: &f64) -> f64 {
    *value
}

fn date(text: &str) -> NaiveDate {
    text.parse().expect("a date")
}

fn days(date: &NaiveDate) -> f64 {
    f64::from((*date - NaiveDate::default()).num_days() as i32)
}

fn scheduling() {
    let calendar: JointCalendar = "TARGET".parse().expect("a calendar");
    let (start, end) = (date("2026-04-02"), date("2036-04-02"));
    let path = |name: &str| format!("/quantlib/scheduling/calendar/{name}");
    let is = || black_box(&calendar).is_business_day(black_box(start));
    ours(&path("is-business-day"), is, |found| f64::from(u8::from(*found)));
    let advance = |count| calendar.advance(black_box(start), count).expect("a date");
    ours(&path("next-business-day"), || advance(1), days);
    ours(&path("previous-business-day"), || advance(-1), days);
    ours(&path("add-business-days"), || advance(250), days);
    let between = || calendar.business_days_between(black_box(start), end).expect("a number");
    ours(&path("business-days-between"), between, |found| *found as f64);
    ours(
        &path("list"),
        || Calendar::ALL.iter().map(|one| one.name().len()).sum::<usize>(),
        |_| 1.0,
    );
    let convention = BusinessDayConvention::ModifiedFollowing;
    let adjust = || calendar.adjust(black_box(date("2026-05-31")), convention).expect("a date");
    ours("/quantlib/scheduling/adjustment/adjust-date", adjust, days);
    let accrual = Accrual {
        start_date: start,
        end_date: date("2027-10-17"),
        day_count: DayCount::ActActIsda,
        frequency: Frequency::Semiannual,
        regular_period: None,
        maturity_date: None,
        calendar: JointCalendar::default(),
    };
    let measured = || black_box(&accrual).measure().expect("valid");
    ours("/quantlib/scheduling/daycount/year-fraction", measured, |found| found.year_fraction);
    let names = || DayCount::ALL.iter().map(|one| one.name().len()).sum::<usize>();
    ours("/quantlib/scheduling/daycount/conventions", names, |_| 1.0);
    let rule = ScheduleRule {
        effective_date: start,
        termination_date: end,
        frequency: PeriodLength::Months(6),
        stub: Stub::ShortFront,
        roll: RollConvention::SameDay,
        calendar,
        convention,
        termination_convention: convention,
        day_count: DayCount::Act365,
    };
    // The sum of all dates.
    let dates = |found: &Vec<ScheduledPeriod>| {
        days(&found[0].start) + found.iter().map(|period| days(&period.end)).sum::<f64>()
    };
    let periods = |rule: &ScheduleRule| black_box(rule).periods().expect("valid");
    ours("/quantlib/scheduling/schedule/generate", || periods(&rule), dates);
    let short = ScheduleRule { effective_date: date("2026-05-29"), ..rule.clone() };
    ours("/quantlib/scheduling/schedule/generate (short front stub)", || periods(&short), dates);
    let back = ScheduleRule { stub: Stub::ShortBack, ..short.clone() };
    ours("/quantlib/scheduling/schedule/generate (short back stub)", || periods(&back), dates);
}

fn company() {
    let firm = DiscountedCashFlow {
        fcff: vec![220.0, 230.0, 238.0, 245.0, 250.0],
        wacc: 0.09,
        terminal_growth: 0.02,
        shares_outstanding: 50.0,
        net_debt: 700.0,
    };
    let path = |name: &str| format!("/quantlib/analysis/valuation/{name}");
    let value = || black_box(&firm).value().expect("valid");
    ours(&path("dcf/fcff"), value, |found| found.value_per_share);
    let firm = AltmanZ {
        working_capital: 200.0,
        total_assets: 2000.0,
        retained_earnings: 400.0,
        ebit: 200.0,
        market_cap: 2000.0,
        total_liabilities: 1200.0,
        revenue: 1000.0,
    };
    let score = || black_box(&firm).score().expect("valid");
    ours(&path("predictive/altman-z"), score, |found| found.z_score);
    let prior = PiotroskiAccounts {
        net_income: Some(150.0),
        total_assets: Some(2000.0),
        operating_cash_flow: Some(220.0),
        long_term_debt: Some(600.0),
        current_assets: Some(500.0),
        current_liabilities: Some(300.0),
        current_ratio: None,
        shares_outstanding: Some(50.0),
        gross_profit: Some(400.0),
        revenue: Some(1000.0),
    };
    let current = PiotroskiAccounts {
        net_income: Some(190.0),
        revenue: Some(1150.0),
        gross_profit: Some(480.0),
        ..prior
    };
    let years = PiotroskiF { current, prior };
    let score = || black_box(&years).score().expect("valid");
    ours(&path("predictive/piotroski-f"), score, |found| f64::from(found.f_score));
    let prior = BeneishAccounts {
        revenue: Some(1000.0),
        receivables: Some(100.0),
        gross_profit: Some(400.0),
        current_assets: Some(500.0),
        ppe: Some(1200.0),
        total_assets: Some(2000.0),
        depreciation: Some(50.0),
        sga: Some(180.0),
        long_term_debt: Some(600.0),
        current_liabilities: Some(300.0),
        net_income: Some(150.0),
        operating_cash_flow: Some(220.0),
        cash: None,
    };
    let current = BeneishAccounts { revenue: Some(1150.0), receivables: Some(140.0), ..prior };
    let years = BeneishM { current, prior };
    let score = || black_box(&years).score().expect("valid");
    ours(&path("predictive/beneish-m"), score, |found| found.m_score);
}

/// Thirty years of a bond's payments.
fn payments() -> Vec<f64> {
    let mut payments = vec![5.0; 31];
    (payments[0], payments[30]) = (-93.0, 105.0);
    payments
}

fn time_value() {
    let payments = payments();
    let path = |name: &str| format!("/quantlib/solver/finance/{name}");
    let rate = || internal_rates(black_box(&payments), None).expect("a rate");
    ours(&path("irr"), rate, |found| found.rates[0]);
    let start = date("2026-01-15");
    let dates: Vec<NaiveDate> = start.iter_days().step_by(365).take(31).collect();
    let rate = || dated_internal_rates(black_box(&payments), &dates).expect("a rate");
    ours(&path("xirr"), rate, |found| found.rates[0]);
    let value = || net_present_value(black_box(&payments), None, 0.04).expect("a value");
    ours(&path("npv"), value, |found| found.net_present_value);
    let loan = Loan { principal: 200_000.0, annual_rate: 0.06, n_periods: 360, frequency: 12 };
    let table = || black_box(&loan).amortization().expect("a table");
    ours(&path("loan-amortization"), table, |found| found.exact_payment);
}

fn money_market() {
    let deposit = Deposit {
        start_date: date("2024-01-15"),
        maturity_date: date("2024-04-15"),
        notional: 1e6,
        rate: 0.05,
        day_count: DayCount::Act360,
        calendar: Calendar::None,
        convention: BusinessDayConvention::Unadjusted,
    };
    let value = || black_box(&deposit).value().expect("valid");
    ours("/quantlib/instruments/money-market/deposit", value, |found| found.maturity_value);
    let forward = CurrencyForward {
        pair: "EURUSD".parse().expect("a pair"),
        spot_rate: 1.1,
        base_rate: 0.03,
        quote_rate: 0.05,
        compounding: Compounding::Continuous,
        time_to_maturity: 1.0,
        notional: 1e6,
        contract_rate: None,
    };
    let value = || black_box(&forward).value().expect("valid");
    ours("/quantlib/instruments/fx/forward", value, |found| found.forward_rate);
}

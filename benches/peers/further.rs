//! A representative call of each further computation, under the path of its endpoint.
//!
//! The lines are those of ours.rs. further.py does the same work with other libraries or formulas.

use std::hint::black_box;

use quant_core::{
    analysis::{
        AltmanZ, BeneishAccounts, BeneishM, DiscountedCashFlow, PiotroskiAccounts, PiotroskiF,
    },
    cash_flows::{Loan, dated_internal_rates, internal_rates, net_present_value, z_spread},
    curves::{
        Compounding, Curve, CurveType, Instrument, InstrumentKind, Interpolation, Market,
        NelsonSiegel, NelsonSiegelSvensson, RateConventions, ShiftSpace, overnight_quotes,
    },
    instruments::{
        CurrencyForward, Deposit, FixedBond, ForwardRateAgreement, InterestRateSwap, LegTerms,
        LevelCouponBond, OvernightIndex, OvernightSwap, SwapCurves, SwapSide, YieldConvention,
        ZeroCouponBond, g_spread,
    },
    portfolio::{
        BlackLitterman, Covariance, EfficientFrontier, MarketEquilibrium, MaxSharpe, ReturnSeries,
        RiskParity, TargetReturn, risk_contributions, risk_parity::RiskParityMethod,
    },
    pricing::{
        Caplet, CurrencyOption, EuropeanOption, ForwardOption, NormalOption, OptionType,
        QuotedOption, SpreadOption, Swaption, Tree, american,
    },
    risk::{
        ComponentRisk, CovarianceEstimator, Distribution, ParametricRisk, SeriesMethod, backtest,
        historical, series_risk, stress,
    },
    time::{
        Accrual, BusinessDayConvention, Calendar, DayCount, Frequency, JointCalendar, NaiveDate,
        PeriodLength, RollConvention, ScheduleRule, Stub,
    },
};

mod measure;

/// Measures one computation of this project.
fn ours<T>(path: &str, work: impl FnMut() -> T, value: impl Fn(&T) -> f64) {
    measure::measure(path, "quant-core", work, value);
}

fn main() {
    european();
    forwards();
    rates();
    rest_of_options();
    scheduling();
    company();
    readings();
    fits();
    bonds();
    time_value();
    spreads();
    swaps();
    money_market();
    portfolios();
    risk_of_portfolios();
    risk_of_series();
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

/// The call of the first examples: 100 at 105, 5 %, 2 %, 25 %, a year.
fn call() -> EuropeanOption {
    EuropeanOption {
        option_type: OptionType::Call,
        spot: 100.0,
        strike: 105.0,
        risk_free_rate: 0.05,
        dividend_yield: 0.02,
        volatility: 0.25,
        time_to_maturity: 1.0,
    }
}

fn european() {
    let option = call();
    let greeks = || black_box(&option).greeks().expect("valid");
    ours("/quantlib/pricing/bs/greeks", greeks, |found| found.gamma);
    ours("/quantlib/pricing/bs/greeks-full", greeks, |found| found.vanna);
    let quoted = QuotedOption {
        option_type: option.option_type,
        spot: option.spot,
        strike: option.strike,
        risk_free_rate: option.risk_free_rate,
        dividend_yield: option.dividend_yield,
        price: 9.0,
        time_to_maturity: option.time_to_maturity,
    };
    let implied = || black_box(&quoted).implied_volatility().expect("valid");
    ours("/quantlib/pricing/bs/implied-vol", implied, itself);
    let digital = || black_box(&option).digital().expect("valid");
    ours("/quantlib/pricing/bs/digital-call", digital, |found| found.cash_or_nothing);
    let put = EuropeanOption { option_type: OptionType::Put, ..option };
    let digital = || black_box(&put).digital().expect("valid");
    ours("/quantlib/pricing/bs/digital-put", digital, |found| found.cash_or_nothing);
}

fn forwards() {
    let option = ForwardOption {
        option_type: OptionType::Call,
        forward: 100.0,
        strike: 105.0,
        risk_free_rate: 0.05,
        volatility: 0.2,
        time_to_maturity: 1.0,
    };
    let path = |name: &str| format!("/quantlib/pricing/black76/{name}");
    ours(&path("price"), || black_box(&option).price().expect("valid"), itself);
    ours(&path("greeks"), || black_box(&option).greeks().expect("valid"), |found| found.gamma);
    let implied = || black_box(&option).implied_volatility(6.0).expect("valid");
    ours(&path("implied-vol"), implied, itself);
    let option = NormalOption {
        option_type: OptionType::Call,
        forward: 100.0,
        strike: 105.0,
        risk_free_rate: 0.05,
        normal_volatility: 20.0,
        time_to_maturity: 1.0,
    };
    let path = |name: &str| format!("/quantlib/pricing/bachelier/{name}");
    ours(&path("price"), || black_box(&option).price().expect("valid"), itself);
    ours(&path("greeks"), || black_box(&option).greeks().expect("valid"), |found| found.gamma);
    let implied = || black_box(&option).implied_volatility(6.0).expect("valid");
    ours(&path("implied-vol"), implied, itself);
}

fn rates() {
    let caplet = |option_type| Caplet {
        option_type,
        forward_rate: 0.05,
        strike: 0.048,
        discount_factor: 0.95,
        volatility: 0.2,
        start_time: 1.0,
        end_time: 1.25,
        notional: 1e6,
    };
    let (cap, floor) = (caplet(OptionType::Call), caplet(OptionType::Put));
    let path = |name: &str| format!("/quantlib/pricing/black76/{name}");
    ours(&path("caplet"), || black_box(&cap).value().expect("valid"), |found| found.price);
    ours(&path("floorlet"), || black_box(&floor).value().expect("valid"), |found| found.price);
    let swaption = Swaption {
        option_type: OptionType::Call,
        forward_swap_rate: 0.04,
        strike: 0.042,
        annuity: 4.3,
        volatility: 0.25,
        time_to_expiry: 2.0,
        notional: 1e6,
    };
    ours(&path("swaption"), || black_box(&swaption).value().expect("valid"), |found| found.price);
}

fn rest_of_options() {
    let put = EuropeanOption { option_type: OptionType::Put, ..call() };
    let tree = Tree::LeisenReimer;
    let american = || american::evaluate(black_box(&put), tree, 501).expect("valid");
    ours("/quantlib/pricing/binomial/american", american, |found| found.price);
    let times = [0.25, 0.5, 0.75];
    let bermudan = || american::evaluate_on_dates(black_box(&put), tree, 501, &times);
    let bermudan = || bermudan().expect("valid");
    ours("/quantlib/pricing/binomial/bermudan", bermudan, |found| found.price);
    let currency = CurrencyOption {
        option_type: OptionType::Call,
        spot: 1.56,
        strike: 1.6,
        domestic_rate: 0.06,
        foreign_rate: 0.08,
        volatility: 0.12,
        time_to_expiry: 0.5,
    };
    let path = "/quantlib/instruments/fx/garman-kohlhagen";
    ours(path, || black_box(&currency).greeks().expect("valid"), |found| found.greeks.price);
    let spread = SpreadOption {
        option_type: OptionType::Call,
        forward1: 100.0,
        forward2: 95.0,
        strike: 5.0,
        risk_free_rate: 0.05,
        volatility1: 0.2,
        volatility2: 0.18,
        correlation: 0.7,
        time_to_maturity: 1.0,
    };
    let value = || black_box(&spread).value().expect("valid");
    ours("/quantlib/pricing/kirk/spread-price", value, |found| found.price);
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
    let last = |found: &Vec<_>| found.len() as f64;
    let periods = || black_box(&rule).periods().expect("valid");
    ours("/quantlib/scheduling/schedule/generate", periods, last);
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
        end_of_month: false, stub: Stub::ShortFront,
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

/// The number of assets of the portfolios.
const ASSETS: usize = 10;

/// A covariance with volatilities from 10 % to 28 % and correlations that fall with the distance.
fn covariance() -> Covariance {
    let volatility = |asset: usize| 0.1 + 0.02 * asset as f64;
    let entry =
        |a: usize, b: usize| volatility(a) * volatility(b) * 0.5_f64.powi(a.abs_diff(b) as i32);
    let rows: Vec<Vec<f64>> =
        (0..ASSETS).map(|a| (0..ASSETS).map(|b| entry(a, b)).collect()).collect();
    Covariance::from_rows(&rows).expect("a square matrix")
}

fn expected_returns() -> Vec<f64> {
    (0..ASSETS).map(|asset| 0.04 + 0.01 * ((7 * asset) % ASSETS) as f64).collect()
}

fn portfolios() {
    let (expected_returns, covariance_matrix) = (expected_returns(), covariance());
    let (risk_free_rate, min_weights) = (0.02, Some(vec![0.0; ASSETS]));
    let path = |name: &str| format!("/quantlib/portfolio/{name}");
    let steepest = MaxSharpe {
        expected_returns: expected_returns.clone(),
        covariance_matrix: covariance_matrix.clone(),
        risk_free_rate,
        min_weights: min_weights.clone(),
        max_weights: None,
    };
    let solve = || black_box(&steepest).solve().expect("a portfolio");
    ours(&path("optimize/max-sharpe"), solve, |found| found.volatility);
    let target = TargetReturn {
        expected_returns: expected_returns.clone(),
        covariance_matrix: covariance_matrix.clone(),
        risk_free_rate,
        min_weights: min_weights.clone(),
        max_weights: None,
        target_return: 0.1,
    };
    let solve = || black_box(&target).solve().expect("a portfolio");
    ours(&path("optimize/target-return"), solve, |found| found.volatility);
    let max_weights = None;
    let covariance = covariance_matrix.clone();
    let frontier = EfficientFrontier {
        expected_returns,
        covariance_matrix,
        risk_free_rate,
        min_weights,
        max_weights,
    };
    let solve = || black_box(&frontier).points(50).expect("a frontier").points;
    let all = |points: &Vec<quant_core::portfolio::Portfolio>| {
        points.iter().map(|point| point.volatility).sum()
    };
    ours(&path("optimize/efficient-frontier"), solve, all);
    let budgets = None;
    let method = RiskParityMethod::Newton;
    let parity = RiskParity { covariance_matrix: covariance.clone(), budgets, method };
    let solve = || black_box(&parity).solve().expect("a portfolio");
    ours(&path("risk-parity"), solve, |found| found.volatility);
    let market_caps: Vec<f64> = (1..=ASSETS).map(|asset| asset as f64).collect();
    let market =
        MarketEquilibrium { covariance_matrix: covariance, market_caps, risk_aversion: 2.5 };
    let implied = || black_box(&market).returns().expect("returns");
    ours(&path("black-litterman/equilibrium"), implied, |found| found.implied_returns[0]);
    let mut weights = vec![0.0; ASSETS];
    (weights[0], weights[1]) = (1.0, -1.0);
    let uncertainty = quant_core::portfolio::black_litterman::Uncertainty::Variance(0.001);
    let view = quant_core::portfolio::black_litterman::View {
        weights,
        expected_return: 0.03,
        uncertainty,
    };
    let model = BlackLitterman { market, tau: 0.05, views: vec![view] };
    let posterior = || black_box(&model).posterior().expect("returns");
    ours(&path("black-litterman/posterior"), posterior, |found| found.posterior_returns[0]);
}

/// Daily returns of a year.
fn returns(seed: u32) -> Vec<f64> {
    // A quadratic residue is a simple sequence that Python repeats to the bit.
    let draw = |day: u32| (u64::from(day + 1) * u64::from(day + 7 * seed + 1) % 509) as f64;
    (0..250).map(|day| 0.0001 * (draw(day) - 250.0)).collect()
}

fn risk_of_portfolios() {
    let covariance = covariance();
    let weights = vec![1.0 / ASSETS as f64; ASSETS];
    let path = |name: &str| format!("/quantlib/portfolio/risk/{name}");
    let contributions = || risk_contributions(black_box(&weights), &covariance).expect("valid");
    ours(&path("contribution"), contributions, |found| found.contributions[0]);
    let tail = || {
        let volatility = contributions().volatility;
        let (mean, confidence, horizon) = (0.0, 0.95, 1.0);
        let distribution = Distribution::Normal;
        let position = ParametricRisk { mean, volatility, distribution, confidence, horizon };
        position.evaluate().expect("valid")
    };
    ours(&path("var"), tail, |found| found.value_at_risk);
    ours(&path("cvar"), tail, |found| found.expected_shortfall);
    let series = ReturnSeries {
        returns: returns(1),
        benchmark_returns: None,
        risk_free_rate: 0.02,
        target_return: None,
        periods_per_year: 252.0,
    };
    let ratios = || black_box(&series).ratios().expect("ratios");
    ours(&path("ratios"), ratios, |found| found.sharpe.expect("a ratio"));
    let comprehensive = || (ratios(), contributions(), historical(&series.returns, 0.95));
    ours(&path("comprehensive"), comprehensive, |(found, ..)| found.sortino.expect("a ratio"));
}

fn risk_of_series() {
    let series = returns(1);
    let path = |name: &str| format!("/quantlib/risk/{name}");
    let method = SeriesMethod::Historical;
    let risk = || series_risk(black_box(&series), method, 0.99, 1.0).expect("valid");
    ours(&path("var/historical"), risk, |found| found.risk.expected_shortfall);
    let distribution = Distribution::Normal;
    let (mean, volatility, confidence, horizon) = (0.0, 0.02, 0.99, 10.0);
    let position = ParametricRisk { mean, volatility, distribution, confidence, horizon };
    let risk = || black_box(&position).evaluate().expect("valid");
    ours(&path("var/parametric"), risk, |found| found.value_at_risk);
    let named = |index: u32| (format!("f{index}"), returns(index));
    let portfolio = ComponentRisk {
        returns_by_factor: (0..20).map(named).collect(),
        weights: (0..20).map(|index| (format!("f{index}"), 0.05)).collect(),
        distribution: Distribution::Normal,
        covariance_estimator: CovarianceEstimator::Sample,
        confidence: 0.99,
        portfolio_value: 1e6,
    };
    let components = || black_box(&portfolio).contributions().expect("valid");
    ours(&path("var/component"), components, |found| found.risk.value_at_risk);
    let estimates = vec![0.02; 250];
    let tested = || backtest(black_box(&series), &estimates, 0.99).expect("valid");
    ours(&path("backtest"), tested, |found| found.kupiec.statistic);
    let shocks: Vec<(String, f64)> = returns(4)
        .into_iter()
        .take(100)
        .enumerate()
        .map(|(at, shock)| (format!("f{at}"), shock))
        .collect();
    let scenario = || stress(black_box(&shocks), None, 1e6).expect("valid");
    ours(&path("stress/scenario"), scenario, |found| found.profit_and_loss);
}

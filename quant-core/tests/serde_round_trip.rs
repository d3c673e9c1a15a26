//! Every public type is the same after serialisation and deserialisation, bit for bit.

use std::fmt::Debug;

use quant_core::analysis::{
    AccrualMethod, AltmanZ, BeneishAccounts, BeneishIndex, BeneishM, DiscountedCashFlow,
    DistressZone, PiotroskiAccounts, PiotroskiF, Signal,
};
use quant_core::cash_flows::{
    Loan, dated_internal_rates, internal_rates, net_present_value, z_spread,
};
use quant_core::curves::{
    Compounding, Curve, CurveType, Instrument, InstrumentKind, Interpolation, Market, NelsonSiegel,
    NelsonSiegelSvensson, RateConventions, ShiftSpace, overnight_quotes,
};
use quant_core::instruments::{CurveRole, LevelCouponBond, RateSource, ZeroCouponBond, g_spread};
use quant_core::portfolio::{
    ConstrainedFrontier,
    black_litterman::{Uncertainty, View},
    constrained::{ConstrainedProblem, Goal, LinearConstraint, TurnoverLimit},
    risk_parity::RiskParityMethod,
};
use quant_core::prelude::*;
use quant_core::pricing::{
    Caplet, CurrencyOption, ForwardOption, NormalOption, QuotedOption, SpreadOption, Swaption,
    american,
};
use quant_core::risk::{
    ComponentRisk, CovarianceEstimator, Distribution, Moments, MonteCarlo, ParametricRisk,
    SeriesMethod, backtest, historical, ledoit_wolf, series_risk, stress,
};
use quant_core::time::{JointCalendar, PeriodKind, Reference, RollConvention, ScheduleRule, Stub};
use serde::{Serialize, de::DeserializeOwned};

fn same_after_a_round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).expect("a text");
    assert_eq!(&serde_json::from_str::<T>(&text).expect(&text), value, "{text}");
}

fn date(text: &str) -> NaiveDate {
    text.parse().expect("a date")
}

fn option() -> EuropeanOption {
    EuropeanOption {
        option_type: OptionType::Put,
        spot: 100.0,
        strike: 105.0,
        risk_free_rate: 0.05,
        dividend_yield: 0.02,
        volatility: 0.25,
        time_to_maturity: 0.7,
    }
}

#[test]
fn options_on_forwards_rates_and_currencies() {
    let (option_type, time) = (OptionType::Put, 1.5);
    let forward = ForwardOption {
        option_type,
        forward: 100.0,
        strike: 105.0,
        risk_free_rate: 0.05,
        volatility: 0.2,
        time_to_maturity: time,
    };
    same_after_a_round_trip(&forward);
    same_after_a_round_trip(&forward.greeks().expect("greeks"));
    same_after_a_round_trip(&NormalOption {
        option_type,
        forward: -0.01,
        strike: 0.02,
        risk_free_rate: 0.05,
        normal_volatility: 0.005,
        time_to_maturity: time,
    });
    let caplet = Caplet {
        option_type,
        forward_rate: 0.05,
        strike: 0.048,
        discount_factor: 0.95,
        volatility: 0.2,
        start_time: 1.0,
        end_time: 1.25,
        notional: 1e6,
    };
    same_after_a_round_trip(&caplet);
    same_after_a_round_trip(&caplet.value().expect("a value"));
    same_after_a_round_trip(&Swaption {
        option_type,
        forward_swap_rate: 0.05,
        strike: 0.055,
        annuity: 4.5,
        volatility: 0.2,
        time_to_expiry: time,
        notional: 1e6,
    });
    let currency = CurrencyOption {
        option_type,
        spot: 1.56,
        strike: 1.6,
        domestic_rate: 0.06,
        foreign_rate: 0.08,
        volatility: 0.12,
        time_to_expiry: time,
    };
    same_after_a_round_trip(&currency);
    same_after_a_round_trip(&currency.greeks().expect("greeks"));
    same_after_a_round_trip(&american::evaluate(&option(), Tree::Tian, 20).expect("a price"));
    let bermudan = american::evaluate_on_dates(&option(), Tree::Tian, 20, &[0.3]);
    same_after_a_round_trip(&bermudan.expect("a price"));
    same_after_a_round_trip(&option().digital().expect("a value"));
    let spread = SpreadOption {
        option_type,
        forward1: 100.0,
        forward2: 95.0,
        strike: 5.0,
        risk_free_rate: 0.05,
        volatility1: 0.2,
        volatility2: 0.18,
        correlation: 0.7,
        time_to_maturity: time,
    };
    same_after_a_round_trip(&spread);
    same_after_a_round_trip(&spread.value().expect("a value"));
}

#[test]
fn companies_and_their_scores() {
    let firm = DiscountedCashFlow {
        fcff: vec![110.0, 121.1],
        wacc: 0.09,
        terminal_growth: 0.02,
        shares_outstanding: 10.0,
        net_debt: -3.7,
    };
    same_after_a_round_trip(&firm);
    same_after_a_round_trip(&firm.value().expect("a value"));
    let firm = AltmanZ {
        working_capital: 200.1,
        total_assets: 2000.0,
        retained_earnings: 400.0,
        ebit: 200.0,
        market_cap: 2000.0,
        total_liabilities: 1200.0,
        revenue: 1000.0,
    };
    same_after_a_round_trip(&firm);
    same_after_a_round_trip(&firm.score().expect("a score"));
    let year = PiotroskiAccounts {
        net_income: Some(150.7),
        total_assets: Some(2000.0),
        ..PiotroskiAccounts::default()
    };
    let years = PiotroskiF { current: year, prior: year };
    same_after_a_round_trip(&years);
    same_after_a_round_trip(&years.score().expect("a score"));
    let year = BeneishAccounts { revenue: Some(1000.1), ..BeneishAccounts::default() };
    let years = BeneishM { current: year, prior: year };
    same_after_a_round_trip(&years);
    same_after_a_round_trip(&years.score().expect("a score"));
}

#[test]
fn payments_rates_and_loans() {
    let payments = [-1_600.0, 10_000.0, -10_000.0];
    same_after_a_round_trip(&internal_rates(&payments, None).expect("rates"));
    let dates = [date("2024-01-01"), date("2025-01-01"), date("2026-01-01")];
    same_after_a_round_trip(&dated_internal_rates(&payments, &dates).expect("rates"));
    same_after_a_round_trip(&net_present_value(&payments, None, 0.1).expect("a value"));
    let loan = Loan { principal: 1e4, annual_rate: 0.08, n_periods: 10, frequency: 12 };
    same_after_a_round_trip(&loan);
    same_after_a_round_trip(&loan.amortization().expect("a table"));
    let spread = z_spread(98.0, &[104.0], &[1.0], &[0.03], Compounding::Annual);
    same_after_a_round_trip(&spread.expect("a spread"));
    same_after_a_round_trip(&g_spread(0.05, 0.04).expect("a spread"));
}

#[test]
fn bonds_by_years_and_of_one_payment() {
    let bond = LevelCouponBond {
        coupon_rate: 0.045,
        maturity: 2.3,
        face_value: 100.0,
        frequency: Frequency::Semiannual,
    };
    same_after_a_round_trip(&bond);
    let (zero, shape) = (CurveType::Zero, Interpolation::Linear);
    let curve = Curve::from_values(date("2026-01-15"), &[1.0], &[0.03], zero, shape);
    let curve = curve.expect("a curve");
    let swap = bond.asset_swap_spread(98.0, &curve, Frequency::Quarterly);
    same_after_a_round_trip(&swap.expect("a spread"));
    let bond = ZeroCouponBond {
        issue_date: date("2024-01-15"),
        maturity_date: date("2029-01-15"),
        face_value: 100.0,
        day_count: DayCount::Act365,
        calendar: Calendar::None,
    };
    same_after_a_round_trip(&bond);
    let found = bond.value(bond.issue_date, 0.04, Compounding::Annual);
    same_after_a_round_trip(&found.expect("a price"));
}

#[test]
fn options_and_their_prices() {
    let option = option();
    same_after_a_round_trip(&option);
    same_after_a_round_trip(&option.greeks().expect("greeks"));
    let (direction, knock) = (Direction::Up, Knock::In);
    same_after_a_round_trip(&BarrierOption {
        option,
        barrier: 120.0,
        direction,
        knock,
        rebate: 1.0,
    });
    same_after_a_round_trip(&QuotedOption {
        option_type: OptionType::Call,
        spot: 21.0,
        strike: 20.0,
        risk_free_rate: 0.1,
        dividend_yield: 0.0,
        price: 1.875,
        time_to_maturity: 0.25,
    });
    let exchange = ExchangeOption {
        spot1: 22.0,
        spot2: 20.0,
        dividend_yield1: 0.06,
        dividend_yield2: 0.04,
        volatility1: 0.2,
        volatility2: 0.15,
        correlation: -0.5,
        time_to_maturity: 0.1,
    };
    same_after_a_round_trip(&exchange);
    same_after_a_round_trip(&exchange.prices().expect("prices"));
    same_after_a_round_trip(&exchange.deltas().expect("deltas"));
}

#[test]
fn consumers_banks_and_entropies() {
    let consumer = CobbDouglas { alpha: 0.25, income: 100.0, prices: [5.0, 3.0] };
    same_after_a_round_trip(&consumer);
    same_after_a_round_trip(&consumer.optimum().expect("an optimum"));
    let consumer = Ces { rho: 0.3, weights: [0.4, 0.6], income: 100.0, prices: [1.0, 4.0] };
    same_after_a_round_trip(&consumer);
    same_after_a_round_trip(&consumer.optimum().expect("an optimum"));
    let capital = Capital {
        cet1_capital: 45.0,
        tier1_capital: 62.5,
        total_capital: 95.0,
        risk_weighted_assets: 1000.0,
        total_exposure: Some(1500.0),
    };
    same_after_a_round_trip(&capital);
    same_after_a_round_trip(&capital.ratios().expect("ratios"));
    same_after_a_round_trip(&capital.surplus().expect("figures"));
    let (x, y) = ([0.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0, 0.0]);
    let found = quant_core::entropy::transfer_entropies(&x, &y, 1, 2).expect("entropies");
    same_after_a_round_trip(&found);
}

#[test]
fn portfolios() {
    let covariance_matrix = Covariance::from([[0.04, 0.006], [0.006, 0.01]]);
    same_after_a_round_trip(&covariance_matrix);
    let least = MinVariance {
        covariance_matrix: covariance_matrix.clone(),
        min_weights: Some(vec![0.0; 2]),
        max_weights: None,
    };
    same_after_a_round_trip(&least);
    let found = least.solve().expect("a portfolio");
    same_after_a_round_trip(&found);
    same_after_a_round_trip(&least.detail(&found).expect("figures"));
    let (expected_returns, risk_free_rate) = (vec![0.09, 0.05], 0.02);
    let (min_weights, max_weights) = (Some(vec![0.0; 2]), None);
    let sharpe = MaxSharpe {
        expected_returns: expected_returns.clone(),
        covariance_matrix: covariance_matrix.clone(),
        risk_free_rate,
        min_weights: min_weights.clone(),
        max_weights: max_weights.clone(),
    };
    same_after_a_round_trip(&sharpe);
    same_after_a_round_trip(&sharpe.solve().expect("a portfolio"));
    let frontier = EfficientFrontier {
        expected_returns: expected_returns.clone(),
        covariance_matrix: covariance_matrix.clone(),
        risk_free_rate,
        min_weights: min_weights.clone(),
        max_weights: max_weights.clone(),
    };
    same_after_a_round_trip(&frontier);
    same_after_a_round_trip(&frontier.solve().expect("a frontier"));
    same_after_a_round_trip(&frontier.points(3).expect("points"));
    same_after_a_round_trip(&ConstrainedFrontier {
        assets: frontier,
        constraints: Vec::new(),
        turnover: None,
    });
    same_after_a_round_trip(&TargetReturn {
        expected_returns,
        covariance_matrix,
        risk_free_rate,
        min_weights,
        max_weights,
        target_return: 0.07,
    });
}

#[test]
fn risk_and_performance_of_portfolios() {
    let covariance_matrix = Covariance::from([[0.04, 0.006], [0.006, 0.01]]);
    let contributions = risk_contributions(&[0.3, 0.7], &covariance_matrix);
    same_after_a_round_trip(&contributions.expect("contributions"));
    let group = LinearConstraint { coefficients: vec![1.0, 0.0], min: Some(0.25), max: None };
    let current_weights = vec![0.5, 0.5];
    for goal in [Goal::MinVariance, Goal::TargetReturn(0.07), Goal::MaxSharpe] {
        let problem = ConstrainedProblem {
            expected_returns: vec![0.09, 0.05],
            covariance_matrix: covariance_matrix.clone(),
            risk_free_rate: 0.02,
            min_weights: None,
            max_weights: None,
            constraints: vec![group.clone()],
            turnover: Some(TurnoverLimit {
                current_weights: current_weights.clone(),
                max_turnover: 0.5,
            }),
            goal,
        };
        same_after_a_round_trip(&problem);
        let found = problem.solve().expect("a portfolio");
        same_after_a_round_trip(&problem.detail(&found).expect("figures"));
        same_after_a_round_trip(&found);
    }
    let parity = RiskParity {
        covariance_matrix: covariance_matrix.clone(),
        budgets: Some(vec![0.25, 0.75]),
        method: RiskParityMethod::CyclicalCoordinateDescent,
    };
    same_after_a_round_trip(&parity);
    same_after_a_round_trip(&parity.solve().expect("a portfolio"));
    let market =
        MarketEquilibrium { covariance_matrix, market_caps: vec![3.0, 1.0], risk_aversion: 2.5 };
    same_after_a_round_trip(&market);
    same_after_a_round_trip(&market.returns().expect("returns"));
    let view = |uncertainty| View { weights: vec![1.0, -1.0], expected_return: 0.03, uncertainty };
    let kinds =
        [Uncertainty::Proportional, Uncertainty::Variance(0.01), Uncertainty::Confidence(0.5)];
    let model = BlackLitterman { market, tau: 0.05, views: kinds.map(view).to_vec() };
    same_after_a_round_trip(&model);
    same_after_a_round_trip(&model.posterior().expect("a posterior"));
    let series = ReturnSeries {
        returns: vec![0.02, -0.01, 0.03],
        benchmark_returns: Some(vec![0.01, 0.0, 0.02]),
        risk_free_rate: 0.01,
        target_return: None,
        periods_per_year: 12.0,
    };
    same_after_a_round_trip(&series);
    same_after_a_round_trip(&series.ratios().expect("ratios"));
}

#[test]
fn curves() {
    let today = date("2026-11-20");
    for &interpolation in Interpolation::ALL {
        let (tenors, rates) = ([0.5, 2.0, 10.0], [0.03, -0.001, 0.041]);
        let curve = Curve::from_values(today, &tenors, &rates, CurveType::Zero, interpolation);
        let curve = curve.expect("a curve");
        same_after_a_round_trip(&curve);
        same_after_a_round_trip(&curve.pillars().to_vec());
        same_after_a_round_trip(&curve.at(1.3).expect("a point"));
        same_after_a_round_trip(&curve.between(1.0, 3.0).expect("a period"));
        let conventions =
            RateConventions { day_count: Some(DayCount::Act360), ..Default::default() };
        same_after_a_round_trip(&conventions);
        same_after_a_round_trip(&curve.zero_reading(1.3, &conventions).expect("a reading"));
        same_after_a_round_trip(&curve.forward_reading(1.0, 3.0, &conventions).expect("a reading"));
        same_after_a_round_trip(&curve.key_rate_shift(2.0, 1e-4, 2.0).expect("a shifted curve"));
        let quotes = overnight_quotes(None, &rates, None).expect("quotes");
        let report = Curve::bootstrap_with_report(today, &quotes, interpolation);
        same_after_a_round_trip(&report.expect("a curve"));
    }
    for kind in [
        InstrumentKind::Deposit,
        InstrumentKind::ForwardRateAgreement { start: "3M".parse().expect("a tenor") },
        InstrumentKind::Future { start_date: date("2026-12-16"), convexity: 1e-5 },
        InstrumentKind::OvernightIndexedSwap,
        InstrumentKind::Swap,
    ] {
        for conventions in [None, Some(Market::Euro.conventions(kind))] {
            same_after_a_round_trip(&Instrument {
                kind,
                tenor: "1Y6M".parse().expect("a tenor"),
                rate: 0.05,
                frequency: Frequency::Quarterly,
                conventions,
            });
        }
    }
    same_after_a_round_trip(&NelsonSiegelSvensson {
        level: 0.04,
        slope: -0.02,
        curvature: 0.01,
        second_curvature: 0.0,
        decay_time: 1.5,
        second_decay_time: 8.0,
    });
    let hump = NelsonSiegel { level: 0.04, slope: -0.02, curvature: 0.01, decay_time: 1.5 };
    same_after_a_round_trip(&hump);
    same_after_a_round_trip(&hump.quality(&[1.0, 2.0], &[0.03, 0.031]).expect("figures"));
}

#[test]
fn bonds_bills_and_dates() {
    let (issue_date, maturity_date) = (date("2024-01-31"), date("2026-01-31"));
    let bond = FixedBond {
        issue_date,
        maturity_date,
        coupon_rate: 0.05,
        face_value: 100.0,
        frequency: Frequency::Semiannual,
        day_count: DayCount::ActActIcma,
        end_of_month: true,
        stub: Stub::ShortFront,
        calendar: Calendar::UnitedKingdom,
        convention: BusinessDayConvention::ModifiedFollowing,
    };
    same_after_a_round_trip(&bond);
    same_after_a_round_trip(&FixedBond { stub: Stub::LongBack, ..bond });
    same_after_a_round_trip(&bond.cash_flows(Some(issue_date)).expect("flows"));
    let measures = bond.measures(issue_date, 0.04, YieldConvention::Street);
    same_after_a_round_trip(&measures.expect("measures"));
    for quote in [Quote::Price(98.0), Quote::DiscountRate(0.03), Quote::BondEquivalentYield(0.031)]
    {
        let settlement_date = date("2025-10-01");
        let bill = TreasuryBill { settlement_date, maturity_date, face_value: 100.0, quote };
        same_after_a_round_trip(&bill);
        same_after_a_round_trip(&bill.value().expect("a valuation"));
    }
    let mut schedule =
        Schedule::backward(issue_date, maturity_date, Frequency::Annual, false).expect("periods");
    same_after_a_round_trip(&schedule);
    same_after_a_round_trip(&schedule.next());
    let accrual = quant_core::time::Accrual {
        start_date: issue_date,
        end_date: maturity_date,
        day_count: DayCount::ActActIcma,
        frequency: Frequency::Annual,
        regular_period: Some((issue_date, maturity_date)),
        maturity_date: None,
        calendar: JointCalendar {
            holidays: [issue_date].into_iter().collect(),
            ..Calendar::Japan.into()
        },
    };
    same_after_a_round_trip(&accrual);
    same_after_a_round_trip(&accrual.measure().expect("a length"));
    let rule = ScheduleRule {
        effective_date: issue_date,
        termination_date: maturity_date,
        frequency: "10D".parse().expect("a length"),
        stub: Stub::LongBack,
        roll: RollConvention::SameDay,
        calendar: "US+UK".parse().expect("calendars"),
        convention: BusinessDayConvention::Following,
        termination_convention: BusinessDayConvention::Unadjusted,
        day_count: DayCount::Nl365,
    };
    same_after_a_round_trip(&rule);
    same_after_a_round_trip(&rule.periods().expect("periods"));
    same_after_a_round_trip(&Reference {
        period_start: issue_date,
        period_end: maturity_date,
        frequency: Frequency::Annual,
        maturity_date,
        calendar: Calendar::None,
    });
}

#[test]
fn swaps_and_their_values() {
    let today = date("2024-01-15");
    let (tenors, rates) = ([1.0, 5.0], [0.03, 0.035]);
    let shape = Interpolation::Linear;
    let curve =
        Curve::from_values(today, &tenors, &rates, CurveType::Zero, shape).expect("a curve");
    let curves = SwapCurves::single(&curve);
    let terms = LegTerms::unadjusted(Frequency::Annual, DayCount::Act360);
    let swap = InterestRateSwap {
        side: SwapSide::Payer,
        notional: 1e6,
        effective_date: today,
        maturity_date: date("2026-01-15"),
        fixed_rate: 0.03,
        floating_spread: 0.0,
        fixed_terms: terms,
        floating_terms: terms,
        current_fixing: Some(0.031),
    };
    same_after_a_round_trip(&swap);
    same_after_a_round_trip(&swap.value(&curves).expect("a value"));
    same_after_a_round_trip(&swap.dv01(&curves).expect("a risk"));
    same_after_a_round_trip(&OvernightSwap {
        side: swap.side,
        notional: swap.notional,
        effective_date: today,
        maturity_date: swap.maturity_date,
        fixed_rate: swap.fixed_rate,
        floating_spread: 0.0,
        index: OvernightIndex::Estr,
        terms,
        current_fixing: None,
    });
    let agreement = ForwardRateAgreement {
        side: SwapSide::Receiver,
        notional: 1e6,
        fixed_rate: 0.03,
        trade_date: today,
        start_months: 3,
        end_months: 6,
        conventions: Market::Euro.conventions(InstrumentKind::Deposit),
    };
    same_after_a_round_trip(&agreement);
    same_after_a_round_trip(&agreement.value(&curves).expect("a value"));
    let deposit = Deposit {
        start_date: today,
        maturity_date: date("2024-04-15"),
        notional: 1e6,
        rate: 0.05,
        day_count: DayCount::Act360,
        calendar: Calendar::None,
        convention: BusinessDayConvention::Unadjusted,
    };
    same_after_a_round_trip(&deposit);
    same_after_a_round_trip(&deposit.value().expect("a value"));
    let forward = CurrencyForward {
        pair: "USDJPY".parse().expect("a pair"),
        spot_rate: 150.0,
        base_rate: 0.05,
        quote_rate: 0.01,
        compounding: Compounding::Simple,
        time_to_maturity: 0.5,
        notional: 1e6,
        contract_rate: None,
    };
    same_after_a_round_trip(&forward);
    same_after_a_round_trip(&forward.value().expect("a value"));
}

/// Also by its name, in any case.
fn each_is_the_same_after_a_round_trip<T>(values: &[T])
where
    T: Serialize + DeserializeOwned + PartialEq + Debug + ToString + std::str::FromStr + Copy,
    T::Err: Debug,
{
    for value in values {
        same_after_a_round_trip(value);
        let name = value.to_string();
        assert_eq!(serde_json::to_string(value).expect("a text"), format!("\"{name}\""));
        for text in [name.to_lowercase(), name.to_uppercase()] {
            assert_eq!(&text.parse::<T>().expect("a value"), value, "{text}");
        }
    }
    assert!("no such name".parse::<T>().is_err());
}

#[test]
fn enumerations_by_their_names() {
    each_is_the_same_after_a_round_trip(OptionType::ALL);
    each_is_the_same_after_a_round_trip(Direction::ALL);
    each_is_the_same_after_a_round_trip(Knock::ALL);
    each_is_the_same_after_a_round_trip(Tree::ALL);
    each_is_the_same_after_a_round_trip(Exercise::ALL);
    each_is_the_same_after_a_round_trip(Function::ALL);
    each_is_the_same_after_a_round_trip(Scheme::ALL);
    each_is_the_same_after_a_round_trip(CurveType::ALL);
    each_is_the_same_after_a_round_trip(Compounding::ALL);
    each_is_the_same_after_a_round_trip(ShiftSpace::ALL);
    each_is_the_same_after_a_round_trip(quant_core::portfolio::BindingBound::ALL);
    each_is_the_same_after_a_round_trip(Market::ALL);
    each_is_the_same_after_a_round_trip(RiskParityMethod::ALL);
    each_is_the_same_after_a_round_trip(Interpolation::ALL);
    each_is_the_same_after_a_round_trip(quant_core::instruments::CashFlowKind::ALL);
    each_is_the_same_after_a_round_trip(YieldConvention::ALL);
    each_is_the_same_after_a_round_trip(SwapSide::ALL);
    each_is_the_same_after_a_round_trip(OvernightIndex::ALL);
    each_is_the_same_after_a_round_trip(RateSource::ALL);
    each_is_the_same_after_a_round_trip(CurveRole::ALL);
    each_is_the_same_after_a_round_trip(Calendar::ALL);
    each_is_the_same_after_a_round_trip(BusinessDayConvention::ALL);
    each_is_the_same_after_a_round_trip(Frequency::ALL);
    each_is_the_same_after_a_round_trip(DayCount::ALL);
    each_is_the_same_after_a_round_trip(Stub::ALL);
    each_is_the_same_after_a_round_trip(RollConvention::ALL);
    each_is_the_same_after_a_round_trip(PeriodKind::ALL);
    each_is_the_same_after_a_round_trip(DistressZone::ALL);
    each_is_the_same_after_a_round_trip(Signal::ALL);
    each_is_the_same_after_a_round_trip(quant_core::entropy::InformationUnit::ALL);
    each_is_the_same_after_a_round_trip(BeneishIndex::ALL);
    each_is_the_same_after_a_round_trip(AccrualMethod::ALL);
}

#[test]
fn an_error_is_written_with_its_code_and_its_argument() {
    let error = EuropeanOption { volatility: -0.2, ..option() }.price().expect_err("refused");
    let json = serde_json::to_value(&error).expect("a value");
    assert_eq!((&json["code"], &json["argument"]), (&"domain".into(), &"volatility".into()));
    assert_eq!(json["message"], error.to_string());
}

#[test]
fn risk_of_returns_and_factors() {
    let returns = [0.01, -0.02, 0.015, -0.015, 0.005, 0.02];
    let position = ParametricRisk {
        mean: 0.001,
        volatility: 0.02,
        distribution: Distribution::StudentT { degrees_of_freedom: 5.0 },
        confidence: 0.99,
        horizon: 10.0,
    };
    same_after_a_round_trip(&position);
    same_after_a_round_trip(&position.evaluate().expect("figures"));
    same_after_a_round_trip(&MonteCarlo { position, simulations: 100, seed: 42 });
    for method in [SeriesMethod::Historical, SeriesMethod::Ewma { decay: 0.94 }] {
        same_after_a_round_trip(&method);
        same_after_a_round_trip(&series_risk(&returns, method, 0.95, 1.0).expect("figures"));
    }
    same_after_a_round_trip(&historical(&returns, 0.95).expect("figures"));
    same_after_a_round_trip(&Moments::of(&returns).expect("moments"));
    same_after_a_round_trip(&backtest(&returns, &[0.01; 6], 0.95).expect("tests"));
    same_after_a_round_trip(&ledoit_wolf(&[returns.to_vec(), vec![0.1; 6]]).expect("a matrix"));
    let portfolio = ComponentRisk {
        returns_by_factor: vec![("equity".to_owned(), returns.to_vec())],
        weights: vec![("equity".to_owned(), 0.5)],
        distribution: Distribution::Normal,
        covariance_estimator: CovarianceEstimator::LedoitWolf,
        confidence: 0.95,
        portfolio_value: 1e6,
    };
    same_after_a_round_trip(&portfolio);
    same_after_a_round_trip(&portfolio.contributions().expect("contributions"));
    same_after_a_round_trip(&stress(&portfolio.weights, None, 1e6).expect("a result"));
}

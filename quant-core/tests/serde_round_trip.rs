//! Every public type is the same after serialisation and deserialisation, bit for bit.

use std::fmt::Debug;

use quant_core::curves::{
    Compounding, Curve, CurveType, Instrument, InstrumentKind, Interpolation, Market, NelsonSiegel,
    NelsonSiegelSvensson, RateConventions, ShiftSpace, overnight_quotes,
};
use quant_core::prelude::*;
use quant_core::pricing::{
    Caplet, CurrencyOption, ForwardOption, NormalOption, QuotedOption, SpreadOption, Swaption,
    american,
};
use quant_core::time::Reference;
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
fn consumers_and_banks() {
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
        calendar: Calendar::UnitedKingdom,
        convention: BusinessDayConvention::ModifiedFollowing,
    };
    same_after_a_round_trip(&bond);
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
    same_after_a_round_trip(&Reference {
        period_start: issue_date,
        period_end: maturity_date,
        frequency: Frequency::Annual,
        maturity_date,
        calendar: Calendar::None,
    });
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
    each_is_the_same_after_a_round_trip(Interpolation::ALL);
    each_is_the_same_after_a_round_trip(quant_core::instruments::CashFlowKind::ALL);
    each_is_the_same_after_a_round_trip(YieldConvention::ALL);
    each_is_the_same_after_a_round_trip(Calendar::ALL);
    each_is_the_same_after_a_round_trip(BusinessDayConvention::ALL);
    each_is_the_same_after_a_round_trip(Frequency::ALL);
    each_is_the_same_after_a_round_trip(DayCount::ALL);
}

#[test]
fn an_error_is_written_with_its_code_and_its_argument() {
    let error = EuropeanOption { volatility: -0.2, ..option() }.price().expect_err("refused");
    let json = serde_json::to_value(&error).expect("a value");
    assert_eq!((&json["code"], &json["argument"]), (&"domain".into(), &"volatility".into()));
    assert_eq!(json["message"], error.to_string());
}

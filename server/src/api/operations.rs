//! The table of metered operations, with tier, cost, largest body and computation.
//!
//! The guard, the generated document, `docs/computations.md` and the tools of the MCP endpoint are
//! made from this table. The routes are compared with the table at the start: an endpoint with another body
//! than its line names is refused.

use std::{borrow::Cow, ops::Deref};

use account_core::Tier;
use poem_openapi::types::{Example, ToJSON};
use serde_json::Value;

use super::quantlib::{
    RequestFor, analysis,
    analysis::scores,
    curves,
    curves::{fit, quotes, reading, shift},
    economics, entropy, instruments,
    instruments::{
        bonds, deposits, foreign_exchange, forward_rate_agreements as agreements,
        interest_rate_swaps as swaps, overnight_swaps,
    },
    numerical, portfolio,
    portfolio::{black_litterman, contribution, optimal, performance, risk_parity},
    pricing,
    pricing::{american, bachelier, black76, digital, greeks, kirk, rate_options},
    regulatory,
    risk::{backtest, component, comprehensive, portfolio as tail, stress, value_at_risk},
    scheduling,
    scheduling::{day_counts, schedules},
    solver::{finance, finance::bonds as bond_spreads},
    time,
};
use crate::http::{COMMON_BODY_LIMIT, Computation, Evaluator, Operation};

/// A metered operation with its computation.
#[derive(Clone, Copy)]
pub struct MeteredOperation {
    operation: Operation,
    /// The computation, for callers other than the REST endpoint.
    pub evaluator: Evaluator,
    body_name: fn() -> Cow<'static, str>,
    example_answer: fn() -> Value,
}

impl Deref for MeteredOperation {
    type Target = Operation;

    fn deref(&self) -> &Operation {
        &self.operation
    }
}

impl MeteredOperation {
    const fn with_body_limit(mut self, bytes: usize) -> Self {
        self.operation.body_limit = bytes;
        self
    }

    /// Returns the name of the body's schema in the generated document.
    #[must_use]
    pub fn body_name(&self) -> Cow<'static, str> {
        (self.body_name)()
    }

    /// The data of the answer to the computation's own example, so that no documented answer is
    /// invented.
    #[must_use]
    pub fn example_answer(&self) -> Value {
        (self.example_answer)()
    }
}

/// Published beside the marker of the pricing endpoints.
const PRICING: &str = "Published with 2 credits (Standard) as well; the marker of the endpoint, \
                       5 credits (Pro), is charged.";
/// Published beside the marker of the endpoints that are marked ENTERPRISE.
const ENTROPY: &str = "Published with 5 credits (Pro) as well; the marker of the endpoint, 10 \
                       credits (Enterprise), is charged.";
const BASEL: &str = "Published with 5 credits as well; the marker of the endpoint, 10 credits \
                     (Enterprise), is charged.";

const MEBIBYTE: usize = 1024 * 1024;

/// Every metered operation, in the order of the interface documents.
///
/// The cost in each line must be `Tier::credits` of its tier (`account-core/src/tier.rs`); a test
/// below fails otherwise.
///
/// The body of an operation has at most 256 KiB, unless its line says otherwise.
pub static METERED: &[MeteredOperation] = &[
    // The first fourteen of the interface.
    line::<economics::CobbDouglas>("find_cobb_douglas_demand", Tier::Standard, 2, None),
    line::<economics::Ces>("find_ces_demand", Tier::Standard, 2, None),
    line::<portfolio::MinVariance>("find_min_variance_portfolio", Tier::Pro, 5, None)
        .with_body_limit(16 * MEBIBYTE),
    line::<pricing::European>("price_european_option", Tier::Pro, 5, Some(PRICING)),
    line::<pricing::Barrier>("price_barrier_option", Tier::Pro, 5, Some(PRICING)),
    line::<pricing::Exchange>("price_exchange_option", Tier::Pro, 5, Some(PRICING)),
    line::<numerical::Derivative>("differentiate_function", Tier::Basic, 1, None),
    line::<regulatory::Capital>("compute_capital_ratios", Tier::Enterprise, 10, Some(BASEL)),
    line::<entropy::Transfer>("measure_transfer_entropy", Tier::Enterprise, 10, Some(ENTROPY))
        .with_body_limit(6 * MEBIBYTE),
    line::<entropy::Shannon>("measure_shannon_entropy", Tier::Enterprise, 10, Some(ENTROPY))
        .with_body_limit(16 * MEBIBYTE),
    line::<instruments::FixedBond>("list_bond_cashflows", Tier::Pro, 5, None),
    line::<instruments::TreasuryBill>("value_treasury_bill", Tier::Pro, 5, None),
    line::<curves::Build>("build_curve", Tier::Standard, 2, None),
    line::<time::TenorAddition>("add_tenor_to_date", Tier::Free, 0, None),
    // Options in closed form and on trees.
    line::<RequestFor<greeks::UsualGreeks>>("compute_european_greeks", Tier::Pro, 5, None),
    line::<RequestFor<greeks::AllGreeks>>("compute_all_european_greeks", Tier::Pro, 5, None),
    line::<greeks::QuotedEuropean>("imply_european_volatility", Tier::Pro, 5, None),
    line::<RequestFor<black76::Black76Price>>("price_forward_option", Tier::Pro, 5, None),
    line::<RequestFor<black76::Black76Greeks>>("compute_forward_greeks", Tier::Pro, 5, None),
    line::<RequestFor<black76::Black76Volatility>>("imply_forward_volatility", Tier::Pro, 5, None),
    line::<RequestFor<rate_options::Caplet>>("price_caplet", Tier::Pro, 5, None),
    line::<RequestFor<rate_options::Floorlet>>("price_floorlet", Tier::Pro, 5, None),
    line::<rate_options::Swaption>("price_swaption", Tier::Pro, 5, None),
    line::<RequestFor<bachelier::BachelierPrice>>("price_normal_option", Tier::Pro, 5, None),
    line::<RequestFor<bachelier::BachelierGreeks>>("compute_normal_greeks", Tier::Pro, 5, None),
    line::<RequestFor<bachelier::BachelierVolatility>>(
        "imply_normal_volatility",
        Tier::Pro,
        5,
        None,
    ),
    line::<american::American>("price_american_option", Tier::Pro, 5, None),
    line::<foreign_exchange::Currency>("price_currency_option", Tier::Pro, 5, None),
    line::<RequestFor<digital::DigitalCall>>("price_digital_call", Tier::Pro, 5, None),
    line::<RequestFor<digital::DigitalPut>>("price_digital_put", Tier::Pro, 5, None),
    line::<american::Bermudan>("price_bermudan_option", Tier::Pro, 5, None),
    line::<kirk::Spread>("price_spread_option", Tier::Pro, 5, None),
    // Dates, day counts, calendars and schedules.
    line::<RequestFor<scheduling::DayStatus>>("check_business_day", Tier::Free, 0, None),
    line::<RequestFor<scheduling::NextDay>>("find_next_business_day", Tier::Free, 0, None),
    line::<RequestFor<scheduling::PreviousDay>>("find_previous_business_day", Tier::Free, 0, None),
    line::<scheduling::DayAddition>("add_business_days", Tier::Free, 0, None),
    line::<scheduling::DaySpan>("count_business_days", Tier::Free, 0, None),
    line::<RequestFor<scheduling::CalendarList>>("list_calendars", Tier::Free, 0, None),
    line::<scheduling::Adjustment>("adjust_date", Tier::Free, 0, None),
    line::<day_counts::YearFraction>("compute_year_fraction", Tier::Free, 0, None),
    line::<RequestFor<day_counts::ConventionList>>("list_day_counts", Tier::Free, 0, None),
    line::<schedules::Schedule>("generate_schedule", Tier::Free, 0, None),
    // Company valuation and scores.
    line::<analysis::Firm>("value_firm", Tier::Standard, 2, None),
    line::<scores::Altman>("score_financial_distress", Tier::Standard, 2, None),
    line::<RequestFor<scores::Piotroski>>("score_financial_strength", Tier::Standard, 2, None),
    line::<RequestFor<scores::Beneish>>("score_earnings_manipulation", Tier::Standard, 2, None),
    // Readings and shifts of a curve.
    line::<reading::ReadCurve>("read_discount_factor", Tier::Standard, 2, None),
    line::<reading::ReadCurve>("read_zero_rate", Tier::Standard, 2, None),
    line::<reading::ReadForward>("read_forward_rate", Tier::Standard, 2, None),
    line::<reading::ReadPoints>("read_curve_points", Tier::Standard, 2, None),
    line::<shift::ParallelShift>("shift_curve", Tier::Standard, 2, None),
    line::<shift::KeyRateShift>("shift_key_rate", Tier::Standard, 2, None),
    line::<RequestFor<fit::FitNelsonSiegel>>("fit_nelson_siegel", Tier::Standard, 2, None),
    line::<RequestFor<fit::FitSvensson>>("fit_svensson", Tier::Standard, 2, None),
    line::<quotes::Bootstrap>("bootstrap_curve", Tier::Basic, 1, None),
    line::<quotes::OvernightCurve>("build_ois_curve", Tier::Pro, 5, None),
    // Bonds, spreads and the time value of money.
    line::<RequestFor<bonds::PriceOfBond>>("price_bond", Tier::Pro, 5, None),
    line::<bonds::QuotedBond>("find_bond_yield", Tier::Pro, 5, None),
    line::<RequestFor<bonds::AnalyticsOfBond>>("analyze_bond", Tier::Pro, 5, None),
    line::<bonds::ZeroCoupon>("price_zero_coupon_bond", Tier::Pro, 5, None),
    line::<finance::InternalRate>("find_internal_rates", Tier::Basic, 1, None),
    line::<finance::DatedRate>("find_dated_internal_rates", Tier::Basic, 1, None)
        .with_body_limit(MEBIBYTE),
    line::<finance::PresentValue>("compute_net_present_value", Tier::Basic, 1, None),
    line::<finance::Loan>("amortize_loan", Tier::Basic, 1, None),
    line::<bond_spreads::PricedPayments>("find_z_spread", Tier::Basic, 1, None)
        .with_body_limit(MEBIBYTE),
    line::<bond_spreads::Yields>("compute_g_spread", Tier::Basic, 1, None),
    line::<bond_spreads::AssetSwap>("compute_asset_swap_spread", Tier::Basic, 1, None),
    line::<bond_spreads::LevelBond>("compute_bond_duration", Tier::Basic, 1, None),
    line::<bond_spreads::LevelBond>("compute_bond_convexity", Tier::Basic, 1, None),
    line::<bond_spreads::LevelBond>("compute_bond_dv01", Tier::Basic, 1, None),
    // Swaps, forwards and deposits.
    line::<RequestFor<swaps::IrsValue>>("value_interest_rate_swap", Tier::Pro, 5, None),
    line::<RequestFor<swaps::IrsParRate>>("find_swap_par_rate", Tier::Pro, 5, None),
    line::<RequestFor<swaps::IrsDv01>>("compute_swap_dv01", Tier::Pro, 5, None),
    line::<overnight_swaps::OvernightSwap>("value_overnight_swap", Tier::Pro, 5, None),
    line::<RequestFor<agreements::FraValue>>("value_forward_rate_agreement", Tier::Pro, 5, None),
    line::<RequestFor<agreements::FraBreakEven>>("find_break_even_rate", Tier::Pro, 5, None),
    line::<deposits::Deposit>("value_deposit", Tier::Pro, 5, None),
    line::<foreign_exchange::PairForward>("value_currency_forward", Tier::Pro, 5, None),
    // Portfolios.
    line::<optimal::MaxSharpe>("find_max_sharpe_portfolio", Tier::Pro, 5, None)
        .with_body_limit(16 * MEBIBYTE),
    line::<optimal::EfficientFrontier>("trace_efficient_frontier", Tier::Pro, 5, None)
        .with_body_limit(16 * MEBIBYTE),
    line::<optimal::TargetReturn>("find_target_return_portfolio", Tier::Pro, 5, None)
        .with_body_limit(16 * MEBIBYTE),
    line::<performance::Ratios>("compute_performance_ratios", Tier::Pro, 5, None)
        .with_body_limit(6 * MEBIBYTE),
    line::<risk_parity::RiskParity>("find_risk_parity_portfolio", Tier::Pro, 5, None)
        .with_body_limit(16 * MEBIBYTE),
    line::<contribution::Contribution>("divide_portfolio_risk", Tier::Pro, 5, None)
        .with_body_limit(16 * MEBIBYTE),
    line::<black_litterman::Equilibrium>("imply_equilibrium_returns", Tier::Pro, 5, None)
        .with_body_limit(16 * MEBIBYTE),
    line::<black_litterman::Posterior>("revise_expected_returns", Tier::Pro, 5, None)
        .with_body_limit(16 * MEBIBYTE),
    // Risk.
    line::<tail::TailRequest>("find_portfolio_var", Tier::Pro, 5, None)
        .with_body_limit(16 * MEBIBYTE),
    line::<tail::TailRequest>("find_portfolio_cvar", Tier::Pro, 5, None)
        .with_body_limit(16 * MEBIBYTE),
    line::<comprehensive::Comprehensive>("measure_portfolio_risk", Tier::Pro, 5, None)
        .with_body_limit(16 * MEBIBYTE),
    line::<value_at_risk::HistoricalVar>("find_historical_var", Tier::Pro, 5, None)
        .with_body_limit(4 * MEBIBYTE),
    line::<value_at_risk::ParametricVar>("find_parametric_var", Tier::Pro, 5, None),
    line::<component::FactorReturns>("divide_var", Tier::Pro, 5, None)
        .with_body_limit(16 * MEBIBYTE),
    line::<backtest::VarEstimates>("backtest_var", Tier::Pro, 5, None)
        .with_body_limit(6 * MEBIBYTE),
    line::<stress::Scenario>("run_stress_scenario", Tier::Pro, 5, None),
];

const fn line<C: Computation + Example>(
    id: &'static str,
    tier: Tier,
    cost: u32,
    remark: Option<&'static str>,
) -> MeteredOperation {
    MeteredOperation {
        operation: Operation { id, tier, cost, body_limit: COMMON_BODY_LIMIT, remark },
        evaluator: Evaluator::of::<C>(),
        body_name: C::name,
        example_answer: example_answer::<C>,
    }
}

fn example_answer<C: Computation + Example>() -> Value {
    let answer = C::example().compute().expect("the example of a computation is sound");
    answer.to_json().expect("an answer is an object")
}

/// Returns the line of the table for an operation id; `None` for an unknown id.
#[must_use]
pub fn find(id: &str) -> Option<&'static MeteredOperation> {
    METERED.iter().find(|operation| operation.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_every_operation_is_the_marker_of_its_tier() {
        for operation in METERED {
            assert_eq!(operation.cost, operation.tier.credits(), "{}", operation.id);
        }
    }

    #[test]
    fn a_free_operation_takes_no_large_body() {
        for operation in METERED.iter().filter(|operation| operation.tier == Tier::Free) {
            assert_eq!(operation.body_limit, COMMON_BODY_LIMIT, "{}", operation.id);
        }
    }
}

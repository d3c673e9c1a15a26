//! Swaps, forward rate agreements, deposits and currency forwards.

use quant_core::curves::{Compounding, Curve, CurveType, InstrumentKind, Interpolation, Market};
use quant_core::instruments::{
    CurrencyForward, Deposit, ForwardRateAgreement, InterestRateSwap, LegTerms, OvernightIndex,
    OvernightSwap, RateRisk, SwapCurves, SwapSide, SwapValue,
};
use quant_core::time::{BusinessDayConvention, Calendar, DayCount, Frequency, NaiveDate};

use crate::lines::{Lines, day};

fn curve(shape: Interpolation, rates: &[f64]) -> Curve {
    let tenors = [0.25, 1.0, 3.0, 7.0, 20.0];
    Curve::from_values(day(2026, 1, 30), &tenors, rates, CurveType::Zero, shape).expect("a curve")
}

fn values(value: &SwapValue, risk: &RateRisk) -> Vec<f64> {
    let mut values = vec![value.npv, value.par_rate.expect("a rate"), value.pv01, risk.dv01];
    values.extend(value.floating_leg.coupons.iter().map(|coupon| coupon.present_value));
    values.extend(risk.buckets.iter().map(|bucket| bucket.dv01));
    values
}

fn terms(frequency: Frequency, day_count: DayCount) -> LegTerms {
    LegTerms {
        calendar: Calendar::Target,
        convention: BusinessDayConvention::ModifiedFollowing,
        payment_lag: 1,
        ..LegTerms::unadjusted(frequency, day_count)
    }
}

fn swaps(lines: &mut Lines, shape: Interpolation, effective_date: NaiveDate) {
    let projection = curve(shape, &[0.021, 0.024, 0.027, 0.031, 0.033]);
    let discount = curve(shape, &[0.019, 0.022, 0.026, 0.029, 0.032]);
    let curves = SwapCurves::dual(&projection, &discount).expect("two curves");
    let maturity_date = day(2038, 11, 17);
    let swap = InterestRateSwap {
        side: SwapSide::Receiver,
        notional: 1e7,
        effective_date,
        maturity_date,
        fixed_rate: 0.029,
        floating_spread: 0.001,
        fixed_terms: terms(Frequency::Annual, DayCount::Thirty360BondBasis),
        floating_terms: terms(Frequency::Semiannual, DayCount::Act360),
        current_fixing: None,
    };
    let (value, risk) = (swap.value(&curves), swap.dv01(&curves));
    let found = values(&value.expect("a value"), &risk.expect("a risk"));
    lines.add("interest rate swap", (shape, effective_date), &found);
    let swap = OvernightSwap {
        side: SwapSide::Payer,
        notional: 1e7,
        effective_date,
        maturity_date,
        fixed_rate: 0.029,
        floating_spread: 0.0,
        index: OvernightIndex::Sonia,
        terms: terms(Frequency::Annual, DayCount::Act365),
        current_fixing: Some(0.02),
    };
    let single = SwapCurves::single(&projection);
    let (value, risk) = (swap.value(&single), swap.dv01(&single));
    let found = values(&value.expect("a value"), &risk.expect("a risk"));
    lines.add("overnight swap", (shape, effective_date), &found);
}

pub(crate) fn lines(lines: &mut Lines) {
    for &shape in Interpolation::ALL {
        for effective_date in [day(2026, 3, 3), day(2024, 9, 30)] {
            swaps(lines, shape, effective_date);
        }
        let curve = curve(shape, &[0.021, 0.024, 0.027, 0.031, 0.033]);
        let agreement = ForwardRateAgreement {
            side: SwapSide::Payer,
            notional: 1e6,
            fixed_rate: 0.025,
            trade_date: day(2026, 1, 30),
            start_months: 5,
            end_months: 11,
            conventions: Market::Euro.conventions(InstrumentKind::Deposit),
        };
        let single = SwapCurves::single(&curve);
        let value = agreement.value(&single).expect("a value");
        let risk = agreement.dv01(&single).expect("a risk");
        lines.add("agreement", shape, &[value.npv, value.break_even_rate, risk.dv01]);
    }
    let deposit = Deposit {
        start_date: day(2026, 1, 30),
        maturity_date: day(2026, 10, 7),
        notional: 1e6,
        rate: 0.0375,
        day_count: DayCount::Act360,
        calendar: Calendar::None,
        convention: BusinessDayConvention::Unadjusted,
    };
    let value = deposit.value().expect("a value");
    let found = [value.interest, value.continuous_rate, value.effective_annual_rate];
    lines.add("deposit", deposit.rate, &found);
    for &compounding in Compounding::ALL {
        let forward = CurrencyForward {
            pair: "USDJPY".parse().expect("a pair"),
            spot_rate: 151.37,
            base_rate: 0.043,
            quote_rate: 0.0075,
            compounding,
            time_to_maturity: 1.7,
            notional: 1e6,
            contract_rate: Some(149.0),
        };
        let value = forward.value().expect("a value");
        let found = [value.forward_rate, value.forward_points, value.npv_quote, value.npv_base];
        lines.add("currency forward", compounding, &found);
    }
}

//! Interest rate swaps.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    explanation::Explanation,
    instruments::{self, LegTerms},
};

use super::{
    BusinessDayConvention, Calendar, DayCount, act_365, frequency, no_calendar,
    swap_curves::{RateRisk, SwapType, SwapValue, ValuationCurves, most_coupons, request_name},
    two, unadjusted,
};
use crate::{
    api::quantlib::{RequestFor, SharedComputation},
    http::{Answer, Date, Metered, Tag, json_string::date},
};

/// The REST endpoints of interest rate swaps.
#[derive(Default)]
pub struct InterestRateSwaps;

#[OpenApi(prefix_path = "/quantlib/instruments/swap/irs", tag = "Tag::Instruments")]
impl InterestRateSwaps {
    /// Value an interest rate swap.
    ///
    /// Fixed payments against the forward rates of the curve, leg by leg, with the par rate.
    /// Payments on or before the reference date are left out. A floating period that has begun pays
    /// `current_fixing`, or else the curve's rate for the rest of it.
    #[oai(path = "/value", method = "post", operation_id = "value_interest_rate_swap")]
    async fn value(&self, call: Metered<RequestFor<IrsValue>>) -> Result<Answer<SwapValue>> {
        call.run().await
    }

    /// Find the par rate of an interest rate swap.
    ///
    /// The fixed rate at which the swap is worth 0. A swap without a fixed payment after the
    /// reference date is refused.
    #[oai(path = "/par-rate", method = "post", operation_id = "find_swap_par_rate")]
    async fn par_rate(&self, call: Metered<RequestFor<IrsParRate>>) -> Result<Answer<SwapParRate>> {
        call.run().await
    }

    /// Compute the DV01 of an interest rate swap.
    ///
    /// Half the difference of the values at zero rates a basis point higher and lower, in parallel
    /// and by pillar, each revalued in full.
    #[oai(path = "/dv01", method = "post", operation_id = "compute_swap_dv01")]
    async fn dv01(&self, call: Metered<RequestFor<IrsDv01>>) -> Result<Answer<SwapRisk>> {
        call.run().await
    }
}

/// An interest rate swap and its curves.
#[derive(Clone, Debug, Object)]
#[oai(rename = "InterestRateSwapRequest", example)]
pub struct InterestRateSwap {
    /// First day of the interest, `YYYY-MM-DD`; also before the reference date.
    pub effective_date: Date,
    /// Last day of the interest; after the effective date.
    pub maturity_date: Date,
    /// Amount on which interest is counted; positive.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub notional: f64,
    /// Fixed rate, an annual decimal; from -2 to 2 (200 %).
    pub fixed_rate: f64,
    /// Fixed payments a year: 1, 2, 3, 4, 6 or 12.
    #[oai(default = "two", validator(minimum(value = "1"), maximum(value = "12")))]
    pub frequency: u32,
    /// The day-count convention of the fixed leg.
    #[oai(default = "act_365")]
    pub day_count: DayCount,
    /// The curves.
    #[oai(flatten)]
    pub curves: ValuationCurves,
    /// The side of the holder.
    #[oai(default)]
    pub swap_type: SwapType,
    /// Floating payments a year: 1, 2, 3, 4, 6 or 12; those of the fixed leg where absent.
    #[oai(
        nullable,
        skip_serializing_if_is_none,
        validator(minimum(value = "1"), maximum(value = "12"))
    )]
    pub floating_frequency: Option<u32>,
    /// The day-count convention of the floating leg; that of the fixed leg where absent.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub floating_day_count: Option<DayCount>,
    /// Rate added to the floating one, an annual decimal.
    #[oai(default)]
    pub floating_spread: f64,
    /// Floating rate of the period that has begun by the reference date, an annual decimal without the
    /// spread; the curve's rate for the rest of the period where absent.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub current_fixing: Option<f64>,
    /// The calendar of business days.
    #[oai(default = "no_calendar")]
    pub calendar: Calendar,
    /// The business-day convention, for the end of a period on a day that is no business day.
    #[oai(default = "unadjusted")]
    pub convention: BusinessDayConvention,
    /// True if payments fall on month ends where maturity is at the end of its month.
    #[oai(default)]
    pub end_of_month: bool,
}

impl InterestRateSwap {
    fn swap(&self) -> quant_core::Result<instruments::InterestRateSwap> {
        let fixed_terms = LegTerms {
            frequency: frequency(self.frequency)?,
            day_count: self.day_count.into(),
            calendar: self.calendar.into(),
            convention: self.convention.into(),
            end_of_month: self.end_of_month,
            payment_lag: 0,
        };
        let count = self.floating_frequency.unwrap_or(self.frequency);
        let floating_terms = LegTerms {
            frequency: frequency(count).map_err(|error| error.renamed(|_| "floating_frequency"))?,
            day_count: self.floating_day_count.unwrap_or(self.day_count).into(),
            ..fixed_terms
        };
        Ok(instruments::InterestRateSwap {
            side: self.swap_type.into(),
            notional: self.notional,
            effective_date: *self.effective_date,
            maturity_date: *self.maturity_date,
            fixed_rate: self.fixed_rate,
            floating_spread: self.floating_spread,
            fixed_terms,
            floating_terms,
            current_fixing: self.current_fixing,
        })
    }

    fn most_coupons(&self) -> usize {
        let frequency = self.frequency.saturating_add(self.floating_frequency.unwrap_or(12));
        most_coupons(self.effective_date, self.maturity_date, frequency)
    }
}

impl Example for InterestRateSwap {
    fn example() -> Self {
        Self {
            effective_date: date(2024, 1, 15),
            maturity_date: date(2026, 1, 15),
            notional: 1_000_000.0,
            fixed_rate: 0.03,
            frequency: 2,
            day_count: act_365(),
            curves: ValuationCurves::example(),
            swap_type: SwapType::Payer,
            floating_frequency: Some(4),
            floating_day_count: Some(DayCount::Act360),
            floating_spread: 0.0,
            current_fixing: None,
            calendar: no_calendar(),
            convention: unadjusted(),
            end_of_month: false,
        }
    }
}

/// The value of an interest rate swap.
pub struct IrsValue;

impl SharedComputation for IrsValue {
    type Request = InterestRateSwap;
    type Answer = SwapValue;

    fn compute(request: &InterestRateSwap) -> quant_core::Result<SwapValue> {
        let curves = request.curves.build()?;
        Ok(request.swap()?.value(&curves.pair()?)?.into())
    }

    fn explain(request: &InterestRateSwap) -> quant_core::Result<Explanation> {
        request.swap()?.explain_value(&request.curves.build()?.pair()?)
    }

    fn is_long(request: &InterestRateSwap) -> bool {
        request.curves.is_long(request.most_coupons())
    }

    fn wire_name(argument: &'static str) -> &'static str {
        request_name(argument)
    }
}

/// The par rate of an interest rate swap.
pub struct IrsParRate;

impl SharedComputation for IrsParRate {
    type Request = InterestRateSwap;
    type Answer = SwapParRate;

    fn compute(request: &InterestRateSwap) -> quant_core::Result<SwapParRate> {
        let (swap, curves) = (request.swap()?, request.curves.build()?);
        let par_rate = swap.par_rate(&curves.pair()?)?;
        let value = swap.value(&curves.pair()?)?;
        Ok(SwapParRate {
            par_rate,
            spread_to_par: par_rate - request.fixed_rate,
            npv: value.npv,
            annuity: value.annuity,
            pv01: value.pv01,
            floating_leg_value: value.floating_leg.present_value,
        })
    }

    fn explain(request: &InterestRateSwap) -> quant_core::Result<Explanation> {
        request.swap()?.explain_par_rate(&request.curves.build()?.pair()?)
    }

    fn is_long(request: &InterestRateSwap) -> bool {
        IrsValue::is_long(request)
    }

    fn wire_name(argument: &'static str) -> &'static str {
        request_name(argument)
    }
}

/// The par rate of a swap.
#[derive(Clone, Debug, Object)]
#[oai(rename = "SwapParRate")]
pub struct SwapParRate {
    /// Fixed rate at which the swap is worth 0, an annual decimal.
    pub par_rate: f64,
    /// Par rate less the fixed rate.
    pub spread_to_par: f64,
    /// Present value of the swap at its fixed rate.
    pub npv: f64,
    /// Value of a fixed rate of 1.00 on a notional of 1.
    pub annuity: f64,
    /// Value of a basis point of the fixed rate on the notional.
    pub pv01: f64,
    /// Value of the floating payments.
    pub floating_leg_value: f64,
}

/// The risk of an interest rate swap to the zero rates.
pub struct IrsDv01;

impl SharedComputation for IrsDv01 {
    type Request = InterestRateSwap;
    type Answer = SwapRisk;

    fn compute(request: &InterestRateSwap) -> quant_core::Result<SwapRisk> {
        let (swap, curves) = (request.swap()?, request.curves.build()?);
        let value = swap.value(&curves.pair()?)?;
        Ok(SwapRisk {
            risk: swap.dv01(&curves.pair()?)?.into(),
            pv01: value.pv01,
            npv: value.npv,
            par_rate: value.par_rate,
        })
    }

    fn explain(request: &InterestRateSwap) -> quant_core::Result<Explanation> {
        request.swap()?.explain_dv01(&request.curves.build()?.pair()?)
    }

    fn is_long(request: &InterestRateSwap) -> bool {
        request.curves.is_long_by_pillar(request.most_coupons())
    }

    fn wire_name(argument: &'static str) -> &'static str {
        request_name(argument)
    }
}

/// The risk of a swap to the zero rates.
#[derive(Clone, Debug, Object)]
#[oai(rename = "SwapRisk")]
pub struct SwapRisk {
    /// The risk.
    #[oai(flatten)]
    pub risk: RateRisk,
    /// Value of a basis point of the fixed rate on the notional.
    pub pv01: f64,
    /// Present value of the swap to its holder.
    pub npv: f64,
    /// Fixed rate at which the swap is worth 0; absent where no fixed payment is left.
    #[oai(skip_serializing_if_is_none)]
    pub par_rate: Option<f64>,
}

//! Overnight indexed swaps.

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    explanation::Explanation,
    instruments::{self, LegTerms, overnight_swap},
    time::day_count,
};

use super::{
    BusinessDayConvention, Calendar, DayCount, frequency, no_calendar,
    swap_curves::{RateRisk, SwapType, SwapValue, ValuationCurves, most_coupons, request_name},
    unadjusted,
};
use crate::{
    api::quantlib::Computation,
    http::{Answer, Date, Metered, Tag, json_string::date},
};

/// The REST endpoints of overnight indexed swaps.
#[derive(Default)]
pub struct OvernightSwaps;

#[OpenApi(prefix_path = "/quantlib/instruments/ois", tag = "Tag::Instruments")]
impl OvernightSwaps {
    /// Value an overnight indexed swap.
    ///
    /// Fixed payments against the compounded overnight rate of the curve, leg by leg, with the par
    /// rate and the risk by pillar. Both legs pay on the same dates.
    #[oai(path = "/value", method = "post", operation_id = "value_overnight_swap")]
    async fn value(&self, call: Metered<OvernightSwap>) -> Result<Answer<OvernightSwapValue>> {
        call.run().await
    }
}

/// An overnight rate, with the day count of its interest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
#[oai(rename_all = "UPPERCASE", remote = "overnight_swap::OvernightIndex")]
pub enum OvernightIndex {
    /// Secured Overnight Financing Rate, in dollars: ACT/360.
    #[default]
    Sofr,
    /// Effective Federal Funds Rate, in dollars: ACT/360.
    Effr,
    /// Euro short-term rate: ACT/360.
    Estr,
    /// Sterling Overnight Index Average: ACT/365.
    Sonia,
    /// Swiss Average Rate Overnight: ACT/360.
    Saron,
    /// Tokyo Overnight Average Rate: ACT/365.
    Tona,
    /// Canadian Overnight Repo Rate Average: ACT/365.
    Corra,
    /// AONIA, the cash rate of the Reserve Bank of Australia: ACT/365.
    Aonia,
}

/// An overnight indexed swap and its curves.
#[derive(Clone, Debug, Object)]
#[oai(rename = "OvernightSwapRequest", example)]
pub struct OvernightSwap {
    /// First day of the interest, `YYYY-MM-DD`; also before the reference date.
    pub effective_date: Date,
    /// Last day of the interest; after the effective date.
    pub maturity_date: Date,
    /// Amount on which interest is counted; positive.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub notional: f64,
    /// Fixed rate, an annual decimal; from -2 to 2 (200 %).
    pub fixed_rate: f64,
    /// The curves.
    #[oai(flatten)]
    pub curves: ValuationCurves,
    /// The overnight rate, whose day count the floating leg has.
    #[oai(default)]
    pub index: OvernightIndex,
    /// The side of the holder.
    #[oai(default)]
    pub swap_type: SwapType,
    /// Payments of each leg a year: 1, 2, 3, 4, 6 or 12.
    #[oai(default = "one", validator(minimum(value = "1"), maximum(value = "12")))]
    pub frequency: u32,
    /// The day-count convention of the fixed leg; that of the index where absent.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub day_count: Option<DayCount>,
    /// Business days from the end of a period to its payment, by the calendar.
    #[oai(default, validator(maximum(value = "31")))]
    pub payment_lag: u32,
    /// Rate added to the compounded one, an annual decimal.
    #[oai(default)]
    pub floating_spread: f64,
    /// Compounded rate from the start of the running period to the reference date, an annual
    /// decimal; the curve's rate for the rest of the period where absent.
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

/// The value of an overnight indexed swap.
#[derive(Clone, Debug, Object)]
#[oai(rename = "OvernightSwapValue")]
pub struct OvernightSwapValue {
    /// The value.
    #[oai(flatten)]
    pub value: SwapValue,
    /// The risk.
    #[oai(flatten)]
    pub risk: RateRisk,
    /// The overnight rate.
    pub index: OvernightIndex,
    /// The day-count convention of the overnight rate.
    pub index_day_count: DayCount,
}

impl Computation for OvernightSwap {
    type Answer = OvernightSwapValue;

    fn compute(&self) -> quant_core::Result<OvernightSwapValue> {
        let (swap, curves) = (self.swap()?, self.curves.build()?);
        Ok(OvernightSwapValue {
            value: swap.value(&curves.pair()?)?.into(),
            risk: swap.dv01(&curves.pair()?)?.into(),
            index: self.index,
            index_day_count: swap.index.day_count().into(),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.swap()?.explain_value(&self.curves.build()?.pair()?)
    }

    fn is_long(&self) -> bool {
        let frequency = self.frequency.saturating_mul(2);
        let coupons = most_coupons(self.effective_date, self.maturity_date, frequency);
        self.curves.is_long_by_pillar(coupons)
    }

    fn wire_name(argument: &'static str) -> &'static str {
        request_name(argument)
    }
}

impl OvernightSwap {
    fn swap(&self) -> quant_core::Result<instruments::OvernightSwap> {
        let index: instruments::OvernightIndex = self.index.into();
        let own: Option<day_count::DayCount> = self.day_count.map(Into::into);
        Ok(instruments::OvernightSwap {
            side: self.swap_type.into(),
            notional: self.notional,
            effective_date: *self.effective_date,
            maturity_date: *self.maturity_date,
            fixed_rate: self.fixed_rate,
            floating_spread: self.floating_spread,
            index,
            terms: LegTerms {
                frequency: frequency(self.frequency)?,
                day_count: own.unwrap_or(index.day_count()),
                calendar: self.calendar.into(),
                convention: self.convention.into(),
                end_of_month: self.end_of_month,
                payment_lag: self.payment_lag,
            },
            current_fixing: self.current_fixing,
        })
    }
}

fn one() -> u32 {
    1
}

impl Example for OvernightSwap {
    fn example() -> Self {
        Self {
            effective_date: date(2024, 1, 15),
            maturity_date: date(2026, 1, 15),
            notional: 1_000_000.0,
            fixed_rate: 0.033,
            curves: ValuationCurves::example(),
            index: OvernightIndex::Sofr,
            swap_type: SwapType::Payer,
            frequency: 1,
            day_count: None,
            payment_lag: 2,
            floating_spread: 0.0,
            current_fixing: None,
            calendar: Calendar::Sifma,
            convention: BusinessDayConvention::ModifiedFollowing,
            end_of_month: false,
        }
    }
}

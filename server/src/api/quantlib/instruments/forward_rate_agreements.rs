//! Forward rate agreements.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    curves::{Compounding, Conventions},
    explanation::Explanation,
    instruments,
};

use super::{
    BusinessDayConvention, Calendar, DayCount, no_calendar,
    swap_curves::{RateRisk, SwapType, ValuationCurves, request_name},
    unadjusted,
};
use crate::{
    api::quantlib::{RequestFor, SharedComputation},
    http::{Answer, Date, JsonString, Metered, Tag, json_string::date},
};

/// The REST endpoints of forward rate agreements.
#[derive(Default)]
pub struct ForwardRateAgreements;

#[OpenApi(prefix_path = "/quantlib/instruments/fra", tag = "Tag::Instruments")]
impl ForwardRateAgreements {
    /// Value a forward rate agreement.
    ///
    /// The difference of the forward rate and the fixed rate, settled at the start of the period
    /// and discounted over it by the forward rate, as the market does. With the risk by pillar.
    #[oai(path = "/value", method = "post", operation_id = "value_forward_rate_agreement")]
    async fn value(&self, call: Metered<RequestFor<FraValue>>) -> Result<Answer<AgreementValue>> {
        call.run().await
    }

    /// Find the break-even rate of a forward rate agreement.
    ///
    /// The fixed rate at which the agreement is worth 0: the simple forward rate of the period.
    #[oai(path = "/break-even", method = "post", operation_id = "find_break_even_rate")]
    async fn break_even(
        &self,
        call: Metered<RequestFor<FraBreakEven>>,
    ) -> Result<Answer<AgreementBreakEven>> {
        call.run().await
    }
}

/// A forward rate agreement and its curves.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ForwardRateAgreementRequest", example)]
pub struct Agreement {
    /// Day of the trade, from whose settlement the months are counted, `YYYY-MM-DD`.
    pub trade_date: Date,
    /// Months to the start of the period, on or after the reference date.
    #[oai(validator(maximum(value = "1200")))]
    pub start_months: u32,
    /// Months to the end of the period; more than those to the start.
    #[oai(validator(maximum(value = "1200")))]
    pub end_months: u32,
    /// Amount on which interest is counted; positive.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub notional: f64,
    /// Fixed rate, an annual decimal without compounding; from -2 to 2 (200 %).
    pub fixed_rate: f64,
    /// The curves.
    #[oai(flatten)]
    pub curves: ValuationCurves,
    /// The side of the holder; the buyer of the agreement is the payer.
    #[oai(default)]
    pub swap_type: SwapType,
    /// The day-count convention of the period.
    #[oai(default = "act_360")]
    pub day_count: DayCount,
    /// The calendar of business days.
    #[oai(default = "no_calendar")]
    pub calendar: Calendar,
    /// The business-day convention, for an end of the period on a day that is no business day.
    #[oai(default = "unadjusted")]
    pub convention: BusinessDayConvention,
    /// Business days from the trade to the settlement.
    #[oai(default, validator(maximum(value = "31")))]
    pub settlement_days: u32,
    /// True if a period that is counted from the last business day of a month ends on one.
    #[oai(default)]
    pub end_of_month: bool,
}

/// Returns the default day count of money markets.
pub(super) fn act_360() -> DayCount {
    DayCount::Act360
}

impl Agreement {
    fn agreement(&self) -> instruments::ForwardRateAgreement {
        instruments::ForwardRateAgreement {
            side: self.swap_type.into(),
            notional: self.notional,
            fixed_rate: self.fixed_rate,
            trade_date: *self.trade_date,
            start_months: self.start_months,
            end_months: self.end_months,
            conventions: Conventions {
                day_count: self.day_count.into(),
                compounding: Compounding::Simple,
                calendar: self.calendar.into(),
                convention: self.convention.into(),
                settlement_days: self.settlement_days,
                end_of_month: self.end_of_month,
            },
        }
    }
}

impl Example for Agreement {
    fn example() -> Self {
        Self {
            trade_date: date(2024, 1, 15),
            start_months: 3,
            end_months: 6,
            notional: 1_000_000.0,
            fixed_rate: 0.032,
            curves: ValuationCurves::example(),
            swap_type: SwapType::Payer,
            day_count: act_360(),
            calendar: no_calendar(),
            convention: unadjusted(),
            settlement_days: 0,
            end_of_month: false,
        }
    }
}

/// The value of a forward rate agreement.
pub struct FraValue;

impl SharedComputation for FraValue {
    type Request = Agreement;
    type Answer = AgreementValue;

    fn compute(request: &Agreement) -> quant_core::Result<AgreementValue> {
        let (agreement, curves) = (request.agreement(), request.curves.build()?);
        let value = agreement.value(&curves.pair()?)?;
        Ok(AgreementValue {
            npv: value.npv,
            settlement_amount: value.settlement_amount,
            terms: value.into(),
            risk: agreement.dv01(&curves.pair()?)?.into(),
        })
    }

    fn explain(request: &Agreement) -> quant_core::Result<Explanation> {
        request.agreement().explain_value(&request.curves.build()?.pair()?)
    }

    fn is_long(request: &Agreement) -> bool {
        request.curves.is_long_by_pillar(0)
    }

    fn wire_name(argument: &'static str) -> &'static str {
        request_name(argument)
    }
}

/// The value of a forward rate agreement.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ForwardRateAgreementValue")]
pub struct AgreementValue {
    /// Present value of the agreement to its holder, in the currency of the notional.
    pub npv: f64,
    /// Amount paid at the start of the period, where the forward rate comes true.
    pub settlement_amount: f64,
    /// The break-even rate and the period.
    #[oai(flatten)]
    pub terms: AgreementPeriod,
    /// The risk.
    #[oai(flatten)]
    pub risk: RateRisk,
}

/// The period of a forward rate agreement and its forward rate.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ForwardRateAgreementPeriod")]
pub struct AgreementPeriod {
    /// Fixed rate at which the agreement is worth 0, an annual decimal: the simple forward rate of the
    /// period.
    pub break_even_rate: f64,
    /// First day of the period, on which the agreement is settled.
    pub start_date: Date,
    /// Last day of the period.
    pub end_date: Date,
    /// Length of the period by the day count.
    pub year_fraction: f64,
    /// Value today of 1 paid at the start of the period.
    pub discount_factor: f64,
    /// Value of a basis point of the fixed rate on the notional.
    pub pv01: f64,
}

impl From<instruments::ForwardRateAgreementValue> for AgreementPeriod {
    fn from(value: instruments::ForwardRateAgreementValue) -> Self {
        Self {
            break_even_rate: value.break_even_rate,
            start_date: JsonString(value.start_date),
            end_date: JsonString(value.end_date),
            year_fraction: value.year_fraction,
            discount_factor: value.discount_factor,
            pv01: value.pv01,
        }
    }
}

/// The break-even rate of a forward rate agreement.
pub struct FraBreakEven;

impl SharedComputation for FraBreakEven {
    type Request = Agreement;
    type Answer = AgreementBreakEven;

    fn compute(request: &Agreement) -> quant_core::Result<AgreementBreakEven> {
        let curves = request.curves.build()?;
        let value = request.agreement().value(&curves.pair()?)?;
        Ok(AgreementBreakEven {
            spread_to_break_even: value.break_even_rate - request.fixed_rate,
            npv: value.npv,
            terms: value.into(),
        })
    }

    fn explain(request: &Agreement) -> quant_core::Result<Explanation> {
        request.agreement().explain_break_even(&request.curves.build()?.pair()?)
    }

    fn wire_name(argument: &'static str) -> &'static str {
        request_name(argument)
    }
}

/// The break-even rate of a forward rate agreement.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ForwardRateAgreementBreakEven")]
pub struct AgreementBreakEven {
    /// The break-even rate and the period.
    #[oai(flatten)]
    pub terms: AgreementPeriod,
    /// Break-even rate less the fixed rate.
    pub spread_to_break_even: f64,
    /// Present value of the agreement at its fixed rate.
    pub npv: f64,
}

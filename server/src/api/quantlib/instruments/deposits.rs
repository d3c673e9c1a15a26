//! Money-market deposits.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{explanation::Explanation, instruments::deposit};

use super::{
    BusinessDayConvention, Calendar, DayCount, forward_rate_agreements::act_360, no_calendar,
    unadjusted,
};
use crate::{
    api::quantlib::Computation,
    http::{Answer, Date, JsonString, Metered, Tag, json_string::date},
};

/// The REST endpoints of deposits.
#[derive(Default)]
pub struct Deposits;

#[OpenApi(prefix_path = "/quantlib/instruments/money-market", tag = "Tag::Instruments")]
impl Deposits {
    /// Compute the interest of a money-market deposit.
    ///
    /// Simple interest, paid at maturity, with the equivalent compounded rates.
    #[oai(path = "/deposit", method = "post", operation_id = "value_deposit")]
    async fn deposit(&self, call: Metered<Deposit>) -> Result<Answer<DepositValue>> {
        call.run().await
    }
}

/// A money-market deposit.
#[derive(Clone, Debug, Object)]
#[oai(rename = "DepositRequest", example)]
pub struct Deposit {
    /// First day of the interest, `YYYY-MM-DD`.
    pub start_date: Date,
    /// Day of the repayment; after the start.
    pub maturity_date: Date,
    /// Amount of the deposit; positive.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub notional: f64,
    /// Rate, an annual decimal without compounding; from -2 to 2 (200 %).
    pub rate: f64,
    /// The day-count convention.
    #[oai(default = "act_360")]
    pub day_count: DayCount,
    /// The calendar of business days.
    #[oai(default = "no_calendar")]
    pub calendar: Calendar,
    /// The business-day convention, for a date that is no business day.
    #[oai(default = "unadjusted")]
    pub convention: BusinessDayConvention,
}

/// The interest of a deposit, and its rate in other forms.
#[derive(Clone, Debug, Object)]
#[oai(rename = "DepositValue")]
pub struct DepositValue {
    /// Amount repaid, interest included.
    pub maturity_value: f64,
    /// Interest, paid at maturity.
    pub interest: f64,
    /// Time from the start to the repayment by the day count.
    pub year_fraction: f64,
    /// Days from the start to the repayment.
    pub days: i64,
    /// Value at the start of 1 repaid at maturity.
    pub discount_factor: f64,
    /// Continuously compounded rate that earns the same over the year fraction.
    pub continuous_rate: f64,
    /// Rate compounded once a year that earns the same over the year fraction.
    pub effective_annual_rate: f64,
    /// First day of the interest, as the convention moves it.
    pub start_date: Date,
    /// Day of the repayment, as the convention moves it.
    pub maturity_date: Date,
}

impl Deposit {
    /// Returns the deposit of `quant-core`.
    fn deposit(&self) -> deposit::Deposit {
        deposit::Deposit {
            start_date: *self.start_date,
            maturity_date: *self.maturity_date,
            notional: self.notional,
            rate: self.rate,
            day_count: self.day_count.into(),
            calendar: self.calendar.into(),
            convention: self.convention.into(),
        }
    }
}

impl Computation for Deposit {
    type Answer = DepositValue;

    fn compute(&self) -> quant_core::Result<DepositValue> {
        let value = self.deposit().value()?;
        Ok(DepositValue {
            maturity_value: value.maturity_value,
            interest: value.interest,
            year_fraction: value.year_fraction,
            days: value.days,
            discount_factor: value.discount_factor,
            continuous_rate: value.continuous_rate,
            effective_annual_rate: value.effective_annual_rate,
            start_date: JsonString(value.start_date),
            maturity_date: JsonString(value.maturity_date),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.deposit().explain()
    }

    fn is_long(&self) -> bool {
        // Business days of thousands of years.
        self.day_count == DayCount::Bus252
    }
}

impl Example for Deposit {
    fn example() -> Self {
        Self {
            start_date: date(2024, 1, 15),
            maturity_date: date(2024, 4, 15),
            notional: 1_000_000.0,
            rate: 0.05,
            day_count: act_360(),
            calendar: no_calendar(),
            convention: unadjusted(),
        }
    }
}

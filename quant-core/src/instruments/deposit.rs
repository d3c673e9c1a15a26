//! Money-market deposits: interest on an amount, paid once at maturity.

use crate::curves::{Compounding, Conventions};
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::time::{BusinessDayConvention, Calendar, DayCount, NaiveDate, require_year};
use crate::{Error, Result, check};

/// A deposit with simple interest.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Deposit {
    /// First day of the interest.
    pub start_date: NaiveDate,
    /// Day of the repayment; after the start.
    pub maturity_date: NaiveDate,
    /// Amount of the deposit; positive.
    pub notional: f64,
    /// Rate, annual, without compounding; at most 2 (200 %) in size, and with a positive repayment.
    pub rate: f64,
    /// Day-count convention of the interest. By ACT/ACT ICMA the year is that of ACT/ACT ISDA,
    /// since a deposit has no coupon period.
    pub day_count: DayCount,
    /// Calendar of the business days to which both dates are moved.
    pub calendar: Calendar,
    /// Adjustment of dates that fall on no business day.
    pub convention: BusinessDayConvention,
}

/// The interest of a deposit, and its rate in other forms.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct DepositValue {
    /// First day of the interest, a business day where the convention adjusts it.
    pub start_date: NaiveDate,
    /// Day of the repayment, a business day where the convention adjusts it.
    pub maturity_date: NaiveDate,
    /// Days from the start to the repayment.
    pub days: i64,
    /// Time from the start to the repayment in years, by the day count.
    pub year_fraction: f64,
    /// Interest, paid at maturity.
    pub interest: f64,
    /// Amount repaid, interest included.
    pub maturity_value: f64,
    /// Value at the start of one unit repaid at maturity.
    pub discount_factor: f64,
    /// Continuously compounded rate that earns the same over the year fraction.
    pub continuous_rate: f64,
    /// Rate compounded once a year that earns the same over the year fraction.
    pub effective_annual_rate: f64,
}

impl Deposit {
    /// Returns the interest and the repayment, and the equivalent compounded rates.
    ///
    /// ```text
    /// interest = N r τ,   D = 1 / (1 + r τ)
    /// continuous rate = ln(1 + r τ) / τ,   effective rate = (1 + r τ)^{1/τ} − 1
    /// ```
    ///
    /// where N is the notional, r the rate and τ the year fraction. Where the day count gives the
    /// time no length, as 30/360 does from a 30th to a 31st, both rates are those of the limit.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a maturity that is not after the start, or a date outside the years 1 to
    /// 9999; [`Error::Domain`] for a notional that is not positive, or a rate beyond ±2 or without
    /// a positive repayment; [`Error::Conflict`] for BUS/252 without a calendar;
    /// [`Error::Overflow`] where a figure is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::instruments::Deposit;
    /// use quant_core::prelude::*;
    ///
    /// let deposit = Deposit {
    ///     start_date: NaiveDate::from_ymd_opt(2024, 1, 15).expect("a day"),
    ///     maturity_date: NaiveDate::from_ymd_opt(2024, 4, 15).expect("a day"),
    ///     notional: 1e6,
    ///     rate: 0.05,
    ///     day_count: DayCount::Act360,
    ///     calendar: Calendar::None,
    ///     convention: BusinessDayConvention::Unadjusted,
    /// };
    /// let value = deposit.value()?;
    /// assert!((value.maturity_value - 1_012_638.89).abs() < 0.005);
    /// assert!((value.continuous_rate - 0.049_687).abs() < 5e-7);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Stigum and Robinson (1996), "Money Market and Bond Calculations", chapter 2.
    pub fn value(&self) -> Result<DepositValue> {
        require_year("start_date", self.start_date)?;
        check::positive("notional", self.notional)?;
        check::annual_rate("rate", self.rate)?;
        let period =
            self.conventions().period(self.start_date, self.maturity_date).map_err(in_deposit)?;
        let year_fraction = period.year_fraction;
        let growth = self.rate * year_fraction;
        check::require(growth > -1.0, "rate", self.rate, "a rate with a positive repayment")?;
        let continuous_rate =
            if growth == 0.0 { self.rate } else { libm::log1p(growth) / year_fraction };
        let interest = check::result("notional", self.notional * growth)?;
        Ok(DepositValue {
            start_date: period.start,
            maturity_date: period.end,
            days: (period.end - period.start).num_days(),
            year_fraction,
            interest,
            maturity_value: check::result("notional", self.notional + interest)?,
            discount_factor: check::result("rate", 1.0 / (1.0 + growth))?,
            continuous_rate: check::result("rate", continuous_rate)?,
            effective_annual_rate: check::result("rate", libm::expm1(continuous_rate))?,
        })
    }

    /// Explains [`value`](Self::value).
    ///
    /// # Errors
    ///
    /// The errors of [`value`](Self::value).
    pub fn explain(&self) -> Result<Explanation> {
        self.value()?;
        let method = Method::new(
            "simple interest",
            "Stigum and Robinson (1996), Money Market and Bond Calculations, chapter 2",
        );
        let error = ErrorStatement::rounding(
            "interest",
            8.0 * f64::EPSILON,
            "largest relative error against 50 digits, deposits of a day to ten years",
        );
        Ok(Explanation::new(method, error)
            .with_conventions([self.conventions().sentence("Deposit")])
            .with_conventions([
                "By ACT/ACT ICMA a deposit counts as by ACT/ACT ISDA, since it has no coupon period.",
                "Equivalent rates earn the same over the year fraction of the day count.",
            ]))
    }

    fn conventions(&self) -> Conventions {
        Conventions {
            day_count: self.day_count,
            compounding: Compounding::Simple,
            calendar: self.calendar,
            convention: self.convention,
            settlement_days: 0,
            end_of_month: false,
        }
    }
}

/// Attributes a date that cannot be moved to the maturity, the later of the two.
fn in_deposit(error: Error) -> Error {
    error.renamed(|argument| if argument == "date" { "maturity_date" } else { argument })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn deposit() -> Deposit {
        Deposit {
            start_date: date("2024-01-31"),
            maturity_date: date("2024-07-31"),
            notional: 1e6,
            rate: 0.04,
            day_count: DayCount::Act360,
            calendar: Calendar::None,
            convention: BusinessDayConvention::Unadjusted,
        }
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        let good = deposit();
        #[rustfmt::skip]
        let rows = [
            (Deposit { maturity_date: good.start_date, ..good }, "date", "maturity_date"),
            (Deposit { start_date: NaiveDate::MIN, ..good }, "date", "start_date"),
            (Deposit { maturity_date: NaiveDate::MAX, ..good }, "date", "maturity_date"),
            (Deposit { notional: 0.0, ..good }, "domain", "notional"),
            (Deposit { notional: f64::NAN, ..good }, "domain", "notional"),
            (Deposit { notional: f64::MAX, rate: 1.9, ..good }, "overflow", "notional"),
            (Deposit { rate: 5.0, ..good }, "domain", "rate"),
            (Deposit { rate: -1.99, ..good }, "domain", "rate"),
            (Deposit { day_count: DayCount::Bus252, ..good }, "conflict", "calendar"),
        ];
        for (mut deposit, code, argument) in rows {
            if deposit.rate == -1.99 {
                deposit.maturity_date = date("2025-01-31");
            }
            let error = deposit.value().unwrap_err();
            assert_eq!((error.code(), error.argument()), (code, Some(argument)), "{deposit:?}");
        }
    }

    #[test]
    fn a_time_without_length_earns_nothing_and_keeps_its_rate() {
        let found = Deposit {
            start_date: date("2024-01-30"),
            maturity_date: date("2024-01-31"),
            day_count: DayCount::Thirty360BondBasis,
            ..deposit()
        };
        let found = found.value().unwrap();
        assert_eq!((found.days, found.interest, found.maturity_value), (1, 0.0, 1e6));
        assert_eq!((found.discount_factor, found.continuous_rate), (1.0, 0.04));
    }

    #[test]
    fn both_dates_move_to_business_days() {
        let found = Deposit {
            start_date: date("2024-03-29"),
            maturity_date: date("2024-06-30"),
            calendar: Calendar::Target,
            convention: BusinessDayConvention::ModifiedFollowing,
            ..deposit()
        };
        // Good Friday moves back, since the next business day is in April.
        let found = found.value().unwrap();
        assert_eq!(
            (found.start_date, found.maturity_date),
            (date("2024-03-28"), date("2024-06-28"))
        );
    }

    proptest! {
        #[test]
        fn all_forms_of_the_rate_earn_the_same(days in 1_i64..20_000, rate in -0.01..0.5) {
            let found = Deposit {
                maturity_date: crate::time::add_days(date("2024-01-31"), days).unwrap(), rate, ..deposit()
            };
            let found = found.value().unwrap();
            let years = found.year_fraction;
            let continuous = libm::exp(found.continuous_rate * years);
            let effective = libm::exp(years * libm::log1p(found.effective_annual_rate));
            for growth in [continuous, effective, 1.0 / found.discount_factor] {
                let expected = found.maturity_value / 1e6;
                prop_assert!((growth - expected).abs() <= 1e-14 * expected * (1.0 + years));
            }
        }
    }
}

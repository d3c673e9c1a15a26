//! Bonds of one payment at maturity.

use chrono::NaiveDate;

use crate::curves::Compounding;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::time::calendar::Calendar;
use crate::time::day_count::{DayCount, Reference};
use crate::time::require_year;
use crate::time::schedule::{Frequency, Schedule};
use crate::{Error, Result, check};

/// A bond that pays its face value at maturity and nothing before.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ZeroCouponBond {
    /// Date of issue.
    pub issue_date: NaiveDate,
    /// Date on which the face value is due; after the issue.
    pub maturity_date: NaiveDate,
    /// Amount redeemed at maturity; positive.
    pub face_value: f64,
    /// Day-count convention of the time to maturity.
    pub day_count: DayCount,
    /// Calendar of the day count BUS/252.
    pub calendar: Calendar,
}

/// The price of a zero-coupon bond at a yield, and the sensitivities of the price.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ZeroCouponValue {
    /// Price of the bond at settlement.
    pub price: f64,
    /// Price of a face value of 1.
    pub discount_factor: f64,
    /// Time from settlement to maturity by the day count, in years; also the Macaulay duration.
    pub time_to_maturity: f64,
    /// Part of the price lost for a rise of the yield, per unit of yield: in years.
    pub modified_duration: f64,
    /// Second derivative of the price in the yield, as a part of it: in years squared.
    pub convexity: f64,
    /// Money lost for a rise of the yield by a hundredth of a percent.
    pub dv01: f64,
}

impl ZeroCouponBond {
    /// Returns the price of the bond at a yield.
    ///
    /// ```text
    /// P = F (1 + y/m)^{−m t},   F e^{−y t} continuously,   F / (1 + y t) without compounding
    /// ```
    ///
    /// where F is the face value, y the yield, m the payments of interest a year and t the time from
    /// settlement to maturity by the day count. By ACT/ACT ICMA a year ends on the anniversary of the
    /// maturity. At a yield of 0 the price is the face value.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a maturity that is not after the issue, a settlement before the issue or not
    /// before the maturity, and a date outside the years 1 to 9999; [`Error::Domain`] for a face value
    /// that is not positive, or a yield at which interest takes all; [`Error::Conflict`] for BUS/252
    /// without a calendar; [`Error::Overflow`] for a price that is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::Compounding;
    /// use quant_core::instruments::ZeroCouponBond;
    /// use quant_core::time::{Calendar, DayCount, NaiveDate};
    ///
    /// let date = |text: &str| text.parse::<NaiveDate>().unwrap();
    /// let bond = ZeroCouponBond {
    ///     issue_date: date("2025-01-01"),
    ///     maturity_date: date("2027-01-01"),
    ///     face_value: 100.0,
    ///     day_count: DayCount::Act365,
    ///     calendar: Calendar::None,
    /// };
    /// let found = bond.value(bond.issue_date, 0.05, Compounding::Annual)?;
    /// assert!((found.price - 100.0 / 1.1025).abs() < 1e-13);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn value(
        &self,
        settlement_date: NaiveDate,
        yield_to_maturity: f64,
        compounding: Compounding,
    ) -> Result<ZeroCouponValue> {
        let time = self.time(settlement_date)?;
        check::positive("face_value", self.face_value)?;
        let rename = |error: Error| error.renamed(|_| "yield_to_maturity");
        let interest = compounding.interest(yield_to_maturity, time).map_err(rename)?;
        let requirement = "a rate at which the price is positive";
        check::require(interest > -1.0, "yield_to_maturity", yield_to_maturity, requirement)?;
        let (modified_duration, convexity) = match compounding {
            Compounding::Continuous => (time, time * time),
            Compounding::Simple => {
                let duration = time / (1.0 + interest);
                (duration, 2.0 * duration * duration)
            }
            periodic => {
                let count = periodic.payments_a_year();
                let growth = 1.0 + yield_to_maturity / count;
                (time / growth, time / growth * ((time + 1.0 / count) / growth))
            }
        };
        let result = |value: f64| check::result("yield_to_maturity", value);
        let discount_factor = 1.0 / (1.0 + interest);
        let price = result(self.face_value * discount_factor)?;
        Ok(ZeroCouponValue {
            price,
            discount_factor: result(discount_factor)?,
            time_to_maturity: time,
            modified_duration: result(modified_duration)?,
            convexity: result(convexity)?,
            dv01: result(1e-4 * modified_duration * price)?,
        })
    }

    /// Explains [`value`](Self::value).
    ///
    /// # Errors
    ///
    /// The errors of [`value`](Self::value).
    pub fn explain(
        &self,
        settlement_date: NaiveDate,
        yield_to_maturity: f64,
        compounding: Compounding,
    ) -> Result<Explanation> {
        let factor = self.value(settlement_date, yield_to_maturity, compounding)?.discount_factor;
        let bound = 1e-13 * (1.0 + libm::log(factor).abs()) * factor.max(1.0);
        let error = ErrorStatement::rounding(
            "price",
            bound.min(f64::MAX),
            "largest relative error against 50 digits, times 1 plus the logarithm of the discount \
             factor",
        );
        let method = Method::new(
            "discounted face value",
            "Mayle (1993), Standard Securities Calculation Methods, volume 1",
        );
        let years = match self.day_count {
            DayCount::ActActIcma => {
                "A year by ACT/ACT ICMA ends on the anniversary of the maturity."
            }
            _ => "Years are counted from the settlement to the maturity, which is not moved.",
        };
        Ok(Explanation::new(method, error).with_conventions([years]).with_conventions([
            format!("The time to maturity is counted by {}.", self.day_count),
            format!("The yield is {}.", compounding.words()),
        ]))
    }

    /// Returns the time from a settlement to the maturity, in years.
    fn time(&self, settlement: NaiveDate) -> Result<f64> {
        let Self { issue_date, maturity_date, day_count, calendar, .. } = *self;
        require_year("issue_date", issue_date)?;
        require_year("maturity_date", maturity_date)?;
        require_year("settlement_date", settlement)?;
        day_count.require_calendar(calendar)?;
        let date = |argument, value, requirement| Err(Error::Date { argument, value, requirement });
        if maturity_date <= issue_date {
            return date("maturity_date", maturity_date, "after the issue date");
        }
        if settlement < issue_date || settlement >= maturity_date {
            let requirement = "on or after the issue date and before the maturity";
            return date("settlement_date", settlement, requirement);
        }
        let frequency = Frequency::Annual;
        let fraction = |start, end, period_start, period_end| {
            let reference =
                Reference { period_start, period_end, frequency, maturity_date, calendar };
            day_count.fraction(start, end, &reference)
        };
        if day_count != DayCount::ActActIcma {
            return Ok(fraction(settlement, maturity_date, settlement, maturity_date));
        }
        let years = Schedule::backward(settlement, maturity_date, frequency, false)?;
        Ok(years.map(|year| fraction(year.start, year.end, year.regular_start, year.end)).sum())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn bond() -> ZeroCouponBond {
        ZeroCouponBond {
            issue_date: day("2024-01-15"),
            maturity_date: day("2034-01-15"),
            face_value: 100.0,
            day_count: DayCount::ActActIcma,
            calendar: Calendar::None,
        }
    }

    #[test]
    fn whole_years_by_icma_are_whole() {
        let found = bond().value(day("2024-01-15"), 0.04, Compounding::Annual).unwrap();
        assert_eq!(found.time_to_maturity, 10.0);
        assert!((found.price - 67.556_416_882_579_88).abs() < 1e-13);
        // 182 of the 366 days to 15 January 2025.
        let found = bond().value(day("2024-07-17"), 0.0, Compounding::Annual).unwrap();
        assert!((found.time_to_maturity - (9.0 + 182.0 / 366.0)).abs() < 1e-15);
        assert_eq!(found.price, 100.0);
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        let refused = |bond: ZeroCouponBond, settlement: &str, rate| {
            let error = bond.value(day(settlement), rate, Compounding::Annual).unwrap_err();
            (error.code(), error.argument().unwrap())
        };
        let (start, good) = ("2024-01-15", bond());
        let reversed = ZeroCouponBond { maturity_date: good.issue_date, ..good };
        let free = ZeroCouponBond { face_value: 0.0, ..good };
        let brazilian = ZeroCouponBond { day_count: DayCount::Bus252, ..good };
        assert_eq!(refused(reversed, start, 0.0), ("date", "maturity_date"));
        assert_eq!(refused(good, "2024-01-14", 0.0), ("date", "settlement_date"));
        assert_eq!(refused(good, "2034-01-15", 0.0), ("date", "settlement_date"));
        assert_eq!(refused(free, start, 0.0), ("domain", "face_value"));
        assert_eq!(refused(brazilian, start, 0.0), ("conflict", "calendar"));
        assert_eq!(refused(good, start, -1.0), ("domain", "yield_to_maturity"));
        assert_eq!(refused(good, start, f64::NAN), ("domain", "yield_to_maturity"));
        let late = ZeroCouponBond { maturity_date: NaiveDate::MAX, ..good };
        assert_eq!(refused(late, start, 0.0), ("date", "maturity_date"));
        let simple = good.value(good.issue_date, -0.2, Compounding::Simple).unwrap_err();
        assert_eq!(simple.argument(), Some("yield_to_maturity"));
    }

    proptest! {
        #[test]
        fn the_sensitivities_are_the_derivatives_of_the_price(rate in -0.05_f64..0.3, days in 1_i64..4000, which in 0_usize..6) {
            use Compounding::*;
            let compounding = [Simple, Annual, Semiannual, Quarterly, Monthly, Continuous][which];
            let settlement = day("2034-01-15") - chrono::Duration::days(days.min(3650));
            let at = |rate| bond().value(settlement, rate, compounding).unwrap();
            let (step, here) = (1e-5, at(rate));
            let slope = (at(rate + step).price - at(rate - step).price) / (2.0 * step);
            let bend = (at(rate + step).price - 2.0 * here.price + at(rate - step).price) / (step * step);
            prop_assert!((slope + here.modified_duration * here.price).abs() <= 1e-6 * here.price * 10.0);
            prop_assert!((bend - here.convexity * here.price).abs() <= 1e-2 * here.price);
            prop_assert!((1e4 * here.dv01 - here.modified_duration * here.price).abs() <= 1e-12 * here.price);
        }
    }
}

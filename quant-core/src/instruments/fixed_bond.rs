//! Bonds with a fixed coupon: cash flows and accrued interest.
//!
//! Interest accrues over unadjusted periods; a calendar and a convention move payments only, as
//! bond markets do. Not modelled: stubs at both ends, periods of ex-dividend, sinking funds.

use std::borrow::Cow;

use chrono::NaiveDate;

use super::coupon_period::{CouponPeriod, CouponPeriods};
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::named::named;
use crate::{
    Result, check,
    time::{
        calendar::{BusinessDayConvention, Calendar},
        day_count::{DayCount, Reference},
        require_year,
        schedule::{Frequency, Period, Schedule},
        schedule_rule::Stub,
    },
};

/// A bond that pays a fixed coupon and its face value at maturity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FixedBond {
    /// Date of issue, from which interest accrues.
    pub issue_date: NaiveDate,
    /// Date on which the face value is due; after the issue.
    pub maturity_date: NaiveDate,
    /// Interest a year as a part of the face value, 0.05 being 5 %; of any sign, at most 2 (200 %) in
    /// size, since a larger number is a percentage by mistake.
    pub coupon_rate: f64,
    /// Amount redeemed at maturity; positive.
    pub face_value: f64,
    /// Number of coupons a year.
    pub frequency: Frequency,
    /// Day-count convention of the coupon periods.
    pub day_count: DayCount,
    /// End-of-month rule: coupons fall on month ends if the maturity does, or the issue for a stub
    /// at the back.
    pub end_of_month: bool,
    /// Place and length of the period that is not regular.
    pub stub: Stub,
    /// Calendar of the payments, and of the day count BUS/252.
    pub calendar: Calendar,
    /// Business-day convention for payments on a holiday.
    pub convention: BusinessDayConvention,
}

/// The kind of a bond's payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CashFlowKind {
    /// Interest of one coupon period.
    Coupon,
    /// Repayment of the face value at maturity.
    Redemption,
}

named!(CashFlowKind, "kind", Coupon = "coupon", Redemption = "redemption");

/// One payment of a bond.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CashFlow {
    /// Date of the payment: the end of the period, moved by the business-day convention.
    pub date: NaiveDate,
    /// Amount of the payment, in the unit of the face value.
    pub amount: f64,
    /// Kind of the payment.
    pub kind: CashFlowKind,
    /// Start of the accrual period of a coupon; the maturity for the redemption.
    pub period_start: NaiveDate,
    /// Unadjusted end of the accrual period; the maturity for the redemption.
    pub period_end: NaiveDate,
    /// The period as a part of a year; 0 for the redemption.
    pub year_fraction: f64,
}

/// The payments of a bond from some day on.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CashFlows {
    /// The payments in order of time, the redemption last.
    pub cashflows: Vec<CashFlow>,
    /// Interest earned before the settlement and paid after it; `None` without a settlement.
    pub accrued_interest: Option<f64>,
}

impl FixedBond {
    /// Returns the payments, all of them or those after a settlement.
    ///
    /// ```text
    /// coupon = F · c · τ(start, end),   accrued = F · c · τ(start, settlement)
    /// ```
    ///
    /// where F is the face value, c the coupon rate and τ the day count over the unadjusted
    /// period. The periods are those of [`Schedule`], counted back from the maturity, or from the
    /// issue for a stub at the back. Where they do not divide the bond's life, the first or the last
    /// one is short; a long stub is that one and its neighbour together. By ACT/ACT ICMA τ of a long
    /// stub is the sum over both.
    ///
    /// Payments *on* the settlement date belong to the seller. Accrued interest is what was earned
    /// before the settlement and is paid after it, so there is none at a coupon date, before the
    /// issue and after the last payment. A coupon that its calendar moved past the settlement is
    /// accrued in full, beside the days of the next period; one that was paid before its period
    /// ended accrues no more.
    ///
    /// # Errors
    ///
    /// [`Error::Date`](crate::Error::Date) for a maturity that is not after the issue or a date
    /// outside the years 1 to 9999, [`Error::Domain`](crate::Error::Domain) for a number outside
    /// its documented range, [`Error::Conflict`](crate::Error::Conflict) for BUS/252 without a
    /// calendar and for a stub where none may be, [`Error::Overflow`](crate::Error::Overflow) for a
    /// coupon that is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::instruments::fixed_bond::FixedBond;
    /// use quant_core::time::{
    ///     NaiveDate, Stub, calendar::{BusinessDayConvention, Calendar}, day_count::DayCount,
    ///     schedule::Frequency,
    /// };
    ///
    /// // The 9½ % Treasury note of 31 CFR 356, appendix B, section II.D, per 100 dollars.
    /// let date = |text: &str| text.parse::<NaiveDate>().unwrap();
    /// let note = FixedBond {
    ///     issue_date: date("1985-11-15"),
    ///     maturity_date: date("1995-11-15"),
    ///     coupon_rate: 0.095,
    ///     face_value: 100.0,
    ///     frequency: Frequency::Semiannual,
    ///     day_count: DayCount::ActActIcma,
    ///     end_of_month: false,
    ///     stub: Stub::ShortFront,
    ///     calendar: Calendar::None,
    ///     convention: BusinessDayConvention::Unadjusted,
    /// };
    /// let flows = note.cash_flows(Some(date("1985-11-29")))?;
    /// assert_eq!(flows.cashflows.len(), 21);
    /// assert_eq!(flows.cashflows[0].amount, 4.75);
    /// assert!((flows.accrued_interest.unwrap() - 0.367403).abs() < 5e-7);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// 31 CFR part 356, appendix B; International Capital Market Association, rule 251.
    pub fn cash_flows(&self, settlement_date: Option<NaiveDate>) -> Result<CashFlows> {
        let periods = self.validated_periods(settlement_date)?;
        let mut cashflows = Vec::with_capacity(periods.parts() + 1);
        let mut accrued_interest = 0.0;
        for period in periods {
            let coupon = self.coupon(&period)?;
            match settlement_date {
                Some(settlement) if coupon.date <= settlement => continue,
                Some(settlement) if period.start() < settlement => {
                    accrued_interest += self.interest(&period, settlement.min(period.end()))?.1;
                }
                _ => {}
            }
            cashflows.push(coupon);
        }
        let redemption = self.redemption()?;
        if settlement_date.is_none_or(|settlement| redemption.date > settlement) {
            cashflows.push(redemption);
        }
        let accrued_interest = match settlement_date {
            Some(_) => Some(check::result("face_value", accrued_interest)?),
            None => None,
        };
        Ok(CashFlows { cashflows, accrued_interest })
    }

    /// Explains [`cash_flows`](Self::cash_flows).
    ///
    /// # Errors
    ///
    /// The errors of [`cash_flows`](Self::cash_flows).
    pub fn explain(&self, settlement_date: Option<NaiveDate>) -> Result<Explanation> {
        let flows = self.cash_flows(settlement_date)?.cashflows;
        let largest = flows.iter().fold(self.face_value, |most, flow| most.max(flow.amount.abs()));
        let method = Method::new(
            "coupons of a fixed rate by a backward schedule",
            "31 CFR part 356, appendix B; International Capital Market Association, rule 251",
        );
        let error = ErrorStatement::rounding_within(
            "amount",
            8.0 * f64::EPSILON * largest,
            "largest error against QuantLib in units of the face value; dates have none",
        );
        Ok(Explanation::new(method, error).with_conventions(self.conventions()))
    }

    /// Returns sentences on the schedule, the interest and the payments.
    pub(super) fn conventions(&self) -> [Cow<'static, str>; 4] {
        let payments = if self.convention == BusinessDayConvention::Unadjusted {
            "Payments are due at the ends of their periods, on holidays too.".into()
        } else {
            let (calendar, convention) = (self.calendar, self.convention);
            format!("Payments on holidays of the calendar {calendar} are moved by {convention}.")
                .into()
        };
        [
            self.periods_in_words(),
            format!("Interest accrues by {} over unadjusted periods.", self.day_count).into(),
            payments,
            "A payment on the settlement date is the seller's.".into(),
        ]
    }

    /// Returns a sentence on the layout of the interest periods.
    fn periods_in_words(&self) -> Cow<'static, str> {
        let anchor =
            if self.is_counted_from_issue() { "from the issue" } else { "back from the maturity" };
        let day = if self.end_of_month {
            ", at month ends if it is one"
        } else {
            " by its day of the month"
        };
        let irregular = match self.stub {
            Stub::ShortFront => "the first may be short",
            Stub::LongFront => "the first may be long",
            Stub::ShortBack => "the last may be short",
            Stub::LongBack => "the last may be long",
            Stub::None => "all are regular",
        };
        format!("Periods are counted {anchor}{day}; {irregular}.").into()
    }

    fn is_counted_from_issue(&self) -> bool {
        matches!(self.stub, Stub::ShortBack | Stub::LongBack)
    }

    /// Returns the interest periods, after a check of all fields and of the settlement.
    pub(super) fn validated_periods(
        &self,
        settlement_date: Option<NaiveDate>,
    ) -> Result<CouponPeriods> {
        let Self { issue_date, maturity_date, frequency, end_of_month, .. } = *self;
        let count =
            if self.is_counted_from_issue() { Schedule::forward } else { Schedule::backward };
        let schedule = count(issue_date, maturity_date, frequency, end_of_month)?;
        check::annual_rate("coupon_rate", self.coupon_rate)?;
        check::positive("face_value", self.face_value)?;
        self.day_count.require_calendar(self.calendar)?;
        if let Some(settlement_date) = settlement_date {
            require_year("settlement_date", settlement_date)?;
        }
        CouponPeriods::new(schedule, self.stub)
    }

    pub(super) fn coupon(&self, period: &CouponPeriod) -> Result<CashFlow> {
        let (year_fraction, amount) = self.interest(period, period.end())?;
        Ok(CashFlow {
            date: self.calendar.adjust(period.end(), self.convention)?,
            amount,
            kind: CashFlowKind::Coupon,
            period_start: period.start(),
            period_end: period.end(),
            year_fraction,
        })
    }

    pub(super) fn redemption(&self) -> Result<CashFlow> {
        Ok(CashFlow {
            date: self.calendar.adjust(self.maturity_date, self.convention)?,
            amount: self.face_value,
            kind: CashFlowKind::Redemption,
            period_start: self.maturity_date,
            period_end: self.maturity_date,
            year_fraction: 0.0,
        })
    }

    /// Returns the year fraction from the start of the period to `end`, a day in the period, and
    /// the interest earned by then in the unit of the face value.
    // Inlined, since the flows of a bond call it once for each coupon.
    #[inline(always)]
    pub(super) fn interest(&self, period: &CouponPeriod, end: NaiveDate) -> Result<(f64, f64)> {
        let year_fraction = self.fraction_until(period, end);
        let amount = self.face_value * self.coupon_rate * year_fraction;
        Ok((year_fraction, check::result("face_value", amount)?))
    }

    /// The year fraction from the start of an interest period to a day in it.
    fn fraction_until(&self, period: &CouponPeriod, end: NaiveDate) -> f64 {
        let CouponPeriod { earlier, later } = period;
        match earlier {
            None => self.year_fraction(later, later.start, end),
            Some(earlier) if self.day_count == DayCount::ActActIcma => {
                let before = self.year_fraction(earlier, earlier.start, end.min(earlier.end));
                before + self.year_fraction(later, later.start, end.max(later.start))
            }
            Some(earlier) => {
                let whole = Period { start: earlier.start, regular_start: earlier.start, ..*later };
                self.year_fraction(&whole, whole.start, end)
            }
        }
    }

    /// The year fraction between two days of a period, or of a regular one that holds it.
    pub(super) fn year_fraction(&self, period: &Period, start: NaiveDate, end: NaiveDate) -> f64 {
        // ACT/365L asks whether the interest period itself has a leap day.
        let is_icma = self.day_count == DayCount::ActActIcma;
        let reference = Reference {
            period_start: period.regular_start,
            period_end: if is_icma { period.regular_end } else { period.end },
            frequency: self.frequency,
            maturity_date: self.maturity_date,
            calendar: self.calendar,
        };
        self.day_count.fraction(start, end, &reference)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn bond(issue: &str, maturity: &str) -> FixedBond {
        FixedBond {
            issue_date: date(issue),
            maturity_date: date(maturity),
            coupon_rate: 0.05,
            face_value: 100.0,
            frequency: Frequency::Semiannual,
            day_count: DayCount::Thirty360BondBasis,
            end_of_month: false,
            stub: Stub::ShortFront,
            calendar: Calendar::None,
            convention: BusinessDayConvention::Unadjusted,
        }
    }

    fn dates(flows: &CashFlows) -> Vec<String> {
        flows.cashflows.iter().map(|flow| flow.date.to_string()).collect()
    }

    #[test]
    fn the_redemption_is_a_row_of_its_own_at_maturity() {
        let flows = bond("2024-01-15", "2025-01-15").cash_flows(None).unwrap();
        assert_eq!(dates(&flows), ["2024-07-15", "2025-01-15", "2025-01-15"]);
        let amounts: Vec<f64> = flows.cashflows.iter().map(|flow| flow.amount).collect();
        assert_eq!(amounts, [2.5, 2.5, 100.0]);
        assert_eq!(flows.cashflows[2].kind, CashFlowKind::Redemption);
        assert_eq!(flows.accrued_interest, None);
    }

    #[test]
    fn a_short_first_period_pays_its_part() {
        let mut bond = bond("2024-05-15", "2025-01-15");
        assert_eq!(bond.cash_flows(None).unwrap().cashflows[0].year_fraction, 60.0 / 360.0);
        bond.day_count = DayCount::ActActIcma;
        // 61 of the 182 days from 15 January to 15 July.
        assert_eq!(bond.cash_flows(None).unwrap().cashflows[0].year_fraction, 61.0 / 364.0);
    }

    #[test]
    fn a_stub_may_be_long_and_at_either_end() {
        let first_and_last = |stub| {
            let bond = FixedBond {
                stub,
                day_count: DayCount::ActActIcma,
                ..bond("2024-05-15", "2025-07-15")
            };
            let coupons = bond.cash_flows(None).unwrap().cashflows;
            let years = |index: usize| coupons[index].year_fraction;
            (years(0), years(coupons.len() - 2))
        };
        // 61 of the 182 days from 15 January to 15 July 2024, and of the 184 from 15 May to 15
        // November 2025.
        let (front, back) = (61.0 / 364.0, 61.0 / 368.0);
        assert_eq!(first_and_last(Stub::ShortFront), (front, 0.5));
        assert_eq!(first_and_last(Stub::LongFront), (front + 0.5, 0.5));
        assert_eq!(first_and_last(Stub::ShortBack), (0.5, back));
        assert_eq!(first_and_last(Stub::LongBack), (0.5, 0.5 + back));
        let long = FixedBond { stub: Stub::LongFront, ..bond("2024-05-15", "2025-07-15") };
        let flows = long.cash_flows(Some(date("2024-08-15"))).unwrap();
        assert_eq!(flows.accrued_interest, Some(5.0 * (90.0 / 360.0)));
        assert_eq!(flows.cashflows[0].amount, 5.0 * (240.0 / 360.0));
        let none = FixedBond { stub: Stub::None, ..long };
        assert_eq!(none.cash_flows(None).unwrap_err().argument(), Some("stub"));
    }

    #[test]
    fn payments_move_and_periods_do_not() {
        let mut bond = bond("2024-06-30", "2025-06-30");
        bond.day_count = DayCount::Act365;
        let still = bond.cash_flows(None).unwrap();
        bond.maturity_date = date("2026-02-28");
        bond.issue_date = date("2025-02-28");
        bond.calendar = Calendar::Weekends;
        bond.convention = BusinessDayConvention::Following;
        let moved = bond.cash_flows(None).unwrap();
        assert_eq!(dates(&still)[0], "2024-12-30");
        assert_eq!(dates(&moved), ["2025-08-28", "2026-03-02", "2026-03-02"]);
        assert_eq!(moved.cashflows[1].period_end, date("2026-02-28"));
        assert_eq!(moved.cashflows[1].year_fraction, 184.0 / 365.0);
    }

    #[test]
    fn a_settlement_keeps_what_comes_after_it() {
        let bond = bond("2024-01-15", "2025-01-15");
        let at = |text: &str| bond.cash_flows(Some(date(text))).unwrap();
        assert_eq!(at("2024-07-14").cashflows.len(), 3);
        assert_eq!(at("2024-07-15").cashflows.len(), 2);
        assert_eq!(at("2024-07-15").accrued_interest, Some(0.0));
        assert_eq!(at("2024-10-15").accrued_interest, Some(1.25));
        assert_eq!(at("2023-12-31").cashflows.len(), 3);
        assert_eq!(at("2023-12-31").accrued_interest, Some(0.0));
        for text in ["2025-01-15", "2030-01-01"] {
            assert_eq!(at(text), CashFlows { cashflows: vec![], accrued_interest: Some(0.0) });
        }
    }

    #[test]
    fn interest_accrues_on_coupons_still_to_be_paid() {
        use BusinessDayConvention::{Following, Preceding};
        // 24 March and 24 September 1991: a Sunday and a Tuesday.
        let bond = |convention| FixedBond {
            calendar: Calendar::Weekends,
            convention,
            ..bond("1990-09-24", "1991-09-24")
        };
        let accrued = |convention, settlement: &str| {
            bond(convention).cash_flows(Some(date(settlement))).unwrap().accrued_interest.unwrap()
        };
        // Paid on Friday 22 March, with the period ending on Sunday.
        assert_eq!(accrued(Preceding, "1991-03-21"), 5.0 * (177.0 / 360.0));
        assert_eq!(accrued(Preceding, "1991-03-22"), 0.0);
        assert_eq!(accrued(Preceding, "1991-03-25"), 5.0 * (1.0 / 360.0));
        // Paid on Monday 25 March.
        assert_eq!(accrued(Following, "1991-03-24"), 2.5);
        assert_eq!(accrued(Following, "1991-03-25"), 5.0 * (1.0 / 360.0));
    }

    #[test]
    fn no_coupon_is_minus_zero() {
        let mut bond = bond("2024-01-15", "2025-01-15");
        for rate in [0.0, -0.0] {
            bond.coupon_rate = rate;
            let flows = bond.cash_flows(Some(date("2024-02-15"))).unwrap();
            assert_eq!(flows.cashflows[0].amount.to_bits(), 0);
            assert_eq!(flows.accrued_interest.unwrap().to_bits(), 0);
        }
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        let good = bond("2024-01-15", "2025-01-15");
        #[rustfmt::skip]
        let rows = [
            (FixedBond { maturity_date: good.issue_date, ..good }, "date", "maturity_date"),
            (FixedBond { issue_date: NaiveDate::MIN, ..good }, "date", "issue_date"),
            (FixedBond { maturity_date: NaiveDate::MAX, ..good }, "date", "maturity_date"),
            (FixedBond { coupon_rate: f64::NAN, ..good }, "domain", "coupon_rate"),
            (FixedBond { coupon_rate: 5.0, ..good }, "domain", "coupon_rate"),
            (FixedBond { face_value: 0.0, ..good }, "domain", "face_value"),
            (FixedBond { face_value: -1.0, ..good }, "domain", "face_value"),
            (FixedBond { face_value: f64::INFINITY, ..good }, "domain", "face_value"),
            (FixedBond { face_value: 1.7e308, coupon_rate: 1.5, ..good }, "overflow", "face_value"),
            (FixedBond { day_count: DayCount::Bus252, ..good }, "conflict", "calendar"),
        ];
        for (bond, code, argument) in rows {
            let error = bond.cash_flows(None).unwrap_err();
            assert_eq!((error.code(), error.argument()), (code, Some(argument)), "{bond:?}");
        }
        let error = good.cash_flows(Some(NaiveDate::MAX)).unwrap_err();
        assert_eq!(error.argument(), Some("settlement_date"));
    }

    proptest! {
        #[test]
        fn whole_periods_by_icma_pay_the_same_coupon(
            maturity in 1_i32..3_600_000, periods in 1_i64..60, which in 0_usize..6,
        ) {
            let frequency = Frequency::from_count([1, 2, 3, 4, 6, 12][which]).unwrap();
            let maturity_date = NaiveDate::from_num_days_from_ce_opt(maturity + 40_000).unwrap();
            let issue_date = crate::time::add_months(maturity_date, -periods * frequency.months()).unwrap();
            let bond = FixedBond {
                issue_date, maturity_date, frequency, day_count: DayCount::ActActIcma,
                ..bond("2024-01-15", "2025-01-15")
            };
            let flows = bond.cash_flows(None).unwrap();
            prop_assert_eq!(flows.cashflows.len() as i64, periods + 1);
            for coupon in &flows.cashflows[..flows.cashflows.len() - 1] {
                prop_assert_eq!(coupon.year_fraction, 1.0 / f64::from(frequency.count()));
            }
        }

        #[test]
        fn coupons_by_actual_days_add_up_to_the_whole_life(
            issue in 1_i32..3_600_000, length in 1_i32..20_000, which in 0_usize..6, rate in -0.1..0.5,
        ) {
            let day = |n| NaiveDate::from_num_days_from_ce_opt(n).unwrap();
            let bond = FixedBond {
                issue_date: day(issue), maturity_date: day(issue + length), coupon_rate: rate,
                frequency: Frequency::from_count([1, 2, 3, 4, 6, 12][which]).unwrap(),
                day_count: DayCount::Act365, ..bond("2024-01-15", "2025-01-15")
            };
            let paid: f64 = bond.cash_flows(None).unwrap().cashflows.iter().map(|flow| flow.amount).sum();
            let expected = 100.0 + 100.0 * rate * f64::from(length) / 365.0;
            prop_assert!((paid - expected).abs() <= 1e-12 * (100.0 + expected.abs()));
        }
    }
}

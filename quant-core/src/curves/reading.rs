//! Rates of a curve in any compounding and day count, at a tenor or over a period.

use super::compounding::Compounding;
use super::conventions::Conventions;
use super::curve::{Curve, Point};
use super::forward_period::ForwardPeriod;
use crate::time::{BusinessDayConvention, Calendar, DayCount, Frequency, NaiveDate};
use crate::{Error, Result, check};

/// The largest number of payments of a par rate, so that no reading takes a millisecond.
const MOST_PAYMENTS: f64 = 12_000.0;

/// The compounding and the day count in which rates of a curve are expressed.
///
/// # Examples
///
/// ```
/// use quant_core::curves::{Compounding, RateConventions};
///
/// assert_eq!(RateConventions::default().compounding, Compounding::Continuous);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RateConventions {
    /// Compounding of the rate.
    pub compounding: Compounding,
    /// Day count of the years of the rate; without one the years are those of the tenor.
    pub day_count: Option<DayCount>,
    /// Calendar of BUS/252; without effect on any other day count.
    pub calendar: Calendar,
}

impl Default for RateConventions {
    /// Returns continuous compounding over the years of the tenor.
    fn default() -> Self {
        let (compounding, calendar) = (Compounding::Continuous, Calendar::None);
        Self { compounding, day_count: None, calendar }
    }
}

/// The values of a curve at one time, with its zero rate by [`RateConventions`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ZeroReading {
    /// Discount factor, continuously compounded zero rate and instantaneous forward rate.
    pub point: Point,
    /// Years that the conventions count to the tenor.
    pub years: f64,
    /// Zero rate by the conventions, annual.
    pub zero_rate: f64,
    /// True if the tenor lies before the first pillar or after the last.
    pub is_extrapolated: bool,
}

/// The forward rates of a period, among them the rate by [`RateConventions`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ForwardReading {
    /// Forward discount factor and the forward rates over the years of the tenors.
    pub period: ForwardPeriod,
    /// Years that the conventions count from the start to the end.
    pub years: f64,
    /// Forward rate by the conventions, annual.
    pub forward_rate: f64,
    /// True if a part of the period lies before the first pillar or after the last.
    pub is_extrapolated: bool,
}

impl RateConventions {
    /// Returns the years between two dates that are so many years apart on the curve.
    fn years(&self, start: NaiveDate, end: NaiveDate, apart: f64) -> Result<f64> {
        let Some(day_count) = self.day_count else { return Ok(apart) };
        let conventions = Conventions {
            day_count,
            compounding: self.compounding,
            calendar: self.calendar,
            convention: BusinessDayConvention::Unadjusted,
            settlement_days: 0,
            end_of_month: false,
        };
        let years = if end > start { conventions.period(start, end)?.year_fraction } else { 0.0 };
        let problem = "counts no time between the dates";
        if years > 0.0 {
            Ok(years)
        } else {
            Err(Error::Conflict { argument: "day_count", problem })
        }
    }

    /// Returns the equal of a continuous rate that holds for `apart` years of the curve.
    fn convert(&self, rate: f64, apart: f64, years: f64) -> Result<f64> {
        let scaled = if self.day_count.is_some() { rate * (apart / years) } else { rate };
        self.compounding.from_continuous(scaled, years)
    }
}

impl Curve {
    /// Returns the values of the curve at a tenor in years, with the zero rate by conventions.
    ///
    /// ```text
    /// D (1 + r y) = 1,   D (1 + r/n)^{n y} = 1,   D e^{r y} = 1
    /// ```
    ///
    /// for simple interest, n payments a year, and continuous compounding. y are the years of the tenor
    /// or, with a day count, those from the reference date to the [date](Self::date) of the tenor.
    /// ACT/ACT ICMA, which has no coupon periods here, counts as ACT/ACT ISDA. At tenor 0 all rates are
    /// their limit, counted in the years of the tenor.
    ///
    /// # Errors
    ///
    /// Those of [`at`](Self::at); [`Error::Conflict`] for a day count that counts no time, and for BUS/252
    /// without a calendar; with a day count also those of [`date`](Self::date).
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::{Compounding, Curve, CurveType, Interpolation, RateConventions};
    /// use quant_core::prelude::*;
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
    /// let curve =
    ///     Curve::from_values(today, &[1.0], &[0.96], CurveType::Discount, Interpolation::Linear)?;
    /// let conventions = RateConventions {
    ///     compounding: Compounding::Simple, day_count: Some(DayCount::Act360), ..Default::default()
    /// };
    /// let reading = curve.zero_reading(1.0, &conventions)?;
    /// assert_eq!(reading.years, 365.0 / 360.0);
    /// assert!((reading.zero_rate - (1.0 / 0.96 - 1.0) * 360.0 / 365.0).abs() < 1e-16);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn zero_reading(&self, tenor: f64, conventions: &RateConventions) -> Result<ZeroReading> {
        let point = self.at(tenor)?;
        let years = if tenor == 0.0 {
            0.0
        } else if conventions.day_count.is_none() {
            tenor
        } else {
            conventions.years(self.reference_date(), self.date(tenor)?, tenor)?
        };
        let zero_rate = if tenor == 0.0 {
            conventions.compounding.from_continuous(point.zero_rate, 0.0)
        } else {
            conventions.convert(point.zero_rate, tenor, years)
        };
        let zero_rate = zero_rate.map_err(|_| Error::Overflow { argument: "tenor" })?;
        Ok(ZeroReading { point, years, zero_rate, is_extrapolated: self.is_beyond(tenor) })
    }

    /// Returns the forward rates between two tenors in years, one of them by conventions.
    ///
    /// With R the discount factor of the start over that of the end, and y the years of the period:
    ///
    /// ```text
    /// 1 + r y = R,   (1 + r/n)^{n y} = R,   e^{r y} = R
    /// ```
    ///
    /// With a day count, y are the years between the [dates](Self::date) of the tenors.
    ///
    /// # Errors
    ///
    /// Those of [`between`](Self::between), and those of a day count as in
    /// [`zero_reading`](Self::zero_reading).
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::{Curve, CurveType, Interpolation, RateConventions};
    /// use quant_core::prelude::*;
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
    /// let (tenors, rates) = ([1.0, 2.0], [0.03, 0.04]);
    /// let curve =
    ///     Curve::from_values(today, &tenors, &rates, CurveType::Zero, Interpolation::Linear)?;
    /// let reading = curve.forward_reading(1.0, 2.0, &RateConventions::default())?;
    /// assert!((reading.forward_rate - 0.05).abs() < 1e-16);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn forward_reading(
        &self,
        start: f64,
        end: f64,
        conventions: &RateConventions,
    ) -> Result<ForwardReading> {
        let period = self.between(start, end)?;
        let apart = end - start;
        let years = if conventions.day_count.is_none() {
            apart
        } else {
            conventions.years(self.date(start)?, self.date(end)?, apart)?
        };
        let rate = conventions.convert(period.continuous_forward_rate, apart, years);
        Ok(ForwardReading {
            period,
            years,
            forward_rate: rate.map_err(|_| Error::Overflow { argument: "end" })?,
            is_extrapolated: self.is_beyond(start) || self.is_beyond(end),
        })
    }

    /// Returns the rate of a par swap from the reference date to a tenor in years.
    ///
    /// ```text
    /// r = (1 − D(T)) / Σ αⱼ D(tⱼ)
    /// ```
    ///
    /// where tⱼ are counted back from the tenor T by whole periods, and the first period is short where
    /// they do not divide T. At tenor 0 the rate is its limit, the instantaneous forward rate.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a negative tenor or one of more than 12,000 payments, [`Error::Overflow`]
    /// where the rate is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::{Curve, CurveType, Interpolation};
    /// use quant_core::prelude::*;
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
    /// let (tenors, factors) = ([1.0, 2.0], [0.96, 0.92]);
    /// let curve =
    ///     Curve::from_values(today, &tenors, &factors, CurveType::Discount, Interpolation::Linear)?;
    /// let rate = curve.par_rate(2.0, Frequency::Annual)?;
    /// assert!((rate - (1.0 - 0.92) / (0.96 + 0.92)).abs() < 1e-16);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn par_rate(&self, tenor: f64, frequency: Frequency) -> Result<f64> {
        let last = self.at(tenor)?;
        if tenor == 0.0 {
            return Ok(last.instantaneous_forward_rate);
        }
        let count = f64::from(frequency.count());
        let requirement = "short enough for at most 12,000 payments";
        check::require(tenor * count <= MOST_PAYMENTS, "tenor", tenor, requirement)?;
        let (mut annuity, mut payment) = (0.0, 0.0);
        loop {
            let time = tenor - payment / count;
            if time <= 0.0 {
                break;
            }
            annuity += time.min(1.0 / count) * self.at(time)?.discount_factor;
            payment += 1.0;
        }
        check::result("tenor", -libm::expm1(-last.zero_rate * tenor) / annuity)
    }

    /// Returns whether a tenor lies before the first pillar or after the last.
    fn is_beyond(&self, tenor: f64) -> bool {
        let pillars = self.pillars();
        tenor < pillars[0].tenor || tenor > pillars[pillars.len() - 1].tenor
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::curves::{CurveType, Interpolation};

    fn today() -> NaiveDate {
        NaiveDate::from_ymd_opt(2024, 1, 31).unwrap()
    }

    fn flat(rate: f64) -> Curve {
        let shape = Interpolation::Linear;
        Curve::from_values(today(), &[1.0, 5.0], &[rate; 2], CurveType::Zero, shape).unwrap()
    }

    fn conventions(compounding: Compounding, day_count: Option<DayCount>) -> RateConventions {
        RateConventions { compounding, day_count, calendar: Calendar::None }
    }

    #[test]
    fn without_conventions_a_reading_is_the_point_bit_for_bit() {
        let curve = flat(0.037);
        for tenor in [0.0, 0.4, 1.0, 3.3, 5.0, 40.0] {
            let reading = curve.zero_reading(tenor, &RateConventions::default()).unwrap();
            assert_eq!(reading.zero_rate.to_bits(), reading.point.zero_rate.to_bits());
            assert_eq!(reading.years, tenor);
            assert_eq!(reading.is_extrapolated, !(1.0..=5.0).contains(&tenor));
        }
    }

    #[test]
    fn at_tenor_zero_every_rate_is_its_limit() {
        let (curve, tiny) = (flat(0.04), 1e-12);
        for &compounding in Compounding::ALL {
            let read = |tenor, day_count| {
                let reading = curve.zero_reading(tenor, &conventions(compounding, day_count));
                reading.unwrap().zero_rate
            };
            assert!((read(0.0, None) - read(tiny, None)).abs() < 1e-13, "{compounding}");
            assert_eq!(read(0.0, Some(DayCount::Act360)), read(0.0, None), "{compounding}");
        }
        assert_eq!(curve.par_rate(0.0, Frequency::Annual).unwrap(), 0.04);
    }

    #[test]
    fn a_day_count_without_time_or_calendar_is_refused() {
        let read = |tenor, day_count| {
            let refused =
                flat(0.04).zero_reading(tenor, &conventions(Compounding::Simple, Some(day_count)));
            refused.unwrap_err()
        };
        // From the 31st of January to the 30th day, and half a day.
        assert_eq!(read(0.001, DayCount::Act365).argument(), Some("day_count"));
        assert_eq!(read(1.0, DayCount::Bus252).code(), "conflict");
        assert_eq!(read(8000.0, DayCount::Act365).argument(), Some("tenor"));
        assert_eq!(
            flat(0.04).par_rate(1e9, Frequency::Monthly).unwrap_err().argument(),
            Some("tenor")
        );
    }

    #[test]
    fn a_flat_curve_has_flat_par_rates() {
        for count in [1, 2, 4, 12] {
            let frequency = Frequency::from_count(count).unwrap();
            let whole = f64::from(count) * libm::expm1(0.04 / f64::from(count));
            let rate = flat(0.04).par_rate(7.0, frequency).unwrap();
            assert!((rate - whole).abs() < 1e-15, "{count}: {rate} {whole}");
        }
    }

    proptest! {
        #[test]
        fn a_zero_rate_by_any_conventions_discounts_as_the_curve(
            which in 0_usize..6, count in 0_usize..9, rate in -0.05..0.2_f64, days in 40_u32..10_000,
        ) {
            let curve = flat(rate);
            let day_count = DayCount::ALL.get(count).copied().filter(|&found| found != DayCount::Bus252);
            let conventions = conventions(Compounding::ALL[which], day_count);
            let tenor = curve.tenor(crate::time::add_days(today(), i64::from(days)).unwrap()).unwrap();
            let reading = curve.zero_reading(tenor, &conventions).unwrap();
            let interest = conventions.compounding.interest(reading.zero_rate, reading.years).unwrap();
            prop_assert!(((1.0 + interest) * reading.point.discount_factor - 1.0).abs() <= 1e-14);
            let forward = curve.forward_reading(tenor, tenor + 1.0, &conventions).unwrap();
            let interest = conventions.compounding.interest(forward.forward_rate, forward.years).unwrap();
            prop_assert!(((1.0 + interest) * forward.period.discount_factor - 1.0).abs() <= 1e-14);
        }
    }
}

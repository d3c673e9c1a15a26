//! The yield curve: its pillars and its values at any time.

use super::bootstrap::bootstrap;
use super::instrument::{Instrument, InstrumentFlows};
use super::interpolation::{Interpolant, Interpolation};
use super::pillars::{pillar_before, require_increasing};
use super::times::{date_of, dates, years_until};
use crate::arithmetic::without_negative_zero;
use crate::{
    Error, Result, check,
    time::{NaiveDate, require_year},
};
use values::{exponents, require_values};

pub use values::CurveType;

mod values;

/// A yield curve.
///
/// With the feature `serde` a curve is serialised with its fitted interpolation, so that it reads the
/// same bits afterwards. Deserialisation does not check the numbers.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Curve {
    reference_date: NaiveDate,
    pillars: Vec<Pillar>,
    pub(super) interpolant: Interpolant,
}

/// The values of a curve at one of its pillars.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Pillar {
    /// Time from the reference date, in years.
    pub tenor: f64,
    /// The reference date moved by the tenor; see [`Curve::from_values`].
    pub date: NaiveDate,
    /// Zero rate, annual, continuously compounded.
    pub zero_rate: f64,
    /// Value today of one unit paid at the pillar.
    pub discount_factor: f64,
    /// Forward rate from the pillar before, or from the reference date, without compounding.
    pub simple_forward_rate: f64,
}

/// The values of a curve at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Point {
    /// Time from the reference date, in years.
    pub tenor: f64,
    /// Zero rate, continuously compounded; at time 0 its limit.
    pub zero_rate: f64,
    /// Value today of one unit paid at that time.
    pub discount_factor: f64,
    /// Instantaneous forward rate, continuously compounded; just after the time where it jumps there.
    pub instantaneous_forward_rate: f64,
}

impl Curve {
    /// Returns the curve through the given values.
    ///
    /// `tenors` are years from the reference date, positive and increasing; `values` are of
    /// the kind `curve_type`, one for each tenor, and are returned unchanged at their pillars.
    ///
    /// The date of a pillar is the one whose time is nearest to its tenor, where a whole month counts
    /// a twelfth of a year and a day of the rest a 365th. So 0.25 is three months to the day, and
    /// 14/365 two weeks.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`] without tenors, [`Error::Shape`] where there are not as many values,
    /// [`Error::Element`] for the first tenor that is not positive, not after the one before or
    /// leads beyond the year 9999, and for a rate beyond ±2 (200 %), which is a percentage by
    /// mistake, or a discount factor that is not positive, [`Error::Date`] for a reference date outside the years 1 to 9999,
    /// [`Error::Overflow`] where what follows from the values is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::{curves::{Curve, CurveType, Interpolation}, time::NaiveDate};
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
    /// let (tenors, rates) = ([1.0, 2.0, 5.0], [0.03, 0.035, 0.04]);
    /// let curve =
    ///     Curve::from_values(today, &tenors, &rates, CurveType::Zero, Interpolation::Linear)?;
    /// assert_eq!(curve.pillars()[2].date.to_string(), "2031-11-20");
    /// assert!((curve.at(1.5)?.zero_rate - 0.0325).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Hagan and West (2006), "Interpolation Methods for Curve Construction", Applied Mathematical
    /// Finance 13(2).
    pub fn from_values(
        reference_date: NaiveDate,
        tenors: &[f64],
        values: &[f64],
        curve_type: CurveType,
        interpolation: Interpolation,
    ) -> Result<Self> {
        require_year("reference_date", reference_date)?;
        require_increasing("tenors", tenors)?;
        check::length("values", values.len(), tenors.len())?;
        require_values(values, curve_type)?;
        let dates = dates(reference_date, tenors)?;
        let exponents = exponents(tenors, values, curve_type);
        let mut curve =
            Self::through("values", reference_date, tenors, dates, &exponents, interpolation)?;
        // A given value is returned unchanged, without the roundings of a logarithm and a division.
        for (pillar, &value) in curve.pillars.iter_mut().zip(values) {
            match curve_type {
                CurveType::Zero => pillar.zero_rate = without_negative_zero(value),
                CurveType::Discount => pillar.discount_factor = value,
                CurveType::ContinuousForward => {}
            }
        }
        Ok(curve)
    }

    /// Returns the curve that prices the given instruments at their quotes.
    ///
    /// The pillars are the instruments' maturity dates, which must come in order; their times are
    /// those of [`tenor`](Self::tenor). A deposit of rate r and a par swap of rate r say
    ///
    /// ```text
    /// D(T) (1 + r α) = 1,        r Σ αⱼ D(tⱼ) + D(T) = 1
    /// ```
    ///
    /// where tⱼ are the times of the swap's payments, counted back from its maturity T, and α the
    /// years of the tenor or of a period, in which a month is a twelfth and a day a 365th; the first
    /// period is short where they do not divide the tenor.
    ///
    /// Where all payments fall on pillars the discount factors follow one by one, by division.
    /// Where they do not, the payments after the last known pillar are interpolated towards the
    /// unknown one, which is the only root of an increasing function that is convex or concave:
    /// Newton's method started on the outer side converges to it without a bracket. For the two
    /// interpolations in which a pillar bends the curve before it, this is repeated until the
    /// pillars stand still, or all of them are found at once by Newton's method. Quotes so uneven
    /// that no spline meets them are refused.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`] without instruments, [`Error::Element`] for the first of them whose tenor
    /// is not positive, not after the one before, beyond the year 9999 or of too many payments
    /// (more than 1,000,000 in all), or whose rate is beyond ±2 (200 %) or leaves no positive
    /// discount factor, [`Error::Date`] for a reference date outside the years 1 to 9999,
    /// [`Error::NoConvergence`] where the repetition does not come to rest.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::{Curve, Instrument, InstrumentKind, Interpolation};
    /// use quant_core::time::{NaiveDate, schedule::Frequency};
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
    /// let quote = |kind, tenor: &str, rate| {
    ///     let frequency = Frequency::Annual;
    ///     Ok(Instrument { kind, tenor: tenor.parse()?, rate, frequency, conventions: None })
    /// };
    /// let instruments = [
    ///     quote(InstrumentKind::Deposit, "1Y", 0.05)?,
    ///     quote(InstrumentKind::Swap, "2Y", 0.06)?,
    /// ];
    /// let curve = Curve::bootstrap(today, &instruments, Interpolation::LogLinear)?;
    /// let [one, two] = [1.0, 2.0].map(|years| curve.at(years).unwrap().discount_factor);
    /// assert!((one - 1.0 / 1.05).abs() < 1e-15);
    /// assert!((0.06 * (one + two) + two - 1.0).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Hagan and West (2006), "Interpolation Methods for Curve Construction".
    pub fn bootstrap(
        reference_date: NaiveDate,
        instruments: &[Instrument],
        interpolation: Interpolation,
    ) -> Result<Self> {
        Ok(Self::bootstrap_counted(reference_date, instruments, interpolation)?.0)
    }

    /// Returns the bootstrapped curve and the number of iterations that it took.
    pub(super) fn bootstrap_counted(
        reference_date: NaiveDate,
        instruments: &[Instrument],
        interpolation: Interpolation,
    ) -> Result<(Self, u32)> {
        require_year("reference_date", reference_date)?;
        let mut quoted: Vec<InstrumentFlows> = Vec::with_capacity(instruments.len());
        let mut count = 0;
        for (index, instrument) in instruments.iter().enumerate() {
            let found = instrument.cash_flows(index, reference_date, count)?;
            count += found.flows.len();
            quoted.push(found);
        }
        let tenors: Vec<f64> = quoted.iter().map(InstrumentFlows::time).collect();
        require_increasing("instruments", &tenors)?;
        let dates = quoted.iter().map(|found| found.maturity).collect();
        let (exponents, iterations) = bootstrap(&quoted, &tenors, interpolation)?;
        let argument = "instruments";
        let curve =
            Self::through(argument, reference_date, &tenors, dates, &exponents, interpolation)?;
        Ok((curve, iterations))
    }

    /// Returns the values of the curve at a tenor, before, between and beyond its pillars.
    ///
    /// The tenor is in years from the reference date. At 0 the discount factor is 1 and the zero
    /// rate is its limit, the forward rate. At a pillar the zero rate and the discount factor are
    /// those of the pillar, bit for bit.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a negative tenor, [`Error::Overflow`] where the discount factor is no
    /// double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::{curves::{Curve, CurveType, Interpolation}, time::NaiveDate};
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
    /// let curve =
    ///     Curve::from_values(today, &[1.0], &[-0.005], CurveType::Zero, Interpolation::LogLinear)?;
    /// let point = curve.at(0.0)?;
    /// assert_eq!((point.discount_factor, point.zero_rate), (1.0, -0.005));
    /// assert_eq!(point.instantaneous_forward_rate, -0.005);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn at(&self, tenor: f64) -> Result<Point> {
        check::not_negative("tenor", tenor)?;
        let reading = self.interpolant.at(tenor);
        let instantaneous_forward_rate = check::result("tenor", reading.forward_rate)?;
        let found = self.pillars.binary_search_by(|pillar| pillar.tenor.total_cmp(&tenor));
        let (zero_rate, discount_factor) = match found {
            Ok(index) => (self.pillars[index].zero_rate, self.pillars[index].discount_factor),
            Err(_) => (reading.zero_rate, libm::exp(-reading.exponent)),
        };
        Ok(Point {
            // A tenor of −0 is 0.
            tenor: without_negative_zero(tenor),
            zero_rate: check::result("tenor", zero_rate)?,
            discount_factor: check::result("tenor", discount_factor)?,
            instantaneous_forward_rate,
        })
    }

    /// Returns the tenor of a date: its time from the reference date, in years.
    ///
    /// A whole month counts a twelfth of a year and a day of the rest a 365th: three months to the day
    /// are 0.25, and two weeks 14/365. The date of a pillar has the tenor of the pillar, bit for bit;
    /// of pillars within one day, that of the first.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a date before the reference date or outside the years 1 to 9999.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::{curves::{Curve, CurveType, Interpolation}, time::NaiveDate};
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
    /// let curve =
    ///     Curve::from_values(today, &[1.0], &[0.03], CurveType::Zero, Interpolation::Linear)?;
    /// let later = NaiveDate::from_ymd_opt(2028, 5, 20).unwrap();
    /// assert_eq!(curve.tenor(later)?, 1.5);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn tenor(&self, date: NaiveDate) -> Result<f64> {
        require_year("date", date)?;
        if date < self.reference_date {
            let requirement = "on or after the reference date";
            return Err(Error::Date { argument: "date", value: date, requirement });
        }
        let pillar = self.pillars.partition_point(|pillar| pillar.date < date);
        let on_date = self.pillars.get(pillar).filter(|pillar| pillar.date == date);
        match on_date {
            Some(pillar) if date > self.reference_date => Ok(pillar.tenor),
            _ => Ok(years_until(self.reference_date, date)),
        }
    }

    /// Returns the date of a tenor: the one whose time is nearest.
    ///
    /// The date of a pillar's tenor is that of the pillar.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a tenor that is negative or leads beyond the year 9999.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::{curves::{Curve, CurveType, Interpolation}, time::NaiveDate};
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
    /// let curve =
    ///     Curve::from_values(today, &[1.0], &[0.03], CurveType::Zero, Interpolation::Linear)?;
    /// assert_eq!(curve.date(1.5)?.to_string(), "2028-05-20");
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn date(&self, tenor: f64) -> Result<NaiveDate> {
        check::not_negative("tenor", tenor)?;
        if tenor == 0.0 {
            return Ok(self.reference_date);
        }
        let found = self.pillars.binary_search_by(|pillar| pillar.tenor.total_cmp(&tenor));
        let date = match found {
            Ok(index) => Some(self.pillars[index].date),
            Err(_) => date_of(self.reference_date, tenor),
        };
        let requirement = "short enough for a date in the years 1 to 9999";
        date.ok_or(Error::Domain { argument: "tenor", value: tenor, requirement })
    }

    /// Returns the values of the curve at a date.
    ///
    /// At the date of a pillar these are the values of the pillar, bit for bit.
    ///
    /// # Errors
    ///
    /// Those of [`tenor`](Self::tenor) and of [`at`](Self::at).
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::{curves::{Curve, CurveType, Interpolation}, time::NaiveDate};
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
    /// let curve =
    ///     Curve::from_values(today, &[0.3], &[0.97], CurveType::Discount, Interpolation::Linear)?;
    /// let pillar = curve.pillars()[0];
    /// assert_eq!(curve.at_date(pillar.date)?.discount_factor, 0.97);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn at_date(&self, date: NaiveDate) -> Result<Point> {
        self.at(self.tenor(date)?)
    }

    /// Returns the pillars in order of time: those given, or the maturities of the instruments.
    #[must_use]
    pub fn pillars(&self) -> &[Pillar] {
        &self.pillars
    }

    /// Returns the date at which the discount factor is 1.
    #[must_use]
    pub fn reference_date(&self) -> NaiveDate {
        self.reference_date
    }

    /// Returns the curve with other exponents, minus the logarithms of the discount factors, at the same
    /// pillars.
    pub(super) fn with_exponents(&self, argument: &'static str, exponents: &[f64]) -> Result<Self> {
        let tenors: Vec<f64> = self.pillars.iter().map(|pillar| pillar.tenor).collect();
        let dates = self.pillars.iter().map(|pillar| pillar.date).collect();
        let interpolation = self.interpolant.interpolation();
        Self::through(argument, self.reference_date, &tenors, dates, exponents, interpolation)
    }

    /// Returns the curve with other zero rates at the same pillars, which return them unchanged.
    pub(super) fn with_zero_rates(&self, argument: &'static str, rates: &[f64]) -> Result<Self> {
        let exponents = self.pillars.iter().zip(rates).map(|(pillar, rate)| rate * pillar.tenor);
        let mut curve = self.with_exponents(argument, &exponents.collect::<Vec<_>>())?;
        for (pillar, &rate) in curve.pillars.iter_mut().zip(rates) {
            pillar.zero_rate = without_negative_zero(rate);
        }
        Ok(curve)
    }

    /// Returns the curve with these negated logarithms of the discount factors at its pillars.
    fn through(
        argument: &'static str,
        reference_date: NaiveDate,
        tenors: &[f64],
        dates: Vec<NaiveDate>,
        exponents: &[f64],
        interpolation: Interpolation,
    ) -> Result<Self> {
        let exponents: Vec<f64> = exponents.iter().copied().map(without_negative_zero).collect();
        let mut pillars = Vec::with_capacity(tenors.len());
        for (index, date) in dates.into_iter().enumerate() {
            let (tenor, exponent) = (tenors[index], exponents[index]);
            let (tenor_before, before) = pillar_before(tenors, &exponents, index);
            let simple_forward_rate = libm::expm1(exponent - before) / (tenor - tenor_before);
            pillars.push(Pillar {
                tenor,
                date,
                zero_rate: check::result(argument, exponent / tenor)?,
                discount_factor: check::result(argument, libm::exp(-exponent))?,
                simple_forward_rate: check::result(argument, simple_forward_rate)?,
            });
        }
        let zero_rates: Vec<f64> = pillars.iter().map(|pillar| pillar.zero_rate).collect();
        let interpolant = interpolation.fit(tenors, &zero_rates, &exponents);
        if !interpolant.is_finite() {
            return Err(Error::Overflow { argument });
        }
        Ok(Self { reference_date, pillars, interpolant })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHAPES: &[Interpolation] = Interpolation::ALL;

    #[test]
    fn a_spline_between_pillars_that_nearly_coincide_is_refused() {
        let (tenors, rates) = ([5e-324, 1e-308, 255.25], [0.0, 0.9, 0.4]);
        let spline = Interpolation::Cubic;
        let refused = Curve::from_values(today(), &tenors, &rates, CurveType::Zero, spline);
        assert_eq!(refused.unwrap_err().code(), "overflow");
    }

    fn today() -> NaiveDate {
        "2024-01-31".parse().unwrap()
    }

    fn zero_curve(tenors: &[f64], rates: &[f64], shape: Interpolation) -> Curve {
        Curve::from_values(today(), tenors, rates, CurveType::Zero, shape).unwrap()
    }

    #[test]
    fn linear_zero_rates_are_flat_beyond_the_ends() {
        let curve = zero_curve(&[1.0, 3.0], &[0.02, 0.04], Interpolation::Linear);
        for (tenor, rate) in
            [(0.0, 0.02), (0.5, 0.02), (1.0, 0.02), (2.0, 0.03), (3.0, 0.04), (9.0, 0.04)]
        {
            assert_eq!(curve.at(tenor).unwrap().zero_rate, rate, "{tenor}");
        }
        // z + t z′ in between, and z beyond.
        assert!((curve.at(2.0).unwrap().instantaneous_forward_rate - 0.05).abs() < 1e-16);
        assert_eq!(curve.at(0.5).unwrap().instantaneous_forward_rate, 0.02);
        assert_eq!(curve.at(3.0).unwrap().instantaneous_forward_rate, 0.04);
    }

    #[test]
    fn log_linear_forwards_are_flat_between_pillars_and_after_the_last() {
        let (tenors, forwards) = ([0.5, 2.0, 5.0], [0.01, 0.03, -0.02]);
        let curve = Curve::from_values(
            today(),
            &tenors,
            &forwards,
            CurveType::ContinuousForward,
            Interpolation::LogLinear,
        )
        .unwrap();
        let rows = [
            (0.0, 0.01),
            (0.25, 0.01),
            (0.5, 0.03),
            (1.9, 0.03),
            (2.0, -0.02),
            (5.0, -0.02),
            (50.0, -0.02),
        ];
        for (tenor, forward) in rows {
            assert!(
                (curve.at(tenor).unwrap().instantaneous_forward_rate - forward).abs() < 1e-16,
                "{tenor}"
            );
        }
        assert!((curve.at(7.0).unwrap().zero_rate * 7.0 - (0.005 + 0.045 - 0.1)).abs() < 1e-16);
    }

    #[test]
    fn one_pillar_is_a_flat_curve_in_every_shape() {
        for &shape in SHAPES {
            let curve = zero_curve(&[2.0], &[-0.01], shape);
            for tenor in [0.0, 1.0, 2.0, 30.0] {
                let point = curve.at(tenor).unwrap();
                assert!((point.zero_rate + 0.01).abs() < 1e-17, "{shape:?} {point:?}");
                assert!(
                    (point.instantaneous_forward_rate + 0.01).abs() < 1e-17,
                    "{shape:?} {point:?}"
                );
            }
        }
    }

    #[test]
    fn monotone_convex_does_not_jump_where_a_rate_goes_through_zero() {
        let at = |rate| {
            let forwards = [0.01, rate, 0.012];
            let curve = Curve::from_values(
                today(),
                &[1.0, 2.0, 3.0],
                &forwards,
                CurveType::ContinuousForward,
                Interpolation::MonotoneConvex,
            );
            curve.unwrap().at(1.4).unwrap().instantaneous_forward_rate
        };
        assert!((at(1e-12) - at(-1e-12)).abs() < 1e-11);
    }

    #[test]
    fn what_was_given_comes_back_at_its_pillar() {
        let (tenors, rates) = ([0.1, 0.7, 3.0, 9.0], [0.031, 0.033, -0.007, 0.0]);
        let factors = [0.997, 0.971, 1.003, 0.61];
        for &shape in SHAPES {
            let curve = zero_curve(&tenors, &rates, shape);
            let discounts =
                Curve::from_values(today(), &tenors, &factors, CurveType::Discount, shape);
            let discounts = discounts.unwrap();
            for i in 0..tenors.len() {
                assert_eq!(curve.pillars()[i].zero_rate, rates[i]);
                assert_eq!(curve.at(tenors[i]).unwrap().zero_rate, rates[i]);
                assert_eq!(discounts.at(tenors[i]).unwrap().discount_factor, factors[i]);
            }
        }
    }

    #[test]
    fn a_tenor_and_its_date_are_one_point() {
        // Tenors of no whole number of days, and two within one day.
        let (tenors, factors) =
            ([1e-9, 0.1, 0.3, 0.3001, 0.777, 41.37], [0.999, 0.99, 0.97, 0.96, 0.9, 0.3]);
        for &shape in SHAPES {
            let curve =
                Curve::from_values(today(), &tenors, &factors, CurveType::Discount, shape).unwrap();
            for index in [1, 2, 4, 5] {
                let date = curve.pillars()[index].date;
                assert_eq!(curve.at_date(date).unwrap().discount_factor, factors[index]);
            }
            assert_eq!(curve.pillars()[2].date, curve.pillars()[3].date);
            assert_eq!(curve.at_date(today()).unwrap().discount_factor, 1.0);
        }
    }

    #[test]
    fn the_forward_of_a_pillar_is_simple_and_from_the_one_before() {
        let (tenors, factors) = ([0.5, 1.0], [0.98, 0.95]);
        let curve = Curve::from_values(
            today(),
            &tenors,
            &factors,
            CurveType::Discount,
            Interpolation::Linear,
        );
        let forwards: Vec<f64> =
            curve.unwrap().pillars().iter().map(|p| p.simple_forward_rate).collect();
        assert!((forwards[0] - (1.0 / 0.98 - 1.0) / 0.5).abs() < 1e-15);
        assert!((forwards[1] - (0.98 / 0.95 - 1.0) / 0.5).abs() < 1e-15);
    }

    #[test]
    fn zero_rates_leave_no_minus_zero() {
        for &shape in SHAPES {
            let curve = zero_curve(&[1.0, 2.0, 3.0], &[-0.0, 0.0, -0.0], shape);
            for tenor in [-0.0, 0.5, 1.0, 1.5, 4.0] {
                let Point { tenor, zero_rate, discount_factor, instantaneous_forward_rate } =
                    curve.at(tenor).unwrap();
                assert_eq!(discount_factor, 1.0);
                assert!(
                    [tenor, zero_rate, instantaneous_forward_rate]
                        .iter()
                        .all(|value| value.is_sign_positive())
                );
            }
        }
    }

    #[test]
    fn tenors_and_values_that_make_no_curve_are_refused_by_name() {
        let build = |tenors: &[f64], values: &[f64], kind| {
            let error = Curve::from_values(today(), tenors, values, kind, Interpolation::Linear);
            let error = error.unwrap_err();
            (error.code(), error.argument().unwrap(), error.index())
        };
        use CurveType::{ContinuousForward, Discount, Zero};
        #[rustfmt::skip]
        let rows = [
            (build(&[], &[], Zero), ("too_few", "tenors", None)),
            (build(&[1.0, 2.0], &[0.1], Zero), ("shape", "values", None)),
            (build(&[0.0, 2.0], &[0.1, 0.1], Zero), ("domain", "tenors", Some(0))),
            (build(&[-1.0, 2.0], &[0.1, 0.1], Zero), ("domain", "tenors", Some(0))),
            (build(&[1.0, f64::NAN], &[0.1, 0.1], Zero), ("domain", "tenors", Some(1))),
            (build(&[1.0, f64::INFINITY], &[0.1, 0.1], Zero), ("domain", "tenors", Some(1))),
            (build(&[1.0, 1.0], &[0.1, 0.1], Zero), ("domain", "tenors", Some(1))),
            (build(&[1.0, 3.0, 2.0], &[0.1, 0.1, 0.1], Zero), ("domain", "tenors", Some(2))),
            (build(&[1.0, 8000.0], &[0.1, 0.1], Zero), ("domain", "tenors", Some(1))),
            (build(&[1.0], &[f64::NAN], Zero), ("domain", "values", Some(0))),
            (build(&[1.0], &[f64::INFINITY], ContinuousForward), ("domain", "values", Some(0))),
            (build(&[1.0], &[0.0], Discount), ("domain", "values", Some(0))),
            (build(&[1.0], &[-0.5], Discount), ("domain", "values", Some(0))),
            (build(&[1.0, 2.0], &[0.03, 3.0], Zero), ("domain", "values", Some(1))),
            (build(&[1.0], &[2.5], ContinuousForward), ("domain", "values", Some(0))),
            (build(&[400.0], &[-2.0], Zero), ("overflow", "values", None)),
        ];
        for (found, expected) in rows {
            assert_eq!(found, expected);
        }
        let curve = zero_curve(&[1.0], &[-0.1], Interpolation::Linear);
        for tenor in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(curve.at(tenor).unwrap_err().code(), "domain");
        }
        assert_eq!(curve.at(1e9).unwrap_err().code(), "overflow");
        let far = Curve::from_values(NaiveDate::MAX, &[1.0], &[0.1], Zero, Interpolation::Linear);
        assert_eq!(far.unwrap_err().argument(), Some("reference_date"));
    }

    proptest! {
        #[test]
        fn the_forward_is_the_slope_of_the_logarithm(
            gaps in prop::collection::vec(0.1..5.0, 1..8), which in 0_usize..4, part in 0.0..1.3, rates in prop::collection::vec(-0.02..0.08, 8),
        ) {
            let mut time = 0.0;
            let tenors: Vec<f64> = gaps.iter().map(|gap| { time += gap; time }).collect();
            let curve = zero_curve(&tenors, &rates[..tenors.len()], SHAPES[which]);
            let (tenor, step) = (part * time, 1e-5);
            // The slope is that of one piece: no pillar in between.
            prop_assume!(tenors.iter().all(|pillar| *pillar < tenor || *pillar > tenor + step));
            let log = |tenor: f64| curve.at(tenor).unwrap().zero_rate * tenor;
            let slope = (log(tenor + step) - log(tenor)) / step;
            let forward = |part: f64| curve.at(tenor + part * step).unwrap().instantaneous_forward_rate;
            // A forward with a kink is not straight over the step.
            let middle = forward(0.5);
            let curvature = (forward(0.0) - middle).abs() + (forward(1.0) - middle).abs();
            prop_assert!((middle - slope).abs() <= 1e-9 * (1.0 + log(tenor).abs()) + curvature);
        }

        #[test]
        fn no_values_make_it_panic(
            tenors in prop::collection::vec(any::<f64>(), 0..4), values in prop::collection::vec(any::<f64>(), 0..4),
            which in 0_usize..4, query in any::<f64>(),
        ) {
            for kind in [CurveType::Zero, CurveType::Discount, CurveType::ContinuousForward] {
                if let Ok(curve) = Curve::from_values(today(), &tenors, &values, kind, SHAPES[which]) {
                    let _ = curve.at(query);
                }
            }
        }
    }
}

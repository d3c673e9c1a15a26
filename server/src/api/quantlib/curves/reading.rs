//! Readings of a curve through given values.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{curves, explanation::Explanation, time::day_count};

use super::{
    Compounding, CurvePoint, CurveType, Interpolation, LONG_FROM_PILLARS, linear, points, zero,
};
use crate::{
    api::quantlib::{
        Computation, example_answer,
        instruments::{Calendar, DayCount, frequency},
    },
    http::{Answer, Date, JsonString, Metered, Numbers, Tag, json_string::date},
};

/// The REST endpoints of readings.
#[derive(Default)]
pub struct CurveReadings;

#[OpenApi(prefix_path = "/quantlib/curves", tag = "Tag::Curves")]
impl CurveReadings {
    /// Read the discount factor of a curve.
    ///
    /// The curve at `query_tenor`, or at `query_date` where that is sent: discount factor, zero rate,
    /// instantaneous forward rate and par rate.
    #[oai(path = "/discount-factor", method = "post", operation_id = "read_discount_factor")]
    async fn discount_factor(&self, call: Metered<ReadCurve>) -> Result<Answer<CurveReading>> {
        call.run().await
    }

    /// Read the zero rate of a curve.
    ///
    /// The curve at `query_tenor`, or at `query_date` where that is sent. The rate has the `compounding`
    /// and the `day_count` of the request; without them it is continuously compounded over the tenor.
    #[oai(path = "/zero-rate", method = "post", operation_id = "read_zero_rate")]
    async fn zero_rate(&self, call: Metered<ReadCurve>) -> Result<Answer<CurveReading>> {
        call.run().await
    }

    /// Read the forward rate of a curve over a period.
    ///
    /// From `start_tenor` to `end_tenor`, or between the dates that are sent. The rate has the
    /// `compounding` and the `day_count` of the request; without them it is continuously compounded over
    /// the years between the tenors.
    #[oai(path = "/forward-rate", method = "post", operation_id = "read_forward_rate")]
    async fn forward_rate(&self, call: Metered<ReadForward>) -> Result<Answer<ForwardReading>> {
        call.run().await
    }

    /// Read a curve at many tenors.
    ///
    /// The points at `query_tenors`, followed by those at `query_dates`.
    #[oai(path = "/curve-points", method = "post", operation_id = "read_curve_points")]
    async fn points(&self, call: Metered<ReadPoints>) -> Result<Answer<CurvePoints>> {
        call.run().await
    }
}

/// A curve through given values.
#[derive(Clone, Debug, Object)]
pub struct CurveValues {
    /// The day on which the curve starts, `YYYY-MM-DD`.
    pub reference_date: Date,
    /// Times of the pillars in years; positive and increasing; at most 1,000.
    #[oai(validator(min_items = 1, max_items = 1000, minimum(value = "0", exclusive)))]
    pub tenors: Numbers,
    /// The value at each tenor, by `curve_type`.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub values: Numbers,
    /// The kind of the values.
    #[oai(default = "zero")]
    pub curve_type: CurveType,
    /// The interpolation between the pillars.
    #[oai(default = "linear")]
    pub interpolation: Interpolation,
}

impl CurveValues {
    /// Returns the curve.
    ///
    /// # Errors
    ///
    /// Those of [`Curve::from_values`](curves::Curve::from_values).
    pub fn curve(&self) -> quant_core::Result<curves::Curve> {
        let (kind, shape) = (self.curve_type.into(), self.interpolation.into());
        curves::Curve::from_values(self.reference_date.0, &self.tenors, &self.values, kind, shape)
    }
}

impl Example for CurveValues {
    fn example() -> Self {
        Self {
            reference_date: date(2024, 1, 15),
            tenors: vec![0.5, 1.0, 2.0, 5.0, 10.0].into(),
            values: vec![0.03, 0.031, 0.032, 0.034, 0.036].into(),
            curve_type: CurveType::Zero,
            interpolation: Interpolation::Linear,
        }
    }
}

/// The compounding and the day count of a rate.
#[derive(Clone, Copy, Debug, Object)]
pub struct RateTerms {
    /// Compounding of the rate.
    #[oai(default = "continuous")]
    pub compounding: Compounding,
    /// Day count of the years of the rate; the years of the tenor where absent.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub day_count: Option<DayCount>,
    /// Calendar of BUS/252; without effect on the other day counts.
    #[oai(default = "no_calendar")]
    pub calendar: Calendar,
}

fn continuous() -> Compounding {
    Compounding::Continuous
}

fn no_calendar() -> Calendar {
    Calendar::None
}

impl RateTerms {
    fn conventions(self) -> curves::RateConventions {
        curves::RateConventions {
            compounding: self.compounding.into(),
            day_count: self.day_count.map(|found| -> day_count::DayCount { found.into() }),
            calendar: self.calendar.into(),
        }
    }
}

impl Example for RateTerms {
    fn example() -> Self {
        Self { compounding: continuous(), day_count: None, calendar: no_calendar() }
    }
}

/// A curve and the tenor or the date at which to read the curve.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CurveReadingRequest", example)]
pub struct ReadCurve {
    /// The curve.
    #[oai(flatten)]
    pub curve: CurveValues,
    /// Time in years at which to read the curve; zero or more. Without effect beside `query_date`.
    #[oai(validator(minimum(value = "0")))]
    pub query_tenor: f64,
    /// Date at which to read the curve, on or after the reference date.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub query_date: Option<Date>,
    /// The compounding and the day count of the rate.
    #[oai(flatten)]
    pub terms: RateTerms,
    /// Payments of the par rate a year: 1, 2, 3, 4, 6 or 12.
    #[oai(default = "annual", validator(minimum(value = "1"), maximum(value = "12")))]
    pub par_frequency: u32,
}

fn annual() -> u32 {
    1
}

impl Example for ReadCurve {
    fn example() -> Self {
        let (curve, terms) = (CurveValues::example(), RateTerms::example());
        Self { curve, query_tenor: 1.5, query_date: None, terms, par_frequency: annual() }
    }
}

/// A curve at one tenor.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CurveReading", example)]
pub struct CurveReading {
    /// The day on which the curve starts.
    pub reference_date: Date,
    /// Time in years.
    pub tenor: f64,
    /// The date of the tenor; absent beyond the year 9999.
    #[oai(skip_serializing_if_is_none)]
    pub date: Option<Date>,
    /// Value today of 1 paid at the tenor.
    pub discount_factor: f64,
    /// Zero rate, an annual decimal, by `compounding` over `years`.
    pub zero_rate: f64,
    /// Compounding of the zero rate.
    pub compounding: Compounding,
    /// Day count of the zero rate; absent where the years are those of the tenor.
    #[oai(skip_serializing_if_is_none)]
    pub day_count: Option<DayCount>,
    /// Years over which the zero rate holds.
    pub years: f64,
    /// Zero rate, an annual decimal, continuously compounded over the tenor.
    pub continuous_zero_rate: f64,
    /// The same as `instantaneous_forward_rate`.
    pub forward_rate: f64,
    /// Instantaneous forward rate, an annual decimal, continuously compounded.
    pub instantaneous_forward_rate: f64,
    /// Rate of a par swap to the tenor, an annual decimal; absent for more than 12,000 payments.
    #[oai(skip_serializing_if_is_none)]
    pub par_rate: Option<f64>,
    /// Payments of the par rate a year.
    pub par_frequency: u32,
    /// True if the tenor lies before the first pillar or after the last.
    pub is_extrapolated: bool,
    /// The kind of the values of the curve.
    pub curve_type: CurveType,
    /// The interpolation between the pillars.
    pub interpolation: Interpolation,
}

impl ReadCurve {
    /// Returns the tenor at which the curve is read.
    fn tenor(&self, curve: &curves::Curve) -> quant_core::Result<f64> {
        self.query_date.map_or(Ok(self.query_tenor), |date| curve.tenor(date.0))
    }
}

impl Computation for ReadCurve {
    type Answer = CurveReading;

    fn compute(&self) -> quant_core::Result<CurveReading> {
        let curve = self.curve.curve()?;
        let par_frequency = frequency(self.par_frequency)?;
        let tenor = self.tenor(&curve)?;
        let reading = curve.zero_reading(tenor, &self.terms.conventions())?;
        let found = CurvePoint::from(reading.point);
        let date = self.query_date.or_else(|| curve.date(tenor).ok().map(JsonString));
        Ok(CurveReading {
            reference_date: self.curve.reference_date,
            tenor: found.tenor,
            date,
            discount_factor: found.discount_factor,
            zero_rate: reading.zero_rate,
            compounding: self.terms.compounding,
            day_count: self.terms.day_count,
            years: reading.years,
            continuous_zero_rate: found.zero_rate,
            forward_rate: found.forward_rate,
            instantaneous_forward_rate: found.instantaneous_forward_rate,
            par_rate: curve.par_rate(tenor, par_frequency).ok(),
            par_frequency: self.par_frequency,
            is_extrapolated: reading.is_extrapolated,
            curve_type: self.curve.curve_type,
            interpolation: self.curve.interpolation,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let curve = self.curve.curve()?;
        frequency(self.par_frequency)?;
        curve.explain_zero_reading(self.tenor(&curve)?, &self.terms.conventions())
    }

    fn wire_name(argument: &'static str) -> &'static str {
        match argument {
            "tenor" => "query_tenor",
            "date" => "query_date",
            "frequency" => "par_frequency",
            other => other,
        }
    }
}

impl Example for CurveReading {
    fn example() -> Self {
        example_answer::<ReadCurve>()
    }
}

/// A curve and the period of a forward rate.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ForwardRateRequest", example)]
pub struct ReadForward {
    /// The curve.
    #[oai(flatten)]
    pub curve: CurveValues,
    /// Start of the period in years; zero or more. Without effect beside `start_date`.
    #[oai(validator(minimum(value = "0")))]
    pub start_tenor: f64,
    /// End of the period in years, after the start. Without effect beside `end_date`.
    #[oai(validator(minimum(value = "0")))]
    pub end_tenor: f64,
    /// Start of the period as a date, on or after the reference date.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub start_date: Option<Date>,
    /// End of the period as a date, after the start.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub end_date: Option<Date>,
    /// The compounding and the day count of the rate.
    #[oai(flatten)]
    pub terms: RateTerms,
}

impl Example for ReadForward {
    fn example() -> Self {
        Self {
            curve: CurveValues::example(),
            start_tenor: 1.0,
            end_tenor: 2.0,
            start_date: None,
            end_date: None,
            terms: RateTerms::example(),
        }
    }
}

/// The forward rates of a period.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ForwardRateReading", example)]
pub struct ForwardReading {
    /// The day on which the curve starts.
    pub reference_date: Date,
    /// Start of the period in years.
    pub start_tenor: f64,
    /// End of the period in years.
    pub end_tenor: f64,
    /// The date of the start; absent beyond the year 9999.
    #[oai(skip_serializing_if_is_none)]
    pub start_date: Option<Date>,
    /// The date of the end; absent beyond the year 9999.
    #[oai(skip_serializing_if_is_none)]
    pub end_date: Option<Date>,
    /// Forward rate, an annual decimal, by `compounding` over `years`.
    pub forward_rate: f64,
    /// Compounding of the forward rate.
    pub compounding: Compounding,
    /// Day count of the forward rate; absent where the years are those between the tenors.
    #[oai(skip_serializing_if_is_none)]
    pub day_count: Option<DayCount>,
    /// Years over which the forward rate holds.
    pub years: f64,
    /// Forward rate without compounding, an annual decimal, over the years between the tenors.
    pub simple_forward_rate: f64,
    /// Forward rate, an annual decimal, continuously compounded over the years between the tenors.
    pub continuous_forward_rate: f64,
    /// Value at the start of 1 paid at the end.
    pub discount_factor: f64,
    /// Value today of 1 paid at the start.
    pub start_discount_factor: f64,
    /// Value today of 1 paid at the end.
    pub end_discount_factor: f64,
    /// True if a part of the period lies before the first pillar or after the last.
    pub is_extrapolated: bool,
    /// The kind of the values of the curve.
    pub curve_type: CurveType,
    /// The interpolation between the pillars.
    pub interpolation: Interpolation,
}

impl ReadForward {
    /// Returns the tenors of the start and the end.
    fn period(&self, curve: &curves::Curve) -> quant_core::Result<(f64, f64)> {
        let start = tenor_of(curve, "start_date", self.start_date, self.start_tenor)?;
        Ok((start, tenor_of(curve, "end_date", self.end_date, self.end_tenor)?))
    }
}

impl Computation for ReadForward {
    type Answer = ForwardReading;

    fn compute(&self) -> quant_core::Result<ForwardReading> {
        let curve = self.curve.curve()?;
        let (start, end) = self.period(&curve)?;
        let reading = curve.forward_reading(start, end, &self.terms.conventions())?;
        let factor = |tenor| Ok(curve.at(tenor)?.discount_factor);
        let date =
            |sent: Option<Date>, tenor| sent.or_else(|| curve.date(tenor).ok().map(JsonString));
        let period = reading.period;
        Ok(ForwardReading {
            reference_date: self.curve.reference_date,
            start_tenor: period.start,
            end_tenor: period.end,
            start_date: date(self.start_date, start),
            end_date: date(self.end_date, end),
            forward_rate: reading.forward_rate,
            compounding: self.terms.compounding,
            day_count: self.terms.day_count,
            years: reading.years,
            simple_forward_rate: period.simple_forward_rate,
            continuous_forward_rate: period.continuous_forward_rate,
            discount_factor: period.discount_factor,
            start_discount_factor: factor(start)?,
            end_discount_factor: factor(end)?,
            is_extrapolated: reading.is_extrapolated,
            curve_type: self.curve.curve_type,
            interpolation: self.curve.interpolation,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let curve = self.curve.curve()?;
        let (start, end) = self.period(&curve)?;
        curve.explain_forward_reading(start, end, &self.terms.conventions())
    }

    fn wire_name(argument: &'static str) -> &'static str {
        match argument {
            "start" => "start_tenor",
            "end" | "tenor" => "end_tenor",
            other => other,
        }
    }
}

/// Returns the tenor of a date where one was sent, and else the tenor that was.
fn tenor_of(
    curve: &curves::Curve,
    argument: &'static str,
    date: Option<Date>,
    tenor: f64,
) -> quant_core::Result<f64> {
    let Some(date) = date else { return Ok(tenor) };
    let requirement = "on or after the reference date";
    let refused = quant_core::Error::Date { argument, value: date.0, requirement };
    curve.tenor(date.0).map_err(|_| refused)
}

impl Example for ForwardReading {
    fn example() -> Self {
        example_answer::<ReadForward>()
    }
}

/// A curve and the tenors at which to read the curve.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CurvePointsRequest", example)]
pub struct ReadPoints {
    /// The curve.
    #[oai(flatten)]
    pub curve: CurveValues,
    /// Times in years at which to read the curve; zero or more; at most 1,000.
    #[oai(validator(max_items = 1000, minimum(value = "0")))]
    pub query_tenors: Numbers,
    /// Dates at which to read the curve, on or after the reference date; at most 1,000.
    #[oai(nullable, skip_serializing_if_is_none, validator(max_items = 1000))]
    pub query_dates: Option<Vec<Date>>,
}

impl Example for ReadPoints {
    fn example() -> Self {
        let query_tenors = vec![0.0, 1.5, 7.0].into();
        Self { curve: CurveValues::example(), query_tenors, query_dates: None }
    }
}

/// A curve at many tenors.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CurvePoints", example)]
pub struct CurvePoints {
    /// The day on which the curve starts.
    pub reference_date: Date,
    /// The curve at each of the query tenors, in their order, and then at each of the query dates.
    pub points: Vec<CurvePoint>,
    /// The number of points.
    pub count: u32,
    /// The kind of the values of the curve.
    pub curve_type: CurveType,
    /// The interpolation between the pillars.
    pub interpolation: Interpolation,
}

impl Computation for ReadPoints {
    type Answer = CurvePoints;

    fn compute(&self) -> quant_core::Result<CurvePoints> {
        let dates = self.query_dates.as_deref().unwrap_or_default();
        let points = points(&self.curve.curve()?, &self.query_tenors, dates)?;
        Ok(CurvePoints {
            reference_date: self.curve.reference_date,
            // At most 2,000 by the limits of the request.
            count: u32::try_from(points.len()).unwrap_or(u32::MAX),
            points,
            curve_type: self.curve.curve_type,
            interpolation: self.curve.interpolation,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let points = self.compute()?.points;
        let tenors: Vec<f64> = points.iter().map(|point| point.tenor).collect();
        self.curve.curve()?.explain_points(&tenors)
    }

    fn is_long(&self) -> bool {
        let dates = self.query_dates.as_ref().map_or(0, Vec::len);
        self.curve.tenors.len().max(self.query_tenors.len()).max(dates) > LONG_FROM_PILLARS
    }
}

impl Example for CurvePoints {
    fn example() -> Self {
        example_answer::<ReadPoints>()
    }
}

//! Yield curves.

pub mod fit;
pub mod quotes;
pub mod reading;
pub mod shift;

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    Error, curves,
    explanation::Explanation,
    time::{calendar, day_count, schedule::Frequency, tenor::Tenor},
};

use super::{
    Computation, example_answer,
    instruments::{BusinessDayConvention, Calendar, DayCount, frequency},
};
use crate::http::{
    Answer, Date, JsonString, Metered, Numbers, Tag,
    json_string::{date, json_string},
};

/// The number of pillars or points above which a curve may take over a millisecond.
const LONG_FROM_PILLARS: usize = 100;

/// The tenor in years up to which a pillar or a point has a par rate, which takes a reading for each year.
const LONGEST_PAR_RATE: f64 = 100.0;

/// The REST endpoints of yield curves.
#[derive(Default)]
pub struct Curves;

#[OpenApi(prefix_path = "/quantlib/curves", tag = "Tag::Curves")]
impl Curves {
    /// Build a yield curve.
    ///
    /// From `tenors` with `values`, or bootstrapped from `instruments`: deposits, forward rate
    /// agreements, futures, overnight indexed swaps and par swaps. Returns the pillars, and the curve
    /// at each of `query_tenors` and `query_dates`. A month is a twelfth of a year and a day of the rest a 365th.
    #[oai(path = "/build", method = "post", operation_id = "build_curve")]
    async fn build(&self, call: Metered<Build>) -> Result<Answer<BuiltCurve>> {
        call.run().await
    }
}

/// The kind of the values of a curve: `zero` rates, continuously compounded; `discount` factors;
/// `forward` rates, averages between pillars, continuously compounded. Whatever the kind,
/// `forward_rate` of a pillar is a simple rate, without compounding, and that of a point an
/// instantaneous rate, continuously compounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase", remote = "curves::CurveType")]
pub enum CurveType {
    /// Zero rates, continuously compounded.
    Zero,
    /// Discount factors.
    Discount,
    /// Average forward rates between pillars, continuously compounded.
    #[oai(rename = "forward")]
    ContinuousForward,
}

/// The interpolation between the pillars of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename = "CurveInterpolation", rename_all = "snake_case", remote = "curves::Interpolation")]
pub enum Interpolation {
    /// Linear in the zero rate, flat beyond the ends.
    Linear,
    /// Linear in the logarithm of the discount factor, flat forward beyond the end.
    LogLinear,
    /// Natural cubic spline in the zero rate.
    Cubic,
    /// Hagan and West's monotone convex method.
    MonotoneConvex,
}

/// The kind of a quoted instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename = "CurveInstrumentType", rename_all = "lowercase")]
pub enum InstrumentType {
    /// A deposit: interest paid at maturity.
    Deposit,
    /// A forward rate agreement: a deposit from `start` to `tenor`.
    Fra,
    /// A future on a deposit of the length `tenor` from `start_date` on.
    Future,
    /// An overnight indexed swap: fixed leg at `frequency`.
    Ois,
    /// A par swap: fixed leg at `frequency`.
    Swap,
}

/// A currency, for the usual conventions of its instruments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(remote = "curves::Market")]
pub enum Market {
    /// The euro: TARGET; settled after 2 days; ACT/360, fixed leg of a swap annual 30/360.
    #[oai(rename = "EUR")]
    Euro,
    /// The dollar: FEDWIRE, for an OIS SIFMA; settled after 2 days; ACT/360, fixed leg of a swap
    /// semiannual 30/360.
    #[oai(rename = "USD")]
    Dollar,
    /// The pound: UK; settled at once; ACT/365, fixed leg of a swap semiannual.
    #[oai(rename = "GBP")]
    Sterling,
}

/// The payments of interest upon interest within a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase", remote = "curves::Compounding")]
pub enum Compounding {
    /// None.
    Simple,
    /// Once a year.
    Annual,
    /// Twice a year.
    Semiannual,
    /// Four times a year.
    Quarterly,
    /// Twelve times a year.
    Monthly,
    /// At every moment.
    Continuous,
}

/// A quoted instrument.
///
/// Without a market and conventions it starts on the reference date, no date is moved, and the tenor
/// counts the interest: a month is a twelfth of a year and a day a 365th. Each convention that is
/// sent replaces that of the market.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CurveInstrument")]
pub struct Instrument {
    /// The kind of the instrument.
    #[oai(rename = "type")]
    pub kind: InstrumentType,
    /// Time from settlement to maturity, as in `3M` or `10Y`; of a future the length of its deposit.
    pub tenor: JsonString<Tenor>,
    /// The quoted rate, an annual decimal from -2 to 2 (200 %); of a future 1 less the price over 100.
    pub rate: f64,
    /// Payments of a swap's fixed leg a year: 1, 2, 3, 4, 6 or 12. Without a market annual.
    #[oai(skip_serializing_if_is_none, validator(minimum(value = "1"), maximum(value = "12")))]
    pub frequency: Option<u32>,
    /// Time from settlement to the start of the interest, as in `3M`; for an `fra` alone.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub start: Option<JsonString<Tenor>>,
    /// First day of the deposit, on or after the reference date; for a `future` alone.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub start_date: Option<Date>,
    /// Rate of a future less the forward rate, an annual decimal.
    #[oai(default)]
    pub convexity: f64,
    /// Currency whose usual conventions hold; that of the request where absent.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub market: Option<Market>,
    /// Day count of the interest; ACT/365 without a market.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub day_count: Option<DayCount>,
    /// Compounding of the rate; simple without a market.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub compounding: Option<Compounding>,
    /// Calendar of the business days; none without a market.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub calendar: Option<Calendar>,
    /// Adjustment of dates that fall on no business day; modified following without a market.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub convention: Option<BusinessDayConvention>,
    /// Business days from the reference date to the settlement; 0 without a market.
    #[oai(nullable, skip_serializing_if_is_none, validator(maximum(value = "31")))]
    pub settlement_days: Option<u32>,
    /// True if an instrument that starts on the last business day of a month ends on one; false
    /// without a market.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub end_of_month: Option<bool>,
}

/// A curve to build: `tenors` with `values`, or `instruments`.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BuildCurveRequest", example)]
pub struct Build {
    /// The day on which the curve starts, `YYYY-MM-DD`.
    pub reference_date: Date,
    /// Times of the pillars in years; positive and increasing; at most 1,000.
    #[oai(nullable, validator(min_items = 1, max_items = 1000, minimum(value = "0", exclusive)))]
    pub tenors: Option<Numbers>,
    /// The value at each tenor, by `curve_type`.
    #[oai(nullable, validator(min_items = 1, max_items = 1000))]
    pub values: Option<Numbers>,
    /// The kind of the values.
    #[oai(default = "zero")]
    pub curve_type: CurveType,
    /// Quoted instruments to bootstrap, by increasing maturity; at most 1,000.
    #[oai(nullable, validator(min_items = 1, max_items = 1000))]
    pub instruments: Option<Vec<Instrument>>,
    /// Currency whose usual conventions hold for the instruments.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub market: Option<Market>,
    /// The interpolation between the pillars.
    #[oai(default = "linear")]
    pub interpolation: Interpolation,
    /// Times in years at which to read the curve; zero or more; at most 1,000.
    #[oai(nullable, validator(max_items = 1000, minimum(value = "0")))]
    pub query_tenors: Option<Numbers>,
    /// Dates at which to read the curve, on or after the reference date; at most 1,000.
    #[oai(nullable, skip_serializing_if_is_none, validator(max_items = 1000))]
    pub query_dates: Option<Vec<Date>>,
}

/// A curve.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BuiltCurve", example)]
pub struct BuiltCurve {
    /// The day on which the curve starts.
    pub reference_date: Date,
    /// The pillars, by increasing tenor.
    pub pillars: Vec<CurvePillar>,
    /// The curve at each of the query tenors, in their order, and then at each of the query dates.
    pub points: Vec<CurvePoint>,
}

/// A pillar of a curve.
#[derive(Clone, Debug, Object)]
pub struct CurvePillar {
    /// Time in years.
    pub tenor: f64,
    /// The date that the tenor falls on.
    pub date: Date,
    /// Zero rate, an annual decimal, continuously compounded.
    pub zero_rate: f64,
    /// Value today of 1 paid at the tenor.
    pub discount_factor: f64,
    /// The same as `simple_forward_rate`.
    pub forward_rate: f64,
    /// Forward rate from the pillar before, an annual decimal, without compounding.
    pub simple_forward_rate: f64,
    /// Rate of a par swap with annual payments up to the tenor, an annual decimal; absent beyond 100
    /// years.
    #[oai(skip_serializing_if_is_none)]
    pub par_rate: Option<f64>,
}

/// A point of a curve.
#[derive(Clone, Debug, Object)]
pub struct CurvePoint {
    /// Time in years.
    pub tenor: f64,
    /// The query date; absent in a point of a query tenor.
    #[oai(skip_serializing_if_is_none)]
    pub date: Option<Date>,
    /// Zero rate, an annual decimal, continuously compounded.
    pub zero_rate: f64,
    /// Value today of 1 paid at the tenor.
    pub discount_factor: f64,
    /// The same as `instantaneous_forward_rate`.
    pub forward_rate: f64,
    /// Instantaneous forward rate, an annual decimal, continuously compounded.
    pub instantaneous_forward_rate: f64,
    /// Rate of a par swap with annual payments up to the tenor, an annual decimal, where the answer has
    /// the curve; absent beyond 100 years.
    #[oai(skip_serializing_if_is_none)]
    pub par_rate: Option<f64>,
}

impl Build {
    fn curve(&self) -> quant_core::Result<curves::Curve> {
        let (start, interpolation) = (self.reference_date.0, self.interpolation.into());
        match (&self.tenors, &self.values, &self.instruments) {
            (Some(tenors), Some(values), None) => {
                let curve_type = self.curve_type.into();
                curves::Curve::from_values(start, tenors, values, curve_type, interpolation)
            }
            (None, None, Some(instruments)) => {
                let instruments = quoted(instruments, self.market)?;
                curves::Curve::bootstrap(start, &instruments, interpolation)
            }
            (tenors, values, instruments) => {
                Err(source_conflict(tenors.is_some(), values.is_some(), instruments.is_some()))
            }
        }
    }
}

/// Returns the instruments of `quant-core`, in the order of the request.
fn quoted(
    instruments: &[Instrument],
    market: Option<Market>,
) -> quant_core::Result<Vec<curves::Instrument>> {
    let instruments = instruments.iter().enumerate();
    instruments.map(|(index, instrument)| instrument.quoted(index, market)).collect()
}

/// Returns the curve at tenors in years, and then at dates.
fn points(
    curve: &curves::Curve,
    tenors: &[f64],
    dates: &[Date],
) -> quant_core::Result<Vec<CurvePoint>> {
    let at_tenors = tenors.iter().enumerate().map(|(index, &tenor)| {
        let point = curve.at(tenor).map_err(|_| Error::Element {
            argument: "query_tenors",
            index,
            value: tenor,
            requirement: "a time at which the curve is finite",
        })?;
        Ok(CurvePoint::from(point).with_par_rate(curve))
    });
    let at_dates = dates.iter().map(|date| {
        let point = curve.at_date(date.0).map_err(|_| Error::Date {
            argument: "query_dates",
            value: date.0,
            requirement: "on or after the reference date, at a time at which the curve is finite",
        })?;
        Ok(CurvePoint { date: Some(*date), ..CurvePoint::from(point).with_par_rate(curve) })
    });
    at_tenors.chain(at_dates).collect()
}

/// Returns the fault of a request that does not have exactly one source of a curve.
fn source_conflict(tenors: bool, values: bool, instruments: bool) -> Error {
    let (argument, problem) = match (tenors, values, instruments) {
        (true, false, false) => ("values", "is needed beside `tenors`"),
        (false, true, false) => ("tenors", "is needed beside `values`"),
        (false, false, _) => ("tenors", "with `values`, or `instruments`, is needed"),
        _ => ("instruments", "cannot stand beside `tenors` and `values`: send one or the other"),
    };
    Error::Conflict { argument, problem }
}

impl Instrument {
    /// Returns the instrument of `quant-core`; `index` is its place in the request, for errors.
    fn quoted(
        &self,
        index: usize,
        market: Option<Market>,
    ) -> quant_core::Result<curves::Instrument> {
        let kind = self.kind()?;
        let market: Option<curves::Market> = self.market.or(market).map(Into::into);
        let frequency = match self.frequency {
            Some(count) => frequency(count).map_err(|_| Error::Element {
                argument: "instruments",
                index,
                value: f64::from(count),
                requirement: "quoted with a frequency of 1, 2, 3, 4, 6 or 12",
            })?,
            None => market.map_or(Frequency::Annual, |market| market.frequency(kind)),
        };
        let conventions = market.map(|market| market.conventions(kind));
        Ok(curves::Instrument {
            kind,
            tenor: self.tenor.0,
            rate: self.rate,
            frequency,
            conventions: self.with_own_conventions(conventions),
        })
    }

    fn kind(&self) -> quant_core::Result<curves::InstrumentKind> {
        let refused = |problem| Err(Error::Conflict { argument: "instruments", problem });
        let start = self.start.map(|start| start.0);
        let start_date = self.start_date.map(|date| date.0);
        match (self.kind, start, start_date) {
            (InstrumentType::Fra, Some(start), None) => {
                Ok(curves::InstrumentKind::ForwardRateAgreement { start })
            }
            (InstrumentType::Future, None, Some(start_date)) => {
                Ok(curves::InstrumentKind::Future { start_date, convexity: self.convexity })
            }
            (InstrumentType::Fra, None, _) => refused("need `start` where the type is fra"),
            (InstrumentType::Future, _, None) => {
                refused("need `start_date` where the type is future")
            }
            (InstrumentType::Deposit, None, None) => Ok(curves::InstrumentKind::Deposit),
            (InstrumentType::Ois, None, None) => Ok(curves::InstrumentKind::OvernightIndexedSwap),
            (InstrumentType::Swap, None, None) => Ok(curves::InstrumentKind::Swap),
            _ => refused("have `start` where the type is fra alone, and `start_date` for a future"),
        }
    }

    /// The conventions of the market with those that were sent; none where neither is.
    fn with_own_conventions(
        &self,
        market: Option<curves::Conventions>,
    ) -> Option<curves::Conventions> {
        let sends_own = self.day_count.is_some()
            || self.compounding.is_some()
            || self.calendar.is_some()
            || self.convention.is_some()
            || self.settlement_days.is_some()
            || self.end_of_month.is_some();
        if market.is_none() && !sends_own {
            return None;
        }
        let usual = market.unwrap_or(curves::Conventions {
            day_count: day_count::DayCount::Act365,
            compounding: curves::Compounding::Simple,
            calendar: calendar::Calendar::None,
            convention: calendar::BusinessDayConvention::ModifiedFollowing,
            settlement_days: 0,
            end_of_month: false,
        });
        Some(curves::Conventions {
            day_count: self.day_count.map_or(usual.day_count, Into::into),
            compounding: self.compounding.map_or(usual.compounding, Into::into),
            calendar: self.calendar.map_or(usual.calendar, Into::into),
            convention: self.convention.map_or(usual.convention, Into::into),
            settlement_days: self.settlement_days.unwrap_or(usual.settlement_days),
            end_of_month: self.end_of_month.unwrap_or(usual.end_of_month),
        })
    }
}

impl Computation for Build {
    type Answer = BuiltCurve;

    fn compute(&self) -> quant_core::Result<BuiltCurve> {
        let curve = self.curve()?;
        let tenors = self.query_tenors.as_deref().unwrap_or_default();
        let dates = self.query_dates.as_deref().unwrap_or_default();
        Ok(BuiltCurve {
            reference_date: self.reference_date,
            points: points(&curve, tenors, dates)?,
            pillars: pillars(&curve),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let points = self.compute()?.points;
        match &self.instruments {
            None => {
                let tenors: Vec<f64> = points.iter().map(|point| point.tenor).collect();
                self.curve()?.explain_points(&tenors)
            }
            Some(instruments) => {
                let instruments = quoted(instruments, self.market)?;
                let (start, shape) = (self.reference_date.0, self.interpolation.into());
                curves::Curve::explain_bootstrap(start, &instruments, shape)
            }
        }
    }

    fn is_long(&self) -> bool {
        let pillars = self.tenors.as_ref().map(|tenors| tenors.len());
        let instruments = self.instruments.as_ref().map(Vec::len);
        let queries = self.query_tenors.as_ref().map(|tenors| tenors.len());
        let dates = self.query_dates.as_ref().map(Vec::len);
        pillars.max(instruments).max(queries).max(dates).unwrap_or_default() > LONG_FROM_PILLARS
    }
}

/// Returns the pillars of a curve with their par rates.
fn pillars(curve: &curves::Curve) -> Vec<CurvePillar> {
    let pillar = |pillar: &curves::Pillar| CurvePillar {
        tenor: pillar.tenor,
        date: JsonString(pillar.date),
        zero_rate: pillar.zero_rate,
        discount_factor: pillar.discount_factor,
        forward_rate: pillar.simple_forward_rate,
        simple_forward_rate: pillar.simple_forward_rate,
        par_rate: par_rate(curve, pillar.tenor),
    };
    curve.pillars().iter().map(pillar).collect()
}

/// Returns the rate of a par swap with annual payments; `None` for a tenor that is too long.
fn par_rate(curve: &curves::Curve, tenor: f64) -> Option<f64> {
    if tenor > LONGEST_PAR_RATE { None } else { curve.par_rate(tenor, Frequency::Annual).ok() }
}

impl CurvePoint {
    fn with_par_rate(self, curve: &curves::Curve) -> Self {
        Self { par_rate: par_rate(curve, self.tenor), ..self }
    }
}

impl From<curves::Point> for CurvePoint {
    fn from(point: curves::Point) -> Self {
        Self {
            tenor: point.tenor,
            date: None,
            zero_rate: point.zero_rate,
            discount_factor: point.discount_factor,
            forward_rate: point.instantaneous_forward_rate,
            instantaneous_forward_rate: point.instantaneous_forward_rate,
            par_rate: None,
        }
    }
}

pub(super) fn zero() -> CurveType {
    CurveType::Zero
}

pub(super) fn linear() -> Interpolation {
    Interpolation::Linear
}

impl Example for Build {
    fn example() -> Self {
        let quote = |kind, life: &str, rate| Instrument {
            kind,
            tenor: json_string(life),
            rate,
            frequency: Some(1),
            start: None,
            start_date: None,
            convexity: 0.0,
            market: None,
            day_count: None,
            compounding: None,
            calendar: None,
            convention: None,
            settlement_days: None,
            end_of_month: None,
        };
        Self {
            reference_date: date(2024, 1, 15),
            tenors: None,
            values: None,
            curve_type: CurveType::Zero,
            instruments: Some(vec![
                quote(InstrumentType::Deposit, "6M", 0.03),
                quote(InstrumentType::Swap, "1Y", 0.031),
                quote(InstrumentType::Swap, "2Y", 0.032),
            ]),
            market: None,
            interpolation: Interpolation::LogLinear,
            query_tenors: Some(vec![0.75, 1.5].into()),
            query_dates: None,
        }
    }
}

impl Example for BuiltCurve {
    fn example() -> Self {
        example_answer::<Build>()
    }
}

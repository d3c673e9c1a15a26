//! Yield curves.

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{Error, curves, time::tenor::Tenor};

use super::{Computation, example_answer, instruments::frequency};
use crate::http::{
    Answer, Date, JsonString, Metered, Tag,
    json_string::{date, json_string},
};

/// The number of pillars above which a curve may take over a millisecond.
const LONG_FROM_PILLARS: usize = 100;

/// The REST endpoints of yield curves.
#[derive(Default)]
pub struct Curves;

#[OpenApi(prefix_path = "/quantlib/curves", tag = "Tag::Curves")]
impl Curves {
    /// Build a yield curve.
    ///
    /// From `tenors` with `values`, or bootstrapped from `instruments` (deposits and par swaps).
    /// Returns the pillars, and the curve at each of `query_tenors`.
    #[oai(path = "/build", method = "post", operation_id = "build_curve")]
    async fn build(&self, call: Metered<Build>) -> Result<Answer<BuiltCurve>> {
        call.run().await
    }
}

/// The kind of the values of a curve.
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
#[oai(rename = "CurveInstrumentType", rename_all = "lowercase", remote = "curves::InstrumentKind")]
pub enum InstrumentType {
    /// A deposit: simple interest, months over twelve.
    Deposit,
    /// A par swap: fixed leg at `frequency`.
    Swap,
}

/// A quoted instrument.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CurveInstrument")]
pub struct Instrument {
    /// The kind of the instrument.
    #[oai(rename = "type")]
    pub kind: InstrumentType,
    /// The life of the instrument, as in `3M` or `10Y`.
    pub tenor: JsonString<Tenor>,
    /// The quoted rate, an annual decimal.
    pub rate: f64,
    /// Payments of the swap's fixed leg a year: 1, 2, 3, 4, 6 or 12.
    #[oai(default = "annual", validator(minimum(value = "1"), maximum(value = "12")))]
    pub frequency: u32,
}

/// A curve to build: `tenors` with `values`, or `instruments`.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BuildCurveRequest", example)]
pub struct Build {
    /// The day on which the curve starts, `YYYY-MM-DD`.
    pub reference_date: Date,
    /// Times of the pillars in years; positive and increasing; at most 1,000.
    #[oai(nullable, validator(min_items = 1, max_items = 1000, minimum(value = "0", exclusive)))]
    pub tenors: Option<Vec<f64>>,
    /// The value at each tenor, by `curve_type`.
    #[oai(nullable, validator(min_items = 1, max_items = 1000))]
    pub values: Option<Vec<f64>>,
    /// The kind of the values.
    #[oai(default = "zero")]
    pub curve_type: CurveType,
    /// Quoted instruments to bootstrap, by increasing maturity; at most 1,000.
    #[oai(nullable, validator(min_items = 1, max_items = 1000))]
    pub instruments: Option<Vec<Instrument>>,
    /// The interpolation between the pillars.
    #[oai(default = "linear")]
    pub interpolation: Interpolation,
    /// Times in years at which to read the curve; zero or more; at most 1,000.
    #[oai(nullable, validator(max_items = 1000, minimum(value = "0")))]
    pub query_tenors: Option<Vec<f64>>,
}

/// A curve.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BuiltCurve", example)]
pub struct BuiltCurve {
    /// The day on which the curve starts.
    pub reference_date: Date,
    /// The pillars, by increasing tenor.
    pub pillars: Vec<CurvePillar>,
    /// The curve at each of the query tenors, in their order.
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
}

/// A point of a curve.
#[derive(Clone, Debug, Object)]
pub struct CurvePoint {
    /// Time in years.
    pub tenor: f64,
    /// Zero rate, an annual decimal, continuously compounded.
    pub zero_rate: f64,
    /// Value today of 1 paid at the tenor.
    pub discount_factor: f64,
    /// The same as `instantaneous_forward_rate`.
    pub forward_rate: f64,
    /// Instantaneous forward rate, an annual decimal, continuously compounded.
    pub instantaneous_forward_rate: f64,
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
                let instruments = instruments
                    .iter()
                    .enumerate()
                    .map(|(index, instrument)| instrument.quoted(index))
                    .collect::<quant_core::Result<Vec<_>>>()?;
                curves::Curve::bootstrap(start, &instruments, interpolation)
            }
            (tenors, values, instruments) => {
                Err(source_conflict(tenors.is_some(), values.is_some(), instruments.is_some()))
            }
        }
    }
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
    fn quoted(&self, index: usize) -> quant_core::Result<curves::Instrument> {
        let frequency = frequency(self.frequency).map_err(|_| Error::Element {
            argument: "instruments",
            index,
            value: f64::from(self.frequency),
            requirement: "quoted with a frequency of 1, 2, 3, 4, 6 or 12",
        })?;
        Ok(curves::Instrument {
            kind: self.kind.into(),
            tenor: self.tenor.0,
            rate: self.rate,
            frequency,
        })
    }
}

impl Computation for Build {
    type Answer = BuiltCurve;

    fn compute(&self) -> quant_core::Result<BuiltCurve> {
        let curve = self.curve()?;
        let queries = self.query_tenors.as_deref().unwrap_or_default();
        let points = queries.iter().enumerate().map(|(index, &tenor)| {
            let point = curve.at(tenor).map_err(|_| Error::Element {
                argument: "query_tenors",
                index,
                value: tenor,
                requirement: "a time at which the curve is finite",
            })?;
            Ok(CurvePoint::from(point))
        });
        Ok(BuiltCurve {
            reference_date: self.reference_date,
            points: points.collect::<quant_core::Result<_>>()?,
            pillars: curve.pillars().iter().copied().map(CurvePillar::from).collect(),
        })
    }

    fn is_long(&self) -> bool {
        let pillars = self.tenors.as_ref().map(Vec::len);
        let instruments = self.instruments.as_ref().map(Vec::len);
        pillars.or(instruments).unwrap_or_default() > LONG_FROM_PILLARS
    }
}

impl From<curves::Pillar> for CurvePillar {
    fn from(pillar: curves::Pillar) -> Self {
        Self {
            tenor: pillar.tenor,
            date: JsonString(pillar.date),
            zero_rate: pillar.zero_rate,
            discount_factor: pillar.discount_factor,
            forward_rate: pillar.simple_forward_rate,
            simple_forward_rate: pillar.simple_forward_rate,
        }
    }
}

impl From<curves::Point> for CurvePoint {
    fn from(point: curves::Point) -> Self {
        Self {
            tenor: point.tenor,
            zero_rate: point.zero_rate,
            discount_factor: point.discount_factor,
            forward_rate: point.instantaneous_forward_rate,
            instantaneous_forward_rate: point.instantaneous_forward_rate,
        }
    }
}

fn zero() -> CurveType {
    CurveType::Zero
}

fn linear() -> Interpolation {
    Interpolation::Linear
}

fn annual() -> u32 {
    1
}

impl Example for Build {
    fn example() -> Self {
        let quote = |kind, life: &str, rate| Instrument {
            kind,
            tenor: json_string(life),
            rate,
            frequency: 1,
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
            interpolation: Interpolation::LogLinear,
            query_tenors: Some(vec![0.75, 1.5]),
        }
    }
}

impl Example for BuiltCurve {
    fn example() -> Self {
        example_answer::<Build>()
    }
}

//! Shifts of a curve.

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{curves, explanation::Explanation};

use super::{
    CurvePillar, CurveType, Interpolation, LONG_FROM_PILLARS, pillars, reading::CurveValues,
};
use crate::{
    api::quantlib::{Computation, example_answer},
    http::{Answer, Date, Metered, Tag},
};

/// Basis points of a rate of 1.
const BASIS_POINTS: f64 = 10_000.0;

/// The REST endpoints of shifts.
#[derive(Default)]
pub struct CurveShifts;

#[OpenApi(prefix_path = "/quantlib/curves", tag = "Tag::Curves")]
impl CurveShifts {
    /// Shift a curve by one number at every pillar.
    ///
    /// The basis points are added to the zero rates, to the simple forward rates between pillars, to
    /// the discount factors, or to the par rates, by `space`.
    #[oai(path = "/parallel-shift", method = "post", operation_id = "shift_curve")]
    async fn parallel(&self, call: Metered<ParallelShift>) -> Result<Answer<ParallelShifted>> {
        call.run().await
    }

    /// Shift a curve around one tenor.
    ///
    /// The zero rate at each pillar is shifted by a part that falls in a straight line from 1 at
    /// `tenor_years` to 0 at a distance of `width_years`. No pillar is added.
    #[oai(path = "/key-rate-shift", method = "post", operation_id = "shift_key_rate")]
    async fn key_rate(&self, call: Metered<KeyRateShift>) -> Result<Answer<KeyRateShifted>> {
        call.run().await
    }
}

/// The quantity to which a parallel shift is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename = "ShiftSpace", rename_all = "snake_case", remote = "curves::ShiftSpace")]
pub enum Space {
    /// The zero rate, continuously compounded.
    ZeroRate,
    /// The forward rate from the pillar before, without compounding.
    SimpleForwardRate,
    /// The discount factor; a basis point is 0.0001.
    DiscountFactor,
    /// The rate of a par swap with annual payments up to the pillar. At most 100 pillars and 100 years.
    ParRate,
}

fn zero_rate() -> Space {
    Space::ZeroRate
}

/// A curve and a parallel shift.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ParallelShiftRequest", example)]
pub struct ParallelShift {
    /// The curve.
    #[oai(flatten)]
    pub curve: CurveValues,
    /// The shift in basis points, from -20,000 to 20,000; 1 adds 0.0001.
    #[oai(validator(minimum(value = "-20000"), maximum(value = "20000")))]
    pub shift_bps: f64,
    /// The quantity to which the shift is added.
    #[oai(default = "zero_rate")]
    pub space: Space,
}

/// A curve and a shift around one tenor.
#[derive(Clone, Debug, Object)]
#[oai(rename = "KeyRateShiftRequest", example)]
pub struct KeyRateShift {
    /// The curve.
    #[oai(flatten)]
    pub curve: CurveValues,
    /// Tenor of the whole shift, in years; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub tenor_years: f64,
    /// The shift in basis points, from -20,000 to 20,000; 1 adds 0.0001.
    #[oai(validator(minimum(value = "-20000"), maximum(value = "20000")))]
    pub shift_bps: f64,
    /// Distance in years at which the shift has fallen to zero; positive.
    #[oai(default = "two_years", validator(minimum(value = "0", exclusive)))]
    pub width_years: f64,
}

fn two_years() -> f64 {
    2.0
}

/// A curve before and after a shift.
#[derive(Clone, Debug, Object)]
pub struct ShiftedCurve {
    /// The day on which the curve starts.
    pub reference_date: Date,
    /// The kind of the values.
    pub curve_type: CurveType,
    /// The interpolation between the pillars.
    pub interpolation: Interpolation,
    /// Times of the pillars in years.
    pub tenors: Vec<f64>,
    /// The values before the shift.
    pub values: Vec<f64>,
    /// The values after the shift, of the same kind.
    pub shifted_values: Vec<f64>,
    /// The part of the shift that each pillar has.
    pub weights: Vec<f64>,
    /// The pillars before the shift.
    pub pillars: Vec<CurvePillar>,
    /// The pillars after the shift.
    pub shifted_pillars: Vec<CurvePillar>,
}

impl ShiftedCurve {
    fn new(
        request: &CurveValues,
        before: &curves::Curve,
        after: curves::CurveShift,
    ) -> quant_core::Result<Self> {
        Ok(Self {
            reference_date: request.reference_date,
            curve_type: request.curve_type,
            interpolation: request.interpolation,
            tenors: request.tenors.to_vec(),
            values: request.values.to_vec(),
            shifted_values: values(&after.curve, request.curve_type)?,
            pillars: pillars(before),
            shifted_pillars: pillars(&after.curve),
            weights: after.weights,
        })
    }
}

/// Returns the values of a curve at its pillars, of a kind.
fn values(curve: &curves::Curve, kind: CurveType) -> quant_core::Result<Vec<f64>> {
    let mut start = 0.0;
    let value = |pillar: &curves::Pillar| match kind {
        CurveType::Zero => Ok(pillar.zero_rate),
        CurveType::Discount => Ok(pillar.discount_factor),
        CurveType::ContinuousForward => {
            let period = curve.between(start, pillar.tenor)?;
            start = pillar.tenor;
            Ok(period.continuous_forward_rate)
        }
    };
    curve.pillars().iter().map(value).collect()
}

/// A curve before and after a parallel shift.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ParallelShift", example)]
pub struct ParallelShifted {
    /// The shift in basis points.
    pub shift_bps: f64,
    /// The quantity to which the shift was added.
    pub space: Space,
    /// The curve before and after.
    #[oai(flatten)]
    pub shifted: ShiftedCurve,
}

/// A curve before and after a shift around one tenor.
#[derive(Clone, Debug, Object)]
#[oai(rename = "KeyRateShift", example)]
pub struct KeyRateShifted {
    /// Tenor of the whole shift, in years.
    pub tenor_years: f64,
    /// The shift in basis points.
    pub shift_bps: f64,
    /// Distance in years at which the shift has fallen to zero.
    pub width_years: f64,
    /// The curve before and after.
    #[oai(flatten)]
    pub shifted: ShiftedCurve,
}

impl Computation for ParallelShift {
    type Answer = ParallelShifted;

    fn compute(&self) -> quant_core::Result<ParallelShifted> {
        let curve = self.curve.curve()?;
        let after = curve.parallel_shift(self.shift_bps / BASIS_POINTS, self.space.into())?;
        Ok(ParallelShifted {
            shift_bps: self.shift_bps,
            space: self.space,
            shifted: ShiftedCurve::new(&self.curve, &curve, after)?,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let shift = self.shift_bps / BASIS_POINTS;
        self.curve.curve()?.explain_parallel_shift(shift, self.space.into())
    }

    fn is_long(&self) -> bool {
        self.curve.tenors.len() > LONG_FROM_PILLARS
    }

    fn wire_name(argument: &'static str) -> &'static str {
        if argument == "shift" { "shift_bps" } else { argument }
    }
}

impl Computation for KeyRateShift {
    type Answer = KeyRateShifted;

    fn compute(&self) -> quant_core::Result<KeyRateShifted> {
        let curve = self.curve.curve()?;
        let (tenor, shift) = (self.tenor_years, self.shift_bps / BASIS_POINTS);
        let after = curve.key_rate_shift(tenor, shift, self.width_years)?;
        Ok(KeyRateShifted {
            tenor_years: tenor,
            shift_bps: self.shift_bps,
            width_years: self.width_years,
            shifted: ShiftedCurve::new(&self.curve, &curve, after)?,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let (tenor, shift) = (self.tenor_years, self.shift_bps / BASIS_POINTS);
        self.curve.curve()?.explain_key_rate_shift(tenor, shift, self.width_years)
    }

    fn is_long(&self) -> bool {
        self.curve.tenors.len() > LONG_FROM_PILLARS
    }

    fn wire_name(argument: &'static str) -> &'static str {
        match argument {
            "shift" => "shift_bps",
            "tenor" => "tenor_years",
            "width" => "width_years",
            other => other,
        }
    }
}

impl Example for ParallelShift {
    fn example() -> Self {
        Self { curve: CurveValues::example(), shift_bps: 25.0, space: zero_rate() }
    }
}

impl Example for KeyRateShift {
    fn example() -> Self {
        Self {
            curve: CurveValues::example(),
            tenor_years: 5.0,
            shift_bps: 10.0,
            width_years: two_years(),
        }
    }
}

impl Example for ParallelShifted {
    fn example() -> Self {
        example_answer::<ParallelShift>()
    }
}

impl Example for KeyRateShifted {
    fn example() -> Self {
        example_answer::<KeyRateShift>()
    }
}

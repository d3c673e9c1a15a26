//! The risk of an instrument to the zero rates of its curves.

use super::leg::{Shifts, SwapCurves};
use crate::curves::{Curve, ExponentShift};
use crate::explanation::ErrorStatement;
use crate::named::named;
use crate::time::NaiveDate;
use crate::{Result, check};

/// One basis point.
const BASIS_POINT: f64 = 1e-4;

/// The purpose of a curve in a valuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CurveRole {
    /// The curve gives forward rates and discount factors; named `single`.
    Single,
    /// The curve gives forward rates alone; named `projection`.
    Projection,
    /// The curve gives discount factors alone; named `discount`.
    Discount,
}

named!(CurveRole, "curve", Single = "single", Projection = "projection", Discount = "discount");

/// The change of a value where zero rates rise by a basis point.
///
/// Figures named `dv01` are half the difference of the values at zero rates a basis point higher
/// and a basis point lower, both revalued in full; a payer swap's is positive. The zero rates are
/// those of the pillars, continuously compounded; rates between them follow by the interpolation.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RateRisk {
    /// Change for a parallel rise of all curves by a basis point.
    pub dv01: f64,
    /// Change of the value where all curves are a basis point higher.
    pub change_up: f64,
    /// Change of the value where all curves are a basis point lower.
    pub change_down: f64,
    /// Change for a rise of the projection curve alone; `None` with a single curve.
    pub projection_dv01: Option<f64>,
    /// Change for a rise of the discount curve alone; `None` with a single curve.
    pub discount_dv01: Option<f64>,
    /// Change for a rise of each pillar alone, those of the projection curve first.
    pub buckets: Vec<BucketRisk>,
}

/// The conventions of the risk.
pub(super) const OF_RISK: [&str; 2] = [
    "A basis point is added to the continuously compounded zero rates of the pillars.",
    "A DV01 is by definition half the difference of the values a basis point higher and lower.",
];

/// The change of a value where the zero rate of one pillar rises by a basis point.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct BucketRisk {
    /// The curve of the pillar.
    pub curve: CurveRole,
    /// Time of the pillar, in years.
    pub tenor: f64,
    /// Date of the pillar.
    pub date: NaiveDate,
    /// Change of the value.
    pub dv01: f64,
}

/// The zero rates that a shift moves: one pillar of a curve, or all of them.
#[derive(Clone, Copy)]
struct Moved {
    projection: bool,
    discount: bool,
    pillar: Option<usize>,
}

impl Moved {
    const ALL: Self = Self { projection: true, discount: true, pillar: None };

    fn role(role: CurveRole, pillar: Option<usize>) -> Self {
        Self {
            projection: role != CurveRole::Discount,
            discount: role != CurveRole::Projection,
            pillar,
        }
    }

    fn shift(self, curve: &Curve, size: f64) -> ExponentShift<'_> {
        let is_moved = |index| self.pillar.is_none_or(|pillar| pillar == index);
        let sizes =
            (0..curve.pillars().len()).map(|index| if is_moved(index) { size } else { 0.0 });
        curve.exponent_shift(&sizes.collect::<Vec<_>>())
    }
}

impl RateRisk {
    /// States the error of the parallel change.
    pub(super) fn error(&self) -> ErrorStatement {
        let buckets = self.buckets.iter().map(|bucket| bucket.dv01.abs());
        ErrorStatement::rounding_within(
            "dv01",
            256.0 * f64::EPSILON * buckets.fold(self.dv01.abs(), f64::max),
            "largest error against 50 digits in units of the largest change of all pillars",
        )
    }

    /// Returns the risk of a value that changes by `change` under shifts of the curves.
    pub(super) fn of(
        curves: &SwapCurves<'_>,
        change: impl Fn(&Shifts<'_>) -> Result<f64>,
    ) -> Result<Self> {
        let by = |moved, size| shifted(curves, moved, size, &change);
        let central = |moved| {
            check::result("notional", 0.5 * (by(moved, BASIS_POINT)? - by(moved, -BASIS_POINT)?))
        };
        let roles: &[(CurveRole, &Curve)] = if curves.is_dual() {
            &[
                (CurveRole::Projection, curves.projection()),
                (CurveRole::Discount, curves.discount()),
            ]
        } else {
            &[(CurveRole::Single, curves.projection())]
        };
        let mut buckets = Vec::new();
        for &(curve, pillars) in roles {
            for (index, pillar) in pillars.pillars().iter().enumerate() {
                let dv01 = central(Moved::role(curve, Some(index)))?;
                buckets.push(BucketRisk { curve, tenor: pillar.tenor, date: pillar.date, dv01 });
            }
        }
        let alone = |role| curves.is_dual().then(|| central(Moved::role(role, None))).transpose();
        Ok(Self {
            dv01: central(Moved::ALL)?,
            change_up: check::result("notional", by(Moved::ALL, BASIS_POINT)?)?,
            change_down: check::result("notional", by(Moved::ALL, -BASIS_POINT)?)?,
            projection_dv01: alone(CurveRole::Projection)?,
            discount_dv01: alone(CurveRole::Discount)?,
            buckets,
        })
    }
}

/// Returns the change of a value where zero rates move by `size`.
fn shifted(
    curves: &SwapCurves<'_>,
    moved: Moved,
    size: f64,
    change: &impl Fn(&Shifts<'_>) -> Result<f64>,
) -> Result<f64> {
    let projection = moved.projection.then(|| moved.shift(curves.projection(), size));
    let own = curves.is_dual() && moved.discount;
    let own = own.then(|| moved.shift(curves.discount(), size));
    let discount = if curves.is_dual() { own.as_ref() } else { projection.as_ref() };
    change(&Shifts { projection: projection.as_ref(), discount })
}

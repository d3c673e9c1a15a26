//! The curve as a function of its six parameters.

use super::loading::Loading;
use crate::arithmetic::without_negative_zero;
use crate::curves::curve::Point;
use crate::{Result, check};

/// A curve of zero rates with a level, a slope and two humps.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NelsonSiegelSvensson {
    /// β₀: the rate that long tenors tend to.
    pub level: f64,
    /// β₁: the rate at tenor 0 less the level.
    pub slope: f64,
    /// β₂: the size of the hump of the first decay time.
    pub curvature: f64,
    /// β₃: the size of the hump of the second decay time.
    pub second_curvature: f64,
    /// τ₁: decay time of the slope and of the first hump, in years; positive.
    pub decay_time: f64,
    /// τ₂: decay time of the second hump, in years; positive.
    pub second_decay_time: f64,
}

impl NelsonSiegelSvensson {
    /// Returns the zero rate, the discount factor and the forward rate at a tenor, in years, zero or
    /// positive.
    ///
    /// ```text
    /// z(t) = β₀ + β₁ s(t/τ₁) + β₂ h(t/τ₁) + β₃ h(t/τ₂)
    /// f(t) = β₀ + β₁ e^{−t/τ₁} + β₂ (t/τ₁) e^{−t/τ₁} + β₃ (t/τ₂) e^{−t/τ₂}
    /// s(x) = (1 − e⁻ˣ)/x,   h(x) = s(x) − e⁻ˣ
    /// ```
    ///
    /// where z is the zero rate, continuously compounded, f the instantaneous forward rate, and
    /// the Greek letters are those of the fields. At 0 both are β₀ + β₁.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for a negative tenor, a parameter that is not finite or a decay time that
    /// is not positive; [`Error::Overflow`](crate::Error::Overflow) where a figure is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::NelsonSiegelSvensson;
    ///
    /// let curve = NelsonSiegelSvensson {
    ///     level: 0.04, slope: -0.02, curvature: 0.0, second_curvature: 0.0,
    ///     decay_time: 1.0, second_decay_time: 5.0,
    /// };
    /// assert_eq!(curve.at(0.0)?.zero_rate, 0.02);
    /// assert!((curve.at(1.0)?.instantaneous_forward_rate - (0.04 - 0.02 * 0.36787944117144233)).abs() < 1e-17);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn at(&self, tenor: f64) -> Result<Point> {
        check::not_negative("tenor", tenor)?;
        check::finite("level", self.level)?;
        check::finite("slope", self.slope)?;
        check::finite("curvature", self.curvature)?;
        check::finite("second_curvature", self.second_curvature)?;
        check::positive("decay_time", self.decay_time)?;
        check::positive("second_decay_time", self.second_decay_time)?;
        let (first, second) =
            (Loading::at(tenor / self.decay_time), Loading::at(tenor / self.second_decay_time));
        let zero_rate = self.level
            + self.slope * first.slope
            + self.curvature * first.hump
            + self.second_curvature * second.hump;
        let forward_rate = self.level
            + self.slope * first.decay
            + self.curvature * first.forward_hump
            + self.second_curvature * second.forward_hump;
        Ok(Point {
            tenor: without_negative_zero(tenor),
            zero_rate: check::result("tenor", zero_rate)?,
            discount_factor: check::result("tenor", libm::exp(-zero_rate * tenor))?,
            instantaneous_forward_rate: check::result("tenor", forward_rate)?,
        })
    }
}

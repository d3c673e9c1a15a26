//! The fit of a Nelson–Siegel–Svensson curve to given zero rates.

use super::model::NelsonSiegelSvensson;
use super::quality::explain_fit;
use super::search::{PARAMETERS, STARTS, Sample};
use crate::curves::pillars::require_increasing;
use crate::explanation::{Explanation, Method};
use crate::{Error, Result, check};

impl NelsonSiegelSvensson {
    /// Returns the curve that is nearest to given zero rates, by the sum of the squared distances.
    ///
    /// `tenors` are years, positive and increasing; `zero_rates` are continuously compounded, one
    /// for each tenor.
    ///
    /// ```text
    /// minimise Σᵢ (z(tᵢ) − zᵢ)²   over   β₀, β₁, β₂, β₃, τ₁, τ₂
    /// ```
    ///
    /// where z is the curve's [zero rate](Self::at). The decay times are sought between half the
    /// first tenor and twice the last, the two at least a twentieth apart. Rates that are those of
    /// such a curve give its parameters back, as far as rates rounded to doubles tell them. Where
    /// fewer parameters would do, as for a flat curve, the fit is as good and the others are any.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`] below six points, [`Error::Shape`] where there are not as many rates as
    /// tenors, [`Error::Element`] for the first tenor that is not positive or not after the one
    /// before, and for a rate that is not finite, [`Error::Overflow`] where a parameter is no
    /// double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::NelsonSiegelSvensson;
    ///
    /// let truth = NelsonSiegelSvensson {
    ///     level: 0.04, slope: -0.02, curvature: 0.015, second_curvature: -0.01,
    ///     decay_time: 1.5, second_decay_time: 8.0,
    /// };
    /// let tenors = [0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 30.0];
    /// let rates = tenors.map(|tenor| truth.at(tenor).unwrap().zero_rate);
    /// let found = NelsonSiegelSvensson::fit(&tenors, &rates)?;
    /// assert!((found.level - 0.04).abs() < 1e-10);
    /// assert!((found.decay_time - 1.5).abs() < 1e-8);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Nelson and Siegel (1987), "Parsimonious Modeling of Yield Curves"; Svensson (1994),
    /// "Estimating and Interpreting Forward Interest Rates: Sweden 1992–1994"; Golub and Pereyra
    /// (1973), "The Differentiation of Pseudo-Inverses and Nonlinear Least Squares Problems Whose
    /// Variables Separate".
    pub fn fit(tenors: &[f64], zero_rates: &[f64]) -> Result<Self> {
        let Rates { scaled, exponent } = Rates::new(tenors, zero_rates, PARAMETERS)?;
        let sample = Sample::new(tenors, scaled);
        let decays = sample.search();
        sample.curve(decays, exponent)
    }

    /// Explains [`fit`](Self::fit).
    ///
    /// # Errors
    ///
    /// The errors of [`fit`](Self::fit).
    pub fn explain_fit(tenors: &[f64], zero_rates: &[f64]) -> Result<Explanation> {
        let curve = Self::fit(tenors, zero_rates)?;
        let Rates { scaled, exponent } = Rates::new(tenors, zero_rates, PARAMETERS)?;
        let gap = Sample::new(tenors, scaled).gap([curve.decay_time, curve.second_decay_time]);
        let method = Method::new(
            "Nelson–Siegel–Svensson curve by separable least squares",
            "Svensson (1994), Estimating and Interpreting Forward Interest Rates: Sweden 1992–1994; \
             Golub and Pereyra (1973), The Differentiation of Pseudo-Inverses",
        );
        let gap = libm::scalbn(gap, exponent);
        let explanation = explain_fit(method, zero_rates, &curve, gap, STARTS);
        Ok(explanation.with_conventions(["The two decay times are at least a twentieth apart."]))
    }
}

/// Zero rates to be fitted, scaled by a power of two to a size near 1.
pub(super) struct Rates {
    pub(super) scaled: Vec<f64>,
    /// The exponent of the power by which the rates were divided.
    pub(super) exponent: i32,
}

impl Rates {
    /// Refuses a series that determines no curve of so many parameters.
    pub(super) fn new(tenors: &[f64], zero_rates: &[f64], parameters: usize) -> Result<Self> {
        if tenors.len() < parameters {
            let found = tenors.len();
            return Err(Error::TooFew { argument: "tenors", needed: parameters, found });
        }
        require_increasing("tenors", tenors)?;
        check::length("zero_rates", zero_rates.len(), tenors.len())?;
        check::each("zero_rates", zero_rates, "a finite number", f64::is_finite)?;
        let largest = zero_rates.iter().fold(0.0, |largest: f64, rate| largest.max(rate.abs()));
        let (_, exponent) = libm::frexp(largest);
        let scaled = zero_rates.iter().map(|rate| libm::scalbn(*rate, -exponent)).collect();
        Ok(Self { scaled, exponent })
    }
}

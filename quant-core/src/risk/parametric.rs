//! Value at risk and expected shortfall of a return with a known volatility.
//!
//! The volatility and the mean are those of one period, and the horizon is a number of periods: with a
//! daily volatility, of days. Volatilities grow with the square root of the horizon and means with the
//! horizon, as for independent returns. Not modelled: autocorrelation, jumps, positions that change.

use super::student_t::StudentT;
use super::tail::{FRACTION, LOSSES, TailRisk, tail};
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::pricing::normal;
use crate::{Result, check};

/// The distribution of a return of known mean and volatility.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Distribution {
    /// The normal distribution.
    #[default]
    Normal,
    /// Student's t distribution, scaled to the volatility.
    StudentT {
        /// Degrees of freedom, above 2 and at most 1,000,000.
        degrees_of_freedom: f64,
    },
    /// The expansion of Cornish and Fisher about the normal distribution.
    CornishFisher {
        /// Skewness of the return; at most 100 in size.
        skewness: f64,
        /// Kurtosis of the return less 3: at least the square of the skewness less 2, and at most
        /// 10,000.
        excess_kurtosis: f64,
    },
}

/// A return with a known distribution, and the tail to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ParametricRisk {
    /// Mean of the return of one period; of any sign.
    pub mean: f64,
    /// Standard deviation of the return of one period; zero or positive.
    pub volatility: f64,
    /// Distribution of the return over the horizon.
    pub distribution: Distribution,
    /// Probability that the loss does not exceed the value at risk; above 0.5 and below 1.
    pub confidence: f64,
    /// Number of periods; positive.
    pub horizon: f64,
}

impl ParametricRisk {
    /// Returns value at risk and expected shortfall, as fractions of the position.
    ///
    /// ```text
    /// VaR = k σ√h − μh      ES = e σ√h − μh      α = 1 − confidence,  Φ(−z) = α
    /// normal            k = z                                    e = φ(z)/α
    /// Student-t         k = s·t,  s = √((ν − 2)/ν),  T(−t) = α   e = s·f(t)/α · (ν + t²)/(ν − 1)
    /// Cornish–Fisher    k = z − (z² − 1)S/6 + (z³ − 3z)K/24 − (2z³ − 5z)S²/36
    ///                   e = φ(z)/α · (1 − zS/6 + (z² − 1)K/24 − (2z² − 1)S²/36)
    /// ```
    ///
    /// where μ and σ are mean and volatility of a period, h is the horizon, T and f are distribution and
    /// density of Student's t, S the skewness and K the excess kurtosis. The expected shortfall of Cornish
    /// and Fisher is the mean of the expansion over the normal tail.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for an argument out of its range;
    /// [`Error::Overflow`](crate::Error::Overflow) where a figure exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::risk::{Distribution, ParametricRisk};
    ///
    /// let position = ParametricRisk {
    ///     mean: 0.0,
    ///     volatility: 0.02,
    ///     distribution: Distribution::Normal,
    ///     confidence: 0.99,
    ///     horizon: 10.0,
    /// };
    /// // Hull: 10 million with a daily volatility of 2 % lose 1,471,300 in ten days at 99 %.
    /// assert!((1e7 * position.evaluate()?.value_at_risk - 1_471_300.0).abs() < 60.0);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Jorion (2007), *Value at Risk*, chapter 5; McNeil, Frey and Embrechts (2015), *Quantitative Risk
    /// Management*, 2.3.4; Maillard (2012), "A User's Guide to the Cornish Fisher Expansion". The example
    /// is in Hull, *Options, Futures, and Other Derivatives*, the chapter on value at risk.
    pub fn evaluate(&self) -> Result<TailRisk> {
        let (deviation, drift) = self.scaled()?;
        let (multiple, mean_multiple) = self.distribution.multiples(tail(self.confidence)?)?;
        let figure = |multiple: f64| check::result("volatility", multiple * deviation - drift);
        Ok(TailRisk {
            value_at_risk: figure(multiple)?,
            expected_shortfall: figure(mean_multiple)?,
        })
    }

    /// Explains [`evaluate`](Self::evaluate).
    ///
    /// # Errors
    ///
    /// The errors of [`evaluate`](Self::evaluate).
    pub fn explain(&self) -> Result<Explanation> {
        let error = ErrorStatement::rounding_within(
            FRACTION,
            self.rounding()?,
            "of the deviation, or relative where the figure is larger; largest error against \
             integrals of 50 digits",
        );
        self.explained(error)
    }

    /// Returns the largest rounding error of the value at risk of a volatility that has none.
    pub(super) fn rounding(&self) -> Result<f64> {
        let (found, deviation) = (self.evaluate()?, self.deviation()?);
        Ok(PARAMETRIC_ERROR * deviation.max(found.value_at_risk.abs()))
    }

    /// Explains the method, with this statement of the error.
    pub(super) fn explained(&self, error: ErrorStatement) -> Result<Explanation> {
        Ok(Explanation::new(self.distribution.method(), error)
            .with_conventions(LOSSES)
            .with_conventions(SCALING)
            .with_conventions(self.distribution.conventions(self.confidence)?))
    }

    /// Returns the standard deviation of the return over the horizon, `σ√h`.
    ///
    /// # Errors
    ///
    /// Those of [`evaluate`](Self::evaluate), but for the confidence.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::risk::{Distribution, ParametricRisk};
    ///
    /// let position = ParametricRisk {
    ///     mean: 0.0,
    ///     volatility: 0.02,
    ///     distribution: Distribution::Normal,
    ///     confidence: 0.99,
    ///     horizon: 4.0,
    /// };
    /// assert_eq!(position.deviation()?, 0.04);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn deviation(&self) -> Result<f64> {
        self.scaled().map(|(deviation, _)| deviation)
    }

    /// Returns the deviation and the mean over the horizon, with all arguments but the confidence
    /// checked.
    pub(super) fn scaled(&self) -> Result<(f64, f64)> {
        check::finite("mean", self.mean)?;
        check::not_negative("volatility", self.volatility)?;
        self.distribution.checked()?;
        check::positive("horizon", self.horizon)?;
        let deviation = check::result("volatility", self.volatility * self.horizon.sqrt())?;
        Ok((deviation, check::result("mean", self.mean * self.horizon)?))
    }
}

impl Distribution {
    /// Returns whether the quantile of the distribution falls all the way into the tail of losses
    /// beyond this confidence. True for all but some expansions of Cornish and Fisher, whose figures are
    /// then doubtful.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for a parameter or a confidence out of its range.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::risk::Distribution;
    ///
    /// let mild = Distribution::CornishFisher { skewness: -0.5, excess_kurtosis: 2.0 };
    /// let wild = Distribution::CornishFisher { skewness: 3.0, excess_kurtosis: 8.0 };
    /// assert!(mild.is_monotone(0.99)? && !wild.is_monotone(0.99)?);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn is_monotone(self, confidence: f64) -> Result<bool> {
        let tail = tail(confidence)?;
        self.checked()?;
        let Self::CornishFisher { skewness: s, excess_kurtosis: k } = self else { return Ok(true) };
        // The derivative of the expansion by the normal quantile −z: a z² + b z + c.
        let (a, b, c) = (k / 8.0 - s * s / 6.0, -s / 3.0, 1.0 - k / 8.0 + 5.0 * s * s / 36.0);
        let z = normal::upper_quantile(tail);
        let lowest = if a > 0.0 { (-b / (2.0 * a)).max(z) } else { z };
        let rises = a > 0.0 || (a == 0.0 && b >= 0.0);
        Ok(rises && (a * lowest + b) * lowest + c >= 0.0)
    }

    /// Returns the method with this distribution, and where it was published.
    pub(super) fn method(self) -> Method {
        match self {
            Self::Normal => Method::new(
                "Value at risk of a normal return",
                "Jorion (2007), Value at Risk, chapter 5",
            ),
            Self::StudentT { .. } => Method::new(
                "Value at risk of a Student-t return",
                "McNeil, Frey and Embrechts (2015), Quantitative Risk Management, 2.3.4",
            ),
            Self::CornishFisher { .. } => Method::new(
                "Value at risk by the expansion of Cornish and Fisher",
                "Maillard (2012), A User's Guide to the Cornish Fisher Expansion",
            ),
        }
    }

    /// The assumptions of the distribution.
    pub(super) fn conventions(self, confidence: f64) -> Result<Vec<&'static str>> {
        let doubtful = "The expansion is not monotone in the tail here: its figures are doubtful.";
        let is_monotone = self.is_monotone(confidence)?;
        Ok(match self {
            Self::Normal => Vec::new(),
            Self::StudentT { .. } => {
                vec!["The distribution is scaled, so that the volatility is its deviation."]
            }
            Self::CornishFisher { .. } => {
                let rules = [
                    "Skewness and excess kurtosis are those of the return over the horizon.",
                    "The expected shortfall is the mean of the expansion over the normal tail.",
                ];
                rules.into_iter().chain((!is_monotone).then_some(doubtful)).collect()
            }
        })
    }

    fn checked(self) -> Result<()> {
        match self {
            Self::Normal => Ok(()),
            Self::StudentT { degrees_of_freedom: degrees } => {
                let is_inside = degrees > 2.0 && degrees <= MAX_DEGREES;
                let requirement = "above 2, where the variance is finite, and at most 1,000,000";
                check::require(is_inside, "degrees_of_freedom", degrees, requirement)
            }
            Self::CornishFisher { skewness, excess_kurtosis } => {
                let is_inside = skewness.abs() <= MAX_SKEWNESS;
                check::require(is_inside, "skewness", skewness, "between -100 and 100")?;
                let least = skewness * skewness - 2.0 - ROUNDING;
                let is_inside = excess_kurtosis >= least && excess_kurtosis <= MAX_KURTOSIS;
                let requirement = "at least the square of the skewness less 2, and at most 10,000";
                check::require(is_inside, "excess_kurtosis", excess_kurtosis, requirement)
            }
        }
    }

    /// Returns the quantile of the loss in volatilities, and the mean of the losses beyond, for a
    /// tail of at most ½ and parameters that are checked.
    pub(super) fn multiples(self, tail: f64) -> Result<(f64, f64)> {
        self.checked()?;
        if let Self::StudentT { degrees_of_freedom: nu } = self {
            let distribution = StudentT::new(nu);
            let (t, scale) = (distribution.upper_quantile(tail), ((nu - 2.0) / nu).sqrt());
            let mean = distribution.density(t) / tail * ((nu + t * t) / (nu - 1.0));
            return Ok((scale * t, scale * mean));
        }
        let z = normal::upper_quantile(tail);
        let mean = normal::pdf(z) / tail;
        let Self::CornishFisher { skewness: s, excess_kurtosis: k } = self else {
            return Ok((z, mean));
        };
        let square = z * z;
        let change = -z * s / 6.0 + (square - 1.0) * k / 24.0 - (2.0 * square - 1.0) * s * s / 36.0;
        Ok((expansion(z, s, k), mean * (1.0 + change)))
    }

    /// Returns the loss in volatilities that is exceeded with this probability, above 0 and below 1.
    pub(super) fn loss_quantile(self, probability: f64) -> Result<f64> {
        if probability <= 0.5 {
            return self.multiples(probability).map(|(multiple, _)| multiple);
        }
        // 1 − p is exact here.
        let z = -normal::upper_quantile(1.0 - probability);
        match self {
            Self::Normal => Ok(z),
            Self::StudentT { .. } => Ok(-self.multiples(1.0 - probability)?.0),
            Self::CornishFisher { skewness, excess_kurtosis } => {
                Ok(expansion(z, skewness, excess_kurtosis))
            }
        }
    }
}

/// The expansion of Cornish and Fisher at minus the normal quantile −z.
fn expansion(z: f64, s: f64, k: f64) -> f64 {
    let square = z * z;
    let of_skewness = (square - 1.0) * s / 6.0 + (2.0 * square - 5.0) * z * (s * s / 36.0);
    z - of_skewness + (square - 3.0) * z * (k / 24.0)
}

/// The growth of mean and volatility with the horizon, conventions.
pub(super) const SCALING: [&str; 2] = [
    "The volatility grows with the root of the number of periods, and the mean with the number.",
    "The mean return is subtracted from the loss.",
];

/// The error of a figure, in units of the deviation.
const PARAMETRIC_ERROR: f64 = 1e-14;

/// The most degrees of freedom; beyond them the distribution is normal to six digits.
const MAX_DEGREES: f64 = 1e6;
const MAX_SKEWNESS: f64 = 100.0;
const MAX_KURTOSIS: f64 = 1e4;

/// The rounding of a kurtosis that is computed from a series, which may be at its bound.
const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn position(distribution: Distribution, confidence: f64) -> ParametricRisk {
        ParametricRisk { mean: 0.0, volatility: 1.0, distribution, confidence, horizon: 1.0 }
    }

    #[test]
    fn figures_agree_with_printed_ones() {
        // McNeil, Frey and Embrechts (2015), table 2.2: a position of 10,000 with an annual volatility
        // of 20 % over 250 days, normal and Student-t with 4 degrees of freedom.
        let t = Distribution::StudentT { degrees_of_freedom: 4.0 };
        #[rustfmt::skip]
        let rows = [
            // distribution          confidence  VaR    ES
            (Distribution::Normal,   0.95,       208.1, 260.9),
            (Distribution::Normal,   0.99,       294.3, 337.1),
            (t,                      0.95,       190.7, 286.5),
            (t,                      0.99,       335.1, 466.9),
        ];
        let deviation = 10_000.0 * 0.2 / 250.0_f64.sqrt();
        for (distribution, confidence, value_at_risk, shortfall) in rows {
            let found = position(distribution, confidence).evaluate().unwrap();
            let (var, es) = (deviation * found.value_at_risk, deviation * found.expected_shortfall);
            let near = (var - value_at_risk).abs() < 0.11 && (es - shortfall).abs() < 0.11;
            assert!(near, "{distribution:?} {confidence}: {var} {es}");
        }
    }

    #[test]
    fn arguments_out_of_range_are_named() {
        let valid = position(Distribution::Normal, 0.99);
        let t = |degrees_of_freedom| Distribution::StudentT { degrees_of_freedom };
        let expanded =
            |skewness, excess_kurtosis| Distribution::CornishFisher { skewness, excess_kurtosis };
        #[rustfmt::skip]
        let rows = [
            (ParametricRisk { confidence: 0.5, ..valid },               "confidence"),
            (ParametricRisk { confidence: 99.0, ..valid },              "confidence"),
            (ParametricRisk { confidence: f64::NAN, ..valid },          "confidence"),
            (ParametricRisk { horizon: 0.0, ..valid },                  "horizon"),
            (ParametricRisk { volatility: -0.1, ..valid },              "volatility"),
            (ParametricRisk { volatility: 1e308, horizon: 1e10, ..valid }, "volatility"),
            (ParametricRisk { mean: f64::INFINITY, ..valid },           "mean"),
            (ParametricRisk { distribution: t(2.0), ..valid },          "degrees_of_freedom"),
            (ParametricRisk { distribution: t(1e7), ..valid },          "degrees_of_freedom"),
            (ParametricRisk { distribution: expanded(1e3, 0.0), ..valid }, "skewness"),
            (ParametricRisk { distribution: expanded(2.0, 1.9), ..valid }, "excess_kurtosis"),
        ];
        for (position, argument) in rows {
            let refused = position.evaluate().unwrap_err();
            assert_eq!(refused.argument(), Some(argument), "{position:?}");
        }
    }

    #[test]
    fn an_expansion_without_moments_is_the_normal_distribution() {
        let expanded = Distribution::CornishFisher { skewness: 0.0, excess_kurtosis: 0.0 };
        for confidence in [0.500_000_1, 0.9, 0.999_999] {
            let normal = position(Distribution::Normal, confidence).evaluate();
            assert_eq!(position(expanded, confidence).evaluate(), normal);
        }
    }

    proptest! {
        #[test]
        fn the_shortfall_is_the_mean_of_the_tail(confidence in 0.6..0.9999_f64, degrees in 2.5..50.0_f64) {
            for distribution in [
                Distribution::Normal,
                Distribution::StudentT { degrees_of_freedom: degrees },
                Distribution::CornishFisher { skewness: -0.4, excess_kurtosis: 1.5 },
            ] {
                let tail = 1.0 - confidence;
                let (_, mean) = distribution.multiples(tail).unwrap();
                // The substitution p = tail·u⁴ tames the end, and the midpoint rule does the rest.
                let count = 300;
                let sum: f64 = (0..count).map(|i| {
                    let u = (f64::from(i) + 0.5) / f64::from(count);
                    distribution.loss_quantile(tail * u.powi(4)).unwrap() * 4.0 * u.powi(3)
                }).sum();
                prop_assert!((sum / f64::from(count) / mean - 1.0).abs() < 1e-3, "{distribution:?}");
            }
        }

        #[test]
        fn more_confidence_is_more_loss(confidence in 0.51..0.98_f64, degrees in 2.01..1e5_f64) {
            let t = Distribution::StudentT { degrees_of_freedom: degrees };
            let (less, more) = (position(t, confidence), position(t, confidence + 0.01));
            let (less, more) = (less.evaluate().unwrap(), more.evaluate().unwrap());
            prop_assert!(less.value_at_risk < more.value_at_risk);
            prop_assert!(less.expected_shortfall < more.expected_shortfall);
            prop_assert!(less.value_at_risk < less.expected_shortfall);
        }
    }
}

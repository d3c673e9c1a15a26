//! Curves of few parameters, fitted to zero rates.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::curves::{FitQuality, NelsonSiegel, NelsonSiegelSvensson};
use quant_core::explanation::Explanation;

use super::CurvePoint;
use crate::{
    api::quantlib::{RequestFor, SharedComputation, example_answer},
    http::{Answer, Metered, Numbers, Tag},
};

/// The REST endpoints of fits.
#[derive(Default)]
pub struct CurveFits;

#[OpenApi(prefix_path = "/quantlib/curves", tag = "Tag::Curves")]
impl CurveFits {
    /// Fit a Nelson-Siegel curve to zero rates.
    ///
    /// The least squares over level, slope, hump and decay time, from at least four rates. The decay
    /// time is sought between half the first tenor and twice the last.
    #[oai(path = "/nelson-siegel/fit", method = "post", operation_id = "fit_nelson_siegel")]
    async fn nelson_siegel(
        &self,
        call: Metered<RequestFor<FitNelsonSiegel>>,
    ) -> Result<Answer<NelsonSiegelFit>> {
        call.run().await
    }

    /// Fit a Nelson-Siegel-Svensson curve to zero rates.
    ///
    /// The least squares over level, slope, two humps and two decay times, from at least six rates. The
    /// decay times are sought between half the first tenor and twice the last.
    #[oai(path = "/nss/fit", method = "post", operation_id = "fit_svensson")]
    async fn svensson(
        &self,
        call: Metered<RequestFor<FitSvensson>>,
    ) -> Result<Answer<SvenssonFit>> {
        call.run().await
    }
}

/// Zero rates to which a curve is fitted.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CurveFitRequest", example)]
pub struct Fit {
    /// Times of the rates in years; positive and increasing; at most 500.
    #[oai(validator(min_items = 1, max_items = 500, minimum(value = "0", exclusive)))]
    pub tenors: Numbers,
    /// Zero rates, annual decimals, continuously compounded, one for each tenor.
    #[oai(validator(min_items = 1, max_items = 500))]
    pub rates: Numbers,
    /// Times in years at which to read the fitted curve; zero or more; at most 1,000.
    #[oai(
        nullable,
        skip_serializing_if_is_none,
        validator(max_items = 1000, minimum(value = "0"))
    )]
    pub query_tenors: Option<Numbers>,
}

impl Example for Fit {
    fn example() -> Self {
        Self {
            tenors: vec![0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 30.0].into(),
            rates: vec![
                0.0202, 0.0208, 0.0221, 0.0245, 0.0263, 0.0290, 0.0308, 0.0324, 0.0343, 0.0348,
            ]
            .into(),
            query_tenors: None,
        }
    }
}

impl Fit {
    /// Returns the fitted curve at the query tenors.
    fn points(&self, curve: &NelsonSiegelSvensson) -> quant_core::Result<Vec<CurvePoint>> {
        let queries = self.query_tenors.as_deref().unwrap_or_default();
        queries.iter().map(|&tenor| Ok(CurvePoint::from(curve.at(tenor)?))).collect()
    }

    fn name_of(argument: &'static str) -> &'static str {
        match argument {
            "zero_rates" => "rates",
            "tenor" => "query_tenors",
            other => other,
        }
    }
}

/// The distance of a fitted curve from the rates.
#[derive(Clone, Debug, Object)]
pub struct FitResiduals {
    /// Zero rate of the curve at each tenor.
    pub fitted_rates: Vec<f64>,
    /// Each rate less the fitted one.
    pub residuals: Vec<f64>,
    /// Square root of the mean of the squared residuals.
    pub rmse: f64,
    /// The largest absolute residual.
    pub max_residual: f64,
    /// 1 less the squared residuals over the squared distances of the rates from their mean; 1 where
    /// all rates are equal.
    pub r_squared: f64,
}

impl From<FitQuality> for FitResiduals {
    fn from(quality: FitQuality) -> Self {
        Self {
            fitted_rates: quality.fitted_rates,
            residuals: quality.residuals,
            rmse: quality.root_mean_square,
            max_residual: quality.largest_residual,
            r_squared: quality.r_squared,
        }
    }
}

/// A fitted Nelson-Siegel curve.
#[derive(Clone, Debug, Object)]
#[oai(rename = "NelsonSiegelFit", example)]
pub struct NelsonSiegelFit {
    /// The rate that long tenors tend to.
    pub beta0: f64,
    /// The rate at tenor 0 less `beta0`.
    pub beta1: f64,
    /// The size of the hump.
    pub beta2: f64,
    /// Decay time in years.
    pub tau: f64,
    /// The rate at tenor 0: `beta0` plus `beta1`.
    pub short_rate: f64,
    /// The distance of the curve from the rates.
    #[oai(flatten)]
    pub quality: FitResiduals,
    /// The curve at each of the query tenors, in their order.
    pub points: Vec<CurvePoint>,
}

/// A fitted Nelson-Siegel-Svensson curve.
#[derive(Clone, Debug, Object)]
#[oai(rename = "SvenssonFit", example)]
pub struct SvenssonFit {
    /// The rate that long tenors tend to.
    pub beta0: f64,
    /// The rate at tenor 0 less `beta0`.
    pub beta1: f64,
    /// The size of the hump of the first decay time.
    pub beta2: f64,
    /// The size of the hump of the second decay time.
    pub beta3: f64,
    /// Decay time of the slope and of the first hump, in years.
    pub tau1: f64,
    /// Decay time of the second hump, in years.
    pub tau2: f64,
    /// The rate at tenor 0: `beta0` plus `beta1`.
    pub short_rate: f64,
    /// The distance of the curve from the rates.
    #[oai(flatten)]
    pub quality: FitResiduals,
    /// The curve at each of the query tenors, in their order.
    pub points: Vec<CurvePoint>,
}

/// The fit of a Nelson-Siegel curve.
pub struct FitNelsonSiegel;

impl SharedComputation for FitNelsonSiegel {
    type Request = Fit;
    type Answer = NelsonSiegelFit;

    fn compute(request: &Fit) -> quant_core::Result<NelsonSiegelFit> {
        let curve = NelsonSiegel::fit(&request.tenors, &request.rates)?;
        Ok(NelsonSiegelFit {
            beta0: curve.level,
            beta1: curve.slope,
            beta2: curve.curvature,
            tau: curve.decay_time,
            short_rate: curve.at(0.0)?.zero_rate,
            quality: curve.quality(&request.tenors, &request.rates)?.into(),
            points: request.points(&curve.into())?,
        })
    }

    fn explain(request: &Fit) -> quant_core::Result<Explanation> {
        NelsonSiegel::explain_fit(&request.tenors, &request.rates)
    }

    fn is_long(_: &Fit) -> bool {
        true
    }

    fn wire_name(argument: &'static str) -> &'static str {
        Fit::name_of(argument)
    }
}

/// The fit of a Nelson-Siegel-Svensson curve.
pub struct FitSvensson;

impl SharedComputation for FitSvensson {
    type Request = Fit;
    type Answer = SvenssonFit;

    fn compute(request: &Fit) -> quant_core::Result<SvenssonFit> {
        let curve = NelsonSiegelSvensson::fit(&request.tenors, &request.rates)?;
        Ok(SvenssonFit {
            beta0: curve.level,
            beta1: curve.slope,
            beta2: curve.curvature,
            beta3: curve.second_curvature,
            tau1: curve.decay_time,
            tau2: curve.second_decay_time,
            short_rate: curve.at(0.0)?.zero_rate,
            quality: curve.quality(&request.tenors, &request.rates)?.into(),
            points: request.points(&curve)?,
        })
    }

    fn explain(request: &Fit) -> quant_core::Result<Explanation> {
        NelsonSiegelSvensson::explain_fit(&request.tenors, &request.rates)
    }

    fn is_long(_: &Fit) -> bool {
        true
    }

    fn wire_name(argument: &'static str) -> &'static str {
        Fit::name_of(argument)
    }
}

impl Example for NelsonSiegelFit {
    fn example() -> Self {
        example_answer::<RequestFor<FitNelsonSiegel>>()
    }
}

impl Example for SvenssonFit {
    fn example() -> Self {
        example_answer::<RequestFor<FitSvensson>>()
    }
}

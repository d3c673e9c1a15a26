//! Expected returns that the market implies, and their revision by views.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    Error,
    explanation::Explanation,
    portfolio::{
        self, Covariance,
        black_litterman::{MarketEquilibrium, Uncertainty, View},
    },
};

use super::{LONG_FROM_ASSETS, three_assets};
use crate::{
    api::quantlib::Computation,
    http::{Answer, Metered, Numbers, Tag},
};

/// Above so many assets the answer has no covariance, which would have a million numbers or so.
const COVARIANCE_UP_TO_ASSETS: usize = 250;

/// The REST endpoints of the Black–Litterman model.
#[derive(Default)]
pub struct ImpliedReturns;

#[OpenApi(prefix_path = "/quantlib/portfolio/black-litterman", tag = "Tag::Portfolio")]
impl ImpliedReturns {
    /// Find the returns that a market in equilibrium expects.
    ///
    /// `risk_aversion × Σ × market weights`: the excess returns under which the market's own
    /// weights are optimal.
    #[oai(path = "/equilibrium", method = "post", operation_id = "imply_equilibrium_returns")]
    async fn equilibrium(&self, call: Metered<Equilibrium>) -> Result<Answer<EquilibriumReturns>> {
        call.run().await
    }

    /// Revise the returns of the equilibrium by views.
    ///
    /// Expected excess returns, their covariance and the optimal weights by Black and Litterman.
    /// `P` has a portfolio for each view, `Q` its expected excess return. Without views the returns
    /// are those of the equilibrium.
    #[oai(path = "/posterior", method = "post", operation_id = "revise_expected_returns")]
    async fn posterior(&self, call: Metered<Posterior>) -> Result<Answer<PosteriorReturns>> {
        call.run().await
    }
}

/// A market in equilibrium.
#[derive(Clone, Debug, Object)]
#[oai(rename = "EquilibriumRequest", example)]
pub struct Equilibrium {
    /// Covariance of annual returns, a row per asset; symmetric, positive semi-definite; 1 to 1,000
    /// assets.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub covariance_matrix: Vec<Numbers<1000>>,
    /// Market capitalisation of each asset, or its part of the market; zero or more.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub market_caps: Numbers,
    /// Excess return that the market demands for a unit of variance; above zero.
    #[oai(default = "two_and_a_half", validator(minimum(value = "0", exclusive)))]
    pub risk_aversion: f64,
}

/// A market in equilibrium, and views on some of its portfolios.
#[derive(Clone, Debug, Object)]
#[oai(rename = "PosteriorReturnsRequest", example)]
pub struct Posterior {
    /// Covariance of annual returns, a row per asset; symmetric, positive semi-definite; 1 to 1,000
    /// assets.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub covariance_matrix: Vec<Numbers<1000>>,
    /// Market capitalisation of each asset, or its part of the market; zero or more.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub market_caps: Numbers,
    /// Excess return that the market demands for a unit of variance; above zero.
    #[oai(default = "two_and_a_half", validator(minimum(value = "0", exclusive)))]
    pub risk_aversion: f64,
    /// Variance of the equilibrium's error as a part of that of the returns; above zero.
    #[oai(default = "a_twentieth", validator(minimum(value = "0", exclusive)))]
    pub tau: f64,
    /// Portfolio of each view, a weight per asset: one 1 for a view on an asset, weights that sum
    /// to 0 for a view on a difference; up to 100 views.
    #[oai(rename = "P", nullable, validator(max_items = 100))]
    pub view_portfolios: Option<Vec<Numbers<1000>>>,
    /// Expected excess return of each view's portfolio, an annual decimal.
    #[oai(rename = "Q", nullable, validator(max_items = 100))]
    pub view_returns: Option<Numbers>,
    /// Variance of each view's error, zero or more; absent means that of the equilibrium's own
    /// error, the diagonal of `tau × P × Σ × P'`.
    #[oai(nullable, validator(max_items = 100))]
    pub omega: Option<Numbers>,
    /// Confidence in each view, above 0 and up to 1, instead of `omega`: the part of the way to the
    /// view, were the view the only one (Idzorek). 1 is certain.
    #[oai(nullable, validator(max_items = 100))]
    pub confidences: Option<Numbers>,
}

fn two_and_a_half() -> f64 {
    2.5
}

fn a_twentieth() -> f64 {
    0.05
}

/// The returns that a market in equilibrium expects.
#[derive(Clone, Debug, Object)]
#[oai(rename = "EquilibriumReturns")]
pub struct EquilibriumReturns {
    /// Expected excess return of each asset, an annual decimal.
    pub equilibrium_returns: Vec<f64>,
    /// The same returns again.
    pub implied_returns: Vec<f64>,
    /// Part of each asset in the market; they sum to 1.
    pub market_weights: Vec<f64>,
    /// Expected excess return of the market, an annual decimal.
    pub market_return: f64,
    /// Standard deviation of the market's annual return.
    pub market_volatility: f64,
    /// Excess return of the market by its volatility; null where the volatility is zero.
    #[oai(nullable)]
    pub sharpe_ratio: Option<f64>,
    /// The risk aversion that was used.
    pub risk_aversion: f64,
}

/// Expected returns that combine an equilibrium with views.
#[derive(Clone, Debug, Object)]
#[oai(rename = "PosteriorReturns")]
pub struct PosteriorReturns {
    /// Expected excess return of each asset, an annual decimal.
    pub posterior_returns: Vec<f64>,
    /// Expected excess return of each asset in the equilibrium.
    pub equilibrium_returns: Vec<f64>,
    /// Part of each asset in the market; they sum to 1.
    pub market_weights: Vec<f64>,
    /// Optimal weights under the posterior, without bounds: `(risk_aversion × covariance)⁻¹ ×
    /// returns`.
    pub optimal_weights: Vec<f64>,
    /// The part of 1 that the optimal weights leave, lent at the riskless rate, or borrowed where negative.
    pub riskless_weight: f64,
    /// Covariance of the returns with the error of their expectation, a row per asset. Absent above
    /// 250 assets.
    #[oai(skip_serializing_if_is_none)]
    pub posterior_covariance: Option<Vec<Vec<f64>>>,
    /// The effects of the views, in their order.
    pub views: Vec<ViewEffect>,
    /// The risk aversion that was used.
    pub risk_aversion: f64,
    /// The part of the variance that was used.
    pub tau: f64,
}

/// A view beside the equilibrium and the posterior.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "ViewEffect", remote = "portfolio::black_litterman::ViewEffect")]
pub struct ViewEffect {
    /// Variance of the view's error.
    pub variance: f64,
    /// Excess return of the view's portfolio in the equilibrium, an annual decimal.
    pub implied_return: f64,
    /// Excess return of the view's portfolio in the posterior, an annual decimal.
    pub posterior_return: f64,
    /// Amount of the view's portfolio that the optimal weights hold beside the market.
    pub tilt: f64,
}

impl Equilibrium {
    fn market(&self) -> quant_core::Result<MarketEquilibrium> {
        market(&self.covariance_matrix, &self.market_caps, self.risk_aversion)
    }
}

fn market(
    covariance_matrix: &[Numbers<1000>],
    market_caps: &[f64],
    risk_aversion: f64,
) -> quant_core::Result<MarketEquilibrium> {
    let covariance_matrix = Covariance::from_rows(covariance_matrix)?;
    Ok(MarketEquilibrium { covariance_matrix, market_caps: market_caps.to_vec(), risk_aversion })
}

impl Computation for Equilibrium {
    type Answer = EquilibriumReturns;

    fn compute(&self) -> quant_core::Result<EquilibriumReturns> {
        let found = self.market()?.returns()?;
        Ok(EquilibriumReturns {
            equilibrium_returns: found.implied_returns.clone(),
            implied_returns: found.implied_returns,
            market_weights: found.market_weights,
            market_return: found.market_return,
            market_volatility: found.market_volatility,
            sharpe_ratio: found.sharpe_ratio,
            risk_aversion: self.risk_aversion,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.market()?.explain()
    }

    fn is_long(&self) -> bool {
        self.market_caps.len() > LONG_FROM_ASSETS
    }
}

impl Posterior {
    fn model(&self) -> quant_core::Result<portfolio::BlackLitterman> {
        let market = market(&self.covariance_matrix, &self.market_caps, self.risk_aversion)?;
        Ok(portfolio::BlackLitterman { market, tau: self.tau, views: self.views()? })
    }

    /// The views, with the uncertainty of each.
    fn views(&self) -> quant_core::Result<Vec<View>> {
        let (portfolios, returns) = match (&self.view_portfolios, &self.view_returns) {
            (None, None) => (&[][..], &[][..]),
            (Some(portfolios), Some(returns)) => (&portfolios[..], &returns[..]),
            (Some(_), None) => return Err(beside("Q", "is needed where `P` is present")),
            (None, Some(_)) => return Err(beside("P", "is needed where `Q` is present")),
        };
        if self.omega.is_some() && self.confidences.is_some() {
            return Err(beside("confidences", "contradicts `omega`: one of the two is enough"));
        }
        let expected = portfolios.len();
        let lists = [("Q", Some(returns)), ("omega", self.omega.as_deref())];
        for (argument, list) in
            lists.into_iter().chain([("confidences", self.confidences.as_deref())])
        {
            if let Some(found) = list.map(<[f64]>::len).filter(|found| *found != expected) {
                return Err(Error::Shape { argument, expected, found });
            }
        }
        let uncertainty = |index: usize| match (&self.omega, &self.confidences) {
            (Some(omega), _) => Uncertainty::Variance(omega[index]),
            (None, Some(confidences)) => Uncertainty::Confidence(confidences[index]),
            (None, None) => Uncertainty::Proportional,
        };
        let views = portfolios.iter().zip(returns).enumerate();
        let view = |(index, (weights, &expected_return)): (usize, (&Numbers<1000>, &f64))| View {
            weights: weights.to_vec(),
            expected_return,
            uncertainty: uncertainty(index),
        };
        Ok(views.map(view).collect())
    }
}

fn beside(argument: &'static str, problem: &'static str) -> Error {
    Error::Conflict { argument, problem }
}

impl Computation for Posterior {
    type Answer = PosteriorReturns;

    fn compute(&self) -> quant_core::Result<PosteriorReturns> {
        let found = self.model()?.posterior()?;
        let has_covariance = self.market_caps.len() <= COVARIANCE_UP_TO_ASSETS;
        Ok(PosteriorReturns {
            posterior_returns: found.posterior_returns,
            equilibrium_returns: found.equilibrium.implied_returns,
            market_weights: found.equilibrium.market_weights,
            riskless_weight: found.riskless_weight,
            optimal_weights: found.optimal_weights,
            posterior_covariance: has_covariance.then(|| found.posterior_covariance.into()),
            views: found.views.into_iter().map(Into::into).collect(),
            risk_aversion: self.risk_aversion,
            tau: self.tau,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.model()?.explain()
    }

    fn is_long(&self) -> bool {
        self.market_caps.len() > LONG_FROM_ASSETS
            || self.view_portfolios.as_ref().is_some_and(|views| views.len() > LONG_FROM_ASSETS)
    }

    fn wire_name(argument: &'static str) -> &'static str {
        match argument {
            "views" => "P",
            "view_returns" => "Q",
            "view_variances" => "omega",
            "view_confidences" => "confidences",
            same => same,
        }
    }
}

impl Example for Equilibrium {
    fn example() -> Self {
        Self {
            covariance_matrix: three_assets(),
            market_caps: vec![500.0, 300.0, 200.0].into(),
            risk_aversion: 2.5,
        }
    }
}

impl Example for Posterior {
    fn example() -> Self {
        let Equilibrium { covariance_matrix, market_caps, risk_aversion } = Equilibrium::example();
        Self {
            covariance_matrix,
            market_caps,
            risk_aversion,
            tau: 0.05,
            view_portfolios: Some(vec![vec![-1.0, 1.0, 0.0].into()]),
            view_returns: Some(vec![0.04].into()),
            omega: None,
            confidences: Some(vec![0.5].into()),
        }
    }
}

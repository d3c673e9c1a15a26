//! Contributions of assets to the risk of a portfolio.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    explanation::Explanation,
    portfolio::{Covariance, explain_risk_contributions, risk_contributions},
};

use super::{LONG_FROM_ASSETS, three_assets};
use crate::{
    api::quantlib::Computation,
    http::{Answer, Metered, Numbers, Tag},
};

/// The REST endpoints of risk contributions.
#[derive(Default)]
pub struct RiskDecomposition;

#[OpenApi(prefix_path = "/quantlib/portfolio/risk", tag = "Tag::Portfolio")]
impl RiskDecomposition {
    /// Divide the volatility of a portfolio among its assets.
    ///
    /// Each asset contributes its weight times the derivative of the volatility by it. The
    /// contributions, added up from first to last, are the volatility bit for bit, unless they
    /// cancel to far less than the largest of them.
    #[oai(path = "/contribution", method = "post", operation_id = "divide_portfolio_risk")]
    async fn contribution(&self, call: Metered<Contribution>) -> Result<Answer<Contributions>> {
        call.run().await
    }
}

/// A portfolio and the covariance of its assets.
#[derive(Clone, Debug, Object)]
#[oai(rename = "RiskContributionRequest", example)]
pub struct Contribution {
    /// Weight of each asset, of any sign and sum; 1 to 1,000 assets.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub weights: Numbers,
    /// Covariance of annual returns, a row per asset; symmetric, positive semi-definite.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub covariance_matrix: Vec<Numbers<1000>>,
}

/// The volatility of a portfolio, divided among its assets.
#[derive(Clone, Debug, Object)]
#[oai(rename = "RiskContributions")]
pub struct Contributions {
    /// Contribution of each asset, in the unit of the volatility; zeros where that is zero.
    pub contributions: Vec<f64>,
    /// The contributions again.
    pub risk_contributions: Vec<f64>,
    /// Derivative of the volatility by each weight.
    pub marginal_contributions: Vec<f64>,
    /// Part of the volatility that each asset contributes, 0.25 for 25 %; they sum to 1, bit for
    /// bit. Null where the volatility is zero.
    #[oai(nullable)]
    pub percentages: Option<Vec<f64>>,
    /// Standard deviation of the portfolio's annual return.
    pub volatility: f64,
    /// The volatility again.
    pub portfolio_volatility: f64,
    /// The contributions added up from first to last, bit for bit.
    pub total: f64,
}

impl Computation for Contribution {
    type Answer = Contributions;

    fn compute(&self) -> quant_core::Result<Contributions> {
        let covariance = Covariance::from_rows(&self.covariance_matrix)?;
        let found = risk_contributions(&self.weights, &covariance)?;
        Ok(Contributions {
            contributions: found.contributions.clone(),
            risk_contributions: found.contributions,
            marginal_contributions: found.marginal,
            percentages: found.shares,
            volatility: found.volatility,
            portfolio_volatility: found.volatility,
            total: found.total,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let covariance = Covariance::from_rows(&self.covariance_matrix)?;
        explain_risk_contributions(&self.weights, &covariance)
    }

    fn is_long(&self) -> bool {
        self.weights.len() > LONG_FROM_ASSETS
    }
}

impl Example for Contribution {
    fn example() -> Self {
        Self { weights: vec![0.5, 0.3, 0.2].into(), covariance_matrix: three_assets() }
    }
}

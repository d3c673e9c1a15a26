//! Risk-parity portfolios.

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    explanation::Explanation,
    portfolio::{self, Covariance, risk_parity},
};

use super::{LONG_FROM_ASSETS, three_assets};
use crate::{
    api::quantlib::Computation,
    http::{Answer, Metered, Numbers, Tag},
};

/// The REST endpoints of risk parity.
#[derive(Default)]
pub struct RiskParityPortfolios;

#[OpenApi(prefix_path = "/quantlib/portfolio", tag = "Tag::Portfolio")]
impl RiskParityPortfolios {
    /// Find the risk-parity portfolio.
    ///
    /// Long-only weights with which every asset contributes the same part of the risk, or the part
    /// that `budgets` gives. Refused where an asset, or a long-only portfolio, has no risk.
    #[oai(path = "/risk-parity", method = "post", operation_id = "find_risk_parity_portfolio")]
    async fn risk_parity(&self, call: Metered<RiskParity>) -> Result<Answer<RiskParityWeights>> {
        call.run().await
    }
}

/// The method that finds a risk-parity portfolio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
#[oai(rename = "RiskParityMethod", rename_all = "lowercase")]
pub enum ParityMethod {
    /// Newton's method on the convex formulation of Spinu, which reaches the same portfolio as
    /// sequential quadratic programming, to the last bits.
    Slsqp,
    /// Cyclical coordinate descent; Newton's method where the descent is too slow.
    Ccd,
    /// Newton's method on the convex formulation of Spinu.
    #[default]
    Newton,
}

/// Assets that are to contribute given parts of the risk.
#[derive(Clone, Debug, Object)]
#[oai(rename = "RiskParityRequest", example)]
pub struct RiskParity {
    /// Covariance of annual returns, a row per asset; symmetric, positive semi-definite; 1 to 1,000
    /// assets.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub covariance_matrix: Vec<Numbers<1000>>,
    /// The method; the answer names the one that reached the portfolio.
    #[oai(default)]
    pub method: ParityMethod,
    /// Part of the risk of each asset, positive; divided by their sum. Absent means equal parts.
    #[oai(nullable, validator(min_items = 1, max_items = 1000))]
    pub budgets: Option<Numbers>,
}

/// The risk-parity portfolio.
#[derive(Clone, Debug, Object)]
#[oai(rename = "RiskParityPortfolio")]
pub struct RiskParityWeights {
    /// Weight of each asset, above zero, in the order of the request; they sum to 1.
    pub weights: Vec<f64>,
    /// The weights again.
    pub risk_parity_weights: Vec<f64>,
    /// Standard deviation of the annual return.
    pub portfolio_volatility: f64,
    /// The volatility again.
    pub volatility: f64,
    /// Part of the portfolio's variance that each asset contributes.
    pub risk_shares: Vec<f64>,
    /// The parts that were asked for, which sum to 1.
    pub budgets: Vec<f64>,
    /// Largest difference of a share and its budget.
    pub residual: f64,
    /// The method that reached the portfolio: `newton` or `ccd`.
    pub method: ParityMethod,
    /// The number of Newton steps, or of sweeps over all assets.
    pub iterations: u32,
}

impl RiskParity {
    fn problem(&self) -> quant_core::Result<portfolio::RiskParity> {
        Ok(portfolio::RiskParity {
            covariance_matrix: Covariance::from_rows(&self.covariance_matrix)?,
            budgets: self.budgets.as_ref().map(Numbers::to_vec),
            method: match self.method {
                ParityMethod::Ccd => risk_parity::RiskParityMethod::CyclicalCoordinateDescent,
                ParityMethod::Slsqp | ParityMethod::Newton => risk_parity::RiskParityMethod::Newton,
            },
        })
    }
}

impl Computation for RiskParity {
    type Answer = RiskParityWeights;

    fn compute(&self) -> quant_core::Result<RiskParityWeights> {
        let found = self.problem()?.solve()?;
        Ok(RiskParityWeights {
            risk_parity_weights: found.weights.clone(),
            weights: found.weights,
            portfolio_volatility: found.volatility,
            volatility: found.volatility,
            risk_shares: found.shares,
            budgets: found.budgets,
            residual: found.residual,
            method: match found.method {
                risk_parity::RiskParityMethod::Newton => ParityMethod::Newton,
                risk_parity::RiskParityMethod::CyclicalCoordinateDescent => ParityMethod::Ccd,
            },
            iterations: found.iterations,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.problem()?.explain()
    }

    fn is_long(&self) -> bool {
        self.covariance_matrix.len() > LONG_FROM_ASSETS
    }
}

impl Example for RiskParity {
    fn example() -> Self {
        Self {
            covariance_matrix: three_assets(),
            method: ParityMethod::Newton,
            budgets: Some(vec![0.5, 0.25, 0.25].into()),
        }
    }
}

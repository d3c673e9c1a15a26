//! Bank regulation.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{explanation::Explanation, regulatory::capital_ratios};

use super::{Computation, example_answer};
use crate::http::{Answer, Metered, Tag};

/// The REST endpoints of capital ratios.
#[derive(Default)]
pub struct Regulatory;

#[OpenApi(prefix_path = "/quantlib/regulatory/basel", tag = "Tag::Regulatory")]
impl Regulatory {
    /// Compute Basel III capital ratios.
    ///
    /// Adequate means at least 4.5 % (common equity tier 1), 6 % (tier 1) and 8 % (total) of
    /// risk-weighted assets, decided on the decimal numbers as written, not on a rounded
    /// quotient.
    #[oai(path = "/capital-ratios", method = "post", operation_id = "compute_capital_ratios")]
    async fn capital_ratios(&self, call: Metered<Capital>) -> Result<Answer<CapitalRatios>> {
        call.run().await
    }
}

/// A bank's capital and what it stands against; all in one currency.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CapitalRatiosRequest", example)]
pub struct Capital {
    /// Common equity tier 1 capital; negative is accepted.
    pub cet1_capital: f64,
    /// Total tier 1 capital; negative is accepted.
    pub tier1_capital: f64,
    /// Total regulatory capital; negative is accepted.
    pub total_capital: f64,
    /// Total risk-weighted assets; positive.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub risk_weighted_assets: f64,
    /// Exposure measure for the leverage ratio; positive; absent means no leverage ratio.
    #[oai(nullable, validator(minimum(value = "0", exclusive)))]
    pub total_exposure: Option<f64>,
}

/// Capital ratios and whether they are adequate.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CapitalRatios", example)]
pub struct CapitalRatios {
    /// Common equity tier 1 capital over risk-weighted assets, a fraction.
    pub cet1_ratio: f64,
    /// Tier 1 capital over risk-weighted assets, a fraction.
    pub tier1_ratio: f64,
    /// Total capital over risk-weighted assets, a fraction.
    pub total_capital_ratio: f64,
    /// Tier 1 capital over total exposure, a fraction; present where the exposure was sent.
    #[oai(skip_serializing_if_is_none)]
    pub leverage_ratio: Option<f64>,
    /// True if the common equity tier 1 ratio is at least 4.5 %.
    pub cet1_adequate: bool,
    /// True if the tier 1 ratio is at least 6 %.
    pub tier1_adequate: bool,
    /// True if the total ratio is at least 8 %.
    pub total_adequate: bool,
    /// Common equity tier 1 capital less its minimum; negative is a shortfall. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub cet1_surplus: Option<f64>,
    /// Tier 1 capital less its minimum; negative is a shortfall. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub tier1_surplus: Option<f64>,
    /// Total capital less its minimum; negative is a shortfall. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub total_surplus: Option<f64>,
    /// Tier 1 capital less 3 % of the exposure. With `detail=full` where the exposure was sent.
    #[oai(skip_serializing_if_is_none)]
    pub leverage_surplus: Option<f64>,
    /// True if the leverage ratio is at least 3 %. With `detail=full` where the exposure was sent.
    #[oai(skip_serializing_if_is_none)]
    pub leverage_adequate: Option<bool>,
}

impl Capital {
    fn capital(&self) -> capital_ratios::Capital {
        capital_ratios::Capital {
            cet1_capital: self.cet1_capital,
            tier1_capital: self.tier1_capital,
            total_capital: self.total_capital,
            risk_weighted_assets: self.risk_weighted_assets,
            total_exposure: self.total_exposure,
        }
    }
}

impl Computation for Capital {
    type Answer = CapitalRatios;

    const HAS_FURTHER_FIELDS: bool = true;

    fn compute(&self) -> quant_core::Result<CapitalRatios> {
        let ratios = self.capital().ratios()?;
        Ok(CapitalRatios {
            cet1_ratio: ratios.cet1_ratio,
            tier1_ratio: ratios.tier1_ratio,
            total_capital_ratio: ratios.total_capital_ratio,
            leverage_ratio: ratios.leverage_ratio,
            cet1_adequate: ratios.cet1_adequate,
            tier1_adequate: ratios.tier1_adequate,
            total_adequate: ratios.total_adequate,
            cet1_surplus: None,
            tier1_surplus: None,
            total_surplus: None,
            leverage_surplus: None,
            leverage_adequate: None,
        })
    }

    fn compute_in_full(&self) -> quant_core::Result<CapitalRatios> {
        let surplus = self.capital().surplus()?;
        Ok(CapitalRatios {
            cet1_surplus: Some(surplus.cet1),
            tier1_surplus: Some(surplus.tier1),
            total_surplus: Some(surplus.total),
            leverage_surplus: surplus.leverage,
            leverage_adequate: surplus.leverage_adequate,
            ..self.compute()?
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.capital().explain_ratios()
    }
}

impl Example for Capital {
    fn example() -> Self {
        Self {
            cet1_capital: 45.0,
            tier1_capital: 62.5,
            total_capital: 95.0,
            risk_weighted_assets: 1000.0,
            total_exposure: Some(1500.0),
        }
    }
}

impl Example for CapitalRatios {
    fn example() -> Self {
        example_answer::<Capital>()
    }
}

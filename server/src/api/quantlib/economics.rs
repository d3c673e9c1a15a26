//! Demand and utility.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    economics::{ces, cobb_douglas},
    explanation::Explanation,
};

use super::{Computation, example_answer};
use crate::http::{Answer, Metered, Numbers, Tag};

/// The REST endpoints of demand and utility.
#[derive(Default)]
pub struct Economics;

#[OpenApi(prefix_path = "/quantlib/economics/equilibrium", tag = "Tag::Economics")]
impl Economics {
    /// Find the optimal bundle under Cobb–Douglas utility.
    ///
    /// Demand for two goods under `U = x1^alpha * x2^(1-alpha)` and the budget
    /// `p1*x1 + p2*x2 = income`: the share `alpha` of income is spent on good 1.
    #[oai(path = "/cobb-douglas", method = "post", operation_id = "find_cobb_douglas_demand")]
    async fn cobb_douglas(&self, call: Metered<CobbDouglas>) -> Result<Answer<CobbDouglasDemand>> {
        call.run().await
    }

    /// Find the optimal bundle under constant elasticity of substitution.
    ///
    /// Demand for two goods under `U = (w1*x1^rho + w2*x2^rho)^(1/rho)`. `rho = 0` is
    /// Cobb–Douglas, `rho` towards minus infinity is Leontief. Utility jumps at `rho = 0` unless the
    /// weights sum to 1: for every other `rho` the formula holds as written, and at 0 utility is
    /// `x1^(w1/W) * x2^(w2/W)` with `W = w1 + w2`.
    #[oai(path = "/ces", method = "post", operation_id = "find_ces_demand")]
    async fn ces(&self, call: Metered<Ces>) -> Result<Answer<CesDemand>> {
        call.run().await
    }
}

/// A consumer with Cobb–Douglas preferences over two goods.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CobbDouglasRequest", example)]
pub struct CobbDouglas {
    /// Share of income spent on good 1; from 0 to 1.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub alpha: f64,
    /// Income to spend, in any currency; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub income: f64,
    /// Prices of goods 1 and 2 in the same currency; each zero or more.
    #[oai(validator(min_items = 2, max_items = 2, minimum(value = "0")))]
    pub prices: Numbers,
}

/// The optimal bundle.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CobbDouglasDemand", example)]
pub struct CobbDouglasDemand {
    /// Quantities of goods 1 and 2.
    #[oai(validator(min_items = 2, max_items = 2))]
    pub demand: Vec<f64>,
    /// Utility of the bundle.
    pub utility: f64,
    /// Money spent on the bundle.
    pub expenditure: f64,
    /// Utility as a function of prices and income alone.
    pub indirect_utility: f64,
}

impl CobbDouglas {
    fn consumer(&self) -> cobb_douglas::CobbDouglas {
        let prices = pair(&self.prices);
        cobb_douglas::CobbDouglas { alpha: self.alpha, income: self.income, prices }
    }
}

impl Computation for CobbDouglas {
    type Answer = CobbDouglasDemand;

    fn compute(&self) -> quant_core::Result<CobbDouglasDemand> {
        let optimum = self.consumer().optimum()?;
        Ok(CobbDouglasDemand {
            demand: optimum.demand.to_vec(),
            utility: optimum.utility,
            expenditure: optimum.expenditure,
            indirect_utility: optimum.indirect_utility,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.consumer().explain()
    }
}

/// A consumer with constant elasticity of substitution between two goods.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CesRequest", example)]
pub struct Ces {
    /// Substitution parameter, (σ − 1)/σ for the elasticity σ; below 1.
    #[oai(validator(maximum(value = "1", exclusive)))]
    pub rho: f64,
    /// Weights of goods 1 and 2 in utility; each zero or more, not both zero.
    #[oai(validator(min_items = 2, max_items = 2, minimum(value = "0")))]
    pub weights: Numbers,
    /// Income to spend, in any currency; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub income: f64,
    /// Prices of goods 1 and 2 in the same currency; each zero or more.
    #[oai(validator(min_items = 2, max_items = 2, minimum(value = "0")))]
    pub prices: Numbers,
}

/// The optimal bundle.
#[derive(Clone, Debug, Object)]
#[oai(rename = "CesDemand", example)]
pub struct CesDemand {
    /// Quantities of goods 1 and 2.
    #[oai(validator(min_items = 2, max_items = 2))]
    pub demand: Vec<f64>,
    /// Utility of the bundle.
    pub utility: f64,
    /// Elasticity of substitution, 1/(1 − rho).
    pub elasticity_of_substitution: f64,
}

impl Ces {
    fn consumer(&self) -> ces::Ces {
        let (weights, prices) = (pair(&self.weights), pair(&self.prices));
        ces::Ces { rho: self.rho, weights, income: self.income, prices }
    }
}

impl Computation for Ces {
    type Answer = CesDemand;

    fn compute(&self) -> quant_core::Result<CesDemand> {
        let optimum = self.consumer().optimum()?;
        Ok(CesDemand {
            demand: optimum.demand.to_vec(),
            utility: optimum.utility,
            elasticity_of_substitution: optimum.elasticity_of_substitution,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.consumer().explain()
    }
}

/// Returns the two numbers of an array whose schema requires two.
fn pair(numbers: &[f64]) -> [f64; 2] {
    numbers.try_into().expect("the schema admits exactly two numbers")
}

impl Example for CobbDouglas {
    fn example() -> Self {
        Self { alpha: 0.25, income: 100.0, prices: vec![2.0, 5.0].into() }
    }
}

impl Example for CobbDouglasDemand {
    fn example() -> Self {
        example_answer::<CobbDouglas>()
    }
}

impl Example for Ces {
    fn example() -> Self {
        Self {
            rho: 0.5,
            weights: vec![0.5, 0.5].into(),
            income: 100.0,
            prices: vec![2.0, 5.0].into(),
        }
    }
}

impl Example for CesDemand {
    fn example() -> Self {
        example_answer::<Ces>()
    }
}

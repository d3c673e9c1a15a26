//! Expected returns that the market implies, and their revision by an investor's views.
//!
//! Returns are those beyond the riskless rate, annual decimals. Views are independent of each
//! other.

use super::assets::{Checked, at_least_one, expected_return, sharpe_ratio, variance, volatility};
use super::cholesky::Cholesky;
use super::covariance::Covariance;
use super::symmetric::{Symmetric, dot, sum};
use crate::arithmetic::without_negative_zero;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// A market in equilibrium: assets, their covariance and their sizes.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MarketEquilibrium {
    /// Covariance of the returns, annual: symmetric, positive semi-definite.
    pub covariance_matrix: Covariance,
    /// Market capitalisation of each asset, zero or more, in any unit.
    pub market_caps: Vec<f64>,
    /// Excess return that the market demands for a unit of variance; positive.
    pub risk_aversion: f64,
}

/// The returns that a market in equilibrium expects.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct EquilibriumReturns {
    /// Part of each asset in the market; they sum to 1.
    pub market_weights: Vec<f64>,
    /// Expected excess return of each asset, annual.
    pub implied_returns: Vec<f64>,
    /// Expected excess return of the market, annual.
    pub market_return: f64,
    /// Standard deviation of the market's return, annual.
    pub market_volatility: f64,
    /// Excess return of the market by its volatility; `None` where the volatility is zero.
    pub sharpe_ratio: Option<f64>,
}

/// A view on the excess return of a portfolio.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct View {
    /// Weight of each asset in the portfolio: one 1 for a view on an asset; weights that sum to 0
    /// for a view on a difference of returns.
    pub weights: Vec<f64>,
    /// Expected excess return of the portfolio, annual.
    pub expected_return: f64,
    /// The error of that expectation.
    pub uncertainty: Uncertainty,
}

/// The error of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Uncertainty {
    /// The variance of the equilibrium's own error, `τ pᵀΣp` (He and Litterman).
    #[default]
    Proportional,
    /// This variance, zero or more; zero for a certain view.
    Variance(f64),
    /// The variance that moves the expectation by this part of the distance from the equilibrium to
    /// the view, were the view the only one; above 0 and up to 1 (Idzorek).
    Confidence(f64),
}

/// A market in equilibrium, and views on some of its portfolios.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BlackLitterman {
    /// The market whose returns are revised.
    pub market: MarketEquilibrium,
    /// Variance of the equilibrium's error as a part of that of the returns; positive.
    pub tau: f64,
    /// The views; none for the equilibrium itself.
    pub views: Vec<View>,
}

/// Expected returns that combine an equilibrium with views.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PosteriorReturns {
    /// The equilibrium.
    pub equilibrium: EquilibriumReturns,
    /// Expected excess return of each asset, annual.
    pub posterior_returns: Vec<f64>,
    /// Covariance of the returns with the error of their expectation, annual.
    pub posterior_covariance: Covariance,
    /// Weights of the largest `wᵀμ − δ/2·wᵀΣ̄w`, without any bound.
    pub optimal_weights: Vec<f64>,
    /// The part of 1 that the optimal weights leave; negative for a loan.
    pub riskless_weight: f64,
    /// The effects of the views, in their order.
    pub views: Vec<ViewEffect>,
}

/// A view beside the equilibrium and the posterior.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ViewEffect {
    /// Variance of the view's error.
    pub variance: f64,
    /// Excess return of the view's portfolio in the equilibrium, annual.
    pub implied_return: f64,
    /// Excess return of the view's portfolio in the posterior, annual.
    pub posterior_return: f64,
    /// Amount of the view's portfolio that the optimal weights hold beside the market.
    pub tilt: f64,
}

impl MarketEquilibrium {
    /// Returns the excess returns under which the market's own weights are optimal.
    ///
    /// ```text
    /// Π = δΣw,   wᵢ = cᵢ / Σcᵢ
    /// ```
    ///
    /// where δ is the risk aversion, Σ is the covariance and c are the market capitalisations.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`] without assets; [`Error::Shape`] for another number of capitalisations
    /// than of assets; [`Error::Element`] for a negative one or one that is not finite;
    /// [`Error::Sum`] where all are zero; [`Error::Domain`] for a risk aversion that is not
    /// positive; those of [`MinVariance::solve`](super::MinVariance::solve) for the covariance;
    /// [`Error::Overflow`] where a return exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::black_litterman::MarketEquilibrium;
    ///
    /// let market = MarketEquilibrium {
    ///     covariance_matrix: [[0.04, 0.01], [0.01, 0.09]].into(),
    ///     market_caps: vec![300.0, 100.0],
    ///     risk_aversion: 2.5,
    /// };
    /// let found = market.returns()?;
    /// assert_eq!(found.market_weights, [0.75, 0.25]);
    /// assert!((found.implied_returns[0] - 2.5 * 0.0325).abs() < 1e-16);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Black and Litterman (1992), "Global Portfolio Optimization"; Sharpe (1974), "Imputing
    /// Expected Security Returns from Portfolio Composition".
    pub fn returns(&self) -> Result<EquilibriumReturns> {
        self.check().map(|prior| prior.returns)
    }

    /// Explains [`returns`](Self::returns).
    ///
    /// # Errors
    ///
    /// The errors of [`returns`](Self::returns).
    pub fn explain(&self) -> Result<Explanation> {
        let found = self.returns()?;
        let method = Method::new(
            "Reverse optimisation of the market portfolio",
            "Sharpe (1974), Imputing Expected Security Returns from Portfolio Composition; Black \
             and Litterman (1992), Global Portfolio Optimization",
        );
        Ok(Explanation::new(method, error("implied_returns", &found.implied_returns))
            .with_conventions(MARKET))
    }

    fn check(&self) -> Result<Prior> {
        at_least_one(&self.covariance_matrix)?;
        check::length("market_caps", self.market_caps.len(), self.covariance_matrix.size())?;
        let requirement = "zero or a positive finite number";
        check::each("market_caps", &self.market_caps, requirement, |cap| {
            cap.is_finite() && cap >= 0.0
        })?;
        check::positive("risk_aversion", self.risk_aversion)?;
        let largest = self.market_caps.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            let (argument, requirement) = ("market_caps", "more than 0");
            return Err(Error::Sum { argument, sum: 0.0, requirement });
        }
        let Checked { covariance, exponent, .. } =
            Checked::new(&self.covariance_matrix, None, None)?;
        // A power of two keeps the sum within the range of a double.
        let (_, size) = libm::frexp(largest);
        let caps: Vec<f64> = self.market_caps.iter().map(|cap| libm::scalbn(*cap, -size)).collect();
        let total = sum(caps.iter().copied());
        let weights = caps.iter().map(|cap| without_negative_zero(cap / total)).collect();
        Prior::new(weights, covariance, exponent, self.risk_aversion)
    }
}

/// The equilibrium, with the covariance that is scaled by `2^−exponent`.
struct Prior {
    returns: EquilibriumReturns,
    covariance: Symmetric,
    exponent: i32,
}

impl Prior {
    fn new(
        market_weights: Vec<f64>,
        covariance: Symmetric,
        exponent: i32,
        risk_aversion: f64,
    ) -> Result<Self> {
        let implied = |asset| {
            let product = dot(covariance.row(asset), &market_weights);
            check::result("risk_aversion", libm::scalbn(risk_aversion * product, exponent))
        };
        let implied_returns =
            (0..market_weights.len()).map(implied).collect::<Result<Vec<f64>>>()?;
        let market_return = expected_return(&market_weights, &implied_returns)?;
        let market_volatility = volatility(&market_weights, &covariance, exponent)?;
        let sharpe_ratio = sharpe_ratio(market_return, market_volatility, 0.0)?;
        let returns = EquilibriumReturns {
            market_weights,
            implied_returns,
            market_return,
            market_volatility,
            sharpe_ratio,
        };
        Ok(Self { returns, covariance, exponent })
    }
}

impl BlackLitterman {
    /// Returns the expected returns that the views leave of the equilibrium's, with their
    /// covariance and the optimal weights.
    ///
    /// ```text
    /// μ = Π + τΣPᵀ(τPΣPᵀ + Ω)⁻¹(Q − PΠ)
    /// Σ̄ = Σ + τΣ − τΣPᵀ(τPΣPᵀ + Ω)⁻¹PτΣ
    /// w = (δΣ̄)⁻¹μ = (w₀ + Pᵀλ)/(1 + τ),   λ = (Ω + τ/(1+τ)·PΣPᵀ)⁻¹(τQ − τ/(1+τ)·PΠ)/δ
    /// ```
    ///
    /// where Π are the equilibrium's returns and w₀ its weights, the rows of P are the portfolios
    /// of the views, Q their returns and Ω the diagonal of the variances of their errors. The
    /// second form of the weights needs no inverse of Σ, which may be singular.
    ///
    /// - Without views μ is Π, and the weights are `w₀/(1 + τ)`: the error of the expectation is a
    ///   risk.
    /// - A view times a number is the same view.
    ///
    /// # Errors
    ///
    /// Those of [`MarketEquilibrium::returns`]; [`Error::Domain`] for τ that is not positive;
    /// [`Error::Element`] with the position of a view that has another number of weights or only
    /// zeros (`views`), or a number out of range (`view_returns`, `view_variances`,
    /// `view_confidences`); [`Error::Conflict`] where certain views determine a return twice, or
    /// one that has no risk; [`Error::Overflow`] where a result exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::black_litterman::*;
    ///
    /// let market = MarketEquilibrium {
    ///     covariance_matrix: [[0.04, 0.01], [0.01, 0.09]].into(),
    ///     market_caps: vec![300.0, 100.0],
    ///     risk_aversion: 2.5,
    /// };
    /// let uncertainty = Uncertainty::Confidence(0.5);
    /// let view = View { weights: vec![-1.0, 1.0], expected_return: 0.05, uncertainty };
    /// let found = BlackLitterman { market, tau: 0.05, views: vec![view] }.posterior()?;
    /// // Half of the way from the equilibrium's −0.00625 to 0.05.
    /// assert!((found.posterior_returns[1] - found.posterior_returns[0] - 0.021875).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// He and Litterman (1999), "The Intuition Behind Black–Litterman Model Portfolios", appendix
    /// B; Idzorek (2005), "A Step-by-Step Guide to the Black–Litterman Model"; Walters (2014), "The
    /// Black–Litterman Model in Detail".
    pub fn posterior(&self) -> Result<PosteriorReturns> {
        let prior = self.market.check()?;
        check::positive("tau", self.tau)?;
        let views = Views::new(self, &prior)?;
        let posterior_returns = views.returns(self.tau)?;
        let (optimal_weights, tilts) = views.weights(self.tau, self.market.risk_aversion)?;
        let posterior_covariance = views.covariance(self.tau)?;
        let views = views.effects(&posterior_returns, &tilts)?;
        let equilibrium = prior.returns;
        let invested = optimal_weights.iter().copied();
        let riskless_weight =
            check::result("views", sum(invested.map(|weight| -weight).chain([1.0])))?;
        Ok(PosteriorReturns {
            equilibrium,
            posterior_returns,
            posterior_covariance,
            optimal_weights,
            riskless_weight,
            views,
        })
    }
}

/// States the rounding of a list of returns.
fn error(quantity: &'static str, returns: &[f64]) -> ErrorStatement {
    let largest = returns.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let how = "in units of the largest return; largest error against mixed estimation in mpmath";
    ErrorStatement::rounding_within(quantity, RETURN_ERROR * largest, how)
}

/// The error of a return, in units of the largest.
const RETURN_ERROR: f64 = 2e-14;

/// The assumptions of the equilibrium.
const MARKET: [&str; 3] = [
    "Market weights are capitalisations by their sum.",
    "Returns are those beyond the riskless rate, in the period of the covariance.",
    "The risk aversion is the market's excess return by its variance.",
];

impl BlackLitterman {
    /// Explains [`posterior`](Self::posterior).
    ///
    /// # Errors
    ///
    /// The errors of [`posterior`](Self::posterior).
    pub fn explain(&self) -> Result<Explanation> {
        let found = self.posterior()?;
        let method = Method::new(
            "Black–Litterman model, with a posterior covariance",
            "He and Litterman (1999), The Intuition Behind Black–Litterman Model Portfolios, \
             appendix B",
        );
        let has =
            |kind: fn(&Uncertainty) -> bool| self.views.iter().any(|view| kind(&view.uncertainty));
        let proportional = has(|kind| matches!(kind, Uncertainty::Proportional)).then_some(
            "The variance of a view is that of its portfolio in the equilibrium's error, tau p'Sp.",
        );
        let confidence = has(|kind| matches!(kind, Uncertainty::Confidence(_))).then_some(
            "A confidence is the part of the way from the equilibrium to the view (Idzorek 2005).",
        );
        let none = "There are no views: the returns are those of the equilibrium.";
        Ok(Explanation::new(method, error("posterior_returns", &found.posterior_returns))
            .with_conventions(MARKET)
            .with_conventions([
                "Errors of views are independent of each other.",
                "The covariance of the answer is that of the returns and of the error of their mean.",
                "Optimal weights have no bounds; what they leave of 1 is lent at the riskless rate.",
            ])
            .with_conventions(proportional)
            .with_conventions(confidence)
            .with_conventions(self.views.is_empty().then_some(none)))
    }
}

/// The views of a problem, each scaled by a power of two to a largest weight near 1.
struct Views<'a> {
    prior: &'a Prior,
    /// P, row by row.
    rows: Vec<Vec<f64>>,
    /// Powers of two of the original rows.
    sizes: Vec<i32>,
    /// PΣ, row by row, with the scaled covariance.
    products: Vec<Vec<f64>>,
    /// PΣPᵀ, with the scaled covariance.
    square: Vec<Vec<f64>>,
    /// Ω, with the scale of the covariance.
    variances: Vec<f64>,
    /// Q.
    targets: Vec<f64>,
    /// The factor of `τPΣPᵀ + Ω`.
    factor: Cholesky,
}

impl<'a> Views<'a> {
    fn new(problem: &BlackLitterman, prior: &'a Prior) -> Result<Self> {
        let size = prior.returns.market_weights.len();
        for (index, view) in problem.views.iter().enumerate() {
            view.check(index, size)?;
        }
        let sizes: Vec<i32> = problem.views.iter().map(View::size).collect();
        let views = problem.views.iter().zip(&sizes);
        let scaled = |(view, size): (&View, &i32)| {
            view.weights.iter().map(|weight| libm::scalbn(*weight, -size)).collect()
        };
        let rows: Vec<Vec<f64>> = views.clone().map(scaled).collect();
        let targets = views.clone().map(|(view, size)| libm::scalbn(view.expected_return, -size));
        let targets =
            targets.map(|target| check::result("views", target)).collect::<Result<_>>()?;
        // A portfolio without risk, to rounding, has no covariance with any asset.
        let product = |row: &Vec<f64>| match variance(row, &prior.covariance) {
            0.0 => vec![0.0; size],
            _ => (0..size).map(|asset| dot(prior.covariance.row(asset), row)).collect::<Vec<f64>>(),
        };
        let products: Vec<Vec<f64>> = rows.iter().map(product).collect();
        let square: Vec<Vec<f64>> = products
            .iter()
            .map(|product| rows.iter().map(|row| dot(product, row)).collect())
            .collect();
        let own_variance = |(index, (view, size)): (usize, (&View, &i32))| {
            let of_prior = problem.tau * square[index][index].max(0.0);
            let own = |variance: f64| libm::scalbn(variance, -2 * size - prior.exponent);
            check::result(
                "views",
                match view.uncertainty {
                    Uncertainty::Proportional => of_prior,
                    Uncertainty::Variance(variance) => own(variance),
                    Uncertainty::Confidence(part) => of_prior * ((1.0 - part) / part),
                },
            )
        };
        let variances = views.enumerate().map(own_variance).collect::<Result<Vec<f64>>>()?;
        let factor = factor(&square, problem.tau, &variances)?;
        Ok(Self { prior, rows, sizes, products, square, variances, targets, factor })
    }

    /// The difference `Q − PΠ`, summed in twice the precision.
    fn surprises(&self) -> Vec<f64> {
        let rows = self.rows.iter().zip(&self.targets);
        rows.map(|(row, target)| {
            let mut row = row.clone();
            row.push(-target);
            let implied = self.prior.returns.implied_returns.iter().copied().chain([1.0]);
            -dot(&row, &implied.collect::<Vec<f64>>())
        })
        .collect()
    }

    /// Returns `Π + τΣPᵀx` with the solution x for the surprises.
    fn returns(&self, tau: f64) -> Result<Vec<f64>> {
        let mut amounts = self.surprises();
        self.factor.solve(&mut amounts);
        let implied = self.prior.returns.implied_returns.iter().enumerate();
        let revised = implied.map(|(asset, implied)| {
            let of_asset: Vec<f64> = self.products.iter().map(|product| product[asset]).collect();
            check::result("views", implied + tau * dot(&of_asset, &amounts))
        });
        revised.collect()
    }

    /// Returns `Σ + τΣ − τ²YᵀY` with `Y = U⁻ᵀPΣ` for the factor U.
    fn covariance(&self, tau: f64) -> Result<Covariance> {
        let size = self.prior.returns.market_weights.len();
        let column = |asset: usize| {
            let mut column: Vec<f64> = self.products.iter().map(|product| product[asset]).collect();
            self.factor.solve_lower(&mut column);
            column
        };
        let columns: Vec<Vec<f64>> = (0..size).map(column).collect();
        let element = |row: usize, column: usize| {
            let prior = self.prior.covariance.row(row)[column];
            let gained = tau * (tau * dot(&columns[row], &columns[column]));
            let value = prior + (tau * prior - gained);
            check::result("covariance_matrix", libm::scalbn(value, self.prior.exponent))
        };
        let row = |row| (0..size).map(|column| element(row, column)).collect::<Result<Vec<f64>>>();
        Covariance::from_rows(&(0..size).map(row).collect::<Result<Vec<_>>>()?)
    }

    /// Returns the optimal weights and the amount of each view in them.
    fn weights(&self, tau: f64, risk_aversion: f64) -> Result<(Vec<f64>, Vec<f64>)> {
        let part = tau / (1.0 + tau);
        let market = &self.prior.returns.market_weights;
        let unit = |value: f64| libm::scalbn(value / risk_aversion, -self.prior.exponent);
        let views = self.products.iter().zip(&self.targets);
        let mut amounts: Vec<f64> = views
            .map(|(product, target)| tau * unit(*target) - part * dot(product, market))
            .collect();
        factor(&self.square, part, &self.variances)?.solve(&mut amounts);
        amounts.iter_mut().for_each(|amount| *amount /= 1.0 + tau);
        let weight = |(asset, weight): (usize, &f64)| {
            let of_asset: Vec<f64> = self.rows.iter().map(|row| row[asset]).collect();
            check::result("views", weight / (1.0 + tau) + dot(&of_asset, &amounts))
        };
        let weights = market.iter().enumerate().map(weight).collect::<Result<_>>()?;
        Ok((weights, amounts))
    }

    fn effects(&self, posterior_returns: &[f64], amounts: &[f64]) -> Result<Vec<ViewEffect>> {
        let finite = |value, power| check::result("views", libm::scalbn(value, power));
        let effect = |index: usize| {
            let (row, size) = (&self.rows[index], self.sizes[index]);
            Ok(ViewEffect {
                variance: finite(self.variances[index], 2 * size + self.prior.exponent)?,
                implied_return: finite(dot(row, &self.prior.returns.implied_returns), size)?,
                posterior_return: finite(dot(row, posterior_returns), size)?,
                tilt: finite(amounts[index], -size)?,
            })
        };
        (0..self.rows.len()).map(effect).collect()
    }
}

/// The pivot, as a part of its diagonal element, below which views are dependent.
const DEPENDENT: f64 = 1e-13;

/// Factors `part·PΣPᵀ + Ω`.
fn factor(square: &[Vec<f64>], part: f64, variances: &[f64]) -> Result<Cholesky> {
    let rows = square.iter().zip(variances).enumerate();
    let elements = rows.flat_map(|(index, (row, variance))| {
        let own = move |(column, product): (usize, &f64)| {
            part * product + if column == index { *variance } else { 0.0 }
        };
        row.iter().enumerate().map(own)
    });
    let elements = elements.map(|element| check::result("views", element));
    let matrix = Symmetric::from_elements(square.len(), elements.collect::<Result<_>>()?);
    let all: Vec<usize> = (0..square.len()).collect();
    let problem = "determine a return twice with certainty, or one that has no risk";
    Cholesky::of(&matrix, &all, 0.0, DEPENDENT)
        .map_err(|_| Error::Conflict { argument: "views", problem })
}

impl View {
    fn check(&self, index: usize, size: usize) -> Result<()> {
        let require = |holds: bool, argument, value, requirement| {
            let refused = Error::Element { argument, index, value, requirement };
            if holds { Ok(()) } else { Err(refused) }
        };
        let count = self.weights.len();
        require(count == size, "views", count as f64, "a list of one weight for each asset")?;
        let odd = self.weights.iter().copied().find(|weight| !weight.is_finite());
        require(odd.is_none(), "views", odd.unwrap_or_default(), "a list of finite weights")?;
        let is_held = self.weights.iter().any(|&weight| weight != 0.0);
        require(is_held, "views", 0.0, "a list with a weight other than zero")?;
        let target = self.expected_return;
        require(target.is_finite(), "view_returns", target, "a finite number")?;
        match self.uncertainty {
            Uncertainty::Proportional => Ok(()),
            Uncertainty::Variance(variance) => {
                let is_fit = variance.is_finite() && variance >= 0.0;
                require(is_fit, "view_variances", variance, "zero or a positive finite number")
            }
            Uncertainty::Confidence(part) => {
                let is_fit = part > 0.0 && part <= 1.0;
                require(is_fit, "view_confidences", part, "a number above 0 and up to 1")
            }
        }
    }

    /// The power of two of the largest weight.
    fn size(&self) -> i32 {
        let largest =
            self.weights.iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
        libm::frexp(largest).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// He and Litterman (1999), tables 1 and 2: Australia, Canada, France, Germany, Japan, the
    /// United Kingdom and the United States.
    fn seven_countries() -> MarketEquilibrium {
        let volatilities = [0.160, 0.203, 0.248, 0.271, 0.210, 0.200, 0.187];
        let below = [
            &[][..],
            &[0.488],
            &[0.478, 0.664],
            &[0.515, 0.655, 0.861],
            &[0.439, 0.310, 0.355, 0.354],
            &[0.512, 0.608, 0.783, 0.777, 0.405],
            &[0.491, 0.779, 0.668, 0.653, 0.306, 0.652],
        ];
        let correlation = |a: usize, b: usize| if a == b { 1.0 } else { below[a.max(b)][a.min(b)] };
        let element = |a: usize, b: usize| correlation(a, b) * (volatilities[a] * volatilities[b]);
        let rows: Vec<Vec<f64>> = (0..7).map(|a| (0..7).map(|b| element(a, b)).collect()).collect();
        MarketEquilibrium {
            covariance_matrix: Covariance::from_rows(&rows).unwrap(),
            market_caps: vec![1.6, 2.2, 5.2, 5.5, 11.6, 12.4, 61.5],
            risk_aversion: 2.5,
        }
    }

    /// Asserts that percentages are those printed, to the last printed digit.
    #[track_caller]
    fn assert_printed(found: &[f64], printed: [f64; 7]) {
        for (found, printed) in found.iter().zip(printed) {
            assert!((100.0 * found - printed).abs() <= 0.0501 + 0.02, "{found} {printed}");
        }
    }

    #[test]
    fn the_equilibrium_of_he_and_litterman_is_reproduced() {
        let found = seven_countries().returns().unwrap();
        assert_printed(&found.implied_returns, [3.9, 6.9, 8.4, 9.0, 4.3, 6.8, 7.6]);
        let variance = found.market_volatility * found.market_volatility;
        assert!((found.market_return - 2.5 * variance).abs() < 1e-16);
    }

    #[test]
    fn the_first_view_of_he_and_litterman_is_reproduced() {
        // Germany outperforms the rest of Europe by 5 %; table 4, with ω/τ = 0.021.
        let (france, britain) = (5.2 / 17.6, 12.4 / 17.6);
        let view = View {
            weights: vec![0.0, 0.0, -france, 1.0, 0.0, -britain, 0.0],
            expected_return: 0.05,
            uncertainty: Uncertainty::Proportional,
        };
        let problem = BlackLitterman { market: seven_countries(), tau: 0.05, views: vec![view] };
        let found = problem.posterior().unwrap();
        assert_printed(&found.posterior_returns, [4.3, 7.6, 9.3, 11.0, 4.5, 7.0, 8.1]);
        assert_printed(&found.optimal_weights, [1.5, 2.1, -4.0, 35.4, 11.0, -9.5, 58.6]);
        assert!((found.views[0].variance / 0.05 - 0.021).abs() < 5e-4, "{:?}", found.views);
        assert!((found.views[0].tilt - 0.302).abs() < 5e-4, "{:?}", found.views);
    }

    fn market(covariance: [[f64; 2]; 2]) -> MarketEquilibrium {
        MarketEquilibrium {
            covariance_matrix: covariance.into(),
            market_caps: vec![60.0, 40.0],
            risk_aversion: 2.5,
        }
    }

    fn view(weights: [f64; 2], expected_return: f64, uncertainty: Uncertainty) -> View {
        View { weights: weights.to_vec(), expected_return, uncertainty }
    }

    const COVARIANCE: [[f64; 2]; 2] = [[0.04, 0.01], [0.01, 0.09]];

    fn posterior(covariance: [[f64; 2]; 2], views: &[View]) -> Result<PosteriorReturns> {
        let (market, views) = (market(covariance), views.to_vec());
        BlackLitterman { market, tau: 0.05, views }.posterior()
    }

    #[test]
    fn without_views_the_posterior_is_the_equilibrium() {
        let found = posterior(COVARIANCE, &[]).unwrap();
        assert_eq!(found.posterior_returns, found.equilibrium.implied_returns);
        assert!((found.optimal_weights[0] - 0.6 / 1.05).abs() < 1e-16);
        let covariance = found.posterior_covariance.matrix()[(0, 1)];
        assert!((covariance - 0.0105).abs() < 1e-17);
    }

    #[test]
    fn a_certain_view_holds_and_a_view_of_equilibrium_changes_no_return() {
        let certain = view([0.0, 1.0], 0.2, Uncertainty::Variance(0.0));
        let found = posterior(COVARIANCE, std::slice::from_ref(&certain)).unwrap();
        assert!((found.posterior_returns[1] - 0.2).abs() < 1e-15);
        let full = view([0.0, 1.0], 0.2, Uncertainty::Confidence(1.0));
        assert_eq!(posterior(COVARIANCE, &[full]).unwrap(), found);
        let implied = found.equilibrium.implied_returns[0];
        let same = view([3.0, 0.0], 3.0 * implied, Uncertainty::Proportional);
        let found = posterior(COVARIANCE, &[same]).unwrap();
        assert!((found.posterior_returns[0] - implied).abs() < 1e-16);
    }

    #[test]
    fn a_view_times_a_number_is_the_same_view() {
        let of = |factor: f64| {
            let scaled = [-0.5 * factor, factor];
            let weak = view(scaled, 0.03 * factor, Uncertainty::Confidence(0.3));
            posterior(COVARIANCE, &[weak]).unwrap()
        };
        let (one, other) = (of(1.0), of(libm::scalbn(1.0, 300)));
        assert_eq!(one.posterior_returns, other.posterior_returns);
        assert_eq!(one.optimal_weights, other.optimal_weights);
    }

    #[test]
    fn singular_covariances_are_welcome() {
        let singular = [[0.04, 0.06], [0.06, 0.09]];
        let found =
            posterior(singular, &[view([1.0, 0.0], 0.2, Uncertainty::Proportional)]).unwrap();
        // Perfectly correlated assets move together.
        let moved: Vec<f64> = found
            .posterior_returns
            .iter()
            .zip(&found.equilibrium.implied_returns)
            .map(|(after, before)| after - before)
            .collect();
        assert!((moved[1] / moved[0] - 1.5).abs() < 1e-14, "{moved:?}");
        assert!(found.optimal_weights.iter().all(|weight| weight.is_finite()));
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_argument() {
        let certain =
            |expected_return| view([1.0, 0.0], expected_return, Uncertainty::Variance(0.0));
        let error = posterior(COVARIANCE, &[certain(0.1), certain(0.2)]).unwrap_err();
        assert_eq!((error.code(), error.argument()), ("conflict", Some("views")));
        let hedge = view([3.0, -2.0], 0.1, Uncertainty::Proportional);
        let error = posterior([[0.04, 0.06], [0.06, 0.09]], &[hedge]).unwrap_err();
        assert_eq!(error.argument(), Some("views"));
        for (bad, argument) in [
            (view([0.0, 0.0], 0.1, Uncertainty::Proportional), "views"),
            (view([1.0, f64::NAN], 0.1, Uncertainty::Proportional), "views"),
            (View { weights: vec![1.0], ..certain(0.1) }, "views"),
            (view([1.0, 0.0], f64::INFINITY, Uncertainty::Proportional), "view_returns"),
            (view([1.0, 0.0], 0.1, Uncertainty::Variance(-1.0)), "view_variances"),
            (view([1.0, 0.0], 0.1, Uncertainty::Confidence(0.0)), "view_confidences"),
        ] {
            let error = posterior(COVARIANCE, &[certain(0.1), bad]).unwrap_err();
            assert_eq!((error.argument(), error.index()), (Some(argument), Some(1)));
        }
        let refused = |market: MarketEquilibrium| market.returns().unwrap_err().argument();
        let of = |market_caps: Vec<f64>, risk_aversion| MarketEquilibrium {
            market_caps,
            risk_aversion,
            ..market(COVARIANCE)
        };
        assert_eq!(refused(of(vec![0.0, 0.0], 2.5)), Some("market_caps"));
        assert_eq!(refused(of(vec![1.0, -1.0], 2.5)), Some("market_caps"));
        assert_eq!(refused(of(vec![1.0], 2.5)), Some("market_caps"));
        assert_eq!(refused(of(vec![1.0, 1.0], 0.0)), Some("risk_aversion"));
        assert_eq!(refused(of(vec![1.0, 1.0], f64::NAN)), Some("risk_aversion"));
        assert!(of(vec![f64::MAX, f64::MAX], 2.5).returns().is_ok());
    }

    proptest! {
        /// The optimal weights satisfy `δΣ̄w = μ`, and the posterior lies between equilibrium and
        /// view.
        #[test]
        fn the_optimal_weights_satisfy_the_first_order_condition(
            size in 1_usize..=8,
            loads in prop::collection::vec(-0.4..0.4, 24),
            caps in prop::collection::vec(0.0..100.0, 8),
            picks in prop::collection::vec(-1.0..1.0, 16),
            targets in prop::collection::vec(-0.2..0.2, 2),
            count in 0_usize..=2,
            confidence in 0.05..0.95,
        ) {
            let element = |a: usize, b: usize| {
                let common: f64 = (0..3).map(|k| loads[3 * a + k] * loads[3 * b + k]).sum();
                common + if a == b { 0.01 } else { 0.0 }
            };
            let rows: Vec<Vec<f64>> =
                (0..size).map(|a| (0..size).map(|b| element(a, b)).collect()).collect();
            let market = MarketEquilibrium {
                covariance_matrix: Covariance::from_rows(&rows).unwrap(),
                market_caps: caps[..size].iter().map(|cap| cap + 0.01).collect(),
                risk_aversion: 2.5,
            };
            let kinds = [Uncertainty::Proportional, Uncertainty::Confidence(confidence)];
            let views: Vec<View> = (0..count)
                .map(|k| View {
                    weights: picks[8 * k..8 * k + size].iter().map(|pick| pick + 1.5).collect(),
                    expected_return: targets[k],
                    uncertainty: kinds[k],
                })
                .collect();
            let found =
                BlackLitterman { market, tau: 0.05, views: views.clone() }.posterior().unwrap();
            let covariance: Vec<Vec<f64>> = found.posterior_covariance.into();
            for (row, expected) in covariance.iter().zip(&found.posterior_returns) {
                let size: f64 =
                    row.iter().zip(&found.optimal_weights).map(|(x, w)| (x * w).abs()).sum();
                let gap = 2.5 * dot(row, &found.optimal_weights) - expected;
                prop_assert!(gap.abs() <= 1e-12 * (size + 1.0), "{gap:e}");
            }
            if let [effect] = &found.views[..] {
                let (low, high) = (effect.implied_return, views[0].expected_return);
                let (low, high) = (low.min(high) - 1e-14, low.max(high) + 1e-14);
                prop_assert!(low <= effect.posterior_return && effect.posterior_return <= high);
            }
        }
    }
}

//! The parts of a portfolio's value at risk that its factors contribute.
//!
//! Returns of the factors are jointly elliptical with the distribution of the portfolio. Their mean is
//! taken as zero, as in the delta-normal method: over days it is small beside the deviation. Not
//! modelled: factors whose effect on the portfolio is not linear.

use super::factors::{distinct, matched, unmatched};
use super::moments::{checked, volatility_distance};
use super::parametric::{Distribution, ParametricRisk};
use super::shrinkage::{deviations, ledoit_wolf};
use super::tail::{LOSSES, TailRisk};
use crate::arithmetic::{exact_parts::exact_parts, without_negative_zero};
use crate::explanation::{ErrorKind, ErrorStatement, Explanation, Method};
use crate::named::named;
use crate::portfolio::symmetric::dot;
use crate::{Error, Result, check};

/// The estimate of the covariance of the factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CovarianceEstimator {
    /// The sample covariance, with n − 1 in the denominator.
    #[default]
    Sample,
    /// The covariance of Ledoit and Wolf, shrunk towards a multiple of the identity.
    LedoitWolf,
}

named!(CovarianceEstimator, "covariance_estimator", Sample = "sample", LedoitWolf = "ledoit_wolf");

/// Factors with their returns and weights, and the tail to measure.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ComponentRisk {
    /// Returns of each factor, by name: at least two of each, and of all as many.
    pub returns_by_factor: Vec<(String, Vec<f64>)>,
    /// Weight of each factor, by name: its exposure as a fraction of the portfolio's value.
    pub weights: Vec<(String, f64)>,
    /// Distribution of the portfolio's return; normal or Student-t.
    pub distribution: Distribution,
    /// Estimate of the covariance.
    pub covariance_estimator: CovarianceEstimator,
    /// Probability that the loss does not exceed the value at risk; above 0.5 and below 1.
    pub confidence: f64,
    /// Value of the portfolio, in money; zero or positive.
    pub portfolio_value: f64,
}

/// The contribution of one factor. Values at risk are in money.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Component {
    /// Name of the factor.
    pub factor: String,
    /// Weight of the factor.
    pub weight: f64,
    /// Standard deviation of the factor's return, per period.
    pub volatility: f64,
    /// Change of the portfolio's value at risk per unit of the weight.
    pub marginal: f64,
    /// Part of the portfolio's value at risk, `weight · marginal`; negative for a hedge. The parts add up
    /// to the total bit for bit, in any order.
    pub component: f64,
    /// Part as a fraction of the total; zero where the total is zero.
    pub share: f64,
    /// Value at risk of the factor's position alone.
    pub standalone: f64,
    /// Value at risk of the portfolio less that of the portfolio without the factor.
    pub incremental: f64,
}

/// The value at risk of a portfolio with the contributions of its factors, in money.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Contributions {
    /// Value at risk and expected shortfall of the portfolio.
    pub risk: TailRisk,
    /// Standard deviation of the portfolio's return, per period.
    pub volatility: f64,
    /// Contributions, in the order of the factors.
    pub components: Vec<Component>,
    /// Sum of the standalone values at risk.
    pub undiversified: f64,
    /// Weight of the target of Ledoit and Wolf; zero for the sample covariance.
    pub shrinkage: f64,
}

impl ComponentRisk {
    /// Returns the value at risk of the portfolio and what each factor contributes to it.
    ///
    /// ```text
    /// VaR = k σ V,  σ² = wᵀΣw      marginalᵢ = k V (Σw)ᵢ/σ      componentᵢ = wᵢ · marginalᵢ
    /// incrementalᵢ = VaR − k V √(σ² − 2wᵢ(Σw)ᵢ + wᵢ²Σᵢᵢ)
    /// ```
    ///
    /// where k is the quantile of the [distribution](ParametricRisk::evaluate) in volatilities and V the value.
    /// A volatility that is only rounding of the factors' is zero, and so are then all contributions.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`] without factors or with fewer than two returns; [`Error::Text`], with the name, for
    /// a factor without weight, a weight without factor, a name that occurs twice, or a factor with
    /// more or fewer returns than the first; [`Error::Element`] and [`Error::Domain`] for a number out of its
    /// range; [`Error::Conflict`] for a Cornish–Fisher distribution; [`Error::Overflow`].
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::risk::{ComponentRisk, CovarianceEstimator, Distribution};
    ///
    /// let portfolio = ComponentRisk {
    ///     returns_by_factor: vec![
    ///         ("equity".to_owned(), vec![0.01, -0.02, 0.015]),
    ///         ("rates".to_owned(), vec![-0.001, 0.004, -0.002]),
    ///     ],
    ///     weights: vec![("equity".to_owned(), 0.6), ("rates".to_owned(), 0.4)],
    ///     distribution: Distribution::Normal,
    ///     covariance_estimator: CovarianceEstimator::Sample,
    ///     confidence: 0.99,
    ///     portfolio_value: 1e6,
    /// };
    /// let found = portfolio.contributions()?;
    /// let sum: f64 = found.components.iter().map(|part| part.component).sum();
    /// assert_eq!(sum, found.risk.value_at_risk);
    /// assert!(found.components[1].component < 0.0);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Jorion (2007), *Value at Risk*, chapter 7.
    pub fn contributions(&self) -> Result<Contributions> {
        let weights = self.checked_weights()?;
        check::not_negative("portfolio_value", self.portfolio_value)?;
        let covariance = self.covariance(&weights)?;
        let unit = self.of_volatility(1.0)?;
        let money = self.of_volatility(covariance.volatility)?.of_value(self.portfolio_value)?;
        let scale = unit.value_at_risk * self.portfolio_value;
        let sigma = covariance.volatility;
        let marginal = |with: f64| if sigma > 0.0 { with / sigma * scale } else { 0.0 };
        let parts: Vec<f64> = weights
            .iter()
            .zip(&covariance.with_portfolio)
            .map(|(weight, &with)| weight * marginal(with))
            .collect();
        let overflow = || Error::Overflow { argument: "weights" };
        let (parts, total) = exact_parts(&parts).ok_or_else(overflow)?;
        let mut components = Vec::with_capacity(parts.len());
        for (index, (factor, _)) in self.returns_by_factor.iter().enumerate() {
            let (weight, with) = (weights[index], covariance.with_portfolio[index]);
            let volatility = covariance.volatilities[index];
            let own = weight * volatility;
            let without = deviation_without(sigma, weight * with, own);
            let figure = |value: f64| check::result("weights", value);
            components.push(Component {
                factor: factor.clone(),
                weight: without_negative_zero(weight),
                volatility,
                marginal: figure(marginal(with))?,
                component: parts[index],
                share: figure(if total == 0.0 { 0.0 } else { parts[index] / total })?,
                standalone: figure(own.abs() * scale)?,
                incremental: figure((sigma - without) * scale)?,
            });
        }
        let undiversified = components.iter().map(|part| part.standalone).sum();
        Ok(Contributions {
            risk: TailRisk { value_at_risk: total, ..money },
            volatility: sigma,
            components,
            undiversified: check::result("weights", undiversified)?,
            shrinkage: covariance.shrinkage,
        })
    }

    /// Explains [`contributions`](Self::contributions).
    ///
    /// # Errors
    ///
    /// The errors of [`contributions`](Self::contributions).
    pub fn explain(&self) -> Result<Explanation> {
        let found = self.contributions()?;
        let degrees = (self.returns_by_factor[0].1.len() - 1) as f64;
        let kurtosis = match self.distribution {
            Distribution::StudentT { degrees_of_freedom: nu } if nu > 4.0 => Some(6.0 / (nu - 4.0)),
            Distribution::StudentT { .. } => None,
            _ => Some(0.0),
        };
        let quantity = "value_at_risk";
        let error = match kurtosis {
            Some(kurtosis) => ErrorStatement::estimated(
                ErrorKind::Sampling,
                quantity,
                found.risk.value_at_risk * volatility_distance((2.0 + kurtosis) / (4.0 * degrees)),
                "1.96 standard errors, which 95 of 100 samples do not exceed, of the logarithm of the \
                 volatility of independent returns, in money",
            ),
            None => ErrorStatement::rounding_within(
                quantity,
                COMPONENT_ERROR * found.undiversified,
                "rounding given the sample, whose volatility has no finite standard error below 4 \
                 degrees of freedom; of the sum of the standalone figures, against 50 digits",
            ),
        };
        let method = Method::new(
            "Component value at risk by Euler's division",
            "Jorion (2007), Value at Risk, chapter 7",
        );
        let estimator = match self.covariance_estimator {
            CovarianceEstimator::Sample => "The covariance is that of the sample, divisor n - 1.",
            CovarianceEstimator::LedoitWolf => {
                "The covariance, divisor n, is shrunk to a multiple of the identity (Ledoit, Wolf 2004)."
            }
        };
        Ok(Explanation::new(method, error).with_conventions(LOSSES).with_conventions([
            estimator,
            "Means of returns are taken as zero; the horizon is one period of the returns.",
            "A factor's incremental figure is the change when its position is closed.",
        ]))
    }

    /// Returns the weights in the order of the factors.
    fn checked_weights(&self) -> Result<Vec<f64>> {
        let factors = || self.returns_by_factor.iter().map(|(name, _)| name.as_str());
        let weighted = || self.weights.iter().map(|(name, _)| name.as_str());
        if self.returns_by_factor.is_empty() {
            return Err(Error::TooFew { argument: "returns_by_factor", needed: 1, found: 0 });
        }
        distinct("returns_by_factor", factors())?;
        distinct("weights", weighted())?;
        let missing = "a factor with a weight in `weights`";
        let weights = matched(factors(), &self.weights, "returns_by_factor", missing)?;
        let dummies: Vec<(String, f64)> = factors().map(|name| (name.to_owned(), 0.0)).collect();
        matched(weighted(), &dummies, "weights", "a factor with returns in `returns_by_factor`")?;
        check::each("weights", &weights, "a finite number", f64::is_finite)?;
        Ok(weights)
    }

    /// Returns the risk of a return of this volatility, as fractions.
    fn of_volatility(&self, volatility: f64) -> Result<TailRisk> {
        if let Distribution::CornishFisher { .. } = self.distribution {
            let problem =
                "must be normal or Student-t: an expansion by moments has no contributions";
            return Err(Error::Conflict { argument: "distribution", problem });
        }
        let (distribution, confidence) = (self.distribution, self.confidence);
        ParametricRisk { mean: 0.0, volatility, distribution, confidence, horizon: 1.0 }.evaluate()
    }

    fn covariance(&self, weights: &[f64]) -> Result<FactorCovariance> {
        let argument = "returns_by_factor";
        let expected = self.returns_by_factor[0].1.len();
        for (name, series) in &self.returns_by_factor {
            checked(argument, series)?;
            if series.len() != expected {
                return Err(unmatched(
                    argument,
                    name,
                    "a factor with as many returns as the first",
                ));
            }
        }
        if expected < 2 {
            return Err(Error::TooFew { argument, needed: 2, found: expected });
        }
        let returns: Vec<Vec<f64>> =
            self.returns_by_factor.iter().map(|(_, series)| series.clone()).collect();
        match self.covariance_estimator {
            CovarianceEstimator::Sample => FactorCovariance::of_sample(&returns, weights),
            CovarianceEstimator::LedoitWolf => FactorCovariance::of_shrunk(&returns, weights),
        }
    }
}

/// The figures of a covariance that the contributions need.
struct FactorCovariance {
    /// Covariance of each factor with the portfolio.
    with_portfolio: Vec<f64>,
    volatilities: Vec<f64>,
    /// Volatility of the portfolio, zero where it is only rounding of the factors'.
    volatility: f64,
    shrinkage: f64,
}

impl FactorCovariance {
    /// The sample covariance: that of each factor with the series of the portfolio's returns.
    fn of_sample(returns: &[Vec<f64>], weights: &[f64]) -> Result<Self> {
        let deviations = deviations("returns_by_factor", returns)?;
        let degrees = (deviations[0].len() - 1) as f64;
        let at = |time: usize| {
            let row: Vec<f64> = deviations.iter().map(|series| series[time]).collect();
            dot(weights, &row)
        };
        let portfolio: Vec<f64> = (0..deviations[0].len()).map(at).collect();
        let with_portfolio =
            deviations.iter().map(|series| dot(series, &portfolio) / degrees).collect();
        let variances = deviations.iter().map(|series| dot(series, series) / degrees).collect();
        Self::checked(
            weights,
            with_portfolio,
            variances,
            dot(&portfolio, &portfolio) / degrees,
            0.0,
        )
    }

    fn of_shrunk(returns: &[Vec<f64>], weights: &[f64]) -> Result<Self> {
        let in_terms_of_factors = |error: Error| error.renamed(|_| "returns_by_factor");
        let shrunk = ledoit_wolf(returns).map_err(in_terms_of_factors)?;
        let rows: Vec<Vec<f64>> = shrunk.covariance.into();
        let with_portfolio: Vec<f64> = rows.iter().map(|row| dot(row, weights)).collect();
        let variances = rows.iter().enumerate().map(|(index, row)| row[index]).collect();
        let variance = dot(weights, &with_portfolio);
        Self::checked(weights, with_portfolio, variances, variance, shrunk.intensity)
    }

    fn checked(
        weights: &[f64],
        with_portfolio: Vec<f64>,
        variances: Vec<f64>,
        variance: f64,
        shrinkage: f64,
    ) -> Result<Self> {
        let mut gross = 0.0;
        let mut volatilities = Vec::with_capacity(variances.len());
        for (weight, variance) in weights.iter().zip(variances) {
            let volatility = check::result("returns_by_factor", variance.sqrt())?;
            gross += weight.abs() * volatility;
            volatilities.push(volatility);
        }
        for covariance in &with_portfolio {
            check::result("weights", *covariance)?;
        }
        let volatility = check::result("weights", variance.max(0.0).sqrt())?;
        let is_rounding = volatility <= ROUNDING * check::result("weights", gross)?;
        let volatility = if is_rounding { 0.0 } else { volatility };
        Ok(Self { with_portfolio, volatilities, volatility, shrinkage })
    }
}

/// Returns the volatility of the portfolio without a factor, given that with the factor, the covariance of
/// the factor's position with the portfolio, and the position's own volatility.
fn deviation_without(volatility: f64, covariance: f64, own: f64) -> f64 {
    let gross = volatility * volatility + 2.0 * covariance.abs() + own * own;
    let variance = volatility * volatility - 2.0 * covariance + own * own;
    if variance > 4.0 * f64::EPSILON * gross { variance.sqrt() } else { 0.0 }
}

/// The error of a figure given the sample, in units of the standalone figures together.
const COMPONENT_ERROR: f64 = 5e-15;

/// The fraction of the weighted volatilities' sum below which the volatility of a portfolio is
/// a rounding error.
const ROUNDING: f64 = 1e-15;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::philox::uniforms;
    use proptest::prelude::*;

    fn named_list<T>(values: Vec<T>) -> Vec<(String, T)> {
        values.into_iter().enumerate().map(|(index, value)| (format!("f{index}"), value)).collect()
    }

    fn portfolio(returns: Vec<Vec<f64>>, weights: Vec<f64>) -> ComponentRisk {
        ComponentRisk {
            returns_by_factor: named_list(returns),
            weights: named_list(weights),
            distribution: Distribution::Normal,
            covariance_estimator: CovarianceEstimator::Sample,
            confidence: 0.99,
            portfolio_value: 1e6,
        }
    }

    fn valid() -> ComponentRisk {
        portfolio(vec![vec![0.01, -0.02, 0.015], vec![0.0, 0.01, 0.002]], vec![0.5, 0.5])
    }

    #[test]
    fn a_name_in_one_map_alone_is_named() {
        let refusal = |weights: &[(&str, f64)]| {
            let weights = weights.iter().map(|&(name, weight)| (name.to_owned(), weight)).collect();
            ComponentRisk { weights, ..valid() }.contributions().unwrap_err()
        };
        let text = |weights: &[(&str, f64)]| refusal(weights).to_string();
        assert_eq!(
            text(&[("f0", 1.0)]),
            "`returns_by_factor` is \"f1\", but must be a factor with a weight in `weights`"
        );
        assert_eq!(
            text(&[("f0", 1.0), ("f1", 1.0), ("oil", 1.0)]),
            "`weights` is \"oil\", but must be a factor with returns in `returns_by_factor`"
        );
        assert!(text(&[("f0", 1.0), ("f1", 1.0), ("f0", 1.0)]).contains("f0"));
        let short = portfolio(vec![vec![0.1, 0.2], vec![0.1]], vec![1.0, 1.0]);
        assert!(short.contributions().unwrap_err().to_string().contains("f1"));
    }

    #[test]
    fn refusals_name_the_argument() {
        #[rustfmt::skip]
        let rows = [
            (portfolio(vec![], vec![]),                                   "returns_by_factor"),
            (portfolio(vec![vec![0.1]], vec![1.0]),                       "returns_by_factor"),
            (portfolio(vec![vec![0.1, f64::NAN]], vec![1.0]),             "returns_by_factor"),
            (portfolio(vec![vec![0.1, 0.2]], vec![f64::INFINITY]),        "weights"),
            (portfolio(vec![vec![0.1, 0.2]], vec![1e308]),                "weights"),
            (ComponentRisk { confidence: 1.0, ..valid() },                "confidence"),
            (ComponentRisk { portfolio_value: -1.0, ..valid() },          "portfolio_value"),
            (ComponentRisk { distribution: Distribution::CornishFisher { skewness: 0.0, excess_kurtosis: 0.0 }, ..valid() }, "distribution"),
        ];
        for (portfolio, argument) in rows {
            let refused = portfolio.contributions().unwrap_err();
            assert_eq!(refused.argument(), Some(argument), "{refused}");
        }
    }

    #[test]
    fn a_hedged_portfolio_has_no_risk_and_no_contributions() {
        let series = vec![0.01, -0.02, 0.015];
        for estimator in CovarianceEstimator::ALL {
            let constant = ComponentRisk {
                covariance_estimator: *estimator,
                ..portfolio(vec![vec![0.1; 3], vec![0.2; 3]], vec![0.5, 0.5])
            };
            assert_eq!(constant.contributions().unwrap().risk.value_at_risk, 0.0);
        }
        let hedged =
            portfolio(vec![series.clone(), series], vec![0.7, -0.7]).contributions().unwrap();
        assert_eq!(hedged.risk.value_at_risk, 0.0);
        assert!(hedged.components.iter().all(|part| part.component == 0.0 && part.share == 0.0));
        assert!(hedged.undiversified > 0.0);
    }

    #[test]
    fn the_stated_sampling_error_is_that_of_95_samples_in_100() {
        let (weights, volatilities) = ([0.6, 0.7], [0.02, 0.01]);
        // Of independent factors with these volatilities.
        let exact = ComponentRisk { portfolio_value: 1e6, ..valid() }
            .of_volatility(libm::hypot(0.6 * 0.02, 0.7 * 0.01))
            .unwrap()
            .value_at_risk
            * 1e6;
        let is_covered = |seed: u64| {
            let draws: Vec<f64> = uniforms(seed).take(500).collect();
            let series = |(draws, volatility): (&[f64], f64)| {
                let normal =
                    |u: &f64| -volatility * Distribution::Normal.loss_quantile(*u).unwrap();
                draws.iter().map(normal).collect()
            };
            let returns = draws.chunks(250).zip(volatilities).map(series).collect();
            let portfolio = portfolio(returns, weights.to_vec());
            let stated = portfolio.explain().unwrap().error;
            assert_eq!((stated.kind, stated.is_bound), (ErrorKind::Sampling, false));
            let found = portfolio.contributions().unwrap().risk.value_at_risk;
            u32::from((found - exact).abs() <= stated.estimate)
        };
        let covered: u32 = (1..=300).map(is_covered).sum();
        assert!(covered >= 285, "{covered}");
    }

    proptest! {
        #[test]
        fn contributions_add_up_to_the_total_bit_for_bit(
            returns in prop::collection::vec(prop::collection::vec(-0.1..0.1_f64, 12), 1..20),
            weight in -2.0..2.0_f64, is_shrunk: bool, degrees in 2.1..50.0_f64,
        ) {
            let weights = (0..returns.len()).map(|i| weight + 0.1 * i as f64).collect();
            let covariance_estimator =
                if is_shrunk { CovarianceEstimator::LedoitWolf } else { CovarianceEstimator::Sample };
            let distribution = Distribution::StudentT { degrees_of_freedom: degrees };
            let portfolio = ComponentRisk { covariance_estimator, distribution, ..portfolio(returns, weights) };
            let found = portfolio.contributions().unwrap();
            let forth: f64 = found.components.iter().map(|part| part.component).sum();
            let back: f64 = found.components.iter().rev().map(|part| part.component).sum();
            prop_assert_eq!((forth, back), (found.risk.value_at_risk, found.risk.value_at_risk));
            let expected = portfolio.of_volatility(found.volatility).unwrap().value_at_risk * 1e6;
            prop_assert!((forth - expected).abs() <= 1e-12 * found.undiversified);
            prop_assert!(found.risk.value_at_risk <= found.undiversified * (1.0 + 1e-12));
        }
    }
}

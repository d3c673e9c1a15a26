//! Long-only portfolios whose assets contribute given parts of the risk.
//!
//! The portfolio is the minimum of a strictly convex function, which Newton's method with an exact
//! line search finds from every start, and so does cyclical coordinate descent. Not modelled:
//! bounds on the weights, short positions.

use super::active_set::Problem;
use super::assets::{Checked, at_least_one, semi_definite, variance, volatility};
use super::cholesky::Cholesky;
use super::covariance::Covariance;
use super::symmetric::{Symmetric, dot, inner, sum};
use crate::explanation::{ErrorKind, ErrorStatement, Explanation, Method};
use crate::named::named;
use crate::{Error, Result, check};

/// The largest relative error of a contribution that is accepted, beside rounding.
const TOLERANCE: f64 = 1e-12;
/// The rounding error of a contribution, in units of the sizes of its terms.
const ROUNDING: f64 = 8.881_784_197_001_252e-16;
/// The error below which steps that gain less than half of the error end the iteration.
const NEAR: f64 = 1e-8;
/// The number of Newton steps, and of sweeps over all assets, after which the methods stop.
const MAX_STEPS: u32 = 200;
const MAX_SWEEPS: u32 = 2000;
/// The number of sweeps that bring a Newton iteration near the solution.
const FIRST_SWEEPS: u32 = 3;
/// The number of halvings of a line search, for the bits of a double.
const HALVINGS: u32 = 53;

/// The numerical method that finds a risk-parity portfolio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RiskParityMethod {
    /// Newton's method on Spinu's convex function, a few steps of n³/3 operations.
    #[default]
    Newton,
    /// One asset at a time, n² operations for a sweep over all assets.
    CyclicalCoordinateDescent,
}

named!(RiskParityMethod, "method", Newton = "newton", CyclicalCoordinateDescent = "ccd");

/// Assets, their covariance, and the parts of the risk that they are to contribute.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RiskParity {
    /// Covariance of the returns, annual: symmetric, positive semi-definite.
    pub covariance_matrix: Covariance,
    /// Part of the risk of each asset, positive, in any unit: the parts are divided by their sum.
    /// `None` for equal parts.
    pub budgets: Option<Vec<f64>>,
    /// The method to start with.
    pub method: RiskParityMethod,
}

/// A portfolio whose assets contribute given parts of its risk.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RiskParityPortfolio {
    /// Weight of each asset, positive, in the order of the input; they sum to 1.
    pub weights: Vec<f64>,
    /// Standard deviation of the return, annual.
    pub volatility: f64,
    /// The part of the variance that each asset contributes.
    pub shares: Vec<f64>,
    /// The parts that were asked for, which sum to 1.
    pub budgets: Vec<f64>,
    /// Largest difference of a share and its budget.
    pub residual: f64,
    /// The method that reached the solution.
    pub method: RiskParityMethod,
    /// The number of Newton steps, or of sweeps over all assets.
    pub iterations: u32,
}

impl RiskParity {
    /// Returns the long-only portfolio whose assets contribute the budgeted parts of the variance.
    ///
    /// ```text
    /// wᵢ(Σw)ᵢ = bᵢ wᵀΣw,   Σwᵢ = 1,   wᵢ > 0
    /// w = y/Σyᵢ   with y the minimum of   ½ yᵀΣy − Σ bᵢ ln yᵢ
    /// ```
    ///
    /// where Σ is the covariance and b are the budgets, which sum to 1. The minimum is unique, also
    /// for a singular covariance, and exists unless a long-only portfolio has no risk.
    ///
    /// - Coordinate descent converges slowly where correlations are near 1. Where it has not
    ///   reached the tolerance in 2,000 sweeps, Newton steps follow, and the result names Newton's
    ///   method.
    /// - Σ times a constant has the same portfolio.
    /// - Accepted is a share within 1e-12 of its budget, relative, and the rounding of its terms.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`] without assets; [`Error::Shape`] where the number of budgets differs from
    /// that of the assets; [`Error::Element`] for a number that is not finite, a budget of zero or
    /// less, and an asset of volatility zero, or below 1e-60 of the largest; [`Error::Asymmetric`]
    /// and [`Error::NotPositiveSemiDefinite`] as [`MinVariance::solve`](super::MinVariance::solve);
    /// [`Error::Conflict`] where a long-only portfolio has no risk; [`Error::NoConvergence`] where
    /// rounding prevents the tolerance.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::risk_parity::{RiskParity, RiskParityMethod};
    ///
    /// let portfolio = RiskParity {
    ///     covariance_matrix: [[0.04, 0.02], [0.02, 0.16]].into(),
    ///     budgets: None,
    ///     method: RiskParityMethod::Newton,
    /// }
    /// .solve()?;
    /// // Two assets are held in inverse proportion to their volatilities, 0.2 and 0.4.
    /// assert!((portfolio.weights[0] - 2.0 / 3.0).abs() < 1e-15);
    /// assert!(portfolio.residual < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Spinu (2013), "An Algorithm for Computing Risk Parity Weights"; Griveau-Billion, Richard and
    /// Roncalli (2013), "A Fast Algorithm for Computing High-dimensional Risk Parity Portfolios";
    /// Maillard, Roncalli and Teïletche (2010), "The Properties of Equally Weighted Risk
    /// Contribution Portfolios".
    pub fn solve(&self) -> Result<RiskParityPortfolio> {
        at_least_one(&self.covariance_matrix)?;
        let Checked { covariance, exponent, .. } =
            Checked::new(&self.covariance_matrix, None, None)?;
        let budgets = self.budgets(covariance.size())?;
        let (balanced, exponents) = balanced(&covariance)?;
        refuse_riskless(&balanced)?;
        let search = ParitySearch { covariance: &balanced, budgets: &budgets };
        let (amounts, method, iterations) = search.run(self.method)?;
        let weights = weights(&amounts, &exponents);
        let volatility = volatility(&weights, &covariance, exponent)?;
        let of_weights = ParitySearch { covariance: &covariance, budgets: &budgets };
        let shares = of_their_sum(&of_weights.contributions(&weights));
        let errors = shares.iter().zip(&budgets).map(|(share, budget)| (share - budget).abs());
        let residual = errors.fold(0.0, f64::max);
        Ok(RiskParityPortfolio {
            weights,
            volatility,
            shares,
            budgets,
            residual,
            method,
            iterations,
        })
    }

    /// Explains [`solve`](Self::solve).
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve).
    pub fn explain(&self) -> Result<Explanation> {
        let found = self.solve()?;
        let method = match found.method {
            RiskParityMethod::Newton => Method::new(
                "Newton's method for the convex function of risk parity, with an exact line search",
                "Spinu (2013), An Algorithm for Computing Risk Parity Weights",
            ),
            RiskParityMethod::CyclicalCoordinateDescent => Method::new(
                "Cyclical coordinate descent for the convex function of risk parity",
                "Griveau-Billion, Richard and Roncalli (2013), A Fast Algorithm for Computing \
                 High-dimensional Risk Parity Portfolios",
            ),
        };
        let how = "residual of the shares, and rounding of the variance's terms, over the smallest \
                   eigenvalue that the second derivatives can have; relative, of each weight";
        let estimate = self.error_of_weights(&found);
        let error =
            ErrorStatement::estimated(ErrorKind::Iteration, "weights", estimate, how).relative();
        let changed = "Coordinate descent had not reached the tolerance: Newton steps followed.";
        Ok(Explanation::new(method, error)
            .with_conventions([
                "Weights are positive, sum to 1 and have no further bounds.",
                "The covariance is used as it is, without shrinkage; its period is that of every figure.",
                "A contribution to risk is the weight times the covariance with the portfolio.",
            ])
            .with_conventions(self.budgets.is_none().then_some("The budgets are equal."))
            .with_conventions((found.method != self.method).then_some(changed))
            .with_steps(found.iterations))
    }

    /// Returns the relative error of the weights that the residual and rounding leave.
    ///
    /// In the variables `√bᵢ·δᵢ` of relative changes δ the second derivatives are the identity and a
    /// semi-definite matrix, so that the changes are no longer than the residuals `(bᵢ − sᵢ)/√bᵢ`.
    fn error_of_weights(&self, found: &RiskParityPortfolio) -> f64 {
        let (matrix, weights) = (self.covariance_matrix.matrix(), &found.weights);
        let row = |(column, weight): (nalgebra::DVectorView<'_, f64>, &f64)| {
            let terms = column.iter().zip(weights).map(|(element, other)| (element * other).abs());
            weight * terms.sum::<f64>()
        };
        let gross: f64 = matrix.column_iter().zip(weights).map(row).sum();
        let rounding = 2.0 * ROUNDING * gross / (found.volatility * found.volatility);
        let parts = found.shares.iter().zip(&found.budgets);
        let squares = parts.map(|(share, budget)| (budget - share) * (budget - share) / budget);
        let least = found.budgets.iter().copied().fold(1.0, f64::min);
        (squares.sum::<f64>().sqrt() + rounding) / least.sqrt()
    }

    /// The budgets divided by their sum.
    fn budgets(&self, size: usize) -> Result<Vec<f64>> {
        let Some(budgets) = &self.budgets else { return Ok(vec![1.0 / size as f64; size]) };
        check::length("budgets", budgets.len(), size)?;
        let largest = budgets.iter().copied().fold(0.0, f64::max);
        let is_fit = |budget: f64| budget.is_finite() && budget >= SMALLEST_BUDGET * largest;
        let requirement = "a positive finite number of at least 1e-12 of the largest";
        check::each("budgets", budgets, requirement, |budget| budget > 0.0 && is_fit(budget))?;
        let parts: Vec<f64> = budgets.iter().map(|budget| budget / largest).collect();
        Ok(of_their_sum(&parts))
    }
}

/// The smallest budget that is accepted, as a part of the largest: less is rounding of the whole.
const SMALLEST_BUDGET: f64 = 1e-12;

fn of_their_sum(parts: &[f64]) -> Vec<f64> {
    let total = sum(parts.iter().copied());
    parts.iter().map(|part| part / total).collect()
}

/// Returns the covariance with each asset multiplied by a power of two, so that the variances lie
/// between ½ and 2, and the powers.
fn balanced(covariance: &Symmetric) -> Result<(Symmetric, Vec<i32>)> {
    let size = covariance.size();
    let mut exponents = Vec::with_capacity(size);
    for index in 0..size {
        let value = covariance.diagonal(index);
        if value <= 0.0 {
            let argument = "covariance_matrix";
            let requirement = "the row of an asset with risk, of which it can contribute a part";
            return Err(Error::Element { argument, index, value: 0.0, requirement });
        }
        exponents.push(libm::frexp(value).1.div_euclid(2));
    }
    let scaled = |(row, column): (usize, usize)| {
        libm::scalbn(covariance.row(row)[column], -exponents[row] - exponents[column])
    };
    let places = (0..size).flat_map(|row| (0..size).map(move |column| (row, column)));
    let elements = places.map(scaled).collect();
    Ok((Symmetric::from_elements(size, elements), exponents))
}

/// Refuses a covariance under which a long-only portfolio has no risk.
fn refuse_riskless(covariance: &Symmetric) -> Result<()> {
    if semi_definite(covariance)?.is_some() {
        return Ok(());
    }
    let size = covariance.size();
    let problem = Problem::new(covariance, vec![0.0; size], vec![f64::INFINITY; size]);
    let least = problem.minimise(None)?;
    if variance(&least.weights, covariance) > 0.0 {
        return Ok(());
    }
    let problem = "allows a long-only portfolio without risk, of which no asset has a part";
    Err(Error::Conflict { argument: "covariance_matrix", problem })
}

/// Returns the amounts, times their powers of two, divided by their sum.
fn weights(amounts: &[f64], exponents: &[i32]) -> Vec<f64> {
    let least = exponents.iter().copied().min().unwrap_or_default();
    let amounts = amounts.iter().zip(exponents);
    let parts: Vec<f64> =
        amounts.map(|(amount, exponent)| libm::scalbn(*amount, least - exponent)).collect();
    of_their_sum(&parts)
}

/// The search for the minimum of `½ yᵀΣy − Σ bᵢ ln yᵢ`.
struct ParitySearch<'a> {
    covariance: &'a Symmetric,
    budgets: &'a [f64],
}

impl ParitySearch<'_> {
    /// Returns the minimum, the method that reached it and the number of its iterations.
    fn run(&self, method: RiskParityMethod) -> Result<(Vec<f64>, RiskParityMethod, u32)> {
        let mut amounts = self.start();
        if method == RiskParityMethod::CyclicalCoordinateDescent {
            let sweeps = self.descend(&mut amounts);
            if self.is_met_by(&amounts) {
                return Ok((amounts, method, sweeps));
            }
        }
        (0..FIRST_SWEEPS).for_each(|_| {
            self.sweep(&mut amounts);
        });
        let (amounts, steps) = self.step_to_the_minimum(amounts)?;
        if self.is_met_by(&amounts) {
            return Ok((amounts, RiskParityMethod::Newton, steps));
        }
        let residual = self.error(&self.contributions(&amounts));
        Err(Error::NoConvergence { method: "risk parity", iterations: steps, residual })
    }

    /// Returns the solution for uncorrelated assets, times a factor that makes the variance 1.
    fn start(&self) -> Vec<f64> {
        let amount =
            |(asset, budget): (usize, &f64)| (budget / self.covariance.diagonal(asset)).sqrt();
        let amounts: Vec<f64> = self.budgets.iter().enumerate().map(amount).collect();
        let variance = inner(&amounts, &self.covariance.times(&amounts));
        let factor = if variance > f64::EPSILON { 1.0 / variance.sqrt() } else { 1.0 };
        amounts.iter().map(|amount| amount * factor).collect()
    }

    /// The contributions `yᵢ(Σy)ᵢ` to the variance, summed in twice the precision.
    fn contributions(&self, amounts: &[f64]) -> Vec<f64> {
        let amount =
            |(asset, amount): (usize, &f64)| amount * dot(self.covariance.row(asset), amounts);
        amounts.iter().enumerate().map(amount).collect()
    }

    /// The largest relative difference of a contribution and its budget.
    fn error(&self, contributions: &[f64]) -> f64 {
        let errors =
            contributions.iter().zip(self.budgets).map(|(part, budget)| part / budget - 1.0);
        errors.fold(0.0, |largest: f64, error| largest.max(error.abs()))
    }

    /// Returns whether the contributions are the budgets, to the tolerance and the rounding of the
    /// amounts.
    fn is_met_by(&self, amounts: &[f64]) -> bool {
        let contributions = self.contributions(amounts);
        (0..amounts.len()).all(|asset| {
            let terms = self.covariance.row(asset).iter().zip(amounts);
            let size: f64 = terms.map(|(element, amount)| (element * amount).abs()).sum();
            let allowed = TOLERANCE * self.budgets[asset] + ROUNDING * amounts[asset] * size;
            (contributions[asset] - self.budgets[asset]).abs() <= allowed
        })
    }

    /// Sweeps until the amounts no longer change, and returns the number of sweeps.
    fn descend(&self, amounts: &mut [f64]) -> u32 {
        let mut last = f64::INFINITY;
        for sweep in 1..=MAX_SWEEPS {
            let change = self.sweep(amounts);
            if change <= f64::EPSILON || change < 16.0 * f64::EPSILON && change >= 0.5 * last {
                return sweep;
            }
            last = change;
        }
        MAX_SWEEPS
    }

    /// Minimises along each asset in turn: `yᵢ` solves `Σᵢᵢy² + sᵢy = bᵢ`, where `sᵢ` is the
    /// covariance with the other assets. Returns the largest relative change.
    fn sweep(&self, amounts: &mut [f64]) -> f64 {
        let mut largest: f64 = 0.0;
        for (asset, budget) in self.budgets.iter().enumerate() {
            let (row, variance) = (self.covariance.row(asset), self.covariance.diagonal(asset));
            let before = amounts[asset];
            amounts[asset] = 0.0;
            let others = inner(row, amounts);
            let root = (others * others + 4.0 * variance * budget).sqrt();
            // The form of the root without cancellation.
            let amount = if others > 0.0 {
                2.0 * budget / (others + root)
            } else {
                (root - others) / (2.0 * variance)
            };
            largest = largest.max((amount / before - 1.0).abs());
            amounts[asset] = amount;
        }
        largest
    }

    /// Makes Newton steps until they no longer lower the error.
    fn step_to_the_minimum(&self, mut amounts: Vec<f64>) -> Result<(Vec<f64>, u32)> {
        let mut last = f64::INFINITY;
        for step in 0..MAX_STEPS {
            let contributions = self.contributions(&amounts);
            let error = self.error(&contributions);
            if error <= f64::EPSILON || error < NEAR && error >= 0.5 * last {
                return Ok((amounts, step));
            }
            last = error;
            let changes = self.newton_step(&amounts, &contributions)?;
            let length = self.length(&amounts, &contributions, &changes);
            for (amount, change) in amounts.iter_mut().zip(&changes) {
                *amount += *amount * length * change;
            }
        }
        Ok((amounts, MAX_STEPS))
    }

    /// Returns the relative changes of a full Newton step.
    ///
    /// In the variables `√bᵢ·Δyᵢ/yᵢ` the second derivatives are the identity and a semi-definite
    /// matrix, so that the factorisation is well-conditioned however small a budget is.
    fn newton_step(&self, amounts: &[f64], contributions: &[f64]) -> Result<Vec<f64>> {
        let size = amounts.len();
        let roots: Vec<f64> = self.budgets.iter().map(|budget| budget.sqrt()).collect();
        let sizes: Vec<f64> =
            amounts.iter().zip(&roots).map(|(amount, root)| amount / root).collect();
        let row = |asset: usize| {
            let element = |(element, size): (&f64, &f64)| element * size * sizes[asset];
            let mut row: Vec<f64> =
                self.covariance.row(asset).iter().zip(&sizes).map(element).collect();
            row[asset] += 1.0;
            row
        };
        let matrix = Symmetric::from_elements(size, (0..size).flat_map(row).collect());
        let assets: Vec<usize> = (0..size).collect();
        let argument = "covariance_matrix";
        let factor = Cholesky::of(&matrix, &assets, 0.0, 0.0)
            .map_err(|pivot| Error::NotPositiveSemiDefinite { argument, pivot })?;
        let parts = contributions.iter().zip(self.budgets).zip(&roots);
        let mut changes: Vec<f64> =
            parts.map(|((part, budget), root)| (budget - part) / root).collect();
        factor.solve(&mut changes);
        Ok(changes.iter().zip(&roots).map(|(change, root)| change / root).collect())
    }

    /// Returns the part of a step, at most 1, that leads to the minimum along it.
    fn length(&self, amounts: &[f64], contributions: &[f64], changes: &[f64]) -> f64 {
        let moves: Vec<f64> =
            amounts.iter().zip(changes).map(|(amount, change)| amount * change).collect();
        let products = self.covariance.times(&moves);
        let (slope, bend) = (inner(changes, contributions), inner(&moves, &products));
        let rises = |length: f64| {
            let barrier =
                |(budget, change): (&f64, &f64)| budget * change / (1.0 + length * change);
            slope + length * bend > self.budgets.iter().zip(changes).map(barrier).sum()
        };
        let is_inside = |length: f64| changes.iter().all(|change| 1.0 + length * change > 0.0);
        if is_inside(1.0) && !rises(1.0) || changes.iter().all(|change| change.abs() < 0.125) {
            return 1.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if is_inside(middle) && !rises(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use RiskParityMethod::{CyclicalCoordinateDescent, Newton};

    fn solve(
        covariance: &[Vec<f64>],
        budgets: Option<&[f64]>,
        method: RiskParityMethod,
    ) -> Result<RiskParityPortfolio> {
        let budgets = budgets.map(<[f64]>::to_vec);
        let covariance_matrix = Covariance::from_rows(covariance)?;
        RiskParity { covariance_matrix, budgets, method }.solve()
    }

    fn refused(covariance: &[Vec<f64>], budgets: Option<&[f64]>) -> Error {
        solve(covariance, budgets, Newton).unwrap_err()
    }

    #[test]
    fn uncorrelated_assets_are_held_by_root_of_budget_over_volatility() {
        let covariance = [vec![0.01, 0.0], vec![0.0, 0.04]];
        for method in [Newton, CyclicalCoordinateDescent] {
            let found = solve(&covariance, Some(&[8.0, 2.0]), method).unwrap();
            // √0.8 / 0.1 against √0.2 / 0.2: 4 to 1.
            assert!((found.weights[0] - 0.8).abs() < 1e-15, "{found:?}");
            assert_eq!((&found.budgets[..], found.method), (&[0.8, 0.2][..], method));
        }
    }

    #[test]
    fn one_asset_is_held_alone_and_copies_share() {
        assert_eq!(solve(&[vec![0.04]], None, Newton).unwrap().weights, [1.0]);
        let copies = vec![vec![0.04; 3]; 3];
        for weight in solve(&copies, None, Newton).unwrap().weights {
            assert!((weight - 1.0 / 3.0).abs() < 1e-15);
        }
    }

    #[test]
    fn assets_of_very_different_risk_are_no_obstacle() {
        let covariance = [vec![1e-90, 0.0], vec![0.0, 1e10]];
        for method in [Newton, CyclicalCoordinateDescent] {
            let found = solve(&covariance, None, method).unwrap();
            assert!((found.weights[1] / 1e-50 - 1.0).abs() < 1e-14, "{found:?}");
        }
    }

    #[test]
    fn a_long_only_portfolio_without_risk_is_refused() {
        let hedge = [vec![0.04, -0.06], vec![-0.06, 0.09]];
        let error = refused(&hedge, None);
        assert_eq!((error.code(), error.argument()), ("conflict", Some("covariance_matrix")));
        let error = refused(&[vec![0.04, 0.0], vec![0.0, 0.0]], None);
        assert_eq!((error.argument(), error.index()), (Some("covariance_matrix"), Some(1)));
        // Nearly a hedge: each asset still has half of the small risk.
        let near = [vec![0.04, -0.0599999999], vec![-0.0599999999, 0.09]];
        for method in [Newton, CyclicalCoordinateDescent] {
            let found = solve(&near, None, method).unwrap();
            assert!((found.weights[0] - 0.6).abs() < 1e-15, "{found:?}");
        }
    }

    #[test]
    fn slow_coordinate_descent_ends_in_newton_steps_and_says_so() {
        // A chain of negative correlations, whose sum is nearly riskless.
        let size = 40;
        let element = |a: usize, b: usize| match a.abs_diff(b) {
            0 => 1.0,
            1 => -0.5,
            _ => 0.0,
        };
        let chain: Vec<Vec<f64>> =
            (0..size).map(|a| (0..size).map(|b| element(a, b)).collect()).collect();
        let newton = solve(&chain, None, Newton).unwrap();
        let other = solve(&chain, None, CyclicalCoordinateDescent).unwrap();
        for (a, b) in newton.weights.iter().zip(&other.weights) {
            assert!((a - b).abs() < 1e-13, "{a} {b} {other:?}");
        }
        assert!(newton.iterations < 20 && newton.residual < 1e-14, "{newton:?}");
    }

    #[test]
    fn budgets_and_covariances_are_checked() {
        let covariance = [vec![0.04, 0.0], vec![0.0, 0.04]];
        assert_eq!(refused(&[], None).argument(), Some("covariance_matrix"));
        assert_eq!(refused(&covariance, Some(&[1.0])).argument(), Some("budgets"));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-13] {
            let error = refused(&covariance, Some(&[1.0, bad]));
            assert_eq!(error.argument(), Some("budgets"), "{bad}: {error:?}");
        }
        let skew = [vec![0.04, 0.01], vec![0.0, 0.04]];
        assert_eq!(refused(&skew, None).code(), "asymmetric");
        let negative = [vec![0.04, 0.05], vec![0.05, 0.04]];
        assert_eq!(refused(&negative, None).code(), "not_positive_semi_definite");
    }

    proptest! {
        /// Both methods agree, every asset contributes its part, and no weight is negative.
        #[test]
        fn every_asset_contributes_its_part(
            size in 1_usize..=12,
            factors in 1_usize..=4,
            specific in prop_oneof![Just(1e-9), 0.001..0.1],
            loads in prop::collection::vec(-0.4..0.4, 48),
            budgets in prop::option::of(prop::collection::vec(0.01..1.0, 12)),
            exponent in -300..300,
        ) {
            let element = |a: usize, b: usize| {
                let common: f64 =
                    (0..factors).map(|k| loads[4 * a + k] * loads[4 * b + k]).sum();
                libm::scalbn(common + if a == b { specific } else { 0.0 }, exponent)
            };
            let covariance: Vec<Vec<f64>> =
                (0..size).map(|a| (0..size).map(|b| element(a, b)).collect()).collect();
            let budgets = budgets.as_ref().map(|budgets| &budgets[..size]);
            let found = solve(&covariance, budgets, Newton).unwrap();
            let other = solve(&covariance, budgets, CyclicalCoordinateDescent).unwrap();
            // The condition number of the covariance is up to 1e9.
            for (a, b) in found.weights.iter().zip(&other.weights) {
                prop_assert!((a / b - 1.0).abs() <= 1e-6, "{found:?} {other:?}");
            }
            let mut largest: f64 = 0.0;
            prop_assert!((sum(found.weights.iter().copied()) - 1.0).abs() <= 1e-15 * size as f64);
            let slopes: Vec<f64> = covariance.iter().map(|row| dot(row, &found.weights)).collect();
            let variance = dot(&slopes, &found.weights);
            for asset in 0..size {
                let share = found.weights[asset] * slopes[asset] / variance;
                let size: f64 =
                    covariance[asset].iter().zip(&found.weights).map(|(x, w)| (x * w).abs()).sum();
                let rounding = 4e-15 * found.weights[asset] * size / variance;
                largest = largest.max(rounding);
                prop_assert!((share - found.budgets[asset]).abs() <= 1e-12 + rounding);
                prop_assert!(found.weights[asset] > 0.0);
            }
            prop_assert!(found.residual <= 1e-12 + largest, "{found:?}");
        }
    }
}

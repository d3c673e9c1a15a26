//! Ratios of return to risk of a series of returns.
//!
//! Returns are simple ones, of periods of equal length. Annual figures are those of a period times
//! the number of periods in a year, or its root for deviations; only `annual_return` compounds.
//! Standard deviations and covariances have the divisor n − 1, downside deviations n.

use super::symmetric::{dot, sum};
use crate::explanation::{ErrorKind, ErrorStatement, Explanation, Method, STANDARD_ERRORS};
use crate::{Error, Result, check};

/// The rounding error of a difference of two returns, as a part of the larger.
const ROUNDING: f64 = 2.220_446_049_250_313e-16;

/// The error of a figure, relative above 0.01.
const RATIO_ERROR: f64 = 1e-14;

/// Returns of a portfolio, period by period, and what they are measured by.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ReturnSeries {
    /// Simple return of each period, at least −1; at least two.
    pub returns: Vec<f64>,
    /// Returns of a benchmark in the same periods, at least −1.
    pub benchmark_returns: Option<Vec<f64>>,
    /// Riskless rate, annual; that of a period is this rate by the number of periods.
    pub risk_free_rate: f64,
    /// Annual return below which a return counts as a loss; `None` for the riskless rate.
    pub target_return: Option<f64>,
    /// Number of periods in a year; positive: 252 for daily returns, 12 for monthly ones.
    pub periods_per_year: f64,
}

/// The return and risk of a series of returns. Ratios with a divisor of zero are `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PerformanceRatios {
    /// Return over all periods, compounded.
    pub total_return: f64,
    /// Compounded return of a year.
    pub annual_return: f64,
    /// Mean return times the number of periods in a year.
    pub mean_return: f64,
    /// Standard deviation, annual.
    pub volatility: f64,
    /// Root of the mean square of the returns' shortfalls below the target, annual.
    pub downside_deviation: f64,
    /// Largest loss from an earlier peak of the compounded value, as a part of it.
    pub max_drawdown: f64,
    /// Mean excess return by volatility, annual (Sharpe 1994).
    pub sharpe: Option<f64>,
    /// Standard error of the Sharpe ratio for independent returns of a normal distribution (Lo
    /// 2002).
    pub sharpe_standard_error: Option<f64>,
    /// Mean return beyond the target by downside deviation, annual (Sortino and van der Meer 1991).
    pub sortino: Option<f64>,
    /// Annual return by largest drawdown (Young 1991).
    pub calmar: Option<f64>,
    /// Sum of the gains beyond the target by the sum of the losses below (Keating and Shadwick
    /// 2002).
    pub omega: Option<f64>,
    /// The figures against the benchmark, where there is one.
    pub benchmark: Option<BenchmarkRatios>,
}

/// Returns and risk against a benchmark. Ratios with a divisor of zero are `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct BenchmarkRatios {
    /// Mean return beyond the benchmark's, annual.
    pub active_return: f64,
    /// Standard deviation of the return beyond the benchmark's, annual.
    pub tracking_error: f64,
    /// Active return by tracking error.
    pub information: Option<f64>,
    /// Covariance with the benchmark by the benchmark's variance.
    pub beta: Option<f64>,
    /// Mean excess return beyond beta times that of the benchmark, annual (Jensen 1968).
    pub jensen_alpha: Option<f64>,
    /// Mean excess return by beta, annual (Treynor 1965).
    pub treynor: Option<f64>,
    /// Correlation with the benchmark.
    pub correlation: Option<f64>,
}

impl ReturnSeries {
    /// Returns the ratios of return to risk of the series.
    ///
    /// ```text
    /// Sharpe = √N (r̄ − f)/s,   Sortino = √N (r̄ − t)/√(Σ min(rᵢ − t, 0)²/n),   Calmar = g/D
    /// g = Π(1 + rᵢ)^{N/n} − 1,   D = max over k ≤ l of 1 − V_l/V_k,   V_k = Π_{i ≤ k}(1 + rᵢ)
    /// ```
    ///
    /// where r̄ is the mean and s the standard deviation of n returns, N is the number of periods
    /// in a year, and f and t are the riskless rate and the target divided by N. V₀ is 1.
    ///
    /// A standard deviation of the difference to a benchmark that is only rounding is zero.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`] for fewer than two returns; [`Error::Element`] for a return that is not
    /// finite or below −1; [`Error::Shape`] for another number of benchmark returns;
    /// [`Error::Domain`] for a rate or target that is not finite, and a number of periods that is
    /// not positive; [`Error::Overflow`] where a result exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::portfolio::performance::ReturnSeries;
    ///
    /// let ratios = ReturnSeries {
    ///     returns: vec![0.02, -0.01, 0.03, 0.0],
    ///     benchmark_returns: None,
    ///     risk_free_rate: 0.0,
    ///     target_return: None,
    ///     periods_per_year: 4.0,
    /// }
    /// .ratios()?;
    /// // A mean of 1 % of a period; squares of 1, 4, 4 and 1 points.
    /// assert!((ratios.sharpe.unwrap() - 0.02 / (0.001_f64 / 3.0).sqrt()).abs() < 1e-14);
    /// assert!((ratios.sortino.unwrap() - 4.0).abs() < 1e-14);
    /// assert!((ratios.max_drawdown - 0.01).abs() < 1e-16);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Sharpe (1994), "The Sharpe Ratio"; Lo (2002), "The Statistics of Sharpe Ratios"; Sortino and
    /// van der Meer (1991), "Downside Risk"; Keating and Shadwick (2002), "A Universal Performance
    /// Measure"; Bacon (2008), "Practical Portfolio Performance Measurement and Attribution".
    pub fn ratios(&self) -> Result<PerformanceRatios> {
        self.check()?;
        let (periods, count) = (self.periods_per_year, self.returns.len() as f64);
        let riskless = self.risk_free_rate / periods;
        let target = self.target_return.map_or(riskless, |target| target / periods);
        let (total_return, annual_return) = compounded(&self.returns, periods)?;
        let deviation = finite(deviation(&self.returns))?;
        let volatility = annual(deviation, periods.sqrt())?;
        let excess = finite(mean_beyond(&self.returns, riskless))?;
        let sharpe_of_period = quotient(excess, deviation)?;
        let (gains, losses) = gains_and_losses(&self.returns, target);
        let downside = finite((dot(&losses, &losses) / count).sqrt())?;
        let drawdown = max_drawdown(&self.returns);
        let error =
            |ratio: f64| annual(((1.0 + 0.5 * ratio * ratio) / count).sqrt(), periods.sqrt());
        let scaled =
            |ratio: Option<f64>| ratio.map(|ratio| annual(ratio, periods.sqrt())).transpose();
        Ok(PerformanceRatios {
            total_return,
            annual_return,
            mean_return: annual(mean_beyond(&self.returns, 0.0), periods)?,
            volatility,
            downside_deviation: annual(downside, periods.sqrt())?,
            max_drawdown: drawdown,
            sharpe: scaled(sharpe_of_period)?,
            sharpe_standard_error: sharpe_of_period.map(error).transpose()?,
            sortino: scaled(quotient(mean_beyond(&self.returns, target), downside)?)?,
            calmar: quotient(annual_return, drawdown)?,
            omega: quotient(sum(gains), sum(losses))?,
            benchmark: self.against_benchmark(riskless, excess, deviation)?,
        })
    }

    /// Explains [`ratios`](Self::ratios).
    ///
    /// # Errors
    ///
    /// The errors of [`ratios`](Self::ratios).
    pub fn explain(&self) -> Result<Explanation> {
        let found = self.ratios()?;
        let error = match found.sharpe_standard_error {
            Some(error) => ErrorStatement::estimated(
                ErrorKind::Sampling,
                "sharpe",
                STANDARD_ERRORS * error,
                "1.96 standard errors, which 95 of 100 samples do not exceed, for independent returns \
                 of a normal distribution (Lo 2002)",
            ),
            None => ErrorStatement::rounding_within(
                "volatility",
                RATIO_ERROR * found.volatility.max(0.01),
                "rounding given the sample, relative above 0.01; largest error against mpmath",
            ),
        };
        let method = Method::new(
            "Sample ratios of return to risk",
            "Sharpe (1994), The Sharpe Ratio; Sortino and van der Meer (1991), Downside Risk; Young \
             (1991), Calmar Ratio; Keating and Shadwick (2002), A Universal Performance Measure",
        );
        let target = "The target of downside figures is the riskless rate.";
        let against = "Beta, alpha and tracking error are of the same periods, with divisor n - 1.";
        Ok(Explanation::new(method, error)
            .with_conventions([
                "Returns are simple ones, of periods of equal length.",
                "Standard deviations have the divisor n - 1, the downside deviation n.",
                "Annual means are those of a period times the periods a year, deviations times its root.",
                "Riskless rate and target are annual and divided by the periods a year.",
                "Only total and annual return compound; the drawdown is that of the compounded value.",
            ])
            .with_conventions(self.target_return.is_none().then_some(target))
            .with_conventions(self.benchmark_returns.is_some().then_some(against)))
    }

    fn check(&self) -> Result<()> {
        let count = self.returns.len();
        if count < 2 {
            return Err(Error::TooFew { argument: "returns", needed: 2, found: count });
        }
        let requirement = "a finite number of at least -1, which is a loss of everything";
        let is_return = |value: f64| value.is_finite() && value >= -1.0;
        check::each("returns", &self.returns, requirement, is_return)?;
        if let Some(benchmark) = &self.benchmark_returns {
            check::length("benchmark_returns", benchmark.len(), count)?;
            check::each("benchmark_returns", benchmark, requirement, is_return)?;
        }
        check::finite("risk_free_rate", self.risk_free_rate)?;
        self.target_return.map_or(Ok(()), |target| check::finite("target_return", target))?;
        check::positive("periods_per_year", self.periods_per_year)
    }

    /// The figures against the benchmark, given riskless rate, mean excess return and deviation of
    /// a period.
    fn against_benchmark(
        &self,
        riskless: f64,
        excess: f64,
        own_deviation: f64,
    ) -> Result<Option<BenchmarkRatios>> {
        let Some(benchmark) = &self.benchmark_returns else { return Ok(None) };
        let periods = self.periods_per_year;
        let pairs = || self.returns.iter().zip(benchmark);
        let active: Vec<f64> = pairs().map(|(own, other)| own - other).collect();
        let active_return = finite(sum(pairs().flat_map(|(own, other)| [*own, -other])))?
            / self.returns.len() as f64;
        let largest =
            pairs().fold(0.0, |most: f64, (own, other)| most.max(own.abs()).max(other.abs()));
        let tracking = finite(deviation(&active))?;
        let tracking = if tracking > ROUNDING * largest { tracking } else { 0.0 };
        let other_deviation = finite(deviation(benchmark))?;
        let covariance = finite(covariance(&self.returns, benchmark))?;
        let other_excess = finite(mean_beyond(benchmark, riskless))?;
        let beta = quotient(covariance, other_deviation * other_deviation)?;
        let alpha = |beta: f64| annual(excess - beta * other_excess, periods);
        let treynor = |beta: f64| match beta {
            0.0 => Ok(None),
            _ => annual(excess, periods).and_then(|excess| finite(excess / beta)).map(Some),
        };
        let correlation = quotient(covariance, own_deviation * other_deviation)?;
        let information = quotient(active_return, tracking)?;
        Ok(Some(BenchmarkRatios {
            active_return: annual(active_return, periods)?,
            tracking_error: annual(tracking, periods.sqrt())?,
            information: information.map(|ratio| annual(ratio, periods.sqrt())).transpose()?,
            beta,
            jensen_alpha: beta.map(alpha).transpose()?,
            treynor: beta.map_or(Ok(None), treynor)?,
            correlation: correlation.map(|correlation| correlation.clamp(-1.0, 1.0)),
        }))
    }
}

/// Returns a finite number; refuses any other as an overflow.
fn finite(value: f64) -> Result<f64> {
    check::result("returns", value)
}

/// Returns a figure of a period times a number of periods or its root.
fn annual(value: f64, factor: f64) -> Result<f64> {
    check::result("periods_per_year", value * factor)
}

/// Returns a quotient; `None` for a divisor of zero.
fn quotient(value: f64, divisor: f64) -> Result<Option<f64>> {
    if divisor > 0.0 { finite(value / divisor).map(Some) } else { Ok(None) }
}

/// Returns the mean of the values less a number, summed in twice the precision.
fn mean_beyond(values: &[f64], level: f64) -> f64 {
    sum(values.iter().flat_map(|value| [*value, -level])) / values.len() as f64
}

/// Returns the values less their mean; zeros where all are equal.
fn centred(values: &[f64]) -> Vec<f64> {
    let mean = values[0] + mean_beyond(values, values[0]);
    values.iter().map(|value| value - mean).collect()
}

/// Returns the covariance with the divisor n − 1.
fn covariance(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (centred(a), centred(b));
    let count = a.len() as f64;
    // The means are rounded: the second term takes their errors out.
    let rest = sum(a.iter().copied()) * sum(b.iter().copied()) / count;
    (dot(&a, &b) - rest) / (count - 1.0)
}

/// Returns the standard deviation with the divisor n − 1.
fn deviation(values: &[f64]) -> f64 {
    covariance(values, values).max(0.0).sqrt()
}

/// Returns what each value exceeds the target by, and what it falls short by; zeros elsewhere.
fn gains_and_losses(values: &[f64], target: f64) -> (Vec<f64>, Vec<f64>) {
    let beyond = |value: &f64| ((value - target).max(0.0), (target - value).max(0.0));
    values.iter().map(beyond).unzip()
}

/// Returns the compounded return over all periods, and that of a year.
fn compounded(returns: &[f64], periods: f64) -> Result<(f64, f64)> {
    if returns.contains(&-1.0) {
        return Ok((-1.0, -1.0));
    }
    let growth = sum(returns.iter().map(|value| libm::log1p(*value)));
    let years = returns.len() as f64 / periods;
    Ok((finite(libm::expm1(growth))?, annual(libm::expm1(growth / years), 1.0)?))
}

/// Returns the largest loss from a peak, in logarithms so that small losses keep their digits.
fn max_drawdown(returns: &[f64]) -> f64 {
    let (mut below, mut lowest) = (0.0_f64, 0.0_f64);
    for value in returns {
        below = (below + libm::log1p(*value)).min(0.0);
        lowest = lowest.min(below);
    }
    0.0 - libm::expm1(lowest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::normal;
    use crate::risk::philox::uniforms;
    use proptest::prelude::*;

    fn series(returns: &[f64], benchmark: Option<&[f64]>) -> ReturnSeries {
        ReturnSeries {
            returns: returns.to_vec(),
            benchmark_returns: benchmark.map(<[f64]>::to_vec),
            risk_free_rate: 0.0,
            target_return: None,
            periods_per_year: 12.0,
        }
    }

    #[test]
    fn ratios_without_a_divisor_are_none() {
        let rising = series(&[0.01, 0.01, 0.01], Some(&[0.02; 3])).ratios().unwrap();
        assert_eq!((rising.sharpe, rising.sharpe_standard_error), (None, None));
        assert_eq!((rising.sortino, rising.calmar, rising.omega), (None, None, None));
        assert_eq!((rising.volatility, rising.max_drawdown), (0.0, 0.0));
        let benchmark = rising.benchmark.unwrap();
        assert_eq!((benchmark.beta, benchmark.treynor, benchmark.jensen_alpha), (None, None, None));
        assert_eq!((benchmark.information, benchmark.correlation), (None, None));
        // 0.1 above the benchmark in every period, but for the rounding of the decimals.
        let above = series(&[0.3, 0.4, 0.8], Some(&[0.2, 0.3, 0.7])).ratios().unwrap();
        let above = above.benchmark.unwrap();
        assert_eq!((above.tracking_error, above.information), (0.0, None));
        assert!((above.active_return - 1.2).abs() < 1e-15);
    }

    #[test]
    fn the_drawdown_starts_at_the_first_value_and_ends_at_the_lowest() {
        let of = |returns: &[f64]| series(returns, None).ratios().unwrap().max_drawdown;
        assert!((of(&[-0.1, 0.5, -0.2, -0.25, 0.1]) - 0.4).abs() < 1e-15);
        assert!((of(&[-0.5, 1.0, 1.0]) - 0.5).abs() < 1e-15);
        assert_eq!(of(&[0.1, 0.0, 0.2]), 0.0);
        assert_eq!(of(&[0.5, -1.0, 3.0]), 1.0);
        assert!((of(&[1e-9, -1e-12]) / 1e-12 - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_total_loss_stays_one() {
        let ratios = series(&[0.5, -1.0, 3.0], None).ratios().unwrap();
        assert_eq!((ratios.total_return, ratios.annual_return), (-1.0, -1.0));
        assert_eq!(ratios.calmar, Some(-1.0));
    }

    #[test]
    fn rate_and_target_are_annual() {
        let mut given = series(&[0.03, -0.01, 0.02, 0.02], None);
        given.risk_free_rate = 0.12;
        let ratios = given.ratios().unwrap();
        // Excess returns of 2, −2, 1 and 1 points: a mean of a half, a mean square shortfall of 1.
        assert!((ratios.sortino.unwrap() - 12_f64.sqrt() * 0.5).abs() < 1e-14);
        assert!((ratios.omega.unwrap() - 2.0).abs() < 1e-14);
        given.target_return = Some(0.0);
        let other = given.ratios().unwrap();
        assert_eq!(other.sharpe, ratios.sharpe);
        assert!((other.sortino.unwrap() - 12_f64.sqrt() * 3.0).abs() < 1e-13, "{other:?}");
    }

    #[test]
    fn the_benchmark_itself_has_a_beta_of_one() {
        let returns = [0.03, -0.01, 0.02, 0.005];
        let found = series(&returns, Some(&returns)).ratios().unwrap().benchmark.unwrap();
        assert_eq!((found.beta, found.tracking_error), (Some(1.0), 0.0));
        assert!((found.correlation.unwrap() - 1.0).abs() < 1e-15);
        assert!(found.jensen_alpha.unwrap().abs() < 1e-17);
        let doubled = returns.map(|value| 2.0 * value);
        let found = series(&doubled, Some(&returns)).ratios().unwrap().benchmark.unwrap();
        assert!((found.beta.unwrap() - 2.0).abs() < 1e-15);
        // Nothing is left beyond beta, and an excess return of 13.5 points by a beta of 2.
        assert!((found.treynor.unwrap() - 0.135).abs() < 1e-15, "{found:?}");
    }

    #[test]
    fn the_stated_sampling_error_is_that_of_95_samples_in_100() {
        let (mean, volatility) = (0.008, 0.04);
        let exact = mean / volatility * 12_f64.sqrt();
        let is_covered = |seed: u64| {
            let draws = uniforms(seed).take(120);
            // The quantile of a probability of at most a half, and its mirror image.
            let quantile = |u: f64| match u {
                ..=0.5 => -normal::upper_quantile(u),
                _ => normal::upper_quantile(1.0 - u),
            };
            let returns: Vec<f64> = draws.map(|u| mean + volatility * quantile(u)).collect();
            let series = series(&returns, None);
            let stated = series.explain().unwrap().error;
            assert_eq!((stated.kind, stated.is_bound), (ErrorKind::Sampling, false));
            let found = series.ratios().unwrap().sharpe.unwrap();
            u32::from((found - exact).abs() <= stated.estimate)
        };
        let covered: u32 = (1..=300).map(is_covered).sum();
        assert!(covered >= 285, "{covered}");
    }

    #[test]
    fn series_and_rates_are_checked() {
        let refused = |series: ReturnSeries| series.ratios().unwrap_err().argument();
        let good = [0.01, 0.02];
        assert_eq!(refused(series(&[0.01], None)), Some("returns"));
        for bad in [-1.5, f64::NAN, f64::INFINITY] {
            assert_eq!(refused(series(&[0.01, bad], None)), Some("returns"));
            assert_eq!(refused(series(&good, Some(&[0.01, bad]))), Some("benchmark_returns"));
        }
        assert_eq!(refused(series(&good, Some(&[0.01]))), Some("benchmark_returns"));
        let with = |change: fn(&mut ReturnSeries)| {
            let mut series = series(&good, None);
            change(&mut series);
            refused(series)
        };
        assert_eq!(with(|series| series.risk_free_rate = f64::NAN), Some("risk_free_rate"));
        assert_eq!(with(|series| series.target_return = Some(f64::NAN)), Some("target_return"));
        assert_eq!(with(|series| series.periods_per_year = 0.0), Some("periods_per_year"));
        assert_eq!(refused(series(&[1e308, 1e308], None)), Some("returns"));
        assert_eq!(with(|series| series.periods_per_year = 1e300), Some("periods_per_year"));
    }

    proptest! {
        /// Sharpe and Sortino ratios grow with leverage-free scale as they should: not at all.
        #[test]
        fn ratios_do_not_depend_on_the_unit_of_returns(
            returns in prop::collection::vec(-0.1..0.1, 3..40),
            exponent in -8..0,
        ) {
            let scaled: Vec<f64> =
                returns.iter().map(|value| libm::scalbn(*value, exponent)).collect();
            let (one, other) =
                (series(&returns, None).ratios().unwrap(), series(&scaled, None).ratios().unwrap());
            prop_assert_eq!((one.sharpe, one.sortino, one.omega), (other.sharpe, other.sortino, other.omega));
        }

        /// The drawdown is the largest of all pairs of periods, and correlation is bounded.
        #[test]
        fn the_drawdown_is_that_of_all_pairs(
            returns in prop::collection::vec(-0.5..0.5, 2..30),
            others in prop::collection::vec(-0.5..0.5, 30),
        ) {
            let found = series(&returns, Some(&others[..returns.len()])).ratios().unwrap();
            let mut values = vec![1.0];
            returns.iter().for_each(|value| values.push(values[values.len() - 1] * (1.0 + value)));
            let pairs = (0..values.len()).flat_map(|k| (k..values.len()).map(move |l| (k, l)));
            let largest = pairs.map(|(k, l)| 1.0 - values[l] / values[k]).fold(0.0, f64::max);
            prop_assert!((found.max_drawdown - largest).abs() <= 1e-14);
            let total = values[values.len() - 1] - 1.0;
            prop_assert!((found.total_return - total).abs() <= 1e-13 * (1.0 + total));
            let benchmark = found.benchmark.unwrap();
            prop_assert!(benchmark.correlation.unwrap().abs() <= 1.0);
        }
    }
}

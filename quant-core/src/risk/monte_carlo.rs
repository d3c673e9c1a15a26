//! Value at risk and expected shortfall of simulated returns.
//!
//! A portfolio that is linear in jointly normal returns has a normal return, so that one random number
//! makes one scenario of the whole portfolio. The numbers are Philox4x64-10 of the seed: the same seed
//! gives the same bits on every machine. A uniform number becomes a return by the inverse distribution
//! function, which is monotone, so that only the tail is converted.

use super::historical::{HistoricalRisk, Ranks};
use super::parametric::{ParametricRisk, SCALING};
use super::philox::uniforms;
use super::tail::{FRACTION, LOSSES};
use crate::explanation::{ErrorKind, ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// The fewest and the most simulations.
const SIMULATIONS: [usize; 2] = [100, 1_000_000];

/// A simulation of a return.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MonteCarlo {
    /// The return, with the tail to measure.
    pub position: ParametricRisk,
    /// Number of simulated returns, from 100 to 1,000,000.
    pub simulations: usize,
    /// Number that the random numbers follow from; any.
    pub seed: u64,
}

impl MonteCarlo {
    /// Returns the risk of the simulated returns, with its sampling error: the
    /// [interval](HistoricalRisk::interval) of the value at risk and the
    /// [standard error](HistoricalRisk::expected_shortfall_error) of the expected shortfall.
    ///
    /// # Errors
    ///
    /// The errors of [`ParametricRisk::evaluate`]; [`Error::TooFew`] for less than 100 simulations, and
    /// [`Error::Domain`] for more than 1,000,000.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::risk::{Distribution, MonteCarlo, ParametricRisk};
    ///
    /// let position = ParametricRisk {
    ///     mean: 0.0,
    ///     volatility: 0.02,
    ///     distribution: Distribution::Normal,
    ///     confidence: 0.99,
    ///     horizon: 1.0,
    /// };
    /// let simulated = MonteCarlo { position, simulations: 100_000, seed: 42 }.evaluate()?;
    /// let exact = position.evaluate()?.value_at_risk;
    /// assert!((simulated.risk.value_at_risk / exact - 1.0).abs() < 0.02);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Glasserman (2003), *Monte Carlo Methods in Financial Engineering*, chapter 9.
    pub fn evaluate(&self) -> Result<HistoricalRisk> {
        let (deviation, drift) = self.position.scaled()?;
        self.checked_simulations()?;
        let ranks = Ranks::of(self.simulations, self.position.confidence)?;
        // The least uniform numbers are the largest losses.
        let mut drawn: Vec<f64> = uniforms(self.seed).take(self.simulations).map(|u| -u).collect();
        ranks.worst_first(&mut drawn);
        let distribution = self.position.distribution;
        let loss = |u: &f64| {
            let multiple = distribution.loss_quantile(-u)?;
            check::result("volatility", multiple * deviation - drift)
        };
        let mut losses = drawn[..ranks.needed()].iter().map(loss).collect::<Result<Vec<f64>>>()?;
        // An expansion of Cornish and Fisher need not be monotone.
        losses.sort_unstable_by(|a, b| b.total_cmp(a));
        ranks.risk_of(&losses)
    }

    /// Explains [`evaluate`](Self::evaluate).
    ///
    /// # Errors
    ///
    /// The errors of [`evaluate`](Self::evaluate).
    pub fn explain(&self) -> Result<Explanation> {
        let (found, exact) = (self.evaluate()?, self.position.evaluate()?);
        let error = found.sampling_error().unwrap_or_else(|| {
            let distance = (found.risk.value_at_risk - exact.value_at_risk).abs();
            let how =
                "distance to the closed form: the interval of order statistics has an open end";
            ErrorStatement::estimated(ErrorKind::Sampling, FRACTION, distance, how)
        });
        let method = Method::new(
            "Simulated returns by inversion, and the historical quantile of type 7",
            "Glasserman (2003), Monte Carlo Methods in Financial Engineering, chapter 9; Salmon and \
             others (2011), Parallel Random Numbers: As Easy as 1, 2, 3 (Philox4x64-10)",
        );
        let distribution = self.position.distribution;
        Ok(Explanation::new(method, error)
            .with_conventions(LOSSES)
            .with_conventions([
                "One random number makes one return of the whole portfolio, over the whole horizon.",
                "The same seed gives the same bits on every machine.",
            ])
            .with_conventions(SCALING)
            .with_conventions(distribution.conventions(self.position.confidence)?)
            .with_steps(self.simulations as u32))
    }

    fn checked_simulations(&self) -> Result<()> {
        let [needed, most] = SIMULATIONS;
        if self.simulations < needed {
            return Err(Error::TooFew { argument: "simulations", needed, found: self.simulations });
        }
        let found = self.simulations as f64;
        check::require(self.simulations <= most, "simulations", found, "at most 1,000,000")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::risk::{Distribution, historical};

    fn simulated(
        distribution: Distribution,
        confidence: f64,
        simulations: usize,
        seed: u64,
    ) -> MonteCarlo {
        let position = ParametricRisk {
            mean: 0.001,
            volatility: 0.02,
            distribution,
            confidence,
            horizon: 10.0,
        };
        MonteCarlo { position, simulations, seed }
    }

    /// The interval of 95 % misses the truth for some seeds: the seeds here are fixed, and none may
    /// miss by more than five standard errors.
    #[test]
    fn simulated_figures_are_the_exact_ones_within_their_error() {
        for distribution in [
            Distribution::Normal,
            Distribution::StudentT { degrees_of_freedom: 5.0 },
            Distribution::CornishFisher { skewness: -0.3, excess_kurtosis: 1.0 },
        ] {
            for (confidence, seed) in [(0.95, 1), (0.99, 2), (0.6, 3)] {
                let run = simulated(distribution, confidence, 50_000, seed);
                let (exact, found) = (run.position.evaluate().unwrap(), run.evaluate().unwrap());
                let interval = found.interval;
                let (lower, upper) = (interval.lower.unwrap(), interval.upper.unwrap());
                let error = (upper - lower) / 3.92;
                assert!((found.risk.value_at_risk - exact.value_at_risk).abs() < 5.0 * error);
                let (error, shortfall) =
                    (found.expected_shortfall_error, found.risk.expected_shortfall);
                assert!((shortfall - exact.expected_shortfall).abs() < 5.0 * error, "{run:?}");
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_bits_and_another_seed_others() {
        let run = |seed| simulated(Distribution::Normal, 0.99, 1000, seed).evaluate().unwrap();
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }

    #[test]
    fn too_few_and_too_many_simulations_are_refused() {
        for simulations in [0, 99, 1_000_001, usize::MAX] {
            let refused =
                simulated(Distribution::Normal, 0.99, simulations, 1).evaluate().unwrap_err();
            assert_eq!(refused.argument(), Some("simulations"));
        }
        assert!(simulated(Distribution::Normal, 0.500_000_1, 100, 1).evaluate().is_ok());
    }

    /// The interval misses the true value in as many samples as it states.
    #[test]
    fn the_interval_holds_the_true_value_as_often_as_it_states() {
        let (samples, mut held, mut stated) = (400, 0, 0.0);
        for seed in 0..samples {
            let run = simulated(Distribution::Normal, 0.95, 1000, seed);
            let (exact, interval) =
                (run.position.evaluate().unwrap().value_at_risk, run.evaluate().unwrap().interval);
            held +=
                usize::from(interval.lower.unwrap() <= exact && exact <= interval.upper.unwrap());
            stated = interval.coverage;
        }
        let (share, count) = (held as f64 / samples as f64, samples as f64);
        let error = (stated * (1.0 - stated) / count).sqrt();
        assert!((share - stated).abs() < 4.0 * error, "{share} {stated}");
    }

    fn monotone() -> impl Strategy<Value = Distribution> {
        prop_oneof![
            Just(Distribution::Normal),
            (2.5..30.0_f64)
                .prop_map(|degrees_of_freedom| Distribution::StudentT { degrees_of_freedom }),
        ]
    }

    proptest! {
        #[test]
        fn the_tail_alone_has_the_risk_of_all_simulated_returns(
            distribution in monotone(), confidence in 0.51..0.999_f64, count in 100_usize..2000, seed: u64,
        ) {
            let run = simulated(distribution, confidence, count, seed);
            let (deviation, drift) = run.position.scaled().unwrap();
            let every_return = |u| drift - distribution.loss_quantile(u).unwrap() * deviation;
            let returns: Vec<f64> = uniforms(seed).take(count).map(every_return).collect();
            let found = run.evaluate().unwrap();
            prop_assert_eq!(&found, &historical(&returns, confidence).unwrap());
            prop_assert_eq!(found, run.evaluate().unwrap());
        }

        #[test]
        fn the_shortfall_is_no_less_and_more_confidence_is_more_loss(
            distribution in monotone(), confidence in 0.51..0.98_f64, more in 0.0001..0.019_f64,
            count in 100_usize..2000, seed: u64,
        ) {
            let risk = |confidence| simulated(distribution, confidence, count, seed).evaluate().unwrap();
            let (lower, higher) = (risk(confidence), risk(confidence + more));
            let rounding = 1e-14 * lower.risk.expected_shortfall.abs().max(0.01);
            prop_assert!(lower.risk.value_at_risk <= lower.risk.expected_shortfall + rounding);
            prop_assert!(lower.risk.value_at_risk <= lower.coherent_expected_shortfall + rounding);
            prop_assert!(lower.risk.value_at_risk <= higher.risk.value_at_risk + rounding);
            prop_assert!(lower.risk.expected_shortfall <= higher.risk.expected_shortfall + rounding);
            prop_assert!(lower.interval.lower <= lower.interval.upper || lower.interval.upper.is_none());
        }

        #[test]
        fn returns_of_another_unit_have_the_same_risk_in_it(
            distribution in monotone(), confidence in 0.51..0.999_f64, seed: u64, power in -20..20, value in 0.0..1e9_f64,
        ) {
            let unit = libm::scalbn(1.0, power);
            let run = simulated(distribution, confidence, 500, seed);
            let mut scaled = run;
            (scaled.position.mean, scaled.position.volatility) =
                (run.position.mean * unit, run.position.volatility * unit);
            let (found, scaled) = (run.evaluate().unwrap(), scaled.evaluate().unwrap());
            prop_assert_eq!(scaled, found.of_value(unit).unwrap());
            let money = found.of_value(value).unwrap();
            prop_assert_eq!(money.risk.value_at_risk, found.risk.value_at_risk * value);
            prop_assert_eq!(money.risk.expected_shortfall, found.risk.expected_shortfall * value);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Three times the stated distance are almost six standard errors.
        #[test]
        fn more_simulations_come_as_near_to_the_closed_form_as_they_state(
            distribution in monotone(), confidence in 0.6..0.95_f64, seed: u64,
        ) {
            let mut stated = f64::INFINITY;
            for count in [2000, 32_000] {
                let run = simulated(distribution, confidence, count, seed);
                let (found, exact) = (run.evaluate().unwrap(), run.position.evaluate().unwrap());
                let error = found.sampling_error().unwrap().estimate;
                let distance = (found.risk.value_at_risk - exact.value_at_risk).abs();
                prop_assert!(distance < 3.0 * error, "{distance} {error}");
                prop_assert!(error < 0.5 * stated, "{error} {stated}");
                stated = error;
            }
        }
    }
}

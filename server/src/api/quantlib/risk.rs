//! Market risk: value at risk, expected shortfall, component VaR, backtests and stress scenarios.

pub mod backtest;
pub mod component;
pub mod comprehensive;
pub mod portfolio;
pub mod stress;
pub mod value_at_risk;

use poem_openapi::{Enum, Object, types::Example};
use quant_core::risk;

/// Above so many assets, or returns, the figures may take over a millisecond.
const LONG_FROM: [usize; 2] = [64, 5_000];

/// The distribution of a return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
#[oai(rename_all = "snake_case")]
pub enum ReturnDistribution {
    /// The normal distribution.
    #[default]
    Normal,
    /// Student's t distribution, scaled to the volatility.
    StudentT,
    /// The expansion of Cornish and Fisher by skewness and kurtosis.
    CornishFisher,
}

/// The parameters of the distributions of a return, of which each uses its own.
#[derive(Clone, Copy, Debug, Object)]
pub struct DistributionShape {
    /// Degrees of freedom of `student_t`, above 2 and up to 1,000,000.
    #[oai(
        default = "five",
        validator(minimum(value = "2", exclusive), maximum(value = "1000000"))
    )]
    pub degrees_of_freedom: f64,
    /// Skewness for `cornish_fisher`, from -100 to 100.
    #[oai(default, validator(minimum(value = "-100"), maximum(value = "100")))]
    pub skewness: f64,
    /// Kurtosis less 3 for `cornish_fisher`; at least the square of the skewness less 2.
    #[oai(default, validator(maximum(value = "10000")))]
    pub excess_kurtosis: f64,
}

impl DistributionShape {
    fn of(self, distribution: ReturnDistribution) -> risk::Distribution {
        let Self { degrees_of_freedom, skewness, excess_kurtosis } = self;
        match distribution {
            ReturnDistribution::Normal => risk::Distribution::Normal,
            ReturnDistribution::StudentT => risk::Distribution::StudentT { degrees_of_freedom },
            ReturnDistribution::CornishFisher => {
                risk::Distribution::CornishFisher { skewness, excess_kurtosis }
            }
        }
    }
}

impl Example for DistributionShape {
    fn example() -> Self {
        Self { degrees_of_freedom: five(), skewness: 0.0, excess_kurtosis: 0.0 }
    }
}

/// The losses in the tail, in money and as fractions of the portfolio's value.
#[derive(Clone, Copy, Debug, Object)]
pub struct Losses {
    /// Value at risk, in money: the loss that is not exceeded with the probability of the confidence.
    #[oai(rename = "VaR")]
    pub value_at_risk: f64,
    /// The value at risk again.
    pub var: f64,
    /// Value at risk as a fraction of the portfolio's value.
    pub var_fraction: f64,
    /// Mean loss in the tail, in money.
    pub expected_shortfall: f64,
    /// The expected shortfall again.
    pub cvar: f64,
    /// Expected shortfall as a fraction.
    pub expected_shortfall_fraction: f64,
}

impl Losses {
    fn new(fraction: risk::TailRisk, portfolio_value: f64) -> quant_core::Result<Self> {
        let money = fraction.of_value(portfolio_value)?;
        Ok(Self {
            value_at_risk: money.value_at_risk,
            var: money.value_at_risk,
            var_fraction: fraction.value_at_risk,
            expected_shortfall: money.expected_shortfall,
            cvar: money.expected_shortfall,
            expected_shortfall_fraction: fraction.expected_shortfall,
        })
    }
}

/// The confidence of most of market risk, since Basel's rules of 1996.
fn ninety_nine() -> f64 {
    0.99
}

fn ninety_five() -> f64 {
    0.95
}

fn million() -> f64 {
    1e6
}

/// A usual number of degrees of freedom of daily returns of shares.
fn five() -> f64 {
    5.0
}

fn one() -> f64 {
    1.0
}

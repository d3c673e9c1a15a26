//! Market risk: value at risk, expected shortfall, component VaR, backtests and stress scenarios.

pub mod backtest;
pub mod component;
pub mod comprehensive;
pub mod portfolio;
pub mod stress;
pub mod value_at_risk;

use poem_openapi::Enum;
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

impl ReturnDistribution {
    /// Returns the distribution with its parameters, of which each uses its own.
    fn with(
        self,
        degrees_of_freedom: f64,
        skewness: f64,
        excess_kurtosis: f64,
    ) -> risk::Distribution {
        match self {
            Self::Normal => risk::Distribution::Normal,
            Self::StudentT => risk::Distribution::StudentT { degrees_of_freedom },
            Self::CornishFisher => risk::Distribution::CornishFisher { skewness, excess_kurtosis },
        }
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

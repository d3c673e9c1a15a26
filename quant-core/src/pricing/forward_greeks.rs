//! The derivatives of the price of an option on a forward, for Black's formula and Bachelier's.

use super::greeks::Greeks;
use crate::{Result, check};

/// The assumptions about every option on a forward.
pub(super) const CONVENTIONS: [&str; 4] = [
    "The option is exercised at expiry only, and settled then without a lag.",
    "The payment is discounted from expiry by a constant rate that compounds continuously.",
    "The premium is paid today: one that is margined like a future is not discounted.",
    "Times are in years as given: no day count is applied.",
];

/// The variable that stays constant in derivatives by time and rate.
pub(super) const CONSTANT_FORWARD: &str =
    "Derivatives by time and by the rate are at a constant forward price.";

/// The derivatives of the price of an option on a forward by its arguments.
///
/// The rate and the volatility count in units: divide by 100 for a change per point of a rate or of
/// a lognormal volatility. Times are in years; the derivatives in time are those of its passing,
/// against expiry, while the forward stays where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ForwardGreeks {
    /// The present value of the option, V.
    pub price: f64,
    /// `∂V/∂F`, with F the forward price.
    pub delta: f64,
    /// `∂²V/∂F²`, with F the forward price.
    pub gamma: f64,
    /// `∂V/∂σ`, in money per unit of volatility.
    pub vega: f64,
    /// `∂V/∂t`, in money per year that passes.
    pub theta: f64,
    /// `∂V/∂r` at a constant forward, which is `−TV`.
    pub rho: f64,
    /// `∂V/∂K`, with K the strike.
    pub dual_delta: f64,
    /// `∂²V/∂K²`, with K the strike.
    pub dual_gamma: f64,
    /// `∂²V/∂F∂σ`, the change of delta per unit of volatility.
    pub vanna: f64,
    /// `∂²V/∂σ²`, the change of vega per unit of volatility; also called volga.
    pub vomma: f64,
    /// `∂²V/∂F∂t`, in delta per year that passes.
    pub charm: f64,
    /// `∂²V/∂σ∂t`, in vega per year that passes.
    pub veta: f64,
    /// `∂²V/∂r∂σ` at a constant forward, which is `−T·vega`.
    pub vera: f64,
}

impl ForwardGreeks {
    /// The Greeks of an option that is worthless.
    pub(super) const NONE: Self = Self {
        price: 0.0,
        delta: 0.0,
        gamma: 0.0,
        vega: 0.0,
        theta: 0.0,
        rho: 0.0,
        dual_delta: 0.0,
        dual_gamma: 0.0,
        vanna: 0.0,
        vomma: 0.0,
        charm: 0.0,
        veta: 0.0,
        vera: 0.0,
    };

    /// Returns the Greeks by the forward from those by a spot price whose dividend yield is the
    /// riskless rate.
    pub(super) fn of_spot(greeks: &Greeks, time: f64) -> Result<Self> {
        let with_forward = Self {
            price: greeks.price,
            delta: greeks.delta,
            gamma: greeks.gamma,
            vega: greeks.vega,
            theta: greeks.theta,
            // A change of the rate is one of the yield too: the sum of both would cancel.
            rho: -time * greeks.price,
            dual_delta: greeks.dual_delta,
            dual_gamma: greeks.dual_gamma,
            vanna: greeks.vanna,
            vomma: greeks.vomma,
            charm: greeks.charm,
            veta: greeks.veta,
            vera: -time * greeks.vega,
        };
        with_forward.finite()
    }

    /// Refuses derivatives that are not finite, and makes −0 zero.
    pub(super) fn finite(mut self) -> Result<Self> {
        for (argument, value) in [
            ("forward", &mut self.delta),
            ("forward", &mut self.gamma),
            ("volatility", &mut self.vega),
            ("time_to_maturity", &mut self.theta),
            ("risk_free_rate", &mut self.rho),
            ("strike", &mut self.dual_delta),
            ("strike", &mut self.dual_gamma),
            ("volatility", &mut self.vanna),
            ("volatility", &mut self.vomma),
            ("time_to_maturity", &mut self.charm),
            ("time_to_maturity", &mut self.veta),
            ("volatility", &mut self.vera),
        ] {
            *value = check::result(argument, *value)?;
        }
        Ok(self)
    }
}

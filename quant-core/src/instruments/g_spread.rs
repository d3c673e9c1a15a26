//! The spread of a bond's yield over a government yield.

use crate::arithmetic::decimal::difference;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Result, check};

/// A spread between two yields.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct GSpread {
    /// The spread, an annual decimal.
    pub spread: f64,
    /// The spread in hundredths of a percent.
    pub basis_points: f64,
}

/// Returns the yield of a bond less that of a government bond.
///
/// ```text
/// G = y − y_g
/// ```
///
/// where y is the yield of the bond and y_g that of the government curve at the same maturity, in the
/// same compounding. The difference is that of the decimals as they are written, rounded once.
///
/// # Errors
///
/// [`Error::Domain`](crate::Error::Domain) for a yield that is not finite;
/// [`Error::Overflow`](crate::Error::Overflow) for a spread that is no double.
///
/// # Examples
///
/// ```
/// use quant_core::instruments::g_spread;
///
/// let found = g_spread(0.0525, 0.04)?;
/// assert_eq!((found.spread, found.basis_points), (0.0125, 125.0));
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// O'Kane and Sen (2005), "Credit Spreads Explained", Journal of Credit Risk 1, section 2.
pub fn g_spread(bond_yield: f64, government_yield: f64) -> Result<GSpread> {
    check::finite("bond_yield", bond_yield)?;
    check::finite("govt_yield", government_yield)?;
    let spread = check::result("bond_yield", difference(bond_yield, government_yield))?;
    Ok(GSpread { spread, basis_points: check::result("bond_yield", 1e4 * spread)? })
}

/// Explains [`g_spread`].
///
/// # Errors
///
/// The errors of [`g_spread`].
pub fn explain_g_spread(bond_yield: f64, government_yield: f64) -> Result<Explanation> {
    g_spread(bond_yield, government_yield)?;
    let method = Method::new(
        "yield less government yield",
        "O'Kane and Sen (2005), Credit Spreads Explained, Journal of Credit Risk 1, section 2",
    );
    let error = ErrorStatement::rounding(
        "g_spread",
        0.5 * f64::EPSILON,
        "the difference of the decimals as they are written, rounded once; spreads above 1e-300",
    );
    Ok(Explanation::new(method, error).with_conventions([
        "Both yields have the same compounding, and the government yield is that of the maturity.",
    ]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_finite_is_refused_by_name() {
        assert_eq!(g_spread(f64::NAN, 0.0).unwrap_err().argument(), Some("bond_yield"));
        assert_eq!(g_spread(0.0, f64::INFINITY).unwrap_err().argument(), Some("govt_yield"));
        assert_eq!(g_spread(f64::MAX, f64::MIN).unwrap_err().code(), "overflow");
        assert_eq!(g_spread(1e306, 0.0).unwrap_err().code(), "overflow");
        assert_eq!(g_spread(0.05, 0.05).unwrap().spread.to_bits(), 0);
    }

    proptest! {
        #[test]
        fn the_spread_changes_its_sign_with_the_order(a in -1.0_f64..1.0, b in -1.0_f64..1.0) {
            let (up, down) = (g_spread(a, b).unwrap().spread, g_spread(b, a).unwrap().spread);
            prop_assert_eq!(up, -down);
            prop_assert!((up - (a - b)).abs() <= f64::EPSILON * (a.abs() + b.abs()));
        }
    }

    #[test]
    fn the_stated_error_bounds_that_of_decimals() {
        for (first, second) in [(525, 400), (3, 1), (1, 3), (7, 10), (123_457, 123_456), (-29, 57)]
        {
            for digits in [1e2, 1e4, 1e7] {
                let yields = [first, second].map(|count| f64::from(count) / digits);
                let found = g_spread(yields[0], yields[1]).unwrap().spread;
                let expected = f64::from(first - second) / digits;
                // The nearest double is at most half a unit of the last place away.
                assert_eq!(found, expected, "{yields:?}");
                let stated = explain_g_spread(yields[0], yields[1]).unwrap().error;
                assert_eq!((stated.estimate, stated.is_bound), (0.5 * f64::EPSILON, true));
            }
        }
    }
}

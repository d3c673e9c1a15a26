//! Capital ratios under Basel III.
//!
//! Amounts are in one currency, ratios are fractions: 0.045 is 4.5 %. Not modelled: capital
//! buffers, the composition of the capital. Tier 1 capital below
//! common equity is accepted.

use std::cmp::Ordering;

use crate::arithmetic::decimal::{Decimal, sign_of_sum};
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Result, check};

/// Minimum ratios in thousandths of the risk-weighted assets: common equity, tier 1, total.
const MINIMUM_CET1: u32 = 45;
const MINIMUM_TIER1: u32 = 60;
const MINIMUM_TOTAL: u32 = 80;
/// Minimum of tier 1 capital in thousandths of the exposure.
const MINIMUM_LEVERAGE: u32 = 30;

/// A bank's capital, its risk-weighted assets and its exposure.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Capital {
    /// Common equity tier 1 capital; may be negative.
    pub cet1_capital: f64,
    /// Common equity and additional tier 1 capital; may be negative.
    pub tier1_capital: f64,
    /// Tier 1 and tier 2 capital; may be negative.
    pub total_capital: f64,
    /// Assets weighted by their risk; positive.
    pub risk_weighted_assets: f64,
    /// Exposure measure of the leverage ratio; positive where given.
    pub total_exposure: Option<f64>,
}

/// Capital as fractions of assets and exposure, and the comparison with the minimums.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CapitalRatios {
    /// Common equity tier 1 capital by risk-weighted assets.
    pub cet1_ratio: f64,
    /// Tier 1 capital by risk-weighted assets.
    pub tier1_ratio: f64,
    /// Total capital by risk-weighted assets.
    pub total_capital_ratio: f64,
    /// Tier 1 capital by total exposure; `None` where no exposure was given.
    pub leverage_ratio: Option<f64>,
    /// True if common equity tier 1 capital is at least 4.5 % of risk-weighted assets.
    pub cet1_adequate: bool,
    /// True if tier 1 capital is at least 6 % of risk-weighted assets.
    pub tier1_adequate: bool,
    /// True if total capital is at least 8 % of risk-weighted assets.
    pub total_adequate: bool,
}

/// Capital in excess of its minimums; negative where capital is short of a minimum.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CapitalSurplus {
    /// Common equity tier 1 capital less 4.5 % of the risk-weighted assets.
    pub cet1: f64,
    /// Tier 1 capital less 6 % of the risk-weighted assets.
    pub tier1: f64,
    /// Total capital less 8 % of the risk-weighted assets.
    pub total: f64,
    /// Tier 1 capital less 3 % of the exposure; `None` where no exposure was given.
    pub leverage: Option<f64>,
    /// True if tier 1 capital is at least 3 % of the exposure; `None` where no exposure was given.
    pub leverage_adequate: Option<bool>,
}

impl Capital {
    /// Returns the capital in excess of each minimum, and whether the leverage ratio reaches 3 %.
    ///
    /// The surplus is rounded, and has the sign of the decision on the decimals as written: it is zero
    /// or more exactly where [`ratios`](Self::ratios) finds the capital adequate, or 0 where rounding
    /// has the other sign.
    ///
    /// # Errors
    ///
    /// Those of [`ratios`](Self::ratios).
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::regulatory::Capital;
    ///
    /// let bank = Capital {
    ///     cet1_capital: 4.5, tier1_capital: 5.0, total_capital: 9.0,
    ///     risk_weighted_assets: 100.0, total_exposure: Some(200.0),
    /// };
    /// let surplus = bank.surplus()?;
    /// assert_eq!((surplus.cet1, surplus.tier1, surplus.total), (0.0, -1.0, 1.0));
    /// assert_eq!((surplus.leverage, surplus.leverage_adequate), (Some(-1.0), Some(false)));
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Basel Committee on Banking Supervision (2017), "Basel III: Finalising post-crisis reforms",
    /// leverage ratio, paragraph 7, for the 3 %.
    pub fn surplus(&self) -> Result<CapitalSurplus> {
        self.validate()?;
        let leverage = |exposure| surplus(self.tier1_capital, exposure, MINIMUM_LEVERAGE);
        let assets = self.risk_weighted_assets;
        let adequate = |exposure| is_adequate(self.tier1_capital, exposure, MINIMUM_LEVERAGE);
        Ok(CapitalSurplus {
            cet1: surplus(self.cet1_capital, assets, MINIMUM_CET1)?,
            tier1: surplus(self.tier1_capital, assets, MINIMUM_TIER1)?,
            total: surplus(self.total_capital, assets, MINIMUM_TOTAL)?,
            leverage: self.total_exposure.map(leverage).transpose()?,
            leverage_adequate: self.total_exposure.map(adequate),
        })
    }

    /// Returns the capital ratios and whether each reaches its minimum.
    ///
    /// ```text
    /// ratio = capital / risk_weighted_assets,   leverage_ratio = tier1_capital / total_exposure
    /// adequate ⇔ 1000 · capital ≥ minimum · risk_weighted_assets,   minimum = 45, 60, 80
    /// ```
    ///
    /// where adequacy is decided in whole numbers, on the shortest decimals that denote the
    /// arguments: 4.02 of tier 1 capital to assets of 67 is adequate, although the quotient of
    /// the two doubles is below 0.06. Each ratio is the quotient of its doubles, rounded once. Negative
    /// capital gives a negative ratio and is not adequate.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) where an amount of capital is not finite, or
    /// assets or exposure are not positive; [`Error::Overflow`](crate::Error::Overflow) where a
    /// ratio exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::regulatory::capital_ratios::Capital;
    ///
    /// let bank = Capital {
    ///     cet1_capital: 4.5, tier1_capital: 5.9, total_capital: 8.0,
    ///     risk_weighted_assets: 100.0, total_exposure: Some(236.0),
    /// };
    /// let ratios = bank.ratios()?;
    /// assert_eq!(ratios.cet1_ratio, 0.045);
    /// assert!(ratios.cet1_adequate && !ratios.tier1_adequate && ratios.total_adequate);
    /// assert_eq!(ratios.leverage_ratio, Some(0.025));
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Basel Committee on Banking Supervision (2011), "Basel III: A global regulatory framework
    /// for more resilient banks and banking systems", paragraphs 50 and 153.
    pub fn ratios(&self) -> Result<CapitalRatios> {
        self.validate()?;
        let assets = self.risk_weighted_assets;
        let ratio = |capital: f64| check::result("risk_weighted_assets", capital / assets);
        let leverage_ratio = match self.total_exposure {
            None => None,
            Some(exposure) => Some(check::result("total_exposure", self.tier1_capital / exposure)?),
        };
        Ok(CapitalRatios {
            cet1_ratio: ratio(self.cet1_capital)?,
            tier1_ratio: ratio(self.tier1_capital)?,
            total_capital_ratio: ratio(self.total_capital)?,
            leverage_ratio,
            cet1_adequate: is_adequate(self.cet1_capital, assets, MINIMUM_CET1),
            tier1_adequate: is_adequate(self.tier1_capital, assets, MINIMUM_TIER1),
            total_adequate: is_adequate(self.total_capital, assets, MINIMUM_TOTAL),
        })
    }

    /// Explains [`ratios`](Self::ratios).
    ///
    /// # Errors
    ///
    /// The errors of [`ratios`](Self::ratios).
    pub fn explain_ratios(&self) -> Result<Explanation> {
        self.ratios()?;
        let method = Method::new(
            "capital ratios of Basel III",
            "Basel Committee on Banking Supervision (2011), Basel III: A global regulatory \
             framework for more resilient banks and banking systems, paragraphs 50 and 153",
        );
        let error = ErrorStatement::rounding(
            "every ratio",
            0.5 * f64::EPSILON,
            "half a unit in the last place of one division, where the ratio is a normal double; \
             the comparisons are exact",
        );
        let leverage = match self.total_exposure {
            Some(_) => "The leverage ratio is tier 1 capital by the exposure, as given.",
            None => "Without an exposure there is no leverage ratio.",
        };
        Ok(Explanation::new(method, error).with_conventions([
            "Capital is adequate from 4.5 % (common equity), 6 % (tier 1) and 8 % (total) of the \
             assets.",
            "Capital buffers and national additions are not included.",
            "The comparison takes the shortest decimals that denote the arguments: 4.5 of 100 \
             suffices.",
            "Capital is taken as it is given, after deductions; its composition is not checked.",
            leverage,
        ]))
    }

    fn validate(&self) -> Result<()> {
        check::finite("cet1_capital", self.cet1_capital)?;
        check::finite("tier1_capital", self.tier1_capital)?;
        check::finite("total_capital", self.total_capital)?;
        check::positive("risk_weighted_assets", self.risk_weighted_assets)?;
        self.total_exposure.map_or(Ok(()), |exposure| check::positive("total_exposure", exposure))
    }
}

/// Returns `capital` less `minimum` thousandths of `assets`, with the sign of their decimals.
fn surplus(capital: f64, assets: f64, minimum: u32) -> Result<f64> {
    let rest = capital - assets * (f64::from(minimum) / 1000.0);
    let signed = if is_adequate(capital, assets, minimum) { rest.max(0.0) } else { rest.min(0.0) };
    check::result("risk_weighted_assets", signed)
}

/// Returns whether `capital` is at least `minimum` thousandths of `assets`, as decimal numbers.
fn is_adequate(capital: f64, assets: f64, minimum: u32) -> bool {
    if capital <= 0.0 {
        return false;
    }
    // Normal doubles and their decimals agree to 1.2e-16 of themselves, so only quotients this
    // close to the minimum need the decimals.
    let quotient = capital / assets;
    let excess = 1000.0 * quotient / f64::from(minimum) - 1.0;
    let are_normal = [capital, assets, quotient].into_iter().all(f64::is_normal);
    if are_normal && excess.abs() > 1e-14 {
        return excess > 0.0;
    }
    let excess = [(1000, Decimal::of(capital)), (-i64::from(minimum), Decimal::of(assets))];
    sign_of_sum(excess) != Ordering::Less
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use proptest::prelude::*;

    fn bank(capital: f64, assets: f64) -> Capital {
        Capital {
            cet1_capital: capital,
            tier1_capital: capital,
            total_capital: capital,
            risk_weighted_assets: assets,
            total_exposure: None,
        }
    }

    #[test]
    fn capital_exactly_at_its_minimum_is_adequate_and_one_unit_below_is_not() {
        // Decimals with 2 places: the plain quotient misjudges every tenth of these.
        let parse = |units: u64, places: i32| format!("{units}e-{places}").parse::<f64>();
        for assets in 1_u64..20_000 {
            for (minimum, places) in [(45, 5), (60, 5), (80, 5)] {
                let capital = parse(minimum * assets, places).expect("a number");
                let below = parse(minimum * assets - 1, places).expect("a number");
                let assets = parse(assets, 2).expect("a number");
                assert!(is_adequate(capital, assets, minimum as u32), "{capital} of {assets}");
                assert!(!is_adequate(below, assets, minimum as u32), "{below} of {assets}");
            }
        }
    }

    #[test]
    fn the_extremes_are_decided_too() {
        assert!(is_adequate(4.5e-310, 1e-308, 45));
        assert!(!is_adequate(4.4e-310, 1e-308, 45));
        assert!(!is_adequate(5e-324, 1.7e308, 45));
        assert!(is_adequate(1.7e308, 5e-324, 80));
        assert!(is_adequate(8e306, 1e308, 80));
        // The doubles of these are 1 and 22 times the smallest, whose quotient is 0.04545….
        assert!(is_adequate(5e-324, 1.1e-322, 45));
    }

    #[test]
    fn negative_capital_gives_negative_ratios_and_is_not_adequate() {
        let ratios = bank(-3.0, 100.0).ratios().expect("ratios");
        assert_eq!(ratios.cet1_ratio, -0.03);
        assert!(!ratios.cet1_adequate && !ratios.tier1_adequate && !ratios.total_adequate);
    }

    #[test]
    fn no_capital_gives_a_ratio_of_zero_without_a_sign() {
        let ratios = bank(-0.0, 100.0).ratios().expect("ratios");
        assert!(ratios.cet1_ratio == 0.0 && ratios.cet1_ratio.is_sign_positive());
        assert!(!ratios.cet1_adequate);
    }

    #[test]
    fn assets_and_exposure_must_be_positive() {
        for assets in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = bank(1.0, assets).ratios().expect_err("refused");
            assert_eq!(error.argument(), Some("risk_weighted_assets"));
        }
        let error = Capital { total_exposure: Some(0.0), ..bank(1.0, 1.0) }.ratios();
        assert_eq!(error.expect_err("refused").argument(), Some("total_exposure"));
    }

    #[test]
    fn a_ratio_beyond_the_largest_double_is_refused() {
        let error = bank(1e300, 1e-300).ratios().expect_err("refused");
        assert_eq!(error, Error::Overflow { argument: "risk_weighted_assets" });
    }

    #[test]
    fn a_surplus_has_the_sign_of_the_decision() {
        // 0.06 × 67 is 4.02 in decimals, and more in doubles.
        let bank = Capital { total_exposure: Some(134.0), ..bank(4.02, 67.0) };
        let surplus = bank.surplus().unwrap();
        assert_eq!((surplus.tier1, surplus.leverage_adequate), (0.0, Some(true)));
        assert!(surplus.cet1 > 1.0 && surplus.total < -1.0);
        assert_eq!(Capital { total_exposure: None, ..bank }.surplus().unwrap().leverage, None);
    }

    proptest! {
        /// The decision is that of whole numbers, for any number of decimal places.
        #[test]
        fn adequacy_is_that_of_the_decimals(
            assets in 1_u64..1_000_000_000_000, tie in -3_i64..=3, places in 0_i32..12,
        ) {
            let capital = 45 * assets as i64 + tie;
            let read = |text: String| text.parse::<f64>().expect("a number");
            let adequate = is_adequate(
                read(format!("{capital}e-{}", places + 3)), read(format!("{assets}e-{places}")), 45,
            );
            prop_assert_eq!(adequate, tie >= 0);
        }
    }
}

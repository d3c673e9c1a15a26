//! Altman's score of financial distress for listed manufacturers.

use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::named::named;
use crate::{Result, check};

/// The scores above which a firm is safe and below which it is in distress.
const SAFE: f64 = 2.99;
const DISTRESS: f64 = 1.81;

/// The relative distance within which a score counts as its bound: the rounding of its terms.
const ROUNDING: f64 = 4e-15;

/// The error of a score, in units of its largest term: that of a few products and quotients.
const SCORE_ERROR: f64 = 2e-15;

/// The accounts of a firm that Altman's score reads.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AltmanZ {
    /// Current assets less current liabilities; of any sign.
    pub working_capital: f64,
    /// Total assets; positive.
    pub total_assets: f64,
    /// Retained earnings; of any sign.
    pub retained_earnings: f64,
    /// Earnings before interest and taxes; of any sign.
    pub ebit: f64,
    /// Market value of the equity; zero or positive.
    pub market_cap: f64,
    /// Book value of all liabilities; positive.
    pub total_liabilities: f64,
    /// Sales of the year; zero or positive.
    pub revenue: f64,
}

/// Altman's score with its ratios and terms.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct AltmanScore {
    /// The sum of the terms.
    pub z_score: f64,
    /// Working capital, retained earnings, EBIT and sales over total assets, and market value of the
    /// equity over total liabilities, in the order of the paper: sales come last.
    pub ratios: [f64; 5],
    /// Each ratio times its coefficient.
    pub terms: [f64; 5],
    /// The zone of the score.
    pub zone: DistressZone,
}

/// The meaning of Altman's score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DistressZone {
    /// A score above 2.99: no firm of the sample went bankrupt.
    Safe,
    /// A score from 1.81 to 2.99, the zone of ignorance.
    Grey,
    /// A score below 1.81: all firms of the sample went bankrupt.
    Distress,
}

named!(DistressZone, "zone", Safe = "safe", Grey = "grey" | "gray", Distress = "distress");

impl AltmanZ {
    /// Returns the score with its ratios, terms and zone.
    ///
    /// ```text
    /// Z = 1.2 WC/TA + 1.4 RE/TA + 3.3 EBIT/TA + 0.6 MVE/TL + 0.999 S/TA
    /// ```
    ///
    /// with working capital WC, total assets TA, retained earnings RE, market value of the equity MVE,
    /// total liabilities TL and sales S, all in one currency. A score within rounding of 1.81 or 2.99 is
    /// in the grey zone.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for the first argument outside its documented range;
    /// [`Error::Overflow`](crate::Error::Overflow) where a ratio exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::analysis::{AltmanZ, DistressZone};
    ///
    /// let firm = AltmanZ {
    ///     working_capital: 200.0, total_assets: 2000.0, retained_earnings: 400.0, ebit: 200.0,
    ///     market_cap: 2000.0, total_liabilities: 1200.0, revenue: 1000.0,
    /// };
    /// let score = firm.score()?;
    /// assert!((score.z_score - 2.2295).abs() < 1e-12);
    /// assert_eq!(score.zone, DistressZone::Grey);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Altman (1968), "Financial Ratios, Discriminant Analysis and the Prediction of Corporate
    /// Bankruptcy", equation I, where the first four ratios are percentages.
    pub fn score(&self) -> Result<AltmanScore> {
        self.validate()?;
        let ratios = [
            check::result("total_assets", self.working_capital / self.total_assets)?,
            check::result("total_assets", self.retained_earnings / self.total_assets)?,
            check::result("total_assets", self.ebit / self.total_assets)?,
            check::result("total_liabilities", self.market_cap / self.total_liabilities)?,
            check::result("total_assets", self.revenue / self.total_assets)?,
        ];
        let coefficients = [1.2, 1.4, 3.3, 0.6, 0.999];
        let mut terms = [0.0; 5];
        for (term, (ratio, coefficient)) in terms.iter_mut().zip(ratios.iter().zip(coefficients)) {
            *term = check::result("total_assets", coefficient * ratio)?;
        }
        let z_score = check::result("total_assets", terms.iter().sum())?;
        // The terms may be larger than the score.
        let rounding = ROUNDING * terms.iter().fold(1.0_f64, |most, term| most.max(term.abs()));
        let zone = if z_score > SAFE + rounding {
            DistressZone::Safe
        } else if z_score < DISTRESS - rounding {
            DistressZone::Distress
        } else {
            DistressZone::Grey
        };
        Ok(AltmanScore { z_score, ratios, terms, zone })
    }

    /// Explains [`score`](Self::score).
    ///
    /// # Errors
    ///
    /// The errors of [`score`](Self::score).
    pub fn explain(&self) -> Result<Explanation> {
        let score = self.score()?;
        let largest = score.terms.iter().fold(1.0_f64, |most, term| most.max(term.abs()));
        let method = Method::new(
            "Altman's Z-score for listed manufacturers",
            "Altman (1968), Financial Ratios, Discriminant Analysis and the Prediction of Corporate \
             Bankruptcy, equation I",
        );
        let error = ErrorStatement::rounding_within(
            "z_score",
            SCORE_ERROR * largest,
            "in units of the largest term, or of 1; largest error against exact fractions",
        );
        Ok(Explanation::new(method, error).with_conventions([
            "The five ratios are decimals, where the paper has percentages for four of them.",
            "The coefficient of sales over total assets is 0.999.",
            "Equity counts at its market value over the book value of all liabilities.",
            "Above 2.99 is safe, below 1.81 distress; a score within rounding of either is grey.",
            "The versions for private firms and for other firms than manufacturers are not used.",
        ]))
    }

    fn validate(&self) -> Result<()> {
        check::finite("working_capital", self.working_capital)?;
        check::positive("total_assets", self.total_assets)?;
        check::finite("retained_earnings", self.retained_earnings)?;
        check::finite("ebit", self.ebit)?;
        check::not_negative("market_cap", self.market_cap)?;
        check::positive("total_liabilities", self.total_liabilities)?;
        check::not_negative("revenue", self.revenue)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A firm with these ratios, the first four in per cent as the paper prints them.
    fn firm(percent: [f64; 4], turnover: f64) -> AltmanZ {
        let [working_capital, retained_earnings, ebit, market_cap] = percent;
        AltmanZ {
            working_capital,
            total_assets: 100.0,
            retained_earnings,
            ebit,
            market_cap,
            total_liabilities: 100.0,
            revenue: 100.0 * turnover,
        }
    }

    #[test]
    fn the_printed_example_has_its_score() {
        // Hull, "Risk Management and Financial Institutions", the example of the Z-score: 5.46.
        let firm = AltmanZ {
            working_capital: 170_000.0,
            total_assets: 670_000.0,
            retained_earnings: 300_000.0,
            ebit: 60_000.0,
            market_cap: 380_000.0,
            total_liabilities: 240_000.0,
            revenue: 2_200_000.0,
        };
        let score = firm.score().unwrap();
        assert!((score.z_score - 5.46).abs() < 0.005, "{score:?}");
        assert_eq!(score.zone, DistressZone::Safe);
    }

    #[test]
    fn the_ratios_of_the_paper_have_their_scores() {
        // Ratios as the means of Altman (1968), table 1: the bankrupt and the other firms. The weighted
        // sums are exact decimals.
        let bankrupt = firm([-6.1, -62.6, -31.8, 40.1], 1.5).score().unwrap();
        let other = firm([41.4, 35.5, 15.4, 247.7], 1.9).score().unwrap();
        assert!((bankrupt.z_score - -0.2599).abs() < 1e-14, "{bankrupt:?}");
        assert!((other.z_score - 4.8863).abs() < 1e-14, "{other:?}");
        assert_eq!((bankrupt.zone, other.zone), (DistressZone::Distress, DistressZone::Safe));
    }

    #[test]
    fn a_score_at_a_bound_is_in_the_grey_zone() {
        let at = |market_cap: f64| firm([0.0, 0.0, 0.0, market_cap], 0.0).score().unwrap();
        for market_cap in [2.99 / 0.6 * 100.0, 1.81 / 0.6 * 100.0] {
            assert_eq!(at(market_cap).zone, DistressZone::Grey, "{market_cap}");
        }
        assert_eq!(at(2.99 / 0.6 * 100.0 + 1e-9).zone, DistressZone::Safe);
        assert_eq!(at(1.81 / 0.6 * 100.0 - 1e-9).zone, DistressZone::Distress);
    }

    #[test]
    fn a_denominator_of_zero_is_refused_by_name() {
        let sound = firm([1.0; 4], 1.0);
        let refused = |firm: AltmanZ| firm.score().unwrap_err().argument().unwrap();
        assert_eq!(refused(AltmanZ { total_assets: 0.0, ..sound }), "total_assets");
        assert_eq!(refused(AltmanZ { total_liabilities: 0.0, ..sound }), "total_liabilities");
        assert_eq!(refused(AltmanZ { market_cap: -1.0, ..sound }), "market_cap");
        assert_eq!(refused(AltmanZ { ebit: f64::NAN, ..sound }), "ebit");
        let tiny = AltmanZ { total_assets: 1e-300, ebit: 1e300, ..sound };
        assert_eq!(tiny.score().unwrap_err().code(), "overflow");
    }

    proptest! {
        #[test]
        fn a_score_has_no_currency(percent in prop::array::uniform4(0.0..500.0), turnover in 0.0..9.0, power in -40_i32..40) {
            let firm = firm(percent, turnover);
            let unit = libm::ldexp(1.0, power);
            let scaled = AltmanZ {
                working_capital: firm.working_capital * unit,
                total_assets: firm.total_assets * unit,
                retained_earnings: firm.retained_earnings * unit,
                ebit: firm.ebit * unit,
                market_cap: firm.market_cap * unit,
                total_liabilities: firm.total_liabilities * unit,
                revenue: firm.revenue * unit,
            };
            prop_assert_eq!(firm.score(), scaled.score());
        }
    }
}

//! Explanations of the prices, the yields and the sensitivities of a fixed bond.

use std::borrow::Cow;

use chrono::NaiveDate;

use super::claim::Claim;
use super::{BondMeasures, YieldConvention};
use crate::Result;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::instruments::fixed_bond::FixedBond;

/// The tested error of prices in units of the dirty price, and of measures in units of themselves.
const BOUND: f64 = 8.0 * f64::EPSILON;

impl YieldConvention {
    /// Returns the source of the price at a yield.
    const fn source(self) -> &'static str {
        match self {
            Self::Street => "Mayle (1993), Standard Securities Calculation Methods, volume 1",
            Self::Treasury => "31 CFR part 356, appendix B, section II",
        }
    }

    /// Returns a sentence on the running coupon period.
    const fn sentence(self) -> &'static str {
        match self {
            Self::Street => "The rest of the running period is discounted by compound interest.",
            Self::Treasury => "The rest of the running period is discounted by simple interest.",
        }
    }
}

impl FixedBond {
    /// Explains [`clean_price`](Self::clean_price).
    ///
    /// # Errors
    ///
    /// The errors of [`measures`](Self::measures).
    pub fn explain_price(
        &self,
        settlement_date: NaiveDate,
        yield_to_maturity: f64,
        convention: YieldConvention,
    ) -> Result<Explanation> {
        let found = self.measures(settlement_date, yield_to_maturity, convention)?;
        let error = ErrorStatement::rounding_within(
            "clean_price",
            BOUND * found.dirty_price.abs(),
            "largest error against 50 digits in units of the dirty price, yields from -50 % to 100 %",
        );
        let method = Method::new("discounted payments at one yield", convention.source());
        Ok(self.explained(Explanation::new(method, error), convention))
    }

    /// Explains [`yield_to_maturity`](Self::yield_to_maturity).
    ///
    /// # Errors
    ///
    /// The errors of [`yield_to_maturity`](Self::yield_to_maturity) and of
    /// [`measures`](Self::measures).
    pub fn explain_yield(
        &self,
        settlement_date: NaiveDate,
        clean_price: f64,
        convention: YieldConvention,
    ) -> Result<Explanation> {
        let rate = self.yield_to_maturity(settlement_date, clean_price, convention)?;
        let (_, steps) = Claim::of(self, settlement_date)?.solve(clean_price, convention)?;
        let BondMeasures { clean_price: found, accrued_interest, dv01, .. } =
            self.measures(settlement_date, rate, convention)?;
        let slope = 1e4 * dv01;
        let size = clean_price.abs().max(accrued_interest.abs());
        let error = ErrorStatement::solved(
            "yield",
            (found - clean_price, slope),
            4.0 * f64::EPSILON * (rate.abs() + (size / slope).abs()),
            "the price at the yield less the price given, over the derivative of the price, and four \
             roundings of the yield and of the price",
        );
        let method = Method::new("Newton's method in twice the precision", convention.source());
        Ok(self.explained(Explanation::new(method, error).with_steps(steps), convention))
    }

    /// Explains [`measures`](Self::measures) and [`key_rate_dv01s`](Self::key_rate_dv01s).
    ///
    /// # Errors
    ///
    /// The errors of [`measures`](Self::measures).
    pub fn explain_measures(
        &self,
        settlement_date: NaiveDate,
        yield_to_maturity: f64,
        convention: YieldConvention,
    ) -> Result<Explanation> {
        self.measures(settlement_date, yield_to_maturity, convention)?;
        let method = Method::new(
            "derivatives of the price by the yield",
            "Macaulay (1938), Some Theoretical Problems Suggested by the Movements of Interest Rates; \
             Mayle (1994), Standard Securities Calculation Methods, volume 2",
        );
        let error = ErrorStatement::rounding(
            "modified_duration",
            BOUND,
            "largest relative error against 50 digits, of durations, convexity and DV01 alike",
        );
        Ok(self.explained(Explanation::new(method, error), convention).with_conventions([
            "Sensitivities are those of the dirty price, in closed form, not by differences.",
            "The DV01 is the loss for a rise of the yield by a hundredth of a percent.",
        ]))
    }

    /// Adds the conventions of a yield.
    fn explained(&self, explanation: Explanation, convention: YieldConvention) -> Explanation {
        let compounding: Cow<'static, str> = format!(
            "The yield is compounded {} times a year, once in each coupon period.",
            self.frequency.count()
        )
        .into();
        explanation.with_conventions(self.conventions()).with_conventions([
            compounding,
            convention.sentence().into(),
            "Payments are discounted from the ends of their periods, not from business days."
                .into(),
            "The clean price is the dirty price less the accrued interest.".into(),
        ])
    }
}

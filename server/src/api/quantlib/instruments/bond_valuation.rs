//! The value of a fixed-rate bond at a yield or a price.

use poem_openapi::{Enum, Object};
use quant_core::{
    Error,
    instruments::{bond_yield, fixed_bond::FixedBond},
    time::NaiveDate,
};

use crate::http::{Date, JsonString, without_negative_zero};

/// The discounting of a yield over the remaining part of the coupon period at settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase", remote = "bond_yield::YieldConvention")]
pub enum YieldConvention {
    /// By compound interest, as over whole periods.
    Street,
    /// By simple interest, as the United States Treasury prices its auctions.
    Treasury,
}

pub(super) fn street() -> YieldConvention {
    YieldConvention::Street
}

/// The value of a bond at a yield or a price, beside its cash flows.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BondValuation")]
pub struct BondValuation {
    /// Price without accrued interest, as it is quoted.
    pub clean_price: f64,
    /// Price with accrued interest, as it is paid.
    pub dirty_price: f64,
    /// Interest earned before the settlement and paid after it.
    pub accrued_interest: f64,
    /// Yield to maturity, an annual decimal, compounded `frequency` times a year.
    pub yield_rate: f64,
    /// Mean time of the payments in years, weighted by their present values.
    pub macaulay_duration: f64,
    /// Part of the price lost for a rise of the yield, per 1.00 of the yield: in years.
    pub modified_duration: f64,
    /// Second derivative of the price in the yield, as a part of the price: in years squared.
    pub convexity: f64,
    /// Money lost for a rise of the yield by a basis point.
    pub dv01: f64,
    /// The day of purchase.
    pub settlement_date: Date,
}

impl BondValuation {
    /// Makes the valuation at a yield.
    fn new(found: &bond_yield::BondMeasures, yield_rate: f64, settlement: NaiveDate) -> Self {
        Self {
            clean_price: found.clean_price,
            dirty_price: found.dirty_price,
            accrued_interest: found.accrued_interest,
            yield_rate: without_negative_zero(yield_rate),
            macaulay_duration: found.macaulay_duration,
            modified_duration: found.modified_duration,
            convexity: found.convexity,
            dv01: found.dv01,
            settlement_date: JsonString(settlement),
        }
    }
}

/// What a bond is valued at.
#[derive(Clone, Copy, Debug)]
pub(super) enum BondQuote {
    Yield(f64),
    CleanPrice(f64),
}

impl BondQuote {
    /// Returns the quote of a request; refuses a yield beside a price.
    pub(super) fn read(
        yield_rate: Option<f64>,
        clean_price: Option<f64>,
    ) -> quant_core::Result<Option<Self>> {
        match (yield_rate, clean_price) {
            (None, None) => Ok(None),
            (Some(rate), None) => Ok(Some(Self::Yield(rate))),
            (None, Some(price)) => Ok(Some(Self::CleanPrice(price))),
            (Some(_), Some(_)) => Err(Error::Conflict {
                argument: "clean_price",
                problem: "cannot stand beside `yield_rate`: send one of them",
            }),
        }
    }

    /// Returns the value of a bond at the quote.
    pub(super) fn value(
        self,
        bond: &FixedBond,
        settlement: NaiveDate,
        convention: YieldConvention,
    ) -> quant_core::Result<BondValuation> {
        let convention = convention.into();
        match self {
            Self::Yield(rate) => {
                let found = bond.measures(settlement, rate, convention)?;
                Ok(BondValuation::new(&found, rate, settlement))
            }
            Self::CleanPrice(price) => {
                let rate = bond.yield_to_maturity(settlement, price, convention)?;
                // The price drives a yield out of range.
                let found =
                    bond.measures(settlement, rate, convention).map_err(|error| {
                        error.renamed(|name| {
                            if name == "yield_to_maturity" { "clean_price" } else { name }
                        })
                    })?;
                // The price that was sent, without the rounding of its yield.
                let clean_price = without_negative_zero(price);
                Ok(BondValuation { clean_price, ..BondValuation::new(&found, rate, settlement) })
            }
        }
    }
}

/// The name of an argument of a bond at a yield in the request.
pub(super) fn yield_name(argument: &'static str) -> &'static str {
    if argument == "yield_to_maturity" { "yield_rate" } else { argument }
}

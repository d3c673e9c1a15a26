//! The value of a swap of fixed against floating payments, shared by all kinds of floating rate.

use super::leg::{CouponFlow, SwapCurves, SwapLeg, change};
use super::rate_risk::RateRisk;
use crate::explanation::ErrorStatement;
use crate::named::named;
use crate::time::NaiveDate;
use crate::{Error, Result, check};

/// The side of a swap: the fixed rate is paid or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SwapSide {
    /// Pays the fixed rate and receives the floating one; named `payer`.
    Payer,
    /// Receives the fixed rate and pays the floating one; named `receiver`.
    Receiver,
}

named!(SwapSide, "swap_type", Payer = "payer", Receiver = "receiver");

impl SwapSide {
    /// Returns the sign of a change of the floating leg's value in that of the swap.
    pub(super) const fn sign(self) -> f64 {
        match self {
            Self::Payer => 1.0,
            Self::Receiver => -1.0,
        }
    }
}

/// The value of a swap and of its legs.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SwapValue {
    /// Present value of the swap to its holder.
    pub npv: f64,
    /// Fixed rate at which the present value is 0; `None` where no fixed payment is left.
    pub par_rate: Option<f64>,
    /// Value of a fixed rate of 1 on a notional of 1: the sum of year fractions times discount
    /// factors.
    pub annuity: f64,
    /// Value of a basis point of the fixed rate on the notional.
    pub pv01: f64,
    /// The fixed payments that are still due, as positive values for a positive rate.
    pub fixed_leg: SwapLeg,
    /// The floating payments that are still due.
    pub floating_leg: SwapLeg,
}

/// A swap as the payments that are still due.
pub(super) struct SwapFlows {
    pub(super) side: SwapSide,
    pub(super) notional: f64,
    pub(super) fixed: Vec<CouponFlow>,
    pub(super) floating: Vec<CouponFlow>,
}

impl SwapFlows {
    pub(super) fn value(&self, curves: &SwapCurves<'_>) -> Result<SwapValue> {
        let fixed_leg = SwapLeg::of(&self.fixed, self.notional, curves)?;
        let floating_leg = SwapLeg::of(&self.floating, self.notional, curves)?;
        let npv = self.side.sign() * (floating_leg.present_value - fixed_leg.present_value);
        let annuity = fixed_leg.annuity;
        let par_rate = floating_leg.present_value / (self.notional * annuity);
        let has_rate = annuity > 0.0;
        Ok(SwapValue {
            npv: check::result("notional", npv)?,
            par_rate: has_rate.then(|| check::result("curves", par_rate)).transpose()?,
            annuity,
            pv01: check::result("notional", self.notional * annuity / 10_000.0)?,
            fixed_leg,
            floating_leg,
        })
    }

    pub(super) fn risk(&self, curves: &SwapCurves<'_>) -> Result<RateRisk> {
        let holding = self.side.sign() * self.notional;
        RateRisk::of(curves, |shifts| {
            let floating = change(&self.floating, curves, shifts)?;
            Ok(holding * (floating - change(&self.fixed, curves, shifts)?))
        })
    }
}

/// Returns sentences on the payments of a swap that are due and on its running period.
pub(super) fn payment_sentences(
    effective_date: NaiveDate,
    today: NaiveDate,
    has_fixing: bool,
) -> [&'static str; 2] {
    let running = if has_fixing && effective_date <= today {
        "The running period pays the fixing that was given."
    } else if effective_date < today {
        "The running period has no fixing: it earns what the curve gives for its rest, by the days."
    } else {
        "All floating rates are those of the curve."
    };
    ["Payments on or before the reference date of the curve are left out.", running]
}

impl SwapValue {
    /// Returns the size in which roundings are counted: the notional and the values of both legs.
    fn size(&self, notional: f64) -> f64 {
        notional + self.fixed_leg.present_value.abs() + self.floating_leg.present_value.abs()
    }

    /// States the error of the present value.
    pub(super) fn value_error(&self, notional: f64) -> ErrorStatement {
        ErrorStatement::rounding_within(
            "npv",
            8.0 * f64::EPSILON * self.size(notional),
            "largest error against 50 digits in units of the notional and the values of both legs",
        )
    }

    /// States the error of the par rate.
    pub(super) fn par_rate_error(&self, notional: f64) -> ErrorStatement {
        ErrorStatement::rounding_within(
            "par_rate",
            32.0 * f64::EPSILON * (self.size(notional) / notional / self.annuity),
            "largest error against 50 digits in units of the values of both legs over the annuity",
        )
    }

    /// Returns the par rate, and refuses a swap without a fixed payment that is still due.
    pub(super) fn require_par_rate(&self) -> Result<f64> {
        self.par_rate.ok_or(Error::Conflict {
            argument: "maturity_date",
            problem: "leaves no fixed payment after the reference date, and so no par rate",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::curves::{Conventions, Curve, Instrument, InstrumentKind, Interpolation, Market};
    use crate::instruments::{
        Deposit, ForwardRateAgreement, InterestRateSwap, LegTerms, OvernightIndex, OvernightSwap,
    };
    use crate::time::{NaiveDate, Tenor};

    fn tenor(text: &str) -> Tenor {
        text.parse().unwrap()
    }

    /// Deposits, forward rate agreements, overnight swaps and par swaps of a market.
    fn quotes(market: Market, level: f64, noise: &[f64]) -> Vec<Instrument> {
        let agreement = |start| InstrumentKind::ForwardRateAgreement { start: tenor(start) };
        let rows = [
            (InstrumentKind::Deposit, "1W"),
            (InstrumentKind::Deposit, "3M"),
            (agreement("3M"), "6M"),
            (agreement("6M"), "9M"),
            (InstrumentKind::OvernightIndexedSwap, "1Y"),
            (InstrumentKind::OvernightIndexedSwap, "18M"),
            (InstrumentKind::OvernightIndexedSwap, "2Y"),
            (InstrumentKind::Swap, "3Y"),
            (InstrumentKind::Swap, "7Y"),
            (InstrumentKind::Swap, "12Y"),
            (InstrumentKind::Swap, "30Y"),
        ];
        let quote = |(kind, length): (InstrumentKind, &str), noise| Instrument {
            kind,
            tenor: tenor(length),
            rate: level + noise,
            frequency: market.frequency(kind),
            conventions: Some(market.conventions(kind)),
        };
        rows.into_iter().zip(noise).map(|(row, noise)| quote(row, noise)).collect()
    }

    fn months(tenor: Tenor) -> u32 {
        u32::try_from(tenor.total_months()).unwrap()
    }

    /// The value of an instrument at its quote, by its public type, on a notional of one.
    fn mispricing(instrument: &Instrument, curve: &Curve) -> f64 {
        let conventions: Conventions = instrument.conventions.unwrap();
        let effective_date = conventions.settlement_date(curve.reference_date()).unwrap();
        let maturity_date = conventions.maturity_date(effective_date, instrument.tenor).unwrap();
        let fixed_rate = instrument.rate;
        let terms = LegTerms::from_conventions(&conventions, instrument.frequency);
        let curves = SwapCurves::single(curve);
        match instrument.kind {
            InstrumentKind::Deposit => {
                let Conventions { day_count, calendar, convention, .. } = conventions;
                let deposit = Deposit {
                    start_date: effective_date,
                    maturity_date,
                    notional: 1.0,
                    rate: fixed_rate,
                    day_count,
                    calendar,
                    convention,
                };
                let value = deposit.value().unwrap();
                let factor = |date| curve.at_date(date).unwrap().discount_factor;
                factor(value.start_date) - value.maturity_value * factor(value.maturity_date)
            }
            InstrumentKind::ForwardRateAgreement { start } => {
                let agreement = ForwardRateAgreement {
                    side: SwapSide::Payer,
                    notional: 1.0,
                    fixed_rate,
                    trade_date: curve.reference_date(),
                    start_months: months(start),
                    end_months: months(instrument.tenor),
                    conventions,
                };
                agreement.value(&curves).unwrap().npv
            }
            InstrumentKind::OvernightIndexedSwap => {
                let is_actual_365 = conventions.day_count == OvernightIndex::Sonia.day_count();
                let swap = OvernightSwap {
                    side: SwapSide::Payer,
                    notional: 1.0,
                    effective_date,
                    maturity_date,
                    fixed_rate,
                    floating_spread: 0.0,
                    index: if is_actual_365 { OvernightIndex::Sonia } else { OvernightIndex::Sofr },
                    terms,
                    current_fixing: None,
                };
                swap.value(&curves).unwrap().npv
            }
            _ => {
                let swap = InterestRateSwap {
                    side: SwapSide::Payer,
                    notional: 1.0,
                    effective_date,
                    maturity_date,
                    fixed_rate,
                    floating_spread: 0.0,
                    fixed_terms: terms,
                    floating_terms: terms,
                    current_fixing: None,
                };
                swap.value(&curves).unwrap().npv
            }
        }
    }

    proptest! {
        #[test]
        fn every_quote_of_a_bootstrap_is_met_by_its_public_type(
            start in 730_000_i32..745_000, market in 0_usize..3, which in 0_usize..4, level in -0.005..0.08,
            noise in prop::collection::vec(-0.001..0.001, 11),
        ) {
            let today = NaiveDate::from_num_days_from_ce_opt(start).unwrap();
            let instruments = quotes(Market::ALL[market], level, &noise);
            let curve = Curve::bootstrap(today, &instruments, Interpolation::ALL[which]).unwrap();
            for instrument in &instruments {
                let found = mispricing(instrument, &curve);
                prop_assert!(found.abs() <= 1e-14, "{found:e} {instrument:?}");
            }
        }
    }
}

//! The value of a quoted instrument on a curve, and the bootstrap with its repricing errors.

use super::compounding::Compounding;
use super::curve::Curve;
use super::instrument::{Instrument, InstrumentFlows, InstrumentKind};
use super::interpolation::Interpolation;
use crate::{Error, Result, check, time::NaiveDate};

/// The largest number of steps to the rate of an instrument with compound interest; five are usual.
const MAX_STEPS: u32 = 60;

/// The value of a quoted instrument on a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Repricing {
    /// Date of the last payment.
    pub maturity_date: NaiveDate,
    /// Time of the start of the interest, in years.
    pub start: f64,
    /// Time of the last payment, in years.
    pub tenor: f64,
    /// Value on the curve for the receiver of the quoted rate, per unit of principal; 0 at the quote.
    pub present_value: f64,
    /// Value of the interest by the rate: of one unit a year where the interest is simple.
    pub annuity: f64,
    /// The rate at which the instrument is worth nothing; of a future with its convexity.
    pub implied_rate: f64,
    /// The implied rate less the quoted one.
    pub error: f64,
}

/// A bootstrapped curve with the proof that it prices its instruments.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct BootstrapReport {
    /// The curve.
    pub curve: Curve,
    /// Passes over all pillars, with the steps of Newton's method for all of them at once; 1 where
    /// every pillar follows from those before.
    pub iterations: u32,
    /// Every instrument on the curve, in the order of the quotes.
    pub repricings: Vec<Repricing>,
    /// The largest absolute present value of an instrument, per unit of principal.
    pub residual: f64,
    /// The largest absolute error of an implied rate.
    pub largest_error: f64,
}

impl Curve {
    /// Returns the curve of [`bootstrap`](Self::bootstrap) with the value of every instrument on the curve.
    ///
    /// # Errors
    ///
    /// Those of [`bootstrap`](Self::bootstrap) and of [`reprice`](Self::reprice).
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::{Curve, Instrument, InstrumentKind, Interpolation};
    /// use quant_core::time::{Frequency, NaiveDate};
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
    /// let swap = |tenor: &str, rate| {
    ///     let (kind, frequency) = (InstrumentKind::Swap, Frequency::Annual);
    ///     Ok(Instrument { kind, tenor: tenor.parse()?, rate, frequency, conventions: None })
    /// };
    /// let instruments = [swap("1Y", 0.05)?, swap("10Y", 0.06)?];
    /// let report = Curve::bootstrap_with_report(today, &instruments, Interpolation::Cubic)?;
    /// assert!(report.iterations > 1 && report.residual < 1e-14 && report.largest_error < 1e-14);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn bootstrap_with_report(
        reference_date: NaiveDate,
        instruments: &[Instrument],
        interpolation: Interpolation,
    ) -> Result<BootstrapReport> {
        let (curve, iterations) =
            Self::bootstrap_counted(reference_date, instruments, interpolation)?;
        let quotes = instruments.iter().enumerate();
        let repricings = quotes.map(|(index, instrument)| curve.reprice_at(index, instrument));
        let repricings = repricings.collect::<Result<Vec<_>>>()?;
        let largest = |size: fn(&Repricing) -> f64| repricings.iter().map(size).fold(0.0, f64::max);
        Ok(BootstrapReport {
            iterations,
            residual: largest(|repricing| repricing.present_value.abs()),
            largest_error: largest(|repricing| repricing.error.abs()),
            curve,
            repricings,
        })
    }

    /// Returns the value of a quoted instrument on the curve, and the rate that the curve implies for
    /// the instrument.
    ///
    /// ```text
    /// value = r Σ αⱼ D(tⱼ) + D(T) − D(s),   implied rate = (D(s) − D(T)) / Σ αⱼ D(tⱼ)
    /// ```
    ///
    /// where the interest from the start s to the maturity T is paid at tⱼ, and α are the years of its
    /// periods. With compound interest the implied rate is found by the secant method.
    ///
    /// # Errors
    ///
    /// [`Error::Element`] of the series `instruments` for an instrument that cannot be quoted, as in
    /// [`bootstrap`](Self::bootstrap); [`Error::Overflow`] where a figure is no double;
    /// [`Error::NoConvergence`] for compound interest at a rate beyond ±2.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::{CurveType, InstrumentKind};
    /// use quant_core::prelude::*;
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
    /// let (tenors, factors) = ([1.0, 2.0], [0.96, 0.92]);
    /// let curve =
    ///     Curve::from_values(today, &tenors, &factors, CurveType::Discount, Interpolation::Linear)?;
    /// let swap = Instrument {
    ///     kind: InstrumentKind::Swap, tenor: "2Y".parse()?, rate: 0.05,
    ///     frequency: Frequency::Annual, conventions: None,
    /// };
    /// let found = curve.reprice(&swap)?;
    /// assert!((found.present_value - (0.05 * 1.88 + 0.92 - 1.0)).abs() < 1e-16);
    /// assert!((found.implied_rate - 0.08 / 1.88).abs() < 1e-16);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn reprice(&self, instrument: &Instrument) -> Result<Repricing> {
        self.reprice_at(0, instrument)
    }

    /// Reprices the instrument at a place of a series, which errors name.
    fn reprice_at(&self, index: usize, instrument: &Instrument) -> Result<Repricing> {
        let flows = instrument.cash_flows(index, self.reference_date(), 0)?;
        let (annuity, gain) = self.legs(&flows)?;
        let implied = match instrument.conventions {
            Some(conventions) if conventions.compounding != Compounding::Simple => {
                self.implied_rate(index, instrument, flows.rate, annuity, gain)?
            }
            _ => gain / annuity,
        };
        let convexity = match instrument.kind {
            InstrumentKind::Future { convexity, .. } => convexity,
            _ => 0.0,
        };
        let result = |value| check::result("instruments", value);
        let implied_rate = result(implied + convexity)?;
        Ok(Repricing {
            maturity_date: flows.maturity,
            start: flows.start,
            tenor: flows.time(),
            present_value: result(flows.rate * annuity - gain)?,
            annuity: result(annuity)?,
            implied_rate,
            error: result(implied_rate - instrument.rate)?,
        })
    }

    /// Returns the largest absolute present value of quoted instruments, per unit of principal.
    pub(super) fn residual(&self, instruments: &[Instrument]) -> Result<f64> {
        let mut largest = 0.0_f64;
        for (index, instrument) in instruments.iter().enumerate() {
            let flows = instrument.cash_flows(index, self.reference_date(), 0)?;
            let (annuity, gain) = self.legs(&flows)?;
            largest = largest.max((flows.rate * annuity - gain).abs());
        }
        check::result("instruments", largest)
    }

    /// Returns the value of the interest by the rate, and that of the start less that of the maturity.
    fn legs(&self, flows: &InstrumentFlows) -> Result<(f64, f64)> {
        let mut annuity = 0.0;
        for flow in &flows.flows {
            annuity += flow.accrual * self.at(flow.time)?.discount_factor;
        }
        let last = self.at(flows.time())?;
        let gain = if flows.start == 0.0 {
            -libm::expm1(-last.zero_rate * last.tenor)
        } else {
            self.at(flows.start)?.discount_factor - last.discount_factor
        };
        Ok((annuity, gain))
    }

    /// Returns the rate at which compound interest is worth the gain, by the secant method.
    fn implied_rate(
        &self,
        index: usize,
        instrument: &Instrument,
        quoted: f64,
        annuity: f64,
        gain: f64,
    ) -> Result<f64> {
        let shift = instrument.rate - quoted;
        let (mut before, mut value_before) = (quoted, quoted * annuity - gain);
        let mut rate = before - value_before / annuity;
        for _ in 0..MAX_STEPS {
            if !check::is_annual_rate(rate) || !check::is_annual_rate(rate + shift) {
                break;
            }
            let moved = Instrument { rate: rate + shift, ..*instrument };
            let flows = moved.cash_flows(index, self.reference_date(), 0)?;
            let value = flows.rate * self.legs(&flows)?.0 - gain;
            let step = value * (rate - before) / (value - value_before);
            // Equal rates or values leave no slope: the rate is exact up to rounding.
            if !step.is_finite() || step.abs() <= f64::EPSILON * rate.abs() {
                return Ok(rate);
            }
            (before, value_before) = (rate, value);
            rate -= step;
        }
        Err(Error::NoConvergence {
            method: "implied rate",
            iterations: MAX_STEPS,
            residual: value_before,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::curves::{Conventions, CurveType, Market};
    use crate::time::{DayCount, Frequency};

    fn today() -> NaiveDate {
        NaiveDate::from_ymd_opt(2026, 11, 20).unwrap()
    }

    fn quote(kind: InstrumentKind, tenor: &str, rate: f64, market: Option<Market>) -> Instrument {
        let frequency = market.map_or(Frequency::Annual, |market| market.frequency(kind));
        let conventions = market.map(|market| market.conventions(kind));
        Instrument { kind, tenor: tenor.parse().unwrap(), rate, frequency, conventions }
    }

    fn flat(rate: f64) -> Curve {
        let shape = Interpolation::LogLinear;
        Curve::from_values(today(), &[30.0], &[rate], CurveType::Zero, shape).unwrap()
    }

    #[test]
    fn every_kind_of_compound_interest_implies_the_rate_of_the_curve() {
        for &compounding in Compounding::ALL {
            let conventions = Conventions {
                day_count: DayCount::Act365,
                compounding,
                ..Market::Euro.conventions(InstrumentKind::Swap)
            };
            for (kind, tenor) in [(InstrumentKind::Deposit, "6M"), (InstrumentKind::Swap, "10Y")] {
                let quoted = quote(kind, tenor, 0.07, Some(Market::Euro));
                let quoted = Instrument { conventions: Some(conventions), ..quoted };
                let found = flat(0.03).reprice(&quoted).unwrap();
                let fair = Instrument { rate: found.implied_rate, ..quoted };
                let found = flat(0.03).reprice(&fair).unwrap();
                assert!(found.present_value.abs() < 1e-15, "{compounding} {found:?}");
                assert!(found.error.abs() < 1e-15, "{compounding} {found:?}");
            }
        }
    }

    #[test]
    fn the_convexity_of_a_future_is_part_of_its_rate() {
        let start_date = NaiveDate::from_ymd_opt(2027, 3, 17).unwrap();
        let future = |convexity| {
            let kind = InstrumentKind::Future { start_date, convexity };
            flat(0.03).reprice(&quote(kind, "3M", 0.03, Some(Market::Dollar))).unwrap()
        };
        let apart = future(0.001).implied_rate - future(0.0).implied_rate;
        assert!((apart - 0.001).abs() < 1e-16);
    }

    #[test]
    fn an_instrument_that_cannot_be_quoted_is_refused() {
        let refused = flat(0.03).reprice(&quote(InstrumentKind::Swap, "0M", 0.03, None));
        assert_eq!(refused.unwrap_err().argument(), Some("instruments"));
        let refused = Curve::bootstrap_with_report(today(), &[], Interpolation::Linear);
        assert_eq!(refused.unwrap_err().code(), "too_few");
    }

    proptest! {
        #[test]
        fn every_quote_is_repriced_to_fourteen_decimals(
            rates in prop::array::uniform8(-0.01..0.08), which in 0_usize..4, market in 0_usize..4,
        ) {
            use InstrumentKind::*;
            let kinds = [
                (Deposit, "1W"), (Deposit, "3M"), (ForwardRateAgreement { start: "3M".parse().unwrap() }, "6M"),
                (OvernightIndexedSwap, "1Y"), (Swap, "2Y"), (Swap, "5Y"), (Swap, "10Y"), (Swap, "30Y"),
            ];
            let market = Market::ALL.get(market).copied();
            // Neighbouring rates within a per cent of each other, as of a market.
            let quotes: Vec<Instrument> = kinds.iter().zip(rates).map(|(&(kind, tenor), rate)| quote(kind, tenor, 0.03 + 0.1 * rate, market)).collect();
            let report = Curve::bootstrap_with_report(today(), &quotes, Interpolation::ALL[which]);
            let report = report.unwrap();
            prop_assert!(report.residual <= 1e-14, "{report:?}");
            prop_assert!(report.largest_error <= 5e-14, "{report:?}");
            prop_assert!(report.iterations >= 1);
        }
    }
}

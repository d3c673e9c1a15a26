//! The instruments from which a curve is bootstrapped.

use crate::named::named;
use crate::{
    Error, Result,
    time::{NaiveDate, schedule::Frequency, tenor::Tenor},
};

/// The largest number of cash flows of a bootstrap, so that no call runs for seconds.
const MOST_CASH_FLOWS: usize = 1_000_000;

/// A quoted instrument that starts on the curve's reference date.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Instrument {
    /// Kind of the instrument.
    pub kind: InstrumentKind,
    /// Time to maturity; positive.
    pub tenor: Tenor,
    /// The rate, annual, 0.05 being 5 %; of any sign, with a positive discount factor.
    pub rate: f64,
    /// Frequency of the fixed payments of a swap; without effect for a deposit.
    pub frequency: Frequency,
}

/// The kind of a quoted instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstrumentKind {
    /// A deposit: simple interest, paid at maturity.
    Deposit,
    /// A par swap: fixed payments against the forwards of the same curve.
    Swap,
}

named!(InstrumentKind, "kind", Deposit = "deposit", Swap = "swap");

/// A payment of the fixed side of a swap.
pub(super) struct Flow {
    /// Time of the payment, in years.
    pub(super) time: f64,
    /// The length of its period in years.
    pub(super) accrual: f64,
}

impl Instrument {
    /// The maturity in years: a month is a twelfth, a day a 365th.
    pub(super) fn time(&self) -> f64 {
        years(self.tenor.total_months(), self.tenor.total_days())
    }

    /// Returns the maturity date.
    pub(super) fn maturity(&self, index: usize, reference_date: NaiveDate) -> Result<NaiveDate> {
        self.tenor.add_to(reference_date).map_err(|_| {
            self.refusal(index, self.time(), "a tenor that leads to a date in the years 1 to 9999")
        })
    }

    /// Appends the payments of a swap in order of time, the first period being short where the
    /// periods do not divide the tenor.
    pub(super) fn append_flows(&self, index: usize, flows: &mut Vec<Flow>) -> Result<()> {
        let (months, days) = (self.tenor.total_months(), self.tenor.total_days());
        let period = self.frequency.months();
        let first = flows.len();
        let mut end = months;
        while years(end, days) > 0.0 {
            if flows.len() == MOST_CASH_FLOWS {
                let requirement = "shorter: all swaps together may have 1,000,000 payments";
                return Err(self.refusal(index, self.time(), requirement));
            }
            flows.push(Flow { time: years(end, days), accrual: years(period, 0) });
            end -= period;
        }
        flows[first..].reverse();
        flows[first].accrual = flows[first].time;
        Ok(())
    }

    pub(super) fn refusal(&self, index: usize, value: f64, requirement: &'static str) -> Error {
        Error::Element { argument: "instruments", index, value, requirement }
    }
}

fn years(months: i64, days: i64) -> f64 {
    months as f64 / 12.0 + days as f64 / 365.0
}

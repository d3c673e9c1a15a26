//! The instruments from which a curve is bootstrapped.

use super::times::{years, years_until};
use crate::named::named;
use crate::{
    Error, Result, check,
    time::{NaiveDate, add_days, add_months, schedule::Frequency, tenor::Tenor},
};

/// The largest number of cash flows of a bootstrap, so that no call runs for seconds.
const MOST_CASH_FLOWS: usize = 1_000_000;

/// A quoted instrument that starts on the curve's reference date.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Instrument {
    /// Kind of the instrument.
    pub kind: InstrumentKind,
    /// Time from the reference date to maturity; positive.
    pub tenor: Tenor,
    /// The rate, annual, 0.05 being 5 %; of any sign, at most 2 (200 %) in size, and with a positive
    /// discount factor.
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
    /// The length of the accrual period, in years.
    pub(super) accrual: f64,
}

impl Instrument {
    /// Returns the maturity date of the instrument, which is at `index` in the list of all
    /// instruments.
    pub(super) fn maturity(&self, index: usize, reference_date: NaiveDate) -> Result<NaiveDate> {
        let length = years(self.tenor.total_months(), self.tenor.total_days());
        if length <= 0.0 {
            return Err(self.refusal(index, length, "a positive finite number of years"));
        }
        self.tenor.add_to(reference_date).map_err(|_| {
            self.refusal(index, length, "a tenor that leads to a date in the years 1 to 9999")
        })
    }

    /// Returns the length in years for which a deposit earns interest: a month is a twelfth, a day a
    /// 365th.
    pub(super) fn accrual(&self) -> f64 {
        years(self.tenor.total_months(), self.tenor.total_days())
    }

    /// Appends the payments of a swap in order of time, the first period being short where the
    /// periods do not divide the tenor.
    pub(super) fn append_flows(
        &self,
        index: usize,
        reference_date: NaiveDate,
        flows: &mut Vec<Flow>,
    ) -> Result<()> {
        let (months, days) = (self.tenor.total_months(), self.tenor.total_days());
        let period = self.frequency.months();
        let first = flows.len();
        let mut end = months;
        while years(end, days) > 0.0 {
            if flows.len() == MOST_CASH_FLOWS {
                let requirement = "shorter: all swaps together may have 1,000,000 payments";
                return Err(self.refusal(index, self.accrual(), requirement));
            }
            let time = time_of_payment(reference_date, end, days);
            flows.push(Flow { time, accrual: years(period, 0) });
            end -= period;
        }
        flows[first..].reverse();
        flows[first].accrual = years(end + period, days);
        Ok(())
    }

    /// Refuses a rate that is none, or a percentage by mistake.
    pub(super) fn require_rate(&self, index: usize) -> Result<()> {
        if check::is_annual_rate(self.rate) {
            Ok(())
        } else {
            Err(self.refusal(index, self.rate, check::ANNUAL_RATE))
        }
    }

    pub(super) fn refusal(&self, index: usize, value: f64, requirement: &'static str) -> Error {
        Error::Element { argument: "instruments", index, value, requirement }
    }
}

/// Returns the time of the date that lies so many months and days after the reference date.
fn time_of_payment(reference_date: NaiveDate, months: i64, days: i64) -> f64 {
    // Whole months are as long to their date as in the tenor.
    if days == 0 {
        return years(months, 0);
    }
    let date = add_months(reference_date, months).and_then(|date| add_days(date, days));
    years_until(reference_date, date.expect("a payment is not after the maturity"))
}

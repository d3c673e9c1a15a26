//! The instruments from which a curve is bootstrapped, and their cash flows.

use super::conventions::{AccrualPeriod, Conventions};
use super::times::{years, years_until};
use crate::{
    Error, Result, check,
    time::{NaiveDate, add_days, add_months, schedule::Frequency, tenor::Tenor},
};

/// The largest number of cash flows of a bootstrap, so that no call runs for seconds.
const MOST_CASH_FLOWS: usize = 1_000_000;

/// A quoted instrument.
///
/// Without conventions an instrument starts on the reference date, no date is adjusted, and the tenor
/// itself counts the interest: a month is a twelfth of a year and a day a 365th.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Instrument {
    /// Kind of the instrument.
    pub kind: InstrumentKind,
    /// Time from the settlement to the maturity, positive; of a future the length of its period.
    pub tenor: Tenor,
    /// The rate, annual, 0.05 being 5 %; of any sign, at most 2 (200 %) in size, and with a positive
    /// discount factor. Of a future it is 1 less the price over 100.
    pub rate: f64,
    /// Frequency of the fixed payments of a swap; without effect for an instrument of one payment.
    pub frequency: Frequency,
    /// Conventions of dates and interest; see [`Market::conventions`](super::Market::conventions).
    pub conventions: Option<Conventions>,
}

/// The kind of a quoted instrument.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum InstrumentKind {
    /// A deposit: interest paid at maturity.
    Deposit,
    /// A forward rate agreement: a deposit that starts later.
    ForwardRateAgreement {
        /// Time from the settlement to the start of the interest.
        start: Tenor,
    },
    /// A future on a deposit rate.
    Future {
        /// First day of the deposit, on or after the reference date.
        start_date: NaiveDate,
        /// The rate of the future less the forward rate: the gain of the daily settlement.
        convexity: f64,
    },
    /// An overnight indexed swap: fixed payments against the compounded overnight rate.
    OvernightIndexedSwap,
    /// A par swap: fixed payments against the forwards of the same curve.
    Swap,
}

/// An instrument as cash flows on a curve: one unit is paid at the start, and returned at the last
/// flow; every flow pays interest.
///
/// ```text
/// D(start) = rate · Σ accrualⱼ D(timeⱼ) + D(last time)
/// ```
#[derive(Debug)]
pub(super) struct InstrumentFlows {
    /// Maturity, the date of the last flow.
    pub(super) maturity: NaiveDate,
    /// Time of the start, in years; zero on the reference date.
    pub(super) start: f64,
    pub(super) rate: f64,
    pub(super) flows: Vec<Flow>,
}

/// A payment of interest by an instrument.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// Time of the payment, in years.
    pub(super) time: f64,
    /// The interest on one unit, by the rate.
    pub(super) accrual: f64,
}

impl InstrumentFlows {
    /// Returns the time of the last flow.
    pub(super) fn time(&self) -> f64 {
        self.flows[self.flows.len() - 1].time
    }
}

impl Instrument {
    /// Returns the cash flows, given how many those of the instruments before have.
    pub(super) fn cash_flows(
        &self,
        index: usize,
        reference_date: NaiveDate,
        before: usize,
    ) -> Result<InstrumentFlows> {
        if self.length() <= 0.0 {
            return Err(self.refusal(index, self.length(), "a positive finite number of years"));
        }
        let rate = match self.kind {
            InstrumentKind::Future { convexity, .. } => self.rate - convexity,
            _ => self.rate,
        };
        if !(check::is_annual_rate(self.rate) && check::is_annual_rate(rate)) {
            return Err(self.refusal(index, self.rate, check::ANNUAL_RATE));
        }
        let found = match &self.conventions {
            None => self.by_tenor(index, reference_date, before),
            Some(conventions) => self.by_conventions(conventions, reference_date, rate),
        };
        let (start, maturity, flows) = found.map_err(|refused| match refused {
            Error::Element { .. } | Error::Conflict { .. } => refused,
            Error::Domain { .. } | Error::Overflow { .. } => self.refusal(index, self.rate, RATE),
            _ => self.refusal(index, self.length(), DATES),
        })?;
        if before + flows.len() > MOST_CASH_FLOWS {
            return Err(self.refusal(index, self.length(), FEWER_CASH_FLOWS));
        }
        Ok(InstrumentFlows { maturity, start, rate, flows })
    }

    /// The start, the maturity and the flows as the tenor counts them, from the reference date on.
    fn by_tenor(
        &self,
        index: usize,
        reference_date: NaiveDate,
        before: usize,
    ) -> Result<(f64, NaiveDate, Vec<Flow>)> {
        let (months, days) = (self.tenor.total_months(), self.tenor.total_days());
        if let InstrumentKind::Future { start_date, .. } = self.kind {
            let maturity = self.tenor.add_to(start_date)?;
            let start = self.time_of(index, reference_date, start_date)?;
            let flow =
                Flow { time: years_until(reference_date, maturity), accrual: years(months, days) };
            return Ok((start, maturity, vec![flow]));
        }
        let maturity = self.tenor.add_to(reference_date)?;
        let time = years_until(reference_date, maturity);
        match self.kind {
            InstrumentKind::ForwardRateAgreement { start } => {
                let accrual = years(months - start.total_months(), days - start.total_days());
                let start_date = start.add_to(reference_date)?;
                let start = self.time_of(index, reference_date, start_date)?;
                if start >= time || accrual <= 0.0 {
                    return Err(self.refusal(index, accrual, "longer than the time to its start"));
                }
                Ok((start, maturity, vec![Flow { time, accrual }]))
            }
            InstrumentKind::OvernightIndexedSwap | InstrumentKind::Swap => {
                let flows = self.payments_by_tenor(index, reference_date, before)?;
                Ok((0.0, maturity, flows))
            }
            InstrumentKind::Deposit | InstrumentKind::Future { .. } => {
                Ok((0.0, maturity, vec![Flow { time, accrual: years(months, days) }]))
            }
        }
    }

    /// The payments of a swap in order of time, the first period being short where the periods do not
    /// divide the tenor.
    fn payments_by_tenor(
        &self,
        index: usize,
        reference_date: NaiveDate,
        before: usize,
    ) -> Result<Vec<Flow>> {
        let (months, days) = (self.tenor.total_months(), self.tenor.total_days());
        let period = self.frequency.months();
        let count = usize::try_from(months / period).unwrap_or_default() + 1;
        let mut flows = Vec::with_capacity(count.min(MOST_CASH_FLOWS));
        let mut end = months;
        while years(end, days) > 0.0 {
            if before + flows.len() == MOST_CASH_FLOWS {
                return Err(self.refusal(index, self.length(), FEWER_CASH_FLOWS));
            }
            let time = time_of_payment(reference_date, end, days);
            flows.push(Flow { time, accrual: years(period, 0) });
            end -= period;
        }
        flows.reverse();
        flows[0].accrual = years(end + period, days);
        Ok(flows)
    }

    /// The start, the maturity and the flows by the conventions.
    fn by_conventions(
        &self,
        conventions: &Conventions,
        reference_date: NaiveDate,
        rate: f64,
    ) -> Result<(f64, NaiveDate, Vec<Flow>)> {
        let settlement = conventions.settlement_date(reference_date)?;
        let maturity = || conventions.maturity_date(settlement, self.tenor);
        let periods = match self.kind {
            InstrumentKind::Deposit => vec![conventions.period(settlement, maturity()?)?],
            InstrumentKind::ForwardRateAgreement { start } => {
                let start = conventions.maturity_date(settlement, start)?;
                vec![conventions.period(start, maturity()?)?]
            }
            InstrumentKind::Future { start_date, .. } => {
                vec![conventions.period(start_date, self.tenor.add_to(start_date)?)?]
            }
            InstrumentKind::OvernightIndexedSwap | InstrumentKind::Swap => {
                conventions.periods(settlement, maturity()?, self.frequency)?
            }
        };
        let (first, last) = (periods[0].start, periods[periods.len() - 1].end);
        if first < reference_date {
            let requirement = "on or after the reference date";
            return Err(Error::Date { argument: "start_date", value: first, requirement });
        }
        let flow = |period: &AccrualPeriod| {
            let interest = conventions.compounding.interest(rate, period.year_fraction)?;
            let accrual = if rate == 0.0 { period.year_fraction } else { interest / rate };
            Ok(Flow { time: years_until(reference_date, period.end), accrual })
        };
        let flows = periods.iter().map(flow).collect::<Result<_>>()?;
        Ok((years_until(reference_date, first), last, flows))
    }

    /// Returns the time of a start date, which is not before the reference date.
    fn time_of(&self, index: usize, reference_date: NaiveDate, date: NaiveDate) -> Result<f64> {
        if date < reference_date {
            return Err(self.refusal(
                index,
                self.length(),
                "started on or after the reference date",
            ));
        }
        Ok(years_until(reference_date, date))
    }

    /// Returns the tenor of the instrument, in years.
    fn length(&self) -> f64 {
        years(self.tenor.total_months(), self.tenor.total_days())
    }

    pub(super) fn refusal(&self, index: usize, value: f64, requirement: &'static str) -> Error {
        Error::Element { argument: "instruments", index, value, requirement }
    }
}

const DATES: &str = "an instrument that starts on or after the reference date and ends later, in the years 1 to 9999";

/// The requirement of a rate that has a curve.
pub(super) const RATE: &str = "a rate with which the discount factor is positive and finite";

const FEWER_CASH_FLOWS: &str = "shorter: all swaps together may have 1,000,000 payments";

/// Returns the time of the date that lies so many months and days after the reference date.
fn time_of_payment(reference_date: NaiveDate, months: i64, days: i64) -> f64 {
    // Whole months are as long to their date as in the tenor.
    if days == 0 {
        return years(months, 0);
    }
    let date = add_months(reference_date, months).and_then(|date| add_days(date, days));
    years_until(reference_date, date.expect("a payment is not after the maturity"))
}

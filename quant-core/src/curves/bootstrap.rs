//! The bootstrap: the discount factors at which instruments have their quoted rates.

use std::ops::Range;

use super::instrument::{Flow, InstrumentFlows, RATE};
use super::interpolation::{Interpolant, Interpolation};
use super::newton;
use crate::{Error, Result};

/// The step of Newton's method that is the last: the next would be about its square.
const STEP_TOLERANCE: f64 = 1e-9;

/// The largest number of Newton steps for a pillar; about four are needed.
const MAX_STEPS: u32 = 100;

/// The largest change of a pillar, in roundings, at which the sweeps end.
const SWEEP_TOLERANCE: f64 = 4.0 * f64::EPSILON;

/// The change of the pillars of long or uneven curves from one sweep to the next that may be
/// rounding alone.
const ROUNDING_FLOOR: f64 = 1e-13;

/// The number of sweeps after which Newton's method is tried. Eight are usual; a curve that takes
/// more converges so slowly that a small change does not imply a small error.
const SLOW_SWEEPS: u32 = 20;

/// The largest number of sweeps where Newton's method fails as well; fewer for more than 100,000
/// payments, so that no call runs for seconds.
const MOST_SWEEPS: u32 = 100;
const MOST_SWEPT_PAYMENTS: usize = 10_000_000;

/// The largest number of discount factors that the slopes of Newton's method may need, so that no
/// call runs for seconds; the usual pillars of a market need a few hundred.
const MOST_FACTORS: usize = 300_000;

/// Returns minus the logarithms of the discount factors at the instruments' maturities, and the number
/// of sweeps and of Newton's steps for all pillars at once.
pub(super) fn bootstrap(
    instruments: &[InstrumentFlows],
    times: &[f64],
    interpolation: Interpolation,
) -> Result<(Vec<f64>, u32)> {
    let mut bootstrap = Bootstrap::new(instruments, times, interpolation);
    let exponents = bootstrap.sweep(None)?;
    let bends = matches!(interpolation, Interpolation::Cubic | Interpolation::MonotoneConvex);
    if bends && !bootstrap.pays_on_pillars() {
        bootstrap.settle(exponents)
    } else {
        Ok((exponents, 1))
    }
}

/// Returns the largest change of an exponent from one sweep to the next, relative to 1 plus its
/// size.
fn largest_move(before: &[f64], after: &[f64]) -> f64 {
    let moves = before.iter().zip(after).map(|(a, b)| (a - b).abs() / (1.0 + b.abs()));
    moves.fold(0.0, f64::max)
}

/// The instruments' payments, and where they lie between the pillars.
///
/// All curves are solved as if straight lines went from pillar to pillar, of the zero rate or of
/// the exponent, with a correction at every time of payment that is fixed while one sweep finds
/// the pillars one after the other. For curves that are such lines the corrections are zero.
struct Bootstrap<'a> {
    instruments: &'a [InstrumentFlows],
    /// The times of payment, and of starts after the reference date, ascending and without repetition.
    payments: Vec<Payment>,
    /// The payment at which each flow is due, instrument by instrument.
    due: Vec<usize>,
    /// The flows of each instrument in `due`.
    ranges: Vec<Range<usize>>,
    /// The payment at which each instrument starts; none for the reference date.
    starts: Vec<Option<usize>>,
    times: &'a [f64],
    interpolation: Interpolation,
}

/// A time of payment, at which the exponent is
/// `before · exponents[next − 1] + weight · exponents[next] + correction`.
struct Payment {
    time: f64,
    /// The first pillar that is not before the payment.
    next: usize,
    before: f64,
    weight: f64,
    correction: f64,
}

/// Returns the times of payment, and of starts after the reference date, ascending and without
/// repetition.
fn payment_times(instruments: &[InstrumentFlows]) -> Vec<f64> {
    let mut times = Vec::new();
    let mut before: &[Flow] = &[];
    for InstrumentFlows { start, flows, .. } in instruments {
        times.extend(Some(*start).filter(|&start| start > 0.0));
        // A swap pays mostly when the swap before it does. Those times are not sorted again.
        let is_new = |(index, flow): &(usize, &Flow)| {
            before.get(*index).is_none_or(|other| other.time != flow.time)
        };
        times.extend(flows.iter().enumerate().filter(is_new).map(|(_, flow)| flow.time));
        before = flows;
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// Returns the place among the times of payment at which each flow is due, instrument by instrument.
fn places(instruments: &[InstrumentFlows], times: &[f64]) -> Vec<usize> {
    let mut due = Vec::with_capacity(instruments.iter().map(|quoted| quoted.flows.len()).sum());
    for InstrumentFlows { flows, .. } in instruments {
        let mut next = 0;
        for flow in flows {
            // The payments of a swap are mostly neighbours.
            if times.get(next) != Some(&flow.time) {
                next = place(times, flow.time);
            }
            due.push(next);
            next += 1;
        }
    }
    due
}

/// Returns the place of a time among ascending ones that hold it.
fn place(times: &[f64], time: f64) -> usize {
    times.partition_point(|&other| other < time)
}

impl<'a> Bootstrap<'a> {
    fn new(
        instruments: &'a [InstrumentFlows],
        times: &'a [f64],
        interpolation: Interpolation,
    ) -> Self {
        let dates = payment_times(instruments);
        let due = places(instruments, &dates);
        let start_of = |instrument: &InstrumentFlows| {
            (instrument.start > 0.0).then(|| place(&dates, instrument.start))
        };
        let starts = instruments.iter().map(start_of).collect();
        let mut ranges = Vec::with_capacity(instruments.len());
        let mut first = 0;
        for instrument in instruments {
            ranges.push(first..first + instrument.flows.len());
            first += instrument.flows.len();
        }
        let payments =
            dates.iter().map(|&time| Payment::between(times, time, interpolation)).collect();
        Self { instruments, payments, due, ranges, starts, times, interpolation }
    }

    fn pays_on_pillars(&self) -> bool {
        self.payments.iter().all(|payment| payment.time == self.times[payment.next])
    }

    /// Repeats the sweeps until the pillars stand still, with Newton's method for the slow ones.
    fn settle(&mut self, mut exponents: Vec<f64>) -> Result<(Vec<f64>, u32)> {
        let mut moved = f64::INFINITY;
        let affordable = u32::try_from(MOST_SWEPT_PAYMENTS / self.due.len().max(1));
        let most = affordable.map_or(MOST_SWEEPS, |sweeps| sweeps.clamp(SLOW_SWEEPS, MOST_SWEEPS));
        for sweeps in 1..=most {
            self.correct(&exponents);
            let next = match self.sweep(Some(&exponents)) {
                Ok(next) => next,
                Err(refusal) => return self.solve_at_once(&exponents, sweeps).ok_or(refusal),
            };
            moved = largest_move(&exponents, &next);
            exponents = next;
            let tolerance = if sweeps < SLOW_SWEEPS { SWEEP_TOLERANCE } else { ROUNDING_FLOOR };
            if moved <= tolerance {
                return Ok((exponents, sweeps + 1));
            }
            if sweeps == SLOW_SWEEPS
                && let Some(found) = self.solve_at_once(&exponents, sweeps + 1)
            {
                return Ok(found);
            }
        }
        Err(Error::NoConvergence { method: "bootstrap", iterations: most, residual: moved })
    }

    /// Finds all pillars at once, from exponents near them, after some sweeps; `None` where that fails too.
    fn solve_at_once(&self, exponents: &[f64], sweeps: u32) -> Option<(Vec<f64>, u32)> {
        if self.times.len() * self.payments.len() > MOST_FACTORS {
            return None;
        }
        let (found, steps) = newton::solve(exponents, |exponents| self.mispricings(exponents))?;
        Some((found, sweeps + steps))
    }

    /// The logarithm of what each instrument's payments are worth on the fitted curve, which is
    /// nearly minus the exponent at its maturity and is 0 at the quote.
    fn mispricings(&self, exponents: &[f64]) -> Vec<f64> {
        let curve = self.fit(exponents);
        let factors: Vec<f64> = self
            .payments
            .iter()
            .map(|payment| libm::exp(-curve.at(payment.time).exponent))
            .collect();
        let worth = |(index, range): (usize, &Range<usize>)| {
            let InstrumentFlows { rate, flows, .. } = &self.instruments[index];
            let flows = flows.iter().zip(&self.due[range.clone()]);
            let annuity: f64 = flows.map(|(flow, &due)| flow.accrual * factors[due]).sum();
            let worth = libm::log(libm::exp(-exponents[index]) + rate * annuity);
            self.starts[index].map_or(worth, |start| worth - libm::log(factors[start]))
        };
        self.ranges.iter().enumerate().map(worth).collect()
    }

    fn fit(&self, exponents: &[f64]) -> Interpolant {
        let zero_rates: Vec<f64> = exponents.iter().zip(self.times).map(|(x, t)| x / t).collect();
        self.interpolation.fit(self.times, &zero_rates, exponents)
    }

    /// Takes from the fitted curve how far it is from the line at every payment.
    fn correct(&mut self, exponents: &[f64]) {
        let curve = self.fit(exponents);
        for payment in &mut self.payments {
            payment.correction = 0.0;
            if payment.time != self.times[payment.next] {
                let line = payment.exponent(exponents);
                payment.correction = curve.at(payment.time).exponent - line;
            }
        }
    }

    /// Finds the pillars one after the other, near those of the sweep before.
    fn sweep(&self, near: Option<&[f64]>) -> Result<Vec<f64>> {
        let mut exponents = Vec::with_capacity(self.times.len());
        // Discount factors of the payments up to the last pillar that is known.
        let mut factors: Vec<f64> = Vec::with_capacity(self.payments.len());
        for (index, instrument) in self.instruments.iter().enumerate() {
            let exponent = match &instrument.flows[..] {
                [only] => self.single(index, &exponents, instrument.rate * only.accrual),
                _ => {
                    let near = near.map(|exponents| exponents[index]);
                    self.swap(index, &exponents, &factors).solve(near)?
                }
            };
            let exponent =
                exponent.filter(|exponent| exponent.is_finite()).ok_or(Error::Element {
                    argument: "instruments",
                    index,
                    value: instrument.rate,
                    requirement: RATE,
                })?;
            exponents.push(exponent);
            let known = self.payments[factors.len()..].iter();
            let known = known.take_while(|payment| payment.next <= index);
            factors.extend(known.map(|payment| libm::exp(-payment.exponent(&exponents))));
        }
        Ok(exponents)
    }

    /// The pillar of an instrument that pays once, those before it being known; `None` where it takes
    /// more than the principal.
    fn single(&self, index: usize, exponents: &[f64], interest: f64) -> Option<f64> {
        let start = self.start(index, exponents);
        (interest > -1.0).then(|| (start.offset + libm::log1p(interest)) / (1.0 - start.weight))
    }

    /// The equation for the pillar of a swap, those before it being known.
    fn swap(&self, index: usize, exponents: &[f64], factors: &[f64]) -> Unknown {
        let InstrumentFlows { rate, flows, .. } = &self.instruments[index];
        let due = &self.due[self.ranges[index].clone()];
        let start = self.start(index, exponents);
        // Where the start depends on the pillar, all payments do, and are divided by its factor.
        let starts_on_known = self.starts[index].is_some() && start.weight == 0.0;
        let (worth, shift) =
            if starts_on_known { (libm::exp(-start.offset), Line::ZERO) } else { (1.0, start) };
        let known = due.partition_point(|&due| due < factors.len());
        let annuity: f64 =
            flows.iter().zip(&due[..known]).map(|(flow, &due)| flow.accrual * factors[due]).sum();
        // The last payment is at the pillar itself.
        let between = known..flows.len() - 1;
        let terms = flows[between.clone()].iter().zip(&due[between]).map(|(flow, &due)| {
            let line = self.payments[due].line(exponents).less(shift);
            Term { accrual: flow.accrual, line }
        });
        let terms = terms.collect();
        let last = 1.0 + rate * flows[flows.len() - 1].accrual;
        let last_line = Line { offset: 0.0, weight: 1.0 }.less(shift);
        Unknown { target: worth - rate * annuity, last, last_line, rate: *rate, terms }
    }

    /// The exponent at an instrument's start.
    fn start(&self, index: usize, exponents: &[f64]) -> Line {
        match self.starts[index] {
            None => Line::ZERO,
            Some(start) => self.payments[start].line(exponents),
        }
    }
}

impl Payment {
    fn between(times: &[f64], time: f64, interpolation: Interpolation) -> Self {
        let next = times.partition_point(|&pillar| pillar < time);
        let end = times[next];
        let start = if next == 0 { 0.0 } else { times[next - 1] };
        let part = (time - start) / (end - start);
        let is_linear_in_zero_rate =
            matches!(interpolation, Interpolation::Linear | Interpolation::Cubic);
        let (before, weight) = if next > 0 && is_linear_in_zero_rate {
            ((1.0 - part) * time / start, part * time / end)
        } else {
            (1.0 - part, part)
        };
        Self { time, next, before, weight, correction: 0.0 }
    }

    fn exponent(&self, exponents: &[f64]) -> f64 {
        self.known_part(exponents) + self.weight * exponents[self.next] + self.correction
    }

    /// The exponent by that of the first unknown pillar.
    fn line(&self, exponents: &[f64]) -> Line {
        if self.next < exponents.len() {
            Line { offset: self.exponent(exponents), weight: 0.0 }
        } else {
            Line { offset: self.correction + self.known_part(exponents), weight: self.weight }
        }
    }

    /// The share of the pillar before; the exponent is 0 at the reference date.
    fn known_part(&self, exponents: &[f64]) -> f64 {
        if self.next == 0 { 0.0 } else { self.before * exponents[self.next - 1] }
    }
}

/// An exponent `offset + weight x` by that of an unknown pillar, x.
#[derive(Clone, Copy)]
struct Line {
    offset: f64,
    weight: f64,
}

impl Line {
    /// The exponent on the reference date.
    const ZERO: Self = Self { offset: 0.0, weight: 0.0 };

    fn less(self, other: Self) -> Self {
        Self { offset: self.offset - other.offset, weight: self.weight - other.weight }
    }

    /// The discount factor.
    fn factor(self, exponent: f64) -> f64 {
        libm::exp(-self.offset - self.weight * exponent)
    }
}

/// The exponent x at a swap's maturity, as the root of
///
/// ```text
/// last · exp(−last line) + rate · Σ accrual · exp(−line) = target
/// ```
///
/// where every line has a weight between 0 and 1, and the last one the largest.
struct Unknown {
    target: f64,
    last: f64,
    last_line: Line,
    rate: f64,
    /// The payments between the last known pillar and the maturity.
    terms: Vec<Term>,
}

struct Term {
    accrual: f64,
    line: Line,
}

impl Unknown {
    /// The root, sought from a point near it where one is known; `None` where there is none
    /// because no positive discount factor is small enough.
    fn solve(&self, near: Option<f64>) -> Result<Option<f64>> {
        if self.last <= 0.0 || self.target <= 0.0 {
            return Ok(None);
        }
        // Without the terms this is the root; with them it is on the side of it from which
        // Newton's method goes straight: below for a positive rate, above for a negative one.
        let Line { offset, weight } = self.last_line;
        let outside = (libm::log(self.last / self.target) - offset) / weight;
        if self.terms.is_empty() {
            return Ok(Some(outside));
        }
        let mut exponent = near.unwrap_or(outside);
        for _ in 0..MAX_STEPS {
            let step = self.newton_step(exponent);
            exponent += step;
            // Not finite ends it too: the caller refuses it.
            if step.abs() <= STEP_TOLERANCE * (1.0 + exponent.abs()) || !exponent.is_finite() {
                return Ok(Some(exponent));
            }
        }
        Err(Error::NoConvergence { method: "bootstrap", iterations: MAX_STEPS, residual: exponent })
    }

    /// One step for the logarithms of the two sides of the equation, with its negative terms
    /// brought to the other side: their difference is convex or concave in x, and increasing.
    fn newton_step(&self, exponent: f64) -> f64 {
        let (mut sum, mut slope) = (0.0, 0.0);
        for &Term { accrual, line } in &self.terms {
            let value = self.rate * accrual * line.factor(exponent);
            sum += value;
            slope += line.weight * value;
        }
        let last = self.last * self.last_line.factor(exponent);
        let last_slope = self.last_line.weight;
        if self.rate >= 0.0 {
            let value = last + sum;
            libm::log(value / self.target) * value / (last_slope * last + slope)
        } else {
            let value = self.target - sum;
            libm::log(last / value) * value / (last_slope * value + slope)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::curves::{Compounding, Conventions, Curve, Instrument, InstrumentKind, Market};
    use crate::time::{Calendar, DayCount, NaiveDate, Tenor, schedule::Frequency};

    const SHAPES: [Interpolation; 4] = [
        Interpolation::Linear,
        Interpolation::LogLinear,
        Interpolation::Cubic,
        Interpolation::MonotoneConvex,
    ];

    fn instrument(kind: InstrumentKind, tenor: &str, rate: f64, count: u32) -> Instrument {
        let frequency = Frequency::from_count(count).unwrap();
        let conventions = None;
        Instrument { kind, tenor: tenor.parse().unwrap(), rate, frequency, conventions }
    }

    fn swap(tenor: &str, rate: f64, count: u32) -> Instrument {
        instrument(InstrumentKind::Swap, tenor, rate, count)
    }

    fn deposit(tenor: &str, rate: f64) -> Instrument {
        instrument(InstrumentKind::Deposit, tenor, rate, 1)
    }

    fn curve(instruments: &[Instrument], shape: Interpolation) -> Result<Curve> {
        Curve::bootstrap(today(), instruments, shape)
    }

    fn today() -> NaiveDate {
        "2024-01-31".parse().unwrap()
    }

    /// Returns the value of an instrument on a curve, per unit; 0 at its quote.
    fn value(curve: &Curve, instrument: &Instrument) -> f64 {
        let factor = |time: f64| curve.at(time).unwrap().discount_factor;
        let found = instrument.cash_flows(0, curve.reference_date(), 0).unwrap();
        let annuity: f64 = found.flows.iter().map(|flow| flow.accrual * factor(flow.time)).sum();
        found.rate * annuity + factor(found.time()) - factor(found.start)
    }

    #[test]
    fn payments_on_pillars_give_the_factors_by_division() {
        let instruments = [swap("1Y", 0.05, 1), swap("2Y", 0.06, 1), swap("3Y", 0.07, 1)];
        let first = 1.0 / 1.05;
        let second = (1.0 - 0.06 * first) / 1.06;
        let third = (1.0 - 0.07 * (first + second)) / 1.07;
        for shape in SHAPES {
            let found = curve(&instruments, shape).unwrap();
            for (pillar, expected) in found.pillars().iter().zip([first, second, third]) {
                assert!((pillar.discount_factor - expected).abs() < 2e-16, "{shape:?} {pillar:?}");
            }
        }
    }

    #[test]
    fn a_short_first_period_pays_its_part() {
        // Half a year and a year: 0.5 r D(½) + r D(1½) + D(1½) = 1.
        let instruments = [deposit("6M", 0.04), swap("18M", 0.05, 1)];
        let found = curve(&instruments, Interpolation::LogLinear).unwrap();
        let expected = (1.0 - 0.05 * 0.5 / 1.02) / 1.05;
        assert!((found.pillars()[1].discount_factor - expected).abs() < 2e-16);
    }

    #[test]
    fn one_long_swap_alone_is_a_flat_curve() {
        for (rate, shape) in
            [(0.05, SHAPES[0]), (-0.02, SHAPES[1]), (0.05, SHAPES[2]), (0.0, SHAPES[3])]
        {
            let found = curve(&[swap("30Y", rate, 1)], shape).unwrap();
            let flat = libm::log1p(rate);
            assert!((found.pillars()[0].zero_rate - flat).abs() < 1e-15, "{shape:?} {rate}");
        }
    }

    #[test]
    fn weeks_and_days_are_parts_of_a_year_of_365() {
        let found =
            curve(&[deposit("1W", 0.03), deposit("1M10D", 0.031)], Interpolation::Linear).unwrap();
        let [week, month] = found.pillars() else { panic!("two pillars") };
        assert_eq!((week.tenor, week.date.to_string()), (7.0 / 365.0, "2024-02-07".to_owned()));
        assert_eq!(month.tenor, 1.0 / 12.0 + 10.0 / 365.0);
        assert_eq!(month.date.to_string(), "2024-03-10");
    }

    #[test]
    fn a_deposit_read_at_its_maturity_date_has_its_rate() {
        let found = curve(&[deposit("2W", 0.05), deposit("1M", 0.05)], Interpolation::Linear);
        let found = found.unwrap();
        let factor = found.at_date("2024-02-14".parse().unwrap()).unwrap().discount_factor;
        assert!(((1.0 / factor - 1.0) * 365.0 / 14.0 - 0.05).abs() < 1e-14);
    }

    #[test]
    fn the_curve_at_a_pillar_s_date_is_the_pillar() {
        let tenors =
            ["1D", "2D", "1W", "2W", "3W", "1M", "45D", "2M", "10W", "3M", "100D", "6M", "9M"];
        let years = [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50].map(|years| format!("{years}Y"));
        let mut instruments: Vec<Instrument> =
            tenors.iter().map(|tenor| deposit(tenor, 0.031)).collect();
        instruments.extend(years.iter().map(|tenor| swap(tenor, 0.033, 2)));
        instruments.push(swap("50Y3M20D", 0.034, 4));
        for start in ["2024-01-31", "2024-02-29", "2023-12-15", "2026-11-20", "2025-08-30"] {
            for shape in SHAPES {
                let start = start.parse().unwrap();
                let found = Curve::bootstrap(start, &instruments, shape).unwrap();
                for pillar in found.pillars() {
                    let point = found.at_date(pillar.date).unwrap();
                    assert_eq!(
                        (point.tenor, point.discount_factor, point.zero_rate),
                        (pillar.tenor, pillar.discount_factor, pillar.zero_rate)
                    );
                }
            }
        }
    }

    fn tenor(text: &str) -> Tenor {
        text.parse().unwrap()
    }

    fn quote(market: Market, kind: InstrumentKind, tenor: &str, rate: f64) -> Instrument {
        let conventions = Some(market.conventions(kind));
        let frequency = market.frequency(kind);
        Instrument { kind, tenor: tenor.parse().unwrap(), rate, frequency, conventions }
    }

    /// Deposits, FRA, futures and swaps of a market, settled some days after the reference date.
    fn quotes(market: Market, level: f64) -> Vec<Instrument> {
        let fra = |start| InstrumentKind::ForwardRateAgreement { start: tenor(start) };
        let future = |start: &str| InstrumentKind::Future {
            start_date: start.parse().unwrap(),
            convexity: 2e-5,
        };
        let ois = InstrumentKind::OvernightIndexedSwap;
        #[rustfmt::skip]
        let rows = [
            (InstrumentKind::Deposit, "1D"), (InstrumentKind::Deposit, "1W"), (InstrumentKind::Deposit, "1M"),
            (ois, "2M"), (InstrumentKind::Deposit, "3M"), (fra("3M"), "6M"), (fra("7M"), "9M"),
            (future("2024-12-18"), "3M"), (future("2025-03-19"), "3M"), (ois, "18M"), (InstrumentKind::Swap, "2Y"),
            (InstrumentKind::Swap, "5Y"), (ois, "7Y"), (InstrumentKind::Swap, "10Y"), (InstrumentKind::Swap, "30Y"),
        ];
        let quoted = |(index, (kind, tenor)): (usize, (InstrumentKind, &str))| {
            quote(market, kind, tenor, level + 2e-4 * index as f64)
        };
        rows.into_iter().enumerate().map(quoted).collect()
    }

    #[test]
    fn a_deposit_accrues_by_its_day_count() {
        // 92 days of ACT/360 are 0.2556 of a year: from 31 January 2024 two days settle on 2 February.
        let kind = InstrumentKind::Deposit;
        let deposit = quote(Market::Euro, kind, "3M", 0.0372);
        let found = curve(&[deposit], Interpolation::LogLinear).unwrap();
        let date = |text: &str| text.parse::<NaiveDate>().unwrap();
        assert_eq!(found.pillars()[0].date, date("2024-05-02"));
        let start = found.at_date(date("2024-02-02")).unwrap().discount_factor;
        let growth = start / found.pillars()[0].discount_factor;
        assert!((growth - (1.0 + 0.0372 * 90.0 / 360.0)).abs() < 1e-15, "{growth}");
        let (calendar, settlement_days) = (Calendar::None, 0);
        let conventions = deposit.conventions.map(|conventions| Conventions {
            calendar,
            settlement_days,
            ..conventions
        });
        let at_once = Instrument { tenor: tenor("92D"), conventions, ..deposit };
        let found = curve(&[at_once], Interpolation::LogLinear).unwrap();
        let factor = found.pillars()[0].discount_factor;
        assert!((factor * (1.0 + 0.0372 * 92.0 / 360.0) - 1.0).abs() < 1e-15, "{factor}");
    }

    #[test]
    fn every_instrument_of_every_market_is_worth_its_quote_and_read_at_its_date() {
        for &market in Market::ALL {
            for level in [-0.004, 0.0, 0.03] {
                let instruments = quotes(market, level);
                for shape in SHAPES {
                    let found = curve(&instruments, shape).unwrap();
                    for (instrument, pillar) in instruments.iter().zip(found.pillars()) {
                        let error = value(&found, instrument).abs();
                        assert!(error < 1e-14, "{market} {shape} {instrument:?}: {error:e}");
                        let point = found.at_date(pillar.date).unwrap();
                        assert_eq!(point.discount_factor, pillar.discount_factor);
                    }
                }
            }
        }
    }

    #[test]
    fn a_future_loses_its_convexity() {
        let at = |convexity, rate| {
            let start_date = "2024-03-20".parse().unwrap();
            let kind = InstrumentKind::Future { start_date, convexity };
            let quotes = [
                quote(Market::Dollar, InstrumentKind::Deposit, "1M", 0.05),
                quote(Market::Dollar, kind, "3M", rate),
            ];
            curve(&quotes, Interpolation::LogLinear).unwrap()
        };
        let found = at(0.0004, 0.0504);
        assert_eq!(found.pillars()[1].date.to_string(), "2024-06-20");
        let period = found
            .between(found.tenor("2024-03-20".parse().unwrap()).unwrap(), found.pillars()[1].tenor);
        let growth = 1.0 / period.unwrap().discount_factor;
        assert!((growth - (1.0 + 0.05 * 92.0 / 360.0)).abs() < 1e-15, "{growth}");
        let (factor, without) =
            (found.pillars()[1].discount_factor, at(0.0, 0.05).pillars()[1].discount_factor);
        assert!((factor - without).abs() < 1e-15);
    }

    #[test]
    fn a_compounded_rate_has_its_own_factor() {
        let conventions = Conventions {
            day_count: DayCount::Act365,
            compounding: Compounding::Semiannual,
            calendar: Calendar::None,
            convention: crate::time::BusinessDayConvention::Unadjusted,
            settlement_days: 0,
            end_of_month: false,
        };
        let deposit = Instrument { conventions: Some(conventions), ..deposit("2Y", 0.04) };
        let found = curve(&[deposit], Interpolation::Linear).unwrap();
        let expected = libm::pow(1.02, 2.0 * 731.0 / 365.0);
        assert!((found.pillars()[0].discount_factor * expected - 1.0).abs() < 1e-15);
    }

    #[test]
    fn instruments_without_conventions_are_counted_by_their_tenors() {
        let kind = InstrumentKind::ForwardRateAgreement { start: tenor("3M") };
        let ois = instrument(InstrumentKind::OvernightIndexedSwap, "1Y", 0.05, 2);
        let quotes = [deposit("3M", 0.03), instrument(kind, "6M", 0.04, 1), ois];
        let found = curve(&quotes, Interpolation::LogLinear).unwrap();
        let three = 1.0 / 1.0075;
        let six = three / 1.01;
        let year = (1.0 - 0.025 * six) / 1.025;
        for (pillar, expected) in found.pillars().iter().zip([three, six, year]) {
            assert!((pillar.discount_factor - expected).abs() < 2e-16, "{pillar:?} {expected}");
        }
        let start_date = "2024-03-20".parse().unwrap();
        let future = InstrumentKind::Future { start_date, convexity: 0.001 };
        let quotes = [deposit("1M", 0.03), instrument(future, "3M", 0.041, 1)];
        let found = curve(&quotes, Interpolation::LogLinear).unwrap();
        assert_eq!(found.pillars()[1].date.to_string(), "2024-06-20");
        let start = found.at_date(start_date).unwrap().discount_factor;
        assert!((start / found.pillars()[1].discount_factor - 1.01).abs() < 1e-15);
    }

    #[test]
    fn instruments_that_cannot_be_are_refused_at_their_place() {
        let refused = |instrument: Instrument| {
            let quotes = [deposit("6M", 0.03), instrument];
            let error = curve(&quotes, Interpolation::LogLinear).unwrap_err();
            (error.code(), error.argument().unwrap(), error.index())
        };
        let at = ("domain", "instruments", Some(1));
        let fra = |start| InstrumentKind::ForwardRateAgreement { start: tenor(start) };
        let future = |start: &str, convexity| InstrumentKind::Future {
            start_date: start.parse().unwrap(),
            convexity,
        };
        for kind in [
            fra("1Y"),
            fra("13M"),
            fra("-1M"),
            future("2023-12-20", 0.0),
            future("2024-12-18", f64::NAN),
            future("2024-12-18", -3.0),
        ] {
            assert_eq!(refused(instrument(kind, "1Y", 0.03, 1)), at, "{kind:?}");
            assert_eq!(refused(quote(Market::Euro, kind, "1Y", 0.03)), at, "{kind:?}");
        }
        let far = quote(Market::Euro, InstrumentKind::Swap, "7980Y", 0.03);
        assert_eq!(refused(far), at);
        let mut brazilian = quote(Market::Euro, InstrumentKind::Deposit, "1Y", 0.12);
        brazilian.conventions = brazilian.conventions.map(|conventions| Conventions {
            day_count: DayCount::Bus252,
            calendar: Calendar::None,
            ..conventions
        });
        assert_eq!(refused(brazilian), ("conflict", "calendar", None));
    }

    #[test]
    fn quotes_that_make_no_curve_are_refused_at_their_place() {
        let refused = |instruments: &[Instrument]| {
            let error = curve(instruments, Interpolation::LogLinear).unwrap_err();
            (error.code(), error.argument().unwrap(), error.index())
        };
        let good = deposit("6M", 0.03);
        let at = |index| ("domain", "instruments", Some(index));
        assert_eq!(refused(&[]), ("too_few", "instruments", None));
        assert_eq!(refused(&[deposit("0M", 0.03)]), at(0));
        assert_eq!(refused(&[deposit("-3M", 0.03)]), at(0));
        assert_eq!(refused(&[good, deposit("6M", 0.03)]), at(1));
        assert_eq!(refused(&[good, deposit("3M", 0.03)]), at(1));
        assert_eq!(refused(&[good, swap("8000Y", 0.03, 1)]), at(1));
        assert_eq!(refused(&[good, deposit("1Y", -1.0)]), at(1));
        assert_eq!(refused(&[good, deposit("1Y", 4.25)]), at(1));
        assert_eq!(refused(&[good, deposit("1Y", f64::NAN)]), at(1));
        assert_eq!(refused(&[good, swap("1Y", f64::NEG_INFINITY, 2)]), at(1));
        // The payments before the last are worth more than 1 already.
        assert_eq!(refused(&[swap("1Y", 0.05, 1), swap("2Y", 1.2, 1)]), at(1));
        let many: Vec<Instrument> =
            (0..20).map(|i| swap(&format!("{}Y", 7000 + i), 0.03, 12)).collect();
        assert_eq!(refused(&many), at(11));
    }

    proptest! {
        #[test]
        fn every_instrument_is_worth_its_quote(
            level in -0.01..0.08, noise in prop::collection::vec(-0.002..0.002, 9), which in 0_usize..4,
            picked in prop::sample::subsequence(vec![3_u32, 6, 12, 24, 36, 60, 84, 120, 240], 1..=9),
            counts in prop::collection::vec(prop::sample::select(vec![1_u32, 2, 4, 12]), 9),
        ) {
            let instruments: Vec<Instrument> = picked.iter().zip(&noise).zip(&counts).map(|((months, noise), &count)| {
                let kind = if *months < 12 { InstrumentKind::Deposit } else { InstrumentKind::Swap };
                instrument(kind, &format!("{months}M"), level + noise, count)
            }).collect();
            let curve = curve(&instruments, SHAPES[which]).unwrap();
            for instrument in &instruments {
                prop_assert!(value(&curve, instrument).abs() < 1e-14, "{instrument:?}");
            }
        }

        #[test]
        fn lines_need_no_bracket_at_any_rate(rates in prop::collection::vec(-0.9..2.0, 3), which in 0_usize..2) {
            let instruments = [swap("2Y", rates[0], 1), swap("9Y", rates[1], 2), swap("31Y", rates[2], 1)];
            match curve(&instruments, SHAPES[which]) {
                Ok(curve) => for instrument in &instruments {
                    let size = curve.pillars().iter().map(|pillar| pillar.discount_factor).fold(1.0, f64::max);
                    prop_assert!(value(&curve, instrument).abs() < 1e-12 * size);
                },
                Err(error) => prop_assert_eq!(error.code(), "domain"),
            }
        }
    }
}

//! The bootstrap: the discount factors at which instruments have their quoted rates.

use std::ops::Range;

use super::instrument::{Flow, Instrument, InstrumentKind};
use super::interpolation::{Interpolant, Interpolation};
use super::newton;
use crate::time::NaiveDate;
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

/// Returns minus the logarithms of the discount factors at the instruments' maturities.
pub(super) fn bootstrap(
    reference_date: NaiveDate,
    instruments: &[Instrument],
    times: &[f64],
    interpolation: Interpolation,
) -> Result<Vec<f64>> {
    let mut bootstrap = Bootstrap::new(reference_date, instruments, times, interpolation)?;
    let exponents = bootstrap.sweep(None)?;
    let bends = matches!(interpolation, Interpolation::Cubic | Interpolation::MonotoneConvex);
    if bends && !bootstrap.pays_on_pillars() { bootstrap.settle(exponents) } else { Ok(exponents) }
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
    instruments: &'a [Instrument],
    /// The times of payment in ascending order, without repetition.
    payments: Vec<Payment>,
    flows: Vec<Flow>,
    /// The payment at which each flow is due.
    due: Vec<usize>,
    /// The flows of each instrument; none for a deposit.
    ranges: Vec<Range<usize>>,
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

impl<'a> Bootstrap<'a> {
    fn new(
        reference_date: NaiveDate,
        instruments: &'a [Instrument],
        times: &'a [f64],
        interpolation: Interpolation,
    ) -> Result<Self> {
        let mut flows: Vec<Flow> = Vec::new();
        let mut ranges = Vec::with_capacity(instruments.len());
        for (index, instrument) in instruments.iter().enumerate() {
            let first = flows.len();
            if instrument.kind == InstrumentKind::Swap {
                instrument.append_flows(index, reference_date, &mut flows)?;
            }
            ranges.push(first..flows.len());
        }
        let mut dates: Vec<f64> = flows.iter().map(|flow| flow.time).collect();
        dates.sort_by(f64::total_cmp);
        dates.dedup();
        let place = |flow: &Flow| dates.partition_point(|&date| date < flow.time);
        let due = flows.iter().map(place).collect();
        let payments =
            dates.iter().map(|&time| Payment::between(times, time, interpolation)).collect();
        Ok(Self { instruments, payments, flows, due, ranges, times, interpolation })
    }

    fn pays_on_pillars(&self) -> bool {
        self.payments.iter().all(|payment| payment.time == self.times[payment.next])
    }

    /// Repeats the sweeps until the pillars stand still, with Newton's method for the slow ones.
    fn settle(&mut self, mut exponents: Vec<f64>) -> Result<Vec<f64>> {
        let mut moved = f64::INFINITY;
        let affordable = u32::try_from(MOST_SWEPT_PAYMENTS / self.flows.len().max(1));
        let most = affordable.map_or(MOST_SWEEPS, |sweeps| sweeps.clamp(SLOW_SWEEPS, MOST_SWEEPS));
        for sweeps in 1..=most {
            self.correct(&exponents);
            let next = match self.sweep(Some(&exponents)) {
                Ok(next) => next,
                Err(refusal) => return self.solve_at_once(&exponents).ok_or(refusal),
            };
            moved = largest_move(&exponents, &next);
            exponents = next;
            let tolerance = if sweeps < SLOW_SWEEPS { SWEEP_TOLERANCE } else { ROUNDING_FLOOR };
            if moved <= tolerance {
                return Ok(exponents);
            }
            if sweeps == SLOW_SWEEPS
                && let Some(exponents) = self.solve_at_once(&exponents)
            {
                return Ok(exponents);
            }
        }
        Err(Error::NoConvergence { method: "bootstrap", iterations: most, residual: moved })
    }

    /// Finds all pillars at once, from exponents near them; `None` where that fails too.
    fn solve_at_once(&self, exponents: &[f64]) -> Option<Vec<f64>> {
        if self.times.len() * self.payments.len() > MOST_FACTORS {
            return None;
        }
        newton::solve(exponents, |exponents| self.mispricings(exponents))
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
            let flows = self.flows[range.clone()].iter().zip(&self.due[range.clone()]);
            let annuity: f64 = flows.map(|(flow, &due)| flow.accrual * factors[due]).sum();
            let last = libm::exp(-exponents[index]);
            match self.instruments[index].kind {
                InstrumentKind::Swap => last + self.instruments[index].rate * annuity,
                InstrumentKind::Deposit => {
                    last * (1.0 + self.instruments[index].rate * self.instruments[index].accrual())
                }
            }
        };
        self.ranges.iter().enumerate().map(worth).map(libm::log).collect()
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
            let exponent = match instrument.kind {
                InstrumentKind::Deposit => deposit_exponent(instrument.rate * instrument.accrual()),
                InstrumentKind::Swap => {
                    let near = near.map(|exponents| exponents[index]);
                    self.swap(index, &exponents, &factors).solve(near)?
                }
            };
            let exponent = exponent.filter(|exponent| exponent.is_finite()).ok_or_else(|| {
                let requirement = "a rate with which the discount factor is positive and finite";
                instrument.refusal(index, instrument.rate, requirement)
            })?;
            exponents.push(exponent);
            let known = self.payments[factors.len()..].iter();
            let known = known.take_while(|payment| payment.next <= index);
            factors.extend(known.map(|payment| libm::exp(-payment.exponent(&exponents))));
        }
        Ok(exponents)
    }

    /// The equation for the pillar of a swap, those before it being known.
    fn swap(&self, index: usize, exponents: &[f64], factors: &[f64]) -> Unknown {
        let rate = self.instruments[index].rate;
        let (mut annuity, mut last, mut terms) = (0.0, 1.0, Vec::new());
        for i in self.ranges[index].clone() {
            let (accrual, due) = (self.flows[i].accrual, self.due[i]);
            let payment = &self.payments[due];
            if let Some(factor) = factors.get(due) {
                annuity += accrual * factor;
            } else if i + 1 == self.ranges[index].end {
                last += rate * accrual;
            } else {
                let offset = payment.correction + payment.known_part(exponents);
                terms.push(Term { accrual, offset, weight: payment.weight });
            }
        }
        Unknown { target: 1.0 - rate * annuity, last, rate, terms }
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

    /// The share of the pillar before; the exponent is 0 at the reference date.
    fn known_part(&self, exponents: &[f64]) -> f64 {
        if self.next == 0 { 0.0 } else { self.before * exponents[self.next - 1] }
    }
}

/// The exponent x at a swap's maturity, as the root of
///
/// ```text
/// last · exp(−x) + rate · Σ accrual · exp(−offset − weight x) = target
/// ```
///
/// where every weight is between 0 and 1.
struct Unknown {
    target: f64,
    last: f64,
    rate: f64,
    /// The payments between the last known pillar and the maturity.
    terms: Vec<Term>,
}

struct Term {
    accrual: f64,
    offset: f64,
    weight: f64,
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
        let outside = libm::log(self.last / self.target);
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
        for &Term { accrual, offset, weight } in &self.terms {
            let value = self.rate * accrual * libm::exp(-offset - weight * exponent);
            sum += value;
            slope += weight * value;
        }
        let last = self.last * libm::exp(-exponent);
        if self.rate >= 0.0 {
            let value = last + sum;
            libm::log(value / self.target) * value / (last + slope)
        } else {
            let value = self.target - sum;
            libm::log(last / value) * value / (value + slope)
        }
    }
}

fn deposit_exponent(interest: f64) -> Option<f64> {
    (interest > -1.0).then(|| libm::log1p(interest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{curves::Curve, time::schedule::Frequency};

    const SHAPES: [Interpolation; 4] = [
        Interpolation::Linear,
        Interpolation::LogLinear,
        Interpolation::Cubic,
        Interpolation::MonotoneConvex,
    ];

    fn instrument(kind: InstrumentKind, tenor: &str, rate: f64, count: u32) -> Instrument {
        let frequency = Frequency::from_count(count).unwrap();
        Instrument { kind, tenor: tenor.parse().unwrap(), rate, frequency }
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
        let mut flows = Vec::new();
        match instrument.kind {
            InstrumentKind::Swap => instrument.append_flows(0, today(), &mut flows).unwrap(),
            InstrumentKind::Deposit => {
                let date = instrument.maturity(0, today()).unwrap();
                let time = curve.tenor(date).unwrap();
                flows.push(Flow { time, accrual: instrument.accrual() });
            }
        }
        let last = factor(flows[flows.len() - 1].time);
        let annuity: f64 = flows.iter().map(|flow| flow.accrual * factor(flow.time)).sum();
        instrument.rate * annuity + last - 1.0
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

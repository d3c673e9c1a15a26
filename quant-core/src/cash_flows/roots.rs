//! All spreads at which payments, discounted at base rates and the spread, are worth nothing.
//!
//! The value is `P(z) − N(z)`: positive payments less negative ones. Each discount factor is
//! log-convex in the spread z for every compounding, so both sums are, and the roots of the value are
//! those of `g = ln P − ln N`, the difference of two convex functions. Their derivatives are the mean
//! times `−T_P` and `−T_N` of the two sides, which fall as z rises. Over an interval from a to b
//!
//! ```text
//! T_N(b) − T_P(a) ≤ g′ ≤ T_N(a) − T_P(b)
//! ```
//!
//! holds without sampling; where interest is continuous, the second derivatives at both ends, with a bound
//! of the third between them, make the bounds tighter. An interval is dropped where these slopes keep g from reaching zero; it holds
//! one root or none where they have one sign; otherwise it is halved. So no root of the interval is
//! missed, whatever the number of changes of sign. Roots are then polished in twice the precision.
//!
//! A piece that stays unclear where g is zero to the rounding of a double holds a root of higher
//! multiplicity, and counts as one root.

use crate::arithmetic::double_double::DoubleDouble;
use crate::arithmetic::exponential::exp_64;
use crate::arithmetic::logarithm::ln_64;
use crate::arithmetic::scaled::Scaled;
use crate::curves::Compounding;
use crate::{Error, Result};

/// The least spread of the search: the logarithm of 2⁻⁵³, so that e^z − 1 is above −1 as a double.
pub(super) const LEAST_SPREAD: f64 = -36.736_800_569_677_1;

/// The largest spread of the search: the logarithm of the largest double.
pub(super) const MOST_SPREAD: f64 = 709.782_712_893_383_9;

/// The length of an interval, times the longest time, below which it is not halved further.
const NARROW: f64 = 1.5e-8;

/// The largest number of terms evaluated in one search.
const MOST_TERMS: usize = 40_000_000;

/// The largest number of steps towards a root between known bounds.
const MAX_STEPS: u32 = 200;

/// The size of a value, in units of its positive part, that the rounding of the payments leaves.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// A payment and the base rate by which it is discounted beside the spread.
#[derive(Clone, Copy, Debug)]
pub(super) struct DiscountedPayment {
    pub(super) amount: f64,
    pub(super) time: DoubleDouble,
    pub(super) rate: f64,
}

impl DiscountedPayment {
    /// A payment that nothing but the spread discounts.
    pub(super) fn new(amount: f64, time: DoubleDouble) -> Self {
        Self { amount, time, rate: 0.0 }
    }

    fn order(&self) -> [f64; 3] {
        // The base rate of a payment at time zero has no effect.
        let rate = if self.time.high == 0.0 { 0.0 } else { self.rate };
        [self.time.high, self.time.low, rate]
    }
}

/// The difference g at a spread, with the mean times of both sides and the bounds of the roundings.
#[derive(Clone, Copy, Debug)]
struct Evaluation {
    spread: f64,
    difference: f64,
    positive_time: f64,
    negative_time: f64,
    /// The second derivative of g, where interest is continuous.
    curvature: f64,
    difference_error: f64,
    time_error: f64,
}

impl Evaluation {
    /// The derivative of g.
    fn slope(&self) -> f64 {
        self.negative_time - self.positive_time
    }
}

/// The finding about an interval.
enum Finding {
    NoRoot,
    OneRoot,
    Unclear,
}

/// The payments at distinct times, in the order of their times, without zeros.
pub(super) struct Payments {
    terms: Vec<DiscountedPayment>,
    /// The logarithms of the amounts' sizes.
    logarithms: Vec<f64>,
    compounding: Compounding,
    longest_time: f64,
    /// A bound of the third derivative of g; infinite unless interest is continuous.
    third_derivative: f64,
}

impl Payments {
    /// Sorts payments of finite amounts, and adds up those of one time and base rate.
    pub(super) fn new(mut terms: Vec<DiscountedPayment>, compounding: Compounding) -> Self {
        let by_order =
            |a: &DiscountedPayment, b: &DiscountedPayment| a.order().partial_cmp(&b.order());
        terms.sort_by(|a, b| by_order(a, b).unwrap_or(std::cmp::Ordering::Equal));
        let mut merged: Vec<(DiscountedPayment, DoubleDouble)> = Vec::with_capacity(terms.len());
        for term in terms {
            match merged.last_mut() {
                Some((last, sum)) if last.order() == term.order() => {
                    *sum = *sum + term.amount.into();
                }
                _ => merged.push((term, term.amount.into())),
            }
        }
        let summed =
            merged.into_iter().map(|(term, sum)| DiscountedPayment { amount: sum.high, ..term });
        let terms: Vec<DiscountedPayment> = summed.filter(|term| term.amount != 0.0).collect();
        let logarithms = terms.iter().map(|term| libm::log(term.amount.abs())).collect();
        let longest_time = terms.iter().fold(0.0, |most: f64, term| most.max(term.time.high.abs()));
        let third_derivative = match compounding {
            Compounding::Continuous => third_derivative(&terms),
            _ => f64::INFINITY,
        };
        Self { terms, logarithms, compounding, longest_time, third_derivative }
    }

    /// Returns the number of times that the amounts change their sign in the order of time.
    pub(super) fn sign_changes(&self) -> usize {
        let pairs = self.terms.windows(2);
        pairs.filter(|pair| (pair[0].amount > 0.0) != (pair[1].amount > 0.0)).count()
    }

    /// Returns all roots between the bounds of the search, in order.
    ///
    /// The amounts must change their sign, and be finite.
    pub(super) fn roots(&self) -> Result<Vec<DoubleDouble>> {
        let (least, most) = self.range();
        let limit = (MOST_TERMS / self.terms.len()).clamp(2_000, 100_000) as u32;
        let mut evaluations = 0;
        let mut pending = vec![(self.at(least), self.at(most))];
        let mut roots = Vec::new();
        let mut unclear: Option<(Evaluation, Evaluation)> = None;
        while let Some((from, to)) = pending.pop() {
            let finding = self.judge(&from, &to);
            let is_unclear = matches!(finding, Finding::Unclear);
            if is_unclear && !self.is_smallest(&from, &to) {
                evaluations += 1;
                if evaluations > limit {
                    let residual = to.spread - from.spread;
                    let method = "isolation of the rates";
                    return Err(Error::NoConvergence { method, iterations: limit, residual });
                }
                let middle = self.at(0.5 * (from.spread + to.spread));
                pending.extend([(middle, to), (from, middle)]);
                continue;
            }
            if is_unclear {
                let start = unclear.map_or(from, |(start, _)| start);
                unclear = Some((start, to));
                continue;
            }
            if let Some((start, end)) = unclear.take() {
                self.resolve(&start, &end, &mut roots);
            }
            if matches!(finding, Finding::OneRoot) {
                roots.push(self.root_between(&from, &to));
            }
        }
        if let Some((start, end)) = unclear {
            self.resolve(&start, &end, &mut roots);
        }
        Ok(self.without_repetitions(roots))
    }

    /// Leaves one of several roots between which the value is zero to the rounding of the payments.
    fn without_repetitions(&self, roots: Vec<DoubleDouble>) -> Vec<DoubleDouble> {
        let size = |spread: DoubleDouble| {
            let (value, _, positive) = self.value(spread);
            value.high.abs() / positive
        };
        let mut distinct: Vec<DoubleDouble> = Vec::with_capacity(roots.len());
        for root in roots {
            match distinct.last_mut() {
                Some(last) if size((*last + root) * 0.5.into()) <= ROUNDING => {
                    if size(root) < size(*last) {
                        *last = root;
                    }
                }
                _ => distinct.push(root),
            }
        }
        distinct
    }

    /// The bounds of the search: where every growth factor is positive.
    fn range(&self) -> (f64, f64) {
        let later = self.terms.iter().filter(|term| term.time.high != 0.0);
        let least = later.fold(LEAST_SPREAD, |least, term| {
            let end = match self.compounding {
                Compounding::Continuous => return least,
                Compounding::Simple => -1.0 / term.time.high - term.rate,
                periodic => -periodic.payments_a_year() - term.rate,
            };
            least.max(end + 64.0 * f64::EPSILON * (end.abs() + 1.0))
        });
        (least, MOST_SPREAD)
    }

    /// Returns the logarithm of a term's discount factor, and how fast it falls as the spread rises.
    fn log_discount(&self, term: &DiscountedPayment, spread: f64) -> (f64, f64) {
        let (time, rate) = (term.time.high, term.rate + spread);
        if time == 0.0 {
            return (0.0, 0.0);
        }
        match self.compounding {
            Compounding::Continuous => (-rate * time, time),
            Compounding::Simple => (-libm::log1p(rate * time), time / (1.0 + rate * time)),
            periodic => {
                let count = periodic.payments_a_year();
                let logarithm = libm::log1p(rate / count);
                (-count * time * logarithm, time / (1.0 + rate / count))
            }
        }
    }

    fn at(&self, spread: f64) -> Evaluation {
        let (mut most, mut size, mut longest) = ([f64::NEG_INFINITY; 2], 0.0_f64, 0.0_f64);
        let terms = self.terms.iter().zip(&self.logarithms);
        let weights: Vec<(usize, f64, f64)> = terms
            .map(|(term, logarithm)| {
                let (discount, time) = self.log_discount(term, spread);
                let (side, exponent) = (usize::from(term.amount < 0.0), logarithm + discount);
                most[side] = most[side].max(exponent);
                size = size.max(logarithm.abs() + discount.abs());
                longest = longest.max(time.abs());
                (side, exponent, time)
            })
            .collect();
        let (mut sums, mut moments, mut squares) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        for (side, exponent, time) in weights {
            let weight = libm::exp(exponent - most[side]);
            sums[side] += weight;
            moments[side] += weight * time;
            squares[side] += weight * time * time;
        }
        let means = [moments[0] / sums[0], moments[1] / sums[1]];
        let variance = |side: usize| squares[side] / sums[side] - means[side] * means[side];
        let rounding = f64::EPSILON * (self.terms.len() as f64 + 16.0 + 4.0 * size);
        Evaluation {
            spread,
            difference: (most[0] - most[1]) + libm::log(sums[0] / sums[1]),
            positive_time: means[0],
            negative_time: means[1],
            curvature: variance(0) - variance(1),
            difference_error: rounding,
            time_error: rounding * longest,
        }
    }

    /// The least and the largest slope of g between two points.
    fn slopes(&self, from: &Evaluation, to: &Evaluation) -> (f64, f64) {
        let (error, length) = (from.time_error + to.time_error, to.spread - from.spread);
        let mut least = to.negative_time - from.positive_time - error;
        let mut most = from.negative_time - to.positive_time + error;
        let rest = 0.5 * self.third_derivative * length * length;
        let error = error * (1.0 + 4.0 * length * self.longest_time) + rest;
        for (point, way) in [(from, length), (to, -length)] {
            let (here, there) = (point.slope(), point.slope() + way * point.curvature);
            least = least.max(here.min(there) - error);
            most = most.min(here.max(there) + error);
        }
        (least, most)
    }

    fn judge(&self, from: &Evaluation, to: &Evaluation) -> Finding {
        let (least, most) = self.slopes(from, to);
        let (start, end) = (from.difference, to.difference);
        let changes_sign = (start >= 0.0) != (end >= 0.0);
        if least > 0.0 || most < 0.0 {
            return if changes_sign { Finding::OneRoot } else { Finding::NoRoot };
        }
        if changes_sign {
            return Finding::Unclear;
        }
        // How near to zero g comes where it falls as fast as it may from both ends.
        let bend = least * most * (to.spread - from.spread);
        let nearest = if start >= 0.0 {
            (most * start - least * end + bend) / (most - least)
        } else {
            (least * start - most * end + bend) / (most - least)
        };
        let is_clear = nearest > from.difference_error + to.difference_error;
        if is_clear { Finding::NoRoot } else { Finding::Unclear }
    }

    /// Returns whether an unclear interval is too short to be halved, or g is zero all over it.
    fn is_smallest(&self, from: &Evaluation, to: &Evaluation) -> bool {
        let length = to.spread - from.spread;
        let is_narrow = length * self.longest_time <= NARROW
            || length <= 8.0 * f64::EPSILON * from.spread.abs().max(to.spread.abs());
        let (least, most) = self.slopes(from, to);
        let is_zero = |point: &Evaluation| point.difference.abs() <= 4.0 * point.difference_error;
        let is_flat = least.abs().max(most.abs()) * length <= 4.0 * from.difference_error;
        is_narrow || (is_flat && is_zero(from) && is_zero(to))
    }

    /// Adds the roots of an interval in which g is zero to the last bits, or nearly so.
    fn resolve(&self, from: &Evaluation, to: &Evaluation, roots: &mut Vec<DoubleDouble>) {
        let is_positive = |spread: f64| self.value(spread.into()).0.high >= 0.0;
        let (start, end) = (is_positive(from.spread), is_positive(to.spread));
        if start != end {
            let middle = 0.5 * (from.spread + to.spread);
            roots.push(self.polish(from.spread, to.spread, start, middle));
            return;
        }
        let extremum = self.extremum(from, to);
        let (value, _, positive) = self.value(extremum.into());
        if value.high.abs() <= ROUNDING * positive {
            roots.push(extremum.into());
        } else if (value.high >= 0.0) != start {
            for (from, to, sign) in [(from.spread, extremum, start), (extremum, to.spread, !start)]
            {
                roots.push(self.polish(from, to, sign, 0.5 * (from + to)));
            }
        }
    }

    /// Returns the spread between two points at which the mean times of both sides are equal.
    fn extremum(&self, from: &Evaluation, to: &Evaluation) -> f64 {
        let (mut low, mut high) = (from.spread, to.spread);
        let rises = from.slope() > 0.0;
        for _ in 0..MAX_STEPS {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if (self.at(middle).slope() > 0.0) == rises {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// Returns the one root between two points, between which g rises or falls all the way.
    fn root_between(&self, from: &Evaluation, to: &Evaluation) -> DoubleDouble {
        let (mut low, mut high) = (*from, *to);
        let sign = from.difference >= 0.0;
        let mut step = high.spread - low.spread;
        let mut spread = low.spread + step * (low.difference / (low.difference - high.difference));
        for _ in 0..MAX_STEPS {
            if !(spread > low.spread && spread < high.spread) {
                spread = 0.5 * (low.spread + high.spread);
            }
            let point = self.at(spread);
            if point.difference.abs() <= point.difference_error {
                break;
            }
            if (point.difference >= 0.0) == sign {
                low = point;
            } else {
                high = point;
            }
            let newton = -point.difference / point.slope();
            let middle = 0.5 * (low.spread + high.spread);
            // A step that does not halve the one before it makes way for a halving of the interval.
            let next = if 2.0 * newton.abs() <= step.abs() { spread + newton } else { middle };
            step = next - spread;
            spread = next;
            if step.abs() <= f64::EPSILON * spread.abs() {
                break;
            }
        }
        self.polish(low.spread, high.spread, sign, spread)
    }

    /// Returns the root between two spreads in twice the precision; `sign` is that of the first value.
    fn polish(&self, low: f64, high: f64, sign: bool, near: f64) -> DoubleDouble {
        let (mut low, mut high) = (DoubleDouble::from(low), DoubleDouble::from(high));
        let mut spread = DoubleDouble::from(near);
        for _ in 0..MAX_STEPS {
            let (value, slope, _) = self.value(spread);
            if value.high == 0.0 {
                break;
            }
            if (value.high > 0.0) == sign {
                low = spread;
            } else {
                high = spread;
            }
            let newton = spread + DoubleDouble::from(value.high / slope);
            let is_inside = (newton - low).high >= 0.0 && (high - newton).high >= 0.0;
            let next = if is_inside { newton } else { (low + high) * 0.5.into() };
            let step = (next - spread).high;
            spread = next;
            if step.abs() <= 0.125 * f64::EPSILON * spread.high.abs() || step.abs() < 1e-25 {
                break;
            }
        }
        spread
    }

    /// Returns the value, how fast it falls as the spread rises, and the value of the positive payments.
    /// The unit of all three is the largest present value.
    pub(super) fn value(&self, spread: DoubleDouble) -> (DoubleDouble, f64, f64) {
        let exponents = self.terms.iter().zip(&self.logarithms).map(|(term, logarithm)| {
            let (discount, time) = self.log_discount(term, spread.high);
            (logarithm + discount, time)
        });
        let exponents: Vec<(f64, f64)> = exponents.collect();
        let by_size = |a: &usize, b: &usize| exponents[*a].0.total_cmp(&exponents[*b].0);
        let largest = (0..self.terms.len()).max_by(by_size).expect("there are terms");
        let unit = Scaled::from(self.terms[largest].amount.abs());
        let base = self.exact_log_discount(&self.terms[largest], spread);
        let (mut sum, mut fall, mut positive) = (DoubleDouble::ZERO, 0.0, 0.0);
        for (term, (_, time)) in self.terms.iter().zip(&exponents) {
            let factor = exp_64(self.exact_log_discount(term, spread) - base);
            let weight = (Scaled::from(term.amount).over(unit) * factor).to_double_double();
            sum = sum + weight;
            fall += weight.high * time;
            positive += weight.high.max(0.0);
        }
        (sum, fall, positive)
    }

    fn exact_log_discount(&self, term: &DiscountedPayment, spread: DoubleDouble) -> DoubleDouble {
        if term.time.high == 0.0 {
            return DoubleDouble::ZERO;
        }
        let rate = spread + term.rate.into();
        let logarithm = |growth: DoubleDouble| ln_64(Scaled::from(growth + DoubleDouble::ONE));
        match self.compounding {
            Compounding::Continuous => -(rate * term.time),
            Compounding::Simple => -logarithm(rate * term.time),
            periodic => {
                let count = DoubleDouble::from(periodic.payments_a_year());
                -(count * term.time * logarithm(rate / count))
            }
        }
    }

    /// Returns how fast the value of the payments falls as the spread rises, in money.
    pub(super) fn fall(&self, spread: f64) -> f64 {
        let falls = self.terms.iter().map(|term| {
            let (discount, time) = self.log_discount(term, spread);
            term.amount * libm::exp(discount) * time
        });
        falls.sum()
    }
}

/// Returns a bound of the third derivative of g: the third central moment of numbers in an interval of
/// the length R is at most R³/√108 in size.
fn third_derivative(terms: &[DiscountedPayment]) -> f64 {
    let bound = |is_positive: bool| {
        let side = terms.iter().filter(|term| (term.amount > 0.0) == is_positive);
        let mut times = side.map(|term| term.time.high);
        // The terms are in the order of time.
        let first = times.next().unwrap_or(0.0);
        let range = times.next_back().map_or(0.0, |last| last - first);
        range * range * range / 10.39
    };
    bound(true) + bound(false)
}

//! The critical line: the portfolios of least variance for each trade-off of variance and return.
//!
//! Along the line the weights are linear between corners, at which an asset reaches a bound or
//! leaves one. Each corner follows from the previous one: within a face the derivative of the
//! weights solves `Σ_FF d − μ_F = ν1, 1ᵀd = 0`. The first weight that reaches a bound, or the first
//! slope that reaches zero, ends the face.
//!
//! Markowitz and Todd (2000), "Mean–Variance Analysis in Portfolio Choice and Capital Markets",
//! chapters 7 and 8; Niedermayer and Niedermayer (2010), "Applying Markowitz's Critical Line
//! Algorithm".

use super::active_set::{Place, Problem, Vertex};
use super::symmetric::sum;
use crate::{Error, Result};

/// The difference of returns, as a part of their range, below which they count as equal.
const NO_DIFFERENCE: f64 = 1e-13;
/// The component of a move, as a part of the largest, below which it is rounding error.
const NO_MOVE: f64 = 1e-14;
/// The distance of a weight from a bound, in units of the largest weight, that is rounding.
const ROUNDED: f64 = 1.776_356_839_400_250_5e-15;
/// The change of the weights, as a part of the largest weight, that is rounding. Where many bounds
/// meet in one corner, nearly dependent assets add to the rounding of one weight.
const STANDSTILL: f64 = 2.842_170_943_040_401e-14;
/// The distance of two events, as a part of the trade-off, below which they coincide.
const AT_ONCE: f64 = 1e-13;

/// The critical line, at one of its corners.
pub(super) struct CriticalLine<'p, 'a> {
    problem: &'p Problem<'a>,
    returns: &'p [f64],
    vertex: Vertex<'a>,
    /// The next step along the line; `None` where the step is not computed yet.
    pending: Option<Motion>,
    /// The number of events after which the search fails.
    patience: usize,
}

/// A step along the critical line.
pub(super) enum Step {
    /// A segment from one corner to the next.
    Corner { from: Vec<f64>, to: Vec<f64> },
    /// A ray from a corner without end, along a change of the weights.
    Ray {
        from: Vec<f64>,
        way: Vec<f64>,
        /// True if the variance is constant along the ray.
        is_free: bool,
    },
    /// The end of the line: no portfolio has a larger return.
    End(Vec<f64>),
}

/// The derivatives of weights and slopes by the trade-off.
struct Motion {
    weights: Vec<f64>,
    slopes: Vec<f64>,
    /// Rounding error to expect in the slope of an asset.
    noise: Vec<f64>,
    multiplier: f64,
}

/// The change of the active set that ends a straight part of the line.
struct Event {
    /// The increase of the trade-off until the event.
    rise: f64,
    asset: usize,
    /// The new status of the asset.
    place: Place,
}

impl<'p, 'a> CriticalLine<'p, 'a> {
    /// Returns the line at a portfolio of least variance. The returns of the problem have a range
    /// near 1.
    pub(super) fn from(problem: &'p Problem<'a>, vertex: Vertex<'a>) -> Self {
        let returns = problem.returns.as_deref().unwrap_or(&[]);
        Self { problem, returns, patience: 20 * returns.len() + 100, pending: None, vertex }
    }

    /// Returns the weights, with those near a bound by rounding set to the bound.
    fn weights(&self) -> Vec<f64> {
        let near = ROUNDED * largest(&self.vertex.weights);
        let bounds = self.problem.lower.iter().zip(&self.problem.upper);
        let inside = |(&weight, (&lower, &upper)): (&f64, (&f64, &f64))| {
            let bound = [lower, upper].into_iter().find(|bound| (weight - bound).abs() <= near);
            bound.unwrap_or(weight.max(lower).min(upper))
        };
        self.vertex.weights.iter().zip(bounds).map(inside).collect()
    }

    /// Returns whether the portfolio has the least variance of all, to rounding.
    pub(super) fn is_at_start(&self) -> bool {
        self.vertex.trade_off <= self.problem.noise(&self.vertex.weights)
    }

    /// Advances to the next corner, past all events that coincide there.
    pub(super) fn advance(&mut self) -> Result<Step> {
        let (mut from, mut has_moved) = (self.weights(), false);
        while self.patience > 0 {
            self.patience -= 1;
            let motion = self.pending.take().unwrap_or_else(|| self.motion());
            let Some(event) = self.first_event(&motion) else {
                return Ok(match (has_moved, self.is_still(&motion)) {
                    (true, _) => self.rest(from, motion),
                    (false, true) => Step::End(self.weights()),
                    (false, false) => {
                        Step::Ray { from: self.weights(), way: motion.weights, is_free: false }
                    }
                });
            };
            let is_at_once = self.is_at_once(&event, &motion);
            if has_moved && !is_at_once {
                return Ok(self.rest(from, motion));
            }
            let before = self.vertex.weights.clone();
            if !has_moved {
                from = self.weights();
            }
            if !is_at_once {
                self.follow(&motion, event.rise);
            }
            // An asset that leaves its bound is still at the bound, so it is not refined.
            if event.place != Place::Free {
                self.bind(event.asset, event.place);
            }
            self.problem.refine(&mut self.vertex);
            has_moved |= is_apart(&before, &self.vertex.weights);
            let rate = motion.slopes[event.asset];
            if event.place == Place::Free && !self.free(event.asset, rate) {
                if has_moved {
                    return Ok(self.rest(from, motion));
                }
                if let Some(way) = self.exchange(event.asset, -rate.signum()) {
                    return Ok(Step::Ray { from, way, is_free: true });
                }
                self.problem.refine(&mut self.vertex);
                has_moved |= is_apart(&before, &self.vertex.weights);
            }
        }
        let (residual, iterations) = (self.vertex.trade_off, 20 * self.returns.len() as u32 + 100);
        Err(Error::NoConvergence { method: "critical line", iterations, residual })
    }

    /// Stays at this corner and stores the next step.
    fn rest(&mut self, from: Vec<f64>, motion: Motion) -> Step {
        self.pending = Some(motion);
        Step::Corner { from, to: self.weights() }
    }

    /// Returns whether the distance to an event is rounding, so that the event is due now.
    fn is_at_once(&self, event: &Event, motion: &Motion) -> bool {
        let is_now = event.rise <= AT_ONCE * self.vertex.trade_off;
        let moved = event.rise * largest(&motion.weights);
        is_now || event.place != Place::Free && moved <= STANDSTILL * largest(&self.vertex.weights)
    }

    /// Returns the derivatives by the trade-off within the face.
    fn motion(&self) -> Motion {
        let pull: Vec<f64> = self.returns.iter().map(|value| -value).collect();
        let face = &self.vertex.face;
        let (step, mut multiplier) = face.step(&pull, 0.0);
        let mut weights = vec![0.0; pull.len()];
        face.assets().zip(step).for_each(|(asset, change)| weights[asset] = change);
        let mut residuals = vec![0.0; pull.len()];
        self.problem
            .exact_residuals(&weights, face, |asset| [pull[asset], -multiplier])
            .for_each(|(asset, residual)| residuals[asset] = residual);
        let (step, correction) = face.step(&residuals, -sum(weights.iter().copied()));
        multiplier += correction;
        face.assets().zip(step).for_each(|(asset, change)| weights[asset] += change);
        let products = self.problem.covariance.times(&weights);
        let slopes = products.iter().zip(&pull).map(|(x, pull)| x + pull - multiplier).collect();
        let risks = self.problem.noise(&weights);
        let noise = |(deviation, pull): (&f64, &f64)| {
            risks * deviation + NO_DIFFERENCE * (pull.abs() + multiplier.abs())
        };
        let noise = self.problem.deviations.iter().zip(&pull).map(noise).collect();
        Motion { weights, slopes, noise, multiplier }
    }

    /// Returns whether the returns of the free assets differ by rounding alone.
    fn is_still(&self, motion: &Motion) -> bool {
        let moves = |asset| {
            let variance = self.problem.covariance.diagonal(asset);
            motion.weights[asset].abs() * variance > NO_DIFFERENCE
        };
        !self.vertex.face.assets().any(moves)
    }

    /// Returns the first event on the face; among coincident events that of the first asset, so
    /// that cycles are rare; `None` where no asset enters the face or reaches a bound.
    fn first_event(&self, motion: &Motion) -> Option<Event> {
        let mut events = self.entries(motion);
        if !self.is_still(motion) {
            events.extend(self.arrivals(&motion.weights));
        }
        for event in &mut events {
            if self.is_at_once(event, motion) {
                event.rise = 0.0;
            }
        }
        first_of(events, AT_ONCE * self.vertex.trade_off)
    }

    /// Returns the events at which free assets reach their bounds.
    fn arrivals(&self, motion: &[f64]) -> Vec<Event> {
        let negligible = NO_MOVE * largest(motion);
        let arrival = |asset: usize| {
            let change = motion[asset];
            let (place, bound) = if change < 0.0 {
                (Place::Lower, self.problem.lower[asset])
            } else {
                (Place::Upper, self.problem.upper[asset])
            };
            let rise = ((bound - self.vertex.weights[asset]) / change).max(0.0);
            (change.abs() > negligible && rise.is_finite()).then_some(Event { rise, asset, place })
        };
        self.vertex.face.assets().filter_map(arrival).collect()
    }

    /// Returns the events at which the slopes of assets at their bounds reach zero.
    fn entries(&self, motion: &Motion) -> Vec<Event> {
        let Vertex { weights, places, multiplier, trade_off, .. } = &self.vertex;
        let gradient = self.problem.covariance.times(weights);
        let noise = self.problem.noise(weights);
        let held: f64 = weights.iter().map(|weight| weight.abs()).sum();
        let entry = |asset: usize| {
            let rate = motion.slopes[asset];
            let slope = gradient[asset] - trade_off * self.returns[asset] - multiplier;
            // The floors are for riskless assets: deviations are near 1.
            let floor = f64::EPSILON * f64::EPSILON * held;
            let rounding = (noise + floor) * (self.problem.deviations[asset] + f64::EPSILON)
                + f64::EPSILON * trade_off * self.returns[asset].abs();
            let distance = match places[asset] {
                Place::Lower if rate < 0.0 => slope,
                Place::Upper if rate > 0.0 => -slope,
                Place::AtZero => 0.0,
                _ => return None,
            };
            let is_on = rate.abs() > motion.noise[asset] && !self.problem.is_fixed(asset);
            let rise = if distance > 4.0 * rounding { distance / rate.abs() } else { 0.0 };
            is_on.then_some(Event { rise, asset, place: Place::Free })
        };
        (0..weights.len()).filter_map(entry).collect()
    }

    /// Moves along the face by the given increase of the trade-off.
    fn follow(&mut self, motion: &Motion, rise: f64) {
        for (weight, change) in self.vertex.weights.iter_mut().zip(&motion.weights) {
            *weight += rise * change;
        }
        self.vertex.multiplier += rise * motion.multiplier;
        self.vertex.trade_off += rise;
    }

    /// Frees an asset at its bound; returns `false` where the asset depends on the free assets.
    fn free(&mut self, asset: usize, rate: f64) -> bool {
        if !self.vertex.face.add(asset) {
            return false;
        }
        // A free asset moves against its slope. An asset that does not is nearly dependent on the
        // others, and rounding determined its move.
        let motion = self.motion();
        if motion.weights[asset] * rate > 0.0 {
            self.vertex.face.remove(asset);
            return false;
        }
        self.vertex.places[asset] = Place::Free;
        self.pending = Some(motion);
        true
    }

    fn bind(&mut self, asset: usize, place: Place) {
        let bounds = if place == Place::Lower { &self.problem.lower } else { &self.problem.upper };
        self.vertex.weights[asset] = bounds[asset];
        self.vertex.places[asset] = place;
        if self.vertex.face.assets().any(|free| free == asset) {
            self.vertex.face.remove(asset);
        }
    }

    /// Returns the move of the free assets that keeps variance and budget while a dependent asset
    /// moves.
    fn null_way(&mut self, asset: usize, sign: f64) -> Vec<f64> {
        let mut way = vec![0.0; self.vertex.weights.len()];
        let others = self.vertex.face.null_move(asset);
        let face = &self.vertex.face;
        face.assets().zip(others).for_each(|(free, q)| way[free] = sign * q);
        way[asset] = sign;
        let mut residuals = vec![0.0; way.len()];
        self.problem
            .exact_residuals(&way, face, |_| [0.0, 0.0])
            .for_each(|(free, residual)| residuals[free] = residual);
        let (step, _) = face.step(&residuals, -sum(way.iter().copied()));
        face.assets().zip(step).for_each(|(free, change)| way[free] += change);
        way
    }

    /// Moves a dependent asset, which gains return at constant variance, until an asset reaches a
    /// bound; returns the direction where no asset ever does.
    fn exchange(&mut self, asset: usize, sign: f64) -> Option<Vec<f64>> {
        let way = self.null_way(asset, sign);
        let place = if sign < 0.0 { Place::Lower } else { Place::Upper };
        let bound = if sign < 0.0 { self.problem.lower[asset] } else { self.problem.upper[asset] };
        let own = (bound - self.vertex.weights[asset]).abs();
        let mut events = self.arrivals(&way);
        events.extend(own.is_finite().then_some(Event { rise: own, asset, place }));
        let at_once = STANDSTILL * largest(&self.vertex.weights) / largest(&way);
        let Some(event) = first_of(events, at_once) else { return Some(way) };
        for (weight, change) in self.vertex.weights.iter_mut().zip(&way) {
            *weight += event.rise * change;
        }
        self.bind(event.asset, event.place);
        if event.asset != asset {
            let is_free = self.vertex.face.add(asset);
            self.vertex.places[asset] = if is_free { Place::Free } else { Place::AtZero };
        }
        None
    }
}

/// Returns the first event; among coincident events that of the first asset; `None` without events.
fn first_of(events: Vec<Event>, at_once: f64) -> Option<Event> {
    let first = events.iter().map(|event| event.rise).fold(f64::INFINITY, f64::min);
    let until = first + at_once + AT_ONCE * first;
    events.into_iter().filter(|event| event.rise <= until).min_by_key(|event| event.asset)
}

/// Returns whether two portfolios differ by more than rounding.
fn is_apart(before: &[f64], after: &[f64]) -> bool {
    let near = STANDSTILL * largest(after);
    before.iter().zip(after).any(|(a, b)| (a - b).abs() > near)
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

/// Subtracts the middle of the range from the returns and divides by a power of two, so that the
/// results lie between −1 and 1.
pub(super) fn centred(returns: &[f64]) -> Vec<f64> {
    let least = returns.iter().copied().fold(f64::INFINITY, f64::min);
    let most = returns.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let middle = 0.5 * least + 0.5 * most;
    let (_, exponent) = libm::frexp((most - middle).max(middle - least));
    returns.iter().map(|value| libm::scalbn(value - middle, -exponent)).collect()
}

/// Returns the weights at a fraction of a segment or at a distance along a ray, within bounds.
pub(super) fn between(problem: &Problem<'_>, from: &[f64], way: &[f64], part: f64) -> Vec<f64> {
    let bounds = problem.lower.iter().zip(&problem.upper);
    from.iter()
        .zip(way)
        .zip(bounds)
        .map(|((weight, change), (lower, upper))| (weight + part * change).max(*lower).min(*upper))
        .collect()
}

/// Returns the change of the weights from one portfolio to another.
pub(super) fn way(from: &[f64], to: &[f64]) -> Vec<f64> {
    from.iter().zip(to).map(|(from, to)| to - from).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{
        assets::Portfolio,
        covariance::Covariance,
        efficient_frontier::{EfficientFrontier, Frontier},
        max_sharpe::MaxSharpe,
        min_variance::MinVariance,
        symmetric::dot,
        target_return::TargetReturn,
    };
    use super::*;

    /// Assets of a factor model and bounds that some portfolio meets.
    #[derive(Clone, Debug)]
    struct Market {
        returns: Vec<f64>,
        covariance: Vec<Vec<f64>>,
        lower: Option<Vec<f64>>,
        upper: Option<Vec<f64>>,
    }

    impl Market {
        fn frontier(&self) -> Result<Frontier> {
            EfficientFrontier {
                expected_returns: self.returns.clone(),
                covariance_matrix: Covariance::from_rows(&self.covariance).unwrap(),
                risk_free_rate: 0.0,
                min_weights: self.lower.clone(),
                max_weights: self.upper.clone(),
            }
            .solve()
        }

        fn with_return(&self, target_return: f64) -> Result<Portfolio> {
            TargetReturn {
                expected_returns: self.returns.clone(),
                covariance_matrix: Covariance::from_rows(&self.covariance).unwrap(),
                risk_free_rate: 0.0,
                min_weights: self.lower.clone(),
                max_weights: self.upper.clone(),
                target_return,
            }
            .solve()
        }

        fn max_sharpe(&self, risk_free_rate: f64) -> Result<Portfolio> {
            MaxSharpe {
                expected_returns: self.returns.clone(),
                covariance_matrix: Covariance::from_rows(&self.covariance).unwrap(),
                risk_free_rate,
                min_weights: self.lower.clone(),
                max_weights: self.upper.clone(),
            }
            .solve()
        }

        fn min_variance(&self) -> Portfolio {
            let least = MinVariance {
                covariance_matrix: Covariance::from_rows(&self.covariance).unwrap(),
                min_weights: self.lower.clone(),
                max_weights: self.upper.clone(),
            };
            let least = least.solve().expect("a portfolio");
            least.with_returns(&self.returns, 0.0).expect("a portfolio")
        }

        fn bounds(&self, asset: usize) -> (f64, f64) {
            let lower = self.lower.as_ref().map_or(f64::NEG_INFINITY, |lower| lower[asset]);
            (lower, self.upper.as_ref().map_or(f64::INFINITY, |upper| upper[asset]))
        }

        fn gradient(&self, weights: &[f64]) -> Vec<f64> {
            self.covariance.iter().map(|row| dot(row, weights)).collect()
        }

        fn variance(&self, weights: &[f64]) -> f64 {
            dot(weights, &self.gradient(weights))
        }

        /// Returns whether the budget holds, and every bound to the last bit.
        fn admits(&self, weights: &[f64]) -> bool {
            let size = weights.iter().fold(1.0, |size: f64, weight| size.max(weight.abs()));
            let inside = |(asset, &weight): (usize, &f64)| {
                let (lower, upper) = self.bounds(asset);
                lower <= weight && weight <= upper
            };
            // Singular covariances without bounds lead through large weights.
            let rounding = if self.lower.is_some() { 1e-15 } else { 1e-12 };
            let missing = (sum(weights.iter().copied()) - 1.0).abs();
            weights.iter().enumerate().all(inside)
                && missing <= rounding * size * weights.len() as f64
        }

        /// Returns the excess of the steepest slope among the assets that can be sold over the
        /// least slope among those that can be bought, at this price of return.
        fn gap(&self, weights: &[f64], trade_off: f64) -> f64 {
            let gradient = self.gradient(weights);
            let slope = |asset: usize| gradient[asset] - trade_off * self.returns[asset];
            let can_buy = |asset: &usize| weights[*asset] < self.bounds(*asset).1;
            let can_sell = |asset: &usize| weights[*asset] > self.bounds(*asset).0;
            let all = || 0..weights.len();
            let cheapest = all().filter(can_buy).map(slope).fold(f64::INFINITY, f64::min);
            all().filter(can_sell).map(slope).fold(f64::NEG_INFINITY, f64::max) - cheapest
        }

        /// The prices of return between which no trade pays, as far as pairs of assets tell.
        fn trade_offs(&self, weights: &[f64]) -> [f64; 2] {
            let gradient = self.gradient(weights);
            let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
            for buy in (0..weights.len()).filter(|&i| weights[i] < self.bounds(i).1) {
                for sell in (0..weights.len()).filter(|&i| weights[i] > self.bounds(i).0) {
                    let dearer = self.returns[sell] - self.returns[buy];
                    let price = (gradient[sell] - gradient[buy]) / dearer;
                    if dearer > 1e-9 {
                        least = least.max(price);
                    } else if dearer < -1e-9 {
                        most = most.min(price);
                    }
                }
            }
            [least, most]
        }

        /// The first-order gap relative to the terms that it is made of.
        fn least_gap(&self, weights: &[f64]) -> f64 {
            let [least, most] = self.trade_offs(weights);
            let size = weights.iter().fold(1.0, |size: f64, weight| size.max(weight.abs()));
            let gap = |price: f64| self.gap(weights, price) / (size + price.abs());
            let prices = [0.0, least, most, 0.5 * (least + most)];
            prices
                .into_iter()
                .filter(|price| price.is_finite())
                .map(gap)
                .fold(f64::INFINITY, f64::min)
        }
    }

    fn market() -> impl Strategy<Value = Market> {
        let grid = prop_oneof![Just(true), Just(false)];
        let numbers = prop::collection::vec(0.0..1.0, 160);
        (
            1_usize..=12,
            0_usize..=6,
            grid.clone(),
            grid,
            0_usize..5,
            prop_oneof![Just(0.0), 0.001..0.1],
            numbers,
        )
            .prop_map(
                |(size, factors, coarse_loads, coarse_returns, kind, specific, numbers)| {
                    let load = |asset: usize, factor: usize| {
                        let number: f64 = 0.6 * numbers[asset * 6 + factor] - 0.3;
                        if coarse_loads { (number * 10.0).round() / 8.0 } else { number }
                    };
                    let element = |a: usize, b: usize| {
                        (0..factors).map(|k| load(a, k) * load(b, k)).sum::<f64>()
                            + if a == b { specific } else { 0.0 }
                    };
                    let returns = (0..size).map(|asset| {
                        let number: f64 = 0.2 * numbers[72 + asset] - 0.05;
                        if coarse_returns { (number * 40.0).round() / 32.0 } else { number }
                    });
                    let lower: Vec<f64> = (0..size)
                        .map(|asset| 1.2 * numbers[90 + asset] / size as f64 - 0.2)
                        .collect();
                    let upper = (0..size)
                        .map(|asset| lower[asset].max(1.0 / size as f64) + numbers[110 + asset]);
                    let (upper, zeros) = (Some(upper.collect()), Some(vec![0.0; size]));
                    let caps = Some(vec![(2.0_f64 / size as f64).clamp(0.25, 1.0); size]);
                    let (lower, upper) = match kind {
                        0 => (None, None),
                        1 => (zeros, None),
                        2 => (zeros, caps),
                        3 => (Some(lower), None),
                        _ => (Some(lower), upper),
                    };
                    let covariance =
                        (0..size).map(|a| (0..size).map(|b| element(a, b)).collect()).collect();
                    Market { returns: returns.collect(), covariance, lower, upper }
                },
            )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// Every corner and every mixture of neighbours satisfies the first-order conditions.
        #[test]
        fn the_frontier_is_efficient_everywhere(market in market()) {
            let frontier = market.frontier().unwrap();
            let portfolios: Vec<&Vec<f64>> = frontier.corners.iter().map(|corner| &corner.weights).collect();
            let mut points: Vec<Vec<f64>> = portfolios.iter().map(|&weights| weights.clone()).collect();
            for pair in portfolios.windows(2) {
                points.push(pair[0].iter().zip(pair[1]).map(|(a, b)| 0.5 * a + 0.5 * b).collect());
            }
            if let Some(ray) = &frontier.ray {
                let last = portfolios[portfolios.len() - 1];
                prop_assert!((dot(ray, &market.returns) - 1.0).abs() <= 1e-12);
                points.push(last.iter().zip(ray).map(|(w, d)| w + 0.1 * d).collect());
            }
            for weights in &points {
                prop_assert!(market.least_gap(weights) <= 1e-13, "{weights:?}: {:e}", market.least_gap(weights));
            }
            for weights in portfolios {
                prop_assert!(market.admits(weights), "{weights:?}");
            }
            for pair in frontier.corners.windows(2) {
                prop_assert!(pair[0].expected_return < pair[1].expected_return);
                prop_assert!(pair[0].volatility <= pair[1].volatility * (1.0 + 1e-14) + 1e-9);
            }
        }

        /// The frontier goes from the least variance to the largest return.
        #[test]
        fn the_frontier_has_the_right_ends(market in market()) {
            let frontier = market.frontier().unwrap();
            let (first, last) = (&frontier.corners[0], &frontier.corners[frontier.corners.len() - 1]);
            let least = market.min_variance();
            let size: f64 = first.weights.iter().map(|weight| weight.abs()).sum();
            prop_assert!(market.variance(&first.weights) <= market.variance(&least.weights) + 1e-15 * size * size);
            if frontier.ray.is_none() {
                prop_assert!(first.expected_return >= least.expected_return - 1e-9 * size);
                let found = market.with_return(last.expected_return + 1e-9);
                prop_assert_eq!(found.unwrap_err().argument(), Some("target_return"));
            }
        }

        /// The portfolio of a return has it, and satisfies the first-order conditions.
        #[test]
        fn a_target_return_is_met_with_the_least_variance(market in market(), part in -0.1..1.1) {
            let least = market.returns.iter().copied().fold(f64::INFINITY, f64::min);
            let most = market.returns.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let target = least + part * (most - least);
            match market.with_return(target) {
                Ok(found) => {
                    let size: f64 = found.weights.iter().map(|weight| weight.abs()).sum();
                    // Singular covariances without bounds lead through large weights.
                    let rounding = if market.lower.is_some() { 2e-15 } else { 1e-11 };
                    prop_assert!((found.expected_return - target).abs() <= rounding * size);
                    prop_assert!(market.admits(&found.weights), "{found:?} {:e}", sum(found.weights.iter().copied()) - 1.0);
                    prop_assert!(market.least_gap(&found.weights) <= 1e-13, "{:e}", market.least_gap(&found.weights));
                }
                Err(error) => prop_assert_eq!(error.argument(), Some("target_return")),
            }
        }

        /// At the largest ratio no trade pays at the price of return that the ratio sets.
        #[test]
        fn the_largest_ratio_has_no_gap(market in market(), rate in -0.1..0.15) {
            match market.max_sharpe(rate) {
                Ok(found) => {
                    prop_assert!(market.admits(&found.weights));
                    let excess: Vec<f64> = market.returns.iter().map(|value| value - rate).collect();
                    let trade_off = market.variance(&found.weights) / dot(&found.weights, &excess);
                    let size = found.weights.iter().fold(1.0, |size: f64, weight| size.max(weight.abs()));
                    let gap = market.gap(&found.weights, trade_off) / (size + trade_off.abs());
                    prop_assert!(gap <= 1e-13, "{found:?} {gap:e}");
                    for corner in market.frontier().unwrap().corners {
                        let ratio = (corner.expected_return - rate) / corner.volatility;
                        prop_assert!(corner.volatility < 1e-7 || ratio <= found.sharpe_ratio.unwrap() * (1.0 + 1e-14));
                    }
                }
                Err(error) => prop_assert_eq!(error.argument(), Some("risk_free_rate"), "{:?}", error),
            }
        }
    }
}

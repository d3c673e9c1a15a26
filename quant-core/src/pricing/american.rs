//! American and Bermudan options on binomial trees: Greeks and the boundary of early exercise.
//!
//! An American price is that of [`binomial::price`]. The nodes near the start give
//! delta, gamma and theta; two trees beside the given one each derivative by volatility, rate and
//! dividend yield. Not modelled: discrete dividends.

use super::binomial::{self, Exercise, Tree};
use super::black_scholes::{EuropeanOption, OptionType, discount};
use super::lattice::{
    band::{step_back, values_of_step},
    moves::Lattice,
    tree,
};
use crate::{Error, Result, check};

mod explanation;

pub use explanation::{explain, explain_on_dates};

/// The largest number of steps here: every node is visited.
pub const MAX_STEPS: usize = 10_000;

/// The largest number of points of an exercise boundary.
pub const MAX_BOUNDARY_POINTS: usize = 250;

/// The price of an American option on a tree, beside that of the European one, with its Greeks.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct American {
    /// The present value of the American option.
    pub price: f64,
    /// The value of the European option on the same tree.
    pub european_price: f64,
    /// Number of steps of the tree, one more than was asked for where LR needs an odd number.
    pub steps: usize,
    /// The derivatives of the price; `None` where the price moves along its forward without risk, as
    /// for a volatility or time of zero.
    pub greeks: Option<AmericanGreeks>,
    /// The prices at which early exercise begins to be optimal, in the order of their times; empty
    /// where it never is.
    pub boundary: Vec<BoundaryPoint>,
}

/// The derivatives of an American option's price on a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AmericanGreeks {
    /// `∂V/∂S`, from the two nodes of the first step.
    pub delta: f64,
    /// `∂²V/∂S²`, from the three nodes of the second step.
    pub gamma: f64,
    /// `∂V/∂t`, in money per year that passes, from the middle node of the second step.
    pub theta: f64,
    /// `∂V/∂σ`, in money per unit of volatility.
    pub vega: f64,
    /// `∂V/∂r`, in money per unit of the riskless rate.
    pub rho: f64,
    /// `∂V/∂q`, in money per unit of the dividend yield.
    pub epsilon: f64,
}

/// The boundary of early exercise at one step of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BoundaryPoint {
    /// Time from today to the step, in years.
    pub time: f64,
    /// The price at which waiting and exercising are worth the same: a put is exercised below it, a
    /// call above.
    pub spot: f64,
    /// The far end of the region of exercise, where negative rates bound it: a put is exercised above
    /// it, a call below.
    pub far_spot: Option<f64>,
}

/// Returns the price, the Greeks and the boundary of early exercise on a tree of `n_steps` steps.
///
/// The trees are those of [`binomial::price`], which see. With V_i the values at the nodes of step i,
/// and S_i their prices, from the lowest to the highest:
///
/// ```text
/// delta = (V₁₁ − V₁₀)/(S₁₁ − S₁₀)
/// gamma = (slope₂₁ − slope₁₀)/(½(S₂₂ − S₂₀)),  slopeⱼₖ = (V₂ⱼ − V₂ₖ)/(S₂ⱼ − S₂ₖ)
/// theta = (V₂₁ − V₀ − delta·m − ½gamma·m²)/2Δt,  m = S₂₁ − S₀
/// vega  = (V(σ + h) − V(σ − h))/2h with h = σ/100;  rho and epsilon likewise with h = 1e-4
/// ```
///
/// m is zero on a CRR tree. As nodes pass the strike the values of all trees but LR oscillate; gamma,
/// vega and rho most, by a few per cent at 100 steps.
///
/// The boundary has at most [`MAX_BOUNDARY_POINTS`] points, at steps of equal distance from today on.
/// A point lies between two nodes of a step, by linear interpolation of the gain from exercise; a step
/// all of whose nodes lie on one side has no point.
///
/// # Errors
///
/// The errors of [`binomial::price`]; [`Error::TooFew`] for fewer than two steps, [`Error::Domain`] for
/// more than [`MAX_STEPS`], [`Error::Overflow`] where the price at a node leaves the range of a double.
///
/// # Examples
///
/// ```
/// use quant_core::pricing::{EuropeanOption, OptionType, Tree, american};
///
/// // Hull, "Options, Futures, and Other Derivatives", the section on estimating Greek letters on a
/// // tree: the American put of five steps has a delta of −0.41, a gamma of 0.03 and a theta of −4.3.
/// let put = EuropeanOption {
///     option_type: OptionType::Put,
///     spot: 50.0,
///     strike: 50.0,
///     risk_free_rate: 0.10,
///     dividend_yield: 0.0,
///     volatility: 0.40,
///     time_to_maturity: 5.0 / 12.0,
/// };
/// let found = american::evaluate(&put, Tree::CoxRossRubinstein, 5)?;
/// assert!((found.price - 4.49).abs() < 0.005);
/// let greeks = found.greeks.expect("the volatility is positive");
/// assert!((greeks.delta - -0.41).abs() < 0.005);
/// assert!((greeks.gamma - 0.03).abs() < 0.005);
/// assert!((greeks.theta - -4.3).abs() < 0.05);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Hull, "Options, Futures, and Other Derivatives", the chapter on basic numerical procedures.
pub fn evaluate(option: &EuropeanOption, tree: Tree, n_steps: usize) -> Result<American> {
    check_steps(n_steps)?;
    let priced =
        |option: &EuropeanOption, exercise| binomial::price(option, exercise, tree, n_steps);
    let price = priced(option, Exercise::American)?;
    let european_price = priced(option, Exercise::European)?;
    let steps = tree::steps(tree, n_steps)?;
    if tree::is_riskless(option, tree) {
        let boundary = Vec::new();
        return Ok(American { price, european_price, steps, greeks: None, boundary });
    }
    let nodes = Nodes::new(option, &Lattice::new(option, tree, steps)?);
    let found = nodes.induct(|_| true)?;
    let greeks = nodes.greeks(&found, price, |option| priced(option, Exercise::American))?;
    Ok(American { price, european_price, steps, greeks: Some(greeks), boundary: found.boundary })
}

/// The price of a Bermudan option on a tree, beside that of the European one, with its Greeks.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Bermudan {
    /// The present value of the Bermudan option.
    pub price: f64,
    /// The value of the European option on the same tree.
    pub european_price: f64,
    /// Number of steps of the tree, one more than was asked for where LR needs an odd number.
    pub steps: usize,
    /// The times of exercise on the tree in years, increasing: those asked for, each moved to the
    /// nearest step, and expiry.
    pub exercise_times: Vec<f64>,
    /// The derivatives of the price; `None` where the price moves along its forward without risk.
    pub greeks: Option<AmericanGreeks>,
    /// The prices at which exercise begins to be optimal at the times of exercise before expiry, in
    /// their order, without the times at which exercise never is.
    pub boundary: Vec<BoundaryPoint>,
}

/// Returns the price and the Greeks of an option that may be exercised at some times only, on a tree of
/// `n_steps` steps.
///
/// `exercise_times` are in years, above zero and up to expiry, in any order; each is moved to the
/// nearest step. Expiry is always a time of exercise. Greeks and boundary are those of [`evaluate`].
///
/// # Errors
///
/// The errors of [`evaluate`]; [`Error::Element`] for a time outside its range, [`Error::TooFew`] for no
/// times.
///
/// # Examples
///
/// ```
/// use quant_core::pricing::{EuropeanOption, OptionType, Tree, american};
///
/// let put = EuropeanOption {
///     option_type: OptionType::Put,
///     spot: 100.0,
///     strike: 105.0,
///     risk_free_rate: 0.05,
///     dividend_yield: 0.0,
///     volatility: 0.2,
///     time_to_maturity: 1.0,
/// };
/// let bermudan = american::evaluate_on_dates(&put, Tree::CoxRossRubinstein, 100, &[0.5])?;
/// let american = american::evaluate(&put, Tree::CoxRossRubinstein, 100)?;
/// assert!(bermudan.european_price < bermudan.price && bermudan.price < american.price);
/// assert_eq!(bermudan.exercise_times, [0.5, 1.0]);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Hull, "Options, Futures, and Other Derivatives", the chapter on basic numerical procedures.
pub fn evaluate_on_dates(
    option: &EuropeanOption,
    tree: Tree,
    n_steps: usize,
    exercise_times: &[f64],
) -> Result<Bermudan> {
    check_steps(n_steps)?;
    let european_price = binomial::price(option, Exercise::European, tree, n_steps)?;
    let expiry = option.time_to_maturity;
    if exercise_times.is_empty() {
        return Err(Error::TooFew { argument: "exercise_times", needed: 1, found: 0 });
    }
    let requirement = "above zero and no later than expiry";
    check::each("exercise_times", exercise_times, requirement, |time| {
        0.0 < time && time <= expiry
    })?;
    let steps = tree::steps(tree, n_steps)?;
    let mut is_exercised = vec![false; steps + 1];
    for time in exercise_times {
        is_exercised[(time / expiry * steps as f64).round() as usize] = true;
    }
    is_exercised[steps] = true;
    let times = (0..=steps).filter(|&i| is_exercised[i]);
    let exercise_times: Vec<f64> =
        times.map(|i| if i == steps { expiry } else { expiry / steps as f64 * i as f64 }).collect();
    if tree::is_riskless(option, tree) {
        let values = exercise_times.iter().map(|&time| along_forward(option, time));
        let price = check::result("spot", values.fold(0.0, f64::max))?;
        let (greeks, boundary) = (None, Vec::new());
        return Ok(Bermudan { price, european_price, steps, exercise_times, greeks, boundary });
    }
    let priced = |option: &EuropeanOption| {
        let nodes = Nodes::new(option, &Lattice::new(option, tree, steps)?);
        let found = nodes.induct(|i| is_exercised[i])?;
        Ok((nodes, found))
    };
    let (nodes, found) = priced(option)?;
    let price = check::result("spot", found.value)?;
    let greeks = nodes.greeks(&found, price, |option| Ok(priced(option)?.1.value))?;
    let (greeks, boundary) = (Some(greeks), found.boundary);
    Ok(Bermudan { price, european_price, steps, exercise_times, greeks, boundary })
}

fn check_steps(n_steps: usize) -> Result<()> {
    if n_steps < 2 {
        return Err(Error::TooFew { argument: "n_steps", needed: 2, found: n_steps });
    }
    check::require(n_steps <= MAX_STEPS, "n_steps", n_steps as f64, "at most 10,000")
}

/// Returns the present value of exercising on the forward at a time.
fn along_forward(option: &EuropeanOption, time: f64) -> f64 {
    let forward = EuropeanOption {
        spot: option.spot * discount(option.dividend_yield, time),
        strike: option.strike * discount(option.risk_free_rate, time),
        ..*option
    };
    forward.exercise_value()
}

/// Returns the central difference quotient, or that of one side where the other has no tree.
fn slope(up: Result<f64>, down: Result<f64>, price: f64, step: f64) -> Result<f64> {
    match (up, down) {
        (Ok(up), Ok(down)) => Ok((up - down) / (2.0 * step)),
        (Ok(up), Err(_)) => Ok((up - price) / step),
        (Err(_), Ok(down)) => Ok((price - down) / step),
        (Err(refused), Err(_)) => Err(refused),
    }
}

/// The change of a rate for its derivative, a basis point.
const RATE_STEP: f64 = 1e-4;

/// The tree of an option with early exercise, node by node, with values in money.
struct Nodes {
    option: EuropeanOption,
    lattice: Lattice,
    /// The length of a step in years, Δt.
    step: f64,
    /// `e^{j(u − d)}` for the logarithms u and d of the moves.
    rises: Vec<f64>,
}

/// The value today, those at the nodes of the first two steps, and the boundary.
struct Found {
    value: f64,
    first: [f64; 2],
    second: [f64; 3],
    boundary: Vec<BoundaryPoint>,
}

impl Nodes {
    fn new(option: &EuropeanOption, lattice: &Lattice) -> Self {
        let spacing = lattice.up - lattice.down;
        let rises = (0..=lattice.steps).map(|j| libm::exp(j as f64 * spacing)).collect();
        let step = option.time_to_maturity / lattice.steps as f64;
        Self { option: *option, lattice: *lattice, step, rises }
    }

    /// Returns the lowest price of the underlying at step `i`.
    fn lowest(&self, i: usize) -> f64 {
        self.option.spot * libm::exp(i as f64 * self.lattice.down)
    }

    /// The price after `j` up moves of `i` steps.
    fn price(&self, i: usize, j: usize) -> f64 {
        self.lowest(i) * self.rises[j]
    }

    /// Returns the Greeks, with a function that prices the option with other arguments.
    fn greeks(
        &self,
        found: &Found,
        price: f64,
        priced: impl Fn(&EuropeanOption) -> Result<f64>,
    ) -> Result<AmericanGreeks> {
        let beside = |step: f64, change: fn(&mut EuropeanOption, f64)| {
            let moved = |by: f64| {
                let mut moved = self.option;
                change(&mut moved, by);
                priced(&moved)
            };
            slope(moved(step), moved(-step), price, step)
        };
        let volatility_step = 0.01 * self.option.volatility;
        let vega = beside(volatility_step, |option, by| option.volatility += by)?;
        let rho = beside(RATE_STEP, |option, by| option.risk_free_rate += by)?;
        let epsilon = beside(RATE_STEP, |option, by| option.dividend_yield += by)?;
        let (first, second) = (found.first, found.second);
        let node = |i, j| self.price(i, j);
        let delta = (first[1] - first[0]) / (node(1, 1) - node(1, 0));
        let upper = (second[2] - second[1]) / (node(2, 2) - node(2, 1));
        let lower = (second[1] - second[0]) / (node(2, 1) - node(2, 0));
        let gamma = (upper - lower) / (0.5 * (node(2, 2) - node(2, 0)));
        let moved = node(2, 1) - self.option.spot;
        let passed = second[1] - price - moved * (delta + 0.5 * gamma * moved);
        Ok(AmericanGreeks {
            delta: check::result("spot", delta)?,
            gamma: check::result("spot", gamma)?,
            theta: check::result("time_to_maturity", passed / (2.0 * self.step))?,
            vega: check::result("volatility", vega)?,
            rho: check::result("risk_free_rate", rho)?,
            epsilon: check::result("dividend_yield", epsilon)?,
        })
    }

    /// Values the option from expiry to today, exercised where that is better at the steps for which
    /// `is_exercised` holds.
    fn induct(&self, is_exercised: impl Fn(usize) -> bool) -> Result<Found> {
        let n = self.lattice.steps;
        let sign = if self.option.option_type == OptionType::Call { 1.0 } else { -1.0 };
        let strike = self.option.strike;
        let factor = discount(self.option.risk_free_rate, self.step);
        let (up, down) = (factor * self.lattice.cash.up, factor * self.lattice.cash.down);
        let every = n.div_ceil(MAX_BOUNDARY_POINTS);
        let lowest = self.lowest(n);
        let mut values = values_of_step(n);
        for (value, rise) in values.iter_mut().zip(&self.rises) {
            *value = (sign * (lowest * rise - strike)).max(0.0);
        }
        let (mut first, mut second, mut boundary) = ([0.0; 2], [0.0; 3], Vec::new());
        for i in (0..n).rev() {
            if i == 1 {
                second.copy_from_slice(&values[..3]);
            } else if i == 0 {
                first.copy_from_slice(&values[..2]);
            }
            let lowest = self.lowest(i);
            let may_exercise = is_exercised(i);
            if may_exercise && i % every == 0 {
                let gain = |j: usize| {
                    let waiting = down * values[j] + up * values[j + 1];
                    sign * (lowest * self.rises[j] - strike) - waiting
                };
                boundary.extend(self.boundary_at(i, gain));
            }
            step_back(&mut values, 0..i + 1, up, down);
            if may_exercise {
                for (value, rise) in values[..=i].iter_mut().zip(&self.rises) {
                    *value = value.max(sign * (lowest * rise - strike));
                }
            }
        }
        boundary.reverse();
        check::result("volatility", self.price(n, n) + values[0])?;
        Ok(Found { value: values[0], first, second, boundary })
    }

    /// The boundary at step `i`, from the gain of exercising at its nodes; `None` where exercise
    /// begins to be optimal between no two nodes of the step.
    fn boundary_at(&self, i: usize, gain: impl Fn(usize) -> f64) -> Option<BoundaryPoint> {
        // A gain of nothing but rounding is none.
        let least = NEGLIGIBLE * self.option.strike;
        let is_call = self.option.option_type == OptionType::Call;
        let (mut near, mut far) = (None, None);
        let mut before = gain(0) - least;
        for j in 1..=i {
            let now = gain(j) - least;
            if (before > 0.0) != (now > 0.0) {
                let part = before / (before - now);
                let (below, above) = (self.price(i, j - 1), self.price(i, j));
                let crossing = below + part * (above - below);
                // Exercise pays on the lower side of a put's boundary and the upper side of a call's.
                let end = if (now > 0.0) == is_call { &mut near } else { &mut far };
                *end = Some(crossing);
            }
            before = now;
        }
        near.map(|spot| BoundaryPoint { time: i as f64 * self.step, spot, far_spot: far })
    }
}

/// The part of the strike below which a gain from exercise is rounding.
const NEGLIGIBLE: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn option(option_type: OptionType, risk_free_rate: f64, dividend_yield: f64) -> EuropeanOption {
        EuropeanOption {
            option_type,
            spot: 100.0,
            strike: 105.0,
            risk_free_rate,
            dividend_yield,
            volatility: 0.2,
            time_to_maturity: 1.0,
        }
    }

    #[test]
    fn what_is_never_exercised_early_is_european_and_has_no_boundary() {
        for (option_type, rate, dividend_yield) in
            [(OptionType::Call, 0.05, 0.0), (OptionType::Put, 0.0, 0.03)]
        {
            for &tree in Tree::ALL {
                let found =
                    evaluate(&option(option_type, rate, dividend_yield), tree, 201).unwrap();
                // JR's underlying misses its forward a little, as if it paid a dividend.
                if tree != Tree::JarrowRudd {
                    assert_eq!(found.price, found.european_price, "{tree}");
                    assert_eq!(found.boundary, [], "{tree}");
                }
            }
        }
    }

    #[test]
    fn the_boundary_of_a_put_rises_to_the_strike_and_that_of_a_call_falls_to_it() {
        for (option_type, rate, dividend_yield) in
            [(OptionType::Put, 0.05, 0.01), (OptionType::Call, 0.01, 0.05)]
        {
            for &tree in Tree::ALL {
                let put = option_type == OptionType::Put;
                let found =
                    evaluate(&option(option_type, rate, dividend_yield), tree, 1001).unwrap();
                assert!(found.boundary.len() > 150, "{tree}: {}", found.boundary.len());
                for points in found.boundary.windows(2) {
                    let [earlier, later] = [points[0].spot, points[1].spot];
                    // Interpolation between nodes leaves a ripple of a part of their distance.
                    let ripple = 0.005 * earlier;
                    let grows = if put { later - earlier } else { earlier - later };
                    assert!(grows > -ripple, "{tree}: {points:?}");
                    assert_eq!(points[0].far_spot, None);
                }
                let last = found.boundary.last().unwrap();
                assert!(
                    if put { last.spot < 105.0 } else { last.spot > 105.0 },
                    "{tree}: {last:?}"
                );
            }
        }
    }

    #[test]
    fn negative_rates_bound_the_region_of_exercise_on_both_sides() {
        // A put is exercised only for its strike's interest, here at a cost of the dividends saved.
        let put = option(OptionType::Put, -0.01, -0.05);
        let found = evaluate(&put, Tree::CoxRossRubinstein, 500).unwrap();
        let mut both =
            found.boundary.iter().filter_map(|point| point.far_spot.map(|far| (point, far)));
        let (point, far) = both.next_back().expect("a bounded region");
        assert!(far < point.spot && point.spot < 105.0, "{point:?}");
    }

    #[test]
    fn without_risk_there_are_no_greeks() {
        let certain = EuropeanOption { volatility: 0.0, ..option(OptionType::Put, 0.05, 0.0) };
        let found = evaluate(&certain, Tree::LeisenReimer, 100).unwrap();
        assert_eq!((found.price, found.greeks), (5.0, None));
    }

    #[test]
    fn step_counts_out_of_range_are_refused() {
        let put = option(OptionType::Put, 0.05, 0.0);
        let evaluate = |n_steps| evaluate(&put, Tree::Tian, n_steps).unwrap_err().code();
        assert_eq!((evaluate(1), evaluate(MAX_STEPS + 1)), ("too_few", "domain"));
    }

    #[test]
    fn the_greeks_of_many_steps_are_those_of_the_closed_form_where_exercise_never_pays() {
        let call = option(OptionType::Call, 0.05, 0.0);
        let expected = call.greeks().unwrap();
        for &tree in Tree::ALL {
            let found = evaluate(&call, tree, 2001).unwrap().greeks.unwrap();
            for (name, found, expected) in [
                ("delta", found.delta, expected.delta),
                ("gamma", found.gamma, expected.gamma),
                ("theta", found.theta, expected.theta),
                ("vega", found.vega, expected.vega),
                ("rho", found.rho, expected.rho),
                ("epsilon", found.epsilon, expected.epsilon),
            ] {
                // All but LR oscillate as nodes pass the strike.
                let tolerance = if tree == Tree::LeisenReimer { 1e-3 } else { 2e-2 };
                let error = (found / expected - 1.0).abs();
                assert!(error < tolerance, "{tree} {name}: {found} {expected}");
            }
        }
    }

    #[test]
    fn times_of_exercise_out_of_range_are_refused() {
        let put = option(OptionType::Put, 0.05, 0.0);
        let on = |times: &[f64]| evaluate_on_dates(&put, Tree::Tian, 50, times).unwrap_err();
        assert_eq!((on(&[]).code(), on(&[]).argument()), ("too_few", Some("exercise_times")));
        for refused in [on(&[0.5, 0.0]), on(&[0.5, 1.01]), on(&[0.5, f64::NAN])] {
            assert_eq!((refused.code(), refused.index()), ("domain", Some(1)));
        }
    }

    #[test]
    fn a_certain_price_is_exercised_at_the_best_of_its_times() {
        let put = EuropeanOption { volatility: 0.0, ..option(OptionType::Put, 0.05, 0.0) };
        let found = evaluate_on_dates(&put, Tree::LeisenReimer, 99, &[0.25]).unwrap();
        let time = found.exercise_times[0];
        assert!((time - 0.25).abs() < 0.5 / 99.0);
        assert_eq!((found.price, found.greeks), (105.0 * discount(0.05, time) - 100.0, None));
    }

    proptest! {
        #[test]
        fn more_times_of_exercise_are_worth_more_up_to_the_american_option(
            strike in 60.0..160.0_f64, rate in 0.0..0.1_f64, dividend_yield in 0.0..0.1_f64,
            is_call: bool, tree in 0..4_usize, first in 0.01..1.0_f64, second in 0.01..1.0_f64,
        ) {
            let option_type = if is_call { OptionType::Call } else { OptionType::Put };
            let option = EuropeanOption { strike, ..option(option_type, rate, dividend_yield) };
            let on = |times: &[f64]| evaluate_on_dates(&option, Tree::ALL[tree], 41, times).unwrap();
            let (expiry, one, two) = (on(&[1.0]), on(&[first]), on(&[first, second]));
            let every: Vec<f64> = (1..=41).map(|i| f64::from(i) / 41.0).collect();
            let all = on(&every);
            let rounding = 1e-12 * strike;
            prop_assert!((expiry.price - expiry.european_price).abs() <= rounding);
            prop_assert!(one.price >= expiry.price - rounding);
            prop_assert!(two.price >= one.price - rounding && all.price >= two.price - rounding);
            let american = evaluate(&option, Tree::ALL[tree], 41).unwrap();
            // The American option may be exercised today as well.
            let price = all.price.max(option.exercise_value());
            prop_assert!((price - american.price).abs() <= rounding, "{all:?} {american:?}");
        }

        /// The induction over all nodes, against the one that skips the nodes of exercise.
        #[test]
        fn every_node_gives_the_price_that_likely_nodes_give(
            strike in 60.0..160.0_f64, rate in 0.0..0.1_f64, dividend_yield in 0.0..0.1_f64,
            volatility in 0.1..0.8_f64, is_call: bool, tree in 0..4_usize, n in 2..60_usize,
        ) {
            let option_type = if is_call { OptionType::Call } else { OptionType::Put };
            let option = EuropeanOption {
                strike, volatility, ..option(option_type, rate, dividend_yield)
            };
            let tree = Tree::ALL[tree];
            let Ok(found) = evaluate(&option, tree, n) else { return Ok(()) };
            let nodes = Nodes::new(&option, &Lattice::new(&option, tree, found.steps).unwrap());
            let price = nodes.induct(|_| true).unwrap().value;
            prop_assert!((price - found.price).abs() <= 1e-12 * strike, "{price} {found:?}");
        }
    }
}

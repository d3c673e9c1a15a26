//! Curves of six parameters, as central banks publish them: Nelson and Siegel's, with Svensson's
//! second hump.
//!
//! For given decay times the other four parameters are a linear least-squares problem and are
//! solved for outright. What is left is a search in two dimensions with many valleys: from every
//! point of a grid a few steps of Levenberg and Marquardt's method go down, the simplex method of
//! Nelder and Mead looks around in the deepest valleys, and more such steps lead to the bottom.

use argmin::{
    core::{CostFunction, Executor, State},
    solver::neldermead::NelderMead,
};
use argmin_math::{ArgminAdd, ArgminMul, ArgminSub};

use super::curve::{Point, require_increasing};
use crate::{Error, Result, check};

/// Fewer points than parameters fit many curves.
const PARAMETERS: usize = 6;

/// Decay times on each axis of the grid.
const GRID: usize = 9;

/// Steps down from each point of the grid.
const FIRST_STEPS: u32 = 12;

/// Valleys that are followed to the bottom.
const VALLEYS: usize = 3;

/// Steps of the simplex in a valley, and its side as a part of the grid's.
const SIMPLEX_STEPS: u64 = 80;
const SIMPLEX_SIDE: f64 = 0.1;

/// Steps to the bottom, a dozen of which are usual.
const FINE_STEPS: u32 = 150;

/// The penalty on such a step, as a part of what it explains: at first, at least, and at most,
/// where no step leads down any more.
const FIRST_DAMPING: f64 = 1e-3;
const LEAST_DAMPING: f64 = 1e-15;
const MOST_DAMPING: f64 = 1e3;

/// Decay times nearer to each other than this part are one, and their humps cannot be told apart.
const APART: f64 = 0.05;

/// Newton steps at the bottom, the distance over which its bends are taken, and what the misfit may
/// rise by from rounding.
const LAST_STEPS: u32 = 8;
const DIFFERENCE: f64 = 1e-5;
const LEVEL: f64 = 1e-9;

/// A column of which less than this part is outside the span of those before it adds nothing.
const DEPENDENT: f64 = 1e-11;

/// Below this, a hump is summed as a series.
const SERIES_BOUND: f64 = 0.5;

/// A curve of zero rates with a level, a slope and two humps.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NelsonSiegelSvensson {
    /// β₀: the rate that long tenors tend to.
    pub level: f64,
    /// β₁: the rate at tenor 0 less the level.
    pub slope: f64,
    /// β₂: the size of the hump of the first decay time.
    pub curvature: f64,
    /// β₃: the size of the hump of the second decay time.
    pub second_curvature: f64,
    /// τ₁: decay time of the slope and of the first hump, in years; positive.
    pub decay_time: f64,
    /// τ₂: decay time of the second hump, in years; positive.
    pub second_decay_time: f64,
}

impl NelsonSiegelSvensson {
    /// Returns the curve that is nearest to given zero rates, by the sum of the squared distances.
    ///
    /// `tenors` are years, positive and increasing; `zero_rates` are continuously compounded, one
    /// for each tenor.
    ///
    /// ```text
    /// minimise Σᵢ (z(tᵢ) − zᵢ)²   over   β₀, β₁, β₂, β₃, τ₁, τ₂
    /// ```
    ///
    /// where z is the curve's [zero rate](Self::at). The decay times are sought between half the
    /// first tenor and twice the last, the two at least a twentieth apart. Rates that are those of
    /// such a curve give its parameters back, as far as rates rounded to doubles tell them. Where
    /// fewer parameters would do, as for a flat curve, the fit is as good and the others are any.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`] below six points, [`Error::Shape`] where there are not as many rates as
    /// tenors, [`Error::Element`] for the first tenor that is not positive or not after the one
    /// before, and for a rate that is not finite, [`Error::Overflow`] where a parameter is no
    /// double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::NelsonSiegelSvensson;
    ///
    /// let truth = NelsonSiegelSvensson {
    ///     level: 0.04, slope: -0.02, curvature: 0.015, second_curvature: -0.01,
    ///     decay_time: 1.5, second_decay_time: 8.0,
    /// };
    /// let tenors = [0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 30.0];
    /// let rates = tenors.map(|tenor| truth.at(tenor).unwrap().zero_rate);
    /// let found = NelsonSiegelSvensson::fit(&tenors, &rates)?;
    /// assert!((found.level - 0.04).abs() < 1e-10);
    /// assert!((found.decay_time - 1.5).abs() < 1e-8);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Nelson and Siegel (1987), "Parsimonious Modeling of Yield Curves"; Svensson (1994),
    /// "Estimating and Interpreting Forward Interest Rates: Sweden 1992–1994"; Golub and Pereyra
    /// (1973), "The Differentiation of Pseudo-Inverses and Nonlinear Least Squares Problems Whose
    /// Variables Separate".
    pub fn fit(tenors: &[f64], zero_rates: &[f64]) -> Result<Self> {
        if tenors.len() < PARAMETERS {
            let found = tenors.len();
            return Err(Error::TooFew { argument: "tenors", needed: PARAMETERS, found });
        }
        require_increasing("tenors", tenors)?;
        check::length("zero_rates", zero_rates.len(), tenors.len())?;
        check::each("zero_rates", zero_rates, "a finite number", f64::is_finite)?;
        let largest = zero_rates.iter().fold(0.0, |largest: f64, rate| largest.max(rate.abs()));
        let (_, exponent) = libm::frexp(largest);
        let rates = zero_rates.iter().map(|rate| libm::scalbn(*rate, -exponent)).collect();
        let sample = Sample::new(tenors, rates);
        let decays = sample.search();
        sample.curve(decays, exponent)
    }

    /// Returns what the curve says at a tenor, in years, zero or positive.
    ///
    /// ```text
    /// z(t) = β₀ + β₁ s(t/τ₁) + β₂ h(t/τ₁) + β₃ h(t/τ₂)
    /// f(t) = β₀ + β₁ e^{−t/τ₁} + β₂ (t/τ₁) e^{−t/τ₁} + β₃ (t/τ₂) e^{−t/τ₂}
    /// s(x) = (1 − e⁻ˣ)/x,   h(x) = s(x) − e⁻ˣ
    /// ```
    ///
    /// where z is the zero rate, continuously compounded, f the instantaneous forward rate, and
    /// the Greek letters are those of the fields. At 0 both are β₀ + β₁.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a negative tenor, a parameter that is not finite or a decay time that
    /// is not positive; [`Error::Overflow`] where a figure is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::NelsonSiegelSvensson;
    ///
    /// let curve = NelsonSiegelSvensson {
    ///     level: 0.04, slope: -0.02, curvature: 0.0, second_curvature: 0.0,
    ///     decay_time: 1.0, second_decay_time: 5.0,
    /// };
    /// assert_eq!(curve.at(0.0)?.zero_rate, 0.02);
    /// assert!((curve.at(1.0)?.forward_rate - (0.04 - 0.02 * 0.36787944117144233)).abs() < 1e-17);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn at(&self, tenor: f64) -> Result<Point> {
        check::not_negative("tenor", tenor)?;
        check::finite("level", self.level)?;
        check::finite("slope", self.slope)?;
        check::finite("curvature", self.curvature)?;
        check::finite("second_curvature", self.second_curvature)?;
        check::positive("decay_time", self.decay_time)?;
        check::positive("second_decay_time", self.second_decay_time)?;
        let (first, second) =
            (Loading::at(tenor / self.decay_time), Loading::at(tenor / self.second_decay_time));
        let zero_rate = self.level
            + self.slope * first.slope
            + self.curvature * first.hump
            + self.second_curvature * second.hump;
        let forward_rate = self.level
            + self.slope * first.decay
            + self.curvature * first.forward_hump
            + self.second_curvature * second.forward_hump;
        Ok(Point {
            tenor: tenor + 0.0,
            zero_rate: check::result("tenor", zero_rate)?,
            discount_factor: check::result("tenor", libm::exp(-zero_rate * tenor))?,
            forward_rate: check::result("tenor", forward_rate)?,
        })
    }
}

/// The functions of the time in units of a decay time.
#[derive(Clone, Copy)]
struct Loading {
    /// `e⁻ˣ`
    decay: f64,
    /// `(1 − e⁻ˣ)/x`
    slope: f64,
    /// `(1 − e⁻ˣ)/x − e⁻ˣ`
    hump: f64,
    /// `x e⁻ˣ`
    forward_hump: f64,
}

impl Loading {
    fn at(x: f64) -> Self {
        let decay = libm::exp(-x);
        let slope = if x == 0.0 { 1.0 } else { -libm::expm1(-x) / x };
        let hump = if x < SERIES_BOUND { hump_series(x) } else { slope - decay };
        // At an infinite time nothing is left.
        let forward_hump = if decay == 0.0 { 0.0 } else { x * decay };
        Self { decay, slope, hump, forward_hump }
    }
}

/// `(1 − e⁻ˣ)/x − e⁻ˣ` as `Σ −k (−x)ᵏ/(k+1)!`, where the difference would lose digits.
fn hump_series(x: f64) -> f64 {
    let (mut sum, mut term) = (0.0, 1.0);
    // The terms alternate and fall from the start; from the fifteenth on they are below 1e-18.
    for k in 1..16 {
        term *= -x / f64::from(k + 1);
        sum -= f64::from(k) * term;
    }
    sum
}

/// The logarithms of the two decay times.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Decays([f64; 2]);

impl ArgminAdd<Decays, Decays> for Decays {
    fn add(&self, other: &Decays) -> Decays {
        Decays([self.0[0] + other.0[0], self.0[1] + other.0[1]])
    }
}

impl ArgminSub<Decays, Decays> for Decays {
    fn sub(&self, other: &Decays) -> Decays {
        Decays([self.0[0] - other.0[0], self.0[1] - other.0[1]])
    }
}

impl ArgminMul<f64, Decays> for Decays {
    fn mul(&self, factor: &f64) -> Decays {
        Decays(self.0.map(|value| value * factor))
    }
}

/// Rates to be fitted, of a size near 1.
struct Sample<'a> {
    tenors: &'a [f64],
    rates: Vec<f64>,
    /// Logarithms of the shortest and longest decay times.
    bounds: [f64; 2],
}

/// The sum of the squares that is left at given decay times.
struct Misfit<'s, 'a>(&'s Sample<'a>);

impl CostFunction for Misfit<'_, '_> {
    type Param = Decays;
    type Output = f64;

    fn cost(&self, decays: &Decays) -> std::result::Result<f64, argmin::core::Error> {
        Ok(self.0.misfit(*decays))
    }
}

impl<'a> Sample<'a> {
    fn new(tenors: &'a [f64], rates: Vec<f64>) -> Self {
        let first = libm::log(tenors[0]) - std::f64::consts::LN_2;
        let last = libm::log(tenors[tenors.len() - 1]) + std::f64::consts::LN_2;
        Self { tenors, rates, bounds: [first, last] }
    }

    /// The loadings of a decay time at all tenors.
    fn loadings(&self, logarithm: f64) -> Vec<Loading> {
        let decay_time = libm::exp(logarithm);
        self.tenors.iter().map(|tenor| Loading::at(tenor / decay_time)).collect()
    }

    /// The four linear parameters at given loadings, and what they leave.
    fn solve(&self, first: &[Loading], second: &[Loading]) -> ([f64; 4], Vec<f64>) {
        let columns = [
            vec![1.0; self.tenors.len()],
            first.iter().map(|loading| loading.slope).collect(),
            first.iter().map(|loading| loading.hump).collect(),
            second.iter().map(|loading| loading.hump).collect(),
        ];
        least_squares(columns, &self.rates)
    }

    /// The sum of the squares that is left; infinite where the decay times are out of range.
    fn misfit(&self, Decays([first, second]): Decays) -> f64 {
        let [least, most] = self.bounds;
        let is_inside = |value: f64| least <= value && value <= most;
        if !is_inside(first) || !is_inside(second) || (first - second).abs() < APART {
            return f64::INFINITY;
        }
        let (_, rest) = self.solve(&self.loadings(first), &self.loadings(second));
        let misfit = squares(&rest);
        if misfit.is_nan() { f64::INFINITY } else { misfit }
    }

    /// The decay times of the least misfit.
    fn search(&self) -> Decays {
        let side = (self.bounds[1] - self.bounds[0]) / GRID as f64;
        let lower = |a: &Decays, b: &Decays| self.misfit(*a).total_cmp(&self.misfit(*b));
        let mut valleys: Vec<Decays> =
            self.grid(side).into_iter().map(|start| self.go_down(start, FIRST_STEPS)).collect();
        valleys.sort_by(lower);
        valleys.truncate(VALLEYS);
        let bottoms = valleys.iter().flat_map(|&valley| {
            let found = self.descend(valley, SIMPLEX_SIDE * side);
            [valley, found].map(|near| self.go_down(near, FINE_STEPS))
        });
        self.level_out(bottoms.min_by(lower).expect("a grid has points"))
    }

    /// The middles of the squares into which the pairs of decay times are divided, but for the
    /// pairs of equal ones.
    fn grid(&self, side: f64) -> Vec<Decays> {
        let place = |index: usize| self.bounds[0] + side * (index as f64 + 0.5);
        (0..GRID * GRID)
            .map(|square| (square / GRID, square % GRID))
            .filter(|(row, column)| row != column)
            .map(|(row, column)| Decays([place(row), place(column)]))
            .collect()
    }

    /// The lowest point that the simplex method finds from a start.
    fn descend(&self, start: Decays, step: f64) -> Decays {
        let corners = [[0.0, 0.0], [0.5 * step, 0.0], [0.0, 0.5 * step]];
        let corners = corners.map(|corner| start.add(&Decays(corner))).to_vec();
        // Without a tolerance the number of steps is that given, and no clock is read.
        let Ok(solver) = NelderMead::new(corners).with_sd_tolerance(0.0) else { return start };
        let search = Executor::new(Misfit(self), solver)
            .configure(|state| state.max_iters(SIMPLEX_STEPS))
            .timer(false)
            .run();
        let Ok(found) = search else { return start };
        found.state().get_best_param().copied().unwrap_or(start)
    }

    /// A lower point in the valley, by Levenberg and Marquardt's method in all six parameters.
    fn go_down(&self, start: Decays, steps: u32) -> Decays {
        let (mut decays, mut misfit) = (start, self.misfit(start));
        let mut damping = FIRST_DAMPING;
        for _ in 0..steps {
            let next = decays.add(&self.damped_step(decays, damping));
            let found = self.misfit(next);
            if found < misfit {
                (decays, misfit) = (next, found);
                damping *= 0.1;
            } else if damping > MOST_DAMPING {
                break;
            } else {
                damping = 8.0 * damping.max(LEAST_DAMPING);
            }
        }
        decays
    }

    /// The bottom itself, by Newton's method on the slopes of the misfit: near it they tell more
    /// than the misfit, which is level to rounding.
    fn level_out(&self, start: Decays) -> Decays {
        let size = |slopes: [f64; 2]| slopes[0].abs().max(slopes[1].abs());
        let (mut decays, mut slopes) = (start, self.slopes(start));
        for _ in 0..LAST_STEPS {
            let bends = [[1.0, 0.0], [0.0, 1.0]].map(|axis| {
                let apart = Decays(axis).mul(&DIFFERENCE);
                let (up, down) = (self.slopes(decays.add(&apart)), self.slopes(decays.sub(&apart)));
                [0, 1].map(|index| (up[index] - down[index]) / (2.0 * DIFFERENCE))
            });
            let determinant = bends[0][0] * bends[1][1] - bends[1][0] * bends[0][1];
            let next = decays.sub(&Decays([
                (slopes[0] * bends[1][1] - slopes[1] * bends[1][0]) / determinant,
                (slopes[1] * bends[0][0] - slopes[0] * bends[0][1]) / determinant,
            ]));
            let found = self.slopes(next);
            let is_lower = self.misfit(next) <= self.misfit(start) * (1.0 + LEVEL);
            if !is_lower || size(found).is_nan() || size(found) >= size(slopes) {
                break;
            }
            (decays, slopes) = (next, found);
        }
        decays
    }

    /// Minus half the derivatives of the misfit by the logarithms of the decay times.
    fn slopes(&self, decays: Decays) -> [f64; 2] {
        let (columns, rest) = self.linearised(decays);
        [4, 5].map(|index| columns[index].iter().zip(&rest).map(|(a, b)| a * b).sum())
    }

    /// The derivatives of the rates by all parameters, the linear ones first, and what the best
    /// linear parameters leave of the rates.
    fn linearised(&self, Decays([first, second]): Decays) -> ([Vec<f64>; PARAMETERS], Vec<f64>) {
        let (first, second) = (self.loadings(first), self.loadings(second));
        let ([_, slope, curvature, second_curvature], rest) = self.solve(&first, &second);
        let of_first = |loading: &Loading| {
            slope * loading.hump + curvature * (loading.hump - loading.forward_hump)
        };
        let of_second =
            |loading: &Loading| second_curvature * (loading.hump - loading.forward_hump);
        let columns = [
            vec![1.0; self.tenors.len()],
            first.iter().map(|loading| loading.slope).collect(),
            first.iter().map(|loading| loading.hump).collect(),
            second.iter().map(|loading| loading.hump).collect(),
            first.iter().map(of_first).collect(),
            second.iter().map(of_second).collect(),
        ];
        (columns, rest)
    }

    /// The step of the logarithms of the decay times to the least squares of the curve made
    /// linear in all its parameters, with a penalty on the step.
    fn damped_step(&self, Decays([first, second]): Decays, damping: f64) -> Decays {
        let (mut columns, mut rest) = self.linearised(Decays([first, second]));
        // A row for each decay time, in which its step is weighed against what it explains.
        for penalised in [4, 5] {
            let weight = (damping * squares(&columns[penalised])).sqrt();
            for (index, column) in columns.iter_mut().enumerate() {
                column.push(if index == penalised { weight } else { 0.0 });
            }
            rest.push(0.0);
        }
        let ([.., first, second], _) = least_squares(columns, &rest);
        Decays([first, second])
    }

    /// The curve with given decay times, in the unit of the rates.
    fn curve(&self, decays: Decays, exponent: i32) -> Result<NelsonSiegelSvensson> {
        let Decays([first, second]) = decays;
        let (betas, _) = self.solve(&self.loadings(first), &self.loadings(second));
        let beta = |index: usize| check::result("zero_rates", libm::scalbn(betas[index], exponent));
        Ok(NelsonSiegelSvensson {
            level: beta(0)?,
            slope: beta(1)?,
            curvature: beta(2)?,
            second_curvature: beta(3)?,
            decay_time: check::result("tenors", libm::exp(first))?,
            second_decay_time: check::result("tenors", libm::exp(second))?,
        })
    }
}

/// The multiples of columns whose sum is nearest to a target, and what they leave of it.
///
/// Gram and Schmidt's method, each column orthogonalised twice. A column that depends on those
/// before it has the multiple 0.
fn least_squares<const N: usize>(columns: [Vec<f64>; N], target: &[f64]) -> ([f64; N], Vec<f64>) {
    let (mut triangle, mut parts) = ([[0.0; N]; N], [0.0; N]);
    let mut basis: [Vec<f64>; N] = columns;
    let mut rest = target.to_vec();
    for column in 0..N {
        let (before, after) = basis.split_at_mut(column);
        let vector = &mut after[0];
        let size = squares(vector).sqrt();
        for _ in 0..2 {
            for (row, direction) in before.iter().enumerate() {
                triangle[row][column] += take_out(direction, vector);
            }
        }
        let left = squares(vector).sqrt();
        if left > DEPENDENT * size {
            vector.iter_mut().for_each(|element| *element /= left);
            triangle[column][column] = left;
            parts[column] = take_out(vector, &mut rest);
        } else {
            vector.fill(0.0);
        }
    }
    // What rounding left of the directions in the rest.
    for (part, direction) in parts.iter_mut().zip(&basis) {
        *part += take_out(direction, &mut rest);
    }
    for row in (0..N).rev() {
        let known: f64 = (row + 1..N).map(|column| triangle[row][column] * parts[column]).sum();
        let pivot = triangle[row][row];
        parts[row] = if pivot > 0.0 { (parts[row] - known) / pivot } else { 0.0 };
    }
    (parts, rest)
}

/// Takes a direction out of a vector and returns how much there was of it.
fn take_out(direction: &[f64], vector: &mut [f64]) -> f64 {
    let part: f64 = direction.iter().zip(vector.iter()).map(|(a, b)| a * b).sum();
    for (element, along) in vector.iter_mut().zip(direction) {
        *element -= part * along;
    }
    part
}

fn squares(vector: &[f64]) -> f64 {
    vector.iter().map(|element| element * element).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TENORS: [f64; 12] = [0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0];

    fn curve(betas: [f64; 4], decays: [f64; 2]) -> NelsonSiegelSvensson {
        let [level, slope, curvature, second_curvature] = betas;
        let [decay_time, second_decay_time] = decays;
        NelsonSiegelSvensson {
            level,
            slope,
            curvature,
            second_curvature,
            decay_time,
            second_decay_time,
        }
    }

    fn rates(curve: &NelsonSiegelSvensson) -> Vec<f64> {
        TENORS.iter().map(|&tenor| curve.at(tenor).unwrap().zero_rate).collect()
    }

    fn misfit(curve: &NelsonSiegelSvensson, expected: &[f64]) -> f64 {
        rates(curve).iter().zip(expected).map(|(a, b)| (a - b) * (a - b)).sum()
    }

    #[test]
    fn both_ends_are_the_limits() {
        let curve = curve([0.04, -0.02, 0.015, -0.01], [1.5, 8.0]);
        let point = curve.at(0.0).unwrap();
        assert_eq!((point.zero_rate, point.forward_rate, point.discount_factor), (0.02, 0.02, 1.0));
        let far = curve.at(1e18).unwrap();
        assert!((far.zero_rate - 0.04).abs() < 1e-17);
        assert_eq!(far.forward_rate, 0.04);
        assert!((curve.at(1e-9).unwrap().zero_rate - 0.02).abs() < 1e-10);
    }

    #[test]
    fn a_hump_has_all_its_digits_where_it_begins() {
        for x in [1e-300, 1e-9, 0.01, 0.4999999, 0.5] {
            // x/2 − x²/3 + x³/8 − x⁴/30 + x⁵/144 − …
            let near = x * (0.5 - x * (1.0 / 3.0 - x * (0.125 - x * (1.0 / 30.0 - x / 144.0))));
            assert!((Loading::at(x).hump / near - 1.0).abs() <= x * x * x * x * x / 100.0 + 4e-16);
        }
    }

    #[test]
    fn flat_rates_are_their_level() {
        for rate in [0.03, 0.0, -0.005, 1e-300] {
            let found = NelsonSiegelSvensson::fit(&TENORS, &[rate; 12]).unwrap();
            for tenor in [0.0, 0.3, 8.0, 100.0] {
                let error = (found.at(tenor).unwrap().zero_rate - rate).abs();
                assert!(error <= 1e-14 * rate.abs(), "{rate} {found:?}");
            }
        }
    }

    #[test]
    fn a_curve_with_one_hump_is_fitted_as_well() {
        let truth = curve([0.05, -0.03, 0.02, 0.0], [2.0, 7.0]);
        let found = NelsonSiegelSvensson::fit(&TENORS, &rates(&truth)).unwrap();
        assert!(misfit(&found, &rates(&truth)) < 1e-28, "{found:?}");
    }

    #[test]
    fn what_makes_no_curve_is_refused_by_name() {
        let refused = |tenors: &[f64], rates: &[f64]| {
            let error = NelsonSiegelSvensson::fit(tenors, rates).unwrap_err();
            (error.code(), error.argument().unwrap(), error.index())
        };
        let six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(refused(&six[..5], &six[..5]), ("too_few", "tenors", None));
        assert_eq!(refused(&six, &six[..5]), ("shape", "zero_rates", None));
        assert_eq!(refused(&[1.0, 2.0, 2.0, 4.0, 5.0, 6.0], &six), ("domain", "tenors", Some(2)));
        assert_eq!(refused(&[0.0, 2.0, 3.0, 4.0, 5.0, 6.0], &six), ("domain", "tenors", Some(0)));
        let mut rates = six;
        rates[3] = f64::INFINITY;
        assert_eq!(refused(&six, &rates), ("domain", "zero_rates", Some(3)));
        let odd = curve([0.04, 0.0, 0.0, 0.0], [0.0, 1.0]);
        assert_eq!(odd.at(1.0).unwrap_err().argument(), Some("decay_time"));
        let good = curve([0.04, 0.0, 0.0, 0.0], [1.0, 1.0]);
        assert_eq!(good.at(-1.0).unwrap_err().argument(), Some("tenor"));
    }

    #[test]
    fn scaled_rates_have_scaled_parameters() {
        let base: Vec<f64> =
            TENORS.iter().map(|t| 0.03 + 0.01 * libm::sin(*t) / (1.0 + t)).collect();
        let scaled: Vec<f64> = base.iter().map(|rate| libm::scalbn(*rate, -700)).collect();
        let (base, scaled) = (
            NelsonSiegelSvensson::fit(&TENORS, &base).unwrap(),
            NelsonSiegelSvensson::fit(&TENORS, &scaled).unwrap(),
        );
        assert_eq!(scaled.decay_time, base.decay_time);
        assert_eq!(libm::scalbn(scaled.level, 700), base.level);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn known_parameters_are_found_again(
            betas in prop::array::uniform4(-0.05_f64..0.05), first in 0.7_f64..2.5, ratio in 2.5_f64..6.0,
        ) {
            prop_assume!(betas[1].abs() > 0.005 && betas[2].abs() > 0.005 && betas[3].abs() > 0.005);
            let truth = curve(betas, [first, first * ratio]);
            let found = NelsonSiegelSvensson::fit(&TENORS, &rates(&truth)).unwrap();
            prop_assert!(misfit(&found, &rates(&truth)) < 1e-27, "{truth:?} {found:?}");
            prop_assert!((found.decay_time / first - 1.0).abs() < 1e-6, "{truth:?} {found:?}");
            prop_assert!((found.second_decay_time / (first * ratio) - 1.0).abs() < 1e-6);
            prop_assert!((found.level - betas[0]).abs() < 1e-7);
        }

        #[test]
        fn the_forward_is_the_slope_of_the_exponent(
            betas in prop::array::uniform4(-0.1..0.1), decays in prop::array::uniform2(0.1..10.0), tenor in 0.0..40.0,
        ) {
            let curve = curve(betas, decays);
            let exponent = |tenor: f64| curve.at(tenor).unwrap().zero_rate * tenor;
            let slope = (exponent(tenor + 1e-4) - exponent(tenor)) / 1e-4;
            let middle = curve.at(tenor + 5e-5).unwrap().forward_rate;
            prop_assert!((slope - middle).abs() < 1e-8, "{slope} {middle}");
        }

        #[test]
        fn no_rates_make_it_panic(rates in prop::collection::vec(any::<f64>(), 6..9), gaps in prop::collection::vec(any::<f64>(), 9)) {
            let mut time = 0.0;
            let tenors: Vec<f64> = gaps.iter().map(|gap| { time += gap.abs().min(1e300); time }).collect();
            if let Ok(found) = NelsonSiegelSvensson::fit(&tenors[..rates.len()], &rates) {
                prop_assert!(found.level.is_finite() && found.decay_time > 0.0);
                let _ = found.at(1.0);
            }
        }
    }
}

//! The search for the decay times.
//!
//! For given decay times the other four parameters solve a linear least-squares problem. The
//! remaining search in two dimensions has many local minima. A few Levenberg–Marquardt steps start
//! at every point of a grid, the Nelder–Mead simplex method refines the best results, and further
//! Levenberg–Marquardt steps converge to the minimum.

use argmin::{
    core::{CostFunction, Executor, State},
    solver::neldermead::NelderMead,
};
use argmin_math::{ArgminAdd, ArgminMul, ArgminSub};

use super::least_squares::{first_order_gap, least_squares, squares};
use super::loading::Loading;
use super::model::NelsonSiegelSvensson;
use crate::{Result, check};

/// The number of parameters. Fewer points do not determine a curve.
pub(super) const PARAMETERS: usize = 6;

/// The number of decay times on each axis of the grid.
const GRID: usize = 9;

/// The number of pairs of decay times from which the search starts.
pub(super) const STARTS: u32 = (GRID * (GRID - 1)) as u32;

/// The number of steps from each point of the grid.
const FIRST_STEPS: u32 = 12;

/// The number of local minima that are refined.
const VALLEYS: usize = 3;

/// The number of steps of the simplex method, and the side of its simplex as a part of the grid's
/// spacing.
const SIMPLEX_STEPS: u64 = 80;
const SIMPLEX_SIDE: f64 = 0.1;

/// The largest number of final steps; a dozen are usual.
const FINE_STEPS: u32 = 150;

/// The damping of the Levenberg–Marquardt method: initial, least, and largest. At the largest, no
/// step reduces the misfit any more.
const FIRST_DAMPING: f64 = 1e-3;
const LEAST_DAMPING: f64 = 1e-15;
const MOST_DAMPING: f64 = 1e3;

/// The relative distance of the decay times below which their humps cannot be distinguished.
const APART: f64 = 0.05;

/// The number of Newton steps at the minimum, the distance of the finite differences for its
/// Hessian, and the relative increase of the misfit that counts as rounding.
const LAST_STEPS: u32 = 8;
const DIFFERENCE: f64 = 1e-5;
const LEVEL: f64 = 1e-9;

/// The logarithms of the two decay times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Decays([f64; 2]);

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

/// Rates to be fitted, scaled to a size near 1.
pub(super) struct Sample<'a> {
    tenors: &'a [f64],
    rates: Vec<f64>,
    /// Logarithms of the shortest and longest accepted decay times.
    bounds: [f64; 2],
}

/// The sum of squared residuals of the best linear fit, as a function of the two decay times.
struct Misfit<'s, 'a>(&'s Sample<'a>);

impl CostFunction for Misfit<'_, '_> {
    type Param = Decays;
    type Output = f64;

    fn cost(&self, decays: &Decays) -> std::result::Result<f64, argmin::core::Error> {
        Ok(self.0.misfit(*decays))
    }
}

impl<'a> Sample<'a> {
    pub(super) fn new(tenors: &'a [f64], rates: Vec<f64>) -> Self {
        let first = libm::log(tenors[0]) - std::f64::consts::LN_2;
        let last = libm::log(tenors[tenors.len() - 1]) + std::f64::consts::LN_2;
        Self { tenors, rates, bounds: [first, last] }
    }

    /// Returns the loadings of a decay time at all tenors.
    fn loadings(&self, logarithm: f64) -> Vec<Loading> {
        let decay_time = libm::exp(logarithm);
        self.tenors.iter().map(|tenor| Loading::at(tenor / decay_time)).collect()
    }

    /// Returns the four linear parameters at given loadings, and the residuals.
    fn solve(&self, first: &[Loading], second: &[Loading]) -> ([f64; 4], Vec<f64>) {
        let columns = [
            vec![1.0; self.tenors.len()],
            first.iter().map(|loading| loading.slope).collect(),
            first.iter().map(|loading| loading.hump).collect(),
            second.iter().map(|loading| loading.hump).collect(),
        ];
        least_squares(columns, &self.rates)
    }

    /// Returns the sum of squared residuals; infinite where the decay times are out of range.
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

    /// Returns the decay times with the least sum of squared residuals.
    pub(super) fn search(&self) -> Decays {
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

    /// Returns the centres of the squares of a grid over pairs of decay times, without pairs of
    /// equal ones.
    fn grid(&self, side: f64) -> Vec<Decays> {
        let place = |index: usize| self.bounds[0] + side * (index as f64 + 0.5);
        (0..GRID * GRID)
            .map(|square| (square / GRID, square % GRID))
            .filter(|(row, column)| row != column)
            .map(|(row, column)| Decays([place(row), place(column)]))
            .collect()
    }

    /// Returns the lowest point that the simplex method finds from a start.
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

    /// Returns a lower point, by Levenberg–Marquardt steps in all six parameters.
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

    /// Returns the minimum, by Newton's method on the gradient of the misfit. Near the minimum, the
    /// misfit is constant up to rounding, while the gradient still has digits.
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

    /// Returns minus half the derivatives of the misfit by the logarithms of the decay times.
    fn slopes(&self, decays: Decays) -> [f64; 2] {
        let (columns, rest) = self.linearised(decays);
        [4, 5].map(|index| columns[index].iter().zip(&rest).map(|(a, b)| a * b).sum())
    }

    /// Returns the derivatives of the rates by all parameters, the linear ones first, and the
    /// residuals at the best linear parameters.
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

    /// Returns the fall of the root of the mean squared residual that a further step from these decay
    /// times promises.
    pub(super) fn gap(&self, decay_times: [f64; 2]) -> f64 {
        let (columns, rest) = self.linearised(Decays(decay_times.map(libm::log)));
        first_order_gap(columns, &rest)
    }

    /// Returns the step of the logarithms of the decay times that minimises the squares of the
    /// linearised curve, with a penalty on the step.
    fn damped_step(&self, Decays([first, second]): Decays, damping: f64) -> Decays {
        let (mut columns, mut rest) = self.linearised(Decays([first, second]));
        // One row for each decay time penalises its step in proportion to the size of its
        // derivative.
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

    /// Returns the curve with given decay times, in the unit of the rates.
    pub(super) fn curve(&self, decays: Decays, exponent: i32) -> Result<NelsonSiegelSvensson> {
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

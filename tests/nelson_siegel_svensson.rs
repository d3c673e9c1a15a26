//! Nelson–Siegel–Svensson curves: `tests/golden/generate/nelson_siegel_svensson.py`.

use quant_core::curves::NelsonSiegelSvensson;

/// A few roundings against 50 digits, in units of the largest parameter, and of the logarithm for
/// a discount factor.
const VALUE_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// Distance of a fit's rates from the best fit's, in units of the largest rate.
const FIT_TOLERANCE: f64 = 1e-9;

/// Relative excess of the misfit over the least one.
const MISFIT_TOLERANCE: f64 = 1e-12;

/// The part of a parameter by which it may miss the one that made the rates, which were rounded.
const EXACT_TOLERANCE: f64 = 1e-6;

fn numbers(text: &str) -> Vec<f64> {
    text.split(' ').map(|number| number.parse().expect("a number")).collect()
}

fn rows(kind: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    include_str!("golden/nelson_siegel_svensson.csv")
        .lines()
        .skip(2)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(move |fields| fields[0] == kind)
}

fn curve(parameters: &str) -> NelsonSiegelSvensson {
    let [level, slope, curvature, second_curvature, decay_time, second_decay_time] =
        numbers(parameters)[..]
    else {
        panic!("six parameters: {parameters}")
    };
    NelsonSiegelSvensson {
        level,
        slope,
        curvature,
        second_curvature,
        decay_time,
        second_decay_time,
    }
}

fn rates(curve: &NelsonSiegelSvensson, tenors: &[f64]) -> Vec<f64> {
    tenors.iter().map(|&tenor| curve.at(tenor).expect("a point").zero_rate).collect()
}

#[test]
fn values_agree_with_fifty_digits() {
    let (mut largest, mut count) = (0.0_f64, 0);
    for fields in rows("value") {
        let size = numbers(fields[1])[..4].iter().fold(0.0, |size: f64, beta| size.max(beta.abs()));
        let tenor: f64 = fields[2].parse().expect("a tenor");
        let found = curve(fields[1]).at(tenor).expect("a point");
        let [zero, forward, factor] = [3, 4, 5].map(|field| numbers(fields[field])[0]);
        let error = (found.zero_rate - zero).abs().max((found.forward_rate - forward).abs()) / size;
        let of_factor = (found.discount_factor / factor - 1.0).abs() / (1.0 + size * tenor);
        assert!(error.max(of_factor) <= VALUE_TOLERANCE, "{fields:?}: {found:?}");
        (largest, count) = (largest.max(error).max(of_factor), count + 1);
    }
    println!("{count} values, largest error {largest:e}");
    assert!(count >= 50);
}

#[test]
fn noisy_rates_are_fitted_as_well_as_by_a_search_from_many_starts() {
    let (mut largest, mut largest_excess, mut count) = (0.0_f64, 0.0_f64, 0);
    for fields in rows("fit") {
        let (tenors, given) = (numbers(fields[1]), numbers(fields[2]));
        let least = numbers(fields[4])[0];
        let found = NelsonSiegelSvensson::fit(&tenors, &given).expect("a fit");
        let fitted = rates(&found, &tenors);
        let misfit: f64 = fitted.iter().zip(&given).map(|(a, b)| (a - b) * (a - b)).sum();
        let excess = misfit / least - 1.0;
        assert!(excess <= MISFIT_TOLERANCE, "{fields:?}: {found:?} {excess:e}");
        largest_excess = largest_excess.max(excess);
        count += 1;
        // A lower valley than the search from many starts found is another curve.
        if excess >= -1e-9 {
            let size = given.iter().fold(0.0, |size: f64, rate| size.max(rate.abs()));
            let best = rates(&curve(fields[3]), &tenors);
            let apart = fitted.iter().zip(&best).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart <= FIT_TOLERANCE * size, "{fields:?}: {found:?} {apart:e}");
            largest = largest.max(apart / size);
        }
    }
    println!("{count} fits, largest distance {largest:e}, largest excess {largest_excess:e}");
    assert!(count >= 20);
}

#[test]
fn rates_of_a_curve_give_it_back() {
    let (mut largest, mut count) = (0.0_f64, 0);
    for fields in rows("exact") {
        let truth = curve(fields[3]);
        let found = NelsonSiegelSvensson::fit(&numbers(fields[1]), &numbers(fields[2]));
        let found = found.expect("a fit");
        let error = [
            (found.decay_time / truth.decay_time - 1.0).abs(),
            (found.second_decay_time / truth.second_decay_time - 1.0).abs(),
            (found.level - truth.level).abs(),
            (found.slope - truth.slope).abs(),
        ];
        let error = error.into_iter().fold(0.0, f64::max);
        assert!(error <= EXACT_TOLERANCE, "{truth:?}: {found:?}");
        (largest, count) = (largest.max(error), count + 1);
    }
    println!("{count} curves, largest error of a parameter {largest:e}");
    assert!(count >= 20);
}

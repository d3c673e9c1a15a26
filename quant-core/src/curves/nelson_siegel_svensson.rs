//! Curves of few parameters, as central banks publish them: the model of Nelson and Siegel, and the one
//! with the second hump of Svensson.

mod fit;
mod least_squares;
mod loading;
mod model;
mod nelson_siegel;
mod quality;
mod search;

pub use model::NelsonSiegelSvensson;
pub use nelson_siegel::NelsonSiegel;
pub use quality::FitQuality;

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
        assert_eq!(
            (point.zero_rate, point.instantaneous_forward_rate, point.discount_factor),
            (0.02, 0.02, 1.0)
        );
        let far = curve.at(1e18).unwrap();
        assert!((far.zero_rate - 0.04).abs() < 1e-17);
        assert_eq!(far.instantaneous_forward_rate, 0.04);
        assert!((curve.at(1e-9).unwrap().zero_rate - 0.02).abs() < 1e-10);
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
            let middle = curve.at(tenor + 5e-5).unwrap().instantaneous_forward_rate;
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

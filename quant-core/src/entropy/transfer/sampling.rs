//! The explanation of a transfer entropy, with the error of its sample.

use std::collections::BTreeMap;

use super::{Triples, bins, transfer_entropy};
use crate::Result;
use crate::explanation::{ErrorKind, ErrorStatement, Explanation, Method};

/// Explains [`transfer_entropy`].
///
/// With N triples, and K the numbers of cells that occur, the value exceeds that of the process by
/// about
///
/// ```text
/// bias = ν/2N,   ν = K(y_t, y, x) − K(y_t, y) − K(y, x) + K(y)
/// ```
///
/// and 2N times the value of independent series follows χ² with ν degrees of freedom, whose
/// standard deviation is √2ν. The standard error of dependent series is that of a mean of N
/// logarithms. The estimate is the bias and twice both standard errors.
///
/// # Errors
///
/// The errors of [`transfer_entropy`].
///
/// # References
///
/// Miller (1955), "Note on the bias of information estimates"; Roulston (1999), "Estimating the
/// errors on measured entropy and mutual information".
pub fn explain_transfer_entropy(
    x_history: &[f64],
    y_history: &[f64],
    lag: usize,
    n_bins: usize,
) -> Result<Explanation> {
    let value = transfer_entropy(x_history, y_history, lag, n_bins)?;
    let source = bins("x_history", x_history, n_bins)?;
    let target = bins("y_history", y_history, n_bins)?;
    let sample = Triples { source: &source, target: &target, lag, n_bins }.sample();
    let error = ErrorStatement::estimated(
        ErrorKind::Sampling,
        "transfer_entropy",
        sample.error(value),
        "bias by the occupied bins (Miller 1955) and two standard errors (Roulston 1999), for \
         triples that are independent of each other",
    );
    let method = Method::new(
        "plug-in estimate of the transfer entropy",
        "Schreiber (2000), Measuring Information Transfer, equation 4, with one step of history",
    );
    Ok(Explanation::new(method, error).with_conventions([
        "The value is in nats.",
        "Each series has bins of equal width over its own range; the maximum is in the last bin.",
        "An edge between bins is decided on the shortest decimals that denote the values.",
        "Frequencies stand for probabilities; the bias of a short sample is not subtracted.",
        "One past value of each series is used, `lag` steps back.",
    ]))
}

/// The figures of a sample that its error depends on.
struct TransferSample {
    /// The number of triples, N.
    triples: f64,
    /// The degrees of freedom ν of the χ² distribution for independent series.
    freedom: f64,
    /// The mean square of the logarithms, whose mean is the transfer entropy.
    mean_square: f64,
}

impl TransferSample {
    fn error(&self, value: f64) -> f64 {
        let bias = 0.5 * self.freedom / self.triples;
        let independent = (0.5 * self.freedom).sqrt() / self.triples;
        let variance = (self.mean_square - value * value).max(0.0);
        let dependent = (variance / self.triples).sqrt();
        bias + 2.0 * (independent + dependent)
    }
}

impl Triples<'_> {
    fn sample(&self) -> TransferSample {
        let n_bins = self.n_bins as u32;
        let past = |cell: u32| cell / n_bins / n_bins;
        let with_future = |cell: u32| past(cell) * n_bins + cell % n_bins;
        let [triples, pairs, futures, pasts] = [
            self.counts(|cell| cell),
            self.counts(|cell| cell / n_bins),
            self.counts(with_future),
            self.counts(past),
        ];
        let square = |(&cell, &count): (&u32, &f64)| {
            let independent = pairs[&(cell / n_bins)] * futures[&with_future(cell)];
            let log = libm::log(count * pasts[&past(cell)] / independent);
            count * log * log
        };
        let number = self.len() as f64;
        let freedom = (triples.len() + pasts.len()) as f64 - (pairs.len() + futures.len()) as f64;
        let mean_square = triples.iter().map(square).sum::<f64>() / number;
        TransferSample { triples: number, freedom: freedom.max(0.0), mean_square }
    }

    /// Returns the number of triples with each key.
    fn counts(&self, key: impl Fn(u32) -> u32) -> BTreeMap<u32, f64> {
        let mut keys: Vec<u32> = self.cells().map(key).collect();
        keys.sort_unstable();
        keys.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as f64)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Independent series, whose processes transfer nothing.
    #[test]
    fn the_estimate_bounds_the_error_of_nineteen_samples_in_twenty() {
        let mut state = 20_261_122_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64
        };
        for (points, n_bins) in [(200, 2), (1_000, 3), (2_000, 5)] {
            let mut exceeded = 0;
            for _ in 0..400 {
                let [x, y]: [Vec<f64>; 2] =
                    std::array::from_fn(|_| (0..points).map(|_| next()).collect());
                let value = transfer_entropy(&x, &y, 1, n_bins).unwrap();
                let estimate = explain_transfer_entropy(&x, &y, 1, n_bins).unwrap().error.estimate;
                exceeded += usize::from(value > estimate);
            }
            assert!(exceeded <= 20, "{points} {n_bins}: {exceeded}");
        }
    }

    /// y repeats one bit of x in 80 of 100 cases: the transfer is `ln 2 − H(0.2)`.
    #[test]
    fn the_estimate_bounds_the_error_of_dependent_series() {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        let exact = std::f64::consts::LN_2 + 0.8 * libm::log(0.8) + 0.2 * libm::log(0.2);
        let mut exceeded = 0;
        for _ in 0..400 {
            let x: Vec<f64> = (0..500).map(|_| (next() % 2) as f64).collect();
            let mut y = vec![0.0];
            y.extend(x.iter().map(|&bit| if next() % 5 == 0 { 1.0 - bit } else { bit }));
            y.truncate(500);
            let value = transfer_entropy(&x, &y, 1, 2).unwrap();
            let estimate = explain_transfer_entropy(&x, &y, 1, 2).unwrap().error.estimate;
            exceeded += usize::from((value - exact).abs() > estimate);
        }
        assert!(exceeded <= 20, "{exceeded}");
    }
}

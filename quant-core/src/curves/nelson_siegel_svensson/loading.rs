//! The factor loadings, which multiply the parameters.

/// The x below which a hump is summed as a series.
const SERIES_BOUND: f64 = 0.5;

/// The functions of the time in units of a decay time.
#[derive(Clone, Copy)]
pub(super) struct Loading {
    /// The factor `e⁻ˣ` of an exponential decay.
    pub(super) decay: f64,
    /// The loading `(1 − e⁻ˣ)/x` of the slope parameter in a zero rate.
    pub(super) slope: f64,
    /// The loading `(1 − e⁻ˣ)/x − e⁻ˣ` of a hump parameter in a zero rate.
    pub(super) hump: f64,
    /// The loading `x e⁻ˣ` of a hump parameter in a forward rate.
    pub(super) forward_hump: f64,
}

impl Loading {
    pub(super) fn at(x: f64) -> Self {
        let decay = libm::exp(-x);
        let slope = if x == 0.0 { 1.0 } else { -libm::expm1(-x) / x };
        let hump = if x < SERIES_BOUND { hump_series(x) } else { slope - decay };
        // At an infinite time the loading is zero.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hump_has_all_its_digits_where_it_begins() {
        for x in [1e-300, 1e-9, 0.01, 0.4999999, 0.5] {
            // x/2 − x²/3 + x³/8 − x⁴/30 + x⁵/144 − …
            let near = x * (0.5 - x * (1.0 / 3.0 - x * (0.125 - x * (1.0 / 30.0 - x / 144.0))));
            assert!((Loading::at(x).hump / near - 1.0).abs() <= x * x * x * x * x / 100.0 + 4e-16);
        }
    }
}

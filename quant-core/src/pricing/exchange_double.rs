//! The right to exchange in plain doubles, without branches, tables or calls.
//!
//! The steps are those of [`Exchange`](super::exchange::Exchange), written so that a loop
//! runs several options at a time. A loop and a single call give the same bits, since each
//! step rounds by itself.

use super::normal::{CENTRE, DENSITY_AT_ZERO};
use crate::arithmetic::exponential::{exp_parts, expm1_double};
use crate::arithmetic::logarithm::ln_ratio_double;

/// The right to receive `receive·e^receive_exponent` for `give·e^give_exponent`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DoubleExchange {
    pub(super) receive: f64,
    pub(super) receive_exponent: f64,
    pub(super) give: f64,
    pub(super) give_exponent: f64,
    /// The standard deviation of the logarithm of their ratio at expiry.
    pub(super) deviation: f64,
}

/// The moneyness of a right to exchange.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moneyness {
    /// True if the right is in the money.
    pub(super) is_in: bool,
    /// The absolute value of the logarithm of the ratio less half the variance, in deviations: −d₁
    /// of the right out of the money, that or the opposite one.
    pub(super) z: f64,
    /// True if double precision suffices: up to about six deviations in or out of the money.
    pub(super) suffices: bool,
}

impl DoubleExchange {
    /// Returns the value within 2e-14, or `None` where doubles do not suffice.
    #[inline(always)]
    pub(super) fn value(&self) -> Option<f64> {
        let money = self.moneyness();
        if !money.suffices {
            return None;
        }
        let time_value = self.time_value(money.z, self.density(money));
        Some(if money.is_in { time_value + self.intrinsic() } else { time_value })
    }

    /// Returns the values of this right and of the opposite one, or `None` where doubles do not suffice.
    #[inline(always)]
    pub(super) fn both_values(&self) -> Option<(f64, f64)> {
        let money = self.moneyness();
        if !money.suffices {
            return None;
        }
        let time_value = self.time_value(money.z, self.density(money));
        let intrinsic = self.intrinsic();
        Some(if money.is_in {
            (time_value + intrinsic, time_value)
        } else {
            (time_value, time_value - intrinsic)
        })
    }

    /// Returns the moneyness of the right.
    ///
    /// The relative error of the value is that of d₁ times d₁². So doubles do where none of the
    /// terms of d₁ is large, and the discount factors, taken as `e^u − 1`, cannot cancel.
    #[inline(always)]
    pub(super) fn moneyness(&self) -> Moneyness {
        let Self { receive, receive_exponent, give, give_exponent, deviation } = *self;
        let ratio = ln_ratio_double(receive, give);
        let x = ratio + (receive_exponent - give_exponent);
        let z = x.abs() / deviation - 0.5 * deviation;
        let (u, v) = (receive_exponent.abs(), give_exponent.abs());
        let terms = ratio.abs() + u + v + deviation * deviation;
        let suffices = (terms < EASY * deviation)
            & (deviation > MIN_AMOUNT)
            & (z > -CENTRE)
            & (u < 1.0)
            & (v < 1.0)
            & (receive > MIN_AMOUNT)
            & (receive < MAX_AMOUNT)
            & (give > MIN_AMOUNT)
            & (give < MAX_AMOUNT);
        Moneyness { is_in: x > 0.0, z, suffices }
    }

    /// Returns the smaller amount times φ(z): for both directions, as they have the same time value.
    #[inline(always)]
    pub(super) fn density(&self, Moneyness { is_in, z, .. }: Moneyness) -> f64 {
        let small = if is_in { self.give } else { self.receive };
        let exponent = if is_in { self.give_exponent } else { self.receive_exponent };
        let (power, series) = exp_parts(exponent - 0.5 * z * z);
        (DENSITY_AT_ZERO * small * power) * (1.0 + series)
    }

    /// Returns the present value of `receive` less that of `give`.
    #[inline(always)]
    pub(super) fn intrinsic(&self) -> f64 {
        let receive_growth = self.receive * expm1_double(self.receive_exponent);
        let give_growth = self.give * expm1_double(self.give_exponent);
        (self.receive - self.give) + (receive_growth - give_growth)
    }

    /// `density·(M(z) − M(z + deviation))`, as in [`mills_difference`](super::normal), for a
    /// shorter range and so with fewer terms.
    #[inline(always)]
    pub(super) fn time_value(&self, z: f64, density: f64) -> f64 {
        let near = z + (CENTRE + SHIFT);
        let far = near + self.deviation;
        let inverse = 1.0 / (near * far);
        let (inverse_near, inverse_far) = (inverse * far, inverse * near);
        let (a, b) = (1.0 - 2.0 * SHIFT * inverse_near, 1.0 - 2.0 * SHIFT * inverse_far);
        let (a2, b2) = (a * a, b * b);
        let (a4, b4) = (a2 * a2, b2 * b2);
        let [mut p0, mut p1, mut p2, mut p3] = MILLS[4];
        let [mut s0, mut s1, mut s2, mut s3] = MILLS[4];
        for row in [3, 2, 1, 0] {
            let [c0, c1, c2, c3] = MILLS[row];
            (p0, p1, p2, p3) = (p0 * a4 + c0, p1 * a4 + c1, p2 * a4 + c2, p3 * a4 + c3);
            if row > 0 {
                (s0, s1, s2, s3) = (s0 * b4 + p0, s1 * b4 + p1, s2 * b4 + p2, s3 * b4 + p3);
            }
        }
        let value = (p0 + a * p1) + a2 * (p2 + a * p3);
        let of_quarters = (s0 + b * s1) + b2 * (s2 + b * s3);
        let of_powers = p1 + (a + b) * p2 + (a2 + a * b + b2) * p3;
        let slope = (a + b) * (a2 + b2) * of_quarters + of_powers;
        density * ((value - 2.0 * SHIFT * inverse_far * slope) * (self.deviation * inverse))
    }
}

/// The d₁ up to which doubles are enough for it.
const EASY: f64 = 6.0;

/// The amounts between which no result leaves the range of a double.
const MIN_AMOUNT: f64 = 1e-100;
const MAX_AMOUNT: f64 = 1e100;

/// The constant of the map from z to w = (y − 5)/(y + 5), y = z + ½, in [`DoubleExchange::time_value`].
const SHIFT: f64 = 5.0;

/// `(y + 5)·M(z)` in w for z from −½ to 6.2: Chebyshev interpolation, mpmath at 40 digits.
#[rustfmt::skip]
const MILLS: [[f64; 4]; 5] = [
    [2.125_705_804_420_318, -2.217_532_996_665_376_3, 2.001_645_398_836_700_5, -1.555_127_763_113_377_5],
    [1.027_560_195_189_665_1, -0.564_438_811_892_852_8, 0.246_448_237_478_353_2, -0.076_883_811_213_107_21],
    [0.010_980_010_529_285_112, 0.003_717_385_427_482_01, -0.002_528_078_609_612_570_5, 0.000_303_504_241_137_671_53],
    [0.000_250_167_047_059_900_5, -9.551_890_233_003_667e-05, -1.870_032_293_858_915e-05, 1.603_022_540_861_397_5e-05],
    [-1.619_213_044_007_914e-06, -5.986_748_109_562_407e-06, -2.174_920_490_628_065e-06, -2.677_135_475_769_837e-07],
];

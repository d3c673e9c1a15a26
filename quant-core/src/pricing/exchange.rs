//! The right to exchange one lognormal amount for another, the core of every closed form here.

use super::normal;
use crate::arithmetic::double_double::DoubleDouble;
use crate::arithmetic::exponential::{exp_59, exp_rounded};
use crate::arithmetic::logarithm::ln_ratio;

/// The amount that may be received, the amount given for it, and the deviation of their ratio.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// The amount that the holder receives on exercise.
    receive: Leg,
    /// The amount that the holder gives on exercise.
    give: Leg,
    /// The logarithm of the ratio of their present values.
    log_ratio: DoubleDouble,
    /// The standard deviation of the logarithm of their ratio at expiry.
    deviation: DoubleDouble,
    /// The distance d₁ of the exchange formula.
    d1: DoubleDouble,
}

/// An amount today and the logarithm of the factor that discounts it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    pub(super) amount: f64,
    pub(super) log_discount: DoubleDouble,
}

impl Leg {
    /// An amount that is worth `amount·e^{−rate·time}` today.
    pub(super) fn new(amount: f64, rate: f64, time: f64) -> Self {
        Self { amount, log_discount: DoubleDouble::product(-rate, time) }
    }

    /// Returns the present value of the right to exchange.
    pub(super) fn value(&self) -> f64 {
        if self.is_exact() { self.amount } else { times_exp(self.amount, self.log_discount) }
    }

    /// Returns whether the present value exceeds that of the other leg; `None` where they are equal.
    pub(super) fn exceeds(&self, other: &Self) -> Option<bool> {
        let difference = if self.amount == 0.0 || other.amount == 0.0 {
            self.amount - other.amount
        } else {
            self.log_ratio(other).high
        };
        (difference != 0.0).then_some(difference > 0.0)
    }

    /// The logarithm of the ratio of the two present values.
    pub(super) fn log_ratio(&self, other: &Self) -> DoubleDouble {
        let carry = self.log_discount.plus(-other.log_discount);
        ln_ratio(self.amount, other.amount).plus(carry)
    }

    /// The present value to more than a double, where it is neither very large nor very small.
    pub(super) fn precise_value(&self) -> DoubleDouble {
        if self.is_exact() {
            DoubleDouble::from(self.amount)
        } else if self.log_discount.high.abs() < 600.0 {
            let product = exp_59(self.log_discount).times(self.amount);
            DoubleDouble::sum(product.high, product.low)
        } else {
            DoubleDouble::from(self.value())
        }
    }

    /// Returns whether the discount factor is 1.
    fn is_exact(&self) -> bool {
        self.log_discount.high == 0.0
    }
}

impl Exchange {
    /// The right to exchange `give` for `receive`, with the deviation to the precision of a double
    /// and, where that is not enough, to more.
    pub(super) fn new(
        receive: Leg,
        give: Leg,
        s: f64,
        precise_deviation: impl FnOnce() -> DoubleDouble,
    ) -> Self {
        let carry = receive.log_discount.plus(-give.log_discount);
        let ratio = receive.amount / give.amount;
        let x = libm::log(ratio) + rounding(receive.amount, give.amount, ratio) + carry.high;
        let terms = (x - carry.high).abs() + carry.high.abs() + s * s;
        // The relative error of the price is that of d₁ times d₁².
        if terms * terms < EASY * s * s {
            let (log_ratio, d1) = (DoubleDouble::from(x), DoubleDouble::from(x / s + 0.5 * s));
            return Self { receive, give, log_ratio, deviation: DoubleDouble::from(s), d1 };
        }
        Self::precise(receive, give, precise_deviation())
    }

    /// The right to exchange `give` for `receive`, with every step to more than a double.
    pub(super) fn precise(receive: Leg, give: Leg, deviation: DoubleDouble) -> Self {
        let log_ratio = receive.log_ratio(&give);
        let half = DoubleDouble { high: 0.5 * deviation.high, low: 0.5 * deviation.low };
        let d1 = log_ratio.over(deviation).plus(half);
        Self { receive, give, log_ratio, deviation, d1 }
    }

    /// The present value of `max(receive − give, 0)`.
    ///
    /// In the money it is the intrinsic value plus that of the opposite, out-of-the-money right,
    /// and so never below the intrinsic value.
    pub(super) fn value(&self) -> f64 {
        if self.is_one_sided() {
            self.receive.value()
        } else if self.log_ratio.high <= 0.0 {
            self.out_of_the_money()
        } else {
            self.intrinsic() + self.reversed().out_of_the_money()
        }
    }

    /// The present values of `max(receive − give, 0)` and of `max(give − receive, 0)`.
    pub(super) fn both_values(&self) -> (f64, f64) {
        if self.is_one_sided() {
            (self.receive.value(), self.give.value())
        } else if self.log_ratio.high <= 0.0 {
            let out = self.out_of_the_money();
            (out, self.reversed().intrinsic() + out)
        } else {
            let out = self.reversed().out_of_the_money();
            (self.intrinsic() + out, out)
        }
    }

    /// Returns whether one of the two amounts is zero.
    fn is_one_sided(&self) -> bool {
        self.receive.amount == 0.0 || self.give.amount == 0.0
    }

    /// Returns the right to exchange in the opposite direction.
    pub(super) fn reversed(&self) -> Self {
        let low = self.deviation.low - self.d1.low;
        Self {
            receive: self.give,
            give: self.receive,
            log_ratio: -self.log_ratio,
            // −d₂ = s − d₁.
            d1: DoubleDouble::difference(self.deviation.high, self.d1.high).plus(low),
            deviation: self.deviation,
        }
    }

    /// Returns `receive − give` where the difference is positive, else zero.
    fn intrinsic(&self) -> f64 {
        let Self { receive, give, log_ratio, .. } = self;
        positive_part(Self::intrinsic_of(receive, give, *log_ratio).high)
    }

    /// Returns `receive − give` where that is positive, with its rounding error.
    fn intrinsic_of(receive: &Leg, give: &Leg, x: DoubleDouble) -> DoubleDouble {
        if Self::is_apart(receive, give, x) {
            receive.precise_value().plus(-give.precise_value())
        } else {
            Self::near_intrinsic(receive, x)
        }
    }

    /// Returns whether `receive − give` is more than the rounding of the two amounts.
    pub(super) fn is_apart(receive: &Leg, give: &Leg, x: DoubleDouble) -> bool {
        receive.is_exact() && give.is_exact() || x.high > NEAR
    }

    /// `receive − give` where the two nearly agree and their rounding errors would be all that the
    /// difference has left: `receive·(1 − e^{−x})` keeps the digits of x, the logarithm of their
    /// ratio.
    pub(super) fn near_intrinsic(receive: &Leg, x: DoubleDouble) -> DoubleDouble {
        let growth = libm::expm1(-x.high);
        DoubleDouble::from(receive.value() * (x.low * (1.0 + growth) - growth))
    }

    /// The value where `receive ≤ give`.
    ///
    /// With x the logarithm of the ratio, s the deviation, d₁ = x/s + s/2 and d₂ = d₁ − s, Black's
    /// `receive·Φ(d₁) − give·Φ(d₂)` is `receive·φ(d₁)·(M(−d₁) − M(−d₂))`, since
    /// `receive·φ(d₁) = give·φ(d₂)`; M is the Mills ratio. For large s it is what is left of
    /// `receive`: `receive·(1 − φ(d₁)·(M(d₁) + M(−d₂)))`.
    fn out_of_the_money(&self) -> f64 {
        let s = self.deviation.high;
        if s == 0.0 {
            return 0.0;
        }
        let d1 = self.d1;
        if d1.high < -FURTHEST {
            return 0.0;
        }
        if d1.high > NEAREST {
            return self.receive.value();
        }
        if d1.high > normal::CENTRE {
            let loss = normal::mills(d1.high) + normal::mills(s - d1.high);
            return self.receive.value() * (1.0 - normal::pdf(d1.high) * loss);
        }
        self.receive_times_density(d1) * normal::mills_difference(-d1.high, s)
    }

    /// Returns d₁ and d₂, rounded to doubles.
    pub(super) fn distances(&self) -> (f64, f64) {
        let DoubleDouble { high, low } = self.reversed().d1;
        (self.d1.high, -(high + low))
    }

    /// Returns the density term `receive·φ(d₁)`, which is `give·φ(d₂)`.
    pub(super) fn density(&self) -> f64 {
        self.receive_times_density(self.d1)
    }

    /// Returns `receive·Φ(d₁)` and `give·Φ(d₂)`: the present values of the two legs on exercise.
    pub(super) fn exercised_legs(&self) -> (f64, f64) {
        let (d1, d2) = self.distances();
        let density = self.density();
        let part = |leg: &Leg, d: f64| {
            let tail = density * normal::mills(d.abs());
            if d > 0.0 { leg.value() - tail } else { tail }
        };
        (part(&self.receive, d1), part(&self.give, d2))
    }

    /// Returns the density term `receive·φ(d₁)`, given d₁.
    fn receive_times_density(&self, d1: DoubleDouble) -> f64 {
        let square = d1.squared();
        let half = DoubleDouble { high: -0.5 * square.high, low: -0.5 * square.low };
        let exponent = half.plus(self.receive.log_discount);
        normal::DENSITY_AT_ZERO * times_exp(self.receive.amount, exponent)
    }
}

/// The number, or zero if it is below. NaN stays NaN, where `max` would make it zero.
pub(super) fn positive_part(value: f64) -> f64 {
    if value < 0.0 { 0.0 } else { value }
}

/// `amount·e^exponent`, in two steps where the exponential alone would leave the range of a double.
fn times_exp(amount: f64, exponent: DoubleDouble) -> f64 {
    if exponent.high.abs() < 600.0 {
        return amount * exp_rounded(exponent);
    }
    let root = exp_rounded(DoubleDouble::new(0.5 * exponent.high, 0.5 * exponent.low));
    amount * root * root
}

/// Returns the rounding error of the logarithm of a/b that `ratio = a/b` causes.
fn rounding(a: f64, b: f64, ratio: f64) -> f64 {
    let product = DoubleDouble::product(ratio, b);
    ((a - product.high) - product.low) / a
}

/// The d₁² up to which doubles are enough for d₁.
const EASY: f64 = 8.0;

/// The logarithm of the ratio below which two rounded amounts are too close to be subtracted.
const NEAR: f64 = 0.01;

/// The d₁ above which the value is the whole amount received: Φ(−40) is 1e-350.
const NEAREST: f64 = 40.0;

/// The −d₁ above which even 1e308·φ(d₁) is zero.
const FURTHEST: f64 = 60.0;

//! The volatility that a European option's price implies.
//!
//! This module inverts the formula of Black, Scholes and Merton with respect to the volatility. The
//! root finder is Householder's method of fourth order: Newton's step, corrected by the second and
//! third derivative. Two iterations follow an explicit first guess, a fit to the normal model or a
//! quantile of the normal distribution.
//!
//! The number of iterations is that of Jäckel (2015), "Let's Be Rational". The variables are those of
//! the Mills ratio; see `TimeValue`. First guesses: a fit to Bachelier's model, and Hastings'
//! quantile in Abramowitz and Stegun (1964), 26.2.23.

use super::black_scholes::{EuropeanOption, MODEL, OptionType};
use super::exchange::{Exchange, Leg};
use super::inversion::{Inversion, STEPS};
use super::normal::{
    DENSITY_AT_ZERO, mills, mills_difference, rough_mills_difference, rough_upper_quantile,
};
use crate::arithmetic::double_double::DoubleDouble;
use crate::arithmetic::exponential::exp_rounded;
use crate::arithmetic::logarithm::{ln_ratio, ln_ratio_double};
use crate::explanation::{Explanation, Method};
use crate::{Error, Result, check};

impl EuropeanOption {
    /// Returns the annual volatility at which [`price`](Self::price) is the given price; the field
    /// `volatility` is without effect.
    ///
    /// See [`QuotedOption::implied_volatility`] for the accuracy and the limits.
    ///
    /// # Errors
    ///
    /// The errors of [`QuotedOption::implied_volatility`].
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::{EuropeanOption, OptionType};
    ///
    /// let call = EuropeanOption {
    ///     option_type: OptionType::Call,
    ///     spot: 21.0,
    ///     strike: 20.0,
    ///     risk_free_rate: 0.10,
    ///     dividend_yield: 0.0,
    ///     volatility: 0.2,
    ///     time_to_maturity: 0.25,
    /// };
    /// assert!((call.implied_volatility(1.875)? - 0.235).abs() < 0.0005);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn implied_volatility(&self, price: f64) -> Result<f64> {
        self.quoted_at(price).implied_volatility()
    }

    /// Explains [`implied_volatility`](Self::implied_volatility).
    ///
    /// # Errors
    ///
    /// The errors of [`implied_volatility`](Self::implied_volatility).
    pub fn explain_implied_volatility(&self, price: f64) -> Result<Explanation> {
        self.quoted_at(price).explain()
    }

    fn quoted_at(&self, price: f64) -> QuotedOption {
        QuotedOption {
            option_type: self.option_type,
            spot: self.spot,
            strike: self.strike,
            risk_free_rate: self.risk_free_rate,
            dividend_yield: self.dividend_yield,
            price,
            time_to_maturity: self.time_to_maturity,
        }
    }
}

/// A European option with a known price and an unknown volatility.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct QuotedOption {
    /// The right of the holder, to buy or to sell.
    pub option_type: OptionType,
    /// Price of the underlying today; positive.
    pub spot: f64,
    /// Price at which the option can be exercised; positive.
    pub strike: f64,
    /// Riskless rate, annual, continuously compounded; of any sign.
    pub risk_free_rate: f64,
    /// Dividend yield, annual, continuously compounded; of any sign.
    pub dividend_yield: f64,
    /// Price of the option today, from its intrinsic value to the discounted amount received on
    /// exercise.
    pub price: f64,
    /// Time until expiry, in years; positive.
    pub time_to_maturity: f64,
}

impl QuotedOption {
    /// Returns the annual volatility at which
    /// [`EuropeanOption::price`](super::black_scholes::EuropeanOption::price) is this price.
    ///
    /// The result is the exact solution for the given numbers, within a few units of the last bit.
    /// Where a change of the last bit of the price changes the volatility by more, the result is
    /// within a few such changes. Two iterations of fourth order follow an explicit first guess,
    /// for all arguments.
    ///
    /// At the discounted intrinsic value the volatility is zero. Deep in the money, that price may
    /// be the rounded price of a small positive volatility. Where such volatilities matter, quote
    /// the option out of the money, by put–call parity.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a spot, strike or time that is not positive, any number that is not
    /// finite, and a `price` that no volatility gives: below the discounted intrinsic value
    /// `max(φ·(S e^{−qT} − K e^{−rT}), 0)`, or at or above the discounted spot of a call and the
    /// discounted strike of a put; [`Error::Overflow`] where the discounting leaves the range of a
    /// double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::black_scholes::OptionType;
    /// use quant_core::pricing::implied_volatility::QuotedOption;
    ///
    /// let call = QuotedOption {
    ///     option_type: OptionType::Call,
    ///     spot: 21.0,
    ///     strike: 20.0,
    ///     risk_free_rate: 0.10,
    ///     dividend_yield: 0.0,
    ///     price: 1.875,
    ///     time_to_maturity: 0.25,
    /// };
    /// assert!((call.implied_volatility()? - 0.235).abs() < 0.0005);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// The example is in Hull, "Options, Futures, and Other Derivatives", the section on implied
    /// volatilities. Jäckel (2015), "Let's Be Rational", shows that two iterations suffice;
    /// variables, first guesses and iterations differ here.
    pub fn implied_volatility(&self) -> Result<f64> {
        self.volatility_after(STEPS)
    }

    /// Explains [`implied_volatility`](Self::implied_volatility).
    ///
    /// # Errors
    ///
    /// The errors of [`implied_volatility`](Self::implied_volatility).
    pub fn explain(&self) -> Result<Explanation> {
        let volatility = self.implied_volatility()?;
        let option = EuropeanOption {
            option_type: self.option_type,
            spot: self.spot,
            strike: self.strike,
            risk_free_rate: self.risk_free_rate,
            dividend_yield: self.dividend_yield,
            volatility,
            time_to_maturity: self.time_to_maturity,
        };
        let repriced = option.greeks().ok().map(|greeks| (greeks.price, greeks.vega));
        let method = Method::new(
            "inversion of the formula by Householder's method of fourth order",
            "Jäckel (2015), Let's Be Rational, for the number of iterations; variables and first \
             guess differ",
        );
        let inversion = Inversion { price: self.price, volatility, repriced };
        let at_price = |price| Self { price, ..*self }.implied_volatility();
        Ok(inversion.explain(method, at_price).with_conventions(MODEL))
    }

    fn volatility_after(&self, steps: usize) -> Result<f64> {
        let deviation = match self.quick_time_value() {
            Some(time_value) => time_value.deviation(steps),
            None => match self.time_value()? {
                Some(time_value) => time_value.deviation(steps),
                None => return Ok(0.0),
            },
        };
        check::result("time_to_maturity", deviation / self.time_to_maturity.sqrt())
    }

    /// Returns the amount received on exercise and the amount given for it.
    #[inline(always)]
    fn legs(&self) -> (Leg, Leg) {
        let asset = Leg::new(self.spot, self.dividend_yield, self.time_to_maturity);
        let cash = Leg::new(self.strike, self.risk_free_rate, self.time_to_maturity);
        match self.option_type {
            OptionType::Call => (asset, cash),
            OptionType::Put => (cash, asset),
        }
    }

    /// Returns the time value where the logarithm of the ratio can be a double; `None` elsewhere,
    /// also for invalid arguments.
    #[inline(always)]
    fn quick_time_value(&self) -> Option<TimeValue> {
        let ordinary = 1e-100..1e100;
        let Self { spot, strike, price, time_to_maturity, .. } = *self;
        if ![spot, strike, price, time_to_maturity].iter().all(|number| ordinary.contains(number)) {
            return None;
        }
        let (receive, give) = self.legs();
        let ratio = ln_ratio_double(receive.amount, give.amount);
        let (gained, lost) = (receive.log_discount.high, give.log_discount.high);
        if !(gained.abs() < 100.0 && lost.abs() < 100.0) {
            return None;
        }
        let x = DoubleDouble::from(ratio + (gained - lost));
        let found = Bounds::new(&receive, &give, x).time_value(price)?;
        // An error of x changes s by the same amount, and x is proportional to s where x is larger.
        let terms = ratio.abs() + gained.abs() + lost.abs();
        (terms < 2.0 * found.x + 4.0 * found.part).then_some(found)
    }

    /// Returns the time value; `None` where the price is the intrinsic value.
    #[cold]
    #[inline(never)]
    fn time_value(&self) -> Result<Option<TimeValue>> {
        check::positive("spot", self.spot)?;
        check::positive("strike", self.strike)?;
        check::finite("risk_free_rate", self.risk_free_rate)?;
        check::finite("dividend_yield", self.dividend_yield)?;
        check::finite("price", self.price)?;
        check::positive("time_to_maturity", self.time_to_maturity)?;
        let (receive, give) = self.legs();
        let x = receive.log_ratio(&give);
        if !x.high.is_finite() {
            return Err(Error::Overflow { argument: "time_to_maturity" });
        }
        let (price, bounds) = (self.price, Bounds::new(&receive, &give, x));
        let enough = price >= bounds.intrinsic.high;
        check::require(enough, "price", price, "at least the discounted intrinsic value")?;
        if price == bounds.intrinsic.high {
            return Ok(None);
        }
        let most = match self.option_type {
            OptionType::Call => "below the discounted spot price",
            OptionType::Put => "below the discounted strike",
        };
        check::require(price < bounds.most.high, "price", price, most)?;
        let overflow = Error::Overflow { argument: "time_to_maturity" };
        bounds.time_value(price).map(Some).ok_or(overflow)
    }
}

/// Returns the deviation s of a normal variable whose mean is `distance` below a strike, or above, and
/// whose expected excess `s·(φ(d) − d·Φ(−d))` over the strike, d = `distance`/s, is `value`.
///
/// Beside a large enough amount the lognormal distribution is the normal one to the last bit, and so
/// is the inverse. `distance` is zero or positive, `value` is positive.
pub(super) fn normal_deviation(distance: f64, value: f64) -> f64 {
    if distance == 0.0 {
        return value / DENSITY_AT_ZERO;
    }
    let (_, exponent) = libm::frexp(distance.max(value));
    let scaled = |amount| libm::scalbn(amount, -exponent);
    let (x, value) = (scaled(distance) / LARGE, scaled(value));
    let leg = Leg::new(LARGE, 0.0, 0.0);
    let found = TimeValue { x, part: value / LARGE, lack: 1.0, value, unit: LARGE, leg };
    libm::scalbn(found.deviation(STEPS) * LARGE, exponent)
}

/// A power of two beside which 1 is less than a rounding.
const LARGE: f64 = (1_u64 << 60) as f64;

/// The bounds of the price of an option.
struct Bounds {
    intrinsic: DoubleDouble,
    /// The discounted amount received on exercise.
    most: DoubleDouble,
    /// The logarithm of the ratio of the discounted amounts received and given.
    x: DoubleDouble,
    /// The smaller of the discounted amounts.
    smaller: DoubleDouble,
    /// The smaller of the discounted amounts, as an amount and its discount.
    leg: Leg,
}

impl Bounds {
    #[inline(always)]
    fn new(receive: &Leg, give: &Leg, x: DoubleDouble) -> Self {
        let most = receive.precise_value();
        if x.high > 0.0 {
            let smaller = give.precise_value();
            let intrinsic = if Exchange::is_apart(receive, give, x) {
                most.plus(-smaller)
            } else {
                Exchange::near_intrinsic(receive, x)
            };
            Self { intrinsic, most, x, smaller, leg: *give }
        } else {
            Self { intrinsic: DoubleDouble::from(0.0), most, x, smaller: most, leg: *receive }
        }
    }

    /// Returns the time value of a price between the bounds; `None` for any other price.
    #[inline(always)]
    fn time_value(&self, price: f64) -> Option<TimeValue> {
        if !(price > self.intrinsic.high && price < self.most.high) {
            return None;
        }
        let value = (price - self.intrinsic.high) - self.intrinsic.low;
        let lack = (self.most.high - price) + self.most.low;
        let unit = self.smaller.high;
        let x = self.x.high.abs();
        let (part, lack) = (value / unit, lack / unit);
        Some(TimeValue { x, part, lack, value, unit, leg: self.leg })
    }
}

/// The time value of an option, which a call and a put share, relative to its upper bound: the
/// smaller of the discounted spot and strike.
#[derive(Clone, Copy, Debug)]
struct TimeValue {
    /// The logarithm of the ratio of the larger to the smaller discounted amount.
    x: f64,
    /// The time value, relative to its upper bound.
    part: f64,
    /// One minus `part`, computed without cancellation.
    lack: f64,
    /// The time value, in money: the price less the intrinsic value.
    value: f64,
    /// The upper bound of the time value, in money.
    unit: f64,
    /// The upper bound, as an amount and its discount.
    leg: Leg,
}

/// With `s = σ√T`, `z = x/s − s/2` and `w = x/s + s/2 = √(z² + 2x)`, the part is `φ(z)·(M(z) −
/// M(w))`. One minus the part is `φ(z)·(M(−z) + M(w))`, where M is the Mills ratio; and `s = w −
/// z`. The derivatives of both by z, which an iteration of high order needs, cost a few
/// multiplications.
impl TimeValue {
    /// Returns the deviation `σ√T` at which the option has this time value.
    #[inline(always)]
    fn deviation(&self, steps: usize) -> f64 {
        let far = rough_mills((EDGE * EDGE + 2.0 * self.x).sqrt());
        if self.lack < DENSITY_AT_EDGE * (MILLS_AT_EDGE + far) {
            return self.above_the_edge(steps);
        }
        if self.x > WIDE {
            let log_part = self.log_part();
            return self.below_the_edge(self.wide_guess(log_part), log_part, steps);
        }
        // Bachelier's model, where z is x/s, and its correction to first order in x.
        let l = if self.part > LEAST {
            let added = DENSITY_AT_ZERO * self.x * (1.0 + 0.15 * self.x);
            // The two divisions run in parallel, which `added / part` would prevent.
            rough_log_plus_one(added * (self.unit / self.value))
        } else {
            libm::log(self.x) - self.log_part() - LOG_ROOT_TWO_PI
        };
        let (z, slope) = bachelier(l);
        if z > FAR {
            return self.below_the_edge(z - 0.5 * self.x / z, self.log_part(), steps);
        }
        if z > SMALL {
            return self.near(self.x / z, z, steps);
        }
        let s = slope * self.part / DENSITY_AT_ZERO;
        self.near(s, self.x / s, steps)
    }

    /// Returns the logarithm of the part.
    fn log_part(&self) -> f64 {
        if self.part > LEAST && self.value > LEAST {
            return ln_ratio_double(self.part, 1.0);
        }
        let log_unit = -self.leg.log_discount;
        ln_ratio(self.value, self.leg.amount).plus(log_unit).high
    }

    /// Iterates in s on the part itself, for small x and moderate z, where `x/s` is `h`.
    #[inline(always)]
    fn near(&self, mut s: f64, mut h: f64, steps: usize) -> f64 {
        for _ in 1..steps {
            s = self.nearer(s, h, rough_mills_difference);
            h = self.x / s;
        }
        self.nearer(s, h, mills_difference)
    }

    /// Makes one iteration in s. The remaining error is that of the difference of Mills ratios, or
    /// the fourth power of the previous error.
    #[inline(always)]
    fn nearer(&self, s: f64, h: f64, difference: impl Fn(f64, f64) -> f64) -> f64 {
        let t = 0.5 * s;
        let z = h - t;
        let growth = exp_rounded(DoubleDouble::from(0.5 * z * z));
        let excess = self.part / DENSITY_AT_ZERO * growth - difference(z, s);
        let second = (h - t) * (h + t);
        let third = second * second - 3.0 * h * h - t * t;
        s + s * householder(excess / s, second, third)
    }

    /// Iterates in z on the logarithm of the part, for z above about −½.
    fn below_the_edge(&self, mut z: f64, log_part: f64, steps: usize) -> f64 {
        // The part is of the order of x where x is small, so that its logarithm has fewer digits.
        let scale = self.x.min(1.0);
        let target = log_part - libm::log(scale) + LOG_ROOT_TWO_PI;
        for _ in 1..steps {
            z = self.lower(z, scale, target, rough_mills_difference);
        }
        z = self.lower(z, scale, target, mills_difference);
        self.deviation_at(z, (z * z + 2.0 * self.x).sqrt())
    }

    /// Makes one iteration in z for a z above about −½.
    #[inline(always)]
    fn lower(&self, z: f64, scale: f64, target: f64, difference: impl Fn(f64, f64) -> f64) -> f64 {
        let w = (z * z + 2.0 * self.x).sqrt();
        let s = self.deviation_at(z, w);
        let difference = difference(z, s);
        let log = if scale > LEAST {
            ln_ratio_double(difference, scale)
        } else {
            libm::log(difference / scale)
        };
        let excess = log - 0.5 * z * z - target;
        z + step(excess, z, w, s / (w * difference))
    }

    /// Returns the deviation for z below the edge, by steps in −z, from the logarithm of `lack`.
    fn above_the_edge(&self, steps: usize) -> f64 {
        let target = libm::log(self.lack) + LOG_ROOT_TWO_PI;
        let (x, mut z) = (self.x, self.guess_above_the_edge(target));
        for _ in 0..steps {
            let w = (z * z + 2.0 * x).sqrt();
            let sum = mills(z) + mills(w);
            let excess = ln_ratio_double(sum, 1.0) - 0.5 * z * z - target;
            z += step(excess, z, -w, (w + z) / (w * sum));
        }
        (z * z + 2.0 * x).sqrt() + z
    }

    /// Returns `w − z` without cancellation.
    fn deviation_at(&self, z: f64, w: f64) -> f64 {
        if z > 0.0 { 2.0 * self.x / (w + z) } else { w - z }
    }

    /// Returns a first guess of z: the part is the tail at z times `1 − M(w)/M(z)`, so the quantile
    /// for a factor of 1 is corrected.
    fn wide_guess(&self, log_part: f64) -> f64 {
        let z = if log_part < -std::f64::consts::LN_2 {
            rough_upper_quantile(log_part)
        } else {
            -rough_upper_quantile(libm::log(self.lack))
        };
        let w = (z * z + 2.0 * self.x).sqrt();
        let (near, far) = (rough_mills(z), rough_mills(w));
        let slope = self.deviation_at(z, w) / (w * (near - far));
        (z + rough_log_plus_one(-far / near) / slope).max(-0.5)
    }

    /// Returns a first guess of z above the edge, by the quantile of the part with the factor
    /// `1 + M(w)/M(z)`, which is 2 where x is zero.
    fn guess_above_the_edge(&self, target: f64) -> f64 {
        let factor = 1.0 + 1.0 / (1.0 + 2.0 * self.x.sqrt());
        let z = rough_upper_quantile(target - LOG_ROOT_TWO_PI - rough_log_plus_one(factor - 1.0));
        let w = (z * z + 2.0 * self.x).sqrt();
        let (near, far) = (rough_mills(z), rough_mills(w));
        let slope = (w + z) / (w * (near + far));
        z + rough_log_plus_one((1.0 + far / near) / factor - 1.0) / slope
    }
}

/// Returns the iteration step in z for the logarithm of a part that exceeds its target, with w
/// negated above the edge.
///
/// Let `−m` be the first derivative and `−a` the logarithmic derivative of the part's density. The
/// quotients of the second and third derivative by the first are `m − a` and `(m − a)² − a' + m·(m
/// − a)`.
fn step(excess: f64, z: f64, w: f64, m: f64) -> f64 {
    let v = 1.0 / w;
    let a = z + v + z * v * v;
    let slope = 1.0 + v * v * (1.0 - z * v - 2.0 * z * z * v * v);
    let second = m - a;
    let third = second * second - slope + m * second;
    householder(excess / m, second, third)
}

/// Returns Householder's step of fourth order, from Newton's step and the quotients of the second
/// and third derivative by the first.
fn householder(newton: f64, second: f64, third: f64) -> f64 {
    let n = newton;
    n * (1.0 + 0.5 * second * n) / (1.0 + second * n + third * n * n * (1.0 / 6.0))
}

/// Returns the Mills ratio within 8 % for z ≥ 0, with its limits.
fn rough_mills(z: f64) -> f64 {
    2.0 / (z + (z * z + 8.0 / std::f64::consts::PI).sqrt())
}

/// Returns `ln(1 + y)` for y above −1, within 7e-5; the error is relative where y is positive and
/// small.
fn rough_log_plus_one(y: f64) -> f64 {
    let bits = (1.0 + y).to_bits();
    let exponent = (bits >> 52) as f64 - 1023.0;
    let f = f64::from_bits((bits & FRACTION) | ONE) - 1.0;
    let slope = 0.999_936_82
        + f * (-0.496_788_75 + f * (0.305_399_98 + f * (-0.156_029_53 + f * 0.040_663_44)));
    exponent * std::f64::consts::LN_2 + f * slope
}

/// Returns the z with `l = ln(1 + φ(0)·z/(φ(z) − z·Φ(−z)))` and the quotient `l/z`, by a fit with
/// an error of 0.3 %.
fn bachelier(l: f64) -> (f64, f64) {
    let numerator = 1.0 + l * (2.056_322_72 + l * (0.968_060_25 + l * 0.095_112_49));
    let slope = (numerator / (1.0 + l * (0.596_390_38 + l * 0.188_318_23))).sqrt();
    (l / slope, slope)
}

/// The −z at which the two forms meet. Both are exact there, because the part is between 0.3 and
/// 0.7.
const EDGE: f64 = 0.4;

/// The density and the Mills ratio at the edge.
const DENSITY_AT_EDGE: f64 = 0.368_270_140_303_323_3;
const MILLS_AT_EDGE: f64 = 0.935_667_111_392_376_8;

/// The logarithm of the ratio above which the lognormal distribution is not close to a normal one.
const WIDE: f64 = 0.3;

/// The z above which the logarithm of the part has more digits than the part.
const FAR: f64 = 3.0;

/// The z below which both terms of the quotient `x/z` may be zero.
const SMALL: f64 = 1e-9;

/// The number below which the last bits of a quotient may be lost.
const LEAST: f64 = 1e-290;

/// The bits of the fraction of a double, and those of the exponent of 1.
const FRACTION: u64 = (1 << 52) - 1;
const ONE: u64 = 1023 << 52;

/// The logarithm of the inverse density at zero, `ln √(2π)`.
const LOG_ROOT_TWO_PI: f64 = 0.918_938_533_204_672_8;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The allowed error in units of the volatility's last bit, or of the volatility's change by
    /// the price's last bit.
    const BITS: f64 = 8.0;

    fn quoted(option_type: OptionType, numbers: [f64; 6]) -> QuotedOption {
        let [spot, strike, risk_free_rate, dividend_yield, price, time_to_maturity] = numbers;
        QuotedOption {
            option_type,
            spot,
            strike,
            risk_free_rate,
            dividend_yield,
            price,
            time_to_maturity,
        }
    }

    fn quote(option: &EuropeanOption) -> QuotedOption {
        QuotedOption {
            option_type: option.option_type,
            spot: option.spot,
            strike: option.strike,
            risk_free_rate: option.risk_free_rate,
            dividend_yield: option.dividend_yield,
            price: option.price().unwrap(),
            time_to_maturity: option.time_to_maturity,
        }
    }

    /// Generates options from usual to extreme ones, with strikes up to e^50 times the spot.
    fn option() -> impl Strategy<Value = EuropeanOption> {
        let numbers = (-50.0..50.0_f64, 0.0..5.0_f64, -0.1..0.2_f64, -0.1..0.2_f64);
        let uncertain = (-3.0..1.5_f64, 0.01..10.0_f64);
        (any::<bool>(), numbers, uncertain).prop_map(
            |(is_call, (log_strike, closer, rate, dividends), (log_volatility, time))| {
                EuropeanOption {
                    option_type: if is_call { OptionType::Call } else { OptionType::Put },
                    spot: 100.0,
                    strike: 100.0 * libm::exp(log_strike * libm::exp(-2.0 * closer)),
                    risk_free_rate: rate,
                    dividend_yield: dividends,
                    volatility: libm::pow(10.0, log_volatility),
                    time_to_maturity: time,
                }
            },
        )
    }

    #[test]
    fn a_price_of_the_intrinsic_value_implies_no_volatility() {
        use OptionType::{Call, Put};
        for (option_type, price) in [(Call, 10.0), (Put, 0.0)] {
            let option = quoted(option_type, [110.0, 100.0, 0.0, 0.0, price, 1.0]);
            assert_eq!(option.implied_volatility(), Ok(0.0));
        }
    }

    #[test]
    fn a_price_that_no_volatility_gives_is_refused() {
        use OptionType::{Call, Put};
        let rows = [
            (Call, 9.99, "at least the discounted intrinsic value"),
            (Call, f64::NAN, "a finite number"),
            (Call, 110.0, "below the discounted spot price"),
            (Put, -0.01, "at least the discounted intrinsic value"),
            (Put, 100.0, "below the discounted strike"),
        ];
        for (option_type, price, expected) in rows {
            let option = quoted(option_type, [110.0, 100.0, 0.0, 0.0, price, 1.0]);
            match option.implied_volatility() {
                Err(Error::Domain { argument: "price", requirement, .. }) => {
                    assert_eq!(requirement, expected);
                }
                other => panic!("{other:?} for {price}"),
            }
        }
    }

    #[test]
    fn what_is_not_positive_is_refused() {
        for (position, argument) in [(0, "spot"), (1, "strike"), (5, "time_to_maturity")] {
            let mut numbers = [110.0, 100.0, 0.0, 0.0, 12.0, 1.0];
            numbers[position] = 0.0;
            let refused = quoted(OptionType::Call, numbers).implied_volatility().unwrap_err();
            assert_eq!((refused.code(), refused.argument()), ("domain", Some(argument)));
        }
        let vast = quoted(OptionType::Call, [1.0, 1.0, 1e200, 0.0, 0.5, 1e200]);
        assert_eq!(vast.implied_volatility().unwrap_err().code(), "overflow");
    }

    proptest! {
        /// The price at the implied volatility is the given price, to the precision of both.
        #[test]
        fn it_undoes_the_price(option in option()) {
            let quoted = quote(&option);
            if quoted.price < 1e-290 {
                return Ok(());
            }
            let volatility = match quoted.implied_volatility() {
                Ok(volatility) if volatility > 0.0 => volatility,
                // The price was rounded to its lower or upper bound.
                Ok(_) => return Ok(()),
                Err(refused) => {
                    prop_assert_eq!(refused.argument(), Some("price"));
                    prop_assert!(option.volatility > 1.0);
                    return Ok(());
                }
            };
            let greeks = EuropeanOption { volatility, ..option }.greeks().unwrap();
            let bits = f64::EPSILON * (greeks.price + volatility * greeks.vega);
            // The price is accurate to 2e-14.
            let allowed = BITS * bits + 2e-14 * greeks.price;
            prop_assert!((greeks.price - quoted.price).abs() <= allowed, "{quoted:?}");
        }

        #[test]
        fn a_third_step_would_change_nothing(option in option()) {
            let quoted = quote(&option);
            if quoted.price < 1e-290 {
                return Ok(());
            }
            let (Ok(found), Ok(more)) = (quoted.implied_volatility(), quoted.volatility_after(3)) else {
                return Ok(());
            };
            if found == 0.0 {
                return Ok(());
            }
            let greeks = EuropeanOption { volatility: found, ..option }.greeks().unwrap();
            let bits = 1.0_f64.max(greeks.price / (found * greeks.vega));
            prop_assert!((more / found - 1.0).abs() <= BITS * f64::EPSILON * bits, "{quoted:?}");
        }
    }
}

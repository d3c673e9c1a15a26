//! European options on forwards by Bachelier's formula, the normal model.
//!
//! The forward follows arithmetic Brownian motion without drift: forwards and strikes of either sign
//! are possible, as in the markets of interest rates and of spreads. Not modelled: smiles, early
//! exercise.

use super::black_scholes::{OptionType, discount};
use super::exchange_double::DoubleExchange;
use super::forward_greeks::{CONSTANT_FORWARD, CONVENTIONS, ForwardGreeks};
use super::greeks::{EVERY_GREEK, UNITS};
use super::implied_volatility::normal_deviation;
use super::inversion::Inversion;
use super::normal::{DENSITY_AT_ZERO, mills, mills_difference};
use crate::arithmetic::double_double::DoubleDouble;
use crate::arithmetic::exponential::{exp_59, exp_parts, exp_rounded, expm1_double};
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// The assumptions about the forward.
const NORMAL: [&str; 2] = [
    "The forward follows arithmetic Brownian motion without drift, of constant volatility.",
    "The volatility is the annual standard deviation of the forward in its own unit.",
];

/// The class of arguments on which the accuracy was tested.
const TESTED: &str =
    "largest relative error against 400 digits, up to 35 deviations from the strike";

/// A European option on a normally distributed forward, and the market it is priced in.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NormalOption {
    /// The right of the holder, to buy or to sell.
    pub option_type: OptionType,
    /// Forward or futures price for the day of expiry; of any sign.
    pub forward: f64,
    /// Price at which the option can be exercised; of any sign.
    pub strike: f64,
    /// Riskless rate, annual, continuously compounded; of any sign.
    pub risk_free_rate: f64,
    /// Standard deviation of annual changes of the forward, in its own unit; zero or positive.
    pub normal_volatility: f64,
    /// Time until expiry and payment, in years; zero or positive.
    pub time_to_maturity: f64,
}

/// The distance of the forward from the strike in deviations, and the density there.
struct Distance {
    /// The signed number of deviations, d.
    distance: f64,
    /// The discounted density `e^{−rT} φ(d)` at the distance.
    density: f64,
}

impl NormalOption {
    /// Returns the option's present value.
    ///
    /// ```text
    /// V = e^{−rT} (φ(F − K) Φ(φd) + σ√T n(d)),   d = (F − K) / σ√T
    /// ```
    ///
    /// where n is the normal density, and φ is +1 for a call and −1 for a put. The value is exact to
    /// about 1e-14 of itself, also where it is 1e-280: the value of the option out of the money is
    /// `σ√T n(d)·|M'(|d|)|`, with the derivative of the Mills ratio M and without a difference.
    ///
    /// Where σ or T is zero the value is the limit, the discounted intrinsic value. No value is
    /// below it.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a negative volatility or time, or any number that is not finite;
    /// [`Error::Overflow`] where the value exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::{OptionType, bachelier::NormalOption};
    ///
    /// let call = NormalOption {
    ///     option_type: OptionType::Call,
    ///     forward: 100.0,
    ///     strike: 100.0,
    ///     risk_free_rate: 0.0,
    ///     normal_volatility: 5.0,
    ///     time_to_maturity: 1.0,
    /// };
    /// // At the strike the value is σ√(T/2π).
    /// assert!((call.price()? - 1.994_711_402_007_163_4).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Bachelier (1900), "Théorie de la spéculation"; Haug (2007), *The Complete Guide to Option
    /// Pricing Formulas*, 1.3.1.
    pub fn price(&self) -> Result<f64> {
        if let Some(value) = self.value_in_doubles() {
            return Ok(value);
        }
        self.validate()?;
        check::result("forward", self.value())
    }

    /// Returns the price and its derivatives of first and second order.
    ///
    /// ```text
    /// D = e^{−rT},  n = D n(d),  N = D Φ(φd)
    /// delta = φN        dual delta = −φN      theta = rV − nσ/2√T
    /// gamma = n/σ√T     dual gamma = gamma    charm = r·delta + nd/2T
    /// vega  = n√T       vomma = n√T d²/σ      veta  = r·vega − n(1 + d²)/2√T
    /// rho   = −TV       vanna = −nd/σ         vera  = −T·vega
    /// ```
    ///
    /// Each is exact to about 1e-14 of itself; theta, charm and veta of their largest term, as these
    /// may cancel. Where σ or T is zero they are the limits: those of the discounted forward in
    /// the money, and zeros out of it.
    ///
    /// # Errors
    ///
    /// The errors of [`price`](Self::price); [`Error::Conflict`] where σ or T is zero while the forward
    /// is the strike, and delta and gamma have no limit; [`Error::Overflow`] where a derivative
    /// exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::{OptionType, bachelier::NormalOption};
    ///
    /// let put = NormalOption {
    ///     option_type: OptionType::Put,
    ///     forward: 0.01,
    ///     strike: 0.01,
    ///     risk_free_rate: 0.0,
    ///     normal_volatility: 0.008,
    ///     time_to_maturity: 2.0,
    /// };
    /// assert_eq!(put.greeks()?.delta, -0.5);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// The derivatives of the formula of [`price`](Self::price).
    pub fn greeks(&self) -> Result<ForwardGreeks> {
        let price = self.price()?;
        let (sign, rate, time) = (self.sign(), self.risk_free_rate, self.time_to_maturity);
        let Some(Distance { distance: d, density: n }) = self.distance() else {
            return self.limits(price)?.finite();
        };
        let (volatility, root) = (self.normal_volatility, time.sqrt());
        let tail = n * mills(d.abs());
        let exercised = if sign * d > 0.0 { discount(rate, time) - tail } else { tail };
        let (delta, vega) = (sign * exercised, n * root);
        let gamma = n / (volatility * root);
        let greeks = ForwardGreeks {
            price,
            delta,
            gamma,
            vega,
            theta: rate * price - 0.5 * n * volatility / root,
            rho: -time * price,
            dual_delta: -delta,
            dual_gamma: gamma,
            vanna: -n * d / volatility,
            vomma: vega * d * d / volatility,
            charm: rate * delta + 0.5 * n * d / time,
            veta: rate * vega - 0.5 * n * (1.0 + d * d) / root,
            vera: -time * vega,
        };
        greeks.finite()
    }

    /// Returns the annual normal volatility at which [`price`](Self::price) is the given price; the
    /// field `normal_volatility` is without effect.
    ///
    /// The result is the exact solution for the numbers as given, within a few units of the last
    /// bit or, where a change of the last bit of the price moves it further, within a few such
    /// changes. It is the limit of Black's for a deviation that is small beside the forward, and
    /// takes the same two steps. At the discounted intrinsic value itself the volatility is zero.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a time that is not positive, any number that is not finite, and a
    /// `price` below the discounted intrinsic value; [`Error::Overflow`] where the discounting or
    /// the volatility leaves the range of a double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::{OptionType, bachelier::NormalOption};
    ///
    /// let call = NormalOption {
    ///     option_type: OptionType::Call,
    ///     forward: 100.0,
    ///     strike: 105.0,
    ///     risk_free_rate: 0.05,
    ///     normal_volatility: 0.0,
    ///     time_to_maturity: 1.0,
    /// };
    /// let normal_volatility = call.implied_volatility(5.0)?;
    /// assert!((NormalOption { normal_volatility, ..call }.price()? - 5.0).abs() < 1e-14);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Jäckel (2017), "Implied Normal Volatility", for the problem; the steps are those of
    /// [`QuotedOption::implied_volatility`](super::QuotedOption::implied_volatility).
    pub fn implied_volatility(&self, price: f64) -> Result<f64> {
        let (rate, time) = (self.risk_free_rate, self.time_to_maturity);
        self.validate_market()?;
        check::positive("time_to_maturity", time)?;
        check::finite("price", price)?;
        let exponent = DoubleDouble::product(rate, time);
        if exponent.high.abs() > MAX_EXPONENT {
            return Err(Error::Overflow { argument: "risk_free_rate" });
        }
        let difference = DoubleDouble::difference(self.forward, self.strike);
        let mut intrinsic = DoubleDouble::ZERO;
        if self.sign() * difference.high > 0.0 {
            let discounted = exp_59(-exponent).times(difference);
            let positive = if difference.high < 0.0 { -discounted } else { discounted };
            intrinsic = DoubleDouble::sum(positive.high, positive.low);
        }
        let enough = price >= intrinsic.high;
        check::require(enough, "price", price, "at least the discounted intrinsic value")?;
        if price == intrinsic.high {
            return Ok(0.0);
        }
        let growth = exp_59(exponent);
        let value = ((price - intrinsic.high) - intrinsic.low) * (growth.high + growth.low);
        let deviation = normal_deviation(difference.high.abs(), value);
        check::result("price", deviation / time.sqrt())
    }

    /// Explains [`price`](Self::price).
    ///
    /// # Errors
    ///
    /// The errors of [`price`](Self::price).
    pub fn explain_price(&self) -> Result<Explanation> {
        self.price()?;
        let method = Method::new(
            "Bachelier's formula",
            "Bachelier (1900), Théorie de la spéculation; Haug (2007), The Complete Guide to \
             Option Pricing Formulas, 1.3.1",
        );
        let error = ErrorStatement::rounding("price", 1e-14, TESTED);
        Ok(Explanation::new(method, error).with_conventions(NORMAL).with_conventions(CONVENTIONS))
    }

    /// Explains [`greeks`](Self::greeks).
    ///
    /// # Errors
    ///
    /// The errors of [`greeks`](Self::greeks).
    pub fn explain_greeks(&self) -> Result<Explanation> {
        self.greeks()?;
        let method = Method::new(
            "analytic derivatives of Bachelier's formula",
            "Bachelier (1900), Théorie de la spéculation, for the formula",
        );
        let error = ErrorStatement::rounding(EVERY_GREEK, 1e-14, TESTED);
        Ok(Explanation::new(method, error)
            .with_conventions(NORMAL)
            .with_conventions(CONVENTIONS)
            .with_conventions(UNITS)
            .with_conventions([CONSTANT_FORWARD]))
    }

    /// Explains [`implied_volatility`](Self::implied_volatility).
    ///
    /// # Errors
    ///
    /// The errors of [`implied_volatility`](Self::implied_volatility).
    pub fn explain_implied_volatility(&self, price: f64) -> Result<Explanation> {
        let volatility = self.implied_volatility(price)?;
        let repriced = Self { normal_volatility: volatility, ..*self }.greeks();
        let repriced = repriced.ok().map(|greeks| (greeks.price, greeks.vega));
        let method = Method::new(
            "inversion of Bachelier's formula by Householder's method of fourth order",
            "Jäckel (2017), Implied Normal Volatility, for the problem; the first guess differs",
        );
        let inversion = Inversion { price, volatility, repriced };
        let explanation = inversion.explain(method, |price| self.implied_volatility(price));
        Ok(explanation.with_conventions(NORMAL).with_conventions(CONVENTIONS))
    }

    /// Refuses arguments outside their documented ranges.
    fn validate(&self) -> Result<()> {
        self.validate_market()?;
        check::not_negative("normal_volatility", self.normal_volatility)?;
        check::not_negative("time_to_maturity", self.time_to_maturity)
    }

    fn validate_market(&self) -> Result<()> {
        check::finite("forward", self.forward)?;
        check::finite("strike", self.strike)?;
        check::finite("risk_free_rate", self.risk_free_rate)
    }

    fn sign(&self) -> f64 {
        if self.option_type == OptionType::Call { 1.0 } else { -1.0 }
    }

    /// Returns the price near the strike, where doubles suffice for d; `None` elsewhere, also for invalid
    /// arguments.
    #[inline(always)]
    fn value_in_doubles(&self) -> Option<f64> {
        let (deviation, difference) =
            (self.normal_volatility * self.time_to_maturity.sqrt(), self.forward - self.strike);
        let (d, exponent) = (difference / deviation, -self.risk_free_rate * self.time_to_maturity);
        let suffices = (d.abs() < EASY)
            & (exponent.abs() < 1.0)
            & (deviation > MIN_DEVIATION)
            & (deviation < MAX_DEVIATION);
        if !suffices {
            return None;
        }
        let (power, series) = exp_parts(exponent - 0.5 * d * d);
        let density = (DENSITY_AT_ZERO * power) * (1.0 + series);
        // Bachelier's formula is that of an exchange of large amounts, whose deviation is small.
        let exchange = DoubleExchange { deviation: WIDTH, ..DoubleExchange::default() };
        let value = exchange.time_value(d.abs(), deviation * density) * (1.0 / WIDTH);
        let intrinsic = self.sign() * difference;
        Some(if intrinsic > 0.0 {
            value + (intrinsic + intrinsic * expm1_double(exponent))
        } else {
            value
        })
    }

    /// Returns the present value of arguments that the caller has checked.
    fn value(&self) -> f64 {
        let intrinsic = self.sign() * (self.forward - self.strike);
        let intrinsic = if intrinsic > 0.0 {
            intrinsic * discount(self.risk_free_rate, self.time_to_maturity)
        } else {
            0.0
        };
        let Some(Distance { distance, density }) = self.distance() else { return intrinsic };
        let deviation = self.normal_volatility * self.time_to_maturity.sqrt();
        intrinsic + deviation * density * mills_slope(distance.abs())
    }

    /// Returns the distance from the strike; `None` where the option has no time value.
    ///
    /// The relative error of the density is that of d times d², so that d has more than a double.
    fn distance(&self) -> Option<Distance> {
        let (volatility, time) = (self.normal_volatility, self.time_to_maturity);
        let difference = DoubleDouble::difference(self.forward, self.strike);
        let deviation = volatility * time.sqrt();
        if deviation == 0.0 || difference.high.abs() > FURTHEST * deviation {
            return None;
        }
        let d = difference.over(DoubleDouble::from(time).sqrt().times(volatility));
        let square = d.squared();
        let half = DoubleDouble::new(-0.5 * square.high, -0.5 * square.low);
        let exponent = half.plus(DoubleDouble::product(-self.risk_free_rate, time));
        Some(Distance { distance: d.high, density: DENSITY_AT_ZERO * exp_rounded(exponent) })
    }

    /// Returns the limits without uncertainty: those of a forward, or zeros.
    fn limits(&self, price: f64) -> Result<ForwardGreeks> {
        let (rate, time) = (self.risk_free_rate, self.time_to_maturity);
        let moneyness = self.sign() * (self.forward - self.strike);
        if moneyness == 0.0 {
            return Err(Error::Conflict {
                argument: "normal_volatility",
                problem: "and time must be positive where the forward is at the strike",
            });
        }
        let mut greeks = ForwardGreeks::NONE;
        if moneyness > 0.0 {
            greeks.price = price;
            greeks.delta = self.sign() * discount(rate, time);
            greeks.dual_delta = -greeks.delta;
            (greeks.theta, greeks.rho) = (rate * price, -time * price);
            greeks.charm = rate * greeks.delta;
        }
        Ok(greeks)
    }
}

/// `−M'(z)` for z ≥ 0, where M is the Mills ratio: its difference over a width that no rounding sees.
fn mills_slope(z: f64) -> f64 {
    mills_difference(z, WIDTH) * (1.0 / WIDTH)
}

/// A power of two that is nothing beside 3.5, the least number that a difference adds a width to.
const WIDTH: f64 = 1.0 / (1_u64 << 60) as f64;

/// The |d| up to which doubles suffice: the relative error of the value is that of d times d².
const EASY: f64 = 3.0;

/// The deviations between which no intermediate result leaves the range of a double.
const MIN_DEVIATION: f64 = 1e-100;
const MAX_DEVIATION: f64 = 1e100;

/// The d beyond which even 1e308·n(d) is zero.
const FURTHEST: f64 = 60.0;

/// The size of exponents that [`exp_59`] accepts.
const MAX_EXPONENT: f64 = 690.0;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn option(option_type: OptionType, numbers: [f64; 5]) -> NormalOption {
        let [forward, strike, risk_free_rate, normal_volatility, time_to_maturity] = numbers;
        NormalOption {
            option_type,
            forward,
            strike,
            risk_free_rate,
            normal_volatility,
            time_to_maturity,
        }
    }

    #[test]
    fn without_time_or_volatility_it_is_the_discounted_intrinsic_value() {
        use OptionType::{Call, Put};
        assert_eq!(option(Call, [3.0, -1.0, 0.05, 2.0, 0.0]).price(), Ok(4.0));
        assert_eq!(option(Put, [3.0, -1.0, 0.05, 2.0, 0.0]).price(), Ok(0.0));
        let certain = option(Put, [-3.0, -1.0, 0.05, 0.0, 2.0]);
        assert_eq!(certain.price(), Ok(2.0 * discount(0.05, 2.0)));
        let greeks = certain.greeks().unwrap();
        assert_eq!((greeks.delta, greeks.gamma), (-discount(0.05, 2.0), 0.0));
        assert_eq!(
            option(Call, [1.0, 1.0, 0.05, 0.0, 2.0]).greeks().unwrap_err().code(),
            "conflict"
        );
    }

    #[test]
    fn extreme_arguments_give_a_limit_or_a_typed_error() {
        use OptionType::{Call, Put};
        assert_eq!(option(Call, [-1e308, 1e308, 0.0, 1.0, 1.0]).price(), Ok(0.0));
        let vast = option(Put, [-1e308, 1e308, 0.0, 1.0, 1.0]).price().unwrap_err();
        assert_eq!((vast.code(), vast.argument()), ("overflow", Some("forward")));
        let unbounded = option(Call, [1.0, 1.0, 0.0, 1e300, 1e300]).price().unwrap_err();
        assert_eq!(unbounded.code(), "overflow");
        for (position, argument) in [(3, "normal_volatility"), (4, "time_to_maturity")] {
            let mut numbers = [1.0, 1.0, 0.05, 0.2, 1.0];
            numbers[position] = -1.0;
            let refused = option(Call, numbers).price().unwrap_err();
            assert_eq!((refused.code(), refused.argument()), ("domain", Some(argument)));
        }
        let quoted = option(Call, [1.0, 1.0, 800.0, 0.2, 1.0]);
        assert_eq!(quoted.implied_volatility(1.0).unwrap_err().code(), "overflow");
    }

    #[test]
    fn a_price_below_the_intrinsic_value_implies_no_volatility() {
        let call = option(OptionType::Call, [3.0, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(call.implied_volatility(2.0), Ok(0.0));
        let refused = call.implied_volatility(1.99).unwrap_err();
        assert_eq!((refused.code(), refused.argument()), ("domain", Some("price")));
        let due = NormalOption { time_to_maturity: 0.0, ..call };
        let refused = due.implied_volatility(2.5).unwrap_err();
        assert_eq!(refused.argument(), Some("time_to_maturity"));
    }

    /// Forwards and strikes of either sign.
    fn numbers() -> impl Strategy<Value = [f64; 5]> {
        [-3.0..3.0_f64, -3.0..3.0, -0.1..0.2, 0.05..3.0, 0.01..10.0]
    }

    proptest! {
        #[test]
        fn a_call_less_a_put_is_the_forward(numbers in numbers()) {
            let [forward, strike, rate, _, time] = numbers;
            let price = |option_type| option(option_type, numbers).price().unwrap();
            let parity = price(OptionType::Call) - price(OptionType::Put);
            let scale = price(OptionType::Call) + price(OptionType::Put);
            let expected = (forward - strike) * discount(rate, time);
            prop_assert!((parity - expected).abs() <= 1e-14 * scale);
        }

        /// The heat equation, discounted.
        #[test]
        fn the_price_grows_at_the_riskless_rate(numbers in numbers(), is_call: bool) {
            let option_type = if is_call { OptionType::Call } else { OptionType::Put };
            let greeks = option(option_type, numbers).greeks().unwrap();
            let [_, _, rate, volatility, _] = numbers;
            let convexity = 0.5 * volatility * volatility * greeks.gamma;
            let rest = greeks.theta + convexity - rate * greeks.price;
            prop_assert!(rest.abs() <= 1e-14 * (convexity + greeks.price), "{rest:e}");
        }

        #[test]
        fn the_price_rises_with_the_volatility(numbers in numbers(), more in 1e-9..0.5_f64) {
            let mut riskier = numbers;
            riskier[3] += more;
            let price = |numbers| option(OptionType::Call, numbers).price().unwrap();
            prop_assert!(price(riskier) >= price(numbers));
        }

        /// The limit of Black's formula for a forward that is large beside its deviation.
        #[test]
        fn it_is_the_limit_of_black(numbers in numbers(), is_call: bool) {
            let option_type = if is_call { OptionType::Call } else { OptionType::Put };
            let [forward, strike, rate, volatility, time] = numbers;
            let normal = option(option_type, numbers).price().unwrap();
            let far = 1e6;
            let black = super::super::black76::ForwardOption {
                option_type,
                forward: far + forward,
                strike: far + strike,
                risk_free_rate: rate,
                volatility: volatility / far,
                time_to_maturity: time,
            };
            let scale = normal + volatility * time.sqrt();
            prop_assert!((black.price().unwrap() - normal).abs() <= 1e-4 * scale);
        }

        #[test]
        fn the_implied_volatility_gives_the_price(numbers in numbers(), is_call: bool) {
            let option_type = if is_call { OptionType::Call } else { OptionType::Put };
            let option = option(option_type, numbers);
            let price = option.price().unwrap();
            let normal_volatility = option.implied_volatility(price).unwrap();
            let found = NormalOption { normal_volatility, ..option }.price().unwrap();
            prop_assert!((found - price).abs() <= 2e-14 * price, "{found} {price}");
        }
    }
}

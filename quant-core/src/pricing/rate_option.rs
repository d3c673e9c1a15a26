//! Caplets, floorlets and swaptions by Black's formula.
//!
//! Each is an option on a forward rate whose value is in units of an annuity: the present value of
//! being paid the rate for the period, or for all periods of a swap. Not modelled: smiles, negative
//! rates, the convexity of a payment at another time than the end of its period.

use super::black_scholes::OptionType;
use super::black76::{ForwardOption, LOGNORMAL, METHOD};
use super::forward_greeks::ForwardGreeks;
use super::greeks::UNITS;
use super::implied_volatility::normal_deviation;
use crate::explanation::{ErrorStatement, Explanation};
use crate::{Error, Result, check};

/// An option on the simple rate of one period, fixed at its start and paid at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Caplet {
    /// A call is a caplet, a put a floorlet.
    pub option_type: OptionType,
    /// Forward rate of the period, simple; zero or positive.
    pub forward_rate: f64,
    /// Rate of the cap or floor; zero or positive.
    pub strike: f64,
    /// Present value of 1 paid at the end of the period; positive.
    pub discount_factor: f64,
    /// Standard deviation of annual log changes of the forward rate; zero or positive.
    pub volatility: f64,
    /// Time until the rate is fixed and the period starts, in years; zero or positive.
    pub start_time: f64,
    /// Time until the period ends and is paid, in years; after the start.
    pub end_time: f64,
    /// Amount on which interest is paid; zero or positive.
    pub notional: f64,
}

/// An option to enter a swap at its expiry.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Swaption {
    /// A call is a payer swaption, the right to pay the strike; a put a receiver swaption.
    pub option_type: OptionType,
    /// Forward par rate of the swap; zero or positive.
    pub forward_swap_rate: f64,
    /// Fixed rate of the swap; zero or positive.
    pub strike: f64,
    /// Present value of 1 a year paid on the fixed leg's dates; positive.
    pub annuity: f64,
    /// Standard deviation of annual log changes of the forward swap rate; zero or positive.
    pub volatility: f64,
    /// Time until expiry, in years; zero or positive.
    pub time_to_expiry: f64,
    /// Amount on which interest is paid; zero or positive.
    pub notional: f64,
}

/// The value of an option on a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RateOptionValue {
    /// Present value, in the currency of the notional.
    pub price: f64,
    /// Present value of a payment of the rate 1, by which Black's value of the option is multiplied.
    pub annuity: f64,
    /// Present value of the payments that the forward rate itself would give.
    pub intrinsic_value: f64,
    /// The price less the intrinsic value.
    pub time_value: f64,
    /// The annual normal volatility at which Bachelier's formula gives the same price, in units of
    /// the rate.
    pub normal_volatility: f64,
    /// The derivatives of the price; `None` where the volatility or the time is zero and the forward
    /// is the strike, so that there are none, and where one exceeds the largest double.
    pub greeks: Option<RateGreeks>,
}

/// The derivatives of an option's price while the annuity stays as it is.
///
/// Rates and volatilities count in units: divide by 10,000 for a change per basis point of the rate,
/// and by 100 for one per point of volatility.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RateGreeks {
    /// `∂V/∂F`, in money per unit of the forward rate F.
    pub delta: f64,
    /// `∂²V/∂F²`, with F the forward rate.
    pub gamma: f64,
    /// `∂V/∂σ`, in money per unit of volatility.
    pub vega: f64,
    /// `∂V/∂t`, in money per year that passes.
    pub theta: f64,
    /// `∂V/∂K`, with K the strike rate.
    pub dual_delta: f64,
    /// `∂²V/∂K²`, with K the strike rate.
    pub dual_gamma: f64,
    /// `∂²V/∂F∂σ`, the change of delta per unit of volatility.
    pub vanna: f64,
    /// `∂²V/∂σ²`, the change of vega per unit of volatility; also called volga.
    pub vomma: f64,
    /// `∂²V/∂F∂t`, the change of delta per year that passes.
    pub charm: f64,
    /// `∂²V/∂σ∂t`, the change of vega per year that passes.
    pub veta: f64,
}

impl Caplet {
    /// Returns the value of the caplet or floorlet.
    ///
    /// ```text
    /// V = N (t₂ − t₁) P φ·(F Φ(φ d₁) − K Φ(φ d₂))
    /// d₁ = ln(F/K) / σ√t₁ + σ√t₁ / 2,   d₂ = d₁ − σ√t₁
    /// ```
    ///
    /// where P is the discount factor of t₂, and φ is +1 for a caplet and −1 for a floorlet.
    /// Accuracy and limits are those of
    /// [`EuropeanOption::price`](super::EuropeanOption::price).
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for the first argument outside its documented range; [`Error::Overflow`]
    /// where the value exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::{OptionType, rate_option::Caplet};
    ///
    /// let caplet = Caplet {
    ///     option_type: OptionType::Call,
    ///     forward_rate: 0.07,
    ///     strike: 0.08,
    ///     discount_factor: 0.9169,
    ///     volatility: 0.20,
    ///     start_time: 1.0,
    ///     end_time: 1.25,
    ///     notional: 10_000.0,
    /// };
    /// assert!((caplet.value()?.price - 5.162).abs() < 0.001);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Black (1976), "The Pricing of Commodity Contracts"; the example is in Hull, "Options,
    /// Futures, and Other Derivatives", the section on caps and floors.
    pub fn value(&self) -> Result<RateOptionValue> {
        let option = self.option();
        option.price().map_err(|error| self.refusal(error))?;
        check::positive("discount_factor", self.discount_factor)?;
        let is_after = self.end_time.is_finite() && self.end_time > self.start_time;
        check::require(is_after, "end_time", self.end_time, "finite and after `start_time`")?;
        check::not_negative("notional", self.notional)?;
        let accrual = self.end_time - self.start_time;
        let annuity = self.notional * (self.discount_factor * accrual);
        value(&option, annuity).map_err(|error| self.refusal(error))
    }

    /// Explains [`value`](Self::value).
    ///
    /// # Errors
    ///
    /// The errors of [`value`](Self::value).
    pub fn explain(&self) -> Result<Explanation> {
        self.value()?;
        Ok(explain().with_conventions([
            "The rate is simple, fixed at the start of the period and paid at its end.",
            "Interest accrues for the difference of the times in years: no day count is applied.",
            "The discount factor is that of the payment at the end of the period.",
            "The volatility counts until the fixing at the start of the period.",
        ]))
    }

    fn option(&self) -> ForwardOption {
        of_rate(self.option_type, self.forward_rate, self.strike, self.volatility, self.start_time)
    }

    fn refusal(&self, error: Error) -> Error {
        error.renamed(|argument| match argument {
            "forward" => "forward_rate",
            "time_to_maturity" => "start_time",
            same => same,
        })
    }
}

impl Swaption {
    /// Returns the value of the swaption.
    ///
    /// ```text
    /// V = N A φ·(F Φ(φ d₁) − K Φ(φ d₂))
    /// d₁ = ln(F/K) / σ√T + σ√T / 2,   d₂ = d₁ − σ√T
    /// ```
    ///
    /// where A is the annuity, and φ is +1 for a payer and −1 for a receiver swaption. Accuracy and
    /// limits are those of [`EuropeanOption::price`](super::EuropeanOption::price).
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for the first argument outside its documented range; [`Error::Overflow`]
    /// where the value exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::{OptionType, rate_option::Swaption};
    ///
    /// let payer = Swaption {
    ///     option_type: OptionType::Call,
    ///     forward_swap_rate: 0.0609,
    ///     strike: 0.062,
    ///     annuity: 2.0035,
    ///     volatility: 0.20,
    ///     time_to_expiry: 5.0,
    ///     notional: 100.0,
    /// };
    /// assert!((payer.value()?.price - 2.07).abs() < 0.005);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Black (1976), "The Pricing of Commodity Contracts"; the example is in Hull, "Options,
    /// Futures, and Other Derivatives", the section on European swap options.
    pub fn value(&self) -> Result<RateOptionValue> {
        let option = of_rate(
            self.option_type,
            self.forward_swap_rate,
            self.strike,
            self.volatility,
            self.time_to_expiry,
        );
        option.price().map_err(in_terms_of_the_swap)?;
        check::positive("annuity", self.annuity)?;
        check::not_negative("notional", self.notional)?;
        value(&option, self.notional * self.annuity).map_err(in_terms_of_the_swap)
    }

    /// Explains [`value`](Self::value).
    ///
    /// # Errors
    ///
    /// The errors of [`value`](Self::value).
    pub fn explain(&self) -> Result<Explanation> {
        self.value()?;
        Ok(explain().with_conventions([
            "The annuity is taken as given: it holds the day count, the dates and the discounting \
             of the fixed leg, and settles whether the swaption is of physical or cash settlement.",
            "The option is exercised at expiry only; times are in years as given.",
        ]))
    }
}

/// Returns the explanation that caplets and swaptions share.
fn explain() -> Explanation {
    let error = ErrorStatement::rounding(
        "every field; charm and veta relative to their largest term",
        1e-14,
        "largest relative error against 400 digits, strikes from a fifth to five times the forward",
    );
    let shared = [
        LOGNORMAL,
        "The annuity stays constant in all derivatives.",
        "The normal volatility is in units of the rate: 0.01 is 100 basis points.",
    ];
    Explanation::new(METHOD, error).with_conventions(shared).with_conventions(UNITS)
}

fn in_terms_of_the_swap(error: Error) -> Error {
    error.renamed(|argument| match argument {
        "forward" => "forward_swap_rate",
        "time_to_maturity" => "time_to_expiry",
        same => same,
    })
}

/// Returns the option on a rate in units of its annuity, as one on a forward without discounting.
fn of_rate(
    option_type: OptionType,
    forward: f64,
    strike: f64,
    volatility: f64,
    time_to_maturity: f64,
) -> ForwardOption {
    ForwardOption {
        option_type,
        forward,
        strike,
        risk_free_rate: 0.0,
        volatility,
        time_to_maturity,
    }
}

/// Returns the value of a valid option in units of an annuity.
fn value(option: &ForwardOption, annuity: f64) -> Result<RateOptionValue> {
    let ForwardOption { forward, strike, time_to_maturity: time, .. } = *option;
    // A call and a put share the time value, which is all that the one out of the money is worth.
    let out_of_the_money = if forward > strike { OptionType::Put } else { OptionType::Call };
    let rest = ForwardOption { option_type: out_of_the_money, ..*option }.price()?;
    let is_in = option.option_type != out_of_the_money;
    let intrinsic = if is_in { (forward - strike).abs() } else { 0.0 };
    let normal_volatility = if rest > 0.0 && time > 0.0 {
        normal_deviation((forward - strike).abs(), rest) / time.sqrt()
    } else {
        0.0
    };
    let greeks = option.greeks().ok().and_then(|greeks| RateGreeks::new(&greeks, annuity).ok());
    Ok(RateOptionValue {
        price: check::result("notional", annuity * option.price()?)?,
        annuity: check::result("notional", annuity)?,
        intrinsic_value: check::result("notional", annuity * intrinsic)?,
        time_value: check::result("notional", annuity * rest)?,
        normal_volatility: check::result("volatility", normal_volatility)?,
        greeks,
    })
}

impl RateGreeks {
    /// Returns the Greeks of an option in units of an annuity, in money.
    fn new(greeks: &ForwardGreeks, annuity: f64) -> Result<Self> {
        let times = |argument, value: f64| check::result(argument, annuity * value);
        Ok(Self {
            delta: times("notional", greeks.delta)?,
            gamma: times("notional", greeks.gamma)?,
            vega: times("notional", greeks.vega)?,
            theta: times("notional", greeks.theta)?,
            dual_delta: times("notional", greeks.dual_delta)?,
            dual_gamma: times("notional", greeks.dual_gamma)?,
            vanna: times("notional", greeks.vanna)?,
            vomma: times("notional", greeks.vomma)?,
            charm: times("notional", greeks.charm)?,
            veta: times("notional", greeks.veta)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::bachelier::NormalOption;
    use proptest::prelude::*;

    fn swaption(option_type: OptionType) -> Swaption {
        Swaption {
            option_type,
            forward_swap_rate: 0.05,
            strike: 0.055,
            annuity: 4.5,
            volatility: 0.2,
            time_to_expiry: 1.0,
            notional: 1e6,
        }
    }

    fn caplet() -> Caplet {
        Caplet {
            option_type: OptionType::Call,
            forward_rate: 0.05,
            strike: 0.048,
            discount_factor: 0.95,
            volatility: 0.2,
            start_time: 1.0,
            end_time: 1.25,
            notional: 1e6,
        }
    }

    #[test]
    fn a_fixed_rate_at_the_strike_has_a_value_and_no_greeks() {
        let due = Caplet { start_time: 0.0, end_time: 0.25, strike: 0.05, ..caplet() };
        let value = due.value().unwrap();
        assert_eq!((value.price, value.normal_volatility), (0.0, 0.0));
        assert!(value.greeks.is_none());
        let in_the_money = Caplet { strike: 0.04, ..due }.value().unwrap();
        assert!((in_the_money.price - 1e6 * 0.25 * 0.95 * 0.01).abs() < 1e-9);
        assert_eq!(in_the_money.greeks.unwrap().gamma, 0.0);
    }

    #[test]
    fn a_refusal_names_the_argument_of_the_contract() {
        let named = |refused: Result<RateOptionValue>| refused.unwrap_err().argument().unwrap();
        assert_eq!(named(Caplet { forward_rate: -0.01, ..caplet() }.value()), "forward_rate");
        assert_eq!(named(Caplet { start_time: -1.0, ..caplet() }.value()), "start_time");
        assert_eq!(named(Caplet { end_time: 1.0, ..caplet() }.value()), "end_time");
        assert_eq!(named(Caplet { discount_factor: 0.0, ..caplet() }.value()), "discount_factor");
        assert_eq!(named(Caplet { notional: -1.0, ..caplet() }.value()), "notional");
        let payer = swaption(OptionType::Call);
        let negative = Swaption { forward_swap_rate: -0.01, ..payer };
        assert_eq!(named(negative.value()), "forward_swap_rate");
        assert_eq!(named(Swaption { time_to_expiry: f64::NAN, ..payer }.value()), "time_to_expiry");
        assert_eq!(named(Swaption { annuity: -4.5, ..payer }.value()), "annuity");
    }

    proptest! {
        #[test]
        fn a_payer_less_a_receiver_is_the_forward_swap(
            forward in 0.001..0.2_f64, strike in 0.001..0.2_f64, volatility in 0.0..1.0_f64,
        ) {
            let of = |option_type| Swaption {
                forward_swap_rate: forward, strike, volatility, ..swaption(option_type)
            };
            let (payer, receiver) = (of(OptionType::Call).value(), of(OptionType::Put).value());
            let (payer, receiver) = (payer.unwrap(), receiver.unwrap());
            let expected = 4.5e6 * (forward - strike);
            let scale = payer.price + receiver.price;
            prop_assert!((payer.price - receiver.price - expected).abs() <= 1e-14 * scale);
            prop_assert_eq!(payer.time_value, receiver.time_value);
            prop_assert!((payer.intrinsic_value + payer.time_value - payer.price).abs() <= 1e-15 * scale);
        }

        #[test]
        fn the_normal_volatility_gives_the_same_price(
            strike in 0.01..0.1_f64, volatility in 0.05..1.0_f64, time in 0.1..10.0_f64,
        ) {
            let caplet = Caplet {
                strike, volatility, start_time: time, end_time: time + 0.5, ..caplet()
            };
            let value = caplet.value().unwrap();
            let normal = NormalOption {
                option_type: OptionType::Call,
                forward: 0.05,
                strike,
                risk_free_rate: 0.0,
                normal_volatility: value.normal_volatility,
                time_to_maturity: time,
            };
            let found = value.annuity * normal.price().unwrap();
            prop_assert!((found - value.price).abs() <= 2e-14 * value.price);
        }
    }
}

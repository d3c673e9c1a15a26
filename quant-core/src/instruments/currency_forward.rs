//! Currency forwards by covered interest parity.
//!
//! The rate of a pair such as EURUSD is the price of one unit of the first currency, the base, in
//! units of the second, the quote. Not modelled: cross-currency basis, settlement lags, credit.

use std::{fmt, str::FromStr};

use crate::curves::Compounding;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// A pair of currencies, as in `EURUSD`: the price of the first in units of the second.
///
/// A pair is parsed from six letters of either case, with `/` or `-` between them or nothing, and
/// is displayed as six capitals. A currency has three letters; the list of currencies is not
/// checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct CurrencyPair {
    letters: [u8; 6],
}

impl CurrencyPair {
    /// Returns the currency that is bought and sold: `EUR` of `EURUSD`.
    #[must_use]
    pub fn base(&self) -> String {
        text(&self.letters[..3])
    }

    /// Returns the currency of the price: `USD` of `EURUSD`.
    #[must_use]
    pub fn quote(&self) -> String {
        text(&self.letters[3..])
    }

    /// Returns the number of pips in one unit of the rate: 100 for a price in yen, else 10,000.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::instruments::CurrencyPair;
    ///
    /// assert_eq!("EUR/USD".parse::<CurrencyPair>()?.pips(), 10_000.0);
    /// assert_eq!("usdjpy".parse::<CurrencyPair>()?.pips(), 100.0);
    /// assert!("EUREUR".parse::<CurrencyPair>().is_err());
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    #[must_use]
    pub fn pips(&self) -> f64 {
        if &self.letters[3..] == b"JPY" { 100.0 } else { 10_000.0 }
    }
}

fn text(letters: &[u8]) -> String {
    letters.iter().copied().map(char::from).collect()
}

impl FromStr for CurrencyPair {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parse(text).ok_or_else(|| Error::Text {
            argument: "pair",
            value: text.to_owned(),
            requirement: "two different currencies of three letters each, as in EURUSD or EUR/USD",
        })
    }
}

/// Reads a pair; `None` where the text is none.
fn parse(text: &str) -> Option<CurrencyPair> {
    let bytes = text.as_bytes();
    let letters: [u8; 6] = match bytes {
        [first @ .., b'/' | b'-', _, _, _] if first.len() == 3 => [first, &bytes[4..]].concat(),
        _ => bytes.to_vec(),
    }
    .try_into()
    .ok()?;
    let letters = letters.map(|letter| letter.to_ascii_uppercase());
    let is_pair = letters.iter().all(u8::is_ascii_uppercase) && letters[..3] != letters[3..];
    is_pair.then_some(CurrencyPair { letters })
}

impl fmt::Display for CurrencyPair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&text(&self.letters))
    }
}

impl TryFrom<String> for CurrencyPair {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<CurrencyPair> for String {
    fn from(pair: CurrencyPair) -> Self {
        pair.to_string()
    }
}

/// A forward contract on a currency, and its market.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CurrencyForward {
    /// The pair, which says the currencies of rates and amounts.
    pub pair: CurrencyPair,
    /// Price today of one unit of the base currency in the quote currency; positive.
    pub spot_rate: f64,
    /// Riskless rate of the base currency, annual; of any sign, at most 2 (200 %) in size.
    pub base_rate: f64,
    /// Riskless rate of the quote currency, annual; of any sign, at most 2 in size.
    pub quote_rate: f64,
    /// Compounding of both rates.
    pub compounding: Compounding,
    /// Time to the delivery, in years; zero or positive.
    pub time_to_maturity: f64,
    /// Amount of the base currency that is bought; positive.
    pub notional: f64,
    /// Rate of the contract, positive; `None` for a contract at the forward rate, which is worth 0.
    pub contract_rate: Option<f64>,
}

/// The forward rate of a pair and the value of a contract.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CurrencyForwardValue {
    /// Price, agreed today, of one unit of the base currency at the delivery.
    pub forward_rate: f64,
    /// Forward rate less spot rate.
    pub forward_points: f64,
    /// The same in pips, which are hundredths for a price in yen and ten-thousandths for others.
    pub forward_pips: f64,
    /// Value today of one unit of the base currency paid at the delivery.
    pub base_discount_factor: f64,
    /// Value today of one unit of the quote currency paid at the delivery.
    pub quote_discount_factor: f64,
    /// Amount of the quote currency for the notional at the forward rate.
    pub quote_amount: f64,
    /// Value today, in the base currency, of the notional paid at the delivery.
    pub base_present_value: f64,
    /// Value today, in the quote currency, of the notional paid at the delivery.
    pub quote_present_value: f64,
    /// Value today of the contract to the buyer of the base currency, in the quote currency.
    pub npv_quote: f64,
    /// Value today of the contract to the buyer of the base currency, in the base currency.
    pub npv_base: f64,
}

impl CurrencyForward {
    /// Returns the forward rate, its points, and the value of the contract.
    ///
    /// ```text
    /// F = S G_q / G_b,   points = F − S,   V = N (F − K) / G_q
    /// G = e^{rT} continuous,   1 + rT simple,   (1 + r/n)^{nT} compounded n times a year
    /// ```
    ///
    /// where S is the spot rate, K the rate of the contract, N the notional, and G the growth of
    /// one unit of the quote and of the base currency. The points are computed from the difference
    /// of the rates, and lose no digits where the rates are close.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for a spot rate, a notional or a rate of the contract that is not
    /// positive, an interest rate beyond ±2 or that leaves no positive repayment, and a negative
    /// time; [`Error::Overflow`] where a figure is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::Compounding;
    /// use quant_core::instruments::CurrencyForward;
    ///
    /// let forward = CurrencyForward {
    ///     pair: "AUDUSD".parse()?,
    ///     spot_rate: 0.98,
    ///     base_rate: 0.03,
    ///     quote_rate: 0.01,
    ///     compounding: Compounding::Continuous,
    ///     time_to_maturity: 2.0,
    ///     notional: 1e6,
    ///     contract_rate: None,
    /// };
    /// let value = forward.value()?;
    /// assert!((value.forward_rate - 0.9416).abs() < 5e-5);
    /// assert!((value.forward_pips + 384.26).abs() < 5e-3);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Hull, "Options, Futures, and Other Derivatives", the chapter on forward and futures prices,
    /// with the example of the Australian dollar.
    pub fn value(&self) -> Result<CurrencyForwardValue> {
        let Self { spot_rate, base_rate, quote_rate, time_to_maturity: years, .. } = *self;
        self.validate()?;
        let base_growth = self.growth("base_rate", base_rate)?;
        let quote_growth = self.growth("quote_rate", quote_rate)?;
        let excess = self.compounding.excess(quote_rate, base_rate, years);
        let points = check::result("time_to_maturity", spot_rate * excess)?;
        let forward_rate = check::result("time_to_maturity", spot_rate + points)?;
        let gain = self.contract_rate.map_or(0.0, |contract| (spot_rate - contract) + points);
        let base_present_value = self.notional / base_growth;
        let npv_quote = self.notional * gain / quote_growth;
        let result = |value| check::result("notional", value);
        Ok(CurrencyForwardValue {
            forward_rate,
            forward_points: points,
            forward_pips: check::result("spot_rate", points * self.pair.pips())?,
            base_discount_factor: check::result("base_rate", 1.0 / base_growth)?,
            quote_discount_factor: check::result("quote_rate", 1.0 / quote_growth)?,
            quote_amount: result(self.notional * forward_rate)?,
            base_present_value: result(base_present_value)?,
            quote_present_value: result(base_present_value * spot_rate)?,
            npv_quote: result(if self.contract_rate.is_none() { 0.0 } else { npv_quote })?,
            npv_base: result(if self.contract_rate.is_none() {
                0.0
            } else {
                npv_quote / spot_rate
            })?,
        })
    }

    /// Explains [`value`](Self::value).
    ///
    /// # Errors
    ///
    /// The errors of [`value`](Self::value).
    pub fn explain(&self) -> Result<Explanation> {
        let value = self.value()?;
        let factors = [value.base_discount_factor, value.quote_discount_factor];
        let size = factors.iter().fold(1.0, |size, factor| size + libm::log(*factor).abs());
        let method = Method::new(
            "covered interest parity",
            "Keynes (1923), A Tract on Monetary Reform, chapter 3",
        );
        let error = ErrorStatement::rounding_within(
            "forward_rate",
            8.0 * f64::EPSILON * size * (self.spot_rate + value.forward_rate),
            "largest error against 50 digits in units of the spot and the forward rate, times 1 plus \
             the logarithms of the discount factors",
        );
        Ok(Explanation::new(method, error)
            .with_conventions([format!(
                "The rate is that of one {} in {}; both interest rates are {}.",
                self.pair.base(),
                self.pair.quote(),
                self.compounding.words()
            )])
            .with_conventions([
                "There is no cross-currency basis, no settlement lag and no credit charge.",
                "A pip is a hundredth of a price in yen, and a ten-thousandth of any other.",
                "The value is that of buying the base currency at the rate of the contract.",
            ]))
    }

    fn validate(&self) -> Result<()> {
        check::positive("spot_rate", self.spot_rate)?;
        check::annual_rate("base_rate", self.base_rate)?;
        check::annual_rate("quote_rate", self.quote_rate)?;
        check::not_negative("time_to_maturity", self.time_to_maturity)?;
        check::positive("notional", self.notional)?;
        self.contract_rate.map_or(Ok(()), |rate| check::positive("contract_rate", rate))
    }

    /// Returns the growth of one unit until the delivery.
    fn growth(&self, argument: &'static str, rate: f64) -> Result<f64> {
        let growth = self.compounding.growth(rate, self.time_to_maturity);
        growth.map_err(|error| error.renamed(|_| argument))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn forward() -> CurrencyForward {
        CurrencyForward {
            pair: "EURUSD".parse().unwrap(),
            spot_rate: 1.1,
            base_rate: 0.03,
            quote_rate: 0.05,
            compounding: Compounding::Continuous,
            time_to_maturity: 1.0,
            notional: 1e6,
            contract_rate: None,
        }
    }

    #[test]
    fn a_pair_is_six_letters_of_two_currencies() {
        for text in ["EURUSD", "eurusd", "EUR/USD", "eur-usd"] {
            let pair: CurrencyPair = text.parse().unwrap();
            assert_eq!((pair.base(), pair.quote()), ("EUR".to_owned(), "USD".to_owned()));
            assert_eq!(pair.to_string(), "EURUSD");
        }
        for text in [
            "", "EUR", "EURUSDX", "EUR USD", "EUR//SD", "EUREUR", "EU1USD", "ÉURUS", "E/URUSD",
            "EURUS/D",
        ] {
            let error = text.parse::<CurrencyPair>().unwrap_err();
            assert_eq!((error.code(), error.argument()), ("text", Some("pair")), "{text}");
        }
    }

    #[test]
    fn without_time_or_difference_the_forward_is_the_spot() {
        let spot = CurrencyForward { time_to_maturity: 0.0, ..forward() };
        let equal = CurrencyForward { base_rate: 0.05, ..forward() };
        for contract in [spot, equal] {
            let value = contract.value().unwrap();
            assert_eq!((value.forward_rate, value.forward_points), (1.1, 0.0));
        }
    }

    #[test]
    fn a_contract_at_another_rate_has_the_value_of_the_difference() {
        let contract = CurrencyForward { contract_rate: Some(1.1), ..forward() };
        let value = contract.value().unwrap();
        let expected = 1e6 * (value.forward_rate - 1.1) * value.quote_discount_factor;
        assert!((value.npv_quote - expected).abs() < 1e-9);
        assert!((value.npv_base * 1.1 - expected).abs() < 1e-9);
        assert_eq!(forward().value().unwrap().npv_quote, 0.0);
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        let good = forward();
        #[rustfmt::skip]
        let rows = [
            (CurrencyForward { spot_rate: 0.0, ..good }, "domain", "spot_rate"),
            (CurrencyForward { spot_rate: f64::INFINITY, ..good }, "domain", "spot_rate"),
            (CurrencyForward { base_rate: 3.0, ..good }, "domain", "base_rate"),
            (CurrencyForward { quote_rate: f64::NAN, ..good }, "domain", "quote_rate"),
            (CurrencyForward { time_to_maturity: -1.0, ..good }, "domain", "time_to_maturity"),
            (CurrencyForward { notional: -1.0, ..good }, "domain", "notional"),
            (CurrencyForward { contract_rate: Some(0.0), ..good }, "domain", "contract_rate"),
            (CurrencyForward { time_to_maturity: 1e6, ..good }, "overflow", "base_rate"),
            (CurrencyForward { base_rate: -1.5, compounding: Compounding::Simple, ..good }, "domain", "base_rate"),
            (CurrencyForward { quote_rate: -1.0, compounding: Compounding::Annual, ..good }, "domain", "quote_rate"),
        ];
        for (forward, code, argument) in rows {
            let error = forward.value().unwrap_err();
            assert_eq!((error.code(), error.argument()), (code, Some(argument)), "{forward:?}");
        }
    }

    proptest! {
        #[test]
        fn the_reversed_pair_has_the_reciprocal_rate(
            spot_rate in 0.01..200.0, base_rate in -0.1..0.3, quote_rate in -0.1..0.3, years in 0.0..3.0, which in 0_usize..6,
        ) {
            let compounding = Compounding::ALL[which];
            let there = CurrencyForward { spot_rate, base_rate, quote_rate, compounding, time_to_maturity: years, ..forward() };
            let back = CurrencyForward { spot_rate: 1.0 / spot_rate, base_rate: quote_rate, quote_rate: base_rate, ..there };
            let product = there.value().unwrap().forward_rate * back.value().unwrap().forward_rate;
            prop_assert!((product - 1.0).abs() < 1e-14);
        }
    }
}

//! The compounding of an annual rate.

use crate::named::named;
use crate::{Result, check};

/// The payments of interest upon interest within a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compounding {
    /// None: one unit grows to 1 + r t.
    Simple,
    /// Once a year: (1 + r)^t.
    Annual,
    /// Twice a year: (1 + r/2)^{2t}.
    Semiannual,
    /// Four times a year: (1 + r/4)^{4t}.
    Quarterly,
    /// Twelve times a year: (1 + r/12)^{12t}.
    Monthly,
    /// Interest is compounded at every moment: e^{r t}.
    Continuous,
}

named!(
    Compounding,
    "compounding",
    Simple = "simple",
    Annual = "annual",
    Semiannual = "semiannual",
    Quarterly = "quarterly",
    Monthly = "monthly",
    Continuous = "continuous"
);

impl Compounding {
    /// Returns the interest on one unit at an annual rate over some years.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for a rate or years that are not finite, and for a rate of minus the
    /// payments a year or less; [`Error::Overflow`](crate::Error::Overflow) where the interest is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::Compounding;
    ///
    /// assert_eq!(Compounding::Simple.interest(0.04, 0.5)?, 0.02);
    /// assert!((Compounding::Semiannual.interest(0.04, 1.0)? - 0.0404).abs() < 1e-16);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn interest(self, rate: f64, years: f64) -> Result<f64> {
        check::finite("rate", rate)?;
        check::finite("years", years)?;
        let interest = match self {
            Self::Simple => rate * years,
            Self::Continuous => libm::expm1(rate * years),
            Self::Annual | Self::Semiannual | Self::Quarterly | Self::Monthly => {
                libm::expm1(self.compounded_exponent(rate, years)?)
            }
        };
        check::result("rate", interest)
    }

    /// Returns the positive amount to which one unit grows at an annual rate over some years.
    ///
    /// Unlike 1 plus the [`interest`](Self::interest) it loses no digits where little is left of
    /// the unit.
    pub(crate) fn growth(self, rate: f64, years: f64) -> Result<f64> {
        check::finite("rate", rate)?;
        check::finite("years", years)?;
        let growth = match self {
            Self::Simple => 1.0 + rate * years,
            Self::Continuous => libm::exp(rate * years),
            Self::Annual | Self::Semiannual | Self::Quarterly | Self::Monthly => {
                libm::exp(self.compounded_exponent(rate, years)?)
            }
        };
        check::require(growth > 0.0, "rate", rate, "a rate that leaves a positive amount")?;
        check::result("rate", growth)
    }

    /// Returns the logarithm of the growth at a rate that is compounded some times a year.
    fn compounded_exponent(self, rate: f64, years: f64) -> Result<f64> {
        let count = self.payments_a_year();
        let requirement = "above minus the payments of interest a year";
        check::require(rate > -count, "rate", rate, requirement)?;
        Ok(count * years * libm::log1p(rate / count))
    }

    /// Returns the rate of this compounding that equals a continuously compounded one over some years.
    ///
    /// Only the simple rate depends on the years; over none of them it is the continuous one.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for a rate that is not finite or years that are negative;
    /// [`Error::Overflow`](crate::Error::Overflow) where the result is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::Compounding;
    ///
    /// let rate = Compounding::Annual.from_continuous(0.05, 10.0)?;
    /// assert!((rate - 0.051_271_096_376_024_04).abs() < 1e-16);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn from_continuous(self, rate: f64, years: f64) -> Result<f64> {
        check::finite("rate", rate)?;
        check::not_negative("years", years)?;
        let equal = match self {
            Self::Continuous => rate,
            Self::Simple if rate * years == 0.0 => rate,
            Self::Simple => libm::expm1(rate * years) / years,
            Self::Annual | Self::Semiannual | Self::Quarterly | Self::Monthly => {
                let count = self.payments_a_year();
                count * libm::expm1(rate / count)
            }
        };
        check::result("rate", equal)
    }

    /// Returns the growth of one unit at `rate` divided by its growth at `other`, less 1.
    ///
    /// Computed from the difference of the rates, so that no digits are lost where they are close.
    /// Both must have a [`growth`](Self::growth).
    pub(crate) fn excess(self, rate: f64, other: f64, years: f64) -> f64 {
        let difference = rate - other;
        match self {
            Self::Simple => difference * years / (1.0 + other * years),
            Self::Continuous => libm::expm1(difference * years),
            Self::Annual | Self::Semiannual | Self::Quarterly | Self::Monthly => {
                let count = self.payments_a_year();
                libm::expm1(count * years * libm::log1p(difference / (count + other)))
            }
        }
    }

    /// The payments of interest a year; without meaning for the simple and the continuous rate.
    pub(crate) fn payments_a_year(self) -> f64 {
        match self {
            Self::Simple | Self::Continuous | Self::Annual => 1.0,
            Self::Semiannual => 2.0,
            Self::Quarterly => 4.0,
            Self::Monthly => 12.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rates_agree_with_fifty_digits() {
        // mpmath at 50 digits: n (e^{z/n} − 1), and (e^{z t} − 1)/t for the simple rate.
        use Compounding::*;
        #[rustfmt::skip]
        let rows = [
            (Simple,     0.03, 0.25, 0.030_112_781_778_135_755), (Annual,     0.03, 0.25, 0.030_454_533_953_516_855), (Semiannual, 0.03, 7.0, 0.030_226_129_231_437_956),
            (Quarterly, -0.01, 2.0,  -0.009_987_510_410_159_503), (Monthly,    0.12, 30.0, 0.120_602_005_010_016_68), (Continuous, 0.12, 30.0, 0.12),
            (Simple,     0.04, 0.0,  0.04),
        ];
        for (compounding, rate, years, expected) in rows {
            let found = compounding.from_continuous(rate, years).unwrap();
            assert!((found - expected).abs() <= 2e-16, "{compounding:?}: {found} {expected}");
        }
    }

    #[test]
    fn a_rate_that_takes_more_than_the_principal_is_refused() {
        for (compounding, rate) in [(Compounding::Annual, -1.0), (Compounding::Quarterly, -4.5)] {
            let refused = compounding.interest(rate, 0.5).unwrap_err();
            assert_eq!((refused.code(), refused.argument()), ("domain", Some("rate")));
        }
        assert_eq!(Compounding::Continuous.interest(1e3, 1e3).unwrap_err().code(), "overflow");
    }

    proptest! {
        #[test]
        fn equal_rates_earn_the_same(which in 0_usize..6, rate in -0.2..0.5_f64, years in 0.0..40.0_f64) {
            let compounding = Compounding::ALL[which];
            let equal = compounding.from_continuous(rate, years).unwrap();
            let (found, expected) = (compounding.interest(equal, years).unwrap(), libm::expm1(rate * years));
            prop_assert!((found - expected).abs() <= 1e-14 * (1.0 + expected.abs()) * (1.0 + (rate * years).abs()));
        }
    }
}

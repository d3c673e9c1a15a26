//! Demand under Cobb–Douglas preferences.
//!
//! Each good takes a fixed share of the income, whatever the prices. Not modelled: more than two
//! goods, corner constraints, endowments.

use super::ces::is_tame;
use crate::arithmetic::double_double::DoubleDouble;
use crate::arithmetic::exponential::exp_64;
use crate::arithmetic::logarithm::ln_64;
use crate::arithmetic::scaled::Scaled;
use crate::arithmetic::without_negative_zero;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Result, check};

/// A consumer with utility `x₁^α x₂^{1−α}`, an income and two prices.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CobbDouglas {
    /// Share of the income spent on the first good, α; from 0 to 1.
    pub alpha: f64,
    /// Income, in money, all of which is spent; zero or positive.
    pub income: f64,
    /// Price of a unit of each good; positive, or zero where the good has no share.
    pub prices: [f64; 2],
}

/// The best bundle of goods that the income buys.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CobbDouglasOptimum {
    /// Quantity of each good in the optimal bundle.
    pub demand: [f64; 2],
    /// Utility of the optimal bundle.
    pub utility: f64,
    /// Cost of the bundle: the whole income.
    pub expenditure: f64,
    /// The largest utility at these prices and this income: at the optimum, `utility`.
    pub indirect_utility: f64,
}

impl CobbDouglas {
    /// Returns the bundle of greatest utility, its cost and its utility.
    ///
    /// ```text
    /// x₁ = α m / p₁,   x₂ = (1 − α) m / p₂,   U = x₁^α x₂^{1−α}
    /// ```
    ///
    /// where m is the income and pᵢ are the prices. With 0⁰ = 1, a good without a share is not
    /// demanded and leaves utility to the other; its price may be zero. Without an income the
    /// bundle and its utility are zero. Quantities below the range of a double are zero, while
    /// their share in the utility is still exact.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) or [`Error::Element`](crate::Error::Element) for
    /// the first argument outside its range, among them a zero price of a good with a share,
    /// whose demand is unbounded; [`Error::Overflow`](crate::Error::Overflow) where a quantity
    /// exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::economics::cobb_douglas::CobbDouglas;
    ///
    /// let consumer = CobbDouglas { alpha: 0.25, income: 100.0, prices: [5.0, 3.0] };
    /// let optimum = consumer.optimum()?;
    /// assert_eq!(optimum.demand, [5.0, 25.0]);
    /// assert!((optimum.utility - 16.718_507_624_410_55).abs() < 1e-13);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Mas-Colell, Whinston and Green (1995), "Microeconomic Theory", example 3.D.1.
    pub fn optimum(&self) -> Result<CobbDouglasOptimum> {
        self.validate()?;
        if self.income == 0.0 {
            return Ok(self.bundle([0.0, 0.0], 0.0));
        }
        let [first_price, second_price] = self.prices;
        if self.alpha == 0.0 || self.alpha == 1.0 {
            let price = if self.alpha == 0.0 { second_price } else { first_price };
            let quantity = check::result("income", self.income / price)?;
            let demand = if self.alpha == 0.0 { [0.0, quantity] } else { [quantity, 0.0] };
            return Ok(self.bundle(demand, quantity));
        }
        if [self.alpha, self.income, first_price, second_price].into_iter().all(is_tame) {
            let first = self.alpha * self.income / first_price;
            let second = (1.0 - self.alpha) * self.income / second_price;
            // x₁^α x₂^{1−α} = x₂ (x₁/x₂)^α, so that 1 − α is never rounded in an exponent.
            return Ok(self.bundle([first, second], second * libm::pow(first / second, self.alpha)));
        }
        self.optimum_beyond_doubles()
    }

    /// Explains [`optimum`](Self::optimum).
    ///
    /// # Errors
    ///
    /// The errors of [`optimum`](Self::optimum).
    pub fn explain(&self) -> Result<Explanation> {
        self.optimum()?;
        let method = Method::new(
            "demand under Cobb–Douglas preferences",
            "Mas-Colell, Whinston and Green (1995), Microeconomic Theory, example 3.D.1",
        );
        let error = ErrorStatement::rounding(
            "every field",
            1e-14,
            "largest relative error against many digits where the field is a normal double, for \
             any α",
        );
        Ok(Explanation::new(method, error).with_conventions([
            "The utility is x₁^α x₂^{1−α}, without a factor; 0⁰ is 1.",
            "The whole income is spent; the indirect utility is the utility of the optimum.",
        ]))
    }

    /// Returns the optimum where quantities or their ratio may leave the range of a double.
    fn optimum_beyond_doubles(&self) -> Result<CobbDouglasOptimum> {
        let [first_price, second_price] = self.prices;
        let bought = |share: DoubleDouble, price: f64| {
            (Scaled::from(share) * Scaled::from(self.income)).over(Scaled::from(price))
        };
        let first = bought(self.alpha.into(), first_price);
        let second = bought(DoubleDouble::sum(1.0, -self.alpha), second_price);
        let demand =
            [check::result("income", first.to_f64())?, check::result("income", second.to_f64())?];
        let utility = second * exp_64(ln_64(first.over(second)) * self.alpha.into());
        Ok(self.bundle(demand, check::result("income", utility.to_f64())?))
    }

    fn bundle(&self, demand: [f64; 2], utility: f64) -> CobbDouglasOptimum {
        let expenditure = without_negative_zero(self.income);
        CobbDouglasOptimum { demand, utility, expenditure, indirect_utility: utility }
    }

    fn validate(&self) -> Result<()> {
        check::require(
            (0.0..=1.0).contains(&self.alpha),
            "alpha",
            self.alpha,
            "a number from 0 to 1",
        )?;
        check::not_negative("income", self.income)?;
        check::each("prices", &self.prices, "zero or a positive finite number", |price| {
            price.is_finite() && price >= 0.0
        })?;
        for (index, share) in [self.alpha, 1.0 - self.alpha].into_iter().enumerate() {
            super::ces::demanded_good_has_a_price(index, share, self.prices[index])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each good takes its share of the income, and no other division gives more utility.
        #[test]
        fn no_other_bundle_on_the_budget_line_is_better(
            alpha in 0.001..0.999,
            prices in [0.1..10.0, 0.1..10.0],
            share in 0.001..0.999,
        ) {
            let consumer = CobbDouglas { alpha, income: 100.0, prices };
            let optimum = consumer.optimum().expect("an optimum");
            prop_assert!((prices[0] * optimum.demand[0] / (100.0 * alpha) - 1.0).abs() < 1e-15);
            let other: [f64; 2] = [share * 100.0 / prices[0], (1.0 - share) * 100.0 / prices[1]];
            let utility = libm::pow(other[0], alpha) * libm::pow(other[1], 1.0 - alpha);
            prop_assert!(utility <= optimum.utility * (1.0 + 1e-14), "{utility:e}");
        }
    }

    #[test]
    fn a_quantity_too_small_for_a_double_still_counts_in_the_utility() {
        // x₁ = 5e-601 and x₂ = 0.5, whose geometric mean is 5e-301.
        let consumer = CobbDouglas { alpha: 0.5, income: 1e-300, prices: [1e300, 1e-300] };
        let optimum = consumer.optimum().expect("an optimum");
        assert_eq!(optimum.demand, [0.0, 0.5]);
        assert!((optimum.utility / 5e-301 - 1.0).abs() < 1e-15, "{optimum:?}");
    }
}

//! Demand under a constant elasticity of substitution.
//!
//! The two weights are linear and taken as given, not scaled to sum to 1. Not modelled: more than
//! two goods, a scale of returns other than 1.

use crate::arithmetic::double_double::DoubleDouble;
use crate::arithmetic::exponential::{exp_64, expm1_64};
use crate::arithmetic::logarithm::{ln_1p_64, ln_64};
use crate::arithmetic::scaled::Scaled;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// The limits of the substitution parameter: below −2²⁰⁰ utility is that of Leontief, and within
/// 2⁻²⁰⁰ of 0 that of Cobb and Douglas, to far more digits than a double holds.
const STRONGEST: f64 = 1.606_938_044_258_990_3e60;
const WEAKEST: f64 = 1.0 / STRONGEST;

/// A consumer with utility `(w₁x₁^ρ + w₂x₂^ρ)^{1/ρ}`, an income and two prices.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ces {
    /// Substitution parameter ρ = (σ − 1)/σ; below 1. Zero is Cobb–Douglas, −1e300 is Leontief.
    pub rho: f64,
    /// Weight of each good in the utility; zero or positive, not both zero.
    pub weights: [f64; 2],
    /// Income, in money, all of which is spent; zero or positive.
    pub income: f64,
    /// Price of a unit of each good; positive, or zero where the good has no weight.
    pub prices: [f64; 2],
}

/// The best bundle of goods that the income buys.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CesOptimum {
    /// Quantity of each good in the optimal bundle.
    pub demand: [f64; 2],
    /// Utility of the optimal bundle.
    pub utility: f64,
    /// Elasticity of substitution, σ = 1/(1 − ρ).
    pub elasticity_of_substitution: f64,
}

impl Ces {
    /// Returns the bundle of greatest utility, its utility and the elasticity of substitution.
    ///
    /// ```text
    /// s₁ = 1 / (1 + (w₂/w₁) e^{ρσL}),   L = ln(w₂p₁ / w₁p₂),   σ = 1/(1 − ρ)
    /// x₁ = s₁ m / p₁,   x₂ = (1 − s₁) m / p₂,   U = x₁ (w₁/s₁)^{1/ρ}
    /// ```
    ///
    /// where s₁ is the first good's share of the income m and pᵢ are the prices.
    ///
    /// - At ρ = 0 the shares are `wᵢ/W` and utility is `x₁^{w₁/W} x₂^{w₂/W}` with `W = w₁ + w₂`.
    ///   For every other ρ, however small, the formula holds as it is written, with the factor
    ///   `W^{1/ρ}`. So utility jumps at ρ = 0 unless W is 1: towards it, utility tends to 0 or beyond
    ///   every bound, by the signs of ρ and of W − 1. Demand does not jump. Weights whose sum rounds to 1 count as summing to 1: 0.3 and 0.7 are
    ///   meant to, and 1/ρ would make the error of their binary forms arbitrarily large.
    /// - A good of weight zero is not demanded and its term is dropped; its price may be zero.
    /// - Without an income the bundle and its utility are zero, whatever the sign of ρ.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] or [`Error::Element`] for the first argument outside its range, among
    /// them a zero price of a good with a weight, whose demand is unbounded;
    /// [`Error::Overflow`] where a quantity or the utility exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::economics::ces::Ces;
    ///
    /// let consumer = Ces { rho: 0.5, weights: [0.5, 0.5], income: 100.0, prices: [1.0, 4.0] };
    /// let optimum = consumer.optimum()?;
    /// assert_eq!(optimum.demand, [80.0, 5.0]);
    /// assert_eq!(optimum.elasticity_of_substitution, 2.0);
    /// assert!((optimum.utility - 31.25).abs() < 1e-13);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Arrow, Chenery, Minhas and Solow (1961), "Capital-Labor Substitution and Economic
    /// Efficiency"; Mas-Colell, Whinston and Green (1995), "Microeconomic Theory", exercise 3.C.6.
    pub fn optimum(&self) -> Result<CesOptimum> {
        self.validate()?;
        let [first, second] = self.weights;
        let (demand, utility) = if self.income == 0.0 {
            ([0.0, 0.0], 0.0)
        } else if second == 0.0 {
            let (quantity, utility) = self.only(0);
            ([quantity, 0.0], utility)
        } else if first == 0.0 {
            let (quantity, utility) = self.only(1);
            ([0.0, quantity], utility)
        } else {
            self.both_in_doubles().unwrap_or_else(|| self.both())
        };
        Ok(CesOptimum {
            demand: [check::result("income", demand[0])?, check::result("income", demand[1])?],
            utility: check::result("weights", utility)?,
            elasticity_of_substitution: 1.0 / (1.0 - self.rho),
        })
    }

    /// Explains [`optimum`](Self::optimum).
    ///
    /// # Errors
    ///
    /// The errors of [`optimum`](Self::optimum).
    pub fn explain(&self) -> Result<Explanation> {
        self.optimum()?;
        let method = Method::new(
            "demand under a constant elasticity of substitution",
            "Arrow, Chenery, Minhas and Solow (1961), Capital-Labor Substitution and Economic \
             Efficiency; Mas-Colell, Whinston and Green (1995), Microeconomic Theory, exercise \
             3.C.6",
        );
        let error = ErrorStatement::rounding(
            "every field",
            1e-14,
            "largest relative error against many digits where the field is a normal double, for \
             any ρ below 1",
        );
        let limit = if self.rho == 0.0 {
            "At ρ = 0 the preferences are those of Cobb and Douglas, with shares wᵢ/(w₁ + w₂)."
        } else {
            "The utility is (w₁x₁^ρ + w₂x₂^ρ)^{1/ρ}, without a factor for the scale of the weights."
        };
        Ok(Explanation::new(method, error).with_conventions([
            limit,
            "The weights multiply the powers as given; they are not scaled to sum to 1.",
            "The whole income is spent.",
        ]))
    }

    /// Returns quantity and utility where one good has all the weight.
    fn only(&self, good: usize) -> (f64, f64) {
        let quantity = self.buys(good);
        let utility = quantity
            * exp_64(self.logarithm_of_weight().over(self.rho_away_from_zero()).renormalised());
        (quantity.to_f64(), utility.to_f64())
    }

    /// Returns the result of [`both`](Self::both) within 6e-15, where plain doubles suffice.
    ///
    /// Excluded are arguments that would multiply the rounding errors: a small ρ under a sum of weights that
    /// is not 1, a large elasticity, and goods whose prices by weight are far apart.
    fn both_in_doubles(&self) -> Option<([f64; 2], f64)> {
        let Self { rho, weights, income, prices } = *self;
        let numbers = [weights[0], weights[1], income, prices[0], prices[1]];
        if !numbers.into_iter().all(is_tame) || rho > 0.66 || (rho.abs() < 1e-250 && rho != 0.0) {
            return None;
        }
        // Based on the good of more weight, since 1 + ŵ(e^z − 1) then does not cancel.
        let (base, other) = if weights[0] >= weights[1] { (0, 1) } else { (1, 0) };
        let total = weights[0] + weights[1];
        let ratio = weights[other] / weights[base];
        let advantage = libm::log(ratio * (prices[base] / prices[other]));
        let scale = if rho == 0.0 || total == 1.0 { 0.0 } else { libm::log(total) };
        let exponent = rho / (1.0 - rho) * advantage;
        if advantage.abs() > 6.0 || exponent.abs() > 4.0 {
            return None;
        }
        if scale != 0.0 && (rho.abs() < 0.25 || scale.abs() > 16.0 * rho.abs()) {
            return None;
        }
        let tilt = libm::expm1(exponent);
        let odds = ratio * (1.0 + tilt);
        let share = weights[other] / total;
        let exponent =
            if rho == 0.0 { share * advantage } else { (scale + libm::log1p(share * tilt)) / rho };
        let mut demand = [income / (prices[0] * (1.0 + odds)), income / (prices[1] * (1.0 + odds))];
        demand[other] *= odds;
        Some((demand, demand[base] * libm::exp(exponent)))
    }

    /// Returns quantities and utility where both goods have a weight.
    fn both(&self) -> ([f64; 2], f64) {
        let rho = self.rho_away_from_zero();
        let rho_sigma = rho.over((-rho).plus(1.0)).renormalised();
        let scaled = |value: f64| Scaled::from(value);
        let [w1, w2] = self.weights.map(scaled);
        let [p1, p2] = self.prices.map(scaled);
        let tilt = ln_64((w2 * p1).over(w1 * p2)) * rho_sigma;
        let odds = w2.over(w1) * exp_64(tilt);
        // From here on the major good is the one with at least half the income, so that its
        // odds lie in [0, 1] and no exponential overflows.
        let (major, minor, odds, tilt) = if odds.exceeds_one() {
            (1, 0, w1.over(w2) * exp_64(-tilt), -tilt)
        } else {
            (0, 1, odds, tilt)
        };
        let whole = Scaled::from(odds.to_double_double().plus(1.0));
        let major_quantity = self.buys(major).over(whole);
        let minor_quantity = (self.buys(minor) * odds).over(whole);
        let exponent = self.logarithm_of_weight().plus(self.logarithm_of_gain(major, tilt, whole));
        let utility = major_quantity * exp_64(exponent.over(rho).renormalised());
        let mut demand = [0.0; 2];
        demand[major] = major_quantity.to_f64();
        demand[minor] = minor_quantity.to_f64();
        (demand, utility.to_f64())
    }

    /// Returns the quantity of one good that the whole income buys.
    fn buys(&self, good: usize) -> Scaled {
        Scaled::from(self.income).over(Scaled::from(self.prices[good]))
    }

    /// `ln(ŵ/s)` of the major good, where ŵ is its share of the weight and s that of the income.
    fn logarithm_of_gain(&self, major: usize, tilt: DoubleDouble, whole: Scaled) -> DoubleDouble {
        let share_of_weight = |good: usize| Scaled::from(self.weights[good]).over(self.weight());
        if tilt.high.abs() <= 1.0 {
            // ŵ/s = 1 + (1 − ŵ)(e^{ρσL} − 1) keeps the digits that division by a small ρ needs.
            let gain = share_of_weight(1 - major).to_double_double() * expm1_64(tilt);
            if gain.high.abs() <= 0.03125 {
                return ln_1p_64(gain);
            }
        }
        ln_64(share_of_weight(major) * whole)
    }

    /// `ln W`, or zero where ρ is zero, whose formula has no W.
    fn logarithm_of_weight(&self) -> DoubleDouble {
        let [first, second] = self.weights;
        if self.rho == 0.0 || first + second == 1.0 {
            DoubleDouble::ZERO
        } else {
            ln_64(self.weight())
        }
    }

    /// The sum of the weights, neither rounded nor out of range.
    fn weight(&self) -> Scaled {
        let (_, exponent) = libm::frexp(self.weights[0].max(self.weights[1]));
        let [first, second] = self.weights.map(|weight| libm::scalbn(weight, -exponent));
        Scaled::from(DoubleDouble::sum(first, second)).times_power_of_two(exponent)
    }

    /// ρ, moved to where neither its reciprocal nor its product with a logarithm overflows.
    fn rho_away_from_zero(&self) -> DoubleDouble {
        let rho = self.rho.max(-STRONGEST);
        let sign = if rho < 0.0 { -1.0 } else { 1.0 };
        DoubleDouble::from(if rho.abs() < WEAKEST { sign * WEAKEST } else { rho })
    }

    fn validate(&self) -> Result<()> {
        check::require(
            self.rho.is_finite() && self.rho < 1.0,
            "rho",
            self.rho,
            "a finite number below 1",
        )?;
        let holds = |value: f64| value.is_finite() && value >= 0.0;
        check::each("weights", &self.weights, "zero or a positive finite number", holds)?;
        if self.weights == [0.0, 0.0] {
            return Err(Error::Conflict { argument: "weights", problem: "must not both be zero" });
        }
        check::not_negative("income", self.income)?;
        check::each("prices", &self.prices, "zero or a positive finite number", holds)?;
        for (index, &weight) in self.weights.iter().enumerate() {
            demanded_good_has_a_price(index, weight, self.prices[index])?;
        }
        Ok(())
    }
}

/// Returns whether products and quotients of four such numbers are far from overflow and underflow.
pub(super) fn is_tame(value: f64) -> bool {
    (1e-60..=1e60).contains(&value)
}

/// Refuses a price of zero where the good is wanted: its demand would be unbounded.
pub(super) fn demanded_good_has_a_price(index: usize, weight: f64, price: f64) -> Result<()> {
    if weight > 0.0 && price == 0.0 {
        return Err(Error::Element {
            argument: "prices",
            index,
            value: price,
            requirement: "positive where the good is wanted",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The whole income is spent, and no other division of it gives more utility.
        #[test]
        fn no_other_bundle_on_the_budget_line_is_better(
            rho in prop_oneof![-5.0..-0.1, 0.1..0.99],
            weights in [0.1..10.0, 0.1..10.0],
            prices in [0.1..10.0, 0.1..10.0],
            share in 0.001..0.999,
        ) {
            let consumer = Ces { rho, weights, income: 100.0, prices };
            let optimum = consumer.optimum().expect("an optimum");
            let spent = prices[0] * optimum.demand[0] + prices[1] * optimum.demand[1];
            prop_assert!((spent / 100.0 - 1.0).abs() < 1e-15, "{spent}");
            let other = [share * 100.0 / prices[0], (1.0 - share) * 100.0 / prices[1]];
            let term = |good: usize| weights[good] * libm::pow(other[good], rho);
            let utility = libm::pow(term(0) + term(1), 1.0 / rho);
            prop_assert!(utility <= optimum.utility * (1.0 + 1e-12 / rho.abs()), "{utility:e}");
        }

        /// The goods have no order, and only the ratio of income to prices counts.
        #[test]
        fn goods_may_change_places_and_money_its_unit(
            rho in -1e3..0.999,
            weights in [0.1..10.0, 0.1..10.0],
            prices in [0.1..10.0, 0.1..10.0],
        ) {
            let consumer = Ces { rho, weights, income: 100.0, prices };
            let optimum = consumer.optimum().expect("an optimum");
            let swapped = Ces {
                weights: [weights[1], weights[0]],
                prices: [prices[1], prices[0]],
                ..consumer
            };
            let found = swapped.optimum().expect("an optimum");
            prop_assert_eq!([found.demand[1], found.demand[0]], optimum.demand);
            prop_assert!((found.utility / optimum.utility - 1.0).abs() < 1e-15);
            let cents = Ces { income: 6400.0, prices: prices.map(|p| 64.0 * p), ..consumer };
            prop_assert_eq!(cents.optimum().expect("an optimum"), optimum);
        }
    }

    proptest! {
        /// Slutsky's equation: demand that is compensated for the change of a price falls with its
        /// own price, rises with the other's as that does with it, and costs nothing.
        #[test]
        fn compensated_demand_is_symmetric_and_falls_with_its_price(
            rho in prop_oneof![-5.0..-0.01, Just(0.0), 0.01..0.9],
            weights in [0.1..10.0, 0.1..10.0],
            prices in [0.1..10.0, 0.1..10.0],
        ) {
            const STEP: f64 = 1e-4;
            let demand = |income: f64, prices: [f64; 2]| {
                Ces { rho, weights, income, prices }.optimum().expect("an optimum").demand
            };
            let here = demand(100.0, prices);
            let effect = |good: usize, price: usize| {
                let at = |part: f64| {
                    let mut moved = prices;
                    moved[price] *= 1.0 + part;
                    demand(100.0, moved)[good]
                };
                let of_income = |part: f64| demand(100.0 * (1.0 + part), prices)[good];
                let by_price = (at(STEP) - at(-STEP)) / (2.0 * STEP * prices[price]);
                let by_income = (of_income(STEP) - of_income(-STEP)) / (200.0 * STEP);
                by_price + here[price] * by_income
            };
            let [own, across, back, other] =
                [effect(0, 0), effect(0, 1), effect(1, 0), effect(1, 1)];
            // The quotients miss the derivatives by the square of the step times the elasticities.
            let near = |good: usize, price: usize| 1e-5 * here[good] / prices[price];
            prop_assert!(own <= near(0, 0) && other <= near(1, 1), "{own} {other}");
            prop_assert!(across >= -near(0, 1), "{across}");
            prop_assert!((across - back).abs() <= near(0, 1) + near(1, 0), "{across} {back}");
            prop_assert!((prices[0] * own + prices[1] * across).abs() <= 2e-5 * here[0]);
        }
    }

    proptest! {
        /// Both ways of computing agree where both may be used.
        #[test]
        fn plain_doubles_are_used_only_where_they_suffice(
            rho in prop_oneof![-5.0..0.66, -1e-3..1e-3, Just(0.0), Just(-1e300)],
            weights in [0.01..10.0, 0.01..10.0],
            is_normalised: bool,
            prices in [0.01..100.0, 0.01..100.0],
        ) {
            let [first, second] = weights;
            let weights = if is_normalised { [first / 16.0, 1.0 - first / 16.0] } else { [first, second] };
            let consumer = Ces { rho, weights, income: 100.0, prices };
            let (exact, exact_utility) = consumer.both();
            if let Some((demand, utility)) = consumer.both_in_doubles() {
                for (found, expected) in demand.into_iter().zip(exact).chain([(utility, exact_utility)]) {
                    prop_assert!((found / expected - 1.0).abs() <= 6e-15, "{found:e} {expected:e}");
                }
            }
        }
    }

    #[test]
    fn near_zero_the_factor_of_the_weights_is_kept_and_at_zero_it_is_not() {
        let at = |rho: f64, second: f64| {
            Ces { rho, weights: [0.5, second], income: 100.0, prices: [1.0, 1.0] }.optimum()
        };
        let utility = |rho, second| at(rho, second).expect("an optimum").utility;
        // W = 1 + 2⁻³⁰, and W^{1/ρ} with ρ = ±2⁻³⁰ is e^{±1} but for 2⁻³¹.
        let (tiny, second) = (libm::pow(2.0, -30.0), 0.5 + libm::pow(2.0, -30.0));
        assert!((utility(0.0, second) - 50.0).abs() < 1e-6);
        assert!((utility(tiny, second) / (50.0 * std::f64::consts::E) - 1.0).abs() < 1e-8);
        assert!((utility(-tiny, second) * std::f64::consts::E / 50.0 - 1.0).abs() < 1e-8);
        // Far from 1 the factor leaves the range, however small ρ is.
        for rho in [1e-4, 1e-300, f64::MIN_POSITIVE] {
            assert_eq!(at(rho, 2.0).expect_err("beyond every bound").code(), "overflow");
            assert_eq!(utility(-rho, 2.0), 0.0);
            assert_eq!(utility(rho, 0.25), 0.0);
        }
        assert_eq!(
            at(-1e-300, 2.0).expect("an optimum").demand,
            at(0.0, 2.0).expect("an optimum").demand
        );
    }

    #[test]
    fn leontief_buys_equal_quantities_and_substitutes_the_cheaper_good() {
        let buys = |rho: f64| Ces { rho, weights: [1.0, 1.0], income: 12.0, prices: [1.0, 2.0] };
        let leontief = buys(-1e300).optimum().expect("an optimum");
        assert_eq!((leontief.demand, leontief.utility), ([4.0, 4.0], 4.0));
        assert_eq!(leontief.elasticity_of_substitution, 1e-300);
        let nearly_perfect = buys(1.0 - 1e-9).optimum().expect("an optimum");
        assert_eq!((nearly_perfect.demand, nearly_perfect.utility), ([12.0, 0.0], 12.0));
    }
}

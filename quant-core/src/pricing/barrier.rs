//! Barrier options: on binomial trees, and in closed form where the barrier is watched always.
//!
//! | what | where | steps of work |
//! |---|---|---|
//! | CRR tree | paths counted by the reflection principle | n |
//! | JR, LR, TIAN tree | backward induction over the nodes that matter | n^1.5 |
//! | continuously watched barrier | [`BarrierOption::price_watched_continuously`] | 1 |
//! | barrier watched on some dates | [`BarrierOption::price_watched_discretely`] | 1 |
//!
//! On a tree the barrier is watched at every step, today and expiry included, and touching it is
//! hitting it. Whether a node touches is decided by its layer: a barrier that lies on a layer of
//! nodes but for rounding (a relative 1e-12 of the price) lies on it.
//!
//! Not modelled: double barriers, windows, rebates paid at expiry, early exercise.

use super::binomial::lattice::{Climb, Lattice, Payoff};
use super::binomial::{is_riskless, steps};
use super::black_scholes::{EuropeanOption, OptionType, discount};
use super::extended::Extended;
use super::lognormal::positive_part;
use crate::{Result, check};
use counting::Reflection;
use edge::Edge;
use induction::Induction;

pub use super::binomial::{MOST_STEPS, Tree};

mod continuous;
mod corrected;
mod counting;
mod discrete;
mod edge;
mod induction;
#[cfg(test)]
mod reference;

/// The side of the spot on which the barrier lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Direction {
    /// Below: hit by a price at or under it.
    Down,
    /// Above: hit by a price at or over it.
    Up,
}

/// What hitting the barrier does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Knock {
    /// The option comes into being.
    In,
    /// The option ends, and the rebate is paid.
    Out,
}

/// Whether the tree's watching at its steps is taken as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Handling {
    /// The tree itself, of exactly the steps asked for.
    Plain,
    /// An estimate, from the same tree, of the option whose barrier is watched always.
    Corrected,
}

/// A European option that a barrier brings into being or ends.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BarrierOption {
    /// The option, and the market it is priced in.
    pub option: EuropeanOption,
    /// Price of the underlying that sets off the knock; zero or positive.
    pub barrier: f64,
    /// The side on which the barrier lies.
    pub direction: Direction,
    /// What hitting it does.
    pub knock: Knock,
    /// Paid when the option is knocked out, at that moment; zero or positive. A knock-in has none.
    pub rebate: f64,
}

impl BarrierOption {
    /// Returns the option's present value on a binomial tree.
    ///
    /// With b = r − q and Δt = T/n, one step multiplies the price by u with probability p, else by d:
    ///
    /// ```text
    /// CRR:   u, d = e^{±σ√Δt}                            p = (e^{bΔt} − d) / (u − d)
    /// JR:    u, d = e^{(b − σ²/2)Δt ± σ√Δt}              p = 1/2
    /// LR:    u = e^{bΔt} h(d₁)/h(d₂),                    p = h(d₂)
    ///        d = e^{bΔt} (1 − h(d₁))/(1 − h(d₂))
    /// TIAN:  u, d = MV/2 · (V + 1 ± √(V² + 2V − 3))      p = (M − d) / (u − d)
    ///        M = e^{bΔt}, V = e^{σ²Δt}
    /// ```
    ///
    /// where d₁ and d₂ are those of Black and Scholes and h is the second inversion of Peizer and
    /// Pratt. `n_steps` is from 1 to [`MOST_STEPS`]; LR takes one more where it is even, and nothing
    /// else changes it. A knock-in and a knock-out without rebate add up to the option on the same
    /// tree. A barrier hit today pays the rebate, or leaves the option on the same tree.
    ///
    /// Where spot, volatility or time is zero (and, for LR, the strike) the price moves along its
    /// forward without risk, and so the tree does.
    ///
    /// [`Handling::Corrected`] estimates the option whose barrier is watched always
    /// ([`price_watched_continuously`](Self::price_watched_continuously)), with the same `n_steps`.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for a negative spot, strike, volatility, time, barrier or rebate, any
    /// number that is not finite, or more steps than [`MOST_STEPS`]; [`Error::TooFew`](crate::Error::TooFew) for no steps,
    /// and where a CRR probability would lie outside [0, 1], with a number of steps that works;
    /// [`Error::Overflow`](crate::Error::Overflow) where a number leaves the range of a double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::barrier::{BarrierOption, Direction, Handling, Knock, Tree};
    /// use quant_core::pricing::black_scholes::{EuropeanOption, OptionType};
    ///
    /// let option = EuropeanOption {
    ///     option_type: OptionType::Call,
    ///     spot: 100.0,
    ///     strike: 100.0,
    ///     risk_free_rate: 0.08,
    ///     dividend_yield: 0.04,
    ///     volatility: 0.25,
    ///     time_to_maturity: 0.5,
    /// };
    /// let (direction, knock) = (Direction::Down, Knock::Out);
    /// let barrier = BarrierOption { option, barrier: 95.0, direction, knock, rebate: 3.0 };
    ///
    /// let corrected = barrier.price_on_tree(Tree::Crr, 1000, Handling::Corrected)?;
    /// assert!((corrected - 6.7924).abs() < 1e-3);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Cox, Ross and Rubinstein (1979); Jarrow and Rudd (1983); Leisen and Reimer (1996); Tian
    /// (1993). The counting of paths follows Lyuu (1998), "Very Fast Algorithms for Barrier Option
    /// Pricing and the Ballot Problem". The example is in Haug (2007), 4.17.1.
    pub fn price_on_tree(&self, tree: Tree, n_steps: usize, handling: Handling) -> Result<f64> {
        self.validate()?;
        let n = steps(tree, n_steps)?;
        if self.is_hit_today() {
            return check::result("spot", self.value_hit_today(tree, n)?);
        }
        if is_riskless(&self.option, tree) {
            return check::result("spot", self.value_along_forward(n));
        }
        let lattice = Lattice::new(&self.option, tree, n)?;
        let value = match handling {
            Handling::Plain => self.value_on(&lattice),
            Handling::Corrected => self.corrected_value_on(&lattice),
        };
        check::result("spot", value)
    }

    fn validate(&self) -> Result<()> {
        self.option.validate()?;
        check::not_negative("barrier", self.barrier)?;
        check::not_negative("rebate", self.rebate)
    }

    /// Whether today's price touches the barrier.
    fn is_hit_today(&self) -> bool {
        match self.direction {
            Direction::Down => self.option.spot <= self.barrier * (1.0 + TOUCH),
            Direction::Up => self.option.spot >= self.barrier * (1.0 - TOUCH),
        }
    }

    /// The value where the barrier is hit today: the rebate, or the option on the same tree.
    fn value_hit_today(&self, tree: Tree, n: usize) -> Result<f64> {
        match self.knock {
            Knock::Out => Ok(self.rebate),
            Knock::In if is_riskless(&self.option, tree) => Ok(self.riskless_option().value()),
            Knock::In => Ok(Lattice::new(&self.option, tree, n)?.vanilla(&self.option)),
        }
    }

    /// The option without risk, worth what exercising its forward is.
    fn riskless_option(&self) -> EuropeanOption {
        EuropeanOption { volatility: 0.0, ..self.option.clone() }
    }

    /// The value on a tree whose start the barrier does not touch.
    fn value_on(&self, lattice: &Lattice) -> f64 {
        match (lattice.tree, self.knock) {
            (Tree::Crr, _) => {
                self.value_at_layer(lattice, edge::layer_at(self.depth(), lattice.up) as usize)
            }
            (_, Knock::Out) => self.survivors(lattice) + self.rebates(lattice),
            // Rounding may leave less than nothing of two equal numbers.
            (_, Knock::In) => {
                positive_part(lattice.vanilla(&self.option) - self.survivors(lattice))
            }
        }
    }

    /// The value on a CRR tree with a layer of it as the barrier.
    fn value_at_layer(&self, lattice: &Lattice, layer: usize) -> f64 {
        let (climb, payoff) = self.climb(lattice);
        let reflection = Reflection::new(&climb, layer);
        if self.knock == Knock::In {
            return payoff.unit * reflection.touched(&payoff);
        }
        let survivors = payoff.unit * reflection.untouched(&payoff);
        if self.rebate == 0.0 {
            return survivors;
        }
        let cash = Climb::new(lattice, lattice.cash, self.direction);
        let touch = Reflection::new(&cash, layer)
            .discounted_touch(self.option.risk_free_rate, self.step(lattice));
        survivors + self.rebate * touch
    }

    /// The value of the paths that never touch the barrier, by induction.
    fn survivors(&self, lattice: &Lattice) -> f64 {
        let (climb, payoff) = self.climb(lattice);
        let n = climb.steps;
        let edge = Edge::at_depth(&climb, lattice.tree, self.depth());
        let (from, to) = payoff.paying(&climb);
        let ends = (from.max(edge.nodes_beyond(n)), to);
        let end = |j| payoff.at(climb.height(n, j));
        let barrier = induction::Barrier::OnNode;
        payoff.unit * Induction { climb: &climb, edge: &edge, ends, barrier }.run(n, end, |_| 0.0)
    }

    /// The value of the rebate, by induction.
    fn rebates(&self, lattice: &Lattice) -> f64 {
        if self.rebate == 0.0 {
            return 0.0;
        }
        let climb = Climb::new(lattice, lattice.cash, self.direction);
        let edge = Edge::at_depth(&climb, lattice.tree, self.depth());
        let ends = (0, edge.nodes_beyond(climb.steps));
        let (rate, step) = (self.option.risk_free_rate, self.step(lattice));
        let paid = |i| libm::exp(-rate * (i as f64 * step));
        let barrier = induction::Barrier::OnNode;
        let induction = Induction { climb: &climb, edge: &edge, ends, barrier };
        self.rebate * induction.run(climb.steps, |_| 0.0, paid)
    }

    /// The lattice turned to the barrier in the payoff's numeraire, and the payoff.
    fn climb(&self, lattice: &Lattice) -> (Climb, Payoff) {
        let odds = match self.option.option_type {
            OptionType::Call => lattice.shares,
            OptionType::Put => lattice.cash,
        };
        let climb = Climb::new(lattice, odds, self.direction);
        (climb, Payoff::new(&self.option, self.direction, &climb))
    }

    /// The time of one step, in years.
    fn step(&self, lattice: &Lattice) -> f64 {
        self.option.time_to_maturity / lattice.steps as f64
    }

    /// The logarithmic distance of the barrier from the spot.
    fn depth(&self) -> f64 {
        self.log_barrier().abs()
    }

    /// The value where the price moves along its forward, watched at every step.
    fn value_along_forward(&self, n: usize) -> f64 {
        let option = &self.option;
        match (self.knock, self.step_of_hit(n)) {
            (Knock::Out, Some(step)) => {
                let time = option.time_to_maturity * (step / n as f64);
                self.rebate * discount(option.risk_free_rate, time)
            }
            (Knock::In, Some(_)) | (Knock::Out, None) => self.riskless_option().value(),
            (Knock::In, None) => 0.0,
        }
    }

    /// The first of `n` steps at which the forward has come as far as the barrier.
    fn step_of_hit(&self, n: usize) -> Option<f64> {
        let carry = self.option.risk_free_rate - self.option.dividend_yield;
        let rise = carry * self.option.time_to_maturity / n as f64;
        let distance = self.log_barrier();
        if self.option.spot == 0.0 || rise * distance <= 0.0 {
            return None;
        }
        let step = ((distance.abs() - TOUCH) / rise.abs()).ceil();
        (step <= n as f64).then_some(step)
    }

    /// The logarithm of the barrier over the spot.
    fn log_barrier(&self) -> f64 {
        Extended::log_ratio(self.barrier, self.option.spot).high
    }
}

/// How near to the barrier a price touches it, relative to the price.
const TOUCH: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use proptest::prelude::*;

    const TREES: [Tree; 4] = [Tree::Crr, Tree::Jr, Tree::Lr, Tree::Tian];

    /// A call on 100 at 100 with r = 8 %, q = 4 %, σ = 25 % and half a year, out at 95 below.
    fn down_and_out() -> BarrierOption {
        let option = EuropeanOption {
            option_type: OptionType::Call,
            spot: 100.0,
            strike: 100.0,
            risk_free_rate: 0.08,
            dividend_yield: 0.04,
            volatility: 0.25,
            time_to_maturity: 0.5,
        };
        let (direction, knock) = (Direction::Down, Knock::Out);
        BarrierOption { option, barrier: 95.0, direction, knock, rebate: 3.0 }
    }

    fn plain(option: &BarrierOption, tree: Tree, n_steps: usize) -> f64 {
        option.price_on_tree(tree, n_steps, Handling::Plain).unwrap()
    }

    #[test]
    fn a_tree_of_two_steps_is_the_one_drawn_by_hand() {
        // Nodes 125, 100, 80 after one step of u = 1.25 and d = 0.8 would be 156.25, 100, 64. With
        // r = q = 0, p = (1 − d)/(u − d) = 4/9. Out at 80: only up-up pays, 16/81 · 56.25.
        let mut option = down_and_out();
        (option.option.risk_free_rate, option.option.dividend_yield) = (0.0, 0.0);
        (option.option.volatility, option.option.time_to_maturity) = (libm::log(1.25), 2.0);
        (option.barrier, option.rebate) = (80.0, 9.0);
        let survivors = (4.0 / 9.0) * (4.0 / 9.0) * 56.25;
        let rebate = 5.0 / 9.0 * 9.0;
        assert!((plain(&option, Tree::Crr, 2) - survivors - rebate).abs() < 1e-13);
    }

    #[test]
    fn touching_is_hitting_and_is_decided_by_layer() {
        // The barrier on the fourth layer below, in every way to compute it, and beside it.
        let mut option = down_and_out();
        let (n, layers) = (100, 4.0);
        let step: f64 = 0.25 * (0.5_f64 / 100.0).sqrt();
        let on = 100.0 * libm::exp(-layers * step);
        option.barrier = 100.0 * libm::exp(-layers * step * (1.0 + 1e-9));
        let beyond = plain(&option, Tree::Crr, n);
        for barrier in
            [on, 100.0 / libm::pow(libm::exp(step), layers), on * (1.0 - 4e-16), on * (1.0 + 4e-16)]
        {
            option.barrier = barrier;
            let touching = plain(&option, Tree::Crr, n);
            option.barrier = 100.0 * libm::exp(-layers * step * (1.0 - 1e-9));
            assert_eq!(touching, plain(&option, Tree::Crr, n));
            assert!((touching - beyond).abs() > 1e-3);
        }
    }

    #[test]
    fn a_barrier_hit_today_pays_the_rebate_or_leaves_the_option() {
        for tree in TREES {
            for (direction, barrier) in
                [(Direction::Down, 100.0), (Direction::Up, 100.0), (Direction::Up, 90.0)]
            {
                let out = BarrierOption { barrier, direction, ..down_and_out() };
                let hit_in = BarrierOption { knock: Knock::In, ..out.clone() };
                let never = BarrierOption { barrier: 1e-9, rebate: 0.0, ..down_and_out() };
                for handling in [Handling::Plain, Handling::Corrected] {
                    assert_eq!(out.price_on_tree(tree, 50, handling), Ok(3.0));
                    let vanilla = hit_in.price_on_tree(tree, 50, handling).unwrap();
                    assert!((vanilla - plain(&never, tree, 50)).abs() < 1e-13);
                }
                assert_eq!(out.price_watched_continuously(), Ok(3.0));
                assert_eq!(hit_in.price_watched_continuously(), hit_in.option.price());
            }
        }
    }

    #[test]
    fn an_even_count_takes_one_more_step_on_the_leisen_reimer_tree_alone() {
        for tree in TREES {
            let same = plain(&down_and_out(), tree, 100) == plain(&down_and_out(), tree, 101);
            assert_eq!(same, tree == Tree::Lr);
        }
    }

    #[test]
    fn impossible_counts_are_refused() {
        for tree in TREES {
            let none = down_and_out().price_on_tree(tree, 0, Handling::Plain);
            assert_eq!(none, Err(Error::TooFew { argument: "n_steps", needed: 1, found: 0 }));
            let many = down_and_out().price_on_tree(tree, 1_000_001, Handling::Plain).unwrap_err();
            assert_eq!((many.code(), many.argument()), ("domain", Some("n_steps")));
        }
    }

    #[test]
    fn a_crr_tree_with_impossible_odds_names_the_steps_that_it_needs() {
        let mut option = down_and_out();
        (option.option.risk_free_rate, option.option.volatility) = (0.5, 0.02);
        // Δt ≤ (σ/(r − q))², so n ≥ 0.5 · (0.46/0.02)² = 264.5.
        let refused = option.price_on_tree(Tree::Crr, 100, Handling::Plain);
        assert_eq!(refused, Err(Error::TooFew { argument: "n_steps", needed: 265, found: 100 }));
        assert!(option.price_on_tree(Tree::Crr, 264, Handling::Corrected).is_err());
        assert!(option.price_on_tree(Tree::Crr, 265, Handling::Corrected).is_ok());
        option.option.volatility = 1e-6;
        let refused = option.price_on_tree(Tree::Crr, 100, Handling::Plain).unwrap_err();
        assert_eq!((refused.code(), refused.argument()), ("domain", Some("volatility")));
    }

    #[test]
    fn without_risk_the_price_follows_its_forward_on_every_tree() {
        for tree in TREES {
            let mut option = down_and_out();
            option.option.volatility = 0.0;
            assert_eq!(plain(&option, tree, 10), option.option.price().unwrap());
            // The forward reaches 101 after ln(1.01)/0.04 = 0.2488 years: the fifth of ten steps.
            (option.direction, option.barrier) = (Direction::Up, 101.0);
            assert!(
                (plain(&option, tree, 10) - 3.0 * libm::exp(-0.08 * 0.25)).abs() < 1e-14
                    || tree == Tree::Lr
            );
            option.knock = Knock::In;
            assert_eq!(plain(&option, tree, 10), option.option.price().unwrap());
            option.option.time_to_maturity = 0.0;
            assert_eq!(plain(&option, tree, 10), 0.0);
            option.option.spot = 0.0;
            assert_eq!(plain(&option, tree, 10), 0.0);
        }
    }

    #[test]
    fn trees_stay_finite_far_in_and_out_of_the_money() {
        for tree in TREES {
            for (strike, volatility) in
                [(1e-6, 0.2), (1e6, 0.2), (100.0, 1e-3), (1e-300, 0.1), (1e300, 5.0), (50.0, 20.0)]
            {
                for n in [1, 2, 10, 1001] {
                    let mut option = down_and_out();
                    (option.option.strike, option.option.volatility) = (strike, volatility);
                    match option.price_on_tree(tree, n, Handling::Plain) {
                        Ok(price) => assert!((0.0..=1e301).contains(&price), "{tree:?} {option:?}"),
                        Err(refused) => assert_eq!((refused.code(), tree), ("too_few", Tree::Crr)),
                    }
                }
            }
        }
    }

    #[test]
    fn the_corrected_price_is_that_of_a_barrier_watched_always() {
        use Direction::{Down, Up};
        use OptionType::{Call, Put};
        /// In money, on a spot of 100.
        const TOLERANCES: [(usize, f64); 2] = [(1000, 3e-4), (5000, 5e-5)];
        #[rustfmt::skip]
        let rows = [
            // type strike  rate  yield   vol  years direction barrier rebate
            (Call, 100.0,  0.08,  0.04, 0.25, 0.50, Down,  95.0, 0.0),
            (Call,  90.0,  0.08,  0.04, 0.25, 0.50, Down,  95.0, 3.0),
            (Put,  110.0,  0.08,  0.04, 0.25, 0.50, Down,  95.0, 3.0),
            (Call, 100.0,  0.08,  0.04, 0.25, 0.50, Up,   105.0, 3.0),
            (Call, 100.0,  0.05,  0.02, 0.20, 1.00, Up,   120.0, 0.0),
            (Put,  100.0,  0.05,  0.02, 0.20, 1.00, Down,  80.0, 0.0),
            (Put,  100.0,  0.05,  0.00, 0.30, 1.00, Up,   110.0, 0.0),
            (Call, 100.0,  0.05,  0.00, 0.20, 1.00, Down,  90.0, 0.0),
            (Call,  95.0,  0.10,  0.00, 0.40, 0.25, Down,  99.0, 0.0),
            (Call, 100.0, -0.03, -0.03, 0.20, 1.00, Down,  90.0, 5.0),
        ];
        for (
            option_type,
            strike,
            risk_free_rate,
            dividend_yield,
            volatility,
            time_to_maturity,
            direction,
            barrier,
            rebate,
        ) in rows
        {
            let option = EuropeanOption {
                option_type,
                spot: 100.0,
                strike,
                risk_free_rate,
                dividend_yield,
                volatility,
                time_to_maturity,
            };
            for knock in [Knock::Out, Knock::In] {
                let option =
                    BarrierOption { option: option.clone(), barrier, direction, knock, rebate };
                let expected = option.price_watched_continuously().unwrap();
                for (tree, (n, tolerance)) in
                    TREES.into_iter().flat_map(|tree| TOLERANCES.map(|row| (tree, row)))
                {
                    let got = option.price_on_tree(tree, n, Handling::Corrected).unwrap();
                    assert!(
                        (got - expected).abs() <= tolerance,
                        "{tree:?} {n} {option:?}: got {got}, expected {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_hundred_thousand_steps_agree_with_the_closed_form() {
        // On a CRR layer the tree converges like 1/n.
        let step = 0.25 * libm::sqrt(0.5 / 100_000.0);
        for rebate in [0.0, 3.0] {
            let barrier = 100.0 * libm::exp(-45.0 * step);
            let option = BarrierOption { barrier, rebate, ..down_and_out() };
            let expected = option.price_watched_continuously().unwrap();
            assert!((plain(&option, Tree::Crr, 100_000) - expected).abs() < 1e-4);
        }
    }

    proptest! {
        #[test]
        fn in_and_out_without_rebate_are_the_option_on_the_same_tree(
            spot in 80.0..120.0_f64, barrier in 50.0..200.0_f64, n in 1_usize..300, choice in 0_usize..16,
        ) {
            let (tree, mut out) = (TREES[choice % 4], down_and_out());
            out.option.option_type = if choice & 4 == 0 { OptionType::Call } else { OptionType::Put };
            out.direction = if choice & 8 == 0 { Direction::Down } else { Direction::Up };
            (out.option.spot, out.barrier, out.rebate) = (spot, barrier, 0.0);
            let knock_in = BarrierOption { knock: Knock::In, rebate: 7.0, ..out.clone() };
            let (direction, barrier) = (Direction::Down, 0.0);
            let vanilla = BarrierOption { direction, barrier, ..out.clone() };
            let sum = plain(&out, tree, n) + plain(&knock_in, tree, n);
            prop_assert!((sum - plain(&vanilla, tree, n)).abs() <= 1e-12 * (1.0 + sum));
        }
    }
}

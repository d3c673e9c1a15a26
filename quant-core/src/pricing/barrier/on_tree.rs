//! The price on a binomial tree, with the barrier monitored at every step.

use super::edge::{self, Edge};
use super::induction::AbsorbingInduction;
use super::option::{BarrierOption, Knock, TOUCH};
use super::reflection::Reflection;
use crate::pricing::black_scholes::{EuropeanOption, OptionType, discount};
use crate::pricing::lattice::moves::Lattice;
use crate::pricing::lattice::oriented::{OrientedLattice, Payoff};
use crate::pricing::lattice::paths::european_value;
use crate::pricing::lattice::tree::{Tree, is_riskless, steps};
use crate::{Result, check};

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
    /// Pratt. `n_steps` is from 1 to [`MAX_STEPS`](crate::pricing::MAX_STEPS); LR takes one more where it is even, and nothing
    /// else changes it. A knock-in and a knock-out without rebate add up to the option on the same
    /// tree. A barrier hit today pays the rebate, or leaves the option on the same tree.
    ///
    /// Where spot, volatility or time is zero (and, for LR, the strike) the price moves along its
    /// forward without risk, and so the tree does.
    ///
    /// An LR tree is centred on the strike. Far from the strike, at |d₂| of more than about 1.2 √n, the
    /// price hardly moves and hardly ever touches a barrier. So an LR tree is refused where the standard
    /// deviation of its log price is less than half of σ√T and its value is off the closed form of
    /// continuous monitoring by more than 1 % of the spot.
    ///
    /// The price converges to that of [continuous monitoring](Self::price_continuous) as slowly as
    /// 1/√n, and not steadily, since the barrier lies between two layers of nodes in general.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for a negative spot, strike, volatility, time, barrier or rebate, any
    /// number that is not finite, a strike too far for an LR tree of so few steps, or more steps than
    /// [`MAX_STEPS`](crate::pricing::MAX_STEPS); [`Error::TooFew`](crate::Error::TooFew) for no steps,
    /// and where a CRR probability would lie outside [0, 1], with a number of steps that works;
    /// [`Error::Overflow`](crate::Error::Overflow) where a number leaves the range of a double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::pricing::barrier::{BarrierOption, Direction, Knock, Tree};
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
    /// // The barrier lies between two layers of this tree, so the price differs from the closed form.
    /// let price = barrier.price_on_tree(Tree::CoxRossRubinstein, 1000)?;
    /// assert!((price - 6.7924).abs() < 0.5);
    /// assert!((barrier.price_continuous()? - 6.7924).abs() < 5e-5);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Cox, Ross and Rubinstein (1979); Jarrow and Rudd (1983); Leisen and Reimer (1996); Tian
    /// (1993). The counting of paths follows Lyuu (1998), "Very Fast Algorithms for Barrier Option
    /// Pricing and the Ballot Problem". The example is in Haug (2007), 4.17.1.
    pub fn price_on_tree(&self, tree: Tree, n_steps: usize) -> Result<f64> {
        self.validate()?;
        let n = steps(tree, n_steps)?;
        if self.is_hit_today() {
            return check::result("spot", self.value_hit_today(tree, n)?);
        }
        if is_riskless(&self.option, tree) {
            return check::result("spot", self.value_along_forward(n));
        }
        let lattice = Lattice::new(&self.option, tree, n)?;
        let value = self.value_on(&lattice);
        if tree == Tree::LeisenReimer {
            self.refuse_degenerate(&lattice, value)?;
        }
        check::result("spot", value)
    }

    /// Refuses the value on a tree whose prices hardly move, where the value shows it.
    fn refuse_degenerate(&self, lattice: &Lattice, value: f64) -> Result<()> {
        if lattice.deviation() >= SMALLEST_DEVIATION * self.total_deviation() {
            return Ok(());
        }
        let error = (value - self.price_continuous()?).abs();
        check::require(
            error <= ACCEPTED_ERROR * self.option.spot,
            "strike",
            self.option.strike,
            "nearer to the forward for an LR tree of so few steps, in which the price hardly moves: \
             take more steps, or CRR",
        )
    }

    /// Returns the value where the barrier is hit today: the rebate, or the option on the same tree.
    fn value_hit_today(&self, tree: Tree, n: usize) -> Result<f64> {
        match self.knock {
            Knock::Out => Ok(self.rebate),
            Knock::In if is_riskless(&self.option, tree) => Ok(self.riskless_option().value()),
            Knock::In => Ok(european_value(&Lattice::new(&self.option, tree, n)?, &self.option)),
        }
    }

    /// Returns the option without risk, whose value is that of exercising its forward.
    fn riskless_option(&self) -> EuropeanOption {
        EuropeanOption { volatility: 0.0, ..self.option }
    }

    /// The value on a tree whose start the barrier does not touch.
    fn value_on(&self, lattice: &Lattice) -> f64 {
        match (lattice.tree, self.knock) {
            (Tree::CoxRossRubinstein, _) => {
                self.value_at_layer(lattice, edge::layer_at(self.depth(), lattice.up) as usize)
            }
            (_, Knock::Out) => self.paths(lattice, Knock::Out) + self.rebates(lattice),
            (_, Knock::In) => self.paths(lattice, Knock::In),
        }
    }

    /// The value on a CRR tree with a layer of it as the barrier.
    fn value_at_layer(&self, lattice: &Lattice, layer: usize) -> f64 {
        let (oriented, payoff) = self.oriented(lattice);
        let reflection = Reflection::new(&oriented, layer);
        if self.knock == Knock::In {
            return payoff.unit * reflection.touched(&payoff);
        }
        let survivors = payoff.unit * reflection.untouched(&payoff);
        if self.rebate == 0.0 {
            return survivors;
        }
        let cash = OrientedLattice::new(lattice, lattice.cash, self.direction);
        let touch = Reflection::new(&cash, layer)
            .discounted_touch(self.option.risk_free_rate, self.step(lattice));
        survivors + self.rebate * touch
    }

    /// The value of the paths that touch the barrier, or of those that never do, by induction.
    fn paths(&self, lattice: &Lattice, knock: Knock) -> f64 {
        let (oriented, payoff) = self.oriented(lattice);
        let n = oriented.steps;
        let edge = Edge::at_depth(&oriented, lattice.tree, self.depth());
        let (from, to) = payoff.paying(&oriented);
        let end = |j| payoff.at(oriented.height(n, j));
        let induction = |ends| AbsorbingInduction { lattice: &oriented, edge: &edge, ends };
        payoff.unit
            * match knock {
                Knock::Out => induction((from.max(edge.nodes_beyond(n)), to)).run(end, |_| 0.0),
                Knock::In => induction((from, to)).run_touching(end),
            }
    }

    /// Returns the present value of the rebate, by backward induction.
    fn rebates(&self, lattice: &Lattice) -> f64 {
        if self.rebate == 0.0 {
            return 0.0;
        }
        let oriented = OrientedLattice::new(lattice, lattice.cash, self.direction);
        let edge = Edge::at_depth(&oriented, lattice.tree, self.depth());
        let ends = (0, edge.nodes_beyond(oriented.steps));
        let (rate, step) = (self.option.risk_free_rate, self.step(lattice));
        let paid = |i| libm::exp(-rate * (i as f64 * step));
        let induction = AbsorbingInduction { lattice: &oriented, edge: &edge, ends };
        self.rebate * induction.run(|_| 0.0, paid)
    }

    /// The lattice turned to the barrier in the payoff's numeraire, and the payoff.
    fn oriented(&self, lattice: &Lattice) -> (OrientedLattice, Payoff) {
        let odds = match self.option.option_type {
            OptionType::Call => lattice.shares,
            OptionType::Put => lattice.cash,
        };
        let oriented = OrientedLattice::new(lattice, odds, self.direction);
        (oriented, Payoff::new(&self.option, self.direction, &oriented))
    }

    /// Returns the length of one step, in years.
    fn step(&self, lattice: &Lattice) -> f64 {
        self.option.time_to_maturity / lattice.steps as f64
    }

    /// The logarithmic distance of the barrier from the spot.
    fn depth(&self) -> f64 {
        self.log_barrier().abs()
    }

    /// Returns the value where the price moves along its forward, monitored at every step.
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

    /// The first of `n` steps at which the forward has come as far as the barrier; `None` where the
    /// forward does not reach the barrier.
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
}

/// The standard deviation of a tree's log price, as a part of that of the option, below which the tree
/// is degenerate.
const SMALLEST_DEVIATION: f64 = 0.5;

/// The accepted error of a degenerate tree against the closed form, as a part of the spot.
const ACCEPTED_ERROR: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::pricing::lattice::oriented::Direction;
    use proptest::prelude::*;

    const TREES: [Tree; 4] =
        [Tree::CoxRossRubinstein, Tree::JarrowRudd, Tree::LeisenReimer, Tree::Tian];

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

    fn on_tree(option: &BarrierOption, tree: Tree, n_steps: usize) -> f64 {
        option.price_on_tree(tree, n_steps).unwrap()
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
        assert!((on_tree(&option, Tree::CoxRossRubinstein, 2) - survivors - rebate).abs() < 1e-13);
    }

    #[test]
    fn touching_is_hitting_and_is_decided_by_layer() {
        // The barrier on the fourth layer below, in every way to compute it, and beside it.
        let mut option = down_and_out();
        let (n, layers) = (100, 4.0);
        let step: f64 = 0.25 * (0.5_f64 / 100.0).sqrt();
        let on = 100.0 * libm::exp(-layers * step);
        option.barrier = 100.0 * libm::exp(-layers * step * (1.0 + 1e-9));
        let beyond = on_tree(&option, Tree::CoxRossRubinstein, n);
        for barrier in
            [on, 100.0 / libm::pow(libm::exp(step), layers), on * (1.0 - 4e-16), on * (1.0 + 4e-16)]
        {
            option.barrier = barrier;
            let touching = on_tree(&option, Tree::CoxRossRubinstein, n);
            option.barrier = 100.0 * libm::exp(-layers * step * (1.0 - 1e-9));
            assert_eq!(touching, on_tree(&option, Tree::CoxRossRubinstein, n));
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
                let hit_in = BarrierOption { knock: Knock::In, ..out };
                let never = BarrierOption { barrier: 1e-9, rebate: 0.0, ..down_and_out() };
                assert_eq!(out.price_on_tree(tree, 50), Ok(3.0));
                let vanilla = hit_in.price_on_tree(tree, 50).unwrap();
                assert!((vanilla - on_tree(&never, tree, 50)).abs() < 1e-13);
                assert_eq!(out.price_continuous(), Ok(3.0));
                assert_eq!(hit_in.price_continuous(), hit_in.option.price());
            }
        }
    }

    #[test]
    fn an_even_count_takes_one_more_step_on_the_leisen_reimer_tree_alone() {
        for tree in TREES {
            let same = on_tree(&down_and_out(), tree, 100) == on_tree(&down_and_out(), tree, 101);
            assert_eq!(same, tree == Tree::LeisenReimer);
        }
    }

    #[test]
    fn a_leisen_reimer_tree_far_from_its_strike_is_refused_by_name() {
        // |d₂| is 58: hardly any path of the degenerate tree would come from 100 to the barrier at 99.
        let mut option = down_and_out();
        option.option.option_type = OptionType::Put;
        (option.option.risk_free_rate, option.option.dividend_yield) = (0.0, 0.0);
        (option.option.strike, option.option.volatility) = (250.0, 0.05);
        (option.option.time_to_maturity, option.barrier, option.rebate) = (0.1, 99.0, 0.0);
        for knock in [Knock::Out, Knock::In] {
            option.knock = knock;
            let refused = option.price_on_tree(Tree::LeisenReimer, 1000).unwrap_err();
            assert_eq!((refused.code(), refused.argument()), ("domain", Some("strike")));
            assert!(refused.to_string().ends_with("or CRR"), "{refused}");
            assert!(option.price_on_tree(Tree::CoxRossRubinstein, 1000).is_ok());
        }
        // Hit at the start, and without risk, there is nothing to degenerate.
        let hit = BarrierOption { barrier: 101.0, rebate: 2.0, knock: Knock::Out, ..option };
        assert_eq!(hit.price_on_tree(Tree::LeisenReimer, 1000), Ok(2.0));
        // With steps enough the tree is no longer degenerate, and less and less wrong.
        option.knock = Knock::Out;
        let error = |n| {
            let expected = option.price_on_tree(Tree::CoxRossRubinstein, n).unwrap();
            (option.price_on_tree(Tree::LeisenReimer, n).unwrap() - expected).abs()
        };
        assert!(error(100_001) < 3.0 && error(100_001) < error(10_001) / 2.0);
    }

    #[test]
    fn a_barrier_that_no_path_touches_knocks_nothing_in() {
        // Ten up moves lead to about 100·e^{10·0.25·√0.05} = 175.
        for tree in TREES {
            for option_type in [OptionType::Call, OptionType::Put] {
                for (direction, barrier) in [(Direction::Up, 200.0), (Direction::Down, 50.0)] {
                    for n in [10, 11, 50] {
                        let mut option =
                            BarrierOption { direction, knock: Knock::In, ..down_and_out() };
                        option.option.option_type = option_type;
                        option.barrier = if n == 50 { barrier * barrier / 100.0 } else { barrier };
                        assert_eq!(on_tree(&option, tree, n).to_bits(), 0, "{tree} {option:?} {n}");
                    }
                }
            }
        }
    }

    #[test]
    fn impossible_counts_are_refused() {
        for tree in TREES {
            let none = down_and_out().price_on_tree(tree, 0);
            assert_eq!(none, Err(Error::TooFew { argument: "n_steps", needed: 1, found: 0 }));
            let many = down_and_out().price_on_tree(tree, 1_000_001).unwrap_err();
            assert_eq!((many.code(), many.argument()), ("domain", Some("n_steps")));
        }
    }

    #[test]
    fn a_crr_tree_with_impossible_odds_names_the_steps_that_it_needs() {
        let mut option = down_and_out();
        (option.option.risk_free_rate, option.option.volatility) = (0.5, 0.02);
        // Δt ≤ (σ/(r − q))², so n ≥ 0.5 · (0.46/0.02)² = 264.5.
        let refused = option.price_on_tree(Tree::CoxRossRubinstein, 100);
        assert_eq!(refused, Err(Error::TooFew { argument: "n_steps", needed: 265, found: 100 }));
        assert!(option.price_on_tree(Tree::CoxRossRubinstein, 264).is_err());
        assert!(option.price_on_tree(Tree::CoxRossRubinstein, 265).is_ok());
        option.option.volatility = 1e-6;
        let refused = option.price_on_tree(Tree::CoxRossRubinstein, 100).unwrap_err();
        assert_eq!((refused.code(), refused.argument()), ("domain", Some("volatility")));
    }

    #[test]
    fn without_risk_the_price_follows_its_forward_on_every_tree() {
        for tree in TREES {
            let mut option = down_and_out();
            option.option.volatility = 0.0;
            assert_eq!(on_tree(&option, tree, 10), option.option.price().unwrap());
            // The forward reaches 101 after ln(1.01)/0.04 = 0.2488 years: the fifth of ten steps.
            (option.direction, option.barrier) = (Direction::Up, 101.0);
            assert!(
                (on_tree(&option, tree, 10) - 3.0 * libm::exp(-0.08 * 0.25)).abs() < 1e-14
                    || tree == Tree::LeisenReimer
            );
            option.knock = Knock::In;
            assert_eq!(on_tree(&option, tree, 10), option.option.price().unwrap());
            option.option.time_to_maturity = 0.0;
            assert_eq!(on_tree(&option, tree, 10), 0.0);
            option.option.spot = 0.0;
            assert_eq!(on_tree(&option, tree, 10), 0.0);
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
                    match option.price_on_tree(tree, n) {
                        Ok(price) => assert!((0.0..=1e301).contains(&price), "{tree:?} {option:?}"),
                        Err(refused) => {
                            let expected = match tree {
                                Tree::CoxRossRubinstein => ("too_few", Some("n_steps")),
                                _ => ("domain", Some("strike")),
                            };
                            assert_eq!((refused.code(), refused.argument()), expected);
                            assert!(matches!(tree, Tree::CoxRossRubinstein | Tree::LeisenReimer));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_tree_with_a_layer_on_the_barrier_converges_to_the_closed_form() {
        use Direction::{Down, Up};
        use OptionType::{Call, Put};
        const STEPS: usize = 20_000;
        /// In money, on a spot of 100: the error of a tree of so many steps is of the order 1/n.
        const TOLERANCE: f64 = 1e-3;
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
            // The barrier is moved to the nearest layer of the tree.
            let step = volatility * (time_to_maturity / STEPS as f64).sqrt();
            let layer = (libm::log(barrier / 100.0) / step).round();
            let barrier = 100.0 * libm::exp(layer * step);
            for knock in [Knock::Out, Knock::In] {
                let option = BarrierOption { option, barrier, direction, knock, rebate };
                let expected = option.price_continuous().unwrap();
                let got = on_tree(&option, Tree::CoxRossRubinstein, STEPS);
                assert!(
                    (got - expected).abs() <= TOLERANCE,
                    "{option:?}: got {got}, expected {expected}"
                );
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
            let expected = option.price_continuous().unwrap();
            assert!((on_tree(&option, Tree::CoxRossRubinstein, 100_000) - expected).abs() < 1e-4);
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
            let knock_in = BarrierOption { knock: Knock::In, rebate: 7.0, ..out };
            let (direction, barrier) = (Direction::Down, 0.0);
            let vanilla = BarrierOption { direction, barrier, ..out };
            let sum = on_tree(&out, tree, n) + on_tree(&knock_in, tree, n);
            prop_assert!((sum - on_tree(&vanilla, tree, n)).abs() <= 1e-12 * (1.0 + sum));
        }
    }
}

//! Options: closed forms and trees.

#![no_main]

use libfuzzer_sys::{
    arbitrary::{self, Arbitrary},
    fuzz_target,
};
use quant_core::pricing::{
    american,
    bachelier::NormalOption,
    barrier::{BarrierOption, Direction, Knock},
    batch,
    binomial::{self, Exercise, Tree},
    black_scholes::{EuropeanOption, OptionType},
    black76::ForwardOption,
    garman_kohlhagen::CurrencyOption,
    implied_volatility::QuotedOption,
    kirk::SpreadOption,
    margrabe::ExchangeOption,
    normal,
    rate_option::{Caplet, Swaption},
};
use quant_fuzz::{Number, check, one};

const TREES: [Tree; 4] =
    [Tree::CoxRossRubinstein, Tree::JarrowRudd, Tree::LeisenReimer, Tree::Tian];

#[derive(Arbitrary, Debug)]
struct Drawn {
    is_call: bool,
    market: [Number; 8],
    tree: u8,
    n_steps: u16,
    is_up: bool,
    is_out: bool,
}

fuzz_target!(|drawn: Drawn| {
    let [spot, strike, time_to_maturity, rate, dividend_yield, volatility, barrier, rebate] =
        drawn.market.map(|number| number.0);
    let option = EuropeanOption {
        option_type: if drawn.is_call { OptionType::Call } else { OptionType::Put },
        spot,
        strike,
        time_to_maturity,
        risk_free_rate: rate,
        dividend_yield,
        volatility,
    };
    let price = option.price();
    check(&price);
    check(&option.greeks());
    check(&option.explain_price());
    check(&option.explain_greeks());
    let mut prices = [0.0; 33];
    let priced = batch::prices(&vec![option; 33], &mut prices);
    if let (Ok(()), Ok(price)) = (&priced, &price) {
        assert!(
            prices.iter().all(|found| found.to_bits() == price.to_bits()),
            "{prices:?} {price}"
        );
    }
    assert_eq!(priced.is_ok(), price.is_ok());
    // Any number as the price, and one that some volatility gives.
    for price in [rebate, price.unwrap_or(barrier)] {
        let option = QuotedOption {
            option_type: option.option_type,
            spot,
            strike,
            risk_free_rate: rate,
            dividend_yield,
            price,
            time_to_maturity,
        };
        check(&option.implied_volatility());
        check(&option.explain());
    }
    // More steps take longer and execute the same code.
    let (tree, n_steps) = (one(&TREES, drawn.tree), usize::from(drawn.n_steps) % 600);
    for exercise in [Exercise::European, Exercise::American] {
        check(&binomial::price(&option, exercise, tree, n_steps));
    }
    check(&american::evaluate(&option, tree, n_steps));
    check(&american::evaluate_on_dates(&option, tree, n_steps, &[barrier, rebate]));
    check(&american::explain(&option, tree, n_steps));
    check(&american::explain_on_dates(&option, tree, n_steps, &[barrier, rebate]));
    check(&option.digital());
    check(&option.explain_digital());
    faces(&option, barrier, rebate);
    let barrier = BarrierOption {
        option,
        barrier,
        direction: if drawn.is_up { Direction::Up } else { Direction::Down },
        knock: if drawn.is_out { Knock::Out } else { Knock::In },
        rebate,
    };
    check(&barrier.price_continuous());
    check(&barrier.price_discrete(n_steps));
    check(&barrier.price_on_tree(tree, n_steps));
    check(&barrier.explain_price_on_tree(tree, n_steps));
    check(&barrier.explain_price_continuous());
    let exchange = ExchangeOption {
        spot1: spot,
        spot2: strike,
        dividend_yield1: rate,
        dividend_yield2: dividend_yield,
        volatility1: volatility,
        volatility2: rebate,
        correlation: barrier.barrier,
        time_to_maturity,
    };
    check(&exchange.prices());
    check(&exchange.deltas());
    check(&exchange.explain_prices());
    for value in [normal::probability(spot), normal::density(spot), normal::mills_ratio(spot)] {
        check(&value);
        assert!(value.is_err() || value.is_ok_and(|value| value >= 0.0), "at {spot}");
    }
});

/// The options on forwards, rates and currencies with the same numbers.
fn faces(option: &EuropeanOption, first: f64, second: f64) {
    let EuropeanOption { option_type, spot, strike, volatility, time_to_maturity, .. } = *option;
    let (risk_free_rate, foreign_rate) = (option.risk_free_rate, option.dividend_yield);
    let forward = ForwardOption {
        option_type,
        forward: spot,
        strike,
        risk_free_rate,
        volatility,
        time_to_maturity,
    };
    let price = forward.price();
    check(&price);
    check(&forward.greeks());
    check(&forward.explain_price());
    check(&forward.explain_greeks());
    let normal = NormalOption {
        option_type,
        forward: spot,
        strike,
        risk_free_rate,
        normal_volatility: volatility,
        time_to_maturity,
    };
    let normal_price = normal.price();
    check(&normal_price);
    check(&normal.greeks());
    check(&normal.explain_price());
    check(&normal.explain_greeks());
    for price in [first, price.unwrap_or(second), normal_price.unwrap_or(second)] {
        check(&forward.implied_volatility(price));
        check(&normal.implied_volatility(price));
        check(&forward.explain_implied_volatility(price));
        check(&normal.explain_implied_volatility(price));
    }
    let caplet = Caplet {
        option_type,
        forward_rate: spot,
        strike,
        discount_factor: first,
        volatility,
        start_time: time_to_maturity,
        end_time: second,
        notional: foreign_rate,
    };
    check(&caplet.value());
    check(&caplet.explain());
    let swaption = Swaption {
        option_type,
        forward_swap_rate: spot,
        strike,
        annuity: first,
        volatility,
        time_to_expiry: time_to_maturity,
        notional: second,
    };
    check(&swaption.value());
    check(&swaption.explain());
    let spread = SpreadOption {
        option_type,
        forward1: spot,
        forward2: strike,
        strike: first,
        risk_free_rate,
        volatility1: volatility,
        volatility2: second,
        correlation: foreign_rate,
        time_to_maturity,
    };
    check(&spread.value());
    check(&spread.explain());
    let currency = CurrencyOption {
        option_type,
        spot,
        strike,
        domestic_rate: risk_free_rate,
        foreign_rate,
        volatility,
        time_to_expiry: time_to_maturity,
    };
    check(&currency.price());
    check(&currency.forward());
    check(&currency.greeks());
    check(&currency.explain());
}

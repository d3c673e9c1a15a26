//! A first price: a European call, the barrier option beside it, and what a fault looks like.
//!
//! `cargo run -p quant-examples --example price_option`

use quant_core::{
    Error,
    pricing::{
        barrier::{BarrierOption, Direction, Knock, Tree},
        black_scholes::{EuropeanOption, OptionType},
    },
};

fn main() -> Result<(), Error> {
    let call = EuropeanOption {
        option_type: OptionType::Call,
        spot: 100.0,
        strike: 100.0,
        risk_free_rate: 0.05,
        dividend_yield: 0.02,
        volatility: 0.25,
        time_to_maturity: 1.0,
    };
    println!("European call                     {:>9.6}", call.price()?);

    let knocked_out = BarrierOption {
        option: call,
        barrier: 85.0,
        direction: Direction::Down,
        knock: Knock::Out,
        rebate: 0.0,
    };
    for n_steps in [100, 1_000, 10_000] {
        let price = knocked_out.price_on_tree(Tree::CoxRossRubinstein, n_steps)?;
        println!("down-and-out, CRR, {n_steps:>6} steps   {price:>9.6}");
    }

    let fault = EuropeanOption { volatility: -0.2, ..call }.price();
    println!("a negative volatility             {}", fault.expect_err("it is refused"));
    Ok(())
}

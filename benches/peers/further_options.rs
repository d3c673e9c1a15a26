//! The options, under the paths of their endpoints.

use std::hint::black_box;

use quant_core::pricing::{
    Caplet, CurrencyOption, EuropeanOption, ForwardOption, NormalOption, OptionType, QuotedOption,
    SpreadOption, Swaption, Tree, american,
};

use crate::{itself, ours};

/// Measures every one of them.
pub fn options() {
    european();
    forwards();
    rates();
    rest_of_options();
}

/// The call of the first examples: 100 at 105, 5 %, 2 %, 25 %, a year.
fn call() -> EuropeanOption {
    EuropeanOption {
        option_type: OptionType::Call,
        spot: 100.0,
        strike: 105.0,
        risk_free_rate: 0.05,
        dividend_yield: 0.02,
        volatility: 0.25,
        time_to_maturity: 1.0,
    }
}

fn european() {
    let option = call();
    let greeks = || black_box(&option).greeks().expect("valid");
    ours("/quantlib/pricing/bs/greeks", greeks, |found| found.gamma);
    ours("/quantlib/pricing/bs/greeks-full", greeks, |found| found.vanna);
    let quoted = QuotedOption {
        option_type: option.option_type,
        spot: option.spot,
        strike: option.strike,
        risk_free_rate: option.risk_free_rate,
        dividend_yield: option.dividend_yield,
        price: 9.0,
        time_to_maturity: option.time_to_maturity,
    };
    let implied = || black_box(&quoted).implied_volatility().expect("valid");
    ours("/quantlib/pricing/bs/implied-vol", implied, itself);
    let digital = || black_box(&option).digital().expect("valid");
    ours("/quantlib/pricing/bs/digital-call", digital, |found| found.cash_or_nothing);
    let put = EuropeanOption { option_type: OptionType::Put, ..option };
    let digital = || black_box(&put).digital().expect("valid");
    ours("/quantlib/pricing/bs/digital-put", digital, |found| found.cash_or_nothing);
}

fn forwards() {
    let option = ForwardOption {
        option_type: OptionType::Call,
        forward: 100.0,
        strike: 105.0,
        risk_free_rate: 0.05,
        volatility: 0.2,
        time_to_maturity: 1.0,
    };
    let path = |name: &str| format!("/quantlib/pricing/black76/{name}");
    ours(&path("price"), || black_box(&option).price().expect("valid"), itself);
    ours(&path("greeks"), || black_box(&option).greeks().expect("valid"), |found| found.gamma);
    let implied = || black_box(&option).implied_volatility(6.0).expect("valid");
    ours(&path("implied-vol"), implied, itself);
    let option = NormalOption {
        option_type: OptionType::Call,
        forward: 100.0,
        strike: 105.0,
        risk_free_rate: 0.05,
        normal_volatility: 20.0,
        time_to_maturity: 1.0,
    };
    let path = |name: &str| format!("/quantlib/pricing/bachelier/{name}");
    ours(&path("price"), || black_box(&option).price().expect("valid"), itself);
    ours(&path("greeks"), || black_box(&option).greeks().expect("valid"), |found| found.gamma);
    let implied = || black_box(&option).implied_volatility(6.0).expect("valid");
    ours(&path("implied-vol"), implied, itself);
}

fn rates() {
    let caplet = |option_type| Caplet {
        option_type,
        forward_rate: 0.05,
        strike: 0.048,
        discount_factor: 0.95,
        volatility: 0.2,
        start_time: 1.0,
        end_time: 1.25,
        notional: 1e6,
    };
    let (cap, floor) = (caplet(OptionType::Call), caplet(OptionType::Put));
    let path = |name: &str| format!("/quantlib/pricing/black76/{name}");
    ours(&path("caplet"), || black_box(&cap).value().expect("valid"), |found| found.price);
    ours(&path("floorlet"), || black_box(&floor).value().expect("valid"), |found| found.price);
    let swaption = Swaption {
        option_type: OptionType::Call,
        forward_swap_rate: 0.04,
        strike: 0.042,
        annuity: 4.3,
        volatility: 0.25,
        time_to_expiry: 2.0,
        notional: 1e6,
    };
    ours(&path("swaption"), || black_box(&swaption).value().expect("valid"), |found| found.price);
}

fn rest_of_options() {
    let put = EuropeanOption { option_type: OptionType::Put, ..call() };
    // With 501 steps QuantLib leaves out the payoff at expiry, by the rounding of its times.
    let (tree, steps) = (Tree::LeisenReimer, 601);
    let american = || american::evaluate(black_box(&put), tree, steps).expect("valid");
    ours("/quantlib/pricing/binomial/american", american, |found| found.price);
    let times = [2.0, 5.0, 8.0].map(|months| months / 12.0);
    let bermudan = || american::evaluate_on_dates(black_box(&put), tree, steps, &times);
    let bermudan = || bermudan().expect("valid");
    ours("/quantlib/pricing/binomial/bermudan", bermudan, |found| found.price);
    let currency = CurrencyOption {
        option_type: OptionType::Call,
        spot: 1.56,
        strike: 1.6,
        domestic_rate: 0.06,
        foreign_rate: 0.08,
        volatility: 0.12,
        time_to_expiry: 0.5,
    };
    let path = "/quantlib/instruments/fx/garman-kohlhagen";
    ours(path, || black_box(&currency).greeks().expect("valid"), |found| found.greeks.price);
    let spread = SpreadOption {
        option_type: OptionType::Call,
        forward1: 100.0,
        forward2: 95.0,
        strike: 5.0,
        risk_free_rate: 0.05,
        volatility1: 0.2,
        volatility2: 0.18,
        correlation: 0.7,
        time_to_maturity: 1.0,
    };
    let value = || black_box(&spread).value().expect("valid");
    ours("/quantlib/pricing/kirk/spread-price", value, |found| found.price + found.exact_price);
}

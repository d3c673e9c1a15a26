//! Capital ratios.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quant_core::regulatory::capital_ratios::Capital;
use quant_fuzz::{Number, check};

fuzz_target!(|drawn: ([Number; 4], Option<Number>)| {
    let ([cet1_capital, tier1_capital, total_capital, risk_weighted_assets], exposure) = drawn;
    let capital = Capital {
        cet1_capital: cet1_capital.0,
        tier1_capital: tier1_capital.0,
        total_capital: total_capital.0,
        risk_weighted_assets: risk_weighted_assets.0,
        total_exposure: exposure.map(|number| number.0),
    };
    check(&capital.ratios());
    check(&capital.surplus());
    check(&capital.explain_ratios());
});

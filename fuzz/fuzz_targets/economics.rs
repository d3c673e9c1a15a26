//! Demand and utility.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quant_core::economics::{ces::Ces, cobb_douglas::CobbDouglas};
use quant_fuzz::{Number, check};

fuzz_target!(|drawn: [Number; 6]| {
    let [first, second, third, income, price, other_price] = drawn.map(|number| number.0);
    let prices = [price, other_price];
    let douglas = CobbDouglas { alpha: first, income, prices };
    check(&douglas.optimum());
    check(&douglas.explain());
    let ces = Ces { rho: first, weights: [second, third], income, prices };
    check(&ces.optimum());
    check(&ces.explain());
});

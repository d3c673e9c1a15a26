//! Finite differences.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quant_core::numerical::derivative::{Function, Scheme, derivative, explain_derivative};
use quant_fuzz::{Number, check, one};

const FUNCTIONS: [Function; 8] = [
    Function::Exp,
    Function::Log,
    Function::Sin,
    Function::Cos,
    Function::Sqrt,
    Function::Tan,
    Function::Square,
    Function::Cube,
];
const SCHEMES: [Scheme; 3] = [Scheme::Central, Scheme::Forward, Scheme::Backward];

fuzz_target!(|drawn: (u8, u8, Number, Number)| {
    let (function, scheme, x, h) = drawn;
    let (function, scheme) = (one(&FUNCTIONS, function), one(&SCHEMES, scheme));
    check(&derivative(function, x.0, h.0, scheme));
    check(&explain_derivative(function, x.0, h.0, scheme));
});

//! Solutions of equations: rates, spreads and payments.

pub mod finance;

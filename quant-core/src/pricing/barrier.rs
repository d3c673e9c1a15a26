//! Barrier options: on binomial trees, and in closed form under continuous or discrete monitoring.
//!
//! | monitoring of the barrier | method | cost |
//! |---|---|---|
//! | at every step of a CRR tree | paths counted by the reflection principle | n |
//! | at every step of a JR, LR or TIAN tree | backward induction over the nodes near the likely paths | n^1.5 |
//! | continuous | [`BarrierOption::price_continuous`], closed form | 1 |
//! | on some dates | [`BarrierOption::price_discrete`], an approximation | 1 |
//!
//! On a tree the barrier is monitored at every step, today and expiry included, and a price equal to
//! the barrier hits it. A layer of nodes within a relative 1e-12 of the barrier counts as lying on
//! it, so that rounding does not decide.
//!
//! Not modelled: double barriers, windows, rebates paid at expiry, early exercise.

mod continuous;
mod discrete;
mod edge;
mod explanation;
mod induction;
mod on_tree;
mod option;
#[cfg(test)]
mod reference;
mod reflection;

pub use super::lattice::oriented::Direction;
pub use super::lattice::tree::{MAX_STEPS, Tree};
pub use option::{BarrierOption, Knock};

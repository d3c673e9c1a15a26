//! Recombining binomial trees, which European, American and barrier options share.
//!
//! | module | content |
//! |---|---|
//! | [`tree`] | the choice of tree and its number of steps |
//! | [`moves`] | the moves and probabilities of one step |
//! | [`oriented`] | the tree with its barrier or exercise region below, and the payoff on it |
//! | [`band`] | the nodes near the likely paths, and one step of backward induction |
//! | [`paths`] | the probabilities of the terminal nodes |

pub(super) mod band;
pub(super) mod moves;
pub(super) mod oriented;
pub(super) mod paths;
pub(super) mod tree;

//! Information in distributions and between time series.
//!
//! Entropies are plug-in values: the frequencies that were counted or given stand for the
//! probabilities, without a correction for the bias of short samples.
//!
//! Not modelled: continuous (differential) entropies, nearest-neighbour estimates, significance.

pub mod shannon;
pub mod transfer;
mod unit;

pub use shannon::shannon_entropy;
pub use transfer::{TransferEntropies, transfer_entropies, transfer_entropy};
pub use unit::InformationUnit;

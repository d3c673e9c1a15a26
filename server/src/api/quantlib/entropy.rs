//! Information theory.

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    entropy::{
        InformationUnit,
        shannon::{explain_shannon_entropy, shannon_entropy},
        transfer::{explain_transfer_entropy, transfer_entropies, transfer_entropy},
    },
    explanation::Explanation,
};

use super::{Computation, example_answer};
use crate::http::{Answer, Metered, Numbers, Tag};

/// The number of points or outcomes above which a computation may take over a millisecond.
const LONG_FROM_NUMBERS: usize = 10_000;

/// The REST endpoints of entropies.
#[derive(Default)]
pub struct Entropy;

#[OpenApi(prefix_path = "/quantlib/physics/entropy", tag = "Tag::Entropy")]
impl Entropy {
    /// Measure the transfer entropy between two series.
    ///
    /// `I(y_t ; x_(t-lag) | y_(t-lag))` in nats: the information about Y in the past of X beyond
    /// that in the past of Y. Equal-width bins, plug-in estimate, no bias correction.
    #[oai(path = "/transfer", method = "post", operation_id = "measure_transfer_entropy")]
    async fn transfer(&self, call: Metered<Transfer>) -> Result<Answer<TransferValue>> {
        call.run().await
    }

    /// Measure the Shannon entropy of a distribution.
    ///
    /// `H = -sum p log p`, with `0 log 0 = 0`.
    #[oai(path = "/shannon", method = "post", operation_id = "measure_shannon_entropy")]
    async fn shannon(&self, call: Metered<Shannon>) -> Result<Answer<ShannonValue>> {
        call.run().await
    }
}

/// The unit of an entropy, by the base of its logarithm: bits for 2, trits for 3, nats for e, hartleys
/// for 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase", remote = "InformationUnit")]
pub enum EntropyUnit {
    /// Of the base 2.
    Bits,
    /// Of the base 3.
    Trits,
    /// Of the base e.
    Nats,
    /// Of the base 10.
    Hartleys,
    /// Of a base whose unit has no name.
    #[oai(rename = "units of the base")]
    Unnamed,
}

/// Two series of the same length.
#[derive(Clone, Debug, Object)]
#[oai(rename = "TransferEntropyRequest", example)]
pub struct Transfer {
    /// The source series, in the order of time; at most 100,000 points.
    #[oai(validator(max_items = 100_000))]
    pub x_history: Numbers,
    /// The target series, as long as the source.
    #[oai(validator(max_items = 100_000))]
    pub y_history: Numbers,
    /// The lag in steps; 1 to 100,000.
    #[oai(default = "one", validator(minimum(value = "1"), maximum(value = "100000")))]
    pub lag: u32,
    /// Number of equal-width bins for each series; 1 to 1,000.
    #[oai(default = "ten", validator(minimum(value = "1"), maximum(value = "1000")))]
    pub n_bins: u32,
}

/// The transfer entropy from X to Y.
#[derive(Clone, Debug, Object)]
#[oai(rename = "TransferEntropy", example)]
pub struct TransferValue {
    /// Transfer entropy in nats; never negative.
    pub transfer_entropy: f64,
    /// The lag in steps.
    pub lag: u32,
    /// The unit of both entropies, `nats`. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub unit: Option<EntropyUnit>,
    /// Transfer entropy from Y to X in nats. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub reverse_transfer_entropy: Option<f64>,
    /// The number of triples of values that each direction counts. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub triples: Option<u64>,
}

impl Computation for Transfer {
    type Answer = TransferValue;

    const HAS_FURTHER_FIELDS: bool = true;

    fn compute(&self) -> quant_core::Result<TransferValue> {
        let (lag, bins) = (self.lag as usize, self.n_bins as usize);
        let transfer_entropy = transfer_entropy(&self.x_history, &self.y_history, lag, bins)?;
        Ok(TransferValue {
            transfer_entropy,
            lag: self.lag,
            unit: None,
            reverse_transfer_entropy: None,
            triples: None,
        })
    }

    fn compute_in_full(&self) -> quant_core::Result<TransferValue> {
        let (lag, bins) = (self.lag as usize, self.n_bins as usize);
        let found = transfer_entropies(&self.x_history, &self.y_history, lag, bins)?;
        Ok(TransferValue {
            transfer_entropy: found.forward,
            lag: self.lag,
            unit: Some(EntropyUnit::Nats),
            reverse_transfer_entropy: Some(found.reverse),
            triples: Some(found.triples as u64),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let (lag, bins) = (self.lag as usize, self.n_bins as usize);
        explain_transfer_entropy(&self.x_history, &self.y_history, lag, bins)
    }

    fn is_long(&self) -> bool {
        self.x_history.len() > LONG_FROM_NUMBERS
    }
}

/// A discrete distribution.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ShannonEntropyRequest", example)]
pub struct Shannon {
    /// Probability of each outcome, from 0 to 1, summing to 1 within 1e-6; at most 1,000,000.
    #[oai(validator(
        min_items = 1,
        max_items = 1_000_000,
        minimum(value = "0"),
        maximum(value = "1")
    ))]
    pub probabilities: Numbers,
    /// Base of the logarithm; positive and not 1. The default is e, for an answer in nats.
    #[oai(default = "e", validator(minimum(value = "0", exclusive)))]
    pub base: f64,
}

/// The entropy of a distribution.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ShannonEntropy", example)]
pub struct ShannonValue {
    /// Entropy, in units of the base: bits for 2, nats for e.
    pub shannon_entropy: f64,
    /// Base of the logarithm.
    pub base: f64,
    /// The unit of the entropy, by its base. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub unit: Option<EntropyUnit>,
}

impl Computation for Shannon {
    type Answer = ShannonValue;

    const HAS_FURTHER_FIELDS: bool = true;

    fn compute(&self) -> quant_core::Result<ShannonValue> {
        let shannon_entropy = shannon_entropy(&self.probabilities, self.base)?;
        Ok(ShannonValue { shannon_entropy, base: self.base, unit: None })
    }

    fn compute_in_full(&self) -> quant_core::Result<ShannonValue> {
        let unit = InformationUnit::of_base(self.base).into();
        Ok(ShannonValue { unit: Some(unit), ..self.compute()? })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        explain_shannon_entropy(&self.probabilities, self.base)
    }

    fn is_long(&self) -> bool {
        self.probabilities.len() > LONG_FROM_NUMBERS
    }
}

fn one() -> u32 {
    1
}

fn ten() -> u32 {
    10
}

fn e() -> f64 {
    std::f64::consts::E
}

impl Example for Transfer {
    fn example() -> Self {
        Self {
            // Y repeats X one step later.
            x_history: vec![0.1, 0.9, 0.8, 0.2, 0.7, 0.3, 0.1, 0.9, 0.2, 0.6].into(),
            y_history: vec![0.5, 0.1, 0.9, 0.8, 0.2, 0.7, 0.3, 0.1, 0.9, 0.2].into(),
            lag: 1,
            n_bins: 2,
        }
    }
}

impl Example for TransferValue {
    fn example() -> Self {
        example_answer::<Transfer>()
    }
}

impl Example for Shannon {
    fn example() -> Self {
        Self { probabilities: vec![0.5, 0.25, 0.25].into(), base: 2.0 }
    }
}

impl Example for ShannonValue {
    fn example() -> Self {
        example_answer::<Shannon>()
    }
}

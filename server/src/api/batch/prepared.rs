//! The calls of a batch, checked and not computed.

use super::{
    catalogue::BatchCatalogue,
    request::{BatchCall, NO_OPERATION},
};
use crate::http::{
    AdmittedCall, AnswerOptions, ApiError, ParsedCall,
    validation::{Fault, MOST_FAULTS, Step},
};

/// Counts and checks a call.
///
/// # Errors
///
/// The refusal of the call.
pub(super) async fn prepare(
    call: &AdmittedCall,
    position: usize,
    one: BatchCall,
    options: AnswerOptions,
    catalogue: &BatchCatalogue,
) -> Result<ParsedCall, ApiError> {
    let Some(listed) = catalogue.find(&one.path) else {
        let path = [Step::name("path")];
        return Err(Fault::new(&path, "value_error.path", NO_OPERATION).into());
    };
    listed.call(call, position, one, options).prepare().await
}

/// The faults of the calls of a batch.
#[derive(Default)]
pub(super) struct CallFaults(Vec<Fault>);

impl CallFaults {
    /// Adds the faults of a call, with its position. Any other refusal is returned as an error.
    pub(super) fn add(&mut self, position: usize, refusal: ApiError) -> Result<(), ApiError> {
        let ApiError::Faults(faults) = refusal else { return Err(refusal) };
        let room = MOST_FAULTS.saturating_sub(self.0.len());
        let place = [Step::name("body"), Step::name("calls"), Step::Index(position)];
        self.0.extend(
            faults.into_iter().take(room).map(|fault| Fault {
                loc: place.iter().cloned().chain(fault.loc).collect(),
                ..fault
            }),
        );
        Ok(())
    }

    /// Refuses the request where there is a fault.
    pub(super) fn none(self) -> Result<(), ApiError> {
        if self.0.is_empty() { Ok(()) } else { Err(ApiError::Faults(self.0)) }
    }
}

//! The operations that a batch can call, by their paths.

use std::{collections::HashMap, sync::Arc};

use poem::http::Method;

use super::request::BatchCall;
use crate::{
    api::operations::MeteredOperation,
    http::{AdmittedCall, AnswerOptions, MatchedRoute, OperationCall},
};

/// The metered operations, by path.
pub struct BatchCatalogue {
    by_path: HashMap<Arc<str>, BatchOperation>,
}

/// A metered operation with the method and the route of its single calls.
#[derive(Clone)]
pub struct BatchOperation {
    /// The method.
    pub method: Method,
    /// The route.
    pub route: Arc<MatchedRoute>,
    /// The line of the table of operations.
    pub operation: &'static MeteredOperation,
}

impl BatchOperation {
    /// Returns the call of this operation that has this position in a batch. The limit has counted
    /// the batch as its first call, and a quote as one call.
    pub(super) fn call(
        &self,
        batch: &AdmittedCall,
        position: usize,
        one: BatchCall,
        options: AnswerOptions,
    ) -> OperationCall {
        let is_counted = position == 0 || batch.is_quote_preferred();
        let counted = is_counted.then(|| batch.admission());
        OperationCall {
            evaluator: self.operation.evaluator,
            context: batch.context().of_batch_call(&self.method, self.route.clone(), counted),
            caller: batch.caller().clone(),
            arguments: one.into_arguments(),
            options,
        }
    }
}

impl BatchCatalogue {
    /// Makes the catalogue of these operations.
    ///
    /// # Panics
    ///
    /// Panics where two metered operations have one path, which a call of a batch cannot tell apart.
    #[must_use]
    pub fn new(operations: impl IntoIterator<Item = BatchOperation>) -> Self {
        let mut by_path = HashMap::new();
        for listed in operations {
            let path = listed.route.path.clone();
            let earlier = by_path.insert(path.clone(), listed);
            assert!(earlier.is_none(), "two metered operations have the path {path}");
        }
        Self { by_path }
    }

    /// Returns the operation with this path; `None` for any other path.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&BatchOperation> {
        self.by_path.get(path)
    }
}

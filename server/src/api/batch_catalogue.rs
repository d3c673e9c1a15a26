//! The catalogue of batches, made from the document and the table of operations.

use std::sync::{Arc, LazyLock};

use super::{
    batch::{BatchCatalogue, BatchOperation},
    documented, operations,
};

/// Every metered operation of the document.
pub static CATALOGUE: LazyLock<Arc<BatchCatalogue>> = LazyLock::new(|| {
    let listed = documented::operations().iter().filter_map(|described| {
        let operation = operations::find(described.id)?;
        let (method, route) = (described.method.clone(), described.route.clone());
        Some(BatchOperation { method, route, operation })
    });
    Arc::new(BatchCatalogue::new(listed))
});

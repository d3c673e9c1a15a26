//! The absent MCP endpoint of a program without the feature `mcp`.

use std::sync::Arc;

use poem::endpoint::BoxEndpoint;

use crate::{state::AppState, store::ResultWriter};

pub use WithoutGateway as Gateway;

/// An endpoint without routes.
pub struct WithoutGateway {
    results: ResultWriter,
}

impl WithoutGateway {
    /// Takes the writer of results, which it closes.
    #[must_use]
    pub fn new(_: Arc<AppState>, results: ResultWriter) -> Self {
        Self { results }
    }

    /// Drops nothing.
    pub fn sweep(&self) {}

    /// Closes the writer of results, which has nothing to write.
    pub async fn close(&self) {
        self.results.close().await;
    }
}

/// Returns no route.
pub(super) fn routes(_: &Arc<WithoutGateway>) -> Vec<(&'static str, BoxEndpoint<'static>)> {
    Vec::new()
}

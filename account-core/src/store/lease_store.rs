//! The storage of the limits that several instances share.

use crate::StoreError;
use crate::identity::CallerId;
use crate::limit::lease::{Ask, Lease, ReturnedCalls, SharedWindow};

/// The storage of [`SharedWindow`], which changes a caller's window for one instance at a time.
pub trait LeaseStore: Send + Sync {
    /// Leases calls for an instance: applies [`SharedWindow::lease`] in one transaction.
    fn lease(
        &self,
        caller: CallerId,
        ask: Ask,
    ) -> impl Future<Output = Result<Lease, StoreError>> + Send;

    /// Returns unused leased calls: applies [`SharedWindow::give_back`] in one transaction.
    fn give_back(
        &self,
        caller: CallerId,
        unused: ReturnedCalls,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reads the window of a caller.
    fn shared(
        &self,
        caller: CallerId,
    ) -> impl Future<Output = Result<SharedWindow, StoreError>> + Send;
}

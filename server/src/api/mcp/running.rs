//! The calls in progress, which their clients may cancel.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use account_core::AccountId;

use crate::http::Cancellation;

/// The account, the client and the id of a request: each client counts its own requests.
type CallKey = (AccountId, u64, String);

/// The calls in progress by account, client and id.
#[derive(Default)]
pub(super) struct RunningCalls(Mutex<HashMap<CallKey, Vec<Arc<Cancellation>>>>);

/// A call in progress, which ends with this value.
pub(super) struct RunningCall {
    calls: Arc<RunningCalls>,
    key: CallKey,
    /// The cancellation of the call.
    pub(super) cancellation: Arc<Cancellation>,
}

impl RunningCalls {
    /// Adds a call; `id` is the id of its request as JSON.
    pub(super) fn add(
        self: &Arc<Self>,
        account: AccountId,
        client: u64,
        id: String,
    ) -> RunningCall {
        let key = (account, client, id);
        let cancellation = Arc::new(Cancellation::default());
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.entry(key.clone()).or_default().push(cancellation.clone());
        drop(calls);
        RunningCall { calls: self.clone(), key, cancellation }
    }

    /// Cancels the calls of a client with this id, unless their charge has begun.
    pub(super) fn cancel(&self, account: AccountId, client: u64, id: String) {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for call in calls.get(&(account, client, id)).into_iter().flatten() {
            call.cancel();
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let mut calls = self.calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(same) = calls.get_mut(&self.key) else { return };
        same.retain(|call| !Arc::ptr_eq(call, &self.cancellation));
        if same.is_empty() {
            calls.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_cancelled_by_its_own_client_and_forgotten_at_its_end() {
        let calls = Arc::new(RunningCalls::default());
        let call = |client| calls.add(AccountId(1), client, "7".to_owned());
        let (own, other) = (call(1), call(2));
        calls.cancel(AccountId(2), 1, "7".to_owned());
        calls.cancel(AccountId(1), 1, "8".to_owned());
        calls.cancel(AccountId(1), 1, "7".to_owned());
        assert!(!own.cancellation.cancel(), "it is cancelled");
        assert!(other.cancellation.cancel(), "it was not");
        drop((own, other));
        assert!(calls.0.lock().expect("no panic").is_empty());
    }
}

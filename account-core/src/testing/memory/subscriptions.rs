//! Subscriptions in memory.

use super::{MemoryStore, Stored};
use crate::Timestamp;
use crate::accounts::{Subscription, SubscriptionStore};
use crate::identity::AccountId;

impl SubscriptionStore for MemoryStore {
    async fn subscribe(
        &self,
        account: AccountId,
        database_name: &str,
        now: Timestamp,
    ) -> Stored<Option<Subscription>> {
        let mut state = self.lock();
        let has = |(whose, subscription): &(AccountId, Subscription)| {
            *whose == account && subscription.database_name == database_name
        };
        if state.subscriptions.iter().any(has) {
            return Ok(None);
        }
        state.last_subscription += 1;
        let subscription = Subscription {
            id: state.last_subscription,
            database_name: database_name.to_owned(),
            is_active: true,
            subscribed_at: now,
        };
        state.subscriptions.push((account, subscription.clone()));
        Ok(Some(subscription))
    }

    async fn subscriptions(&self, account: AccountId) -> Stored<Vec<Subscription>> {
        let state = self.lock();
        let own = state.subscriptions.iter().filter(|(whose, _)| *whose == account);
        Ok(own.map(|(_, subscription)| subscription.clone()).collect())
    }
}

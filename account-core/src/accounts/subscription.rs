//! Subscriptions of accounts to databases. Which databases there are is the caller's to know.

use crate::accounts::{Accounts, Store};
use crate::identity::AccountId;
use crate::password::PasswordHasher;
use crate::{Error, Result, StoreError, Timestamp};

/// An account's subscription to a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// Its number.
    pub id: i64,
    /// The name of the database.
    pub database_name: String,
    /// Whether it goes on.
    pub is_active: bool,
    /// When it began.
    pub subscribed_at: Timestamp,
}

/// Where subscriptions are kept.
pub trait SubscriptionStore: Send + Sync {
    /// Saves a subscription; `None`, and nothing saved, where the account has it already.
    fn subscribe(
        &self,
        account: AccountId,
        database_name: &str,
        now: Timestamp,
    ) -> impl Future<Output = std::result::Result<Option<Subscription>, StoreError>> + Send;

    /// Lists an account's subscriptions, oldest first: no more than there are databases.
    fn subscriptions(
        &self,
        account: AccountId,
    ) -> impl Future<Output = std::result::Result<Vec<Subscription>, StoreError>> + Send;
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Subscribes an account to a database.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadySubscribed`]; [`Error::Store`].
    pub async fn subscribe(
        &self,
        account: AccountId,
        database_name: &str,
        now: Timestamp,
    ) -> Result<Subscription> {
        let subscription = self.store().subscribe(account, database_name, now).await?;
        subscription.ok_or(Error::AlreadySubscribed)
    }

    /// Lists an account's subscriptions, oldest first.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn subscriptions(&self, account: AccountId) -> Result<Vec<Subscription>> {
        Ok(self.store().subscriptions(account).await?)
    }
}

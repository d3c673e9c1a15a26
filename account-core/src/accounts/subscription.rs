//! Subscriptions of accounts to databases. The caller of this module checks the names of databases.

use crate::accounts::Accounts;
use crate::identity::AccountId;
use crate::password::PasswordHasher;
use crate::store::{Store, Subscription};
use crate::{Error, Result, Timestamp};

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

    /// Ends an account's subscription to a database.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where there is no such subscription; [`Error::Store`].
    pub async fn unsubscribe(&self, account: AccountId, database_name: &str) -> Result<()> {
        let removed = self.store().unsubscribe(account, database_name).await?;
        if removed { Ok(()) } else { Err(Error::NotFound) }
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

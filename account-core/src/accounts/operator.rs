//! The calls of an operator: creation, change and audit of accounts, which are named by e-mail
//! address.

use crate::accounts::Accounts;
use crate::credits::{Audit, LARGEST_BALANCE};
use crate::identity::{AccountId, Email, Username};
use crate::key::ApiKey;
use crate::password::{Password, PasswordHasher};
use crate::store::{AccountRow, Change, Creation, Granted, Profile, Store};
use crate::tier::{SIGNUP_CREDITS, Tier};
use crate::{Error, Result, Timestamp};

/// An account that an operator creates, which is verified from the start.
#[derive(Clone)]
pub struct NewAccount {
    /// The e-mail address.
    pub email: Email,
    /// The user name.
    pub username: Username,
    /// The password; without one, a login by password is impossible.
    pub password: Option<Password>,
    /// The tier.
    pub tier: Tier,
    /// The initial credits; without a number, the sign-up credits.
    pub credits: Option<u64>,
    /// The limit of requests an hour; without a number, that of the tier.
    pub hourly_limit: Option<u32>,
    /// True if the account is an administrator.
    pub is_admin: bool,
}

/// A created account.
pub struct Created {
    /// The number of the account.
    pub id: AccountId,
    /// The API key.
    pub api_key: ApiKey,
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Creates a verified account.
    ///
    /// # Errors
    ///
    /// [`Error::EmailTaken`]; [`Error::UsernameTaken`]; [`Error::Invalid`] for `credits` beyond
    /// [`LARGEST_BALANCE`] and for a password that is the address or the name; [`Error::Busy`];
    /// [`Error::Store`].
    pub async fn create_account(&self, account: NewAccount, now: Timestamp) -> Result<Created> {
        let credits = account.credits.unwrap_or(SIGNUP_CREDITS);
        if credits > LARGEST_BALANCE {
            return Err(too_many_credits());
        }
        let password_hash = match &account.password {
            Some(password) => {
                password.refuse_personal("password", &account.email, &account.username)?;
                let permit = self.hasher().admit().await?;
                Some(self.hasher().hash(permit, password).await)
            }
            None => None,
        };
        let id = self.store().next_account_id().await?;
        let (api_key, key) = self.new_key(id);
        let row = AccountRow {
            id,
            email: account.email,
            username: account.username,
            password_hash,
            tier: account.tier,
            credits,
            granted_by_admin: account.credits.is_some(),
            hourly_limit: account.hourly_limit,
            is_admin: account.is_admin,
            key,
            created_at: now,
        };
        match self.store().create_account(row).await? {
            Creation::Done => Ok(Created { id, api_key }),
            Creation::EmailTaken => Err(Error::EmailTaken),
            Creation::UsernameTaken => Err(Error::UsernameTaken),
        }
    }

    /// Reads an account.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn profile(&self, account: AccountId) -> Result<Profile> {
        self.store().profile(account).await?.ok_or(Error::NotFound)
    }

    /// Changes the tier of an account.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn set_tier(&self, email: &Email, tier: Tier) -> Result<()> {
        self.change(email, Change::Tier(tier)).await
    }

    /// Sets an hourly limit for an account, or restores that of its tier.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn set_hourly_limit(&self, email: &Email, limit: Option<u32>) -> Result<()> {
        self.change(email, Change::HourlyLimit(limit)).await
    }

    /// Suspends an account's key and ends its sessions.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn suspend(&self, email: &Email) -> Result<()> {
        self.change(email, Change::Suspend).await
    }

    /// Activates a suspended key.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn activate(&self, email: &Email) -> Result<()> {
        self.change(email, Change::Activate).await
    }

    /// Grants credits to an account, and returns its balance.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for `credits` where the number is not positive or the balance would pass
    /// [`LARGEST_BALANCE`]; [`Error::NotFound`]; [`Error::Store`].
    pub async fn grant(&self, email: &Email, credits: i64, now: Timestamp) -> Result<u64> {
        let positive = u64::try_from(credits).ok().filter(|credits| *credits > 0);
        let credits =
            positive.ok_or(Error::invalid("credits", "a positive whole number", "credits"))?;
        match self.store().grant(email, credits, now).await? {
            Granted::Balance(balance) => Ok(balance),
            Granted::TooMuch => Err(too_many_credits()),
            Granted::NotFound => Err(Error::NotFound),
        }
    }

    /// Audits every balance against the sum of its ledger, and returns those that differ.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn audit(&self) -> Result<Audit> {
        Ok(self.store().audit().await?)
    }

    async fn change(&self, email: &Email, change: Change) -> Result<()> {
        if self.store().change_account(email, change).await? {
            Ok(())
        } else {
            Err(Error::NotFound)
        }
    }
}

const fn too_many_credits() -> Error {
    Error::invalid("credits", "so many that the balance stays below 2^53", "credits")
}

//! What an operator does: accounts made, changed and audited by e-mail address.

use crate::accounts::Accounts;
use crate::credits::{Audit, LARGEST_BALANCE};
use crate::identity::{AccountId, Email, Username};
use crate::key::ApiKey;
use crate::password::{Password, PasswordHasher};
use crate::store::{AccountRow, Change, Creation, Granted, Profile, Store};
use crate::tier::{SIGNUP_CREDITS, Tier};
use crate::{Error, Result, Timestamp};

/// An account that an operator makes: verified from the start.
#[derive(Clone)]
pub struct NewAccount {
    /// Its address.
    pub email: Email,
    /// Its name.
    pub username: Username,
    /// Its password; without one it cannot log in by password.
    pub password: Option<Password>,
    /// Its tier.
    pub tier: Tier,
    /// Its credits; the signup credits where absent.
    pub credits: Option<u64>,
    /// Requests an hour; its tier's where absent.
    pub hourly_limit: Option<u32>,
    /// Whether it may use the administrators' calls.
    pub is_admin: bool,
}

/// An account that was made.
pub struct Created {
    /// Its number.
    pub id: AccountId,
    /// Its key.
    pub api_key: ApiKey,
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Makes a verified account.
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

    /// Puts an account into a tier.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn set_tier(&self, email: &Email, tier: Tier) -> Result<()> {
        self.change(email, Change::Tier(tier)).await
    }

    /// Gives an account an hourly limit of its own, or its tier's again.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn set_hourly_limit(&self, email: &Email, limit: Option<u32>) -> Result<()> {
        self.change(email, Change::HourlyLimit(limit)).await
    }

    /// Puts an account's key out of use and ends its sessions.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn suspend(&self, email: &Email) -> Result<()> {
        self.change(email, Change::Suspend).await
    }

    /// Makes a suspended key good again.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn activate(&self, email: &Email) -> Result<()> {
        self.change(email, Change::Activate).await
    }

    /// Gives an account credits and answers its balance.
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

    /// Proves that every balance is the sum of its ledger, or names those that are not.
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

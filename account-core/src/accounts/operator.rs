//! What an operator does: accounts made, changed and audited by e-mail address.

use crate::accounts::{Accounts, Store};
use crate::credits::{Audit, LARGEST_BALANCE};
use crate::identity::{AccountId, Contact, Email, Username};
use crate::key::{ApiKey, NewKey};
use crate::password::{Password, PasswordHash, PasswordHasher};
use crate::tier::{SIGNUP_CREDITS, Tier};
use crate::{Error, Result, StoreError, Timestamp};

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

/// An account as an operator's call stores it.
pub struct AccountRow {
    /// Its number.
    pub id: AccountId,
    /// Its address.
    pub email: Email,
    /// Its name.
    pub username: Username,
    /// Its password's hash.
    pub password_hash: Option<PasswordHash>,
    /// Its tier.
    pub tier: Tier,
    /// Its credits, booked as the grant that is named.
    pub credits: u64,
    /// Whether the credits are an operator's grant rather than the signup's.
    pub granted_by_admin: bool,
    /// Requests an hour, where it has a limit of its own.
    pub hourly_limit: Option<u32>,
    /// Whether it may use the administrators' calls.
    pub is_admin: bool,
    /// Its key.
    pub key: NewKey,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Whether an account was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creation {
    /// Made.
    Done,
    /// The address has an account.
    EmailTaken,
    /// Another account or running registration has the name.
    UsernameTaken,
}

/// What an operator changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The tier.
    Tier(Tier),
    /// Requests an hour; the tier's where `None`.
    HourlyLimit(Option<u32>),
    /// The key is put out of use and all sessions end.
    Suspend,
    /// The suspended key is good again.
    Activate,
}

/// What became of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granted {
    /// Given and booked.
    Balance(u64),
    /// The balance would pass [`LARGEST_BALANCE`].
    TooMuch,
    /// No account has the address.
    NotFound,
}

/// Whether an account's key is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStatus {
    /// Good.
    Active,
    /// Put out of use for the time being.
    Suspended,
    /// Replaced or never made.
    Revoked,
}

impl KeyStatus {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Active, Self::Suspended, Self::Revoked];

    /// The name on the wire, as in `active`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Revoked => "revoked",
        }
    }
}

/// An account as its owner sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its number.
    pub id: AccountId,
    /// Its name.
    pub username: Username,
    /// Its address.
    pub email: Email,
    /// How else to reach its owner.
    pub contact: Contact,
    /// Its tier.
    pub tier: Tier,
    /// Requests an hour: its own limit, or its tier's.
    pub hourly_limit: u32,
    /// Credits left.
    pub credit_balance: u64,
    /// Whether its address was confirmed.
    pub is_verified: bool,
    /// Whether it may use the administrators' calls.
    pub is_admin: bool,
    /// Whether a login asks for a second factor.
    pub mfa_enabled: bool,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When someone last logged in.
    pub last_login_at: Option<Timestamp>,
    /// When its key was made.
    pub api_key_created_at: Option<Timestamp>,
    /// Whether its key is good.
    pub api_key_status: KeyStatus,
}

/// Where accounts are kept. Calls by address see verified accounts only.
pub trait AccountStore: Send + Sync {
    /// Saves a verified account with its key and its grant, as one step, in place of an unverified
    /// form of the address.
    fn create_account(
        &self,
        account: AccountRow,
    ) -> impl Future<Output = std::result::Result<Creation, StoreError>> + Send;

    /// Reads an account.
    fn profile(
        &self,
        account: AccountId,
    ) -> impl Future<Output = std::result::Result<Option<Profile>, StoreError>> + Send;

    /// Changes an account; `false` where no account has the address.
    fn change_account(
        &self,
        email: &Email,
        change: Change,
    ) -> impl Future<Output = std::result::Result<bool, StoreError>> + Send;

    /// Adds to a balance and books it as an operator's grant, as one step.
    fn grant(
        &self,
        email: &Email,
        credits: u64,
        now: Timestamp,
    ) -> impl Future<Output = std::result::Result<Granted, StoreError>> + Send;
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Makes a verified account.
    ///
    /// # Errors
    ///
    /// [`Error::EmailTaken`]; [`Error::UsernameTaken`]; [`Error::Invalid`] for `credits` beyond
    /// [`LARGEST_BALANCE`]; [`Error::Busy`]; [`Error::Store`].
    pub async fn create_account(&self, account: NewAccount, now: Timestamp) -> Result<Created> {
        let credits = account.credits.unwrap_or(SIGNUP_CREDITS);
        if credits > LARGEST_BALANCE {
            return Err(too_many_credits());
        }
        let password_hash = match &account.password {
            Some(password) => {
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

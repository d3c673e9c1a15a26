//! The calls of an operator: creation, reading, change, deletion and audit of accounts, which are
//! named by e-mail address.

use crate::accounts::Accounts;
use crate::credits::{Audit, LARGEST_BALANCE, TransactionKind};
use crate::identity::{AccountId, Email, Username};
use crate::key::ApiKey;
use crate::operation::{Operation, OperatorAction, Reason};
use crate::outbox::Content;
use crate::password::{Password, PasswordHasher};
use crate::store::{
    AccountFilter, AccountRow, Booked, Booking, Change, Creation, Deletion, DeletionProof,
    KeyStatus, Profile, Store,
};
use crate::tier::{SIGNUP_CREDITS, Tier};
use crate::{Error, Result, Timestamp};

/// The largest number of actions that an overview of an account lists.
const LISTED_OPERATIONS: u32 = 20;
/// The number of attempts to replace a key that its owner replaces at the same time.
const REPLACEMENTS: u32 = 3;

/// An account that an operator creates, which is verified from the start.
#[derive(Clone)]
pub struct NewAccount {
    /// The e-mail address, which counts as verified.
    pub email: Email,
    /// The user name, which no other account may have.
    pub username: Username,
    /// The password; `None` for an account without a login by password.
    pub password: Option<Password>,
    /// The tier of the account from the start.
    pub tier: Tier,
    /// The initial credits; `None` for the sign-up credits.
    pub credits: Option<u64>,
    /// The limit of requests an hour; `None` for that of the tier.
    pub hourly_limit: Option<u32>,
    /// True if the account is an administrator.
    pub is_admin: bool,
}

/// An account that an operator has created.
pub struct Created {
    /// The number of the new account.
    pub id: AccountId,
    /// The API key in plain text, which is shown once.
    pub api_key: ApiKey,
}

/// An account as an operator sees it; holds no secret.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountOverview {
    /// The account as its owner sees it.
    pub profile: Profile,
    /// The end of the lock of passwords; `None` where passwords are accepted.
    pub locked_until: Option<Timestamp>,
    /// The latest actions of operators on the account, newest first.
    pub operations: Vec<Operation>,
}

/// A page of accounts, in the order of their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountList {
    /// The accounts of this page, in the order of their numbers.
    pub accounts: Vec<Profile>,
    /// The number after which the next page begins; `None` on the last page.
    pub next_after: Option<AccountId>,
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
        self.change(email, Change::Tier(tier), None).await
    }

    /// Sets an hourly limit for an account, or restores that of its tier.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn set_hourly_limit(&self, email: &Email, limit: Option<u32>) -> Result<()> {
        self.change(email, Change::HourlyLimit(limit), None).await
    }

    /// Suspends an account's key and ends its sessions.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn suspend(&self, email: &Email) -> Result<()> {
        self.change(email, Change::Suspend, None).await
    }

    /// Activates a suspended key.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn activate(&self, email: &Email) -> Result<()> {
        self.change(email, Change::Activate, None).await
    }

    /// Reads the account of an address, verified or not.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn overview(&self, email: &Email, now: Timestamp) -> Result<AccountOverview> {
        let profile = self.store().account_at(email).await?.ok_or(Error::NotFound)?;
        let locked_until = self.store().locked_until(self.vault().email_digest(email)).await?;
        let operations = self.store().operations(profile.id, LISTED_OPERATIONS).await?;
        let locked_until = locked_until.filter(|until| now < *until);
        Ok(AccountOverview { profile, locked_until, operations })
    }

    /// Lists at most so many accounts whose number is above another.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn list_accounts(
        &self,
        filter: &AccountFilter,
        after: AccountId,
        limit: u32,
    ) -> Result<AccountList> {
        let one_more = limit.saturating_add(1);
        let mut accounts = self.store().accounts(filter, after, one_more).await?;
        let has_more = accounts.len() > limit as usize;
        accounts.truncate(limit as usize);
        let last = accounts.last().map(|account| account.id);
        Ok(AccountList { accounts, next_after: last.filter(|_| has_more) })
    }

    /// Changes an account and records the action with its reason.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn change_account(
        &self,
        email: &Email,
        change: Change,
        reason: Option<Reason>,
        now: Timestamp,
    ) -> Result<()> {
        let (action, detail) = match change {
            Change::Tier(tier) => (OperatorAction::SetTier, Some(tier.name().to_owned())),
            Change::HourlyLimit(limit) => {
                let detail = limit.map_or_else(|| "tier".to_owned(), |limit| limit.to_string());
                (OperatorAction::SetHourlyLimit, Some(detail))
            }
            Change::Suspend => (OperatorAction::Suspend, None),
            Change::Activate => (OperatorAction::Activate, None),
            Change::Admin(true) => (OperatorAction::MakeAdmin, None),
            Change::Admin(false) => (OperatorAction::RevokeAdmin, None),
            Change::Unlock(_) => (OperatorAction::Unlock, None),
        };
        let operation = Operation { action, detail, reason, at: now };
        self.change(email, change, Some(operation)).await
    }

    /// Lifts every lock at an address and forgets its wrong passwords.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn unlock(&self, email: &Email, reason: Reason, now: Timestamp) -> Result<()> {
        let recipient = self.vault().email_digest(email);
        self.change_account(email, Change::Unlock(recipient), Some(reason), now).await
    }

    /// Grants credits to an account, and returns its balance.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for `credits` where the number is not positive or the balance would pass
    /// [`LARGEST_BALANCE`]; [`Error::NotFound`]; [`Error::Store`].
    pub async fn grant(&self, email: &Email, credits: i64, now: Timestamp) -> Result<u64> {
        self.book(email, TransactionKind::AdminGrant, credits, None, now).await
    }

    /// Changes a balance by a grant, a refund or an adjustment, and answers the new balance. The
    /// account's owner reads the reason among the transactions.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for `credits` where the number is zero, is negative and no adjustment, or
    /// the balance would pass [`LARGEST_BALANCE`]; [`Error::Overdrawn`]; [`Error::NotFound`];
    /// [`Error::Store`].
    pub async fn book_credits(
        &self,
        email: &Email,
        kind: TransactionKind,
        credits: i64,
        reason: Option<Reason>,
        now: Timestamp,
    ) -> Result<u64> {
        let action = match kind {
            TransactionKind::Refund => OperatorAction::Refund,
            TransactionKind::Adjustment => OperatorAction::Adjust,
            _ => OperatorAction::Grant,
        };
        let operation = Operation { action, detail: Some(credits.to_string()), reason, at: now };
        self.book(email, kind, credits, Some(operation), now).await
    }

    /// Replaces an account's key, as its owner does with [`regenerate`](Self::regenerate).
    ///
    /// # Errors
    ///
    /// [`Error::Suspended`] for a suspended key; [`Error::Unauthorised`] where the owner replaces
    /// the key again and again; [`Error::NotFound`]; [`Error::Store`].
    pub async fn regenerate_for(
        &self,
        email: &Email,
        reason: Reason,
        now: Timestamp,
    ) -> Result<ApiKey> {
        let account = self.store().account_of(email).await?.ok_or(Error::NotFound)?;
        let action = OperatorAction::Regenerate;
        let operation = Operation { action, detail: None, reason: Some(reason), at: now };
        for _ in 0..REPLACEMENTS {
            if self.profile(account).await?.api_key_status == KeyStatus::Suspended {
                return Err(Error::Suspended);
            }
            let old = self.store().current_key(account).await?.ok_or(Error::NotFound)?;
            match self.replace_key(account, old, Some(operation.clone()), now).await {
                Err(Error::Unauthorised) => {}
                replaced => return replaced,
            }
        }
        Err(Error::Unauthorised)
    }

    /// Deletes an account as its owner could, and tells the owner by a message.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn delete_for(&self, email: &Email, reason: Reason, now: Timestamp) -> Result<()> {
        let account = self.store().account_of(email).await?.ok_or(Error::NotFound)?;
        let action = OperatorAction::Delete;
        let operation = Operation { action, detail: None, reason: Some(reason), at: now };
        let deletion = Deletion {
            account,
            recipient: self.vault().email_digest(email),
            proof: DeletionProof::Operator(operation),
            notice: self.message(email, Content::AccountDeleted, now),
            at: now,
        };
        if self.store().delete_account(deletion).await? { Ok(()) } else { Err(Error::NotFound) }
    }

    /// Audits every balance against the sum of its ledger, and returns those that differ.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn audit(&self) -> Result<Audit> {
        Ok(self.store().audit().await?)
    }

    async fn change(
        &self,
        email: &Email,
        change: Change,
        operation: Option<Operation>,
    ) -> Result<()> {
        if self.store().change_account(email, change, operation).await? {
            Ok(())
        } else {
            Err(Error::NotFound)
        }
    }

    async fn book(
        &self,
        email: &Email,
        kind: TransactionKind,
        credits: i64,
        operation: Option<Operation>,
        now: Timestamp,
    ) -> Result<u64> {
        if kind == TransactionKind::Adjustment {
            if credits == 0 {
                return Err(Error::invalid("credits", "a whole number other than zero", "credits"));
            }
        } else if credits <= 0 {
            return Err(Error::invalid("credits", "a positive whole number", "credits"));
        }
        match self.store().book(email, Booking { kind, credits, at: now, operation }).await? {
            Booked::Balance(balance) => Ok(balance),
            Booked::TooMuch => Err(too_many_credits()),
            Booked::Overdrawn { balance } => Err(Error::Overdrawn { balance }),
            Booked::NotFound => Err(Error::NotFound),
        }
    }
}

const fn too_many_credits() -> Error {
    Error::invalid("credits", "so many that the balance stays below 2^53", "credits")
}

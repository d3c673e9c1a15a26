//! Accounts as operators and their owners see them.

use account_core::accounts::AccountStore;
use account_core::accounts::operator::{AccountRow, Change, Creation, Granted};
use account_core::credits::{LARGEST_BALANCE, TransactionKind};
use account_core::identity::{Contact, Email};
use account_core::{AccountId, KeyStatus, Profile, StoreError, Timestamp, Username};
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryResult};

use super::Store;
use super::engine::lock_account;
use super::keys::insert_key;
use super::ledger::record_grant;
use super::oauth_grants::end_grants;
use super::registration::{discard_forms, name_taken, verified};
use super::rows::{
    column, narrow, optional_time_column, statement, stored, tier_and_limit, time, time_column,
    unless_taken,
};

impl AccountStore for Store {
    async fn create_account(&self, row: AccountRow) -> Result<Creation, StoreError> {
        let change = self.write().await?;
        let created = self.insert_account(&change, row).await?;
        if created == Creation::Done {
            stored(change.commit().await)?;
        }
        Ok(created)
    }

    async fn profile(&self, account: AccountId) -> Result<Option<Profile>, StoreError> {
        let query = "SELECT account.id, username, email, phone, country, country_code, tier, \
                     hourly_limit, credit_balance, verified_at, is_admin, mfa_enabled, \
                     account.created_at, last_login_at, \
                     api_key.created_at AS key_created_at, status FROM account \
                     LEFT JOIN api_key ON api_key.account_id = account.id AND status <> 'revoked' \
                     WHERE account.id = $1";
        let query = statement(query, [account.0.into()]);
        let row = stored(self.readers.query_one_raw(query).await)?;
        row.as_ref().map(profile).transpose()
    }

    async fn change_account(&self, email: &Email, change: Change) -> Result<bool, StoreError> {
        let transaction = self.write().await?;
        let Some(account) = verified(&*transaction, email).await? else { return Ok(false) };
        lock_account(&transaction, account).await?;
        apply(&transaction, account, change).await?;
        self.commit_revised(transaction).await?;
        Ok(true)
    }

    async fn grant(
        &self,
        email: &Email,
        credits: u64,
        now: Timestamp,
    ) -> Result<Granted, StoreError> {
        let change = self.write().await?;
        let Some(account) = verified(&*change, email).await? else { return Ok(Granted::NotFound) };
        lock_account(&change, account).await?;
        let query =
            statement("SELECT credit_balance FROM account WHERE id = $1", [account.0.into()]);
        let Some(row) = stored(change.query_one_raw(query).await)? else {
            return Ok(Granted::NotFound);
        };
        let balance = narrow::<u64>(&row, "credit_balance")?.saturating_add(credits);
        if balance > LARGEST_BALANCE {
            return Ok(Granted::TooMuch);
        }
        record_grant(&change, account, TransactionKind::AdminGrant, credits, now).await?;
        self.commit_revised(change).await?;
        Ok(Granted::Balance(balance))
    }
}

impl Store {
    /// Inserts a verified account with its key and its grant, in place of an unverified form of the
    /// address; nothing is inserted where address or name are taken.
    pub(super) async fn insert_account(
        &self,
        change: &DatabaseTransaction,
        row: AccountRow,
    ) -> Result<Creation, StoreError> {
        let now = row.created_at;
        if verified(change, &row.email).await?.is_some() {
            return Ok(Creation::EmailTaken);
        }
        if name_taken(change, &row.username, &row.email, None, now).await? {
            return Ok(Creation::UsernameTaken);
        }
        discard_forms(change, &row.username, &row.email).await?;
        let insert = "INSERT INTO account (id, email, username, username_key, password_hash, tier, hourly_limit, credit_balance, is_admin, mfa_enabled, created_at, verified_at) \
                      VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, FALSE, $9, $9)";
        let values = [
            row.id.0.into(),
            row.email.as_str().into(),
            row.username.as_str().into(),
            row.username.key().into(),
            row.password_hash.map(|hash| hash.0).into(),
            row.tier.name().into(),
            row.hourly_limit.map(i64::from).into(),
            row.is_admin.into(),
            time(now),
        ];
        if !unless_taken(change.execute_raw(statement(insert, values)).await)? {
            let email_taken = verified(&self.readers, &row.email).await?.is_some();
            return Ok(if email_taken { Creation::EmailTaken } else { Creation::UsernameTaken });
        }
        let kind = if row.granted_by_admin {
            TransactionKind::AdminGrant
        } else {
            TransactionKind::SignupGrant
        };
        record_grant(change, row.id, kind, row.credits, now).await?;
        insert_key(change, row.id, row.key, now).await?;
        Ok(Creation::Done)
    }
}

async fn apply(
    transaction: &DatabaseTransaction,
    account: AccountId,
    change: Change,
) -> Result<(), StoreError> {
    let id = account.0.into();
    let update = match change {
        Change::Tier(tier) => {
            statement("UPDATE account SET tier = $2 WHERE id = $1", [id, tier.name().into()])
        }
        Change::HourlyLimit(limit) => statement(
            "UPDATE account SET hourly_limit = $2 WHERE id = $1",
            [id, limit.map(i64::from).into()],
        ),
        Change::Suspend => {
            let end = statement("DELETE FROM session WHERE account_id = $1", [account.0.into()]);
            stored(transaction.execute_raw(end).await)?;
            end_grants(transaction, account).await?;
            statement(
                "UPDATE api_key SET status = 'suspended' WHERE account_id = $1 AND status = 'active'",
                [id],
            )
        }
        Change::Activate => statement(
            "UPDATE api_key SET status = 'active' WHERE account_id = $1 AND status = 'suspended'",
            [id],
        ),
    };
    stored(transaction.execute_raw(update).await)?;
    Ok(())
}

fn profile(row: &QueryResult) -> Result<Profile, StoreError> {
    let (tier, hourly_limit) = tier_and_limit(row)?;
    let status: Option<String> = column(row, "status")?;
    let api_key_status = KeyStatus::ALL
        .into_iter()
        .find(|known| Some(known.name()) == status.as_deref())
        .unwrap_or(KeyStatus::Revoked);
    Ok(Profile {
        id: AccountId(column(row, "id")?),
        username: Username::parse(&column::<String>(row, "username")?).map_err(StoreError::new)?,
        email: Email::parse(&column::<String>(row, "email")?).map_err(StoreError::new)?,
        contact: Contact {
            phone: column(row, "phone")?,
            country: column(row, "country")?,
            country_code: column(row, "country_code")?,
        },
        tier,
        hourly_limit,
        credit_balance: narrow(row, "credit_balance")?,
        is_verified: optional_time_column(row, "verified_at")?.is_some(),
        is_admin: column(row, "is_admin")?,
        mfa_enabled: column(row, "mfa_enabled")?,
        created_at: time_column(row, "created_at")?,
        last_login_at: optional_time_column(row, "last_login_at")?,
        api_key_created_at: optional_time_column(row, "key_created_at")?,
        api_key_status,
    })
}

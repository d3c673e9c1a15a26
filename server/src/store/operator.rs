//! Operators' view of accounts, and their changes of balances.

use account_core::credits::LARGEST_BALANCE;
use account_core::digest::Digest;
use account_core::store::{AccountFilter, AccountState, Booked, Booking, OperatorStore};
use account_core::{AccountId, Email, Operation, Profile, StoreError, Timestamp, TransactionKind};
use sea_orm::{ConnectionTrait, DatabaseTransaction};

use super::accounts::{PROFILE, profile, verified};
use super::engine::lock_account;
use super::handle::Store;
use super::operator_actions::{self, record};
use super::rows::{
    credits as amount, digest, narrow, optional_time_column, statement, stored, time,
};

impl OperatorStore for Store {
    async fn account_at(&self, email: &Email) -> Result<Option<Profile>, StoreError> {
        let query = format!("{PROFILE} WHERE email = $1");
        let query = statement(&query, [email.as_str().into()]);
        let row = stored(self.readers.query_one_raw(query).await)?;
        row.as_ref().map(profile).transpose()
    }

    async fn accounts(
        &self,
        filter: &AccountFilter,
        after: AccountId,
        limit: u32,
    ) -> Result<Vec<Profile>, StoreError> {
        let state = match filter.state {
            None => "",
            Some(AccountState::Active) => {
                " AND verified_at IS NOT NULL AND coalesce(status, '') = 'active'"
            }
            Some(AccountState::Suspended) => {
                " AND verified_at IS NOT NULL AND coalesce(status, '') = 'suspended'"
            }
            Some(AccountState::Unverified) => " AND verified_at IS NULL",
        };
        let admins = if filter.admins_only { " AND is_admin" } else { "" };
        let query = format!(
            "{PROFILE} WHERE account.id > $1 AND ($2 IS NULL OR tier = $2) \
             AND (email LIKE $3 ESCAPE '!' OR username_key LIKE $3 ESCAPE '!'){state}{admins} \
             ORDER BY account.id LIMIT $4"
        );
        let values = [
            after.0.into(),
            filter.tier.map(|tier| tier.name().to_owned()).into(),
            containing(&filter.text).into(),
            limit.into(),
        ];
        let rows = stored(self.readers.query_all_raw(statement(&query, values)).await)?;
        rows.iter().map(profile).collect()
    }

    async fn locked_until(
        &self,
        recipient: Digest<Email>,
    ) -> Result<Option<Timestamp>, StoreError> {
        let query = "SELECT max(locked_until) AS until FROM lockout WHERE recipient = $1";
        let query = statement(query, [digest(&recipient)]);
        let row = stored(self.readers.query_one_raw(query).await)?;
        row.map_or(Ok(None), |row| optional_time_column(&row, "until"))
    }

    async fn book(&self, email: &Email, booking: Booking) -> Result<Booked, StoreError> {
        let change = self.write().await?;
        let Some(account) = verified(&*change, email).await? else { return Ok(Booked::NotFound) };
        lock_account(&change, account).await?;
        let query =
            statement("SELECT credit_balance FROM account WHERE id = $1", [account.0.into()]);
        let Some(row) = stored(change.query_one_raw(query).await)? else {
            return Ok(Booked::NotFound);
        };
        let before = narrow::<u64>(&row, "credit_balance")?;
        let balance = match before.checked_add_signed(booking.credits) {
            Some(balance) if balance <= LARGEST_BALANCE => balance,
            None if booking.credits < 0 => return Ok(Booked::Overdrawn { balance: before }),
            _ => return Ok(Booked::TooMuch),
        };
        insert_booking(&change, account, &booking, balance).await?;
        record(&change, account, booking.operation).await?;
        self.commit_revised(change).await?;
        Ok(Booked::Balance(balance))
    }

    async fn operations(
        &self,
        account: AccountId,
        limit: u32,
    ) -> Result<Vec<Operation>, StoreError> {
        operator_actions::list(&self.readers, account, limit).await
    }
}

/// Sets the balance and writes the ledger's row. A grant alone is what the notices of low credits
/// are measured by.
async fn insert_booking(
    change: &DatabaseTransaction,
    account: AccountId,
    booking: &Booking,
    balance: u64,
) -> Result<(), StoreError> {
    let set = statement(
        "UPDATE account SET credit_balance = $2, \
         last_grant = CASE WHEN $3 THEN $4 ELSE last_grant END WHERE id = $1",
        [
            account.0.into(),
            amount(balance),
            (booking.kind == TransactionKind::AdminGrant).into(),
            booking.credits.into(),
        ],
    );
    stored(change.execute_raw(set).await)?;
    let insert = "INSERT INTO ledger \
                  (account_id, kind, credits, balance_after, description, created_at, updated_at) \
                  VALUES ($1, $2, $3, $4, $5, $6, $6)";
    let reason = booking.operation.as_ref().and_then(|operation| operation.reason.as_ref());
    let values = [
        account.0.into(),
        booking.kind.name().into(),
        booking.credits.into(),
        amount(balance),
        reason.map(|reason| reason.as_str().to_owned()).into(),
        time(booking.at),
    ];
    stored(change.execute_raw(statement(insert, values)).await)?;
    Ok(())
}

/// Returns the pattern of texts that contain a text, whose own wildcards are escaped with `!`.
fn containing(text: &str) -> String {
    let mut pattern = String::from("%");
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

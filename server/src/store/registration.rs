//! Registrations: forms that wait for their code, and what a right code makes of them.

use account_core::accounts::RegistrationStore;
use account_core::accounts::registration::{
    ConfirmedForm, NewRegistration, PendingRegistration, Registered,
};
use account_core::code::{Challenge, Purpose, VALIDITY};
use account_core::credits::TransactionKind;
use account_core::identity::Email;
use account_core::{AccountId, Notice, StoreError, Timestamp, Username};
use sea_orm::{ConnectionTrait, DatabaseTransaction};

use super::Store;
use super::clients::know;
use super::codes::{replace_challenge, use_up};
use super::engine::AdvisoryLock;
use super::keys::insert_key;
use super::ledger::record_grant;
use super::notifications::notify;
use super::outbox::{insert_message, may_send};
use super::rows::{column, malformed, statement, stored, time, unless_taken};
use super::sessions::insert_session;

impl RegistrationStore for Store {
    async fn next_account_id(&self) -> Result<AccountId, StoreError> {
        let next = "UPDATE sequence SET value = value + 1 WHERE name = 'account' RETURNING value";
        let change = self.write().await?;
        let row = stored(change.query_one_raw(statement(next, [])).await)?;
        stored(change.commit().await)?;
        Ok(AccountId(column(&row.ok_or_else(|| malformed("value"))?, "value")?))
    }

    async fn register(&self, form: NewRegistration) -> Result<Registered, StoreError> {
        let now = form.created_at;
        let change = self.write_locked(AdvisoryLock::Email(&form.challenge.recipient)).await?;
        if name_taken(&change, &form.username, &form.email, None, now).await? {
            return Ok(Registered::UsernameTaken);
        }
        let recipient = form.challenge.recipient;
        if !may_send(&change, &recipient, Purpose::Registration, now).await? {
            return Ok(Registered::Quiet);
        }
        if verified(&*change, &form.email).await?.is_some() {
            // Nobody's, so that trying a code costs the same as at an address that waits for one.
            replace_challenge(&change, &Challenge { account: None, ..form.challenge }).await?;
            insert_message(&change, form.message_if_known).await?;
            stored(change.commit().await)?;
            self.outbox_notify.notify_one();
            return Ok(Registered::Known);
        }
        discard_forms(&change, &form.username, &form.email).await?;
        let insert = "INSERT INTO account (id, email, username, username_key, password_hash, phone, country, country_code, tier, credit_balance, is_admin, mfa_enabled, created_at) \
                      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'free', 0, FALSE, FALSE, $9)";
        let values = [
            form.id.0.into(),
            form.email.as_str().into(),
            form.username.as_str().into(),
            form.username.key().into(),
            form.password_hash.0.into(),
            form.contact.phone.into(),
            form.contact.country.into(),
            form.contact.country_code.into(),
            time(now),
        ];
        if !unless_taken(change.execute_raw(statement(insert, values)).await)? {
            return Ok(Registered::UsernameTaken);
        }
        replace_challenge(&change, &form.challenge).await?;
        insert_message(&change, form.message).await?;
        stored(change.commit().await)?;
        self.outbox_notify.notify_one();
        Ok(Registered::Saved)
    }

    async fn pending_registration(
        &self,
        email: &Email,
    ) -> Result<Option<PendingRegistration>, StoreError> {
        let query = "SELECT id, username FROM account WHERE email = $1 AND verified_at IS NULL";
        let query = statement(query, [email.as_str().into()]);
        let row = stored(self.readers.query_one_raw(query).await)?;
        let Some(row) = row else { return Ok(None) };
        let account = AccountId(column(&row, "id")?);
        let username: String = column(&row, "username")?;
        let username = Username::parse(&username).map_err(StoreError::new)?;
        Ok(Some(PendingRegistration { account, username }))
    }

    async fn confirm_registration(&self, form: ConfirmedForm) -> Result<bool, StoreError> {
        let ConfirmedForm { challenge, account, key, session, client, credits, at } = form;
        let change = self.write_locked(AdvisoryLock::Email(&client.recipient)).await?;
        if !use_up(&change, challenge, at).await? {
            return Ok(false);
        }
        let verify = "UPDATE account SET verified_at = $2 WHERE id = $1 AND verified_at IS NULL";
        let verify = statement(verify, [account.0.into(), time(at)]);
        if stored(change.execute_raw(verify).await)?.rows_affected() == 0 {
            return Ok(false);
        }
        record_grant(&change, account, TransactionKind::SignupGrant, credits, at).await?;
        notify(&change, account, &Notice::Welcome, at).await?;
        insert_key(&change, account, key, at).await?;
        insert_session(&change, &session).await?;
        know(&change, &client).await?;
        stored(change.commit().await)?;
        Ok(true)
    }
}

/// Whether the name is a verified account's other than this one, or that of another address's form
/// whose code is live.
pub(super) async fn name_taken(
    change: &DatabaseTransaction,
    username: &Username,
    email: &Email,
    but: Option<AccountId>,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let query = "SELECT id FROM account WHERE username_key = $1 AND id <> $5 \
                 AND (verified_at IS NOT NULL \
                 OR (email <> $2 AND EXISTS (SELECT 1 FROM challenge \
                     WHERE account_id = account.id AND purpose = 'registration' \
                     AND NOT used AND created_at > $3 AND created_at <= $4)))";
    let values = [
        username.key().into(),
        email.as_str().into(),
        time(now - VALIDITY),
        time(now),
        but.map_or(0, |account| account.0).into(),
    ];
    Ok(stored(change.query_one_raw(statement(query, values)).await)?.is_some())
}

/// The verified account of an address.
pub(super) async fn verified(
    connection: &impl ConnectionTrait,
    email: &Email,
) -> Result<Option<AccountId>, StoreError> {
    let query = "SELECT id FROM account WHERE email = $1 AND verified_at IS NOT NULL";
    let query = statement(query, [email.as_str().into()]);
    let row = stored(connection.query_one_raw(query).await)?;
    row.map(|row| Ok(AccountId(column(&row, "id")?))).transpose()
}

/// Removes the unverified forms of an address and with a name, and with them their codes.
pub(super) async fn discard_forms(
    change: &DatabaseTransaction,
    username: &Username,
    email: &Email,
) -> Result<(), StoreError> {
    let discard =
        "DELETE FROM account WHERE verified_at IS NULL AND (email = $1 OR username_key = $2)";
    let values = [email.as_str().into(), username.key().into()];
    stored(change.execute_raw(statement(discard, values)).await)?;
    Ok(())
}

//! Accounts: unconfirmed registration forms, profiles, passwords, suspension, deletion,
//! subscriptions.

use account_core::code::{Challenge, Purpose, VALIDITY};
use account_core::credits::TransactionKind;
use account_core::identity::{Contact, Email};
use account_core::outbox::SealedMessage;
use account_core::store::{
    AccountRow, AccountStore, Change, ConfirmedForm, Creation, Deletion, DeletionProof, MfaChange,
    MfaChanged, NewRegistration, PasswordChange, PasswordProof, PendingRegistration,
    ProfileChanges, Registered, Updated,
};
use account_core::{
    AccountId, KeyStatus, Notice, Operation, PasswordHash, Profile, SecurityEvent, StoreError,
    Subscription, Timestamp, Username,
};
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryResult, Value};

use super::clean_up::forget_caller;
use super::clients::know;
use super::engine::{AdvisoryLock, lock, lock_account};
use super::handle::Store;
use super::keys::insert_key;
use super::ledger::record_grant;
use super::notifications::{insert_message, may_send, notify};
use super::operator_actions::record;
use super::revocation::end_credentials;
use super::rows::{
    column, credits_column, digest, malformed, narrow, optional_credits, optional_time_column,
    statement, stored, tier_and_limit, time, time_column, unless_taken,
};
use super::sign_in::{insert_session, replace_challenge, use_up};
use super::write_transaction::WriteTransaction;

/// The number of usage rows from which a deletion removes the account before it returns; the
/// clean-up removes the account from the others.
const AT_ONCE: u32 = 1_000;

/// Reads accounts as [`profile`] takes them.
pub(super) const PROFILE: &str = "SELECT account.id, username, email, phone, country, \
    country_code, tier, hourly_limit, credit_balance, spend_cap_per_day, verified_at, is_admin, \
    mfa_enabled, \
    account.created_at, last_login_at, api_key.created_at AS key_created_at, status FROM account \
    LEFT JOIN api_key ON api_key.account_id = account.id AND status <> 'revoked'";

impl AccountStore for Store {
    async fn next_account_id(&self) -> Result<AccountId, StoreError> {
        let next = "UPDATE sequence SET value = value + 1 WHERE name = 'account' RETURNING value";
        let change = self.write().await?;
        let row = stored(change.query_one_raw(statement(next, [])).await)?;
        stored(change.commit().await)?;
        Ok(AccountId(column(&row.ok_or_else(|| malformed("value"))?, "value")?))
    }

    async fn register(&self, form: NewRegistration) -> Result<Registered, StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&form.challenge.recipient)).await?;
        lock(&change, AdvisoryLock::Username(&form.username)).await?;
        let now = change.now();
        if name_taken(&change, &form.username, &form.email, None, now).await? {
            return Ok(Registered::UsernameTaken);
        }
        let recipient = form.challenge.recipient;
        if !may_send(&change, &recipient, Purpose::Registration, now).await? {
            return Ok(Registered::Quiet);
        }
        if verified(&*change, &form.email).await?.is_some() {
            // The challenge belongs to no account, so that an attempt costs the same as at an
            // address that awaits a code.
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
            time(form.created_at),
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
        let ConfirmedForm { challenge, account, key, session, client, origin, credits, at } = form;
        let change = self.write_locked(AdvisoryLock::Email(&client.recipient)).await?;
        if !use_up(&change, challenge, change.now()).await? {
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
        insert_session(&change, &session, &origin).await?;
        know(&change, &client).await?;
        stored(change.commit().await)?;
        Ok(true)
    }

    async fn create_account(&self, row: AccountRow) -> Result<Creation, StoreError> {
        let change = self.write().await?;
        let created = self.insert_account(&change, row).await?;
        if created == Creation::Done {
            stored(change.commit().await)?;
        }
        Ok(created)
    }

    async fn profile(&self, account: AccountId) -> Result<Option<Profile>, StoreError> {
        let query = format!("{PROFILE} WHERE account.id = $1");
        let query = statement(&query, [account.0.into()]);
        let row = stored(self.readers.query_one_raw(query).await)?;
        row.as_ref().map(profile).transpose()
    }

    async fn change_account(
        &self,
        email: &Email,
        change: Change,
        operation: Option<Operation>,
    ) -> Result<bool, StoreError> {
        let transaction = self.write().await?;
        let Some(account) = verified(&*transaction, email).await? else { return Ok(false) };
        lock_account(&transaction, account).await?;
        apply(&transaction, account, change).await?;
        record(&transaction, account, operation).await?;
        self.commit_revised(transaction).await?;
        Ok(true)
    }

    async fn update_profile(
        &self,
        account: AccountId,
        changes: ProfileChanges,
    ) -> Result<Updated, StoreError> {
        let change = self.write().await?;
        if let Some(username) = &changes.username {
            lock(&change, AdvisoryLock::Username(username)).await?;
        }
        lock_account(&change, account).await?;
        let query = "SELECT email FROM account WHERE id = $1 AND verified_at IS NOT NULL";
        let query = statement(query, [account.0.into()]);
        let Some(row) = stored(change.query_one_raw(query).await)? else {
            return Ok(Updated::NotFound);
        };
        let email: String = column(&row, "email")?;
        let email = Email::parse(&email).map_err(StoreError::new)?;
        if let Some(username) = &changes.username {
            if name_taken(&change, username, &email, Some(account), change.now()).await? {
                return Ok(Updated::UsernameTaken);
            }
            if !rename(&change, account, username).await? {
                return Ok(Updated::UsernameTaken);
            }
        }
        let update = "UPDATE account SET phone = CASE WHEN $2 THEN $3 ELSE phone END, \
                      country = CASE WHEN $4 THEN $5 ELSE country END, \
                      country_code = CASE WHEN $6 THEN $7 ELSE country_code END, \
                      spend_cap_per_day = CASE WHEN $8 THEN $9 ELSE spend_cap_per_day END \
                      WHERE id = $1";
        let mut values = vec![account.0.into()];
        for detail in [changes.phone, changes.country, changes.country_code] {
            values.extend::<[Value; 2]>([detail.is_some().into(), detail.flatten().into()]);
        }
        let cap = changes.spend_cap_per_day;
        values.extend::<[Value; 2]>([cap.is_some().into(), optional_credits(cap.flatten())]);
        stored(change.execute_raw(statement(update, values)).await)?;
        if cap.is_some() {
            // Cached callers know whether there is a cap.
            self.commit_revised(change).await?;
        } else {
            stored(change.commit().await)?;
        }
        Ok(Updated::Done)
    }

    async fn set_mfa(
        &self,
        account: AccountId,
        mfa: MfaChange,
        notice: SealedMessage,
    ) -> Result<MfaChanged, StoreError> {
        let (change, enabled) = (self.write().await?, mfa.is_enabled());
        lock_account(&change, account).await?;
        let update = "UPDATE account SET mfa_enabled = $2 \
                      WHERE id = $1 AND mfa_enabled <> $2 AND verified_at IS NOT NULL";
        let update = statement(update, [account.0.into(), enabled.into()]);
        if stored(change.execute_raw(update).await)?.rows_affected() == 0 {
            return Ok(MfaChanged::Unchanged);
        }
        if let MfaChange::Disable(hash) = &mfa
            && !has_password(&change, account, hash).await?
        {
            // The update is rolled back.
            return Ok(MfaChanged::OtherPassword);
        }
        let event = SecurityEvent::MfaChanged;
        end_credentials(&change, account, event, None).await?;
        let switched = if enabled { Notice::MfaEnabled } else { Notice::MfaDisabled };
        notify(&change, account, &switched, notice.created_at).await?;
        insert_message(&change, notice).await?;
        self.commit_event(change, event).await?;
        self.outbox_notify.notify_one();
        Ok(MfaChanged::Done)
    }

    async fn delete_account(&self, deletion: Deletion) -> Result<bool, StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&deletion.recipient)).await?;
        lock_account(&change, deletion.account).await?;
        let account = deletion.account.0;
        if !may_delete(&change, deletion.account, &deletion.proof).await? {
            return Ok(false);
        }
        write_off(&change, deletion.account, deletion.at).await?;
        let left = "INSERT INTO departed (account_id, created_at) VALUES ($1, $2)";
        let left = statement(left, [account.into(), time(deletion.at)]);
        stored(change.execute_raw(left).await)?;
        forget_caller(&change, deletion.account, AT_ONCE).await?;
        let event = SecurityEvent::Deleted;
        end_credentials(&change, deletion.account, event, None).await?;
        let recipient = || digest(&deletion.recipient);
        // Keys, history and subscriptions go with the account.
        for forget in [
            statement("DELETE FROM usage_day WHERE account_id = $1", [account.into()]),
            statement("DELETE FROM lockout WHERE recipient = $1", [recipient()]),
            statement("DELETE FROM known_client WHERE recipient = $1", [recipient()]),
            statement("DELETE FROM challenge WHERE recipient = $1", [recipient()]),
            statement("DELETE FROM account WHERE id = $1", [account.into()]),
        ] {
            stored(change.execute_raw(forget).await)?;
        }
        insert_message(&change, deletion.notice).await?;
        if let DeletionProof::Operator(operation) = deletion.proof {
            record(&change, deletion.account, Some(operation)).await?;
        }
        self.commit_event(change, event).await?;
        self.outbox_notify.notify_one();
        Ok(true)
    }

    async fn account_of(&self, email: &Email) -> Result<Option<AccountId>, StoreError> {
        verified(&self.readers, email).await
    }

    async fn replace_password(&self, reset: PasswordChange) -> Result<bool, StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&reset.known.recipient)).await?;
        lock_account(&change, reset.account).await?;
        let proven = match &reset.proof {
            PasswordProof::Code(challenge) => use_up(&change, *challenge, change.now()).await?,
            PasswordProof::Current(hash) => has_password(&change, reset.account, hash).await?,
        };
        if !proven {
            return Ok(false);
        }
        let event = reset.event();
        let (account, recipient) = (reset.account.0, digest(&reset.known.recipient));
        let replace = "UPDATE account SET password_hash = $2 WHERE id = $1 AND email = $3";
        let values = [account.into(), reset.password_hash.0.into(), reset.email.as_str().into()];
        if stored(change.execute_raw(statement(replace, values)).await)?.rows_affected() == 0 {
            return Ok(false);
        }
        let unlock = statement("DELETE FROM lockout WHERE recipient = $1", [recipient]);
        stored(change.execute_raw(unlock).await)?;
        end_credentials(&change, reset.account, event, None).await?;
        notify(&change, reset.account, &Notice::PasswordChanged, reset.at).await?;
        know(&change, &reset.known).await?;
        insert_message(&change, reset.notice).await?;
        self.commit_event(change, event).await?;
        self.outbox_notify.notify_one();
        Ok(true)
    }

    async fn subscribe(
        &self,
        account: AccountId,
        database_name: &str,
        now: Timestamp,
    ) -> Result<Option<Subscription>, StoreError> {
        let insert = "INSERT INTO subscription (account_id, database_name, is_active, created_at) \
                      VALUES ($1, $2, TRUE, $3) ON CONFLICT DO NOTHING \
                      RETURNING id, database_name, is_active, created_at";
        let values = [account.0.into(), database_name.into(), time(now)];
        let change = self.write().await?;
        let row = stored(change.query_one_raw(statement(insert, values)).await)?;
        stored(change.commit().await)?;
        row.as_ref().map(subscription).transpose()
    }

    async fn unsubscribe(
        &self,
        account: AccountId,
        database_name: &str,
    ) -> Result<bool, StoreError> {
        let delete = "DELETE FROM subscription WHERE account_id = $1 AND database_name = $2";
        let delete = statement(delete, [account.0.into(), database_name.into()]);
        Ok(self.execute(delete).await?.rows_affected() > 0)
    }

    async fn subscriptions(&self, account: AccountId) -> Result<Vec<Subscription>, StoreError> {
        let query = "SELECT id, database_name, is_active, created_at FROM subscription \
                     WHERE account_id = $1 ORDER BY id";
        let query = statement(query, [account.0.into()]);
        let rows = stored(self.readers.query_all_raw(query).await)?;
        rows.iter().map(subscription).collect()
    }
}

/// Returns whether the account is there and still as the proof of its deletion says. The caller
/// holds the lock of the account.
async fn may_delete(
    change: &DatabaseTransaction,
    account: AccountId,
    proof: &DeletionProof,
) -> Result<bool, StoreError> {
    let only_without_password = match proof {
        DeletionProof::Password(hash) => return has_password(change, account, hash).await,
        DeletionProof::NoPassword => true,
        DeletionProof::Operator(_) => false,
    };
    let query = "SELECT id FROM account WHERE id = $1 AND verified_at IS NOT NULL \
                 AND NOT ($2 AND password_hash IS NOT NULL)";
    let query = statement(query, [account.0.into(), only_without_password.into()]);
    Ok(stored(change.query_one_raw(query).await)?.is_some())
}

/// Returns whether the account still has this password, and locks the account.
async fn has_password(
    change: &DatabaseTransaction,
    account: AccountId,
    hash: &PasswordHash,
) -> Result<bool, StoreError> {
    lock_account(change, account).await?;
    let query = "SELECT id FROM account WHERE id = $1 AND password_hash = $2 \
                 AND verified_at IS NOT NULL";
    let query = statement(query, [account.0.into(), hash.0.as_str().into()]);
    Ok(stored(change.query_one_raw(query).await)?.is_some())
}

/// Returns whether the user name is that of another verified account, or of another address's form
/// whose code has not expired, also a code of a clock that is ahead. The caller holds the lock of
/// the name, under which it read `now`.
pub(super) async fn name_taken(
    change: &DatabaseTransaction,
    username: &Username,
    email: &Email,
    but: Option<AccountId>,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let query = "SELECT id FROM account WHERE username_key = $1 AND id <> $4 \
                 AND (verified_at IS NOT NULL \
                 OR (email <> $2 AND EXISTS (SELECT 1 FROM challenge \
                     WHERE account_id = account.id AND purpose = 'registration' \
                     AND NOT used AND created_at > $3)))";
    let values = [
        username.key().into(),
        email.as_str().into(),
        time(now - VALIDITY),
        but.map_or(0, |account| account.0).into(),
    ];
    Ok(stored(change.query_one_raw(statement(query, values)).await)?.is_some())
}

/// Returns the verified account of an address.
pub(super) async fn verified(
    connection: &impl ConnectionTrait,
    email: &Email,
) -> Result<Option<AccountId>, StoreError> {
    let query = "SELECT id FROM account WHERE email = $1 AND verified_at IS NOT NULL";
    let query = statement(query, [email.as_str().into()]);
    let row = stored(connection.query_one_raw(query).await)?;
    row.map(|row| Ok(AccountId(column(&row, "id")?))).transpose()
}

/// Removes the unverified forms with this address or this user name, with their codes.
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

impl Store {
    /// Inserts a verified account with its key and its credits, in place of an unverified form of
    /// the address. Inserts nothing where address or user name are taken.
    pub(super) async fn insert_account(
        &self,
        change: &WriteTransaction,
        row: AccountRow,
    ) -> Result<Creation, StoreError> {
        lock(change, AdvisoryLock::Username(&row.username)).await?;
        let now = row.created_at;
        if verified(&**change, &row.email).await?.is_some() {
            return Ok(Creation::EmailTaken);
        }
        if name_taken(change, &row.username, &row.email, None, change.now()).await? {
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
            end_credentials(transaction, account, SecurityEvent::Suspended, None).await?;
            statement(
                "UPDATE api_key SET status = 'suspended' WHERE account_id = $1 AND status = 'active'",
                [id],
            )
        }
        Change::Activate => statement(
            "UPDATE api_key SET status = 'active' WHERE account_id = $1 AND status = 'suspended'",
            [id],
        ),
        Change::Admin(is_admin) => {
            statement("UPDATE account SET is_admin = $2 WHERE id = $1", [id, is_admin.into()])
        }
        Change::Unlock(recipient) => {
            statement("DELETE FROM lockout WHERE recipient = $1", [digest(&recipient)])
        }
    };
    stored(transaction.execute_raw(update).await)?;
    Ok(())
}

/// Reads a row of [`PROFILE`].
pub(super) fn profile(row: &QueryResult) -> Result<Profile, StoreError> {
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
        spend_cap_per_day: credits_column(row, "spend_cap_per_day")?,
        is_verified: optional_time_column(row, "verified_at")?.is_some(),
        is_admin: column(row, "is_admin")?,
        mfa_enabled: column(row, "mfa_enabled")?,
        created_at: time_column(row, "created_at")?,
        last_login_at: optional_time_column(row, "last_login_at")?,
        api_key_created_at: optional_time_column(row, "key_created_at")?,
        api_key_status,
    })
}

/// Changes a user name to a free one, and removes forms with an expired code that had the name.
/// Returns `false` where another transaction took the name first.
async fn rename(
    change: &DatabaseTransaction,
    account: AccountId,
    username: &Username,
) -> Result<bool, StoreError> {
    let discard = "DELETE FROM account WHERE username_key = $1 AND verified_at IS NULL";
    stored(change.execute_raw(statement(discard, [username.key().into()])).await)?;
    let rename = "UPDATE account SET username = $2, username_key = $3 WHERE id = $1";
    let values = [account.0.into(), username.as_str().into(), username.key().into()];
    unless_taken(change.execute_raw(statement(rename, values)).await)
}

/// Writes off the remaining balance of a deleted account, so that its ledger sums to zero.
async fn write_off(
    change: &DatabaseTransaction,
    account: AccountId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let book = "INSERT INTO ledger (account_id, kind, credits, balance_after, description, created_at, updated_at) \
                SELECT id, $2, -credit_balance, 0, 'The account was deleted', $3, $3 \
                FROM account WHERE id = $1 AND credit_balance > 0";
    let values = [account.0.into(), TransactionKind::Adjustment.name().into(), time(now)];
    stored(change.execute_raw(statement(book, values)).await)?;
    Ok(())
}

fn subscription(row: &QueryResult) -> Result<Subscription, StoreError> {
    Ok(Subscription {
        id: column(row, "id")?,
        database_name: column(row, "database_name")?,
        is_active: column(row, "is_active")?,
        subscribed_at: time_column(row, "created_at")?,
    })
}

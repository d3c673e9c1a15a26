//! Identities at the provider, started sign-ins, incomplete profiles, hand-off codes.

use account_core::digest::Digest;
use account_core::hand_off;
use account_core::id_token::{COMPLETION_VALIDITY, ProvenIdentity, START_VALIDITY};
use account_core::identity::{Contact, Email};
use account_core::store::{
    AccountRow, CompletionRow, Creation, ExternalIdentityStore, IdpAccount, KnownIdentity,
    LoginMethod, NewHandOff, OpenedSession, StartRow, TryStatus,
};
use account_core::token::{BrowserToken, CompletionToken, HandOffCode, StateToken};
use account_core::{AccountId, Destination, KeyId, KeyStatus, Notice, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryResult};

use super::accounts::verified;
use super::engine::{AdvisoryLock, lock_account};
use super::handle::Store;
use super::notifications::notify;
use super::rows::{column, digest, malformed, named, number, statement, stored, time, time_column};
use super::sign_in::{begin_session, remember, sealed_key};

impl ExternalIdentityStore for Store {
    async fn start_idp(&self, row: StartRow) -> Result<(), StoreError> {
        let change = self.write().await?;
        let insert = "INSERT INTO idp_start (state, browser, desktop, created_at) \
                      VALUES ($1, $2, $3, $4)";
        let desktop = row.destination.text().into();
        let values = [digest(&row.state), digest(&row.browser), desktop, time(row.at)];
        stored(change.execute_raw(statement(insert, values)).await)?;
        stored(change.commit().await)
    }

    async fn finish_idp(
        &self,
        state: Digest<StateToken>,
        browser: Digest<BrowserToken>,
    ) -> Result<Option<Destination>, StoreError> {
        let change = self.write().await?;
        let take = "DELETE FROM idp_start WHERE state = $1 AND browser = $2 AND created_at > $3 \
                    RETURNING desktop";
        let since = time(change.now() - START_VALIDITY);
        let values = [digest(&state), digest(&browser), since];
        let row = stored(change.query_one_raw(statement(take, values)).await)?;
        stored(change.commit().await)?;
        row.map(|row| destination(&row)).transpose()
    }

    async fn known_identity(
        &self,
        identity: &ProvenIdentity,
        now: Timestamp,
    ) -> Result<KnownIdentity, StoreError> {
        let change = self.write().await?;
        let linked = match linked(&change, identity).await? {
            Some(account) => Some(account),
            None => link_by_email(&change, identity, now).await?,
        };
        let account = match linked {
            Some(account) => idp_account(&change, account).await?,
            None => None,
        };
        stored(change.commit().await)?;
        Ok(account.map_or(KnownIdentity::New, KnownIdentity::Account))
    }

    async fn save_completion(
        &self,
        token: Digest<CompletionToken>,
        row: CompletionRow,
    ) -> Result<(), StoreError> {
        let change = self.write().await?;
        let insert = "INSERT INTO idp_completion \
                      (digest, issuer, subject, email, desktop, created_at) \
                      VALUES ($1, $2, $3, $4, $5, $6)";
        let values = [
            digest(&token),
            row.identity.issuer.into(),
            row.identity.subject.into(),
            row.email.as_str().into(),
            row.destination.text().into(),
            time(row.at),
        ];
        stored(change.execute_raw(statement(insert, values)).await)?;
        stored(change.commit().await)
    }

    async fn completion(
        &self,
        token: Digest<CompletionToken>,
        since: Timestamp,
    ) -> Result<Option<CompletionRow>, StoreError> {
        let query = "SELECT issuer, subject, email, desktop, created_at FROM idp_completion \
                     WHERE digest = $1 AND created_at > $2";
        let query = statement(query, [digest(&token), time(since)]);
        let row = stored(self.readers.query_one_raw(query).await)?;
        row.map(|row| completion(&row)).transpose()
    }

    async fn complete(
        &self,
        token: Digest<CompletionToken>,
        account: AccountRow,
        contact: Contact,
        opened: OpenedSession,
    ) -> Result<Option<Creation>, StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&opened.known.recipient)).await?;
        let take = "DELETE FROM idp_completion WHERE digest = $1 AND created_at > $2 \
                    RETURNING issuer, subject, email, desktop, created_at";
        let since = time(change.now() - COMPLETION_VALIDITY);
        let take = statement(take, [digest(&token), since]);
        let Some(row) = stored(change.query_one_raw(take).await)? else { return Ok(None) };
        let identity = completion(&row)?.identity;
        if linked(&change, &identity).await?.is_some() {
            return Ok(None);
        }
        let (id, now) = (account.id, account.created_at);
        // In every other case the transaction is dropped, and the token stays valid.
        match self.insert_account(&change, account).await? {
            Creation::Done => {}
            refused => return Ok(Some(refused)),
        }
        let update = "UPDATE account SET phone = $2, country = $3, country_code = $4 WHERE id = $1";
        let Contact { phone, country, country_code } = contact;
        let values = [id.0.into(), phone.into(), country.into(), country_code.into()];
        stored(change.execute_raw(statement(update, values)).await)?;
        if !link(&change, &identity, id, now).await? {
            return Ok(None);
        }
        notify(&change, id, &Notice::Welcome, now).await?;
        let OpenedSession { session, known, client, method, .. } = opened;
        begin_session(&change, &session, &known, &client, method).await?;
        stored(change.commit().await)?;
        Ok(Some(Creation::Done))
    }

    async fn save_hand_off(&self, code: NewHandOff) -> Result<bool, StoreError> {
        let NewHandOff { digest: found_by, account, key, method, created_at } = code;
        let change = self.write().await?;
        lock_account(&change, account).await?;
        let is_active = is_active(&change, account, key).await?;
        if is_active {
            let insert = "INSERT INTO hand_off (digest, account_id, method, created_at) \
                          VALUES ($1, $2, $3, $4)";
            let method = method.name().into();
            let values = [digest(&found_by), account.0.into(), method, time(created_at)];
            stored(change.execute_raw(statement(insert, values)).await)?;
        }
        stored(change.commit().await)?;
        Ok(is_active)
    }

    async fn take_hand_off(
        &self,
        code: Digest<HandOffCode>,
    ) -> Result<Option<(IdpAccount, LoginMethod)>, StoreError> {
        let change = self.write().await?;
        let now = change.now();
        let since = now - hand_off::VALIDITY;
        let take = "DELETE FROM hand_off \
                    WHERE digest = $1 AND created_at > $2 AND created_at <= $3 \
                    RETURNING account_id, method";
        let take = statement(take, [digest(&code), time(since), time(now)]);
        let row = stored(change.query_one_raw(take).await)?;
        let account = match row {
            Some(row) => {
                let method = named(&row, "method", &LoginMethod::ALL, LoginMethod::name)?;
                let account = AccountId(column(&row, "account_id")?);
                idp_account(&change, account).await?.map(|known| (known, method))
            }
            None => None,
        };
        stored(change.commit().await)?;
        Ok(account)
    }

    async fn open_session(&self, opened: OpenedSession) -> Result<bool, StoreError> {
        let OpenedSession { session, key, known, client, method } = opened;
        let change = self.write_locked(AdvisoryLock::Email(&known.recipient)).await?;
        lock_account(&change, session.account).await?;
        let is_active = is_active(&change, session.account, key).await?;
        if is_active {
            begin_session(&change, &session, &known, &client, method).await?;
        } else {
            let (account, at) = (Some(session.account), session.created_at);
            remember(&change, account, &client, method, TryStatus::Failed, at).await?;
        }
        stored(change.commit().await)?;
        Ok(is_active)
    }
}

/// Returns whether the key is the account's active key.
async fn is_active(
    change: &DatabaseTransaction,
    account: AccountId,
    key: KeyId,
) -> Result<bool, StoreError> {
    let query = "SELECT id FROM api_key WHERE account_id = $1 AND id = $2 AND status = 'active'";
    let query = statement(query, [account.0.into(), number(key.0)]);
    Ok(stored(change.query_one_raw(query).await)?.is_some())
}

/// Returns the account of an identity.
async fn linked(
    change: &DatabaseTransaction,
    identity: &ProvenIdentity,
) -> Result<Option<AccountId>, StoreError> {
    let query = "SELECT account_id FROM idp_identity WHERE issuer = $1 AND subject = $2";
    let values = [identity.issuer.as_str().into(), identity.subject.as_str().into()];
    let row = stored(change.query_one_raw(statement(query, values)).await)?;
    row.map(|row| Ok(AccountId(column(&row, "account_id")?))).transpose()
}

/// Links an identity to the verified account of its confirmed address, if there is one.
async fn link_by_email(
    change: &DatabaseTransaction,
    identity: &ProvenIdentity,
    now: Timestamp,
) -> Result<Option<AccountId>, StoreError> {
    let Some(email) = &identity.email else { return Ok(None) };
    let Some(account) = verified(change, email).await? else { return Ok(None) };
    if link(change, identity, account, now).await? {
        notify(change, account, &Notice::ProviderLinked, now).await?;
    }
    Ok(Some(account))
}

/// Links an identity to an account; `false` where another sign-in linked the identity at the same
/// time.
async fn link(
    change: &DatabaseTransaction,
    identity: &ProvenIdentity,
    account: AccountId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let insert = "INSERT INTO idp_identity (issuer, subject, account_id, created_at) \
                  VALUES ($1, $2, $3, $4) ON CONFLICT (issuer, subject) DO NOTHING";
    let values = [
        identity.issuer.as_str().into(),
        identity.subject.as_str().into(),
        account.0.into(),
        time(now),
    ];
    Ok(stored(change.execute_raw(statement(insert, values)).await)?.rows_affected() > 0)
}

async fn idp_account(
    change: &DatabaseTransaction,
    account: AccountId,
) -> Result<Option<IdpAccount>, StoreError> {
    let query = "SELECT email, api_key.id AS key_id, sealed, data_key, status FROM account \
                 LEFT JOIN api_key ON api_key.account_id = account.id AND status <> 'revoked' \
                 WHERE account.id = $1 AND verified_at IS NOT NULL";
    let query = statement(query, [account.0.into()]);
    let Some(row) = stored(change.query_one_raw(query).await)? else { return Ok(None) };
    let status: Option<String> = column(&row, "status")?;
    Ok(Some(IdpAccount {
        account,
        email: Email::parse(&column::<String>(&row, "email")?).map_err(StoreError::new)?,
        is_suspended: status.as_deref() == Some(KeyStatus::Suspended.name()),
        key: status.map(|_| sealed_key(&row)).transpose()?,
    }))
}

fn completion(row: &QueryResult) -> Result<CompletionRow, StoreError> {
    let email: String = column(row, "email")?;
    let email = Email::parse(&email).map_err(StoreError::new)?;
    Ok(CompletionRow {
        identity: ProvenIdentity {
            issuer: column(row, "issuer")?,
            subject: column(row, "subject")?,
            email: Some(email.clone()),
            name: None,
        },
        email,
        destination: destination(row)?,
        at: time_column(row, "created_at")?,
    })
}

fn destination(row: &QueryResult) -> Result<Destination, StoreError> {
    let text: Option<String> = column(row, "desktop")?;
    Destination::from_text(text.as_deref()).ok_or_else(|| malformed("desktop"))
}

//! OAuth clients and their grants, with codes and tokens that are used by conditional updates.
//!
//! A write that depends on an earlier read has the account, or for a refresh the grant, to itself.
//! On PostgreSQL an update without a change locks that row.

use account_core::digest::Digest;
use account_core::oauth::grant::{
    Authorization, Bearer, CodeVerdict, Grant, GrantId, IssuedCode, MOST_GRANTS, Redemption,
    RefreshVerdict, Rotation, StoredAccess, StoredRefresh, TokenDigests,
};
use account_core::oauth::token::{ACCESS_VALIDITY, AccessToken, REFRESH_VALIDITY, RefreshToken};
use account_core::oauth::{ClientId, ClientName, CodeChallenge, RedirectUri, RegisteredClient};
use account_core::session::{IDLE, LONGEST, SessionToken};
use account_core::store::OauthStore;
use account_core::{AccountCaller, AccountId, KeyId, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryResult, Value};
use serde_json::json;

use super::engine::lock_account;
use super::handle::Store;
use super::rows::{
    column, digest, malformed, narrow, number, number_column, optional_time_column, statement,
    stored, tier_and_limit, time, time_column,
};

/// The time after which a use of a client is recorded again.
const TOUCH: chrono::TimeDelta = account_core::oauth::grant::TOUCH;

const ACCESS: &str = "access";

const REFRESH: &str = "refresh";

impl OauthStore for Store {
    async fn save_client(&self, client: RegisteredClient) -> Result<(), StoreError> {
        let uris: Vec<&str> = client.redirect_uris.iter().map(RedirectUri::as_str).collect();
        let insert = "INSERT INTO oauth_client (id, name, redirect_uris, created_at) \
                      VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO UPDATE \
                      SET name = excluded.name, redirect_uris = excluded.redirect_uris";
        let values = [
            client.id.as_str().into(),
            client.name.as_str().into(),
            json!(uris).to_string().into(),
            time(client.created_at),
        ];
        self.execute(statement(insert, values)).await?;
        Ok(())
    }

    async fn client(&self, id: &ClientId) -> Result<Option<RegisteredClient>, StoreError> {
        let query = "SELECT name, redirect_uris, created_at FROM oauth_client WHERE id = $1";
        let query = statement(query, [id.as_str().into()]);
        let Some(row) = stored(self.readers.query_one_raw(query).await)? else { return Ok(None) };
        let uris: String = column(&row, "redirect_uris")?;
        let uris: Vec<String> = serde_json::from_str(&uris).map_err(StoreError::new)?;
        let redirect_uris = uris.iter().map(|uri| RedirectUri::parse(uri));
        Ok(Some(RegisteredClient {
            id: id.clone(),
            name: ClientName::clean(&column::<String>(&row, "name")?),
            redirect_uris: redirect_uris
                .collect::<Result<_, _>>()
                .map_err(|_| malformed("redirect_uris"))?,
            created_at: time_column(&row, "created_at")?,
        }))
    }

    async fn save_code(
        &self,
        code: IssuedCode,
        session: &Digest<SessionToken>,
    ) -> Result<bool, StoreError> {
        let change = self.write().await?;
        lock_account(&change, code.account).await?;
        let now = change.now();
        let lives = "UPDATE session \
                     SET last_used_at = CASE WHEN last_used_at < $3 THEN $3 ELSE last_used_at END \
                     WHERE digest = $1 AND account_id = $2 \
                     AND last_used_at > $4 AND created_at > $5";
        let values = [
            digest(session),
            code.account.0.into(),
            time(now),
            time(now - IDLE),
            time(now - LONGEST),
        ];
        if execute(&change, lives, values).await? == 0 {
            return Ok(false);
        }
        let insert = "INSERT INTO oauth_code (digest, account_id, client_id, redirect_uri, challenge, resource, created_at) \
                      VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let asked = &code.authorization;
        let values = [
            digest(&code.digest),
            code.account.0.into(),
            asked.client.as_str().into(),
            asked.redirect_uri.as_str().into(),
            asked.challenge.as_str().into(),
            asked.resource.as_str().into(),
            time(code.created_at),
        ];
        execute(&change, insert, values).await?;
        touch_client(&change, &asked.client, now).await?;
        stored(change.commit().await)?;
        Ok(true)
    }

    async fn redeem_code(&self, redemption: Redemption) -> Result<bool, StoreError> {
        let change = self.write().await?;
        let whose = "SELECT account_id FROM oauth_code WHERE digest = $1";
        let whose = statement(whose, [digest(&redemption.code)]);
        let Some(row) = stored(change.query_one_raw(whose).await)? else { return Ok(false) };
        lock_account(&change, AccountId(column(&row, "account_id")?)).await?;
        let query = "SELECT account_id, client_id, redirect_uri, challenge, resource, created_at, \
                     grant_id FROM oauth_code WHERE digest = $1";
        let query = statement(query, [digest(&redemption.code)]);
        let Some(row) = stored(change.query_one_raw(query).await)? else { return Ok(false) };
        let code = issued(&row, redemption.code)?;
        let now = change.now();
        match code.judge(&redemption, now) {
            CodeVerdict::Redeem => {
                if begin(&change, code.account, &redemption, now).await? {
                    self.commit_revised(change).await?;
                } else {
                    stored(change.commit().await)?;
                }
                Ok(true)
            }
            CodeVerdict::Replay(grant) => {
                end(&change, grant).await?;
                self.commit_revised(change).await?;
                Ok(false)
            }
            CodeVerdict::Refuse => Ok(false),
        }
    }

    /// Applies the rule of refresh token rotation, [`StoredRefresh::judge`], in one transaction. The
    /// flow around it is [`Accounts::refresh`](account_core::Accounts::refresh).
    async fn rotate(&self, rotation: Rotation) -> Result<RefreshVerdict, StoreError> {
        let change = self.write().await?;
        let take = "UPDATE oauth_grant SET id = id \
                    WHERE id = (SELECT grant_id FROM oauth_token WHERE digest = $1)";
        if execute(&change, take, [digest(&rotation.token)]).await? == 0 {
            return Ok(RefreshVerdict::Refuse);
        }
        let query = "SELECT grant_id, client_id, resource, oauth_grant.created_at AS begun_at, \
                     oauth_token.created_at, oauth_token.expires_at, used_at FROM oauth_token \
                     JOIN oauth_grant ON oauth_grant.id = oauth_token.grant_id \
                     WHERE digest = $1 AND kind = $2";
        let query = statement(query, [digest(&rotation.token), REFRESH.into()]);
        let Some(row) = stored(change.query_one_raw(query).await)? else {
            return Ok(RefreshVerdict::Refuse);
        };
        let grant = GrantId(number_column(&row, "grant_id")?);
        let now = change.now();
        let verdict = refresh(&row)?.judge(&rotation, now);
        match verdict {
            RefreshVerdict::Rotate => {
                succeed(&change, grant, &rotation, now).await?;
                stored(change.commit().await)?;
            }
            RefreshVerdict::Reuse => {
                end(&change, grant).await?;
                self.commit_revised(change).await?;
            }
            RefreshVerdict::Again(_) | RefreshVerdict::Refuse => {}
        }
        Ok(verdict)
    }

    async fn account_by_token(
        &self,
        token: &Digest<AccessToken>,
    ) -> Result<Option<StoredAccess>, StoreError> {
        let query = "SELECT account.id, api_key.id AS key_id, tier, hourly_limit, credit_balance, \
                     last_grant, \
                     spend_cap_per_day IS NOT NULL AS is_capped, is_admin, resource, oauth_token.expires_at FROM oauth_token \
                     JOIN oauth_grant ON oauth_grant.id = oauth_token.grant_id \
                     JOIN account ON account.id = oauth_grant.account_id \
                     JOIN api_key ON api_key.account_id = account.id AND status = 'active' \
                     WHERE oauth_token.digest = $1 AND kind = $2 AND verified_at IS NOT NULL";
        let query = statement(query, [digest(token), ACCESS.into()]);
        let Some(row) = stored(self.readers.query_one_raw(query).await)? else { return Ok(None) };
        let (tier, hourly_limit) = tier_and_limit(&row)?;
        let caller = AccountCaller {
            id: AccountId(column(&row, "id")?),
            key_id: KeyId(number_column(&row, "key_id")?),
            tier,
            hourly_limit,
            credit_balance: narrow(&row, "credit_balance")?,
            last_grant: narrow(&row, "last_grant")?,
            is_capped: column(&row, "is_capped")?,
            is_admin: column(&row, "is_admin")?,
        };
        let bearer = Bearer { caller, expires_at: time_column(&row, "expires_at")? };
        Ok(Some(StoredAccess { bearer, resource: column(&row, "resource")? }))
    }

    async fn end_token(
        &self,
        access: &Digest<AccessToken>,
        refresh: &Digest<RefreshToken>,
        client: Option<&ClientId>,
    ) -> Result<bool, StoreError> {
        let change = self.write().await?;
        let query = "SELECT kind, grant_id, client_id FROM oauth_token \
                     JOIN oauth_grant ON oauth_grant.id = oauth_token.grant_id \
                     WHERE (digest = $1 AND kind = $2) OR (digest = $3 AND kind = $4)";
        let values = [digest(access), ACCESS.into(), digest(refresh), REFRESH.into()];
        let query = statement(query, values);
        let Some(row) = stored(change.query_one_raw(query).await)? else { return Ok(true) };
        let owner: String = column(&row, "client_id")?;
        if client.is_some_and(|client| client.as_str() != owner) {
            return Ok(false);
        }
        if column::<String>(&row, "kind")? == REFRESH {
            end(&change, GrantId(number_column(&row, "grant_id")?)).await?;
        } else {
            let delete = "DELETE FROM oauth_token WHERE digest = $1";
            execute(&change, delete, [digest(access)]).await?;
        }
        self.commit_revised(change).await?;
        Ok(true)
    }

    async fn grants(&self, account: AccountId, now: Timestamp) -> Result<Vec<Grant>, StoreError> {
        let query = "SELECT oauth_grant.id, client_id, name, oauth_grant.created_at, \
                     oauth_grant.last_used_at FROM oauth_grant \
                     JOIN oauth_client ON oauth_client.id = client_id \
                     WHERE account_id = $1 AND expires_at > $2 \
                     ORDER BY oauth_grant.created_at DESC, oauth_grant.id DESC";
        let query = statement(query, [account.0.into(), time(now)]);
        let rows = stored(self.readers.query_all_raw(query).await)?;
        let grants = rows.iter().map(|row| {
            Ok(Grant {
                id: GrantId(number_column(row, "id")?),
                client: client_id(row)?,
                client_name: ClientName::clean(&column::<String>(row, "name")?),
                created_at: time_column(row, "created_at")?,
                last_used_at: time_column(row, "last_used_at")?,
            })
        });
        grants.collect()
    }

    async fn end_grant(&self, account: AccountId, grant: GrantId) -> Result<bool, StoreError> {
        let change = self.write().await?;
        let delete = "DELETE FROM oauth_grant WHERE id = $1 AND account_id = $2";
        let ended = execute(&change, delete, [number(grant.0), account.0.into()]).await? > 0;
        if ended {
            self.commit_revised(change).await?;
        }
        Ok(ended)
    }
}

/// Records a use of a client, unless a recent use is recorded.
pub(super) async fn touch_client(
    change: &DatabaseTransaction,
    client: &ClientId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let touch = "UPDATE oauth_client SET last_used_at = $2 \
                 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $3)";
    let values = [client.as_str().into(), time(now), time(now - TOUCH)];
    stored(change.execute_raw(statement(touch, values)).await)?;
    Ok(())
}

/// Saves the grant and its tokens; returns whether an older grant was ended.
async fn begin(
    change: &DatabaseTransaction,
    account: AccountId,
    redemption: &Redemption,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let id = number(redemption.grant.0);
    let used = "UPDATE oauth_code SET grant_id = $2 WHERE digest = $1";
    execute(change, used, [digest(&redemption.code), id.clone()]).await?;
    let insert = "INSERT INTO oauth_grant (id, account_id, client_id, resource, created_at, last_used_at, expires_at) \
                  VALUES ($1, $2, $3, $4, $5, $5, $6)";
    let exchange = &redemption.exchange;
    let values = [
        id.clone(),
        account.0.into(),
        exchange.client.as_str().into(),
        exchange.resource.as_str().into(),
        time(now),
        time(now + REFRESH_VALIDITY),
    ];
    execute(change, insert, values).await?;
    save_tokens(change, redemption.grant, &redemption.tokens, now).await?;
    // The new grant stays, also where another instance's clock is ahead of this one's.
    let surplus = "DELETE FROM oauth_grant WHERE account_id = $1 AND id <> $2 AND id NOT IN \
                   (SELECT id FROM oauth_grant WHERE account_id = $1 AND id <> $2 \
                    ORDER BY created_at DESC, id DESC LIMIT $3)";
    let others = MOST_GRANTS - 1;
    let ended = execute(change, surplus, [account.0.into(), id, others.into()]).await?;
    touch_client(change, &exchange.client, now).await?;
    Ok(ended > 0)
}

/// Marks the token as used, and saves the next tokens.
async fn succeed(
    change: &DatabaseTransaction,
    grant: GrantId,
    rotation: &Rotation,
    now: Timestamp,
) -> Result<(), StoreError> {
    let used = "UPDATE oauth_token SET used_at = $2 WHERE digest = $1";
    execute(change, used, [digest(&rotation.token), time(now)]).await?;
    let lives = "UPDATE oauth_grant SET last_used_at = $2, expires_at = $3 WHERE id = $1";
    let values = [number(grant.0), time(now), time(now + REFRESH_VALIDITY)];
    execute(change, lives, values).await?;
    save_tokens(change, grant, &rotation.tokens, now).await?;
    touch_client(change, &rotation.refresh.client, now).await
}

async fn save_tokens(
    change: &DatabaseTransaction,
    grant: GrantId,
    tokens: &TokenDigests,
    now: Timestamp,
) -> Result<(), StoreError> {
    let insert = "INSERT INTO oauth_token (digest, grant_id, kind, created_at, expires_at) \
                  VALUES ($1, $2, $3, $4, $5), ($6, $2, $7, $4, $8)";
    let values = [
        digest(&tokens.access),
        number(grant.0),
        ACCESS.into(),
        time(now),
        time(now + ACCESS_VALIDITY),
        digest(&tokens.refresh),
        REFRESH.into(),
        time(now + REFRESH_VALIDITY),
    ];
    execute(change, insert, values).await?;
    Ok(())
}

async fn end(change: &DatabaseTransaction, grant: GrantId) -> Result<(), StoreError> {
    execute(change, "DELETE FROM oauth_grant WHERE id = $1", [number(grant.0)]).await?;
    Ok(())
}

async fn execute<const N: usize>(
    change: &DatabaseTransaction,
    sql: &str,
    values: [Value; N],
) -> Result<u64, StoreError> {
    Ok(stored(change.execute_raw(statement(sql, values)).await)?.rows_affected())
}

fn client_id(row: &QueryResult) -> Result<ClientId, StoreError> {
    ClientId::parse(&column::<String>(row, "client_id")?).ok_or_else(|| malformed("client_id"))
}

fn issued(
    row: &QueryResult,
    code: Digest<account_core::oauth::AuthorizationCode>,
) -> Result<IssuedCode, StoreError> {
    let grant: Option<Vec<u8>> = column(row, "grant_id")?;
    let read = |text: &str| column::<String>(row, text);
    Ok(IssuedCode {
        digest: code,
        account: AccountId(column(row, "account_id")?),
        authorization: Authorization {
            client: client_id(row)?,
            redirect_uri: RedirectUri::parse(&read("redirect_uri")?).map_err(StoreError::new)?,
            challenge: CodeChallenge::parse(&read("challenge")?).map_err(StoreError::new)?,
            resource: read("resource")?,
        },
        created_at: time_column(row, "created_at")?,
        grant: grant.map(|_| number_column(row, "grant_id").map(GrantId)).transpose()?,
    })
}

fn refresh(row: &QueryResult) -> Result<StoredRefresh, StoreError> {
    Ok(StoredRefresh {
        client: client_id(row)?,
        resource: column(row, "resource")?,
        begun_at: time_column(row, "begun_at")?,
        created_at: time_column(row, "created_at")?,
        expires_at: time_column(row, "expires_at")?,
        used_at: optional_time_column(row, "used_at")?,
    })
}

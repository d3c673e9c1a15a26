//! Sign-in attempts, one-time codes and sessions. An attempt is counted and committed before its
//! password or code is compared.

use account_core::client::{Client, KNOWN_FOR, KnownClient, Marks};
use account_core::code::{Attempt, Challenge, ChallengeId, Purpose, TRIES};
use account_core::digest::Digest;
use account_core::identity::Email;
use account_core::key::KeyId;
use account_core::lockout::{Counter, Counters, LOCK, Lockout, Reservation, Tries};
use account_core::outbox::SealedMessage;
use account_core::session::{IDLE, LONGEST, Session, SessionId, SessionToken};
use account_core::store::{
    Concluded, Conclusion, Credentials, ListedSession, LoginHistory, LoginMethod, LoginTry,
    Outcome, ReservedTry, SealedKey, SessionPage, SignInStore, TryStatus,
};
use account_core::vault::Sealed;
use account_core::{
    AccountId, KeyStatus, Notice, PasswordHash, SecurityEvent, StoreError, Timestamp,
};
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryResult};

use super::clients::{counters, know};
use super::engine::{AdvisoryLock, lock_account};
use super::handle::Store;
use super::notifications::{insert_message, may_send, notify};
use super::revocation::end_credentials;
use super::rows::{
    address_column, column, digest, digest_column, named, narrow, number, number_column,
    optional_time, optional_time_column, statement, stored, time, time_column,
};

/// A page of an account's login attempts.
pub(super) const LOGIN_TRIES: &str = "SELECT id, ip, user_agent, status, method, created_at \
    FROM login_try WHERE account_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3";

/// The number of login attempts by status.
pub(super) const TRY_COUNTS: &str = "SELECT status, count(*) AS tries FROM login_try \
    WHERE account_id = $1 GROUP BY status";

impl SignInStore for Store {
    async fn reserve_confirmation(
        &self,
        email: &Email,
        recipient: Digest<Email>,
    ) -> Result<ReservedTry, StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&recipient)).await?;
        let now = change.now();
        let counters = Counters::only(Counter::Confirmations);
        let reserved = reserve(&change, email, &recipient, counters, now).await?;
        stored(change.commit().await)?;
        Ok(reserved)
    }

    async fn conclude_confirmation(
        &self,
        recipient: Digest<Email>,
        reservation: Reservation,
        right: bool,
    ) -> Result<(), StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&recipient)).await?;
        conclude(&change, &recipient, &reservation, right, change.now()).await?;
        stored(change.commit().await)
    }

    async fn reserve_try(
        &self,
        email: &Email,
        recipient: Digest<Email>,
        marks: Marks,
    ) -> Result<ReservedTry, StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&recipient)).await?;
        let now = change.now();
        let counters = counters(&change, &recipient, &marks, now).await?;
        let reserved = reserve(&change, email, &recipient, counters, now).await?;
        stored(change.commit().await)?;
        Ok(reserved)
    }

    async fn conclude_try(&self, conclusion: Conclusion) -> Result<Concluded, StoreError> {
        let Conclusion { recipient, reservation, known: before, client, outcome } = conclusion;
        let change = self.write_locked(AdvisoryLock::Email(&recipient)).await?;
        let account = before.as_ref().map(|before| before.account);
        if let Some(account) = account.filter(|_| outcome.begins_something()) {
            lock_account(&change, account).await?;
        }
        let at = change.now();
        let right = !matches!(outcome, Outcome::Wrong { .. });
        let locks = conclude(&change, &recipient, &reservation, right, at).await?;
        let method = LoginMethod::Password;
        if outcome.begins_something() && !is_as_before(&change, before.as_ref()).await? {
            remember(&change, account, &client, method, TryStatus::Failed, at).await?;
            stored(change.commit().await)?;
            return Ok(Concluded::Outdated);
        }
        let mut limit_status = None;
        match outcome {
            Outcome::NotLooked { locked: false } => {}
            Outcome::NotLooked { locked: true } => {
                remember(&change, account, &client, method, TryStatus::Locked, at).await?;
            }
            Outcome::Wrong { notice } => {
                remember(&change, account, &client, method, TryStatus::Failed, at).await?;
                if locks && may_send(&change, &recipient, Purpose::Lock, at).await? {
                    insert_message(&change, notice).await?;
                    // The same statement runs for an address without an account, and changes no
                    // row.
                    let account = account.unwrap_or(AccountId(0));
                    let locked = Notice::Locked { until: at + LOCK };
                    notify(&change, account, &locked, at).await?;
                }
            }
            Outcome::Refused => {
                remember(&change, account, &client, method, TryStatus::Failed, at).await?;
            }
            Outcome::SignedIn { session, known, rehashed } => {
                rehash(&change, Some(session.account), rehashed).await?;
                begin_session(&change, &session, &known, &client, method).await?;
            }
            Outcome::MfaRequired { challenge, message, rehashed } => {
                rehash(&change, challenge.account, rehashed).await?;
                if may_send(&change, &recipient, Purpose::Mfa, at).await? {
                    replace_challenge(&change, &challenge).await?;
                    insert_message(&change, message).await?;
                }
                limit_status = standing_challenge(&change, &recipient).await?;
            }
        }
        stored(change.commit().await)?;
        // The worker may find no message to send.
        self.outbox_notify.notify_one();
        Ok(Concluded::Done(limit_status))
    }

    async fn complete_mfa(
        &self,
        challenge: ChallengeId,
        session: Session,
        known: KnownClient,
        client: &Client,
    ) -> Result<Option<SealedKey>, StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&known.recipient)).await?;
        lock_account(&change, session.account).await?;
        let query = "SELECT id AS key_id, sealed, data_key FROM api_key \
                     WHERE account_id = $1 AND status = 'active'";
        let query = statement(query, [session.account.0.into()]);
        let row = stored(change.query_one_raw(query).await)?;
        let Some(row) = row else { return Ok(None) };
        if !use_up(&change, challenge, change.now()).await? {
            return Ok(None);
        }
        begin_session(&change, &session, &known, client, LoginMethod::Password).await?;
        stored(change.commit().await)?;
        sealed_key(&row).map(Some)
    }

    async fn record_failure(
        &self,
        account: Option<AccountId>,
        client: &Client,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let change = self.write().await?;
        let method = LoginMethod::Password;
        remember(&change, account, client, method, TryStatus::Failed, now).await?;
        stored(change.commit().await)
    }

    async fn send_code(
        &self,
        challenge: Challenge,
        message: SealedMessage,
    ) -> Result<(), StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&challenge.recipient)).await?;
        // The same statements run for an address without an account, with a number that no account
        // has.
        let account = challenge.account.map_or(0, |account| account.0);
        lock_account(&change, AccountId(account)).await?;
        let verified = challenge.purpose != Purpose::Registration;
        let query = "SELECT id FROM account WHERE id = $1 AND (verified_at IS NOT NULL) = $2";
        let query = statement(query, [account.into(), verified.into()]);
        let fits = stored(change.query_one_raw(query).await)?.is_some();
        let now = change.now();
        let allowed = may_send(&change, &message.recipient, challenge.purpose, now).await?;
        if !allowed || (challenge.account.is_some() && !fits) {
            return Ok(());
        }
        replace_challenge(&change, &challenge).await?;
        insert_message(&change, message).await?;
        stored(change.commit().await)?;
        self.outbox_notify.notify_one();
        Ok(())
    }

    async fn attempt(
        &self,
        recipient: Digest<Email>,
        purpose: Purpose,
        proof: Option<ChallengeId>,
    ) -> Result<Option<Attempt>, StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&recipient)).await?;
        let now = change.now();
        let query = "SELECT id, account_id, digest, created_at, tries, token_tries FROM challenge \
                     WHERE recipient = $1 AND purpose = $2 AND NOT used";
        let values = [digest(&recipient), purpose.name().into()];
        let row = stored(change.query_one_raw(statement(query, values)).await)?;
        let Some(row) = row else { return Ok(None) };
        let id = number_column(&row, "id")?;
        let created_at = time_column(&row, "created_at")?;
        if !Challenge::is_live(created_at, now) {
            if created_at <= now {
                let end = "UPDATE challenge SET used = TRUE WHERE id = $1";
                stored(change.execute_raw(statement(end, [number(id)])).await)?;
                stored(change.commit().await)?;
            }
            return Ok(None);
        }
        let (counter, count) = if proof == Some(ChallengeId(id)) {
            ("token_tries", "UPDATE challenge SET token_tries = token_tries + 1 WHERE id = $1")
        } else {
            ("tries", "UPDATE challenge SET tries = tries + 1 WHERE id = $1")
        };
        if narrow::<u32>(&row, counter)? >= TRIES {
            return Ok(None);
        }
        stored(change.execute_raw(statement(count, [number(id)])).await)?;
        stored(change.commit().await)?;
        let account: Option<i64> = column(&row, "account_id")?;
        Ok(Some(Attempt {
            challenge: ChallengeId(id),
            account: account.map(AccountId),
            digest: digest_column(&row, "digest")?,
        }))
    }

    async fn session(&self, token: &Digest<SessionToken>) -> Result<Option<Session>, StoreError> {
        let query = "SELECT account_id, created_at, last_used_at FROM session WHERE digest = $1";
        let row = stored(self.readers.query_one_raw(statement(query, [digest(token)])).await)?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Session {
            digest: *token,
            account: AccountId(column(&row, "account_id")?),
            created_at: time_column(&row, "created_at")?,
            last_used_at: time_column(&row, "last_used_at")?,
        }))
    }

    async fn touch_session(
        &self,
        token: &Digest<SessionToken>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let touch = "UPDATE session SET last_used_at = $2 WHERE digest = $1 AND last_used_at < $2";
        self.execute(statement(touch, [digest(token), time(now)])).await?;
        Ok(())
    }

    async fn end_session(
        &self,
        token: &Digest<SessionToken>,
        account: AccountId,
    ) -> Result<bool, StoreError> {
        let end = "DELETE FROM session WHERE digest = $1 AND account_id = $2";
        let values = [digest(token), account.0.into()];
        let ended = self.execute(statement(end, values)).await?;
        Ok(ended.rows_affected() > 0)
    }

    async fn sessions(
        &self,
        account: AccountId,
        now: Timestamp,
        limit: u32,
        offset: u32,
    ) -> Result<SessionPage, StoreError> {
        let live = || [account.0.into(), time(now - IDLE), time(now - LONGEST)];
        let count = "SELECT count(*) AS sessions FROM session \
                     WHERE account_id = $1 AND last_used_at > $2 AND created_at > $3";
        let row = stored(self.readers.query_one_raw(statement(count, live())).await)?;
        let total = row.map(|row| narrow(&row, "sessions")).transpose()?.unwrap_or_default();
        let page = "SELECT id, digest, account_id, ip, user_agent, created_at, last_used_at \
                    FROM session WHERE account_id = $1 AND last_used_at > $2 AND created_at > $3 \
                    ORDER BY id DESC LIMIT $4 OFFSET $5";
        let page = statement(page, live().into_iter().chain([limit.into(), offset.into()]));
        let rows = stored(self.readers.query_all_raw(page).await)?;
        let sessions = rows.iter().map(listed_session).collect::<Result<_, _>>()?;
        Ok(SessionPage { sessions, total })
    }

    async fn end_numbered_session(
        &self,
        account: AccountId,
        session: SessionId,
    ) -> Result<bool, StoreError> {
        let end = "DELETE FROM session WHERE id = $1 AND account_id = $2";
        let ended = self.execute(statement(end, [session.0.into(), account.0.into()])).await?;
        Ok(ended.rows_affected() > 0)
    }

    async fn end_sessions(
        &self,
        account: AccountId,
        kept: Option<&Digest<SessionToken>>,
    ) -> Result<u64, StoreError> {
        let change = self.write().await?;
        lock_account(&change, account).await?;
        let event = SecurityEvent::SignedOutEverywhere;
        let ended = end_credentials(&change, account, event, kept).await?;
        self.commit_event(change, event).await?;
        Ok(ended)
    }

    async fn login_history(
        &self,
        account: AccountId,
        limit: u32,
        offset: u32,
    ) -> Result<LoginHistory, StoreError> {
        let page = statement(LOGIN_TRIES, [account.0.into(), limit.into(), offset.into()]);
        let rows = stored(self.readers.query_all_raw(page).await)?;
        let entries = rows.iter().map(login_try).collect::<Result<_, _>>()?;
        let counts = statement(TRY_COUNTS, [account.0.into()]);
        let (mut successful, mut failed) = (0, 0);
        for row in &stored(self.readers.query_all_raw(counts).await)? {
            let tries: u64 = narrow(row, "tries")?;
            match named(row, "status", &TryStatus::ALL, TryStatus::name)? {
                TryStatus::Success => successful += tries,
                TryStatus::Failed | TryStatus::Locked => failed += tries,
            }
        }
        Ok(LoginHistory { entries, total: successful + failed, successful, failed })
    }
}

/// Reserves an attempt and looks up the account.
pub(super) async fn reserve(
    change: &DatabaseTransaction,
    email: &Email,
    recipient: &Digest<Email>,
    counters: Counters,
    now: Timestamp,
) -> Result<ReservedTry, StoreError> {
    let mut tries = tries(change, recipient, counters, now).await?;
    let (verdict, reservation) = tries.reserve(counters, now);
    save_tries(change, recipient, counters, &tries).await?;
    let credentials = credentials(change, email).await?;
    Ok(ReservedTry { verdict, reservation, credentials })
}

/// Concludes a reserved attempt, and returns whether a lock was caused.
pub(super) async fn conclude(
    change: &DatabaseTransaction,
    recipient: &Digest<Email>,
    reservation: &Reservation,
    right: bool,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let mut tries = tries(change, recipient, reservation.counters, now).await?;
    let locks = tries.conclude(reservation, right, now);
    save_tries(change, recipient, reservation.counters, &tries).await?;
    Ok(locks)
}

/// Reads the counts of a visitor. The count of the visitor's network is read and saved for known
/// and unknown networks, so that the work reveals nothing.
async fn tries(
    change: &DatabaseTransaction,
    recipient: &Digest<Email>,
    counters: Counters,
    now: Timestamp,
) -> Result<Tries, StoreError> {
    let told = lockout(change, recipient, counters.told, now).await?;
    let network = match counters.network {
        Some(network) => Some(lockout(change, recipient, network, now).await?),
        None => None,
    };
    Ok(Tries { told, network })
}

async fn save_tries(
    change: &DatabaseTransaction,
    recipient: &Digest<Email>,
    counters: Counters,
    tries: &Tries,
) -> Result<(), StoreError> {
    save_lockout(change, recipient, counters.told, &tries.told).await?;
    if let Some((counter, count)) = counters.network.zip(tries.network) {
        save_lockout(change, recipient, counter, &count).await?;
    }
    Ok(())
}

async fn lockout(
    change: &DatabaseTransaction,
    recipient: &Digest<Email>,
    counter: Counter,
    now: Timestamp,
) -> Result<Lockout, StoreError> {
    let query = "SELECT tries, failures, last_try_at, locked_until FROM lockout \
                 WHERE recipient = $1 AND counter = $2";
    let values = [digest(recipient), counter.key().into()];
    let row = stored(change.query_one_raw(statement(query, values)).await)?;
    let Some(row) = row else { return Ok(Lockout::new(now)) };
    Ok(Lockout {
        tries: narrow(&row, "tries")?,
        failures: narrow(&row, "failures")?,
        last_try_at: time_column(&row, "last_try_at")?,
        locked_until: optional_time_column(&row, "locked_until")?,
    })
}

async fn save_lockout(
    change: &DatabaseTransaction,
    recipient: &Digest<Email>,
    counter: Counter,
    lockout: &Lockout,
) -> Result<(), StoreError> {
    let save = "INSERT INTO lockout (recipient, counter, tries, failures, last_try_at, locked_until) \
                VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (recipient, counter) DO UPDATE SET \
                tries = excluded.tries, failures = excluded.failures, \
                last_try_at = excluded.last_try_at, locked_until = excluded.locked_until";
    let values = [
        digest(recipient),
        counter.key().into(),
        lockout.tries.into(),
        lockout.failures.into(),
        time(lockout.last_try_at),
        optional_time(lockout.locked_until),
    ];
    stored(change.execute_raw(statement(save, values)).await)?;
    Ok(())
}

/// Returns the valid challenge of a second factor.
async fn standing_challenge(
    change: &DatabaseTransaction,
    recipient: &Digest<Email>,
) -> Result<Option<ChallengeId>, StoreError> {
    let query = "SELECT id FROM challenge WHERE recipient = $1 AND purpose = $2 AND NOT used";
    let values = [digest(recipient), Purpose::Mfa.name().into()];
    let row = stored(change.query_one_raw(statement(query, values)).await)?;
    row.map(|row| Ok(ChallengeId(number_column(&row, "id")?))).transpose()
}

async fn credentials(
    change: &DatabaseTransaction,
    email: &Email,
) -> Result<Option<Credentials>, StoreError> {
    let query = "SELECT account.id, password_hash, verified_at, mfa_enabled, \
                 api_key.id AS key_id, sealed, data_key, status FROM account LEFT JOIN api_key \
                 ON api_key.account_id = account.id AND status <> 'revoked' WHERE email = $1";
    let row = stored(change.query_one_raw(statement(query, [email.as_str().into()])).await)?;
    row.as_ref().map(read_credentials).transpose()
}

/// Returns whether an account is unchanged since its password was compared. The caller holds the
/// lock of the account.
async fn is_as_before(
    change: &DatabaseTransaction,
    before: Option<&Credentials>,
) -> Result<bool, StoreError> {
    let Some(before) = before else { return Ok(false) };
    let query = "SELECT account.id, password_hash, verified_at, mfa_enabled, \
                 api_key.id AS key_id, sealed, data_key, status FROM account LEFT JOIN api_key \
                 ON api_key.account_id = account.id AND status <> 'revoked' WHERE account.id = $1";
    let row = stored(change.query_one_raw(statement(query, [before.account.0.into()])).await)?;
    let now = row.as_ref().map(read_credentials).transpose()?;
    Ok(now.is_some_and(|now| now.is_as_before(before)))
}

fn read_credentials(row: &QueryResult) -> Result<Credentials, StoreError> {
    let password_hash: Option<String> = column(row, "password_hash")?;
    let status: Option<String> = column(row, "status")?;
    Ok(Credentials {
        account: AccountId(column(row, "id")?),
        password_hash: password_hash.map(PasswordHash),
        is_verified: optional_time_column(row, "verified_at")?.is_some(),
        is_suspended: status.as_deref() == Some(KeyStatus::Suspended.name()),
        mfa_enabled: column(row, "mfa_enabled")?,
        key: status.map(|_| sealed_key(row)).transpose()?,
    })
}

pub(super) fn sealed_key(row: &QueryResult) -> Result<SealedKey, StoreError> {
    let sealed = Sealed { data_key: narrow(row, "data_key")?, bytes: column(row, "sealed")? };
    Ok(SealedKey { id: KeyId(number_column(row, "key_id")?), sealed })
}

async fn rehash(
    change: &DatabaseTransaction,
    account: Option<AccountId>,
    hash: Option<PasswordHash>,
) -> Result<(), StoreError> {
    if let (Some(account), Some(hash)) = (account, hash) {
        let rehash = "UPDATE account SET password_hash = $2 WHERE id = $1";
        let values = [account.0.into(), hash.0.into()];
        stored(change.execute_raw(statement(rehash, values)).await)?;
    }
    Ok(())
}

/// Begins a session, and stores the client as known.
pub(super) async fn begin_session(
    change: &DatabaseTransaction,
    session: &Session,
    known: &KnownClient,
    client: &Client,
    method: LoginMethod,
) -> Result<(), StoreError> {
    let at = session.created_at;
    if is_new_address(change, session.account, known).await? {
        notify(change, session.account, &Notice::SignInFromNewAddress(client.address), at).await?;
    }
    let update = "UPDATE account SET last_login_at = $2 WHERE id = $1";
    let values = [session.account.0.into(), time(at)];
    stored(change.execute_raw(statement(update, values)).await)?;
    insert_session(change, session, client).await?;
    know(change, known).await?;
    remember(change, Some(session.account), client, method, TryStatus::Success, at).await
}

/// Returns whether the account has signed in before, and never from this network.
async fn is_new_address(
    change: &DatabaseTransaction,
    account: AccountId,
    known: &KnownClient,
) -> Result<bool, StoreError> {
    let Some(network) = &known.network else { return Ok(false) };
    let query = "SELECT id FROM account WHERE id = $1 AND last_login_at IS NOT NULL \
                 AND NOT EXISTS (SELECT 1 FROM known_client \
                  WHERE recipient = $2 AND mark = $3 AND seen_at > $4)";
    let since = time(known.at - KNOWN_FOR);
    let values = [account.0.into(), digest(&known.recipient), digest(network), since];
    Ok(stored(change.query_one_raw(statement(query, values)).await)?.is_some())
}

/// Writes an attempt into the login history; without an account where the account was deleted in
/// the meantime.
pub(super) async fn remember(
    change: &DatabaseTransaction,
    account: Option<AccountId>,
    client: &Client,
    method: LoginMethod,
    status: TryStatus,
    at: Timestamp,
) -> Result<(), StoreError> {
    let insert = "INSERT INTO login_try (account_id, ip, user_agent, status, method, created_at) \
                  VALUES ((SELECT id FROM account WHERE id = $1), $2, $3, $4, $5, $6)";
    let values = [
        account.map(|account| account.0).into(),
        client.address.to_string().into(),
        client.user_agent.as_str().into(),
        status.name().into(),
        method.name().into(),
        time(at),
    ];
    stored(change.execute_raw(statement(insert, values)).await)?;
    Ok(())
}

/// Saves a challenge in place of the address's earlier one of the same purpose.
pub(super) async fn replace_challenge(
    change: &DatabaseTransaction,
    challenge: &Challenge,
) -> Result<(), StoreError> {
    let discard = "DELETE FROM challenge WHERE recipient = $1 AND purpose = $2";
    let values = [digest(&challenge.recipient), challenge.purpose.name().into()];
    stored(change.execute_raw(statement(discard, values)).await)?;
    let insert = "INSERT INTO challenge (id, account_id, purpose, recipient, digest, created_at, tries, token_tries, used) \
                  VALUES ($1, $2, $3, $4, $5, $6, 0, 0, FALSE)";
    let values = [
        number(challenge.id.0),
        challenge.account.map(|account| account.0).into(),
        challenge.purpose.name().into(),
        digest(&challenge.recipient),
        digest(&challenge.digest),
        time(challenge.created_at),
    ];
    stored(change.execute_raw(statement(insert, values)).await)?;
    Ok(())
}

/// Consumes a challenge; `false` where the challenge was used, was replaced or has expired.
pub(super) async fn use_up(
    change: &DatabaseTransaction,
    challenge: ChallengeId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let query = "SELECT created_at FROM challenge WHERE id = $1 AND NOT used";
    let row = stored(change.query_one_raw(statement(query, [number(challenge.0)])).await)?;
    let Some(row) = row else { return Ok(false) };
    if !Challenge::is_live(time_column(&row, "created_at")?, now) {
        return Ok(false);
    }
    let use_up = "UPDATE challenge SET used = TRUE WHERE id = $1 AND NOT used";
    let used = stored(change.execute_raw(statement(use_up, [number(challenge.0)])).await)?;
    Ok(used.rows_affected() == 1)
}

/// Saves a session with the client that began the session.
pub(super) async fn insert_session(
    change: &DatabaseTransaction,
    session: &Session,
    client: &Client,
) -> Result<(), StoreError> {
    let insert = "INSERT INTO session (digest, account_id, ip, user_agent, created_at, last_used_at) \
                  VALUES ($1, $2, $3, $4, $5, $6)";
    let values = [
        digest(&session.digest),
        session.account.0.into(),
        client.address.to_string().into(),
        client.user_agent.as_str().into(),
        time(session.created_at),
        time(session.last_used_at),
    ];
    stored(change.execute_raw(statement(insert, values)).await)?;
    Ok(())
}

fn listed_session(row: &QueryResult) -> Result<ListedSession, StoreError> {
    Ok(ListedSession {
        id: SessionId(column(row, "id")?),
        session: Session {
            digest: digest_column(row, "digest")?,
            account: AccountId(column(row, "account_id")?),
            created_at: time_column(row, "created_at")?,
            last_used_at: time_column(row, "last_used_at")?,
        },
        address: address_column(row, "ip")?,
        user_agent: column(row, "user_agent")?,
    })
}

fn login_try(row: &QueryResult) -> Result<LoginTry, StoreError> {
    Ok(LoginTry {
        id: column(row, "id")?,
        address: address_column(row, "ip")?,
        user_agent: column(row, "user_agent")?,
        status: named(row, "status", &TryStatus::ALL, TryStatus::name)?,
        method: named(row, "method", &LoginMethod::ALL, LoginMethod::name)?,
        at: time_column(row, "created_at")?,
    })
}

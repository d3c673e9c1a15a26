//! Changes of an account's e-mail address: the request, the change, and its undoing.

use account_core::code::Purpose;
use account_core::digest::Digest;
use account_core::identity::Email;
use account_core::session::SessionToken;
use account_core::store::{
    EmailChange, EmailChangeRequest, EmailChangeStore, EmailChanged, EmailUndo, UndoneEmailChange,
};
use account_core::token::EmailUndoToken;
use account_core::{AccountId, Notice, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction, Value};

use super::accounts::verified;
use super::clients::know;
use super::engine::lock_account;
use super::handle::Store;
use super::keys::insert_key;
use super::notifications::{insert_message, insert_messages, may_send, notify};
use super::oauth::end_grants;
use super::rows::{column, digest, statement, stored, time, unless_taken};
use super::sign_in::{end_all_sessions_but, replace_challenge, use_up};

impl EmailChangeStore for Store {
    async fn request_email_change(&self, request: EmailChangeRequest) -> Result<(), StoreError> {
        let EmailChangeRequest { account, challenge, code, notice } = request;
        let addresses = [&challenge.recipient, &code.recipient];
        let change = self.write_locked_addresses(addresses).await?;
        lock_account(&change, account).await?;
        let query = "SELECT id FROM account WHERE id = $1 AND verified_at IS NOT NULL";
        let query = statement(query, [account.0.into()]);
        let is_verified = stored(change.query_one_raw(query).await)?.is_some();
        let mut allowed = true;
        for message in [&code, &notice] {
            if let Some(purpose) = message.purpose {
                let (recipient, now) = (&message.recipient, message.created_at);
                allowed &= may_send(&change, recipient, purpose, now).await?;
            }
        }
        if !is_verified || !allowed {
            return Ok(());
        }
        replace_challenge(&change, &challenge).await?;
        insert_messages(&change, vec![code, notice]).await?;
        stored(change.commit().await)?;
        self.outbox_notify.notify_one();
        Ok(())
    }

    async fn change_email(&self, wanted: EmailChange) -> Result<EmailChanged, StoreError> {
        let addresses = [&wanted.from_recipient, &wanted.known.recipient];
        let change = self.write_locked_addresses(addresses).await?;
        let account = wanted.account;
        lock_account(&change, account).await?;
        if !has_email(&change, account, &wanted.from).await?
            || !use_up(&change, wanted.challenge, wanted.at).await?
        {
            return Ok(EmailChanged::Outdated);
        }
        if !move_account(&change, account, &wanted.to, &[wanted.from_recipient]).await? {
            return Ok(EmailChanged::EmailTaken);
        }
        end_access(&change, account, wanted.kept.as_ref()).await?;
        know(&change, &wanted.known).await?;
        let insert = "INSERT INTO email_undo (digest, account_id, email, created_at) \
                      VALUES ($1, $2, $3, $4)";
        let values =
            [digest(&wanted.undo), account.0.into(), wanted.from.as_str().into(), time(wanted.at)];
        execute(&change, insert, values).await?;
        notify(&change, account, &Notice::EmailChanged, wanted.at).await?;
        insert_message(&change, wanted.notice).await?;
        self.commit_revised(change).await?;
        self.outbox_notify.notify_one();
        Ok(EmailChanged::Done)
    }

    async fn email_undo(
        &self,
        undo: Digest<EmailUndoToken>,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<Option<EmailUndo>, StoreError> {
        let query = "SELECT account_id, email_undo.email, account.email AS present \
                     FROM email_undo JOIN account ON account.id = account_id \
                     WHERE digest = $1 AND email_undo.created_at > $2 \
                     AND email_undo.created_at <= $3";
        let query = statement(query, [digest(&undo), time(since), time(now)]);
        let Some(row) = stored(self.readers.query_one_raw(query).await)? else { return Ok(None) };
        let address = |name| Email::parse(&column::<String>(&row, name)?).map_err(StoreError::new);
        Ok(Some(EmailUndo {
            account: AccountId(column(&row, "account_id")?),
            email: address("email")?,
            present: address("present")?,
        }))
    }

    async fn undo_email_change(
        &self,
        undone: UndoneEmailChange,
    ) -> Result<EmailChanged, StoreError> {
        let addresses = [undone.recipient, undone.present_recipient];
        let change = self.write_locked_addresses(addresses.each_ref()).await?;
        let (account, at) = (undone.account, undone.at);
        lock_account(&change, account).await?;
        // Tokens of later changes end too: a thief could otherwise move the account again.
        let take = "DELETE FROM email_undo WHERE account_id = $1 AND id >= \
                    (SELECT id FROM email_undo WHERE digest = $2 AND account_id = $1 \
                     AND created_at > $3 AND created_at <= $4)";
        let values = [account.0.into(), digest(&undone.undo), time(undone.since), time(at)];
        if execute(&change, take, values).await? == 0
            || !has_email(&change, account, &undone.present).await?
        {
            return Ok(EmailChanged::Outdated);
        }
        if !move_account(&change, account, &undone.email, &addresses).await? {
            return Ok(EmailChanged::EmailTaken);
        }
        let replace = "UPDATE account SET password_hash = $2 WHERE id = $1";
        execute(&change, replace, [account.0.into(), undone.password_hash.0.into()]).await?;
        let revoke = "UPDATE api_key SET status = 'revoked', sealed = $2 \
                      WHERE account_id = $1 AND status = 'active'";
        let values = [account.0.into(), Vec::<u8>::new().into()];
        if execute(&change, revoke, values).await? > 0 {
            insert_key(&change, account, undone.key, at).await?;
        }
        end_access(&change, account, None).await?;
        notify(&change, account, &Notice::EmailRestored, at).await?;
        insert_messages(&change, undone.notices.into()).await?;
        self.commit_revised(change).await?;
        self.outbox_notify.notify_one();
        Ok(EmailChanged::Done)
    }
}

/// Invalidates the code of a pending change of address.
pub(super) async fn cancel_email_change(
    change: &DatabaseTransaction,
    account: AccountId,
) -> Result<(), StoreError> {
    let cancel = "DELETE FROM challenge WHERE account_id = $1 AND purpose = $2";
    execute(change, cancel, [account.0.into(), Purpose::EmailChange.name().into()]).await?;
    Ok(())
}

/// Replaces an address, and removes the codes of the account and the locks and known clients of the
/// former addresses. Returns `false` where another account has the new address; the transaction can
/// then only be rolled back.
async fn move_account(
    change: &DatabaseTransaction,
    account: AccountId,
    to: &Email,
    left: &[Digest<Email>],
) -> Result<bool, StoreError> {
    if verified(change, to).await?.is_some_and(|holder| holder != account) {
        return Ok(false);
    }
    let discard = "DELETE FROM account WHERE email = $1 AND verified_at IS NULL";
    execute(change, discard, [to.as_str().into()]).await?;
    let update = "UPDATE account SET email = $2 WHERE id = $1";
    let update = statement(update, [account.0.into(), to.as_str().into()]);
    if !unless_taken(change.execute_raw(update).await)? {
        return Ok(false);
    }
    execute(change, "DELETE FROM challenge WHERE account_id = $1", [account.0.into()]).await?;
    for recipient in left {
        for forget in [
            "DELETE FROM lockout WHERE recipient = $1",
            "DELETE FROM known_client WHERE recipient = $1",
        ] {
            execute(change, forget, [digest(recipient)]).await?;
        }
    }
    Ok(true)
}

/// Ends hand-offs, grants, and all sessions except `kept`.
async fn end_access(
    change: &DatabaseTransaction,
    account: AccountId,
    kept: Option<&Digest<SessionToken>>,
) -> Result<(), StoreError> {
    execute(change, "DELETE FROM hand_off WHERE account_id = $1", [account.0.into()]).await?;
    end_all_sessions_but(change, account, kept).await?;
    end_grants(change, account).await
}

/// Returns whether an account is verified and has this address.
async fn has_email(
    change: &DatabaseTransaction,
    account: AccountId,
    email: &Email,
) -> Result<bool, StoreError> {
    Ok(verified(change, email).await? == Some(account))
}

async fn execute<const N: usize>(
    change: &DatabaseTransaction,
    sql: &str,
    values: [Value; N],
) -> Result<u64, StoreError> {
    Ok(stored(change.execute_raw(statement(sql, values)).await)?.rows_affected())
}

//! Forgotten passwords: found by address, replaced under guard.

use account_core::accounts::RecoveryStore;
use account_core::accounts::recovery::Reset;
use account_core::code::Purpose;
use account_core::identity::Email;
use account_core::{AccountId, Notice, StoreError};
use sea_orm::ConnectionTrait;

use super::Store;
use super::clients::know;
use super::codes::use_up;
use super::engine::AdvisoryLock;
use super::notifications::notify;
use super::oauth_grants::end_grants;
use super::outbox::insert_message;
use super::registration::verified;
use super::rows::{digest, statement, stored};

impl RecoveryStore for Store {
    async fn account_of(&self, email: &Email) -> Result<Option<AccountId>, StoreError> {
        verified(&self.readers, email).await
    }

    async fn reset_password(&self, reset: Reset) -> Result<bool, StoreError> {
        let change = self.write_locked(AdvisoryLock::Email(&reset.known.recipient)).await?;
        if !use_up(&change, reset.challenge, reset.at).await? {
            return Ok(false);
        }
        let (account, recipient) = (reset.account.0, digest(&reset.known.recipient));
        let replace = "UPDATE account SET password_hash = $2 WHERE id = $1";
        let half_done = "DELETE FROM challenge WHERE account_id = $1 AND purpose = $2";
        for change_of_account in [
            statement(replace, [account.into(), reset.password_hash.0.into()]),
            statement("DELETE FROM session WHERE account_id = $1", [account.into()]),
            statement("DELETE FROM hand_off WHERE account_id = $1", [account.into()]),
            statement(half_done, [account.into(), Purpose::Mfa.name().into()]),
            statement("DELETE FROM lockout WHERE recipient = $1", [recipient]),
        ] {
            stored(change.execute_raw(change_of_account).await)?;
        }
        end_grants(&change, reset.account).await?;
        notify(&change, reset.account, &Notice::PasswordChanged, reset.at).await?;
        know(&change, &reset.known).await?;
        insert_message(&change, reset.notice).await?;
        self.commit_revised(change).await?;
        self.outbox_notify.notify_one();
        Ok(true)
    }
}

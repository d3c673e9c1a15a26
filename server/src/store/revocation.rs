//! The end of credentials after a change of an account's security.

use account_core::digest::Digest;
use account_core::revocation::{Credential, SecurityEvent};
use account_core::{AccountId, SessionToken, StoreError};
use sea_orm::{ConnectionTrait, DatabaseTransaction};

use super::handle::Store;
use super::rows::{digest, statement, stored};
use super::write_transaction::WriteTransaction;

/// Ends the credentials of an account that the event ends, and returns the number of sessions. The event itself replaces, suspends or
/// deletes the API key.
pub(super) async fn end_credentials(
    change: &DatabaseTransaction,
    account: AccountId,
    event: SecurityEvent,
    spared: Option<&Digest<SessionToken>>,
) -> Result<u64, StoreError> {
    let mut sessions = 0;
    let spared = spared.filter(|_| event.may_spare_a_session());
    let id = || account.0.into();
    for credential in Credential::ALL.into_iter().filter(|credential| event.ends(*credential)) {
        let end = match (credential, spared) {
            (Credential::ApiKey, _) => continue,
            (Credential::Session, None) => {
                statement("DELETE FROM session WHERE account_id = $1", [id()])
            }
            (Credential::Session, Some(spared)) => statement(
                "DELETE FROM session WHERE account_id = $1 AND digest <> $2",
                [id(), digest(spared)],
            ),
            (Credential::HandOffCode, _) => {
                statement("DELETE FROM hand_off WHERE account_id = $1", [id()])
            }
            (Credential::AuthorizationCode, _) => {
                statement("DELETE FROM oauth_code WHERE account_id = $1", [id()])
            }
            (Credential::Grant, _) => {
                statement("DELETE FROM oauth_grant WHERE account_id = $1", [id()])
            }
            (Credential::Code(purpose), _) => statement(
                "DELETE FROM challenge WHERE account_id = $1 AND purpose = $2",
                [id(), purpose.name().into()],
            ),
        };
        let ended = stored(change.execute_raw(end).await)?.rows_affected();
        if credential == Credential::Session {
            sessions = ended;
        }
    }
    Ok(sessions)
}

impl Store {
    /// Commits the transaction of an event, and drops the cached callers where the event ends their
    /// keys or tokens.
    pub(super) async fn commit_event(
        &self,
        change: WriteTransaction,
        event: SecurityEvent,
    ) -> Result<(), StoreError> {
        if event.ends_cached_callers() {
            self.commit_revised(change).await
        } else {
            stored(change.commit().await)
        }
    }
}

//! The sessions of an account: their list, and their end by the owner.

use crate::accounts::Accounts;
use crate::identity::AccountId;
use crate::password::PasswordHasher;
use crate::session::{Session, SessionId, SessionToken};
use crate::store::{SessionPage, Store};
use crate::{Error, Result, Timestamp};

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Lists an account's live sessions, newest first.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn sessions(
        &self,
        account: AccountId,
        limit: u32,
        offset: u32,
        now: Timestamp,
    ) -> Result<SessionPage> {
        Ok(self.store().sessions(account, now, limit, offset).await?)
    }

    /// Ends one session of an account.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the account has no such session; [`Error::Store`].
    pub async fn end_session(&self, account: AccountId, session: SessionId) -> Result<()> {
        let ended = self.store().end_numbered_session(account, session).await?;
        if ended { Ok(()) } else { Err(Error::NotFound) }
    }

    /// Ends all sessions of an account except `kept`, and returns their number. Unfinished sign-ins
    /// and changes of address end too; the key and the grants of applications stay.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn end_sessions(
        &self,
        account: AccountId,
        kept: Option<&SessionToken>,
    ) -> Result<u64> {
        let kept = kept.map(|token| self.vault().token_digest(token));
        Ok(self.store().end_sessions(account, kept.as_ref()).await?)
    }

    /// Returns whether a token opens a session.
    #[must_use]
    pub fn is_session_of(&self, session: &Session, token: &SessionToken) -> bool {
        session.digest == self.vault().token_digest(token)
    }
}

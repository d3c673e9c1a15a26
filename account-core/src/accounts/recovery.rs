//! Forgotten passwords: a code by e-mail, a new password, and nothing else.
//!
//! A reset proves that someone reads the account's letters, which a second factor by e-mail does
//! too; so it opens nothing by itself: no key, no session, no way past the second factor.

use crate::accounts::{Accounts, Store};
use crate::client::{Client, KnownClient};
use crate::code::{ChallengeId, Code, Purpose};
use crate::identity::{AccountId, Email};
use crate::outbox::{Content, SealedMessage};
use crate::password::{Password, PasswordHash, PasswordHasher};
use crate::{Error, Result, StoreError, Timestamp};

/// A new password for whoever forgot the old one.
pub struct Reset {
    /// The challenge that was met.
    pub challenge: ChallengeId,
    /// Whose it is.
    pub account: AccountId,
    /// The new password's hash.
    pub password_hash: PasswordHash,
    /// The network of whoever reads the account's letters: known from now on, so that the login
    /// that follows does not wait for strangers.
    pub known: KnownClient,
    /// The letter that says so.
    pub notice: SealedMessage,
    /// When.
    pub at: Timestamp,
}

/// Where passwords are replaced.
pub trait RecoveryStore: Send + Sync {
    /// Finds the verified account of an address.
    fn account_of(
        &self,
        email: &Email,
    ) -> impl Future<Output = std::result::Result<Option<AccountId>, StoreError>> + Send;

    /// Uses the challenge up and replaces the password, as one step: all locks at the address are
    /// lifted, the account's sessions end, codes of half-done logins are worthless, its key stays,
    /// and a [`Notice::PasswordChanged`](crate::notification::Notice::PasswordChanged) is written.
    /// `false`, and nothing changed, where the challenge was used, replaced or has expired.
    fn reset_password(
        &self,
        reset: Reset,
    ) -> impl Future<Output = std::result::Result<bool, StoreError>> + Send;
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Sends a code for a new password to an address that has an account, and to no other. Answer
    /// and work are the same for every address.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn forgot_password(&self, email: &Email, now: Timestamp) -> Result<()> {
        let account = self.store().account_of(email).await?;
        let (challenge, message) = if account.is_some() {
            let (code, challenge) = self.new_challenge(Purpose::Reset, account, email, now);
            (challenge, self.message(email, Content::Reset { code }, now))
        } else {
            self.decoy_code(Purpose::Reset, email, now)
        };
        Ok(self.store().send_code(challenge, message).await?)
    }

    /// Replaces a forgotten password. The caller is told of a wrong code alone; a second factor
    /// and a suspension stay as they are.
    ///
    /// # Errors
    ///
    /// [`Error::WrongCode`] for a code that is wrong, used, expired, replaced or tried too often,
    /// and for an address without an account; [`Error::Busy`]; [`Error::Store`].
    pub async fn reset_password(
        &self,
        email: &Email,
        code: &Code,
        password: &Password,
        client: &Client,
        now: Timestamp,
    ) -> Result<()> {
        let permit = self.hasher().admit().await?;
        let met = self.met_challenge(email, Purpose::Reset, code, now).await;
        // The hash is computed whatever the code was worth: the time tells nothing.
        let password_hash = self.hasher().hash(permit, password).await;
        let (challenge, account) = met?;
        let (_, known) = self.new_client(email, Some(client), now);
        let reset = Reset {
            challenge,
            account,
            password_hash,
            known: KnownClient { replaces: None, token: None, ..known },
            notice: self.message(email, Content::PasswordChanged, now),
            at: now,
        };
        if self.store().reset_password(reset).await? { Ok(()) } else { Err(Error::WrongCode) }
    }
}

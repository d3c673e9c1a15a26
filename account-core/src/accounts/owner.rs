//! Changes by the owner of an account: the profile, the second factor, deletion.

use crate::accounts::Accounts;
use crate::identity::{AccountId, Email};
use crate::outbox::Content;
use crate::password::{Password, PasswordHasher};
use crate::store::{Deletion, Profile, ProfileChanges, Store, Updated};
use crate::{Error, Result, Timestamp};

/// The proof with which the owner of an account confirms its deletion.
#[derive(Clone)]
pub enum Confirmation {
    /// The current password of the account.
    Password(Password),
    /// The account's e-mail address, accepted only for an account without a password.
    Email(Email),
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Changes the profile, and returns the whole profile.
    ///
    /// # Errors
    ///
    /// [`Error::UsernameTaken`]; [`Error::NotFound`]; [`Error::Store`].
    pub async fn update_profile(
        &self,
        account: AccountId,
        changes: ProfileChanges,
        now: Timestamp,
    ) -> Result<Profile> {
        match self.store().update_profile(account, changes, now).await? {
            Updated::Done => self.profile(account).await,
            Updated::UsernameTaken => Err(Error::UsernameTaken),
            Updated::NotFound => Err(Error::NotFound),
        }
    }

    /// Requires a second factor at each later login, and informs the owner by e-mail.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn enable_mfa(&self, account: AccountId, now: Timestamp) -> Result<()> {
        let email = self.profile(account).await?.email;
        let notice = self.message(&email, Content::MfaEnabled, now);
        self.store().set_mfa(account, true, notice).await?;
        Ok(())
    }

    /// Removes the second factor after the right password, and informs the owner by e-mail.
    ///
    /// # Errors
    ///
    /// [`Error::WrongConfirmation`]; [`Error::Locked`] after five wrong passwords; [`Error::Busy`];
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn disable_mfa(
        &self,
        account: AccountId,
        password: &Password,
        now: Timestamp,
    ) -> Result<()> {
        let email = self.profile(account).await?.email;
        self.confirm(&email, password, now).await?;
        let notice = self.message(&email, Content::MfaDisabled, now);
        self.store().set_mfa(account, false, notice).await?;
        Ok(())
    }

    /// Deletes an account. The key and the sessions of the account are invalid when the call returns.
    /// The caller of this function must empty the caches of callers.
    ///
    /// # Errors
    ///
    /// [`Error::WrongConfirmation`]; [`Error::Locked`] after five wrong passwords;
    /// [`Error::Busy`]; [`Error::NotFound`]; [`Error::Store`].
    pub async fn delete_account(
        &self,
        account: AccountId,
        confirmation: &Confirmation,
        now: Timestamp,
    ) -> Result<()> {
        let email = self.profile(account).await?.email;
        let only_without_password = match confirmation {
            Confirmation::Password(password) => {
                self.confirm(&email, password, now).await?;
                false
            }
            Confirmation::Email(offered) if *offered == email => true,
            Confirmation::Email(_) => return Err(Error::WrongConfirmation),
        };
        let deletion = Deletion {
            account,
            recipient: self.vault().email_digest(&email),
            only_without_password,
            notice: self.message(&email, Content::AccountDeleted, now),
            at: now,
            operation: None,
        };
        if self.store().delete_account(deletion).await? {
            Ok(())
        } else if only_without_password {
            Err(Error::WrongConfirmation)
        } else {
            Err(Error::NotFound)
        }
    }

    /// Verifies the password with which a signed-in owner confirms a change. Wrong passwords are
    /// counted separately from logins, so that neither locks the other.
    async fn confirm(&self, email: &Email, password: &Password, now: Timestamp) -> Result<()> {
        let recipient = self.vault().email_digest(email);
        let permit = self.hasher().admit().await?;
        let reserved = self.store().reserve_confirmation(email, recipient, now).await?;
        reserved.verdict.proceed()?;
        let hash = reserved.credentials.as_ref().and_then(|known| known.password_hash.as_ref());
        let right = self.hasher().verify(permit, password, hash).await.matches;
        let reservation = reserved.reservation;
        self.store().conclude_confirmation(recipient, reservation, right, now).await?;
        if right { Ok(()) } else { Err(Error::WrongConfirmation) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_sent_stays_and_null_takes_away() {
        let changes = ProfileChanges::parse(None, Some(None), Some(Some("Italy")), Some(Some("")));
        let expected = ProfileChanges {
            username: None,
            phone: Some(None),
            country: Some(Some("Italy".to_owned())),
            country_code: Some(None),
        };
        assert_eq!(changes.expect("valid"), expected);
    }

    #[test]
    fn every_field_at_fault_is_named() {
        let faults = ProfileChanges::parse(Some("a b"), Some(Some("1\n2")), None, None);
        let fields: Vec<_> = faults.unwrap_err().iter().map(Error::field).collect();
        assert_eq!(fields, [Some("username"), Some("phone")]);
    }
}

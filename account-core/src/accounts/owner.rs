//! Changes by the owner of an account: the profile, the password, the second factor, deletion.

use crate::accounts::Accounts;
use crate::client::Client;
use crate::identity::{AccountId, Email};
use crate::outbox::Content;
use crate::password::{Password, PasswordHash, PasswordHasher};
use crate::store::{
    Deletion, DeletionProof, MfaChange, MfaChanged, PasswordChange, PasswordProof, Profile,
    ProfileChanges, Store, Updated,
};
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
    ) -> Result<Profile> {
        match self.store().update_profile(account, changes).await? {
            Updated::Done => self.profile(account).await,
            Updated::UsernameTaken => Err(Error::UsernameTaken),
            Updated::NotFound => Err(Error::NotFound),
        }
    }

    /// Returns the credits that an account has spent on the UTC day of a time.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn spent_credits(&self, account: AccountId, now: Timestamp) -> Result<u64> {
        Ok(self.store().spent_credits(account, crate::guest::day(now)).await?)
    }

    /// Replaces the password, after a check of the present one, and informs the owner by e-mail. The
    /// change ends the same credentials as the reset of a forgotten password: all sessions, hand-offs
    /// and grants.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a password that is the account's address or name;
    /// [`Error::WrongConfirmation`] for a wrong password, for an account without a password, and
    /// where another change was faster; [`Error::Locked`] after five of these; [`Error::Busy`];
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn change_password(
        &self,
        account: AccountId,
        current: &Password,
        new: &Password,
        client: &Client,
        now: Timestamp,
    ) -> Result<()> {
        let Profile { email, username, .. } = self.profile(account).await?;
        let compared = self.confirm(&email, current).await?;
        new.refuse_personal("new_password", &email, &username)?;
        let permit = self.hasher().admit().await?;
        let password_hash = self.hasher().hash(permit, new).await;
        let change = PasswordChange {
            proof: PasswordProof::Current(compared),
            account,
            password_hash,
            known: self.known_network(&email, client, now),
            notice: self.message(&email, Content::PasswordChanged, now),
            email,
            at: now,
        };
        let replaced = self.store().replace_password(change).await?;
        if replaced { Ok(()) } else { Err(Error::WrongConfirmation) }
    }

    /// Requires a second factor at each later login, and informs the owner by e-mail.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn enable_mfa(&self, account: AccountId, now: Timestamp) -> Result<()> {
        let email = self.profile(account).await?.email;
        let notice = self.message(&email, Content::MfaEnabled, now);
        self.store().set_mfa(account, MfaChange::Enable, notice).await?;
        Ok(())
    }

    /// Removes the second factor after the right password, and informs the owner by e-mail.
    ///
    /// # Errors
    ///
    /// [`Error::WrongConfirmation`] for a wrong password, and where the password was changed
    /// meanwhile; [`Error::Locked`] after five wrong passwords; [`Error::Busy`];
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn disable_mfa(
        &self,
        account: AccountId,
        password: &Password,
        now: Timestamp,
    ) -> Result<()> {
        let email = self.profile(account).await?.email;
        let change = MfaChange::Disable(self.confirm(&email, password).await?);
        let notice = self.message(&email, Content::MfaDisabled, now);
        match self.store().set_mfa(account, change, notice).await? {
            MfaChanged::Done | MfaChanged::Unchanged => Ok(()),
            MfaChanged::OtherPassword => Err(Error::WrongConfirmation),
        }
    }

    /// Deletes an account. The key and the sessions of the account are invalid when the call returns.
    /// The caller of this function must empty the caches of callers.
    ///
    /// # Errors
    ///
    /// [`Error::WrongConfirmation`] for a wrong confirmation, and where the password was changed
    /// meanwhile; [`Error::Locked`] after five wrong passwords; [`Error::Busy`];
    /// [`Error::NotFound`]; [`Error::Store`].
    pub async fn delete_account(
        &self,
        account: AccountId,
        confirmation: &Confirmation,
        now: Timestamp,
    ) -> Result<()> {
        let email = self.profile(account).await?.email;
        let proof = match confirmation {
            Confirmation::Password(password) => {
                DeletionProof::Password(self.confirm(&email, password).await?)
            }
            Confirmation::Email(offered) if *offered == email => DeletionProof::NoPassword,
            Confirmation::Email(_) => return Err(Error::WrongConfirmation),
        };
        let deletion = Deletion {
            account,
            recipient: self.vault().email_digest(&email),
            proof,
            notice: self.message(&email, Content::AccountDeleted, now),
            at: now,
        };
        let deleted = self.store().delete_account(deletion).await?;
        if deleted { Ok(()) } else { Err(Error::WrongConfirmation) }
    }

    /// Verifies the password with which a signed-in owner confirms a change, and returns the hash of
    /// the password. Wrong passwords are counted separately from logins, so that neither locks the
    /// other.
    pub(super) async fn confirm(&self, email: &Email, password: &Password) -> Result<PasswordHash> {
        let recipient = self.vault().email_digest(email);
        let permit = self.hasher().admit().await?;
        let reserved = self.store().reserve_confirmation(email, recipient).await?;
        reserved.verdict.proceed()?;
        let hash = reserved.credentials.and_then(|known| known.password_hash);
        let right = self.hasher().verify(permit, password, hash.as_ref()).await.matches;
        let reservation = reserved.reservation;
        self.store().conclude_confirmation(recipient, reservation, right).await?;
        hash.filter(|_| right).ok_or(Error::WrongConfirmation)
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
            spend_cap_per_day: None,
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

//! What an owner changes: the profile, the second factor, the end of the account.

use crate::accounts::{Accounts, Profile, ReservedTry, Store};
use crate::identity::{AccountId, Contact, Email, Username};
use crate::lockout::Reservation;
use crate::outbox::{Content, SealedMessage};
use crate::password::{Password, PasswordHasher};
use crate::vault::Digest;
use crate::{Error, Result, StoreError, Timestamp};

/// What an owner changes of the profile; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileChanges {
    /// The name to be known by.
    pub username: Option<Username>,
    /// A telephone number, or that there is none.
    pub phone: Option<Option<String>>,
    /// A country, or that there is none.
    pub country: Option<Option<String>>,
    /// A country's code, or that there is none.
    pub country_code: Option<Option<String>>,
}

impl ProfileChanges {
    /// Reads the changes. `Some(None)` and an empty text take a contact detail away.
    ///
    /// # Errors
    ///
    /// One [`Error::Invalid`] for each field at fault, in the order of the arguments.
    pub fn parse(
        username: Option<&str>,
        phone: Option<Option<&str>>,
        country: Option<Option<&str>>,
        country_code: Option<Option<&str>>,
    ) -> std::result::Result<Self, Vec<Error>> {
        let username = username.map(Username::parse).transpose();
        let contact = Contact::parse(phone.flatten(), country.flatten(), country_code.flatten());
        match (username, contact) {
            (Ok(username), Ok(contact)) => Ok(Self {
                username,
                phone: phone.map(|_| contact.phone),
                country: country.map(|_| contact.country),
                country_code: country_code.map(|_| contact.country_code),
            }),
            (username, contact) => {
                Err(username.err().into_iter().chain(contact.err().into_iter().flatten()).collect())
            }
        }
    }
}

/// What became of a change of the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updated {
    /// Saved.
    Done,
    /// Another account or running registration has the name.
    UsernameTaken,
    /// No verified account has the number.
    NotFound,
}

/// What an owner confirms a deletion with.
#[derive(Clone)]
pub enum Confirmation {
    /// The account's password.
    Password(Password),
    /// The account's address, which is good for accounts without a password only.
    Email(Email),
}

/// The end of an account.
pub struct Deletion {
    /// The account.
    pub account: AccountId,
    /// Whose locks and known clients are forgotten.
    pub recipient: Digest<Email>,
    /// Whether an account with a password is spared.
    pub only_without_password: bool,
    /// The letter that says so.
    pub notice: SealedMessage,
    /// When.
    pub at: Timestamp,
}

/// Where an owner's changes are kept. Calls see verified accounts only.
pub trait OwnerStore: Send + Sync {
    /// Changes the profile. A name is taken as for a registration
    /// ([`RegistrationStore::register`](crate::accounts::RegistrationStore::register)); the
    /// account's own in another case is not.
    fn update_profile(
        &self,
        account: AccountId,
        changes: ProfileChanges,
        now: Timestamp,
    ) -> impl Future<Output = std::result::Result<Updated, StoreError>> + Send;

    /// Switches the second factor and saves the letter and the notice that say so, as one step;
    /// `false`, and neither, where it was so already or there is no such account. Switched off, the codes of
    /// half-done logins are worthless.
    fn set_mfa(
        &self,
        account: AccountId,
        enabled: bool,
        notice: SealedMessage,
    ) -> impl Future<Output = std::result::Result<bool, StoreError>> + Send;

    /// Reserves a try at [`Counter::Confirmations`](crate::lockout::Counter::Confirmations) and
    /// looks the account up, as one step.
    fn reserve_confirmation(
        &self,
        email: &Email,
        recipient: Digest<Email>,
        now: Timestamp,
    ) -> impl Future<Output = std::result::Result<ReservedTry, StoreError>> + Send;

    /// Concludes a reserved confirmation.
    fn conclude_confirmation(
        &self,
        recipient: Digest<Email>,
        reservation: Reservation,
        right: bool,
        now: Timestamp,
    ) -> impl Future<Output = std::result::Result<(), StoreError>> + Send;

    /// Deletes an account, as one step: keys, sessions, codes, history, subscriptions, locks and
    /// known clients are gone; its balance is written off as an
    /// [`Adjustment`](crate::credits::TransactionKind::Adjustment), so that its ledger, which stays
    /// under a number that nobody has, sums to nothing; its usage rows stay, without who called
    /// and from where, and as many as are too many for one step are left to
    /// [`Stale::Departed`](crate::accounts::clean_up::Stale::Departed). Address and name are free
    /// again. `false`, and nothing changed, where there is no such account, or it is spared.
    fn delete_account(
        &self,
        deletion: Deletion,
    ) -> impl Future<Output = std::result::Result<bool, StoreError>> + Send;
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Changes the profile and answers the whole of it.
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

    /// Asks for a second factor at each login from now on, and tells the owner by a letter.
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

    /// Asks for no second factor any more, after the right password, and tells the owner by a
    /// letter.
    ///
    /// # Errors
    ///
    /// [`Error::WrongConfirmation`]; [`Error::Locked`] after five of them; [`Error::Busy`];
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

    /// Deletes an account. Its key and sessions are worthless with the answer; what was remembered
    /// of them elsewhere is for the caller to forget.
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
        };
        if self.store().delete_account(deletion).await? {
            Ok(())
        } else if only_without_password {
            Err(Error::WrongConfirmation)
        } else {
            Err(Error::NotFound)
        }
    }

    /// Checks a password that a signed-in owner confirms a change with. Wrong ones are counted
    /// apart from logins, so that neither locks the other.
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

//! Accounts: their registration, profile, password, suspension and deletion.

use crate::client::{Client, KnownClient};
use crate::code::{Challenge, ChallengeId};
use crate::credits::LARGEST_BALANCE;
use crate::digest::Digest;
use crate::identity::{AccountId, Contact, Email, Username};
use crate::key::NewKey;
use crate::operation::Operation;
use crate::outbox::SealedMessage;
use crate::password::PasswordHash;
use crate::revocation::SecurityEvent;
use crate::session::Session;
use crate::tier::Tier;
use crate::{Error, StoreError, Timestamp};

/// A registration form with two e-mails, of which the store sends one.
pub struct NewRegistration {
    /// The number of the account that the form becomes.
    pub id: AccountId,
    /// The user name, reserved while the code is live.
    pub username: Username,
    /// The e-mail address, to which the code is sent.
    pub email: Email,
    /// The hash of the password.
    pub password_hash: PasswordHash,
    /// The contact details beside the e-mail address.
    pub contact: Contact,
    /// The challenge of the code.
    pub challenge: Challenge,
    /// The e-mail with the code.
    pub message: SealedMessage,
    /// The e-mail for an address that already has an account.
    pub message_if_known: SealedMessage,
    /// The time of the registration.
    pub created_at: Timestamp,
}

/// The outcome of a registration. The client learns only whether the user name is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// The form is saved, in place of an earlier unverified form of the address, and the code is on
    /// the way.
    Saved,
    /// The address already has an account, and its owner gets an e-mail that says so.
    Known,
    /// Too many e-mails were sent to the address lately: nothing was changed.
    Quiet,
    /// Another account or pending registration has the user name.
    UsernameTaken,
}

/// A form that awaits its code.
#[derive(Clone)]
pub struct PendingRegistration {
    /// The number of the account that the form becomes.
    pub account: AccountId,
    /// The user name.
    pub username: Username,
}

/// The changes that the right code of a form causes.
pub struct ConfirmedForm {
    /// The challenge whose code was right.
    pub challenge: ChallengeId,
    /// The account of the challenge.
    pub account: AccountId,
    /// The account's first key.
    pub key: NewKey,
    /// The session of the client that sent the code.
    pub session: Session,
    /// The client, which the account knows from now on.
    pub client: KnownClient,
    /// The client that sent the code, for the list of sessions.
    pub origin: Client,
    /// The sign-up credits.
    pub credits: u64,
    /// The time of the confirmation.
    pub at: Timestamp,
}

/// A new account of an operator's call.
pub struct AccountRow {
    /// The number of the account.
    pub id: AccountId,
    /// The e-mail address.
    pub email: Email,
    /// The user name.
    pub username: Username,
    /// The hash of the password; `None` for an account without one.
    pub password_hash: Option<PasswordHash>,
    /// The tier of the account from the start.
    pub tier: Tier,
    /// The initial credits, which `granted_by_admin` classifies.
    pub credits: u64,
    /// True if the credits are an operator's grant; otherwise they are the sign-up credits.
    pub granted_by_admin: bool,
    /// The limit of requests an hour; `None` for that of the tier.
    pub hourly_limit: Option<u32>,
    /// True if the account is an administrator.
    pub is_admin: bool,
    /// The first API key of the account, sealed.
    pub key: NewKey,
    /// The time of the creation.
    pub created_at: Timestamp,
}

/// The outcome of the creation of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creation {
    /// The account was created with its key and its credits.
    Done,
    /// The address already has an account; nothing was created.
    EmailTaken,
    /// Another account or pending registration has the user name.
    UsernameTaken,
}

/// A change of an account by an operator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The change to this tier.
    Tier(Tier),
    /// A change of the limit of requests an hour; `None` restores that of the tier.
    HourlyLimit(Option<u32>),
    /// The suspension of the key, with the effects of [`SecurityEvent::Suspended`].
    Suspend,
    /// The activation of a suspended key.
    Activate,
    /// A change of the right to use the administrators' calls.
    Admin(bool),
    /// The end of every lock at the address, and of the count of its wrong passwords.
    Unlock(Digest<Email>),
}

/// The state of an account's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStatus {
    /// The key is valid for calls.
    Active,
    /// The key is suspended by an operator.
    Suspended,
    /// The key was replaced, or the account never had one.
    Revoked,
}

impl KeyStatus {
    /// All states of a key.
    pub const ALL: [Self; 3] = [Self::Active, Self::Suspended, Self::Revoked];

    /// Returns the name on the wire, as in `active`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Revoked => "revoked",
        }
    }
}

/// An account as its owner sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The number of the account.
    pub id: AccountId,
    /// The user name.
    pub username: Username,
    /// The e-mail address.
    pub email: Email,
    /// The contact details beside the e-mail address.
    pub contact: Contact,
    /// The current tier of the account.
    pub tier: Tier,
    /// The limit of requests an hour: the account's own or that of its tier.
    pub hourly_limit: u32,
    /// The balance of credits.
    pub credit_balance: u64,
    /// The cap of credits a day; `None` for an account without a cap.
    pub spend_cap_per_day: Option<u64>,
    /// True if the e-mail address is confirmed.
    pub is_verified: bool,
    /// True if the account is an administrator.
    pub is_admin: bool,
    /// True if a login requires a second factor.
    pub mfa_enabled: bool,
    /// The time of the registration.
    pub created_at: Timestamp,
    /// The time of the last login; `None` before the first one.
    pub last_login_at: Option<Timestamp>,
    /// The time at which the key was made; `None` where the account never had a key.
    pub api_key_created_at: Option<Timestamp>,
    /// The state of the key.
    pub api_key_status: KeyStatus,
}

/// The owner's changes of a profile; absent fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileChanges {
    /// The new user name; `None` leaves the name unchanged.
    pub username: Option<Username>,
    /// The telephone number; `Some(None)` removes the stored one.
    pub phone: Option<Option<String>>,
    /// The country; `Some(None)` removes the stored one.
    pub country: Option<Option<String>>,
    /// The code of the country; `Some(None)` removes the stored one.
    pub country_code: Option<Option<String>>,
    /// The cap of credits a day; `Some(None)` removes the stored one.
    pub spend_cap_per_day: Option<Option<u64>>,
}

impl ProfileChanges {
    /// Reads the changes of name and contact. `Some(None)` and an empty text remove a contact
    /// detail.
    ///
    /// # Errors
    ///
    /// One [`Error::Invalid`] for each invalid field, in the order of the arguments.
    pub fn parse(
        username: Option<&str>,
        phone: Option<Option<&str>>,
        country: Option<Option<&str>>,
        country_code: Option<Option<&str>>,
    ) -> Result<Self, Vec<Error>> {
        let username = username.map(Username::parse).transpose();
        let contact = Contact::parse(phone.flatten(), country.flatten(), country_code.flatten());
        match (username, contact) {
            (Ok(username), Ok(contact)) => Ok(Self {
                username,
                phone: phone.map(|_| contact.phone),
                country: country.map(|_| contact.country),
                country_code: country_code.map(|_| contact.country_code),
                spend_cap_per_day: None,
            }),
            (username, contact) => {
                Err(username.err().into_iter().chain(contact.err().into_iter().flatten()).collect())
            }
        }
    }
}

impl ProfileChanges {
    /// Reads the change of the cap of credits a day from the text of a form. An empty text removes
    /// the cap.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for the field `spend_cap_per_day`.
    pub fn parse_cap(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let cap = match text {
            "" => None,
            number => Some(number.parse().ok().filter(|cap| *cap <= LARGEST_BALANCE).ok_or(
                Error::invalid(
                    "spend_cap_per_day",
                    "a whole number of credits, or empty for no cap",
                    "spend_cap",
                ),
            )?),
        };
        Ok(Self { spend_cap_per_day: Some(cap), ..Self::default() })
    }
}

/// The outcome of a change of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updated {
    /// The changes of the profile are saved.
    Done,
    /// Another account or pending registration has the user name.
    UsernameTaken,
    /// No verified account has the number.
    NotFound,
}

/// The data with which the store deletes an account.
pub struct Deletion {
    /// The account to delete.
    pub account: AccountId,
    /// The digest of the e-mail address, whose locks and known clients are removed.
    pub recipient: Digest<Email>,
    /// The proof that permits the deletion.
    pub proof: DeletionProof,
    /// The e-mail that confirms the deletion.
    pub notice: SealedMessage,
    /// The time at which the account is deleted.
    pub at: Timestamp,
}

/// The proof that permits the deletion of an account.
pub enum DeletionProof {
    /// The hash of the present password, which the owner entered.
    Password(PasswordHash),
    /// The e-mail address, which the owner of an account without a password entered.
    NoPassword,
    /// The operator's action, with its record.
    Operator(Operation),
}

/// A change of whether a second factor is required.
pub enum MfaChange {
    /// A second factor is required from now on.
    Enable,
    /// No second factor is required from now on. The owner entered the present password, which has
    /// this hash.
    Disable(PasswordHash),
}

impl MfaChange {
    /// Returns whether a second factor is required after the change.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        matches!(self, Self::Enable)
    }
}

/// The outcome of a [change of the second factor](AccountStore::set_mfa).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MfaChanged {
    /// The setting is changed.
    Done,
    /// The setting was as it should be already, or there is no such account.
    Unchanged,
    /// The account has another password than the one that the owner entered.
    OtherPassword,
}

/// The proof that permits another password.
pub enum PasswordProof {
    /// The code of a challenge, for a forgotten password.
    Code(ChallengeId),
    /// The hash of the present password, which the owner entered.
    Current(PasswordHash),
}

/// The replacement of a password.
pub struct PasswordChange {
    /// The proof that permits the change.
    pub proof: PasswordProof,
    /// The account whose password is replaced.
    pub account: AccountId,
    /// The e-mail address at which the proof was given.
    pub email: Email,
    /// The hash of the new password.
    pub password_hash: PasswordHash,
    /// The client that gave the proof. The account knows the client's network from now on, so that
    /// attempts from other networks do not delay the next login.
    pub known: KnownClient,
    /// The e-mail that confirms the new password.
    pub notice: SealedMessage,
    /// The time of the change.
    pub at: Timestamp,
}

impl PasswordChange {
    /// Returns the event, whose credentials end.
    #[must_use]
    pub const fn event(&self) -> SecurityEvent {
        match self.proof {
            PasswordProof::Code(_) => SecurityEvent::PasswordReset,
            PasswordProof::Current(_) => SecurityEvent::PasswordChanged,
        }
    }
}

/// An account's subscription to a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The number of the subscription.
    pub id: i64,
    /// The name of the database.
    pub database_name: String,
    /// True if the subscription is active.
    pub is_active: bool,
    /// The start of the subscription.
    pub subscribed_at: Timestamp,
}

/// The storage of accounts.
///
/// Calls by e-mail address, and the calls of an owner, affect verified accounts only.
pub trait AccountStore: Send + Sync {
    /// Reserves an account number that was never used.
    fn next_account_id(&self) -> impl Future<Output = Result<AccountId, StoreError>> + Send;

    /// Saves a registration form, in one transaction:
    ///
    /// - the user name of a verified account, or of another address's form with a live code, is
    ///   taken, for every address;
    /// - where [`SendQuota::allows`](crate::outbox::SendQuota::allows) allows no e-mail, nothing
    ///   changes;
    /// - an address with a verified account gets `message_if_known`, and a challenge that no code
    ///   can match;
    /// - otherwise the form, its challenge and its e-mail replace an earlier form of the address,
    ///   and an expired form with the same user name.
    fn register(
        &self,
        form: NewRegistration,
    ) -> impl Future<Output = Result<Registered, StoreError>> + Send;

    /// Finds the form of an address, whatever the age of its code.
    fn pending_registration(
        &self,
        email: &Email,
    ) -> impl Future<Output = Result<Option<PendingRegistration>, StoreError>> + Send;

    /// Consumes the challenge and turns the form into an account with key, session, credits and a
    /// [`Notice::Welcome`](crate::notification::Notice::Welcome), in one transaction. Returns
    /// `false`, with nothing changed, where the challenge was used, was replaced or has expired.
    fn confirm_registration(
        &self,
        form: ConfirmedForm,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Saves a verified account with its key and its credits, in one transaction, in place of an
    /// unverified form of the address.
    fn create_account(
        &self,
        account: AccountRow,
    ) -> impl Future<Output = Result<Creation, StoreError>> + Send;

    /// Reads the profile of an account, verified or not; `None` for an unknown number.
    fn profile(
        &self,
        account: AccountId,
    ) -> impl Future<Output = Result<Option<Profile>, StoreError>> + Send;

    /// Changes an account and records the operator's action, as one step; `false` where no account
    /// has the address.
    fn change_account(
        &self,
        email: &Email,
        change: Change,
        operation: Option<Operation>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Changes the profile. A user name is taken under the same rule as for
    /// [`register`](Self::register); the account's own name in another case is free.
    fn update_profile(
        &self,
        account: AccountId,
        changes: ProfileChanges,
    ) -> impl Future<Output = Result<Updated, StoreError>> + Send;

    /// Changes whether a second factor is required, and saves the e-mail and the notice of the
    /// change, in one transaction. The credentials of [`SecurityEvent::MfaChanged`] end. Nothing is
    /// saved unless the outcome is [`MfaChanged::Done`].
    fn set_mfa(
        &self,
        account: AccountId,
        change: MfaChange,
        notice: SealedMessage,
    ) -> impl Future<Output = Result<MfaChanged, StoreError>> + Send;

    /// Deletes an account, in one transaction. Keys, sessions, codes, history, subscriptions, locks
    /// and known clients are removed; address and user name are free again. The balance is written
    /// off as an [`Adjustment`](crate::credits::TransactionKind::Adjustment), so that the ledger,
    /// which stays under an unused number, sums to zero. Usage rows stay without caller and
    /// address; rows beyond one batch are left to
    /// [`Stale::Departed`](crate::store::Stale::Departed). Returns `false`, with nothing changed,
    /// where there is no such account, or the account has another password than the
    /// [`DeletionProof`] was given for.
    fn delete_account(
        &self,
        deletion: Deletion,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Finds the verified account of an address.
    fn account_of(
        &self,
        email: &Email,
    ) -> impl Future<Output = Result<Option<AccountId>, StoreError>> + Send;

    /// Replaces the password, in one transaction. All locks of the address are lifted, the
    /// credentials of [`PasswordChange::event`] end, and a
    /// [`Notice::PasswordChanged`](crate::notification::Notice::PasswordChanged) is written; the key
    /// stays. A [`PasswordProof::Code`] is consumed. Returns `false`, with nothing changed, where the
    /// challenge was used, was replaced or has expired, or where the account has another password or
    /// address than the proof was given for.
    fn replace_password(
        &self,
        change: PasswordChange,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Saves a subscription; `None`, with nothing saved, where the account is subscribed already.
    fn subscribe(
        &self,
        account: AccountId,
        database_name: &str,
        now: Timestamp,
    ) -> impl Future<Output = Result<Option<Subscription>, StoreError>> + Send;

    /// Removes a subscription. Returns `false` where the account has no subscription to the database.
    fn unsubscribe(
        &self,
        account: AccountId,
        database_name: &str,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Lists an account's subscriptions, oldest first, at most one for each database.
    fn subscriptions(
        &self,
        account: AccountId,
    ) -> impl Future<Output = Result<Vec<Subscription>, StoreError>> + Send;
}

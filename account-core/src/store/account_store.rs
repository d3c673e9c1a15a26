//! Accounts: their registration, profile, password, suspension and deletion.

use crate::client::KnownClient;
use crate::code::{Challenge, ChallengeId};
use crate::digest::Digest;
use crate::identity::{AccountId, Contact, Email, Username};
use crate::key::NewKey;
use crate::outbox::SealedMessage;
use crate::password::PasswordHash;
use crate::revocation::SecurityEvent;
use crate::session::{Session, SessionToken};
use crate::tier::Tier;
use crate::{Error, StoreError, Timestamp};

/// A form as it is stored, with the two messages of which one will be sent.
pub struct NewRegistration {
    /// The number of the account that it would become.
    pub id: AccountId,
    /// The name to be known by.
    pub username: Username,
    /// Where the code is sent.
    pub email: Email,
    /// The password's hash.
    pub password_hash: PasswordHash,
    /// How else to be reached.
    pub contact: Contact,
    /// The code's challenge.
    pub challenge: Challenge,
    /// The message with the code.
    pub message: SealedMessage,
    /// The message for an address that has an account.
    pub message_if_known: SealedMessage,
    /// When it was filled in.
    pub created_at: Timestamp,
}

/// What became of a form. The caller is told of a taken username alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// Saved, in place of an earlier unverified form of that address, and the code is on its way.
    Saved,
    /// The address has an account; the message says so.
    Known,
    /// Too many messages lately: nothing was changed, the form included.
    Quiet,
    /// Another account or running registration has the name.
    UsernameTaken,
}

/// A form that waits for its code.
#[derive(Clone)]
pub struct PendingRegistration {
    /// The number of the account that it would become.
    pub account: AccountId,
    /// The name it asks for.
    pub username: Username,
}

/// What a right code makes of a form.
pub struct ConfirmedForm {
    /// The challenge that was met.
    pub challenge: ChallengeId,
    /// Whose it is.
    pub account: AccountId,
    /// The account's first key.
    pub key: NewKey,
    /// The session of whoever sent the code.
    pub session: Session,
    /// What whoever sent the code is known by from now on.
    pub client: KnownClient,
    /// The signup grant.
    pub credits: u64,
    /// When.
    pub at: Timestamp,
}

/// An account as an operator's call stores it.
pub struct AccountRow {
    /// Its number.
    pub id: AccountId,
    /// Its address.
    pub email: Email,
    /// Its name.
    pub username: Username,
    /// Its password's hash.
    pub password_hash: Option<PasswordHash>,
    /// Its tier.
    pub tier: Tier,
    /// Its credits, booked as the grant that is named.
    pub credits: u64,
    /// Whether the credits are an operator's grant rather than the signup's.
    pub granted_by_admin: bool,
    /// Requests an hour, where it has a limit of its own.
    pub hourly_limit: Option<u32>,
    /// Whether it may use the administrators' calls.
    pub is_admin: bool,
    /// Its key.
    pub key: NewKey,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Whether an account was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creation {
    /// Made.
    Done,
    /// The address has an account.
    EmailTaken,
    /// Another account or running registration has the name.
    UsernameTaken,
}

/// What an operator changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The tier.
    Tier(Tier),
    /// Requests an hour; the tier's where `None`.
    HourlyLimit(Option<u32>),
    /// The key is put out of use, and what [`SecurityEvent::Suspended`] names ends.
    Suspend,
    /// The suspended key is good again.
    Activate,
}

/// What became of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granted {
    /// Given and booked.
    Balance(u64),
    /// The balance would pass [`LARGEST_BALANCE`](crate::credits::LARGEST_BALANCE).
    TooMuch,
    /// No account has the address.
    NotFound,
}

/// Whether an account's key is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStatus {
    /// Good.
    Active,
    /// Put out of use for the time being.
    Suspended,
    /// Replaced or never made.
    Revoked,
}

impl KeyStatus {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Active, Self::Suspended, Self::Revoked];

    /// The name on the wire, as in `active`.
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
    /// Its number.
    pub id: AccountId,
    /// Its name.
    pub username: Username,
    /// Its address.
    pub email: Email,
    /// How else to reach its owner.
    pub contact: Contact,
    /// Its tier.
    pub tier: Tier,
    /// Requests an hour: its own limit, or its tier's.
    pub hourly_limit: u32,
    /// Credits left.
    pub credit_balance: u64,
    /// Whether its address was confirmed.
    pub is_verified: bool,
    /// Whether it may use the administrators' calls.
    pub is_admin: bool,
    /// Whether a login asks for a second factor.
    pub mfa_enabled: bool,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When someone last logged in.
    pub last_login_at: Option<Timestamp>,
    /// When its key was made.
    pub api_key_created_at: Option<Timestamp>,
    /// Whether its key is good.
    pub api_key_status: KeyStatus,
}

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
    ) -> Result<Self, Vec<Error>> {
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

/// The end of an account.
pub struct Deletion {
    /// The account.
    pub account: AccountId,
    /// Whose locks and known clients are forgotten.
    pub recipient: Digest<Email>,
    /// Whether an account with a password is spared.
    pub only_without_password: bool,
    /// The message that says so.
    pub notice: SealedMessage,
    /// When.
    pub at: Timestamp,
}

/// A new password for whoever forgot the old one.
pub struct Reset {
    /// The challenge that was met.
    pub challenge: ChallengeId,
    /// Whose it is.
    pub account: AccountId,
    /// The new password's hash.
    pub password_hash: PasswordHash,
    /// The network of whoever reads the account's messages: known from now on, so that the login
    /// that follows does not wait for strangers.
    pub known: KnownClient,
    /// The message that says so.
    pub notice: SealedMessage,
    /// When.
    pub at: Timestamp,
}

/// An account's subscription to a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// Its number.
    pub id: i64,
    /// The name of the database.
    pub database_name: String,
    /// Whether it goes on.
    pub is_active: bool,
    /// When it began.
    pub subscribed_at: Timestamp,
}

/// The storage of accounts.
///
/// Calls by e-mail address and the calls of an owner see verified accounts only.
pub trait AccountStore: Send + Sync {
    /// Hands out a number that no account has or had.
    fn next_account_id(&self) -> impl Future<Output = Result<AccountId, StoreError>> + Send;

    /// Saves a form, as one step:
    ///
    /// - the name of a verified account, or of another address's form whose code is still live, is
    ///   taken, whatever the address;
    /// - where [`SendQuota::allows`](crate::outbox::SendQuota::allows) no message, nothing changes;
    /// - an address with a verified account gets `message_if_known`, and the challenge as one that
    ///   nobody can meet;
    /// - else the form, its challenge and its message take the place of an earlier form of the
    ///   address, and of an expired form with the name.
    fn register(
        &self,
        form: NewRegistration,
    ) -> impl Future<Output = Result<Registered, StoreError>> + Send;

    /// Finds the form of an address, however old its code.
    fn pending_registration(
        &self,
        email: &Email,
    ) -> impl Future<Output = Result<Option<PendingRegistration>, StoreError>> + Send;

    /// Uses the challenge up and makes the form an account with key, session, grant and a
    /// [`Notice::Welcome`](crate::notification::Notice::Welcome), as one step; `false`, and nothing changed, where the challenge was used, replaced or has expired.
    fn confirm_registration(
        &self,
        form: ConfirmedForm,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Saves a verified account with its key and its grant, as one step, in place of an unverified
    /// form of the address.
    fn create_account(
        &self,
        account: AccountRow,
    ) -> impl Future<Output = Result<Creation, StoreError>> + Send;

    /// Reads an account.
    fn profile(
        &self,
        account: AccountId,
    ) -> impl Future<Output = Result<Option<Profile>, StoreError>> + Send;

    /// Changes an account; `false` where no account has the address.
    fn change_account(
        &self,
        email: &Email,
        change: Change,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Adds to a balance and books it as an operator's grant, as one step.
    fn grant(
        &self,
        email: &Email,
        credits: u64,
        now: Timestamp,
    ) -> impl Future<Output = Result<Granted, StoreError>> + Send;

    /// Changes the profile. A name is taken as for a registration ([`register`](Self::register));
    /// the account's own in another case is not.
    fn update_profile(
        &self,
        account: AccountId,
        changes: ProfileChanges,
    ) -> impl Future<Output = Result<Updated, StoreError>> + Send;

    /// Switches the second factor and saves the message and the notice that say so, as one step;
    /// `false`, and neither, where it was so already or there is no such account. What
    /// [`SecurityEvent::MfaChanged`] names ends.
    fn set_mfa(
        &self,
        account: AccountId,
        enabled: bool,
        notice: SealedMessage,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Deletes an account, as one step: keys, sessions, codes, history, subscriptions, locks and
    /// known clients are gone; its balance is written off as an
    /// [`Adjustment`](crate::credits::TransactionKind::Adjustment), so that its ledger, which stays
    /// under a number that nobody has, sums to nothing; its usage rows stay, without who called
    /// and from where, and as many as are too many for one step are left to
    /// [`Stale::Departed`](crate::store::Stale::Departed). Address and name are free
    /// again. `false`, and nothing changed, where there is no such account, or it is spared.
    fn delete_account(
        &self,
        deletion: Deletion,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Finds the verified account of an address.
    fn account_of(
        &self,
        email: &Email,
    ) -> impl Future<Output = Result<Option<AccountId>, StoreError>> + Send;

    /// Uses the challenge up and replaces the password, as one step: all locks at the address are
    /// lifted, what [`SecurityEvent::PasswordReset`] names ends, the key stays, and a
    /// [`Notice::PasswordChanged`](crate::notification::Notice::PasswordChanged) is written.
    /// `false`, and nothing changed, where the challenge was used, replaced or has expired.
    fn reset_password(&self, reset: Reset)
    -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Ends the credentials of an account that the event names, as one step; for a change that has
    /// a step of its own, that step does the same. The session that is spared stays where
    /// [`SecurityEvent::may_spare_a_session`] allows it. The key itself is left to the event.
    fn end_credentials(
        &self,
        account: AccountId,
        event: SecurityEvent,
        spared: Option<&Digest<SessionToken>>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Saves a subscription; `None`, and nothing saved, where the account has it already.
    fn subscribe(
        &self,
        account: AccountId,
        database_name: &str,
        now: Timestamp,
    ) -> impl Future<Output = Result<Option<Subscription>, StoreError>> + Send;

    /// Lists an account's subscriptions, oldest first: no more than there are databases.
    fn subscriptions(
        &self,
        account: AccountId,
    ) -> impl Future<Output = Result<Vec<Subscription>, StoreError>> + Send;
}

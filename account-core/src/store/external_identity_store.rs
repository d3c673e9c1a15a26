//! Identities at a provider, started sign-ins, waiting profiles and hand-off codes.

use super::account_store::{AccountRow, Creation};
use super::sign_in_store::{LoginMethod, SealedKey};
use crate::client::{Client, KnownClient};
use crate::digest::Digest;
use crate::hand_off::Destination;
use crate::id_token::ProvenIdentity;
use crate::identity::{AccountId, Contact, Email};
use crate::key::KeyId;
use crate::session::Session;
use crate::token::{BrowserToken, CompletionToken, HandOffCode, StateToken};
use crate::{StoreError, Timestamp};

/// A browser on its way, as it is stored. Nonce and verifier follow from the state.
pub struct StartRow {
    /// What it is found by.
    pub state: Digest<StateToken>,
    /// Whose it is.
    pub browser: Digest<BrowserToken>,
    /// Where it leads.
    pub destination: Destination,
    /// When.
    pub at: Timestamp,
}

/// What is known of an identity.
pub enum KnownIdentity {
    /// An account's, or linked to it just now by a confirmed address.
    Account(IdpAccount),
    /// Nobody's.
    New,
}

/// The account of an identity.
#[derive(Clone)]
pub struct IdpAccount {
    /// Its number.
    pub account: AccountId,
    /// Its address.
    pub email: Email,
    /// Whether its key is suspended.
    pub is_suspended: bool,
    /// Its key, where it has one.
    pub key: Option<SealedKey>,
}

/// A session that begins without a password.
pub struct OpenedSession {
    /// The session.
    pub session: Session,
    /// The key that is handed out with the session.
    pub key: KeyId,
    /// What the client is known by from now on.
    pub known: KnownClient,
    /// Who signed in.
    pub client: Client,
    /// How.
    pub method: LoginMethod,
}

/// A hand-off code, as it is stored.
#[derive(Clone, Copy)]
pub struct NewHandOff {
    /// The digest by which the code is found.
    pub digest: Digest<HandOffCode>,
    /// The account that the code signs in.
    pub account: AccountId,
    /// The key of the account, with which the code was asked for.
    pub key: KeyId,
    /// How the sign-in is remembered.
    pub method: LoginMethod,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A newcomer's profile as it waits to be completed.
#[derive(Clone)]
pub struct CompletionRow {
    /// Who it is.
    pub identity: ProvenIdentity,
    /// The address that the provider confirmed.
    pub email: Email,
    /// Where it leads.
    pub destination: Destination,
    /// When the identity was proven.
    pub at: Timestamp,
}

/// The storage of sign-ins by an identity provider, and of hand-off codes.
pub trait ExternalIdentityStore: Send + Sync {
    /// Writes down that a browser is on its way to the provider.
    fn start_idp(&self, row: StartRow) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Takes a browser's way out, once, where both digests fit and it is not older than
    /// [`START_VALIDITY`](crate::id_token::START_VALIDITY), and answers where it leads; `None` where
    /// there is none.
    fn finish_idp(
        &self,
        state: Digest<StateToken>,
        browser: Digest<BrowserToken>,
    ) -> impl Future<Output = Result<Option<Destination>, StoreError>> + Send;

    /// Finds the account of an identity. Where the identity is nobody's, and its confirmed address
    /// is that of a verified account, the two are linked, and a
    /// [`Notice::ProviderLinked`](crate::notification::Notice::ProviderLinked) says so; an
    /// unverified form with that address is none.
    fn known_identity(
        &self,
        identity: &ProvenIdentity,
        now: Timestamp,
    ) -> impl Future<Output = Result<KnownIdentity, StoreError>> + Send;

    /// Saves a newcomer's waiting profile.
    fn save_completion(
        &self,
        digest: Digest<CompletionToken>,
        row: CompletionRow,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reads a waiting profile made after `since`, without using it up.
    fn completion(
        &self,
        digest: Digest<CompletionToken>,
        since: Timestamp,
    ) -> impl Future<Output = Result<Option<CompletionRow>, StoreError>> + Send;

    /// Uses up a waiting profile that is not older than
    /// [`COMPLETION_VALIDITY`](crate::id_token::COMPLETION_VALIDITY), and makes it an account, as one
    /// step: contact, key, grant, welcome, identity, and the session. A form with its address is discarded. The
    /// outer `None`, and nothing changed, where the profile was used or its identity has an account
    /// by now; nothing is used up either where the [`Creation`] is not done.
    fn complete(
        &self,
        digest: Digest<CompletionToken>,
        account: AccountRow,
        contact: Contact,
        opened: OpenedSession,
    ) -> impl Future<Output = Result<Option<Creation>, StoreError>> + Send;

    /// Saves a code, and how the sign-in that it stands for is remembered; `false`, and nothing
    /// saved, where the key that the code was asked for with is no longer the account's active one.
    fn save_hand_off(
        &self,
        code: NewHandOff,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Uses up a code that is not older than [`VALIDITY`](crate::hand_off::VALIDITY), and answers its
    /// account and method; `None` where there is none.
    fn take_hand_off(
        &self,
        digest: Digest<HandOffCode>,
    ) -> impl Future<Output = Result<Option<(IdpAccount, LoginMethod)>, StoreError>> + Send;

    /// Begins a session of an account whose active key is the one that is handed out; `false`, and
    /// no session, for any other.
    fn open_session(
        &self,
        opened: OpenedSession,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

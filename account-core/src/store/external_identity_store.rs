//! Identities at the provider, started sign-ins, incomplete profiles and hand-off codes.

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

/// A sign-in that was started at the provider. Nonce and PKCE verifier are derived from the state.
pub struct StartRow {
    /// The digest of the state, by which the sign-in is found.
    pub state: Digest<StateToken>,
    /// The digest of the browser's secret.
    pub browser: Digest<BrowserToken>,
    /// The place to which the browser goes after the sign-in.
    pub destination: Destination,
    /// The time at which the sign-in was started.
    pub at: Timestamp,
}

/// The account of an identity, if any.
pub enum KnownIdentity {
    /// The account that is linked to the identity, or was linked now by a confirmed e-mail address.
    Account(IdpAccount),
    /// The identity has no account yet; its profile must be completed.
    New,
}

/// The account that an identity at the provider is linked to.
#[derive(Clone)]
pub struct IdpAccount {
    /// The number of the account.
    pub account: AccountId,
    /// The e-mail address of the account.
    pub email: Email,
    /// True if the key is suspended.
    pub is_suspended: bool,
    /// The sealed API key; `None` where the account has none in use.
    pub key: Option<SealedKey>,
}

/// A session that begins without a password.
pub struct OpenedSession {
    /// The session that begins.
    pub session: Session,
    /// The API key that the client gets with the session.
    pub key: KeyId,
    /// The client, which the account knows from now on.
    pub known: KnownClient,
    /// The client that signed in, for the login history.
    pub client: Client,
    /// The method of the sign-in, for the login history.
    pub method: LoginMethod,
}

/// A new hand-off code, as stored.
#[derive(Clone, Copy)]
pub struct NewHandOff {
    /// The digest of the code.
    pub digest: Digest<HandOffCode>,
    /// The account that the code signs in.
    pub account: AccountId,
    /// The API key of the account when the code was requested.
    pub key: KeyId,
    /// The method for the login history.
    pub method: LoginMethod,
    /// The time at which the code was made.
    pub created_at: Timestamp,
}

/// The incomplete profile of a new identity.
#[derive(Clone)]
pub struct CompletionRow {
    /// The identity that the provider has proven.
    pub identity: ProvenIdentity,
    /// The e-mail address that the provider confirmed.
    pub email: Email,
    /// The place to which the browser goes after the sign-in.
    pub destination: Destination,
    /// The time at which the identity was proven.
    pub at: Timestamp,
}

/// The storage of sign-ins by an identity provider, and of hand-off codes.
pub trait ExternalIdentityStore: Send + Sync {
    /// Saves a sign-in that a browser has started.
    fn start_idp(&self, row: StartRow) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Consumes a started sign-in with these two digests, not older than
    /// [`START_VALIDITY`](crate::id_token::START_VALIDITY), and returns its destination; `None`
    /// where there is none.
    fn finish_idp(
        &self,
        state: Digest<StateToken>,
        browser: Digest<BrowserToken>,
    ) -> impl Future<Output = Result<Option<Destination>, StoreError>> + Send;

    /// Finds the account of an identity. An identity without an account is linked to the verified
    /// account with the same confirmed e-mail address, and a
    /// [`Notice::ProviderLinked`](crate::notification::Notice::ProviderLinked) informs the owner.
    /// An unverified form with that address is not linked.
    fn known_identity(
        &self,
        identity: &ProvenIdentity,
        now: Timestamp,
    ) -> impl Future<Output = Result<KnownIdentity, StoreError>> + Send;

    /// Saves the incomplete profile of a new identity under the digest of its token.
    fn save_completion(
        &self,
        digest: Digest<CompletionToken>,
        row: CompletionRow,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reads an incomplete profile made after `since`, without consuming it.
    fn completion(
        &self,
        digest: Digest<CompletionToken>,
        since: Timestamp,
    ) -> impl Future<Output = Result<Option<CompletionRow>, StoreError>> + Send;

    /// Turns an incomplete profile, not older than
    /// [`COMPLETION_VALIDITY`](crate::id_token::COMPLETION_VALIDITY), into an account, in one
    /// transaction: contact, key, credits, welcome, identity and session. An unverified form of the
    /// same address is discarded. Returns `None`, with nothing changed, where the profile was used
    /// or its identity has an account. Unless the [`Creation`] is done, the profile stays usable.
    fn complete(
        &self,
        digest: Digest<CompletionToken>,
        account: AccountRow,
        contact: Contact,
        opened: OpenedSession,
    ) -> impl Future<Output = Result<Option<Creation>, StoreError>> + Send;

    /// Saves a hand-off code; `false`, with nothing saved, where the key of the code is not the
    /// account's active key.
    fn save_hand_off(
        &self,
        code: NewHandOff,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Consumes a code that is not older than [`VALIDITY`](crate::hand_off::VALIDITY), and returns
    /// its account and method; `None` where there is none.
    fn take_hand_off(
        &self,
        digest: Digest<HandOffCode>,
    ) -> impl Future<Output = Result<Option<(IdpAccount, LoginMethod)>, StoreError>> + Send;

    /// Begins a session of an account with this active key; `false`, with no session, for any other
    /// account.
    fn open_session(
        &self,
        opened: OpenedSession,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

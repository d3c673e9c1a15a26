//! Changes of an account's e-mail address: their request, their confirmation, and their undoing.

use crate::client::KnownClient;
use crate::code::{Challenge, ChallengeId};
use crate::digest::Digest;
use crate::identity::{AccountId, Email};
use crate::key::NewKey;
use crate::outbox::SealedMessage;
use crate::password::PasswordHash;
use crate::session::SessionToken;
use crate::token::EmailUndoToken;
use crate::{StoreError, Timestamp};

/// A change of address that waits for its code.
pub struct EmailChangeRequest {
    /// The account that asks.
    pub account: AccountId,
    /// The challenge of the code. The recipient is the present address, so that an account has one
    /// change under way and no other account can use its tries up. Nobody's, where the new address
    /// has an account.
    pub challenge: Challenge,
    /// The message to the new address: the code, or a decoy.
    pub code: SealedMessage,
    /// The message to the present address.
    pub notice: SealedMessage,
}

/// A change of address whose code was right.
pub struct EmailChange {
    /// The challenge that was met.
    pub challenge: ChallengeId,
    /// The account.
    pub account: AccountId,
    /// The address that the account has.
    pub from: Email,
    /// Whose locks and known clients are forgotten.
    pub from_recipient: Digest<Email>,
    /// The address that the account gets.
    pub to: Email,
    /// The network of the client that sent the code, known at the new address from now on.
    pub known: KnownClient,
    /// The session that made the change, which goes on.
    pub kept: Option<Digest<SessionToken>>,
    /// What the token is found by that undoes the change.
    pub undo: Digest<EmailUndoToken>,
    /// The message to the address that the account had.
    pub notice: SealedMessage,
    /// When.
    pub at: Timestamp,
}

/// What became of a change of address, or of its undoing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailChanged {
    /// The account has the address.
    Done,
    /// Another account has the address by now; nothing was used up.
    EmailTaken,
    /// The code or the token was used, replaced or has expired, or the account has another address
    /// than the one from which the change starts.
    Outdated,
}

/// A change that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailUndo {
    /// The account.
    pub account: AccountId,
    /// The address that the account gets back.
    pub email: Email,
    /// The address that the account has.
    pub present: Email,
}

/// A change of address that its former address undoes.
pub struct UndoneEmailChange {
    /// What the token is found by.
    pub undo: Digest<EmailUndoToken>,
    /// Changes made until this moment can no longer be undone.
    pub since: Timestamp,
    /// The account.
    pub account: AccountId,
    /// The address that the account gets back.
    pub email: Email,
    /// Whose locks and known clients are forgotten, with those of `present_recipient`.
    pub recipient: Digest<Email>,
    /// The address that the account loses.
    pub present: Email,
    /// The digest of the address that the account loses.
    pub present_recipient: Digest<Email>,
    /// The hash of a password that nobody knows.
    pub password_hash: PasswordHash,
    /// The key in place of the active one.
    pub key: NewKey,
    /// The messages to both addresses.
    pub notices: [SealedMessage; 2],
    /// When.
    pub at: Timestamp,
}

/// The storage of changes of an account's e-mail address.
pub trait EmailChangeStore: Send + Sync {
    /// Saves the challenge in place of the account's earlier one, and both messages, as one step.
    /// Changes nothing where either address got too many messages
    /// ([`SendQuota::allows`](crate::outbox::SendQuota::allows)), or where there is no such verified
    /// account.
    fn request_email_change(
        &self,
        request: EmailChangeRequest,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Uses the challenge up and gives the account its new address, as one step. An unverified form
    /// of the new address is discarded. All codes of the account are worthless, because they went to
    /// its former address; locks and known clients of that address are forgotten. Hand-offs, grants,
    /// and all sessions but the one that is kept end; the key stays. The change can be undone, and a
    /// [`Notice::EmailChanged`](crate::notification::Notice::EmailChanged) is written.
    fn change_email(
        &self,
        change: EmailChange,
    ) -> impl Future<Output = Result<EmailChanged, StoreError>> + Send;

    /// Finds the change, made after `since` and not after `now`, that a token undoes.
    fn email_undo(
        &self,
        undo: Digest<EmailUndoToken>,
        since: Timestamp,
        now: Timestamp,
    ) -> impl Future<Output = Result<Option<EmailUndo>, StoreError>> + Send;

    /// Uses the token up and gives the account its former address back, as one step. Tokens of later
    /// changes are worthless, those of earlier ones stay. The password is one that nobody knows, and
    /// another key takes the place of the active one; a suspended key stays suspended. All sessions,
    /// codes, hand-offs and grants end. A
    /// [`Notice::EmailRestored`](crate::notification::Notice::EmailRestored) is written.
    fn undo_email_change(
        &self,
        undone: UndoneEmailChange,
    ) -> impl Future<Output = Result<EmailChanged, StoreError>> + Send;
}

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

/// A request to give an account another e-mail address.
pub struct EmailChangeRequest {
    /// The account of the request.
    pub account: AccountId,
    /// The challenge of the code. Its recipient is the present address, so that an account has one
    /// pending change, and no other account can use up the attempts. The challenge has no account
    /// where the new address has one.
    pub challenge: Challenge,
    /// The message to the new address: the code, or a decoy.
    pub code: SealedMessage,
    /// The message to the present address.
    pub notice: SealedMessage,
}

/// A change of an account's e-mail address whose codes were right.
pub struct EmailChange {
    /// The challenge whose code was right.
    pub challenge: ChallengeId,
    /// The account whose address changes.
    pub account: AccountId,
    /// The address of the account before the change.
    pub from: Email,
    /// The digest of the present address, whose locks and known clients are removed.
    pub from_recipient: Digest<Email>,
    /// The address of the account after the change.
    pub to: Email,
    /// The client that sent the code; the account knows its network at the new address from now on.
    pub known: KnownClient,
    /// The session that stays valid; `None` where all sessions end.
    pub kept: Option<Digest<SessionToken>>,
    /// The digest of the token that undoes the change.
    pub undo: Digest<EmailUndoToken>,
    /// The e-mail to the former address.
    pub notice: SealedMessage,
    /// The time at which the change is made.
    pub at: Timestamp,
}

/// The outcome of a change of address, or of its undoing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailChanged {
    /// The account has the address.
    Done,
    /// Another account has the address; nothing was consumed.
    EmailTaken,
    /// The code or the token was used, was replaced or has expired, or the account no longer has the
    /// address from which the change starts.
    Outdated,
}

/// A change that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailUndo {
    /// The account whose change can be undone.
    pub account: AccountId,
    /// The address that the account had before the change.
    pub email: Email,
    /// The address that the account has now.
    pub present: Email,
}

/// The restoration of the address that an account had before a change.
pub struct UndoneEmailChange {
    /// The digest of the token that permits the restoration.
    pub undo: Digest<EmailUndoToken>,
    /// The account.
    pub account: AccountId,
    /// The address that the account had before the change, and gets back.
    pub email: Email,
    /// The digest of the former address, whose locks and known clients are removed.
    pub recipient: Digest<Email>,
    /// The address that the account has now, and loses.
    pub present: Email,
    /// The digest of the present address, whose locks and known clients are removed.
    pub present_recipient: Digest<Email>,
    /// The hash of a password that nobody knows.
    pub password_hash: PasswordHash,
    /// The key that replaces the active one.
    pub key: NewKey,
    /// The e-mails to both addresses.
    pub notices: [SealedMessage; 2],
    /// The time at which the address is restored.
    pub at: Timestamp,
}

/// The storage of changes of an account's e-mail address.
pub trait EmailChangeStore: Send + Sync {
    /// Saves the challenge in place of the account's earlier one, and both e-mails, in one
    /// transaction. Changes nothing where the quota of either address is exhausted
    /// ([`SendQuota::allows`](crate::outbox::SendQuota::allows)), or where there is no such verified
    /// account.
    fn request_email_change(
        &self,
        request: EmailChangeRequest,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Consumes the challenge and gives the account its new address, in one transaction. An
    /// unverified registration of the new address is removed. All codes of the account become
    /// invalid, because they were sent to its former address; locks and known clients of that address
    /// are removed. Hand-offs, grants, and all sessions except `kept` end; the key stays. A row that
    /// undoes the change and a
    /// [`Notice::EmailChanged`](crate::notification::Notice::EmailChanged) are written.
    fn change_email(
        &self,
        change: EmailChange,
    ) -> impl Future<Output = Result<EmailChanged, StoreError>> + Send;

    /// Finds the change of a token, where the change was made after `since` and not after `now`.
    fn email_undo(
        &self,
        undo: Digest<EmailUndoToken>,
        since: Timestamp,
        now: Timestamp,
    ) -> impl Future<Output = Result<Option<EmailUndo>, StoreError>> + Send;

    /// Consumes the token and gives the account its former address back, in one transaction. Tokens
    /// of later changes become invalid, tokens of earlier changes stay valid. The password and the
    /// active key are replaced; a suspended key stays suspended. All sessions, codes, hand-offs and
    /// grants end, and a [`Notice::EmailRestored`](crate::notification::Notice::EmailRestored) is
    /// written.
    fn undo_email_change(
        &self,
        undone: UndoneEmailChange,
    ) -> impl Future<Output = Result<EmailChanged, StoreError>> + Send;
}

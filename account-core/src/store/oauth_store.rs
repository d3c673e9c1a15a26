//! Clients, codes, tokens and grants of the OAuth 2.1 server.

use crate::digest::Digest;
use crate::identity::AccountId;
use crate::oauth::RegisteredClient;
use crate::oauth::client::ClientId;
use crate::oauth::grant::{
    Grant, GrantId, IssuedCode, Redemption, RefreshVerdict, Rotation, StoredAccess,
};
use crate::oauth::token::{AccessToken, RefreshToken};
use crate::session::SessionToken;
use crate::{StoreError, Timestamp};

/// The storage of OAuth clients and their grants.
///
/// An event that ends the grants of an account ([`SecurityEvent`](crate::SecurityEvent)) also ends
/// the account's authorization codes, in the same transaction.
pub trait OauthStore: Send + Sync {
    /// Saves a client. A client with the same id, whose document has changed, takes the name and the
    /// redirect URIs of `client`.
    fn save_client(
        &self,
        client: RegisteredClient,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Finds a client; `None` for an unknown id.
    fn client(
        &self,
        id: &ClientId,
    ) -> impl Future<Output = Result<Option<RegisteredClient>, StoreError>> + Send;

    /// Saves a code, which counts as a use of its client and of this session of the account; `false`,
    /// with nothing saved, where the session has ended.
    fn save_code(
        &self,
        code: IssuedCode,
        session: &Digest<SessionToken>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Applies [`IssuedCode::judge`] in one transaction: begins a grant and ends the oldest beyond
    /// [`MOST_GRANTS`](crate::oauth::grant::MOST_GRANTS), or ends the grant of a replayed code, or
    /// changes nothing. Returns whether a grant began.
    fn redeem_code(
        &self,
        redemption: Redemption,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Applies the rule of refresh rotation,
    /// [`StoredRefresh::judge`](crate::oauth::grant::StoredRefresh::judge), in one transaction, for
    /// [`Accounts::refresh`](crate::Accounts::refresh). Returns the verdict, which is
    /// [`Refuse`](RefreshVerdict::Refuse) for an unknown token.
    fn rotate(
        &self,
        rotation: Rotation,
    ) -> impl Future<Output = Result<RefreshVerdict, StoreError>> + Send;

    /// Finds the caller of an access token, expired or not. Suspended and unverified accounts are
    /// not found.
    fn account_by_token(
        &self,
        token: &Digest<AccessToken>,
    ) -> impl Future<Output = Result<Option<StoredAccess>, StoreError>> + Send;

    /// Ends an access token alone, or the grant of a refresh token. Returns `false` where a client
    /// is named and the token belongs to another; an unknown token belongs to no client.
    fn end_token(
        &self,
        access: &Digest<AccessToken>,
        refresh: &Digest<RefreshToken>,
        client: Option<&ClientId>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Lists the unexpired grants of an account, the latest first.
    fn grants(
        &self,
        account: AccountId,
        now: Timestamp,
    ) -> impl Future<Output = Result<Vec<Grant>, StoreError>> + Send;

    /// Ends a grant of this account; `false` where the account has no such grant.
    fn end_grant(
        &self,
        account: AccountId,
        grant: GrantId,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

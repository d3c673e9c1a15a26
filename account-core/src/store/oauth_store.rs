//! Clients, codes, tokens and grants of the OAuth 2.1 server.

use crate::digest::Digest;
use crate::identity::AccountId;
use crate::oauth::Client;
use crate::oauth::client::ClientId;
use crate::oauth::grant::{
    Grant, GrantId, IssuedCode, Redemption, RefreshVerdict, Rotation, StoredAccess,
};
use crate::oauth::token::{AccessToken, RefreshToken};
use crate::session::SessionToken;
use crate::{StoreError, Timestamp};

/// The storage of OAuth clients and their grants.
///
/// An event that ends the grants of an account ([`SecurityEvent`](crate::SecurityEvent)) ends them and
/// its authorization codes within its own step.
pub trait OauthStore: Send + Sync {
    /// Saves a client.
    fn register_client(
        &self,
        client: Client,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Finds a client.
    fn client(
        &self,
        id: &ClientId,
    ) -> impl Future<Output = Result<Option<Client>, StoreError>> + Send;

    /// Saves a code and marks its client as used; `false`, and nothing saved, where this session
    /// of the account has ended.
    fn save_code(
        &self,
        code: IssuedCode,
        session: &Digest<SessionToken>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Applies [`IssuedCode::judge`] as one step: begins a grant, and ends the oldest beyond
    /// [`MOST_GRANTS`](crate::oauth::grant::MOST_GRANTS); or ends the one that came of the code; or changes nothing. Answers whether
    /// a grant began.
    fn redeem_code(
        &self,
        redemption: Redemption,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Applies the rule of rotation, [`StoredRefresh::judge`](crate::oauth::grant::StoredRefresh::judge),
    /// for [`Accounts::refresh`](crate::Accounts::refresh) as one step, and answers the verdict;
    /// [`Refuse`](RefreshVerdict::Refuse) for an unknown token.
    fn rotate(
        &self,
        rotation: Rotation,
    ) -> impl Future<Output = Result<RefreshVerdict, StoreError>> + Send;

    /// Finds who calls with an access token, expired or not. Suspended and unverified accounts
    /// are not found.
    fn account_by_token(
        &self,
        token: &Digest<AccessToken>,
    ) -> impl Future<Output = Result<Option<StoredAccess>, StoreError>> + Send;

    /// Ends an access token alone, or the grant of a refresh token; `false` where the token is
    /// another client's, who is named. An unknown token is nobody's.
    fn end_token(
        &self,
        access: &Digest<AccessToken>,
        refresh: &Digest<RefreshToken>,
        client: Option<&ClientId>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// An account's grants that are not expired, the latest first.
    fn grants(
        &self,
        account: AccountId,
        now: Timestamp,
    ) -> impl Future<Output = Result<Vec<Grant>, StoreError>> + Send;

    /// Ends a grant of this account; `false` where it has none of that number.
    fn end_grant(
        &self,
        account: AccountId,
        grant: GrantId,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

//! Grants to OAuth clients: consent, exchange of codes, refresh of tokens, listing and revocation.

use chrono::TimeDelta;

use crate::accounts::Accounts;
use crate::identity::AccountId;
use crate::key::AuthError;
use crate::oauth::client::{IDLE_KEPT, UNUSED_KEPT};
use crate::oauth::grant::{
    IssuedCode, Redemption, RefreshVerdict, Rotation, StaleOauth, TokenDigests,
};
use crate::oauth::token::{
    ACCESS_VALIDITY, AccessToken, AuthorizationCode, CODE_KEPT, RefreshToken,
};
use crate::oauth::{
    Authorization, Bearer, ClientId, ClientMetadata, Exchange, Grant, GrantId, OauthError,
    OauthResult, Refresh, RegisteredClient, Tokens,
};
use crate::password::PasswordHasher;
use crate::session::SessionToken;
use crate::store::Store;
use crate::{Result, Timestamp, random};

const NO_GRANT: OauthError =
    OauthError::InvalidGrant("the code or token is wrong, used, expired or revoked");

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Registers a client.
    ///
    /// # Errors
    ///
    /// [`OauthError::InvalidRedirectUri`]; [`OauthError::InvalidClientMetadata`]; [`OauthError::Store`].
    pub async fn register_client(
        &self,
        metadata: &ClientMetadata,
        now: Timestamp,
    ) -> OauthResult<RegisteredClient> {
        let client = RegisteredClient::register(metadata, &mut self.rng(), now)?;
        self.store().save_client(client.clone()).await?;
        Ok(client)
    }

    /// Saves a client that its document describes, before an account gives the client access. A
    /// client whose account refuses is not stored.
    ///
    /// # Errors
    ///
    /// [`OauthError::Store`].
    pub async fn keep_described_client(&self, client: RegisteredClient) -> OauthResult<()> {
        Ok(self.store().save_client(client).await?)
    }

    /// Finds a client.
    ///
    /// # Errors
    ///
    /// [`OauthError::InvalidClient`] for an unknown client id; [`OauthError::Store`].
    pub async fn client(&self, id: &ClientId) -> OauthResult<RegisteredClient> {
        let client = self.store().client(id).await?;
        client.ok_or(OauthError::InvalidClient("unknown client: register again"))
    }

    /// Issues an authorization code after the owner's consent in this session; `None` where the
    /// session has ended.
    ///
    /// # Errors
    ///
    /// [`OauthError::Store`].
    pub async fn issue_code(
        &self,
        session: &SessionToken,
        account: AccountId,
        authorization: Authorization,
        now: Timestamp,
    ) -> OauthResult<Option<AuthorizationCode>> {
        let code = AuthorizationCode::generate(&mut self.rng());
        let digest = self.vault().authorization_code_digest(&code);
        let issued = IssuedCode { digest, account, authorization, created_at: now, grant: None };
        let session = self.vault().token_digest(session);
        Ok(self.store().save_code(issued, &session).await?.then_some(code))
    }

    /// Exchanges a code for tokens. The second use of a code ends the grant of the first.
    ///
    /// # Errors
    ///
    /// [`OauthError::InvalidGrant`] where any part of the request does not match;
    /// [`OauthError::Store`].
    pub async fn exchange(&self, exchange: Exchange) -> OauthResult<Tokens> {
        let access = AccessToken::generate(&mut self.rng());
        let refresh = RefreshToken::generate(&mut self.rng());
        let redemption = Redemption {
            code: self.vault().authorization_code_digest(&exchange.code),
            exchange,
            grant: GrantId(random::identifier(&mut self.rng())),
            tokens: self.token_digests(&access, &refresh),
        };
        if self.store().redeem_code(redemption).await? {
            Ok(Tokens { access, refresh, expires_in: ACCESS_VALIDITY })
        } else {
            Err(NO_GRANT)
        }
    }

    /// Exchanges a refresh token for the next tokens. The second use of a refresh token ends its
    /// grant, except within the leeway, where the answer is repeated.
    ///
    /// [`StoredRefresh::judge`](crate::oauth::grant::StoredRefresh::judge) is the rule, and
    /// [`OauthStore::rotate`](crate::store::OauthStore::rotate) applies the rule in a transaction.
    ///
    /// # Errors
    ///
    /// [`OauthError::InvalidGrant`] where any part of the request does not match;
    /// [`OauthError::Store`].
    pub async fn refresh(&self, refresh: Refresh) -> OauthResult<Tokens> {
        let (access, next) = self.vault().successors(&refresh.token);
        let rotation = Rotation {
            token: self.vault().refresh_token_digest(&refresh.token),
            tokens: self.token_digests(&access, &next),
            refresh,
        };
        let age = match self.store().rotate(rotation).await? {
            RefreshVerdict::Rotate => TimeDelta::zero(),
            RefreshVerdict::Again(age) => age,
            RefreshVerdict::Reuse | RefreshVerdict::Refuse => return Err(NO_GRANT),
        };
        let expires_in = (ACCESS_VALIDITY - age).max(TimeDelta::zero());
        Ok(Tokens { access, refresh: next, expires_in })
    }

    /// Identifies the caller of an access token for this resource, with one look-up by the token's
    /// digest.
    ///
    /// # Errors
    ///
    /// [`AuthError::Unknown`] for a token that identifies no caller, for any reason;
    /// [`AuthError::Store`].
    pub async fn bearer(
        &self,
        token: &AccessToken,
        resource: &str,
        now: Timestamp,
    ) -> std::result::Result<Bearer, AuthError> {
        let stored =
            self.store().account_by_token(&self.vault().access_token_digest(token)).await?;
        let live = stored.filter(|stored| stored.resource == resource);
        let bearer = live.map(|stored| stored.bearer).filter(|bearer| now < bearer.expires_at);
        bearer.ok_or(AuthError::Unknown)
    }

    /// Revokes an access token, or the grant of a refresh token. For an unknown token, nothing is
    /// left to do (RFC 7009, section 2.2).
    ///
    /// # Errors
    ///
    /// [`OauthError::InvalidGrant`] where the token belongs to another client;
    /// [`OauthError::Store`].
    pub async fn revoke_token(&self, text: &str, client: Option<&ClientId>) -> OauthResult<()> {
        let (Some(access), Some(refresh)) = (AccessToken::parse(text), RefreshToken::parse(text))
        else {
            return Ok(());
        };
        let access = self.vault().access_token_digest(&access);
        let refresh = self.vault().refresh_token_digest(&refresh);
        if self.store().end_token(&access, &refresh, client).await? {
            Ok(())
        } else {
            Err(OauthError::InvalidGrant("the token is another client's"))
        }
    }

    /// Lists the grants of an account, the latest first.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Store`].
    pub async fn grants(&self, account: AccountId, now: Timestamp) -> Result<Vec<Grant>> {
        Ok(self.store().grants(account, now).await?)
    }

    /// Ends a grant of this account; `false` where the account has no such grant.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Store`].
    pub async fn end_grant(&self, account: AccountId, grant: GrantId) -> Result<bool> {
        Ok(self.store().end_grant(account, grant).await?)
    }

    /// Removes dead codes, tokens, grants and clients, at most `limit` of each. Returns the sum and
    /// the largest number of one kind.
    pub(super) async fn reap_oauth(&self, now: Timestamp, limit: u32) -> Result<(u64, u64)> {
        let (mut sum, mut most) = (0, 0);
        for stale in [
            StaleOauth::Codes(now - CODE_KEPT),
            StaleOauth::Expired(now),
            StaleOauth::Clients(now - UNUSED_KEPT, now - IDLE_KEPT),
        ] {
            let reaped = self.store().reap(stale, limit).await?;
            sum += reaped;
            most = most.max(reaped);
        }
        Ok((sum, most))
    }

    fn token_digests(&self, access: &AccessToken, refresh: &RefreshToken) -> TokenDigests {
        TokenDigests {
            access: self.vault().access_token_digest(access),
            refresh: self.vault().refresh_token_digest(refresh),
        }
    }
}

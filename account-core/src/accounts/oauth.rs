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
    Authorization, Bearer, Client, ClientId, ClientMetadata, Error, Exchange, Grant, GrantId,
    Refresh, Tokens,
};
use crate::password::PasswordHasher;
use crate::session::SessionToken;
use crate::store::Store;
use crate::{Result, Timestamp, random};

type Answered<T> = std::result::Result<T, Error>;

const NO_GRANT: Error = Error::InvalidGrant("the code or token is wrong, used, expired or revoked");

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Registers a client.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRedirectUri`]; [`Error::InvalidClientMetadata`]; [`Error::Store`].
    pub async fn register_client(
        &self,
        metadata: &ClientMetadata,
        now: Timestamp,
    ) -> Answered<Client> {
        let client = Client::register(metadata, &mut self.rng(), now)?;
        self.store().register_client(client.clone()).await?;
        Ok(client)
    }

    /// Finds a client.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidClient`] where there is none of that name; [`Error::Store`].
    pub async fn client(&self, id: &ClientId) -> Answered<Client> {
        let client = self.store().client(id).await?;
        client.ok_or(Error::InvalidClient("unknown client: register again"))
    }

    /// Makes the code that answers an owner's consent, given in this session; `None` where the
    /// session has ended.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn issue_code(
        &self,
        session: &SessionToken,
        account: AccountId,
        authorization: Authorization,
        now: Timestamp,
    ) -> Answered<Option<AuthorizationCode>> {
        let code = AuthorizationCode::generate(&mut self.rng());
        let digest = self.vault().authorization_code_digest(&code);
        let issued = IssuedCode { digest, account, authorization, created_at: now, grant: None };
        let session = self.vault().token_digest(session);
        Ok(self.store().save_code(issued, &session).await?.then_some(code))
    }

    /// Exchanges a code for tokens. A code that was used before ends the grant that came of it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidGrant`], whatever of it does not fit; [`Error::Store`].
    pub async fn exchange(&self, exchange: Exchange) -> Answered<Tokens> {
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

    /// Exchanges a refresh token for the next tokens. One that was used before ends its grant,
    /// except within the leeway, where the same tokens are answered again.
    ///
    /// [`StoredRefresh::judge`](crate::oauth::grant::StoredRefresh::judge) is the rule, and
    /// [`OauthStore::rotate`](crate::store::OauthStore::rotate) the transaction that applies it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidGrant`], whatever of it does not fit; [`Error::Store`].
    pub async fn refresh(&self, refresh: Refresh) -> Answered<Tokens> {
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

    /// Finds who calls with an access token for this resource: one look-up by its digest.
    ///
    /// # Errors
    ///
    /// [`AuthError::Unknown`] for a token that opens nothing, whatever the reason;
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

    /// Ends a token: an access token alone, or the grant of a refresh token. An unknown token is
    /// as good as ended.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidGrant`] where the token is another client's than the one that is named;
    /// [`Error::Store`].
    pub async fn revoke_token(&self, text: &str, client: Option<&ClientId>) -> Answered<()> {
        let (Some(access), Some(refresh)) = (AccessToken::parse(text), RefreshToken::parse(text))
        else {
            return Ok(());
        };
        let access = self.vault().access_token_digest(&access);
        let refresh = self.vault().refresh_token_digest(&refresh);
        if self.store().end_token(&access, &refresh, client).await? {
            Ok(())
        } else {
            Err(Error::InvalidGrant("the token is another client's"))
        }
    }

    /// The clients that an account is connected with, the latest first.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Store`].
    pub async fn grants(&self, account: AccountId, now: Timestamp) -> Result<Vec<Grant>> {
        Ok(self.store().grants(account, now).await?)
    }

    /// Ends a grant of this account; `false` where it has none of that number.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Store`].
    pub async fn end_grant(&self, account: AccountId, grant: GrantId) -> Result<bool> {
        Ok(self.store().end_grant(account, grant).await?)
    }

    /// Removes dead codes, tokens, grants and clients, of each at most so many; answers the most
    /// of a kind.
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

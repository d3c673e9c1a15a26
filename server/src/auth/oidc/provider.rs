//! OpenID Connect: discovery of the identity provider, and verification of its answers.
//!
//! Signatures are verified here; [`Claims::judge`](account_core::Claims::judge) checks the claims.
//! Keys are fetched with the provider's metadata and cached for an hour. A signature of an unknown
//! key causes another fetch, at most twice a minute, so that a key rotation is noticed and forged
//! tokens cause no traffic.

use std::pin::Pin;
use std::time::Duration;

use account_core::accounts::external_sign_in::Started;
use account_core::id_token::{Returned, SKEW};
use account_core::{Claims, Expected, IdTokenError, ProvenIdentity, Timestamp};
use chrono::TimeDelta;
use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreGenderClaim, CoreIdTokenVerifier,
    CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreProviderMetadata,
};
use openidconnect::{
    AdditionalClaims, AsyncHttpClient, AuthType, AuthorizationCode, ClaimsVerificationError,
    ClientId, ClientSecret, CsrfToken, HttpRequest, HttpResponse, IdToken, IssuerUrl, Nonce,
    PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope, SignatureVerificationError,
    TokenResponse, http, url,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use super::{IdpError, ProviderError, keys};
use crate::config::IdpRoute;

/// The longest time for one answer of the provider.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Largest answer that is read, in bytes.
const LONGEST_ANSWER: usize = 1024 * 1024;
/// Largest ID token that is verified, in bytes.
const LONGEST_TOKEN: usize = 16 * 1024;
/// Time for which the provider's metadata and keys are cached.
const KEPT: TimeDelta = TimeDelta::hours(1);
/// The least time between two fetches for an unknown key.
const KEYS_AGAIN: TimeDelta = TimeDelta::seconds(30);
/// Time until a provider that did not answer is asked again.
const REST: TimeDelta = TimeDelta::seconds(5);

/// The signature algorithms that are accepted: those with public keys. With a shared secret, or no
/// signature, every reader of the configuration could sign.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// An ID token with the claim `nbf`, which the library does not have.
type Token =
    IdToken<NotBefore, CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm>;

#[derive(Clone, Debug, Deserialize, Serialize)]
struct NotBefore {
    #[serde(default)]
    nbf: Option<f64>,
}

impl AdditionalClaims for NotBefore {}

/// The OpenID Connect provider of the settings, with its metadata and HTTP client.
pub struct Provider {
    issuer: IssuerUrl,
    client_id: ClientId,
    client_secret: Option<ClientSecret>,
    redirect: RedirectUrl,
    public_url: String,
    http: Http,
    known: Mutex<Known>,
}

/// The cached metadata of the provider, with the times of the last success and failure.
#[derive(Default)]
struct Known {
    metadata: Option<CoreProviderMetadata>,
    fetched_at: Timestamp,
    failed_at: Option<Timestamp>,
}

impl Provider {
    /// Makes a provider, whose metadata are fetched at the first use.
    ///
    /// # Errors
    ///
    /// [`ProviderError`] for invalid addresses.
    pub fn new(route: &IdpRoute) -> Result<Self, ProviderError> {
        let refused = |error: url::ParseError| ProviderError(error.into());
        let callback = format!("{}/user/auth/idp/callback", route.public_url);
        let http = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| ProviderError(error.into()))?;
        Ok(Self {
            issuer: IssuerUrl::new(route.issuer.clone()).map_err(refused)?,
            client_id: ClientId::new(route.client_id.clone()),
            client_secret: route.client_secret.clone().map(ClientSecret::new),
            redirect: RedirectUrl::new(callback).map_err(refused)?,
            public_url: route.public_url.clone(),
            http: Http(http),
            known: Mutex::default(),
        })
    }

    /// Returns the public address of the service, without a slash at the end; a browser leaves for
    /// the provider and returns at this address.
    pub fn public_url(&self) -> &str {
        &self.public_url
    }

    /// Returns the address at the provider at which a browser signs in.
    ///
    /// # Errors
    ///
    /// [`IdpError::Unavailable`].
    pub async fn authorize_url(
        &self,
        started: &Started,
        now: Timestamp,
    ) -> Result<String, IdpError> {
        let metadata = self.metadata(now, None).await?;
        let client = self.client(metadata);
        let verifier = PkceCodeVerifier::new(started.pkce_verifier.clone());
        let (state, nonce) = (started.state.expose().to_owned(), started.nonce.clone());
        let (url, _, _) = client
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                || CsrfToken::new(state),
                || Nonce::new(nonce),
            )
            .add_scopes(["email", "profile"].map(|scope| Scope::new(scope.to_owned())))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
            .url();
        Ok(url.into())
    }

    /// Exchanges a code for an ID token, and verifies it.
    ///
    /// # Errors
    ///
    /// [`IdpError`].
    pub async fn exchange(
        &self,
        code: &str,
        returned: &Returned,
        now: Timestamp,
    ) -> Result<ProvenIdentity, IdpError> {
        let metadata = self.metadata(now, None).await?;
        let client = self.client(metadata);
        let no_token = |error: &dyn std::error::Error| IdpError::NoToken(error.to_string());
        let verifier = PkceCodeVerifier::new(returned.pkce_verifier.clone());
        let request = client
            .exchange_code(AuthorizationCode::new(code.to_owned()))
            .map_err(|error| no_token(&error))?
            .set_pkce_verifier(verifier);
        let answer = request.request_async(&self.http).await.map_err(|error| match error {
            openidconnect::RequestTokenError::Request(error) => {
                IdpError::Unavailable(error.to_string())
            }
            error => no_token(&error),
        })?;
        let none = || IdpError::NoToken("the answer has no ID token".to_owned());
        let token = answer.id_token().ok_or_else(none)?.to_string();
        self.verify(&token, Some(&returned.nonce), now).await
    }

    /// Verifies an ID token.
    ///
    /// # Errors
    ///
    /// [`IdpError`].
    pub async fn verify(
        &self,
        token: &str,
        nonce: Option<&str>,
        now: Timestamp,
    ) -> Result<ProvenIdentity, IdpError> {
        let malformed = || IdpError::Signature("malformed".to_owned());
        if token.len() > LONGEST_TOKEN {
            return Err(malformed());
        }
        let token: Token = token.parse().map_err(|_| malformed())?;
        let metadata = self.metadata(now, None).await?;
        let claims = match self.claims(&token, &metadata, now) {
            Err(ClaimsVerificationError::SignatureVerification(reason))
                if may_be_rotated(&reason) =>
            {
                let newer = self.metadata(now, Some(KEYS_AGAIN)).await?;
                self.claims(&token, &newer, now)
            }
            claims => claims,
        };
        let claims = claims.map_err(|error| match error {
            ClaimsVerificationError::Expired(_) => IdpError::IdTokenError(IdTokenError::Expired),
            ClaimsVerificationError::InvalidIssuer(_) => {
                IdpError::IdTokenError(IdTokenError::Issuer)
            }
            error => IdpError::Signature(error.to_string()),
        })?;
        let expected =
            Expected { issuer: self.issuer.as_str(), client_id: self.client_id.as_str(), nonce };
        Ok(claims.judge(&expected, now)?)
    }

    /// Returns the claims of a token whose signature is valid.
    fn claims(
        &self,
        token: &Token,
        metadata: &CoreProviderMetadata,
        now: Timestamp,
    ) -> Result<Claims, ClaimsVerificationError> {
        let keys = metadata.jwks().clone();
        let verifier = CoreIdTokenVerifier::new_public_client(
            self.client_id.clone(),
            self.issuer.clone(),
            keys,
        )
        .set_allowed_algs(ALGORITHMS)
        // The rules of `account-core` check the audience, more strictly than the library does.
        .require_audience_match(false)
        .set_time_fn(move || now - SKEW);
        let nonce_is_judged_later = |_: Option<&Nonce>| Ok(());
        let claims = token.claims(&verifier, nonce_is_judged_later)?;
        let text = |text: &str| text.to_owned();
        let name = claims.name().and_then(|name| name.get(None)).map(|name| text(name));
        // A `nbf` that is not a valid time makes the token invalid for ever.
        let begins = claims.additional_claims().nbf.map(|second| {
            #[expect(clippy::cast_possible_truncation, reason = "it saturates at both ends")]
            Timestamp::from_timestamp(second.ceil() as i64, 0).unwrap_or(Timestamp::MAX_UTC)
        });
        Ok(Claims {
            issuer: text(claims.issuer()),
            subject: text(claims.subject()),
            audience: claims.audiences().iter().map(|audience| text(audience)).collect(),
            authorized_party: claims.authorized_party().map(|party| text(party)),
            expires_at: claims.expiration(),
            issued_at: claims.issue_time(),
            not_before: begins,
            nonce: claims.nonce().map(|nonce| text(nonce.secret())),
            email: claims.email().map(|email| text(email)),
            email_verified: claims.email_verified().unwrap_or(false),
            name,
        })
    }

    /// Returns the provider's metadata and keys, at most an hour old, or at most `at_most` where a
    /// rotation is suspected. Cached ones are used while the provider does not answer.
    async fn metadata(
        &self,
        now: Timestamp,
        at_most: Option<TimeDelta>,
    ) -> Result<CoreProviderMetadata, IdpError> {
        // Concurrent callers wait for one fetch.
        let mut known = self.known.lock().await;
        let age = now - known.fetched_at;
        let is_fresh = age < at_most.unwrap_or(KEPT) && age >= TimeDelta::zero();
        let is_resting = known.failed_at.is_some_and(|failed_at| (now - failed_at).abs() < REST);
        if let Some(metadata) = known.metadata.as_ref().filter(|_| is_fresh || is_resting) {
            return Ok(metadata.clone());
        }
        if is_resting {
            return Err(IdpError::Unavailable("it did not a moment ago".to_owned()));
        }
        match CoreProviderMetadata::discover_async(self.issuer.clone(), &self.http).await {
            Ok(metadata) => {
                let keys = keys::strong(metadata.jwks());
                let metadata = metadata.set_jwks(keys);
                *known =
                    Known { metadata: Some(metadata.clone()), fetched_at: now, failed_at: None };
                Ok(metadata)
            }
            Err(error) => {
                tracing::warn!(error = %reasons(&error), "the identity provider cannot be discovered");
                known.failed_at = Some(now);
                known.metadata.clone().ok_or_else(|| IdpError::Unavailable(reasons(&error)))
            }
        }
    }

    fn client(&self, metadata: CoreProviderMetadata) -> ConfiguredClient {
        let methods = metadata.token_endpoint_auth_methods_supported();
        let offers = |method| methods.is_none_or(|methods| methods.contains(method));
        // Without a list in the metadata, the default of the specification applies.
        let auth_type = if offers(&CoreClientAuthMethod::ClientSecretBasic) {
            AuthType::BasicAuth
        } else {
            AuthType::RequestBody
        };
        CoreClient::from_provider_metadata(
            metadata,
            self.client_id.clone(),
            self.client_secret.clone(),
        )
        .set_redirect_uri(self.redirect.clone())
        .set_auth_type(auth_type)
    }
}

/// A client of the library, configured by the provider's metadata.
type ConfiguredClient = CoreClient<
    openidconnect::EndpointSet,
    openidconnect::EndpointNotSet,
    openidconnect::EndpointNotSet,
    openidconnect::EndpointNotSet,
    openidconnect::EndpointMaybeSet,
    openidconnect::EndpointMaybeSet,
>;

/// Returns true where other keys could verify the signature.
fn may_be_rotated(reason: &SignatureVerificationError) -> bool {
    !matches!(reason, SignatureVerificationError::DisallowedAlg(_))
}

/// Returns the text of an error with its causes.
fn reasons(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// The reason why an answer was not read.
#[derive(Debug, thiserror::Error)]
enum FetchError {
    #[error(transparent)]
    Request(#[from] reqwest::Error),
    #[error(transparent)]
    Answer(#[from] http::Error),
    #[error("it answered {0}")]
    Failed(http::StatusCode),
    #[error("the answer is longer than {LONGEST_ANSWER} bytes")]
    TooLong,
}

/// A client that sends requests to the provider and follows no redirect.
struct Http(reqwest::Client);

impl<'c> AsyncHttpClient<'c> for Http {
    type Error = FetchError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, FetchError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(fetch(&self.0, request))
    }
}

/// Sends a request to the provider, and reads a limited part of the answer.
async fn fetch(client: &reqwest::Client, request: HttpRequest) -> Result<HttpResponse, FetchError> {
    let mut answer = client.execute(request.try_into()?).await?;
    if answer.status().is_server_error() {
        return Err(FetchError::Failed(answer.status()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        if body.len() + chunk.len() > LONGEST_ANSWER {
            return Err(FetchError::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    let mut response = http::Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        response = response.header(name, value);
    }
    Ok(response.body(body)?)
}

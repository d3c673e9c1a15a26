//! Authorization codes, access tokens and refresh tokens: 256 random bits each, stored as digests.

use std::marker::PhantomData;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use rand::CryptoRng;
use zeroize::Zeroizing;

use crate::digest::Digest;
use crate::random;
use crate::vault::Vault;

/// The validity of an authorization code, from the consent.
pub const CODE_VALIDITY: TimeDelta = TimeDelta::seconds(60);
/// The time for which a code is kept after its issue, so that its replay ends its grant.
pub const CODE_KEPT: TimeDelta = TimeDelta::days(1);
/// The validity of an access token.
pub const ACCESS_VALIDITY: TimeDelta = TimeDelta::hours(1);
/// The validity of a refresh token; the token that replaces one has a validity of its own.
pub const REFRESH_VALIDITY: TimeDelta = TimeDelta::days(30);

/// A secret of 43 characters of base64url, wiped after use, without `Debug`. The type parameter keeps
/// one kind of secret from being taken for another.
pub struct OauthToken<Kind> {
    text: Zeroizing<String>,
    kind: PhantomData<fn() -> Kind>,
}

/// The kind of an authorization code.
pub enum AuthorizationCodeKind {}
/// The kind of an access token.
pub enum AccessTokenKind {}
/// The kind of a refresh token.
pub enum RefreshTokenKind {}

/// The authorization code in the answer to a consent, which the client exchanges for tokens.
pub type AuthorizationCode = OauthToken<AuthorizationCodeKind>;
/// The token with which a client calls the resource.
pub type AccessToken = OauthToken<AccessTokenKind>;
/// The token with which a client gets its next tokens, once.
pub type RefreshToken = OauthToken<RefreshTokenKind>;

impl<Kind> OauthToken<Kind> {
    /// Reads a token: exactly 43 characters that decode to 32 bytes; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        random::is_secret_text(text).then(|| Self::of(text.to_owned()))
    }

    /// Generates a random token of this kind.
    #[must_use]
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        Self { text: random::secret_text(rng), kind: PhantomData }
    }

    /// Returns the secret, for the one answer that contains the token.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }

    fn of(text: String) -> Self {
        Self { text: Zeroizing::new(text), kind: PhantomData }
    }
}

impl<Kind> Clone for OauthToken<Kind> {
    fn clone(&self) -> Self {
        Self::of(self.text.to_string())
    }
}

impl Vault {
    /// Returns the digest by which a code is found.
    #[must_use]
    pub fn authorization_code_digest(&self, code: &AuthorizationCode) -> Digest<AuthorizationCode> {
        self.digest(b"oauth_code", &[code.expose().as_bytes()])
    }

    /// Returns the digest by which an access token is found.
    #[must_use]
    pub fn access_token_digest(&self, token: &AccessToken) -> Digest<AccessToken> {
        self.digest(b"oauth_access", &[token.expose().as_bytes()])
    }

    /// Returns the digest by which a refresh token is found.
    #[must_use]
    pub fn refresh_token_digest(&self, token: &RefreshToken) -> Digest<RefreshToken> {
        self.digest(b"oauth_refresh", &[token.expose().as_bytes()])
    }

    /// Returns the tokens that replace a refresh token. The result is always the same, so that the
    /// answer can be repeated within the leeway although only digests are stored. Nobody can
    /// compute the tokens without this vault's secret.
    #[must_use]
    pub fn successors(&self, token: &RefreshToken) -> (AccessToken, RefreshToken) {
        let part = token.expose().as_bytes();
        let access: Digest<AccessToken> = self.digest(b"oauth_next_access", &[part]);
        let refresh: Digest<RefreshToken> = self.digest(b"oauth_next_refresh", &[part]);
        (
            OauthToken::of(URL_SAFE_NO_PAD.encode(access.as_bytes())),
            OauthToken::of(URL_SAFE_NO_PAD.encode(refresh.as_bytes())),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::seeded_rng;

    #[test]
    fn a_token_reads_back_and_nothing_else_does() {
        let token = AccessToken::generate(&mut seeded_rng(1));
        assert!(AccessToken::parse(token.expose()).is_some());
        assert!(AccessToken::parse(&token.expose()[1..]).is_none());
        assert!(AccessToken::parse("").is_none());
    }

    #[test]
    fn a_token_opens_nothing_that_another_kind_opens() {
        let mut rng = seeded_rng(2);
        let vault = Vault::create(&mut rng);
        let text = AccessToken::generate(&mut rng).expose().to_owned();
        let digests = [
            *vault.access_token_digest(&OauthToken::parse(&text).unwrap()).as_bytes(),
            *vault.refresh_token_digest(&OauthToken::parse(&text).unwrap()).as_bytes(),
            *vault.authorization_code_digest(&OauthToken::parse(&text).unwrap()).as_bytes(),
        ];
        assert!(digests[0] != digests[1] && digests[1] != digests[2] && digests[0] != digests[2]);
    }

    #[test]
    fn successors_are_the_same_again_and_another_vaults_are_others() {
        let mut rng = seeded_rng(3);
        let (vault, other) = (Vault::create(&mut rng), Vault::create(&mut rng));
        let token = RefreshToken::generate(&mut rng);
        let (access, refresh) = vault.successors(&token);
        let (again, refresh_again) = vault.successors(&token);
        assert_eq!(access.expose(), again.expose());
        assert_eq!(refresh.expose(), refresh_again.expose());
        assert!(access.expose() != refresh.expose() && refresh.expose() != token.expose());
        assert_ne!(other.successors(&token).1.expose(), refresh.expose());
        assert!(RefreshToken::parse(refresh.expose()).is_some());
    }
}

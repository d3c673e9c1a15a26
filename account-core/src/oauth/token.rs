//! Codes and tokens: 256 random bits each, stored as digests.

use std::marker::PhantomData;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use rand::CryptoRng;
use zeroize::Zeroizing;

use crate::digest::Digest;
use crate::random;
use crate::vault::Vault;

/// How long a code may be exchanged.
pub const CODE_VALIDITY: TimeDelta = TimeDelta::seconds(60);
/// How long a code is remembered, so that its replay ends what came of it.
pub const CODE_KEPT: TimeDelta = TimeDelta::days(1);
/// How long an access token is good.
pub const ACCESS_VALIDITY: TimeDelta = TimeDelta::hours(1);
/// How long a refresh token is good; each use gives a new one its own.
pub const REFRESH_VALIDITY: TimeDelta = TimeDelta::days(30);

/// A secret of 43 characters of base64url, wiped after use, without `Debug`. The type parameter keeps
/// one kind of secret from being taken for another.
pub struct OauthToken<Kind> {
    text: Zeroizing<String>,
    kind: PhantomData<fn() -> Kind>,
}

/// Opens the exchange of a code.
pub enum AuthorizationCodeKind {}
/// Opens the resource.
pub enum AccessTokenKind {}
/// Opens the next pair of tokens.
pub enum RefreshTokenKind {}

/// What an owner's consent is answered with, for the client to exchange.
pub type AuthorizationCode = OauthToken<AuthorizationCodeKind>;
/// What a client calls with.
pub type AccessToken = OauthToken<AccessTokenKind>;
/// What a client gets its next tokens with, once.
pub type RefreshToken = OauthToken<RefreshTokenKind>;

impl<Kind> OauthToken<Kind> {
    /// Reads a token: exactly 43 characters that decode to 32 bytes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        random::is_secret_text(text).then(|| Self::of(text.to_owned()))
    }

    /// Draws a new token.
    #[must_use]
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        Self { text: random::secret_text(rng), kind: PhantomData }
    }

    /// The secret itself, for the one answer that hands it out.
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
    /// What a code is found by.
    #[must_use]
    pub fn authorization_code_digest(&self, code: &AuthorizationCode) -> Digest<AuthorizationCode> {
        self.digest(b"oauth_code", &[code.expose().as_bytes()])
    }

    /// What an access token is found by.
    #[must_use]
    pub fn access_token_digest(&self, token: &AccessToken) -> Digest<AccessToken> {
        self.digest(b"oauth_access", &[token.expose().as_bytes()])
    }

    /// What a refresh token is found by.
    #[must_use]
    pub fn refresh_token_digest(&self, token: &RefreshToken) -> Digest<RefreshToken> {
        self.digest(b"oauth_refresh", &[token.expose().as_bytes()])
    }

    /// The tokens that a refresh token is exchanged for: always the same, so that whoever may ask
    /// again gets the same, though only digests are stored. Nobody reckons them without this
    /// vault's secret.
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

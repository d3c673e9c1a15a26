//! One-time tokens: those of a sign-in in the browser, and that of an e-mail to a former address.
//! Each kind is a type, so that one kind is never accepted as another.

use std::marker::PhantomData;

use rand::CryptoRng;
use zeroize::Zeroizing;

use crate::random;

/// The kind of a token, whose label is part of the digest.
pub trait TokenKind {
    /// The label of the kind, which is hashed before the token.
    const LABEL: &'static [u8];
}

/// The kind of the `state` parameter, which connects the provider's answer with its request.
pub enum StateKind {}
/// The kind of the browser's secret in a cookie, which binds request and answer to one browser.
pub enum BrowserKind {}
/// The kind of the token with which a new identity completes its profile.
pub enum CompletionKind {}
/// The kind of the code that hands a sign-in to another program or page.
pub enum HandOffKind {}
/// The kind of the token that undoes a change of address, for the e-mail to the former address.
pub enum EmailUndoKind {}

impl TokenKind for StateKind {
    const LABEL: &'static [u8] = b"idp_state";
}

impl TokenKind for BrowserKind {
    const LABEL: &'static [u8] = b"idp_browser";
}

impl TokenKind for CompletionKind {
    const LABEL: &'static [u8] = b"idp_completion";
}

impl TokenKind for HandOffKind {
    const LABEL: &'static [u8] = b"hand_off";
}

impl TokenKind for EmailUndoKind {
    const LABEL: &'static [u8] = b"email_undo";
}

/// A token: 256 random bits in base64url, a secret without `Debug`.
pub struct Token<Kind>(Zeroizing<String>, PhantomData<fn() -> Kind>);

impl<Kind> Clone for Token<Kind> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<Kind: TokenKind> Token<Kind> {
    /// Reads a token: exactly 43 characters that decode to 32 bytes; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        random::is_secret_text(text).then(|| Self(Zeroizing::new(text.to_owned()), PhantomData))
    }

    /// Generates a random token of this kind.
    #[must_use]
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        Self(random::secret_text(rng), PhantomData)
    }

    /// Returns the secret, for the one place that sends the token.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// The `state` parameter of a sign-in.
pub type StateToken = Token<StateKind>;
/// The browser's secret of a sign-in.
pub type BrowserToken = Token<BrowserKind>;
/// The token of an incomplete profile.
pub type CompletionToken = Token<CompletionKind>;
/// The token that hands a sign-in off to another program or page.
pub type HandOffCode = Token<HandOffKind>;
/// The token that undoes a change of address.
pub type EmailUndoToken = Token<EmailUndoKind>;

//! One-time tokens of a browser's way through a sign-in, and of an e-mail that undoes a change: each
//! kind is a type of its own, so that none passes for another.

use std::marker::PhantomData;

use rand::CryptoRng;
use zeroize::Zeroizing;

use crate::random;

/// What a token is for; its label is bound into the digest.
pub trait TokenKind {
    /// The label.
    const LABEL: &'static [u8];
}

/// Ties the provider's answer to the question.
pub enum State {}
/// Ties both to the browser that asked; travels in a cookie.
pub enum Browser {}
/// Lets a newcomer complete a profile.
pub enum Completion {}
/// Hands a sign-in over to another program or page.
pub enum HandOff {}
/// Undoes a change of address; travels in the e-mail to the former address.
pub enum EmailUndo {}

impl TokenKind for State {
    const LABEL: &'static [u8] = b"idp_state";
}

impl TokenKind for Browser {
    const LABEL: &'static [u8] = b"idp_browser";
}

impl TokenKind for Completion {
    const LABEL: &'static [u8] = b"idp_completion";
}

impl TokenKind for HandOff {
    const LABEL: &'static [u8] = b"hand_off";
}

impl TokenKind for EmailUndo {
    const LABEL: &'static [u8] = b"email_undo";
}

/// 256 random bits in base64url, a secret without `Debug`.
pub struct Token<Kind>(Zeroizing<String>, PhantomData<fn() -> Kind>);

impl<Kind> Clone for Token<Kind> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<Kind: TokenKind> Token<Kind> {
    /// Reads a token: exactly 43 characters that decode to 32 bytes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        random::is_secret_text(text).then(|| Self(Zeroizing::new(text.to_owned()), PhantomData))
    }

    /// Draws a new token.
    #[must_use]
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        Self(random::secret_text(rng), PhantomData)
    }

    /// The secret itself, for the one place that it goes to.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// The state of a sign-in.
pub type StateToken = Token<State>;
/// The browser of a sign-in.
pub type BrowserToken = Token<Browser>;
/// The completion of a profile.
pub type CompletionToken = Token<Completion>;
/// A hand-off.
pub type HandOffCode = Token<HandOff>;
/// The undoing of a change of address.
pub type EmailUndoToken = Token<EmailUndo>;

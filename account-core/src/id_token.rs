//! The rules for the claims of an ID token.
//!
//! The server verifies the signature first; all other rules are here. An account is identified by
//! issuer and subject, never by an e-mail address, because an address can pass to another person.

use chrono::TimeDelta;
use subtle::ConstantTimeEq;

use crate::Timestamp;
use crate::hand_off::Destination;
use crate::identity::Email;

/// The time that a sign-in at the provider may take.
pub const START_VALIDITY: TimeDelta = TimeDelta::minutes(10);
/// The time that the completion of a profile may take.
pub const COMPLETION_VALIDITY: TimeDelta = TimeDelta::minutes(15);
/// The largest difference between the clocks of provider and service.
pub const SKEW: TimeDelta = TimeDelta::seconds(60);

const LONGEST_SUBJECT: usize = 255;

/// The claims of an ID token whose signature is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// The issuer of the token, a URL (`iss`).
    pub issuer: String,
    /// The subject, an identifier of a person at the issuer (`sub`).
    pub subject: String,
    /// The client ids that the token is for (`aud`).
    pub audience: Vec<String>,
    /// The client id that requested the token (`azp`); `None` where the token has no such claim.
    pub authorized_party: Option<String>,
    /// The time from which the token is refused (`exp`).
    pub expires_at: Timestamp,
    /// The time at which the token was issued (`iat`).
    pub issued_at: Timestamp,
    /// The time before which the token is refused (`nbf`); `None` where the token has no such
    /// claim.
    pub not_before: Option<Timestamp>,
    /// The nonce of the authorization request; `None` where the token has no such claim.
    pub nonce: Option<String>,
    /// The e-mail address of the person; `None` where the token has no such claim.
    pub email: Option<String>,
    /// True if the issuer confirmed the address.
    pub email_verified: bool,
    /// The full name of the person; `None` where the token has no such claim.
    pub name: Option<String>,
}

/// The required claims of an ID token.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The issuer that the settings of the service name.
    pub issuer: &'a str,
    /// The client id of this service at the issuer.
    pub client_id: &'a str,
    /// The nonce of the authorization request; `None` where the request had none.
    pub nonce: Option<&'a str>,
}

/// The reason why an ID token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdTokenError {
    /// The token is from another issuer.
    #[error("another issuer")]
    Issuer,
    /// The token is for another audience, or for further ones.
    #[error("another audience")]
    Audience,
    /// The token is for another authorized party.
    #[error("another authorized party")]
    AuthorizedParty,
    /// The token has expired, by more than [`SKEW`].
    #[error("expired")]
    Expired,
    /// The token is not yet valid, or was issued in the future.
    #[error("not valid yet")]
    Early,
    /// The token answers another authorization request.
    #[error("another nonce")]
    Nonce,
    /// The subject is missing or malformed.
    #[error("no subject")]
    Subject,
}

/// An identity that the provider has proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenIdentity {
    /// The issuer, which identifies the person together with the subject.
    pub issuer: String,
    /// The subject, an identifier of the person at the issuer.
    pub subject: String,
    /// The e-mail address; `None` where the provider did not confirm one.
    pub email: Option<Email>,
    /// The full name of the person; `None` where the token had none.
    pub name: Option<String>,
}

impl Claims {
    /// Checks the claims of an ID token whose signature is valid.
    ///
    /// The audience must be this service alone. Any further audience could replay the token to this
    /// service.
    ///
    /// # Errors
    ///
    /// [`IdTokenError`], the first reason in the order of the variants.
    pub fn judge(
        self,
        expected: &Expected<'_>,
        now: Timestamp,
    ) -> Result<ProvenIdentity, IdTokenError> {
        let is_ours = |text: &String| text == expected.client_id;
        if self.issuer != expected.issuer {
            return Err(IdTokenError::Issuer);
        }
        if !matches!(&self.audience[..], [only] if is_ours(only)) {
            return Err(IdTokenError::Audience);
        }
        if !self.authorized_party.as_ref().is_none_or(is_ours) {
            return Err(IdTokenError::AuthorizedParty);
        }
        if now >= self.expires_at + SKEW {
            return Err(IdTokenError::Expired);
        }
        let begins = self.not_before.into_iter().chain([self.issued_at]);
        if begins.into_iter().any(|begin| now + SKEW < begin) {
            return Err(IdTokenError::Early);
        }
        if !expected.nonce.is_none_or(|nonce| same(nonce, self.nonce.as_deref())) {
            return Err(IdTokenError::Nonce);
        }
        if self.subject.is_empty() || self.subject.len() > LONGEST_SUBJECT {
            return Err(IdTokenError::Subject);
        }
        let email = self.email.filter(|_| self.email_verified);
        Ok(ProvenIdentity {
            issuer: self.issuer,
            subject: self.subject,
            email: email.and_then(|email| Email::parse(&email).ok()),
            name: self.name,
        })
    }
}

fn same(expected: &str, offered: Option<&str>) -> bool {
    offered.is_some_and(|offered| expected.as_bytes().ct_eq(offered.as_bytes()).into())
}

/// A finished sign-in at the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returned {
    /// The nonce that the ID token must carry.
    pub nonce: String,
    /// The PKCE verifier, which proves to the provider that this service started the sign-in.
    pub pkce_verifier: String,
    /// The place to which the browser goes after the sign-in.
    pub destination: Destination,
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_795_176_000;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_timestamp(second, 0).expect("a time of this century")
    }

    fn claims() -> Claims {
        Claims {
            issuer: "https://id.example".to_owned(),
            subject: "1".to_owned(),
            audience: vec!["quant".to_owned()],
            authorized_party: None,
            expires_at: at(NOW + 300),
            issued_at: at(NOW),
            not_before: None,
            nonce: Some("n".to_owned()),
            email: Some("Ada@Example.com".to_owned()),
            email_verified: true,
            name: None,
        }
    }

    fn judged(claims: Claims) -> Result<ProvenIdentity, IdTokenError> {
        let expected =
            Expected { issuer: "https://id.example", client_id: "quant", nonce: Some("n") };
        claims.judge(&expected, at(NOW))
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_token_for_this_service_is_believed() {
        let proven = judged(claims()).expect("good");
        assert_eq!(proven.email.expect("confirmed").as_str(), "ada@example.com");
        let azp = Some("quant".to_owned());
        assert!(judged(Claims { authorized_party: azp, ..claims() }).is_ok());
    }

    #[test]
    fn another_issuer_audience_party_or_nonce_is_not() {
        for issuer in ["https://id.example/", "http://id.example", "https://evil.example", ""] {
            let other = Claims { issuer: issuer.to_owned(), ..claims() };
            assert_eq!(judged(other), Err(IdTokenError::Issuer), "{issuer}");
        }
        let audiences: [&[&str]; 6] =
            [&[], &["other"], &["Quant"], &["quant", "other"], &["other", "quant"], &["quant "]];
        for audience in audiences {
            let other = Claims { audience: texts(audience), ..claims() };
            assert_eq!(judged(other), Err(IdTokenError::Audience), "{audience:?}");
        }
        let other = Claims { authorized_party: Some("other".to_owned()), ..claims() };
        assert_eq!(judged(other), Err(IdTokenError::AuthorizedParty));
        for nonce in [None, Some(""), Some("N"), Some("nn")] {
            let other = Claims { nonce: nonce.map(str::to_owned), ..claims() };
            assert_eq!(judged(other), Err(IdTokenError::Nonce), "{nonce:?}");
        }
        for subject in [String::new(), "x".repeat(256)] {
            assert_eq!(judged(Claims { subject, ..claims() }), Err(IdTokenError::Subject));
        }
    }

    #[test]
    fn a_minute_of_skew_and_not_a_moment_more() {
        let expires = |second| Claims { expires_at: at(second), ..claims() };
        assert!(judged(expires(NOW - 59)).is_ok());
        assert_eq!(judged(expires(NOW - 60)), Err(IdTokenError::Expired));
        let begins = |second| Claims { not_before: Some(at(second)), ..claims() };
        assert!(judged(begins(NOW + 60)).is_ok());
        assert_eq!(judged(begins(NOW + 61)), Err(IdTokenError::Early));
        let issued = |second| Claims { issued_at: at(second), ..claims() };
        assert!(judged(issued(NOW + 60)).is_ok());
        assert_eq!(judged(issued(NOW + 61)), Err(IdTokenError::Early));
    }

    #[test]
    fn an_address_that_nobody_confirmed_is_none() {
        let unverified = Claims { email_verified: false, ..claims() };
        assert_eq!(judged(unverified).expect("a good token").email, None);
        let malformed = Claims { email: Some("ada@example.com\r\nBcc: x@y.z".into()), ..claims() };
        assert_eq!(judged(malformed).expect("a good token").email, None);
    }
}

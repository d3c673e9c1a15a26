//! Grants: the access of a client to an account, with the codes that begin and the tokens that
//! carry the access.
//!
//! The end of a grant removes all of its tokens. A used refresh token is kept until its expiry. A
//! second use ends the grant, because either the client or a thief has used the token before.

use chrono::TimeDelta;

use super::token::{AccessToken, AuthorizationCode, CODE_VALIDITY, RefreshToken};
use super::{ClientId, ClientName, CodeChallenge, CodeVerifier, RedirectUri};
use crate::Timestamp;
use crate::digest::Digest;
use crate::identity::AccountId;
use crate::key::AccountCaller;

/// The largest number of grants of an account; a further grant ends the oldest.
pub const MOST_GRANTS: u32 = 20;
/// The time after which a use of a client is recorded again.
pub const TOUCH: TimeDelta = TimeDelta::hours(1);

/// The longest validity of a grant from its consent, however often its tokens are refreshed.
pub const GRANT_VALIDITY: TimeDelta = TimeDelta::days(365);

/// The number of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GrantId(pub u128);

/// An authorization request that the owner is asked to consent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    /// The client that asks for access.
    pub client: ClientId,
    /// The redirect URI of the answer.
    pub redirect_uri: RedirectUri,
    /// The PKCE challenge, whose verifier the exchange must send.
    pub challenge: CodeChallenge,
    /// The resource that the tokens will give access to, a URL.
    pub resource: String,
}

/// An authorization code, as stored.
#[derive(Clone)]
pub struct IssuedCode {
    /// The digest of the authorization code.
    pub digest: Digest<AuthorizationCode>,
    /// The account whose owner gave the consent.
    pub account: AccountId,
    /// The authorization request that the owner consented to.
    pub authorization: Authorization,
    /// The time at which the owner gave the consent.
    pub created_at: Timestamp,
    /// The grant that began with the code; `None` before the code is redeemed.
    pub grant: Option<GrantId>,
}

/// A client's request to exchange a code.
pub struct Exchange {
    /// The authorization code, in plain text.
    pub code: AuthorizationCode,
    /// The client that sends the code.
    pub client: ClientId,
    /// The redirect URI that the client repeats. OAuth 2.1 omits it; a URI that is sent must equal
    /// that of the authorization request. `None` where the client sent none.
    pub redirect_uri: Option<String>,
    /// The PKCE verifier, which proves that the sender of the code made the authorization request.
    pub verifier: CodeVerifier,
    /// The resource that the tokens are to give access to, a URL.
    pub resource: String,
}

/// The data with which a store executes an exchange.
pub struct Redemption {
    /// The digest of the authorization code.
    pub code: Digest<AuthorizationCode>,
    /// The client's request, as sent.
    pub exchange: Exchange,
    /// The number of the new grant.
    pub grant: GrantId,
    /// The digests of the new tokens.
    pub tokens: TokenDigests,
}

/// The digests of a pair of tokens, valid for [`ACCESS_VALIDITY`](super::token::ACCESS_VALIDITY)
/// and [`REFRESH_VALIDITY`](super::token::REFRESH_VALIDITY) from the time under the lock.
#[derive(Clone, Copy)]
pub struct TokenDigests {
    /// The digest of the access token.
    pub access: Digest<AccessToken>,
    /// The digest of the refresh token.
    pub refresh: Digest<RefreshToken>,
}

/// The decision on the exchange of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeVerdict {
    /// The exchange consumes the code and begins a grant.
    Redeem,
    /// The code was used before, and its grant ends.
    Replay(GrantId),
    /// The exchange is refused; the code stays valid.
    Refuse,
}

impl IssuedCode {
    /// Decides an exchange at a time that was read under the lock of the account. A used code is a
    /// replay, whatever the other parameters and the time are.
    #[must_use]
    pub fn judge(&self, redemption: &Redemption, now: Timestamp) -> CodeVerdict {
        if let Some(grant) = self.grant {
            return CodeVerdict::Replay(grant);
        }
        let (asked, exchange) = (&self.authorization, &redemption.exchange);
        let is_live = self.created_at <= now && now < self.created_at + CODE_VALIDITY;
        let is_where_it_went =
            exchange.redirect_uri.as_ref().is_none_or(|uri| uri == asked.redirect_uri.as_str());
        let is_theirs = exchange.client == asked.client
            && is_where_it_went
            && exchange.resource == asked.resource
            && exchange.verifier.meets(&asked.challenge);
        if is_live && is_theirs { CodeVerdict::Redeem } else { CodeVerdict::Refuse }
    }
}

/// A client's request to refresh its tokens.
pub struct Refresh {
    /// The refresh token, in plain text.
    pub token: RefreshToken,
    /// The client that sends the refresh token.
    pub client: ClientId,
    /// The resource that the tokens are to give access to, a URL.
    pub resource: String,
    /// The time after the first use of a refresh token in which its repeated use gets the same
    /// answer.
    pub leeway: TimeDelta,
}

/// The data with which a store executes a refresh.
pub struct Rotation {
    /// The client's request, as sent.
    pub refresh: Refresh,
    /// The digest of the refresh token.
    pub token: Digest<RefreshToken>,
    /// The digests of the next tokens.
    pub tokens: TokenDigests,
}

/// A refresh token as stored, with client, resource and beginning of its grant.
#[derive(Clone)]
pub struct StoredRefresh {
    /// The client that the grant belongs to.
    pub client: ClientId,
    /// The resource that the grant gives access to, a URL.
    pub resource: String,
    /// The time at which the grant began.
    pub begun_at: Timestamp,
    /// The time at which the token was issued.
    pub created_at: Timestamp,
    /// The time from which the refresh token is refused.
    pub expires_at: Timestamp,
    /// The time at which the refresh token was first used; `None` for an unused token.
    pub used_at: Option<Timestamp>,
}

/// The decision on the use of a refresh token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshVerdict {
    /// The refresh issues the next tokens.
    Rotate,
    /// The token was used so long ago, within the leeway: the client gets the same tokens again.
    Again(TimeDelta),
    /// The token was used before, and its grant ends.
    Reuse,
    /// The refresh is refused; the token stays valid.
    Refuse,
}

impl StoredRefresh {
    /// Decides a refresh at a time that was read under the lock of the grant: the rule of refresh
    /// token rotation (RFC 9700, section 4.14.2).
    ///
    /// A used token is used by any clock, also by one that shows a time before the use: the clocks
    /// of two instances differ. The leeway is measured from the rotation; for such a clock the
    /// leeway has just begun.
    ///
    /// [`Accounts::refresh`](crate::Accounts::refresh) is the flow around the rule, and
    /// [`OauthStore::rotate`](crate::store::OauthStore::rotate) is the transaction that applies the
    /// rule, in SQL in `server/src/store/oauth.rs`.
    #[must_use]
    pub fn judge(&self, rotation: &Rotation, now: Timestamp) -> RefreshVerdict {
        let refresh = &rotation.refresh;
        let is_theirs = self.client == refresh.client && self.resource == refresh.resource;
        let ends_at = self.expires_at.min(self.begun_at + GRANT_VALIDITY);
        if !is_theirs || ends_at <= now {
            return RefreshVerdict::Refuse;
        }
        match self.used_at {
            None if now < self.created_at => RefreshVerdict::Refuse,
            None => RefreshVerdict::Rotate,
            Some(used_at) => {
                let age = (now - used_at).max(TimeDelta::zero());
                if age < refresh.leeway {
                    RefreshVerdict::Again(age)
                } else {
                    RefreshVerdict::Reuse
                }
            }
        }
    }
}

/// The tokens in the answer to a client.
pub struct Tokens {
    /// The access token, in plain text.
    pub access: AccessToken,
    /// The refresh token, which can be used once.
    pub refresh: RefreshToken,
    /// The validity of the access token.
    pub expires_in: TimeDelta,
}

/// The caller of an access token.
#[derive(Clone, Debug, PartialEq)]
pub struct Bearer {
    /// The account on whose behalf the client calls.
    pub caller: AccountCaller,
    /// The time from which the access token is refused.
    pub expires_at: Timestamp,
}

/// An access token as stored, with its account.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAccess {
    /// The caller of the access token.
    pub bearer: Bearer,
    /// The resource that the access token was issued for, a URL.
    pub resource: String,
}

/// A grant, as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The number of the grant.
    pub id: GrantId,
    /// The client that the owner gave access to.
    pub client: ClientId,
    /// The unverified name of the client.
    pub client_name: ClientName,
    /// The time at which the owner gave the consent.
    pub created_at: Timestamp,
    /// The time at which the client last got tokens.
    pub last_used_at: Timestamp,
}

/// A kind of expired rows of the OAuth server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleOauth {
    /// Authorization codes made before this time.
    Codes(Timestamp),
    /// Tokens that expired before this time, and grants without tokens.
    Expired(Timestamp),
    /// Clients that registered before the first time and were never used, or were last used before
    /// the second.
    Clients(Timestamp, Timestamp),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::seeded_rng;

    const TOKENS: TokenDigests =
        TokenDigests { access: Digest::from_bytes([1; 32]), refresh: Digest::from_bytes([2; 32]) };

    fn client(text: &str) -> ClientId {
        ClientId::parse(text).expect("an id")
    }

    fn verifier(sign: &str) -> CodeVerifier {
        CodeVerifier::parse(&sign.repeat(43)).expect("a verifier")
    }

    fn redemption() -> Redemption {
        let mut rng = seeded_rng(1);
        Redemption {
            code: Digest::from_bytes([0; 32]),
            exchange: Exchange {
                code: AuthorizationCode::generate(&mut rng),
                client: client("a"),
                redirect_uri: Some("http://localhost:7/cb".to_owned()),
                verifier: verifier("v"),
                resource: "https://a.example/mcp".to_owned(),
            },
            grant: GrantId(1),
            tokens: TOKENS,
        }
    }

    #[test]
    fn a_code_is_bound_to_client_uri_challenge_resource_and_a_minute() {
        let made = Timestamp::UNIX_EPOCH;
        let code = IssuedCode {
            digest: Digest::from_bytes([0; 32]),
            account: AccountId(1),
            authorization: Authorization {
                client: client("a"),
                redirect_uri: RedirectUri::parse("http://localhost:7/cb").expect("a URI"),
                challenge: verifier("v").challenge(),
                resource: "https://a.example/mcp".to_owned(),
            },
            created_at: made,
            grant: None,
        };
        let at =
            |milliseconds| code.judge(&redemption(), made + TimeDelta::milliseconds(milliseconds));
        assert_eq!((at(-1), at(0)), (CodeVerdict::Refuse, CodeVerdict::Redeem));
        assert_eq!((at(59_999), at(60_000)), (CodeVerdict::Redeem, CodeVerdict::Refuse));
        let alter = |change: fn(&mut Redemption)| {
            let mut altered = redemption();
            change(&mut altered);
            code.judge(&altered, made)
        };
        assert_eq!(alter(|r| r.exchange.redirect_uri = None), CodeVerdict::Redeem);
        for change in [
            (|r: &mut Redemption| r.exchange.client = client("b")) as fn(&mut Redemption),
            |r| r.exchange.redirect_uri = Some("http://localhost:8/cb".to_owned()),
            |r| r.exchange.verifier = verifier("w"),
            |r| r.exchange.resource = "https://b.example/mcp".to_owned(),
        ] {
            assert_eq!(alter(change), CodeVerdict::Refuse);
        }
        let used = IssuedCode { grant: Some(GrantId(7)), ..code };
        let mut stolen = redemption();
        stolen.exchange.verifier = verifier("w");
        for hours in [-1, 0, 1] {
            let verdict = used.judge(&stolen, made + TimeDelta::hours(hours));
            assert_eq!(verdict, CodeVerdict::Replay(GrantId(7)));
        }
    }

    #[test]
    fn a_refresh_token_serves_once_and_its_leeway_to_the_millisecond() {
        let made = Timestamp::UNIX_EPOCH;
        let at = |milliseconds| made + TimeDelta::milliseconds(milliseconds);
        let since_use = |milliseconds| RefreshVerdict::Again(TimeDelta::milliseconds(milliseconds));
        let rotation = |leeway, name: &str| Rotation {
            refresh: Refresh {
                token: RefreshToken::generate(&mut seeded_rng(1)),
                client: client(name),
                resource: "r".to_owned(),
                leeway: TimeDelta::seconds(leeway),
            },
            token: Digest::from_bytes([0; 32]),
            tokens: TOKENS,
        };
        let stored = |used_at| StoredRefresh {
            client: client("a"),
            resource: "r".to_owned(),
            begun_at: made,
            created_at: made,
            expires_at: at(100_000),
            used_at,
        };
        for (used_at, now, leeway, expected) in [
            (None, at(0), 0, RefreshVerdict::Rotate),
            (None, at(99_999), 0, RefreshVerdict::Rotate),
            (None, at(100_000), 0, RefreshVerdict::Refuse),
            (None, at(-1), 0, RefreshVerdict::Refuse),
            (Some(at(10)), at(10), 0, RefreshVerdict::Reuse),
            (Some(at(10)), at(10), 5, since_use(0)),
            (Some(at(10)), at(5_009), 5, since_use(4_999)),
            (Some(at(10)), at(5_010), 5, RefreshVerdict::Reuse),
            // A clock that shows less than the clock of the rotation.
            (Some(at(10)), at(9), 0, RefreshVerdict::Reuse),
            (Some(at(10)), at(-1), 0, RefreshVerdict::Reuse),
            (Some(at(10)), at(9), 5, since_use(0)),
            (Some(at(10)), at(100_000), 5, RefreshVerdict::Refuse),
        ] {
            let verdict = stored(used_at).judge(&rotation(leeway, "a"), now);
            assert_eq!(verdict, expected, "{used_at:?} {now} {leeway}");
        }
        let another = stored(Some(at(10))).judge(&rotation(0, "b"), at(20));
        assert_eq!(another, RefreshVerdict::Refuse, "another client spends nothing");
    }
}

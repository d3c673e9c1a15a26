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
    /// The time at which the service received the request.
    pub at: Timestamp,
}

/// The digests of a pair of tokens, with their expiry.
#[derive(Clone, Copy)]
pub struct TokenDigests {
    /// The digest of the access token.
    pub access: Digest<AccessToken>,
    /// The expiry of the access token.
    pub access_expires_at: Timestamp,
    /// The digest of the refresh token.
    pub refresh: Digest<RefreshToken>,
    /// The expiry of the refresh token.
    pub refresh_expires_at: Timestamp,
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
    /// Decides an exchange. A used code is a replay, whatever the other parameters are.
    #[must_use]
    pub fn judge(&self, redemption: &Redemption) -> CodeVerdict {
        if let Some(grant) = self.grant {
            return CodeVerdict::Replay(grant);
        }
        let (asked, exchange) = (&self.authorization, &redemption.exchange);
        let is_live =
            self.created_at <= redemption.at && redemption.at < self.created_at + CODE_VALIDITY;
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
    /// The time at which the service received the request.
    pub at: Timestamp,
}

/// A refresh token as stored, with client and resource of its grant.
#[derive(Clone)]
pub struct StoredRefresh {
    /// The client that the grant belongs to.
    pub client: ClientId,
    /// The resource that the grant gives access to, a URL.
    pub resource: String,
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
    /// The token was used at this time, within the leeway, and the answer is repeated.
    Again(Timestamp),
    /// The token was used before, and its grant ends.
    Reuse,
    /// The refresh is refused; the token stays valid.
    Refuse,
}

impl StoredRefresh {
    /// Decides a refresh by the rule of refresh token rotation (RFC 9700, section 4.14.2).
    ///
    /// [`Accounts::refresh`](crate::Accounts::refresh) is the flow around the rule, and
    /// [`OauthStore::rotate`](crate::store::OauthStore::rotate) is the transaction that applies the
    /// rule, in SQL in `server/src/store/oauth.rs`.
    #[must_use]
    pub fn judge(&self, rotation: &Rotation) -> RefreshVerdict {
        let (now, refresh) = (rotation.at, &rotation.refresh);
        let is_live = self.created_at <= now && now < self.expires_at;
        if !is_live || self.client != refresh.client || self.resource != refresh.resource {
            return RefreshVerdict::Refuse;
        }
        match self.used_at {
            None => RefreshVerdict::Rotate,
            Some(used_at) if now < used_at + refresh.leeway => RefreshVerdict::Again(used_at),
            Some(_) => RefreshVerdict::Reuse,
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

    fn token_digests(at: Timestamp) -> TokenDigests {
        TokenDigests {
            access: Digest::from_bytes([1; 32]),
            access_expires_at: at,
            refresh: Digest::from_bytes([2; 32]),
            refresh_expires_at: at,
        }
    }

    fn client(text: &str) -> ClientId {
        ClientId::parse(text).expect("an id")
    }

    fn verifier(sign: &str) -> CodeVerifier {
        CodeVerifier::parse(&sign.repeat(43)).expect("a verifier")
    }

    fn redemption(at: Timestamp) -> Redemption {
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
            tokens: token_digests(at),
            at,
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
        let alter = |change: fn(&mut Redemption)| {
            let mut altered = redemption(made);
            change(&mut altered);
            code.judge(&altered)
        };
        assert_eq!(alter(|_| {}), CodeVerdict::Redeem);
        assert_eq!(alter(|r| r.exchange.redirect_uri = None), CodeVerdict::Redeem);
        assert_eq!(alter(|r| r.at += TimeDelta::milliseconds(59_999)), CodeVerdict::Redeem);
        for change in [
            (|r: &mut Redemption| r.at += TimeDelta::seconds(60)) as fn(&mut Redemption),
            |r| r.at -= TimeDelta::milliseconds(1),
            |r| r.exchange.client = client("b"),
            |r| r.exchange.redirect_uri = Some("http://localhost:8/cb".to_owned()),
            |r| r.exchange.verifier = verifier("w"),
            |r| r.exchange.resource = "https://b.example/mcp".to_owned(),
        ] {
            assert_eq!(alter(change), CodeVerdict::Refuse);
        }
        let used = IssuedCode { grant: Some(GrantId(7)), ..code };
        let mut stolen = redemption(made + TimeDelta::hours(1));
        stolen.exchange.verifier = verifier("w");
        assert_eq!(used.judge(&stolen), CodeVerdict::Replay(GrantId(7)));
    }

    #[test]
    fn a_refresh_token_serves_once_and_its_leeway_to_the_millisecond() {
        let made = Timestamp::UNIX_EPOCH;
        let at = |milliseconds| made + TimeDelta::milliseconds(milliseconds);
        let rotation = |now, leeway, name: &str| Rotation {
            refresh: Refresh {
                token: RefreshToken::generate(&mut seeded_rng(1)),
                client: client(name),
                resource: "r".to_owned(),
                leeway: TimeDelta::seconds(leeway),
            },
            token: Digest::from_bytes([0; 32]),
            tokens: token_digests(now),
            at: now,
        };
        let stored = |used_at| StoredRefresh {
            client: client("a"),
            resource: "r".to_owned(),
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
            (Some(at(10)), at(10), 5, RefreshVerdict::Again(at(10))),
            (Some(at(10)), at(5_009), 5, RefreshVerdict::Again(at(10))),
            (Some(at(10)), at(5_010), 5, RefreshVerdict::Reuse),
            (Some(at(10)), at(100_000), 5, RefreshVerdict::Refuse),
        ] {
            let verdict = stored(used_at).judge(&rotation(now, leeway, "a"));
            assert_eq!(verdict, expected, "{used_at:?} {now} {leeway}");
        }
        let another = stored(Some(at(10))).judge(&rotation(at(20), 0, "b"));
        assert_eq!(another, RefreshVerdict::Refuse, "another client spends nothing");
    }
}

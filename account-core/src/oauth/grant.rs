//! Grants: what an owner allowed a client, the codes that begin them, the tokens that carry them.
//!
//! A grant that ends is gone with all its tokens. A refresh token is kept after its use until it
//! would have expired: presented again, it ends the grant, since one of the two who have it stole
//! it.

use chrono::TimeDelta;

use super::token::{AccessToken, AuthorizationCode, CODE_VALIDITY, RefreshToken};
use super::{ClientId, ClientName, CodeChallenge, CodeVerifier, RedirectUri};
use crate::Timestamp;
use crate::digest::Digest;
use crate::identity::AccountId;
use crate::key::AccountCaller;

/// Grants that an account has at most; the next one ends the oldest.
pub const MOST_GRANTS: u32 = 20;
/// A client that was used within this time is not marked again.
pub const TOUCH: TimeDelta = TimeDelta::hours(1);

/// The number of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GrantId(pub u128);

/// What a client asks an owner for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    /// Who asks.
    pub client: ClientId,
    /// Where the answer goes.
    pub redirect_uri: RedirectUri,
    /// What the exchange must meet.
    pub challenge: CodeChallenge,
    /// For which resource.
    pub resource: String,
}

/// A code as it is stored.
#[derive(Clone)]
pub struct IssuedCode {
    /// What it is found by.
    pub digest: Digest<AuthorizationCode>,
    /// Who allowed it.
    pub account: AccountId,
    /// What was asked for.
    pub authorization: Authorization,
    /// When it was allowed.
    pub created_at: Timestamp,
    /// The grant that came of it.
    pub grant: Option<GrantId>,
}

/// What a client exchanges a code with.
pub struct Exchange {
    /// The code.
    pub code: AuthorizationCode,
    /// Who exchanges.
    pub client: ClientId,
    /// Where it says that the code went; nothing, as OAuth 2.1 has it, or the very URI.
    pub redirect_uri: Option<String>,
    /// What meets the challenge.
    pub verifier: CodeVerifier,
    /// For which resource tokens are wanted.
    pub resource: String,
}

/// An exchange, as a store is asked to do it.
pub struct Redemption {
    /// The code.
    pub code: Digest<AuthorizationCode>,
    /// What it is exchanged with.
    pub exchange: Exchange,
    /// The grant that begins.
    pub grant: GrantId,
    /// Its tokens.
    pub tokens: TokenDigests,
}

/// A pair of tokens as it is stored; valid for [`ACCESS_VALIDITY`](super::token::ACCESS_VALIDITY)
/// and [`REFRESH_VALIDITY`](super::token::REFRESH_VALIDITY) from the time under the lock.
#[derive(Clone, Copy)]
pub struct TokenDigests {
    /// The digest by which the access token is found.
    pub access: Digest<AccessToken>,
    /// The digest by which the refresh token is found.
    pub refresh: Digest<RefreshToken>,
}

/// What a code is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeVerdict {
    /// A grant.
    Redeem,
    /// The end of the grant that came of it: it is used a second time.
    Replay(GrantId),
    /// Nothing; the code stays as it is.
    Refuse,
}

impl IssuedCode {
    /// Judges an exchange at a time that was read under the lock of the account. A used code is a
    /// replay whatever comes with it.
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

/// What a client asks for with a refresh token.
pub struct Refresh {
    /// The token.
    pub token: RefreshToken,
    /// Who asks.
    pub client: ClientId,
    /// For which resource tokens are wanted.
    pub resource: String,
    /// For how long after its use a token gets the same answer again.
    pub leeway: TimeDelta,
}

/// A refresh, as a store is asked to do it.
pub struct Rotation {
    /// What is asked for.
    pub refresh: Refresh,
    /// What the token is found by.
    pub token: Digest<RefreshToken>,
    /// The tokens that follow.
    pub tokens: TokenDigests,
}

/// A refresh token as it is stored, with what its grant says.
#[derive(Clone)]
pub struct StoredRefresh {
    /// Whose grant.
    pub client: ClientId,
    /// For which resource.
    pub resource: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when it is good.
    pub expires_at: Timestamp,
    /// When it was used.
    pub used_at: Option<Timestamp>,
}

/// What a refresh token is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshVerdict {
    /// The next tokens.
    Rotate,
    /// The same tokens as at its use, which was so long ago.
    Again(TimeDelta),
    /// The end of its grant: it is used a second time.
    Reuse,
    /// Nothing; the token stays as it is.
    Refuse,
}

impl StoredRefresh {
    /// Decides a refresh at a time that was read under the lock of the grant: the rule of refresh
    /// token rotation (RFC 9700, section 4.14.2).
    ///
    /// A used token stays used for a clock that shows an earlier time than its use: the clocks of
    /// two instances differ. The leeway is measured from the rotation, and such a clock shows none
    /// of it as over.
    ///
    /// [`Accounts::refresh`](crate::Accounts::refresh) is the flow around the rule, and
    /// [`OauthStore::rotate`](crate::store::OauthStore::rotate) the transaction that applies it:
    /// `server/src/store/oauth.rs` in SQL.
    #[must_use]
    pub fn judge(&self, rotation: &Rotation, now: Timestamp) -> RefreshVerdict {
        let refresh = &rotation.refresh;
        let is_theirs = self.client == refresh.client && self.resource == refresh.resource;
        if !is_theirs || self.expires_at <= now {
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

/// What a client is answered.
pub struct Tokens {
    /// To call with.
    pub access: AccessToken,
    /// To get the next with, once.
    pub refresh: RefreshToken,
    /// For how long the access token is good.
    pub expires_in: TimeDelta,
}

/// Who calls with an access token.
#[derive(Clone, Debug, PartialEq)]
pub struct Bearer {
    /// The account.
    pub caller: AccountCaller,
    /// Until when the token is good.
    pub expires_at: Timestamp,
}

/// An access token as it is stored, with the account behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAccess {
    /// Who calls.
    pub bearer: Bearer,
    /// For which resource.
    pub resource: String,
}

/// A grant as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its number.
    pub id: GrantId,
    /// Who was allowed.
    pub client: ClientId,
    /// What it says that it is called.
    pub client_name: ClientName,
    /// When.
    pub created_at: Timestamp,
    /// When it last got tokens.
    pub last_used_at: Timestamp,
}

/// What of the OAuth server may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleOauth {
    /// Codes made before.
    Codes(Timestamp),
    /// Tokens, and the grants without any, that expired before.
    Expired(Timestamp),
    /// Clients that registered before the first moment and were never used, or were used last
    /// before the second.
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

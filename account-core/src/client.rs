//! Where calls come from, and which clients an account knows from an earlier sign-in.
//!
//! Strangers share five wrong passwords at an address; a client that the account knows, by a token
//! it was given or by its network, has five of its own. So nobody locks an owner out from afar.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use chrono::TimeDelta;
use rand::CryptoRng;
use zeroize::Zeroizing;

use crate::digest::Digest;
use crate::identity::Email;
use crate::{Timestamp, random};

/// How long a client is known after its last sign-in.
pub const KNOWN_FOR: TimeDelta = TimeDelta::days(90);
/// Tokens and networks that one account knows; the oldest go first. Each is worth five tries.
pub const MOST_KNOWN: u32 = 16;

const USER_AGENT_CHARACTERS: usize = 256;

/// Where a call comes from.
#[derive(Clone)]
pub struct Client {
    /// The address of the peer, or what a trusted proxy says it is.
    pub address: IpAddr,
    /// What the client calls itself, cleaned.
    pub user_agent: String,
    /// What it was given at an earlier sign-in.
    pub token: Option<ClientToken>,
}

impl Client {
    /// Takes an address and a `User-Agent`, cut to 256 characters and stripped of control
    /// characters.
    #[must_use]
    pub fn new(address: IpAddr, user_agent: Option<&str>) -> Self {
        let user_agent = user_agent
            .unwrap_or_default()
            .chars()
            .filter(|character| !character.is_control())
            .take(USER_AGENT_CHARACTERS)
            .collect();
        Self { address, user_agent, token: None }
    }

    /// Adds what the client was given at an earlier sign-in, if it still has it.
    #[must_use]
    pub fn with_token(self, token: Option<ClientToken>) -> Self {
        Self { token, ..self }
    }

    /// The network that it calls from: the first 24 bits of an IPv4 address, the first 64 of
    /// others.
    #[must_use]
    pub fn network(&self) -> IpAddr {
        match self.address.to_canonical() {
            IpAddr::V4(address) => {
                let [a, b, c, _] = address.octets();
                IpAddr::V4(Ipv4Addr::new(a, b, c, 0))
            }
            IpAddr::V6(address) => {
                let prefix = u128::from(address) >> 64 << 64;
                IpAddr::V6(Ipv6Addr::from(prefix))
            }
        }
    }
}

/// What a client is known by later: 256 random bits in base64url, a secret without `Debug`. It
/// opens nothing, it only has its wrong passwords counted apart.
#[derive(Clone)]
pub struct ClientToken(Zeroizing<String>);

impl ClientToken {
    /// Reads a token: exactly 43 characters that decode to 32 bytes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        random::is_secret_text(text).then(|| Self(Zeroizing::new(text.to_owned())))
    }

    /// Draws a new token.
    #[must_use]
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        Self(random::secret_text(rng))
    }

    /// The secret itself, for the one answer that hands it out.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// What a client shows of itself; a digest for one e-mail address, so that the same client at
/// two addresses cannot be told from two clients.
pub enum ClientMark {}

/// What a client shows of itself at one e-mail address.
#[derive(Clone, Copy)]
pub struct Marks {
    /// Its token, where it has one.
    pub token: Option<Digest<ClientMark>>,
    /// Its network.
    pub network: Digest<ClientMark>,
}

/// A client that proved to be the owner's and is known from now on.
#[derive(Clone, Copy)]
pub struct KnownClient {
    /// At whose address.
    pub recipient: Digest<Email>,
    /// The token that it showed, which ends.
    pub replaces: Option<Digest<ClientMark>>,
    /// The token that it is given.
    pub token: Option<Digest<ClientMark>>,
    /// Its network.
    pub network: Option<Digest<ClientMark>>,
    /// When.
    pub at: Timestamp,
}

impl KnownClient {
    /// What it is known by.
    pub fn marks(&self) -> impl Iterator<Item = Digest<ClientMark>> + use<> {
        self.token.into_iter().chain(self.network)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_agent_is_cut_and_cleaned() {
        let text = format!("\u{1b}[31mcurl\r\n{}", "é".repeat(400));
        let client = Client::new(IpAddr::from([127, 0, 0, 1]), Some(&text));
        assert_eq!(client.user_agent.chars().count(), 256);
        assert!(client.user_agent.starts_with("[31mcurlé"));
    }

    #[test]
    fn a_network_is_24_bits_of_an_old_address_and_64_of_a_new_one() {
        for (address, network) in [
            ("192.0.2.7", "192.0.2.0"),
            ("::ffff:192.0.2.7", "192.0.2.0"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ] {
            let client = Client::new(address.parse().expect(address), None);
            assert_eq!(client.network(), network.parse::<IpAddr>().expect(network));
        }
    }
}

//! Clients: the origin of a call, and the clients that an account knows from an earlier sign-in.
//!
//! All unknown clients share five wrong passwords at one e-mail address. A client that the account
//! knows, by a token or by its network, has five of its own. Nobody can therefore lock an owner out
//! from another network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use chrono::TimeDelta;
use rand::CryptoRng;
use zeroize::Zeroizing;

use crate::digest::Digest;
use crate::identity::Email;
use crate::{Timestamp, random};

/// The time for which a client is known after its last sign-in.
pub const KNOWN_FOR: TimeDelta = TimeDelta::days(90);
/// The number of tokens and networks that one account knows; the oldest are removed first. Each
/// allows five attempts.
pub const MOST_KNOWN: u32 = 16;

const USER_AGENT_CHARACTERS: usize = 256;

/// The origin of a call: its network address and the marks of the program that sent the call.
#[derive(Clone)]
pub struct Client {
    /// The address of the peer, or the address that a trusted proxy reports.
    pub address: IpAddr,
    /// The header `User-Agent`, without control characters; empty where none was sent.
    pub user_agent: String,
    /// The token that the client got at an earlier sign-in; `None` where the client sent none.
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

    /// Adds the token that the client got at an earlier sign-in, if the client sent one.
    #[must_use]
    pub fn with_token(self, token: Option<ClientToken>) -> Self {
        Self { token, ..self }
    }

    /// Returns the client's network: the first 24 bits of an IPv4 address, the first 64 bits of an
    /// IPv6 address.
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

/// The token by which an account knows a client: 256 random bits in base64url, a secret without
/// `Debug`. The token gives no access; it only causes the client's wrong passwords to be counted
/// separately.
#[derive(Clone)]
pub struct ClientToken(Zeroizing<String>);

impl ClientToken {
    /// Reads a token: exactly 43 characters that decode to 32 bytes; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        random::is_secret_text(text).then(|| Self(Zeroizing::new(text.to_owned())))
    }

    /// Generates a random token for a client that signs in.
    #[must_use]
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        Self(random::secret_text(rng))
    }

    /// Returns the secret, for the one answer that contains the token.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// The kind of a digest of a client's token or network. The digest is bound to one e-mail address,
/// so that digests at two addresses do not reveal a common client.
pub enum ClientMark {}

/// The digests of a client's token and network at one e-mail address.
#[derive(Clone, Copy)]
pub struct Marks {
    /// The digest of the token; `None` where the client sent none.
    pub token: Option<Digest<ClientMark>>,
    /// The digest of the network that the client's address belongs to.
    pub network: Digest<ClientMark>,
}

/// A client that has signed in and is known from now on.
#[derive(Clone, Copy)]
pub struct KnownClient {
    /// The digest of the e-mail address.
    pub recipient: Digest<Email>,
    /// The token that the client sent, which becomes invalid; `None` where the client sent none.
    pub replaces: Option<Digest<ClientMark>>,
    /// The digest of the token that the client gets; `None` where the client gets none.
    pub token: Option<Digest<ClientMark>>,
    /// The digest of the client's network; `None` where only the token makes the client known.
    pub network: Option<Digest<ClientMark>>,
    /// The time of the sign-in, from which the client is known for [`KNOWN_FOR`].
    pub at: Timestamp,
}

impl KnownClient {
    /// Returns the digests by which the account knows the client.
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

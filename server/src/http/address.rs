//! Who a request comes from, and how often an address may come without a key.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    num::NonZeroU32,
    time::Duration,
};

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter, clock::Clock as _};
use ipnet::IpNet;

/// The client's address: the peer's, or, behind trusted proxies, the last untrusted one from the
/// right of `X-Forwarded-For`.
///
/// An entry that is no address ends the walk: what lies left of it was written by nobody we
/// trust.
#[must_use]
pub fn client(peer: IpAddr, forwarded: Option<&str>, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|network| network.contains(address));
    let mut client = peer.to_canonical();
    let mut hops = forwarded.unwrap_or_default().rsplit(',');
    while is_trusted(&client) {
        match hops.next().and_then(|hop| hop.trim().parse::<IpAddr>().ok()) {
            Some(hop) => client = hop.to_canonical(),
            None => break,
        }
    }
    client
}

/// Limits calls without a key, by address.
pub struct AddressLimiter {
    limiter: DefaultKeyedRateLimiter<IpAddr>,
    per_minute: NonZeroU32,
}

impl AddressLimiter {
    /// Lets `per_minute` calls a minute and address through.
    #[must_use]
    pub fn new(per_minute: NonZeroU32) -> Self {
        Self { limiter: RateLimiter::keyed(Quota::per_minute(per_minute)), per_minute }
    }

    /// How many calls a minute and address are let through.
    #[must_use]
    pub fn per_minute(&self) -> u32 {
        self.per_minute.get()
    }

    /// Counts a call; where it is one too many, tells how long to wait.
    ///
    /// # Errors
    ///
    /// The time until a call is free again.
    pub fn admit(&self, address: IpAddr) -> Result<(), Duration> {
        self.limiter
            .check_key(&network(address))
            .map_err(|refused| refused.wait_time_from(self.limiter.clock().now()))
    }

    /// Forgets addresses that have been quiet.
    pub fn sweep(&self) {
        self.limiter.retain_recent();
        self.limiter.shrink_to_fit();
    }
}

/// One subscriber has a whole /64 of IPv6, so it is limited as one.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let prefix = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(prefix))
        }
    }
}

/// The peer of a request that came over no network, as in tests.
pub const NOWHERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_trusted_peer_may_speak_for_another() {
        let trusted: Vec<IpNet> = vec!["10.0.0.0/8".parse().unwrap()];
        #[rustfmt::skip]
        let rows = [
            // peer        X-Forwarded-For                     client
            ("192.0.2.1",  Some("198.51.100.7"),               "192.0.2.1"),
            ("10.0.0.1",   Some("198.51.100.7"),               "198.51.100.7"),
            ("10.0.0.1",   Some("1.1.1.1, 198.51.100.7"),      "198.51.100.7"),
            ("10.0.0.1",   Some("198.51.100.7, 10.2.3.4"),     "198.51.100.7"),
            ("10.0.0.1",   Some("198.51.100.7, nonsense"),     "10.0.0.1"),
            ("10.0.0.1",   None,                               "10.0.0.1"),
            ("::ffff:10.0.0.1", Some("198.51.100.7"),          "198.51.100.7"),
        ];
        for (peer, forwarded, expected) in rows {
            let found = client(peer.parse().unwrap(), forwarded, &trusted);
            assert_eq!(found, expected.parse::<IpAddr>().unwrap(), "{peer} {forwarded:?}");
        }
    }

    #[test]
    fn a_network_of_ipv6_is_limited_as_one() {
        let limiter = AddressLimiter::new(NonZeroU32::MIN);
        assert!(limiter.admit("2001:db8::1".parse().unwrap()).is_ok());
        assert!(limiter.admit("2001:db8::2".parse().unwrap()).is_err());
        assert!(limiter.admit("2001:db8:0:1::1".parse().unwrap()).is_ok());
    }
}

//! The address that a request comes from.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use ipnet::IpNet;
use poem::{Request, http::HeaderMap};

/// The client's address: the peer's, or, behind trusted proxies, the last untrusted one from the
/// right of `X-Forwarded-For`, or of `Forwarded` where the former is absent.
///
/// Several lines of a header are one list. An entry that is no address ends the walk, because no
/// trusted proxy has written the entries to the left of it.
#[must_use]
pub fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|network| network.contains(address));
    let mut client = peer.to_canonical();
    let mut hops = forwarded(headers).into_iter().rev();
    while is_trusted(&client) {
        match hops.next().flatten() {
            Some(hop) => client = hop.to_canonical(),
            None => break,
        }
    }
    client
}

/// The addresses that proxies wrote, from left to right.
fn forwarded(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let list = |name| {
        let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
        lines.flat_map(|line| line.split(',')).map(str::trim).collect::<Vec<_>>()
    };
    match list("x-forwarded-for") {
        hops if hops.is_empty() => list("forwarded").into_iter().map(forwarded_for).collect(),
        hops => hops.into_iter().map(hop).collect(),
    }
}

/// The address of an element of `Forwarded`, as in `for="[2001:db8::1]:4711";proto=https`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, node) = pairs.find(|(name, _)| name.eq_ignore_ascii_case("for"))?;
    hop(node.trim_matches('"'))
}

/// An address, with or without brackets and a port.
fn hop(text: &str) -> Option<IpAddr> {
    let bare = || text.trim_start_matches('[').trim_end_matches(']').parse().ok();
    let with_port = || text.parse().ok().map(|address: SocketAddr| address.ip());
    bare().or_else(with_port)
}

/// The address that a request comes from.
#[must_use]
pub fn of_request(request: &Request, trusted: &[IpNet]) -> IpAddr {
    let peer = request.remote_addr().as_socket_addr().map_or(NOWHERE, SocketAddr::ip);
    client(peer, request.headers(), trusted)
}

/// The peer of a request without a network connection, as in tests.
const NOWHERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of headers: name and value.
    type Lines = &'static [(&'static str, &'static str)];

    #[test]
    fn only_a_trusted_peer_may_speak_for_another() {
        let trusted: Vec<IpNet> = vec!["10.0.0.0/8".parse().unwrap()];
        #[rustfmt::skip]
        let rows: [(&str, Lines, &str); 11] = [
            // peer       lines of headers                                              client
            ("192.0.2.1", &[("x-forwarded-for", "198.51.100.7")],                       "192.0.2.1"),
            ("10.0.0.1",  &[("x-forwarded-for", "198.51.100.7")],                       "198.51.100.7"),
            ("10.0.0.1",  &[("x-forwarded-for", "1.1.1.1, 198.51.100.7")],              "198.51.100.7"),
            ("10.0.0.1",  &[("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "198.51.100.7")], "198.51.100.7"),
            ("10.0.0.1",  &[("x-forwarded-for", "198.51.100.7, 10.2.3.4")],             "198.51.100.7"),
            ("10.0.0.1",  &[("x-forwarded-for", "198.51.100.7, nonsense")],             "10.0.0.1"),
            ("10.0.0.1",  &[("x-forwarded-for", "198.51.100.7:4711")],                  "198.51.100.7"),
            ("10.0.0.1",  &[("forwarded", "for=1.1.1.1, for=\"[2001:db8::1]:4711\";proto=https")], "2001:db8::1"),
            ("10.0.0.1",  &[("forwarded", "proto=https;For=198.51.100.7")],             "198.51.100.7"),
            ("10.0.0.1",  &[],                                                          "10.0.0.1"),
            ("::ffff:10.0.0.1", &[("x-forwarded-for", "198.51.100.7")],                 "198.51.100.7"),
        ];
        for (peer, lines, expected) in rows {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.append(*name, value.parse().unwrap());
            }
            let found = client(peer.parse().unwrap(), &headers, &trusted);
            assert_eq!(found, expected.parse::<IpAddr>().unwrap(), "{peer} {lines:?}");
        }
    }
}

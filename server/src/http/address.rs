//! The address that a request comes from.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use ipnet::IpNet;
use poem::{
    Request,
    http::{HeaderMap, HeaderName, HeaderValue, header},
};

use super::{headers::X_FORWARDED_FOR, quoted::rsplit};

/// The client's address: the peer's, or, behind trusted proxies, the last untrusted one from the
/// right of `X-Forwarded-For`, or of `Forwarded` where the former is absent.
///
/// Several lines of a header are one list. An entry that is no address ends the walk, because no
/// trusted proxy has written the entries to the left of it.
#[must_use]
pub fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|network| network.contains(address));
    let mut client = peer.to_canonical();
    if !is_trusted(&client) {
        return client;
    }
    let mut hops = forwarded(headers).into_iter();
    while is_trusted(&client) {
        match hops.next().flatten() {
            Some(hop) => client = hop.to_canonical(),
            None => break,
        }
    }
    client
}

/// The addresses that proxies wrote, from right to left.
fn forwarded(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    // A part that is no text is no address. It is not left out, because the walk must end there.
    let lines = |name: HeaderName| {
        let lines = headers.get_all(name).into_iter().map(HeaderValue::as_bytes);
        lines.collect::<Vec<_>>().into_iter().rev().map(String::from_utf8_lossy)
    };
    if headers.contains_key(X_FORWARDED_FOR) {
        lines(X_FORWARDED_FOR)
            .flat_map(|line| line.rsplit(',').map(|part| hop(part.trim())).collect::<Vec<_>>())
            .collect()
    } else {
        lines(header::FORWARDED)
            .flat_map(|line| rsplit(&line, ',').map(forwarded_for).collect::<Vec<_>>())
            .collect()
    }
}

/// The address of an element of `Forwarded`, as in `for="[2001:db8::1]:4711";proto=https`. An element with two
/// addresses has none.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let pairs = rsplit(element, ';').filter_map(|pair| pair.trim().split_once('='));
    let mut nodes = pairs.filter(|(name, _)| name.eq_ignore_ascii_case("for"));
    let ((_, node), None) = (nodes.next()?, nodes.next()) else { return None };
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

    fn found(peer: &str, lines: &[(&'static str, &str)]) -> IpAddr {
        let trusted: Vec<IpNet> = vec!["10.0.0.0/8".parse().expect("a network")];
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).expect("a header"));
        }
        client(peer.parse().expect(peer), &headers, &trusted)
    }

    #[test]
    fn only_a_trusted_peer_may_speak_for_another() {
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
            assert_eq!(found(peer, lines), expected.parse::<IpAddr>().unwrap(), "{peer} {lines:?}");
        }
    }

    #[test]
    fn a_client_behind_a_proxy_speaks_for_no_other_address_by_bytes_that_are_no_text() {
        #[rustfmt::skip]
        let rows: [(Lines, &str); 4] = [
            // lines that the proxy passes on, with the address that it has appended  client
            (&[("x-forwarded-for", "é, 198.51.100.7"), ("forwarded", "for=1.1.1.1")], "198.51.100.7"),
            (&[("x-forwarded-for", "é"), ("forwarded", "for=1.1.1.1")],               "10.0.0.1"),
            (&[("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "é")],             "10.0.0.1"),
            (&[("forwarded", "for=1.1.1.1"), ("forwarded", "é")],                     "10.0.0.1"),
        ];
        for (lines, expected) in rows {
            assert_eq!(found("10.0.0.1", lines).to_string(), expected, "{lines:?}");
        }
    }

    #[test]
    fn a_host_that_a_proxy_tells_in_quotes_is_no_address_of_the_client() {
        for line in [
            "for=198.51.100.7;host=\"a, for=1.1.1.1\"",
            "host=\"a, for=1.1.1.1\";for=198.51.100.7",
            "host=\"a;for=1.1.1.1\";for=198.51.100.7",
            "for=\", for=198.51.100.7;host=\"a\"",
        ] {
            assert_eq!(
                found("10.0.0.1", &[("forwarded", line)]).to_string(),
                "198.51.100.7",
                "{line}"
            );
        }
        assert_eq!(
            found("10.0.0.1", &[("forwarded", "for=198.51.100.7;for=1.1.1.1")]).to_string(),
            "10.0.0.1"
        );
    }
}

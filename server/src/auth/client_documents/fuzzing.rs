//! The readers of metadata documents and their addresses, with what must hold for every website.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    time::Duration,
};

use account_core::{
    Timestamp,
    oauth::{DocumentUrl, RegisteredClient},
};
use poem::http::{HeaderMap, StatusCode};
use reqwest::Url;

use super::{
    fetch::{check_head, validity},
    public_names::is_public,
    read,
};

/// Reads a document that the website of its client sent. A client has the id of its address, and a refusal
/// is short and repeats nothing of the document.
///
/// # Panics
///
/// Panics where one of these does not hold.
pub fn client_document(bytes: &[u8]) {
    const ID: &str = "https://app.example.com/client.json";
    let url = DocumentUrl::parse(ID).expect("an address");
    let described = read(bytes).map_err(|error| error.to_string()).and_then(|document| {
        RegisteredClient::described(&url, &document, Timestamp::UNIX_EPOCH)
            .map_err(|error| error.to_string())
    });
    match described {
        Ok(client) => {
            assert_eq!(client.id.as_str(), ID);
            assert!((1..=10).contains(&client.redirect_uris.len()));
            assert!(client.name.as_str().chars().count() <= 80);
        }
        Err(error) => assert!(error.len() <= 200, "{error}"),
    }
}

/// Judges the head of an answer from a website: a 200 with JSON, valid for a minute to a day.
///
/// # Panics
///
/// Panics where another answer is taken.
pub(crate) fn document_head(headers: &HeaderMap) {
    let kept = validity(headers);
    assert!((Duration::from_mins(1)..=Duration::from_hours(24)).contains(&kept), "{kept:?}");
    if check_head(StatusCode::OK, headers).is_ok() {
        let media = headers.get("content-type").and_then(|media| media.to_str().ok());
        assert!(media.is_some_and(|media| media.to_ascii_lowercase().contains("json")));
    }
}

/// Judges the address in the first bytes of the input: none that the standard library knows as special is
/// public.
///
/// # Panics
///
/// Panics where a special address counts as public.
pub fn public_address(bytes: &[u8]) {
    if let Some(octets) = bytes.first_chunk::<4>() {
        check_ipv4(Ipv4Addr::from(*octets));
    }
    if let Some(octets) = bytes.first_chunk::<16>() {
        let address = Ipv6Addr::from(*octets);
        let first = address.segments()[0];
        let is_special = address.is_loopback()
            || address.is_unspecified()
            || address.is_multicast()
            || address.is_unique_local()
            || address.is_unicast_link_local()
            // An address that holds one of IPv4 (RFC 4291, 6052, 4380, 3056).
            || address.to_ipv4().is_some()
            || [0x64, 0x100, 0x2002].contains(&first)
            || (first == 0x2001 && [0, 0xdb8].contains(&address.segments()[1]));
        assert!(!(is_special && is_public(IpAddr::V6(address))), "{address}");
    }
    if let Some(address) = std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()) {
        match address {
            IpAddr::V4(address) => check_ipv4(address),
            IpAddr::V6(address) => public_address(&address.octets()),
        }
    }
}

fn check_ipv4(address: Ipv4Addr) {
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || address.is_unspecified()
        || [0, 240]
            .contains(&(address.octets()[0] & if address.octets()[0] >= 240 { 240 } else { 255 }))
        || (address.octets()[0] == 100 && address.octets()[1] & 0xc0 == 64);
    for written in [IpAddr::V4(address), IpAddr::V6(address.to_ipv6_mapped())] {
        assert!(!(is_special && is_public(written)), "{written}");
    }
}

/// Reads the id of a client as the address of a document: another reader of URLs finds the same host, by
/// HTTPS at its usual port, and never an address.
///
/// # Panics
///
/// Panics where another reader finds another place.
pub fn document_url(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match DocumentUrl::parse(text) {
        Ok(url) => {
            assert_eq!(url.as_str(), text);
            let Ok(read) = Url::parse(text) else { return };
            assert_eq!(
                (read.scheme(), read.host_str(), read.port()),
                ("https", Some(url.host()), None)
            );
            assert!(
                read.domain().is_some() && read.username().is_empty() && read.fragment().is_none()
            );
            // One of the two spellings of an apostrophe in a query.
            let read = read.as_str().replace("%27", "'");
            assert_eq!(read, text.replace("%27", "'"), "no reader changes the address");
        }
        Err(error) => assert!(error.to_string().len() <= 200),
    }
}

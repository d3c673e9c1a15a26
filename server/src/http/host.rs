//! The host that a request names: the header `Host`, `:authority` in HTTP/2, or the target itself.

use std::net::{IpAddr, SocketAddr};

use poem::{
    Request,
    http::{
        HeaderValue, Method, Uri, Version, header,
        uri::{Authority, Scheme},
    },
};

use super::error::ApiError;
use crate::state::Settings;

/// Checks the host of a request by RFC 9112 §3.2 and RFC 9113 §8.3.1: exactly one, and the same one
/// in the target where the target names one. A target of HTTP/1.1 that names a foreign host asks for
/// a proxy, which this service is not.
pub(super) fn check(request: &Request, settings: &Settings) -> Result<(), ApiError> {
    let target = target(request);
    let mut lines = request.headers().get_all(header::HOST).into_iter();
    let named = match (lines.next(), lines.next()) {
        (Some(_), Some(_)) => return refuse("There must be one header Host."),
        (Some(line), None) => match parse(line) {
            Some(host) => Some(host),
            None => return refuse("The header Host is not a host."),
        },
        (None, _) => None,
    };
    match (request.version(), &named, target) {
        (Version::HTTP_09 | Version::HTTP_10, None, _) | (Version::HTTP_2, None, Some(_)) => {}
        (_, None, _) => return refuse("There must be a header Host."),
        (_, Some(named), Some(target)) if !is_same(named, target, request.uri()) => {
            return refuse("The target and the header Host name different hosts.");
        }
        _ => {}
    }
    let is_http1 = request.version() <= Version::HTTP_11;
    match target {
        Some(target) if is_http1 && !is_own(target, request, settings) => {
            refuse("The target names another host; this service is no proxy.")
        }
        _ => Ok(()),
    }
}

fn refuse(detail: &'static str) -> Result<(), ApiError> {
    Err(ApiError::Malformed { detail })
}

/// The host in the target of a request, which most requests of HTTP/1.1 do not have.
fn target(request: &Request) -> Option<&Authority> {
    // The target of CONNECT is the host to connect to, and no route takes that method.
    request.uri().authority().filter(|_| request.method() != Method::CONNECT)
}

/// Reads a header `Host`; `None` for a line that is no host, or that names a user.
pub(super) fn parse(line: &HeaderValue) -> Option<Authority> {
    let authority: Authority = line.to_str().ok()?.parse().ok()?;
    let is_host = !authority.host().is_empty() && !authority.as_str().contains('@');
    is_host.then_some(authority)
}

fn is_same(named: &Authority, target: &Authority, uri: &Uri) -> bool {
    let default = if uri.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
    let port = |authority: &Authority| authority.port_u16().unwrap_or(default);
    named.host().eq_ignore_ascii_case(target.host()) && port(named) == port(target)
}

/// Returns whether a host is this service: a host of the settings, the loopback, or the address that
/// the client has connected to.
fn is_own(target: &Authority, request: &Request, settings: &Settings) -> bool {
    let host = target.host();
    let address = address(host);
    let local = request.local_addr().as_socket_addr().map(SocketAddr::ip);
    settings.is_own_host(host)
        || is_loopback(host)
        || (address.is_some() && address == local.map(|local| local.to_canonical()))
}

/// Returns whether a host is the loopback, as programs on this machine name it.
pub(crate) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || address(host).is_some_and(|address| address.is_loopback())
}

fn address(host: &str) -> Option<IpAddr> {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.ok().map(|address| address.to_canonical())
}

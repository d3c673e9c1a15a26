//! The heads of requests: addresses that proxies tell, hosts, cookies, preferences, keys of repeated
//! requests, tags, and parameters of the query.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::LazyLock,
};

use ipnet::IpNet;
use poem::{
    Request,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
};
use poem_openapi::registry::{MetaOperationParam, MetaParamIn, MetaSchema, MetaSchemaRef};

use super::{
    super::{
        address, body, cookies,
        form::Form,
        host, idempotency, prefer,
        query::check_pairs,
        quote::Quote,
        route::{MatchedRoute, Parameter},
        static_page::{StaticPage, takes},
        unknown_fields::Handling,
    },
    check_refusal,
};

/// Reads lines `name: value` as headers. A line that is no header is left out.
pub(crate) fn lines(bytes: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(line[..colon].trim_ascii());
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    headers
}

fn request(headers: HeaderMap) -> Request {
    let mut request = Request::default();
    *request.headers_mut() = headers;
    request
}

const X_FORWARDED_FOR: &str = "x-forwarded-for";
const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7));

/// Finds the client of a request. Nobody speaks for another address: neither a peer that is not trusted,
/// nor a client of a trusted proxy, whatever lines it sends.
///
/// # Panics
///
/// Panics where the address is not that of the client.
pub fn forwarded(bytes: &[u8]) {
    static TRUSTED: LazyLock<[IpNet; 2]> = LazyLock::new(|| {
        ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().expect("a network"))
    });
    let sent = lines(bytes);
    let of = |peer: &str, headers: &HeaderMap| {
        address::client(peer.parse().expect("an address"), headers, &*TRUSTED)
    };
    assert_eq!(of("203.0.113.7", &sent), CLIENT);
    assert_eq!(of("::ffff:203.0.113.7", &sent), CLIENT);
    of("10.0.0.1", &sent);
    // A proxy that adds a line of its own.
    let mut added = sent.clone();
    added.append(X_FORWARDED_FOR, HeaderValue::from_static("203.0.113.7"));
    assert_eq!(of("10.0.0.1", &added), CLIENT, "{sent:?}");
    assert_eq!(of("::ffff:10.0.0.1", &added), CLIENT, "{sent:?}");
    // A proxy that makes one line of all lines and appends to it.
    let mut joined = sent.clone();
    joined.insert(X_FORWARDED_FOR, joined_line(&sent, X_FORWARDED_FOR, b"203.0.113.7"));
    assert_eq!(of("10.0.0.1", &joined), CLIENT, "{sent:?}");
    // A proxy that knows the standard header alone, lets no other one pass, and tells the host that the client
    // has named.
    let host = sent.get(header::HOST).map_or(&b""[..], HeaderValue::as_bytes);
    let host: Vec<u8> = host.iter().copied().filter(|byte| !b"\"\\".contains(byte)).collect();
    let told = [b"host=\"", &host[..], b"\""].concat();
    for own in
        [[b"for=203.0.113.7;", &told[..]].concat(), [&told[..], b";for=203.0.113.7"].concat()]
    {
        let mut standard = sent.clone();
        standard.remove(X_FORWARDED_FOR);
        standard.insert(header::FORWARDED, joined_line(&sent, "forwarded", &own));
        assert_eq!(of("fd00::1", &standard), CLIENT, "{sent:?}");
    }
}

/// One line of all lines of a header, with what a proxy appends.
fn joined_line(sent: &HeaderMap, name: &str, own: &[u8]) -> HeaderValue {
    let lines = sent.get_all(name).into_iter().map(HeaderValue::as_bytes);
    let all: Vec<&[u8]> = lines.chain([own]).collect();
    HeaderValue::from_bytes(&all.join(&b", "[..])).expect("parts of headers are a header")
}

/// Reads the host that a request names: a name or an address without a user.
///
/// # Panics
///
/// Panics where a host holds a user, or another host than the loopback counts as the loopback.
pub fn hosts(bytes: &[u8]) {
    let Ok(line) = HeaderValue::from_bytes(bytes) else { return };
    if let Some(authority) = host::parse(&line) {
        assert!(!authority.as_str().contains('@') && !authority.host().is_empty(), "{authority}");
        if host::is_loopback(authority.host()) {
            let bare = authority.host().trim_matches(['[', ']']);
            let address = bare.parse::<IpAddr>().map(|address| address.to_canonical());
            let is_name = bare.eq_ignore_ascii_case("localhost");
            assert!(is_name || address.is_ok_and(|address| address.is_loopback()), "{authority}");
        }
    }
}

/// Finds a cookie among the lines of a request, in whichever line the browser sends it.
///
/// # Panics
///
/// Panics where a cookie is missed, or where a value goes beyond its cookie.
pub fn request_cookies(bytes: &[u8]) {
    let name = cookies::name(cookies::SESSION, true);
    let sent = request(lines(bytes));
    let before = cookies::cookie(&sent, &name);
    assert!(before.is_none_or(|value| !value.contains([';', '\r', '\n'])), "{before:?}");
    // HTTP/2 may send each cookie in a line of its own (RFC 9113, section 8.2.3).
    let token = "A".repeat(43);
    let mut headers = sent.headers().clone();
    let line = format!("{name}={token}");
    headers.append(header::COOKIE, line.parse().expect("a header"));
    let all = request(headers);
    let found = cookies::cookie(&all, &name);
    assert_eq!(found, Some(before.unwrap_or(&token)), "{:?}", sent.headers());
    let written = cookies::write(&name, &token, None, true);
    assert!(written.starts_with(&format!("{line};")) && written.parse::<HeaderValue>().is_ok());
}

/// Reads the preferences of a request. What is read and written again is read as the same preferences.
///
/// # Panics
///
/// Panics where the preferences differ.
pub fn preferences(bytes: &[u8]) {
    let sent = request(lines(bytes));
    let is_plain = |text: &str| !text.contains(['"', '\\', ',', ';', '=']);
    let read: Vec<(&str, &str)> = prefer::preferences(&sent).collect();
    if !read.iter().all(|(name, value)| is_plain(name) && is_plain(value)) {
        return;
    }
    let written = read.iter().map(|(name, value)| format!("{name}=\"{value}\""));
    let line = written.collect::<Vec<_>>().join(", ");
    let mut headers = HeaderMap::new();
    headers.insert("prefer", line.parse().expect("parts of a header are a header"));
    let again = request(headers);
    assert_eq!(prefer::preferences(&again).collect::<Vec<_>>(), read, "{line}");
    assert_eq!(Handling::preferred(&again), Handling::preferred(&sent), "{line}");
    assert_eq!(Quote::is_preferred(&again), Quote::is_preferred(&sent), "{line}");
}

/// Reads the `Idempotency-Key` of a request: one line of 1 to 255 visible characters, or a short fault.
///
/// # Panics
///
/// Panics where another key is taken.
pub fn repeat_key(bytes: &[u8]) {
    let sent = request(lines(bytes));
    let values: Vec<&[u8]> =
        sent.headers().get_all("idempotency-key").iter().map(HeaderValue::as_bytes).collect();
    match idempotency::repeat_key(&sent) {
        Ok(None) => assert!(values.is_empty()),
        Ok(Some(key)) => {
            let [value] = values[..] else { panic!("{values:?}") };
            let is_visible = value.iter().all(|byte| (b' '..=b'~').contains(byte));
            assert!((1..=255).contains(&value.len()) && is_visible, "{value:?}");
            assert_ne!(key.of_position(0), key.of_position(1));
            assert_ne!(key.of_position(0), key);
        }
        Err(fault) => check_refusal(&[fault]),
    }
}

/// Compares the tags of a request with that of a page, and reads the encodings and the media type that a
/// request names.
///
/// # Panics
///
/// Panics where a page is withheld from a client that does not name its tag, or is sent in an encoding
/// that the client does not name.
pub fn entity_tags(bytes: &[u8]) {
    static PAGE: LazyLock<StaticPage> =
        LazyLock::new(|| StaticPage::new("text/plain", "default-src 'none'", "ab ".repeat(100)));
    let sent = request(lines(bytes));
    let lower = |name| sent.header(name).unwrap_or_default().to_ascii_lowercase();
    let response = PAGE.respond(&sent);
    let tag = response.header(header::ETAG).expect("a tag").to_owned();
    if response.status() == StatusCode::NOT_MODIFIED {
        let known = sent.header(header::IF_NONE_MATCH).expect("a header");
        assert!(
            known.contains(&tag) || known.split(',').any(|known| known.trim() == "*"),
            "{known}"
        );
    } else if let Some(encoding) = response.header(header::CONTENT_ENCODING) {
        assert!(lower("accept-encoding").contains(encoding), "{encoding}");
    }
    let mut headers = sent.headers().clone();
    headers.remove(header::IF_NONE_MATCH);
    headers.insert(header::IF_NONE_MATCH, format!("\"x\", {tag}").parse().expect("a header"));
    assert_eq!(PAGE.respond(&request(headers)).status(), StatusCode::NOT_MODIFIED);
    assert!(!takes(&lower("accept-encoding"), "gzip") || lower("accept-encoding").contains("gzip"));
    if let Some(media) = sent.content_type() {
        assert!(
            !body::is_json(Some(media)) || media.to_ascii_lowercase().contains("json"),
            "{media}"
        );
    }
    if let Some(length) = body::announced_length(&sent).filter(|length| *length > 0) {
        assert_eq!(sent.header(header::CONTENT_LENGTH).map(str::parse), Some(Ok(length)));
    }
}

/// Reads the parameters of a query or a form, which are read again as written, and checks them against a
/// route: a refusal is short.
///
/// # Panics
///
/// Panics where one of these does not hold.
pub fn query(bytes: &[u8]) {
    static ROUTE: LazyLock<MatchedRoute> = LazyLock::new(|| {
        let parameter = |name: &str, schema: MetaSchema, required| {
            Parameter::from_description(MetaOperationParam {
                name: name.to_owned(),
                schema: MetaSchemaRef::Inline(Box::new(schema)),
                in_type: MetaParamIn::Query,
                description: None,
                required,
                deprecated: false,
                explode: true,
                style: None,
            })
        };
        let limit =
            MetaSchema { minimum: Some(1.0), maximum: Some(100.0), ..MetaSchema::new("integer") };
        let text = MetaSchema { max_length: Some(20), ..MetaSchema::new("string") };
        let date = MetaSchema::new_with_format("string", "date");
        let parameters = [
            parameter("limit", limit, true),
            parameter("flag", MetaSchema::new("boolean"), false),
            parameter("text", text, false),
            parameter("from", date, false),
        ];
        let mut route = MatchedRoute::undocumented("/test");
        route.parameters = parameters.into_iter().flatten().collect();
        route
    });
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let form = Form::of_query(text);
    for name in ["code", "state", "resource", ""] {
        let values: Vec<&str> = form.all(name).collect();
        assert!(values.iter().all(|value| !value.is_empty()), "an empty value is left out");
        match form.get(name) {
            Ok(value) => assert_eq!(value, values.first().copied()),
            Err(_) => assert!(values.len() > 1 && form.field(name).is_empty()),
        }
    }
    let pairs: Vec<(String, String)> = form_urlencoded::parse(bytes).into_owned().collect();
    let written = form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
    let again: Vec<(String, String)> =
        form_urlencoded::parse(written.as_bytes()).into_owned().collect();
    assert_eq!(again, pairs);
    if check_pairs(&ROUTE, &pairs).is_err() {
        check_refusal(&ROUTE.parameter_faults(&pairs));
    }
    let unknown = ROUTE.unknown_parameter_faults(&pairs);
    if !unknown.is_empty() {
        check_refusal(&unknown);
    }
}

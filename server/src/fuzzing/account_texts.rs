//! The texts of accounts: keys, tokens, names, contact details, and addresses of programs.

use std::net::IpAddr;

use account_core::{
    AccessToken, ApiKey, ChatId, Client, ClientToken, Contact, Destination, Device, Email,
    LoopbackUrl, ProfileChanges, Reason, SessionToken, Username,
    oauth::{ClientId, ClientName, RedirectUri, is_same_resource, uri::RedirectTarget},
};
use url::{Host, Url};

/// Reads a text as a credential of each kind. One that is read is the text itself, and no text is two.
///
/// # Panics
///
/// Panics where one of these does not hold.
pub fn credential(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(key) = ApiKey::parse(text) {
        assert_eq!(key.expose(), text);
        let secret = &text[key.kind().prefix().len()..];
        assert_eq!(secret.len(), 43);
        assert!(SessionToken::parse(secret).is_some() && SessionToken::parse(text).is_none());
        // A log shows four characters of the secret.
        assert!(key.redacted().chars().count() == key.kind().prefix().len() + 5);
    }
    let tokens = [
        SessionToken::parse(text).map(|token| token.expose().to_owned()),
        ClientToken::parse(text).map(|token| token.expose().to_owned()),
        AccessToken::parse(text).map(|token| token.expose().to_owned()),
    ];
    for token in &tokens {
        assert_eq!(token.is_some(), tokens[0].is_some());
        assert!(token.as_ref().is_none_or(|token| token == text && text.len() == 43));
    }
}

/// Reads the lines of an input as names, contact details and devices: each is one line without control
/// characters, and a refusal does not repeat the text.
///
/// # Panics
///
/// Panics where one of these does not hold.
pub fn account_texts(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (first, second) = text.split_once('\n').unwrap_or((text, text));
    let is_line = |text: &str| !text.chars().any(char::is_control);
    match Email::parse(text) {
        Ok(email) => {
            let text = email.as_str();
            assert!(text.is_ascii() && is_line(text) && text.len() <= 254, "{text}");
            assert!(!text.contains([' ', ',', ';', '<', '>', '"', '(', ')', ':', '\\']), "{text}");
            assert_eq!(text.matches('@').count(), 1);
            assert!(Email::parse(text).is_ok_and(|read| read == email));
        }
        Err(error) => assert!(error.to_string().len() <= 200),
    }
    match Username::parse(text) {
        Ok(name) => {
            let key = name.key();
            assert!(Username::parse(&key).is_ok_and(|read| read.key() == key));
        }
        Err(error) => assert!(error.to_string().len() <= 200),
    }
    let contact = Contact::parse(Some(first), Some(second), None);
    if let Ok(contact) = &contact {
        let kept = [&contact.phone, &contact.country].into_iter().flatten();
        for text in kept {
            assert!(is_line(text) && (1..=100).contains(&text.chars().count()));
        }
    }
    let changes = ProfileChanges::parse(None, Some(Some(first)), Some(Some(second)), None);
    assert_eq!(changes.is_ok(), contact.is_ok());
    if let Ok(device) = Device::parse(first, Some(second), None) {
        assert!(!device.device_id.is_empty() && is_line(&device.device_id));
    }
    if let Ok(chat) = ChatId::parse(text) {
        assert!(chat.as_str() == text && text.is_ascii() && text.len() <= 65);
    }
    if let Ok(reason) = Reason::parse(text) {
        assert!(is_line(reason.as_str()), "{reason:?}");
    }
    if let Ok(changes) = ProfileChanges::parse_cap(text) {
        let cap = changes.spend_cap_per_day.expect("a change");
        let written = cap.map(|cap| cap.to_string()).unwrap_or_default();
        let again = ProfileChanges::parse_cap(&written).expect("a cap");
        assert_eq!(again.spend_cap_per_day, Some(cap));
    }
    let client = Client::new(IpAddr::from([127, 0, 0, 1]), Some(text));
    assert!(is_line(&client.user_agent) && client.user_agent.chars().count() <= 256);
    let name = ClientName::clean(text);
    assert!(is_line(name.as_str()) && (1..=80).contains(&name.as_str().chars().count()));
    assert_eq!(ClientName::clean(name.as_str()), name, "a clean name is clean");
    if let Some(id) = ClientId::parse(text) {
        assert!(id.as_str() == text && text.is_ascii());
    }
}

/// Reads a text as a redirect URI, as the address of a program and as that of a resource. Another reader of
/// URLs finds the same scheme, host and port.
///
/// # Panics
///
/// Panics where another reader finds another place.
pub fn addresses(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match RedirectUri::parse(text) {
        Ok(uri) => {
            assert!(uri.as_str() == text && text.len() <= 2_048 && uri.admits(&uri));
            let harmless = |byte: u8| byte.is_ascii_graphic() && !b"<>\"\\^`{|}#".contains(&byte);
            assert!(text.bytes().all(harmless), "{text}");
            if let (target, Ok(read)) = (uri.target(), Url::parse(text)) {
                check_target(target, &read, text);
            }
        }
        Err(error) => assert!(error.to_string().len() <= 200),
    }
    if let Some(program) = LoopbackUrl::parse(text) {
        assert_eq!(LoopbackUrl::parse(&program.text()).as_ref(), Some(&program), "{text}");
        let read = Url::parse(&program.with_code("the-code")).expect("an address");
        assert!(["127.0.0.1", "[::1]", "localhost"].contains(&read.host_str().unwrap_or_default()));
        assert!(read.scheme() == "http" && read.username().is_empty() && read.password().is_none());
        let codes: Vec<String> = read
            .query_pairs()
            .filter(|(name, _)| name == "code")
            .map(|(_, code)| code.into_owned())
            .collect();
        assert_eq!(codes, ["the-code"], "{text}");
    }
    match Destination::from_text(Some(text)) {
        Some(Destination::Login) => panic!("{text:?} names no page"),
        Some(Destination::Program(_)) => assert!(LoopbackUrl::parse(text).is_some()),
        Some(Destination::Page(form)) => assert_eq!(form.as_str(), text),
        None => {}
    }
    let ours = "https://mcp.example.com/mcp";
    if is_same_resource(text, ours) {
        let read = Url::parse(text).expect("an address");
        assert_eq!(
            (read.scheme(), read.host_str(), read.port()),
            ("https", Some("mcp.example.com"), None)
        );
        assert!(
            read.username().is_empty() && read.path().trim_end_matches('/') == "/mcp",
            "{text}"
        );
        assert!(is_same_resource(ours, text));
    }
}

fn check_target(target: RedirectTarget<'_>, read: &Url, text: &str) {
    assert!(read.username().is_empty() && read.password().is_none() && read.fragment().is_none());
    let (RedirectTarget::Website(shown) | RedirectTarget::Loopback(shown)) = target else {
        let RedirectTarget::Program(scheme) = target else { return };
        assert!(read.scheme().eq_ignore_ascii_case(scheme), "{text}");
        assert!(
            !["http", "https", "javascript", "data", "file"].contains(&read.scheme()),
            "{text}"
        );
        return;
    };
    let own = Url::parse(&format!("{}://{shown}/", read.scheme())).expect("a host");
    assert_eq!(
        (own.host(), own.port_or_known_default()),
        (read.host(), read.port_or_known_default())
    );
    let shown = match shown.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => shown.split(':').next().unwrap_or_default(),
    };
    match read.host().expect("a host") {
        Host::Domain(domain) => assert!(domain.eq_ignore_ascii_case(shown), "{shown} is {domain}"),
        Host::Ipv4(address) => assert_eq!(shown.parse(), Ok(address), "{shown} is {address}"),
        Host::Ipv6(address) => assert_eq!(shown.parse(), Ok(address), "{shown} is {address}"),
    }
    if matches!(target, RedirectTarget::Loopback(_)) {
        let is_loopback = match read.host() {
            Some(Host::Domain(domain)) => domain == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        assert!(is_loopback && read.scheme() == "http", "{text}");
    }
}

//! Ids of clients that are URLs of metadata documents, parsed so that every reader finds one host.

use super::uri::{UriParts, host_and_port};
use super::{OauthError, OauthResult};

/// The largest number of characters of an id that is a URL.
const LONGEST: usize = 512;

/// The URL of a client's metadata document: `https`, a host by its name in lower case, and a path.
///
/// A URL names no port, so that nobody can have the ports of a host tried; no user, no fragment and
/// no dot segment, so that no reader takes the URL for another.
///
/// # Examples
///
/// ```
/// use account_core::oauth::DocumentUrl;
///
/// let url = DocumentUrl::parse("https://app.example.com/oauth/client.json")?;
/// assert_eq!(url.host(), "app.example.com");
/// assert!(DocumentUrl::parse("https://127.0.0.1/client.json").is_err());
/// # Ok::<(), account_core::oauth::OauthError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DocumentUrl(String);

impl DocumentUrl {
    /// Returns whether an id is meant as the URL of a document: no other id has a colon.
    #[must_use]
    pub fn is_meant_by(client_id: &str) -> bool {
        client_id.contains(':')
    }

    /// Reads a URL.
    ///
    /// # Errors
    ///
    /// [`OauthError::InvalidClient`] with the reason.
    pub fn parse(text: &str) -> OauthResult<Self> {
        match fault(text) {
            None => Ok(Self(text.to_owned())),
            Some(reason) => Err(OauthError::InvalidClient(reason)),
        }
    }

    /// Returns the URL as the client sent the URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the host, which is the website that describes the client.
    #[must_use]
    pub fn host(&self) -> &str {
        let after = &self.0["https://".len()..];
        after.split('/').next().unwrap_or(after)
    }
}

/// Returns the fault of a URL; `None` for a valid one.
fn fault(text: &str) -> Option<&'static str> {
    if text.len() > LONGEST {
        return Some("a client id has at most 512 characters");
    }
    if !text.starts_with("https://") {
        return Some("a client id with a colon is an https URL");
    }
    if text.contains('#') {
        return Some("a client id has no fragment");
    }
    let Some(UriParts { authority: Some(authority), rest, .. }) = UriParts::split(text) else {
        return Some("a client id is a URL in ASCII, as in RFC 3986");
    };
    if authority.contains('@') {
        return Some("a client id names no user");
    }
    match host_and_port(authority) {
        Some((host, None)) if is_public_name(host) => {}
        Some((_, Some(_))) => return Some("a client id names no port"),
        _ => return Some("a client id names its host by a domain name in lower case"),
    }
    let path = rest.split('?').next().unwrap_or_default();
    if path.len() < 2 {
        return Some("a client id has a path");
    }
    path.split('/').any(is_dot_segment).then_some("a client id has no dot segments")
}

/// Returns whether a host is a name of two labels or more in lower case. The last label begins with
/// a letter, because a browser reads a host whose last label is a number as an address.
fn is_public_name(host: &str) -> bool {
    let is_label = |label: &str| {
        let edges = !label.starts_with('-') && !label.ends_with('-');
        let is_written = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        (1..=63).contains(&label.len()) && edges && label.bytes().all(is_written)
    };
    let top = host.rsplit('.').next().unwrap_or_default();
    host.len() <= 253
        && host.contains('.')
        && host.split('.').all(is_label)
        && top.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Returns whether a reader of URLs drops the segment, as `.` or `..`, or in either form with
/// `%2e`.
fn is_dot_segment(segment: &str) -> bool {
    let decoded = segment.to_ascii_lowercase().replace("%2e", ".");
    matches!(decoded.as_str(), "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_real_clients_use_is_taken() {
        for (text, host) in [
            ("https://claude.ai/oauth/claude-code-client-metadata", "claude.ai"),
            ("https://vscode.dev/oauth/client-metadata.json", "vscode.dev"),
            ("https://xn--bcher-kva.example/a/b.json?v=2", "xn--bcher-kva.example"),
            ("https://a-b.1.example/%7Euser/.well-known/client..json", "a-b.1.example"),
        ] {
            assert!(DocumentUrl::is_meant_by(text));
            let url = DocumentUrl::parse(text).expect(text);
            assert_eq!((url.as_str(), url.host()), (text, host));
        }
    }

    #[test]
    fn a_url_that_another_reader_could_take_for_another_is_refused() {
        let long = format!("https://app.example.com/{}", "a".repeat(489));
        for (text, reason) in [
            ("http://app.example.com/client.json", "https URL"),
            ("HTTPS://app.example.com/client.json", "https URL"),
            ("ftp://app.example.com/client.json", "https URL"),
            ("file:///etc/passwd", "https URL"),
            ("urn:client:1", "https URL"),
            ("https:/app.example.com/client.json", "https URL"),
            ("https://app.example.com", "a path"),
            ("https://app.example.com/", "a path"),
            ("https://app.example.com?x=/client.json", "a path"),
            ("https://app.example.com/a/../client.json", "dot segments"),
            ("https://app.example.com/./client.json", "dot segments"),
            ("https://app.example.com/a/..", "dot segments"),
            ("https://app.example.com/%2e%2E/client.json", "dot segments"),
            ("https://app.example.com/.%2e/client.json", "dot segments"),
            ("https://app.example.com/client.json#x", "no fragment"),
            ("https://app.example.com/client.json#", "no fragment"),
            ("https://user@app.example.com/client.json", "no user"),
            ("https://user:word@app.example.com/client.json", "no user"),
            ("https://app.example.com:8443/client.json", "no port"),
            ("https://app.example.com:443/client.json", "no port"),
            ("https://127.0.0.1/client.json", "domain name"),
            ("https://127.1/client.json", "domain name"),
            ("https://2130706433/client.json", "domain name"),
            ("https://0x7f.0.0.1/client.json", "domain name"),
            ("https://0x7f000001/client.json", "domain name"),
            ("https://app.example.0x1/client.json", "domain name"),
            ("https://[::1]/client.json", "domain name"),
            ("https://[::ffff:10.0.0.1]/client.json", "domain name"),
            ("https://localhost/client.json", "domain name"),
            ("https://app.example.com./client.json", "domain name"),
            ("https://App.example.com/client.json", "domain name"),
            ("https://app_x.example.com/client.json", "domain name"),
            ("https://-app.example.com/client.json", "domain name"),
            ("https://app..example.com/client.json", "domain name"),
            ("https://%61pp.example.com/client.json", "domain name"),
            ("https:///client.json", "domain name"),
            ("https://app.example.com\\client.json", "domain name"),
            ("https://app.example.com/client json", "RFC 3986"),
            ("https://app.example.com/client\t.json", "RFC 3986"),
            ("https://app.example.com/clïent.json", "RFC 3986"),
            ("https://app.example.com/%zz", "RFC 3986"),
            (&long, "512 characters"),
        ] {
            let refused = DocumentUrl::parse(text).expect_err(text);
            assert_eq!(refused.code(), "invalid_client", "{text}");
            assert!(refused.to_string().contains(reason), "{text}: {refused}");
        }
    }
}

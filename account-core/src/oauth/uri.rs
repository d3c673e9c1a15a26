//! Redirect URIs and resources, parsed by RFC 3986 with further restrictions, so that every browser
//! reads the same host.
//!
//! Browsers are lenient: they drop tabs, replace backslashes and decode hosts. Such texts are
//! refused here, so that the checked host is the visited host.

use super::OauthError;

const LONGEST: usize = 2_048;

/// Schemes of links that do not lead to a program which waits for an answer: the schemes of
/// browsers and documents, of operating systems and their settings, of files, calls and remote
/// computers.
#[rustfmt::skip]
const FORBIDDEN: [&str; 78] = [
    "about", "acap", "afp", "android-app", "app-settings", "applescript", "blob", "callto",
    "chrome", "chrome-extension", "cid", "cifs", "content", "control", "data", "dav", "davs",
    "dict", "dns", "facetime", "facetime-audio", "feed", "file", "filesystem", "ftp", "ftps",
    "gopher", "hcp", "help", "imap", "intent", "irc", "ircs", "its", "jar", "javascript", "jnlp",
    "jnlps", "ldap", "ldaps", "livescript", "macappstore", "mailto", "market", "mhtml", "mk",
    "mms", "mocha", "news", "nfs", "nntp", "onenote", "package", "pop", "prefs", "rdp", "res",
    "rtsp", "search", "sftp", "shell", "sip", "sips", "smb", "sms", "ssh", "tel", "telnet", "vbs",
    "vbscript", "view-source", "vnc", "webcal", "ws", "wss", "wyciwyg", "x-help-action",
    "x-man-page",
];

/// Prefixes of the schemes that the programs of Microsoft and Apple register, and of the schemes
/// that search a computer.
const FORBIDDEN_PREFIXES: [&str; 8] =
    ["apple", "com-apple", "itms", "microsoft", "moz-", "ms-", "search-", "x-apple"];

/// A URI to which the answer to an authorization request may be sent.
///
/// # Examples
///
/// ```
/// use account_core::oauth::RedirectUri;
///
/// let registered = RedirectUri::parse("http://127.0.0.1/callback")?;
/// assert!(registered.admits(&RedirectUri::parse("http://127.0.0.1:51004/callback")?));
/// assert!(RedirectUri::parse("javascript:alert(1)").is_err());
/// # Ok::<(), account_core::oauth::OauthError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectUri(String);

/// The kind of target that a redirect URI leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectTarget<'a> {
    /// A website, by its host with the port, if any.
    Website(&'a str),
    /// A program on the computer of the browser, by its loopback host with the port, if any.
    Loopback(&'a str),
    /// A program that is registered for links of this scheme.
    Program(&'a str),
}

impl RedirectUri {
    /// Reads a redirect URI: `https`, `http` on a loopback host, or a program's own scheme, without
    /// fragment and user name.
    ///
    /// # Errors
    ///
    /// [`OauthError::InvalidRedirectUri`] with the reason.
    pub fn parse(text: &str) -> Result<Self, OauthError> {
        match fault(text) {
            None => Ok(Self(text.to_owned())),
            Some(reason) => Err(OauthError::InvalidRedirectUri(reason)),
        }
    }

    /// Returns the URI as the client registered the URI.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether an answer may go to `asked` where this URI is registered. Both must be
    /// equal, except for the port of a loopback host, which the system assigns to the program.
    #[must_use]
    pub fn admits(&self, asked: &Self) -> bool {
        self == asked
            || match (self.loopback_without_port(), asked.loopback_without_port()) {
                (Some(registered), Some(asked)) => registered == asked,
                _ => false,
            }
    }

    /// Returns the target of the redirect.
    #[must_use]
    pub fn target(&self) -> RedirectTarget<'_> {
        let parts = self.parts();
        match parts.authority {
            Some(authority) if is(parts.scheme, "https") => RedirectTarget::Website(authority),
            Some(authority) if is(parts.scheme, "http") => RedirectTarget::Loopback(authority),
            _ => RedirectTarget::Program(parts.scheme),
        }
    }

    /// Returns the URI with these parameters added to its query.
    #[must_use]
    pub fn with_query(&self, query: &str) -> String {
        let separator = match self.0.find('?') {
            None => "?",
            Some(_) if self.0.ends_with(['?', '&']) => "",
            Some(_) => "&",
        };
        format!("{}{separator}{query}", self.0)
    }

    fn parts(&self) -> UriParts<'_> {
        UriParts::split(&self.0).expect("it was split when it was read")
    }

    fn loopback_without_port(&self) -> Option<(&str, &str)> {
        let parts = self.parts();
        let (host, _) = host_and_port(parts.authority.filter(|_| is(parts.scheme, "http"))?)?;
        Some((host, parts.rest))
    }
}

/// Returns the fault of a redirect URI; `None` for a valid one.
fn fault(text: &str) -> Option<&'static str> {
    if text.len() > LONGEST {
        return Some("a redirect URI has at most 2048 characters");
    }
    if text.contains('#') {
        return Some("a redirect URI has no fragment");
    }
    let Some(parts) = UriParts::split(text) else {
        return Some("a redirect URI is an absolute URI in ASCII, as in RFC 3986");
    };
    if parts.authority.is_some_and(|authority| authority.contains('@')) {
        return Some("a redirect URI names no user");
    }
    let host = parts.authority.and_then(host_and_port);
    if is(parts.scheme, "https") {
        return host.is_none().then_some("an https redirect URI names a host");
    }
    if is(parts.scheme, "http") {
        let is_loopback = host.is_some_and(|(host, _)| is_loopback(host));
        return (!is_loopback)
            .then_some("an http redirect URI leads to 127.0.0.1, [::1] or localhost");
    }
    if is_forbidden(parts.scheme) {
        return Some("the scheme of this redirect URI is not allowed");
    }
    let leads_nowhere = parts.rest.is_empty() && parts.authority.is_none_or(str::is_empty);
    let is_broken =
        parts.authority.is_some_and(|authority| !authority.is_empty() && host.is_none());
    (leads_nowhere || is_broken).then_some("this redirect URI leads nowhere")
}

/// Returns whether a scheme is handled by the operating system or the browser, or is the letter of
/// a drive.
fn is_forbidden(scheme: &str) -> bool {
    let scheme = scheme.to_ascii_lowercase();
    scheme.len() < 2
        || FORBIDDEN.contains(&scheme.as_str())
        || FORBIDDEN_PREFIXES.iter().any(|prefix| scheme.starts_with(prefix))
}

/// Returns whether both URIs name one resource. The case of scheme and host, the default port, a
/// final slash and the parameter `toolsets` make no difference.
///
/// # Examples
///
/// ```
/// use account_core::oauth::is_same_resource;
///
/// let ours = "https://mcp.example.com/mcp";
/// assert!(is_same_resource("HTTPS://MCP.example.com:443/mcp/?toolsets=all", ours));
/// assert!(!is_same_resource("https://mcp.example.com/other", ours));
/// ```
#[must_use]
pub fn is_same_resource(asked: &str, ours: &str) -> bool {
    match (Resource::read(asked), Resource::read(ours)) {
        (Some(asked), Some(ours)) => asked == ours,
        _ => false,
    }
}

#[derive(PartialEq)]
struct Resource<'a> {
    scheme: String,
    host: String,
    port: u16,
    path: &'a str,
}

impl<'a> Resource<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let parts = UriParts::split(text)?;
        let scheme = parts.scheme.to_ascii_lowercase();
        let own_port = match scheme.as_str() {
            "https" => 443,
            "http" => 80,
            _ => return None,
        };
        let (host, port) = host_and_port(parts.authority?)?;
        let (path, query) = parts.rest.split_once('?').unwrap_or((parts.rest, ""));
        let chooses = |pair: &str| pair.is_empty() || pair.starts_with("toolsets=");
        query.split('&').all(chooses).then(|| Self {
            scheme,
            host: host.to_ascii_lowercase(),
            port: port.unwrap_or(own_port),
            path: path.strip_suffix('/').unwrap_or(path),
        })
    }
}

/// The parts of a URI without a fragment.
pub(super) struct UriParts<'a> {
    scheme: &'a str,
    /// The text between `//` and the path; `None` for a URI without `//`.
    pub(super) authority: Option<&'a str>,
    /// The path and the query, as written.
    pub(super) rest: &'a str,
}

impl<'a> UriParts<'a> {
    pub(super) fn split(text: &'a str) -> Option<Self> {
        let (scheme, after) = text.split_once(':')?;
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
        let (authority, rest) = match after.strip_prefix("//") {
            Some(after) => {
                let end = after.find(['/', '?']).unwrap_or(after.len());
                (Some(&after[..end]), &after[end..])
            }
            None => (None, after),
        };
        (is_scheme && is_written_out(rest)).then_some(Self { scheme, authority, rest })
    }
}

/// Returns whether every character may occur in a path or query, and every `%` begins an octet.
fn is_written_out(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().all(|(index, byte)| match byte {
        b'%' => {
            bytes.get(index + 1..index + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
        }
        b'-' | b'.' | b'_' | b'~' | b':' | b'/' | b'?' | b'@' | b'!' | b'$' | b'&' | b'\''
        | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' => true,
        byte => byte.is_ascii_alphanumeric(),
    })
}

/// Splits an authority into host and port. The host has letters, digits, hyphens, dots and
/// underscores, or is an address in its usual spelling; the port is at least 1. `None` for a malformed
/// authority.
pub(super) fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(inner) => {
            let end = inner.find(']')?;
            inner[..end].parse::<std::net::Ipv6Addr>().ok()?;
            (&authority[..end + 2], &inner[end + 1..])
        }
        None => {
            let end = authority.find(':').unwrap_or(authority.len());
            let host = &authority[..end];
            let is_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
            if host.is_empty() || !host.bytes().all(is_name) || is_disguised(host) {
                return None;
            }
            (host, &authority[end..])
        }
    };
    if port.is_empty() {
        return Some((host, None));
    }
    let digits = port.strip_prefix(':')?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let port = digits.parse().ok().filter(|port| is_number && *port > 0)?;
    Some((host, Some(port)))
}

/// Returns whether a browser reads the host as an address of IPv4 in another spelling than the usual one, such
/// as `2130706433` or `0x7f.1`: the last label is a number, and the page would name another host than the
/// visited one.
fn is_disguised(host: &str) -> bool {
    let labels = host.strip_suffix('.').unwrap_or(host);
    let last = labels.rsplit('.').next().unwrap_or_default();
    let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    let is_number = match hexadecimal {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()),
    };
    is_number && host.parse::<std::net::Ipv4Addr>().is_err()
}

fn is_loopback(host: &str) -> bool {
    matches!(host, "127.0.0.1" | "[::1]" | "localhost")
}

fn is(scheme: &str, name: &str) -> bool {
    scheme.eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_real_programs_register_is_taken() {
        for text in [
            "https://claude.ai/api/mcp/auth_callback",
            "https://vscode.dev/redirect?state=a%20b",
            "https://example.com:8443/cb",
            "https://[2001:db8::1]/cb",
            "https://192.0.2.7:8443/cb",
            "https://1.2.3.4x/cb",
            "http://127.0.0.1/callback",
            "http://127.0.0.1:33418/",
            "http://localhost:1455/auth/callback",
            "http://[::1]:8090/cb",
            "http://localhost",
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "com.example.app:/oauth2redirect",
            "com.example.app:oauth",
            "vscode://vscode.microsoft-authentication",
        ] {
            assert!(RedirectUri::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn hostile_redirect_uris_are_refused() {
        let long = format!("https://example.com/{}", "a".repeat(2_048));
        for text in [
            "",
            "/callback",
            "//example.com/cb",
            "https:",
            "https:example.com",
            "https:/example.com",
            "https://",
            "https:///example.com",
            "https://?x",
            "https://:443/cb",
            "https://example.com:0/",
            "https://example.com:65536/",
            "https://example.com:+1/",
            "https://example.com:/",
            "https://exa mple.com/",
            "https://example.com/a b",
            "https://example.com\\@evil.example/",
            "https://example.com/\t",
            "https://example.com/\r\nSet-Cookie: a=b",
            "https://example.com/%",
            "https://example.com/%0",
            "https://example.com/%zz",
            "https://ex%61mple.com/",
            "https://exämple.com/",
            "https://example.com/ü",
            "https://user@example.com/",
            "https://user:password@example.com/",
            "https://@example.com/",
            "https://example.com/#",
            "https://example.com/cb#fragment",
            "https://[::1/cb",
            "https://[::1]x/",
            "https://[zz]/",
            "https://2130706433/cb",
            "https://127.1/cb",
            "https://0x7f.0.0.1/cb",
            "https://example.0X/cb",
            "https://127.0.0.010/cb",
            "https://127.0.0.1./cb",
            "https://1.2.3.4.5/cb",
            "https://example.com;script-src/",
            "https://example.com,b/",
            "https://example.com/<script>",
            "https://example.com/\"",
            "http://example.com/cb",
            "http://127.0.0.2/cb",
            "http://127.1/cb",
            "http://2130706433/cb",
            "http://0x7f.0.0.1/cb",
            "http://0.0.0.0/cb",
            "http://localhost.evil.example/cb",
            "http://localhost./cb",
            "http://LOCALHOST@evil.example/",
            "http://127.0.0.1.evil.example/",
            "http://evil.example/127.0.0.1",
            "http://[::]/cb",
            "http://[::ffff:127.0.0.1]/cb",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            " javascript:alert(1)",
            "java\tscript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "blob:https://example.com/x",
            "view-source:https://example.com",
            "vbscript:x",
            "about:blank",
            "ftp://example.com/",
            "ws://example.com/",
            "intent://x#Intent;end",
            "filesystem:https://example.com/x",
            "mailto:eve@example.com",
            "c:/windows",
            "1app:/cb",
            "app_x:/cb",
            "app:",
            "app://",
            &long,
        ] {
            let refused = RedirectUri::parse(text).expect_err(text);
            assert_eq!(refused.code(), "invalid_redirect_uri", "{text}");
        }
    }

    #[test]
    fn no_handler_of_an_operating_system_or_browser_gets_an_answer() {
        for scheme in [
            "ms-msdt",
            "MS-MSDT",
            "search-ms",
            "ms-settings",
            "ms-search",
            "ms-officecmd",
            "ms-word",
            "ms-appinstaller",
            "ms-cxh-full",
            "microsoft-edge",
            "x-apple.systempreferences",
            "itms-services",
            "shell",
            "hcp",
            "search",
            "ldap",
            "smb",
            "ssh",
            "vbscript",
            "JavaScript",
            "data",
            "file",
            "jar",
            "mk",
            "intent",
            "android-app",
            "market",
            "tel",
            "sms",
            "x-man-page",
        ] {
            let refused = RedirectUri::parse(&format!("{scheme}:/callback")).expect_err(scheme);
            assert_eq!(refused.code(), "invalid_redirect_uri", "{scheme}");
        }
        for scheme in ["vscode", "cursor", "com.example.app", "claude", "zed", "msapp", "datagrip"]
        {
            assert!(RedirectUri::parse(&format!("{scheme}://auth/callback")).is_ok(), "{scheme}");
        }
        for list in [&FORBIDDEN[..], &FORBIDDEN_PREFIXES[..]] {
            assert!(list.is_sorted() && list.iter().all(|name| *name == name.to_lowercase()));
        }
    }

    #[test]
    fn only_the_port_of_a_loopback_host_may_differ() {
        let uri = |text: &str| RedirectUri::parse(text).expect(text);
        let rows = [
            ("http://127.0.0.1/cb", "http://127.0.0.1:5000/cb", true),
            ("http://127.0.0.1:80/cb", "http://127.0.0.1:5000/cb", true),
            ("http://localhost:1/cb", "http://localhost/cb", true),
            ("http://[::1]/cb?a=b", "http://[::1]:9/cb?a=b", true),
            ("http://127.0.0.1/cb", "http://localhost/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1/cb/", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1/cb?a=b", false),
            ("http://127.0.0.1/cb", "https://127.0.0.1/cb", false),
            ("https://localhost/cb", "https://localhost:8443/cb", false),
            ("https://example.com/cb", "https://example.com:443/cb", false),
            ("https://example.com/cb", "https://EXAMPLE.com/cb", false),
            ("https://example.com/cb", "https://example.com/CB", false),
            ("https://example.com/cb", "https://example.com/cb/../cb", false),
            ("app://x:1/cb", "app://x:2/cb", false),
        ];
        for (registered, asked, expected) in rows {
            assert_eq!(uri(registered).admits(&uri(asked)), expected, "{registered} {asked}");
        }
    }

    #[test]
    fn a_resource_is_compared_as_clients_write_it() {
        let ours = "https://mcp.example.com/mcp";
        for asked in [
            ours,
            "https://mcp.example.com/mcp/",
            "HTTPS://MCP.EXAMPLE.COM/mcp",
            "https://mcp.example.com:443/mcp",
            "https://mcp.example.com/mcp?toolsets=pricing,curves",
            "https://mcp.example.com/mcp/?toolsets=all",
            "https://mcp.example.com/mcp?",
        ] {
            assert!(is_same_resource(asked, ours), "{asked}");
        }
        for asked in [
            "",
            "mcp",
            "https://mcp.example.com",
            "https://mcp.example.com/",
            "https://mcp.example.com/MCP",
            "https://mcp.example.com/mcp//",
            "https://mcp.example.com/mcp?other=1",
            "https://mcp.example.com/mcp#x",
            "https://mcp.example.com:8443/mcp",
            "http://mcp.example.com/mcp",
            "https://mcp.example.com.evil.example/mcp",
            "https://user@mcp.example.com/mcp",
            "ftp://mcp.example.com/mcp",
        ] {
            assert!(!is_same_resource(asked, ours), "{asked}");
        }
    }

    #[test]
    fn a_query_is_added_to_what_is_there() {
        for (uri, expected) in [
            ("https://a.example/cb", "https://a.example/cb?code=1"),
            ("https://a.example/cb?x=y", "https://a.example/cb?x=y&code=1"),
            ("https://a.example/cb?", "https://a.example/cb?code=1"),
            ("app:cb", "app:cb?code=1"),
        ] {
            assert_eq!(RedirectUri::parse(uri).expect(uri).with_query("code=1"), expected);
        }
    }

    proptest! {
        /// Every accepted URI is one line of harmless ASCII, and leads to its host.
        #[test]
        fn no_text_that_is_taken_can_break_out(text in "\\PC{0,40}|(https?|app|data)://?[\\x00-\\x7f]{0,40}") {
            if let Ok(uri) = RedirectUri::parse(&text) {
                let harmless = |b: u8| b.is_ascii_graphic() && !b"<>\"\\^`{|}#".contains(&b);
                prop_assert!(uri.as_str().bytes().all(harmless), "{text:?}");
                if let RedirectTarget::Website(host) | RedirectTarget::Loopback(host) = uri.target() {
                    prop_assert!(!host.contains(['@', ';', ',', '%', '/', '?', ' ']), "{text:?}");
                }
                prop_assert!(uri.admits(&uri));
            }
        }

        #[test]
        fn two_uris_match_only_if_they_are_equal_or_both_loopback(
            a in "(https://[ab]\\.example|http://localhost|http://127\\.0\\.0\\.1|app:)(:[1-9])?/[cd]",
            b in "(https://[ab]\\.example|http://localhost|http://127\\.0\\.0\\.1|app:)(:[1-9])?/[cd]",
        ) {
            if let (Ok(left), Ok(right)) = (RedirectUri::parse(&a), RedirectUri::parse(&b)) {
                if left.admits(&right) && a != b {
                    prop_assert!(matches!(left.target(), RedirectTarget::Loopback(_)));
                    prop_assert!(matches!(right.target(), RedirectTarget::Loopback(_)));
                }
                prop_assert_eq!(left.admits(&right), right.admits(&left));
            }
        }
    }
}

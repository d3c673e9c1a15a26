//! Hand-offs of a sign-in from the browser to a desktop program or to the page that required the
//! sign-in. A program gets a code on the loopback address that it listens on.

use chrono::TimeDelta;

/// The validity of a hand-off code.
pub const VALIDITY: TimeDelta = TimeDelta::seconds(60);

const LONGEST: usize = 2_048;
const LONGEST_FORM: usize = 16 * 1_024;
const LOWEST_PORT: u16 = 1_024;
const HOSTS: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// The address on which a desktop program waits for its code: `http`, on a loopback host, on an
/// unprivileged port.
///
/// # Examples
///
/// ```
/// use account_core::LoopbackUrl;
///
/// let url = LoopbackUrl::parse("http://127.0.0.1:8123/done?app=1").expect("the loopback");
/// assert_eq!(url.with_code("abc"), "http://127.0.0.1:8123/done?app=1&code=abc");
/// assert!(LoopbackUrl::parse("http://127.0.0.1:8123@example.com/").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopbackUrl {
    /// The scheme, host, port and path.
    base: String,
    query: Option<String>,
}

impl LoopbackUrl {
    /// Reads an address. Returns `None` for a text that a browser might send elsewhere, and for a
    /// query that already has a `code`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST || !text.bytes().all(is_plain) {
            return None;
        }
        let rest = text.strip_prefix("http://")?;
        let host = HOSTS.into_iter().find(|host| rest.starts_with(host))?;
        let rest = rest[host.len()..].strip_prefix(':')?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (port, rest) = rest.split_at(digits);
        let number: u16 = port.parse().ok().filter(|port| *port >= LOWEST_PORT)?;
        if number.to_string() != port {
            return None;
        }
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        if !(path.is_empty() || path.starts_with('/')) || query.is_some_and(has_code) {
            return None;
        }
        let path = if path.is_empty() { "/" } else { path };
        let query = query.filter(|query| !query.is_empty()).map(str::to_owned);
        Some(Self { base: format!("http://{host}:{port}{path}"), query })
    }

    /// Returns the address with a code at the end of its query.
    #[must_use]
    pub fn with_code(&self, code: &str) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}&code={code}", self.base),
            None => format!("{}?code={code}", self.base),
        }
    }

    /// Returns the address without a code, as stored.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.base),
            None => self.base.clone(),
        }
    }
}

/// The sealed data of the page that required the sign-in, by which the page continues. The text is
/// base64url; only the vault can read or make one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedForm(String);

impl SealedForm {
    /// Reads a sealed form; `None` for a text in the wrong alphabet or of the wrong length.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let fits = (1..=LONGEST_FORM).contains(&text.len()) && text.bytes().all(is_known);
        fits.then(|| Self(text.to_owned()))
    }

    /// Returns the sealed form as the browser holds the form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The destination of a sign-in in the browser. Pages are at the configured address, so that no
/// caller can choose where a code is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The login page of the website.
    Login,
    /// A desktop program on a loopback address.
    Program(LoopbackUrl),
    /// The page that required the sign-in.
    Page(SealedForm),
}

impl Destination {
    /// Returns the destination as stored; `None` for the login page.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Login => None,
            Self::Program(url) => Some(url.text()),
            Self::Page(form) => Some(form.as_str().to_owned()),
        }
    }

    /// Reads a stored destination: a loopback address contains a colon, and a sealed form never
    /// does; `None` for a text that is neither.
    #[must_use]
    pub fn from_text(text: Option<&str>) -> Option<Self> {
        let Some(text) = text else { return Some(Self::Login) };
        let program = LoopbackUrl::parse(text).map(Self::Program);
        program.or_else(|| SealedForm::parse(text).map(Self::Page))
    }
}

/// Returns whether the byte may occur in an address unescaped. A fragment is refused, because it would hide
/// the code from the program.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'.'
                | b'_'
                | b'~'
                | b':'
                | b'/'
                | b'?'
                | b'['
                | b']'
                | b'@'
                | b'!'
                | b'$'
                | b'&'
                | b'\''
                | b'('
                | b')'
                | b'*'
                | b'+'
                | b','
                | b';'
                | b'='
                | b'%'
        )
}

/// Returns whether a query already has a parameter `code`, which a program might read in place of the added
/// one. A name with `%` may be an escaped `code` and is refused too.
fn has_code(query: &str) -> bool {
    query.split(['&', ';']).any(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        name.contains('%') || name.eq_ignore_ascii_case("code")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_on_the_loopback_gets_its_code_beside_its_own_query() {
        for (text, expected) in [
            ("http://127.0.0.1:1024", "http://127.0.0.1:1024/?code=x"),
            ("http://127.0.0.1:65535/", "http://127.0.0.1:65535/?code=x"),
            ("http://[::1]:8123/cb", "http://[::1]:8123/cb?code=x"),
            ("http://localhost:8123/a/b?c=d&e", "http://localhost:8123/a/b?c=d&e&code=x"),
            ("http://127.0.0.1:8123?a=1", "http://127.0.0.1:8123/?a=1&code=x"),
            ("http://127.0.0.1:8123/?", "http://127.0.0.1:8123/?code=x"),
            ("http://127.0.0.1:8123/@x:y", "http://127.0.0.1:8123/@x:y?code=x"),
            ("http://127.0.0.1:8123/?state=code", "http://127.0.0.1:8123/?state=code&code=x"),
        ] {
            let url = LoopbackUrl::parse(text).expect(text);
            assert_eq!(url.with_code("x"), expected);
            assert_eq!(LoopbackUrl::parse(&url.text()), Some(url), "{text} as it is stored");
        }
    }

    #[test]
    fn nothing_else_is_a_program_on_the_loopback() {
        let long = format!("http://127.0.0.1:8123/{}", "a".repeat(LONGEST));
        for text in [
            "",
            " ",
            "/",
            "//127.0.0.1:8123/",
            "127.0.0.1:8123",
            "http:127.0.0.1:8123",
            "http:/127.0.0.1:8123/",
            "http:///127.0.0.1:8123/",
            "http://127.0.0.1",
            "http://127.0.0.1/",
            "http://127.0.0.1:/",
            "http://127.0.0.1:80/",
            "http://127.0.0.1:1023/",
            "http://127.0.0.1:65536/",
            "http://127.0.0.1:08123/",
            "http://127.0.0.1:+8123/",
            "http://127.0.0.1:8123x/",
            "http://127.0.0.1:8123.evil.example/",
            "http://127.0.0.1:8123@evil.example/",
            "http://127.0.0.1:8123:8124/",
            "http://127.0.0.1:8123\\@evil.example/",
            "http://127.0.0.1:8123\\.evil.example/",
            "http://127.0.0.1@evil.example:8123/",
            "http://user@127.0.0.1:8123/",
            "http://user:pass@127.0.0.1:8123/",
            "http://127.0.0.1.evil.example:8123/",
            "http://127.0.0.1%2eevil.example:8123/",
            "http://localhost.evil.example:8123/",
            "http://localhost.:8123/",
            "http://localhostx:8123/",
            "http://LOCALHOST:8123/",
            "http://127.0.0.2:8123/",
            "http://127.1:8123/",
            "http://127.0.1:8123/",
            "http://2130706433:8123/",
            "http://0x7f000001:8123/",
            "http://0177.0.0.1:8123/",
            "http://0.0.0.0:8123/",
            "http://10.0.0.1:8123/",
            "http://169.254.169.254:8123/",
            "http://[::]:8123/",
            "http://[::1%25lo]:8123/",
            "http://[::ffff:127.0.0.1]:8123/",
            "http://[0:0:0:0:0:0:0:1]:8123/",
            "http://::1:8123/",
            "http://[::1]evil.example:8123/",
            "http://１２７.0.0.1:8123/",
            "http://ⓛocalhost:8123/",
            "https://127.0.0.1:8123/",
            "HTTP://127.0.0.1:8123/",
            "hTTp://127.0.0.1:8123/",
            "ftp://127.0.0.1:8123/",
            "file:///etc/passwd",
            "javascript:alert(1)//http://127.0.0.1:8123/",
            "data:text/html,http://127.0.0.1:8123/",
            "quant://127.0.0.1:8123/",
            "http://127.0.0.1:8123/#fragment",
            "http://127.0.0.1:8123/#@evil.example",
            "http://127.0.0.1:8123/\r\nLocation: http://evil.example",
            "http://127.0.0.1:8123/\n",
            "http://127.0.0.1:8123/\t",
            "\thttp://127.0.0.1:8123/",
            " http://127.0.0.1:8123/",
            "http://127.0.0.1:8123/ x",
            "http://127.0.0.1:8123/\u{0}",
            "http://127.0.0.1:8123/\u{202e}",
            "http://127.0.0.1:8123/<script>",
            "http://127.0.0.1:8123/\"",
            "http://127.0.0.1:8123/?code=stolen",
            "http://127.0.0.1:8123/?a=1&code=stolen",
            "http://127.0.0.1:8123/?a=1;code=stolen",
            "http://127.0.0.1:8123/?CODE=stolen",
            "http://127.0.0.1:8123/?%63ode=stolen",
            "http://127.0.0.1:8123/?code",
            "http://evil.example/http://127.0.0.1:8123/",
            "http://evil.example:8123/?http://127.0.0.1:8123/",
            "http://evil.example",
            &long,
        ] {
            assert_eq!(LoopbackUrl::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_destination_is_read_as_it_was_stored_and_is_never_another_place() {
        let program = LoopbackUrl::parse("http://127.0.0.1:8123/cb?a=1").expect("the loopback");
        let form = SealedForm::parse("AAAAAQ-_z9").expect("base64url");
        for place in [Destination::Login, Destination::Program(program), Destination::Page(form)] {
            assert_eq!(Destination::from_text(place.text().as_deref()), Some(place));
        }
        let long = "a".repeat(LONGEST_FORM + 1);
        for text in
            ["", "//evil.example", "/login", "https://evil.example", "a&code=b", "a b", &long]
        {
            assert_eq!(Destination::from_text(Some(text)), None, "{text:?}");
        }
    }

    proptest::proptest! {
        /// Every accepted address leads to the loopback host, when parsed by the URL standard.
        #[test]
        fn what_is_taken_stays_on_the_loopback(
            text in "(http://)?(127\\.0\\.0\\.1|\\[::1\\]|localhost|a\\.b)?[:@/?#\\\\.%&=a-z0-9 ]{0,24}",
        ) {
            if let Some(url) = LoopbackUrl::parse(&text) {
                let location = url.with_code("x");
                let rest = location.strip_prefix("http://").expect("http");
                let authority = rest.split(['/', '?', '#', '\\']).next().expect("an authority");
                let (host, port) = authority.rsplit_once(':').expect("a port");
                proptest::prop_assert!(HOSTS.contains(&host), "{location}");
                proptest::prop_assert!(port.parse::<u16>().expect("a number") >= LOWEST_PORT);
                proptest::prop_assert!(location.ends_with("code=x"));
            }
        }
    }
}

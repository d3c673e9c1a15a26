//! Clients, which register themselves (RFC 7591) or are described by a document; their metadata is
//! unverified.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use rand::CryptoRng;

use super::{DocumentUrl, OauthError, RedirectUri};
use crate::{Timestamp, random};

/// The time for which a client is kept that was never used.
pub const UNUSED_KEPT: TimeDelta = TimeDelta::days(1);
/// The time for which a client is kept after its last use.
pub const IDLE_KEPT: TimeDelta = TimeDelta::days(90);

const MOST_REDIRECT_URIS: usize = 10;
const LONGEST_ID: usize = 128;
const NAME_CHARACTERS: usize = 80;

/// The id of a client, which is public: random, or the URL of the client's metadata document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientId(String);

impl ClientId {
    /// Reads an id; `None` for a text that cannot be one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let valid = (1..=LONGEST_ID).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        (valid || DocumentUrl::parse(text).is_ok()).then(|| Self(text.to_owned()))
    }

    /// Makes the id of the client that a document describes.
    #[must_use]
    pub fn of_document(url: &DocumentUrl) -> Self {
        Self(url.as_str().to_owned())
    }

    /// Returns the URL of the client's metadata document; `None` for a client that has registered
    /// itself.
    #[must_use]
    pub fn document(&self) -> Option<DocumentUrl> {
        DocumentUrl::parse(&self.0).ok()
    }

    /// Returns the host of the website that describes the client; `None` for a client that has
    /// registered itself.
    #[must_use]
    pub fn website(&self) -> Option<String> {
        self.document().map(|url| url.host().to_owned())
    }

    /// Generates a random id for a client that registers.
    #[must_use]
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        Self(URL_SAFE_NO_PAD.encode(random::identifier(rng).to_be_bytes()))
    }

    /// Returns the id as the client sends the id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name that a client gives itself, which must be displayed as unverified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientName(String);

impl ClientName {
    /// Reduces a name to one line of at most 80 characters, without invisible characters and marks
    /// of writing direction. An empty name is replaced by a text that says so.
    #[must_use]
    pub fn clean(text: &str) -> Self {
        let shown = text.chars().filter(|c| !is_invisible(*c));
        let shown: String = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
        let words: Vec<&str> = shown.split_whitespace().collect();
        let line: String = words.join(" ").chars().take(NAME_CHARACTERS).collect();
        let name = line.trim_end();
        Self(if name.is_empty() { "An application without a name" } else { name }.to_owned())
    }

    /// Returns the name without characters that could deceive a reader.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns whether the character is a joiner, a mark of writing direction or another character that changes
/// the appearance of the text around it.
const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// The metadata in a client's registration or document; further fields are ignored.
#[derive(Clone, Debug, Default)]
pub struct ClientMetadata {
    /// The redirect URIs as the client sent them.
    pub redirect_uris: Vec<String>,
    /// The name as the client sent the name; `None` where none was sent.
    pub client_name: Option<String>,
    /// The grant types; `None` means `authorization_code`.
    pub grant_types: Option<Vec<String>>,
    /// The response types; `None` means `code`.
    pub response_types: Option<Vec<String>>,
}

/// A client that has registered itself, or that its document describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredClient {
    /// The id that the service gave the client, or the URL of the client's document.
    pub id: ClientId,
    /// The name that the client gave itself, which nobody has verified.
    pub name: ClientName,
    /// The redirect URIs, at least one.
    pub redirect_uris: Vec<RedirectUri>,
    /// The time at which the client registered, or an account first gave it access.
    pub created_at: Timestamp,
}

impl RegisteredClient {
    /// Checks a registration, and makes the client.
    ///
    /// # Errors
    ///
    /// [`OauthError::InvalidRedirectUri`]; [`OauthError::InvalidClientMetadata`].
    pub fn register(
        metadata: &ClientMetadata,
        rng: &mut dyn CryptoRng,
        now: Timestamp,
    ) -> Result<Self, OauthError> {
        Self::checked(ClientId::generate(rng), metadata, now)
    }

    /// Checks the fields that a registration and a document have in common.
    pub(super) fn checked(
        id: ClientId,
        metadata: &ClientMetadata,
        now: Timestamp,
    ) -> Result<Self, OauthError> {
        let uris = &metadata.redirect_uris;
        if uris.is_empty() || uris.len() > MOST_REDIRECT_URIS {
            return Err(OauthError::InvalidRedirectUri("a client registers 1 to 10 redirect URIs"));
        }
        let redirect_uris = uris.iter().map(|uri| RedirectUri::parse(uri));
        let redirect_uris = redirect_uris.collect::<Result<_, _>>()?;
        let lacks = |types: &Option<Vec<String>>, wanted: &str| {
            types.as_ref().is_some_and(|types| !types.iter().any(|each| each == wanted))
        };
        if lacks(&metadata.grant_types, "authorization_code") {
            return Err(OauthError::InvalidClientMetadata(
                "grant_types must hold authorization_code",
            ));
        }
        if lacks(&metadata.response_types, "code") {
            return Err(OauthError::InvalidClientMetadata("response_types must hold code"));
        }
        Ok(Self {
            id,
            name: ClientName::clean(metadata.client_name.as_deref().unwrap_or_default()),
            redirect_uris,
            created_at: now,
        })
    }

    /// Returns the redirect URI of an authorization request: `asked`, or the single registered URI
    /// where the request names none. `None` where this client has not registered the URI.
    #[must_use]
    pub fn redirect_uri(&self, asked: Option<&str>) -> Option<RedirectUri> {
        match (asked, &self.redirect_uris[..]) {
            (None, [only]) => Some(only.clone()),
            (None, _) => None,
            (Some(asked), registered) => {
                let asked = RedirectUri::parse(asked).ok()?;
                registered.iter().any(|uri| uri.admits(&asked)).then_some(asked)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::seeded_rng;

    fn metadata(uris: &[&str]) -> ClientMetadata {
        let redirect_uris = uris.iter().map(|&uri| uri.to_owned()).collect();
        ClientMetadata { redirect_uris, ..ClientMetadata::default() }
    }

    fn register(metadata: &ClientMetadata) -> Result<RegisteredClient, OauthError> {
        RegisteredClient::register(metadata, &mut seeded_rng(1), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_client_registers_one_to_ten_redirect_uris() {
        let uri = "https://example.com/cb";
        for (count, good) in [(0, false), (1, true), (10, true), (11, false)] {
            assert_eq!(register(&metadata(&vec![uri; count])).is_ok(), good, "{count}");
        }
        let refused = register(&metadata(&[uri, "javascript:alert(1)"])).unwrap_err();
        assert_eq!(refused.code(), "invalid_redirect_uri");
    }

    #[test]
    fn an_id_is_random_or_the_url_of_a_document() {
        let url = "https://app.example.com/client.json";
        let id = ClientId::parse(url).expect("a URL of a document");
        assert_eq!(id.document().map(|url| ClientId::of_document(&url)), Some(id));
        let registered = ClientId::generate(&mut seeded_rng(1));
        assert_eq!(ClientId::parse(registered.as_str()), Some(registered.clone()));
        assert_eq!(registered.document(), None);
        assert_eq!(registered.website(), None);
        for text in ["", "a b", "a.b", "https://localhost/client.json", &"a".repeat(129)] {
            assert_eq!(ClientId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_client_that_wants_no_code_is_refused() {
        let list = |text: &str| Some(vec![text.to_owned()]);
        let good = metadata(&["https://example.com/cb"]);
        let implicit = ClientMetadata { response_types: list("token"), ..good.clone() };
        let machine = ClientMetadata { grant_types: list("client_credentials"), ..good };
        for metadata in [implicit, machine] {
            assert_eq!(register(&metadata).unwrap_err().code(), "invalid_client_metadata");
        }
    }

    #[test]
    fn a_name_is_one_visible_line() {
        for (given, shown) in [
            ("Claude", "Claude"),
            ("  two \r\n words\t", "two words"),
            ("\u{202e}knab ruoY", "knab ruoY"),
            ("zero\u{200b}width\u{feff}", "zerowidth"),
            ("two \u{200b} words", "two words"),
            ("\u{7}\u{0}", "An application without a name"),
            ("", "An application without a name"),
            ("Größe 数", "Größe 数"),
        ] {
            assert_eq!(ClientName::clean(given).as_str(), shown);
        }
        assert_eq!(ClientName::clean(&"é".repeat(300)).as_str().chars().count(), 80);
        let cut = format!("{} b", "a".repeat(79));
        assert_eq!(ClientName::clean(&cut).as_str(), "a".repeat(79));
    }

    #[test]
    fn an_answer_goes_to_a_registered_uri_alone() {
        let one = register(&metadata(&["http://localhost/cb"])).expect("good");
        let to = |client: &RegisteredClient, asked| {
            client.redirect_uri(asked).map(|uri| uri.as_str().to_owned())
        };
        assert_eq!(to(&one, None).as_deref(), Some("http://localhost/cb"));
        assert_eq!(
            to(&one, Some("http://localhost:7777/cb")).as_deref(),
            Some("http://localhost:7777/cb")
        );
        assert_eq!(to(&one, Some("http://localhost:7777/other")), None);
        let two =
            register(&metadata(&["http://localhost/cb", "https://a.example/"])).expect("good");
        assert_eq!(to(&two, None), None, "which one?");
        assert_eq!(to(&two, Some("https://b.example/")), None);
    }
}

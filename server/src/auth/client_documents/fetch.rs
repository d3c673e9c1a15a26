//! The fetch of one document: HTTPS without redirects and proxies, bounded in size and time.

use std::{error::Error, sync::Arc, time::Duration};

use account_core::oauth::DocumentUrl;
use mime::Mime;
use poem::http::{HeaderMap, StatusCode, header};
use reqwest::{Url, dns::Resolve};

use super::{
    fetch_error::{DocumentFetchError, LARGEST},
    public_names::{NotPublic, PublicNames},
};

/// The longest time of a fetch, from the look-up of the host to the last byte.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The shortest validity of a document, so that the consent uses what the page showed.
const SHORTEST_KEPT: Duration = Duration::from_mins(1);
/// The validity of a document whose answer states none.
const USUALLY_KEPT: Duration = Duration::from_hours(1);
/// The longest validity of a document.
const LONGEST_KEPT: Duration = Duration::from_hours(24);

/// The network that documents are fetched from, which tests replace.
pub struct DocumentNetwork {
    /// The look-up of hosts. A connection goes to an address that this look-up has returned, and to
    /// no other.
    pub names: Arc<dyn Resolve>,
    /// Certificates that are trusted beside those of the public authorities.
    pub further_roots: Vec<reqwest::Certificate>,
}

impl DocumentNetwork {
    /// Returns the public internet.
    #[must_use]
    pub fn public() -> Self {
        Self { names: Arc::new(PublicNames::of_the_system()), further_roots: Vec::new() }
    }

    /// Makes the HTTP client. A proxy would look hosts up itself, so that none is used.
    pub(super) fn client(self) -> Result<reqwest::Client, reqwest::Error> {
        let client = reqwest::Client::builder()
            .dns_resolver2(self.names)
            .https_only(true)
            .no_proxy()
            .pool_max_idle_per_host(0)
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .timeout(TIMEOUT)
            .user_agent("quant-server");
        let trusting = |client: reqwest::ClientBuilder, root| client.add_root_certificate(root);
        self.further_roots.into_iter().fold(client, trusting).build()
    }
}

/// A document as fetched.
pub(super) struct Fetched {
    pub(super) body: Vec<u8>,
    pub(super) kept: Duration,
}

/// Fetches a document.
pub(super) async fn fetch(
    http: &reqwest::Client,
    url: &DocumentUrl,
) -> Result<Fetched, DocumentFetchError> {
    // The host that was checked is the host that the client of HTTP reads.
    let target = Url::parse(url.as_str()).map_err(|_| DocumentFetchError::Unreachable)?;
    if target.host_str() != Some(url.host()) {
        return Err(DocumentFetchError::Unreachable);
    }
    let request = http.get(target).header(header::ACCEPT, "application/json");
    let mut answer = request.send().await.map_err(|error| reason(&error))?;
    check_head(answer.status(), answer.headers())?;
    let kept = validity(answer.headers());
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| reason(&error))? {
        if body.len() + chunk.len() > LARGEST {
            return Err(DocumentFetchError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Fetched { body, kept })
}

/// Refuses an answer that is not a 200 with JSON.
pub(super) fn check_head(
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<(), DocumentFetchError> {
    if status.is_redirection() {
        return Err(DocumentFetchError::Redirect);
    }
    if status != StatusCode::OK {
        return Err(DocumentFetchError::Status(status.as_u16()));
    }
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = media_type.and_then(|text| text.parse::<Mime>().ok());
    let is_json = media_type.is_some_and(|media_type| {
        let subtype = media_type.subtype();
        media_type.type_() == mime::APPLICATION
            && (subtype == mime::JSON || media_type.suffix() == Some(mime::JSON))
    });
    if is_json { Ok(()) } else { Err(DocumentFetchError::MediaType) }
}

/// Returns the time for which a document is valid: what its answer states, within bounds.
pub(super) fn validity(headers: &HeaderMap) -> Duration {
    let values = headers.get_all(header::CACHE_CONTROL).iter();
    let directives = values.filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(','));
    let stated = directives.filter_map(|directive| {
        let directive = directive.trim().to_ascii_lowercase();
        match directive.split_once('=') {
            None if matches!(directive.as_str(), "no-store" | "no-cache") => Some(0),
            Some(("max-age", seconds)) => seconds.trim_matches('"').parse().ok(),
            _ => None,
        }
    });
    stated.min().map_or(USUALLY_KEPT, Duration::from_secs).clamp(SHORTEST_KEPT, LONGEST_KEPT)
}

/// Returns the reason for an error of the HTTP client, which hides what its look-up of hosts says.
fn reason(error: &reqwest::Error) -> DocumentFetchError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(found) = cause {
        if found.is::<NotPublic>() {
            return DocumentFetchError::NotPublic;
        }
        cause = found.source();
    }
    if error.is_timeout() { DocumentFetchError::Timeout } else { DocumentFetchError::Unreachable }
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    #[test]
    fn a_document_is_valid_as_long_as_its_website_states_within_bounds() {
        for (stated, seconds) in [
            (&[][..], 3_600),
            (&["max-age=600"], 600),
            (&["public, Max-Age=7200, immutable"], 7_200),
            (&["max-age=\"600\""], 600),
            (&["max-age=59"], 60),
            (&["max-age=0"], 60),
            (&["max-age=600, no-store"], 60),
            (&["max-age=600", "no-cache"], 60),
            (&["max-age=900", "max-age=600"], 600),
            (&["max-age=86401"], 86_400),
            (&["max-age=18446744073709551615"], 86_400),
            (&["max-age=-1"], 3_600),
            (&["max-age=soon"], 3_600),
            (&["s-maxage=5"], 3_600),
        ] {
            let mut headers = HeaderMap::new();
            for value in stated {
                headers.append(header::CACHE_CONTROL, HeaderValue::from_static(value));
            }
            assert_eq!(validity(&headers).as_secs(), seconds, "{stated:?}");
        }
    }

    #[test]
    fn an_answer_is_a_200_with_json() {
        for (status, media_type, expected) in [
            (200, "application/json", Ok(())),
            (200, "application/json; charset=utf-8", Ok(())),
            (200, "application/oauth-client+json", Ok(())),
            (200, "text/json", Err(DocumentFetchError::MediaType)),
            (200, "text/html", Err(DocumentFetchError::MediaType)),
            (200, "application/jsonp", Err(DocumentFetchError::MediaType)),
            (200, "", Err(DocumentFetchError::MediaType)),
            (201, "application/json", Err(DocumentFetchError::Status(201))),
            (204, "application/json", Err(DocumentFetchError::Status(204))),
            (301, "application/json", Err(DocumentFetchError::Redirect)),
            (304, "application/json", Err(DocumentFetchError::Redirect)),
            (307, "application/json", Err(DocumentFetchError::Redirect)),
            (404, "application/json", Err(DocumentFetchError::Status(404))),
            (500, "application/json", Err(DocumentFetchError::Status(500))),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
            let status = StatusCode::from_u16(status).expect("a status");
            assert_eq!(check_head(status, &headers), expected, "{status} {media_type}");
        }
        assert_eq!(
            check_head(StatusCode::OK, &HeaderMap::new()),
            Err(DocumentFetchError::MediaType)
        );
    }
}

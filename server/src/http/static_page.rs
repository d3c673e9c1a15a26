//! Pages that are the same for every caller: compressed once, with a tag for caches.

use std::io::Write as _;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use poem::{
    Request, Response,
    http::{HeaderValue, StatusCode, header},
};
use sha2::{Digest as _, Sha256};

/// Brotli's quality and window: a document of a megabyte takes some 30 ms, once.
const QUALITY: u32 = 6;
const WINDOW: u32 = 22;
const BUFFER: usize = 4096;

/// A page in the three encodings in which it is sent.
pub(crate) struct StaticPage {
    media_type: &'static str,
    policy: &'static str,
    plain: Bytes,
    gzip: Bytes,
    brotli: Bytes,
    tag: HeaderValue,
}

impl StaticPage {
    /// Compresses a page. `policy` is its content security policy.
    pub(crate) fn new(media_type: &'static str, policy: &'static str, text: String) -> Self {
        let tag = hex::encode(&Sha256::digest(&text)[..12]);
        Self {
            media_type,
            policy,
            gzip: gzip(text.as_bytes()).into(),
            brotli: brotli(text.as_bytes()).into(),
            plain: text.into(),
            // Weak, because the three encodings differ in their bytes.
            tag: format!("W/\"{tag}\"").parse().expect("hexadecimal digits make a header"),
        }
    }

    /// Answers with the smallest encoding that the client takes, or 304 to a client that has the page.
    pub(crate) fn respond(&self, request: &Request) -> Response {
        let builder = Response::builder()
            .header(header::ETAG, self.tag.clone())
            .header(header::CACHE_CONTROL, "no-cache")
            // Also with 304, whose headers replace those of the kept page (RFC 9111, section 4.3.4).
            .header(header::CONTENT_SECURITY_POLICY, self.policy)
            .header(header::VARY, "Accept-Encoding");
        let known = request.header(header::IF_NONE_MATCH).unwrap_or_default();
        if known.split(',').any(|tag| tag.trim() == "*" || self.tag == tag.trim().as_bytes()) {
            return builder.status(StatusCode::NOT_MODIFIED).finish();
        }
        let builder = builder
            .content_type(self.media_type)
            .header(header::REFERRER_POLICY, "no-referrer")
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        let accepted = request.header(header::ACCEPT_ENCODING).unwrap_or_default();
        match [("br", &self.brotli), ("gzip", &self.gzip)]
            .into_iter()
            .find(|(encoding, _)| takes(accepted, encoding))
        {
            Some((encoding, body)) => {
                builder.header(header::CONTENT_ENCODING, encoding).body(body.clone())
            }
            None => builder.body(self.plain.clone()),
        }
    }
}

/// True where a header `Accept-Encoding` names the encoding with a weight above zero.
pub(super) fn takes(accepted: &str, encoding: &str) -> bool {
    accepted.split(',').any(|item| {
        let (name, weight) = item.split_once(';').unwrap_or((item, "q=1"));
        let weight = weight.trim().strip_prefix("q=").and_then(|text| text.parse::<f64>().ok());
        name.trim().eq_ignore_ascii_case(encoding) && weight.is_some_and(|weight| weight > 0.0)
    })
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).expect("a vector takes every byte");
    encoder.finish().expect("a vector takes every byte")
}

fn brotli(text: &[u8]) -> Vec<u8> {
    let mut encoder = brotli::CompressorWriter::new(Vec::new(), BUFFER, QUALITY, WINDOW);
    encoder.write_all(text).expect("a vector takes every byte");
    encoder.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(headers: &[(&str, &str)]) -> Response {
        let page = StaticPage::new("text/plain", "default-src 'none'", "ab ".repeat(100));
        let request = headers
            .iter()
            .fold(Request::builder(), |request, (name, value)| request.header(*name, *value));
        page.respond(&request.finish())
    }

    #[test]
    fn a_client_gets_an_encoding_that_it_takes() {
        let encoding = |accepted| {
            get(&[("accept-encoding", accepted)]).header("content-encoding").map(str::to_owned)
        };
        assert_eq!(encoding("gzip, deflate, br, zstd").as_deref(), Some("br"));
        assert_eq!(encoding("gzip;q=0.5").as_deref(), Some("gzip"));
        assert_eq!(encoding("br;q=0, identity"), None);
        assert_eq!(encoding(""), None);
    }

    #[test]
    fn a_client_that_has_the_page_gets_no_body() {
        let tag = get(&[]).header("etag").expect("a tag").to_owned();
        let known = get(&[("if-none-match", &format!("\"other\", {tag}"))]);
        assert_eq!(known.status(), StatusCode::NOT_MODIFIED);
        assert_eq!(known.header("content-security-policy"), Some("default-src 'none'"));
        assert_eq!(get(&[("if-none-match", "\"other\"")]).status(), StatusCode::OK);
    }
}

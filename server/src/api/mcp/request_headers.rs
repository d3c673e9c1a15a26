//! The credentials and the media types in the headers of a message.

use account_core::{AccessToken, ApiKey};
use poem::http::{HeaderMap, header};

/// Returns the API key of the header `X-API-Key`, or of `Authorization` as a bearer.
pub(super) fn api_key(headers: &HeaderMap) -> Option<ApiKey> {
    let single = |name: &str| {
        let mut lines = headers.get_all(name).into_iter();
        let line = lines.next()?.to_str().ok()?;
        lines.next().is_none().then_some(line)
    };
    match single("x-api-key") {
        Some(key) => ApiKey::parse(key),
        None => {
            let (scheme, key) = single("authorization")?.split_once(' ')?;
            ApiKey::parse(key.trim()).filter(|_| scheme.eq_ignore_ascii_case("bearer"))
        }
    }
}

/// Returns the token of the header `Authorization`, and whether the header contains any token.
pub(super) fn bearer_token(headers: &HeaderMap) -> (Option<AccessToken>, bool) {
    let mut lines = headers.get_all(header::AUTHORIZATION).into_iter();
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return (None, headers.contains_key(header::AUTHORIZATION));
    };
    let text = line.to_str().unwrap_or_default();
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
            (AccessToken::parse(token.trim()), true)
        }
        _ => (None, true),
    }
}

/// Returns whether the client accepts JSON. A client without the header accepts every type.
pub(super) fn accepts_json(headers: &HeaderMap) -> bool {
    !headers.contains_key(header::ACCEPT)
        || accepts(headers, &["application/json", "application/*", "*/*"])
}

/// Returns whether the client names a stream of events as what it accepts.
pub(super) fn accepts_event_stream(headers: &HeaderMap) -> bool {
    accepts(headers, &["text/event-stream"])
}

fn accepts(headers: &HeaderMap, ranges: &[&str]) -> bool {
    let lines = headers.get_all(header::ACCEPT).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default().to_ascii_lowercase();
        let is_refused = parts.any(|parameter| {
            let weight = parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q="));
            weight.is_some_and(|weight| weight.parse() == Ok(0.0_f32))
        });
        ranges.contains(&media.as_str()) && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, value.parse().expect("a header"));
        }
        headers
    }

    #[test]
    fn a_client_takes_json_unless_it_says_otherwise() {
        #[rustfmt::skip]
        let rows: [(&[&str], bool); 10] = [
            (&[],                                                true),
            (&["application/json, text/event-stream"],           true),
            (&["text/event-stream", "application/json"],         true),
            (&["*/*"],                                           true),
            (&["application/*;q=0.1"],                           true),
            (&["APPLICATION/JSON; charset=utf-8"],               true),
            (&["text/html"],                                     false),
            (&["text/event-stream"],                             false),
            (&["application/json;q=0"],                          false),
            (&["application/json; q=0.0, text/html"],            false),
        ];
        for (lines, expected) in rows {
            assert_eq!(accepts_json(&headers("accept", lines)), expected, "{lines:?}");
        }
    }

    #[test]
    fn a_token_is_read_from_one_header_of_the_one_scheme() {
        let token = "A".repeat(43);
        let bearer = format!("bEARER {token}");
        let key = format!("Bearer fk_user_{token}");
        #[rustfmt::skip]
        let rows: [(&[&str], bool, bool); 7] = [
            // lines                                      token  sent
            (&[],                                         false, false),
            (&[&bearer],                                  true,  true),
            (&[&bearer, &bearer],                         false, true),
            (&["Bearer"],                                 false, true),
            (&["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="],     false, true),
            (&[&token],                                   false, true),
            (&[&key],                                     false, true),
        ];
        for (lines, is_token, was_sent) in rows {
            let (token, sent) = bearer_token(&headers("authorization", lines));
            assert_eq!((token.is_some(), sent), (is_token, was_sent), "{lines:?}");
        }
    }
}

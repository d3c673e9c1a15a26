//! The header `Prefer` (RFC 7240).

use poem::{
    Request,
    http::{HeaderMap, HeaderName, HeaderValue},
};

/// The header of a request with its preferences.
const PREFER: &str = "prefer";
/// The header of an answer that has met a preference.
const APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// Returns the preferences of a request in their order, each with its value; empty where a
/// preference has none. Of two preferences of one name the first one counts.
pub(super) fn preferences(request: &Request) -> impl Iterator<Item = (&str, &str)> {
    let lines = request.headers().get_all(PREFER).into_iter();
    let lines = lines.filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).filter_map(|preference| {
        let preference = preference.split(';').next()?;
        let (name, value) = preference.split_once('=').unwrap_or((preference, ""));
        Some((name.trim(), value.trim().trim_matches('"')))
    })
}

/// Tells in the answer that a preference was met.
pub(super) fn tell_applied(headers: &mut HeaderMap, preference: &str) {
    let others = headers.get(&APPLIED).and_then(|others| others.to_str().ok());
    let all = others.map_or(preference.to_owned(), |others| format!("{others}, {preference}"));
    headers.insert(APPLIED, HeaderValue::try_from(all).expect("preferences make a header"));
}

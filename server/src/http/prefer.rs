//! The header `Prefer` (RFC 7240).

use poem::{
    Request,
    http::{HeaderMap, HeaderValue},
};

use super::{
    headers::{PREFER, PREFERENCE_APPLIED, text},
    quoted::rsplit,
};

/// Returns the preferences of a request in their order, each with its value; empty where a
/// preference has none. Of two preferences of one name the first one counts.
pub(super) fn preferences(request: &Request) -> impl Iterator<Item = (&str, &str)> {
    let lines = request.headers().get_all(PREFER).into_iter();
    let lines = lines.filter_map(|line| line.to_str().ok());
    let in_order = |text, separator| rsplit(text, separator).collect::<Vec<_>>().into_iter().rev();
    lines.flat_map(move |line| in_order(line, ',')).filter_map(move |preference| {
        let preference = in_order(preference, ';').next()?;
        let (name, value) = preference.split_once('=').unwrap_or((preference, ""));
        let name = name.trim();
        (!name.is_empty()).then(|| (name, value.trim().trim_matches('"')))
    })
}

/// Tells in the answer that a preference was met.
pub(super) fn tell_applied(headers: &mut HeaderMap, preference: &str) {
    let all = text(headers, &PREFERENCE_APPLIED)
        .map_or(preference.to_owned(), |others| format!("{others}, {preference}"));
    headers
        .insert(PREFERENCE_APPLIED, HeaderValue::try_from(all).expect("preferences make a header"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preference_within_quotes_is_none() {
        for (line, expected) in [
            ("a=\"b, quote; c\"", &[("a", "b, quote; c")][..]),
            ("quote;a=\"b, handling=strict\", c", &[("quote", ""), ("c", "")]),
            (", a = \"b\" ,", &[("a", "b")]),
        ] {
            let request = Request::builder().header(PREFER, line).finish();
            assert_eq!(preferences(&request).collect::<Vec<_>>(), expected, "{line}");
        }
    }
}

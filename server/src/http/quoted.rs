//! The parts of a header's value, where a separator within a quoted string separates nothing.

/// Splits a value at a separator, from right to left, since what a proxy appends is on the right.
///
/// A quotation mark without a second one begins a quoted string that has no end. Read from the right, such a
/// mark in the part of a client leaves the parts that proxies have appended as they are.
pub(super) fn rsplit(value: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut rest = Some(value);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut is_quoted = false;
        let found = text.char_indices().rev().find(|&(at, character)| {
            is_quoted ^= character == '"' && !is_escaped(&text[..at]);
            character == separator && !is_quoted
        });
        let (before, part) = match found {
            Some((at, _)) => (Some(&text[..at]), &text[at + separator.len_utf8()..]),
            None => (None, text),
        };
        rest = before;
        Some(part)
    })
}

/// Returns whether the character after `before` is escaped: an odd number of backslashes is before it.
fn is_escaped(before: &str) -> bool {
    (before.len() - before.trim_end_matches('\\').len()) % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_separator_within_quotes_separates_nothing() {
        for (value, parts) in [
            ("", &[""][..]),
            ("a, b,c", &["c", " b", "a"]),
            ("a=\"b, c\", d", &[" d", "a=\"b, c\""]),
            ("a=\"b\\\", c\", d", &[" d", "a=\"b\\\", c\""]),
            ("a=\"b\\\\\", c", &[" c", "a=\"b\\\\\""]),
            ("for=\", for=1", &[" for=1", "for=\""]),
            ("é, \"é,é\"", &[" \"é,é\"", "é"]),
        ] {
            assert_eq!(rsplit(value, ',').collect::<Vec<_>>(), parts, "{value}");
        }
    }
}

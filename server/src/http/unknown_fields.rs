//! Fields of a body that its schema does not have: told in a header, or refused.
//!
//! A misspelt optional field would otherwise be replaced by its default without a hint. The names
//! are collected while the reader skips the values, and no value is built.

use std::borrow::Cow;

use poem::{Request, http::HeaderMap};

use super::{headers::X_IGNORED_FIELDS, prefer};

/// The preference that was met where unknown fields were refused.
const STRICT: &str = "handling=strict";

/// The fields that an answer names at most.
const MOST_NAMES: usize = 20;
/// The characters of one name that an answer repeats at most.
const LONGEST_NAME: usize = 64;
/// The bytes of the header at most.
const LONGEST_HEADER: usize = 1024;
/// The last element of a header that does not name all fields; no field has this name there.
const AND_MORE: &str = "...";

/// A step of the place of a field in a body.
#[derive(Clone, Debug)]
pub(super) enum Segment {
    /// The name of a field of the schema, or a name of the caller's choice.
    Name(Cow<'static, str>),
    /// A position in a list, from zero.
    Index(usize),
}

/// The treatment of unknown fields that the caller prefers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Handling {
    /// Unknown fields are ignored, and the answer names them.
    #[default]
    Lenient,
    /// Unknown fields are refused, each with a fault.
    Strict,
}

impl Handling {
    /// Reads the header `Prefer`.
    pub(super) fn preferred(request: &Request) -> Self {
        let mut preferences = prefer::preferences(request);
        let handling = preferences
            .find(|(name, value)| name.eq_ignore_ascii_case("handling") && !value.is_empty());
        match handling {
            Some((_, value)) if value.eq_ignore_ascii_case("strict") => Self::Strict,
            _ => Self::Lenient,
        }
    }
}

/// The treatment of the unknown fields of one body, and the names of those that were ignored.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnknownFields {
    pub(super) handling: Handling,
    names: Vec<String>,
    /// True if a field is missing among the names.
    is_cut: bool,
}

impl UnknownFields {
    /// Makes the record of a body that is yet to be read.
    pub(crate) fn new(handling: Handling) -> Self {
        Self { handling, ..Self::default() }
    }

    /// Returns whether the name of another unknown field is of use.
    pub(super) fn takes_names(&self) -> bool {
        !self.is_cut
    }

    /// Adds a field that was ignored, in the object at `path`.
    pub(super) fn add(&mut self, path: &[Segment], name: &str) {
        let name = written(path, name);
        if self.names.contains(&name) {
            return;
        }
        if self.names.len() == MOST_NAMES {
            self.is_cut = true;
        } else {
            self.names.push(name);
        }
    }

    /// Adds the headers of the answer: the names, or that the preference was met.
    pub(super) fn tell(&self, headers: &mut HeaderMap) {
        if self.handling == Handling::Strict {
            prefer::tell_applied(headers, STRICT);
        } else if !self.names.is_empty() {
            let names = self.header().parse().expect("visible ASCII characters make a header");
            headers.insert(X_IGNORED_FIELDS, names);
        }
    }

    fn header(&self) -> String {
        let mut header = String::new();
        let mut is_cut = self.is_cut;
        for name in &self.names {
            if header.len() + name.len() + 2 + AND_MORE.len() + 2 > LONGEST_HEADER {
                is_cut = true;
                break;
            }
            append(&mut header, name);
        }
        if is_cut {
            append(&mut header, AND_MORE);
        }
        header
    }
}

fn append(header: &mut String, name: &str) {
    if !header.is_empty() {
        header.push_str(", ");
    }
    header.push_str(name);
}

/// Writes the place of a field, as in `instruments[1].rate`, with the start of a long name.
fn written(path: &[Segment], name: &str) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Name(name) => {
                escape(&mut text, name);
                text.push('.');
            }
            Segment::Index(index) => {
                // The index stands before the point that follows the name of its list.
                text.truncate(text.trim_end_matches('.').len());
                text.push_str(&format!("[{index}]."));
            }
        }
    }
    escape(&mut text, name);
    text
}

/// Appends a name for a header: all other bytes than letters, digits, `_` and `-` in percent
/// encoding, as a comma or a point would be read as part of the list or of the place.
fn escape(text: &mut String, name: &str) {
    for byte in name.chars().take(LONGEST_NAME).collect::<String>().bytes() {
        match byte {
            b'_' | b'-' => text.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => text.push(char::from(byte)),
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preferred(lines: &[&str]) -> Handling {
        let mut request = Request::builder();
        for line in lines {
            request = request.header("Prefer", *line);
        }
        Handling::preferred(&request.finish())
    }

    #[test]
    fn the_preference_is_read_as_rfc_7240_writes_it() {
        #[rustfmt::skip]
        let strict: [&[&str]; 6] = [
            &["handling=strict"],
            &["Handling = \"STRICT\""],
            &["respond-async, handling=strict"],
            &["respond-async", "handling=strict"],
            &["handling=strict; a=b"],
            &["handling=strict, handling=lenient"],
        ];
        for lines in strict {
            assert_eq!(preferred(lines), Handling::Strict, "{lines:?}");
        }
        let lenient: [&[&str]; 5] = [
            &[],
            &["handling=lenient"],
            &["handling"],
            &["strict"],
            &["handling=lenient, handling=strict"],
        ];
        for lines in lenient {
            assert_eq!(preferred(lines), Handling::Lenient, "{lines:?}");
        }
    }

    fn header_of(names: &[&str]) -> String {
        let mut fields = UnknownFields::default();
        for name in names {
            fields.add(&[], name);
        }
        let mut headers = HeaderMap::new();
        fields.tell(&mut headers);
        let header = headers.get(X_IGNORED_FIELDS).map(|names| names.to_str().expect("ASCII"));
        header.unwrap_or_default().to_owned()
    }

    #[test]
    fn the_header_names_each_field_once_in_characters_that_a_header_may_have() {
        assert_eq!(header_of(&[]), "");
        assert_eq!(header_of(&["dividend_yeild", "b", "b"]), "dividend_yeild, b");
        let hostile = ["a,b", "\r\nSet-Cookie: x", "é", "", "..."];
        let written = "a%2Cb, %0D%0ASet-Cookie%3A%20x, %C3%A9, , %2E%2E%2E";
        assert_eq!(header_of(&hostile), written);
    }

    #[test]
    fn the_header_is_bounded_in_number_and_length() {
        let many: Vec<String> = (0..30).map(|number| format!("f{number}")).collect();
        let header = header_of(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(header.split(", ").count(), MOST_NAMES + 1);
        assert!(header.ends_with(", f19, ..."), "{header}");
        let long = "€".repeat(1000);
        assert_eq!(header_of(&[&long]).len(), LONGEST_NAME * 9);
        let long: Vec<String> = ["a", "b", "c"].map(|start| format!("{start}{long}")).into();
        let header = header_of(&long.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(header.len() <= LONGEST_HEADER && header.ends_with(", ..."), "{header}");
    }

    #[test]
    fn a_field_of_a_nested_object_is_named_by_its_place() {
        let mut fields = UnknownFields::default();
        let path =
            [Segment::Name("instruments".into()), Segment::Index(2), Segment::Name("quote".into())];
        fields.add(&path, "ratte");
        assert_eq!(fields.header(), "instruments[2].quote.ratte");
    }
}

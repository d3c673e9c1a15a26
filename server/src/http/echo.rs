//! The part of a request that a refusal repeats.
//!
//! Lengths are bytes of the answer, where a character takes up to six: a control character as `\u0001`.

use std::borrow::Cow;

/// The most bytes of a value that a refusal repeats.
const MOST_OF_A_VALUE: usize = 100;
/// The most bytes of a field's name, which a list of faults repeats beside its messages.
const MOST_OF_A_NAME: usize = 64;
/// The most bytes of a message, which may repeat a value.
const MOST_OF_A_MESSAGE: usize = 400;
/// The bytes that a message has in any case, however long the path to its fault is.
const LEAST_OF_A_MESSAGE: usize = 100;

/// A value of the request for a refusal: at most 100 bytes, with an ellipsis where it is cut.
#[must_use]
pub(crate) fn value(text: &str) -> Cow<'_, str> {
    cut(text, MOST_OF_A_VALUE)
}

/// A field's name for a refusal: at most 64 bytes, with an ellipsis where the name is cut.
#[must_use]
pub(crate) fn name(text: &str) -> Cow<'_, str> {
    cut(text, MOST_OF_A_NAME)
}

/// A message for a refusal: at most 400 bytes, with an ellipsis where it is cut.
#[must_use]
pub(crate) fn message(text: &str) -> Cow<'_, str> {
    cut(text, MOST_OF_A_MESSAGE)
}

/// A message beside `others` bytes of the same fault: ten faults have at most 4 KB together.
#[must_use]
pub(crate) fn message_of_fault(text: &str, others: usize) -> Cow<'_, str> {
    cut(text, MOST_OF_A_MESSAGE.saturating_sub(others).max(LEAST_OF_A_MESSAGE))
}

/// The text of an error of the computations, with the text that it repeats cut.
#[must_use]
pub(crate) fn error(error: &quant_core::Error) -> String {
    match error {
        quant_core::Error::Text { argument, value: text, requirement } => {
            let value = value(text).into_owned();
            quant_core::Error::Text { argument, value, requirement }.to_string()
        }
        other => other.to_string(),
    }
}

/// The text of an error for a text that a field cannot be read from.
///
/// The fault's `loc` names the field; the error names the kind of value, which the caller need not know.
#[must_use]
pub(crate) fn unread(error: &quant_core::Error) -> String {
    match error {
        quant_core::Error::Text { value: text, requirement, .. } => {
            format!("ensure this value is {requirement}, not {:?}", value(text))
        }
        other => self::error(other),
    }
}

fn cut(text: &str, most: usize) -> Cow<'_, str> {
    let mut length = 0;
    let end = text.char_indices().find(|&(_, character)| {
        length += written_length(character);
        length > most
    });
    match end {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}

/// The bytes of a character within a JSON string, as serde_json writes the character.
fn written_length(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..'\u{20}' => 6,
        other => other.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_cut_at_a_hundred_bytes_of_the_answer() {
        assert_eq!(value("short"), "short");
        #[rustfmt::skip]
        let rows = [
            // character  characters that fit
            ("a",         100),
            ("é",          50),
            ("\u{1f600}",  25),
            ("\"",         50),
            ("\\",         50),
            ("\n",         50),
            ("\u{1}",      16),
        ];
        for (character, count) in rows {
            let exact = character.repeat(count);
            assert_eq!(value(&exact), exact);
            assert_eq!(value(&character.repeat(count + 1)), format!("{exact}…"), "{character:?}");
            let json = serde_json::to_string(&exact).expect("a text");
            assert!((95..=102).contains(&json.len()), "{json}");
        }
    }

    #[test]
    fn an_unread_text_is_told_without_the_name_of_its_kind() {
        let refused: quant_core::Error = "sometimes"
            .parse::<quant_core::time::BusinessDayConvention>()
            .expect_err("no convention");
        assert!(error(&refused).starts_with("`convention` is \"sometimes\""));
        let told = unread(&refused);
        assert!(told.starts_with("ensure this value is one of unadjusted, following"), "{told}");
        assert!(told.ends_with("modified preceding, not \"sometimes\""), "{told}");
    }

    #[test]
    fn an_error_repeats_the_start_of_a_long_tenor() {
        let long = "9".repeat(1_000_000);
        let refused: quant_core::Error =
            long.parse::<quant_core::time::tenor::Tenor>().expect_err("no tenor");
        let told = error(&refused);
        assert!(told.contains(&format!("{}…", "9".repeat(100))) && told.len() < 400, "{told}");
    }
}

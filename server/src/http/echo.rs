//! The part of a request that a refusal repeats.

use std::borrow::Cow;

/// The most characters of a value that a refusal repeats.
const MOST_OF_A_VALUE: usize = 100;
/// The most characters of a field's name, which a list of faults repeats beside its messages.
const MOST_OF_A_NAME: usize = 64;
/// The most characters of a message, which may repeat a value.
const MOST_OF_A_MESSAGE: usize = 400;

/// A value of the request for a refusal: at most 100 characters, with an ellipsis where it is cut.
#[must_use]
pub(crate) fn value(text: &str) -> Cow<'_, str> {
    cut(text, MOST_OF_A_VALUE)
}

/// A field's name for a refusal: at most 64 characters, with an ellipsis where the name is cut.
#[must_use]
pub(crate) fn name(text: &str) -> Cow<'_, str> {
    cut(text, MOST_OF_A_NAME)
}

/// A message for a refusal: at most 400 characters, with an ellipsis where it is cut.
#[must_use]
pub(crate) fn message(text: &str) -> Cow<'_, str> {
    cut(text, MOST_OF_A_MESSAGE)
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
    match text.char_indices().nth(most) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_cut_at_a_hundred_characters() {
        assert_eq!(value("short"), "short");
        let exact = "é".repeat(100);
        assert_eq!(value(&exact), exact);
        assert_eq!(value(&"é".repeat(101)), format!("{exact}…"));
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

//! The position of a JSON syntax error, in characters from the start of the text.

/// Converts the line and column of a syntax error into an offset in characters.
pub(super) fn of(bytes: &[u8], error: &serde_json::Error) -> usize {
    let text = String::from_utf8_lossy(bytes);
    if error.is_eof() {
        return text.chars().count();
    }
    let before: usize =
        text.split_inclusive('\n').take(error.line() - 1).map(|line| line.chars().count()).sum();
    // serde_json counts a column in bytes of the line, from one.
    let line = bytes.split(|&byte| byte == b'\n').nth(error.line() - 1).unwrap_or_default();
    let until = &line[..line.len().min(error.column().saturating_sub(1))];
    before + String::from_utf8_lossy(until).chars().count()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_offset_counts_characters_over_lines() {
        for (text, expected) in
            [("{\"a\": }", 6), ("{\"a\":1,}", 7), ("{\"a\":1", 6), ("{} x", 3), ("{\n\"é\": x}", 7)]
        {
            let error = serde_json::from_str::<serde_json::Value>(text).expect_err("not JSON");
            assert_eq!(super::of(text.as_bytes(), &error), expected, "{text}");
        }
    }
}

//! Texts of the document and of the repository as HTML.

use pulldown_cmark::{Alignment, Event, Options, Parser, Tag, html::push_html};

/// Writes a text, which is Markdown of this repository, as HTML. Columns of tables have no alignment:
/// it would be an inline style, which the policy of the pages forbids.
pub(super) fn html(markdown: &str) -> String {
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES).map(|event| match event {
        Event::Start(Tag::Table(columns)) => {
            Event::Start(Tag::Table(vec![Alignment::None; columns.len()]))
        }
        other => other,
    });
    let mut html = String::new();
    push_html(&mut html, events);
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_no_inline_style() {
        let table = html("| a | b |\n|---|---:|\n| 1 | 2 |\n");
        assert!(table.contains("<td>2</td>") && !table.contains("style"), "{table}");
    }
}

//! Descriptions of the document as HTML.

use pulldown_cmark::{Parser, html::push_html};

/// Writes a description, which is Markdown of this repository, as HTML.
pub(super) fn html(markdown: &str) -> String {
    let mut html = String::new();
    push_html(&mut html, Parser::new(markdown));
    html
}

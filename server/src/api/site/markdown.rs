//! Texts of the document and of the repository as HTML.

use pulldown_cmark::{Options, Parser, html::push_html};

/// Writes a text, which is Markdown of this repository, as HTML.
pub(super) fn html(markdown: &str) -> String {
    let mut html = String::new();
    push_html(&mut html, Parser::new_ext(markdown, Options::ENABLE_TABLES));
    html
}

//! The front page: a page for browsers, and JSON for programs.

use std::sync::OnceLock;

use askama::Template;
use poem::{
    Endpoint, Request, Response,
    endpoint::make_sync,
    http::{HeaderValue, header},
};
use serde_json::json;

use super::{
    operation::{self, DescribedOperation, Group},
    page::{HTML, POLICY, base_url},
    samples::{self, Sample},
};
use crate::{api::openapi::VERSION, http::StaticPage};

#[derive(Template)]
#[template(path = "site/front.html")]
struct FrontPage {
    version: &'static str,
    has_mcp: bool,
    /// The computations by heading.
    groups: Vec<Group>,
    computations: usize,
    example: &'static DescribedOperation,
    samples: Vec<Sample>,
}

/// Serves the page to a client that takes HTML, and otherwise the addresses as JSON.
pub(super) fn endpoint() -> impl Endpoint<Output = Response> {
    let (page, list) = (OnceLock::new(), OnceLock::new());
    make_sync(move |request: Request| {
        let accepted = request.header(header::ACCEPT).unwrap_or_default();
        let chosen = if accepted.contains("text/html") {
            page.get_or_init(|| StaticPage::new(HTML, POLICY, html(&base_url(&request))))
        } else {
            list.get_or_init(|| StaticPage::new("application/json", POLICY, addresses()))
        };
        let mut response = chosen.respond(&request);
        let vary = HeaderValue::from_static("Accept, Accept-Encoding");
        response.headers_mut().insert(header::VARY, vary);
        response
    })
}

fn html(base_url: &str) -> String {
    let groups = operation::groups(|operation| operation.price.is_some());
    let example = operation::find("price_european_option").expect("the document has the operation");
    let page = FrontPage {
        version: VERSION,
        has_mcp: cfg!(feature = "mcp"),
        computations: groups.iter().map(|group| group.operations.len()).sum(),
        groups,
        example,
        samples: samples::of(example, base_url),
    };
    page.render().expect("a page that compiles renders into a string")
}

fn addresses() -> String {
    let list = json!({
        "name": "quant-server",
        "version": VERSION,
        "reference": "/docs",
        "playground": "/playground",
        "console": "/console",
        "openapi": "/openapi.json",
        "mcp": cfg!(feature = "mcp").then_some("/mcp"),
        "llms": "/llms.txt",
        "health": "/health",
        "ready": "/ready",
    });
    format!("{list}\n")
}

//! The reference at `/docs`: an overview, and a page for each operation.

use askama::Template;

use super::{
    operation::{self, DescribedOperation, Group},
    samples::{self, Sample},
};
use crate::api::openapi::VERSION;

#[derive(Template)]
#[template(path = "site/overview.html")]
struct ReferenceOverview {
    version: &'static str,
    groups: Vec<Group>,
    current: &'static str,
    first_call: Vec<Sample>,
}

#[derive(Template)]
#[template(path = "site/operation.html")]
struct OperationPage {
    operation: &'static DescribedOperation,
    groups: Vec<Group>,
    current: &'static str,
    samples: Vec<Sample>,
}

/// Writes the overview.
pub(super) fn overview(base_url: &str) -> String {
    let first = operation::find("price_european_option").expect("the document has the operation");
    let page = ReferenceOverview {
        version: VERSION,
        groups: operation::groups(|_| true),
        current: "",
        first_call: samples::of(first, base_url),
    };
    page.render().expect("a page that compiles renders into a string")
}

/// Writes the page of one operation.
pub(super) fn page(operation: &'static DescribedOperation, base_url: &str) -> Option<String> {
    let page = OperationPage {
        operation,
        groups: operation::groups(|_| true),
        current: &operation.id,
        samples: samples::of(operation, base_url),
    };
    Some(page.render().expect("a page that compiles renders into a string"))
}

//! Pages for people and their programs: the front page, the reference, the playground, `llms.txt`.
//!
//! Every page is made from the OpenAPI document, needs no other host, and works without scripts. The
//! playground alone needs its script, because it calls the service with the caller's key.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, OnceLock},
};

use poem::{
    Endpoint, EndpointExt, Request, Response,
    endpoint::{BoxEndpoint, make_sync},
};

use self::page::{HTML, POLICY, base_url};
use crate::http::{ApiError, StaticPage, Surface};

pub mod errors;
mod front;
mod llms;
mod markdown;
mod operation;
mod page;
mod playground;
mod reference;
mod samples;
mod schema;
mod sizes;

const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Returns the routes of the pages, each with the endpoint of GET.
pub(super) fn routes() -> Vec<(&'static str, BoxEndpoint<'static>)> {
    let file = |media_type, text: &'static str| made_once(media_type, |_| text.to_owned()).boxed();
    let page = |make: fn(&str) -> String| Arc::new(made_once(HTML, make));
    let reference = page(reference::overview);
    vec![
        ("/", front::endpoint().boxed()),
        ("/llms.txt", made_once("text/plain; charset=utf-8", llms::text).boxed()),
        ("/docs", reference.clone().boxed()),
        ("/docs/", reference.boxed()),
        ("/docs/errors", page(errors::page).boxed()),
        ("/docs/:operation", pages_of_operations(reference::page).boxed()),
        ("/playground", page(playground::overview).boxed()),
        ("/playground/:operation", pages_of_operations(playground::page).boxed()),
        ("/favicon.ico", file(SVG, include_str!("../../templates/site/icon.svg"))),
        (
            "/site.css",
            file(
                CSS,
                concat!(
                    include_str!("../../templates/theme.css"),
                    include_str!("../../templates/site/site.css")
                ),
            ),
        ),
        ("/site.js", file(JAVASCRIPT, include_str!("../../templates/site/site.js"))),
        ("/playground.js", file(JAVASCRIPT, include_str!("../../templates/site/playground.js"))),
        ("/chart.js", file(JAVASCRIPT, include_str!("../../templates/site/chart.js"))),
    ]
}

/// Serves one text, which is made of the service's address and compressed at the first request.
fn made_once(
    media_type: &'static str,
    make: impl Fn(&str) -> String + Send + Sync + 'static,
) -> impl Endpoint<Output = Response> {
    let made = OnceLock::new();
    make_sync(move |request: Request| {
        let page =
            made.get_or_init(|| StaticPage::new(media_type, POLICY, make(&base_url(&request))));
        page.respond(&request)
    })
}

/// Serves a page for each operation that `make` has one for. A page is made at its first request.
fn pages_of_operations(
    make: fn(&'static operation::DescribedOperation, &str) -> Option<String>,
) -> impl Endpoint<Output = Response> {
    let made: LazyLock<HashMap<&str, OnceLock<Option<StaticPage>>>> = LazyLock::new(|| {
        operation::all().iter().map(|operation| (&*operation.id, OnceLock::new())).collect()
    });
    make_sync(move |request: Request| {
        let id = request.raw_path_param("operation").unwrap_or_default();
        let page = operation::find(id).zip(made.get(id)).and_then(|(operation, made)| {
            let make = || make(operation, &base_url(&request));
            made.get_or_init(|| make().map(|html| StaticPage::new(HTML, POLICY, html))).as_ref()
        });
        match page {
            Some(page) => page.respond(&request),
            None => ApiError::NotFound.into_response(Surface::Account),
        }
    })
}

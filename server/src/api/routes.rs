//! The list of every route of the service.

use std::{collections::HashMap, sync::Arc};

use poem::{EndpointExt, Route, endpoint::BoxEndpoint};
use poem_openapi::OpenApi as _;

use super::{
    batch, batch_catalogue, console,
    documented::{self, Api},
    mcp::{self, Gateway},
    oauth, openapi,
    ops::metrics,
    pages, receipts, site,
};
use crate::http::Methods;

/// The path of the public keys of receipts.
const RECEIPT_KEYS: &str = "/.well-known/quant-receipts.json";

/// All routes: the documented operations, the pages, OAuth, the operator's pages and MCP.
///
/// # Panics
///
/// Panics where the router has a path or a method that the document does not describe.
#[must_use]
pub fn routes(gateway: &Arc<Gateway>) -> Route {
    let mut table = HashMap::new();
    Api::default().add_routes(&mut table);
    let mut described: HashMap<_, _> = documented::operations()
        .iter()
        .map(|operation| {
            ((operation.router_path.clone(), operation.method.clone()), operation.route.clone())
        })
        .collect();
    let mut route = Route::new();
    for (path, methods) in table {
        let methods = methods.into_iter().map(|(method, endpoint)| {
            let matched = described.remove(&(path.clone(), method.clone()));
            let matched = matched.expect("the document describes every operation");
            // The endpoint of batches cannot know the routes, of which it is one.
            let endpoint = if *matched.path == *batch::PATH {
                endpoint.data(batch_catalogue::CATALOGUE.clone()).boxed()
            } else {
                endpoint
            };
            (method, (matched, endpoint))
        });
        let methods = Methods::documented(methods.collect());
        route = route.at(path, methods);
    }
    for (path, endpoint) in undocumented(gateway) {
        route = route.at(path, endpoint);
    }
    route
}

/// Returns the routes that the OpenAPI document does not describe, by their paths.
pub(crate) fn undocumented(gateway: &Arc<Gateway>) -> Vec<(&'static str, BoxEndpoint<'static>)> {
    let forms = oauth::routes().into_iter().chain(pages::routes()).chain(console::routes());
    let forms = forms.map(|(path, methods)| (path, Methods::of(path, methods).boxed()));
    let pages = site::routes().into_iter().chain([
        ("/openapi.json", openapi::endpoint().boxed()),
        (RECEIPT_KEYS, receipts::keys().boxed()),
        ("/metrics", metrics::endpoint().boxed()),
    ]);
    let pages = pages.map(|(path, page)| (path, Methods::page(path, page).boxed()));
    forms.chain(pages).chain(mcp::routes(gateway)).collect()
}

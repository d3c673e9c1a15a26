//! Every route in one list: the table of contents.

use std::{collections::HashMap, sync::Arc};

use poem::{
    Endpoint, Request, Response, Result, Route,
    endpoint::BoxEndpoint,
    http::{HeaderValue, Method},
};
use poem_openapi::{OpenApi, registry::MetaApi};

use crate::{
    account, document,
    health::Health,
    http::{Call, Refusal, Surface},
    operations::{self, Operation},
    quantlib, reference,
};

/// Everything that the generated document describes.
pub type Api = (
    (
        quantlib::economics::Economics,
        quantlib::portfolio::Portfolio,
        quantlib::pricing::Pricing,
        quantlib::numerical::Numerical,
        quantlib::regulatory::Regulatory,
        quantlib::entropy::Entropy,
        quantlib::instruments::Instruments,
        quantlib::curves::Curves,
        quantlib::time::Time,
    ),
    (
        account::key::Keys,
        account::registration::Registration,
        account::sign_in::SignIn,
        account::guest::Guests,
        account::profile::Profiles,
    ),
    Health,
);

/// The API's handlers.
#[must_use]
pub fn api() -> Api {
    (
        (
            quantlib::economics::Economics,
            quantlib::portfolio::Portfolio,
            quantlib::pricing::Pricing,
            quantlib::numerical::Numerical,
            quantlib::regulatory::Regulatory,
            quantlib::entropy::Entropy,
            quantlib::instruments::Instruments,
            quantlib::curves::Curves,
            quantlib::time::Time,
        ),
        (
            account::key::Keys,
            account::registration::Registration,
            account::sign_in::SignIn,
            account::guest::Guests,
            account::profile::Profiles,
        ),
        Health,
    )
}

/// All routes: the API, and the pages about it.
#[must_use]
pub fn routes() -> Route {
    let mut table = HashMap::new();
    api().add_routes(&mut table);
    let ids = operation_ids(Api::meta());
    let mut route = Route::new();
    for (path, methods) in table {
        let path = Arc::from(path);
        route = route.at(&*Arc::clone(&path), Methods::new(&path, methods, &ids));
    }
    route.at("/openapi.json", document::endpoint()).nest_no_strip("/docs", reference::endpoint())
}

/// Which route took a request.
#[derive(Clone)]
pub struct Matched {
    /// The path as the route table has it.
    pub path: Arc<str>,
    /// The line of the table of tiers and costs, where the operation is metered.
    pub operation: Option<&'static Operation>,
}

/// The operation id of each method of each path.
fn operation_ids(apis: Vec<MetaApi>) -> HashMap<(String, Method), &'static str> {
    let paths = apis.into_iter().flat_map(|api| api.paths);
    let operations = paths.flat_map(|path| {
        // The document writes `{id}` where the routes write `:id`.
        let name = path.path.replace('{', ":").replace('}', "");
        path.operations.into_iter().map(move |operation| {
            let id = operation.operation_id.expect("every operation has an id");
            ((name.clone(), operation.method), id)
        })
    });
    operations.collect()
}

/// The methods of one path; another one is told which there are.
struct Methods {
    methods: HashMap<Method, (Matched, BoxEndpoint<'static>)>,
    allow: HeaderValue,
}

impl Methods {
    fn new(
        path: &Arc<str>,
        methods: HashMap<Method, BoxEndpoint<'static>>,
        ids: &HashMap<(String, Method), &'static str>,
    ) -> Self {
        let mut names: Vec<_> = methods.keys().map(Method::to_string).collect();
        names.sort_unstable();
        let allow = names.join(", ").parse().expect("method names make a header");
        let matched = |method: &Method| {
            let operation =
                ids.get(&(path.to_string(), method.clone())).and_then(|id| operations::find(id));
            Matched { path: path.clone(), operation }
        };
        let methods = methods
            .into_iter()
            .map(|(method, endpoint)| (method.clone(), (matched(&method), endpoint)))
            .collect();
        Self { methods, allow }
    }
}

impl Endpoint for Methods {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let Some((matched, endpoint)) = self.methods.get(request.method()) else {
            let refusal = Refusal::MethodNotAllowed { allow: self.allow.clone() };
            return Ok(refusal.into_response(Surface::Account));
        };
        Call::of(&request).set_matched(matched.clone());
        endpoint.call(request).await
    }
}

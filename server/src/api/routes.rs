//! Every route in one list: the table of contents.

use std::{collections::HashMap, sync::Arc};

use poem::{
    Endpoint, EndpointExt, Request, Response, Result, Route,
    endpoint::BoxEndpoint,
    http::{HeaderValue, Method},
};
use poem_openapi::{OpenApi, registry::MetaApi};

use crate::{
    api::{
        account,
        mcp::Gateway,
        oauth, openapi,
        ops::{docs_ui, health::Health, metrics},
        pages, quantlib,
    },
    http::{ApiError, RequestContext, Surface, query::Parameter},
    operations::{self, Operation},
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
        account::password::Passwords,
        account::second_factor::SecondFactor,
        account::session::Sessions,
        account::usage::Usages,
        account::history::Histories,
        account::deletion::Deletion,
    ),
    (
        account::subscription::Subscriptions,
        account::notification::Notifications,
        account::external_sign_in::IdentityProvider,
    ),
    Health,
);

/// All routes: the API, and the pages about it.
#[must_use]
pub fn routes() -> Route {
    let mut table = HashMap::new();
    Api::default().add_routes(&mut table);
    let described = described(Api::meta());
    let mut route = Route::new();
    for (path, methods) in table {
        let methods = Methods::new(&path, methods, &described);
        route = route.at(path, methods);
    }
    for (path, methods) in oauth::routes().into_iter().chain(pages::routes()) {
        route = route.at(path, Methods::of(path, methods));
    }
    route
        .at("/openapi.json", Methods::page("/openapi.json", openapi::endpoint().boxed()))
        .at("/metrics", Methods::page("/metrics", metrics::endpoint().boxed()))
        .at("/docs", Methods::page("/docs", docs_ui::endpoint().boxed()))
        .at("/docs/*file", Methods::page("/docs/*file", docs_ui::endpoint().boxed()))
}

/// All routes, and the gateway to them.
#[must_use]
pub fn with_gateway(gateway: Arc<Gateway>) -> Route {
    routes().at("/mcp", Any { matched: Matched::page("/mcp"), endpoint: gateway })
}

/// An endpoint that judges the method itself.
struct Any<E> {
    matched: Matched,
    endpoint: E,
}

impl<E: Endpoint<Output = Response>> Endpoint for Any<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        RequestContext::of(&request).set_matched(self.matched.clone());
        self.endpoint.call(request).await
    }
}

/// Which route took a request.
#[derive(Clone)]
pub struct Matched {
    /// The path as the document has it.
    pub path: Arc<str>,
    /// The line of the table of tiers and costs, where the operation is metered.
    pub operation: Option<&'static Operation>,
    /// Whether it takes a body.
    pub(crate) has_body: bool,
    /// The parameters of its query string.
    pub(crate) parameters: Arc<[Parameter]>,
}

impl Matched {
    /// A route that the document does not describe.
    fn page(path: &str) -> Self {
        let (operation, has_body, parameters) = (None, false, Arc::default());
        Self { path: path.into(), operation, has_body, parameters }
    }
}

/// What the document says of each method of each path.
fn described(apis: Vec<MetaApi>) -> HashMap<(String, Method), Matched> {
    let paths = apis.into_iter().flat_map(|api| api.paths);
    let operations = paths.flat_map(|path| {
        let route = route_of(&path.path);
        let name = path.path;
        path.operations.into_iter().map(move |operation| {
            let id = operation.operation_id.expect("every operation has an id");
            let parameters = operation.params.into_iter().filter_map(Parameter::from_description);
            let matched = Matched {
                path: name.as_str().into(),
                operation: operations::find(id),
                has_body: operation.request.is_some(),
                parameters: parameters.collect(),
            };
            ((route.clone(), operation.method), matched)
        })
    });
    operations.collect()
}

/// The route that poem-openapi makes of a path: parameters are counted, not named.
fn route_of(path: &str) -> String {
    let mut parameters = 0..;
    let segments = path.split('/').map(|segment| match segment.strip_prefix('{') {
        Some(_) => format!(":param{}", parameters.next().unwrap_or_default()),
        None => segment.to_owned(),
    });
    segments.collect::<Vec<_>>().join("/")
}

/// The methods of one path; another one is told which there are.
struct Methods {
    methods: HashMap<Method, (Matched, BoxEndpoint<'static>)>,
    allow: HeaderValue,
}

impl Methods {
    /// A page that is read.
    fn page(path: &str, endpoint: BoxEndpoint<'static>) -> Self {
        Self::of(path, [(Method::GET, endpoint)])
    }

    /// Methods that the document does not tell of.
    fn of(path: &str, methods: impl IntoIterator<Item = (Method, BoxEndpoint<'static>)>) -> Self {
        let matched = Matched::page(path);
        let methods = methods.into_iter();
        let methods = methods.map(|(method, endpoint)| (method, (matched.clone(), endpoint)));
        let methods: HashMap<_, _> = methods.collect();
        Self { allow: allowed(methods.keys()), methods }
    }

    fn new(
        path: &str,
        methods: HashMap<Method, BoxEndpoint<'static>>,
        described: &HashMap<(String, Method), Matched>,
    ) -> Self {
        let allow = allowed(methods.keys());
        let methods = methods.into_iter().map(|(method, endpoint)| {
            let matched = described[&(path.to_owned(), method.clone())].clone();
            (method, (matched, endpoint))
        });
        Self { methods: methods.collect(), allow }
    }
}

/// The header `Allow`; what can be read can be asked for its headers alone.
fn allowed<'a>(methods: impl Iterator<Item = &'a Method>) -> HeaderValue {
    let mut names: Vec<&str> = methods.map(Method::as_str).collect();
    if names.contains(&"GET") {
        names.push("HEAD");
    }
    names.sort_unstable();
    names.join(", ").parse().expect("method names make a header")
}

impl Endpoint for Methods {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        // Whoever asks for the headers alone gets those of the page; its body is left out below.
        let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
        let Some((matched, endpoint)) = self.methods.get(method) else {
            let refusal = ApiError::MethodNotAllowed { allow: self.allow.clone() };
            return Ok(refusal.into_response(Surface::Account));
        };
        RequestContext::of(&request).set_matched(matched.clone());
        endpoint.call(request).await
    }
}

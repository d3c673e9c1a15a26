//! The endpoint of one route: chooses by method, adds the context, and concludes the request.

use std::{collections::HashMap, panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt as _;
use poem::{
    Endpoint, Error, Request, Response, Result,
    endpoint::{BoxEndpoint, make_sync},
    http::{HeaderValue, Method, header},
};

use super::{
    context::{RequestContext, RequestHead},
    cors,
    error::{ApiError, Surface},
    pipeline,
    route::MatchedRoute,
};

/// The methods of one path; another method is refused with those that there are.
pub(crate) struct Methods {
    methods: HashMap<Method, (Arc<MatchedRoute>, BoxEndpoint<'static>)>,
    allow: HeaderValue,
    /// True where pages of the website may call the path from their own origin.
    is_for_website: bool,
}

impl Methods {
    /// Makes the route of a page that is only read, by GET.
    pub(crate) fn page(path: &str, endpoint: BoxEndpoint<'static>) -> Self {
        Self::of(path, [(Method::GET, endpoint)])
    }

    /// Makes the route of methods that the OpenAPI document does not describe.
    pub(crate) fn of(
        path: &str,
        methods: impl IntoIterator<Item = (Method, BoxEndpoint<'static>)>,
    ) -> Self {
        let route = Arc::new(MatchedRoute::undocumented(path));
        let methods = methods.into_iter();
        let methods = methods.map(|(method, endpoint)| (method, (route.clone(), endpoint)));
        let methods: HashMap<_, _> = methods.collect();
        Self { allow: allowed(methods.keys()), methods, is_for_website: false }
    }

    /// Documented methods with the route of each, which the pages of the website may call too.
    pub(crate) fn documented(
        methods: HashMap<Method, (Arc<MatchedRoute>, BoxEndpoint<'static>)>,
    ) -> Self {
        Self { allow: allowed(methods.keys()), methods, is_for_website: true }
    }

    /// The route that a page of the website asks about in a preflight request.
    fn preflighted(&self, request: &Request) -> Option<&Arc<MatchedRoute>> {
        if request.method() != Method::OPTIONS {
            return None;
        }
        let asked = request.header(header::ACCESS_CONTROL_REQUEST_METHOD)?.parse().ok()?;
        self.methods.get::<Method>(&asked).map(|(route, _)| route)
    }
}

impl Endpoint for Methods {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let head = request.data::<Arc<RequestHead>>().expect("the pipeline adds the head");
        let website = cors::website_origin(&request, head).filter(|_| self.is_for_website);
        if let Some(origin) = &website
            && let Some(route) = self.preflighted(&request)
        {
            let preflight = make_sync(|_| cors::preflight(origin.clone(), self.allow.clone()));
            return Ok(answer(route, &preflight, request).await);
        }
        // A request for the headers alone gets those of the page; the listener drops the body.
        let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
        let Some((route, endpoint)) = self.methods.get(method) else {
            let refusal = ApiError::MethodNotAllowed { allow: self.allow.clone() };
            return Err(Error::from_response(refusal.into_response(Surface::Account)));
        };
        let mut response = answer(route, endpoint, request).await;
        if let Some(origin) = website {
            cors::expose(response.headers_mut(), origin);
        }
        Ok(response)
    }
}

/// An endpoint that checks the method itself.
pub(crate) struct AnyMethod<E> {
    route: Arc<MatchedRoute>,
    endpoint: E,
}

impl<E> AnyMethod<E> {
    /// Serves every method of `path` by `endpoint`.
    pub(crate) fn new(path: &str, endpoint: E) -> Self {
        Self { route: Arc::new(MatchedRoute::undocumented(path)), endpoint }
    }
}

impl<E: Endpoint<Output = Response>> Endpoint for AnyMethod<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        Ok(answer(&self.route, &self.endpoint, request).await)
    }
}

/// Calls the endpoint of a route. Every failure becomes an answer, and the request is concluded.
async fn answer<E: Endpoint<Output = Response>>(
    route: &Arc<MatchedRoute>,
    endpoint: &E,
    mut request: Request,
) -> Response {
    let head = request.data::<Arc<RequestHead>>().expect("the pipeline adds the head").clone();
    let context = RequestContext::routed(head, route.clone());
    request.set_data(context.clone());
    let mut response = match AssertUnwindSafe(endpoint.call(request)).catch_unwind().await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => pipeline::refusal(error, &context),
        // The panic hook has logged the place; this line names the request.
        Err(_) => {
            tracing::error!(request_id = %context.id, "a request panicked");
            ApiError::Internal.into_response(context.surface)
        }
    };
    context.finish(&mut response);
    response
}

/// The header `Allow`; a page that can be read can be asked for its headers alone.
fn allowed<'a>(methods: impl Iterator<Item = &'a Method>) -> HeaderValue {
    let mut names: Vec<&str> = methods.map(Method::as_str).collect();
    if names.contains(&"GET") {
        names.push("HEAD");
    }
    names.sort_unstable();
    names.join(", ").parse().expect("method names make a header")
}

//! The OAuth 2.1 server: clients get tokens for the MCP endpoint, and nothing else.
//!
//! Every address in an answer comes from the configuration, never from a request's `Host`. The
//! routes are not in the generated document, which describes calls with an API key: clients find
//! the routes by the metadata that this server publishes.

use poem::{EndpointExt, endpoint::BoxEndpoint, http::Method};

use crate::api::browser::{
    oidc_flow::RETURN_PATH,
    page::{PageRoute, anonymous_page, answering},
    sign_in_page,
};

mod answers;
mod applications;
mod authorize;
mod clients;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod metadata;
mod provider_sign_in;
mod register;
mod token;

pub use metadata::challenge;

/// Returns the routes of the server and of its pages.
pub(crate) fn routes() -> Vec<PageRoute> {
    // Endpoints for clients, which may be pages of any website.
    let open = |path, method: Method, endpoint: BoxEndpoint<'static>| -> PageRoute {
        let preflight = answers::preflight(&method).boxed();
        (path, vec![(method, endpoint), (Method::OPTIONS, preflight)])
    };
    let resource = |path| open(path, Method::GET, metadata::resource().boxed());
    let server = metadata::server().boxed();
    vec![
        resource(metadata::RESOURCE_METADATA),
        resource("/.well-known/oauth-protected-resource"),
        open("/.well-known/oauth-authorization-server", Method::GET, server),
        open("/oauth/register", Method::POST, answering(register::register)),
        open("/oauth/token", Method::POST, answering(token::token)),
        open("/oauth/revoke", Method::POST, answering(token::revoke)),
        ("/oauth/authorize", vec![(Method::GET, anonymous_page(authorize::ask))]),
        ("/oauth/sign-in", vec![(Method::POST, anonymous_page(sign_in_page::sign_in))]),
        (sign_in_page::PROVIDER_PATH, vec![(Method::GET, anonymous_page(provider_sign_in::leave))]),
        (RETURN_PATH, vec![(Method::GET, anonymous_page(provider_sign_in::come_back))]),
        ("/oauth/consent", vec![(Method::POST, anonymous_page(authorize::decide))]),
        (
            "/account/applications",
            vec![
                (Method::GET, anonymous_page(applications::show)),
                (Method::POST, anonymous_page(applications::change)),
            ],
        ),
    ]
}

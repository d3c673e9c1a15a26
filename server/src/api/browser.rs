//! Parts that all endpoints for browsers share: pages, sealed forms, cookies, and the sign-in by an
//! identity provider.

pub(crate) mod client_cookie;
pub(crate) mod oidc_flow;
pub(crate) mod page;
pub(crate) mod sealed_form;
pub(crate) mod session;
pub(crate) mod sign_in_page;

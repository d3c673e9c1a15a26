//! The pages of a sign-in by the identity provider, where the operator has no website for them.

use poem::{Endpoint, EndpointExt, Response, endpoint::BoxEndpoint, http::Method};

use crate::{
    api::browser::page::{PageRoute, anonymous_page, stylesheet},
    http::{ApiError, RequestContext},
};

mod complete_profile;
mod login;

/// Returns the routes of the pages, and of the stylesheet of all pages.
pub(crate) fn routes() -> Vec<PageRoute> {
    let page = |path, show: BoxEndpoint<'static>, take: BoxEndpoint<'static>| {
        let methods = vec![(Method::GET, show), (Method::POST, take)];
        let hidden = |(method, page)| (method, unless_elsewhere(page).boxed());
        (path, methods.into_iter().map(hidden).collect())
    };
    vec![
        page("/login", anonymous_page(login::show), anonymous_page(login::sign_in)),
        page(
            "/complete-profile",
            anonymous_page(complete_profile::show),
            anonymous_page(complete_profile::complete),
        ),
        (
            "/pages.css",
            vec![(
                Method::GET,
                stylesheet(concat!(
                    include_str!("../../templates/theme.css"),
                    include_str!("../../templates/pages/pages.css")
                )),
            )],
        ),
    ]
}

/// Answers 404 in place of a page that the operator's website has.
fn unless_elsewhere(page: BoxEndpoint<'static>) -> impl Endpoint<Output = Response> {
    page.around(|page, request| async move {
        let call = RequestContext::of(&request).clone();
        if call.state.settings.website_url.is_some() {
            return Ok(ApiError::NotFound.into_response(call.surface));
        }
        page.call(request).await
    })
}

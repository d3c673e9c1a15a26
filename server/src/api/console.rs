//! The console at `/console`: an account in the browser, by the rules of the API.
//!
//! The pages need no script. A browser that is not signed in gets the sign-in form of the OAuth pages
//! and comes back; the session is one like any other. Every form is sealed for its browser and account.

use account_core::Error;
use poem::{Request, Response, endpoint::BoxEndpoint, http::Method};

use self::visit::{FormOutcome, Notice, STEP, View, Visit, finish, told};
use super::browser::{
    page::{self, PageRoute, anonymous_page, stylesheet},
    sealed_form::{self, Browser},
    session, sign_in_page,
};
use crate::http::{Anonymous, form::Form};

mod activity;
mod chart;
mod databases;
mod email_address;
mod notifications;
mod overview;
mod recovery;
mod registration;
mod security;
mod sessions;
mod visit;

/// Returns the routes of the console.
pub(super) fn routes() -> Vec<PageRoute> {
    let mut routes: Vec<PageRoute> = View::ALL
        .into_iter()
        .map(|view| {
            let show = anonymous_page(move |anonymous, request| show(view, anonymous, request));
            let change = anonymous_page(move |anonymous, request| change(view, anonymous, request));
            (view.path(), vec![(Method::GET, show), (Method::POST, change)])
        })
        .collect();
    let form = |path, show: BoxEndpoint<'static>, take: BoxEndpoint<'static>| -> PageRoute {
        (path, vec![(Method::GET, show), (Method::POST, take)])
    };
    routes.extend([
        form(
            registration::PATH,
            anonymous_page(registration::show),
            anonymous_page(registration::register),
        ),
        ("/console/verify", vec![(Method::POST, anonymous_page(registration::verify))]),
        form(recovery::PATH, anonymous_page(recovery::show), anonymous_page(recovery::request)),
        ("/console/reset", vec![(Method::POST, anonymous_page(recovery::reset))]),
        (
            "/console/console.css",
            vec![(Method::GET, stylesheet(include_str!("../../templates/console/console.css")))],
        ),
    ]);
    routes
}

async fn show(view: View, anonymous: Anonymous, request: Request) -> Response {
    let browser = Browser::of(&request, &anonymous.context().state.settings);
    match session::signed_in(&request, anonymous.context()).await {
        Ok(Some((token, account))) => {
            let visit = Visit { anonymous, browser, token, account };
            let shown = show_view(view, &visit, None).await;
            finish(&visit.anonymous, &visit.browser, shown)
        }
        Ok(None) => {
            let form = sign_in_page::form(anonymous.context(), &browser, view.path(), None);
            finish(&anonymous, &browser, Ok(form))
        }
        Err(error) => page::failed(anonymous.context(), &error),
    }
}

async fn change(view: View, anonymous: Anonymous, mut request: Request) -> Response {
    let call = anonymous.context();
    let Some((form, fields)) = sealed_form::returned(&mut request, call, STEP).await else {
        return page::expired();
    };
    let browser = Browser::of(&request, &call.state.settings);
    let (token, account) = match session::signed_in(&request, call).await {
        Ok(Some((token, account))) if fields["account"] == account.0 => (token, account),
        Ok(_) => return page::expired(),
        Err(error) => return page::failed(call, &error),
    };
    let visit = Visit { anonymous, browser, token, account };
    let shown = match change_view(view, &visit, &form).await {
        Ok(FormOutcome::Leave(response)) => return response,
        Ok(FormOutcome::Again(notice)) => show_view(view, &visit, Some(notice)).await,
        Err(error) => match told(&error) {
            Some(text) => show_view(view, &visit, Some(Notice::fault(text))).await,
            None => Err(error),
        },
    };
    finish(&visit.anonymous, &visit.browser, shown)
}

/// Shows a page.
async fn show_view(view: View, visit: &Visit, notice: Option<Notice>) -> Result<Response, Error> {
    match view {
        View::Overview => overview::show(visit).await,
        View::Activity => activity::show(visit).await,
        View::Notifications => notifications::show(visit, notice).await,
        View::Databases => databases::show(visit, notice).await,
        View::Security => security::show(visit, notice).await,
    }
}

/// Applies a form of a page.
async fn change_view(view: View, visit: &Visit, form: &Form) -> Result<FormOutcome, Error> {
    match view {
        View::Notifications => notifications::change(visit, form).await,
        View::Databases => databases::change(visit, form).await,
        View::Security => security::change(visit, form).await,
        // These pages have no form.
        View::Overview | View::Activity => Ok(FormOutcome::Leave(page::expired())),
    }
}

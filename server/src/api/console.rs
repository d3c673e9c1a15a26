//! The console at `/console`: an account in the browser, by the rules of the API.
//!
//! The pages need no script. A browser that is not signed in gets the sign-in form of the OAuth pages
//! and comes back; the session is one like any other. Every form is sealed for its browser and account.

use account_core::{AccountId, Error, SessionToken};
use poem::{
    EndpointExt, Request, Response,
    endpoint::{BoxEndpoint, make},
    http::{Method, StatusCode},
};
use serde_json::json;

use super::browser::{
    page::{self, PageRoute, anonymous_page},
    sealed_form::{self, Browser},
    session, sign_in_page,
};
use crate::http::{Anonymous, RequestContext, form::Form};

mod activity;
mod chart;
mod notifications;
mod overview;
mod recovery;
mod registration;
mod security;

/// The step that the sealed forms of the console name.
const STEP: &str = "console";

/// A page of the console for an account that is signed in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    /// Balance, tier, limit, and usage as charts.
    Overview,
    /// Sign-ins and movements of credits.
    Activity,
    /// The inbox and its preferences.
    Notifications,
    /// The key, the password, the second factor, sessions, the end of the account.
    Security,
}

impl View {
    const ALL: [Self; 4] = [Self::Overview, Self::Activity, Self::Notifications, Self::Security];

    const fn path(self) -> &'static str {
        match self {
            Self::Overview => "/console",
            Self::Activity => "/console/activity",
            Self::Notifications => "/console/notifications",
            Self::Security => "/console/security",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Activity => "Activity",
            Self::Notifications => "Notifications",
            Self::Security => "Security",
        }
    }

    async fn show(self, visit: &Visit, notice: Option<Notice>) -> Result<Response, Error> {
        match self {
            Self::Overview => overview::show(visit).await,
            Self::Activity => activity::show(visit).await,
            Self::Notifications => notifications::show(visit, notice).await,
            Self::Security => security::show(visit, notice).await,
        }
    }

    async fn change(self, visit: &Visit, form: &Form) -> Result<FormOutcome, Error> {
        match self {
            Self::Notifications => notifications::change(visit, form).await,
            Self::Security => security::change(visit, form).await,
            // These pages have no form.
            Self::Overview | Self::Activity => Ok(FormOutcome::Leave(page::expired())),
        }
    }
}

/// A person who is signed in.
struct Visit {
    anonymous: Anonymous,
    browser: Browser,
    token: SessionToken,
    account: AccountId,
}

impl Visit {
    fn call(&self) -> &RequestContext {
        self.anonymous.context()
    }

    /// Seals a form of the console for this browser and account.
    fn form(&self) -> String {
        let fields = json!({ "step": STEP, "account": self.account.0 });
        self.browser.seal(self.call(), sealed_form::object(fields))
    }

    /// The frame of a page.
    fn frame(&self, view: View, notice: Option<Notice>) -> Frame {
        Frame { views: View::ALL.map(|other| (other, other == view)).to_vec(), notice }
    }
}

/// The parts that all pages share.
struct Frame {
    /// Every page, and true for the one that is shown.
    views: Vec<(View, bool)>,
    notice: Option<Notice>,
}

/// The result of a form, in words.
struct Notice {
    text: String,
    is_fault: bool,
}

impl Notice {
    fn done(text: &str) -> Self {
        Self { text: text.to_owned(), is_fault: false }
    }

    fn fault(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_fault: true }
    }
}

/// The end of a form: the same page with a notice, or another answer.
enum FormOutcome {
    Again(Notice),
    Leave(Response),
}

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
        ("/console/console.css", vec![(Method::GET, make(|_| async { stylesheet() }).boxed())]),
    ]);
    routes
}

fn stylesheet() -> Response {
    Response::builder()
        .content_type("text/css; charset=utf-8")
        .header("cache-control", "public, max-age=3600")
        .header("x-content-type-options", "nosniff")
        .body(include_str!("../../templates/console/console.css"))
}

async fn show(view: View, anonymous: Anonymous, request: Request) -> Response {
    let browser = Browser::of(&request, &anonymous.context().state.settings);
    match session::signed_in(&request, anonymous.context()).await {
        Ok(Some((token, account))) => {
            let visit = Visit { anonymous, browser, token, account };
            let shown = view.show(&visit, None).await;
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
    let shown = match view.change(&visit, &form).await {
        Ok(FormOutcome::Leave(response)) => return response,
        Ok(FormOutcome::Again(notice)) => view.show(&visit, Some(notice)).await,
        Err(error) => match told(&error) {
            Some(text) => view.show(&visit, Some(Notice::fault(text))).await,
            None => Err(error),
        },
    };
    finish(&visit.anonymous, &visit.browser, shown)
}

fn finish(anonymous: &Anonymous, browser: &Browser, shown: Result<Response, Error>) -> Response {
    let call = anonymous.context();
    let mut response = shown.unwrap_or_else(|error| page::failed(call, &error));
    browser.remember(&mut response, &call.state.settings);
    response
}

/// Returns the text for a person whose form is refused; `None` for an error of the service.
fn told(error: &Error) -> Option<String> {
    Some(match error {
        Error::Invalid { requirement, .. } => match error.field() {
            Some("password" | "new_password") => format!("The password must be {requirement}."),
            Some("username") => format!("The user name must be {requirement}."),
            Some("email") => format!("The e-mail address must be {requirement}."),
            _ => format!("{error}."),
        },
        Error::UsernameTaken => "Another account has this user name.".to_owned(),
        Error::WrongConfirmation => "The password is wrong.".to_owned(),
        Error::WrongCode => "The code is wrong or has expired.".to_owned(),
        Error::Suspended => "The key of this account is suspended. Ask the operator.".to_owned(),
        Error::Locked { .. } => {
            let minutes = account_core::lockout::LOCK.num_minutes();
            format!("Too many wrong passwords. Try again in {minutes} minutes.")
        }
        _ => return None,
    })
}

/// The status of a page that is shown again with a notice.
fn status(notice: Option<&Notice>) -> StatusCode {
    match notice {
        Some(notice) if notice.is_fault => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

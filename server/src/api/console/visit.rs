//! A person who is signed in, and the parts that the pages of the console share.

use account_core::{AccountId, Error, SessionToken, Timestamp};
use askama::Template;
use poem::{Response, http::StatusCode};
use serde_json::json;

use crate::{
    api::browser::{
        page,
        sealed_form::{self, Browser},
        session,
        sign_in_page::WRONG_CODE,
    },
    http::{Anonymous, RequestContext},
};

/// The step that the sealed forms of the console name.
pub(super) const STEP: &str = "console";

/// The heading of the page after a change of the password.
pub(super) const PASSWORD_CHANGED: &str = "The password is changed";
/// The text of that page.
pub(super) const SIGN_IN_AGAIN: &str = "All sessions have ended. Sign in with the new password.";

/// A page of the console for an account that is signed in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// Balance, tier, limit, and usage as charts.
    Overview,
    /// Sign-ins and movements of credits.
    Activity,
    /// The inbox and its preferences.
    Notifications,
    /// The databases, and the subscriptions to them.
    Databases,
    /// The key, the password, the e-mail address, the second factor, sessions, the end of the
    /// account.
    Security,
}

impl View {
    pub(super) const ALL: [Self; 5] =
        [Self::Overview, Self::Activity, Self::Notifications, Self::Databases, Self::Security];

    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Overview => "/console",
            Self::Activity => "/console/activity",
            Self::Notifications => "/console/notifications",
            Self::Databases => "/console/databases",
            Self::Security => "/console/security",
        }
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Activity => "Activity",
            Self::Notifications => "Notifications",
            Self::Databases => "Databases",
            Self::Security => "Security",
        }
    }
}

/// A person who is signed in.
pub(super) struct Visit {
    pub(super) anonymous: Anonymous,
    pub(super) browser: Browser,
    pub(super) token: SessionToken,
    pub(super) account: AccountId,
}

impl Visit {
    pub(super) fn call(&self) -> &RequestContext {
        self.anonymous.context()
    }

    /// Seals a form of the console for this browser and account.
    fn form(&self) -> String {
        let fields = json!({ "step": STEP, "account": self.account.0 });
        self.browser.seal(self.call(), sealed_form::object(fields))
    }

    /// The frame of a page.
    pub(super) fn frame(&self, view: View, notice: Option<Notice>) -> Frame {
        let views = View::ALL.map(|other| (other, other == view)).to_vec();
        Frame { views, notice, form: self.form() }
    }

    /// Removes the cookie of the session, and says why the visit has ended.
    pub(super) fn leave(&self, heading: &str, text: &str) -> Response {
        self.signed_out(leave_page(heading, text))
    }

    /// Removes the cookie of the session from the browser.
    pub(super) fn signed_out(&self, mut response: Response) -> Response {
        session::end(&mut response, &self.call().state.settings);
        response
    }
}

/// Writes a time in UTC to the minute, as the pages show it.
pub(super) fn minute(at: Timestamp) -> String {
    at.format("%Y-%m-%d %H:%M").to_string()
}

/// Shows a page that leads to the sign-in.
pub(super) fn leave_page(heading: &str, text: &str) -> Response {
    page::render(StatusCode::OK, &LeavePage { heading, text }, "")
}

#[derive(Template)]
#[template(path = "console/leave.html")]
struct LeavePage<'a> {
    heading: &'a str,
    text: &'a str,
}

/// The parts that all pages share.
pub(super) struct Frame {
    /// Every page, and true for the one that is shown.
    pub(super) views: Vec<(View, bool)>,
    pub(super) notice: Option<Notice>,
    /// The sealed value that every form of the page returns, that of the sign-out too.
    pub(super) form: String,
}

/// The result of a form, in words.
pub(super) struct Notice {
    pub(super) text: String,
    pub(super) is_fault: bool,
}

impl Notice {
    pub(super) fn done(text: &str) -> Self {
        Self { text: text.to_owned(), is_fault: false }
    }

    pub(super) fn fault(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_fault: true }
    }
}

/// The end of a form: the same page with a notice, or another answer.
pub(super) enum FormOutcome {
    Again(Notice),
    Leave(Response),
}

pub(super) fn finish(
    anonymous: &Anonymous,
    browser: &Browser,
    shown: Result<Response, Error>,
) -> Response {
    let call = anonymous.context();
    let mut response = shown.unwrap_or_else(|error| page::failed(call, &error));
    browser.remember(&mut response, &call.state.settings);
    response
}

/// Returns the text for a person whose form is refused; `None` for an error of the service.
pub(super) fn told(error: &Error) -> Option<String> {
    Some(match error {
        Error::Invalid { requirement, .. } => match error.field() {
            Some("password" | "new_password") => format!("The password must be {requirement}."),
            Some("username") => format!("The user name must be {requirement}."),
            Some("email" | "new_email") => format!("The e-mail address must be {requirement}."),
            Some("messaging_chat_id") => format!("The chat must be {requirement}."),
            _ => format!("{error}."),
        },
        Error::UsernameTaken => "Another account has this user name.".to_owned(),
        Error::EmailTaken => "Another account has this e-mail address.".to_owned(),
        Error::AlreadySubscribed => "The account has this subscription already.".to_owned(),
        Error::WrongConfirmation => "The password is wrong.".to_owned(),
        Error::WrongCode => WRONG_CODE.to_owned(),
        Error::Suspended => "The key of this account is suspended. Ask the operator.".to_owned(),
        Error::Locked { .. } => {
            let minutes = account_core::lockout::LOCK.num_minutes();
            format!("Too many wrong passwords. Try again in {minutes} minutes.")
        }
        _ => return None,
    })
}

/// The status of a page that is shown again with a notice.
pub(super) fn status(notice: Option<&Notice>) -> StatusCode {
    match notice {
        Some(notice) if notice.is_fault => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

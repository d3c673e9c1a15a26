//! The key, the password, the second factor, sessions, and the end of the account.

use account_core::{ApiKey, Confirmation, Email, Error, KeyStatus, Password};
use askama::Template;
use poem::{Response, http::StatusCode};

use super::visit::{FormOutcome, Frame, Notice, View, Visit, status};
use crate::{
    api::browser::{page, session},
    http::form::Form,
};

#[derive(Template)]
#[template(path = "console/security.html")]
struct Security {
    frame: Frame,
    email: String,
    /// The day on which the key was made.
    key_made: Option<String>,
    is_suspended: bool,
    has_second_factor: bool,
    sessions: u64,
}

/// The page of a new key, which is shown once.
#[derive(Template)]
#[template(path = "console/key.html")]
pub(super) struct KeyPage<'a> {
    pub(super) heading: &'a str,
    pub(super) api_key: &'a str,
    /// True where the session goes on.
    pub(super) is_signed_in: bool,
}

/// Shows the page.
pub(super) async fn show(visit: &Visit, notice: Option<Notice>) -> Result<Response, Error> {
    let (call, account) = (visit.call(), visit.account);
    let accounts = &call.state.accounts;
    let profile = accounts.profile(account).await?;
    let sessions = accounts.sessions(account, 1, 0, call.at).await?.total;
    let status = status(notice.as_ref());
    let shown = Security {
        frame: visit.frame(View::Security, notice),
        email: profile.email.as_str().to_owned(),
        key_made: profile.api_key_created_at.map(|at| at.format("%-d %B %Y").to_string()),
        is_suspended: profile.api_key_status == KeyStatus::Suspended,
        has_second_factor: profile.mfa_enabled,
        sessions,
    };
    Ok(page::render(status, &shown, ""))
}

/// Applies one of the page's forms.
pub(super) async fn change(visit: &Visit, form: &Form) -> Result<FormOutcome, Error> {
    let (call, account) = (visit.call(), visit.account);
    let accounts = &call.state.accounts;
    match form.field("action") {
        "regenerate" => {
            let key = accounts.regenerate_signed_in(account, call.at).await?;
            Ok(FormOutcome::Leave(new_key(visit, &key)))
        }
        "password" => change_password(visit, form).await,
        "second_factor_on" => {
            accounts.enable_mfa(account, call.at).await?;
            Ok(FormOutcome::Again(Notice::done("Each sign-in asks for a code from now on.")))
        }
        "second_factor_off" => {
            let password = Password::attempt(form.field("password"));
            accounts.disable_mfa(account, &password, call.at).await?;
            Ok(FormOutcome::Again(Notice::done("Sign-ins ask for no code any more.")))
        }
        "end_sessions" => {
            accounts.end_sessions(account, Some(&visit.token)).await?;
            Ok(FormOutcome::Again(Notice::done("All other sessions have ended.")))
        }
        "sign_out" => {
            accounts.logout(&visit.token, account).await?;
            Ok(FormOutcome::Leave(signed_out(visit, page::see_other("/"))))
        }
        "delete" => delete(visit, form).await,
        _ => Ok(FormOutcome::Leave(page::expired())),
    }
}

fn new_key(visit: &Visit, key: &ApiKey) -> Response {
    let shown =
        KeyPage { heading: "The key is replaced", api_key: key.expose(), is_signed_in: false };
    // A replaced key ends every session, this one too.
    signed_out(visit, page::render(StatusCode::OK, &shown, ""))
}

async fn change_password(visit: &Visit, form: &Form) -> Result<FormOutcome, Error> {
    let call = visit.call();
    let new = Password::choose_as("new_password", form.field("new_password"))?;
    let current = Password::attempt(form.field("password"));
    let client = visit.anonymous.client();
    let accounts = &call.state.accounts;
    accounts.change_password(visit.account, &current, &new, &client, call.at).await?;
    let told = page::message(
        StatusCode::OK,
        "The password is changed",
        "All sessions have ended. Sign in with the new password.",
    );
    Ok(FormOutcome::Leave(signed_out(visit, told)))
}

async fn delete(visit: &Visit, form: &Form) -> Result<FormOutcome, Error> {
    let call = visit.call();
    let confirmation = match (form.field("password"), Email::parse(form.field("email"))) {
        ("", Ok(email)) => Confirmation::Email(email),
        (password, _) => Confirmation::Password(Password::attempt(password)),
    };
    call.state.accounts.delete_account(visit.account, &confirmation, call.at).await?;
    let told = page::message(
        StatusCode::OK,
        "The account is deleted",
        "Its key and all sessions have ended.",
    );
    Ok(FormOutcome::Leave(signed_out(visit, told)))
}

/// Removes the cookie of the session from the browser.
fn signed_out(visit: &Visit, mut response: Response) -> Response {
    session::end(&mut response, &visit.call().state.settings);
    response
}

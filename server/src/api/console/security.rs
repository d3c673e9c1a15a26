//! The key, the password, the e-mail address, the second factor, sessions, and the end of the account.

use account_core::{ApiKey, Confirmation, Email, Error, KeyStatus, Password};
use askama::Template;
use poem::{Response, http::StatusCode};

use super::{
    email_address,
    sessions::{self, OpenSessions},
    visit::{FormOutcome, Frame, Notice, PASSWORD_CHANGED, SIGN_IN_AGAIN, View, Visit, status},
};
use crate::{api::browser::page, http::form::Form};

#[derive(Template)]
#[template(path = "console/security.html")]
struct Security {
    frame: Frame,
    email: String,
    /// The day on which the key was made.
    key_made: Option<String>,
    is_suspended: bool,
    has_second_factor: bool,
    sessions: OpenSessions,
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
    let accounts = &visit.call().state.accounts;
    let profile = accounts.profile(visit.account).await?;
    let sessions = sessions::open_sessions(visit).await?;
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
        "email" => email_address::request(visit, form).await,
        "confirm_email" => email_address::confirm(visit, form).await,
        "second_factor_on" => {
            accounts.enable_mfa(account, call.at).await?;
            Ok(FormOutcome::Again(Notice::done("Each sign-in asks for a code from now on.")))
        }
        "second_factor_off" => {
            let password = Password::attempt(form.field("password"));
            accounts.disable_mfa(account, &password, call.at).await?;
            Ok(FormOutcome::Again(Notice::done("Sign-ins ask for no code any more.")))
        }
        "end_session" => sessions::end_one(visit, form).await,
        "end_sessions" => sessions::end_others(visit).await,
        "sign_out_everywhere" => sessions::end_all(visit).await,
        "sign_out" => {
            accounts.logout(&visit.token, account).await?;
            Ok(FormOutcome::Leave(visit.signed_out(page::see_other("/"))))
        }
        "delete" => delete(visit, form).await,
        _ => Ok(FormOutcome::Leave(page::expired())),
    }
}

fn new_key(visit: &Visit, key: &ApiKey) -> Response {
    let shown =
        KeyPage { heading: "The key is replaced", api_key: key.expose(), is_signed_in: false };
    // A replaced key ends every session, this one too.
    visit.signed_out(page::render(StatusCode::OK, &shown, ""))
}

async fn change_password(visit: &Visit, form: &Form) -> Result<FormOutcome, Error> {
    let call = visit.call();
    let new = Password::choose_as("new_password", form.field("new_password"))?;
    let current = Password::attempt(form.field("password"));
    let client = visit.anonymous.client();
    let accounts = &call.state.accounts;
    accounts.change_password(visit.account, &current, &new, &client, call.at).await?;
    Ok(FormOutcome::Leave(visit.leave(PASSWORD_CHANGED, SIGN_IN_AGAIN)))
}

async fn delete(visit: &Visit, form: &Form) -> Result<FormOutcome, Error> {
    let call = visit.call();
    let confirmation = match (form.field("password"), Email::parse(form.field("email"))) {
        ("", Ok(email)) => Confirmation::Email(email),
        (password, _) => Confirmation::Password(Password::attempt(password)),
    };
    call.state.accounts.delete_account(visit.account, &confirmation, call.at).await?;
    let text = "Its key and all sessions have ended.";
    Ok(FormOutcome::Leave(visit.leave("The account is deleted", text)))
}

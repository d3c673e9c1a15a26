//! The change of the e-mail address: the password, then the codes from both mailboxes.

use account_core::{Code, Email, EmailChangeCodes, Error, Password};
use askama::Template;
use poem::Response;

use super::visit::{FormOutcome, Frame, Notice, View, Visit, status, told};
use crate::{api::browser::page, http::form::Form};

#[derive(Template)]
#[template(path = "console/email_code.html")]
struct EmailCode<'a> {
    frame: Frame,
    new_email: &'a str,
    /// The minutes for which the code is valid.
    minutes: i64,
    /// True where the present address got a code too.
    has_second_factor: bool,
}

/// Sends a code to the new address, and asks for the code; the page is the same for a taken address.
pub(super) async fn request(visit: &Visit, form: &Form) -> Result<FormOutcome, Error> {
    let call = visit.call();
    let to = Email::parse(form.field("new_email").trim())?;
    let password = Password::attempt(form.field("password"));
    let accounts = &call.state.accounts;
    accounts.request_email_change(visit.account, &password, &to, call.at).await?;
    Ok(FormOutcome::Leave(ask_code(visit, &to, None).await?))
}

async fn ask_code(visit: &Visit, to: &Email, notice: Option<Notice>) -> Result<Response, Error> {
    let profile = visit.call().state.accounts.profile(visit.account).await?;
    let status = status(notice.as_ref());
    let shown = EmailCode {
        frame: visit.frame(View::Security, notice),
        new_email: to.as_str(),
        minutes: account_core::code::VALIDITY.num_minutes(),
        has_second_factor: profile.mfa_enabled,
    };
    Ok(page::render(status, &shown, ""))
}

/// Takes the codes, which are valid for the address that they were sent for alone.
pub(super) async fn confirm(visit: &Visit, form: &Form) -> Result<FormOutcome, Error> {
    let to = Email::parse(form.field("new_email"))?;
    match confirmed(visit, &to, form).await {
        Ok(()) => Ok(FormOutcome::Again(Notice::done(
            "The e-mail address is changed. The former one was told how to undo this.",
        ))),
        Err(error) => match told(&error) {
            Some(text) => {
                Ok(FormOutcome::Leave(ask_code(visit, &to, Some(Notice::fault(text))).await?))
            }
            None => Err(error),
        },
    }
}

async fn confirmed(visit: &Visit, to: &Email, form: &Form) -> Result<(), Error> {
    let code = |name| Code::parse(form.field(name).trim()).map_err(|_| Error::WrongCode);
    let present = form.field("present_code");
    let codes = EmailChangeCodes {
        new: code("code")?,
        present: if present.is_empty() { None } else { Some(code("present_code")?) },
    };
    let (call, client) = (visit.call(), visit.anonymous.client());
    let accounts = &call.state.accounts;
    let kept = Some(&visit.token);
    accounts.confirm_email_change(visit.account, to, &codes, kept, &client, call.at).await
}

//! A forgotten password: the address, then the code from the e-mail with a new password.

use account_core::{Code, Email, Error, Password};
use askama::Template;
use poem::{Request, Response};
use serde_json::json;

use super::visit::{Notice, PASSWORD_CHANGED, SIGN_IN_AGAIN, finish, leave_page, status, told};
use crate::{
    api::{
        account::password::send_reset_code,
        browser::{
            page,
            sealed_form::{self, Browser},
        },
    },
    http::{Anonymous, RequestContext, form::Form},
};

/// The path of the form.
pub(super) const PATH: &str = "/console/forgot";
const STEP: &str = "forgot";
const CODE_STEP: &str = "reset";

#[derive(Template)]
#[template(path = "console/forgot.html")]
struct ForgotPage {
    notice: Option<Notice>,
    form: String,
}

#[derive(Template)]
#[template(path = "console/reset.html")]
struct ResetPage<'a> {
    notice: Option<Notice>,
    form: String,
    email: &'a str,
}

/// Asks for the address.
pub(super) async fn show(anonymous: Anonymous, request: Request) -> Response {
    let browser = Browser::of(&request, &anonymous.context().state.settings);
    let form = ask(anonymous.context(), &browser, None);
    finish(&anonymous, &browser, Ok(form))
}

fn ask(call: &RequestContext, browser: &Browser, notice: Option<Notice>) -> Response {
    let form = browser.seal(call, sealed_form::object(json!({ "step": STEP })));
    page::render(status(notice.as_ref()), &ForgotPage { notice, form }, "")
}

/// Sends a code, and asks for the code; the page is the same for every address.
pub(super) async fn request(anonymous: Anonymous, mut request: Request) -> Response {
    let call = anonymous.context();
    let Some((form, _)) = sealed_form::returned(&mut request, call, STEP).await else {
        return page::expired();
    };
    let browser = Browser::of(&request, &call.state.settings);
    let email = match Email::parse(form.field("email").trim()) {
        Ok(email) => email,
        Err(error) => return ask(call, &browser, told(&error).map(Notice::fault)),
    };
    if let Err(error) = send_reset_code(call, &email).await {
        return page::failed(call, &error);
    }
    ask_code(call, &browser, &email, None)
}

fn ask_code(
    call: &RequestContext,
    browser: &Browser,
    email: &Email,
    notice: Option<Notice>,
) -> Response {
    let fields = json!({ "step": CODE_STEP, "email": email.as_str() });
    let form = browser.seal(call, sealed_form::object(fields));
    page::render(status(notice.as_ref()), &ResetPage { notice, form, email: email.as_str() }, "")
}

/// Takes the code and the new password.
pub(super) async fn reset(anonymous: Anonymous, mut request: Request) -> Response {
    let call = anonymous.context();
    let Some((form, sealed)) = sealed_form::returned(&mut request, call, CODE_STEP).await else {
        return page::expired();
    };
    let Ok(email) = Email::parse(sealed["email"].as_str().unwrap_or_default()) else {
        return page::expired();
    };
    let browser = Browser::of(&request, &call.state.settings);
    match changed(&anonymous, &email, &form).await {
        Ok(()) => leave_page(PASSWORD_CHANGED, SIGN_IN_AGAIN),
        Err(error) => match told(&error) {
            Some(text) => ask_code(call, &browser, &email, Some(Notice::fault(text))),
            None => page::failed(call, &error),
        },
    }
}

async fn changed(anonymous: &Anonymous, email: &Email, form: &Form) -> Result<(), Error> {
    let call = anonymous.context();
    let password = Password::choose_as("new_password", form.field("new_password"))?;
    let code = Code::parse(form.field("code").trim()).map_err(|_| Error::WrongCode)?;
    let client = anonymous.client();
    call.state.accounts.reset_password(email, &code, &password, &client, call.at).await
}

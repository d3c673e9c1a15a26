//! The page of connected applications of the account that is signed in.

use account_core::oauth::{Grant, GrantId};
use account_core::{AccountId, Error, SessionToken, Timestamp};
use askama::Template;
use poem::{Request, Response, http::StatusCode};
use serde_json::json;

use crate::{
    api::browser::{
        page,
        sealed_form::{self, Browser},
        session, sign_in_page,
    },
    http::{Anonymous, RequestContext, form::Form},
};

const PATH: &str = "/account/applications";

#[derive(Template)]
#[template(path = "pages/applications.html")]
struct Applications<'a> {
    username: &'a str,
    email: &'a str,
    grants: Vec<Shown>,
    form: String,
}

/// A grant as texts for the page.
struct Shown {
    id: String,
    name: String,
    /// The website that describes the application, where one does.
    website: Option<String>,
    allowed: String,
    used: String,
}

impl Shown {
    fn new(grant: &Grant) -> Self {
        let day = |at: Timestamp| at.format("%-d %B %Y, %H:%M").to_string();
        Self {
            id: format!("{:032x}", grant.id.0),
            name: grant.client_name.as_str().to_owned(),
            website: grant.client.website(),
            allowed: day(grant.created_at),
            used: day(grant.last_used_at),
        }
    }
}

/// Shows the applications that have access.
pub(super) async fn show(anonymous: Anonymous, request: Request) -> Response {
    let call = anonymous.context();
    let browser = Browser::of(&request, &call.state.settings);
    let shown = match session::signed_in(&request, call).await {
        Ok(Some((_, account))) => list(call, &browser, account).await,
        Ok(None) => Ok(sign_in_page::form(call, &browser, PATH, None)),
        Err(error) => Err(error),
    };
    let mut response = shown.unwrap_or_else(|error| page::failed(call, &error));
    browser.remember(&mut response, &call.state.settings);
    response
}

async fn list(
    call: &RequestContext,
    browser: &Browser,
    account: AccountId,
) -> Result<Response, Error> {
    let accounts = &call.state.accounts;
    let profile = accounts.profile(account).await?;
    let grants = accounts.grants(account, call.at).await?;
    let fields = json!({ "step": "applications", "account": account.0 });
    let page = Applications {
        username: profile.username.as_str(),
        email: profile.email.as_str(),
        grants: grants.iter().map(Shown::new).collect(),
        form: browser.seal(call, sealed_form::object(fields)),
    };
    Ok(page::render(StatusCode::OK, &page, ""))
}

/// Disconnects an application, or signs out.
pub(super) async fn change(anonymous: Anonymous, mut request: Request) -> Response {
    let call = anonymous.context();
    let Some((form, fields)) = sealed_form::returned(&mut request, call, "applications").await
    else {
        return page::expired();
    };
    match session::signed_in(&request, call).await {
        Ok(Some((token, account))) if fields["account"] == account.0 => {
            let changed = apply(call, &form, &token, account).await;
            changed.unwrap_or_else(|error| page::failed(call, &error))
        }
        Ok(_) => page::expired(),
        Err(error) => page::failed(call, &error),
    }
}

async fn apply(
    call: &RequestContext,
    form: &Form,
    token: &SessionToken,
    account: AccountId,
) -> Result<Response, Error> {
    let accounts = &call.state.accounts;
    let mut response = page::see_other(PATH);
    if let Ok(Some(id)) = form.get("disconnect") {
        let Ok(id) = u128::from_str_radix(id, 16) else { return Ok(page::expired()) };
        // A grant that has ended meanwhile is disconnected already.
        accounts.end_grant(account, GrantId(id)).await?;
    } else if let Ok(Some(_)) = form.get("sign_out") {
        accounts.logout(token, account).await?;
        session::end(&mut response, &call.state.settings);
    }
    Ok(response)
}

//! The databases of the service, and the account's subscriptions to them.

use account_core::{Error, Subscription};
use askama::Template;
use poem::Response;

use super::visit::{FormOutcome, Frame, Notice, View, Visit, status};
use crate::{
    api::{account::subscription::is_offered, browser::page},
    http::form::Form,
};

#[derive(Template)]
#[template(path = "console/databases.html")]
struct Databases {
    frame: Frame,
    rows: Vec<DatabaseRow>,
}

struct DatabaseRow {
    name: String,
    /// The day on which the subscription began; `None` without a subscription.
    since: Option<String>,
    /// False for a database that the service no longer has.
    is_offered: bool,
}

/// Shows the page.
pub(super) async fn show(visit: &Visit, notice: Option<Notice>) -> Result<Response, Error> {
    let call = visit.call();
    let subscriptions = call.state.accounts.subscriptions(visit.account).await?;
    let status = status(notice.as_ref());
    let shown = Databases {
        frame: visit.frame(View::Databases, notice),
        rows: rows(&call.state.settings.databases, &subscriptions),
    };
    Ok(page::render(status, &shown, ""))
}

/// Lists the databases of the service, then those of the account's other subscriptions.
fn rows(offered: &[String], subscriptions: &[Subscription]) -> Vec<DatabaseRow> {
    let day = |found: &Subscription| found.subscribed_at.format("%-d %B %Y").to_string();
    let known = offered.iter().map(|name| {
        let found = subscriptions.iter().find(|found| found.database_name == *name);
        DatabaseRow { name: name.clone(), since: found.map(day), is_offered: true }
    });
    let others = subscriptions.iter().filter(|found| !offered.contains(&found.database_name));
    let others = others.map(|found| DatabaseRow {
        name: found.database_name.clone(),
        since: Some(day(found)),
        is_offered: false,
    });
    known.chain(others).collect()
}

/// Subscribes to a database, or ends a subscription.
pub(super) async fn change(visit: &Visit, form: &Form) -> Result<FormOutcome, Error> {
    let (call, account) = (visit.call(), visit.account);
    let accounts = &call.state.accounts;
    let subscribed = form.field("subscribe");
    if !subscribed.is_empty() {
        if !is_offered(call, subscribed) {
            let text = "The service has no such database.";
            return Ok(FormOutcome::Again(Notice::fault(text)));
        }
        accounts.subscribe(account, subscribed, call.at).await?;
        return Ok(FormOutcome::Again(Notice::done("The subscription has begun.")));
    }
    let ended = form.field("unsubscribe");
    if ended.is_empty() {
        return Ok(FormOutcome::Leave(page::expired()));
    }
    // A subscription that is gone meanwhile has ended already.
    match accounts.unsubscribe(account, ended).await {
        Ok(()) | Err(Error::NotFound) => {
            Ok(FormOutcome::Again(Notice::done("The subscription has ended.")))
        }
        Err(error) => Err(error),
    }
}

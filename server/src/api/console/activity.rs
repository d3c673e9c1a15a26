//! Sign-ins and movements of credits.

use account_core::Error;
use askama::Template;
use poem::{Response, http::StatusCode};

use super::visit::{Frame, View, Visit, minute};
use crate::api::browser::page;

/// The rows of each table.
const ROWS: u32 = 50;

#[derive(Template)]
#[template(path = "console/activity.html")]
struct Activity {
    frame: Frame,
    sign_ins: Vec<SignInRow>,
    movements: Vec<MovementRow>,
}

struct SignInRow {
    at: String,
    status: &'static str,
    method: &'static str,
    address: String,
    user_agent: String,
}

struct MovementRow {
    at: String,
    kind: String,
    credits: i64,
    balance: u64,
    description: String,
}

/// Shows the page.
pub(super) async fn show(visit: &Visit) -> Result<Response, Error> {
    let accounts = &visit.call().state.accounts;
    let history = accounts.login_history(visit.account, ROWS, 0).await?;
    let moved = accounts.transactions(visit.account, 1, ROWS).await?;
    let shown = Activity {
        frame: visit.frame(View::Activity, None),
        sign_ins: history
            .entries
            .into_iter()
            .map(|entry| SignInRow {
                at: minute(entry.at),
                status: entry.status.name(),
                method: entry.method.name(),
                address: entry.address.to_string(),
                user_agent: entry.user_agent,
            })
            .collect(),
        movements: moved
            .transactions
            .into_iter()
            .map(|entry| MovementRow {
                at: minute(entry.created_at),
                kind: entry.kind.name().replace('_', " "),
                credits: entry.credits,
                balance: entry.balance_after,
                description: entry.description,
            })
            .collect(),
    };
    Ok(page::render(StatusCode::OK, &shown, ""))
}

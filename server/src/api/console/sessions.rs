//! The list of the account's sessions, and their end.

use account_core::{Error, ListedSession, SessionId};

use super::visit::{FormOutcome, Notice, Visit, minute};
use crate::http::form::Form;

/// The sessions that the page lists.
const ROWS: u32 = 50;

/// The newest live sessions, and the number of all.
pub(super) struct OpenSessions {
    pub(super) rows: Vec<SessionRow>,
    pub(super) total: u64,
}

/// A session, as the page shows it; times are in UTC.
pub(super) struct SessionRow {
    pub(super) id: i64,
    pub(super) began: String,
    pub(super) used: String,
    pub(super) address: String,
    pub(super) user_agent: String,
    /// True for the session of the requesting browser.
    pub(super) is_current: bool,
}

/// Lists the sessions.
pub(super) async fn open_sessions(visit: &Visit) -> Result<OpenSessions, Error> {
    let call = visit.call();
    let accounts = &call.state.accounts;
    let page = accounts.sessions(visit.account, ROWS, 0, call.at).await?;
    let row = |listed: ListedSession| SessionRow {
        id: listed.id.0,
        began: minute(listed.session.created_at),
        used: minute(listed.session.last_used_at),
        address: listed.address.to_string(),
        is_current: accounts.is_session_of(&listed.session, &visit.token),
        user_agent: listed.user_agent,
    };
    Ok(OpenSessions { rows: page.sessions.into_iter().map(row).collect(), total: page.total })
}

/// Ends one session.
pub(super) async fn end_one(visit: &Visit, form: &Form) -> Result<FormOutcome, Error> {
    let id = form.field("id").parse().map_err(|_| Error::NotFound)?;
    // A session that is gone meanwhile has ended already.
    match visit.call().state.accounts.end_session(visit.account, SessionId(id)).await {
        Ok(()) | Err(Error::NotFound) => {
            Ok(FormOutcome::Again(Notice::done("The session has ended.")))
        }
        Err(error) => Err(error),
    }
}

/// Ends all sessions except that of the requesting browser.
pub(super) async fn end_others(visit: &Visit) -> Result<FormOutcome, Error> {
    let accounts = &visit.call().state.accounts;
    accounts.end_sessions(visit.account, Some(&visit.token)).await?;
    Ok(FormOutcome::Again(Notice::done("All other sessions have ended.")))
}

/// Ends all sessions.
pub(super) async fn end_all(visit: &Visit) -> Result<FormOutcome, Error> {
    visit.call().state.accounts.end_sessions(visit.account, None).await?;
    let text = "All sessions have ended, this one too. The API key stays valid.";
    Ok(FormOutcome::Leave(visit.leave("You are signed out everywhere", text)))
}

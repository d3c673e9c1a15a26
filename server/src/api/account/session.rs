//! Sessions: their validation, their list and their end.

use account_core as core;
use account_core::{ListedSession, SessionId};
use poem::{Error, Result, http::StatusCode};
use poem_openapi::{Object, OpenApi, types::Example};

use super::{
    errors::{refuse, refuse_by},
    fields::EXAMPLE_SECOND,
    registration::Message,
};
use crate::api::own_refusals::{GUEST, INVALID_SESSION, OwnRefusal, OwnRefusals, own};
use crate::http::{
    AccountHolder, Answer, ApiError, JsonString, Moment, Path, Query, RequestContext, Tag,
    json_string::moment,
};

/// The answer to the end of all sessions.
const SIGNED_OUT: &str = "The sessions have ended. The API key stays valid.";

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] = &[
    ("log_out", &[GUEST, INVALID_SESSION]),
    ("validate_session", &[GUEST, INVALID_SESSION]),
    ("pulse_session", &[GUEST, INVALID_SESSION]),
    ("list_sessions", &[GUEST, INVALID_SESSION]),
    ("end_session", &[GUEST, NO_SESSION]),
    ("end_sessions", &[GUEST, INVALID_SESSION]),
];

const NO_SESSION: OwnRefusal =
    own("no_such_session", "The account has no such session.", no_such_session);

/// The endpoints of sessions.
#[derive(Default)]
pub struct Sessions;

#[OpenApi(prefix_path = "/user", tag = "Tag::Sessions")]
impl Sessions {
    /// End the session.
    ///
    /// Ends the session of `X-Session-Token`; the key stays valid. Without the header there is no
    /// session to end, and the answer is the same. Not for guests.
    #[oai(path = "/logout", method = "post", operation_id = "log_out")]
    async fn log_out(&self, caller: AccountHolder) -> Result<Answer<Message>> {
        let call = caller.context();
        let account = caller.caller();
        if let Some(token) = caller.session() {
            let ended = call.state.accounts.logout(token, account.id).await;
            ended.map_err(|error| refuse(call, &error))?;
        }
        Ok(Answer::new(Message::new("Logged out.")))
    }

    /// Test whether the session is valid.
    ///
    /// False without `X-Session-Token`; an invalid token is answered with 401. Not for guests.
    #[oai(path = "/validate-session", method = "post", operation_id = "validate_session")]
    async fn validate(&self, caller: AccountHolder) -> Result<Answer<SessionState>> {
        Ok(Answer::new(SessionState { valid: caller.session().is_some() }))
    }

    /// Keep the session alive.
    ///
    /// 200 while the session of `X-Session-Token` is valid, 401 otherwise. Not for guests.
    #[oai(path = "/session-pulse", method = "get", operation_id = "pulse_session")]
    async fn pulse(&self, caller: AccountHolder) -> Result<Answer<SessionState>> {
        if caller.session().is_none() {
            let surface = caller.context().surface;
            return Err(Error::from_response(ApiError::Session.into_response(surface)));
        }
        Ok(Answer::new(SessionState { valid: true }))
    }

    /// List the account's sessions.
    ///
    /// The live sessions, newest first, with the client of each sign-in. `is_current` marks the
    /// session of `X-Session-Token`. Not for guests.
    #[oai(path = "/sessions", method = "get", operation_id = "list_sessions")]
    async fn list(
        &self,
        caller: AccountHolder,
        /// The number of sessions to return; 1 to 100.
        #[oai(default = "twenty", validator(minimum(value = "1"), maximum(value = "100")))]
        limit: Query<u32>,
        /// The number of sessions to skip.
        #[oai(default, validator(minimum(value = "0"), maximum(value = "1000000")))]
        offset: Query<u32>,
    ) -> Result<Answer<SessionList>> {
        let (context, account) = (caller.context(), caller.caller());
        let accounts = &context.state.accounts;
        let page = accounts.sessions(account.id, *limit, *offset, context.at).await;
        let page = page.map_err(|error| refuse(context, &error))?;
        let is_current = |listed: &ListedSession| {
            caller.session().is_some_and(|token| accounts.is_session_of(&listed.session, token))
        };
        let sessions = page.sessions.iter().map(|listed| Session::new(listed, is_current(listed)));
        Ok(Answer::new(SessionList { sessions: sessions.collect(), total: page.total }))
    }

    /// End one session.
    ///
    /// 404 for a number that is none of the account's sessions. Not for guests.
    #[oai(path = "/sessions/:session_id", method = "delete", operation_id = "end_session")]
    async fn end(
        &self,
        caller: AccountHolder,
        /// The session's number.
        session_id: Path<i64>,
    ) -> Result<Answer<Message>> {
        let (context, account) = (caller.context(), caller.caller());
        let ended = context.state.accounts.end_session(account.id, SessionId(*session_id)).await;
        ended.map_err(|error| refuse_session(context, &error))?;
        Ok(Answer::new(Message::new("The session has ended.")))
    }

    /// End all sessions.
    ///
    /// With `keep_current`, the session of `X-Session-Token` stays valid. Hand-off codes, unfinished
    /// second steps and pending changes of the e-mail address end too. The key and connected
    /// applications stay. Not for guests.
    #[oai(path = "/sessions", method = "delete", operation_id = "end_sessions")]
    async fn end_all(
        &self,
        caller: AccountHolder,
        /// True to keep the session of the call.
        #[oai(default)]
        keep_current: Query<bool>,
    ) -> Result<Answer<SessionsEnded>> {
        let (context, account) = (caller.context(), caller.caller());
        let kept = caller.session().filter(|_| *keep_current);
        let ended = context.state.accounts.end_sessions(account.id, kept).await;
        let ended = ended.map_err(|error| refuse(context, &error))?;
        Ok(Answer::new(SessionsEnded { ended, message: SIGNED_OUT.to_owned() }))
    }
}

fn twenty() -> u32 {
    20
}

/// Returns the answer to a failed end of a session: an absent session has a text of its own.
fn refuse_session(context: &RequestContext, error: &core::Error) -> Error {
    if !matches!(error, core::Error::NotFound) {
        return refuse(context, error);
    }
    refuse_by(context, no_such_session())
}

/// Makes the refusal of a session that the account does not have.
fn no_such_session() -> ApiError {
    let detail = "The account has no such session.";
    ApiError::account(StatusCode::NOT_FOUND, "No such session", detail)
}

/// The sessions of an account.
#[derive(Clone, Object)]
#[oai(rename = "SessionList", example)]
pub struct SessionList {
    /// The live sessions, newest first.
    pub sessions: Vec<Session>,
    /// The number of all live sessions.
    pub total: u64,
}

/// A live session.
#[derive(Clone, Object)]
#[oai(rename = "Session")]
pub struct Session {
    /// The session's number, for `DELETE /user/sessions/{session_id}`.
    pub id: i64,
    /// The address from which the session began.
    pub ip_address: String,
    /// The `User-Agent` of the client that began the session.
    pub user_agent: String,
    /// The time of the sign-in.
    pub created_at: Moment,
    /// The time of the last use; uses within a minute count as one.
    pub last_used_at: Moment,
    /// The end of the session without another use.
    pub expires_at: Moment,
    /// True for the session of `X-Session-Token`.
    pub is_current: bool,
}

impl Session {
    fn new(listed: &ListedSession, is_current: bool) -> Self {
        Self {
            id: listed.id.0,
            ip_address: listed.address.to_string(),
            user_agent: listed.user_agent.clone(),
            created_at: JsonString(listed.session.created_at),
            last_used_at: JsonString(listed.session.last_used_at),
            expires_at: JsonString(listed.session.expires_at()),
            is_current,
        }
    }
}

/// The end of sessions.
#[derive(Clone, Object)]
#[oai(rename = "SessionsEnded", example)]
pub struct SessionsEnded {
    /// The number of sessions that have ended.
    pub ended: u64,
    /// A text for people.
    pub message: String,
}

/// The validity of a session.
#[derive(Clone, Object)]
#[oai(rename = "SessionState", example)]
pub struct SessionState {
    /// True where the session of the token is valid.
    pub valid: bool,
}

impl Example for SessionState {
    fn example() -> Self {
        Self { valid: true }
    }
}

impl Example for SessionList {
    fn example() -> Self {
        let session = Session {
            id: 12,
            ip_address: "192.0.2.7".to_owned(),
            user_agent: "curl/8.5.0".to_owned(),
            created_at: moment(EXAMPLE_SECOND),
            last_used_at: moment(EXAMPLE_SECOND + 3_600),
            expires_at: moment(EXAMPLE_SECOND + 90_000),
            is_current: true,
        };
        Self { sessions: vec![session], total: 1 }
    }
}

impl Example for SessionsEnded {
    fn example() -> Self {
        Self { ended: 2, message: SIGNED_OUT.to_owned() }
    }
}

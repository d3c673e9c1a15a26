//! Sessions: their validation and their end.

use poem::{Error, Result};
use poem_openapi::{Object, OpenApi, types::Example};

use super::{errors::refuse, registration::Message};
use crate::http::{AccountHolder, Answer, ApiError, Tag};

/// The endpoints of sessions.
#[derive(Default)]
pub struct Sessions;

#[OpenApi(prefix_path = "/user", tag = "Tag::Account")]
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
            ended.map_err(|error| refuse(call, error))?;
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

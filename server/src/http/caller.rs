//! The guard: key, limit, tier and credits, judged in this order before anything is read.

mod guard;
mod idempotency;
mod metered;

use std::{net::IpAddr, sync::Arc, time::Duration};

use account_core::{AccountCaller, ApiKey, Caller, LimitDecision, ResultTemplate, SessionToken};
use poem::{Request, http::StatusCode};

use self::guard::{Guard, guards};
pub use self::metered::Metered;
use super::{ApiError, RequestContext};
use crate::auth::api_keys::LookupError;

/// A caller whom another door of this service has identified, as data of a request that the
/// service makes itself. No client can send such data.
#[derive(Clone)]
pub struct Identified {
    /// Who calls.
    pub caller: Caller,
    /// From where.
    pub address: IpAddr,
    /// What is to be kept of the answer, where that is metered.
    pub keep: Keep,
}

/// Makes of a call, its cost and the data of its answer what is kept of them, if anything is.
pub type Keep = Arc<dyn Fn(&RequestContext, u32, &str) -> Option<ResultTemplate> + Send + Sync>;

/// Who calls, with a valid key or identified by another door, within its limit.
pub struct Authenticated<Who = Caller> {
    call: Arc<RequestContext>,
    key: Option<ApiKey>,
    caller: Who,
    session: Option<SessionToken>,
}

/// An account with a valid key, within its limit. A guest is refused before anything else that it
/// sent is looked at.
pub type AccountHolder = Authenticated<AccountCaller>;

/// An administrator with a valid key, within the limit.
pub struct Administrator(AccountHolder);

guards!(Authenticated, AccountHolder, Administrator, Metered);

impl<Who> Authenticated<Who> {
    /// Who calls.
    #[must_use]
    pub fn caller(&self) -> &Who {
        &self.caller
    }

    /// The call that the caller makes.
    #[must_use]
    pub fn context(&self) -> &RequestContext {
        &self.call
    }

    /// The key that was sent, where one was.
    #[must_use]
    pub fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    /// The session that was sent with the key, valid.
    #[must_use]
    pub fn session(&self) -> Option<&SessionToken> {
        self.session.as_ref()
    }
}

impl Administrator {
    /// The call that the administrator makes.
    #[must_use]
    pub fn context(&self) -> &RequestContext {
        self.0.context()
    }
}

impl Guard for Authenticated {
    async fn judge(request: &Request) -> Result<Self, ApiError> {
        let call = RequestContext::of(request).clone();
        if let Some(Identified { caller, .. }) = request.data() {
            admit(&call, caller).await?;
            return Ok(Self { key: None, caller: caller.clone(), session: None, call });
        }
        let key = request.header("x-api-key").and_then(ApiKey::parse).ok_or(ApiError::Key)?;
        let caller = call.state.callers.identify(&call.state.accounts, &key, call.at).await;
        let caller = caller.map_err(|reason| match reason {
            LookupError::Unknown => ApiError::Key,
            LookupError::GuestExpired => ApiError::GuestKeyExpired,
            LookupError::Unavailable => ApiError::Busy { retry_after: Duration::from_secs(1) },
        })?;
        admit(&call, &caller).await?;
        let session = session(request, &call, &caller).await?;
        Ok(Self { call, key: Some(key), caller, session })
    }

    fn context(&self) -> &RequestContext {
        &self.call
    }
}

impl Guard for AccountHolder {
    async fn judge(request: &Request) -> Result<Self, ApiError> {
        let Authenticated { call, key, caller, session } =
            Authenticated::<Caller>::judge(request).await?;
        match caller {
            Caller::Account(caller) => Ok(Self { call, key, caller, session }),
            Caller::Guest(_) => Err(ApiError::GuestNotAllowed),
        }
    }

    fn context(&self) -> &RequestContext {
        &self.call
    }
}

impl Guard for Administrator {
    async fn judge(request: &Request) -> Result<Self, ApiError> {
        let owner = AccountHolder::judge(request).await?;
        if owner.caller.is_admin {
            return Ok(Self(owner));
        }
        Err(ApiError::Account {
            status: StatusCode::FORBIDDEN,
            message: "Admin access required",
            detail: "This needs an administrator's account.".to_owned(),
        })
    }

    fn context(&self) -> &RequestContext {
        self.0.context()
    }
}

/// A session token is checked wherever it is sent.
async fn session(
    request: &Request,
    call: &RequestContext,
    caller: &Caller,
) -> Result<Option<SessionToken>, ApiError> {
    let Some(text) = request.header("x-session-token") else { return Ok(None) };
    let (Some(token), Caller::Account(account)) = (SessionToken::parse(text), caller) else {
        return Err(ApiError::Session);
    };
    match Box::pin(call.state.accounts.session(&token, account.id, call.at)).await {
        Ok(true) => Ok(Some(token)),
        Ok(false) => Err(ApiError::Session),
        Err(error) => {
            tracing::error!(request_id = %call.id, %error, "no session could be read");
            Err(ApiError::Busy { retry_after: Duration::from_secs(1) })
        }
    }
}

/// Counts the call against the caller's limit.
async fn admit(call: &RequestContext, caller: &Caller) -> Result<(), ApiError> {
    let decision = call.state.limits.admit(caller, call.at).await;
    let unavailable = |_| ApiError::Busy { retry_after: Duration::from_secs(1) };
    match decision.map_err(unavailable)? {
        LimitDecision::Granted(limit_status) => {
            call.set_caller(caller.clone(), limit_status);
            Ok(())
        }
        LimitDecision::Refused { retry_after, limit_status } => {
            let limit = limit_status.limit;
            call.set_caller(caller.clone(), limit_status);
            // A guest's own day, or the day of all guests of its network.
            let guests = [1, call.state.settings.guests_per_network.get()];
            let is_day =
                |guests: u32| limit == account_core::tier::GUEST_DAILY_LIMIT.saturating_mul(guests);
            let daily = matches!(caller, Caller::Guest(_)) && guests.into_iter().any(is_day);
            let window = if daily { "day" } else { "hour" };
            Err(ApiError::RateLimit { limit, window, retry_after })
        }
    }
}

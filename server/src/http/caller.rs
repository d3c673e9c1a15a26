//! The guard: key, limit, tier and credits, judged in this order before anything is read.

mod guard;
mod metered;
mod repeats;

use std::{net::IpAddr, sync::Arc, time::Duration};

use account_core::{AccountCaller, Admission, ApiKey, Caller, Keepsake, SessionToken};
use poem::{Request, http::StatusCode};

use self::guard::{Guard, guards};
pub use self::metered::Metered;
use super::{Call, Refusal};
use crate::callers::Unidentified;

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
pub type Keep = Arc<dyn Fn(&Call, u32, &str) -> Option<Keepsake> + Send + Sync>;

/// Who calls, with a valid key or identified by another door, within its limit.
pub struct Keyed<Who = Caller> {
    call: Arc<Call>,
    key: Option<ApiKey>,
    caller: Who,
    session: Option<SessionToken>,
}

/// An account with a valid key, within its limit. A guest is refused before anything else that it
/// sent is looked at.
pub type Owner = Keyed<AccountCaller>;

/// An administrator with a valid key, within the limit.
pub struct Administrator(Owner);

guards!(Keyed, Owner, Administrator, Metered);

impl<Who> Keyed<Who> {
    /// Who calls.
    #[must_use]
    pub fn caller(&self) -> &Who {
        &self.caller
    }

    /// The call that the caller makes.
    #[must_use]
    pub fn call(&self) -> &Call {
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
    pub fn call(&self) -> &Call {
        self.0.call()
    }
}

impl Guard for Keyed {
    async fn judge(request: &Request) -> Result<Self, Refusal> {
        let call = Call::of(request).clone();
        if let Some(Identified { caller, .. }) = request.data() {
            admit(&call, caller).await?;
            return Ok(Self { key: None, caller: caller.clone(), session: None, call });
        }
        let key = request.header("x-api-key").and_then(ApiKey::parse).ok_or(Refusal::Key)?;
        let caller = call.service.callers.identify(&call.service.accounts, &key, call.at).await;
        let caller = caller.map_err(|reason| match reason {
            Unidentified::Unknown => Refusal::Key,
            Unidentified::GuestExpired => Refusal::GuestKeyExpired,
            Unidentified::Unavailable => Refusal::Busy { retry_after: Duration::from_secs(1) },
        })?;
        admit(&call, &caller).await?;
        let session = session(request, &call, &caller).await?;
        Ok(Self { call, key: Some(key), caller, session })
    }

    fn call(&self) -> &Call {
        &self.call
    }
}

impl Guard for Owner {
    async fn judge(request: &Request) -> Result<Self, Refusal> {
        let Keyed { call, key, caller, session } = Keyed::<Caller>::judge(request).await?;
        match caller {
            Caller::Account(caller) => Ok(Self { call, key, caller, session }),
            Caller::Guest(_) => Err(Refusal::GuestNotAllowed),
        }
    }

    fn call(&self) -> &Call {
        &self.call
    }
}

impl Guard for Administrator {
    async fn judge(request: &Request) -> Result<Self, Refusal> {
        let owner = Owner::judge(request).await?;
        if owner.caller.is_admin {
            return Ok(Self(owner));
        }
        Err(Refusal::Account {
            status: StatusCode::FORBIDDEN,
            message: "Admin access required",
            detail: "This needs an administrator's account.".to_owned(),
        })
    }

    fn call(&self) -> &Call {
        self.0.call()
    }
}

/// A session token is checked wherever it is sent.
async fn session(
    request: &Request,
    call: &Call,
    caller: &Caller,
) -> Result<Option<SessionToken>, Refusal> {
    let Some(text) = request.header("x-session-token") else { return Ok(None) };
    let (Some(token), Caller::Account(account)) = (SessionToken::parse(text), caller) else {
        return Err(Refusal::Session);
    };
    match Box::pin(call.service.accounts.session(&token, account.id, call.at)).await {
        Ok(true) => Ok(Some(token)),
        Ok(false) => Err(Refusal::Session),
        Err(error) => {
            tracing::error!(request_id = %call.id, %error, "no session could be read");
            Err(Refusal::Busy { retry_after: Duration::from_secs(1) })
        }
    }
}

/// Counts the call against the caller's limit.
async fn admit(call: &Call, caller: &Caller) -> Result<(), Refusal> {
    let admission = call.service.limits.admit(caller, call.at).await;
    let unavailable = |_| Refusal::Busy { retry_after: Duration::from_secs(1) };
    match admission.map_err(unavailable)? {
        Admission::Granted(standing) => {
            call.set_caller(caller.clone(), standing);
            Ok(())
        }
        Admission::Refused { retry_after, standing } => {
            let limit = standing.limit;
            call.set_caller(caller.clone(), standing);
            // A guest's own day, or the day of all guests of its network.
            let guests = [1, call.service.settings.guests_per_network.get()];
            let is_day =
                |guests: u32| limit == account_core::tier::GUEST_DAILY_LIMIT.saturating_mul(guests);
            let daily = matches!(caller, Caller::Guest(_)) && guests.into_iter().any(is_day);
            let window = if daily { "day" } else { "hour" };
            Err(Refusal::RateLimit { limit, window, retry_after })
        }
    }
}

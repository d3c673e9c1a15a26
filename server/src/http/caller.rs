//! Extractors of callers with an API key: identified, then counted, before the body is read.

mod admitted;
mod guard;
mod metered;

use std::sync::Arc;

use account_core::{AccountCaller, ApiKey, Caller, Client, SessionToken};
use poem::{Request, RequestBody, http::StatusCode};

use self::guard::{Guard, guards, identify, or_refuse, session};
pub use self::{
    admitted::{Admitted, LimitedBody},
    metered::Metered,
};
use super::{
    context::{RequestContext, stages::AuthorisedCall},
    error::ApiError,
    idempotency::repeat_key,
};

/// A caller with a valid key, within its limit.
pub struct Authenticated<Who = Caller> {
    context: Arc<RequestContext>,
    key: ApiKey,
    caller: Who,
    session: Option<SessionToken>,
}

/// An account with a valid key, within its limit. A guest is refused before its body is read.
pub type AccountHolder = Authenticated<AccountCaller>;

/// An administrator with a valid key, within the limit.
pub struct Administrator(AccountHolder);

guards!(Authenticated, AccountHolder, Administrator);

/// Checks everything that the head of a metered request decides, for an endpoint that reads the
/// body itself.
pub(super) async fn authorised(
    request: &Request,
    body: &mut RequestBody,
) -> poem::Result<Box<AuthorisedCall>> {
    or_refuse(request, body, authorise(request).await).await
}

/// Checks everything that the head of a metered request decides. A caller that prefers a quote is
/// refused neither by its tier nor by its balance, because the quote tells both.
async fn authorise(request: &Request) -> Result<Box<AuthorisedCall>, ApiError> {
    let (call, _) = identify(request).await?;
    session(request, call.context(), call.caller()).await?;
    if call.is_quote_preferred() {
        return Ok(call.for_quote());
    }
    call.authorise(repeat_key(request)).await
}

impl<Who> Authenticated<Who> {
    /// Returns the caller whom the key identifies.
    #[must_use]
    pub fn caller(&self) -> &Who {
        &self.caller
    }

    /// Returns the context of the request.
    #[must_use]
    pub fn context(&self) -> &RequestContext {
        &self.context
    }

    /// Returns the API key that was sent.
    #[must_use]
    pub fn key(&self) -> &ApiKey {
        &self.key
    }

    /// Returns the valid session token that was sent with the key; `None` where none was sent.
    #[must_use]
    pub fn session(&self) -> Option<&SessionToken> {
        self.session.as_ref()
    }
}

impl AccountHolder {
    /// Returns the client by its address alone: the account knows the client's network.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(self.context.address, None)
    }
}

impl Administrator {
    /// Returns the context of the request.
    #[must_use]
    pub fn context(&self) -> &RequestContext {
        self.0.context()
    }
}

impl Guard for Authenticated {
    async fn judge(request: &Request) -> Result<Self, ApiError> {
        let (call, key) = identify(request).await?;
        let session = session(request, call.context(), call.caller()).await?;
        let (context, caller) = call.into_parts();
        Ok(Self { context, key, caller, session })
    }
}

impl Guard for AccountHolder {
    async fn judge(request: &Request) -> Result<Self, ApiError> {
        let Authenticated { context, key, caller, session } =
            Authenticated::<Caller>::judge(request).await?;
        match caller {
            Caller::Account(caller) => Ok(Self { context, key, caller, session }),
            Caller::Guest(_) => Err(ApiError::GuestNotAllowed),
        }
    }
}

impl Guard for Administrator {
    async fn judge(request: &Request) -> Result<Self, ApiError> {
        let holder = AccountHolder::judge(request).await?;
        if holder.caller.is_admin {
            return Ok(Self(holder));
        }
        Err(not_an_administrator())
    }
}

/// Makes the refusal of an account that is no administrator's.
pub(crate) fn not_an_administrator() -> ApiError {
    let detail = "This needs an administrator's account.";
    ApiError::account(StatusCode::FORBIDDEN, "Admin access required", detail)
}

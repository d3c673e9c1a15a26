//! A caller without a key, limited by address.

use std::{ops::Deref, sync::Arc};

use account_core::{Client, ClientToken};
use poem::{Request, RequestBody, Result};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use super::{
    context::RequestContext,
    cookies::{self, cookie},
    error::ApiError,
};

/// The extractor of a request that needs no key: counts the call against the limit of its address,
/// and keeps what identifies the client.
pub struct Anonymous {
    context: Arc<RequestContext>,
    user_agent: Option<String>,
    client_token: Option<ClientToken>,
    idp_browser: Option<String>,
}

impl Anonymous {
    /// Returns the context of the request.
    #[must_use]
    pub fn context(&self) -> &RequestContext {
        &self.context
    }

    /// Returns the client as the login history records the client.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(self.context.address, self.user_agent.as_deref())
            .with_token(self.client_token.clone())
    }

    /// The cookie that binds a sign-in by the identity provider to this browser; `None` where the
    /// browser sent none.
    #[must_use]
    pub fn idp_browser(&self) -> Option<&str> {
        self.idp_browser.as_deref()
    }

    fn of(request: &Request) -> Self {
        let user_agent = request.header("user-agent").map(str::to_owned);
        let context = RequestContext::of(request).clone();
        let is_https = context.state.settings.is_https;
        let named = |name| cookie(request, &cookies::name(name, is_https));
        let client_token = named(cookies::CLIENT).and_then(ClientToken::parse);
        let idp_browser = named(cookies::IDP).map(str::to_owned);
        Self { context, user_agent, client_token, idp_browser }
    }

    /// Counts a request against the limit of its address.
    pub(crate) fn admitted(request: &Request) -> Result<Self, ApiError> {
        let anonymous = Self::of(request);
        anonymous.admit()?;
        Ok(anonymous)
    }

    /// Counts the request against the limit of its address.
    fn admit(&self) -> Result<(), ApiError> {
        let addresses = &self.context.state.addresses;
        addresses.admit(self.context.address).map_err(|retry_after| ApiError::RateLimit {
            limit: addresses.per_minute(),
            window: "minute and address",
            retry_after,
        })
    }
}

impl<'a> ApiExtractor<'a> for Anonymous {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::PoemExtractor];

    type ParamType = ();
    type ParamRawType = ();

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        Self::admitted(request).map_err(|refusal| refusal.into_error(request))
    }
}

/// A caller without a key and without a limit by address: a probe, or a request for a new password.
///
/// [`CodeRequests`](crate::limits::CodeRequests) bounds requests for a new password, without a
/// refusal.
pub struct UnlimitedAnonymous(Anonymous);

impl Deref for UnlimitedAnonymous {
    type Target = Anonymous;

    fn deref(&self) -> &Anonymous {
        &self.0
    }
}

impl<'a> ApiExtractor<'a> for UnlimitedAnonymous {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::PoemExtractor];

    type ParamType = ();
    type ParamRawType = ();

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        Ok(Self(Anonymous::of(request)))
    }
}

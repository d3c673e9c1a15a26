//! A caller without a key, limited by address.

use std::{ops::Deref, sync::Arc};

use account_core::{Client, ClientToken};
use poem::{Request, RequestBody, Result};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use super::{ApiError, RequestContext};
use crate::api::account::{CLIENT_COOKIE, external_sign_in as idp};

/// Someone without a key.
pub struct Anonymous {
    call: Arc<RequestContext>,
    user_agent: Option<String>,
    client_token: Option<ClientToken>,
    idp_browser: Option<String>,
}

impl Anonymous {
    /// The call that the visitor makes.
    #[must_use]
    pub fn context(&self) -> &RequestContext {
        &self.call
    }

    /// The visitor as the login history knows it.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(self.call.address, self.user_agent.as_deref())
            .with_token(self.client_token.clone())
    }

    /// What ties a sign-in by the identity provider to this browser.
    #[must_use]
    pub fn idp_browser(&self) -> Option<&str> {
        self.idp_browser.as_deref()
    }

    fn of(request: &Request) -> Self {
        let client_token = cookie(request, CLIENT_COOKIE).and_then(ClientToken::parse);
        let user_agent = request.header("user-agent").map(str::to_owned);
        let call = RequestContext::of(request).clone();
        let idp_cookie =
            if call.state.settings.is_https { idp::HOST_COOKIE } else { idp::COOKIE };
        let idp_browser = cookie(request, idp_cookie).map(str::to_owned);
        Self { call, user_agent, client_token, idp_browser }
    }

    /// Who sends a request, counted against the limit of its address.
    pub(crate) fn admitted(request: &Request) -> Result<Self, ApiError> {
        let anonymous = Self::of(request);
        anonymous.admit()?;
        Ok(anonymous)
    }

    /// Counts the visit against the limit of its address.
    fn admit(&self) -> Result<(), ApiError> {
        let addresses = &self.call.state.addresses;
        addresses.admit(self.call.address).map_err(|retry_after| ApiError::RateLimit {
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

/// A visitor whom no limit holds back: a probe, or who forgot a password and must be able to ask.
///
/// What the latter can do is bounded by the letters that an address is sent.
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

/// The value of a cookie of the request.
pub(crate) fn cookie<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let cookies = request.header("cookie")?.split(';');
    let mut pairs = cookies.filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}

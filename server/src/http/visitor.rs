//! A caller without a key, limited by address.

use std::sync::Arc;

use account_core::Client;
use poem::{Request, RequestBody, Result};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use super::{Call, Refusal};

/// Someone without a key.
pub struct Visitor {
    call: Arc<Call>,
    user_agent: Option<String>,
}

impl Visitor {
    /// The call that the visitor makes.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// The visitor as the login history knows it.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(self.call.address, self.user_agent.as_deref())
    }
}

impl<'a> ApiExtractor<'a> for Visitor {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::PoemExtractor];

    type ParamType = ();
    type ParamRawType = ();

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let call = Call::of(request).clone();
        if let Err(retry_after) = call.service.addresses.admit(call.address) {
            let limit = call.service.addresses.per_minute();
            let refusal = Refusal::RateLimit { limit, window: "minute and address", retry_after };
            return Err(refusal.into_error(request));
        }
        let user_agent = request.header("user-agent").map(str::to_owned);
        Ok(Self { call, user_agent })
    }
}

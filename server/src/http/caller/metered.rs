//! The extractor of a metered operation: caller and body in one, so that the order of both is fixed.

use poem::{Error, Request, RequestBody, Result};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaRequest, Registry},
};

use super::{
    super::{
        answer::Answer,
        answer_options::AnswerOptions,
        body,
        computation::Computation,
        context::stages::{AuthorisedCall, ParsedCall},
        error::ApiError,
    },
    authorise,
    guard::{SCHEME, or_refuse, register_scheme},
};
use crate::body_memory::HeldBytes;

/// An authorised call of a metered operation with its parsed body.
///
/// The caller is checked before the body is read, and the `Idempotency-Key` is claimed for the
/// bytes that were parsed. An endpoint cannot take the caller and the body apart, so that neither
/// a swapped order nor a missing digest can be written.
pub struct Metered<C> {
    call: ParsedCall<C>,
    /// The count of the body's bytes, given back after the computation: the arguments take the
    /// body's place in memory.
    held: HeldBytes,
}

impl<'a, C: Computation> ApiExtractor<'a> for Metered<C> {
    const TYPES: &'static [ApiExtractorType] =
        &[ApiExtractorType::SecurityScheme, ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        register_scheme(registry);
        C::register(registry);
    }

    fn security_schemes() -> Vec<&'static str> {
        vec![SCHEME]
    }

    fn request_meta() -> Option<MetaRequest> {
        // A computation without arguments is a `GET`, which has no body.
        C::IS_REQUIRED.then(body::described::<C>)
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let call = or_refuse(request, body, metered::<C>(request).await).await?;
        let context = call.context().clone();
        let limits = call.body_limits();
        let outcome = async {
            let received = body::read(request, body, &limits).await?;
            let handling = context.handling;
            body::parsed(&context, received, move |bytes| call.parse(bytes, handling)).await
        };
        let (call, held) = outcome.await.map_err(|refusal| refusal.into_error(request))?;
        Ok(Self { call, held })
    }
}

/// Checks everything that the head of the request decides, and reads the parts of the answer that
/// the request asks for.
async fn metered<C: Computation>(request: &Request) -> Result<AuthorisedCall, ApiError> {
    Ok(authorise(request).await?.with_options(AnswerOptions::of_query::<C>(request)?))
}

impl<C: Computation> Metered<C> {
    /// Computes, charges and answers; or answers with the quote that the caller prefers.
    ///
    /// # Errors
    ///
    /// The errors of [`ParsedCall::execute`].
    pub async fn run(self) -> Result<Answer<C::Answer>> {
        let Self { call, held } = self;
        let surface = call.context().surface;
        let answered = if call.context().is_quote_preferred {
            // Boxed, so that the future of the common call has no room for this rare case.
            Box::pin(call.quote()).await.map(|terms| Answer::from_data(&terms))
        } else {
            call.execute(None).await.map(Answer::from)
        };
        drop(held);
        answered.map_err(|refusal| Error::from_response(refusal.into_response(surface)))
    }
}

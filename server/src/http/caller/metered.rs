//! The extractor of a metered operation: caller and body in one, so that the order of both is fixed.

use std::marker::PhantomData;

use poem::{Error, Request, RequestBody, Result};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaRequest, Registry},
};

use super::{
    super::{
        answer::{Answer, AnswerParts, success},
        answer_options::AnswerOptions,
        body,
        computation::Computation,
        context::stages::{ChargedCall, ParsedCall},
        evaluation::Evaluator,
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
    call: MeteredCall,
    computation: PhantomData<fn() -> C>,
}

/// A metered call, without the type of its computation.
struct MeteredCall {
    call: ParsedCall,
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
        let call = MeteredCall::read(Evaluator::of::<C>(), request, body).await?;
        Ok(Self { call, computation: PhantomData })
    }
}

impl<C: Computation> Metered<C> {
    /// Computes, charges and answers; or answers with the quote that the caller prefers.
    ///
    /// # Errors
    ///
    /// The errors of [`ParsedCall::execute`].
    pub async fn run(self) -> Result<Answer<C::Answer>> {
        self.call.run().await.map(Answer::from_body)
    }
}

impl MeteredCall {
    /// Checks everything that the head of the request decides, then reads the parts of the answer
    /// that the request asks for, and the body.
    async fn read(evaluator: Evaluator, request: &Request, body: &mut RequestBody) -> Result<Self> {
        let authorised = async {
            let call = authorise(request).await?;
            let options = AnswerOptions::of_query(request, evaluator.has_further_fields)?;
            Ok(call.with_options(options))
        };
        let call = or_refuse(request, body, authorised.await).await?;
        let context = call.context().clone();
        let limits = call.body_limits();
        let outcome = async {
            let received = body::read(request, body, &limits).await?;
            let handling = context.handling;
            let parse = move |bytes: &[u8]| call.parse(evaluator, bytes, handling);
            body::parsed(&context, received, parse).await
        };
        let (call, held) = outcome.await.map_err(|refusal| refusal.into_error(request))?;
        Ok(Self { call, held })
    }

    /// Returns the body of the answer.
    async fn run(self) -> Result<String> {
        let Self { call, held } = self;
        let surface = call.context().surface;
        // Boxed: what an endpoint holds is moved several times on its way to its own box.
        let answered = if call.context().is_quote_preferred {
            Box::pin(call.quote()).await.map(|terms| success(&AnswerParts::new(terms)))
        } else {
            Box::pin(call.execute(None)).await.map(ChargedCall::into_body)
        };
        drop(held);
        answered.map_err(|refusal| Error::from_response(refusal.into_response(surface)))
    }
}

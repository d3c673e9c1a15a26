//! A request for columns, from its authorised caller to the answer.

use std::{io::Write as _, sync::Arc};

use account_core::idempotency::RequestDigest;
use flate2::{Compression, write::GzEncoder};
use futures_util::{StreamExt as _, stream};
use poem::{Endpoint, IntoResponse as _, Request, RequestBody, Response, Result, http::header};

use super::{
    super::{
        body,
        caller::authorised,
        context::{RequestContext, stages::AuthorisedCall},
        error::ApiError,
        static_page::takes,
        unknown_fields::UnknownFields,
    },
    input::{InputColumns, read_json},
    output::{self, OutputColumns, WrittenRows},
    plan::{FIELDS, Plan, max_rows},
    price::cost,
    rows::RowsFunction,
};
use crate::body_memory::HeldBytes;

/// The rows of one job of the compute pool: a few milliseconds of a closed form.
const ROWS_OF_A_JOB: usize = 16_384;
/// The jobs of one request that wait or run. The pool runs as many as there are cores.
const JOBS_AT_ONCE: usize = 16;
/// An answer below this size is sent as it is: its compression would save no packet.
const LEAST_COMPRESSED: usize = 1400;

/// The endpoint of the columns of one computation.
#[derive(Clone)]
pub(crate) struct ColumnsEndpoint {
    /// The credits of a single call.
    pub(crate) marker: u32,
    /// The fields.
    pub(crate) plan: Arc<Plan>,
    /// The computation of rows.
    pub(crate) rows: RowsFunction,
}

impl Endpoint for ColumnsEndpoint {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let (request, mut body) = request.split();
        let call = authorised(&request, &mut body).await?;
        let answered = self.answer(call, &request, &mut body).await;
        answered.map_err(|refusal| refusal.into_error(&request))
    }
}

impl ColumnsEndpoint {
    async fn answer(
        &self,
        call: AuthorisedCall,
        request: &Request,
        body: &mut RequestBody,
    ) -> std::result::Result<Response, ApiError> {
        let (context, limits) = (call.context().clone(), call.body_limits());
        let asked = self.asked(request)?;
        let most_rows = max_rows(asked.iter().filter(|is_asked| **is_asked).count());
        let received = body::read(request, body, &limits).await?;
        let (plan, reading, has_key) = (self.plan.clone(), context.clone(), call.has_key());
        let parse = move |bytes: &[u8]| {
            let mut unknown = UnknownFields::new(reading.handling);
            let input = read_json(&plan, bytes, most_rows, &mut unknown);
            reading.keep_unknown_fields(unknown);
            let digest = has_key.then(|| RequestDigest::of(bytes));
            Ok((input.map_err(ApiError::Faults)?, digest))
        };
        let ((input, digest), held) = body::parsed(&context, received, parse).await?;
        let (rows, marker) = (input.rows, self.marker);
        let accepted = request.header(header::ACCEPT_ENCODING).unwrap_or_default();
        let is_compressed = takes(accepted, "gzip");
        let work = self.compute(&context, input, asked, held, is_compressed);
        let out_of_credits = move |cost| ApiError::CreditsOfRows { cost, rows, marker };
        call.run_priced(cost(marker, rows), out_of_credits, digest, work).await
    }

    /// Returns for each column of the answer whether the request asks for it.
    fn asked(&self, request: &Request) -> std::result::Result<Vec<bool>, ApiError> {
        let pairs: Vec<(String, String)> = request.params().unwrap_or_default();
        let names = pairs.iter().find(|(name, _)| name == FIELDS).map(|(_, names)| names.as_str());
        self.plan.asked(names).map_err(|fault| ApiError::Faults(vec![fault]))
    }

    /// Computes the rows in the pool, and makes the answer with its cost. Jobs of a client that
    /// goes away are taken out of the queue of the pool.
    async fn compute(
        &self,
        context: &RequestContext,
        input: InputColumns,
        asked: Vec<bool>,
        mut held: HeldBytes,
        is_compressed: bool,
    ) -> std::result::Result<(Response, u32), ApiError> {
        let (pool, source) = (&context.state.compute_pool, held.source());
        let (rows, input, asked) = (input.rows, Arc::new(input), Arc::new(asked));
        let jobs = (0..rows).step_by(ROWS_OF_A_JOB).map(|start| {
            let (endpoint, input, asked) = (self.clone(), input.clone(), asked.clone());
            let end = rows.min(start + ROWS_OF_A_JOB);
            pool.run(source, move || {
                let mut output = OutputColumns::new(&endpoint.plan, &asked, end - start);
                (endpoint.rows)(&endpoint.plan, &input, start..end, &mut output);
                output.write()
            })
        });
        let mut jobs = stream::iter(jobs).buffered(JOBS_AT_ONCE);
        let mut blocks: Vec<WrittenRows> = Vec::new();
        while let Some(block) = jobs.next().await {
            let block = block?;
            held.grow(block.len()).map_err(|_| ApiError::busy())?;
            blocks.push(block);
        }
        drop(jobs);
        let refused: usize = blocks.iter().map(|block| block.faults.len()).sum();
        let plan = self.plan.clone();
        let response = pool.run(source, move || {
            let body = output::body(&plan, &asked, &blocks);
            drop(held);
            response("application/json", body.into_bytes(), is_compressed)
        });
        Ok((response.await?, cost(self.marker, rows - refused)))
    }
}

/// Makes the answer, compressed where the client asks for compression. The fastest level is chosen:
/// a better one takes several times longer than the computation.
fn response(media_type: &str, body: Vec<u8>, is_compressed: bool) -> Response {
    let response =
        Response::builder().content_type(media_type).header(header::VARY, "Accept-Encoding");
    if !is_compressed || body.len() < LEAST_COMPRESSED {
        return response.body(body);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    match encoder.write_all(&body).and_then(|()| encoder.finish()) {
        Ok(compressed) => response.header(header::CONTENT_ENCODING, "gzip").body(compressed),
        Err(_) => response.body(body),
    }
    .into_response()
}

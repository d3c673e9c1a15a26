//! A request for columns, from its authorised caller to the answer.

use std::{io::Write as _, ops::Range, sync::Arc};

use account_core::idempotency::RequestDigest;
use arrow_array::RecordBatch;
use flate2::{Compression, write::GzEncoder};
use futures_util::{StreamExt as _, stream};
use poem::{Endpoint, IntoResponse as _, Request, RequestBody, Response, Result, http::header};

use super::{
    super::{
        answer::Answer,
        body,
        caller::authorised,
        context::{RequestContext, stages::AuthorisedCall},
        error::ApiError,
        quote::PriceRule,
        static_page::takes,
        unknown_fields::UnknownFields,
    },
    arrow,
    input::{InputColumns, read_json},
    output::{self, JsonRows, OutputColumns},
    plan::{FIELDS, Plan, max_rows},
    price::cost,
    rows::RowsFunction,
};
use crate::body_memory::HeldBytes;

/// The rows of one job of the compute pool: a few milliseconds of a closed form.
pub(crate) const ROWS_OF_A_JOB: usize = 16_384;
/// The jobs of one request that wait or run. The pool runs as many as there are cores.
const JOBS_AT_ONCE: usize = 16;
/// An answer below this size is sent as it is: its compression would save no packet.
const LEAST_COMPRESSED: usize = 1400;

/// The form of a body or of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// JSON.
    Json,
    /// A stream of Apache Arrow.
    Arrow,
}

impl Format {
    /// The form of the body.
    fn sent(request: &Request) -> Self {
        if is_arrow(request.content_type()) { Self::Arrow } else { Self::Json }
    }

    /// The form of the answer: the first one that the header `Accept` names, or that of the body.
    fn asked(request: &Request) -> Self {
        let accepted = request.header(header::ACCEPT).unwrap_or_default();
        let mut types = accepted.split(',').filter_map(|item| item.split(';').next());
        let named = types.find_map(|name| match name.trim() {
            "application/json" => Some(Self::Json),
            arrow::MEDIA_TYPE => Some(Self::Arrow),
            _ => None,
        });
        named.unwrap_or_else(|| Self::sent(request))
    }
}

fn is_arrow(content_type: Option<&str>) -> bool {
    let name = content_type.and_then(|text| text.split(';').next()).unwrap_or_default();
    name.trim().eq_ignore_ascii_case(arrow::MEDIA_TYPE)
}

fn is_taken(content_type: Option<&str>) -> bool {
    is_arrow(content_type) || body::is_json(content_type)
}

/// Rows of the answer, written by a job.
enum WrittenRows {
    /// As JSON.
    Json(JsonRows),
    /// As a record batch.
    Arrow(RecordBatch),
}

impl WrittenRows {
    /// Returns the number of bytes.
    fn len(&self) -> usize {
        match self {
            Self::Json(rows) => rows.len(),
            Self::Arrow(batch) => batch.get_array_memory_size(),
        }
    }
}

/// The endpoint of the columns of one computation.
#[derive(Clone)]
pub(crate) struct ColumnsEndpoint {
    /// The credits of a single call.
    pub(crate) marker: u32,
    /// The fields.
    pub(crate) plan: Arc<Plan>,
    /// The computation of rows.
    pub(crate) rows: RowsFunction,
    /// The rows of one job of the compute pool, which is to take some milliseconds, so that the jobs
    /// of others do not wait long.
    pub(crate) rows_of_a_job: usize,
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
        call: Box<AuthorisedCall>,
        request: &Request,
        body: &mut RequestBody,
    ) -> std::result::Result<Response, ApiError> {
        let (context, limits) = (call.context().clone(), call.body_limits());
        let received = body::read_as(request, body, &limits, is_taken).await?;
        let asked = self.asked(request)?;
        let most_rows = max_rows(asked.iter().filter(|is_asked| **is_asked).count());
        let (sent, format) = (Format::sent(request), Format::asked(request));
        let (plan, reading, has_key) = (self.plan.clone(), context.clone(), call.has_key());
        let parse = move |bytes: &[u8]| {
            let mut unknown = UnknownFields::new(reading.handling);
            let input = match sent {
                Format::Json => read_json(&plan, bytes, most_rows, &mut unknown),
                Format::Arrow => arrow::read(&plan, bytes, most_rows, &mut unknown),
            };
            reading.keep_unknown_fields(unknown);
            let digest = has_key.then(|| RequestDigest::of(bytes));
            Ok((input.map_err(ApiError::Faults)?, digest))
        };
        let ((input, digest), held) = body::parsed(&context, received, parse).await?;
        let (rows, marker) = (input.rows, self.marker);
        if context.is_quote_preferred {
            let terms = call.quote(cost(marker, rows), PriceRule::Columns).await?;
            return Ok(Answer::<serde_json::Value>::from_data(&terms).into_response());
        }
        let accepted = request.header(header::ACCEPT_ENCODING).unwrap_or_default();
        let is_compressed = takes(accepted, "gzip");
        let work = self.compute(&context, input, Answered { asked, format, is_compressed }, held);
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
        answered: Answered,
        mut held: HeldBytes,
    ) -> std::result::Result<(Response, u32), ApiError> {
        let (pool, source) = (&context.state.compute_pool, held.source());
        let (rows, input, answered) = (input.rows, Arc::new(input), Arc::new(answered));
        let jobs = (0..rows).step_by(self.rows_of_a_job).map(|start| {
            let (endpoint, input, answered) = (self.clone(), input.clone(), answered.clone());
            let range = start..rows.min(start + self.rows_of_a_job);
            pool.run(source, move || endpoint.job(&input, &answered, range))
        });
        let mut jobs = stream::iter(jobs).buffered(JOBS_AT_ONCE);
        let (mut blocks, mut refused) = (Vec::new(), 0);
        while let Some(job) = jobs.next().await {
            let (block, refused_rows) = job??;
            held.grow(block.len()).map_err(|_| ApiError::busy())?;
            refused += refused_rows;
            blocks.push(block);
        }
        drop(jobs);
        let plan = self.plan.clone();
        let response = pool.run(source, move || {
            let response = answered.response(&plan, blocks);
            drop(held);
            response
        });
        Ok((response.await??, cost(self.marker, rows - refused)))
    }

    /// Computes and writes the rows of one job, and counts those that it refuses.
    fn job(
        &self,
        input: &InputColumns,
        answered: &Answered,
        range: Range<usize>,
    ) -> std::result::Result<(WrittenRows, usize), ApiError> {
        let (first, rows) = (range.start, range.len());
        let mut output = OutputColumns::new(&self.plan, &answered.asked, rows);
        (self.rows)(&self.plan, input, range, &mut output);
        let refused = output.faults.len();
        let written = match answered.format {
            Format::Json => WrittenRows::Json(output.write()),
            Format::Arrow => {
                let batch = arrow::batch(&self.plan, &answered.asked, output, first, rows);
                WrittenRows::Arrow(batch?)
            }
        };
        Ok((written, refused))
    }
}

/// The answer that a request asks for.
struct Answered {
    /// For each column of the answer whether the request asks for it.
    asked: Vec<bool>,
    format: Format,
    is_compressed: bool,
}

impl Answered {
    /// Makes the answer of all rows.
    fn response(
        &self,
        plan: &Plan,
        blocks: Vec<WrittenRows>,
    ) -> std::result::Result<Response, ApiError> {
        let (mut texts, mut batches) = (Vec::new(), Vec::new());
        for block in blocks {
            match block {
                WrittenRows::Json(rows) => texts.push(rows),
                WrittenRows::Arrow(batch) => batches.push(batch),
            }
        }
        let (media_type, body) = match self.format {
            Format::Json => {
                ("application/json", output::body(plan, &self.asked, &texts).into_bytes())
            }
            Format::Arrow => (arrow::MEDIA_TYPE, arrow::stream(plan, &self.asked, &batches)?),
        };
        Ok(response(media_type, body, self.is_compressed))
    }
}

/// Makes the answer, compressed where the client asks for compression. The fastest level is chosen:
/// a better one takes several times longer than the computation.
fn response(media_type: &str, body: Vec<u8>, is_compressed: bool) -> Response {
    let response = Response::builder()
        .content_type(media_type)
        .header(header::VARY, "Accept, Accept-Encoding");
    if !is_compressed || body.len() < LEAST_COMPRESSED {
        return response.body(body);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    match encoder.write_all(&body).and_then(|()| encoder.finish()) {
        Ok(compressed) => response.header(header::CONTENT_ENCODING, "gzip").body(compressed),
        Err(_) => response.body(body),
    }
}

//! The export of spans to an OpenTelemetry collector.
//!
//! Off unless `OTEL_EXPORTER_OTLP_ENDPOINT` names a collector; the variables of the OpenTelemetry
//! specification apply. A request is a span named by its route, with the spans of its computation, of the
//! charge and of each statement of the database below it. Where the export is off, no span is made.

use async_trait::async_trait;
use bytes::Bytes;
use opentelemetry::{
    propagation::TextMapPropagator as _,
    trace::{TraceContextExt as _, TracerProvider as _},
};
use opentelemetry_http::{HeaderExtractor, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    propagation::TraceContextPropagator,
    trace::{SdkTracer, SdkTracerProvider},
};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// The target of the service's own spans, by which a subscriber separates them from log lines.
pub const SPANS: &str = "quant_server::span";

/// The variable of the OpenTelemetry specification that turns the export on.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// The client of the collector: that of the other calls of the service, on the exporter's own thread.
#[derive(Debug)]
struct CollectorClient(reqwest::blocking::Client);

impl CollectorClient {
    /// Makes a client that follows no redirect, so that spans go to the named collector alone.
    fn new() -> reqwest::Result<Self> {
        let client = reqwest::blocking::Client::builder();
        Ok(Self(client.redirect(reqwest::redirect::Policy::none()).build()?))
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answer = self.0.execute(request.try_into()?)?;
        let response = Response::builder().status(answer.status());
        Ok(response.body(answer.bytes()?)?)
    }
}

/// A running export; it sends the last spans when it is closed.
pub struct SpanExport(SdkTracerProvider);

impl SpanExport {
    /// Begins to export; `None` where no collector is named.
    ///
    /// # Errors
    ///
    /// The variables of OpenTelemetry that name no usable exporter.
    pub fn start() -> Result<Option<Self>, Box<dyn std::error::Error + Send + Sync>> {
        if std::env::var_os(ENDPOINT).is_none_or(|endpoint| endpoint.is_empty()) {
            return Ok(None);
        }
        let exporter =
            SpanExporter::builder().with_http().with_http_client(CollectorClient::new()?);
        let exporter = exporter.build()?;
        // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
        let resource = match std::env::var_os("OTEL_SERVICE_NAME") {
            Some(_) => Resource::builder().build(),
            None => Resource::builder().with_service_name("quant-server").build(),
        };
        let provider = SdkTracerProvider::builder();
        let provider = provider.with_resource(resource).with_batch_exporter(exporter).build();
        Ok(Some(Self(provider)))
    }

    /// Returns the source of spans, for the subscriber.
    #[must_use]
    pub fn tracer(&self) -> SdkTracer {
        self.0.tracer("quant-server")
    }

    /// Sends the spans that wait.
    pub fn close(self) {
        if let Err(error) = self.0.shutdown() {
            tracing::warn!(%error, "the last spans were not exported");
        }
    }
}

/// Makes the span of a request, below that of the caller where the header `traceparent` names one.
pub fn request_span(request: &poem::Request, id: uuid::Uuid) -> Span {
    let span = tracing::info_span!(
        target: SPANS,
        "request",
        otel.kind = "server",
        otel.status_code = tracing::field::Empty,
        http.request.method = request.method().as_str(),
        http.route = tracing::field::Empty,
        http.response.status_code = tracing::field::Empty,
        request_id = %id,
    );
    if !span.is_disabled() {
        let caller = TraceContextPropagator::new().extract(&HeaderExtractor(request.headers()));
        if span.set_parent(caller).is_err() {
            tracing::debug!("the span of a request has no parent");
        }
    }
    span
}

/// Adds route and status to the span of the current request.
pub fn conclude_request(method: &str, route: &str, status: u16) {
    let span = Span::current();
    if span.is_disabled() {
        return;
    }
    // The span has begun, so that its name is changed where it is exported from.
    span.context().span().update_name(format!("{method} {route}"));
    span.record("http.route", route);
    span.record("http.response.status_code", status);
    if status >= 500 {
        span.record("otel.status_code", "ERROR");
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead as _, BufReader, Write as _},
        net::TcpListener,
        thread,
    };

    use super::*;

    #[test]
    fn the_exporter_follows_no_redirect() {
        let collector = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = collector.local_addr().expect("an address");
        let answering = thread::spawn(move || {
            let (mut connection, _) = collector.accept().expect("a request");
            let head = BufReader::new(&connection).lines().map(|line| line.expect("a line"));
            assert!(head.take_while(|line| !line.is_empty()).count() > 1, "a head");
            // Nothing listens at port 1, so that a followed redirect is an error.
            let answer = "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\n\
                          Content-Length: 0\r\nConnection: close\r\n\r\n";
            connection.write_all(answer.as_bytes()).expect("an answer");
        });
        let client = CollectorClient::new().expect("a client").0;
        let answer = client.post(format!("http://{address}/v1/traces")).send();
        answering.join().expect("the collector has answered");
        assert_eq!(answer.expect("the redirect itself").status(), 307);
    }
}

//! The metrics of the service, in the text format of Prometheus.
//!
//! Labels come from closed sets: the route table, methods, classes of status, kinds of refusal. No
//! caller, address or requested path is ever a label.

use std::time::Duration;

use poem::http::Method;
use prometheus::{
    Encoder, Gauge, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry, TextEncoder, core::Collector,
};

use crate::store::{OutboxLoad, Pool};

/// The type of the text that Prometheus reads: [`prometheus::TEXT_FORMAT`] with the character set
/// that the format requires.
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Upper bounds of the buckets of durations, in seconds: from a cached look-up to a long computation.
const SECONDS: [f64; 14] =
    [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];
/// Upper bounds of the histogram of batch sizes, in entries.
const ENTRIES: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
/// The label of a request that no route took.
const NO_ROUTE: &str = "none";

/// The metrics of a running service.
pub struct Metrics {
    registry: Registry,
    durations: HistogramVec,
    /// The gauge of open connections.
    pub connections: IntGauge,
    debits: IntCounter,
    credits: IntCounter,
    limit_refusals: IntCounterVec,
    dropped_code_requests: IntCounterVec,
    /// Entries that the ledger writer settled in one transaction.
    pub ledger_batches: Histogram,
    ledger_queue: IntGauge,
    compute_pool: IntGaugeVec,
    body_bytes: IntGauge,
    outbox: IntGaugeVec,
    pool: IntGaugeVec,
    store_up: Gauge,
    /// Whether the Redis that holds the limits answers: 1 or 0; no value where none is configured.
    redis_up: IntGaugeVec,
    draining: IntGauge,
}

/// The facts of one answered request, for the counters.
pub struct Observed<'a> {
    /// The path as the route table has it; `None` where no route took the request.
    pub route: Option<&'a str>,
    /// The HTTP method of the request.
    pub method: &'a Method,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The time from the head of the request to its answer.
    pub elapsed: Duration,
}

/// The state of the service at one moment, for the gauges.
pub struct Snapshot {
    /// The number of calls that wait for the ledger writer.
    pub ledger_queue: usize,
    /// The number of bytes of bodies that are not parsed yet.
    pub body_bytes: usize,
    /// Long computations that run, and those that wait.
    pub long_computations: (usize, usize),
    /// True if the service was told to stop.
    pub is_draining: bool,
    /// The connections to the database, by pool.
    pub pools: Vec<Pool>,
    /// True if the Redis of the limits answers; `None` without a Redis.
    pub is_redis_up: Option<bool>,
    /// The unsent e-mails and messages; `None` where the database does not answer.
    pub outbox: Option<OutboxLoad>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Returns metrics without a count.
    ///
    /// # Panics
    ///
    /// Panics where two metrics have one name, which a test would have found.
    #[must_use]
    pub fn new() -> Self {
        let registry = Registry::new();
        let histogram = |name: &str, help: &str| HistogramOpts::new(name, help);
        let durations = HistogramVec::new(
            histogram("http_server_request_duration_seconds", "Time to answer a request.")
                .buckets(SECONDS.to_vec()),
            &["route", "method", "status"],
        );
        let batches = Histogram::with_opts(
            histogram("quant_ledger_batch_entries", "Calls settled in one transaction.")
                .buckets(ENTRIES.to_vec()),
        );
        let metrics = Self {
            durations: kept(&registry, durations),
            connections: kept(&registry, gauge("http_server_connections", "Open connections.")),
            debits: kept(&registry, counter("quant_debits_total", "Metered calls that were paid.")),
            credits: kept(&registry, counter("quant_credits_taken_total", "Credits taken.")),
            limit_refusals: kept(
                &registry,
                IntCounterVec::new(
                    Opts::new("quant_limit_refusals_total", "Calls that a limit refused."),
                    &["limit"],
                ),
            ),
            dropped_code_requests: kept(
                &registry,
                IntCounterVec::new(
                    Opts::new(
                        "quant_dropped_code_requests_total",
                        "Requests for a code that were answered without work.",
                    ),
                    &["bound"],
                ),
            ),
            ledger_batches: kept(&registry, batches),
            ledger_queue: kept(
                &registry,
                gauge("quant_ledger_queue_entries", "Calls that wait for the ledger writer."),
            ),
            compute_pool: kept(
                &registry,
                gauges("quant_long_computations", "Long computations by state.", "state"),
            ),
            body_bytes: kept(
                &registry,
                gauge("quant_body_bytes", "Bytes of request bodies that are not parsed yet."),
            ),
            outbox: kept(
                &registry,
                gauges("quant_outbox_messages", "Messages not sent yet, by state.", "state"),
            ),
            pool: kept(
                &registry,
                IntGaugeVec::new(
                    Opts::new("quant_store_connections", "Connections to the database."),
                    &["pool", "state"],
                ),
            ),
            store_up: kept(
                &registry,
                Gauge::with_opts(Opts::new("quant_store_up", "1 where the database answers.")),
            ),
            redis_up: kept(
                &registry,
                IntGaugeVec::new(
                    Opts::new("quant_redis_up", "1 where the Redis of the limits answers."),
                    &[],
                ),
            ),
            draining: kept(
                &registry,
                gauge("quant_draining", "1 once the service was told to stop."),
            ),
            registry,
        };
        let build = Opts::new("quant_build_info", "Always 1; the label tells the version.");
        let build = build.const_label("version", env!("CARGO_PKG_VERSION"));
        kept(&metrics.registry, IntGauge::with_opts(build)).set(1);
        #[cfg(target_os = "linux")]
        register(&metrics.registry, prometheus::process_collector::ProcessCollector::for_self());
        metrics
    }

    /// Counts an answered request, with its status and duration.
    pub fn observe(&self, observed: &Observed<'_>) {
        let route = observed.route.unwrap_or(NO_ROUTE);
        let labels = [route, method_name(observed.method), class(observed.status)];
        self.durations.with_label_values(&labels).observe(observed.elapsed.as_secs_f64());
    }

    /// Counts a metered call that was paid.
    pub fn count_debit(&self, cost: u32) {
        self.debits.inc();
        self.credits.inc_by(u64::from(cost));
    }

    /// Counts a call that a limit refused: an account's, a guest's or an address's.
    pub fn count_limit_refusal(&self, whose: &'static str) {
        self.limit_refusals.with_label_values(&[whose]).inc();
    }

    /// Counts a request for a code for which nothing was done: the bound of its address or of the
    /// queue was reached.
    pub fn count_dropped_code_request(&self, bound: &'static str) {
        self.dropped_code_requests.with_label_values(&[bound]).inc();
    }

    /// Returns all metrics in the text format of Prometheus, after setting the gauges to `snapshot`.
    ///
    /// # Panics
    ///
    /// Panics where a metric cannot be written as text, which a test would have found.
    #[must_use]
    pub fn text(&self, snapshot: &Snapshot) -> Vec<u8> {
        self.set_gauges(snapshot);
        let mut text = Vec::new();
        TextEncoder::new()
            .encode(&self.registry.gather(), &mut text)
            .expect("metrics have a name and a value");
        text
    }

    fn set_gauges(&self, snapshot: &Snapshot) {
        let set =
            |gauge: &IntGauge, value: usize| gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        set(&self.ledger_queue, snapshot.ledger_queue);
        set(&self.body_bytes, snapshot.body_bytes);
        let (running, waiting) = snapshot.long_computations;
        set(&self.compute_pool.with_label_values(&["running"]), running);
        set(&self.compute_pool.with_label_values(&["waiting"]), waiting);
        self.draining.set(snapshot.is_draining.into());
        for pool in &snapshot.pools {
            self.pool.with_label_values(&[pool.name, "open"]).set(pool.open.into());
            self.pool.with_label_values(&[pool.name, "idle"]).set(pool.idle.into());
        }
        if let Some(is_up) = snapshot.is_redis_up {
            self.redis_up.with_label_values::<&str>(&[]).set(is_up.into());
        }
        self.store_up.set(if snapshot.outbox.is_some() { 1.0 } else { 0.0 });
        // Where the store does not answer, these gauges keep their values and `quant_store_up` is 0.
        if let Some(outbox) = snapshot.outbox {
            self.outbox.with_label_values(&["waiting"]).set(outbox.waiting.into());
            self.outbox.with_label_values(&["failed"]).set(outbox.failed.into());
        }
    }
}

fn gauge(name: &str, help: &str) -> prometheus::Result<IntGauge> {
    IntGauge::new(name, help)
}

fn gauges(name: &str, help: &str, label: &str) -> prometheus::Result<IntGaugeVec> {
    IntGaugeVec::new(Opts::new(name, help), &[label])
}

fn counter(name: &str, help: &str) -> prometheus::Result<IntCounter> {
    IntCounter::new(name, help)
}

fn kept<C: Collector + Clone + 'static>(registry: &Registry, made: prometheus::Result<C>) -> C {
    let collector = made.expect("the name and the labels are sound");
    register(registry, collector.clone());
    collector
}

fn register(registry: &Registry, collector: impl Collector + 'static) {
    registry.register(Box::new(collector)).expect("each metric has a name of its own");
}

/// Returns the label of a method; methods that a client invents share one label.
fn method_name(method: &Method) -> &str {
    match *method {
        Method::GET | Method::POST | Method::PUT | Method::DELETE | Method::HEAD => method.as_str(),
        _ => "other",
    }
}

fn class(status: u16) -> &'static str {
    match status / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(metrics: &Metrics) -> String {
        let mut text = Vec::new();
        TextEncoder::new().encode(&metrics.registry.gather(), &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_made_up_method_makes_no_label() {
        let metrics = Metrics::new();
        for name in ["BREW", "WHEN", "GET"] {
            let method = Method::from_bytes(name.as_bytes()).unwrap();
            let elapsed = Duration::from_micros(300);
            metrics.observe(&Observed { route: None, method: &method, status: 404, elapsed });
        }
        let text = text_of(&metrics);
        let count = |method: &str, count: u32| {
            let line = format!(
                "http_server_request_duration_seconds_count{{method=\"{method}\",route=\"none\",status=\"4xx\"}} {count}\n"
            );
            assert!(text.contains(&line), "{line}{text}");
        };
        count("other", 2);
        count("GET", 1);
        assert!(!text.contains("BREW"));
    }

    #[test]
    fn a_debit_is_one_call_and_its_credits() {
        let metrics = Metrics::new();
        metrics.count_debit(5);
        metrics.count_debit(0);
        let text = text_of(&metrics);
        assert!(text.contains("\nquant_debits_total 2\n"), "{text}");
        assert!(text.contains("\nquant_credits_taken_total 5\n"), "{text}");
    }
}

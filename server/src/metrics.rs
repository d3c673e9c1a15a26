//! What the service tells its operator about itself, as Prometheus reads it.
//!
//! Labels come from closed sets: the route table, methods, classes of status, kinds of refusal. No
//! caller, address or path as it was sent is ever a label.

use std::time::Duration;

use poem::http::Method;
use prometheus::{
    Encoder, Gauge, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry, TextEncoder, core::Collector,
};

use crate::store::{OutboxLoad, Pool};

/// The type of the text that Prometheus reads.
pub const MEDIA_TYPE: &str = prometheus::TEXT_FORMAT;

/// Upper ends of the classes of duration, in seconds: from a warm look-up to a long computation.
const SECONDS: [f64; 14] =
    [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];
/// Upper ends of the classes of batch.
const ENTRIES: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
/// The route of a request that none took.
const NO_ROUTE: &str = "none";

/// Everything that is counted while the service runs.
pub struct Metrics {
    registry: Registry,
    durations: HistogramVec,
    /// Connections that are open.
    pub connections: IntGauge,
    debits: IntCounter,
    credits: IntCounter,
    limit_refusals: IntCounterVec,
    /// How many entries the ledger writer settled at once.
    pub ledger_batches: Histogram,
    ledger_queue: IntGauge,
    compute_pool: IntGaugeVec,
    large_bodies: IntGauge,
    outbox: IntGaugeVec,
    pool: IntGaugeVec,
    store_up: Gauge,
    /// Without a value where the limits have no Redis.
    redis_up: IntGaugeVec,
    draining: IntGauge,
}

/// One answered request, as the figures know it.
pub struct Observed<'a> {
    /// The path as the route table has it, where a route took the request.
    pub route: Option<&'a str>,
    /// The method.
    pub method: &'a Method,
    /// The status of the answer.
    pub status: u16,
    /// How long the answer took.
    pub elapsed: Duration,
}

impl Metrics {
    /// Has counted nothing yet.
    ///
    /// # Panics
    ///
    /// Where two figures have one name, which a test would have seen.
    #[must_use]
    pub fn new(version: &str) -> Self {
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
            ledger_batches: kept(&registry, batches),
            ledger_queue: kept(
                &registry,
                gauge("quant_ledger_queue_entries", "Calls that wait for the ledger writer."),
            ),
            compute_pool: kept(
                &registry,
                gauges("quant_long_computations", "Long computations by state.", "state"),
            ),
            large_bodies: kept(&registry, gauge("quant_large_bodies", "Large bodies being read.")),
            outbox: kept(
                &registry,
                gauges("quant_mail_outbox_letters", "Letters not sent yet, by state.", "state"),
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
        let build = build.const_label("version", version);
        kept(&metrics.registry, IntGauge::with_opts(build)).set(1);
        #[cfg(target_os = "linux")]
        register(&metrics.registry, prometheus::process_collector::ProcessCollector::for_self());
        metrics
    }

    /// Counts an answered request.
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

    /// Returns all metrics in the text format of Prometheus, with the current load.
    ///
    /// # Panics
    ///
    /// Where a metric cannot be written as text, which none of this service is.
    #[must_use]
    pub fn text(&self, load: &Load) -> Vec<u8> {
        self.set_load(load);
        let mut text = Vec::new();
        TextEncoder::new()
            .encode(&self.registry.gather(), &mut text)
            .expect("metrics have a name and a value");
        text
    }

    fn set_load(&self, load: &Load) {
        let set =
            |gauge: &IntGauge, value: usize| gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        set(&self.ledger_queue, load.ledger_queue);
        set(&self.large_bodies, load.large_bodies);
        set(&self.compute_pool.with_label_values(&["running"]), load.computations_running);
        set(&self.compute_pool.with_label_values(&["waiting"]), load.computations_waiting);
        self.draining.set(i64::from(load.is_draining));
        for pool in &load.pools {
            self.pool.with_label_values(&[pool.name, "open"]).set(pool.open.into());
            self.pool.with_label_values(&[pool.name, "idle"]).set(pool.idle.into());
        }
        if let Some(is_up) = load.is_redis_up {
            self.redis_up.with_label_values::<&str>(&[]).set(is_up.into());
        }
        self.store_up.set(if load.outbox.is_some() { 1.0 } else { 0.0 });
        // Where the store does not answer, the last figures of the outbox stay.
        if let Some(outbox) = &load.outbox {
            self.outbox.with_label_values(&["waiting"]).set(outbox.waiting.into());
            self.outbox.with_label_values(&["failed"]).set(outbox.failed.into());
        }
    }
}

/// The load of the service at the moment of a reading.
pub struct Load {
    /// Calls that wait for the ledger.
    pub ledger_queue: usize,
    /// Large bodies that are being read.
    pub large_bodies: usize,
    /// Long computations that run.
    pub computations_running: usize,
    /// Long computations that wait.
    pub computations_waiting: usize,
    /// Whether the service is stopping.
    pub is_draining: bool,
    /// The connections of each pool of the store.
    pub pools: Vec<Pool>,
    /// The e-mails that wait; none where the store does not answer.
    pub outbox: Option<OutboxLoad>,
    /// Whether Redis answers; none where the limits have no Redis.
    pub is_redis_up: Option<bool>,
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
    registry.register(Box::new(collector)).expect("each figure has a name of its own");
}

/// A client may make up methods; labels may not.
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

    fn json_string(metrics: &Metrics) -> String {
        let mut text = Vec::new();
        TextEncoder::new().encode(&metrics.registry.gather(), &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_made_up_method_makes_no_label() {
        let metrics = Metrics::new("3.0.0");
        for name in ["BREW", "WHEN", "GET"] {
            let method = Method::from_bytes(name.as_bytes()).unwrap();
            let elapsed = Duration::from_micros(300);
            metrics.observe(&Observed { route: None, method: &method, status: 404, elapsed });
        }
        let text = json_string(&metrics);
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
        let metrics = Metrics::new("3.0.0");
        metrics.count_debit(5);
        metrics.count_debit(0);
        let text = json_string(&metrics);
        assert!(text.contains("\nquant_debits_total 2\n"), "{text}");
        assert!(text.contains("\nquant_credits_taken_total 5\n"), "{text}");
    }
}

//! The progress of a tool call, told on the stream of its answer to a client that asks for it.
//!
//! A call that ends soon is answered as JSON. One that does not becomes a stream of server-sent
//! events: notifications of progress, then the answer. The work is the same for both.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::stream;
use poem::{
    Body, Response,
    http::{HeaderMap, StatusCode, header},
};
use serde_json::{Value, json};
use tokio::{sync::Notify, time::Instant};

use super::{head::LONGEST_NAME, request_headers::accepts_event_stream};

/// The time between two notifications of a call whose parts are unknown, and before the first.
const PERIOD: Duration = Duration::from_secs(1);

/// The answer of a call as text, when the call ends.
pub(super) type Work = Pin<Box<dyn Future<Output = String> + Send>>;

/// The progress of one call, which its parts report and its stream tells.
#[derive(Debug)]
pub(super) struct Progress {
    token: Value,
    period: Duration,
    started: Instant,
    ended: AtomicUsize,
    /// The number of parts; zero for a call that has none.
    total: AtomicUsize,
    changed: Notify,
}

impl Progress {
    /// Returns the progress that a message asks for: its `_meta` has a token, and its client accepts
    /// a stream of events.
    pub(super) fn asked(headers: &HeaderMap, message: &Value) -> Option<Arc<Self>> {
        let token = message.get("params")?.get("_meta")?.get("progressToken")?;
        let is_token = match token {
            Value::String(text) => text.len() <= LONGEST_NAME,
            Value::Number(number) => number.is_i64() || number.is_u64(),
            _ => false,
        };
        let is_asked = is_token && accepts_event_stream(headers);
        is_asked.then(|| Arc::new(Self::new(token.clone(), PERIOD)))
    }

    fn new(token: Value, period: Duration) -> Self {
        let (ended, total) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (started, changed) = (Instant::now(), Notify::new());
        Self { token, period, started, ended, total, changed }
    }

    /// Begins a call that has this number of parts.
    pub(super) fn begin(&self, total: usize) {
        self.total.store(total, Ordering::Release);
        self.changed.notify_one();
    }

    /// Reports the end of a part.
    pub(super) fn end_part(&self) {
        self.ended.fetch_add(1, Ordering::AcqRel);
        self.changed.notify_one();
    }

    /// Returns the next notification after `told` parts or seconds, and what the notification tells;
    /// `None` before the first.
    ///
    /// A call with parts tells their number, and any other call the seconds since its start, because
    /// nothing else is known of a computation before its end.
    async fn next(&self, told: Option<u64>) -> (Value, u64) {
        loop {
            let soon = tokio::time::sleep(self.period);
            tokio::select! {
                () = self.changed.notified() => {}
                () = soon => {}
            }
            let total = self.total.load(Ordering::Acquire);
            if total == 0 {
                let seconds = self.started.elapsed().as_secs().max(told.unwrap_or_default() + 1);
                let message = format!("Computing for {seconds} s.");
                return (self.notification(seconds, None, message), seconds);
            }
            let ended = self.ended.load(Ordering::Acquire) as u64;
            if told.is_none_or(|told| ended > told) {
                let message = format!("{ended} of {total} calls have ended.");
                return (self.notification(ended, Some(total), message), ended);
            }
        }
    }

    fn notification(&self, progress: u64, total: Option<usize>, message: String) -> Value {
        let mut params = json!({ "progressToken": self.token, "progress": progress });
        if let Some(total) = total {
            params["total"] = total.into();
        }
        params["message"] = message.into();
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
    }
}

/// Answers with the text of `work`: as JSON, or as a stream of events from the first notification
/// on.
pub(super) async fn answer(mut work: Work, progress: Option<Arc<Progress>>) -> Response {
    let Some(progress) = progress else { return json_response(StatusCode::OK, work.await) };
    tokio::select! {
        biased;
        text = &mut work => json_response(StatusCode::OK, text),
        (first, told) = progress.next(None) => stream_response(first, told, work, progress),
    }
}

/// Makes a response of one JSON text.
pub(super) fn json_response(status: StatusCode, text: String) -> Response {
    Response::builder().status(status).content_type("application/json").body(text)
}

/// The rest of a stream after an event.
enum Rest {
    Working { told: u64, work: Work, progress: Arc<Progress> },
    Ended,
}

fn stream_response(first: Value, told: u64, work: Work, progress: Arc<Progress>) -> Response {
    let rest = Rest::Working { told, work, progress };
    let first = (Some(first), rest);
    let events = stream::unfold(first, |(ready, rest)| async {
        if let Some(ready) = ready {
            return Some((Ok::<_, io::Error>(event(&ready.to_string())), (None, rest)));
        }
        let Rest::Working { told, mut work, progress } = rest else { return None };
        let (text, rest) = tokio::select! {
            biased;
            text = &mut work => (text, Rest::Ended),
            (next, told) = progress.next(Some(told)) => {
                (next.to_string(), Rest::Working { told, work, progress })
            }
        };
        Some((Ok(event(&text)), (None, rest)))
    });
    Response::builder()
        .status(StatusCode::OK)
        .content_type("text/event-stream")
        // Proxies that collect an answer would hold the notifications back.
        .header("x-accel-buffering", "no")
        .header(header::CACHE_CONTROL, "no-store")
        .body(Body::from_bytes_stream(events))
}

/// Writes a message as an event. JSON of one line has no line break.
fn event(message: &str) -> String {
    format!("event: message\ndata: {message}\n\n")
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;
    use tokio::sync::oneshot;

    use super::*;

    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    fn headers(accept: &'static str) -> HeaderMap {
        let accept = HeaderValue::from_static(accept);
        [(header::ACCEPT, accept)].into_iter().collect()
    }

    fn asked(accept: &'static str, token: &Value) -> bool {
        let message = json!({ "params": { "_meta": { "progressToken": token } } });
        Progress::asked(&headers(accept), &message).is_some()
    }

    #[test]
    fn progress_is_told_to_a_client_that_asks_and_reads_events() {
        const BOTH: &str = "application/json, text/event-stream";
        for (accept, token, expected) in [
            (BOTH, json!("a"), true),
            (BOTH, json!(7), true),
            (BOTH, json!(-7), true),
            (BOTH, json!(7.5), false),
            (BOTH, json!(null), false),
            (BOTH, json!(["a"]), false),
            (BOTH, json!("a".repeat(LONGEST_NAME + 1)), false),
            ("application/json", json!("a"), false),
            ("*/*", json!("a"), false),
            ("application/json, text/event-stream;q=0", json!("a"), false),
        ] {
            assert_eq!(asked(accept, &token), expected, "{accept} {token}");
        }
        assert!(Progress::asked(&headers(BOTH), &json!({ "params": {} })).is_none());
    }

    fn as_json(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    /// The events of a stream, as JSON.
    async fn events(response: Response) -> Vec<Value> {
        assert_eq!(response.content_type(), Some("text/event-stream"));
        let text = response.into_body().into_string().await.expect("text");
        let events = text.split_terminator("\n\n").map(|event| {
            let data = event.strip_prefix("event: message\ndata: ").expect(event);
            as_json(data)
        });
        events.collect()
    }

    #[tokio::test]
    async fn a_call_that_ends_at_once_is_answered_as_json() {
        let progress = Arc::new(Progress::new(json!(1), PERIOD));
        for progress in [None, Some(progress)] {
            let response = answer(Box::pin(async { ANSWER.to_owned() }), progress).await;
            assert_eq!(response.content_type(), Some("application/json"));
            assert_eq!(response.into_body().into_string().await.expect("text"), ANSWER);
        }
    }

    #[tokio::test]
    async fn a_long_call_tells_growing_progress_and_then_its_answer() {
        let progress = Arc::new(Progress::new(json!("token"), Duration::from_millis(1)));
        let (end, ended) = oneshot::channel::<()>();
        let work = async move {
            ended.await.expect("the test ends the work");
            ANSWER.to_owned()
        };
        let response = answer(Box::pin(work), Some(progress)).await;
        end.send(()).expect("the work waits");
        let events = events(response).await;
        let (last, told) = events.split_last().expect("an answer");
        assert_eq!(*last, as_json(ANSWER));
        assert!(!told.is_empty());
        let mut before = 0;
        for notification in told {
            assert_eq!(notification["method"], "notifications/progress");
            assert_eq!(notification["params"]["progressToken"], "token");
            let now = notification["params"]["progress"].as_u64().expect("a number");
            assert!(now > before, "{told:?}");
            before = now;
        }
    }

    #[tokio::test]
    async fn a_call_with_parts_tells_how_many_have_ended() {
        let progress = Arc::new(Progress::new(json!(7), Duration::from_millis(1)));
        let (own, (end, ended)) = (progress.clone(), oneshot::channel::<()>());
        progress.begin(3);
        progress.end_part();
        let work = async move {
            ended.await.expect("the test ends the work");
            own.end_part();
            tokio::task::yield_now().await;
            ANSWER.to_owned()
        };
        let response = answer(Box::pin(work), Some(progress)).await;
        end.send(()).expect("the work waits");
        let events = events(response).await;
        let first = &events[0]["params"];
        assert_eq!((&first["progress"], &first["total"]), (&json!(1), &json!(3)));
        assert_eq!(first["message"], "1 of 3 calls have ended.");
        assert_eq!(events.last(), Some(&as_json(ANSWER)));
    }
}

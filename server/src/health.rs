//! Whether the service runs, and whether it can work.

use std::time::Duration;

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};

use crate::http::{Answer, Refusal, Tag, UnlimitedVisitor};

/// The endpoints.
#[derive(Default)]
pub struct Health;

#[OpenApi(tag = "Tag::Service")]
impl Health {
    /// Tell whether the service runs.
    ///
    /// Answers as soon as requests are taken, whatever else works. Needs no key.
    #[oai(path = "/health", method = "get", operation_id = "get_health")]
    async fn health(&self) -> Answer<State> {
        Answer::new(State::example())
    }

    /// Tell whether the service can work.
    ///
    /// Answers 200 when the store answers, 503 when it does not. Needs no key.
    #[oai(path = "/ready", method = "get", operation_id = "get_readiness")]
    async fn ready(&self, prober: UnlimitedVisitor) -> Result<Answer<State>> {
        let call = prober.call();
        match call.service.accounts.store().ping().await {
            Ok(()) => Ok(Answer::new(State { status: "ready".to_owned() })),
            Err(error) => {
                tracing::warn!(%error, "the store does not answer");
                let refusal = Refusal::Busy { retry_after: Duration::from_secs(1) };
                Err(poem::Error::from_response(refusal.into_response(call.surface)))
            }
        }
    }
}

/// The state of the service.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ServiceState", example)]
pub struct State {
    /// `ok` or `ready`.
    pub status: String,
}

impl Example for State {
    fn example() -> Self {
        Self { status: "ok".to_owned() }
    }
}

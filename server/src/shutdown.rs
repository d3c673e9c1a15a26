//! The steps of a shutdown, in order.
//!
//! [`serve`] takes steps 1 to 3 once the signal to stop has come; [`close`] takes steps 4 to 9. Each
//! part is closed before the parts that it writes to.

use std::{sync::Arc, time::Duration};

use poem::{Endpoint, Response};
use tokio::net::TcpListener;

use crate::{
    api::mcp::Gateway,
    email, jobs,
    listener::{self, ConnectionLimits},
    state::AppState,
};

/// Longest time that running requests may take once the service is told to stop.
const DRAIN: Duration = Duration::from_secs(30);

/// Serves until `signal`, and then answers what runs.
pub async fn serve<E>(
    listener: TcpListener,
    endpoint: E,
    limits: ConnectionLimits,
    service: Arc<AppState>,
    signal: impl Future<Output = ()>,
    drain_delay: Duration,
) where
    E: Endpoint<Output = Response> + 'static,
{
    let stop = async move {
        signal.await;
        // 1. `/ready` answers 503, so that load balancers send no more requests here; requests are
        //    accepted until the delay has passed.
        service.drain();
        tokio::time::sleep(drain_delay).await;
    };
    let connections = listener::accept_until(&listener, endpoint, limits, stop).await;
    // 2. The system refuses new connections.
    drop(listener);
    // 3. Running requests are answered; idle connections are closed.
    if tokio::time::timeout(DRAIN, connections.shutdown()).await.is_err() {
        tracing::warn!("some requests ran for too long and are not answered");
    }
}

/// Closes the parts of a service that takes no more requests.
pub async fn close(
    jobs: jobs::RunningJobs,
    service: &AppState,
    gateway: &Gateway,
    mail: Vec<email::Worker>,
) {
    // 4. The periodic tasks end.
    jobs.stop();
    // 5. The ledger writers settle the calls that wait.
    service.ledger.close().await;
    // 6. Leased calls that were not used are returned.
    service.limits.give_back_all().await;
    // 7. The result writer stores the results that wait.
    gateway.close().await;
    // 8. The e-mail workers finish their round, for a bounded time; unsent e-mails stay in the
    //    outbox.
    for worker in mail {
        worker.close().await;
    }
    // 9. The store waits for its last writer and closes its connections.
    service.accounts.store().clone().close().await;
}

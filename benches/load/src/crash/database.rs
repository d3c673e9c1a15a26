//! Kills and restarts of PostgreSQL under a running service.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use super::{
    callers::{MOST_CAPPED, SETTINGS, callers, raise_cap},
    clients::{Clients, repeat},
    ledger_check::{LedgerCheck, first_number},
    outcome::{CrashArgs, LONGEST, Outcomes, random},
};
use crate::{
    client::{Connection, Request},
    cluster::{Death, Server},
    service::{Data, Service},
    target::Failure,
};

const DEATHS: [Death; 3] = [Death::Everything, Death::Parent, Death::Immediate];
/// The longest time until the service answers after a restart of the server.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time of load after the service is ready again.
const AFTER: Duration = Duration::from_millis(200);

/// Kills the server `rounds` times on one set of data, under one service.
pub(super) async fn run_on(
    data: &Data,
    server: &mut Server,
    args: &CrashArgs,
    rounds: std::ops::Range<u32>,
    outcomes: &mut Outcomes,
) -> Result<(), Failure> {
    let callers = callers(data).await?;
    raise_cap(data, &callers, MOST_CAPPED).await?;
    let mut ledger_check = LedgerCheck::new(data.storage.database_url.clone());
    let service = Service::start(&args.target, data, &SETTINGS).await?;
    for round in rounds {
        let death = DEATHS[round as usize % DEATHS.len()];
        let failed = |failure: Failure| format!("round {round}, {death:?}: {failure}");
        let first = first_number();
        let clients = Clients::start(service.address, &callers);
        tokio::time::sleep(Duration::from_millis(random() % LONGEST)).await;
        server.kill(death).await?;
        server.restart().await?;
        let away = ready_again(service.address).await.map_err(failed)?;
        tokio::time::sleep(AFTER).await;
        let known = clients.end().await?;
        let repeated =
            repeat(service.address, &callers.once, &known.once_open).await.map_err(failed)?;
        let charged = ledger_check.check(first, &known, &repeated).await.map_err(failed)?;
        data.audit().await.map_err(failed)?;
        let outcome = outcomes.entry(name(death).to_owned()).or_default();
        outcome.add(&known, &repeated, charged);
        outcome.longest_away = outcome.longest_away.max(away);
    }
    service.stop().await
}

/// Returns the time from the server's readiness to that of the service.
async fn ready_again(address: SocketAddr) -> Result<Duration, Failure> {
    let start = Instant::now();
    let mut connection = Connection::open(address).await?;
    while connection.send(&Request::get("/ready")).await?.status != 200 {
        if start.elapsed() > PATIENCE {
            return Err("the service does not come back".into());
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(start.elapsed())
}

const fn name(death: Death) -> &'static str {
    match death {
        Death::Everything => "PostgreSQL, all processes by SIGKILL",
        Death::Parent => "PostgreSQL, its parent process by SIGKILL",
        Death::Immediate => "PostgreSQL, by an immediate stop",
    }
}

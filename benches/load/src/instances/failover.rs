//! Load while one instance is killed, one is paused, and one is restarted with a newer schema.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rustix::process::Signal;
use sea_orm::{ConnectionTrait, Statement};
use tokio::task::JoinSet;

use crate::{
    client::{Connection, Request},
    cluster::signal,
    service::{CREDITS, Data, HOURLY_LIMIT, Service, connect},
    target::{Failure, Target},
};

const CLIENTS: usize = 24;
const COST: i64 = 5;
/// The hourly limit of an account that reaches its limit during the run, and continues to call.
const LIMIT: u32 = 2_000;
/// The pause between two calls of each client of the account with that limit.
const APART: Duration = Duration::from_millis(25);
/// The time between two events.
const CALM: Duration = Duration::from_millis(1_500);
/// The time for which an instance is paused.
const STILL: Duration = Duration::from_secs(3);
/// The longest wait of a client for an answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The setting that adds a further migration to a program with the feature `failpoints`.
const NEXT_SCHEMA: (&str, &str) = ("QS_NEXT_SCHEMA", "1");

/// The current addresses of the instances.
type Addresses = Arc<Vec<Mutex<SocketAddr>>>;

#[derive(Default)]
struct CallTally {
    answered: Vec<u128>,
    /// Calls that the limit refused.
    refused: u64,
    /// Calls without an answer, or with 503.
    unanswered: u64,
}

/// Returns the instances that run at the end.
pub(super) async fn run(
    target: &Target,
    data: &Data,
    services: Vec<Service>,
) -> Result<Vec<Service>, Failure> {
    let (free, limited) =
        (data.account(CREDITS, HOURLY_LIMIT).await?, data.account(CREDITS, LIMIT).await?);
    let addresses: Addresses =
        Arc::new(services.iter().map(|service| Mutex::new(service.address)).collect());
    let is_over = Arc::new(AtomicBool::new(false));
    let begin = |key: &str, apart| {
        let mut clients = JoinSet::new();
        for first in 0..CLIENTS {
            let request = Request::price(key, None);
            clients.spawn(call(addresses.clone(), first, request, apart, is_over.clone()));
        }
        clients
    };
    let (of_free, of_limited) = (begin(&free, None), begin(&limited, Some(APART)));
    let services = upheave(target, data, services, &addresses).await?;
    is_over.store(true, Ordering::Relaxed);
    let (free, limited) = (known(of_free).await?, known(of_limited).await?);

    println!(
        "\n| account | answered, each charged once | refused | without an answer | of these charged once |"
    );
    println!("|---|--:|--:|--:|--:|");
    for (name, known) in [("without a limit", &free), ("with a limit", &limited)] {
        let charged = check(data, known).await?;
        let (answered, refused) = (known.answered.len(), known.refused);
        println!("| {name} | {answered} | {refused} | {} | {charged} |", known.unanswered);
    }
    let through = limited.answered.len() as u64;
    println!(
        "\n{through} calls of {LIMIT} were let through and answered; {} were not answered",
        limited.unanswered
    );
    if through > u64::from(LIMIT) || limited.refused == 0 {
        return Err("the limit did not hold, or was not reached".into());
    }
    Ok(services)
}

/// Kills and restarts one instance, pauses one, and restarts one with a newer schema.
async fn upheave(
    target: &Target,
    data: &Data,
    mut services: Vec<Service>,
    addresses: &Addresses,
) -> Result<Vec<Service>, Failure> {
    let moved = |instance: usize, service: &Service| {
        *addresses[instance].lock().unwrap_or_else(PoisonError::into_inner) = service.address;
    };
    tokio::time::sleep(CALM).await;
    services[0].process.start_kill()?;
    services[0].process.wait().await?;
    services[0] = Service::start(target, data, &[]).await?;
    moved(0, &services[0]);
    tokio::time::sleep(CALM).await;

    signal(services[1].id(), Signal::STOP)?;
    tokio::time::sleep(STILL).await;
    signal(services[1].id(), Signal::CONT)?;
    tokio::time::sleep(CALM).await;

    services.swap_remove(2).stop().await?;
    services.push(Service::start(target, data, &[NEXT_SCHEMA]).await?);
    moved(2, &services[2]);
    if !has_next_schema(data).await? {
        return Err("the program has no next schema: build it with the feature `failpoints`".into());
    }
    tokio::time::sleep(CALM).await;
    Ok(services)
}

/// Runs the audit of the measured program, because this program does not know the newer schema.
pub(super) async fn audit(target: &Target, data: &Data) -> Result<(), Failure> {
    let mut audit = tokio::process::Command::new(&target.server);
    audit.arg("audit").envs(data.settings()).env(NEXT_SCHEMA.0, NEXT_SCHEMA.1);
    let audited = audit.output().await?;
    print!("\naudit: {}", String::from_utf8_lossy(&audited.stdout));
    if audited.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&audited.stderr).into())
    }
}

async fn has_next_schema(data: &Data) -> Result<bool, Failure> {
    let database = connect(&data.storage.database_url).await?;
    let query = "SELECT 1 FROM information_schema.columns \
                 WHERE table_name = 'usage' AND column_name = 'note'";
    let query = Statement::from_string(database.get_database_backend(), query);
    let found = database.query_one_raw(query).await?.is_some();
    database.close().await?;
    Ok(found)
}

/// Calls the instances by turns until the end of the run, at their current addresses.
async fn call(
    addresses: Addresses,
    first: usize,
    request: Request,
    apart: Option<Duration>,
    is_over: Arc<AtomicBool>,
) -> CallTally {
    let mut known = CallTally::default();
    let mut connections: Vec<Option<Connection>> = addresses.iter().map(|_| None).collect();
    let mut round = first;
    while !is_over.load(Ordering::Relaxed) {
        round += 1;
        let instance = round % addresses.len();
        let mut connection = match connections[instance].take() {
            Some(connection) => connection,
            None => {
                let address = *addresses[instance].lock().unwrap_or_else(PoisonError::into_inner);
                match Connection::open(address).await {
                    Ok(connection) => connection,
                    Err(_) => {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                        continue;
                    }
                }
            }
        };
        match tokio::time::timeout(PATIENCE, connection.send(&request)).await {
            Ok(Ok(answer)) => {
                match answer.status {
                    200 => known.answered.extend(answer.number),
                    429 => known.refused += 1,
                    _ => known.unanswered += 1,
                }
                connections[instance] = Some(connection);
            }
            _ => known.unanswered += 1,
        }
        if let Some(apart) = apart {
            tokio::time::sleep(apart).await;
        }
    }
    known
}

async fn known(mut clients: JoinSet<CallTally>) -> Result<CallTally, Failure> {
    let mut all = CallTally::default();
    while let Some(of_one) = clients.join_next().await {
        let of_one = of_one?;
        all.answered.extend(of_one.answered);
        all.refused += of_one.refused;
        all.unanswered += of_one.unanswered;
    }
    Ok(all)
}

/// Fails where an answered call was not charged once at its price. Returns the number of charged
/// calls without an answer.
async fn check(data: &Data, known: &CallTally) -> Result<u64, Failure> {
    let ids: Vec<Vec<u8>> = known.answered.iter().map(|id| id.to_be_bytes().to_vec()).collect();
    let database = connect(&data.storage.database_url).await?;
    let of_account = "SELECT count(*) FILTER (WHERE request_id = ANY ($1) AND credits = $2), \
         count(*) FROM usage WHERE credits > 0 AND account_id = \
         (SELECT account_id FROM usage WHERE request_id = $3)";
    let (answered, all): (i64, i64) = sea_orm::sqlx::query_as(of_account)
        .bind(&ids)
        .bind(COST)
        .bind(ids.first().ok_or("no call was answered")?)
        .fetch_one(database.get_postgres_connection_pool())
        .await?;
    database.close().await?;
    let others = all - answered;
    if answered != ids.len() as i64 || others > known.unanswered.cast_signed() {
        return Err(format!(
            "{} calls were answered, {answered} of them charged once; {others} others charged, \
             {} without an answer",
            ids.len(),
            known.unanswered
        )
        .into());
    }
    Ok(others.cast_unsigned())
}

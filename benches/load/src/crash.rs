//! Kills the service in the middle of load, at random and at named points, starts it again, and
//! counts: every answered call was charged once, no call twice, and the books hold.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use clap::Args;
use quant_server::failpoint::POINTS;
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};
use tokio::task::JoinSet;

use crate::{
    Failure, Target,
    client::{Connection, Request},
    service::{Data, Service},
};

/// Connections that send plain calls, and calls under a key of repeats.
const CONNECTIONS: usize = 16;
/// The longest time from the start to the kill, in milliseconds.
const LONGEST: u64 = 400;
/// What a call costs.
const COST: i64 = 5;
/// How far the clock of a request's number may be before that of this program.
const SLACK: u64 = 10_000;

#[derive(Args)]
pub(crate) struct CrashArgs {
    #[command(flatten)]
    target: Target,
    /// How often to kill.
    #[arg(long, default_value = "1000")]
    rounds: u32,
    /// Kill at random only: for a program that was built without the feature `failpoints`.
    #[arg(long)]
    random_only: bool,
}

/// What the clients of one round know.
#[derive(Default)]
struct Known {
    /// Numbers of calls that were answered.
    answered: Vec<u128>,
    /// Calls whose fate is unknown.
    unanswered: u64,
    /// Keys of repeats: those whose call was answered, and those whose was not.
    once_answered: HashSet<String>,
    once_open: HashSet<String>,
}

/// Everything counted, for each way to die.
#[derive(Default)]
struct Outcome {
    rounds: u64,
    answered: u64,
    unanswered: u64,
    unanswered_charged: u64,
    once_answered: u64,
    once_replayed: u64,
    once_anew: u64,
    once_held: u64,
}

/// Rounds on one set of data: an audit looks at everything, and is to take no longer each time.
const ROUNDS_ON_ONE: u32 = 40;

pub(crate) async fn run(args: &CrashArgs) -> Result<(), Failure> {
    let mut outcomes = BTreeMap::new();
    for first in (0..args.rounds).step_by(ROUNDS_ON_ONE as usize) {
        let rounds = first..args.rounds.min(first + ROUNDS_ON_ONE);
        let data = Data::new(&args.target).await?;
        run_on(&data, args, rounds, &mut outcomes).await?;
        data.remove().await?;
    }
    print(args, &outcomes);
    Ok(())
}

async fn run_on(
    data: &Data,
    args: &CrashArgs,
    rounds: std::ops::Range<u32>,
    outcomes: &mut BTreeMap<String, Outcome>,
) -> Result<(), Failure> {
    let keys = data.accounts(2).await?;
    let (plain, once) = (&keys[0], &keys[1]);
    let database = sea_orm::Database::connect(data.storage.database_url.clone()).await?;
    // Numbers of charged calls that were seen, so that none is seen twice.
    let mut charged_before = 0_i64;
    let mut once_before = 0_i64;
    for round in rounds {
        let point = (!args.random_only && round % 2 == 1)
            .then(|| POINTS[(round as usize / 2) % POINTS.len()]);
        let hits = 1 + random() % 60;
        let failpoint = point.map(|point| format!("{point}:{hits}"));
        let settings = failpoint.as_deref().map(|value| ("QS_FAILPOINT", value));
        let first = first_number();
        let service = Service::start(&args.target, data, settings.as_slice()).await?;
        let (known, died) = load_until_dead(service, plain, once, point.is_some()).await?;
        let killed = match point {
            Some(point) if died => point.to_owned(),
            Some(point) => format!("at random, {point} not reached"),
            None => "at random".to_owned(),
        };

        // Whoever runs it starts it again: what a repeat gets is asked of the service itself.
        let service = Service::start(&args.target, data, &[]).await?;
        let outcome = outcomes.entry(killed).or_default();
        outcome.rounds += 1;
        let (replayed, anew, held) = repeat(service.address, once, &known.once_open).await?;
        service.stop().await?;

        let rows = charged(&database, first).await?;
        check_plain(&known, &rows, round)?;
        let total = count(&database, "SELECT count(*) AS n FROM usage WHERE credits > 0").await?;
        let wrong = count(
            &database,
            &format!("SELECT count(*) AS n FROM usage WHERE credits NOT IN (0, {COST})"),
        )
        .await?;
        if wrong > 0 {
            return Err(format!("round {round}: {wrong} calls were charged another price").into());
        }
        let once_total = (known.once_answered.len() + replayed + anew) as i64;
        let plain_total = total - charged_before - once_total;
        let unanswered_charged = plain_total - known.answered.len() as i64;
        if unanswered_charged < 0 || unanswered_charged > known.unanswered as i64 {
            return Err(format!(
                "round {round} ({point:?}): {total} calls are charged in all, {charged_before} before; \
                 {} plain answers, {} without, {once_total} under a key",
                known.answered.len(), known.unanswered,
            ).into());
        }
        // Every key is one charge, however often it was sent and whenever the service died.
        let kept = count(&database, "SELECT count(*) AS n FROM kept_answer WHERE body IS NOT NULL")
            .await?;
        if kept - once_before != once_total {
            return Err(format!(
                "round {round}: {once_total} keys were answered, {} answers kept",
                kept - once_before
            )
            .into());
        }
        data.audit().await.map_err(|failure| format!("round {round} ({point:?}): {failure}"))?;
        (charged_before, once_before) = (total, kept);
        outcome.answered += known.answered.len() as u64;
        outcome.unanswered += known.unanswered;
        outcome.unanswered_charged += unanswered_charged.cast_unsigned();
        outcome.once_answered += known.once_answered.len() as u64;
        outcome.once_replayed += replayed as u64;
        outcome.once_anew += anew as u64;
        outcome.once_held += held as u64;
    }
    Ok(database.close().await?)
}

fn print(args: &CrashArgs, outcomes: &BTreeMap<String, Outcome>) {
    println!("{}: the books held after every kill\n", args.target.engine());
    println!(
        "| killed | rounds | answered, each charged once | unanswered | of these charged once | \
              under a key: answered | unanswered, then replayed | anew | still held |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (killed, o) in outcomes {
        println!(
            "| {killed} | {} | {} | {} | {} | {} | {} | {} | {} |",
            o.rounds,
            o.answered,
            o.unanswered,
            o.unanswered_charged,
            o.once_answered,
            o.once_replayed,
            o.once_anew,
            o.once_held
        );
    }
}

/// Drives load until the service is gone, by its own failpoint or by our hand.
async fn load_until_dead(
    mut service: Service,
    plain: &str,
    once: &str,
    dies_by_itself: bool,
) -> Result<(Known, bool), Failure> {
    let is_dead = Arc::new(AtomicBool::new(false));
    let mut clients = JoinSet::new();
    for index in 0..CONNECTIONS {
        let (address, is_dead) = (service.address, is_dead.clone());
        let (plain, once) = (plain.to_owned(), once.to_owned());
        clients.spawn(async move {
            if index % 2 == 0 {
                send_plain(address, &plain, &is_dead).await
            } else {
                send_once(address, &once, &is_dead).await
            }
        });
    }
    let mut died = false;
    if dies_by_itself {
        // A point that is not reached in time is a kill at random after all.
        let died_in_time = tokio::time::timeout(Duration::from_secs(2), service.process.wait());
        died = died_in_time.await.is_ok();
    } else {
        tokio::time::sleep(Duration::from_millis(random() % LONGEST)).await;
    }
    let _ = service.process.start_kill();
    service.process.wait().await?;
    is_dead.store(true, Ordering::Relaxed);
    let mut known = Known::default();
    while let Some(of_one) = clients.join_next().await {
        let of_one = of_one?;
        known.answered.extend(of_one.answered);
        known.unanswered += of_one.unanswered;
        known.once_answered.extend(of_one.once_answered);
        known.once_open.extend(of_one.once_open);
    }
    Ok((known, died))
}

async fn send_plain(address: SocketAddr, key: &str, is_dead: &AtomicBool) -> Known {
    let mut known = Known::default();
    let request = Request::price(key, None);
    let Ok(mut connection) = Connection::open(address).await else { return known };
    while !is_dead.load(Ordering::Relaxed) {
        match connection.send(&request).await {
            Ok(answer) if answer.status == 200 => {
                let number =
                    answer.request_id.as_deref().and_then(|id| uuid::Uuid::parse_str(id).ok());
                known.answered.push(number.expect("every answer has a number").as_u128());
            }
            // Refused, and so not charged, or without an answer.
            Ok(_) => {}
            Err(_) => {
                known.unanswered += 1;
                return known;
            }
        }
    }
    known
}

async fn send_once(address: SocketAddr, key: &str, is_dead: &AtomicBool) -> Known {
    let mut known = Known::default();
    let Ok(mut connection) = Connection::open(address).await else { return known };
    while !is_dead.load(Ordering::Relaxed) {
        let once = uuid::Uuid::new_v4().to_string();
        match connection.send(&Request::price(key, Some(&once))).await {
            Ok(answer) if answer.status == 200 => {
                known.once_answered.insert(once);
            }
            Ok(_) => {}
            Err(_) => {
                known.once_open.insert(once);
                return known;
            }
        }
    }
    known
}

/// Sends again what was not answered, twice: replayed, answered anew, or still held by the dead.
async fn repeat(
    address: SocketAddr,
    key: &str,
    open: &HashSet<String>,
) -> Result<(usize, usize, usize), Failure> {
    let (mut replayed, mut anew, mut held) = (0, 0, 0);
    let mut connection = Connection::open(address).await?;
    for once in open {
        let request = Request::price(key, Some(once));
        let first = connection.send(&request).await?;
        match (first.status, first.is_replayed) {
            (200, true) => replayed += 1,
            (200, false) => anew += 1,
            (409, _) => held += 1,
            (status, _) => return Err(format!("a repeat was answered {status}").into()),
        }
        let second = connection.send(&request).await?;
        if first.status == 200 && !second.is_replayed {
            return Err("a second repeat was not the first answer".into());
        }
    }
    Ok((replayed, anew, held))
}

/// Every answered call is charged, once and at its price.
fn check_plain(known: &Known, rows: &HashMap<u128, Vec<i64>>, round: u32) -> Result<(), Failure> {
    for number in &known.answered {
        match rows.get(number).map(Vec::as_slice) {
            Some([COST]) => {}
            found => {
                let id = uuid::Uuid::from_u128(*number);
                return Err(format!("round {round}: {id} was answered, charged {found:?}").into());
            }
        }
    }
    Ok(())
}

/// What was charged for each call from a number on.
async fn charged(
    database: &DatabaseConnection,
    first: u128,
) -> Result<HashMap<u128, Vec<i64>>, Failure> {
    let query =
        "SELECT request_id, CAST(credits AS BIGINT) AS credits FROM usage WHERE request_id >= $1";
    let first = first.to_be_bytes().to_vec();
    let statement = Statement::from_sql_and_values(backend(database), query, [first.into()]);
    let mut rows: HashMap<u128, Vec<i64>> = HashMap::new();
    for row in database.query_all_raw(statement).await? {
        let id: Vec<u8> = row.try_get("", "request_id")?;
        let id = u128::from_be_bytes(id.try_into().map_err(|_| "a number of another length")?);
        rows.entry(id).or_default().push(row.try_get("", "credits")?);
    }
    Ok(rows)
}

async fn count(database: &DatabaseConnection, query: &str) -> Result<i64, Failure> {
    let statement = Statement::from_string(backend(database), query.to_owned());
    let row = database.query_one_raw(statement).await?.ok_or("no row")?;
    Ok(row.try_get("", "n")?)
}

fn backend(database: &DatabaseConnection) -> DbBackend {
    database.get_database_backend()
}

/// The least number that a call made from now on can have: they are ordered by time.
fn first_number() -> u128 {
    let now = quant_server::clock::Clock::system().now().timestamp_millis().cast_unsigned();
    u128::from(now.saturating_sub(SLACK)) << 80
}

fn random() -> u64 {
    let (high, _) = uuid::Uuid::new_v4().as_u64_pair();
    // The version stands in the lower half of this word.
    high >> 20
}

//! The tables of requests per second, latencies, memory and slow clients.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Args;
use tokio::{sync::Barrier, task::JoinSet};

use crate::{
    client::{Connection, Request},
    figures::{Figures, resident},
    service::{Data, Service},
    target::{Failure, Target},
};

const ACCOUNTS: usize = 1_000;
const IDLE: usize = 10_000;
const BUSY: usize = 1_000;
const SLOW: usize = 500;
/// The rate of large bodies, a second.
const BODIES: f64 = 20.0;

#[derive(Args)]
pub(crate) struct UrlArgs {
    /// The address and port.
    #[arg(long)]
    address: SocketAddr,
    /// The key for the header X-API-Key.
    #[arg(long)]
    key: String,
    /// The name of the service in the table.
    #[arg(long, default_value = "baseline")]
    name: String,
    /// The duration of each measurement, in seconds.
    #[arg(long, default_value = "10")]
    seconds: u64,
}

/// Sends requests over this many connections, each as soon as the previous answer has arrived.
pub(crate) async fn closed(
    address: SocketAddr,
    requests: &[Request],
    connections: usize,
    duration: Duration,
) -> Result<Figures, Failure> {
    paced(address, requests, connections, duration, None).await
}

/// Sends requests over this many connections, as fast as answers arrive or at a fixed rate. At a
/// fixed rate, the latency of a request counts from the time at which the request was due.
pub(crate) async fn paced(
    address: SocketAddr,
    requests: &[Request],
    connections: usize,
    duration: Duration,
    rate: Option<f64>,
) -> Result<Figures, Failure> {
    let ready = Arc::new(Barrier::new(connections + 1));
    let mut tasks = JoinSet::new();
    for index in 0..connections {
        let mut connection = Connection::open(address).await?;
        let mine: Vec<Request> =
            requests.iter().skip(index % requests.len()).step_by(connections).cloned().collect();
        let ready = ready.clone();
        let apart = rate.map(|rate| Duration::from_secs_f64(connections as f64 / rate));
        tasks.spawn(async move {
            ready.wait().await;
            let start = Instant::now();
            let mut figures = Figures::default();
            // The first requests are spread over an interval, so that the connections do not send
            // simultaneously.
            let mut due =
                start + apart.unwrap_or_default().mul_f64(index as f64 / connections as f64);
            let mut round = 0;
            while start.elapsed() < duration {
                let sent = match apart {
                    None => Instant::now(),
                    Some(apart) => {
                        tokio::time::sleep_until(due.into()).await;
                        let sent = due;
                        due += apart;
                        sent
                    }
                };
                match connection.send(&mine[round % mine.len()]).await {
                    Ok(answer) if answer.status == 200 => {
                        let micros = sent.elapsed().as_micros();
                        figures.latencies.push(u32::try_from(micros).unwrap_or(u32::MAX));
                    }
                    Ok(_) => figures.failures += 1,
                    Err(_) => {
                        figures.failures += 1;
                        match Connection::open(address).await {
                            Ok(fresh) => connection = fresh,
                            Err(_) => return figures,
                        }
                    }
                }
                round += 1;
            }
            figures
        });
    }
    ready.wait().await;
    let start = Instant::now();
    let mut all = Figures::default();
    while let Some(figures) = tasks.join_next().await {
        all.add(figures?);
    }
    Ok(all.finish(start.elapsed()))
}

fn prices(keys: &[String]) -> Vec<Request> {
    keys.iter().map(|key| Request::price(key, None)).collect()
}

fn row(name: &str, connections: usize, figures: &Figures, health: f64) {
    println!(
        "| {name} | {connections} | {:.0} | {:.2} | {:.2} | {:.2} | {} |",
        figures.rate(),
        figures.quantile(500),
        figures.quantile(990),
        figures.rate() / health,
        figures.failures,
    );
}

const HEAD: &str = "| call | connections | requests/s | p50 ms | p99 ms | of /health | failures |\n\
                    |---|---|---|---|---|---|---|";

pub(crate) async fn run(target: &Target) -> Result<(), Failure> {
    let data = Data::new(target).await?;
    let keys = data.accounts(ACCOUNTS).await?;
    let service = Service::start(target, &data, &[]).await?;
    let (spread, one) = (prices(&keys), prices(&keys[..1]));
    let health = [Request::get("/health")];
    let cores = std::thread::available_parallelism()?;
    println!(
        "{}, {cores} cores for service and client, {} s a row\n\n{HEAD}",
        target.engine(),
        target.seconds
    );
    closed(service.address, &spread, 32, Duration::from_secs(2)).await?;
    let mut top = 0.0_f64;
    for connections in [32, 256] {
        let measured = |requests| closed(service.address, requests, connections, target.duration());
        let alive = measured(&health[..]).await?;
        row("/health", connections, &alive, alive.rate());
        let many = measured(&spread[..]).await?;
        row("bs/price, 1,000 accounts", connections, &many, alive.rate());
        let single = measured(&one[..]).await?;
        row("bs/price, one account", connections, &single, alive.rate());
        top = top.max(many.rate());
    }
    let half = top / 2.0;
    let address = service.address;
    println!("\nAt {half:.0} requests/s, half of the top rate, sent whatever the answers do:\n");
    println!("| beside | p50 ms | p99 ms | p99.9 ms | failures |\n|---|---|---|---|---|");
    // The part of the latency that the client's own clock causes, which ticks by the millisecond.
    let alive = paced(address, &health, 64, target.duration(), Some(half)).await?;
    beside("nothing, `/health` instead", &alive);
    let steady = || paced(address, &spread, 64, target.duration(), Some(half));
    beside("nothing", &steady().await?);
    let slow = slow_clients(address).await?;
    beside(&format!("{SLOW} clients that send a byte a second"), &steady().await?);
    drop(slow);
    for rate in [Some(BODIES), None] {
        let large = tokio::spawn(large_bodies(address, keys[1].clone(), target.duration(), rate));
        let figures = steady().await?;
        let pause = rate.map_or(", without a pause", |_| "");
        beside(&format!("bodies of 1 MiB, {:.0} a second{pause}", large.await??), &figures);
    }
    memory(&service, &spread, target.duration()).await?;
    service.stop().await?;
    println!("\naudit: {} accounts, every balance is the sum of its ledger", data.audit().await?);
    data.remove().await
}

fn beside(what: &str, figures: &Figures) {
    println!(
        "| {what} | {:.2} | {:.2} | {:.2} | {} |",
        figures.quantile(500),
        figures.quantile(990),
        figures.quantile(999),
        figures.failures
    );
}

/// Opens connections that send an endless head until the value is dropped.
async fn slow_clients(address: SocketAddr) -> Result<JoinSet<()>, Failure> {
    let mut tasks = JoinSet::new();
    for _ in 0..SLOW {
        let mut connection = Connection::open(address).await?;
        tasks.spawn(async move {
            let mut text = b"GET /health HTTP/1.1\r\nX-Slow: ".to_vec();
            while connection.write(&text).await.is_ok() {
                text = b"x".to_vec();
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
    }
    Ok(tasks)
}

/// Sends large bodies at a rate, or one after the other; returns the rate that was reached, a
/// second.
async fn large_bodies(
    address: SocketAddr,
    key: String,
    duration: Duration,
    rate: Option<f64>,
) -> Result<f64, Failure> {
    let large = [Request::large(&key, 1 << 20)];
    Ok(paced(address, &large, 2, duration, rate).await?.rate())
}

async fn memory(service: &Service, spread: &[Request], duration: Duration) -> Result<(), Failure> {
    let megabytes = || resident(service.id()).unwrap_or(f64::NAN);
    println!("\n| memory of the service | MB |\n|---|---|\n| before | {:.0} |", megabytes());
    let mut idle = Vec::with_capacity(IDLE);
    let health = Request::get("/health");
    for _ in 0..IDLE {
        let mut connection = Connection::open(service.address).await?;
        connection.send(&health).await?;
        idle.push(connection);
    }
    println!("| {IDLE} idle connections | {:.0} |", megabytes());
    drop(idle);
    let busy = closed(service.address, spread, BUSY, duration).await?;
    println!("| {BUSY} busy connections, {:.0} requests/s | {:.0} |", busy.rate(), megabytes());
    Ok(())
}

pub(crate) async fn run_url(args: &UrlArgs) -> Result<(), Failure> {
    let duration = Duration::from_secs(args.seconds);
    let (health, price) = ([Request::get("/health")], [Request::price(&args.key, None)]);
    println!("{}\n\n{HEAD}", args.name);
    for connections in [32, 256] {
        let alive = closed(args.address, &health, connections, duration).await?;
        row("/health", connections, &alive, alive.rate());
        let paid = closed(args.address, &price, connections, duration).await?;
        row("bs/price, one account", connections, &paid, alive.rate());
    }
    Ok(())
}

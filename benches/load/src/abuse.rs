//! The dearest requests, and the latency of a payer beside clients that misuse the service.
//!
//! Three tables in one run: bytes, processor time and memory of the dearest accepted and refused
//! request of each endpoint; the same of every metered operation, with requests made from the
//! document; and latencies of two of a payer's calls and of `/health`, alone and beside each abuse.

mod abusers;
mod bodies;
mod document;
mod grown;
mod operations;

use std::{fs, net::SocketAddr, time::Duration};

use account_core::Tier;

use self::{
    abusers::Abusers,
    bodies::{BARRIER, filled, list},
    operations::{Candidate, Operation},
};
use crate::{
    client::{Connection, OPTION, PRICE, Request},
    figures::{Figures, peak_memory, reset_peak, resident},
    service::{CREDITS, Data, HOURLY_LIMIT, Service},
    table::paced,
    target::{Failure, Target},
};

const SHANNON: &str = "/quantlib/physics/entropy/shannon";
const CASH_FLOWS: &str = "/quantlib/instruments/bond/fixed/cashflows";
const TENOR: &str = "/quantlib/core/types/tenor/add-to-date";
/// The address that access tokens of the run are bound to.
const MCP_URL: &str = "http://127.0.0.1:1";
/// Runs of each request of the first table.
const RUNS: u32 = 5;
/// Requests a second of each of the payer's calls in the second table.
const RATE: f64 = 40.0;
/// The head of the tables of dear requests.
const HEAD: &str = "| endpoint | request | status | bytes | processor s | peak memory MB | s a credit |\n\
                    |---|---|---|---|---|---|---|";
const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
/// Clock ticks a second of `/proc/PID/stat`, the same on every Linux.
const TICKS: f64 = 100.0;

/// A row of the first table.
struct Dear {
    endpoint: &'static str,
    what: &'static str,
    credits: u32,
    request: Request,
}

/// The keys of a run.
struct Keys {
    payer: String,
    other: String,
    free: String,
    bearer: String,
    /// The key of an account with credits for one call.
    poor: String,
}

pub(crate) async fn run(target: &Target) -> Result<(), Failure> {
    let data = Data::new(target).await?;
    let (_, payer) = data.named_account(CREDITS, HOURLY_LIMIT).await?;
    let (_, other) = data.named_account(CREDITS, HOURLY_LIMIT).await?;
    let free = data.account_of_tier(Tier::Free).await?;
    let bearer = data.access_token(&format!("{MCP_URL}/mcp")).await?;
    let poor = data.account(5, HOURLY_LIMIT).await?;
    let keys = Keys { payer, other, free, bearer, poor };
    let settings = [
        ("QS_ADDRESS_LIMIT", "1000000"),
        ("QS_MCP_URL", MCP_URL),
        ("QS_MCP_MESSAGES", "1000000"),
        ("QS_MCP_BURST", "1000000"),
    ];
    let service = Service::start(target, &data, &settings).await?;
    println!("{}, {} s a row\n", target.engine(), target.seconds);
    println!("{HEAD}");
    dearest(&service, &dear(&keys)).await?;
    println!("\nEvery metered operation, with requests made from the document:\n\n{HEAD}");
    of_every_operation(&service, &keys.payer).await?;
    beside_each_abuse(&service, &keys, target.duration()).await?;
    service.stop().await?;
    println!("\naudit: {} accounts, every balance is the sum of its ledger", data.audit().await?);
    data.remove().await
}

fn call(tool: &str, arguments: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\
         \"params\":{{\"name\":\"{tool}\",\"arguments\":{arguments}}}}}"
    )
}

const BOND: &str =
    r#"{"issue_date":"1000-01-01","maturity_date":"1999-01-01","coupon_rate":0.05,"frequency":12}"#;
const DATE: &str = r#"{"start_date":"2024-01-31","tenor":"1M"}"#;
fn even_distribution(count: usize) -> String {
    let item = format!("{:.12}", 1.0 / count as f64);
    format!("{{\"probabilities\":{}}}", list(&item, count))
}

fn portfolio(assets: usize) -> String {
    let rows: Vec<String> = (0..assets)
        .map(|row| {
            let items = (0..assets).map(|column| match row.abs_diff(column) {
                0 => format!("{:.9}", 0.04 + row as f64 * 1e-6),
                apart => format!("{:.9}", 0.01 / (1 + apart) as f64),
            });
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        })
        .collect();
    let (returns, lowest) = (list("0.08", assets), list("0", assets));
    format!(
        "{{\"expected_returns\":{returns},\"covariance_matrix\":[{}],\"min_weights\":{lowest}}}",
        rows.join(",")
    )
}

fn two_series(count: usize) -> String {
    let numbers = |step: usize| {
        let items = (0..count).map(|at| format!("{:.12}", (at * step % 9973) as f64 / 9973.0));
        format!("[{}]", items.collect::<Vec<_>>().join(","))
    };
    let (x, y) = (numbers(31), numbers(47));
    format!("{{\"x_history\":{x},\"y_history\":{y},\"n_bins\":1000}}")
}

fn curve() -> String {
    let tenors: Vec<String> =
        (1..=1000).map(|month| format!("{:.6}", month as f64 / 12.0)).collect();
    let (tenors, values) = (format!("[{}]", tenors.join(",")), list("0.03", 1000));
    format!(
        "{{\"reference_date\":\"2024-01-15\",\"tenors\":{tenors},\"values\":{values},\
         \"interpolation\":\"cubic\",\"query_tenors\":{tenors}}}"
    )
}

/// The rows of the first table: for each endpoint the dearest request that it accepts, and the
/// dearest that it refuses.
fn dear(keys: &Keys) -> Vec<Dear> {
    let key = Some(keys.payer.as_str());
    let mut rows = Vec::new();
    let mut row = |endpoint, what, credits, request| {
        rows.push(Dear { endpoint, what, credits, request });
    };
    let post = |path: &str, body: &str| Request::post(path, key, body);
    let common = 256 * KIB;
    let zeros = "ignored zeros";
    row("bs/price", zeros, 5, post(PRICE, &filled(OPTION, common)));
    row("bs/price", "refused, zeros", 0, post(PRICE, &filled("{\"spot\":1}", common)));
    row("barrier", "100,000 steps", 5, post("/quantlib/pricing/binomial/barrier", BARRIER));
    let path = "/quantlib/portfolio/optimize/min-variance";
    let dear = portfolio(1000);
    row("min-variance", "1,000 assets", 5, post(path, &dear));
    let bad = dear.replacen("\"min_weights\":[0", "\"min_weights\":[\"x\"", 1);
    row("min-variance", "refused at its end", 0, post(path, &bad));
    row("min-variance", "refused, zeros", 0, post(path, &filled(r#"{"rf_rate":0}"#, 16 * MIB)));
    row("shannon", "1,000,000 outcomes", 10, post(SHANNON, &even_distribution(1_000_000)));
    let bad = even_distribution(1_000_000).replace("]}", ",\"x\"]}");
    row("shannon", "refused, one too many", 0, post(SHANNON, &bad));
    let many = format!("{{\"probabilities\":{}}}", list("0", 8 * MIB - 16));
    row("shannon", "refused, 8 million", 0, post(SHANNON, &many));
    let half = r#"{"probabilities":[0.5,0.5]}"#;
    row("shannon", zeros, 10, post(SHANNON, &filled(half, 16 * MIB)));
    let path = "/quantlib/physics/entropy/transfer";
    row("transfer", "2 × 100,000 points", 10, post(path, &two_series(100_000)));
    row("bond cash flows", "12,000 flows", 5, post(CASH_FLOWS, BOND));
    row("curve", "1,000 pillars, 1,000 points", 2, post("/quantlib/curves/build", &curve()));
    row("tenor (FREE)", zeros, 0, post(TENOR, &filled(DATE, common)));
    let long = format!("{{\"start_date\":\"2024-01-31\",\"tenor\":\"{}\"}}", "9".repeat(200 * KIB));
    row("tenor (FREE)", "refused, long tenor", 0, post(TENOR, &long));
    let large = filled(DATE, 16 * MIB);
    row("tenor (FREE)", "refused, 16 MiB", 0, post(TENOR, &large));
    row("login", "refused, 16 MiB", 0, Request::post("/user/login", None, &large));
    let login = r#"{"email":"nobody@example.com","password":"wrong wrong wrong"}"#;
    row("login", "wrong, zeros", 0, Request::post("/user/login", None, &filled(login, common)));
    let mcp = |body: &str| Request::message(&keys.bearer, body);
    let junk = filled(half, MIB - 200);
    row("/mcp", "refused, zeros", 0, mcp(&call("measure_shannon_entropy", &junk)));
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    row("/mcp", "refused, ping with zeros", 0, mcp(&filled(ping, MIB - 200)));
    row("/mcp", "refused, 16 MiB", 0, mcp(&filled(ping, 16 * MIB)));
    rows
}

async fn dearest(service: &Service, rows: &[Dear]) -> Result<(), Failure> {
    for Dear { endpoint, what, credits, request } in rows {
        measure(service, request).await?.print(endpoint, what, u64::from(*credits));
    }
    Ok(())
}

/// Measures the dearest accepted and the dearest refused request of each operation of the document.
async fn of_every_operation(service: &Service, key: &str) -> Result<(), Failure> {
    for operation in Operation::all() {
        let request = |candidate: &Candidate| {
            Request::to(&operation.method, &operation.path, key, &candidate.body)
        };
        for candidate in operation.accepted() {
            // A status other than 200 is that of a size which the operation does not take.
            if send_once(service.address, &request(&candidate)).await? != 200 {
                continue;
            }
            let cost = measure(service, &request(&candidate)).await?;
            cost.print(operation.id, &candidate.what, candidate.credits);
            break;
        }
        let mut dearest: Option<(Cost, Candidate)> = None;
        for candidate in operation.refused() {
            let cost = measure(service, &request(&candidate)).await?;
            if dearest.as_ref().is_none_or(|(least, _)| cost.seconds > least.seconds) {
                dearest = Some((cost, candidate));
            }
        }
        if let Some((cost, candidate)) = dearest {
            cost.print(operation.id, &candidate.what, 0);
        }
    }
    Ok(())
}

/// The measured cost of a request.
struct Cost {
    status: u16,
    bytes: usize,
    /// Processor time of the service.
    seconds: f64,
    /// The growth of the service's memory, in megabytes.
    peak: f64,
}

impl Cost {
    fn print(&self, endpoint: &str, what: &str, credits: u64) {
        let Self { status, bytes, seconds, peak } = self;
        let by_credit = match credits {
            0 => "-".to_owned(),
            credits => format!("{:.3}", seconds / credits as f64),
        };
        println!(
            "| {endpoint} | {what} | {status} | {bytes} | {seconds:.3} | {peak:.0} | {by_credit} |"
        );
    }
}

async fn measure(service: &Service, request: &Request) -> Result<Cost, Failure> {
    // The first run opens what every later one finds open.
    send_once(service.address, request).await?;
    let before = resident(service.id()).unwrap_or(f64::NAN);
    reset_peak(service.id())?;
    let started = processor_seconds(service.id())?;
    let mut status = 0;
    for _ in 0..RUNS {
        status = send_once(service.address, request).await?;
    }
    let seconds = (processor_seconds(service.id())? - started) / f64::from(RUNS);
    let peak = peak_memory(service.id()).unwrap_or(f64::NAN) - before;
    Ok(Cost { status, bytes: request.0.len(), seconds, peak })
}

/// The status of a request on a connection of its own; 0 where the service closes the connection
/// before the whole body is sent.
async fn send_once(address: SocketAddr, request: &Request) -> Result<u16, Failure> {
    let mut connection = Connection::open(address).await?;
    Ok(connection.send_all(request).await.map_or(0, |answer| answer.status))
}

/// Seconds of processor time that a process has taken.
fn processor_seconds(process: u32) -> Result<f64, Failure> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let after_name = stat.rsplit_once(')').ok_or("no name in stat")?.1;
    let ticks: Vec<f64> =
        after_name.split_whitespace().skip(11).take(2).flat_map(str::parse).collect();
    Ok(ticks.iter().sum::<f64>() / TICKS)
}

async fn beside_each_abuse(
    service: &Service,
    keys: &Keys,
    duration: Duration,
) -> Result<(), Failure> {
    let address = service.address;
    let head = |path: &str, key: Option<&str>, framing: &str| {
        let key = key.map_or(String::new(), |key| format!("X-API-Key: {key}\r\n"));
        let type_ = "Content-Type: application/json";
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{key}{type_}\r\n{framing}\r\n\r\n")
    };
    let announced = |path, key| head(path, key, "Content-Length: 100000").into_bytes();
    let part = |path, key| {
        let mut start = head(path, key, "Transfer-Encoding: chunked").into_bytes();
        start.extend(format!("{:x}\r\n", 300 * KIB).bytes());
        start.resize(start.len() + 200 * KIB, b'0');
        start
    };
    let other = Some(keys.other.as_str());
    let junk = Request::post(SHANNON, other, &filled(r#"{"probabilities":[1]}"#, 16 * MIB));
    let many = format!("{{\"probabilities\":{}}}", list("0", 8 * MIB - 16));
    let many = Request::post(SHANNON, other, &many);
    let flows = Request::post(CASH_FLOWS, other, BOND);
    let poor = Some(keys.poor.as_str());
    let optimum =
        Request::post("/quantlib/portfolio/optimize/min-variance", poor, &portfolio(1000));
    let resets: Vec<Request> = (0..10_000)
        .map(|number| {
            let body = format!("{{\"email\":\"nobody{number}@example.com\"}}");
            Request::post("/user/forgot-password", None, &body)
        })
        .collect();
    let zeros = filled(r#"{"probabilities":[1]}"#, 16 * MIB);
    let mut chunked = head(SHANNON, other, "Transfer-Encoding: chunked").into_bytes();
    chunked.extend(format!("{:x}\r\n{zeros}\r\n0\r\n\r\n", zeros.len()).bytes());
    let chunked = Request(chunked);
    let ping = filled(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, MIB - 200);
    let ping = Request::message(&keys.bearer, &ping);
    println!("\nA payer's calls at {RATE:.0} a second each, sent whatever the answers do:\n");
    println!(
        "| beside | small p50 ms | small p99 ms | 140 kB p50 ms | 140 kB p99 ms | /health p99 ms \
         | failures | memory MB |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    payer("nothing", service, keys, duration, Abusers::default()).await?;
    let silent = Abusers::silent(address, &announced("/user/login", None), 200).await?;
    payer("200 silent bodies without a key", service, keys, duration, silent).await?;
    let silent = Abusers::silent(address, &announced(TENOR, Some(&keys.free)), 200).await?;
    payer("200 silent bodies of a FREE account", service, keys, duration, silent).await?;
    let parts = Abusers::silent(address, &part(TENOR, Some(&keys.free)), 400).await?;
    payer("400 unfinished bodies of a FREE account", service, keys, duration, parts).await?;
    for (what, request, count) in [
        ("6 clients with 16 MiB of ignored zeros", &junk, 6),
        ("6 clients with 8 million outcomes", &many, 6),
        ("8 clients of /mcp, ping with 1 MiB of zeros", &ping, 8),
        ("4 clients of 12,000 cash flows", &flows, 4),
        ("64 clients of 12,000 cash flows", &flows, 64),
        ("48 clients of 1,000 assets, with 5 credits together", &optimum, 48),
        ("6 clients with whole bodies of 16 MiB, chunked", &chunked, 6),
    ] {
        let clients = Abusers::repeated(address, std::slice::from_ref(request), count);
        payer(what, service, keys, duration, clients).await?;
    }
    let clients = Abusers::of_http2(address, SHANNON, &keys.other, &zeros, 6);
    payer("6 clients with whole bodies of 16 MiB over HTTP/2", service, keys, duration, clients)
        .await?;
    let clients = Abusers::repeated(address, &resets, 8);
    payer("8 clients that ask for new passwords", service, keys, duration, clients).await?;
    payer("nothing again", service, keys, duration, Abusers::default()).await
}

/// Measures the payer's calls beside abusers, and prints a row.
async fn payer(
    what: &str,
    service: &Service,
    keys: &Keys,
    duration: Duration,
    abusers: Abusers,
) -> Result<(), Failure> {
    let mut body = " ".repeat(140_000);
    body.push_str(r#"{"probabilities":[0.5,0.5]}"#);
    let small = [Request::price(&keys.payer, None)];
    let large = [Request::post(SHANNON, Some(&keys.payer), &body)];
    let health = [Request::get("/health")];
    let measured = |requests| paced(service.address, requests, 4, duration, Some(RATE));
    let (small, large, health) =
        tokio::join!(measured(&small[..]), measured(&large[..]), measured(&health[..]));
    let (small, large, health): (Figures, Figures, Figures) = (small?, large?, health?);
    let memory = resident(service.id()).unwrap_or(f64::NAN);
    println!(
        "| {what} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {} | {memory:.0} |",
        small.quantile(500),
        small.quantile(990),
        large.quantile(500),
        large.quantile(990),
        health.quantile(990),
        small.failures + large.failures + health.failures,
    );
    abusers.stop().await;
    Ok(())
}

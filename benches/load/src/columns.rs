//! Columns as JSON and as Arrow beside single calls, of the service and of a peer in one run: rows per
//! second, and memory.

mod answers;
mod inputs;

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;
use tokio::task::JoinSet;

use self::inputs::Computation;
use crate::{
    client::Request,
    figures::{peak_memory, reset_peak, resident},
    peer::{self, Peer},
    service::{Data, Service},
    table::closed,
    target::{Failure, Target},
};

/// The rows of a request.
const ROWS: usize = 1_000_000;
/// The connections of the single calls.
const SINGLE_CONNECTIONS: usize = 32;
/// The connections of the columns: one, and one for each process of the peer.
const CONNECTIONS: [usize; 2] = [1, peer::PROCESSES];

#[derive(Args)]
pub(crate) struct ColumnsArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    /// A Python with the packages of `benches/load/requirements.txt`, which runs the peer,
    /// `benches/load/columns_baseline.py`; the service alone is measured if omitted.
    #[arg(long)]
    peer: Option<PathBuf>,
}

/// The form of a body and of its answer.
#[derive(Clone, Copy)]
enum Form {
    Json,
    Arrow,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Arrow => "Arrow",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Arrow => "application/vnd.apache.arrow.stream",
        }
    }
}

/// The columns of a computation in one form.
struct Body {
    form: Form,
    bytes: Vec<u8>,
}

/// A measured service: the processes that share its work, and the keys of its callers.
struct Measured {
    name: &'static str,
    addresses: Vec<SocketAddr>,
    processes: Vec<u32>,
    keys: Vec<String>,
    /// The memory of all processes before the first request, in megabytes.
    idle: f64,
}

/// A row of the table.
struct Load {
    call: String,
    requests: Vec<Request>,
    connections: usize,
    /// The rows of each request.
    rows: usize,
}

impl Measured {
    fn new(
        name: &'static str,
        addresses: Vec<SocketAddr>,
        processes: Vec<u32>,
        keys: Vec<String>,
    ) -> Self {
        let idle = sum(&processes, resident);
        Self { name, addresses, processes, keys, idle }
    }

    /// Makes the requests of columns, one for each connection with a key of its own.
    fn requests(&self, computation: &Computation, body: &Body, connections: usize) -> Vec<Request> {
        let (path, media_type) = (computation.columns_path(), body.form.media_type());
        let keys = self.keys.iter().cycle().take(connections);
        keys.map(|key| Request::of_type(&path, key, media_type, &body.bytes)).collect()
    }

    /// Sends requests until the time is over, and returns the requests per second. The connections
    /// are shared evenly by the processes.
    async fn rate(&self, load: &Load, duration: Duration) -> Result<f64, Failure> {
        let mut tasks = JoinSet::new();
        let connections = load.connections.div_ceil(self.addresses.len());
        for &address in self.addresses.iter().take(load.connections) {
            let requests = load.requests.clone();
            tasks.spawn(async move { closed(address, &requests, connections, duration).await });
        }
        let mut rate = 0.0;
        while let Some(figures) = tasks.join_next().await {
            let figures = figures??;
            if figures.failures > 0 {
                return Err(format!("{} requests of {} failed", figures.failures, load.call).into());
            }
            rate += figures.rate();
        }
        Ok(rate)
    }

    /// Measures a row of the table and prints the row. Returns the rows per second. `single` is that
    /// figure of single calls.
    async fn measure(
        &self,
        load: &Load,
        duration: Duration,
        single: Option<f64>,
    ) -> Result<f64, Failure> {
        self.processes.iter().try_for_each(|&process| reset_peak(process))?;
        let rate = self.rate(load, duration).await? * load.rows as f64;
        let growth = sum(&self.processes, peak_memory) - self.idle;
        let ratio = rate / single.unwrap_or(rate);
        let (name, Load { call, connections, .. }) = (self.name, load);
        println!("| {call} | {name} | {connections} | {rate:.0} | {ratio:.1} | {growth:.0} |");
        Ok(rate)
    }

    fn single_calls(&self, computation: &Computation) -> Load {
        let key = self.keys.first().map(String::as_str);
        Load {
            call: format!("{}, single calls", computation.name),
            requests: vec![Request::post(computation.path, key, &computation.single(0))],
            connections: SINGLE_CONNECTIONS,
            rows: 1,
        }
    }

    fn columns(&self, computation: &Computation, body: &Body, connections: usize) -> Load {
        Load {
            call: format!("{}, columns as {}", computation.name, body.form.name()),
            requests: self.requests(computation, body, connections),
            connections,
            rows: ROWS,
        }
    }
}

/// Returns the memory of all processes together, in megabytes.
fn sum(processes: &[u32], memory: fn(u32) -> Option<f64>) -> f64 {
    processes.iter().map(|&process| memory(process).unwrap_or(f64::NAN)).sum()
}

/// Measures each computation in each form, the service and the peer by turns.
pub(crate) async fn run(args: &ColumnsArgs) -> Result<(), Failure> {
    let target = &args.target;
    let data = Data::new(target).await?;
    let keys = data.accounts(peer::PROCESSES).await?;
    let service = Service::start(target, &data, &[]).await?;
    let peer = match &args.peer {
        Some(python) => Some(Peer::start(target, python).await?),
        None => None,
    };
    let mut services =
        vec![Measured::new("service", vec![service.address], vec![service.id()], keys)];
    if let Some(peer) = &peer {
        let keys = vec![peer::KEY.to_owned()];
        services.push(Measured::new("peer", peer.addresses(), peer.ids(), keys));
    }
    measure_all(target, &services).await?;
    drop(peer);
    service.stop().await?;
    println!("\naudit: {} accounts, every balance is the sum of its ledger", data.audit().await?);
    data.remove().await
}

async fn measure_all(target: &Target, services: &[Measured]) -> Result<(), Failure> {
    let mut measured = Vec::new();
    for computation in [Computation::prices(), Computation::implied_volatilities()] {
        let bodies = [
            Body { form: Form::Json, bytes: computation.json() },
            Body { form: Form::Arrow, bytes: computation.arrow()? },
        ];
        answers::compare(services, &computation, &bodies).await?;
        measured.push((computation, bodies));
    }
    let cores = std::thread::available_parallelism()?;
    println!("\n{ROWS} rows a request, {cores} cores for service and client");
    for Measured { name, processes, idle, .. } in services {
        println!("{name}: {idle:.0} MB before the first request, processes: {}", processes.len());
    }
    println!("\n| call | of | connections | rows/s | of single calls | growth at peak, MB |");
    println!("|---|---|--:|--:|--:|--:|");
    for (computation, bodies) in &measured {
        measure_computation(target.duration(), services, computation, bodies).await?;
    }
    Ok(())
}

async fn measure_computation(
    duration: Duration,
    services: &[Measured],
    computation: &Computation,
    bodies: &[Body],
) -> Result<(), Failure> {
    let mut singles = Vec::new();
    for service in services {
        singles.push(service.measure(&service.single_calls(computation), duration, None).await?);
    }
    for body in bodies {
        for connections in CONNECTIONS {
            for (service, single) in services.iter().zip(&singles) {
                let load = service.columns(computation, body, connections);
                service.measure(&load, duration, Some(*single)).await?;
            }
        }
    }
    Ok(())
}

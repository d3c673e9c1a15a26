//! Columns as JSON and as Arrow beside single calls, of the service and of a peer in one run: rows per
//! second, and memory.

mod answers;
mod inputs;
mod measured;

use std::{path::PathBuf, time::Duration};

use clap::Args;

use self::{
    inputs::{Body, Computation, Form, ROWS},
    measured::Measured,
};
use crate::{
    peer::{self, Peer},
    service::{Data, Service},
    target::{Failure, Target},
};

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

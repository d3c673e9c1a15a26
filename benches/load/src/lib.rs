//! Load, crash and endurance tests of the service as released.
//!
//! The client is small by design. It shares the machine with the service, so its cost reduces the
//! figures of the service.

mod abuse;
mod client;
mod cluster;
mod columns;
mod crash;
mod figures;
mod instances;
mod peer;
mod service;
mod soak;
mod table;
mod target;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use target::{Failure, Target};

#[derive(Parser)]
#[command(name = "quant-load")]
struct Line {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Requests per second, latencies, memory, slow clients.
    Table(Target),
    /// Columns as JSON and as Arrow beside single calls, and beside a peer.
    Columns(columns::ColumnsArgs),
    /// The dearest requests, and the latency of a payer beside clients that misuse the service.
    Abuse(Target),
    /// The same figures for another service at an address.
    Url(table::UrlArgs),
    /// Kills the service or its database under load, restarts the process, and checks the charges.
    Crash(crash::CrashArgs),
    /// Several instances on one PostgreSQL: credits, limits, revocations and failover.
    Instances(instances::InstancesArgs),
    /// Load at a steady rate for a long time: memory, file handles, size of the database,
    /// latencies.
    Soak(soak::SoakArgs),
}

impl Command {
    fn target(&mut self) -> Option<&mut Target> {
        match self {
            Self::Table(target) | Self::Abuse(target) => Some(target),
            Self::Columns(args) => Some(&mut args.target),
            Self::Url(_) => None,
            Self::Crash(args) => Some(&mut args.target),
            Self::Instances(args) => Some(&mut args.target),
            Self::Soak(args) => Some(&mut args.target),
        }
    }

    async fn run(mut self) -> Result<(), Failure> {
        let mut server = None;
        if let Some(target) = self.target()
            && target.postgres
        {
            let started = cluster::Server::start(&target.server).await?;
            target.database_url = Some(started.address());
            server = Some(started);
        }
        match self {
            Self::Table(target) => table::run(&target).await?,
            Self::Columns(args) => columns::run(&args).await?,
            Self::Abuse(target) => abuse::run(&target).await?,
            Self::Url(args) => table::run_url(&args).await?,
            Self::Crash(args) => crash::run(&args, server.as_mut()).await?,
            Self::Instances(args) => instances::run(&args).await?,
            Self::Soak(args) => soak::run(&args).await?,
        }
        match server {
            Some(server) => server.stop().await,
            None => Ok(()),
        }
    }
}

/// Runs the command line.
#[must_use]
pub fn run() -> ExitCode {
    // Every connection needs a file handle at both ends. Where the system grants no more, opening a
    // connection fails.
    let _ = rlimit::increase_nofile_limit(65_536);
    let runtime = tokio::runtime::Runtime::new().map_err(Failure::from);
    match runtime.and_then(|runtime| runtime.block_on(Line::parse().command.run())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("quant-load: {failure}");
            ExitCode::FAILURE
        }
    }
}

//! Load, crashes and endurance, against the service as it is shipped.
//!
//! The client is a few hundred lines on purpose: it shares the machine with the service, so that
//! whatever it costs is missing from the service's figures.

mod client;
mod crash;
mod figures;
mod service;
mod soak;
mod table;

use std::{error::Error, path::PathBuf, process::ExitCode, time::Duration};

use clap::{Args, Parser, Subcommand};

type Failure = Box<dyn Error + Send + Sync>;

#[derive(Parser)]
#[command(name = "quant-load")]
struct Line {
    #[command(subcommand)]
    command: Command,
}

/// What every run needs.
#[derive(Args, Clone)]
struct Target {
    /// The program to measure.
    #[arg(long, default_value = "target/release/quant-server")]
    server: PathBuf,
    /// A PostgreSQL server where databases may be made, by the address of one of them; files if
    /// left out.
    #[arg(long)]
    database_url: Option<String>,
    /// Seconds of each measurement.
    #[arg(long, default_value = "10")]
    seconds: u64,
}

impl Target {
    fn engine(&self) -> &'static str {
        if self.database_url.is_some() { "PostgreSQL" } else { "SQLite" }
    }

    fn duration(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

#[derive(Subcommand)]
enum Command {
    /// Requests a second, latencies, memory, slow clients.
    Table(Target),
    /// One address, as a service of another make.
    Url(table::UrlArgs),
    /// Kills the service under load, starts it again, and counts what was charged.
    Crash(crash::CrashArgs),
    /// Load at a steady rate for long: memory, file handles, size of the database, latencies.
    Soak(soak::SoakArgs),
}

/// Does what the command line says.
#[must_use]
pub fn run() -> ExitCode {
    // Every connection takes a handle, on both ends; where no more are to be had, opening tells.
    let _ = rlimit::increase_nofile_limit(65_536);
    let done = tokio::runtime::Runtime::new().map_err(Failure::from).and_then(|runtime| {
        runtime.block_on(async {
            match Line::parse().command {
                Command::Table(target) => table::run(&target).await,
                Command::Url(args) => table::run_url(&args).await,
                Command::Crash(args) => crash::run(&args).await,
                Command::Soak(args) => soak::run(&args).await,
            }
        })
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("quant-load: {failure}");
            ExitCode::FAILURE
        }
    }
}

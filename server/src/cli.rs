//! The command line: one file a command.

mod account;
mod audit;
mod backup;
mod command_error;
mod demo;
mod health;
mod migrate;
mod openapi;
mod rotate_data_key;
mod rotate_master_key;
mod serve;

use std::{io::IsTerminal, process::ExitCode};

use clap::{Parser, Subcommand};

use command_error::CommandError;

use crate::{
    config::{LogFormat, ServeArgs, StorageArgs},
    http::ACCESS,
};

/// Exact financial computations over REST, with keys, tiers, credits and limits.
///
/// Without a command, serves. Try it out: `quant-server demo`.
#[derive(Debug, Parser)]
#[command(name = "quant-server", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: ServeArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve, which is what happens without a command.
    Serve(Box<ServeArgs>),
    /// Serve on temporary data, with an account that may call every endpoint.
    Demo(demo::DemoArgs),
    /// Print the OpenAPI document.
    Openapi(openapi::OpenapiArgs),
    /// Create accounts and change them, also beside a running service.
    #[command(subcommand)]
    Account(account::AccountCommand),
    /// Prove that every balance is the sum of its ledger.
    Audit(StorageArgs),
    /// Copy the embedded database to a file, also beside a running service.
    Backup(backup::BackupArgs),
    /// Bring the database up to date, for a service that runs with --migrate refuse.
    Migrate(StorageArgs),
    /// Seal everything under a new master key, also beside a running service.
    RotateMasterKey(StorageArgs),
    /// Seal keys and e-mails under a new data key, also beside a running service; continues an
    /// interrupted rotation.
    RotateDataKey(StorageArgs),
    /// Ask a running service whether it can work; for containers without a shell.
    Health(health::HealthArgs),
}

impl Cli {
    /// Runs the command.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let command = self.command.unwrap_or_else(|| Command::Serve(Box::new(self.serve)));
        let outcome = match command {
            Command::Serve(args) => {
                log(args.operation.log);
                block_on(serve::run(&args))
            }
            Command::Demo(args) => {
                log(LogFormat::Text);
                block_on(demo::run(&args))
            }
            Command::Openapi(args) => openapi::run(&args),
            Command::Account(command) => block_on(account::run(command)),
            Command::Audit(args) => block_on(audit::run(&args)),
            Command::Backup(args) => block_on(backup::run(&args)),
            Command::Migrate(args) => block_on(migrate::run(&args)),
            Command::RotateMasterKey(args) => block_on(rotate_master_key::run(&args)),
            Command::RotateDataKey(args) => block_on(rotate_data_key::run(&args)),
            Command::Health(args) => block_on(health::run(&args)),
        };
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("quant-server: {error}");
                ExitCode::FAILURE
            }
        }
    }
}

fn block_on(command: impl Future<Output = Result<(), CommandError>>) -> Result<(), CommandError> {
    tokio::runtime::Runtime::new()?.block_on(command)
}

/// Writes the log to standard error; other crates log warnings and errors only.
fn log(format: LogFormat) {
    use tracing_subscriber::{filter::LevelFilter, fmt, prelude::*};

    let levels = tracing_subscriber::filter::Targets::new()
        .with_target("quant_server", LevelFilter::INFO)
        // The line for every request is written in JSON only.
        .with_target(
            ACCESS,
            if format == LogFormat::Json { LevelFilter::INFO } else { LevelFilter::OFF },
        )
        .with_default(LevelFilter::WARN);
    let registry = tracing_subscriber::registry().with(levels);
    // Colours are for a terminal, not for a file.
    let text = || fmt::layer().with_ansi(std::io::stderr().is_terminal());
    match format {
        LogFormat::Text => registry.with(text().with_writer(std::io::stderr)).init(),
        LogFormat::Json => registry.with(fmt::layer().json().with_writer(std::io::stderr)).init(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        super::Cli::command().debug_assert();
    }
}

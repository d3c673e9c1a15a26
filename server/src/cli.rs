//! The command line: one file a command.

mod account;
mod audit;
mod backup;
mod command_error;
mod completions;
mod demo;
mod health;
mod log;
mod man;
mod migrate;
mod openapi;
mod output;
mod rotate_data_key;
mod rotate_master_key;
mod serve;
mod verify;

use std::{error::Error, process::ExitCode};

use account_core::StoreError;
use clap::{CommandFactory as _, Parser, Subcommand};

use command_error::CommandError;

use crate::{
    clock::Clock,
    config::{LogFormat, ServeArgs, Storage, StorageArgs},
    listener,
    store::StoreFault,
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
    /// Create, show, list, change and delete accounts, also beside a running service.
    #[command(subcommand)]
    Account(account::AccountCommand),
    /// Prove that every balance is the sum of its ledger.
    Audit(StorageArgs),
    /// Copy the embedded database to a file, also beside a running service.
    Backup(backup::BackupArgs),
    /// Bring the database up to date, for a service that runs with --migrate refuse.
    Migrate(migrate::MigrateArgs),
    /// Seal everything under a new master key, also beside a running service.
    RotateMasterKey(StorageArgs),
    /// Seal keys and e-mails under a new data key, and sign receipts with a new key, also beside a
    /// running service; continues an interrupted rotation.
    RotateDataKey(StorageArgs),
    /// Ask a running service whether it can work; for containers without a shell.
    Health(health::HealthArgs),
    /// Check a receipt offline: signature, request, data, and the computation again.
    Verify(verify::VerifyArgs),
    /// Print the script that completes commands and flags in a shell.
    Completions(completions::CompletionsArgs),
    /// Print the manual page, or write the pages of all commands to a folder.
    Man(man::ManArgs),
}

impl Cli {
    /// Runs the command.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let command = self.command.unwrap_or_else(|| Command::Serve(Box::new(self.serve)));
        let storage = command.storage().map(StorageArgs::locate);
        match command.execute() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("quant-server: {}", explain(error.as_ref(), storage.as_ref()));
                ExitCode::FAILURE
            }
        }
    }
}

impl Command {
    fn execute(self) -> Result<(), CommandError> {
        if self.storage().is_some() {
            Clock::check_system()?;
        }
        match self {
            Self::Serve(args) => run_with_log(args.operation.log, serve::run(&args)),
            Self::Demo(args) => {
                Clock::check_system()?;
                run_with_log(LogFormat::Text, demo::run(&args))
            }
            Self::Openapi(args) => openapi::run(&args),
            Self::Account(command) => block_on(account::run(command)),
            Self::Audit(args) => block_on(audit::run(&args)),
            Self::Backup(args) => block_on(backup::run(&args)),
            Self::Migrate(args) => block_on(migrate::run(&args)),
            Self::RotateMasterKey(args) => block_on(rotate_master_key::run(&args)),
            Self::RotateDataKey(args) => block_on(rotate_data_key::run(&args)),
            Self::Health(args) => block_on(health::run(&args)),
            Self::Verify(args) => verify::run(&args),
            Self::Completions(args) => completions::run(&args, Cli::command()),
            Self::Man(args) => man::run(&args, Cli::command()),
        }
    }

    /// Returns the place of the data of a command that uses a lasting database.
    fn storage(&self) -> Option<&StorageArgs> {
        match self {
            Self::Serve(args) => Some(&args.storage),
            Self::Account(command) => Some(command.storage()),
            Self::Audit(args) | Self::RotateMasterKey(args) | Self::RotateDataKey(args) => {
                Some(args)
            }
            Self::Backup(args) => Some(&args.storage),
            Self::Migrate(args) => Some(&args.storage),
            Self::Demo(_)
            | Self::Openapi(_)
            | Self::Health(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Verify(_) => None,
        }
    }
}

/// Returns the text of an error. An error of the database names the database and, where one is
/// known, the state that the database is in.
fn explain(error: &(dyn Error + 'static), storage: Option<&Storage>) -> String {
    let mut cause = Some(error);
    while let Some(link) = cause {
        if let (Some(failed), Some(storage)) = (link.downcast_ref::<StoreError>(), storage) {
            let database = storage.database_name();
            return match StoreFault::of(failed) {
                Some(fault) => format!("{database}: {} ({failed})", fault.reason()),
                None => format!("{database}: {error}"),
            };
        }
        cause = link.source();
    }
    error.to_string()
}

fn block_on(command: impl Future<Output = Result<(), CommandError>>) -> Result<(), CommandError> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all().on_thread_start(listener::prepare_thread).build()?.block_on(command)
}

/// Runs a command that serves, with its log; then the last spans are exported.
fn run_with_log(
    format: LogFormat,
    command: impl Future<Output = Result<(), CommandError>>,
) -> Result<(), CommandError> {
    let export = log::start(format)?;
    let outcome = block_on(command);
    if let Some(export) = export {
        export.close();
    }
    outcome
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        super::Cli::command().debug_assert();
    }
}

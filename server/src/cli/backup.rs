//! `quant-server backup`: a copy of the database, made while the service runs.

use std::path::PathBuf;

use clap::Args;

use super::command_error::CommandError;
use crate::{config::StorageArgs, store};

#[derive(Args, Debug)]
pub(super) struct BackupArgs {
    /// The file of the copy; must not exist yet.
    to: PathBuf,
    #[command(flatten)]
    pub(super) storage: StorageArgs,
}

pub(super) async fn run(args: &BackupArgs) -> Result<(), CommandError> {
    let storage = args.storage.locate();
    storage.require_database()?;
    if storage.database_url.starts_with("postgres") {
        return Err("PostgreSQL is backed up by its own tools, as in `pg_dump --format=custom \
                    --file=quant.dump \"$DATABASE_URL\"`"
            .into());
    }
    store::back_up(&storage.database_url, &args.to).await?;
    let (to, key) = (args.to.display(), storage.master_key_file.display());
    println!(
        "The database is copied to {to}. Keep {key} as well, in another place: without it the \
         keys in the copy are lost."
    );
    Ok(())
}

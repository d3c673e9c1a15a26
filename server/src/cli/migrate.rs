//! `quant-server migrate`: the database brought up to date.

use clap::Args;

use super::command_error::CommandError;
use crate::{
    app,
    config::{MigrateChoice, NewDatabase, NewDatabaseArgs, Storage, StorageArgs},
};

#[derive(Args, Debug)]
pub(super) struct MigrateArgs {
    #[command(flatten)]
    pub(super) storage: StorageArgs,
    #[command(flatten)]
    new_database: NewDatabaseArgs,
}

pub(super) async fn run(args: &MigrateArgs) -> Result<(), CommandError> {
    let storage = args.storage.locate();
    let may_create = args.new_database.create_database;
    let new_database = if may_create { NewDatabase::Always } else { NewDatabase::Never };
    let storage = Storage { new_database, ..storage };
    let opened = app::open(&storage, MigrateChoice::Run).await?;
    opened.store.close().await;
    println!("The database {} is up to date.", storage.database_name());
    Ok(())
}
